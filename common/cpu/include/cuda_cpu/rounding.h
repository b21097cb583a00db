// Arithmetic that names its rounding: __fadd_rd rounds down, _ru up, _rz to zero.
#pragma once

#include <cfenv>
#include <cmath>

namespace cuda_cpu {

// Volatile, so that the operation stays between the changes of the mode.
template <class To, class From, class Compute>
To rounded(int mode, From a, From b, From c, Compute compute) {
    volatile From x = a, y = b, z = c;
    std::fesetround(mode);
    volatile To result = compute(x, y, z);
    std::fesetround(FE_TONEAREST);
    return result;
}

}  // namespace cuda_cpu

// A function of one, two or three numbers x, y and z; a template, so that nothing is compiled of those that nobody calls.
#define CUDA_CPU_ROUNDED(name, To, From, mode, expression)                                      \
    template <int = 0>                                                                          \
    To name(From a, From b = 0, From c = 0) {                                                   \
        return cuda_cpu::rounded<To>(                                                           \
            mode, a, b, c, [](From x, [[maybe_unused]] From y, [[maybe_unused]] From z) -> To { \
                return static_cast<To>(expression);                                             \
            });                                                                                 \
    }
#define CUDA_CPU_ROUNDINGS(ending, mode)                                      \
    CUDA_CPU_ROUNDED(__fadd##ending, float, float, mode, x + y)               \
    CUDA_CPU_ROUNDED(__fsub##ending, float, float, mode, x - y)               \
    CUDA_CPU_ROUNDED(__fmul##ending, float, float, mode, x* y)                \
    CUDA_CPU_ROUNDED(__fdiv##ending, float, float, mode, x / y)               \
    CUDA_CPU_ROUNDED(__fmaf##ending, float, float, mode, std::fma(x, y, z))   \
    CUDA_CPU_ROUNDED(__frcp##ending, float, float, mode, 1 / x)               \
    CUDA_CPU_ROUNDED(__fsqrt##ending, float, float, mode, std::sqrt(x))       \
    CUDA_CPU_ROUNDED(__dadd##ending, double, double, mode, x + y)             \
    CUDA_CPU_ROUNDED(__dsub##ending, double, double, mode, x - y)             \
    CUDA_CPU_ROUNDED(__dmul##ending, double, double, mode, x* y)              \
    CUDA_CPU_ROUNDED(__ddiv##ending, double, double, mode, x / y)             \
    CUDA_CPU_ROUNDED(__fma##ending, double, double, mode, std::fma(x, y, z))  \
    CUDA_CPU_ROUNDED(__drcp##ending, double, double, mode, 1 / x)             \
    CUDA_CPU_ROUNDED(__dsqrt##ending, double, double, mode, std::sqrt(x))     \
    CUDA_CPU_ROUNDED(__double2float##ending, float, double, mode, x)          \
    CUDA_CPU_ROUNDED(__int2float##ending, float, int, mode, x)                \
    CUDA_CPU_ROUNDED(__uint2float##ending, float, unsigned int, mode, x)      \
    CUDA_CPU_ROUNDED(__ll2float##ending, float, long long, mode, x)           \
    CUDA_CPU_ROUNDED(__ull2float##ending, float, unsigned long long, mode, x) \
    CUDA_CPU_ROUNDED(__ll2double##ending, double, long long, mode, x)         \
    CUDA_CPU_ROUNDED(__ull2double##ending, double, unsigned long long, mode, x)
CUDA_CPU_ROUNDINGS(_rd, FE_DOWNWARD)
CUDA_CPU_ROUNDINGS(_ru, FE_UPWARD)
CUDA_CPU_ROUNDINGS(_rz, FE_TOWARDZERO)
#undef CUDA_CPU_ROUNDINGS
#undef CUDA_CPU_ROUNDED
