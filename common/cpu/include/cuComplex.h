// Complex numbers under CUDA's names: pairs, the real part first.
#pragma once

#include <cmath>

#include "cuda_runtime.h"

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

// One set for each precision: (f) for float, () for double.
#define CUDA_CPU_COMPLEX(f, T, Complex, made)                                           \
    inline Complex make_##made(T real, T imaginary) { return {real, imaginary}; }       \
    inline T cuCreal##f(Complex a) { return a.x; }                                      \
    inline T cuCimag##f(Complex a) { return a.y; }                                      \
    inline Complex cuConj##f(Complex a) { return {a.x, -a.y}; }                         \
    inline Complex cuCadd##f(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }   \
    inline Complex cuCsub##f(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }   \
    inline Complex cuCmul##f(Complex a, Complex b) {                                    \
        return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                          \
    }                                                                                   \
    inline T cuCabs##f(Complex a) { return std::hypot(a.x, a.y); }                      \
    /* Scaled, so that no square overflows. */                                          \
    inline Complex cuCdiv##f(Complex a, Complex b) {                                    \
        const T scale = 1 / (std::abs(b.x) + std::abs(b.y));                            \
        const T ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale; \
        const T size = 1 / (bx * bx + by * by);                                         \
        return {(ax * bx + ay * by) * size, (ay * bx - ax * by) * size};                \
    }                                                                                   \
    inline Complex cuCfma##f(Complex a, Complex b, Complex c) {                         \
        return cuCadd##f(cuCmul##f(a, b), c);                                           \
    }
CUDA_CPU_COMPLEX(f, float, cuFloatComplex, cuFloatComplex)
CUDA_CPU_COMPLEX(, double, cuDoubleComplex, cuDoubleComplex)
#undef CUDA_CPU_COMPLEX
inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
    return {static_cast<float>(a.x), static_cast<float>(a.y)};
}
