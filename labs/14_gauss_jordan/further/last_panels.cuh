// tensor: the last panels, of which few rows are left: one launch for each instead of three. A launch
// takes longer than what it does there.
//
// Know before: solve_tile.cuh, update_tensor.cuh, panel.cuh.
//
//        | panel 5 | block 0 | block 1 | block 2 |     each block does for its 32 columns all that follows from the
//                    ^                                 panel; block 0, which has the next panel's columns, factors
//                    panel 6                           them at once
#pragma once

#include "panel.cuh"
#include "solve_tile.cuh"
#include "update_tensor.cuh"

// c -= a b, where c has 32 columns of all rows below a panel, a is that panel, and b is in `tile`, solved for.
// The tensor cores' part of update.cuh for a block of 8 warps: b stays in registers, and each warp takes 8
// rows of a and c at a time, straight from memory, where each is needed once.
template <class T>
__device__ __forceinline__ void update_columns(const System<T>& system, int first, Columns columns,
                                               const SolveTile<T, true>& tile) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    T b[4][2][4];
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int q = i / 4, j = i % 4;
        const Pair<T> pair =
            *reinterpret_cast<const Pair<T>*>(tile.row(8 * q + 2 * t + j % 2) + j / 2 * 16 + 2 * g);
        b[q][j / 2][j % 2 * 2] = pair.values[0];
        b[q][j / 2][j % 2 * 2 + 1] = pair.values[1];
    }
    const int last = (columns.end - 1) / 2 * 2, n = system.n;
#pragma unroll 2
    for (int row = first + 32 + 8 * warp; row < n; row += 64) {
        const T* const from = system.row(min(row + g, n - 1)) + first + 2 * t;
        Pair<T> a[4], c[2][2];
#pragma unroll
        for (int q = 0; q < 4; q++) a[q] = *reinterpret_cast<const Pair<T>*>(from + 8 * q);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int y = min(row + 2 * t + i / 2, n - 1), x = columns.begin + i % 2 * 16 + 2 * g;
            c[i / 2][i % 2] = *reinterpret_cast<const Pair<T>*>(system.row(y) + min(x, last));
        }
        T sums[2][4];
#pragma unroll
        for (int j = 0; j < 2; j++) {
#pragma unroll
            for (int i = 0; i < 4; i++) sums[j][i] = -c[i % 2][j].values[i / 2];
        }
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const T second[2] = {a[q].values[0], a[q].values[1]};
#pragma unroll
            for (int j = 0; j < 2; j++) lab::multiply_add(sums[j], b[q][j], second);
        }
        __syncwarp();  // lanes beyond the edge have read, for nothing, what others now write
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int y = row + 2 * t + i / 2, x = columns.begin + i % 2 * 16 + 2 * g;
            T* const to = system.row(y) + x;
            const T left = -sums[i % 2][i / 2], right = -sums[i % 2][i / 2 + 2];
            if (y < n && x + 1 < columns.end) {
                *reinterpret_cast<Pair<T>*>(to) = {left, right};
            } else if (y < n && x < columns.end) {
                *to = left;
            }
        }
    }
#endif
}

// Each block has 32 of the columns to the right of the panel that has just been factored, and does with them what
// follows: exchanges, solving, the update. The first block's are the next panel, of `next` columns, and it
// factors them; there are no more rows than a block has room for.
template <class T>
__global__ void __launch_bounds__(solve_threads)
    finish_and_factor(System<T> system, int first, int count, Columns right, int next, int* pivots,
                      int* singular) {
    extern __shared__ double shared_memory[];
    SolveTile<T, true> tile(system, first, count, 32, reinterpret_cast<T*>(shared_memory));
    const Columns columns = {right.begin + 32 * int(blockIdx.x), right.end};
    wait_for_last_kernel();
    swap_and_solve_tile(tile, system, pivots, first, count, 32, columns, true);
    if (first + 32 < system.n) update_columns(system, first, columns, tile);
    if (blockIdx.x > 0 || next == 0) return;
    __syncthreads();
    const int end = first + count, warps = Alone<T>::warps_for(system.n - end);
    // By a shuffle, which tells the compiler that the lanes of a warp agree on this.
    if (__shfl_sync(~0u, int(threadIdx.x) / 32, 0) >= warps) return;
    factor_columns<T, 32, Alone<T>>(system, end, next, pivots, singular, {warps});
}
