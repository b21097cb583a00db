// CUDA's qualifiers and vector types, with the sizes and alignments that they have on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

// Qualifiers without a meaning for the host compiler. __global__, __device__, __host__, __shared__,
// __cluster_dims__ and __noinline__ are no macros: common/cpu/translate.py rewrites them where they stand.
#if defined(CUDA_CPU_ACCESSES) || defined(CUDA_CPU_RACES)
#define __constant__ __attribute__((section("cuda_constant")))
#else
#define __constant__
#endif
#define __grid_constant__
// The linker says where this section starts and ends: so the runtime knows all managed variables.
#define __managed__ __attribute__((section("cuda_managed")))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define CUDART_CB
#define __align__(bytes) __attribute__((aligned(bytes)))

#define CUDA_CPU_VECTOR(type, name, alignment)                                  \
    struct name##1 {                                                            \
        type x;                                                                 \
    };                                                                          \
    struct __attribute__((aligned(2 * sizeof(type)))) name##2 {                 \
        type x, y;                                                              \
    };                                                                          \
    struct name##3 {                                                            \
        type x, y, z;                                                           \
    };                                                                          \
    struct __attribute__((aligned(alignment))) name##4 {                        \
        type x, y, z, w;                                                        \
    };                                                                          \
    inline name##1 make_##name##1(type x) { return {x}; }                       \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

CUDA_CPU_VECTOR(signed char, char, 4)
CUDA_CPU_VECTOR(unsigned char, uchar, 4)
CUDA_CPU_VECTOR(short, short, 8)
CUDA_CPU_VECTOR(unsigned short, ushort, 8)
CUDA_CPU_VECTOR(int, int, 16)
CUDA_CPU_VECTOR(unsigned int, uint, 16)
CUDA_CPU_VECTOR(long, long, 16)
CUDA_CPU_VECTOR(unsigned long, ulong, 16)
CUDA_CPU_VECTOR(long long, longlong, 16)
CUDA_CPU_VECTOR(unsigned long long, ulonglong, 16)
CUDA_CPU_VECTOR(float, float, 16)
CUDA_CPU_VECTOR(double, double, 16)
#undef CUDA_CPU_VECTOR
// The names that tell the alignment of four numbers of eight bytes.
#define CUDA_CPU_ALIGNED(type, name)                                                               \
    struct alignas(16) name##4_16a {                                                               \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    struct alignas(32) name##4_32a {                                                               \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    inline name##4_16a make_##name##4_16a(type x, type y, type z, type w) { return {x, y, z, w}; } \
    inline name##4_32a make_##name##4_32a(type x, type y, type z, type w) { return {x, y, z, w}; }
CUDA_CPU_ALIGNED(long, long)
CUDA_CPU_ALIGNED(unsigned long, ulong)
CUDA_CPU_ALIGNED(long long, longlong)
CUDA_CPU_ALIGNED(unsigned long long, ulonglong)
CUDA_CPU_ALIGNED(double, double)
#undef CUDA_CPU_ALIGNED

// The shape of a grid (in blocks) or of a block (in threads).
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 shape) : x(shape.x), y(shape.y), z(shape.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};
