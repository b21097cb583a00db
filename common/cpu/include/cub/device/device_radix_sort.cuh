// CUB: sorting by bits, for the device.
#pragma once

#include "../device_call.cuh"

namespace cub {
namespace detail {

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
        const auto places = places_in_order(
            count, [&](long long a, long long b) { return before(keys[a], keys[b]); });
        store_in_order(places, keys, sorted_keys);
        if (values != nullptr) store_in_order(places, values, sorted_values);
    });
}

}  // namespace detail

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

}  // namespace cub
