// Faults whose report is easily worded wrongly; the argument is the number of one.
#include <cassert>
#include <cstdlib>

#include "sanitize_words.h"

__device__ int down(int* counter, int depth) {
    return atomicAdd(counter, 1) < 0 ? depth : 1 + down(counter, depth + 1) * 3;  // LINE 2
}
__global__ void endless(int* counter) { *counter += down(counter, 0); }

__global__ void call(int* result, int (*function)(int)) {
    *result = function(1);  // LINE 3
}

__device__ int word;
__global__ void past_variable(int by) {
    (&word)[by] = 1;  // LINE 4
}

__global__ void scan(int* a) {
    const int i = threadIdx.x;
    if (i >= 1) a[i] += a[i - 1];  // LINE 5
    if (i >= 2) a[i] += a[i - 2];  // LINE 5
    if (i >= 4) a[i] += a[i - 4];  // LINE 5
}

__global__ void wild(unsigned int low) {
    *reinterpret_cast<int*>(static_cast<unsigned long>(low)) = 42;  // LINE 6
}

typedef unsigned int number;
__global__ void second(number* values) {
    values[1] = threadIdx.x;  // LINE 7
}

__global__ void halve(float4* values) {
    values[threadIdx.x].x /= 2;  // LINE 9 LINE 12
}

__global__ void give_up(const int* values, int fault) {
    assert(fault != 14 || values[0] == 1);  // LINE 14
    if (fault == 15) __trap();              // LINE 15
}

__global__ void list() {
    extern __shared__ int entries[];
    entries[threadIdx.x] = 1;  // LINE 10
}

// Two streams that nothing orders; host code and a copy.
int in_streams(int fault, int* values) {
    int* pinned = nullptr;
    cudaStream_t streams[2];
    if (cudaMallocHost(&pinned, 64 * sizeof(int)) != cudaSuccess) return 2;
    for (cudaStream_t& stream : streams) {
        if (cudaStreamCreate(&stream) != cudaSuccess) return 2;
        if (fault == 12) halve<<<1, 1, 0, stream>>>(reinterpret_cast<float4*>(values));
        if (fault == 13)
            (void)cudaMemcpyAsync(values, pinned, 4, cudaMemcpyDefault, stream);  // LINE 13
    }
    if (fault == 11)
        (void)cudaMemcpyAsync(pinned, values, 4, cudaMemcpyDefault, streams[0]);  // LINE 11
    if (fault == 11) *pinned = 1;                                                 // LINE 11
    if (cudaDeviceSynchronize() != cudaSuccess || cudaFreeHost(pinned) != cudaSuccess) return 2;
    return 0;
}

int main(int, char** arguments) {
    const int fault = std::atoi(arguments[1]);
    int* values = nullptr;
    if (cudaMalloc(&values, 64 * sizeof(int)) != cudaSuccess) return 2;
    if (cudaMemset(values, 0, 64 * sizeof(int)) != cudaSuccess) return 2;
    if (fault == 1) beyond<<<1, 1>>>(values);
    if (fault == 2) endless<<<1, 1>>>(values);
    if (fault == 3) call<<<1, 1>>>(values, nullptr);
    if (fault == 4) past_variable<<<1, 1>>>(1);
    if (fault == 5) scan<<<1, 32>>>(values);
    if (fault == 6) wild<<<1, 1>>>(0xabcd0000u);
    if (fault == 7) second<<<1, 64>>>(reinterpret_cast<number*>(values));
    if (fault == 9) halve<<<1, 8>>>(reinterpret_cast<float4*>(values + 1));
    if (fault == 10) list<<<1, 64, 33 * sizeof(int)>>>();
    if (fault > 13) {
        give_up<<<1, 1>>>(values, fault);
        cudaDeviceSynchronize();
        return 0;
    }
    if (fault > 10 && in_streams(fault, values) != 0) return 2;
    int* more = nullptr;
    if (fault == 8) cudaMalloc(&more, size_t{1} << 40);  // LINE 8
    if (cudaDeviceSynchronize() != cudaSuccess || cudaFree(values) != cudaSuccess) return 2;
    return 0;
}
