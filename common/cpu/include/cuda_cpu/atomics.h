// Atomics. Real ones: blocks run on several cores. Each returns the old value.
#pragma once

#include "device.h"

namespace cuda_cpu {

// Replaces *address by change(*address) in one step, for the types and operations without an
// instruction of their own.
template <class T, class Change>
CUDA_CPU_INLINE T atomic_change(T* address, Change change) {
    spin();
    T old;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    for (;;) {
        T desired = change(old);
        if (__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
            return old;
        }
    }
}

}  // namespace cuda_cpu

#define CUDA_CPU_ATOMIC_CAS(type)                                                      \
    CUDA_CPU_INLINE type atomicCAS(type* address, type compare, type value) {          \
        cuda_cpu::spin();                                                              \
        __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_SEQ_CST, \
                                    __ATOMIC_SEQ_CST);                                 \
        return compare;                                                                \
    }
#define CUDA_CPU_ATOMIC_MIN_MAX(type)                                                        \
    CUDA_CPU_INLINE type atomicMin(type* address, type value) {                              \
        return cuda_cpu::atomic_change(address,                                              \
                                       [=](type old) { return value < old ? value : old; }); \
    }                                                                                        \
    CUDA_CPU_INLINE type atomicMax(type* address, type value) {                              \
        return cuda_cpu::atomic_change(address,                                              \
                                       [=](type old) { return value > old ? value : old; }); \
    }
#define CUDA_CPU_ATOMIC_INTEGER(type)                                 \
    CUDA_CPU_ATOMIC_CAS(type)                                         \
    CUDA_CPU_ATOMIC_MIN_MAX(type)                                     \
    CUDA_CPU_INLINE type atomicAdd(type* address, type value) {       \
        cuda_cpu::spin();                                             \
        return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);  \
    }                                                                 \
    CUDA_CPU_INLINE type atomicExch(type* address, type value) {      \
        cuda_cpu::spin();                                             \
        return __atomic_exchange_n(address, value, __ATOMIC_RELAXED); \
    }                                                                 \
    CUDA_CPU_INLINE type atomicAnd(type* address, type value) {       \
        cuda_cpu::spin();                                             \
        return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);  \
    }                                                                 \
    CUDA_CPU_INLINE type atomicOr(type* address, type value) {        \
        cuda_cpu::spin();                                             \
        return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);   \
    }                                                                 \
    CUDA_CPU_INLINE type atomicXor(type* address, type value) {       \
        cuda_cpu::spin();                                             \
        return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);  \
    }
CUDA_CPU_ATOMIC_INTEGER(int)
CUDA_CPU_ATOMIC_INTEGER(unsigned int)
CUDA_CPU_ATOMIC_INTEGER(unsigned long long)
CUDA_CPU_ATOMIC_CAS(unsigned short)
CUDA_CPU_ATOMIC_MIN_MAX(long long)
#undef CUDA_CPU_ATOMIC_INTEGER
#undef CUDA_CPU_ATOMIC_MIN_MAX
#undef CUDA_CPU_ATOMIC_CAS

#define CUDA_CPU_ATOMIC_FLOAT(type)                                                     \
    CUDA_CPU_INLINE type atomicAdd(type* address, type value) {                         \
        return cuda_cpu::atomic_change(address, [=](type old) { return old + value; }); \
    }
CUDA_CPU_ATOMIC_FLOAT(float)
CUDA_CPU_ATOMIC_FLOAT(double)
#undef CUDA_CPU_ATOMIC_FLOAT

CUDA_CPU_INLINE float atomicExch(float* address, float value) {
    return cuda_cpu::atomic_change(address, [=](float) { return value; });
}
CUDA_CPU_INLINE int atomicSub(int* address, int value) { return atomicAdd(address, -value); }
CUDA_CPU_INLINE unsigned int atomicSub(unsigned int* address, unsigned int value) {
    return atomicAdd(address, 0u - value);
}
// Counts up to `limit` and starts again at 0; counts down from `limit` likewise.
CUDA_CPU_INLINE unsigned int atomicInc(unsigned int* address, unsigned int limit) {
    return cuda_cpu::atomic_change(address,
                                   [=](unsigned int old) { return old >= limit ? 0u : old + 1u; });
}
CUDA_CPU_INLINE unsigned int atomicDec(unsigned int* address, unsigned int limit) {
    return cuda_cpu::atomic_change(
        address, [=](unsigned int old) { return old == 0 || old > limit ? limit : old - 1u; });
}

// The forms for one block and for the whole system: the same here.
#define CUDA_CPU_ATOMIC_SCOPES(name)                                   \
    template <class T, class... Values>                                \
    CUDA_CPU_INLINE auto name##_block(T* address, Values... values) {  \
        return name(address, values...);                               \
    }                                                                  \
    template <class T, class... Values>                                \
    CUDA_CPU_INLINE auto name##_system(T* address, Values... values) { \
        return name(address, values...);                               \
    }
CUDA_CPU_ATOMIC_SCOPES(atomicAdd)
CUDA_CPU_ATOMIC_SCOPES(atomicSub)
CUDA_CPU_ATOMIC_SCOPES(atomicExch)
CUDA_CPU_ATOMIC_SCOPES(atomicCAS)
CUDA_CPU_ATOMIC_SCOPES(atomicMin)
CUDA_CPU_ATOMIC_SCOPES(atomicMax)
CUDA_CPU_ATOMIC_SCOPES(atomicAnd)
CUDA_CPU_ATOMIC_SCOPES(atomicOr)
CUDA_CPU_ATOMIC_SCOPES(atomicXor)
CUDA_CPU_ATOMIC_SCOPES(atomicInc)
CUDA_CPU_ATOMIC_SCOPES(atomicDec)
#undef CUDA_CPU_ATOMIC_SCOPES
