// CUB: some of the elements, for the device.
#pragma once

#include "../device_call.cuh"

namespace cub {
namespace detail {

// Copies the elements for which keep(i) holds, and stores how many those are.
template <class Input, class Output, class Count, class Keep>
cudaError_t select(DeviceCall& call, Input in, Output out, Count kept, long long count, Keep keep) {
    call.reads("the input", in, count);
    call.writes("the count", kept, 1);
    return call.run([=] {
        long long end = 0;
        for (long long i = 0; i < count; ++i)
            if (keep(i)) out[end++] = in[i];
        *kept = static_cast<ValueOf<Count>>(end);
        DeviceCall::wrote("the output", out, end);
    });
}

}  // namespace detail

struct DeviceSelect {
    template <class Input, class Flags, class Output, class Count>
    static cudaError_t Flagged(CUDA_CPU_WORK, Input in, Flags flags, Output out, Count kept,
                               long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceSelect::Flagged", stream);
        call.reads("the flags", flags, count);
        return detail::select(call, in, out, kept, count,
                              [=](long long i) { return static_cast<bool>(flags[i]); });
    }
    template <class Input, class Output, class Count, class Keep>
    static cudaError_t If(CUDA_CPU_WORK, Input in, Output out, Count kept, long long count,
                          Keep keep, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceSelect::If", stream);
        return detail::select(call, in, out, kept, count,
                              [=](long long i) { return static_cast<bool>(keep(in[i])); });
    }
    // Those whose flag fits.
    template <class Input, class Flags, class Output, class Count, class Keep>
    static cudaError_t FlaggedIf(CUDA_CPU_WORK, Input in, Flags flags, Output out, Count kept,
                                 long long count, Keep keep, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceSelect::FlaggedIf", stream);
        call.reads("the flags", flags, count);
        return detail::select(call, in, out, kept, count,
                              [=](long long i) { return static_cast<bool>(keep(flags[i])); });
    }
    // In place.
    template <class Iterator, class Flags, class Count>
    static cudaError_t Flagged(CUDA_CPU_WORK, Iterator data, Flags flags, Count kept,
                               long long count, cudaStream_t stream = nullptr) {
        return Flagged(work, bytes, data, flags, data, kept, count, stream);
    }
    template <class Iterator, class Count, class Keep,
              class = std::enable_if_t<std::is_class_v<Keep>>>
    static cudaError_t If(CUDA_CPU_WORK, Iterator data, Count kept, long long count, Keep keep,
                          cudaStream_t stream = nullptr) {
        return If(work, bytes, data, data, kept, count, keep, stream);
    }
    // The first of each run of equal keys, and its value.
    template <class Keys, class Values, class KeysOut, class ValuesOut, class Count,
              class Same = Equality>
    static cudaError_t UniqueByKey(CUDA_CPU_WORK, Keys keys, Values values, KeysOut unique,
                                   ValuesOut kept_values, Count kept, long long count,
                                   Same same = {}, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceSelect::UniqueByKey", stream);
        call.reads("the keys", keys, count);
        call.reads("the values", values, count);
        call.writes("the count", kept, 1);
        return call.run([=] {
            long long end = 0;
            for (long long i = 0; i < count; ++i) {
                if (i > 0 && same(keys[i - 1], keys[i])) continue;
                unique[end] = keys[i];
                kept_values[end++] = values[i];
            }
            *kept = static_cast<detail::ValueOf<Count>>(end);
            detail::DeviceCall::wrote("the unique keys", unique, end);
            detail::DeviceCall::wrote("their values", kept_values, end);
        });
    }
    template <class Input, class Output, class Count>
    static cudaError_t Unique(CUDA_CPU_WORK, Input in, Output out, Count kept, long long count,
                              cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceSelect::Unique", stream);
        return detail::select(call, in, out, kept, count,
                              [=](long long i) { return i == 0 || !(in[i] == in[i - 1]); });
    }
};

}  // namespace cub
