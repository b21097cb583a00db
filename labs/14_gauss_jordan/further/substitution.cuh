// Triangular systems with few right-hand sides, residuals, and what refinement needs beside them.
#pragma once

#include "../given/system.h"

constexpr int step_rows = 64;  // of a block of `substitute`

// (n, count), rows `stride` apart
template <class T>
struct RightSides {
    const T* values;
    int64_t stride;
    int count;
};

// How far a launch of `substitute` is. Nothing has to be set to 0 between two launches: the counter goes on where the
// last one left it, and a flag says which launch has set it.
struct Progress {
    int* started;  // blocks of all launches
    int* done;     // (blocks), the last launch in which each of them was done
    int blocks_before, launch;
};

// L x = b or U x = b in one launch: blocks of 64 rows, each waiting for those before it. A block takes
// its number when it starts, so it waits only for blocks that have started already: nobody waits for
// somebody who waits for a place to run. While it waits, its part of the matrix is on the way.
//
// Warp w sums up eight rows; the first warp then solves the 64 x 64 triangle.
template <class T, bool lower>
class Substitution {
 public:
    __device__ Substitution(const System<T>& system, RightSides<T> b, T* x,
                            const Progress& progress, int number)
        : system_(system),
          b_(b.values),
          b_stride_(b.stride),
          x_(x),
          done_(progress.done),
          launch_(progress.launch),
          sides_(b.count) {
        step_ = number / sides_, side_ = number % sides_;
        rows_ = first_row(step_);
    }

    __device__ void run() {
        __shared__ T triangle[step_rows][step_rows + 1], sums[step_rows];
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        for (int at = threadIdx.x; at < step_rows * step_rows; at += 256) {
            const int r = at / step_rows, c = at % step_rows;
            triangle[r][c] = element(rows_ + r, rows_ + c);
        }
        T partial[8] = {};
        for (int before = 0; before < step_; before++) {
            const int columns = first_row(before);
            T left[8], right[8];
#pragma unroll
            for (int r = 0; r < 8; r++) {
                left[r] = element(rows_ + 8 * warp + r, columns + lane);
                right[r] = element(rows_ + 8 * warp + r, columns + lane + 32);
            }
            wait_for_flag(done_ + int64_t{before} * sides_ + side_, launch_);
            __syncwarp();
            const T x_left = known(columns + lane), x_right = known(columns + lane + 32);
#pragma unroll
            for (int r = 0; r < 8; r++) partial[r] += left[r] * x_left + right[r] * x_right;
        }
#pragma unroll
        for (int r = 0; r < 8; r++) {
            for (int distance = 16; distance > 0; distance /= 2) {
                partial[r] += __shfl_xor_sync(~0u, partial[r], distance);
            }
            if (lane == 0) sums[8 * warp + r] = partial[r];
        }
        __syncthreads();
        if (warp == 0) solve(triangle, sums);
    }

 private:
    // The first step has the first rows of L or the last of U.
    __device__ int first_row(int step) const {
        const int steps = (system_.n + step_rows - 1) / step_rows;
        return (lower ? step : steps - 1 - step) * step_rows;
    }

    __device__ T element(int row, int column) const {
        return row < system_.n && column < system_.n ? system_.row(row)[column] : T(row == column);
    }

    // Other blocks write x: past the first-level cache, which would not notice.
    __device__ T known(int row) const {
        return row < system_.n ? __ldcg(&x_[int64_t{row} * sides_ + side_]) : 0;
    }

    // A lane has rows `lane` and `lane + 32`. To divide takes much longer than to multiply, and each
    // unknown waits for the one before: so 1 is divided by the diagonal first, for all at the same time,
    // and used unless that overflows.
    __device__ void solve(const T (*triangle)[step_rows + 1], const T* sums) {
        const int lane = threadIdx.x % 32;
        T value[2], diagonal[2], inverse[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int r = lane + 32 * half, row = rows_ + r;
            value[half] = row < system_.n ? b_[row * b_stride_ + side_] - sums[r] : 0;
            diagonal[half] = lower ? 1 : triangle[r][r];
            inverse[half] = 1 / diagonal[half];
        }
        if (__all_sync(~0u, isfinite(inverse[0]) && isfinite(inverse[1]))) {
            take_off(triangle, value, [&](int half) { return value[half] * inverse[half]; });
        } else {
            take_off(triangle, value, [&](int half) { return value[half] / diagonal[half]; });
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int row = rows_ + lane + 32 * half;
            if (row < system_.n) x_[int64_t{row} * sides_ + side_] = value[half];
        }
        __syncwarp();
        if (lane == 0) set_flag(done_ + int64_t{step_} * sides_ + side_, launch_);
    }

    // One unknown after the other: as soon as it is known, it is taken off the rows that are left. Their
    // elements are read a step ahead.
    template <class Divide>
    __device__ static void take_off(const T (*triangle)[step_rows + 1], T* value, Divide&& divide) {
        const int lane = threadIdx.x % 32;
        T next[2] = {triangle[lane][place(0)], triangle[lane + 32][place(0)]};
#pragma unroll
        for (int part = 0; part < 2; part++) {
            const int half = lower ? part : 1 - part, other = 1 - half;
#pragma unroll 4
            for (int s = 0; s < 32; s++) {
                const T entry[2] = {next[0], next[1]};
                const int following = place((32 * part + s + 1) % step_rows);
                next[0] = triangle[lane][following], next[1] = triangle[lane + 32][following];
                const int owner = lower ? s : 31 - s;
                const T x = __shfl_sync(~0u, lower ? value[half] : divide(half), owner);
                if (lane == owner) value[half] = x;
                if (lower ? lane > owner : lane < owner) value[half] -= entry[half] * x;
                if (part == 0) value[other] -= entry[other] * x;
            }
        }
    }

    // The column of the unknown whose turn it is.
    __device__ static int place(int step) { return lower ? step : step_rows - 1 - step; }

    const System<T> system_;
    const T* const b_;
    const int64_t b_stride_;
    T* const x_;
    int* const done_;
    const int launch_, sides_;
    int step_, side_, rows_;
};

// Blocks of 256 threads, one for each 64 rows and each right-hand side. x: (n, b.count), row-major
template <class T, bool lower>
__global__ void __launch_bounds__(256)
    substitute(System<T> system, RightSides<T> b, T* x, Progress progress) {
    __shared__ int number;
    wait_for_last_kernel();
    if (threadIdx.x == 0) number = atomicAdd(progress.started, 1) - progress.blocks_before;
    __syncthreads();
    Substitution<T, lower>(system, b, x, progress, number).run();
}
