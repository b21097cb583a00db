// The same rounds for the states that may still split. A state alone in its class never changes
// again: it leaves the list, and the rounds of a random automaton soon have almost nothing to do.
// given/retiring_rounds.cuh launches the kernels.
#pragma once

#include "given/signature_table.cuh"

// What a round counts.
struct RetireCounts {
    unsigned represented;  // classes among the active states
    unsigned active;       // states that remain
};

// active: (count), or null for all states. others: (count), who stands for each.
__global__ void find_representatives(TableRound now, const int32_t* active, int64_t count,
                                     int32_t* others, RetireCounts* counts) {
    const int64_t i = global_thread();
    bool represents = false;
    if (i < count) {
        const int64_t q = active ? active[i] : i;
        const int32_t other =
            representative(now.automaton, now.class_of, now.slots, now.mask, q).state;
        represents = other == q;
        if (!represents) now.crowded[other] = now.round;  // all write the same
        others[i] = other;
    }
    const int in_block = __syncthreads_count(represents);
    if (threadIdx.x == 0) atomicAdd(&counts->represented, in_block);
}

// Only now class_of may change. A block that knows how many of its states remain asks once for a
// place for all of them; so their order is the blocks', and of no matter.
__global__ void keep_crowded(TableRound now, const int32_t* active, int64_t count,
                             const int32_t* others, int32_t* remaining, RetireCounts* counts) {
    __shared__ int32_t warp_sums[32];
    __shared__ unsigned begin;
    const int64_t i = global_thread();
    int64_t q = 0;
    bool may_split = false;
    if (i < count) {
        q = active ? active[i] : i;
        now.refined[q] = others[i];
        // TODO 9 (about 1 line): a state may split from others as long as it is not alone: another
        // state stands for it, or it does so itself and others have joined it in this round:
        // now.crowded says so (TableRound, in given/signature_table.cuh). Replace the line below.
        may_split = false;
    }
    int32_t all;
    const int32_t before = sum_before_thread(may_split, warp_sums, all);
    if (threadIdx.x == 0) begin = atomicAdd(&counts->active, all);
    __syncthreads();
    if (may_split) remaining[begin + before] = int32_t(q);
}
