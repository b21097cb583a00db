// CUB: a call for each element or number, for the device, and differences of neighbours.
#pragma once

#include "../device_call.cuh"

namespace cub {

struct DeviceFor {
    template <class Iterator, class Operator>
    static cudaError_t ForEachN(Iterator first, long long count, Operator call_it,
                                cudaStream_t stream = nullptr) {
        detail::DeviceCall call("cub::DeviceFor::ForEachN", stream);
        call.writes("the elements", first, count);
        return call.run([=] {
            for (long long i = 0; i < count; ++i) call_it(first[i]);
        });
    }
    template <class Iterator, class Operator, class = std::enable_if_t<std::is_class_v<Operator>>>
    static cudaError_t ForEach(Iterator first, Iterator last, Operator call_it,
                               cudaStream_t stream = nullptr) {
        return ForEachN(first, static_cast<long long>(last - first), call_it, stream);
    }
    // The elements are given by value.
    template <class Iterator, class Operator, class = std::enable_if_t<std::is_class_v<Operator>>>
    static cudaError_t ForEachCopy(Iterator first, Iterator last, Operator call_it,
                                   cudaStream_t stream = nullptr) {
        detail::DeviceCall call("cub::DeviceFor::ForEachCopy", stream);
        const auto count = static_cast<long long>(last - first);
        call.reads("the elements", first, count);
        return call.run([=] {
            for (long long i = 0; i < count; ++i) call_it(detail::ValueOf<Iterator>(first[i]));
        });
    }
    // The numbers from 0.
    template <class Count, class Operator>
    static cudaError_t Bulk(Count count, Operator call_it, cudaStream_t stream = nullptr) {
        detail::DeviceCall call("cub::DeviceFor::Bulk", stream);
        return call.run([=] {
            for (Count i = 0; i < count; ++i) call_it(i);
        });
    }
#define CUDA_CPU_WITH_WORK(Name, First, Second)                                          \
    template <class First, class Second, class Operator>                                 \
    static cudaError_t Name(CUDA_CPU_WORK, First first, Second second, Operator call_it, \
                            cudaStream_t stream = nullptr) {                             \
        CUDA_CPU_ASK;                                                                    \
        return Name(first, second, call_it, stream);                                     \
    }
    CUDA_CPU_WITH_WORK(ForEachN, First, Second)
    CUDA_CPU_WITH_WORK(ForEach, First, Second)
    CUDA_CPU_WITH_WORK(ForEachCopy, First, Second)
#undef CUDA_CPU_WITH_WORK
    template <class Count, class Operator, class = std::enable_if_t<std::is_integral_v<Count>>>
    static cudaError_t Bulk(CUDA_CPU_WORK, Count count, Operator call_it,
                            cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return Bulk(count, call_it, stream);
    }
};

struct DeviceAdjacentDifference {
    // out[i] = op(in[i], in[i - 1]), or with the next element; the one without a neighbour is copied.
    template <class Input, class Output, class Operator = detail::Difference>
    static cudaError_t SubtractLeftCopy(CUDA_CPU_WORK, Input in, Output out, long long count,
                                        Operator op = {}, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return with_neighbours("cub::DeviceAdjacentDifference::SubtractLeft", in, out, count, op,
                               -1, stream);
    }
    template <class Input, class Output, class Operator = detail::Difference>
    static cudaError_t SubtractRightCopy(CUDA_CPU_WORK, Input in, Output out, long long count,
                                         Operator op = {}, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return with_neighbours("cub::DeviceAdjacentDifference::SubtractRight", in, out, count, op,
                               1, stream);
    }
    template <class Iterator, class Operator = detail::Difference>
    static cudaError_t SubtractLeft(CUDA_CPU_WORK, Iterator data, long long count, Operator op = {},
                                    cudaStream_t stream = nullptr) {
        return SubtractLeftCopy(work, bytes, data, data, count, op, stream);
    }
    template <class Iterator, class Operator = detail::Difference>
    static cudaError_t SubtractRight(CUDA_CPU_WORK, Iterator data, long long count,
                                     Operator op = {}, cudaStream_t stream = nullptr) {
        return SubtractRightCopy(work, bytes, data, data, count, op, stream);
    }

 private:
    template <class Input, class Output, class Operator>
    static cudaError_t with_neighbours(const char* name, Input in, Output out, long long count,
                                       Operator op, int step, cudaStream_t stream) {
        detail::DeviceCall call(name, stream);
        call.reads("the input", in, count);
        call.writes("the output", out, count);
        return call.run([=] {
            std::vector<detail::ValueOf<Input>> old;
            for (long long i = 0; i < count; ++i) old.push_back(in[i]);
            for (long long i = 0; i < count; ++i) {
                const long long other = i + step;
                out[i] = other >= 0 && other < count
                             ? op(old[static_cast<size_t>(i)], old[static_cast<size_t>(other)])
                             : old[static_cast<size_t>(i)];
            }
        });
    }
};

}  // namespace cub
