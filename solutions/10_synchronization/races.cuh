// Kernels that are WRONG ON PURPOSE, each with its repair: TODO 1 and 2. They run only when they are
// asked for by name (--demo lost_update), and nothing else uses them. Each counts its threads, or adds
// up what share_of() gives them, over all blocks.
#pragma once

#include <cstdint>

#include "../../common/lab.h"

using Count = unsigned long long;  // 2^32 equal bytes, or threads, fit into many a card

constexpr int demo_block = 512;

// WRONG, a lost update: between reading and writing another thread may write, and its step is lost.
__global__ void lost_update(int64_t count, Count* total) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Count old = *total;
    *total = old + 1;
}

__global__ void lost_update_repaired(int64_t count, Count* total) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    if (i < count) atomicAdd(total, Count{1});
    //: // TODO 1 (1 line): if i < count, the same step as an atomic. One is Count{1}.
    //: (void)i;  // delete this line
    // END SOLUTION
}

// WRONG, the same in shared memory, where the race detector of compute-sanitizer looks.
__global__ void lost_update_in_shared(int64_t count, Count* total) {
    __shared__ unsigned counter;
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    if (i < count) {
        const unsigned old = counter;
        counter = old + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, Count{counter});
}

__global__ void lost_update_in_shared_repaired(int64_t count, Count* total) {
    __shared__ unsigned counter;
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    // BEGIN SOLUTION
    if (i < count) atomicAdd(&counter, 1u);
    //: // TODO 1 (1 line): if i < count, the same step as an atomic on the block's counter.
    //: (void)i;  // delete this line
    // END SOLUTION
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, Count{counter});
}

__host__ __device__ unsigned share_of(int64_t i, int64_t count) {
    return i < count ? unsigned(i % 1000) : 0;
}

// WRONG, no barrier: a warp that is ahead reads what another has not written yet.
__global__ void missing_barrier(int64_t count, Count* total) {
    __shared__ unsigned part[demo_block];
    part[threadIdx.x] = share_of(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            const unsigned other = part[threadIdx.x + stride];
            part[threadIdx.x] += other;
        }
    }
    if (threadIdx.x == 0) atomicAdd(total, Count{part[0]});
}

// WRONG, a barrier under a condition: some threads wait at it and others never come. What happens
// then is not defined. It may hang.
__global__ void conditional_barrier(int64_t count, Count* total) {
    __shared__ unsigned part[demo_block];
    part[threadIdx.x] = share_of(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            __syncthreads();
            part[threadIdx.x] += part[threadIdx.x + stride];
        }
    }
    if (threadIdx.x == 0) atomicAdd(total, Count{part[0]});
}

// The repair of both.
__global__ void barrier_repaired(int64_t count, Count* total) {
    __shared__ unsigned part[demo_block];
    part[threadIdx.x] = share_of(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        // BEGIN SOLUTION
        __syncthreads();
        //: // TODO 2 (1 line): what is missing here?
        // END SOLUTION
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(total, Count{part[0]});
}

struct Demo {
    const char* name;
    void (*wrong)(int64_t count, Count* total);
    void (*repaired)(int64_t count, Count* total);
    bool counts;  // its threads; or adds up what share_of() gives
};

const Demo demos[] = {
    {"lost_update", lost_update, lost_update_repaired, true},
    {"lost_update_in_shared", lost_update_in_shared, lost_update_in_shared_repaired, true},
    {"missing_barrier", missing_barrier, barrier_repaired, false},
    {"conditional_barrier", conditional_barrier, barrier_repaired, false},
};
