// What the compiler calls in a program that is built to be explained; runtime/accesses.h records it.
#pragma once

#include "accesses.h"

#define CUDA_CPU_NOTE(address, bytes, what)                                                   \
    (cuda_cpu::Recorder::recording && cuda_cpu::in_kernel()                                   \
         ? cuda_cpu::Recorder::mine().access(                                                 \
               const_cast<const void*>(static_cast<const volatile void*>(address)), bytes,    \
               cuda_cpu::What::what, __builtin_return_address(0), __builtin_frame_address(0)) \
         : void())

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __sanitizer_cov_trace_pc() {
    if (!cuda_cpu::Recorder::recording || !cuda_cpu::in_kernel()) return;
    cuda_cpu::Recorder::mine().piece(__builtin_return_address(0), __builtin_frame_address(0));
}

#define CUDA_CPU_RANGE(name, what)                                                                 \
    void __tsan_##name##_range(void* address, size_t bytes) {                                      \
        if (!cuda_cpu::Recorder::recording || !cuda_cpu::in_kernel()) return;                      \
        cuda_cpu::Recorder::mine().range(address, bytes, cuda_cpu::What::what,                     \
                                         __builtin_return_address(0), __builtin_frame_address(0)); \
    }
CUDA_CPU_RANGE(read, load)
CUDA_CPU_RANGE(write, store)
#undef CUDA_CPU_RANGE

#define CUDA_CPU_ACCESS(name, bytes, what) \
    void __tsan_##name##bytes(void* address) { CUDA_CPU_NOTE(address, bytes, what); }
#define CUDA_CPU_BOTH(bytes)                     \
    CUDA_CPU_ACCESS(read, bytes, load)           \
    CUDA_CPU_ACCESS(write, bytes, store)         \
    CUDA_CPU_ACCESS(unaligned_read, bytes, load) \
    CUDA_CPU_ACCESS(unaligned_write, bytes, store)
CUDA_CPU_BOTH(1)
CUDA_CPU_BOTH(2)
CUDA_CPU_BOTH(4)
CUDA_CPU_BOTH(8)
CUDA_CPU_BOTH(16)
#undef CUDA_CPU_BOTH
#undef CUDA_CPU_ACCESS

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

#define CUDA_CPU_ATOMIC(bits, name, builtin)                                      \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t* address, \
                                                uint##bits##_t value, int) {      \
        CUDA_CPU_NOTE(address, bits / 8, atomic);                                 \
        return builtin(address, value, __ATOMIC_SEQ_CST);                         \
    }
// The runtime's own loops of load and weak exchange (atomicAdd of a float, say) are one atomic: what
// counts is the exchange that succeeds. The load before it is none of the kernel's.
#define CUDA_CPU_ATOMICS(bits)                                                                \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* address, int) {  \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                    \
    }                                                                                         \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t* address, uint##bits##_t value,  \
                                     int) {                                                   \
        CUDA_CPU_NOTE(address, bits / 8, store);                                              \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                   \
    }                                                                                         \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t* address,       \
                                                      uint##bits##_t* expected,               \
                                                      uint##bits##_t value, int, int) {       \
        CUDA_CPU_NOTE(address, bits / 8, atomic);                                             \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST);                                 \
    }                                                                                         \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t* address,         \
                                                    uint##bits##_t* expected,                 \
                                                    uint##bits##_t value, int, int) {         \
        const int done = __atomic_compare_exchange_n(address, expected, value, false,         \
                                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
        if (done) CUDA_CPU_NOTE(address, bits / 8, atomic);                                   \
        return done;                                                                          \
    }                                                                                         \
    CUDA_CPU_ATOMIC(bits, exchange, __atomic_exchange_n)                                      \
    CUDA_CPU_ATOMIC(bits, fetch_add, __atomic_fetch_add)                                      \
    CUDA_CPU_ATOMIC(bits, fetch_sub, __atomic_fetch_sub)                                      \
    CUDA_CPU_ATOMIC(bits, fetch_and, __atomic_fetch_and)                                      \
    CUDA_CPU_ATOMIC(bits, fetch_or, __atomic_fetch_or)                                        \
    CUDA_CPU_ATOMIC(bits, fetch_xor, __atomic_fetch_xor)                                      \
    CUDA_CPU_ATOMIC(bits, fetch_nand, __atomic_fetch_nand)
CUDA_CPU_ATOMICS(8)
CUDA_CPU_ATOMICS(16)
CUDA_CPU_ATOMICS(32)
CUDA_CPU_ATOMICS(64)
#undef CUDA_CPU_ATOMICS
#undef CUDA_CPU_ATOMIC
}  // extern "C"
#undef CUDA_CPU_NOTE
