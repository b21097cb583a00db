// Addresses of shared memory as numbers of 32 bits, which inline PTX and __cvta_generic_to_shared have, and the barriers
// of a block by their numbers.
#pragma once

#include "device.h"

namespace cuda_cpu {

// How far into the running core's shared memory an address lies, not 0; and the address of such a number. What is none
// of these stays as it is.
uint64_t shared_offset(uint64_t address);
uint64_t shared_address(uint64_t offset);

// The barriers of a block beside that of __syncthreads, a few for PTX (0 to 15) and some for groups of warps.
struct NumberedBarrier {
    unsigned int arrived, phase;
};
constexpr unsigned int barriers_of_ptx = 16, barriers_of_tiles = 32;
NumberedBarrier* numbered_barriers();

// `count` threads meet at it (0: the whole block); who does not wait only arrives.
inline void numbered_barrier(unsigned int number, unsigned int count, bool waits,
                             const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const unsigned int all = blockDim.x * blockDim.y * blockDim.z;
    if (count == 0) count = all;
    if (number == 0 && count == all && waits) return __syncthreads(file, line);
    NumberedBarrier& barrier = numbered_barriers()[number % (barriers_of_ptx + barriers_of_tiles)];
    __threadfence();
    const unsigned int phase = __atomic_load_n(&barrier.phase, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&barrier.arrived, 1, __ATOMIC_ACQ_REL) == count) {
        __atomic_store_n(&barrier.arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&barrier.phase, phase + 1, __ATOMIC_RELEASE);
    } else if (waits) {
        while (__atomic_load_n(&barrier.phase, __ATOMIC_ACQUIRE) == phase) yield();
    }
    __threadfence();
}

// ld.acquire, ld.volatile and their kin: somebody may wait for what another thread stores.
template <class T>
CUDA_CPU_INLINE T load_in_order(const T* address) {
    spin();
    T value;
    __atomic_load(address, &value, __ATOMIC_ACQUIRE);
    __threadfence();
    return value;
}
template <class T>
CUDA_CPU_INLINE void store_in_order(T* address, T value) {
    __threadfence();
    __atomic_store(address, &value, __ATOMIC_RELEASE);
}
// Zeros follow what is taken of the source.
CUDA_CPU_INLINE void copy_to_shared(uint64_t target, uint64_t source, uint32_t bytes,
                                    uint32_t taken) {
    char* const to = reinterpret_cast<char*>(target);
    std::memcpy(to, reinterpret_cast<const char*>(source), taken);
    if (taken < bytes) std::memset(to + taken, 0, bytes - taken);
}

}  // namespace cuda_cpu

inline size_t __cvta_generic_to_shared(const void* address) {
    return cuda_cpu::shared_offset(reinterpret_cast<uint64_t>(address));
}
inline void* __cvta_shared_to_generic(size_t offset) {
    return reinterpret_cast<void*>(cuda_cpu::shared_address(offset));
}
inline size_t __cvta_generic_to_global(const void* address) {
    return reinterpret_cast<size_t>(address);
}
inline void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
