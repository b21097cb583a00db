// CUB: what its algorithms combine numbers with, and the order of keys by their bits.
#pragma once

#include "../cuda_runtime.h"

#define CUB_RUNTIME_FUNCTION
#define CubDebug(error) (error)
#define CubDebugExit(error)                  \
    do {                                     \
        if ((error) != cudaSuccess) exit(1); \
    } while (0)

namespace cub {

struct NullType {};
struct Sum {
    template <class A, class B>
    auto operator()(const A& a, const B& b) const {
        return a + b;
    }
};
struct Max {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};
struct Min {
    template <class T>
    T operator()(const T& a, const T& b) const {
        return b < a ? b : a;
    }
};
struct Equality {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return a == b;
    }
};
struct Inequality {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
        return a != b;
    }
};
// Of pairs of a place and a value, the larger or smaller value; of equal ones the first place.
struct ArgMax {
    template <class Pair>
    Pair operator()(const Pair& a, const Pair& b) const {
        return a.value < b.value || (!(b.value < a.value) && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class Pair>
    Pair operator()(const Pair& a, const Pair& b) const {
        return b.value < a.value || (!(a.value < b.value) && b.key < a.key) ? b : a;
    }
};
template <class To>
struct CastOp {
    template <class From>
    To operator()(const From& value) const {
        return static_cast<To>(value);
    }
};
namespace detail {
struct Difference {
    template <class A, class B>
    auto operator()(const A& a, const B& b) const {
        return a - b;
    }
};
}  // namespace detail
template <class Key, class Value>
struct KeyValuePair {
    Key key;
    Value value;
    KeyValuePair() = default;
    KeyValuePair(const Key& key, const Value& value) : key(key), value(value) {}
};

namespace detail {

// Bits whose order as a whole number is that of the keys, from `begin` up to `end`.
template <class Key>
uint64_t ordered_bits(const Key& key, int begin, int end) {
    static_assert(sizeof(Key) <= 8, "a radix sort takes keys of at most 8 bytes");
    constexpr int width = 8 * sizeof(Key);
    constexpr uint64_t sign = uint64_t{1} << (width - 1);
    constexpr uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width % 64) - 1;
    uint64_t bits = 0;
    std::memcpy(&bits, &key, sizeof(Key));
    if constexpr (std::is_integral_v<Key> && std::is_signed_v<Key>) {
        bits ^= sign;
    } else if constexpr (!std::is_integral_v<Key>) {  // of floating point
        if (bits == sign) bits = 0;
        bits = bits & sign ? ~bits & all : bits | sign;
    }
    bits >>= begin;
    return end - begin < 64 ? bits & ((uint64_t{1} << (end - begin)) - 1) : bits;
}
template <class Key>
struct ByBits {
    int begin, end;
    bool descending;
    bool operator()(const Key& a, const Key& b) const {
        const uint64_t first = ordered_bits(a, begin, end), second = ordered_bits(b, begin, end);
        return descending ? second < first : first < second;
    }
};

}  // namespace detail
}  // namespace cub
