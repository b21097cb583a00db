// register_blocking and separable_blocking: `rolling` and `separable_rolling`, tuned, and compiled up
// to 15 x 15. Six things are different:
//
// - A thread has asked for the next rows while it adds this one: with few warps, as there are where each has many sums,
//   nobody else hides that a load takes long. At 15 x 15 one row ahead makes the kernel 1.2 times as fast.
// - It loads its window four inputs at a time, of pixels 16 in part, and stores 16 bytes at once. `rolling` asks for each input by
//   itself, and the 32 lanes of a warp for every fourth one.
// - It makes 8 columns of floats, or 16 of pixels: a weight, an address, a test serve more outputs.
// - A byte becomes a float, and four sums become four bytes, by two quick instructions each: see input_of and outputs_of.
// - It tests the edges of the picture once for each four inputs, with one comparison: a place before
//   the first is, as an unsigned number, huge.
// - There are as many blocks as the card holds at one time, and no more: each begins with size - 1
//   rows that complete no output, so rows should be many, and yet no multiprocessor be idle.
//
// One row of inputs, size 5, in a picture whose width is a multiple of 4:
//
//   row of inputs   | i0 i1 i2 i3 | i4 i5 i6 i7 | i8 i9 ... | i12 i13 i14 i15 |    four loads of thread 1
//   its window              w0 w1   w2 w3 w4 w5   w6 ... w9   w10 w11              8 columns + size - 1 inputs
//   its outputs                     o4 o5 o6 o7   o8 ... o11                       two stores, two rows further up
//
//   5 sums for each column, 8 columns: 200 products for 4 loads
//
// Known before: `rolling` and `separable_rolling` (tasks 7 and 8). Vectors of four: lab 03, "More than
// one element a thread". How many blocks a card holds, and what registers have to do with it: lab 11,
// "Occupancy by hand" and "Waves".
//
// What it brought: milliseconds, 8192 x 8192 floats, H200, 1 December 2026.
//
//   filter                3 x 3    7 x 7   15 x 15
//   tiled                 0.665    1.441     4.686
//   register_blocking     0.151    0.164     0.555
//   separable             0.830    1.023     1.190
//   separable_blocking    0.153    0.156     0.192
//   a copy                0.129    0.129     0.129
#pragma once

#include "../../../common/lab.h"

// Four neighbours, loaded by one instruction; and what is stored by one instruction.
template <class T>
using Quad = std::conditional_t<sizeof(T) == 4, float4, uint32_t>;
template <class T, int columns>
struct alignas(std::min(columns * sizeof(T), size_t{16})) Vector {
    static constexpr int count = std::min(columns, int(16 / sizeof(T)));
    Quad<T> quads[count / 4];
};

// Measured, for 3 x 3, 5 x 5 to 15 x 15: how many rows a thread has asked for ahead of the one that it works on, for
// how many blocks on a multiprocessor the compiler is to save registers, and how many inputs a load brings of those that lie
// under the columns. 16 make 7 x 7 with factors 15 % faster, others 2 to 6 %; where it says 4 they are 0 to 5 % slower.
struct Measured {
    int ahead[7], blocks[7], at_once[7];
};
constexpr Measured measured[2][2] = {
    {{{0, 2, 2, 2, 2, 1, 1}, {8, 3, 3, 2, 2, 2, 2}, {4, 4, 4, 4, 4, 4, 4}},  // floats
     {{1, 2, 2, 2, 2, 2, 2},
      {8, 3, 3, 2, 2, 2, 2},
      {4, 4, 4, 4, 4, 4, 4}}},  // and where the filter has factors
    {{{6, 4, 2, 1, 1, 1, 1}, {4, 3, 2, 2, 2, 3, 3}, {4, 16, 16, 4, 4, 4, 4}},  // pixels
     {{4, 4, 4, 2, 2, 1, 1},
      {4, 3, 3, 2, 2, 2, 2},
      {16, 16, 16, 16, 16, 4, 4}}}};  // and where the filter has factors

// Where the picture is not aligned each input is loaded by itself, and 4 columns wait for that.
template <class T, int size, bool product, bool aligned>
struct Blocking {
    static constexpr bool pixels = sizeof(T) == 1;
    static constexpr int of_pixels = product || size <= 11 ? 16 : 8, of_floats = size == 3 ? 4 : 8;
    static constexpr int columns = !aligned ? columns_per_thread : pixels ? of_pixels : of_floats;
    static constexpr int ahead = aligned ? measured[pixels][product].ahead[size / 2 - 1] : 0;
    static constexpr int blocks = aligned ? measured[pixels][product].blocks[size / 2 - 1] : 1;
    static constexpr int window = columns + size - 1;
    static constexpr int surplus =
        (4 - size / 2 % 4) % 4;  // what the first quad holds before the window
    static constexpr int quads = (surplus + window + 3) / 4;
    static constexpr int halo_quads = (surplus + size / 2) / 4;  // before those under the columns
    static constexpr int at_once = measured[pixels][product].at_once[size / 2 - 1];
    static constexpr float start = pixels ? 0.5f : 0.0f;  // of a sum: see outputs_of
};

// Loads a row of inputs from place x on; `place` points there. Places beyond the edge give 0, also those before
// the first: as unsigned numbers they are huge. In an aligned picture x is a multiple of four, and so is the width:
// four neighbours exist all or none.
template <class Own, bool aligned, class T, int quads>
__device__ void load_row(Quad<T> (&row)[quads], const T* place, unsigned x, unsigned width,
                         bool exists) {
    using Wide = Vector<T, Own::at_once>;
#pragma unroll
    for (int q = 0; q < quads; q++) {
        if constexpr (aligned) {
            const int under = q - Own::halo_quads;  // the columns
            const bool is_wide = under >= 0 && under < Own::columns / 4;
            if (is_wide && under % (Wide::count / 4) != 0) continue;
            const bool inside = exists && x + 4 * q < width;
            if (is_wide) {
                Wide vector = {};
                if (inside) vector = *reinterpret_cast<const Wide*>(place + 4 * q);
#pragma unroll
                for (int k = 0; k < Wide::count / 4; k++) row[q + k] = vector.quads[k];
            } else {
                row[q] = {};
                if (inside) row[q] = *reinterpret_cast<const Quad<T>*>(place + 4 * q);
            }
        } else {
            T four[4] = {};
#pragma unroll
            for (int k = 0; k < 4; k++) {
                if (exists && x + 4 * q + k < width) four[k] = place[4 * q + k];
            }
            memcpy(&row[q], four, sizeof four);
        }
    }
}

__device__ float input_of(const float4& quad, int k) {
    return k == 0 ? quad.x : k == 1 ? quad.y : k == 2 ? quad.z : quad.w;
}

// 2^23 with a byte in its lowest place is, as a float, 2^23 + byte. Two quick instructions; to convert is a slow one.
__device__ float input_of(uint32_t quad, int k) {
    return __uint_as_float(__byte_perm(quad, 0x4B000000, 0x7440 + k)) - 8388608.0f;
}

__device__ void outputs_of(const float* sums, float4& quad) {
    quad = make_float4(sums[0], sums[1], sums[2], sums[3]);
}

// A pixel's sum began with a half, and so to cut off what follows the point rounds it. An instruction does that
// with two sums, clamps them, and puts them behind what it has made of the two before.
__device__ void outputs_of(const float* sums, uint32_t& quad) {
    quad = 0;
#pragma unroll
    for (int k = 2; k >= 0; k -= 2) {
        asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
            : "=r"(quad)
            : "r"(__float2int_rz(sums[k + 1])), "r"(__float2int_rz(sums[k])), "r"(quad));
    }
}

// Stores the outputs of one row from `column` on; `place` points there.
template <bool aligned, class T, int columns>
__device__ void store_sums(const float (&sums)[columns], T* place, unsigned column,
                           unsigned width) {
    if constexpr (aligned) {
        using Own = Vector<T, columns>;
#pragma unroll
        for (int c = 0; c < columns; c += Own::count) {
            Own vector;
#pragma unroll
            for (int k = 0; k < Own::count; k += 4) outputs_of(&sums[c + k], vector.quads[k / 4]);
            if (column + c < width) *reinterpret_cast<Own*>(place + c) = vector;
        }
    } else {
#pragma unroll
        for (int c = 0; c < columns; c += 4) {
            Quad<T> quad;
            T four[4];
            outputs_of(&sums[c], quad);
            memcpy(four, &quad, sizeof four);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                if (column + c + k < width) place[c + k] = four[k];
            }
        }
    }
}

// add_row for other numbers of columns, a weight at a time: each column has a sum of its own, so that no product waits
// for the one before.
template <int size, int columns>
__device__ void add_wide_row(float (&sums)[size][columns],
                             const float (&window)[columns + size - 1], float start) {
#pragma unroll
    for (int k = 0; k < size; k++) {
#pragma unroll
        for (int j = 0; j < size; j++) {
#pragma unroll
            for (int c = 0; c < columns; c++) {
                const float before = j > 0 ? sums[k][c] : k + 1 < size ? sums[k + 1][c] : start;
                sums[k][c] = before + constant_filter[(size - 1 - k) * size + j] * window[c + j];
            }
        }
    }
}

// add_row_of_product likewise.
template <int size, int columns>
__device__ void add_wide_row_of_product(float (&sums)[size][columns],
                                        const float (&window)[columns + size - 1], float start) {
    float along_row[columns] = {};
#pragma unroll
    for (int j = 0; j < size; j++) {
#pragma unroll
        for (int c = 0; c < columns; c++) {
            along_row[c] += constant_filter[size + j] * window[c + j];
        }
    }
#pragma unroll
    for (int k = 0; k < size; k++) {
#pragma unroll
        for (int c = 0; c < columns; c++) {
            const float before = k + 1 < size ? sums[k + 1][c] : start;
            sums[k][c] = before + constant_filter[size - 1 - k] * along_row[c];
        }
    }
}

// The threads of a block lie side by side along x; along y, each block has `rows_per_block` rows.
template <class T, int size, bool product, bool aligned>
__global__ void __launch_bounds__(threads_per_block, Blocking<T, size, product, aligned>::blocks)
    register_blocking(const T* __restrict__ input, T* __restrict__ output, Sizes s,
                      int64_t rows_per_block) {
    using Own = Blocking<T, size, product, aligned>;
    constexpr int columns = Own::columns, rounds = Own::ahead > 0 ? Own::ahead : 1;
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t column = thread * columns;
    const int64_t first = blockIdx.y * rows_per_block;
    const int64_t last = min(first + rows_per_block, s.out_height);
    if (column >= s.out_width) return;
    const int64_t left = column - s.left - Own::surplus;
    const T* from = input + (first - s.top) * s.width + left;
    T* to = output + first * s.out_width + column;

    // Rows are counted from the first that the block needs: `loaded` of them, up to `end`. Those from `above` to
    // `below` are in the picture.
    const int end = int(last - first) + size - 1;
    const int above = int(max(s.top - first, int64_t{0}));
    const int below = int(min(s.top - first + s.height, int64_t{end}));
    int loaded = 0;
    const auto load_next = [&](Quad<T>(&row)[Own::quads]) {
        load_row<Own, aligned>(row, from, unsigned(left), unsigned(s.width),
                               loaded >= above && loaded < below);
        from += s.width;
        loaded++;
    };
    Quad<T> rows[rounds][Own::quads];
#pragma unroll
    for (int i = 0; i < Own::ahead; i++) load_next(rows[i]);
    float sums[size][columns];
#pragma unroll
    for (int k = 0; k < size; k++) {
#pragma unroll
        for (int c = 0; c < columns; c++) sums[k][c] = Own::start;
    }
    for (int begin = 0; begin < end; begin += rounds) {
#pragma unroll
        for (int i = 0; i < rounds; i++) {
            if (Own::ahead == 0) load_next(rows[i]);
            float window[Own::window];
#pragma unroll
            for (int k = 0; k < Own::window; k++) {
                const int at = Own::surplus + k;
                window[k] = input_of(rows[i][at / 4], at % 4);
            }
            if (Own::ahead > 0) load_next(rows[i]);
            if constexpr (columns == columns_per_thread && !Own::pixels) {
                if constexpr (product) {
                    add_row_of_product<size>(sums, window);
                } else {
                    add_row<size>(sums, window);
                }
            } else if constexpr (product) {
                add_wide_row_of_product<size, columns>(sums, window, Own::start);
            } else {
                add_wide_row<size, columns>(sums, window, Own::start);
            }
            if (begin + i < size - 1 || begin + i >= end) continue;  // no output is complete
            store_sums<aligned>(sums[0], to, unsigned(column), unsigned(s.out_width));
            to += s.out_width;
        }
    }
}

// Every block walks down its rows once, and begins with size - 1 rows that complete no output. So
// there are only as many blocks as the device holds at one time, and each has many rows.
template <class T, int size, bool product, bool aligned>
lab::Launch launch_aligned(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const auto kernel = register_blocking<T, size, product, aligned>;
    int device = 0, multiprocessors = 0, blocks_on_each = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_on_each, kernel, threads_per_block,
                                                        0));
    const int64_t along_x = lab::divide_up(
        s.out_width, Blocking<T, size, product, aligned>::columns * threads_per_block);
    const int64_t resident = int64_t{multiprocessors} * blocks_on_each;
    const int64_t along_y = std::max<int64_t>(1, resident / along_x);
    const int64_t rows = std::max<int64_t>(lab::divide_up(s.out_height, along_y), 2 * size);
    const lab::Launch shape = {dim3(along_x, lab::divide_up(s.out_height, rows)),
                               threads_per_block};
    kernel<<<shape.grid, shape.block>>>(plane.d_input, plane.d_output, s, rows);
    CHECK_LAUNCH();
    return shape;
}

template <class T, int size, bool product>
lab::Launch launch_blocked(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const bool aligned = s.width % (16 / sizeof(T)) == 0 && s.left == size / 2;
    return aligned ? launch_aligned<T, size, product, true>(plane)
                   : launch_aligned<T, size, product, false>(plane);
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
