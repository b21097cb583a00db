// What follows a panel: its exchanges are carried over to the other columns, and the rows of U are solved for,
// in one launch.
//
// Know before: `blocked` (task 11), asynchronous copies (lab 13, `pipelined`).
//
//        a block has 32 columns, a lane one of them, a warp every eighth row:
//
//                 lane 0 .. 31
//        warp 0   x x x x x x      rows 0, 8, 16, ...      each column's 32 to 128 rows of U are solved for in
//        warp 1   x x x x x x      rows 1, 9, 17, ...      shared memory; the rows that the panel has exchanged
//        ...                                               are read from where they stood, and written once
//
// What a block needs lies in its shared memory, brought by asynchronous copies, and all loops are short: code that
// is executed only once takes longer to fetch than to execute.
#pragma once

#include "../../../common/async_copy.h"
#include "../given/system.h"

constexpr int solve_threads = 256, solve_warps = solve_threads / 32;
constexpr int most_solved = 128;  // rows

// The triangle and the columns of a block of rows, which is filled up to `rows`, a multiple of 32. Upper
// triangles are turned around: to solve with them from the last row to the first is the same then.
template <class T, bool lower>
class SolveTile {
 public:
    __device__ SolveTile(const System<T>& system, int first, int count, int rows, T* shared)
        : system_(system),
          first_(first),
          count_(count),
          rows_(rows),
          triangle_(shared),
          columns_(shared + rows * rows) {}

    // Elements of shared memory: the triangle, `rows` rows of 32 columns behind it, and room for as many.
    __host__ __device__ static constexpr int elements(int rows) { return rows * (rows + 64); }

    __device__ T* row(int i) const { return columns_ + turned(i) * 32; }
    __device__ T& at(int i) const { return row(i)[threadIdx.x % 32]; }
    __device__ T& aside(int i) const { return columns_[(rows_ + i) * 32 + threadIdx.x % 32]; }

    // Missing rows are those of the unit matrix.
    __device__ void fetch_triangle() {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
        for (int row = warp; row < rows_; row += solve_warps) {
#pragma unroll 1
            for (int column = lane; column < rows_; column += 32) {
                if (lower ? column > row : column < row) continue;
                T* const to = &triangle_[turned(row) * rows_ + turned(column)];
                if (row < count_ && column < count_) {
                    lab::copy_async<sizeof(T)>(to, &system_.row(first_ + row)[first_ + column],
                                               true);
                } else {
                    *to = row == column;
                }
            }
        }
    }

    // Eight unknowns at a time: each warp solves for them, and takes them off its own rows. Substitution:
    // exact inverses of the triangle's pieces would be faster and less accurate.
    __device__ void solve() {
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll 1
        for (int done = 0; done < rows_; done += 8) {
            T x[8];
#pragma unroll
            for (int i = 0; i < 8; i++) x[i] = columns_[(done + i) * 32 + lane];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const T* const l = &triangle_[(done + i) * rows_ + done];
#pragma unroll
                for (int k = 0; k < i; k++) x[i] -= l[k] * x[k];
                if (!lower) x[i] /= l[i];
            }
            for (int row = done + 8 + warp; row < rows_; row += 4 * solve_warps) {
                T value[4];
                int at[4];  // four rows, or the first one once more
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    at[i] = row + i * solve_warps < rows_ ? row + i * solve_warps : row;
                    value[i] = columns_[at[i] * 32 + lane];
                }
#pragma unroll
                for (int k = 0; k < 8; k++) {
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        value[i] -= triangle_[at[i] * rows_ + done + k] * x[k];
                }
#pragma unroll
                for (int i = 0; i < 4; i++) columns_[at[i] * 32 + lane] = value[i];
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < 8; i++) {
                if (warp == i) columns_[(done + i) * 32 + lane] = x[i];
            }
        }
        __syncthreads();
    }

 private:
    __device__ int turned(int i) const { return lower ? i : rows_ - 1 - i; }

    const System<T>& system_;
    const int first_, count_, rows_;
    T *const triangle_, *const columns_;
};

// The columns that a kernel works on: from `begin` to `end`, the last one not included.
struct Columns {
    int begin, end;
};

// Which row, before all exchanges of a block of pivots, stood at the place that is asked for. `left_by`: -1,
// or a pivot that has left the place; if a later one has left it as well, nobody comes to stand there, and
// the answer is -1.
__device__ inline int origin_of(int place, int left_by, const int* pivots, int first, int count) {
    const int asked_for = place;
    bool free = left_by >= 0;
#pragma unroll 8
    for (int k = count - 1; k >= 0; k--) {
        const int pivot = pivots[k];
        free = free && !(k > left_by && pivot == asked_for);
        if (place == first + k) {
            place = pivot;
        } else if (place == pivot) {
            place = first + k;
        }
    }
    return left_by < 0 || free ? place : -1;
}

// Carries the exchanges of `count` pivots over to 32 columns or fewer, and (`solve`) solves L x = b for them.
// All that is needed is read before anything is written, all at the same time. The rows of the block are
// then in `tile` as well. For all threads of the block.
template <class T>
__device__ void swap_and_solve_tile(SolveTile<T, true>& tile, const System<T>& system,
                                    const int* d_pivots, int first, int count, int rows,
                                    Columns columns, bool solve) {
    __shared__ int pivots[most_solved], top[most_solved], displaced[most_solved];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, thread = threadIdx.x;
    const int column = columns.begin + lane;
    const bool exists = column < columns.end;
    if (thread < count) pivots[thread] = d_pivots[first + thread];
    if (solve) tile.fetch_triangle();
    __syncthreads();
    // Where the rows come from: those of the block, and those that a pivot has left.
    const int i = thread % most_solved;
    if (i < count) {
        const bool of_block = thread < most_solved;
        const int place = of_block ? first + i : pivots[i];
        const int origin = origin_of(place, of_block ? -1 : i, pivots, first, count);
        if (of_block) {
            top[i] = origin;
        } else {
            displaced[i] = place < first + count ? -1 : origin;
        }
    }
    __syncthreads();
#pragma unroll 4
    for (int i = warp; i < rows; i += solve_warps) {
        const bool wanted = exists && i < count, filled = wanted && displaced[i] >= 0;
        const T* const row = system.row(wanted ? top[i] : first);
        const T* const other = system.row(filled ? displaced[i] : first);
        lab::copy_async<sizeof(T)>(&tile.at(i), row + (wanted ? column : 0), wanted);
        lab::copy_async<sizeof(T)>(&tile.aside(i), other + (filled ? column : 0), filled);
    }
    lab::commit_copies();
    lab::wait_for_copies<0>();
    __syncthreads();
#pragma unroll 2
    for (int i = warp; i < count; i += solve_warps) {
        if (exists && displaced[i] >= 0) system.row(pivots[i])[column] = tile.aside(i);
    }
    if (solve) tile.solve();
#pragma unroll 2
    for (int i = warp; i < count; i += solve_warps) {
        if (exists) system.row(first + i)[column] = tile.at(i);
    }
    __syncthreads();
}

// That for columns on the left of the pivots and for those on the right, which alone are solved for. A block
// has 32 of them.
template <class T>
__global__ void __launch_bounds__(solve_threads)
    swap_and_solve(System<T> system, const int* pivots, int first, int count, int rows,
                   Columns left, Columns right, bool solve) {
    extern __shared__ double shared_memory[];
    T* const shared = reinterpret_cast<T*>(shared_memory);
    SolveTile<T, true> tile(system, first, count, rows, shared);
    const int left_tiles = (left.end - left.begin + 31) / 32, number = blockIdx.x;
    const bool is_left = number < left_tiles;
    const Columns all = is_left ? left : right;
    const Columns columns = {all.begin + 32 * (is_left ? number : number - left_tiles), all.end};
    wait_for_last_kernel();
    swap_and_solve_tile(tile, system, pivots, first, count, rows, columns, solve && !is_left);
}

// L x = b (`lower`) or U x = b for a block of rows and some columns, in their place.
template <class T, bool lower>
__global__ void __launch_bounds__(solve_threads)
    solve_columns(System<T> system, int first, int count, int rows, Columns columns) {
    extern __shared__ double shared_memory[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    SolveTile<T, lower> tile(system, first, count, rows, reinterpret_cast<T*>(shared_memory));
    const int column = columns.begin + 32 * blockIdx.x + lane;
    const bool exists = column < columns.end;
    wait_for_last_kernel();
    tile.fetch_triangle();
#pragma unroll 4
    for (int i = warp; i < rows; i += solve_warps) {
        const bool wanted = exists && i < count;
        lab::copy_async<sizeof(T)>(
            &tile.at(i), system.row(first + (wanted ? i : 0)) + (wanted ? column : 0), wanted);
    }
    lab::commit_copies();
    lab::wait_for_copies<0>();
    __syncthreads();
    tile.solve();
#pragma unroll 2
    for (int i = warp; i < count; i += solve_warps) {
        if (exists) system.row(first + i)[column] = tile.at(i);
    }
}
