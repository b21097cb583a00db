// CUB's algorithms for the device. A first call without memory to work in asks how much that is; none is needed here, but
// programs count on a size that is not 0.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "../cuda_cpu/libraries/library.h"
#include "operators.cuh"

namespace cub {

template <class T>
struct DoubleBuffer {
    T* d_buffers[2];
    int selector = 0;
    DoubleBuffer() : d_buffers{nullptr, nullptr} {}
    DoubleBuffer(T* current, T* other) : d_buffers{current, other} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

namespace detail {

template <class Iterator>
using ValueOf = std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<Iterator&>())>>;

// A call in its turn in a stream: what it reads and writes through plain pointers is looked at before.
class DeviceCall : public cuda_cpu::LibraryCall {
 public:
    using LibraryCall::LibraryCall;
    template <class Iterator>
    void reads(const char* name, Iterator first, long long count) {
        if constexpr (std::is_pointer_v<Iterator>)
            vector(name, first, count, 1, cuda_cpu::Use::read);
    }
    template <class Iterator>
    void writes(const char* name, Iterator first, long long count) {
        if constexpr (std::is_pointer_v<Iterator>)
            vector(name, first, count, 1, cuda_cpu::Use::written);
    }
    // Of an output whose length only the work tells.
    template <class Iterator>
    static void wrote(const char* name, Iterator first, long long count) {
        if constexpr (std::is_pointer_v<Iterator>) {
            if (count > 0)
                cuda_cpu::show_use(
                    {name, first, static_cast<size_t>(count) * sizeof(*first), 1, 0, true});
        }
    }
};
inline bool asks_for_size(void* work, size_t& bytes) {
    if (work == nullptr) bytes = 1;
    return work == nullptr;
}

template <class Input, class Output, class T, class Operator>
cudaError_t reduce(const char* name, Input in, Output out, long long count, Operator combine,
                   T first, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, 1);
    return call.run([=] {
        T sum = first;
        for (long long i = 0; i < count; ++i) sum = combine(sum, in[i]);
        *out = sum;
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
template <class Input, class Output, class T, class Operator>
cudaError_t exclusive_scan(const char* name, Input in, Output out, long long count,
                           Operator combine, T first, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, count);
    return call.run([=] {
        T sum = first;
        for (long long i = 0; i < count; ++i) {
            const T before = sum;
            sum = combine(sum, in[i]);
            out[i] = before;
        }
    });
}
template <class Input, class Output, class Operator>
cudaError_t inclusive_scan(const char* name, Input in, Output out, long long count,
                           Operator combine, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the input", in, count);
    call.writes("the output", out, count);
    return call.run([=] {
        if (count == 0) return;
        ValueOf<Input> sum = in[0];
        out[0] = sum;
        for (long long i = 1; i < count; ++i) out[i] = sum = combine(sum, in[i]);
    });
}
// Values may be null.
template <class Key, class Value>
cudaError_t sort(const char* name, const Key* keys, Key* sorted_keys, const Value* values,
                 Value* sorted_values, long long count, ByBits<Key> before, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the keys", keys, count);
    call.writes("the sorted keys", sorted_keys, count);
    if (values != nullptr) {
        call.reads("the values", values, count);
        call.writes("the sorted values", sorted_values, count);
    }
    return call.run([=] {
        std::vector<std::pair<Key, long long>> order;
        for (long long i = 0; i < count; ++i) order.emplace_back(keys[i], i);
        std::stable_sort(order.begin(), order.end(),
                         [&](const auto& a, const auto& b) { return before(a.first, b.first); });
        std::vector<Value> moved;
        for (long long i = 0; i < count; ++i) {
            sorted_keys[i] = order[static_cast<size_t>(i)].first;
            if (values != nullptr) moved.push_back(values[order[static_cast<size_t>(i)].second]);
        }
        std::copy(moved.begin(), moved.end(), sorted_values);
    });
}
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

#define CUDA_CPU_WORK void *work, size_t &bytes
#define CUDA_CPU_ASK \
    if (detail::asks_for_size(work, bytes)) return cudaSuccess
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

struct DeviceScan {
    template <class Input, class Output>
    static cudaError_t ExclusiveSum(CUDA_CPU_WORK, Input in, Output out, long long count,
                                    cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::exclusive_scan("cub::DeviceScan::ExclusiveSum", in, out, count, cub::Sum(),
                                      detail::ValueOf<Input>{}, stream);
    }
    template <class Input, class Output, class Operator, class T>
    static cudaError_t ExclusiveScan(CUDA_CPU_WORK, Input in, Output out, Operator combine, T first,
                                     long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::exclusive_scan("cub::DeviceScan::ExclusiveScan", in, out, count, combine,
                                      first, stream);
    }
    template <class Input, class Output>
    static cudaError_t InclusiveSum(CUDA_CPU_WORK, Input in, Output out, long long count,
                                    cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::inclusive_scan("cub::DeviceScan::InclusiveSum", in, out, count, cub::Sum(),
                                      stream);
    }
    template <class Input, class Output, class Operator>
    static cudaError_t InclusiveScan(CUDA_CPU_WORK, Input in, Output out, Operator combine,
                                     long long count, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        return detail::inclusive_scan("cub::DeviceScan::InclusiveScan", in, out, count, combine,
                                      stream);
    }
};

struct DeviceRadixSort {
#define CUDA_CPU_SORT(ending, descending)                                                          \
    template <class Key>                                                                           \
    static cudaError_t SortKeys##ending(CUDA_CPU_WORK, const Key* keys, Key* sorted,               \
                                        long long count, int begin = 0, int end = 8 * sizeof(Key), \
                                        cudaStream_t stream = nullptr) {                           \
        CUDA_CPU_ASK;                                                                              \
        return detail::sort<Key, char>("cub::DeviceRadixSort::SortKeys" #ending, keys, sorted,     \
                                       nullptr, nullptr, count, {begin, end, descending}, stream); \
    }                                                                                              \
    template <class Key, class Value>                                                              \
    static cudaError_t SortPairs##ending(                                                          \
        CUDA_CPU_WORK, const Key* keys, Key* sorted, const Value* values, Value* sorted_values,    \
        long long count, int begin = 0, int end = 8 * sizeof(Key),                                 \
        cudaStream_t stream = nullptr) {                                                           \
        CUDA_CPU_ASK;                                                                              \
        return detail::sort("cub::DeviceRadixSort::SortPairs" #ending, keys, sorted, values,       \
                            sorted_values, count, {begin, end, descending}, stream);               \
    }                                                                                              \
    template <class Key>                                                                           \
    static cudaError_t SortKeys##ending(CUDA_CPU_WORK, DoubleBuffer<Key>& keys, long long count,   \
                                        int begin = 0, int end = 8 * sizeof(Key),                  \
                                        cudaStream_t stream = nullptr) {                           \
        CUDA_CPU_ASK;                                                                              \
        keys.selector ^= 1;                                                                        \
        return SortKeys##ending(work, bytes, keys.Alternate(), keys.Current(), count, begin, end,  \
                                stream);                                                           \
    }                                                                                              \
    template <class Key, class Value>                                                              \
    static cudaError_t SortPairs##ending(                                                          \
        CUDA_CPU_WORK, DoubleBuffer<Key>& keys, DoubleBuffer<Value>& values, long long count,      \
        int begin = 0, int end = 8 * sizeof(Key), cudaStream_t stream = nullptr) {                 \
        CUDA_CPU_ASK;                                                                              \
        keys.selector ^= 1, values.selector ^= 1;                                                  \
        return SortPairs##ending(work, bytes, keys.Alternate(), keys.Current(),                    \
                                 values.Alternate(), values.Current(), count, begin, end, stream); \
    }
    CUDA_CPU_SORT(, false)
    CUDA_CPU_SORT(Descending, true)
#undef CUDA_CPU_SORT
};

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
    template <class Input, class Output, class Count>
    static cudaError_t Unique(CUDA_CPU_WORK, Input in, Output out, Count kept, long long count,
                              cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceSelect::Unique", stream);
        return detail::select(call, in, out, kept, count,
                              [=](long long i) { return i == 0 || !(in[i] == in[i - 1]); });
    }
};

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
};

struct DeviceHistogram {
    // Bins of one width between two levels, of which the upper one is outside; others are not counted.
    template <class Input, class Counter, class Level>
    static cudaError_t HistogramEven(CUDA_CPU_WORK, Input in, Counter* bins, int levels,
                                     Level lower, Level upper, long long count,
                                     cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        if (levels < 2) return cudaErrorInvalidValue;
        return counted(
            "cub::DeviceHistogram::HistogramEven", in, bins, levels - 1, count, stream,
            [=](const auto& sample) {
                const auto value = static_cast<Level>(sample);
                if (value < lower || !(value < upper)) return -1;
                if constexpr (std::is_integral_v<Level>) {
                    return static_cast<int>(static_cast<long long>(value - lower) * (levels - 1) /
                                            static_cast<long long>(upper - lower));
                } else {
                    return static_cast<int>((value - lower) * ((levels - 1) / (upper - lower)));
                }
            });
    }
    template <class Input, class Counter, class Level>
    static cudaError_t HistogramRange(CUDA_CPU_WORK, Input in, Counter* bins, int levels,
                                      const Level* bounds, long long count,
                                      cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        if (levels < 2) return cudaErrorInvalidValue;
        return counted(
            "cub::DeviceHistogram::HistogramRange", in, bins, levels - 1, count, stream,
            [=](const auto& sample) {
                const Level* const above =
                    std::upper_bound(bounds, bounds + levels, static_cast<Level>(sample));
                return above == bounds + levels ? -1 : static_cast<int>(above - bounds) - 1;
            });
    }

 private:
    template <class Input, class Counter, class Bin>
    static cudaError_t counted(const char* name, Input in, Counter* bins, int number,
                               long long count, cudaStream_t stream, Bin bin_of) {
        detail::DeviceCall call(name, stream);
        call.reads("the samples", in, count);
        call.writes("the histogram", bins, number);
        return call.run([=] {
            std::fill(bins, bins + number, Counter{});
            for (long long i = 0; i < count; ++i) {
                const int bin = bin_of(in[i]);
                if (bin >= 0) ++bins[bin];
            }
        });
    }
};
#undef CUDA_CPU_WORK
#undef CUDA_CPU_ASK

// Keeps nothing.
struct CachingDeviceAllocator {
    explicit CachingDeviceAllocator(bool = false) {}
    cudaError_t DeviceAllocate(void** pointer, size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(pointer, bytes);
    }
    cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
};

}  // namespace cub
