// CUB: sorting by a comparison, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

// Equal elements keep their order. Of `valid` elements, the first ones; the others take `other`, which goes to the end.
template <class Key, int block_x, int items, class Value = NullType, int block_y = 1,
          int block_z = 1>
class BlockMergeSort {
    static constexpr int count = block_x * block_y * block_z * items;
    struct Element {
        Key key;
        Value value;
    };

 public:
    using TempStorage = detail::Room<Element, count>;
    explicit BlockMergeSort(TempStorage& storage = detail::own_storage<TempStorage>())
        : elements_(storage.elements()) {}
#define CUDA_CPU_FORMS(Name)                                                                 \
    template <class Before>                                                                  \
    void Name(Key(&keys)[items], Before before) const {                                      \
        sort(keys, nullptr, before, count, nullptr);                                         \
    }                                                                                        \
    template <class Before>                                                                  \
    void Name(Key(&keys)[items], Before before, int valid, Key other) const {                \
        sort(keys, nullptr, before, valid, &other);                                          \
    }                                                                                        \
    template <class Before>                                                                  \
    void Name(Key(&keys)[items], Value(&values)[items], Before before) const {               \
        sort(keys, values, before, count, nullptr);                                          \
    }                                                                                        \
    template <class Before>                                                                  \
    void Name(Key(&keys)[items], Value(&values)[items], Before before, int valid, Key other) \
        const {                                                                              \
        sort(keys, values, before, valid, &other);                                           \
    }
    CUDA_CPU_FORMS(Sort)
    CUDA_CPU_FORMS(StableSort)
#undef CUDA_CPU_FORMS

 private:
    template <class Before>
    void sort(Key (&keys)[items], Value* values, Before before, int valid, const Key* other) const {
        const int first = detail::thread_of_block() * items;
        for (int i = 0; i < items; ++i) {
            elements_[first + i].key = first + i < valid || other == nullptr ? keys[i] : *other;
            if (values != nullptr) elements_[first + i].value = values[i];
        }
        __syncthreads();
        if (first == 0)
            std::stable_sort(
                elements_, elements_ + std::min(valid, count),
                [&](const Element& a, const Element& b) { return before(a.key, b.key); });
        __syncthreads();
        for (int i = 0; i < items; ++i) {
            keys[i] = elements_[first + i].key;
            if (values != nullptr) values[i] = elements_[first + i].value;
        }
        __syncthreads();
    }
    Element* elements_;
};

}  // namespace cub
