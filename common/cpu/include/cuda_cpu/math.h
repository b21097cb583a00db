// The intrinsics of device code, and the overloads of min and max that CUDA puts into the global
// namespace. The C library has the rest (sqrtf, fmaf, sincosf, ...).
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

// std::abs and its kin for float and double under their plain names, as nvcc has them.
using std::abs;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::signbit;

// Templates, so that a program may define one for the same types, as NVIDIA's helper_math.h does.
#define CUDA_CPU_MIN_MAX(result, left, right)                                            \
    template <int = 0>                                                                   \
    inline result min(left a, right b) {                                                 \
        return static_cast<result>(b) < static_cast<result>(a) ? static_cast<result>(b)  \
                                                               : static_cast<result>(a); \
    }                                                                                    \
    template <int = 0>                                                                   \
    inline result max(left a, right b) {                                                 \
        return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(b)  \
                                                               : static_cast<result>(a); \
    }
CUDA_CPU_MIN_MAX(int, int, int)
CUDA_CPU_MIN_MAX(unsigned int, unsigned int, unsigned int)
CUDA_CPU_MIN_MAX(unsigned int, int, unsigned int)
CUDA_CPU_MIN_MAX(unsigned int, unsigned int, int)
CUDA_CPU_MIN_MAX(long, long, long)
CUDA_CPU_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUDA_CPU_MIN_MAX(unsigned long, long, unsigned long)
CUDA_CPU_MIN_MAX(unsigned long, unsigned long, long)
CUDA_CPU_MIN_MAX(long long, long long, long long)
CUDA_CPU_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUDA_CPU_MIN_MAX(unsigned long long, long long, unsigned long long)
CUDA_CPU_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef CUDA_CPU_MIN_MAX
#define CUDA_CPU_MIN_MAX(Type, letters)        \
    template <int = 0>                         \
    inline Type letters##min(Type a, Type b) { \
        return min(a, b);                      \
    }                                          \
    template <int = 0>                         \
    inline Type letters##max(Type a, Type b) { \
        return max(a, b);                      \
    }
CUDA_CPU_MIN_MAX(unsigned int, u)
CUDA_CPU_MIN_MAX(long long, ll)
CUDA_CPU_MIN_MAX(unsigned long long, ull)
#undef CUDA_CPU_MIN_MAX
// For floating point the number wins over a NaN, as on a GPU.
template <int = 0>
inline float min(float a, float b) {
    return fminf(a, b);
}
template <int = 0>
inline float max(float a, float b) {
    return fmaxf(a, b);
}
template <int = 0>
inline double min(double a, double b) {
    return fmin(a, b);
}
template <int = 0>
inline double max(double a, double b) {
    return fmax(a, b);
}
template <int = 0>
inline double min(float a, double b) {
    return fmin(a, b);
}
template <int = 0>
inline double max(float a, double b) {
    return fmax(a, b);
}
template <int = 0>
inline double min(double a, float b) {
    return fmin(a, b);
}
template <int = 0>
inline double max(double a, float b) {
    return fmax(a, b);
}

// Rounded to the nearest; the other modes are in rounding.h.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __frsqrt_rn(float a) { return static_cast<float>(1.0 / std::sqrt(double{a})); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }

// The fast forms are as accurate as the slow ones here.
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float a) { return std::exp(a); }
inline float __exp10f(float a) { return std::pow(10.0f, a); }
inline float __logf(float a) { return std::log(a); }
inline float __log2f(float a) { return std::log2(a); }
inline float __log10f(float a) { return std::log10(a); }
inline float __powf(float a, float b) { return std::pow(a, b); }
inline float __sinf(float a) { return std::sin(a); }
inline float __cosf(float a) { return std::cos(a); }
inline float __tanf(float a) { return std::tan(a); }
CUDA_CPU_INLINE void __sincosf(float a, float* sine, float* cosine) {
    *sine = std::sin(a), *cosine = std::cos(a);
}
inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

template <int = 0>
inline float rsqrtf(float a) {
    return 1.0f / std::sqrt(a);
}
inline double rsqrt(double a) { return 1.0 / std::sqrt(a); }
#define CUDA_CPU_NORMS(Type, f)                                                                  \
    inline Type norm3d##f(Type a, Type b, Type c) { return std::hypot(a, b, c); }                \
    inline Type norm4d##f(Type a, Type b, Type c, Type d) {                                      \
        return std::hypot(std::hypot(a, b), std::hypot(c, d));                                   \
    }                                                                                            \
    template <int = 0>                                                                           \
    inline Type norm##f(int count, const Type* values) {                                         \
        Type size = 0;                                                                           \
        for (int i = 0; i < count; ++i) size = std::hypot(size, values[i]);                      \
        return size;                                                                             \
    }                                                                                            \
    inline Type rnorm3d##f(Type a, Type b, Type c) { return 1 / norm3d##f(a, b, c); }            \
    inline Type rnorm4d##f(Type a, Type b, Type c, Type d) { return 1 / norm4d##f(a, b, c, d); } \
    template <int = 0>                                                                           \
    inline Type rnorm##f(int count, const Type* values) {                                        \
        return 1 / norm##f(count, values);                                                       \
    }
CUDA_CPU_NORMS(float, f)
CUDA_CPU_NORMS(double, )
#undef CUDA_CPU_NORMS
inline float fdividef(float a, float b) { return a / b; }
inline float rhypotf(float a, float b) { return 1.0f / std::hypot(a, b); }
inline double rhypot(double a, double b) { return 1.0 / std::hypot(a, b); }
inline float normcdff(float a) { return 0.5f * std::erfc(-a * 0.707106781f); }
inline double normcdf(double a) { return 0.5 * std::erfc(-a * 0.70710678118654752); }
inline float rcbrtf(float a) { return 1.0f / std::cbrt(a); }
inline double rcbrt(double a) { return 1.0 / std::cbrt(a); }

// Exact at the multiples of one half.
inline double sinpi(double a) {
    const double rest = std::remainder(a, 2.0);
    const double near = std::fabs(rest) > 0.5 ? std::copysign(1.0, rest) - rest : rest;
    return std::sin(3.14159265358979323846 * near);
}
inline double cospi(double a) {
    return std::sin(3.14159265358979323846 * (0.5 - std::fabs(std::remainder(a, 2.0))));
}
CUDA_CPU_INLINE void sincospi(double a, double* sine, double* cosine) {
    *sine = sinpi(a), *cosine = cospi(a);
}
inline float sinpif(float a) { return static_cast<float>(sinpi(double{a})); }
inline float cospif(float a) { return static_cast<float>(cospi(double{a})); }
CUDA_CPU_INLINE void sincospif(float a, float* sine, float* cosine) {
    *sine = sinpif(a), *cosine = cospif(a);
}

// Integers and bits.
inline int __popc(unsigned int a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(a)); }
inline int __clzll(long long a) {
    return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a));
}
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline unsigned int __brev(unsigned int a) {
    a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
    a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
    a = ((a >> 4) & 0x0f0f0f0fu) | ((a & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(a);
}
inline unsigned long long __brevll(unsigned long long a) {
    return (static_cast<unsigned long long>(__brev(static_cast<unsigned int>(a))) << 32) |
           __brev(static_cast<unsigned int>(a >> 32));
}
// Each of the four low digits of `selector` names one of the eight bytes of (high, low).
inline unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selector) {
    const uint64_t bytes = (static_cast<uint64_t>(high) << 32) | low;
    unsigned int result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned int digit = (selector >> (4 * i)) & 7u;
        result |= (static_cast<unsigned int>(bytes >> (8 * digit)) & 0xffu) << (8 * i);
    }
    return result;
}
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    const uint64_t both = (static_cast<uint64_t>(high) << 32) | low;
    return static_cast<unsigned int>((both << (shift & 31u)) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    const uint64_t both = (static_cast<uint64_t>(high) << 32) | low;
    return static_cast<unsigned int>(both >> (shift & 31u));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
inline int __mul24(int a, int b) {
    const long long low_a = static_cast<int>(static_cast<unsigned int>(a) << 8) >> 8;
    return static_cast<int>(low_a * (static_cast<int>(static_cast<unsigned int>(b) << 8) >> 8));
}
inline unsigned int __umul24(unsigned int a, unsigned int b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned int __umulhi(unsigned int a, unsigned int b) {
    return static_cast<unsigned int>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
inline int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
inline int __rhadd(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
inline unsigned int __uhadd(unsigned int a, unsigned int b) {
    return static_cast<unsigned int>((static_cast<unsigned long long>(a) + b) >> 1);
}
inline unsigned int __sad(int a, int b, unsigned int c) {
    const long long difference = static_cast<long long>(a) - b;
    return c + static_cast<unsigned int>(difference < 0 ? -difference : difference);
}
inline unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a < b ? b - a : a - b);
}

// Conversions and casts of bits.
namespace cuda_cpu {
template <class To, class From>
To same_bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To result;
    __builtin_memcpy(&result, &value, sizeof(To));
    return result;
}
}  // namespace cuda_cpu
inline int __float_as_int(float a) { return cuda_cpu::same_bits<int>(a); }
inline unsigned int __float_as_uint(float a) { return cuda_cpu::same_bits<unsigned int>(a); }
inline float __int_as_float(int a) { return cuda_cpu::same_bits<float>(a); }
inline float __uint_as_float(unsigned int a) { return cuda_cpu::same_bits<float>(a); }
inline long long __double_as_longlong(double a) { return cuda_cpu::same_bits<long long>(a); }
inline double __longlong_as_double(long long a) { return cuda_cpu::same_bits<double>(a); }
inline double __hiloint2double(int high, int low) {
    return cuda_cpu::same_bits<double>((static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32) |
                                       static_cast<uint32_t>(low));
}
inline int __double2hiint(double a) {
    return static_cast<int>(cuda_cpu::same_bits<uint64_t>(a) >> 32);
}
inline int __double2loint(double a) { return static_cast<int>(cuda_cpu::same_bits<uint64_t>(a)); }

// As on a GPU, what does not fit becomes the nearest number that does, and a NaN 0 (or, among 64-bit
// numbers and doubles, the one with only the highest bit set).
namespace cuda_cpu {
template <class To, class From>
To saturate(From whole) {
    constexpr To lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
    constexpr bool wide = sizeof(To) == 8 || sizeof(From) == 8;
    if (whole != whole) return wide ? static_cast<To>(uint64_t{1} << (8 * sizeof(To) - 1)) : To{0};
    if (whole <= static_cast<From>(lowest)) return lowest;
    return whole >= static_cast<From>(highest) ? highest : static_cast<To>(whole);
}
}  // namespace cuda_cpu
#define CUDA_CPU_TO_WHOLE(name, to, from)                                             \
    inline to name##_rn(from a) { return cuda_cpu::saturate<to>(std::nearbyint(a)); } \
    inline to name##_rz(from a) { return cuda_cpu::saturate<to>(std::trunc(a)); }     \
    inline to name##_rd(from a) { return cuda_cpu::saturate<to>(std::floor(a)); }     \
    inline to name##_ru(from a) { return cuda_cpu::saturate<to>(std::ceil(a)); }
CUDA_CPU_TO_WHOLE(__float2int, int, float)
CUDA_CPU_TO_WHOLE(__float2uint, unsigned int, float)
CUDA_CPU_TO_WHOLE(__float2ll, long long, float)
CUDA_CPU_TO_WHOLE(__float2ull, unsigned long long, float)
CUDA_CPU_TO_WHOLE(__double2int, int, double)
CUDA_CPU_TO_WHOLE(__double2uint, unsigned int, double)
CUDA_CPU_TO_WHOLE(__double2ll, long long, double)
CUDA_CPU_TO_WHOLE(__double2ull, unsigned long long, double)
#undef CUDA_CPU_TO_WHOLE
inline float __double2float_rn(double a) { return static_cast<float>(a); }
inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline float __uint2float_rn(unsigned int a) { return static_cast<float>(a); }
inline float __ll2float_rn(long long a) { return static_cast<float>(a); }
inline float __ull2float_rn(unsigned long long a) { return static_cast<float>(a); }
inline double __int2double_rn(int a) { return static_cast<double>(a); }
inline double __uint2double_rn(unsigned int a) { return static_cast<double>(a); }
inline double __ll2double_rn(long long a) { return static_cast<double>(a); }
inline double __ull2double_rn(unsigned long long a) { return static_cast<double>(a); }

#include "quantiles.h"
