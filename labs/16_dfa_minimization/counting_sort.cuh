// A stable counting sort of one digit, as the report builds it. The digits are cut into segments, a
// block each:
//   phase 1  the block counts how often each value occurs in its segment
//   phase 2  from all counts: where in the result the segment's elements of each value begin
//   phase 3  the block puts its elements there, in their order
// Phases 1 and 3 come in three solutions, phase 2 in two forms. There are at most as many values as a
// block has threads, so that a thread can look after a value. given/counting_sorter.cuh launches them.
#pragma once

#include "given/prefix_sum.cuh"

enum class Solution { a, b, c };
enum class Form { horizontal, vertical };

// What all blocks know. Counts and places form a matrix with a row for each segment and a column for
// each value; the horizontal form keeps it row by row, the vertical one column by column.
struct Segments {
    int64_t elements, count;
    int length, values;
    int64_t row_stride, column_stride;

    __device__ int64_t place(int value) const {
        return blockIdx.x * row_stride + value * column_stride;
    }
    __device__ int64_t first() const { return int64_t{blockIdx.x} * length; }
    // Of this segment: the last may be shorter.
    __device__ int own_length() const {
        return int(elements - first() < length ? elements - first() : length);
    }
};

// ---------------------------------------------------------------------------------------------
// Phase 1. digits: (elements); counts: the matrix

// (a) Thread i looks at the whole segment for the value i. All look at the same element at a time.
__global__ void count_by_value(const int32_t* digits, Segments segments, int32_t* counts) {
    const int value = threadIdx.x, length = segments.own_length();
    const int32_t* segment = digits + segments.first();
    if (value >= segments.values) return;
    int count = 0;
    for (int p = 0; p < length; p++) count += segment[p] == value;
    counts[segments.place(value)] = count;
}

// (b) Thread p holds element p, and for each value the block counts hands: a barrier a value.
__global__ void count_by_vote(const int32_t* digits, Segments segments, int32_t* counts) {
    const int thread = threadIdx.x, length = segments.own_length();
    const int32_t* segment = digits + segments.first();
    int count = 0;
    for (int tile = 0; tile < length; tile += blockDim.x) {
        const int digit = tile + thread < length ? segment[tile + thread] : -1;
        for (int value = 0; value < segments.values; value++) {
            const int hands = __syncthreads_count(digit == value);
            if (thread == value) count += hands;
        }
    }
    if (thread < segments.values) counts[segments.place(thread)] = count;
}

// (c) Thread p adds 1 to the count of its element's value. Quick when the values are many and evenly
// spread; threads with the same value queue.
__global__ void count_by_atomics(const int32_t* digits, Segments segments, int32_t* counts) {
    extern __shared__ int32_t shared_counts[];  // (values)
    const int thread = threadIdx.x, length = segments.own_length();
    const int32_t* segment = digits + segments.first();
    if (thread < segments.values) shared_counts[thread] = 0;
    __syncthreads();
    for (int p = thread; p < length; p += blockDim.x) atomicAdd(&shared_counts[segment[p]], 1);
    __syncthreads();
    if (thread < segments.values) counts[segments.place(thread)] = shared_counts[thread];
}

// ---------------------------------------------------------------------------------------------
// Phase 2, horizontal. Rows are added like numbers: log2(segments) grids, after each of which a row
// is the sum of twice as many rows up to its own. The last row then is the count of all values.

// sums, wider: (segments, values), row-major
__global__ void add_rows(const int32_t* sums, int64_t places, int64_t distance, int32_t* wider) {
    const int64_t place = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (place >= places) return;
    wider[place] = sums[place] + (place >= distance ? sums[place - distance] : 0);
}

// One block. Where the elements of each value begin: after all those of lower values.
__global__ void sum_values(const int32_t* last_row, int values, int32_t* begins) {
    __shared__ int32_t warp_sums[32];
    const int value = threadIdx.x;
    int32_t all;
    const int32_t before = sum_before_thread(value < values ? last_row[value] : 0, warp_sums, all);
    if (value < values) begins[value] = before;
}

// And those of this segment after those of the segments before it.
__global__ void place_rows(const int32_t* sums, const int32_t* begins, int64_t places, int values,
                           int32_t* starts) {
    const int64_t place = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (place >= places) return;
    starts[place] = begins[place % values] + (place >= values ? sums[place - values] : 0);
}

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
