// Asynchronous copies, as of compute capability 8.0: from global to shared memory, past the registers,
// while the thread goes on. Those that a thread began before commit_copies() are a group, and
// wait_for_copies<1>() waits until all of its groups but the latest have arrived. Earlier cards copy at
// once. In CPU mode the place holds NaN from the beginning of a copy until it is waited for: what comes
// too early shows, and so does a copy to where somebody still reads.
#pragma once

#include <cuda_runtime.h>

#include <cstring>
#ifdef CUDA_ON_CPU
#include <vector>
#endif

namespace lab {

#ifdef CUDA_ON_CPU
// The copies that a thread of the running block has begun, and how many groups it has committed.
struct BegunCopies {
    struct Copy {
        void* shared;
        int bytes, group;
        unsigned char data[16];
    };
    unsigned long long block = 0;
    int groups = 0;
    std::vector<Copy> copies;

    static BegunCopies& of_this_thread() {
        static thread_local std::vector<BegunCopies> threads(1024);
        const unsigned row = threadIdx.z * blockDim.y + threadIdx.y;
        BegunCopies& mine = threads[row * blockDim.x + threadIdx.x];
        if (mine.block != cuda_cpu::block_serial) {
            mine.block = cuda_cpu::block_serial;
            mine.groups = 0;
            mine.copies.clear();
        }
        return mine;
    }

    void begin(void* shared, const void* global, int bytes, int wanted) {
        copies.push_back({shared, bytes, groups, {}});
        memcpy(copies.back().data, global, wanted);
#ifdef CUDA_CPU_REPLAY  // one write, which leaves nothing
        memset(shared, 0, bytes);
#else
        for (int i = 0; i < bytes / 4; i++) {  // for make sanitize: a write from here on
            static_cast<unsigned*>(shared)[i] = 0;
            asm volatile("" ::"r"(shared) : "memory");  // volatile would let other threads go on
        }
#endif
        cuda_cpu::poison(shared, bytes);
    }

    void arrive(int but_the_latest) {
        size_t arrived = 0;
        while (arrived < copies.size() && copies[arrived].group < groups - but_the_latest) {
            const Copy& copy = copies[arrived++];
            memcpy(copy.shared, copy.data, copy.bytes);
        }
        copies.erase(copies.begin(), copies.begin() + arrived);
    }
};
#endif

// 4, 8 or 16 bytes, of which the first `wanted` are fetched; the others become 0.
template <int bytes>
__device__ __forceinline__ void copy_async_part(void* shared, const void* global, int wanted) {
#if !defined(CUDA_ON_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
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
#elif defined(CUDA_ON_CPU)
    BegunCopies::of_this_thread().begin(shared, global, bytes, wanted);
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
#if !defined(CUDA_ON_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#elif defined(CUDA_ON_CPU)
    BegunCopies::of_this_thread().groups++;
#endif
}

template <int groups>
__device__ __forceinline__ void wait_for_copies() {
#if !defined(CUDA_ON_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#elif defined(CUDA_ON_CPU)
    BegunCopies::of_this_thread().arrive(groups);
#endif
}

}  // namespace lab
