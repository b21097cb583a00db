// expect: silent
// A structure with a pointer goes to a kernel.

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
    fill<<<1, 64>>>(vector);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(vector.values));
    return 0;
}
