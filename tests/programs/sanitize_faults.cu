// Small kernels, each with one fault, and one without: what tests/test_sanitize.py starts by number.
#include <cuda_runtime.h>

#include <cstdlib>

constexpr int count = 48;  // more than a warp, and no multiple of 64 elements

__global__ void turn(int* values) {
    __shared__ int tile[count];
    tile[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = tile[count - 1 - threadIdx.x];
}

__global__ void turn_without_barrier(int* values) {
    __shared__ int tile[count];
    tile[threadIdx.x] = values[threadIdx.x];
    values[threadIdx.x] = tile[count - 1 - threadIdx.x];
}

__global__ void clear_one_too_many(int* values) {
    if (threadIdx.x <= count) values[threadIdx.x] = 0;
}

__device__ int hits;

__global__ void count_without_atomics() { hits += 1; }

int main(int argc, char** argv) {
    const int fault = argc > 1 ? std::atoi(argv[1]) : 0;
    if (fault == 9) return 77;
    int* d_values = nullptr;
    cudaMalloc(&d_values, count * sizeof(int));
    if (fault != 4) cudaMemset(d_values, 0, count * sizeof(int));
    if (fault == 0 || fault == 4) turn<<<1, count>>>(d_values);
    if (fault == 1) turn_without_barrier<<<1, count>>>(d_values);
    if (fault == 2) clear_one_too_many<<<1, 2 * count>>>(d_values);
    if (fault == 3) count_without_atomics<<<2, 1>>>();
    cudaDeviceSynchronize();
    if (fault != 5) cudaFree(d_values);
    return fault == 6 ? 2 : 0;
}
