// What kernels call: barriers, fences, warp primitives, atomics.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "launch.h"
#include "runner.h"

// The step from one thread to the next stands in the kernel itself (runner.h).
#if defined(CUDA_CPU_BOUNDS) || defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
#define CUDA_CPU_STEP inline
#define CUDA_CPU_TEMPLATE_STEP
#else
#define CUDA_CPU_STEP CUDA_CPU_INLINE
#define CUDA_CPU_TEMPLATE_STEP CUDA_CPU_INLINE
#endif

namespace cuda_cpu {

// ---------------------------------------------------------------- what the scheduler offers
unsigned int active_lanes(const Site& site);
unsigned int this_lane();
void yield();              // lets the other threads of the block go on
[[noreturn]] void trap();  // ends the kernel with cudaErrorLaunchFailure
extern __thread unsigned int spins;

// A thread that spins on an atomic waits for another one, so let that one run now and then.
inline void spin() {
    if (__builtin_expect((++spins & 1023u) == 0, false)) yield();
}

template <class T>
uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8, "a warp exchanges values of at most 8 bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return bits;
}
template <class T>
T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

}  // namespace cuda_cpu

#define CUDA_CPU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

// ---------------------------------------------------------------- barriers and fences
CUDA_CPU_STEP void __syncthreads(CUDA_CPU_SITE) { cuda_cpu::block_barrier(false, {file, line}); }
CUDA_CPU_STEP int __syncthreads_count(int predicate, CUDA_CPU_SITE) {
    return static_cast<int>(cuda_cpu::block_barrier(predicate != 0, {file, line}));
}
CUDA_CPU_STEP int __syncthreads_and(int predicate, CUDA_CPU_SITE) {
    return cuda_cpu::block_barrier(predicate == 0, {file, line}) == 0;
}
CUDA_CPU_STEP int __syncthreads_or(int predicate, CUDA_CPU_SITE) {
    return cuda_cpu::block_barrier(predicate != 0, {file, line}) != 0;
}
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST), cuda_cpu::spin(); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST), cuda_cpu::spin(); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST), cuda_cpu::spin(); }
inline void __nanosleep(unsigned int) { cuda_cpu::yield(); }
[[noreturn]] inline void __trap() { cuda_cpu::trap(); }
inline void __brkpt() {}

// ---------------------------------------------------------------- warps
CUDA_CPU_STEP void __syncwarp(unsigned int mask = 0xffffffffu, CUDA_CPU_SITE) {
    cuda_cpu::warp_meeting(cuda_cpu::WarpOperation::sync, mask, 0, 0, {file, line});
}
inline unsigned int __activemask(CUDA_CPU_SITE) { return cuda_cpu::active_lanes({file, line}); }
inline unsigned int __ballot_sync(unsigned int mask, int predicate, CUDA_CPU_SITE) {
    return static_cast<unsigned int>(cuda_cpu::warp_meeting(cuda_cpu::WarpOperation::ballot, mask,
                                                            predicate != 0, 0, {file, line}));
}
inline int __all_sync(unsigned int mask, int predicate, CUDA_CPU_SITE) {
    return static_cast<int>(cuda_cpu::warp_meeting(cuda_cpu::WarpOperation::all, mask,
                                                   predicate != 0, 0, {file, line}));
}
inline int __any_sync(unsigned int mask, int predicate, CUDA_CPU_SITE) {
    return static_cast<int>(cuda_cpu::warp_meeting(cuda_cpu::WarpOperation::any, mask,
                                                   predicate != 0, 0, {file, line}));
}

namespace cuda_cpu {
// A source outside the lane's own section of `width` lanes gives the lane its own value back.
template <class T>
CUDA_CPU_TEMPLATE_STEP T shuffle(unsigned int mask, T value, int source, int first, int last,
                                 const Site& site) {
    const int lane = static_cast<int>(this_lane());
    if (source < first || source > last) source = lane;
    return from_bits<T>(warp_meeting(WarpOperation::shuffle, mask, to_bits(value), source, site));
}
}  // namespace cuda_cpu

template <class T>
CUDA_CPU_TEMPLATE_STEP T __shfl_sync(unsigned int mask, T value, int source, int width = warpSize,
                                     CUDA_CPU_SITE) {
    const int first = static_cast<int>(cuda_cpu::this_lane()) & ~(width - 1);
    return cuda_cpu::shuffle(mask, value, first + (source & (width - 1)), first, first + width - 1,
                             {file, line});
}
template <class T>
CUDA_CPU_TEMPLATE_STEP T __shfl_up_sync(unsigned int mask, T value, unsigned int delta,
                                        int width = warpSize, CUDA_CPU_SITE) {
    const int lane = static_cast<int>(cuda_cpu::this_lane()), first = lane & ~(width - 1);
    return cuda_cpu::shuffle(mask, value, lane - static_cast<int>(delta & 31), first,
                             first + width - 1, {file, line});
}
template <class T>
CUDA_CPU_TEMPLATE_STEP T __shfl_down_sync(unsigned int mask, T value, unsigned int delta,
                                          int width = warpSize, CUDA_CPU_SITE) {
    const int lane = static_cast<int>(cuda_cpu::this_lane()), first = lane & ~(width - 1);
    return cuda_cpu::shuffle(mask, value, lane + static_cast<int>(delta & 31), first,
                             first + width - 1, {file, line});
}
// A lane above its own section cannot be read; one below can, as on a GPU.
template <class T>
CUDA_CPU_TEMPLATE_STEP T __shfl_xor_sync(unsigned int mask, T value, int lane_mask,
                                         int width = warpSize, CUDA_CPU_SITE) {
    const int lane = static_cast<int>(cuda_cpu::this_lane()), first = lane & ~(width - 1);
    return cuda_cpu::shuffle(mask, value, lane ^ (lane_mask & 31), 0, first + width - 1,
                             {file, line});
}
template <class T>
unsigned int __match_any_sync(unsigned int mask, T value, CUDA_CPU_SITE) {
    return static_cast<unsigned int>(cuda_cpu::warp_meeting(
        cuda_cpu::WarpOperation::match_any, mask, cuda_cpu::to_bits(value), 0, {file, line}));
}
template <class T>
unsigned int __match_all_sync(unsigned int mask, T value, int* all_equal, CUDA_CPU_SITE) {
    const unsigned int lanes = static_cast<unsigned int>(cuda_cpu::warp_meeting(
        cuda_cpu::WarpOperation::match_all, mask, cuda_cpu::to_bits(value), 0, {file, line}));
    *all_equal = lanes != 0;
    return lanes;
}

#define CUDA_CPU_REDUCE(name, type, operation)                                                    \
    inline type name(unsigned int mask, type value, CUDA_CPU_SITE) {                              \
        return static_cast<type>(cuda_cpu::warp_meeting(cuda_cpu::WarpOperation::operation, mask, \
                                                        static_cast<uint64_t>(value), 0,          \
                                                        {file, line}));                           \
    }
CUDA_CPU_REDUCE(__reduce_add_sync, unsigned int, reduce_add)
CUDA_CPU_REDUCE(__reduce_add_sync, int, reduce_add)
CUDA_CPU_REDUCE(__reduce_min_sync, unsigned int, reduce_min)
CUDA_CPU_REDUCE(__reduce_min_sync, int, reduce_min_signed)
CUDA_CPU_REDUCE(__reduce_max_sync, unsigned int, reduce_max)
CUDA_CPU_REDUCE(__reduce_max_sync, int, reduce_max_signed)
CUDA_CPU_REDUCE(__reduce_and_sync, unsigned int, reduce_and)
CUDA_CPU_REDUCE(__reduce_or_sync, unsigned int, reduce_or)
CUDA_CPU_REDUCE(__reduce_xor_sync, unsigned int, reduce_xor)
#undef CUDA_CPU_REDUCE

// ---------------------------------------------------------------- volatile memory
// An access to volatile shared memory: the lanes of a warp that run together do it in step, as kernels of
// before Volta expect. In other memory somebody may wait for what another thread writes.
namespace cuda_cpu {
void step(const volatile void* address, const Site& site, bool everywhere);
// `everywhere`: through a pointer of the kernel's own, in whatever memory.
template <bool everywhere = false, class T>
__attribute__((CUDA_CPU_OWN)) inline T& in_step(T& memory, CUDA_CPU_SITE) {
    if constexpr (std::is_pointer_v<T>) {
        step(memory, {file, line}, everywhere);
    } else {
        step(&memory, {file, line}, everywhere);
    }
    return memory;
}
// The same for an element that another lane of the warp changes in the statement that reads it.
template <class T>
CUDA_CPU_INLINE T exchanged(const T& element, CUDA_CPU_SITE) {
    const T value = element;
    step(&element, {file, line}, false);
    return value;
}
// The same for a pointer that a cast has made.
template <class T>
__attribute__((CUDA_CPU_OWN)) inline volatile T* in_step_at(volatile T* pointer, CUDA_CPU_SITE) {
    step(pointer, {file, line}, true);
    return pointer;
}
}  // namespace cuda_cpu

// ---------------------------------------------------------------- clocks
inline long long clock64() {
    cuda_cpu::spin();  // who looks at the clock may wait
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}
namespace cuda_cpu {
inline clock_t clock() { return in_kernel() ? static_cast<clock_t>(clock64()) : ::clock(); }
}  // namespace cuda_cpu

#undef CUDA_CPU_STEP
#undef CUDA_CPU_TEMPLATE_STEP
#undef CUDA_CPU_SITE

// The compiler's instrumentation leaves these out. So the program calls functions of the runtime in
// their place, which look at what is copied or set (compile.sh: -fno-builtin-memcpy and its kin).
#if !defined(CUDA_CPU_RUNTIME) && (defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES))
extern "C" {
void* memcpy(void*, const void*, size_t) noexcept __asm__("cuda_cpu_memcpy");
void* memmove(void*, const void*, size_t) noexcept __asm__("cuda_cpu_memmove");
void* memset(void*, int, size_t) noexcept __asm__("cuda_cpu_memset");
void* malloc(size_t) noexcept __asm__("cuda_cpu_malloc");
void free(void*) noexcept __asm__("cuda_cpu_free");
}
#endif

// `new` in device code (translate.py --observed): its memory is a kernel's own.
#if !defined(CUDA_CPU_RUNTIME) && \
    (defined(CUDA_CPU_BOUNDS) || defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES))
namespace cuda_cpu {
struct KernelNew {};
#ifdef CUDA_CPU_BOUNDS
constexpr bool are_known_by_malloc = false;
#else
constexpr bool are_known_by_malloc = true;
#endif
}  // namespace cuda_cpu
inline void* operator new(size_t bytes, cuda_cpu::KernelNew) noexcept {
    if (cuda_cpu::are_known_by_malloc && cuda_cpu::in_kernel()) return ::malloc(bytes);
    return ::operator new(bytes, std::nothrow);
}
inline void* operator new[](size_t bytes, cuda_cpu::KernelNew) noexcept {
    if (cuda_cpu::are_known_by_malloc && cuda_cpu::in_kernel()) return ::malloc(bytes);
    return ::operator new[](bytes, std::nothrow);
}
#endif
