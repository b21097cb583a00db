// What all pages of this lab share: a linear system on the device, and flags between blocks.
#pragma once

#include <cstdint>

#include "../../../common/lab.h"

// (A | B), the coefficients and beside them all right-hand sides: what is done to a row of A is done to
// its row of B. (n, width), row-major; a row begins `stride` elements after the one before it. The
// right-hand sides begin at a column whose place in memory is a multiple of 16 bytes; between the last
// coefficient and them lie up to 3 columns of zeros, on which elimination has no effect.
template <class T>
struct System {
    T* values;
    int n, first_side, width;
    int64_t stride;

    __host__ __device__ T* row(int64_t i) const { return values + i * stride; }
    __host__ __device__ int sides() const { return width - first_side; }
};

// Where things lie in a system of n unknowns.
constexpr int first_side_of(int n) { return (n + 3) / 4 * 4; }
constexpr int64_t stride_of(int n, int sides) {
    return (first_side_of(n) + int64_t{sides} + 15) / 16 * 16;
}

// What the variants need on the device, as the report counts it: twice the system, and x.
constexpr int64_t elements_on_device(int64_t n, int64_t sides) {
    return 2 * n * stride_of(int(n), int(sides)) + n * sides;
}

// A row that may hold the pivot. The bits of a magnitude, read as an unsigned number, are ordered as
// the magnitudes are (NaN above all), so that types and warps can be served by integer arithmetic.
struct Candidate {
    unsigned long long magnitude;
    int row;
};

// What the kernels of a variant work on, and where they put what they find.
template <class T>
struct Work {
    System<T> system;
    T* x;  // (n, right-hand sides)
    Candidate *candidates, *pivot;
    unsigned* finished;  // 0 between launches
    int* singular;       // -1, or the first column without a pivot
};

using lab::DeviceArray;

inline unsigned blocks_for(int64_t count, int64_t threads) {
    return unsigned(lab::divide_up(count, threads));
}

// A flag in global memory, by which one block tells another that something is there: what a thread has
// written before set_flag(), whoever has seen the flag will find. In CPU mode the fence of a waiting
// thread lets others run.
__device__ __forceinline__ void set_flag(int* flag, int value) {
#if defined(__CUDA_ARCH__)
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
#else
    __threadfence();
    *(volatile int*)flag = value;
#endif
}

__device__ __forceinline__ void wait_for_flag(const int* flag, int value) {
    int seen;
    do {
#if defined(__CUDA_ARCH__)
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
#else
        seen = *(const volatile int*)flag;
        __threadfence();
#endif
    } while (seen != value);
}

// Programmatic dependent launch, as of compute capability 9.0: a kernel may be brought to the multiprocessors
// while the one before it still runs. Before it reads what that one has written, it waits here; the kernel
// after it may come from then on. Without such a launch there is nothing to wait for.
__device__ __forceinline__ void wait_for_last_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
