// expect: double-free 10
// The same memory is given to cudaFree twice.

#include "../../common/lab.h"

int main() {
    int* values = nullptr;
    CHECK(cudaMalloc(&values, 64 * sizeof(int)));
    CHECK(cudaFree(values));
    const cudaError_t status = cudaFree(values);
    return status == cudaSuccess ? 0 : 1;
}
