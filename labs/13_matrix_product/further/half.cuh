// Half precision: a and b are rounded to 16 bits (__half), the sums are kept in float. Tensor cores multiply
// halves some ten times as fast as doubles. For reading; nobody is asked to write it.
//
// To be known before: pipelined and tensor_8x8x4 (tasks 6 and 7), choose.h (grouped_corner), the banks of
// shared memory (the handout's pictures). Both kernels use what stands here: what the rounding costs, how a
// stage lies in shared memory, and how it gets there. half_tile.cuh and half_warp_group.cuh are the kernels.
//
// What it costs. With |row| and |column| the lengths of a row of a and of a column of b:
//
//   1. A half has 11 bits, so rounding changes each element by at most 2^-11 of itself, and a product of two
//      by 2^-10, as good as. A sum of products is off by at most 2^-10 |row| |column|. The run measures it.
//   2. 11 bits times 11 are 22, and a float has 24: each product is exact.
//   3. Sums in float are those of `tiled`: off by at most (k + 1) u |row| |column| with u = 2^-24, or twice
//      that, for a tensor core cuts off where others round. The check allows it, and judges against the
//      product of the rounded matrices.
//
// For k of 8192 the third bound is as large as the first, but rounding errors go up and down, and in random matrices both are
// far from their bounds: the first effect is 1.9e-5 of |row| |column| for k of 4096. Numbers beyond 65504 are no
// halves, and those below 6e-8 are 0: a program that uses halves must know how large its numbers are.
//
// How a stage lies. A row of 64 halves fills all banks once. Eight rows of a piece of 16 bytes, which the
// tensor cores read together, would lie in the same four banks; piece c of row r lies at c ^ r % 8 instead:
//
//     row 0     0 1 2 3 4 5 6 7
//     row 1     1 0 3 2 5 4 7 6        a column of pieces, 0 for instance, is spread over all banks
//     row 2     2 3 0 1 6 7 4 5
//     ...       ...
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <string>
#include <vector>

#include "../../../common/async_copy.h"
#include "../given/input.h"
#include "../given/launch.h"
#include "../given/peers.h"
#include "choose.h"

constexpr int half_depth = 64;  // terms of a stage, and columns of a block of b's

// A block computes height x width sums, through `stages` pairs of tiles. 1024 bytes: eight rows.
template <int height_, int width_, int stages_>
struct HalfTile {
    static constexpr int height = height_, width = width_, stages = stages_, group_rows = 8;
    static constexpr int threads = 2 * height;
    struct alignas(1024) Stage {
        __half a[height][half_depth];
        __half b[width / 64][half_depth][64];
    };
};

// Where an element of a row of 64 lies.
__device__ inline int swizzled(int row, int column) {
    return (column / 8 ^ row % 8) * 8 + column % 8;
}

// Eight neighbours, of which the first `existing` are there; the others become 0. `aligned`: all or none are, and
// rows begin at multiples of 16 bytes.
template <bool aligned>
__device__ __forceinline__ void copy_piece(__half* to, const __half* from, int existing) {
    if constexpr (aligned) {
        lab::copy_async<16>(to, from, existing > 0);
    } else {
        for (int i = 0; i < 8; i++) to[i] = i < existing ? from[i] : __float2half(0);
    }
}

// This thread's part of the stage that begins with term p: a piece in every 16th or 32nd row of a, where
// c ^ r % 8 is the same for all, and in every 4th, 8th or 16th of b.
template <class Tile, bool aligned>
__device__ __forceinline__ void copy_stage(typename Tile::Stage& to, const __half* a,
                                           const __half* b, int m, int n, int k, Corner corner,
                                           int p) {
    constexpr int pieces = Tile::width / 8, a_step = Tile::threads / 8,
                  b_step = Tile::threads / pieces;
    static_assert(a_step % 8 == 0 && b_step % 4 == 0);
    const int a_row = threadIdx.x / 8, a_column = threadIdx.x % 8 * 8;
    const int b_row = threadIdx.x / pieces, b_column = threadIdx.x % pieces * 8;
    a += int64_t{corner.row + a_row} * k + p + a_column;
    b += int64_t{p + b_row} * n + corner.column + b_column;
    __half* const to_a = &to.a[a_row][swizzled(a_row, a_column)];
    const auto place_in_b = [&](int row) {
        return &to.b[b_column / 64][row][swizzled(row, b_column % 64)];
    };
    __half* const to_b[2] = {place_in_b(b_row), place_in_b(b_row + 4)};
#pragma unroll
    for (int i = 0; i < Tile::height; i += a_step) {
        const bool exists = corner.row + a_row + i < m;
        copy_piece<aligned>(to_a + i * half_depth, a + int64_t{i} * k,
                            exists ? k - p - a_column : 0);
    }
#pragma unroll
    for (int i = 0; i < half_depth; i += b_step) {
        copy_piece<aligned>(to_b[i / 4 % 2] + i / 8 * 8 * 64, b + int64_t{i} * n,
                            p + b_row + i < k ? n - corner.column - b_column : 0);
    }
    lab::commit_copies();
}

// Two neighbours in a row of c, as far as they exist.
__device__ __forceinline__ void store_pair(float* c, int m, int n, int row, int column, float left,
                                           float right) {
    if (row >= m || column >= n) return;
    float* place = c + int64_t{row} * n + column;
    if (n % 2 == 0) {
        *reinterpret_cast<float2*>(place) = make_float2(left, right);
    } else {
        place[0] = left;
        if (column + 1 < n) place[1] = right;
    }
}

using HalfProduct = Product<__half, float>;

// Launches a kernel<Tile, aligned>, for rows as they are.
template <class Tile, class AnyKernel>
lab::Launch launch_half(AnyKernel aligned, AnyKernel any, const HalfProduct& product) {
    const bool pieces = product.n % 8 == 0 && product.k % 8 == 0;
    return launch(pieces ? aligned : any, product, Tile::height, Tile::width, Tile::threads,
                  shared_bytes<Tile>);
}
