// What vectorised, pipelined and tensor_8x8x4 share: vectors of 16 bytes, and the tiles that they fill.
// The page includes it behind register_tile, whose depth, block_side and per_thread are theirs too.
#pragma once

#include "../../../common/async_copy.h"
#include "launch.h"

// 16 bytes, which one instruction moves.
template <class T>
struct alignas(16) Vector {
    static constexpr int width = 16 / sizeof(T);
    T values[width];
};

template <class T>
__device__ inline Vector<T>& vector_at(T* place) {
    return *reinterpret_cast<Vector<T>*>(place);
}

template <class T>
__device__ inline const Vector<T>& vector_at(const T* place) {
    return *reinterpret_cast<const Vector<T>*>(place);
}

// Neighbours in a row of the matrix, zeros past its edges. A vector must begin at a multiple of 16
// bytes, and in all rows it does so only where their length is one too.
template <class T>
__device__ inline Vector<T> load_vector(const T* matrix, int height, int width, int row,
                                        int column) {
    constexpr int count = Vector<T>::width;
    const T* place = matrix + int64_t{row} * width + column;
    if (row < height && column < width && width % count == 0) return vector_at(place);
    Vector<T> vector = {};
#pragma unroll
    for (int i = 0; i < count; i++) {
        if (row < height && column + i < width) vector.values[i] = place[i];
    }
    return vector;
}

template <class T>
__device__ inline void store_vector(T* matrix, int height, int width, int row, int column,
                                    const Vector<T>& vector) {
    constexpr int count = Vector<T>::width;
    T* place = matrix + int64_t{row} * width + column;
    if (row >= height) return;
    if (column < width && width % count == 0) {
        vector_at(place) = vector;
        return;
    }
#pragma unroll
    for (int i = 0; i < count; i++) {
        if (column + i < width) place[i] = vector.values[i];
    }
}

// The tile of a lies transposed: what a thread needs of it for one q are neighbours then, as in b.
// Its rows are longer than they need be: with 128 the threads of a warp that store columns would all
// meet in the same few banks. The tensor cores want that of b as well.
template <class T, int a_padding = Vector<T>::width, int b_padding = 0>
struct alignas(16) Tiles {
    T a[depth][block_side + a_padding];
    T b[depth][block_side + b_padding];
};

// Of the 8 rows (and columns) of a thread as many are neighbours as a vector has elements.
template <class T>
__device__ inline int nth(int thread, int i) {
    constexpr int width = Vector<T>::width;
    return (i / width * threads_side + thread) * width + i % width;
}

template <class T>
__device__ inline void store_sums(T* c, int m, int n, Corner corner,
                                  const T (&sums)[per_thread][per_thread]) {
    constexpr int width = Vector<T>::width;
#pragma unroll
    for (int i = 0; i < per_thread; i++) {
#pragma unroll
        for (int j = 0; j < per_thread; j += width) {
            Vector<T> vector;
#pragma unroll
            for (int e = 0; e < width; e++) vector.values[e] = sums[i][j + e];
            store_vector(c, m, n, corner.row + nth<T>(threadIdx.y, i),
                         corner.column + nth<T>(threadIdx.x, j), vector);
        }
    }
}

// Begins the asynchronous copies of this thread's part of the tiles at p (common/async_copy.h). A copy
// cannot transpose, so a goes element by element; 8 neighbouring threads still read 8 neighbours.
// What lies past an edge, or past the end of k, is filled with zeros.
template <class T, class AnyTiles>
__device__ __forceinline__ void copy_tiles(AnyTiles& to, const T* a, const T* b, int m, int n,
                                           int k, Corner corner, int p) {
    constexpr int bytes = sizeof(T), width = Vector<T>::width;
    const int thread = threadIdx.y * threads_side + threadIdx.x;
#pragma unroll
    for (int i = thread; i < block_side * depth; i += block_threads) {
        const int a_row = corner.row + i / depth, a_column = p + i % depth;
        lab::copy_async<bytes>(&to.a[i % depth][i / depth], a + int64_t{a_row} * k + a_column,
                               a_row < m && a_column < k);
    }
    const bool aligned = n % width == 0;
    for (int i = thread; aligned && i < block_side * depth / width; i += block_threads) {
        const int row = i / (block_side / width), column = i % (block_side / width) * width;
        const int b_row = p + row, b_column = corner.column + column;
        lab::copy_async<16>(&to.b[row][column], b + int64_t{b_row} * n + b_column,
                            b_row < k && b_column < n);
    }
    for (int i = thread; !aligned && i < block_side * depth; i += block_threads) {
        const int b_row = p + i / block_side, b_column = corner.column + i % block_side;
        lab::copy_async<bytes>(&to.b[i / block_side][i % block_side],
                               b + int64_t{b_row} * n + b_column, b_row < k && b_column < n);
    }
}
