// CUB: one value of many, for the device.
#pragma once

#include "../../cuda_cpu/combine_in_parts.h"
#include "../device_call.cuh"

namespace cub {
namespace detail {

template <class Input, class Output, class T, class Operator>
cudaError_t reduce(const char* name, Input in, Output out, long long count, Operator combine,
                   T first, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, 1);
    return call.run([=] {
        auto next = [&in, i = 0ll]() mutable -> decltype(auto) { return in[i++]; };
        *out = cuda_cpu::combine_in_parts(first, count, next, combine);
    });
}
// The first of the best, with its place.
template <class Input, class Output, class Better>
cudaError_t best_of(const char* name, Input in, Output out, int count, Better better,
                    cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, 1);
    return call.run([=] {
        int best = 0;
        for (int i = 1; i < count; ++i)
            if (better(in[i], in[best])) best = i;
        *out = {best, in[best]};
    });
}

template <class Input, class Output, class Index, class Better>
cudaError_t best_and_place(const char* name, Input in, Output out, Index place, long long count,
                           Better better, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, 1);
    call.writes("the place", place, 1);
    return call.run([=] {
        if (count == 0) return;
        long long best = 0;
        for (long long i = 1; i < count; ++i)
            if (better(in[i], in[best])) best = i;
        *out = in[best];
        *place = static_cast<ValueOf<Index>>(best);
    });
}

}  // namespace detail

struct DeviceReduce {
    template <class Input, class Output, class Operator, class T>
    static cudaError_t Reduce(CUDA_CPU_WORK, Input in, Output out, long long count,
                              Operator combine, T first, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::reduce("cub::DeviceReduce::Reduce", in, out, count, combine, first, stream);
    }
    template <class Input, class Output>
    static cudaError_t Sum(CUDA_CPU_WORK, Input in, Output out, long long count,
                           cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::reduce("cub::DeviceReduce::Sum", in, out, count, cub::Sum(),
                              detail::ValueOf<Output>{}, stream);
    }
    template <class Input, class Output>
    static cudaError_t Min(CUDA_CPU_WORK, Input in, Output out, long long count,
                           cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        using T = detail::ValueOf<Input>;
        return detail::reduce("cub::DeviceReduce::Min", in, out, count, cub::Min(),
                              std::numeric_limits<T>::max(), stream);
    }
    template <class Input, class Output>
    static cudaError_t Max(CUDA_CPU_WORK, Input in, Output out, long long count,
                           cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        using T = detail::ValueOf<Input>;
        return detail::reduce("cub::DeviceReduce::Max", in, out, count, cub::Max(),
                              std::numeric_limits<T>::lowest(), stream);
    }
    template <class Input, class Output>
    static cudaError_t ArgMin(CUDA_CPU_WORK, Input in, Output out, int count,
                              cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::best_of(
            "cub::DeviceReduce::ArgMin", in, out, count,
            [](const auto& a, const auto& b) { return a < b; }, stream);
    }
    template <class Input, class Output>
    static cudaError_t ArgMax(CUDA_CPU_WORK, Input in, Output out, int count,
                              cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::best_of(
            "cub::DeviceReduce::ArgMax", in, out, count,
            [](const auto& a, const auto& b) { return b < a; }, stream);
    }
    // The same as two results: the value, and its place.
    template <class Input, class Output, class Index>
    static cudaError_t ArgMin(CUDA_CPU_WORK, Input in, Output least, Index place, long long count,
                              cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::best_and_place(
            "cub::DeviceReduce::ArgMin", in, least, place, count,
            [](const auto& a, const auto& b) { return a < b; }, stream);
    }
    template <class Input, class Output, class Index>
    static cudaError_t ArgMax(CUDA_CPU_WORK, Input in, Output largest, Index place, long long count,
                              cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::best_and_place(
            "cub::DeviceReduce::ArgMax", in, largest, place, count,
            [](const auto& a, const auto& b) { return b < a; }, stream);
    }
    template <class Input, class Output, class Operator, class Transform, class T>
    static cudaError_t TransformReduce(CUDA_CPU_WORK, Input in, Output out, long long count,
                                       Operator combine, Transform transform, T first,
                                       cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceReduce::TransformReduce", stream);
        call.reads("the input", in, count);
        call.writes("the output", out, 1);
        return call.run([=] {
            auto next = [&, i = 0ll]() mutable -> decltype(auto) { return transform(in[i++]); };
            *out = cuda_cpu::combine_in_parts(first, count, next, combine);
        });
    }
    // One key and what its neighbours with the same key come to, for each run.
    template <class Keys, class UniqueKeys, class Values, class Sums, class Count, class Operator>
    static cudaError_t ReduceByKey(CUDA_CPU_WORK, Keys keys, UniqueKeys unique, Values values,
                                   Sums sums, Count runs, Operator combine, long long count,
                                   cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceReduce::ReduceByKey", stream);
        call.reads("the keys", keys, count);
        call.reads("the values", values, count);
        call.writes("the count", runs, 1);
        return call.run([=] {
            long long end = 0;
            for (long long i = 0; i < count; ++i) {
                if (i > 0 && keys[i] == keys[i - 1]) {
                    sums[end - 1] = combine(sums[end - 1], values[i]);
                } else {
                    unique[end] = keys[i];
                    sums[end++] = values[i];
                }
            }
            *runs = static_cast<detail::ValueOf<Count>>(end);
            detail::DeviceCall::wrote("the unique keys", unique, end);
            detail::DeviceCall::wrote("the sums", sums, end);
        });
    }
};

}  // namespace cub
