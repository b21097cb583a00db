// The report's algorithm: a kernel for each phase of a step, and the host drives. Tasks 1 to 5.
//
//    find_candidates    choose_candidate    (host)       swap_rows           eliminate
//    blocks of 1024     one thread          reads the    a thread a column   a block a row
//    a tree in shared   over the blocks'    row, and
//    memory each        candidates          launches
//
// Blocks cannot wait for each other inside a kernel, so each phase is a launch of its own: what one kernel
// has written, the next one finds.
#pragma once

#include <climits>

#include "given/system.h"

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
    // BEGIN SOLUTION
    if (a.magnitude != b.magnitude) return a.magnitude > b.magnitude ? a : b;
    return a.row < b.row ? a : b;
    //: // TODO 1 (about 2 lines): the one with the larger magnitude; if they are equal, that of the row with
    //: // the smaller number, for which the line below is right. All later pages choose their pivots by it.
    //: return a.row < b.row ? a : b;
    // END SOLUTION
}

constexpr int search_threads = 1024;

// Telescoping: half of the threads compare their element with one of the other half, then a quarter,
// until the block's best stands in found[0].
template <class T>
__global__ void find_candidates(System<T> system, int k, Candidate* candidates) {
    __shared__ Candidate found[search_threads];
    const int thread = threadIdx.x;
    const int64_t row = k + int64_t{blockIdx.x} * search_threads + thread;
    found[thread] = row < system.n ? candidate(system.row(row)[k], int(row)) : nobody();
    // BEGIN SOLUTION
    for (int half = search_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) found[thread] = better(found[thread], found[thread + half]);
    }
    //: // TODO 2 (about 4 lines): with half = search_threads / 2, then / 4, and so on down to 1: wait
    //: // for all threads; those below half put the better of found[thread], found[thread + half] first.
    // END SOLUTION
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
    // BEGIN SOLUTION
    const int column = k + blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= system.width) return;
    const T value = system.row(k)[column];
    system.row(k)[column] = system.row(other)[column];
    system.row(other)[column] = value;
    //: // TODO 3 (about 5 lines): this thread's column, from k on; if the system has such a column
    //: // (system.width), exchange its elements in the rows k and other: system.row(k)[column].
    // END SOLUTION
}

// A block a row: subtract from it the multiple of row k that makes its element in column k vanish.
// What should be 0 there is set to 0, as the difference of two rounded numbers need not be.
template <class T>
__global__ void eliminate(System<T> system, int k) {
    // BEGIN SOLUTION
    T* const row = system.row(k + 1 + blockIdx.x);
    const T* const pivot_row = system.row(k);
    const T factor = row[k] / pivot_row[k];
    __syncthreads();  // row[k] is about to change, and others may not have read it yet
    for (int j = k + threadIdx.x; j < system.width; j += blockDim.x) {
        row[j] = j == k ? 0 : row[j] - factor * pivot_row[j];
    }
    //: // TODO 4 (about 7 lines): the row k + 1 + blockIdx.x, and factor = row[k] / pivot_row[k]. Then
    //: // each thread's columns k + threadIdx.x, + blockDim.x, ... up to system.width: 0 in column k, and
    //: // row[j] - factor * pivot_row[j] elsewhere. Who may overwrite row[k], and when?
    // END SOLUTION
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
        // BEGIN SOLUTION
        T sum = 0;
        for (int j = i + 1 + thread; j < system.n; j += 256) {
            sum += row[j] * x[int64_t{j} * sides + side];
        }
        sums[thread] = sum;
        for (int half = 128; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) sums[thread] += sums[thread + half];
        }
        if (thread == 0) {
            x[int64_t{i} * sides + side] = (row[system.first_side + side] - sums[0]) / row[i];
        }
        __syncthreads();  // the next round writes over sums
        //: // TODO 5 (about 10 lines): each thread adds row[j] * x[int64_t{j} * sides + side] for its j: i + 1 +
        //: // thread, + 256, ... below system.n; a tree adds the 256 sums up; thread 0 stores
        //: // (row[system.first_side + side] - the sum) / row[i] as unknown i, likewise. Then all wait. (The index
        //: // may be more than an int holds.) They replace the line below, as in the next TODOs.
        //: (void)row, (void)thread, (void)sides, (void)side, (void)sums, (void)x;
        // END SOLUTION
    }
}

// Four launches a step, and a copy that the host waits for: it must know the pivot's row to launch the
// exchange.
template <class T>
lab::Launch launch_report(const Work<T>& work) {
    const System<T>& system = work.system;
    const int n = system.n;
    for (int k = 0; k < n; k++) {
        const unsigned blocks = blocks_for(n - k, search_threads);
        find_candidates<<<blocks, search_threads>>>(system, k, work.candidates);
        choose_candidate<<<1, 1>>>(work.candidates, int(blocks), work.pivot);
        CHECK_LAUNCH();
        Candidate pivot;
        CHECK(cudaMemcpy(&pivot, work.pivot, sizeof pivot, cudaMemcpyDeviceToHost));
        if (pivot.magnitude == 0) {
            CHECK(cudaMemcpy(work.singular, &k, sizeof k, cudaMemcpyHostToDevice));
            break;
        }
        if (pivot.row != k) {
            swap_rows<<<blocks_for(system.width - k, 1024), 1024>>>(system, k, pivot.row);
        }
        if (k + 1 < n) eliminate<<<n - 1 - k, 256>>>(system, k);
        CHECK_LAUNCH();
    }
    back_substitute<<<system.sides(), 256>>>(system, work.x);
    CHECK_LAUNCH();
    return {dim3(std::max(1, n - 1)), dim3(256)};
}
