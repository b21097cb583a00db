// Elimination step by step: the report's kernels, the same without a word from the host, Gauss-Jordan
// proper, and a form in which one launch does a whole step. All of them walk through the matrix once
// for each of its columns; blocked.cuh does not.
#pragma once

#include <climits>

#include "given/system.h"

// ---------------------------------------------------------------------------------------------
// Pivots

// A row that may hold the pivot. The bits of a magnitude, read as an unsigned number, are ordered as
// the magnitudes are (NaN above all), so that types and warps can be served by integer arithmetic.
struct Candidate {
    unsigned long long magnitude;
    int row;
};

__device__ inline Candidate nobody() { return {0, INT_MAX}; }

__device__ inline Candidate candidate(double value, int row) {
    return {(unsigned long long)__double_as_longlong(value) << 1 >> 1, row};  // without the sign
}

__device__ inline Candidate candidate(float value, int row) {
    return {(unsigned long long)__float_as_uint(fabsf(value)) << 32, row};
}

// The largest magnitude wins, the row with the smallest number where two are equal. So the answer does not depend on
// the order of the comparisons: it is the same in every run, with any grid, and on the CPU.
__device__ inline Candidate better(Candidate a, Candidate b) {
    // TODO 1 (about 2 lines): the one with the larger magnitude; if they are equal, that of the row with
    // the smaller number. They replace the line below. The given pages choose their pivots by this
    // function, too.
    return a.row < b.row ? a : b;
}

// ---------------------------------------------------------------------------------------------
// The report's algorithm, kernel by kernel. Blocks cannot wait for each other inside a kernel, so each
// phase is a launch of its own: what one kernel has written, the next one finds.

constexpr int search_threads = 1024;

// Telescoping: half of the threads compare their element with one of the other half, then a quarter,
// until the block's best stands in found[0].
template <class T>
__global__ void find_candidates(System<T> system, int k, Candidate* candidates) {
    __shared__ Candidate found[search_threads];
    const int thread = threadIdx.x;
    const int64_t row = k + int64_t{blockIdx.x} * search_threads + thread;
    found[thread] = row < system.n ? candidate(system.row(row)[k], int(row)) : nobody();
    // TODO 2 (about 4 lines): with half = search_threads / 2, then / 4, and so on down to 1: wait
    // for all threads; those below half put the better of found[thread], found[thread + half] first.
    if (thread == 0) candidates[blockIdx.x] = found[0];
}

// The best of all blocks, by simple comparison.
__global__ void choose_candidate(const Candidate* candidates, int count, Candidate* pivot) {
    Candidate best = candidates[0];
    for (int i = 1; i < count; i++) best = better(best, candidates[i]);
    *pivot = best;
}

// A thread a column, by way of its registers.
template <class T>
__global__ void swap_rows(System<T> system, int k, int other) {
    // TODO 3 (about 5 lines): this thread's column, from k on; if the system has such a column
    // (system.width), exchange its elements in the rows k and other: system.row(k)[column].
}

// A block a row: subtract from it the multiple of row k that makes its element in column k vanish.
// What should be 0 there is set to 0, as the difference of two rounded numbers need not be.
template <class T>
__global__ void eliminate(System<T> system, int k) {
    // TODO 4 (about 7 lines): the row k + 1 + blockIdx.x, and factor = row[k] / pivot_row[k]. Then
    // each thread's columns k + threadIdx.x, + blockDim.x, ... up to system.width: 0 in column k, and
    // row[j] - factor * pivot_row[j] elsewhere. Who may overwrite row[k], and when?
}

// x_i = (b_i - sum over j > i of a_ij x_j) / a_ii, from the last unknown to the first. A block a
// right-hand side; its threads share the sum, but no unknown can be found before those below it.
// x: (n, right-hand sides), row-major
template <class T>
__global__ void back_substitute(System<T> system, T* x) {
    __shared__ T sums[256];
    const int side = blockIdx.x, thread = threadIdx.x, sides = system.sides();
    for (int i = system.n - 1; i >= 0; i--) {
        const T* const row = system.row(i);
        // TODO 5 (about 10 lines): each thread adds row[j] * x[int64_t{j} * sides + side] for its j: i + 1 +
        // thread, + 256, ... below system.n; a tree adds the 256 sums up; thread 0 stores
        // (row[system.first_side + side] - the sum) / row[i] as unknown i, likewise. Then all wait. (The index
        // may be more than an int holds.) They replace the line below, as in the next TODOs.
        (void)row, (void)thread, (void)sides, (void)side, (void)sums, (void)x;
    }
}

// ---------------------------------------------------------------------------------------------
// No word from the host: the pivot's row stays on the device. Two launches a step instead of four, and
// no copy that the host has to wait for.

// The best of an array of candidates, known to all threads of the block. Each block works it out for
// itself, which costs less than to wait for another.
__device__ inline Candidate best_of_all(const Candidate* candidates, int count) {
    __shared__ Candidate found[256];
    Candidate best = nobody();
    for (int i = threadIdx.x; i < count; i += 256) best = better(best, candidates[i]);
    found[threadIdx.x] = best;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            found[threadIdx.x] = better(found[threadIdx.x], found[threadIdx.x + half]);
        }
    }
    __syncthreads();
    return found[0];
}

// A column in which nothing but zeros is left has no pivot. The first such column is remembered.
__device__ inline void note_pivot(Candidate pivot, int k, int* singular) {
    if (pivot.magnitude == 0 && *singular < 0) *singular = k;
}

// Exchanges the pivot's row with row k, in one column; if nobody was a candidate, nothing.
template <class T>
__device__ inline void bring_up(const System<T>& system, int k, Candidate pivot, int column) {
    if (pivot.row >= system.n) return;
    const T value = system.row(k)[column];
    system.row(k)[column] = system.row(pivot.row)[column];
    system.row(pivot.row)[column] = value;
}

template <class T>
__device__ inline T elimination_factor(T value, T pivot) {
    return pivot == 0 ? 0 : value / pivot;
}

// Finds the pivot of step k among the candidates and brings its row up. Blocks of 256 threads.
template <class T>
__global__ void take_pivot(System<T> system, int k, const Candidate* candidates, int count,
                           int* singular) {
    const Candidate pivot = best_of_all(candidates, count);
    const int column = k + blockIdx.x * 256 + threadIdx.x;
    if (column == k) note_pivot(pivot, k, singular);
    if (column < system.width) bring_up(system, k, pivot, column);
}

// A warp a row, eight rows a block. Whoever has just computed column k + 1 knows the candidates of the
// next step: the search costs no launch and no reading any more. Gauss-Jordan eliminates in the rows
// above as well. What is left of the diagonal is not set to 0, as nobody reads it again.
template <class T, bool jordan>
__global__ void eliminate_and_search(System<T> system, int k, Candidate* candidates) {
    __shared__ Candidate found[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64_t i = (jordan ? 0 : k + 1) + int64_t{blockIdx.x} * 8 + warp;
    Candidate best = nobody();
    // TODO 6 (about 7 lines): if there is a row i, and it is not row k: its elimination_factor, and
    // row[j] -= factor * pivot_row[j] for the lane's columns k + 1 + lane, + 32, ... The lane that
    // computed row[k + 1] makes it the candidate (but only of a row below k, also in Gauss-Jordan).
    (void)lane, (void)i;
    if (lane == 0) found[warp] = best;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int other = 1; other < 8; other++) best = better(best, found[other]);
    candidates[blockIdx.x] = best;
}

// What Gauss-Jordan leaves is diagonal: a division, and no substitution.
template <class T>
__global__ void divide_by_diagonal(System<T> system, T* x) {
    const int sides = system.sides();
    const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
    if (i >= int64_t{system.n} * sides) return;
    // TODO 7 (about 2 lines): x[i] is the unknown i / sides of right-hand side i % sides: the element
    // there, in column system.first_side + i % sides, divided by its row's element on the diagonal.
}

// ---------------------------------------------------------------------------------------------
// One launch a step, in tiles: a block has 32 rows of 128 columns. A thread keeps its four elements of
// the pivot's row in registers and uses them for four rows. Blocks of one row of tiles need not wait
// for each other. And the block that finishes last takes the next pivot, since then all candidates are
// there: an atomic counter tells it that it is the last.

constexpr int tile_rows = 32, tile_columns = 128;

template <class T>
__global__ void eliminate_tile(System<T> system, int k, Candidate* candidates, unsigned* finished,
                               int* singular) {
    __shared__ T factors[tile_rows];
    __shared__ Candidate found[8];
    __shared__ bool last;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    const int first_row = k + 1 + blockIdx.y * tile_rows;
    const int first_column = k + 1 + blockIdx.x * tile_columns;
    const T* const pivot_row = system.row(k);
    if (threadIdx.x < tile_rows && first_row + x < system.n) {
        factors[x] = elimination_factor(system.row(first_row + x)[k], pivot_row[k]);
    }
    T pivots[4];
    for (int c = 0; c < 4; c++) {
        const int column = first_column + x + 32 * c;
        pivots[c] = column < system.width ? pivot_row[column] : 0;
    }
    __syncthreads();
    Candidate best = nobody();
    // TODO 8 (about 10 lines): the thread's rows are first_row + y + 8 r, its columns first_column + x
    // + 32 c, r and c from 0 to 3, as far as they exist: subtract factors[y + 8 r] * pivots[c]. The
    // thread that has column k + 1 (which one, in which blocks?) makes its rows candidates.
    (void)y, (void)first_column, (void)pivots;
    if (x == 0) found[y] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int other = 1; other < 8; other++) best = better(best, found[other]);
        if (blockIdx.x == 0) candidates[blockIdx.y] = best;
    }
    __threadfence();  // what this block wrote comes before its count, for all who see the count
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(finished, 1) == gridDim.x * gridDim.y - 1;
    __syncthreads();
    if (!last || k + 1 >= system.n) return;
    __threadfence();
    const Candidate pivot = best_of_all(candidates, gridDim.y);
    for (int column = k + 1 + threadIdx.x; column < system.width; column += 256) {
        bring_up(system, k + 1, pivot, column);
    }
    if (threadIdx.x == 0) {
        note_pivot(pivot, k + 1, singular);
        *finished = 0;  // for the next launch
    }
}
