// Asynchronous copies, as of compute capability 8.0: from global to shared memory, past the registers,
// while the thread goes on. Those that a thread began before commit_copies() are a group, and
// wait_for_copies<1>() waits until all of its groups but the latest have arrived. Earlier cards and
// CPU mode copy at once.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

namespace lab {

// 4, 8 or 16 bytes, of which the first `wanted` are fetched; the others become 0.
template <int bytes>
__device__ __forceinline__ void copy_async_part(void* shared, const void* global, int wanted) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    const unsigned to = unsigned(__cvta_generic_to_shared(shared));
    if constexpr (bytes == 16) {  // cg: by the L2 cache only; the other sizes have no such form
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
                     "r"(wanted)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global),
                     "n"(bytes), "r"(wanted)
                     : "memory");
    }
#else
    if (wanted == bytes) {
        memcpy(shared, global, bytes);
    } else {
        memset(shared, 0, bytes);
        memcpy(shared, global, wanted);
    }
#endif
}

// All of them, or zeros where there is nothing to copy.
template <int bytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global, bool exists) {
    copy_async_part<bytes>(shared, global, exists ? bytes : 0);
}

__device__ __forceinline__ void commit_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

template <int groups>
__device__ __forceinline__ void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

}  // namespace lab
