// The kernels of this lab, which are simple, and how work and memory lie on the cards.
#pragma once

#include <cstdint>
#include <vector>

#include "cards.cuh"

// What one card has of many things.
struct Share {
    int64_t first, count;
};

// ---------- A plate whose heat spreads ----------------------------------------------------------

// Of a band of the plate: `count` of its rows, every `step`th from row `begin` on.
struct Rows {
    int begin, step, count;
};

// The plate is (height, width); its rim keeps its heat, and every other cell gets the mean of its four neighbours.
// A band holds `rows` of its rows from `first` on. `above` and `below`: (width), the rows beside the band.
__global__ void heat_kernel(const float* cells,  // (rows, width), row-major
                            const float* above, const float* below, float* next, int height,
                            int width, int first, int rows, Rows chosen) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int which = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || which >= chosen.count) return;
    const int y = chosen.begin + which * chosen.step;
    const float* const row = cells + int64_t{y} * width;
    float heat = row[x];
    if (x > 0 && x < width - 1 && first + y > 0 && first + y < height - 1) {
        const float up = y > 0 ? row[x - width] : above[x];
        const float down = y < rows - 1 ? row[x + width] : below[x];
        heat = 0.25f * ((up + down) + (row[x - 1] + row[x + 1]));
    }
    next[int64_t{y} * width + x] = heat;
}

// A card's band. A step reads cells[from], above[from], below[from] and writes cells[1 - from].
struct Band {
    Card card;
    int first, rows;
    float* cells[2];             // (rows, width)
    float *above[2], *below[2];  // (width): the halos, copies of rows that belong to the neighbours

    Rows all() const { return {0, 1, rows}; }
    Rows edges() const { return {0, rows > 1 ? rows - 1 : 1, rows > 1 ? 2 : 1}; }
    Rows inner() const { return {1, 1, rows - 2}; }
    float* last_row(int which, int width) const { return cells[which] + int64_t{rows - 1} * width; }
};

struct Heat {
    int height, width, steps;
    std::vector<Card> cards;
    std::vector<Band> bands;  // from the top; cards without rows have none
};

// The chosen rows of a band's next step, on the device that is current.
inline lab::Launch launch_heat(const Heat& heat, const Band& band, const float* above,
                               const float* below, int from, Rows chosen, cudaStream_t stream) {
    const dim3 block(32, 8);
    const dim3 grid(unsigned(lab::divide_up(heat.width, block.x)),
                    unsigned(lab::divide_up(chosen.count, block.y)));
    if (chosen.count <= 0) return {grid, block};
    heat_kernel<<<grid, block, 0, stream>>>(band.cells[from], above, below, band.cells[1 - from],
                                            heat.height, heat.width, band.first, band.rows, chosen);
    CHECK_LAUNCH();
    return {grid, block};
}

// ---------- Sums over all cards -----------------------------------------------------------------

// to[i] += from[i], mod 2^32
__global__ void add_kernel(uint32_t* to, const uint32_t* from, int64_t count) {
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] += from[i];
}

// Each card has an array of its own; in the end each is to hold the sum of all.
struct Arrays {
    int64_t count;
    std::vector<Card> cards;
    std::vector<uint32_t*> values;  // of each card: (count)
    std::vector<uint32_t*> inbox;   // of each card: (count), where others may write
    int size() const { return int(cards.size()); }
};

// values[first..] += inbox[first..] of card k, in its stream.
inline lab::Launch launch_add(const Arrays& arrays, int k, Share share) {
    const lab::Launch launch = {
        dim3(unsigned(std::min<int64_t>(1024, lab::divide_up(share.count, 256)))), dim3(256)};
    if (share.count == 0) return launch;
    CHECK(cudaSetDevice(arrays.cards[k].device));
    add_kernel<<<launch.grid, launch.block, 0, arrays.cards[k].inner>>>(
        arrays.values[k] + share.first, arrays.inbox[k] + share.first, share.count);
    CHECK_LAUNCH();
    return launch;
}

// ---------- A product, its rows shared out ------------------------------------------------------

// c (m, n) = a (m, k) times b (k, n): the tiled kernel of lab 13.
__global__ void product_kernel(const float* a, const float* b, float* c, int m, int n, int k) {
    constexpr int side = 16;
    __shared__ float a_tile[side][side], b_tile[side][side];
    const int row = blockIdx.y * side + threadIdx.y, column = blockIdx.x * side + threadIdx.x;
    float sum = 0;
    for (int p = 0; p < k; p += side) {
        const int a_column = p + threadIdx.x, b_row = p + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] =
            row < m && a_column < k ? a[int64_t{row} * k + a_column] : 0;
        b_tile[threadIdx.y][threadIdx.x] =
            b_row < k && column < n ? b[int64_t{b_row} * n + column] : 0;
        __syncthreads();
        for (int q = 0; q < side; ++q) sum += a_tile[threadIdx.y][q] * b_tile[q][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[int64_t{row} * n + column] = sum;
}

inline lab::Launch product_shape(int m, int n) {
    return {dim3(unsigned(lab::divide_up(n, 16)), unsigned(lab::divide_up(m, 16))), dim3(16, 16)};
}

// a, b and c lie on card 0. Each card has room for its rows of a and c, and for all of b.
struct Product {
    int m, n, k;
    std::vector<Card> cards;
    float *a, *b, *c;
    std::vector<float*> a_part, b_copy,
        c_part;  // of each card: (its rows, k), (k, n), (its rows, n)
};
