// CUB: runs of equal elements, for the device.
#pragma once

#include "../device_call.cuh"

namespace cub {

struct DeviceRunLengthEncode {
    template <class Input, class Output, class Lengths, class Count>
    static cudaError_t Encode(CUDA_CPU_WORK, Input in, Output unique, Lengths lengths, Count runs,
                              long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceRunLengthEncode::Encode", stream);
        call.reads("the input", in, count);
        call.writes("the count", runs, 1);
        return call.run([=] {
            long long end = 0;
            for (long long i = 0; i < count; ++i) {
                if (i == 0 || !(in[i] == in[i - 1])) {
                    unique[end] = in[i];
                    lengths[end++] = 0;
                }
                ++lengths[end - 1];
            }
            *runs = static_cast<detail::ValueOf<Count>>(end);
            detail::DeviceCall::wrote("the unique elements", unique, end);
            detail::DeviceCall::wrote("the lengths", lengths, end);
        });
    }
    // Where the runs of two and more begin, and how long they are.
    template <class Input, class Offsets, class Lengths, class Count>
    static cudaError_t NonTrivialRuns(CUDA_CPU_WORK, Input in, Offsets offsets, Lengths lengths,
                                      Count runs, long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceRunLengthEncode::NonTrivialRuns", stream);
        call.reads("the input", in, count);
        call.writes("the count", runs, 1);
        return call.run([=] {
            long long end = 0;
            for (long long i = 0, next; i < count; i = next) {
                for (next = i + 1; next < count && in[next] == in[i];) ++next;
                if (next - i < 2) continue;
                offsets[end] = static_cast<detail::ValueOf<Offsets>>(i);
                lengths[end++] = static_cast<detail::ValueOf<Lengths>>(next - i);
            }
            *runs = static_cast<detail::ValueOf<Count>>(end);
            detail::DeviceCall::wrote("the offsets", offsets, end);
            detail::DeviceCall::wrote("the lengths", lengths, end);
        });
    }
};

}  // namespace cub
