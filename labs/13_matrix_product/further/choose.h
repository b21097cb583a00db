// What warp_tile and the tuned tensor kernel share: in which order blocks take the tiles of c, and which
// of several tiles the launcher takes. To be known before: corner_of_block (task 1), what a block fetches
// (the handout's ladder), and how many blocks a multiprocessor has room for (lab 11).
//
// Order. The blocks that run at the same time should want the same rows of a and columns of b, so that one
// fetches them from memory and the others from the L2 cache. Numbers are blockIdx.x, for 4 x 6 tiles of c:
//
//     corner_of_block              grouped_corner, in groups of 2 rows (8 in the kernels)
//      0  1  2  3  4  5             0  2  4  6  8 10
//      6  7  8  9 10 11             1  3  5  7  9 11
//     12 13 14 15 16 17            12 14 16 18 20 22
//     18 19 20 21 22 23            13 15 17 19 21 23
//
// Blocks 0 to 5 want a row of a's tiles and six columns of b's on the left, seven in all; on the right two
// rows and three columns, five. Groups of 4, 8 or 16 rows differ by less than one per cent up to 4096 (H200,
// CUDA 13.0, 28 November 2026).
//
// Choice. 1000 x 1000 has 64 tiles of 128 x 128: of 132 multiprocessors 68 would be idle. Small tiles fetch
// more for each product, but there are more of them. A table says how fast a tile is with one block on each
// multiprocessor, with two, with three; the launcher takes the tile whose busiest multiprocessor is done
// first. At 1000 that is worth a factor of three in float: 37.5 TFLOP/s by 64 x 128, 11.7 by 128 x 256 (H200,
// the same day; docs/notes-matrix-product.md).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../given/launch.h"

// Of group_rows rows of tiles the first column is taken, then the second.
template <class Shape>
__device__ inline Corner grouped_corner(int m, int n) {
    constexpr unsigned group_rows = Shape::group_rows;
    const unsigned down = (m + Shape::height - 1) / Shape::height;
    const unsigned across = (n + Shape::width - 1) / Shape::width;
    const unsigned first = blockIdx.x / (group_rows * across) * group_rows;
    const unsigned place = blockIdx.x % (group_rows * across);
    const unsigned rows = down - first < group_rows ? down - first : group_rows;
    return {int(first + place % rows) * Shape::height, int(place / rows) * Shape::width};
}

// A pointer further on. The compiler would rather compute all distances of a loop before it begins, and
// keep them: there are no registers for that.
template <class T>
__device__ __forceinline__ const T* further(const T* pointer, int64_t distance) {
    pointer += distance;
#if defined(__CUDA_ARCH__)
    asm volatile("" : "+l"(pointer));
#endif
    return pointer;
}

template <class Tile>
constexpr size_t shared_bytes = Tile::stages * sizeof(typename Tile::Stage);

// A tile that a kernel can work with, and how fast it is then.
template <class T>
struct Candidate {
    int height, width, blocks;  // blocks: for which a multiprocessor has room
    size_t shared_bytes;
    std::vector<double> rates;
    lab::Launch (*launch)(const Product<T>&);
    lab::Launch (*launch_divided)(const Product<T>&, int parts) = nullptr;  // divided.cuh

    std::string name() const { return lab::format("%dx%dx%d", height, width, blocks); }
};

// How long the busiest multiprocessor works, in a unit of no interest. The last one to finish decides:
// 64 tiles leave half of 132 multiprocessors idle, where tiles of half the size are faster. And a
// multiprocessor with fewer blocks than it has room for is slower. To begin, and to store its sums, takes a block the
// time of so many products, in which the other blocks of the multiprocessor go on; to add the sums of a part of k to c
// that of `adding`.
template <class T>
double estimated_time(const Candidate<T>& candidate, const Product<T>& product, int multiprocessors,
                      int parts = 1) {
    constexpr double beginning = 20, adding = 128;
    const int64_t tiles =
        lab::divide_up(product.m, candidate.height) * lab::divide_up(product.n, candidate.width);
    const int64_t busiest = lab::divide_up(tiles * parts, multiprocessors);
    const int64_t rest = busiest % candidate.blocks;
    const double time = double(busiest - rest) / candidate.rates.back() +
                        (rest > 0 ? double(rest) / candidate.rates[rest - 1] : 0);
    const double products =
        double(product.k) / parts + beginning / candidate.blocks + (parts > 1 ? adding : 0);
    return time * candidate.height * candidate.width * products;
}

// A tile, and in how many parts k is.
template <class T>
struct Choice {
    const Candidate<T>* candidate;
    int parts = 1;
};

// The tile that --block-tile names, or the one that should be fastest here; where that helps, with k in parts of at
// least 512.
template <class T>
Choice<T> choose(const std::vector<Candidate<T>>& candidates, const Product<T>& product) {
    const int multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const int shared_bytes = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    Choice<T> best = {nullptr};
    double best_time = 0;
    for (const Candidate<T>& candidate : candidates) {
        if (candidate.name() == product.block_tile) return {&candidate};
        if (best.candidate != nullptr && candidate.shared_bytes > size_t(shared_bytes)) continue;
        const int most =
            candidate.launch_divided == nullptr ? 1 : std::clamp(product.k / 512, 1, 65535);
        for (int parts = 1; parts <= most; ++parts) {
            const double time = estimated_time(candidate, product, multiprocessors, parts);
            if (best.candidate != nullptr && time >= best_time) continue;
            best = {&candidate, parts};
            best_time = time;
        }
    }
    return best;
}

template <class T>
lab::Launch launch_best(const std::vector<Candidate<T>>& candidates, const Product<T>& product) {
    const Choice<T> best = choose(candidates, product);
    return best.parts == 1 ? best.candidate->launch(product)
                           : best.candidate->launch_divided(product, best.parts);
}

template <class T>
bool has_whole_vectors(int row) {
    return row % Vector<T>::width == 0;
}

// Why a variant cannot take the tile that --block-tile names, or "".
template <class T>
std::string unsuited(const std::vector<Candidate<T>>& candidates, const Product<T>& product,
                     bool any_tile) {
    const std::string& wanted = product.block_tile;
    if (wanted == "auto") return "";
    const auto has_name = [&](const Candidate<T>& candidate) { return candidate.name() == wanted; };
    const auto found = std::find_if(candidates.begin(), candidates.end(), has_name);
    if (found == candidates.end()) return lab::format("has no tile %s", wanted.c_str());
    const int available = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (found->shared_bytes > size_t(available)) {
        return lab::format("the tile needs %zu KiB of shared memory a block, this device has %d",
                           found->shared_bytes / 1024, available / 1024);
    }
    return any_tile ? "" : "has one tile only for rows that are no multiple of 16 bytes";
}
