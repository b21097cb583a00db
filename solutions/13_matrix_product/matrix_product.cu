// 13 matrix_product: c = a b, where a is (m, k), b is (k, n) and c is (m, n), row-major. From one thread
// an element to the tensor cores, one idea a kernel, which you write (TODO 1 to 7):
//
//   naive            a thread an element; neighbouring threads are neighbouring rows
//   coalesced        the same, with neighbouring threads in neighbouring columns
//   tiled            a block shares tiles of a and b in shared memory (--tile 2 to 32)
//   register_tile    a thread computes 8 x 8 elements, so each value that it reads serves 8 times
//   vectorised       16 bytes a load, from a transposed tile of a
//   pipelined        the next tiles arrive by asynchronous copies while the present ones are used
//   tensor_8x8x4     double only: the products by the FP64 tensor cores, as of compute capability 8.0
//
// given/launch.h has corner_of_block and what launches a kernel, given/tiles.h the tiles of the last three.
// further/ goes on to the speed of NVIDIA's own library, for reading: make run LAB=13 FURTHER=1.

#include "../../common/lab.h"
#include "../../common/tensor_core.h"
#include "given/input.h"
#include "given/launch.h"
#include "given/peers.h"
#include "given/reference.h"

// Blocks of (32, 8) threads. Neighbours along x take neighbouring rows, as mathematics reads: with
// each step 32 threads read from 32 rows of a, far apart, and use 8 bytes of the 32 that come.
template <class T>
__global__ void naive(const T* a, const T* b, T* c, int m, int n, int k) {
    // BEGIN SOLUTION
    const Corner corner = corner_of_block(32, 8, n);
    const int row = corner.row + threadIdx.x;
    const int column = corner.column + threadIdx.y;
    if (row >= m || column >= n) return;
    T sum = 0;
    for (int p = 0; p < k; p++) sum += a[int64_t{row} * k + p] * b[int64_t{p} * n + column];
    c[int64_t{row} * n + column] = sum;
    //: // TODO 1 (about 7 lines): corner_of_block(32, 8, n) says in which .row and .column this block
    //: // begins. From there, this thread's row (by threadIdx.x) and column (by threadIdx.y); if c has
    //: // such an element, the sum over p, stored in its place.
    // END SOLUTION
}

template <class T>
lab::Launch launch_naive(const Product<T>& product) {
    return launch(naive<T>, product, 32, 8, dim3(32, 8));  // a block for 32 rows and 8 columns of c
}

// x is the column: 32 threads read 32 neighbours of b, and all the same element of a.
template <class T>
__global__ void coalesced(const T* a, const T* b, T* c, int m, int n, int k) {
    // BEGIN SOLUTION
    const Corner corner = corner_of_block(8, 32, n);
    const int row = corner.row + threadIdx.y;
    const int column = corner.column + threadIdx.x;
    if (row >= m || column >= n) return;
    T sum = 0;
    for (int p = 0; p < k; p++) sum += a[int64_t{row} * k + p] * b[int64_t{p} * n + column];
    c[int64_t{row} * n + column] = sum;
    //: // TODO 2 (about 7 lines): as naive, but with x along a row of c, in the block as well.
    // END SOLUTION
}

template <class T>
lab::Launch launch_coalesced(const Product<T>& product) {
    return launch(coalesced<T>, product, 8, 32, dim3(32, 8));
}

// The report's kernel: tile * tile threads load a tile of a and one of b, an element each, and all of
// them use all of both, so each element is fetched once a block and not `tile` times. Past the edges
// of the matrices the tiles are filled with zeros, which add nothing.
template <class T, int tile>
__global__ void tiled(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ T a_tile[tile][tile], b_tile[tile][tile];
    const Corner corner = corner_of_block(tile, tile, n);
    const int y = threadIdx.y, x = threadIdx.x;
    const int row = corner.row + y, column = corner.column + x;
    T sum = 0;
    for (int p = 0; p < k; p += tile) {
        // BEGIN SOLUTION
        a_tile[y][x] = row < m && p + x < k ? a[int64_t{row} * k + p + x] : 0;
        b_tile[y][x] = p + y < k && column < n ? b[int64_t{p + y} * n + column] : 0;
        __syncthreads();
        for (int q = 0; q < tile; q++) sum += a_tile[y][q] * b_tile[q][x];
        __syncthreads();  // nobody may load the next tiles before all have used these
        //: // TODO 3 (about 5 lines): this thread's element of either tile, or 0 past an edge; when
        //: // all have arrived, a row of a_tile times a column of b_tile; and when all have done so,
        //: // on to the next tiles. They replace the line below.
        //: a_tile[y][x] = b_tile[y][x] = 0;
        // END SOLUTION
    }
    if (row < m && column < n) c[int64_t{row} * n + column] = sum;
}

template <class T, int tile>
lab::Launch launch_tile(const Product<T>& product) {
    return launch(tiled<T, tile>, product, tile, tile, dim3(tile, tile));
}

template <class T>
lab::Launch launch_tiled(const Product<T>& product) {
    if (product.tile == 2) return launch_tile<T, 2>(product);
    if (product.tile == 4) return launch_tile<T, 4>(product);
    if (product.tile == 8) return launch_tile<T, 8>(product);
    if (product.tile == 16) return launch_tile<T, 16>(product);
    return launch_tile<T, 32>(product);
}

// From here on 16 x 16 threads compute 128 x 128 elements, 8 x 8 each, from tiles that are 8 deep.
constexpr int threads_side = 16, per_thread = 8, depth = 8;
constexpr int block_side = threads_side * per_thread;
constexpr int block_threads = threads_side * threads_side;

// Shared memory has its own speed limit, and `tiled` reads two values there for each multiplication.
// Here a thread reads 8 + 8 values, and they serve 64. Its rows and columns are 16 apart, so that
// neighbours are neighbours.
template <class T>
__global__ void __launch_bounds__(block_threads)
    register_tile(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ T a_tile[block_side][depth], b_tile[depth][block_side];
    const Corner corner = corner_of_block(block_side, block_side, n);
    const int thread = threadIdx.y * threads_side + threadIdx.x;
    T sums[per_thread][per_thread] = {};
    for (int p = 0; p < k; p += depth) {
        for (int i = thread; i < block_side * depth; i += block_threads) {
            const int row = corner.row + i / depth, column = p + i % depth;
            a_tile[i / depth][i % depth] = row < m && column < k ? a[int64_t{row} * k + column] : 0;
        }
        for (int i = thread; i < depth * block_side; i += block_threads) {
            const int row = p + i / block_side, column = corner.column + i % block_side;
            b_tile[i / block_side][i % block_side] =
                row < k && column < n ? b[int64_t{row} * n + column] : 0;
        }
        __syncthreads();
        // BEGIN SOLUTION
#pragma unroll
        for (int q = 0; q < depth; q++) {
            T a_values[per_thread], b_values[per_thread];
#pragma unroll
            for (int i = 0; i < per_thread; i++) {
                a_values[i] = a_tile[threadIdx.y + threads_side * i][q];
                b_values[i] = b_tile[q][threadIdx.x + threads_side * i];
            }
#pragma unroll
            for (int i = 0; i < per_thread; i++) {
#pragma unroll
                for (int j = 0; j < per_thread; j++) sums[i][j] += a_values[i] * b_values[j];
            }
        }
        //: // TODO 4 (about 12 lines): for each q of the depth, 8 values of a_tile (in the rows
        //: // threadIdx.y + 16 i) and 8 of b_tile (in the columns threadIdx.x + 16 i) into registers,
        //: // then all 64 products of them; #pragma unroll in front of each loop.
        // END SOLUTION
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < per_thread; i++) {
        const int row = corner.row + threadIdx.y + threads_side * i;
#pragma unroll
        for (int j = 0; j < per_thread; j++) {
            const int column = corner.column + threadIdx.x + threads_side * j;
            if (row < m && column < n) c[int64_t{row} * n + column] = sums[i][j];
        }
    }
}

// For the last four kernels.
template <class T, Kernel<T> kernel>
lab::Launch launch_square(const Product<T>& product) {
    return launch(kernel, product, block_side, block_side, dim3(threads_side, threads_side));
}

#include "given/tiles.h"  // Vector, vector_at, load_vector, Tiles, nth, store_sums, copy_tiles

// All products of a pair of tiles, as in register_tile, read 16 bytes at a time.
template <class T>
__device__ inline void add_products(T (&sums)[per_thread][per_thread], const Tiles<T>& tiles) {
    constexpr int width = Vector<T>::width;
#pragma unroll
    for (int q = 0; q < depth; q++) {
        Vector<T> a[per_thread / width], b[per_thread / width];
#pragma unroll
        for (int i = 0; i < per_thread / width; i++) {
            a[i] = vector_at(&tiles.a[q][nth<T>(threadIdx.y, i * width)]);
            b[i] = vector_at(&tiles.b[q][nth<T>(threadIdx.x, i * width)]);
        }
#pragma unroll
        for (int i = 0; i < per_thread; i++) {
#pragma unroll
            for (int j = 0; j < per_thread; j++) {
                sums[i][j] += a[i / width].values[i % width] * b[j / width].values[j % width];
            }
        }
    }
}

// An instruction that moves 16 bytes costs no more than one that moves 4, and there are a quarter as
// many of them: between global and shared memory, and between shared memory and registers.
template <class T>
__global__ void __launch_bounds__(block_threads)
    vectorised(const T* a, const T* b, T* c, int m, int n, int k) {
    constexpr int width = Vector<T>::width, vectors = block_side * depth / width;
    __shared__ Tiles<T> tiles;
    const Corner corner = corner_of_block(block_side, block_side, n);
    const int thread = threadIdx.y * threads_side + threadIdx.x;
    T sums[per_thread][per_thread] = {};
    for (int p = 0; p < k; p += depth) {
#pragma unroll
        for (int i = thread; i < vectors; i += block_threads) {
            const int a_row = i / (depth / width), a_column = i % (depth / width) * width;
            // BEGIN SOLUTION
            const Vector<T> a_vector = load_vector(a, m, k, corner.row + a_row, p + a_column);
#pragma unroll
            for (int e = 0; e < width; e++) tiles.a[a_column + e][a_row] = a_vector.values[e];
            //: // TODO 5 (about 5 lines, in two places): load_vector(a, m, k, row, column) brings a Vector<T>:
            //: // `width` neighbours in a row of a, values[0], values[1], ... They go to column a_row of tiles.a,
            //: // which lies transposed, one by one: to rows a_column, a_column + 1, ... This replaces the line
            //: // below.
            //: for (int e = 0; e < width; e++) tiles.a[a_column + e][a_row] = 0;
            // END SOLUTION
            const int b_row = i / (block_side / width), b_column = i % (block_side / width) * width;
            // BEGIN SOLUTION
            vector_at(&tiles.b[b_row][b_column]) =
                load_vector(b, k, n, p + b_row, corner.column + b_column);
            //: // TODO 5 (goes on): a vector of b is stored as it is, at once. Only its zeros are here.
            //: vector_at(&tiles.b[b_row][b_column]) = {};
            // END SOLUTION
        }
        __syncthreads();
        add_products(sums, tiles);
        __syncthreads();
    }
    store_sums(c, m, n, corner, sums);
}

// Two pairs of tiles in turn: while one is multiplied, the other arrives by asynchronous copies, which
// pass the registers by. copy_tiles begins a thread's own copies; those that it began before
// lab::commit_copies() are a group, and lab::wait_for_copies<1>() waits for all of its groups but the
// latest. `multiply` adds the products of a pair of tiles.
template <class T, class AnyTiles, class Multiply>
__device__ __forceinline__ void through_tiles(AnyTiles (&tiles)[2], const T* a, const T* b, int m,
                                              int n, int k, Corner corner, Multiply multiply) {
    copy_tiles(tiles[0], a, b, m, n, k, corner, 0);
    lab::commit_copies();
    for (int p = 0, now = 0; p < k; p += depth, now ^= 1) {
        // BEGIN SOLUTION
        copy_tiles(tiles[now ^ 1], a, b, m, n, k, corner, p + depth);  // past the end of k: zeros
        lab::commit_copies();
        lab::wait_for_copies<1>();
        __syncthreads();
        multiply(tiles[now]);
        __syncthreads();
        //: // TODO 6 (about 6 lines): begin the copies of the tiles at p + depth to tiles[now ^ 1] and
        //: // commit them; wait for the group before, which is in tiles[now]; when it has arrived from all
        //: // threads, multiply it; and nobody may go on while somebody still uses it.
        // END SOLUTION
    }
}

template <class T>
__global__ void __launch_bounds__(block_threads)
    pipelined(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ Tiles<T> tiles[2];
    const Corner corner = corner_of_block(block_side, block_side, n);
    T sums[per_thread][per_thread] = {};
    through_tiles(tiles, a, b, m, n, k, corner,
                  [&](const Tiles<T>& now) { add_products(sums, now); });
    store_sums(c, m, n, corner, sums);
}

// The FP64 tensor cores: 32 threads give one instruction 8 x 4 elements of a and 4 x 8 of b, and it adds
// the products to 8 x 8 sums. Of each a thread holds what lies here; g = lane / 4 and t = lane % 4:
//
//              t                     g                    2t 2t+1
//          +-------+         +---------------+       +---------------+
//        g |   .   |       t |       .       |     g |      . .      |
//          +-------+         +---------------+       +---------------+
//            of a                  of b               left and right sum
//
// lab::multiply_8x8x4(left, right, a, b) is that instruction (common/tensor_core.h).

// As pipelined, but a warp computes 32 x 64 elements together, in 4 x 8 pieces of 8 x 8. Rows of the
// tiles are 132 long: then the 4 x 4 doubles that half a warp reads at a time lie in different banks.
__global__ void __launch_bounds__(block_threads)
    tensor_8x8x4(const double* a, const double* b, double* c, int m, int n, int k) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    constexpr int down = block_side / 32, across = block_side / 16;  // for 4 x 2 warps
    using TensorTiles = Tiles<double, 4, 4>;
    __shared__ TensorTiles tiles[2];
    const Corner corner = corner_of_block(block_side, block_side, n);
    const int thread = threadIdx.y * threads_side + threadIdx.x;
    const int warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
    const int y = warp / 2 * 8 * down, x = warp % 2 * 8 * across;  // of the warp's first element
    double sums[down][across][2] = {};
    through_tiles(tiles, a, b, m, n, k, corner, [&](const TensorTiles& now) {
#pragma unroll
        for (int q = 0; q < depth; q += 4) {
            // BEGIN SOLUTION
            double a_values[down], b_values[across];
#pragma unroll
            for (int i = 0; i < down; i++) a_values[i] = now.a[q + t][y + 8 * i + g];
#pragma unroll
            for (int j = 0; j < across; j++) b_values[j] = now.b[q + t][x + 8 * j + g];
#pragma unroll
            for (int i = 0; i < down; i++) {
#pragma unroll
                for (int j = 0; j < across; j++) {
                    lab::multiply_8x8x4(sums[i][j][0], sums[i][j][1], a_values[i], b_values[j]);
                }
            }
            //: // TODO 7 (about 8 lines): of the four terms from q on, this thread's element of each piece of
            //: // a, in now.a, which is transposed: they begin in rows y + 8 i; and of each piece of b, in
            //: // columns x + 8 j. Then lab::multiply_8x8x4 for all 32 pairs, each with its two sums. #pragma
            //: // unroll in front of each loop. It replaces this line:
            //: (void)now;
            // END SOLUTION
        }
    });
#pragma unroll
    for (int i = 0; i < down; i++) {
#pragma unroll
        for (int j = 0; j < across; j++) {
            store_vector<double>(c, m, n, corner.row + y + 8 * i + g,
                                 corner.column + x + 8 * j + 2 * t, {sums[i][j][0], sums[i][j][1]});
        }
    }
#endif
}

#ifdef LAB_FURTHER  // make run LAB=13 FURTHER=1: variants that nobody is asked to write
#include "further/variants.cuh"
#endif

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/program.h has the variants and the command line.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
