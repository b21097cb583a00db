// CUB: one value of each segment, for the device. Segments are given by where they begin and where they end.
#pragma once

#include "../device_call.cuh"

namespace cub {

struct DeviceSegmentedReduce {
    template <class Input, class Output, class Begins, class Ends, class Operator, class T>
    static cudaError_t Reduce(CUDA_CPU_WORK, Input in, Output out, long long segments,
                              Begins begins, Ends ends, Operator combine, T first,
                              cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return of_segments("cub::DeviceSegmentedReduce::Reduce", out, segments, begins, ends,
                           stream, [=](long long begin, long long end) {
                               T sum = first;
                               for (long long i = begin; i < end; ++i) sum = combine(sum, in[i]);
                               return sum;
                           });
    }
    template <class Input, class Output, class Begins, class Ends>
    static cudaError_t Sum(CUDA_CPU_WORK, Input in, Output out, long long segments, Begins begins,
                           Ends ends, cudaStream_t stream = nullptr) {
        return Reduce(work, bytes, in, out, segments, begins, ends, cub::Sum(),
                      detail::ValueOf<Output>{}, stream);
    }
    template <class Input, class Output, class Begins, class Ends>
    static cudaError_t Min(CUDA_CPU_WORK, Input in, Output out, long long segments, Begins begins,
                           Ends ends, cudaStream_t stream = nullptr) {
        return Reduce(work, bytes, in, out, segments, begins, ends, cub::Min(),
                      std::numeric_limits<detail::ValueOf<Input>>::max(), stream);
    }
    template <class Input, class Output, class Begins, class Ends>
    static cudaError_t Max(CUDA_CPU_WORK, Input in, Output out, long long segments, Begins begins,
                           Ends ends, cudaStream_t stream = nullptr) {
        return Reduce(work, bytes, in, out, segments, begins, ends, cub::Max(),
                      std::numeric_limits<detail::ValueOf<Input>>::lowest(), stream);
    }
    // The place in its segment and the value of the first of the best.
    template <class Input, class Output, class Begins, class Ends>
    static cudaError_t ArgMin(CUDA_CPU_WORK, Input in, Output out, long long segments,
                              Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return best<Output>(
            "cub::DeviceSegmentedReduce::ArgMin", in, out, segments, begins, ends,
            std::numeric_limits<detail::ValueOf<Input>>::max(),
            [](const auto& a, const auto& b) { return a < b; }, stream);
    }
    template <class Input, class Output, class Begins, class Ends>
    static cudaError_t ArgMax(CUDA_CPU_WORK, Input in, Output out, long long segments,
                              Begins begins, Ends ends, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return best<Output>(
            "cub::DeviceSegmentedReduce::ArgMax", in, out, segments, begins, ends,
            std::numeric_limits<detail::ValueOf<Input>>::lowest(),
            [](const auto& a, const auto& b) { return b < a; }, stream);
    }

 private:
    template <class Output, class Begins, class Ends, class Value>
    static cudaError_t of_segments(const char* name, Output out, long long segments, Begins begins,
                                   Ends ends, cudaStream_t stream, Value value) {
        detail::DeviceCall call(name, stream);
        call.reads("the beginnings", begins, segments);
        call.reads("the ends", ends, segments);
        call.writes("the output", out, segments);
        return call.run([=] {
            for (long long i = 0; i < segments; ++i)
                out[i] = value(static_cast<long long>(begins[i]), static_cast<long long>(ends[i]));
        });
    }
    template <class Output, class Input, class Begins, class Ends, class T, class Better>
    static cudaError_t best(const char* name, Input in, Output out, long long segments,
                            Begins begins, Ends ends, T of_none, Better better,
                            cudaStream_t stream) {
        return of_segments(name, out, segments, begins, ends, stream,
                           [=](long long begin, long long end) -> detail::ValueOf<Output> {
                               if (begin >= end) return {1, of_none};
                               long long best = begin;
                               for (long long i = begin + 1; i < end; ++i)
                                   if (better(in[i], in[best])) best = i;
                               return {static_cast<int>(best - begin), in[best]};
                           });
    }
};

}  // namespace cub
