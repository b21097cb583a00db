// Few tiles and a long k: the blocks of one tile share out the columns of a and the rows of b.
//
// To be known before: further/choose.h, atomicAdd (lab 10), and what it means that sums of floating-point
// numbers depend on their order (lab 10).
//
// 1024 x 16384 by 16384 x 1024 has 32 tiles of 128 x 256, and a card with 132 multiprocessors leaves 100 of
// them idle, while each block adds 16384 products for each element. So four blocks take a quarter of k each:
//
//        a                            b                      blockIdx.y adds to the same tile of c
//     +------+------+------+------+   +--------+
//     |  0   |  1   |  2   |  3   |   |   0    |             c = 0
//     +------+------+------+------+   |   1    |             c += part 0
//                                     |   2    |             c += part 2   in any order: the last bits
//                                     |   3    |             c += part 1   of two runs may differ
//                                     +--------+             c += part 3
//
// A grid like any other with blockIdx.y on top, c filled with zeros before, atomicAdd in place of the store. In
// float it brought 50.7 TFLOP/s for 41.0, 98 % of cuBLAS (H200, CUDA 13.0, 1 December 2026;
// docs/notes-matrix-product.md).
#pragma once

#include "../given/launch.h"

// The columns of a, and rows of b, that a block multiplies: all, or in a divided grid whole stages of `depth`.
struct Part {
    int begin, end;
};

template <bool divided>
__device__ Part part_of_block(int k, int depth) {
    if (!divided) return {0, k};
    const int stages = (k + depth - 1) / depth;
    const int share = int((stages + gridDim.y - 1) / gridDim.y) * depth;
    const int begin = min(k, int(blockIdx.y) * share);
    return {begin, min(k, begin + share)};
}

// As store_vector; in a divided grid it adds.
template <bool divided, class T>
__device__ __forceinline__ void put_vector(T* c, int m, int n, int row, int column,
                                           const Vector<T>& values) {
    if constexpr (divided) {
        if (row >= m) return;
#pragma unroll
        for (int e = 0; e < Vector<T>::width; e++) {
            if (column + e < n) atomicAdd(&c[int64_t{row} * n + column + e], values.values[e]);
        }
    } else {
        store_vector(c, m, n, row, column, values);
    }
}

template <class T>
lab::Launch launch_divided(Kernel<T> kernel, const Product<T>& product, int tile_height,
                           int tile_width, dim3 block, size_t shared_bytes, int parts) {
    CHECK(cudaMemsetAsync(product.c, 0, sizeof(T) * product.m * product.n));
    return launch(kernel, product, tile_height, tile_width, block, shared_bytes, parts);
}
