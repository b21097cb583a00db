// What all kernels share: the product on the device, a block for each tile of c, and what a card lacks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "../../../common/lab.h"

template <class T>
constexpr bool is_float = std::is_same_v<T, float>;

// c = a b on the device. Sides fit into 31 bits; their products do not, so the place of an element has 64.
template <class T, class Sum = T>
struct Product {
    const T *a, *b;  // (m, k) and (k, n), row-major
    Sum* c;          // (m, n)
    int m, n, k;
    int tile;                // of `tiled`
    std::string block_tile;  // of the kernels in further/ that have several, or auto
};

// The rows and columns that a block computes begin here.
struct Corner {
    int row, column;
};

// A grid has at most 65535 blocks along y (lab 04), so the tiles of c are counted along x, one row of
// tiles after the other.
__device__ inline Corner corner_of_block(int height, int width, int n) {
    const unsigned across = (n + width - 1) / width;
    return {int(blockIdx.x / across) * height, int(blockIdx.x % across) * width};
}

template <class T, class Sum = T>
using Kernel = void (*)(const T* a, const T* b, Sum* c, int m, int n, int k);

// A block for every tile of c, or so many.
template <class T, class Sum>
lab::Launch launch(Kernel<T, Sum> kernel, const Product<T, Sum>& product, int tile_height,
                   int tile_width, dim3 block, size_t shared_bytes = 0,
                   unsigned blocks_a_tile = 1) {
    const dim3 grid(lab::divide_up(product.m, tile_height) * lab::divide_up(product.n, tile_width),
                    blocks_a_tile);
    if (shared_bytes > 0) {
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(shared_bytes)));
    }
    kernel<<<grid, block, shared_bytes>>>(product.a, product.b, product.c, product.m, product.n,
                                          product.k);
    CHECK_LAUNCH();
    return {grid, block};
}

// Why a kernel cannot run here, or "": what the card is too old or too small for, or what the program
// was not compiled for. CPU mode has the instructions of all cards, and the memory of one.
template <class T, class Sum = T>
std::string missing([[maybe_unused]] Kernel<T, Sum> kernel, [[maybe_unused]] int major,
                    size_t shared_bytes = 0) {
#ifndef CUDA_ON_CPU
    const int capability = lab::device_attribute(cudaDevAttrComputeCapabilityMajor);
    cudaFuncAttributes attributes;
    if (capability < major) {
        return lab::format("needs compute capability %d.0, this card has %d", major, capability);
    }
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    if (attributes.ptxVersion < 10 * major) {
        return lab::format(
            "compiled for sm_%d, needs sm_%d: nvcc -arch=native, or make ARCH=native",
            attributes.ptxVersion, 10 * major);
    }
#endif
    const int available = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    if (shared_bytes <= size_t(available)) return "";
    return lab::format("needs %zu KiB of shared memory a block, this device has %d",
                       shared_bytes / 1024, available / 1024);
}
