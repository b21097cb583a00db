// CUB: sorting by bits, in a block.
#pragma once

#include "../block_call.cuh"
#include "block_scan.cuh"

namespace cub {

template <class Key, int block_x, int items, class Value = NullType, int = 4, bool = true,
          BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS>
class BlockRadixSort {
    static constexpr int count = block_x * items;
    struct Element {
        Key key;
        Value value;
    };

 public:
    using TempStorage = detail::Room<Element, count>;
    explicit BlockRadixSort(TempStorage& storage = detail::own_storage<TempStorage>())
        : elements_(storage.elements()) {}
    void Sort(Key (&keys)[items], int begin = 0, int end = 8 * sizeof(Key)) const {
        sort(keys, none(), {begin, end, false}, false);
    }
    void SortDescending(Key (&keys)[items], int begin = 0, int end = 8 * sizeof(Key)) const {
        sort(keys, none(), {begin, end, true}, false);
    }
    void Sort(Key (&keys)[items], Value (&values)[items], int begin = 0,
              int end = 8 * sizeof(Key)) const {
        sort(keys, values, {begin, end, false}, false);
    }
    void SortDescending(Key (&keys)[items], Value (&values)[items], int begin = 0,
                        int end = 8 * sizeof(Key)) const {
        sort(keys, values, {begin, end, true}, false);
    }
    void SortBlockedToStriped(Key (&keys)[items], int begin = 0, int end = 8 * sizeof(Key)) const {
        sort(keys, none(), {begin, end, false}, true);
    }
    void SortBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin = 0,
                              int end = 8 * sizeof(Key)) const {
        sort(keys, values, {begin, end, false}, true);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[items], int begin = 0,
                                        int end = 8 * sizeof(Key)) const {
        sort(keys, none(), {begin, end, true}, true);
    }
    void SortDescendingBlockedToStriped(Key (&keys)[items], Value (&values)[items], int begin = 0,
                                        int end = 8 * sizeof(Key)) const {
        sort(keys, values, {begin, end, true}, true);
    }

 private:
    static Value (&none())[items] {
        static thread_local Value values[items];
        return values;
    }
    void sort(Key (&keys)[items], Value (&values)[items], detail::ByBits<Key> before,
              bool striped) const {
        const int thread = detail::thread_of_block();
        for (int i = 0; i < items; ++i) elements_[thread * items + i] = {keys[i], values[i]};
        __syncthreads();
        if (thread == 0)
            std::stable_sort(elements_, elements_ + count, [&](const Element& a, const Element& b) {
                return before(a.key, b.key);
            });
        __syncthreads();
        for (int i = 0; i < items; ++i) {
            const Element& element = elements_[striped ? thread + i * block_x : thread * items + i];
            keys[i] = element.key;
            values[i] = element.value;
        }
        __syncthreads();
    }
    Element* elements_;
};

}  // namespace cub
