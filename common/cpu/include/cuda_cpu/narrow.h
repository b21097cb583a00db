// Numbers of 16 or 8 bits: a sign (bit 15), some bits of exponent, the rest a fraction. Each operation is done exactly or in double and then
// rounded once to the nearest, ties to even, as a GPU does it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "math.h"
#include "types.h"

namespace cuda_cpu {

enum class Rounding { nearest, zero, down, up };

// Without an infinity the largest exponent has numbers, too, but for a fraction of ones, which is no number.
template <int exponent_bits, int fraction_bits, bool has_infinity = true>
struct Narrow {
    static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
    static constexpr uint16_t infinity =
        static_cast<uint16_t>(has_infinity ? ((1 << exponent_bits) - 1) << fraction_bits
                                           : (1 << (exponent_bits + fraction_bits)) - 1);
    static constexpr float smallest =
        1.0f / static_cast<float>(uint64_t{1} << (bias - 1 + fraction_bits) % 64);

    static uint16_t from(double value, Rounding rounding = Rounding::nearest) {
        // Mostly in the bits alone: what is rounded up carries into the exponent, and at the end into infinity.
        const auto bits = same_bits<uint64_t>(value);
        const int power = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
        if (rounding == Rounding::nearest && power >= 1 - bias && power <= bias) {
            constexpr int dropped = 52 - fraction_bits;
            uint64_t size = (bits & 0xfffffffffffff) | static_cast<uint64_t>(power + bias) << 52;
            size += (uint64_t{1} << (dropped - 1)) - 1 + (size >> dropped & 1);
            return static_cast<uint16_t>((bits >> 63) << 15 | size >> dropped);
        }
        const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
        if (std::isnan(value)) return 0x7fff;
        const double size = std::fabs(value);
        if (std::isinf(value)) return static_cast<uint16_t>(sign | infinity);
        // In units of the last place that a number of this size has.
        int exponent;
        std::frexp(size, &exponent);
        const int place = std::max(exponent - 1, 1 - bias) - fraction_bits;
        const double scaled = std::ldexp(size, -place), below = std::floor(scaled),
                     rest = scaled - below;
        const bool even = std::fmod(below, 2.0) == 0;
        const bool away = rounding == Rounding::nearest ? rest > 0.5 || (rest == 0.5 && !even)
                          : rounding == Rounding::down  ? rest > 0 && sign != 0
                          : rounding == Rounding::up    ? rest > 0 && sign == 0
                                                        : false;
        const double rounded = std::ldexp(below + away, place);
        const double largest =
            std::ldexp(2.0 - std::ldexp(1.0, !has_infinity - fraction_bits), bias + !has_infinity);
        if (rounded > largest) {
            const bool stays = rounding == Rounding::zero ||
                               (rounding == Rounding::down && sign == 0) ||
                               (rounding == Rounding::up && sign != 0);
            return static_cast<uint16_t>(sign | (infinity - stays));
        }
        if (rounded == 0) return sign;
        std::frexp(rounded, &exponent);
        const bool normal = exponent - 1 >= 1 - bias;
        const double unit =
            std::ldexp(rounded, -((normal ? exponent - 1 : 1 - bias) - fraction_bits));
        const auto fraction = static_cast<uint16_t>(unit) & ((1 << fraction_bits) - 1);
        return static_cast<uint16_t>(sign | (normal ? (exponent - 1 + bias) << fraction_bits : 0) |
                                     fraction);
    }
    static float to_float(uint16_t bits) {
        const int exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1),
                  fraction = bits & ((1 << fraction_bits) - 1);
        float size;
        if ((bits & 0x7fff) >= infinity) {
            size = fraction != 0 ? __builtin_nanf("") : __builtin_inff();
        } else if (exponent != 0 ||
                   bias == 127) {  // a float's exponents: also what lies below them is alike
            size = same_bits<float>(static_cast<uint32_t>(exponent + 127 - bias) << 23 |
                                    static_cast<uint32_t>(fraction) << (23 - fraction_bits));
        } else {
            size = static_cast<float>(fraction) * smallest;
        }
        return bits >> 15 != 0 ? -size : size;
    }
};

}  // namespace cuda_cpu

// What cuda_fp16.h and cuda_bf16.h have alike: the type, the pair of two, conversions, arithmetic, comparisons.
// `type` and `pair` are CUDA's names; `word` is what stands for the type in the names of conversions, half or bfloat16.
#define CUDA_CPU_NARROW(type, pair, raw, raw_pair, word, pairs, exponent_bits, fraction_bits)      \
    struct raw {                                                                                   \
        unsigned short x;                                                                          \
    };                                                                                             \
    struct alignas(4) raw_pair {                                                                   \
        unsigned short x, y;                                                                       \
    };                                                                                             \
    struct alignas(2) type {                                                                       \
        using Format = cuda_cpu::Narrow<exponent_bits, fraction_bits>;                             \
        uint16_t bits;                                                                             \
        type() = default;                                                                          \
        type(raw other) : bits(other.x) {}                                                         \
        type(float value) : bits(Format::from(value)) {}                                           \
        type(double value) : bits(Format::from(value)) {}                                          \
        type(int value) : bits(Format::from(value)) {}                                             \
        type(unsigned int value) : bits(Format::from(value)) {}                                    \
        type(short value) : bits(Format::from(value)) {}                                           \
        type(unsigned short value) : bits(Format::from(value)) {}                                  \
        type(long value) : bits(Format::from(static_cast<double>(value))) {}                       \
        type(unsigned long value) : bits(Format::from(static_cast<double>(value))) {}              \
        type(long long value) : bits(Format::from(static_cast<double>(value))) {}                  \
        type(unsigned long long value) : bits(Format::from(static_cast<double>(value))) {}         \
        static type of_bits(uint16_t bits) {                                                       \
            type result;                                                                           \
            result.bits = bits;                                                                    \
            return result;                                                                         \
        }                                                                                          \
        operator float() const { return Format::to_float(bits); }                                  \
        explicit operator int() const { return static_cast<int>(Format::to_float(bits)); }         \
        operator raw() const { return {bits}; }                                                    \
        type& operator+=(type b) { return *this = type(float(*this) + float(b)); }                 \
        type& operator-=(type b) { return *this = type(float(*this) - float(b)); }                 \
        type& operator*=(type b) { return *this = type(float(*this) * float(b)); }                 \
        type& operator/=(type b) { return *this = type(float(*this) / float(b)); }                 \
        type& operator++() { return *this += type(1); }                                            \
        type& operator--() { return *this -= type(1); }                                            \
    };                                                                                             \
    inline type operator+(type a, type b) { return type(float(a) + float(b)); }                    \
    inline type operator-(type a, type b) { return type(float(a) - float(b)); }                    \
    inline type operator*(type a, type b) { return type(float(a) * float(b)); }                    \
    inline type operator/(type a, type b) { return type(float(a) / float(b)); }                    \
    inline type operator-(type a) {                                                                \
        return type::of_bits(static_cast<uint16_t>(a.bits ^ 0x8000));                              \
    }                                                                                              \
    inline type operator+(type a) { return a; }                                                    \
    inline bool operator==(type a, type b) { return float(a) == float(b); }                        \
    inline bool operator!=(type a, type b) { return float(a) != float(b); }                        \
    inline bool operator<(type a, type b) { return float(a) < float(b); }                          \
    inline bool operator<=(type a, type b) { return float(a) <= float(b); }                        \
    inline bool operator>(type a, type b) { return float(a) > float(b); }                          \
    inline bool operator>=(type a, type b) { return float(a) >= float(b); }                        \
    struct alignas(4) pair {                                                                       \
        type x, y;                                                                                 \
        pair() = default;                                                                          \
        pair(type x, type y) : x(x), y(y) {}                                                       \
        pair(raw_pair other) : x(raw{other.x}), y(raw{other.y}) {}                                 \
        operator raw_pair() const { return {x.bits, y.bits}; }                                     \
        pair& operator+=(pair b) { return *this = pair(x + b.x, y + b.y); }                        \
        pair& operator-=(pair b) { return *this = pair(x - b.x, y - b.y); }                        \
        pair& operator*=(pair b) { return *this = pair(x * b.x, y * b.y); }                        \
        pair& operator/=(pair b) { return *this = pair(x / b.x, y / b.y); }                        \
    };                                                                                             \
    inline pair operator+(pair a, pair b) { return {a.x + b.x, a.y + b.y}; }                       \
    inline pair operator-(pair a, pair b) { return {a.x - b.x, a.y - b.y}; }                       \
    inline pair operator*(pair a, pair b) { return {a.x * b.x, a.y * b.y}; }                       \
    inline pair operator/(pair a, pair b) { return {a.x / b.x, a.y / b.y}; }                       \
    inline pair operator-(pair a) { return {-a.x, -a.y}; }                                         \
    inline bool operator==(pair a, pair b) { return a.x == b.x && a.y == b.y; }                    \
    inline bool operator!=(pair a, pair b) { return a.x != b.x && a.y != b.y; }                    \
    inline pair make_##pairs(type x, type y) { return {x, y}; }                                    \
    inline type __float2##word(float a) { return type(a); }                                        \
    inline type __float2##word##_rn(float a) { return type(a); }                                   \
    inline type __float2##word##_rz(float a) {                                                     \
        return type::of_bits(type::Format::from(a, cuda_cpu::Rounding::zero));                     \
    }                                                                                              \
    inline type __float2##word##_rd(float a) {                                                     \
        return type::of_bits(type::Format::from(a, cuda_cpu::Rounding::down));                     \
    }                                                                                              \
    inline type __float2##word##_ru(float a) {                                                     \
        return type::of_bits(type::Format::from(a, cuda_cpu::Rounding::up));                       \
    }                                                                                              \
    inline type __double2##word(double a) { return type(a); }                                      \
    inline float __##word##2float(type a) { return a; }                                            \
    inline type __int2##word##_rn(int a) { return type(a); }                                       \
    inline type __uint2##word##_rn(unsigned int a) { return type(a); }                             \
    inline type __short2##word##_rn(short a) { return type(a); }                                   \
    inline type __ushort2##word##_rn(unsigned short a) { return type(a); }                         \
    inline int __##word##2int_rn(type a) { return static_cast<int>(std::nearbyint(float(a))); }    \
    inline int __##word##2int_rz(type a) { return static_cast<int>(float(a)); }                    \
    inline int __##word##2int_rd(type a) { return static_cast<int>(std::floor(float(a))); }        \
    inline int __##word##2int_ru(type a) { return static_cast<int>(std::ceil(float(a))); }         \
    inline unsigned int __##word##2uint_rn(type a) {                                               \
        return static_cast<unsigned int>(std::nearbyint(float(a)));                                \
    }                                                                                              \
    inline unsigned int __##word##2uint_rz(type a) { return static_cast<unsigned int>(float(a)); } \
    inline short __##word##_as_short(type a) { return static_cast<short>(a.bits); }                \
    inline unsigned short __##word##_as_ushort(type a) { return a.bits; }                          \
    inline type __short_as_##word(short a) { return type::of_bits(static_cast<uint16_t>(a)); }     \
    inline type __ushort_as_##word(unsigned short a) { return type::of_bits(a); }                  \
    inline pair __float2##word##2_rn(float a) { return {type(a), type(a)}; }                       \
    inline pair __floats2##word##2_rn(float a, float b) { return {type(a), type(b)}; }             \
    inline pair __float22##word##2_rn(float2 a) { return {type(a.x), type(a.y)}; }                 \
    inline float2 __##word##22float2(pair a) { return {float(a.x), float(a.y)}; }                  \
    inline float __low2float(pair a) { return a.x; }                                               \
    inline float __high2float(pair a) { return a.y; }                                              \
    inline type __low2##word(pair a) { return a.x; }                                               \
    inline type __high2##word(pair a) { return a.y; }                                              \
    inline pair __low2##word##2(pair a) { return {a.x, a.x}; }                                     \
    inline pair __high2##word##2(pair a) { return {a.y, a.y}; }                                    \
    inline pair __##word##2##word##2(type a) { return {a, a}; }                                    \
    inline pair __lowhigh2highlow(pair a) { return {a.y, a.x}; }                                   \
    inline pair __lows2##word##2(pair a, pair b) { return {a.x, b.x}; }                            \
    inline pair __highs2##word##2(pair a, pair b) { return {a.y, b.y}; }                           \
    CUDA_CPU_NARROW_BOTH(type, pair, __hadd, a + b)                                                \
    CUDA_CPU_NARROW_BOTH(type, pair, __hsub, a - b)                                                \
    CUDA_CPU_NARROW_BOTH(type, pair, __hmul, a* b)                                                 \
    CUDA_CPU_NARROW_BOTH(type, pair, __hadd_sat, cuda_cpu::narrow_saturated(a + b))                \
    CUDA_CPU_NARROW_BOTH(type, pair, __hsub_sat, cuda_cpu::narrow_saturated(a - b))                \
    CUDA_CPU_NARROW_BOTH(type, pair, __hmul_sat, cuda_cpu::narrow_saturated(a* b))                 \
    CUDA_CPU_NARROW_BOTH(type, pair, __hmax, type(fmaxf(float(a), float(b))))                      \
    CUDA_CPU_NARROW_BOTH(type, pair, __hmin, type(fminf(float(a), float(b))))                      \
    inline type __hdiv(type a, type b) { return a / b; }                                           \
    inline pair __h2div(pair a, pair b) { return a / b; }                                          \
    inline type __hfma(type a, type b, type c) {                                                   \
        return type(std::fma(double(float(a)), double(float(b)), double(float(c))));               \
    }                                                                                              \
    inline type __hfma_relu(type a, type b, type c) {                                              \
        return type(fmaxf(float(__hfma(a, b, c)), 0.0f));                                          \
    }                                                                                              \
    inline type __hfma_sat(type a, type b, type c) {                                               \
        return cuda_cpu::narrow_saturated(__hfma(a, b, c));                                        \
    }                                                                                              \
    inline pair __hfma2(pair a, pair b, pair c) {                                                  \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                     \
    }                                                                                              \
    inline pair __hfma2_relu(pair a, pair b, pair c) {                                             \
        return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};                           \
    }                                                                                              \
    inline type __hneg(type a) { return -a; }                                                      \
    inline pair __hneg2(pair a) { return -a; }                                                     \
    inline type __habs(type a) { return type::of_bits(a.bits & 0x7fff); }                          \
    inline pair __habs2(pair a) { return {__habs(a.x), __habs(a.y)}; }                             \
    inline bool __hisnan(type a) { return std::isnan(float(a)); }                                  \
    inline int __hisinf(type a) { return std::isinf(float(a)) ? (float(a) > 0 ? 1 : -1) : 0; }     \
    CUDA_CPU_NARROW_COMPARE(type, pair, eq, ==)                                                    \
    CUDA_CPU_NARROW_COMPARE(type, pair, ne, !=)                                                    \
    CUDA_CPU_NARROW_COMPARE(type, pair, lt, <)                                                     \
    CUDA_CPU_NARROW_COMPARE(type, pair, le, <=)                                                    \
    CUDA_CPU_NARROW_COMPARE(type, pair, gt, >)                                                     \
    CUDA_CPU_NARROW_COMPARE(type, pair, ge, >=)                                                    \
    CUDA_CPU_NARROW_FUNCTION(type, pair, sqrt, std::sqrt(x))                                       \
    CUDA_CPU_NARROW_FUNCTION(type, pair, rsqrt, 1.0 / std::sqrt(x))                                \
    CUDA_CPU_NARROW_FUNCTION(type, pair, rcp, 1.0 / x)                                             \
    CUDA_CPU_NARROW_FUNCTION(type, pair, exp, std::exp(x))                                         \
    CUDA_CPU_NARROW_FUNCTION(type, pair, exp2, std::exp2(x))                                       \
    CUDA_CPU_NARROW_FUNCTION(type, pair, exp10, std::pow(10.0, x))                                 \
    CUDA_CPU_NARROW_FUNCTION(type, pair, log, std::log(x))                                         \
    CUDA_CPU_NARROW_FUNCTION(type, pair, log2, std::log2(x))                                       \
    CUDA_CPU_NARROW_FUNCTION(type, pair, log10, std::log10(x))                                     \
    CUDA_CPU_NARROW_FUNCTION(type, pair, sin, std::sin(x))                                         \
    CUDA_CPU_NARROW_FUNCTION(type, pair, cos, std::cos(x))                                         \
    CUDA_CPU_NARROW_FUNCTION(type, pair, tanh, std::tanh(x))                                       \
    CUDA_CPU_NARROW_FUNCTION(type, pair, floor, std::floor(x))                                     \
    CUDA_CPU_NARROW_FUNCTION(type, pair, ceil, std::ceil(x))                                       \
    CUDA_CPU_NARROW_FUNCTION(type, pair, trunc, std::trunc(x))                                     \
    CUDA_CPU_NARROW_FUNCTION(type, pair, rint, std::nearbyint(x))                                  \
    CUDA_CPU_INLINE type atomicAdd(type* address, type value) {                                    \
        return cuda_cpu::atomic_change(address, [=](type old) { return old + value; });            \
    }                                                                                              \
    CUDA_CPU_INLINE pair atomicAdd(pair* address, pair value) {                                    \
        return cuda_cpu::atomic_change(address, [=](pair old) { return old + value; });            \
    }

#define CUDA_CPU_NARROW_BOTH(type, pair, name, result)  \
    inline type name(type a, type b) { return result; } \
    inline pair CUDA_CPU_NARROW_2(name)(pair a, pair b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#define CUDA_CPU_NARROW_2(name) CUDA_CPU_PAIR_OF_##name
#define CUDA_CPU_PAIR_OF___hadd __hadd2
#define CUDA_CPU_PAIR_OF___hsub __hsub2
#define CUDA_CPU_PAIR_OF___hmul __hmul2
#define CUDA_CPU_PAIR_OF___hadd_sat __hadd2_sat
#define CUDA_CPU_PAIR_OF___hsub_sat __hsub2_sat
#define CUDA_CPU_PAIR_OF___hmul_sat __hmul2_sat
#define CUDA_CPU_PAIR_OF___hmax __hmax2
#define CUDA_CPU_PAIR_OF___hmin __hmin2
// For each pair 1.0 or 0.0, all bits or none, or whether it holds for both.
#define CUDA_CPU_NARROW_COMPARE(type, pair, name, operation)                                    \
    inline bool __h##name(type a, type b) { return float(a) operation float(b); }               \
    inline pair __h##name##2(pair a, pair b) {                                                  \
        return {type(int(__h##name(a.x, b.x))), type(int(__h##name(a.y, b.y)))};                \
    }                                                                                           \
    inline bool __hb##name##2(pair a, pair b) {                                                 \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                      \
    }                                                                                           \
    inline unsigned int __h##name##2_mask(pair a, pair b) {                                     \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u); \
    }
#define CUDA_CPU_NARROW_FUNCTION(type, pair, name, result) \
    inline type h##name(type a) {                          \
        const double x = float(a);                         \
        return type(result);                               \
    }                                                      \
    inline pair h2##name(pair a) { return {h##name(a.x), h##name(a.y)}; }

namespace cuda_cpu {
// Between 0 and 1; a NaN becomes 0.
template <class T>
T narrow_saturated(T value) {
    const float number = value;
    return number > 0.0f ? (number < 1.0f ? value : T(1)) : T(0);
}
}  // namespace cuda_cpu
