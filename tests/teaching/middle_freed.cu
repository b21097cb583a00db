// expect: double-free 9
// cudaFree gets an address inside an allocation, not the one that cudaMalloc gave.

#include "../../common/lab.h"

int main() {
    int* values = nullptr;
    CHECK(cudaMalloc(&values, 64 * sizeof(int)));
    const cudaError_t status = cudaFree(values + 16);
    CHECK(cudaFree(values));
    return status == cudaSuccess ? 0 : 1;
}
