// What the compiler calls in a program that is built with -fsanitize=thread: a function before each
// access to memory, and one in place of each atomic operation. Whoever watches defines Watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cuda_cpu {

enum class Access {
    read,
    write,
    volatile_read,
    volatile_write,
    atomic_load,
    atomic_store,
    atomic_update
};
inline bool is_volatile(Access access) {
    return access == Access::volatile_read || access == Access::volatile_write;
}
inline bool is_atomic(Access access) { return access >= Access::atomic_load; }
inline bool reads(Access access) {
    return access == Access::read || access == Access::volatile_read ||
           access == Access::atomic_load || access == Access::atomic_update;
}
inline bool writes(Access access) { return !reads(access) || access == Access::atomic_update; }

// Told by the calls, and written by whoever watches. The place is the one in the program to which a
// call returns, the frame is that of the call.
struct Watch {
    static void access(const volatile void* address, size_t bytes, Access access, const void* place,
                       const void* frame);
    static void range(const void* address, size_t bytes, Access access, const void* place,
                      const void* frame);
    static void fence();
    // Whether an exchange that may fail for no reason, and is tried again, counts when it fails.
    static bool counts_failures();
};

}  // namespace cuda_cpu

#define CUDA_CPU_HERE __builtin_return_address(0), __builtin_frame_address(0)
#define CUDA_CPU_NOTE(address, bytes, how) \
    cuda_cpu::Watch::access(address, bytes, cuda_cpu::Access::how, CUDA_CPU_HERE)

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* address, size_t bytes) {
    cuda_cpu::Watch::range(address, bytes, cuda_cpu::Access::read, CUDA_CPU_HERE);
}
void __tsan_write_range(void* address, size_t bytes) {
    cuda_cpu::Watch::range(address, bytes, cuda_cpu::Access::write, CUDA_CPU_HERE);
}

// memcpy and its kin, as the program calls them (cuda_cpu/device.h).
#define CUDA_CPU_COPY(name)                                                            \
    void* cuda_cpu_##name(void* target, const void* source, size_t bytes) {            \
        if (bytes == 0) return target;                                                 \
        cuda_cpu::Watch::range(source, bytes, cuda_cpu::Access::read, CUDA_CPU_HERE);  \
        cuda_cpu::Watch::range(target, bytes, cuda_cpu::Access::write, CUDA_CPU_HERE); \
        return std::name(target, source, bytes);                                       \
    }
CUDA_CPU_COPY(memcpy)
CUDA_CPU_COPY(memmove)
#undef CUDA_CPU_COPY
void* cuda_cpu_memset(void* target, int value, size_t bytes) {
    if (bytes > 0) cuda_cpu::Watch::range(target, bytes, cuda_cpu::Access::write, CUDA_CPU_HERE);
    return std::memset(target, value, bytes);
}

#define CUDA_CPU_ACCESS(name, bytes, how) \
    void __tsan_##name##bytes(void* address) { CUDA_CPU_NOTE(address, bytes, how); }
#define CUDA_CPU_EACH(bytes)                                       \
    CUDA_CPU_ACCESS(read, bytes, read)                             \
    CUDA_CPU_ACCESS(write, bytes, write)                           \
    CUDA_CPU_ACCESS(unaligned_read, bytes, read)                   \
    CUDA_CPU_ACCESS(unaligned_write, bytes, write)                 \
    CUDA_CPU_ACCESS(volatile_read, bytes, volatile_read)           \
    CUDA_CPU_ACCESS(volatile_write, bytes, volatile_write)         \
    CUDA_CPU_ACCESS(unaligned_volatile_read, bytes, volatile_read) \
    CUDA_CPU_ACCESS(unaligned_volatile_write, bytes, volatile_write)
CUDA_CPU_EACH(1)
CUDA_CPU_EACH(2)
CUDA_CPU_EACH(4)
CUDA_CPU_EACH(8)
CUDA_CPU_EACH(16)
#undef CUDA_CPU_EACH
#undef CUDA_CPU_ACCESS

void __tsan_atomic_thread_fence(int) {
    cuda_cpu::Watch::fence();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

#define CUDA_CPU_ATOMIC(bits, name, builtin)                                      \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t* address, \
                                                uint##bits##_t value, int) {      \
        CUDA_CPU_NOTE(address, bits / 8, atomic_update);                          \
        return builtin(address, value, __ATOMIC_SEQ_CST);                         \
    }
#define CUDA_CPU_ATOMICS(bits)                                                                \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* address, int) {  \
        CUDA_CPU_NOTE(address, bits / 8, atomic_load);                                        \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                    \
    }                                                                                         \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t* address, uint##bits##_t value,  \
                                     int) {                                                   \
        CUDA_CPU_NOTE(address, bits / 8, atomic_store);                                       \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                   \
    }                                                                                         \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t* address,       \
                                                      uint##bits##_t* expected,               \
                                                      uint##bits##_t value, int, int) {       \
        CUDA_CPU_NOTE(address, bits / 8, atomic_update);                                      \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST);                                 \
    }                                                                                         \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t* address,         \
                                                    uint##bits##_t* expected,                 \
                                                    uint##bits##_t value, int, int) {         \
        const bool at_once = cuda_cpu::Watch::counts_failures();                              \
        if (at_once) CUDA_CPU_NOTE(address, bits / 8, atomic_update);                         \
        const int done = __atomic_compare_exchange_n(address, expected, value, false,         \
                                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
        if (done && !at_once) CUDA_CPU_NOTE(address, bits / 8, atomic_update);                \
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
#undef CUDA_CPU_HERE
