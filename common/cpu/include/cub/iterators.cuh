// CUB's iterators: numbers that follow each other, a constant, elements that a function has changed or numbered. (CUDA 13 has those of
// Thrust in place of some.)
#pragma once

#include <iterator>

#include "operators.cuh"

namespace cub {
namespace detail {

// What moves by steps; Self has at(n), the element n steps further.
template <class Self, class T>
class Iterator {
 public:
    using value_type = T;
    using reference = T;
    using pointer = T*;
    using difference_type = ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;
    T operator*() const { return self().at(0); }
    template <class Distance>
    T operator[](Distance n) const {
        return self().at(static_cast<ptrdiff_t>(n));
    }
    Self operator+(ptrdiff_t n) const {
        Self moved = self();
        moved.move(n);
        return moved;
    }
    Self operator-(ptrdiff_t n) const { return self() + -n; }
    Self& operator+=(ptrdiff_t n) { return self() = self() + n; }
    Self& operator-=(ptrdiff_t n) { return self() = self() + -n; }
    Self& operator++() { return self() += 1; }
    Self& operator--() { return self() -= 1; }
    Self operator++(int) {
        const Self old = self();
        self() += 1;
        return old;
    }
    ptrdiff_t operator-(const Self& other) const { return self().distance_from(other); }
    bool operator==(const Self& other) const { return self() - other == 0; }
    bool operator!=(const Self& other) const { return self() - other != 0; }

 private:
    Self& self() { return static_cast<Self&>(*this); }
    const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace detail

template <class T, class = ptrdiff_t>
class CountingInputIterator : public detail::Iterator<CountingInputIterator<T>, T> {
 public:
    explicit CountingInputIterator(const T& first) : first_(first) {}
    T at(ptrdiff_t n) const { return static_cast<T>(first_ + static_cast<T>(n)); }
    void move(ptrdiff_t n) { first_ = at(n); }
    ptrdiff_t distance_from(const CountingInputIterator& other) const {
        return static_cast<ptrdiff_t>(first_ - other.first_);
    }

 private:
    T first_;
};
template <class T, class = ptrdiff_t>
class ConstantInputIterator : public detail::Iterator<ConstantInputIterator<T>, T> {
 public:
    explicit ConstantInputIterator(const T& value, ptrdiff_t place = 0)
        : value_(value), place_(place) {}
    T at(ptrdiff_t) const { return value_; }
    void move(ptrdiff_t n) { place_ += n; }
    ptrdiff_t distance_from(const ConstantInputIterator& other) const {
        return place_ - other.place_;
    }

 private:
    T value_;
    ptrdiff_t place_;
};
template <class T, class Operator, class Input, class = ptrdiff_t>
class TransformInputIterator
    : public detail::Iterator<TransformInputIterator<T, Operator, Input>, T> {
 public:
    TransformInputIterator(Input in, Operator change) : in_(in), change_(change) {}
    T at(ptrdiff_t n) const { return change_(in_[n]); }
    void move(ptrdiff_t n) { in_ = in_ + n; }
    ptrdiff_t distance_from(const TransformInputIterator& other) const { return in_ - other.in_; }

 private:
    Input in_;
    Operator change_;
};
// Each element with its place.
template <class Input, class Index = ptrdiff_t,
          class T = std::remove_cv_t<std::remove_reference_t<decltype(std::declval<Input>()[0])>>>
class ArgIndexInputIterator
    : public detail::Iterator<ArgIndexInputIterator<Input, Index, T>, KeyValuePair<Index, T>> {
 public:
    explicit ArgIndexInputIterator(Input in, ptrdiff_t place = 0) : in_(in), place_(place) {}
    KeyValuePair<Index, T> at(ptrdiff_t n) const {
        return {static_cast<Index>(place_ + n), in_[place_ + n]};
    }
    void move(ptrdiff_t n) { place_ += n; }
    ptrdiff_t distance_from(const ArgIndexInputIterator& other) const {
        return place_ - other.place_;
    }
    void normalize() { place_ = 0; }

 private:
    Input in_;
    ptrdiff_t place_;
};

// How a load or a store uses the caches, which is nothing here.
enum CacheLoadModifier {
    LOAD_DEFAULT,
    LOAD_CA,
    LOAD_CG,
    LOAD_CS,
    LOAD_CV,
    LOAD_LDG,
    LOAD_VOLATILE
};
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier, class Pointer>
auto ThreadLoad(Pointer place) {
    return *place;
}
template <CacheStoreModifier, class Pointer, class T>
void ThreadStore(Pointer place, const T& value) {
    *place = value;
}
template <CacheLoadModifier, class T, class = ptrdiff_t>
class CacheModifiedInputIterator
    : public detail::Iterator<CacheModifiedInputIterator<LOAD_DEFAULT, T>, T> {
 public:
    CacheModifiedInputIterator(const T* start) : start_(start) {}
    T at(ptrdiff_t n) const { return start_[n]; }
    void move(ptrdiff_t n) { start_ += n; }
    T operator*() const { return *start_; }
    template <class Distance>
    T operator[](Distance n) const {
        return start_[n];
    }
    CacheModifiedInputIterator operator+(ptrdiff_t n) const { return start_ + n; }

 private:
    const T* start_;
};
template <CacheStoreModifier, class T, class = ptrdiff_t>
class CacheModifiedOutputIterator {
 public:
    using value_type = T;
    CacheModifiedOutputIterator(T* start) : start_(start) {}
    T& operator*() const { return *start_; }
    template <class Distance>
    T& operator[](Distance n) const {
        return start_[n];
    }
    CacheModifiedOutputIterator operator+(ptrdiff_t n) const { return start_ + n; }

 private:
    T* start_;
};
// Takes everything and keeps nothing.
template <class = ptrdiff_t>
class DiscardOutputIterator {
 public:
    struct Nothing {
        template <class T>
        Nothing& operator=(const T&) {
            return *this;
        }
    };
    using value_type = Nothing;
    Nothing operator*() const { return {}; }
    template <class Distance>
    Nothing operator[](Distance) const {
        return {};
    }
    DiscardOutputIterator operator+(ptrdiff_t) const { return *this; }
};

}  // namespace cub
