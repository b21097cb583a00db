// What `make sanitize` wants to know of a run. Plain CPU mode has none of it: there these are empty.
//
//   CUDA_CPU_BOUNDS  built with AddressSanitizer and UndefinedBehaviorSanitizer: runtime/bounds.h
//   CUDA_CPU_RACES   built with the calls that ThreadSanitizer inserts: runtime/races.h
// And what `make explain` wants to know:
//   CUDA_CPU_ACCESSES   built with those calls, and one at each piece of code: runtime/accesses.h
#pragma once

#include "memory.h"

#if defined(CUDA_CPU_BOUNDS) || defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
#define CUDA_CPU_OBSERVED 1
#endif

namespace cuda_cpu {

#ifdef CUDA_CPU_OBSERVED
constexpr bool is_observed = true;
#else
constexpr bool is_observed = false;
#endif

// How far apart the variables of shared memory lie in an observed run.
constexpr size_t shared_gap = 128;

// A pointer among the arguments of a launch.
struct PointerArgument {
    int position;  // from 1
    const void* value;
};
struct LaunchFacts {
    const char* arguments;  // as the learner wrote them
    std::vector<PointerArgument> pointers;

    // Which argument points into an allocation; 0 when none does.
    int position_of(const Allocation& allocation) const {
        for (const PointerArgument& pointer : pointers) {
            const char* const address = static_cast<const char*>(pointer.value);
            const bool inside = address >= allocation.start &&
                                address < allocation.start + std::max<size_t>(allocation.bytes, 1);
            if (inside) return pointer.position;
        }
        return 0;
    }
};

struct Grid;

// As the default stream; as one that waits for it; as one that does not.
enum class StreamKind { waits_for_all, common, apart };

namespace observer {

#ifdef CUDA_CPU_OBSERVED
void grid_begins(const Grid& grid);
void block_begins(unsigned int threads);
void barrier();  // all threads of the block have arrived
// These lanes of a warp have. Of all that lanes do together __syncwarp alone orders what they touch.
void meeting(unsigned int first, unsigned int lanes, bool orders);
// These that the mask names have ended.
void meeting_without(unsigned int first, unsigned int absent, unsigned int mask, const Site& site);
void allocated(const Allocation& allocation);
void released(const Allocation& allocation);
void filled(const void* target, size_t bytes);  // by the host: a copy to it, or a set
void copied(const void* target, const void* source, size_t bytes);  // from device to device
void read(const void* source, size_t bytes);                        // by a library
// A variable of shared memory has got its place; a block begins to use it.
void shared_variable(const char* name, const char* start, size_t bytes);
void shared_begins(const char* start, size_t bytes);
// Dynamic shared memory is what `bytes` from `start` on hold; the rest of [begin, end) is nobody's.
void dynamic_shared(const char* begin, const char* end, const char* start, size_t bytes);
#else
inline void grid_begins(const Grid&) {}
inline void block_begins(unsigned int) {}
inline void barrier() {}
inline void meeting(unsigned int, unsigned int, bool) {}
inline void meeting_without(unsigned int, unsigned int, unsigned int, const Site&) {}
inline void allocated(const Allocation&) {}
inline void released(const Allocation&) {}
inline void filled(const void*, size_t) {}
inline void copied(const void*, const void*, size_t) {}
inline void read(const void*, size_t) {}
inline void shared_variable(const char*, const char*, size_t) {}
inline void shared_begins(const char*, size_t) {}
inline void dynamic_shared(const char*, const char*, const char*, size_t) {}
#endif

#ifdef CUDA_CPU_ACCESSES
void grid_starts(const Grid& grid);
void core_leaves();  // a core has run its last block of the grid
#else
inline void grid_starts(const Grid&) {}
inline void core_leaves() {}
#endif
#if defined(CUDA_CPU_ACCESSES) || defined(CUDA_CPU_RACES)
void grid_ends(Grid& grid);
#else
inline void grid_ends(Grid&) {}
#endif

// The core's thread lets another block run, and goes on; a block comes to a barrier of the grid or of
// its cluster, and leaves it; one of those that run at the same time has ended.
#ifdef CUDA_CPU_RACES
void gives_way();
void goes_on();
void arrives_at_barrier_of_blocks(const void* barrier, uint64_t round);
void leaves_barrier_of_blocks(const void* barrier, uint64_t round);
void block_ends_among_others();
// A kernel's own malloc and free.
void allocated_by_kernel(void* memory, size_t bytes);
void freed_by_kernel(const void* memory, size_t bytes, const void* place);
#else
inline void gives_way() {}
inline void goes_on() {}
inline void arrives_at_barrier_of_blocks(const void*, uint64_t) {}
inline void leaves_barrier_of_blocks(const void*, uint64_t) {}
inline void block_ends_among_others() {}
inline void allocated_by_kernel(void*, size_t) {}
inline void freed_by_kernel(const void*, size_t, const void*) {}
#endif

// What the host hands out gets a number, from 1, and that of the launch of a graph which it belongs to, or 0; it begins, and ends. Somebody waits for it: a stream,
// with what comes into it from then on, or the host, for one, for all of a stream, or for everything.
#ifdef CUDA_CPU_RACES
void enqueued(uint64_t number, cudaStream_t stream, StreamKind kind, int device, uint64_t graph);
void begins(uint64_t number);
void ends();
void stream_waits(cudaStream_t stream, StreamKind kind, int device, uint64_t number);
void stream_ends(cudaStream_t stream);
void host_waits(uint64_t number);
void host_waits_for(cudaStream_t stream, StreamKind kind, int device);
void host_waits_for_device(int device);
void host_waits_for_all();
#else
inline void enqueued(uint64_t, cudaStream_t, StreamKind, int, uint64_t) {}
inline void begins(uint64_t) {}
inline void ends() {}
inline void stream_waits(cudaStream_t, StreamKind, int, uint64_t) {}
inline void stream_ends(cudaStream_t) {}
inline void host_waits(uint64_t) {}
inline void host_waits_for(cudaStream_t, StreamKind, int) {}
inline void host_waits_for_device(int) {}
inline void host_waits_for_all() {}
#endif

}  // namespace observer
}  // namespace cuda_cpu
