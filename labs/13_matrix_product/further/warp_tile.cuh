// warp_tile: what ordinary instructions can reach. For reading; nobody is asked to write it.
//
// To be known before: register_tile, vectorised and pipelined (tasks 4 to 6), the banks of shared memory
// (the handout's pictures), warps (lab 10), and further/choose.h.
//
// pipelined has two pairs of tiles and two barriers a step, and behind each first one all its threads read
// before anybody has a value to multiply. Here:
//
//   Stages. There are three or four pairs of tiles, so copies have longer to arrive. One barrier is enough:
//   the stage that is filled is the one that everybody had finished reading before the last barrier.
//
//        stage 0       stage 1       stage 2                 stage 0       stage 1       stage 2
//       multiplied    to arrive     begun at      then     begun at      multiplied     to arrive
//                   before the      q = 0                  q = 0                      before the
//                     last q                                                            last q
//
//   Registers filled ahead. While the values of one q are multiplied, those of the next are read; the last
//   q of a stage reads the first of the next stage, behind the barrier.
//
//        (depth 8)
//        read            q = 1         2         3    ...     7    barrier     0 of the next stage
//        multiply        q = 0         1         2    ...     6                7
//
//   Lanes. A warp is 4 x 8 threads. Lanes 2 i and 2 i + 1 want the same 16 bytes of b, and the even (or
//   odd) lanes of one half of the warp the same of a. Shared memory serves a few lanes at a time, and each
//   such group then wants few different pieces:
//
//        lane      0  2  4  6  8 10 12 14   row 0 of the warp's threads      lanes 0, 2, 4, ... 14 share a
//                  1  3  5  7  9 11 13 15   row 1                            lanes 0 and 1 share b
//                 16 18 20 22 24 26 28 30   row 2
//                 17 19 21 23 25 27 29 31   row 3
//
//   There and back. A thread's products go down one column of its sums and up the next. Registers
//   lie in two banks (not those of shared memory), even and odd ones. A multiplication reads three; two of
//   one bank take two clocks, unless the last instruction has read one as the same operand. Down a column the
//   factor of b stays, at the turn that of a.
//
// It brought, at 4096 x 4096 (H200, CUDA 13.0, 1 December 2026): in double 25.0 TFLOP/s where pipelined
// has 18.1, in float 50.0 for 32.9, which is 97.5 % of cuBLAS. Turned tiles and there and back together are
// worth 2 % in float (docs/notes-matrix-product.md, which tells what was tried and dropped as well).
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "choose.h"
#include "divided.cuh"

// How warp_tile shares out its work. A thread computes vectors_down x vectors_across squares, a vector
// high and a vector wide; a warp is 4 x 8 threads and a block warps_down x warps_across warps. A stage is
// `depth` deep. `resident`: so many blocks a multiprocessor should have room for.
template <class T, int warps_down, int warps_across_, int vectors_down, int vectors_across,
          int depth_, int stages_, int resident_>
struct WarpTile {
    static constexpr int vector = Vector<T>::width, depth = depth_, stages = stages_;
    static constexpr int resident = resident_, group_rows = 8;
    static constexpr int warps_across = warps_across_, threads = warps_down * warps_across * 32;
    static constexpr int down = vectors_down, across = vectors_across;
    static constexpr int warp_height = 4 * down * vector, warp_width = 8 * across * vector;
    static constexpr int height = warps_down * warp_height, width = warps_across * warp_width;
    struct alignas(16) Stage {
        T a[depth][height + vector];  // transposed, and padded as in Tiles
        T b[depth][width];
    };
};

// What a thread copies for a stage; `aligned`, 16 bytes of b at a time. There are zeros past the edges, and
// past the part. Of a the threads take 8 columns at a time, element by element.
template <class T, class Shape, bool aligned>
class WarpTileCopies {
 public:
    __device__ WarpTileCopies(const T* a, const T* b, int m, int n, int k, Corner corner, Part part)
        : a_(a + int64_t{corner.row + a_row()} * k + part.begin + a_column()),
          b_(b + int64_t{part.begin + b_row()} * n + corner.column + b_column()),
          n_(n),
          k_(k),
          end_(part.end),
          rows_(m - corner.row - a_row()),
          b_exists_(corner.column + b_column() < n) {}

    // The stage that begins at p. The next call is for the next one.
    __device__ __forceinline__ void operator()(typename Shape::Stage& stage, int p) {
        const T* a = a_;
#pragma unroll
        for (int i = 0; i < Shape::height; i += a_step) {
#pragma unroll
            for (int j = 0; j < Shape::depth; j += 8) {
                lab::copy_async<sizeof(T)>(&stage.a[a_column() + j][a_row() + i], a + j,
                                           i < rows_ && p + a_column() + j < end_);
            }
            a = further(a, int64_t{a_step} * k_);
        }
        a_ += Shape::depth;
#pragma unroll
        for (int i = 0; i < Shape::depth; i += b_step) {
            lab::copy_async<b_width * sizeof(T)>(&stage.b[b_row() + i][b_column()], b_,
                                                 b_exists_ && p + b_row() + i < end_);
            b_ = further(b_, int64_t{b_step} * n_);
        }
        lab::commit_copies();
    }

 private:
    static constexpr int a_step = Shape::threads / 8;
    static constexpr int b_width = aligned ? Shape::vector : 1;
    static constexpr int b_step = Shape::threads * b_width / Shape::width;
    static_assert(b_step >= 1 && Shape::depth % b_step == 0 && Shape::height % a_step == 0);

    static __device__ int a_row() { return threadIdx.x / 8; }
    static __device__ int a_column() { return threadIdx.x % 8; }
    static __device__ int b_row() { return threadIdx.x / (Shape::width / b_width); }
    static __device__ int b_column() { return threadIdx.x % (Shape::width / b_width) * b_width; }

    const T *a_, *b_;
    int n_, k_, end_;
    int rows_;  // that are left of a, from this thread's first one on
    bool b_exists_;
};

// The four ideas of the first comment, in this order: lanes, stages, registers, there and back. `divided`: the
// blocks of one tile share out k and add their sums to c (divided.cuh).
template <class T, class Shape, bool aligned, bool divided = false>
__global__ void __launch_bounds__(Shape::threads, Shape::resident)
    warp_tile(const T* a, const T* b, T* c, int m, int n, int k) {
    constexpr int stages = Shape::stages, depth = Shape::depth, vector = Shape::vector;
    constexpr int down = Shape::down, across = Shape::across;
    constexpr int rows = down * vector, columns = across * vector;  // of this thread's sums
    extern __shared__ double shared[];
    typename Shape::Stage* const stage = reinterpret_cast<typename Shape::Stage*>(shared);
    const Corner corner = grouped_corner<Shape>(m, n);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int y =
        warp / Shape::warps_across * Shape::warp_height + (lane % 2 + lane / 16 * 2) * vector;
    const int x = warp % Shape::warps_across * Shape::warp_width + lane / 2 % 8 * vector;

    const Part part = part_of_block<divided>(k, depth);

    WarpTileCopies<T, Shape, aligned> copy(a, b, m, n, k, corner, part);
#pragma unroll
    for (int s = 0; s < stages - 1; s++) copy(stage[s], part.begin + s * depth);
    lab::wait_for_copies<stages - 2>();
    __syncthreads();

    Vector<T> a_values[2][down], b_values[2][across];
    T sums[rows][columns] = {};
    const auto read = [&](int now, int s, int q) {
#pragma unroll
        for (int i = 0; i < down; i++) {
            a_values[now][i] = vector_at(&stage[s].a[q][y + 4 * vector * i]);
        }
#pragma unroll
        for (int j = 0; j < across; j++) {
            b_values[now][j] = vector_at(&stage[s].b[q][x + 8 * vector * j]);
        }
    };
    read(0, 0, 0);
    int used = 0, filled = stages - 1;
    for (int p = part.begin; p < part.end; p += depth) {
#pragma unroll
        for (int q = 0; q < depth; q++) {
            if (q == depth - 1) {
                lab::wait_for_copies<stages - 2>();
                __syncthreads();
                used = used + 1 == stages ? 0 : used + 1;
            }
            read((q + 1) % 2, used, (q + 1) % depth);
            if (q == 0) {
                copy(stage[filled], p + (stages - 1) * depth);
                filled = filled + 1 == stages ? 0 : filled + 1;
            }
#pragma unroll
            for (int j = 0; j < columns; j++) {
#pragma unroll
                for (int place = 0; place < rows; place++) {
                    const int i = j % 2 ? rows - 1 - place : place;
                    sums[i][j] += a_values[q % 2][i / vector].values[i % vector] *
                                  b_values[q % 2][j / vector].values[j % vector];
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < rows; i++) {
        const int row = corner.row + y + i / vector * 4 * vector + i % vector;
#pragma unroll
        for (int j = 0; j < across; j++) {
            Vector<T> values;
#pragma unroll
            for (int e = 0; e < vector; e++) values.values[e] = sums[i][j * vector + e];
            put_vector<divided>(c, m, n, row, corner.column + x + 8 * vector * j, values);
        }
    }
}

template <class T, class Tile, bool aligned>
lab::Launch launch_warp(const Product<T>& product) {
    return launch(warp_tile<T, Tile, aligned>, product, Tile::height, Tile::width, Tile::threads,
                  shared_bytes<Tile>);
}

template <class T, class Tile>
lab::Launch launch_divided_warp(const Product<T>& product, int parts) {
    return launch_divided(warp_tile<T, Tile, true, true>, product, Tile::height, Tile::width,
                          Tile::threads, shared_bytes<Tile>, parts);
}

// `divides`: also with k in parts.
template <class T, class Tile, bool divides = false>
Candidate<T> warp_candidate(const std::vector<double>& rates) {
    Candidate<T> candidate = {Tile::height,       Tile::width, Tile::resident,
                              shared_bytes<Tile>, rates,       launch_warp<T, Tile, true>};
    if constexpr (divides) candidate.launch_divided = launch_divided_warp<T, Tile>;
    return candidate;
}

// Where rows of b and c do not begin at multiples of 16 bytes, this tile is taken.
template <class T>
using SmallWarpTile = std::conditional_t<is_float<T>, WarpTile<T, 2, 2, 2, 2, 16, 3, 3>,
                                         WarpTile<T, 2, 2, 2, 4, 8, 3, 2>>;

// The tiles that the launcher chooses from. The numbers are TFLOP/s of a whole H200 of which each
// multiprocessor has one block, two, ... up to as many as it has room for; only their ratios matter.
// docs/notes-matrix-product.md says where they come from; those for double are guessed. The first tile fits every card.
template <class T>
std::vector<Candidate<T>> warp_candidates() {
    if constexpr (is_float<T>) {
        return {warp_candidate<T, SmallWarpTile<T>, true>({42.3, 47, 50.8}),
                warp_candidate<T, WarpTile<T, 2, 2, 2, 2, 8, 4, 2>>({43, 48.4}),
                warp_candidate<T, WarpTile<T, 4, 2, 2, 4, 8, 3, 1>, true>({51.5})};
    } else {
        return {warp_candidate<T, SmallWarpTile<T>, true>({20, 26}),
                warp_candidate<T, WarpTile<T, 2, 2, 4, 4, 8, 3, 2>>({23, 28})};
    }
}

template <class T>
lab::Launch launch_warp_tile(const Product<T>& product) {
    if (!has_whole_vectors<T>(product.n)) return launch_warp<T, SmallWarpTile<T>, false>(product);
    return launch_best(warp_candidates<T>(), product);
}

// Why it cannot run here, or "".
template <class T>
std::string no_warp_tile(const Product<T>& product) {
    const std::string reason =
        missing<T>(warp_tile<T, SmallWarpTile<T>, true>, 8, shared_bytes<SmallWarpTile<T>>);
    return reason.empty() ? unsuited(warp_candidates<T>(), product, has_whole_vectors<T>(product.n))
                          : reason;
}
