// Parts two and three: cells in a ring that are changed in many small steps.
#pragma once

#include <cstdint>
#include <vector>

// cells: (count). Each becomes 1664525 times itself plus the key, `times` times over, mod 2^32.
__global__ void stir_kernel(uint32_t* cells, int count, uint32_t key, int times) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    uint32_t cell = cells[i];
    for (int k = 0; k < times; ++k) cell = 1664525u * cell + key;
    cells[i] = cell;
}

// from, to: (count), a ring. Three times the cell, plus its neighbours' exclusive or, mod 2^32.
__global__ void step_kernel(const uint32_t* from, uint32_t* to, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const uint32_t left = from[i == 0 ? count - 1 : i - 1],
                   right = from[i == count - 1 ? 0 : i + 1];
    to[i] = 3 * from[i] + (left ^ right);
}

inline lab::Launch cells_shape(int count) {
    return {dim3(unsigned(lab::divide_up(count, 256))), dim3(256)};
}

// The references, on the host.
inline void stir_on_cpu(std::vector<uint32_t>& cells, uint32_t key, int times) {
    for (uint32_t& cell : cells)
        for (int k = 0; k < times; ++k) cell = 1664525u * cell + key;
}
inline void step_on_cpu(std::vector<uint32_t>& cells) {
    const std::vector<uint32_t> from = cells;
    const size_t count = cells.size();
    for (size_t i = 1; i + 1 < count; ++i) cells[i] = 3 * from[i] + (from[i - 1] ^ from[i + 1]);
    for (const size_t i : {size_t{0}, count - 1})
        cells[i] = 3 * from[i] + (from[(i + count - 1) % count] ^ from[(i + 1) % count]);
}

// Rounds of many steps. A round stirs the cells with its key, does the steps, an even number of them
// from one buffer into the other and back, and copies the cells to the host.
struct Chain {
    int count, steps;
    std::vector<uint32_t> keys;  // one a round
    uint32_t* d_cells[2];        // (count); the cells are in the first before a round and after it
    uint32_t* h_cells;           // (count), pinned
    cudaStream_t stream;

    size_t bytes() const { return size_t(count) * sizeof(uint32_t); }
    lab::Launch shape() const { return cells_shape(count); }
};

// What a kernel node of a graph is to launch. `arguments`: the address of each of the kernel's arguments, which are copied
// when the node is made.
inline cudaKernelNodeParams kernel_node(void* kernel, const lab::Launch& shape, void** arguments) {
    cudaKernelNodeParams parameters = {};
    parameters.func = kernel;
    parameters.gridDim = shape.grid;
    parameters.blockDim = shape.block;
    parameters.kernelParams = arguments;
    return parameters;
}
