// expect: freed 12
// The pointer inside a structure leads to memory that was given to cudaFree.

#include "../../common/lab.h"

struct Vector {
    int* values;
    int count;
};

__global__ void fill(Vector vector) {
    if (threadIdx.x < vector.count) vector.values[threadIdx.x] = threadIdx.x;
}

int main() {
    Vector vector = {nullptr, 50};
    CHECK(cudaMalloc(&vector.values, vector.count * sizeof(int)));
    CHECK(cudaFree(vector.values));
    fill<<<1, 64>>>(vector);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
