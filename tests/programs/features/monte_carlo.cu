// Feature: Monte Carlo | cuRAND's states kept between kernels, `curand_uniform` and `curand_normal` in kernels beside the host API's arrays, CUB's and Thrust's sums: pi, the mean of a normal price, the same numbers from the same seed
// Flags: -lcurand
#include <curand.h>
#include <curand_kernel.h>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

#include <cmath>
#include <cub/cub.cuh>

#include "../device_copies.h"

constexpr int blocks = 8, threads = 64, count = blocks * threads;

__global__ void start(curandState* states, unsigned long long seed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, i, 0, &states[i]);
}
// How many of 500 points of each thread lie in the circle; a block's sum.
__global__ void throw_points(curandState* states, unsigned int* inside) {
    using Reduce = cub::BlockReduce<unsigned int, threads>;
    __shared__ typename Reduce::TempStorage storage;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState own = states[i];
    unsigned int hits = 0;
    for (int point = 0; point < 500; ++point) {
        const float x = curand_uniform(&own), y = curand_uniform(&own);
        hits += x * x + y * y <= 1.0f;
    }
    states[i] = own;
    const unsigned int all = Reduce(storage).Sum(hits);
    if (threadIdx.x == 0) inside[blockIdx.x] = all;
}
// A call option at the end of a path of one step.
__global__ void price(const float* normal, float* value, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) value[i] = fmaxf(100.0f * expf(-0.02f + 0.2f * normal[i]) - 100.0f, 0.0f);
}

unsigned int hits(curandState* states, unsigned int* inside) {
    throw_points<<<blocks, threads>>>(states, inside);
    EXPECT_RUN();
    unsigned int sum = 0;
    for (unsigned int of_block : back(inside, blocks)) sum += of_block;
    return sum;
}

int main() {
    curandState* states = nullptr;
    unsigned int* inside = on_device(std::vector<unsigned int>(blocks));
    SUCCEEDS(cudaMalloc(&states, count * sizeof *states));
    start<<<blocks, threads>>>(states, 42);
    EXPECT_RUN();
    const unsigned int first = hits(states, inside), second = hits(states, inside);
    EXPECT(first != second);  // the states went on
    EXPECT(std::abs(4.0 * (first + second) / (2 * 500 * count) - 3.14159265) < 0.02);
    start<<<blocks, threads>>>(states, 42);
    EXPECT(hits(states, inside) == first);

    constexpr int n = 100000;
    thrust::device_vector<float> normal(n), value(n);
    curandGenerator_t generator;
    EXPECT(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) ==
           CURAND_STATUS_SUCCESS);
    EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 7) == CURAND_STATUS_SUCCESS);
    EXPECT(curandGenerateNormal(generator, thrust::raw_pointer_cast(normal.data()), n, 0, 1) ==
           CURAND_STATUS_SUCCESS);
    price<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(normal.data()),
                                    thrust::raw_pointer_cast(value.data()), n);
    EXPECT_RUN();
    const double mean = thrust::reduce(value.begin(), value.end(), 0.0) / n;
    EXPECT(std::abs(mean - 7.9656) < 0.15);  // Black and Scholes without interest
    EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
    SUCCEEDS(cudaFree(states));
    SUCCEEDS(cudaFree(inside));
    std::puts("ok");
}
