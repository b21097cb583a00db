// What inline PTX becomes (common/cpu/ptx.py): registers are read and written as the type that an instruction names.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cuda_cpu {

// The bits of a register as another type; whole numbers of another size are cut or extended.
template <class To, class From>
To ptx_as(From value) {
    if constexpr (std::is_integral_v<To> == std::is_integral_v<From>) {
        return static_cast<To>(value);
    } else {
        static_assert(sizeof(To) == sizeof(From),
                      "a register and its instruction have types of different size");
        return same_bits<To>(value);
    }
}
template <class To, class From>
To ptx_take(From value) {
    if constexpr (std::is_pointer_v<From>) {
        return static_cast<To>(reinterpret_cast<uintptr_t>(value));
    } else if constexpr (std::is_enum_v<From>) {
        return static_cast<To>(value);
    } else {
        return ptx_as<To>(value);
    }
}
template <class Target, class Value>
void ptx_give(Target& target, Value value) {
    if constexpr (std::is_pointer_v<Target>) {
        target = reinterpret_cast<Target>(static_cast<uintptr_t>(value));
    } else {
        target = ptx_as<Target>(value);
    }
}
inline unsigned int ptx_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned int ptx_block() {
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

// A shift by all bits or more leaves none, or the sign.
template <class T>
T ptx_shift_left(T value, uint32_t count) {
    return count >= 8 * sizeof(T)
               ? T(0)
               : static_cast<T>(static_cast<std::make_unsigned_t<T>>(value) << count);
}
template <class T>
T ptx_shift_right(T value, uint32_t count) {
    const uint32_t most = 8 * sizeof(T) - 1;
    return count > most ? (value < 0 ? static_cast<T>(-1) : T(0)) : static_cast<T>(value >> count);
}
template <class T>
T ptx_high(T a, T b) {
    using Wide =
        std::conditional_t<sizeof(T) == 8,
                           std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                           std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
    return static_cast<T>((Wide{a} * b) >> (8 * sizeof(T)));
}
template <class T>
uint32_t ptx_count(T value) {
    return static_cast<uint32_t>(__builtin_popcountll(static_cast<std::make_unsigned_t<T>>(value)));
}
template <class T>
uint32_t ptx_zeros(T value) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    return bits == 0 ? 8 * sizeof(T)
                     : static_cast<uint32_t>(__builtin_clzll(bits)) - (64 - 8 * sizeof(T));
}
template <class T>
T ptx_reverse(T value) {
    return static_cast<T>(__brevll(static_cast<std::make_unsigned_t<T>>(value)) >>
                          (64 - 8 * sizeof(T)));
}
// `length` bits from `first` on.
template <class T>
T ptx_extract(uint32_t value, uint32_t first, uint32_t length) {
    first &= 255, length &= 255;
    if (length == 0) return 0;
    const bool is_negative =
        std::is_signed_v<T> && (value >> std::min(first + length - 1, 31u) & 1) != 0;
    const uint32_t mask = length >= 32 ? ~0u : (1u << length) - 1;
    const uint32_t bits = first >= 32 ? 0 : value >> first & mask;
    const uint32_t outside = first >= 32 ? ~0u : ~(mask & (~0u >> first));
    return static_cast<T>(is_negative ? bits | outside : bits);
}
inline uint32_t ptx_insert(uint32_t value, uint32_t into, uint32_t first, uint32_t length) {
    first &= 255, length &= 255;
    if (first >= 32 || length == 0) return into;
    const uint32_t mask = (length >= 32 ? ~0u : (1u << length) - 1) << first;
    return (into & ~mask) | (value << first & mask);
}
// For each bit the place in the table that a, b and c name.
inline uint32_t ptx_logic(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t result = 0;
    for (int i = 0; i < 8; ++i) {
        if ((table >> i & 1) == 0) continue;
        result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    }
    return result;
}

// The place of the highest bit that is not the sign's, or how far it is from the top; ~0 if there is none.
template <class T>
uint32_t ptx_find(uint32_t word, bool from_top) {
    if (std::is_signed_v<T> && static_cast<int32_t>(word) < 0) word = ~word;
    if (word == 0) return ~0u;
    const auto zeros = static_cast<uint32_t>(__builtin_clz(word));
    return from_top ? zeros : 31 - zeros;
}

}  // namespace cuda_cpu
