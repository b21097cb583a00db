// expect: freed 13
// A kernel is launched with memory that was given to cudaFree.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    int* values = nullptr;
    int h_value = 0;
    CHECK(cudaMalloc(&values, 64 * sizeof(int)));
    CHECK(cudaFree(values));
    fill<<<1, 64>>>(values);
    return cudaDeviceSynchronize() == cudaSuccess && h_value == 0 ? 0 : 1;
}
