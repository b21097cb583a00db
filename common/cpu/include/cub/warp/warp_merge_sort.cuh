// CUB: sorting by a comparison, in a warp.
#pragma once

#include "../warp_call.cuh"

namespace cub {

// Equal elements keep their order. Of `valid` elements, the first ones; the others take `other`, which goes to the end.
template <class Key, int items, int size = 32, class Value = NullType, int = 0>
class WarpMergeSort {
    static constexpr int count = size * items;
    struct Element {
        Key key;
        Value value;
    };

 public:
    using TempStorage = detail::Room<Element, count>;
    explicit WarpMergeSort(TempStorage& storage) : elements_(storage.elements()) {}
#define CUDA_CPU_FORMS(Name)                                                   \
    template <class Before>                                                    \
    void Name(Key(&keys)[items], Before before) const {                        \
        sort(keys, nullptr, before, count, nullptr);                           \
    }                                                                          \
    template <class Before>                                                    \
    void Name(Key(&keys)[items], Before before, int valid, Key other) const {  \
        sort(keys, nullptr, before, valid, &other);                            \
    }                                                                          \
    template <class Before>                                                    \
    void Name(Key(&keys)[items], Value(&values)[items], Before before) const { \
        sort(keys, values, before, count, nullptr);                            \
    }
    CUDA_CPU_FORMS(Sort)
    CUDA_CPU_FORMS(StableSort)
#undef CUDA_CPU_FORMS

 private:
    template <class Before>
    void sort(Key (&keys)[items], Value* values, Before before, int valid, const Key* other) const {
        const detail::Part<size> part;
        const int first = part.place() * items;
        for (int i = 0; i < items; ++i) {
            elements_[first + i].key = first + i < valid || other == nullptr ? keys[i] : *other;
            if (values != nullptr) elements_[first + i].value = values[i];
        }
        part.wait();
        if (first == 0)
            std::stable_sort(
                elements_, elements_ + std::min(valid, count),
                [&](const Element& a, const Element& b) { return before(a.key, b.key); });
        part.wait();
        for (int i = 0; i < items; ++i) {
            keys[i] = elements_[first + i].key;
            if (values != nullptr) values[i] = elements_[first + i].value;
        }
        part.wait();
    }
    Element* elements_;
};

}  // namespace cub
