// The kernels, what the API says of them, launches, and the table of variants.
#pragma once

#include <algorithm>
#include <string>

#include "../../../common/lab.h"

// Warp slots of the architecture that is compiled for, in blocks of 256 threads. With
// __launch_bounds__(threads, blocks) the compiler gives a thread no more registers than let so many
// blocks live on a multiprocessor.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || \
    __CUDA_ARCH__ / 100 == 10 || __CUDA_ARCH__ < 750
constexpr int blocks_of_256 = 8;
#elif __CUDA_ARCH__ == 750
constexpr int blocks_of_256 = 4;
#else
constexpr int blocks_of_256 = 6;
#endif

template <int chains>
__global__ void square_kernel(const float* x, float* y, int64_t count, int steps) {
    square<chains>(x, y, count, steps);
}
__global__ void __launch_bounds__(256)
    square_64(const float* x, float* y, int64_t count, int steps) {
    square<64>(x, y, count, steps);
}
__global__ void __launch_bounds__(256, blocks_of_256 / 2)
    square_64_half(const float* x, float* y, int64_t count, int steps) {
    square<64>(x, y, count, steps);
}
__global__ void __launch_bounds__(256, blocks_of_256)
    square_64_full(const float* x, float* y, int64_t count, int steps) {
    square<64>(x, y, count, steps);
}
template <int chains, bool every_lane>
__global__ void walk_kernel(const int32_t* links, int64_t rows, int32_t* ends, int64_t walkers,
                            int steps) {
    walk<chains, every_lane>(links, rows, ends, walkers, steps);
}

// next: (rows), links: (rows, 32).
__global__ void spread_kernel(const int32_t* next, int32_t* links, int64_t rows) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < rows * warp_size) links[i] = next[i / warp_size];
}

// How many items (walkers, or values) there are, what they are, and where results go.
struct Work {
    int64_t items = 0, rows = 0;
    int steps = 0;
    const float* d_values = nullptr;
    const int32_t* d_links = nullptr;
    bool every_lane = false;
    float* d_results = nullptr;
    int32_t* d_ends = nullptr;
};

struct Shape {
    int grid, threads, shared_bytes;
};

template <auto kernel>
cudaFuncAttributes attributes() {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes;
}

// Allows all the shared memory that a block can have, and prefers it to the L1 cache.
template <auto... kernels>
void prepare(Multiprocessor whole) {
    const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    const auto carveout = cudaFuncAttributePreferredSharedMemoryCarveout;
    (CHECK(cudaFuncSetAttribute(kernels, most, whole.most_shared_bytes)), ...);
    (CHECK(cudaFuncSetAttribute(kernels, carveout, 100)), ...);
}

template <auto kernel>
int blocks_by_api(int threads, int shared_bytes) {
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
    return blocks;
}

// The block size that keeps most threads on the device, and the grid that fills it once.
template <auto kernel>
Shape best_by_api(int most_threads) {
    Shape shape = {0, 0, 0};
    CHECK(cudaOccupancyMaxPotentialBlockSize(&shape.grid, &shape.threads, kernel, 0, most_threads));
    return shape;
}

using SquareKernel = void (*)(const float*, float*, int64_t, int);
using WalkKernel = void (*)(const int32_t*, int64_t, int32_t*, int64_t, int);

template <SquareKernel kernel>
void launch_square(Shape shape, const Work& work) {
    kernel<<<shape.grid, shape.threads, shape.shared_bytes>>>(work.d_values, work.d_results,
                                                              work.items, work.steps);
    CHECK_LAUNCH();
}

template <WalkKernel kernel, WalkKernel every_lane>
void launch_walk(Shape shape, const Work& work) {
    const WalkKernel chosen = work.every_lane ? every_lane : kernel;
    chosen<<<shape.grid, shape.threads, shape.shared_bytes>>>(work.d_links, work.rows, work.d_ends,
                                                              work.items, work.steps);
    CHECK_LAUNCH();
}

struct Variant {
    const char* name;
    bool walks;  // one item a warp, else one a thread
    int chains;  // as many times that
    int bound;   // of a block's threads, by __launch_bounds__: CPU mode does not know it
    cudaFuncAttributes (*attributes)();
    void (*prepare)(Multiprocessor);
    int (*blocks_by_api)(int threads, int shared_bytes);
    Shape (*best_by_api)(int most_threads);
    void (*launch)(Shape, const Work&);

    int most_threads() const { return std::min(bound, attributes().maxThreadsPerBlock); }
    int64_t items_of_block(int threads) const {
        return int64_t{walks ? threads / warp_size : threads} * chains;
    }
};

template <SquareKernel kernel>
constexpr Variant square_variant(const char* name, int chains, int bound) {
    return {name,
            false,
            chains,
            bound,
            attributes<kernel>,
            prepare<kernel>,
            blocks_by_api<kernel>,
            best_by_api<kernel>,
            launch_square<kernel>};
}
template <WalkKernel kernel, WalkKernel every_lane>
constexpr Variant walk_variant(const char* name, int chains) {
    return {name,
            true,
            chains,
            1024,
            attributes<kernel>,
            prepare<kernel, every_lane>,
            blocks_by_api<kernel>,
            best_by_api<kernel>,
            launch_walk<kernel, every_lane>};
}

const Variant all_variants[] = {
    walk_variant<walk_kernel<1, false>, walk_kernel<1, true>>("walk_1", 1),
    walk_variant<walk_kernel<4, false>, walk_kernel<4, true>>("walk_4", 4),
    square_variant<square_kernel<1>>("square_1", 1, 1024),
    square_variant<square_kernel<4>>("square_4", 4, 1024),
    square_variant<square_64>("square_64", 64, 256),
    square_variant<square_64_half>("square_64_half", 64, 256),
    square_variant<square_64_full>("square_64_full", 64, 256),
};

inline const Variant& find(const std::string& name) { return lab::variant_of(all_variants, name); }
