// What a thread of the tuned tensor kernel holds, and where it lies in shared memory. For reading, before
// tensor_tile.cuh; nobody is asked to write it.
//
// To be known before: tensor_8x8x4 (task 7), vectors of 16 bytes (task 5), the banks of shared memory (the
// handout's pictures).
//
// tensor_8x8x4 reads 8 bytes at a time from shared memory, and its instruction reaches half of what the
// tensor cores of compute capability 9.0 can do. m16n8k8 does four times as much at once: it multiplies a
// 16 x 8 piece of a first matrix by an 8 x 8 piece of a second one. With g = lane / 4 and t = lane % 4 a
// thread holds
//
//   first[0], first[1]     rows g, g + 8, column t        sums[0], sums[1]   row g, columns 2 t, 2 t + 1
//   first[2], first[3]     the same rows, column t + 4    sums[2], sums[3]   row g + 8, the same columns
//   second[0], second[1]   rows t, t + 4, column g
//
// and the instruction wants first[] in eight neighbouring registers, and second[] in four. What is
// loaded 16 bytes at a time must therefore be two neighbours of these lists, or each instruction costs
// moves from register to register. So the product is computed transposed: b's columns are the first
// matrix's rows, and a's rows the second one's columns. Rows may be called by any names, and so may the
// terms of a sum, if both matrices use the same. Here g and g + 8 are columns 2 g and 2 g + 1 of b, and
// t and t + 4 are terms 2 t and 2 t + 1:
//
//   of a            term  2t    2t+1            of b             column  2g         2g+1
//               +-----------------------+                +--------------------------------+
//       row g   |       [s[0]   s[1]]   |        term 2t |         [f[0]       f[1]]      |    [ ]: 16 bytes,
//               +-----------------------+           2t+1 |         [f[2]       f[3]]      |    one load
//                                                        +--------------------------------+
//
// All arrive in place. Sums 0 and 2, and 1 and 3, are neighbours in a row of c.
//
// It brought: of the 360 instructions in the loop of an earlier form (m16n8k16) 184 moved a register into
// another, beside 16 products; now at most two do. On an H100 at 4096 that made 55.4 TFLOP/s of 50.9
// (m16n8k8, tiles of 128 x 128, CUDA 13.0, 28 November 2026; docs/notes-matrix-product.md, round two).
#pragma once

#include "../../../common/tensor_core.h"
#include "choose.h"

using lab::Instruction;

// How the kernel shares out its work: a warp computes warp_height x warp_width elements. `resident`: so
// many blocks a multiprocessor should have room for, in registers as in shared memory.
template <int height_, int width_, int warp_height_, int warp_width_, int stages_, int resident_,
          Instruction instruction_ = Instruction::m16n8k8, int depth_ = 16>
struct TensorTile {
    static constexpr int height = height_, width = width_, stages = stages_, resident = resident_;
    static constexpr int warp_height = warp_height_, warp_width = warp_width_, depth = depth_;
    static constexpr Instruction instruction = instruction_;
    static constexpr int group_rows = 8;
    static constexpr int warps_across = width / warp_width;
    static constexpr int threads = height / warp_height * warps_across * 32;
    struct alignas(16) Stage {
        double a[height * depth];
        double b[depth * width];
    };
};

// Where an element lies in a stage. Rows of 16 doubles fill all banks, so a column of pairs would lie
// in the same four; each pair changes its place within the row, by a rule that depends on the row, and
// the eight threads that are served together find eight different places.
template <class Shape>
__device__ inline int place_in_a(int row, int column) {
    return row * Shape::depth + ((column / 2) ^ (row % 2 * 4)) * 2 + column % 2;
}

template <class Shape>
__device__ inline int place_in_b(int row, int column) {
    return row * Shape::width + ((column / 2) ^ (row / 2 % 4 * 2)) * 2 + column % 2;
}

// Where a thread reads. It needs pairs of a in 8 rows 8 by 8, at terms 8 by 8, and of b in 16 columns 16 by
// 16: with the places of the first ones, all others are at distances that the compiler knows.
template <class Shape>
class TensorTileReads {
 public:
    __device__ TensorTileReads(int y, int x) {
        const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        for (int i = 0; i < 2; i++) a_[i] = place_in_a<Shape>(y + g, 8 * i + 2 * t);
        b_ = place_in_b<Shape>(2 * t, x + 2 * g);
    }

    // Of 8 rows of a: the second matrix's columns.
    __device__ __forceinline__ void a(double (&to)[2], const typename Shape::Stage& stage, int row,
                                      int term) const {
        const int further_on = row * Shape::depth + term / 16 * 16;
        const auto pair = vector_at(&stage.a[a_[term / 8 % 2]] + further_on);
        to[0] = pair.values[0];
        to[1] = pair.values[1];
    }

    // Of 16 columns of b: the first matrix's rows.
    __device__ __forceinline__ void b(double (&to)[4], const typename Shape::Stage& stage, int term,
                                      int column) const {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const auto pair = vector_at(&stage.b[b_] + (term + i) * Shape::width + column);
            to[2 * i] = pair.values[0];
            to[2 * i + 1] = pair.values[1];
        }
    }

 private:
    int a_[2], b_;
};
