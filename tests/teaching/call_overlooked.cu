// expect: call 10
// So much memory there is not; what cudaMalloc returns would have said so.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    int *values = nullptr, *more = nullptr;
    cudaMalloc(&more, size_t{1} << 60);
    CHECK(cudaMalloc(&values, 64 * sizeof(int)));
    fill<<<1, 64>>>(values);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(values));
    return more == nullptr ? 0 : 1;
}
