// tensor: the product of a step by tensor cores, transposed as in lab 13's further/. In double they are those for
// doubles. A float has more bits than the tensor cores' TF32 and is split into two of them (common/tensor_core.h): three
// products for one, and still faster than ordinary instructions.
//
// Know before: update.cuh, lab 13's `tensor_8x8x4` and its further/ page of the tuned kernel.
//
//        stage 0   stage 1   stage 2        tiles of a and b, on their way by asynchronous copies
//        multiply  arrives   arrives
//        c's tile comes into the registers, with its sign changed, while the first stages arrive
//
// What is new: the sums begin with -c and what is stored is -(a b - c), rounded like any other elimination, and
// no sign changes in the main loop; the copies for the first stages and the reading of c overlap.
//
// What it brought: 99 ms for 16384 unknowns in double, where `team` takes 168 and cuSOLVER 139; 70 in float, where they
// take 104 and 132 (NVIDIA H200, CUDA 13.0, 1 December 2026, make bench LAB=14 SOLUTION=1).
#pragma once

#include "../../../common/async_copy.h"
#include "../../../common/tensor_core.h"
#include "update.cuh"

// Two elements that one instruction moves.
template <class T>
struct alignas(2 * sizeof(T)) Pair {
    T values[2];
};

// In lab::multiply_add (common/tensor_core.h) `first` is of b, its rows are b's columns; `second` is of a. Names of
// rows and terms are free: here g and g + 8 are neighbours in a row of b, and so are t and t + 4 in a row of
// a. All that one instruction loads, 16 bytes, then comes to lie in the registers where the next one wants it.
//
// A block computes height x width elements, a warp warp_height x warp_width of them.
template <class T_, int height_, int width_, int warp_height_, int warp_width_, int stages_>
struct TensorTile {
    using T = T_;
    static constexpr int height = height_, width = width_, stages = stages_, depth = 16;
    static constexpr int warp_height = warp_height_, warp_width = warp_width_;
    static constexpr int down = warp_height / 8, across = warp_width / 16;
    static constexpr int warps_across = width / warp_width;
    static constexpr int threads = height / warp_height * warps_across * 32;
    struct alignas(16) Stage {
        T a[height * depth], b[depth * width];
    };
    static constexpr int shared_bytes = stages * int(sizeof(Stage));

    // Where elements lie in a stage: pairs change their place within a row by a rule that depends on the
    // row, so that threads that are served together (eight, or sixteen with pairs of floats) find different banks
    // (as in lab 13). What one copy brings stays together.
    __device__ static int place_in_a(int row, int column) {
        constexpr int rows =
            sizeof(T) == 8 ? 1 : 2;  // a stage's row of floats is half as long as all banks
        return row * depth + ((column / 2) ^ (row / rows % 2 * 4)) * 2 + column % 2;
    }
    __device__ static int place_in_b(int row, int column) {
        constexpr int pairs = sizeof(T) == 8 ? 2 : 4;
        return row * width + ((column / 2) ^ (row / 2 % 4 * pairs)) * 2 + column % 2;
    }
};

template <class T>
using UsualTile = TensorTile<T, 64, 64, 32, 32, 3>;

// Brings columns p to p + 16 of a and rows p to p + 16 of b to a stage, zeros past k. Past the last row
// of a or the last column of b it brings the last one: what comes of it is not stored.
template <class Tile>
__device__ __forceinline__ void copy_stage(typename Tile::Stage& stage,
                                           const Update<typename Tile::T>& u, int row, int column,
                                           int p) {
    using T = typename Tile::T;
    constexpr int vector = Vector<T>::width;
    constexpr int a_step = Tile::threads * vector / Tile::depth,
                  b_step = Tile::threads * vector / Tile::width;
    const int a_row = threadIdx.x / (Tile::depth / vector),
              a_column = threadIdx.x % (Tile::depth / vector) * vector;
    const int b_row = threadIdx.x / (Tile::width / vector),
              b_column = threadIdx.x % (Tile::width / vector) * vector;
    const int wanted = min(16, max(0, (u.k - p - a_column) * int(sizeof(T))));
    const T* const a = u.a + (wanted > 0 ? p + a_column : 0);
#pragma unroll
    for (int i = 0; i < Tile::height; i += a_step) {
        lab::copy_async_part<16>(&stage.a[Tile::place_in_a(a_row + i, a_column)],
                                 a + min(row + a_row + i, u.m - 1) * u.stride, wanted);
    }
    const T* const b = u.b + min(column + b_column, (u.n - 1) / vector * vector);
#pragma unroll
    for (int i = 0; i < Tile::depth; i += b_step) {
        const int at = p + b_row + i;
        lab::copy_async_part<16>(&stage.b[Tile::place_in_b(b_row + i, b_column)],
                                 b + (at < u.k ? at : 0) * u.stride, at < u.k ? 16 : 0);
    }
    lab::commit_copies();
}

// A thread's pairs of c, in 8 rows 8 by 8 and in 16 columns 16 by 16: their rows and columns, and their
// places among the sums, for whoever reads or stores them.
template <class Tile, class Sums, class Use>
__device__ __forceinline__ void for_each_pair(Sums& sums, int row, int column, Use use) {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int i = 0; i < Tile::down * 2; i++) {
#pragma unroll
        for (int j = 0; j < Tile::across; j++) {
            use(row + i / 2 * 8 + 2 * t + i % 2, column + j * 16 + 2 * g, sums[i / 2][j][i % 2],
                sums[i / 2][j][i % 2 + 2]);
        }
    }
}

// The sums begin with -c. All of c is asked for before the first of it is used, and so there is no
// condition in between: past the last row or column the last one is read.
template <class Tile, class T>
__device__ __forceinline__ void begin_with_c(T (&sums)[Tile::down][Tile::across][4],
                                             const Update<T>& u, int row, int column) {
    for_each_pair<Tile>(sums, row, column, [&](int y, int x, T& left, T& right) {
        const T* const c = u.c + min(y, u.m - 1) * u.stride + min(x, (u.n - 1) / 2 * 2);
        const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(c);
        left = pair.values[0], right = pair.values[1];
    });
    for_each_pair<Tile>(sums, row, column,
                        [](int, int, T& left, T& right) { left = -left, right = -right; });
}

template <class Tile, class T>
__device__ __forceinline__ void store_c(const T (&sums)[Tile::down][Tile::across][4],
                                        const Update<T>& u, int row, int column) {
    const bool inside = row + Tile::warp_height <= u.m && column + Tile::warp_width <= u.n;
    for_each_pair<Tile>(sums, row, column, [&](int y, int x, T left, T right) {
        T* const c = u.c + y * u.stride + x;
        if (inside || (y < u.m && x + 1 < u.n)) {
            *reinterpret_cast<Pair<T>*>(c) = {-left, -right};
        } else if (y < u.m && x < u.n) {
            *c = -left;
        }
    });
}

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, sizeof(typename Tile::T) == 4 ? 2 : 1)
    update_by_tensor_cores(Update<typename Tile::T> update) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    using T = typename Tile::T;
    extern __shared__ double shared_memory[];
    constexpr int stages = Tile::stages, down = Tile::down, across = Tile::across;
    typename Tile::Stage* const stage = reinterpret_cast<typename Tile::Stage*>(shared_memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int y = warp / Tile::warps_across * Tile::warp_height;
    const int x = warp % Tile::warps_across * Tile::warp_width;
    const int row = blockIdx.y * Tile::height, column = blockIdx.x * Tile::width;
    wait_for_last_kernel();
#pragma unroll
    for (int s = 0; s < stages - 1; s++) {
        copy_stage<Tile>(stage[s], update, row, column, s * Tile::depth);
    }
    T sums[down][across][4];
    begin_with_c<Tile>(sums, update, row + y, column + x);
    int used = 0, filled = stages - 1;
    for (int p = 0; p < update.k; p += Tile::depth) {
        lab::wait_for_copies<stages - 2>();
        __syncthreads();
        copy_stage<Tile>(stage[filled], update, row, column, p + (stages - 1) * Tile::depth);
        const typename Tile::Stage& now = stage[used];
#pragma unroll
        for (int q = 0; q < Tile::depth; q += 8) {
            T first[across][4];
#pragma unroll
            for (int j = 0; j < across * 2; j++) {
                const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(
                    &now.b[Tile::place_in_b(q + 2 * t + j % 2, x + j / 2 * 16 + 2 * g)]);
                first[j / 2][j % 2 * 2] = pair.values[0];
                first[j / 2][j % 2 * 2 + 1] = pair.values[1];
            }
#pragma unroll
            for (int i = 0; i < down; i++) {
                const Pair<T> pair = *reinterpret_cast<const Pair<T>*>(
                    &now.a[Tile::place_in_a(y + i * 8 + g, q + 2 * t)]);
                const T second[2] = {pair.values[0], pair.values[1]};
#pragma unroll
                for (int j = 0; j < across; j++) lab::multiply_add(sums[i][j], first[j], second);
            }
        }
        used = used + 1 == stages ? 0 : used + 1;
        filled = filled + 1 == stages ? 0 : filled + 1;
    }
    store_c<Tile>(sums, update, row + y, column + x);
#endif
}
