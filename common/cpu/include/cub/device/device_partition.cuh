// CUB: elements in parts, for the device.
#pragma once

#include "../device_call.cuh"

namespace cub {
namespace detail {

// Those that are chosen from the beginning on, the others from the end on, so in reverse order.
template <class Input, class Output, class Count, class Choose>
cudaError_t partition(DeviceCall& call, Input in, Output out, Count chosen, long long count,
                      Choose choose) {
    call.reads("the input", in, count);
    call.writes("the output", out, count);
    call.writes("the count", chosen, 1);
    return call.run([=] {
        long long front = 0, back = count;
        for (long long i = 0; i < count; ++i) out[choose(i) ? front++ : --back] = in[i];
        *chosen = static_cast<ValueOf<Count>>(front);
    });
}

}  // namespace detail

struct DevicePartition {
    template <class Input, class Flags, class Output, class Count>
    static cudaError_t Flagged(CUDA_CPU_WORK, Input in, Flags flags, Output out, Count chosen,
                               long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DevicePartition::Flagged", stream);
        call.reads("the flags", flags, count);
        return detail::partition(call, in, out, chosen, count,
                                 [=](long long i) { return static_cast<bool>(flags[i]); });
    }
    template <class Input, class Output, class Count, class Choose>
    static cudaError_t If(CUDA_CPU_WORK, Input in, Output out, Count chosen, long long count,
                          Choose choose, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DevicePartition::If", stream);
        return detail::partition(call, in, out, chosen, count,
                                 [=](long long i) { return static_cast<bool>(choose(in[i])); });
    }
    // Three parts, each in the order of the input; `counts` has those of the first two.
    template <class Input, class First, class Second, class Rest, class Counts, class ChooseFirst,
              class ChooseSecond>
    static cudaError_t If(CUDA_CPU_WORK, Input in, First first, Second second, Rest rest,
                          Counts counts, long long count, ChooseFirst choose_first,
                          ChooseSecond choose_second, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DevicePartition::If", stream);
        call.reads("the input", in, count);
        call.writes("the counts", counts, 2);
        return call.run([=] {
            long long ends[3] = {};
            for (long long i = 0; i < count; ++i) {
                if (choose_first(in[i])) {
                    first[ends[0]++] = in[i];
                } else if (choose_second(in[i])) {
                    second[ends[1]++] = in[i];
                } else {
                    rest[ends[2]++] = in[i];
                }
            }
            for (int i = 0; i < 2; ++i) counts[i] = static_cast<detail::ValueOf<Counts>>(ends[i]);
            detail::DeviceCall::wrote("the first part", first, ends[0]);
            detail::DeviceCall::wrote("the second part", second, ends[1]);
            detail::DeviceCall::wrote("the rest", rest, ends[2]);
        });
    }
};

}  // namespace cub
