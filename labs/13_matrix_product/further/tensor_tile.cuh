// tensor_16x8x8 and tensor_tuned_8x8x4: the FP64 tensor cores at the speed of cuBLAS. For reading; nobody
// is asked to write it. One kernel, tensor_tile, with either instruction.
//
// To be known before: tensor_8x8x4 (task 7), warp_tile.cuh (stages, registers filled ahead), choose.h,
// tensor_fragments.cuh (what a thread holds).
//
// A step multiplies a stage of 16 terms in two halves of 8. A warp of 32 x 32 elements has two groups of 16
// rows of a, and its values of b are kept while both groups use them. What the next group needs is read
// before the present one is multiplied:
//
//        i          0              1              2              3               (depth / 8 times groups)
//      group        0              1              0              1
//      terms      0 - 7          0 - 7          8 - 15         8 - 15
//      read       a of 1         a of 0         a of 1         a of 0, b         what i + 1 wants
//                                + b, 8 - 15                   of the next stage, behind the barrier
//      copy                      next stage                                      asynchronous
//      multiply   a of 0         a of 1         a of 0         a of 1
//
// The barrier stands before the last group is multiplied: the tensor cores have work while the first values
// of the next stage are read.
//
// It brought, at 4096 x 4096 in double (H200, CUDA 13.0, 1 December 2026): tensor_tuned_8x8x4 31.1 TFLOP/s,
// of the 33.5 that its instruction can do; tensor_16x8x8 55.2, where cuBLAS has 55.2 and warp_tile 25.0. At
// 1000 it is 6 % ahead of cuBLAS, by small tiles (choose.h).
#pragma once

#include <string>
#include <vector>

#include "divided.cuh"
#include "tensor_fragments.cuh"

// What a thread copies for a stage; `aligned`, two doubles at a time. There are zeros past the edges:
// then no address has to be kept for each row, and registers are what this kernel is short of. Of b the
// threads take 32 columns at a time, so that a thread's rows are 8 apart and its places differ by
// constants.
template <class Shape, bool aligned>
class TensorTileCopies {
 public:
    __device__ TensorTileCopies(const double* a, const double* b, int m, int n, int k,
                                Corner corner, Part part)
        : a_(a + int64_t{corner.row + a_row()} * k + part.begin + a_column()),
          b_(b + int64_t{part.begin + b_row()} * n + corner.column + b_column()),
          n_(n),
          k_(k),
          end_(part.end),
          rows_(m - corner.row - a_row()),
          columns_(n - corner.column - b_column()) {}

    // The stage that begins at p. The next call is for the next one.
    __device__ void operator()(typename Shape::Stage& stage, int p) {
        const bool a_exists = p + a_column() < end_;
        double* const to_a = &stage.a[place_in_a<Shape>(a_row(), a_column())];
        const double* a = a_;
#pragma unroll
        for (int i = 0; i < Shape::height; i += a_step) {
            lab::copy_async<8 * copied>(to_a + i * Shape::depth, a, a_exists && i < rows_);
            a = further(a, int64_t{a_step} * k_);
        }
        a_ += Shape::depth;
#pragma unroll
        for (int i = 0; i < Shape::depth; i += b_step) {
            const bool b_exists = p + b_row() + i < end_;
            double* const to_b = &stage.b[place_in_b<Shape>(b_row() + i, b_column())];
#pragma unroll
            for (int j = 0; j < Shape::width; j += 32) {
                lab::copy_async<8 * copied>(to_b + j, b_ + j, b_exists && j < columns_);
            }
            b_ = further(b_, int64_t{b_step} * n_);
        }
        lab::commit_copies();
    }

 private:
    static constexpr int copied = aligned ? 2 : 1;  // doubles at a time
    static constexpr int a_step = Shape::threads * copied / Shape::depth;
    static constexpr int b_step = Shape::threads * copied / 32;
    static_assert(a_step % 2 == 0 && Shape::height % a_step == 0 && Shape::depth % b_step == 0);

    static __device__ int a_row() { return threadIdx.x / (Shape::depth / copied); }
    static __device__ int a_column() { return threadIdx.x % (Shape::depth / copied) * copied; }
    static __device__ int b_row() { return threadIdx.x / (32 / copied); }
    static __device__ int b_column() { return threadIdx.x % (32 / copied) * copied; }

    const double *a_, *b_;
    int n_, k_, end_;
    int rows_, columns_;  // that are left of a and b, from this thread's first ones on
};

// The next registers are read before the present ones are used: a's 16 rows by 16, and b's all at once
// while the last rows of a are multiplied.
template <class Shape, bool aligned, bool divided = false>
__global__ void __launch_bounds__(Shape::threads, Shape::resident)
    tensor_tile(const double* a, const double* b, double* c, int m, int n, int k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    constexpr int stages = Shape::stages, depth = Shape::depth;
    constexpr int down = Shape::warp_height / 8, across = Shape::warp_width / 16;
    constexpr int groups = down / 2, steps = depth / 8 * groups;
    extern __shared__ double shared[];
    typename Shape::Stage* const stage = reinterpret_cast<typename Shape::Stage*>(shared);
    const Corner corner = grouped_corner<Shape>(m, n);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int y = warp / Shape::warps_across * Shape::warp_height;
    const int x = warp % Shape::warps_across * Shape::warp_width;

    const Part part = part_of_block<divided>(k, depth);

    TensorTileCopies<Shape, aligned> copy(a, b, m, n, k, corner, part);
#pragma unroll
    for (int s = 0; s < stages - 1; s++) copy(stage[s], part.begin + s * depth);
    lab::wait_for_copies<stages - 2>();
    __syncthreads();

    double sums[down][across][4] = {}, a_values[2][2][2], b_values[2][across][4];
    const TensorTileReads<Shape> read(y, x);
    const auto read_rows = [&](int now, int s, int group, int term) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            read.a(a_values[now][i], stage[s], (2 * group + i) * 8, term);
        }
    };
    const auto read_columns = [&](int now, int s, int term) {
#pragma unroll
        for (int j = 0; j < across; j++) {
            read.b(b_values[now][j], stage[s], term, j * 16);
        }
    };
    read_rows(0, 0, 0, 0);
    read_columns(0, 0, 0);
    int used = 0, filled = stages - 1;
    for (int p = part.begin; p < part.end; p += depth) {
#pragma unroll
        for (int i = 0; i < steps; i++) {
            const int group = i % groups, now = i / groups % 2;
            const int next = (i + 1) / groups % (depth / 8);
            if (i == 1) {
                copy(stage[filled], p + (stages - 1) * depth);
                filled = filled + 1 == stages ? 0 : filled + 1;
            }
            if (i == steps - 1) {
                lab::wait_for_copies<stages - 2>();
                __syncthreads();
                used = used + 1 == stages ? 0 : used + 1;
            }
            read_rows((i + 1) % 2, used, (i + 1) % groups, 8 * next);
            if (group == groups - 1) read_columns(next % 2, used, 8 * next);
#pragma unroll
            for (int r = 0; r < 2; r++) {
#pragma unroll
                for (int j = 0; j < across; j++) {
                    lab::multiply_add<Shape::instruction>(sums[2 * group + r][j], b_values[now][j],
                                                          a_values[i % 2][r]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < down; i++) {
        const int row = corner.row + y + i * 8 + lane % 4 * 2;
#pragma unroll
        for (int j = 0; j < across; j++) {
            const int column = corner.column + x + j * 16 + lane / 4 * 2;
            const auto& values = sums[i][j];
            put_vector<divided, double>(c, m, n, row, column, {values[0], values[2]});
            put_vector<divided, double>(c, m, n, row + 1, column, {values[1], values[3]});
        }
    }
#endif
}

template <class Tile, bool aligned>
lab::Launch launch_tensor(const Product<double>& product) {
    return launch(tensor_tile<Tile, aligned>, product, Tile::height, Tile::width, Tile::threads,
                  shared_bytes<Tile>);
}

template <class Tile>
lab::Launch launch_divided_tensor(const Product<double>& product, int parts) {
    return launch_divided(tensor_tile<Tile, true, true>, product, Tile::height, Tile::width,
                          Tile::threads, shared_bytes<Tile>, parts);
}

// As warp_candidate().
template <class Tile, bool divides = false>
Candidate<double> tensor_candidate(const std::vector<double>& rates) {
    Candidate<double> candidate = {Tile::height,       Tile::width, Tile::resident,
                                   shared_bytes<Tile>, rates,       launch_tensor<Tile, true>};
    if constexpr (divides) candidate.launch_divided = launch_divided_tensor<Tile>;
    return candidate;
}

// Rows that do not begin at multiples of 16 bytes are left to the small one.
using SmallTensorTile = TensorTile<64, 64, 32, 32, 4, 3>;
using OldTensorTile = TensorTile<64, 64, 32, 32, 3, 3, Instruction::m8n8k4>;  // 48 KiB

// As warp_candidates().
inline std::vector<Candidate<double>> tensor_candidates() {
    return {tensor_candidate<SmallTensorTile, true>({47.8, 56.5, 60}),
            tensor_candidate<TensorTile<64, 128, 64, 32, 4, 2>>({53.8, 61.1}),
            tensor_candidate<TensorTile<64, 128, 32, 32, 6, 1>>({61.5})};
}

inline bool rows_are_aligned(const Product<double>& product) {
    return has_whole_vectors<double>(product.n) && has_whole_vectors<double>(product.k);
}

inline lab::Launch launch_tensor_tuned_8x8x4(const Product<double>& product) {
    if (!rows_are_aligned(product)) return launch_tensor<OldTensorTile, false>(product);
    return launch_tensor<OldTensorTile, true>(product);
}

inline lab::Launch launch_tensor_16x8x8(const Product<double>& product) {
    if (!rows_are_aligned(product)) return launch_tensor<SmallTensorTile, false>(product);
    return launch_best(tensor_candidates(), product);
}

// Why they cannot run here, or "".
inline std::string no_tensor_tuned_8x8x4() {
    return missing<double>(tensor_tile<OldTensorTile, true>, 8, shared_bytes<OldTensorTile>);
}

inline std::string no_tensor_16x8x8(const Product<double>& product) {
    const std::string reason =
        missing<double>(tensor_tile<SmallTensorTile, true>, 9, shared_bytes<SmallTensorTile>);
    return reason.empty() ? unsuited(tensor_candidates(), product, rows_are_aligned(product))
                          : reason;
}
