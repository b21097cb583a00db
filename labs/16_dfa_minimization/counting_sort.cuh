// A stable counting sort of one digit, as the report builds it. The digits are cut into segments, a
// block each:
//   phase 1  the block counts how often each value occurs in its segment
//   phase 2  from all counts: where in the result the segment's elements of each value begin
//   phase 3  the block puts its elements there, in their order
// Phases 1 and 3 come in three solutions, phase 2 in two forms. There are at most as many values as a
// block has threads, so that a thread can look after a value. Here is phase 3. given/counts.cuh has the
// segments and the first two phases, given/counting_sorter.cuh launches all of them.
#pragma once

#include "given/counts.cuh"

// ---------------------------------------------------------------------------------------------
// Phase 3. starts: the matrix; order: (elements), what is sorted, here states; sorted: (elements)

// (a) Thread i moves the elements of value i, one after the other.
__global__ void move_by_value(const int32_t* digits, const int32_t* order, Segments segments,
                              const int32_t* starts, int32_t* sorted) {
    const int value = threadIdx.x, length = segments.own_length();
    const int32_t* segment = digits + segments.first();
    const int32_t* segment_order = order + segments.first();
    if (value >= segments.values) return;
    int32_t start = starts[segments.place(value)];
    // TODO 5 (about 3 lines): walk through the segment; what segment_order says at a place whose
    // digit is this thread's value goes to `sorted`, the first to place `start`, the others behind.
    // Replace the lines below, which move nothing to its place.
    for (int p = value; p < length; p += segments.values) {
        if (segment[p] + start >= 0) sorted[segments.first() + p] = segment_order[p];
    }
}

// (b) For each value that occurs, the block extracts its elements: a prefix sum over the threads says
// how many come before.
__global__ void move_by_vote(const int32_t* digits, const int32_t* order, Segments segments,
                             const int32_t* starts, int32_t* sorted) {
    extern __shared__ int32_t shared_starts[];  // (values)
    __shared__ int32_t warp_sums[32];
    const int thread = threadIdx.x, length = segments.own_length();
    if (thread < segments.values) shared_starts[thread] = starts[segments.place(thread)];
    for (int tile = 0; tile < length; tile += blockDim.x) {
        const int64_t place = segments.first() + tile + thread;
        const int digit = tile + thread < length ? digits[place] : -1;
        for (int value = 0; value < segments.values; value++) {
            const bool mine = digit == value;
            if (!__syncthreads_or(mine)) continue;  // the whole block agrees
            int32_t all;
            const int32_t before = sum_before_thread(mine, warp_sums, all);
            if (mine) sorted[shared_starts[value] + before] = order[place];
            __syncthreads();  // all have read the start
            if (thread == 0) shared_starts[value] += all;
        }
    }
}

// (c) Atomics alone would not keep the order. So in each turn, of every value the first element that
// is left moves: as many turns as the commonest value has elements among those of the block.
__global__ void move_by_atomics(const int32_t* digits, const int32_t* order, Segments segments,
                                const int32_t* starts, int32_t* sorted) {
    extern __shared__ int32_t shared[];
    int32_t* shared_starts = shared;             // (values)
    int32_t* firsts = shared + segments.values;  // (values), the lowest thread with this value
    const int thread = threadIdx.x, nobody = blockDim.x, length = segments.own_length();
    if (thread < segments.values) {
        shared_starts[thread] = starts[segments.place(thread)];
        firsts[thread] = nobody;
    }
    __syncthreads();
    for (int tile = 0; tile < length; tile += blockDim.x) {
        const int64_t place = segments.first() + tile + thread;
        bool done = tile + thread >= length;
        const int digit = done ? 0 : digits[place];
        for (int turn = 0; !__syncthreads_and(done) && turn < nobody; turn++) {
            // TODO 6 (about 9 lines): one turn. All who are not done enter their number into
            // firsts[digit], where the lowest remains. When all have, each looks whether it is the
            // first. When all have looked, each first makes its place in firsts free for the next
            // turn (nobody), moves its element to where its digit's elements go on, and is done.
            // Replace the lines below, which move nothing to its place.
            if (!done && digit >= 0) sorted[place] = order[place];
            done = true;
        }
    }
}
