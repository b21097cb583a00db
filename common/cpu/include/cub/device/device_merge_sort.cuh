// CUB: sorting by a comparison, for the device. All forms keep equal elements in their order.
#pragma once

#include "../device_call.cuh"

namespace cub {

struct DeviceMergeSort {
    template <class Keys, class KeysOut, class Before>
    static cudaError_t SortKeysCopy(CUDA_CPU_WORK, Keys keys, KeysOut sorted, long long count,
                                    Before before, cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceMergeSort::SortKeys", stream);
        call.reads("the keys", keys, count);
        call.writes("the sorted keys", sorted, count);
        return call.run([=] {
            detail::store_in_order(
                detail::places_in_order(
                    count, [&](long long a, long long b) { return before(keys[a], keys[b]); }),
                keys, sorted);
        });
    }
    template <class Keys, class Values, class KeysOut, class ValuesOut, class Before>
    static cudaError_t SortPairsCopy(CUDA_CPU_WORK, Keys keys, Values values, KeysOut sorted_keys,
                                     ValuesOut sorted_values, long long count, Before before,
                                     cudaStream_t stream = nullptr) {
        CUDA_CPU_ASK;
        detail::DeviceCall call("cub::DeviceMergeSort::SortPairs", stream);
        call.reads("the keys", keys, count);
        call.reads("the values", values, count);
        call.writes("the sorted keys", sorted_keys, count);
        call.writes("the sorted values", sorted_values, count);
        return call.run([=] {
            const auto places = detail::places_in_order(
                count, [&](long long a, long long b) { return before(keys[a], keys[b]); });
            detail::store_in_order(places, keys, sorted_keys);
            detail::store_in_order(places, values, sorted_values);
        });
    }
    // In place.
#define CUDA_CPU_IN_PLACE(Stable)                                                                  \
    template <class Keys, class Before>                                                            \
    static cudaError_t Stable##SortKeys(CUDA_CPU_WORK, Keys keys, long long count, Before before,  \
                                        cudaStream_t stream = nullptr) {                           \
        return SortKeysCopy(work, bytes, keys, keys, count, before, stream);                       \
    }                                                                                              \
    template <class Keys, class Values, class Before>                                              \
    static cudaError_t Stable##SortPairs(CUDA_CPU_WORK, Keys keys, Values values, long long count, \
                                         Before before, cudaStream_t stream = nullptr) {           \
        return SortPairsCopy(work, bytes, keys, values, keys, values, count, before, stream);      \
    }
    CUDA_CPU_IN_PLACE()
    CUDA_CPU_IN_PLACE(Stable)
#undef CUDA_CPU_IN_PLACE
    template <class Keys, class KeysOut, class Before>
    static cudaError_t StableSortKeysCopy(CUDA_CPU_WORK, Keys keys, KeysOut sorted, long long count,
                                          Before before, cudaStream_t stream = nullptr) {
        return SortKeysCopy(work, bytes, keys, sorted, count, before, stream);
    }
};

}  // namespace cub
