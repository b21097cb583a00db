// Numbers of 8 bits: E4M3 (no infinity, at most 448) and E5M2 (at most 57344), as pairs and as fours. They are only stored
// and converted, each rounded to the nearest, ties to even.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned int;
// What is too large becomes the largest number, or infinity (E4M3: no number).
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace cuda_cpu {
using E4m3 = Narrow<4, 3, false>;
using E5m2 = Narrow<5, 2>;
inline float from_fp8(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
    const auto wide = static_cast<uint16_t>((bits & 0x7f) | (bits & 0x80) << 8);
    const float value = kind == __NV_E4M3 ? E4m3::to_float(wide) : E5m2::to_float(wide);
    return std::isnan(value) ? __builtin_nanf("") : value;  // which has no sign
}
}  // namespace cuda_cpu

inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturation,
                                                 __nv_fp8_interpretation_t kind) {
    if (std::isnan(value)) return 0x7f;
    const uint16_t wide =
        kind == __NV_E4M3 ? cuda_cpu::E4m3::from(value) : cuda_cpu::E5m2::from(value);
    const int largest = kind == __NV_E4M3 ? 0x7e : 0x7b, size = wide & 0x7fff;
    return static_cast<__nv_fp8_storage_t>(
        (saturation == __NV_SATFINITE && size > largest ? largest : size) | (wide >> 8 & 0x80));
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturation,
                                                __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(value, saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw value, __nv_saturation_t saturation,
                                                  __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(float(__half(value)), saturation, kind);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw value,
                                                      __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
    return __nv_cvt_double_to_fp8(float(__nv_bfloat16(value)), saturation, kind);
}
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t value,
                                          __nv_fp8_interpretation_t kind) {
    return __half(cuda_cpu::from_fp8(value, kind));
}

namespace cuda_cpu {
// The first of a pair is in the lower bits.
inline __nv_fp8x2_storage_t to_fp8(double x, double y, __nv_saturation_t saturation,
                                   __nv_fp8_interpretation_t kind) {
    return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_double_to_fp8(x, saturation, kind) |
                                             __nv_cvt_double_to_fp8(y, saturation, kind) << 8);
}
}  // namespace cuda_cpu
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 value, __nv_saturation_t saturation,
                                                      __nv_fp8_interpretation_t kind) {
    return cuda_cpu::to_fp8(value.x, value.y, saturation, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 value, __nv_saturation_t saturation,
                                                     __nv_fp8_interpretation_t kind) {
    return cuda_cpu::to_fp8(value.x, value.y, saturation, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw value,
                                                       __nv_saturation_t saturation,
                                                       __nv_fp8_interpretation_t kind) {
    const __half2 pair(value);
    return cuda_cpu::to_fp8(float(pair.x), float(pair.y), saturation, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw value,
                                                           __nv_saturation_t saturation,
                                                           __nv_fp8_interpretation_t kind) {
    const __nv_bfloat162 pair(value);
    return cuda_cpu::to_fp8(float(pair.x), float(pair.y), saturation, kind);
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t value,
                                              __nv_fp8_interpretation_t kind) {
    return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(value), kind).x,
            __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(value >> 8), kind).x};
}

namespace cuda_cpu {

template <__nv_fp8_interpretation_t kind>
struct Fp8 {
    __nv_fp8_storage_t __x;
    Fp8() = default;
    explicit Fp8(__half value) : Fp8(float(value)) {}
    explicit Fp8(__nv_bfloat16 value) : Fp8(float(value)) {}
    explicit Fp8(double value) : __x(__nv_cvt_double_to_fp8(value, __NV_SATFINITE, kind)) {}
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    explicit Fp8(T value) : Fp8(static_cast<double>(static_cast<float>(value))) {}
    explicit operator float() const { return from_fp8(__x, kind); }
    explicit operator double() const { return from_fp8(__x, kind); }
    explicit operator __half() const { return __half(from_fp8(__x, kind)); }
    explicit operator __nv_bfloat16() const { return __nv_bfloat16(from_fp8(__x, kind)); }
    explicit operator bool() const { return (__x & 0x7f) != 0; }
    // Towards zero; what is too large becomes the largest one.
    template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
    explicit operator T() const {
        using Limits = std::numeric_limits<T>;
        const float value = from_fp8(__x, kind);
        if (std::isnan(value)) return sizeof(T) == 8 ? static_cast<T>(uint64_t{1} << 63) : T{0};
        if (value >= static_cast<float>(Limits::max())) return Limits::max();
        if (value <= static_cast<float>(Limits::min())) return Limits::min();
        return static_cast<T>(value);
    }
};
template <__nv_fp8_interpretation_t kind>
struct alignas(2) Fp8x2 {
    __nv_fp8x2_storage_t __x;
    Fp8x2() = default;
    explicit Fp8x2(double2 value) : __x(to_fp8(value.x, value.y, __NV_SATFINITE, kind)) {}
    explicit Fp8x2(float2 value) : __x(to_fp8(value.x, value.y, __NV_SATFINITE, kind)) {}
    explicit Fp8x2(__half2 value) : Fp8x2(float2{float(value.x), float(value.y)}) {}
    explicit Fp8x2(__nv_bfloat162 value) : Fp8x2(float2{float(value.x), float(value.y)}) {}
    explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kind); }
    explicit operator float2() const {
        return {from_fp8(static_cast<__nv_fp8_storage_t>(__x), kind),
                from_fp8(static_cast<__nv_fp8_storage_t>(__x >> 8), kind)};
    }
};
template <__nv_fp8_interpretation_t kind>
struct alignas(4) Fp8x4 {
    __nv_fp8x4_storage_t __x;
    Fp8x4() = default;
    template <class Pair>
    explicit Fp8x4(Pair low, Pair high)
        : __x(Fp8x2<kind>(low).__x | static_cast<unsigned int>(Fp8x2<kind>(high).__x) << 16) {}
    explicit Fp8x4(float4 value) : Fp8x4(float2{value.x, value.y}, float2{value.z, value.w}) {}
    explicit Fp8x4(double4 value) : Fp8x4(double2{value.x, value.y}, double2{value.z, value.w}) {}
    explicit operator float4() const {
        float value[4];
        for (int i = 0; i < 4; ++i)
            value[i] = from_fp8(static_cast<__nv_fp8_storage_t>(__x >> 8 * i), kind);
        return {value[0], value[1], value[2], value[3]};
    }
};

}  // namespace cuda_cpu

using __nv_fp8_e4m3 = cuda_cpu::Fp8<__NV_E4M3>;
using __nv_fp8_e5m2 = cuda_cpu::Fp8<__NV_E5M2>;
using __nv_fp8x2_e4m3 = cuda_cpu::Fp8x2<__NV_E4M3>;
using __nv_fp8x2_e5m2 = cuda_cpu::Fp8x2<__NV_E5M2>;
using __nv_fp8x4_e4m3 = cuda_cpu::Fp8x4<__NV_E4M3>;
using __nv_fp8x4_e5m2 = cuda_cpu::Fp8x4<__NV_E5M2>;
