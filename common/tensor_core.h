// Tensor cores for doubles and floats, as of compute capability 8.0: one instruction multiplies two small matrices
// whose elements are shared out over the 32 threads of a warp. With g = lane / 4 and t = lane % 4 a thread holds what
// the comment of each function says. In CPU mode the threads hand each other what the instruction would read.
#pragma once

#include <cuda_runtime.h>

namespace lab {

// m8n8k4 is the instruction of compute capability 8.0; m16n8k8 comes with 9.0, and is made of the other before.
enum class Instruction { m8n8k4, m16n8k8 };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

#ifdef CUDA_ON_CPU
// The sums of multiply_8x8x4(), by shuffles between the threads of the warp.
template <class T>
__device__ void multiply_by_shuffles(T& left, T& right, T a, T b) {
    const int lane = (threadIdx.y * blockDim.x + threadIdx.x) % 32;
    for (int t = 0; t < 4; t++) {
        const T factor = __shfl_sync(~0u, a, lane / 4 * 4 + t);
        left += factor * __shfl_sync(~0u, b, lane % 4 * 8 + t);
        right += factor * __shfl_sync(~0u, b, lane % 4 * 8 + 4 + t);
    }
}
#endif

// 8 x 4 times 4 x 8, added to 8 x 8 sums. a: row g, term t; b: term t, column g; left and right: row g, columns
// 2 t and 2 t + 1.
__device__ __forceinline__ void multiply_8x8x4(double& left, double& right, double a, double b) {
#ifndef CUDA_ON_CPU
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(left), "+d"(right)
                 : "d"(a), "d"(b));
#else
    multiply_by_shuffles(left, right, a, b);
#endif
}

// sums += first second for 16 x 8 sums and 8 terms:
//
//   first[0], first[1]     rows g, g + 8, column t        sums[0], sums[1]   row g, columns 2 t, 2 t + 1
//   first[2], first[3]     the same rows, column t + 4    sums[2], sums[3]   row g + 8, the same columns
//   second[0], second[1]   rows t, t + 4, column g
template <Instruction instruction = Instruction::m16n8k8>
__device__ __forceinline__ void multiply_add(double (&sums)[4], const double (&first)[4],
                                             const double (&second)[2]) {
#if !defined(CUDA_ON_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    constexpr bool at_once = instruction == Instruction::m16n8k8;
#else
    constexpr bool at_once = false;
#endif
    if constexpr (at_once) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
            "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
            : "d"(first[0]), "d"(first[1]), "d"(first[2]), "d"(first[3]), "d"(second[0]),
              "d"(second[1]));
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) {  // one half of the rows, and half of the terms, at a time
            multiply_8x8x4(sums[i % 2 * 2], sums[i % 2 * 2 + 1], first[i], second[i / 2]);
        }
    }
}

// A float as the sum of two numbers of TF32, the tensor cores' own type: a float's exponent and 11 bits. The second
// one has what the first one lacks.
__device__ __forceinline__ void split(float value, unsigned& first, unsigned& rest) {
    first = (__float_as_uint(value) + 0x1000) & 0xFFFFE000;  // rounded to nearest
    rest = __float_as_uint(value - __uint_as_float(first));
}

#ifndef CUDA_ON_CPU
__device__ __forceinline__ void multiply_add_tf32(float (&sums)[4], const unsigned (&first)[4],
                                                  const unsigned (&second)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(first[0]), "r"(first[1]), "r"(first[2]), "r"(first[3]), "r"(second[0]),
          "r"(second[1]));
}
#endif

// The same for floats: three products of TF32, of which the smaller two come first. What is left out, rest by rest,
// is less than a float's last bit.
__device__ __forceinline__ void multiply_add(float (&sums)[4], const float (&first)[4],
                                             const float (&second)[2]) {
#ifndef CUDA_ON_CPU
    unsigned a[4], rest_of_a[4], b[2], rest_of_b[2];
#pragma unroll
    for (int i = 0; i < 4; i++) split(first[i], a[i], rest_of_a[i]);
#pragma unroll
    for (int i = 0; i < 2; i++) split(second[i], b[i], rest_of_b[i]);
    multiply_add_tf32(sums, rest_of_a, b);
    multiply_add_tf32(sums, a, rest_of_b);
    multiply_add_tf32(sums, a, b);
#else
    for (int i = 0; i < 4; i++) {
        multiply_by_shuffles(sums[i % 2 * 2], sums[i % 2 * 2 + 1], first[i], second[i / 2]);
    }
#endif
}
#endif

}  // namespace lab
