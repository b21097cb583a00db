// Further: the field in two more places, and what is best of all together. For reading.
#pragma once

#include <string>
#include <vector>

// The field in constant memory: a mistake that is easily made. The lanes of a warp want different words, and
// constant memory gives a warp one word at a time: up to 32 rounds for each fetch.
constexpr int most_constant_cells = 12 << 10;  // 48 of the 64 KiB
__constant__ int32_t constant_field[most_constant_cells];

inline void fill_constant_field(const int32_t* h_field, int cells) {
    CHECK(cudaMemcpyToSymbol(constant_field, h_field, cells * sizeof(int32_t)));
}

__device__ inline uint32_t pull_of_all(const Chain& chain, int i, uint32_t own) {
    uint32_t force = 0;
    for (int d = 1; d <= chain.reach; ++d) {
        force += pull(own, chain.angle[max(i - d, 0)], chain.angle[min(i + d, chain.count - 1)],
                      chain.weights[d - 1]);
    }
    return force;
}

__global__ void step_field_in_constant(Chain chain) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chain.count) return;
    const uint32_t own = chain.angle[i];
    turn(chain, i, own, constant_field[cell_of(own, chain.cells)] + pull_of_all(chain, i, own));
}

inline lab::Launch launch_field_in_constant(const Chain& chain) {
    const lab::Launch shape = shape_of(chain);
    step_field_in_constant<<<shape.grid, shape.block>>>(chain);
    CHECK_LAUNCH();
    return shape;
}

// The field in shared memory, which has 32 banks: lanes that want different words wait only where two want the
// same bank. But each block must load the table first, so blocks are few and take many rotors.
constexpr int most_shared_cells = 12 << 10;

__global__ void step_field_in_shared(Chain chain) {
    extern __shared__ int32_t field[];
    for (int cell = threadIdx.x; cell < chain.cells; cell += blockDim.x)
        field[cell] = chain.field[cell];
    __syncthreads();
    const int64_t all = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < chain.count; i += all) {
        const uint32_t own = chain.angle[i];
        turn(chain, int(i), own,
             field[cell_of(own, chain.cells)] + pull_of_all(chain, int(i), own));
    }
}

inline lab::Launch launch_field_in_shared(const Chain& chain) {
    const size_t bytes = chain.cells * sizeof(int32_t);
    int blocks = 0;
    CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, step_field_in_shared, 1024, bytes));
    const int64_t at_once = int64_t{blocks} * lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const int64_t needed = lab::divide_up(chain.count, 1024);
    const lab::Launch shape = {dim3(unsigned(std::min(at_once, needed))), dim3(1024)};
    step_field_in_shared<<<shape.grid, shape.block, bytes>>>(chain);
    CHECK_LAUNCH();
    return shape;
}

// Each table where it belongs: the weights in constant memory, the angles in shared memory, the field where it is,
// behind the read-only cache.
__global__ void step_together(Chain chain) {
    __shared__ uint32_t tile[block_size + 2 * most_reach];
    const int i = blockIdx.x * block_size + threadIdx.x;
    const int first = blockIdx.x * block_size - chain.reach;
    for (int t = threadIdx.x; t < block_size + 2 * chain.reach; t += block_size) {
        tile[t] = chain.angle[min(max(first + t, 0), chain.count - 1)];
    }
    __syncthreads();
    if (i >= chain.count) return;
    const int here = threadIdx.x + chain.reach;
    const uint32_t own = tile[here];
    uint32_t force = __ldg(&chain.field[cell_of(own, chain.cells)]);
    for (int d = 1; d <= chain.reach; ++d) {
        force += pull(own, tile[here - d], tile[here + d], constant_weights[d - 1]);
    }
    turn(chain, i, own, force);
}

inline lab::Launch launch_together(const Chain& chain) {
    const lab::Launch shape = shape_of(chain);
    step_together<<<shape.grid, shape.block>>>(chain);
    CHECK_LAUNCH();
    return shape;
}
