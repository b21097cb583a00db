// LU by blocks: the matrix is read and written once for each 32 columns, no longer once for each column.
// Tasks 10 to 12.
//
//          first  end
//            v     v
//     +------+-----+------------+     1. eliminate_panel: one block eliminates the panel's columns, alone. The
//     | done                    |        factors stay where the zeros would be: that is L
//     |      +-----+------------+     2. exchange_rows, solve_rows: what has been done to the panel is done to the
//     |      |  U \|     U      |        columns beside it: exchanges, and U = L^-1 (what stands there)
//     |      | L  \|------------+     3. subtract_product: the rest, C = C - L U, a product of matrices
//     |      |  L  |     C      |
//     +------+-----+------------+
#pragma once

#include "on_device.cuh"

constexpr int block_columns = 32;

// ---------------------------------------------------------------------------------------------
// 1. The panel. A block keeps all rows of it in registers, 16 values a thread: 16 columns of one row, or 8
// columns of two rows, ... or one column of 16 rows. Where it has fewer than 32 columns, several panels
// make up the 32.

constexpr int panel_threads =
    lab::on_cpu ? 128 : 1024;  // few there: small matrices meet all shapes
constexpr int values_of_thread = 16;
constexpr int64_t most_panel_rows = panel_threads * values_of_thread;

__device__ inline Candidate best_of_warp(Candidate best) {
    for (int offset = 16; offset > 0; offset /= 2) {
        best = better(best, {__shfl_xor_sync(~0u, best.magnitude, offset),
                             __shfl_xor_sync(~0u, best.row, offset)});
    }
    return best;
}

// The best of the block, known to all its threads. found: (32), in shared memory
__device__ inline Candidate best_of_block(Candidate mine, Candidate* found) {
    const int lane = threadIdx.x % 32;
    mine = best_of_warp(mine);
    if (lane == 0) found[threadIdx.x / 32] = mine;
    __syncthreads();
    return best_of_warp(lane < blockDim.x / 32 ? found[lane] : nobody());
}

// The columns first to first + count - 1, one block. pivots: (n), which row has come up to which
template <class T, int columns>
__global__ void __launch_bounds__(panel_threads)
    eliminate_panel(System<T> system, int first, int count, int* pivots, int* singular) {
    constexpr int rows = values_of_thread / columns;  // of a thread
    __shared__ Candidate found[32];
    __shared__ T pivot_row[columns], displaced[columns];
    const auto row_of = [&](int r) { return first + int(r * blockDim.x + threadIdx.x); };
    T held[rows][columns];
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int c = 0; c < columns; c++) {
            held[r][c] = row_of(r) < system.n && c < count ? system.row(row_of(r))[first + c] : 0;
        }
    }
#pragma unroll
    for (int j = 0; j < columns; j++) {
        if (j >= count) break;
        const int k = first + j;
        Candidate best = nobody();
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const int i = row_of(r);
            if (i >= k && i < system.n) best = better(best, candidate(held[r][j], i));
        }
        const Candidate pivot = best_of_block(best, found);
        if (threadIdx.x == 0) note_pivot(pivot, k, singular);
        if (threadIdx.x == 0) pivots[k] = pivot.row;
#pragma unroll
        for (int r = 0; r < rows; r++) {  // the row that comes up, and the one that it displaces
#pragma unroll
            for (int c = 0; c < columns; c++) {
                if (row_of(r) == pivot.row) pivot_row[c] = held[r][c];
                if (row_of(r) == k) displaced[c] = held[r][c];
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const int i = row_of(r);
#pragma unroll
            for (int c = 0; c < columns; c++) {
                if (i == k || i == pivot.row) held[r][c] = i == k ? pivot_row[c] : displaced[c];
            }
            if (i <= k) continue;
            // TODO 10 (about 4 lines): row i is below the pivot's. Its elimination_factor for column j stays in
            // held[r][j]; from the columns c behind it factor * pivot_row[c] is taken off. (#pragma unroll
            // before the loop keeps held in registers.)
        }
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int c = 0; c < columns; c++) {
            if (row_of(r) < system.n && c < count) system.row(row_of(r))[first + c] = held[r][c];
        }
    }
}

// ---------------------------------------------------------------------------------------------
// 2. What the panel's exchanges and factors do to other columns. A thread has a column.

// In the columns from begin to end but the panel's own.
template <class T>
__global__ void exchange_rows(System<T> system, int first, int count, const int* pivots, int begin,
                              int end) {
    int column = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= first) column += count;
    if (column >= end) return;
    for (int i = first; i < first + count; i++) {
        const int other = pivots[i];
        if (other == i) continue;
        const T value = system.row(i)[column];
        system.row(i)[column] = system.row(other)[column];
        system.row(other)[column] = value;
    }
}

// x = L^-1 x or U^-1 x, where x are `count` rows of a column, and L and U the triangles in the same rows,
// below and above the diagonal. L has ones on its diagonal, which are not stored.
template <class T, bool lower>
__global__ void __launch_bounds__(256)
    solve_rows(System<T> system, int first, int count, int begin, int end) {
    __shared__ T triangle[block_columns][block_columns];
    for (int at = threadIdx.x; at < block_columns * block_columns; at += 256) {
        const int i = at / block_columns, j = at % block_columns;
        triangle[i][j] = i < count && j < count ? system.row(first + i)[first + j] : T(i == j);
    }
    __syncthreads();
    const int column = begin + blockIdx.x * 256 + threadIdx.x;
    if (column >= end) return;
    T x[block_columns];
#pragma unroll
    for (int i = 0; i < block_columns; i++) x[i] = i < count ? system.row(first + i)[column] : 0;
    if (lower) {
        // TODO 11 (about 3 lines): from the first row to the last, take triangle[i][j] * x[j] off x[i] for all
        // j < i. (#pragma unroll before each loop keeps x in registers.)
    } else {
#pragma unroll
        for (int i = block_columns - 1; i >= 0; i--) {
#pragma unroll
            for (int j = i + 1; j < block_columns; j++) x[i] -= triangle[i][j] * x[j];
            x[i] /= triangle[i][i];
        }
    }
#pragma unroll
    for (int i = 0; i < block_columns; i++) {
        if (i < count) system.row(first + i)[column] = x[i];
    }
}

// ---------------------------------------------------------------------------------------------
// 3. The product, in tiles of 64 x 64; a thread has 4 x 4 elements, 16 apart (lab 13's register_tile).

// Takes L U off the rows from row_begin to row_end, in the columns from begin to end. L are the `count` columns
// from `first` on in these rows, U the `count` rows from `first` on in these columns.
template <class T>
__global__ void __launch_bounds__(256)
    subtract_product(System<T> system, int row_begin, int row_end, int first, int count, int begin,
                     int end) {
    constexpr int side = 64, depth = block_columns;
    __shared__ T l_tile[side][depth], u_tile[depth][side];
    const int y = threadIdx.x / 16, x = threadIdx.x % 16;
    const int first_row = row_begin + blockIdx.y * side, first_column = begin + blockIdx.x * side;
    for (int at = threadIdx.x; at < side * depth; at += 256) {
        const int i = first_row + at / depth, p = at % depth;
        l_tile[at / depth][p] = i < row_end && p < count ? system.row(i)[first + p] : 0;
        const int q = at / side, j = first_column + at % side;
        u_tile[q][at % side] = q < count && j < end ? system.row(first + q)[j] : 0;
    }
    __syncthreads();
    T sums[4][4] = {};
    // TODO 12 (about 5 lines): for each p of the depth, all 16 products of l_tile's rows y + 16 r and u_tile's
    // columns x + 16 c, into sums[r][c].
    (void)y, (void)x;
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++) {
            const int i = first_row + y + 16 * r, j = first_column + x + 16 * c;
            if (i < row_end && j < end) system.row(i)[j] -= sums[r][c];
        }
    }
}

#include "given/blocked_steps.cuh"  // the order of these kernels, launched by the host
