// What the blocks of the counting sort know, and its phases 1 and 2: the counts, and where segments go.
#pragma once

#include "prefix_sum.cuh"

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
