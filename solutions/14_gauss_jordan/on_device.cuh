// The same without the host: the pivot's row stays on the device, and the host waits for nothing. Tasks 6 to 9.
//   on_device, gauss_jordan   two launches a step, where the report has four and a copy
//   tiled                     one launch a step
#pragma once

#include "report.cuh"

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
    // BEGIN SOLUTION
    if (i < system.n && i != k) {
        T* const row = system.row(i);
        const T* const pivot_row = system.row(k);
        const T factor = elimination_factor(row[k], pivot_row[k]);
        for (int j = k + 1 + lane; j < system.width; j += 32) row[j] -= factor * pivot_row[j];
        if (lane == 0 && i > k) best = candidate(row[k + 1], int(i));
    }
    //: // TODO 6 (about 7 lines): if there is a row i, and it is not row k: its elimination_factor, and
    //: // row[j] -= factor * pivot_row[j] for the lane's columns k + 1 + lane, + 32, ... The lane that
    //: // computed row[k + 1] makes it the candidate (but only of a row below k, also in Gauss-Jordan).
    //: (void)lane, (void)i;
    // END SOLUTION
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
    // BEGIN SOLUTION
    const T* const row = system.row(i / sides);
    x[i] = row[system.first_side + i % sides] / row[i / sides];
    //: // TODO 7 (about 2 lines): x[i] is the unknown i / sides of right-hand side i % sides: the element
    //: // there, in column system.first_side + i % sides, divided by its row's element on the diagonal.
    // END SOLUTION
}

template <class T, bool jordan>
lab::Launch launch_on_device(const Work<T>& work) {
    const System<T>& system = work.system;
    const int n = system.n;
    unsigned candidates = blocks_for(n, search_threads);
    find_candidates<<<candidates, search_threads>>>(system, 0, work.candidates);
    CHECK_LAUNCH();
    for (int k = 0; k < n; k++) {
        take_pivot<<<blocks_for(system.width - k, 256), 256>>>(system, k, work.candidates,
                                                               int(candidates), work.singular);
        CHECK_LAUNCH();
        candidates = blocks_for(jordan ? n : n - 1 - k, 8);
        if (candidates == 0) continue;
        eliminate_and_search<T, jordan><<<candidates, 256>>>(system, k, work.candidates);
        CHECK_LAUNCH();
    }
    if (jordan) {
        divide_by_diagonal<<<blocks_for(int64_t{n} * system.sides(), 256), 256>>>(system, work.x);
    } else {
        back_substitute<<<system.sides(), 256>>>(system, work.x);
    }
    CHECK_LAUNCH();
    return {dim3(blocks_for(n, 8)), dim3(256)};
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
    // BEGIN SOLUTION
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const int i = first_row + y + 8 * r;
        if (i >= system.n) break;
        T* const row = system.row(i);
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const int column = first_column + x + 32 * c;
            if (column < system.width) row[column] -= factors[y + 8 * r] * pivots[c];
        }
        if (x == 0 && blockIdx.x == 0) best = better(best, candidate(row[k + 1], i));
    }
    //: // TODO 8 (about 10 lines): the thread's rows are first_row + y + 8 r, its columns first_column + x
    //: // + 32 c, r and c from 0 to 3, as far as they exist: subtract factors[y + 8 r] * pivots[c]. The
    //: // thread that has column k + 1 (which one, in which blocks?) makes its rows candidates; others would
    //: // read there what another block is writing.
    //: (void)y, (void)first_column, (void)pivots;
    // END SOLUTION
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

template <class T>
lab::Launch launch_tiled(const Work<T>& work) {
    const System<T>& system = work.system;
    const int n = system.n;
    const auto tiles = [&](int k) {
        // BEGIN SOLUTION
        return dim3(blocks_for(system.width - k - 1, tile_columns),
                    blocks_for(n - k - 1, tile_rows));
        //: // TODO 9 (about 2 lines): the grid of step k: along x as many tiles of tile_columns as cover the
        //: // columns from k + 1 to system.width, along y tiles of tile_rows for the rows k + 1 to n. They
        //: // replace the line below.
        //: return dim3(1 + 0 * k);
        // END SOLUTION
    };
    const unsigned candidates = blocks_for(n, search_threads);
    find_candidates<<<candidates, search_threads>>>(system, 0, work.candidates);
    take_pivot<<<blocks_for(system.width, 256), 256>>>(system, 0, work.candidates, int(candidates),
                                                       work.singular);
    CHECK_LAUNCH();
    for (int k = 0; k + 1 < n; k++) {
        eliminate_tile<<<tiles(k), 256>>>(system, k, work.candidates, work.finished, work.singular);
        CHECK_LAUNCH();
    }
    back_substitute<<<system.sides(), 256>>>(system, work.x);
    CHECK_LAUNCH();
    return {n > 1 ? tiles(0) : dim3(1), dim3(256)};
}
