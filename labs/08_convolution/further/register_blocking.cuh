// register_blocking and separable_blocking: `rolling` and `separable_rolling`, tuned, and compiled up
// to 15 x 15. The sums are made by the same two functions, add_row and add_row_of_product. Four
// things are different:
//
// - A thread loads its window four inputs at a time, and stores its four outputs at once. `rolling`
//   asks for each input by itself, and the 32 lanes of a warp for every fourth one.
// - It tests the edges of the picture once for each four inputs, with one comparison: a place before
//   the first is, as an unsigned number, huge.
// - From 11 x 11 on, a thread makes 8 columns of floats (add_wide_row).
// - There are as many blocks as the card holds at one time, and no more: each begins with size - 1
//   rows that complete no output, so rows should be many, and yet no multiprocessor be idle.
//
// One row of inputs, size 5, in a picture whose width is a multiple of 4:
//
//   row of inputs   | i0 i1 i2 i3 | i4 i5 i6 i7 | i8 i9 i10 i11 |    three loads of thread 1
//   its window              w0 w1   w2 w3 w4 w5   w6 w7              4 + size - 1 inputs
//   its outputs                     o4 o5 o6 o7                      one store, two rows further up
//
//   add_row:  5 sums for each column, 4 columns: 100 products for 3 loads
//
// Known before: `rolling` and `separable_rolling` (tasks 7 and 8). Vectors of four: lab 03, "More than
// one element a thread". How many blocks a card holds, and what registers have to do with it: lab 11,
// "Occupancy by hand" and "Waves".
//
// What it brought: milliseconds, 8192 x 8192 floats, H200, 30 November 2026.
//
//   filter                3 x 3    7 x 7   15 x 15
//   tiled                 0.671    1.442     4.686
//   register_blocking     0.152    0.199     0.659
//   separable             0.846    1.037     1.205
//   separable_blocking    0.152    0.162     0.226
//   a copy                0.130    0.130     0.130
//
// And 8 columns a thread for 4, H200, 30 November 2026, kernels alone: 0.382 and 0.366 ms at 11 x 11, 0.515 and 0.492
// at 13 x 13, 0.668 and 0.629 at 15 x 15: 45.2 and 48.0 TFLOP/s of 66.9.
#pragma once

#include "../../../common/lab.h"

template <class T>
struct alignas(4 * sizeof(T)) Quad {  // loaded and stored by one instruction
    T values[4];
};

// From 11 x 11 on, the arithmetic of floats is the limit, and a thread makes 8 columns: a weight, which comes from constant
// memory to a register, then serves twice as many products.
template <class T, int size, bool product>
constexpr int columns_for =
    std::is_same_v<T, float> && !product && size >= 11 ? 8 : columns_per_thread;

// Loads `count` inputs from place x of a row on; `place` points there. Places beyond the edge give 0,
// also those before the first: as unsigned numbers they are huge. In an aligned picture x + radius is
// a multiple of four, and so is the width: four neighbours exist all or none.
template <int radius, int count, class T>
__device__ void load_window(float (&window)[count], const T* place, unsigned x, unsigned width,
                            bool aligned) {
    if (aligned) {
        constexpr int surplus = (4 - radius % 4) % 4;  // what the first quad holds before place x
        constexpr int quads = (surplus + count + 3) / 4;
        float values[4 * quads];
#pragma unroll
        for (int q = 0; q < quads; q++) {
            Quad<T> quad = {};
            if (x - surplus + 4 * q < width) {
                quad = *reinterpret_cast<const Quad<T>*>(place - surplus + 4 * q);
            }
#pragma unroll
            for (int k = 0; k < 4; k++) values[4 * q + k] = quad.values[k];
        }
#pragma unroll
        for (int k = 0; k < count; k++) window[k] = values[surplus + k];
    } else {
#pragma unroll
        for (int k = 0; k < count; k++) window[k] = x + k < width ? float(place[k]) : 0.0f;
    }
}

// Stores the outputs of one row from `column` on; `place` points there.
template <int columns, class T>
__device__ void store_sums(const float (&sums)[columns], T* place, unsigned column, unsigned width,
                           bool aligned) {
#pragma unroll
    for (int c = 0; c < columns; c += 4) {
        Quad<T> quad;
#pragma unroll
        for (int k = 0; k < 4; k++) quad.values[k] = to_pixel<T>(sums[c + k]);
        if (aligned && column + c < width) {
            *reinterpret_cast<Quad<T>*>(place + c) = quad;
        }
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (!aligned && column + c + k < width) place[c + k] = quad.values[k];
        }
    }
}

// add_row for more columns, a weight at a time: each column has a sum of its own, so that no product waits for the
// one before.
template <int size, int columns>
__device__ void add_wide_row(float (&sums)[size][columns],
                             const float (&window)[columns + size - 1]) {
#pragma unroll
    for (int k = 0; k < size; k++) {
#pragma unroll
        for (int j = 0; j < size; j++) {
#pragma unroll
            for (int c = 0; c < columns; c++) {
                const float before = j > 0 ? sums[k][c] : k + 1 < size ? sums[k + 1][c] : 0.0f;
                sums[k][c] = before + constant_filter[(size - 1 - k) * size + j] * window[c + j];
            }
        }
    }
}

// The threads of a block lie side by side along x; along y, each block has `rows_per_block` rows.
template <class T, int size, bool product>
__global__ void __launch_bounds__(threads_per_block)
    register_blocking(const T* __restrict__ input, T* __restrict__ output, Sizes s,
                      int64_t rows_per_block, bool aligned) {
    constexpr int columns = columns_for<T, size, product>, count = columns + size - 1;
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t column = thread * columns;
    const int64_t first = blockIdx.y * rows_per_block;
    const int64_t last = min(first + rows_per_block, s.out_height);
    if (column >= s.out_width) return;
    const T* from = input + (first - s.top) * s.width + column - s.left;
    T* to = output + first * s.out_width + column;
    float sums[size][columns] = {};
    for (int64_t row = first; row < last + size - 1; row++) {  // of the inputs with their padding
        const int64_t y = row - s.top;
        float window[count] = {};
        if (y >= 0 && y < s.height) {
            load_window<size / 2>(window, from, unsigned(column - s.left), unsigned(s.width),
                                  aligned);
        }
        from += s.width;
        if constexpr (product) {
            add_row_of_product<size>(sums, window);
        } else if constexpr (columns == columns_per_thread) {
            add_row<size>(sums, window);
        } else {
            add_wide_row<size, columns>(sums, window);
        }
        if (row - first < size - 1) continue;  // no output is complete yet
        store_sums(sums[0], to, unsigned(column), unsigned(s.out_width), aligned);
        to += s.out_width;
    }
}

// Every block walks down its rows once, and begins with size - 1 rows that complete no output. So
// there are only as many blocks as the device holds at one time, and each has many rows.
template <class T, int size, bool product>
lab::Launch launch_blocked(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const auto kernel = register_blocking<T, size, product>;
    int device = 0, multiprocessors = 0, blocks_on_each = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_on_each, kernel, threads_per_block,
                                                        0));
    const int64_t along_x =
        lab::divide_up(s.out_width, columns_for<T, size, product> * threads_per_block);
    const int64_t resident = int64_t{multiprocessors} * blocks_on_each;
    const int64_t along_y = std::max<int64_t>(1, resident / along_x);
    const int64_t rows = std::max<int64_t>(lab::divide_up(s.out_height, along_y), 2 * size);
    const bool aligned = s.width % 4 == 0 && s.left == size / 2;
    const lab::Launch shape = {dim3(along_x, lab::divide_up(s.out_height, rows)),
                               threads_per_block};
    register_blocking<T, size, product>
        <<<shape.grid, shape.block>>>(plane.d_input, plane.d_output, s, rows, aligned);
    CHECK_LAUNCH();
    return shape;
}

template <class T, bool product>
lab::Launch launch_register_blocking(const Plane<T>& plane) {
    switch (plane.sizes.filter_width) {
        case 3:
            return launch_blocked<T, 3, product>(plane);
        case 5:
            return launch_blocked<T, 5, product>(plane);
        case 7:
            return launch_blocked<T, 7, product>(plane);
        case 9:
            return launch_blocked<T, 9, product>(plane);
        case 11:
            return launch_blocked<T, 11, product>(plane);
        case 13:
            return launch_blocked<T, 13, product>(plane);
        default:
            return launch_blocked<T, 15, product>(plane);
    }
}

std::string problem_of_register_blocking(const Sizes& s, dim3) {
    if (s.filter_height != s.filter_width || s.filter_width < 3 || s.filter_width > 15) {
        return "it is compiled for the sizes 3 x 3, 5 x 5 to 15 x 15";
    }
    return s.stride == 1 ? "" : "it needs --stride 1: neighbouring windows must overlap";
}
