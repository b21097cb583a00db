// Runners, the stacks on which the threads of a block run, and the step from one to the next.
//
// The step stands in the kernel itself, inline: a function that leaves for another stack and comes
// back on its own would return to a place that the processor does not expect, once for each thread
// and barrier. So it is what lies below the fibers of Boost.Context, jump_fcontext; on x86-64 a shorter
// one of our own. Who runs next is decided in common/cpu/runtime/scheduler.h.
#pragma once

#ifdef CUDA_CPU_BOUNDS
#include <sanitizer/common_interface_defs.h>
#endif

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>

#include "launch.h"

namespace cuda_cpu {

enum class WarpOperation {
    sync,
    ballot,
    all,
    any,
    shuffle,
    match_any,
    match_all,
    reduce_add,
    reduce_min_signed,
    reduce_max_signed,
    reduce_min,
    reduce_max,
    reduce_and,
    reduce_or,
    reduce_xor
};

// What a waiting thread waits for.
enum class Waiting { nothing, barrier, warp, active_mask, block_end, step };

// What a barrier needs fills one line of the cache: a block may have 1024 of these.
struct alignas(64) Runner {
    boost::context::detail::fcontext_t context = nullptr;  // where it goes on, unless it runs
    uint3 thread{};                                        // the thread that waits on it
    unsigned int thread_number = 0;
    Site site{};  // where the thread waits
    Waiting waiting = Waiting::nothing;
    bool is_in_kernel = false;  // between the start of a thread and the end of the last one
    // Its part in a warp primitive.
    WarpOperation operation{};
    unsigned int mask = 0;
    int source = 0;
    uint64_t value = 0, result = 0;
    const char* base = nullptr;  // where the kernel's part of its stack begins
#ifdef CUDA_CPU_BOUNDS
    const void* stack = nullptr;  // AddressSanitizer wants to know each stack
    size_t stack_bytes = 0;
    void* frames = nullptr;
#endif
};

extern __thread Runner* left_runner;  // the one that was left for the running one
extern __thread bool aborting;        // the kernel ends early: threads leave it when they go on
[[noreturn]] void leave_kernel();     // by an exception

// Goes on where `place` was left, which learns from where. The one of Boost.Context stores and loads the control words of
// the floating-point units as well, which no kernel changes: on x86-64 that takes longer than all the rest.
#ifdef __x86_64__
extern "C" boost::context::detail::transfer_t cuda_cpu_jump(
    boost::context::detail::fcontext_t place, void* nothing);
#else
constexpr auto cuda_cpu_jump = boost::context::detail::jump_fcontext;
#endif

// AddressSanitizer hears of each step from one stack to another.
#ifdef CUDA_CPU_BOUNDS
inline void announce_step(Runner* from, const Runner* to) {
    __sanitizer_start_switch_fiber(&from->frames, to->stack, to->stack_bytes);
}
inline void finish_step(const Runner* here, Runner* left) {
    __sanitizer_finish_switch_fiber(here->frames, &left->stack, &left->stack_bytes);
}
#else
inline void announce_step(Runner*, const Runner*) {}
inline void finish_step(const Runner*, Runner*) {}
#endif

// Leaves the running thread for the one that waits on `next`, and comes back when it can go on.
__attribute__((always_inline)) inline void go_on_with(Runner* next) {
    if (next->waiting != Waiting::block_end) next->waiting = Waiting::nothing;
    threadIdx = next->thread;  // a runner whose thread has ended may get the next one at once
    if (next != running) {
        left_runner = running;
        running = next;
        announce_step(left_runner, next);
        const auto from = cuda_cpu_jump(next->context, nullptr);
        finish_step(running, left_runner);
        left_runner->context = from.fctx;
    }
    if (__builtin_expect(aborting, false) && running->is_in_kernel) leave_kernel();
}

// The thread arrives at a barrier or a warp primitive. The runner to go on with while it waits; null
// when it was the last one that the others waited for.
Runner* arrive_at_barrier(bool predicate, const Site& site);
Runner* arrive_in_warp(WarpOperation operation, unsigned int mask, uint64_t value, int source,
                       const Site& site);
extern __thread unsigned int barrier_result;

// Waits for all threads of the block; returns for how many of them `predicate` held.
__attribute__((CUDA_CPU_OWN)) inline unsigned int block_barrier(bool predicate, const Site& site) {
    if (Runner* const next = arrive_at_barrier(predicate, site)) go_on_with(next);
    return barrier_result;
}

// Every lane named in `mask` meets the others here. `value` is what the lane brings, `source` the
// lane that it reads from (shuffle only); the result is what the operation gives this lane.
__attribute__((CUDA_CPU_OWN)) inline uint64_t warp_meeting(WarpOperation operation,
                                                           unsigned int mask, uint64_t value,
                                                           int source, const Site& site) {
    if (Runner* const next = arrive_in_warp(operation, mask, value, source, site)) go_on_with(next);
    return running->result;
}

}  // namespace cuda_cpu
