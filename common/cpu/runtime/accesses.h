// What a kernel asks of memory, warp by warp: the figures of `make explain`.
//
// The compiler's -fsanitize=thread puts a call in front of every access, and -fsanitize-coverage=trace-pc
// one at the start of every piece of code without a branch. The calls end here. Each thread of a block
// leaves a trace of what it passed; at a barrier, at the meeting of a whole warp, and at the end of the
// block, the traces of a warp are laid side by side and walked through as the hardware does it: of all
// lanes those that are deepest in calls and, among these, first in the program go one step, together
// with the others that stand at the same place. So lanes that parted meet again behind the branch, and
// what the lanes of one step access is one request.
//
//   CUDA_CPU_ACCESSES=FILE   where the figures go, a line of JSON a launch; without it nothing is recorded
//   CUDA_CPU_PLACES=FILE     what the program's places are, from common/explain/places.py
//   CUDA_CPU_TOUCHES=N       also who touched what: the first N requests of each kernel's first launch
//   CUDA_CPU_EVENTS=N        how much of a launch is recorded; then blocks are left out, evenly
#pragma once

#include "calls.h"
#include "figures.h"  // what is kept of a launch, place by place
#include "observer.h"
#include "recorder.h"  // the traces of a block, and the walk of each warp through them
#include "requests.h"  // what one request asks of memory

namespace cuda_cpu {

namespace observer {

void grid_begins(const Grid&) {}
void grid_starts(const Grid& grid) {
    if (Launch::instance().wanted()) Launch::instance().begin(grid);
}
void core_leaves() {
    if (Launch::instance().wanted()) Recorder::mine().leave();
}
void grid_ends(Grid& grid) {
    if (Launch::instance().wanted()) Launch::instance().end(grid);
}
void block_begins(unsigned int threads) { Recorder::mine().begin_block(threads); }
void barrier() { Recorder::mine().barrier(); }
void meeting(unsigned int first, unsigned int lanes, bool) {
    Recorder::mine().meeting(first, lanes);
}
void meeting_without(unsigned int, unsigned int, unsigned int, const Site&) {}
void allocated(const Allocation&) {}
void released(const Allocation&) {}
void filled(const void*, size_t) {}
void copied(const void*, const void*, size_t) {}
void read(const void*, size_t) {}
void shared_variable(const char*, const char*, size_t) {}
void shared_begins(const char*, size_t) {}
void dynamic_shared(const char*, const char*, const char*, size_t) {}

}  // namespace observer

void entered_kernel(const char* kernel) { Recorder::mine().enter(kernel); }

// The loops of load and weak exchange (atomicAdd of a float, say) are the runtime's own, and one
// atomic: what counts is the exchange that succeeds. The load before it is none of the kernel's.
inline bool Watch::counts_failures() { return false; }

inline What what_is(Access access) {
    if (access == Access::atomic_update) return What::atomic;
    return writes(access) ? What::store : What::load;
}
inline void Watch::access(const volatile void* address, size_t bytes, Access access,
                          const void* place, const void* frame) {
    if (!Recorder::recording || !in_kernel() || access == Access::atomic_load) return;
    Recorder::mine().access(const_cast<const void*>(address), bytes, what_is(access), place, frame);
}
inline void Watch::range(const void* address, size_t bytes, Access access, const void* place,
                         const void* frame) {
    if (!Recorder::recording || !in_kernel()) return;
    Recorder::mine().range(address, bytes, what_is(access), place, frame);
}
inline void Watch::fence() {}

}  // namespace cuda_cpu

extern "C" void __sanitizer_cov_trace_pc() {
    if (!cuda_cpu::Recorder::recording || !cuda_cpu::in_kernel()) return;
    cuda_cpu::Recorder::mine().piece(__builtin_return_address(0), __builtin_frame_address(0));
}
