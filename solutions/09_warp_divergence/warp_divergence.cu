// 09 warp_divergence: what a branch costs. The 32 threads of a warp share one instruction at a time;
// where they take different paths, the warp runs one path after the other, with the rest idle.
//
//   short_branch    a branch so short that it becomes no branch in the machine code
//   thread_parity   if / else by the parity of the thread: every warp runs both paths
//   warp_parity     the same work, shared out so that every warp runs one path
//   by_thread       a switch of 1 to 32 paths, by the thread: a warp runs as many as it can
//   by_warp         the same work, shared out so that every warp runs one path
//   exchange        two half warps on two paths, who pass values to each other by shared memory

#include "../../common/lab.h"

constexpr int most_paths = 32;  // a warp has no more threads
constexpr int half_warp = 16;
constexpr uint32_t salt = 100;  // what `short_branch` adds

// What tells one path from another: its shift and its factor (odd, so that no bit gets lost).
__host__ __device__ constexpr int shift_of(int path) { return 3 + path % 16; }
__host__ __device__ constexpr uint32_t factor_of(int path) {
    return 0x9E3779B1u + 0x01000192u * path;
}

// ---------------------------------------------------------------------------------------------
// Kernels. x, y: (count). At most 2^30 elements, so an index fits into 32 bits; arithmetic with it
// is quicker than with 64, and beside it the branch is easier to see.

// The work of one path: a long chain in which each step needs the one before. Shift and factor are
// constants inside the instructions, so every path has a loop of its own in the machine code.
template <int path>
__device__ uint32_t work(uint32_t value, int rounds) {
#pragma unroll 1  // so that the machine code stays short enough to be read
    for (int round = 0; round < rounds; round++) {
        value = (value ^ (value >> shift_of(path))) * factor_of(path) + path;
    }
    return value;
}

// In place of the rounds where the paths are to be recorded as well: of each thread, one bit for
// each path that it took. The kernels pass on what they are given, so those that are timed, which
// are given an int, know nothing of this.
struct RecordedRounds {
    int rounds;
    uint32_t* taken;
};

template <int path>
__device__ uint32_t work(uint32_t value, RecordedRounds recorded) {
    recorded.taken[blockIdx.x * blockDim.x + threadIdx.x] |= 1u << path;
    return work<path>(value, recorded.rounds);
}

// A branch with next to nothing in it. The compiler computes both sides and keeps one: nobody
// waits, and the profiler sees no divergence.
__global__ void short_branch(const uint32_t* x, uint32_t* y, unsigned count, int, int) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t value = x[i];
    if (i % 2 == 0) {
        value = value + salt;
    } else {
        value = value ^ salt;
    }
    y[i] = value;
}

// Even threads take one path, odd ones the other. Each warp has both kinds.
template <class Rounds>
__global__ void thread_parity(const uint32_t* x, uint32_t* y, unsigned count, int, Rounds rounds) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    // BEGIN SOLUTION
    uint32_t value = x[i];
    if (i % 2 == 0) {
        value = work<0>(value, rounds);
    } else {
        value = work<1>(value, rounds);
    }
    y[i] = value;
    //: // TODO 1 (about 7 lines): y[i] is x[i] after work<0> where i is even, after work<1> where i
    //: // is odd.
    // END SOLUTION
}

// The same elements take the same paths. But of each 64 elements one warp takes the 32 even ones and
// the next warp the 32 odd ones, so the condition is the same for all threads of a warp.
template <class Rounds>
__global__ void warp_parity(const uint32_t* x, uint32_t* y, unsigned count, int, Rounds rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned warp = thread / 32, lane = thread % 32;
    // BEGIN SOLUTION
    const unsigned i = warp / 2 * 64 + 2 * lane + warp % 2;
    if (i >= count) return;
    uint32_t value = x[i];
    if (warp % 2 == 0) {
        value = work<0>(value, rounds);
    } else {
        value = work<1>(value, rounds);
    }
    y[i] = value;
    //: // TODO 2 (about 9 lines): the element of this thread; the bounds test; the branch, by the
    //: // parity of the warp.
    //: (void)warp, (void)lane;  // delete this line
    // END SOLUTION
}

#define ONE_PATH(number) \
    case number:         \
        return work<number>(value, rounds);
#define FOUR_PATHS(number) \
    ONE_PATH(number) ONE_PATH(number + 1) ONE_PATH(number + 2) ONE_PATH(number + 3)

// Work of the path with this number, 0 to 31.
template <class Rounds>
__device__ uint32_t work_of_path(int path, uint32_t value, Rounds rounds) {
    switch (path) {
        FOUR_PATHS(0)
        FOUR_PATHS(4)
        FOUR_PATHS(8)
        FOUR_PATHS(12)
        FOUR_PATHS(16)
        FOUR_PATHS(20)
        FOUR_PATHS(24)
        FOUR_PATHS(28)
    }
    return value;
}

// Element i takes path i % paths and is that of thread i. With 32 paths every thread of a warp is
// alone on its path: the worst case.
template <class Rounds>
__global__ void by_thread(const uint32_t* x, uint32_t* y, unsigned count, int paths,
                          Rounds rounds) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    // BEGIN SOLUTION
    y[i] = work_of_path(i % paths, x[i], rounds);
    //: // TODO 3 (1 line): y[i] with work_of_path, on path i % paths.
    // END SOLUTION
}

// Of each 32 * paths elements a warp takes those 32 that have its path.
template <class Rounds>
__global__ void by_warp(const uint32_t* x, uint32_t* y, unsigned count, int paths, Rounds rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned warp = thread / 32, lane = thread % 32;
    // BEGIN SOLUTION
    const unsigned path = warp % paths;
    const unsigned i = (warp / paths * 32 + lane) * paths + path;
    if (i < count) y[i] = work_of_path(path, x[i], rounds);
    //: // TODO 4 (about 3 lines): the path of this warp; the element of this thread, which has that
    //: // path; the bounds test and the work.
    //: (void)warp, (void)lane;  // delete this line
    // END SOLUTION
}

// The two halves of a warp take two paths, and in the middle of its path each half passes values
// round. Nothing says that the threads of a half, let alone of the warp, are there at the same time:
// __syncwarp waits for those in its mask, and lets them see what the others have written. No thread
// leaves early, for its neighbours would wait for it.
__global__ void exchange(const uint32_t* x, uint32_t* y, unsigned count, int, int rounds) {
    __shared__ uint32_t own[1024], pair[1024];
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned thread = threadIdx.x, place = thread % half_warp;
    const unsigned next = thread - place + (place + 1) % half_warp;  // around in the half
    const uint32_t value = i < count ? x[i] : 0;
    if (thread % 32 < half_warp) {
        own[thread] = work<0>(value, rounds);
        // BEGIN SOLUTION
        __syncwarp(0x0000FFFFu);
        //: // TODO 5 (3 lines): three waits are missing in this kernel. Where, and for which lanes?
        // END SOLUTION
        pair[thread] = own[thread] - own[next];
    } else {
        own[thread] = work<1>(value, rounds);
        // BEGIN SOLUTION
        __syncwarp(0xFFFF0000u);
        //:
        // END SOLUTION
        pair[thread] = own[thread] - own[next];
    }
    // BEGIN SOLUTION
    __syncwarp();
    //:
    // END SOLUTION
    if (i < count) y[i] = pair[thread] - pair[thread ^ half_warp];
}

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/program.cuh has the reference, the launches, the table of variants, and the options.

#include "given/program.cuh"

int main(int argc, char** argv) { return run_program(argc, argv); }
