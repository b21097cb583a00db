// Feature: lanes in step | `volatile` shared memory, and a kernel's own `volatile` pointer to any memory, without `__syncwarp()`, as kernels of before Volta use them; an element that two lanes exchange in one statement (`sums[i] += sums[i ^ 8]`); waiting for a `volatile` flag
#include "../runtime_expect.h"

template <class T, unsigned int block_size>
__device__ void last_warp(volatile T* part, unsigned int t) {
    if (block_size >= 64) part[t] += part[t + 32];
    if (block_size >= 32) part[t] += part[t + 16];
    T sum = part[t];
    part[t] = sum = sum + part[t + 8];
    part[t] = sum = sum + *(part + t + 4);
    part[t] += part[t + 2];
    part[t] += part[t + 1];
}

template <class T, unsigned int block_size>
__global__ void reduce(const T* values, T* result) {
    extern __shared__ char memory[];
    T* const part = reinterpret_cast<T*>(memory);
    const unsigned int t = threadIdx.x;
    part[t] = values[t];
    __syncthreads();
    if (block_size >= 128) {
        if (t < 64) part[t] += part[t + 64];
        __syncthreads();
    }
    if (t < 32) last_warp<T, block_size>(part, t);
    if (t == 0) *result = part[0];
}

// Each lane but the first of a step reads what the lane before it held until then.
__global__ void scan_warp(int* out) {
    volatile __shared__ int sums[64];
    const int t = static_cast<int>(threadIdx.x);
    sums[t] = 0;
    sums[t + 32] = t + 1;
    for (int distance = 1; distance < 32; distance *= 2) sums[t + 32] += sums[t + 32 - distance];
    out[t] = sums[t + 32];
}

// All lanes read before one writes, without volatile.
__device__ void add_across(int* sums) {
    const int t = static_cast<int>(threadIdx.x);
    for (int distance = 16; distance > 0; distance /= 2) {
        sums[t] += sums[t ^ distance];
        __syncwarp();
    }
}
__global__ void largest_and_sum(const int* values, int* out) {
    __shared__ int sums[32], largest[32];
    const int t = static_cast<int>(threadIdx.x);
    sums[t] = largest[t] = values[t];
    __syncwarp();
    add_across(sums);
    for (int distance = 1; distance < 32; distance *= 2) {
        largest[t] = max(largest[t], largest[t ^ distance] + 0);
        __syncwarp();
    }
    out[t] = sums[t] + largest[31 - t];
}

// In global memory, through a pointer of the kernel's own.
__global__ void reduce_in_place(int* data, int* result) {
    const unsigned int t = threadIdx.x;
    volatile int* memory = data;
    if (t < 32) {
        memory[t] += memory[t + 32];
        memory[t] += memory[t + 16];
        memory[t] += memory[t + 8];
        memory[t] += memory[t + 4];
        memory[t] += memory[t + 2];
        memory[t] += memory[t + 1];
    }
    if (t == 0) *result = data[0];
}

__global__ void wait_for_flag(int* out) {
    __shared__ volatile int ready;
    __shared__ int value;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 32) {
        value = 9;
        __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 0) {
        while (ready == 0) {
        }
        *out = *static_cast<volatile int*>(&value);
    }
}

int main() {
    int* values = zeros<int>(128);
    int* out = zeros<int>(32);
    int host[128], sums[32];
    for (int i = 0; i < 128; ++i) host[i] = i;
    SUCCEEDS(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    reduce<int, 64><<<1, 64, 64 * sizeof(int)>>>(values, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 63 * 64 / 2);
    reduce_in_place<<<1, 64>>>(values, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 63 * 64 / 2);
    SUCCEEDS(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    reduce<int, 128><<<1, 128, 128 * sizeof(int)>>>(values, out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 127 * 128 / 2);
    scan_warp<<<1, 32>>>(out);
    EXPECT_RUN();
    SUCCEEDS(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) EXPECT(sums[i] == (i + 1) * (i + 2) / 2);
    SUCCEEDS(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    largest_and_sum<<<1, 32>>>(values, out);
    EXPECT_RUN();
    SUCCEEDS(cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; ++i) EXPECT(sums[i] == 31 * 32 / 2 + 31);
    wait_for_flag<<<1, 64>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 9);
    SUCCEEDS(cudaFree(values));
    SUCCEEDS(cudaFree(out));
    printf("ok\n");
}
