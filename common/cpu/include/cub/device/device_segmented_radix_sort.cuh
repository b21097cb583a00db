// CUB: each segment sorted by itself, for the device. What lies in no segment is not written.
#pragma once

#include "device_radix_sort.cuh"

namespace cub {
namespace detail {

// Values may be null.
template <class Key, class Value, class Begins, class Ends>
cudaError_t sort_segments(const char* name, const Key* keys, Key* sorted_keys, const Value* values,
                          Value* sorted_values, long long count, long long segments, Begins begins,
                          Ends ends, ByBits<Key> before, cudaStream_t stream) {
    DeviceCall call(name, stream);
    call.reads("the keys", keys, count);
    call.writes("the sorted keys", sorted_keys, count);
    if (values != nullptr) {
        call.reads("the values", values, count);
        call.writes("the sorted values", sorted_values, count);
    }
    call.reads("the beginnings", begins, segments);
    call.reads("the ends", ends, segments);
    return call.run([=] {
        for (long long i = 0; i < segments; ++i) {
            const auto begin = static_cast<long long>(begins[i]);
            const Key* const own = keys + begin;
            const auto places =
                places_in_order(std::max(0ll, static_cast<long long>(ends[i]) - begin),
                                [&](long long a, long long b) { return before(own[a], own[b]); });
            store_in_order(places, own, sorted_keys + begin);
            if (values != nullptr) store_in_order(places, values + begin, sorted_values + begin);
        }
    });
}

}  // namespace detail

#define CUDA_CPU_SEGMENTS long long count, long long segments, Begins begins, Ends ends
#define CUDA_CPU_BITS int begin = 0, int end = 8 * sizeof(Key), cudaStream_t stream = nullptr
#define CUDA_CPU_NO_BITS cudaStream_t stream = nullptr
#define CUDA_CPU_SORT(Class, Name, descending, REST, first, last)                                 \
    template <class Key, class Begins, class Ends>                                                \
    static cudaError_t Name##Keys##descending(CUDA_CPU_WORK, const Key* keys, Key* sorted,        \
                                              CUDA_CPU_SEGMENTS, REST) {                          \
        CUDA_CPU_ASK;                                                                             \
        return detail::sort_segments<Key, char>("cub::" #Class, keys, sorted, nullptr, nullptr,   \
                                                count, segments, begins, ends,                    \
                                                {first, last, #descending[0] != 0}, stream);      \
    }                                                                                             \
    template <class Key, class Value, class Begins, class Ends>                                   \
    static cudaError_t Name##Pairs##descending(CUDA_CPU_WORK, const Key* keys, Key* sorted,       \
                                               const Value* values, Value* sorted_values,         \
                                               CUDA_CPU_SEGMENTS, REST) {                         \
        CUDA_CPU_ASK;                                                                             \
        return detail::sort_segments("cub::" #Class, keys, sorted, values, sorted_values, count,  \
                                     segments, begins, ends, {first, last, #descending[0] != 0},  \
                                     stream);                                                     \
    }                                                                                             \
    template <class Key, class Begins, class Ends>                                                \
    static cudaError_t Name##Keys##descending(CUDA_CPU_WORK, DoubleBuffer<Key>& keys,             \
                                              CUDA_CPU_SEGMENTS, REST) {                          \
        CUDA_CPU_ASK;                                                                             \
        keys.selector ^= 1;                                                                       \
        return detail::sort_segments<Key, char>("cub::" #Class, keys.Alternate(), keys.Current(), \
                                                nullptr, nullptr, count, segments, begins, ends,  \
                                                {first, last, #descending[0] != 0}, stream);      \
    }                                                                                             \
    template <class Key, class Value, class Begins, class Ends>                                   \
    static cudaError_t Name##Pairs##descending(CUDA_CPU_WORK, DoubleBuffer<Key>& keys,            \
                                               DoubleBuffer<Value>& values, CUDA_CPU_SEGMENTS,    \
                                               REST) {                                            \
        CUDA_CPU_ASK;                                                                             \
        keys.selector ^= 1, values.selector ^= 1;                                                 \
        return detail::sort_segments("cub::" #Class, keys.Alternate(), keys.Current(),            \
                                     values.Alternate(), values.Current(), count, segments,       \
                                     begins, ends, {first, last, #descending[0] != 0}, stream);   \
    }
struct DeviceSegmentedRadixSort {
    CUDA_CPU_SORT(DeviceSegmentedRadixSort, Sort, , CUDA_CPU_BITS, begin, end)
    CUDA_CPU_SORT(DeviceSegmentedRadixSort, Sort, Descending, CUDA_CPU_BITS, begin, end)
};
struct DeviceSegmentedSort {
    CUDA_CPU_SORT(DeviceSegmentedSort, Sort, , CUDA_CPU_NO_BITS, 0, 8 * sizeof(Key))
    CUDA_CPU_SORT(DeviceSegmentedSort, Sort, Descending, CUDA_CPU_NO_BITS, 0, 8 * sizeof(Key))
    CUDA_CPU_SORT(DeviceSegmentedSort, StableSort, , CUDA_CPU_NO_BITS, 0, 8 * sizeof(Key))
    CUDA_CPU_SORT(DeviceSegmentedSort, StableSort, Descending, CUDA_CPU_NO_BITS, 0, 8 * sizeof(Key))
};
#undef CUDA_CPU_SORT
#undef CUDA_CPU_BITS
#undef CUDA_CPU_NO_BITS
#undef CUDA_CPU_SEGMENTS

}  // namespace cub
