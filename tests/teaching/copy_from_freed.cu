// expect: freed 11
// A result is copied from memory that was given to cudaFree.

#include "../../common/lab.h"

int main() {
    int *values = nullptr, h_value = 0;
    CHECK(cudaMalloc(&values, sizeof(int)));
    CHECK(cudaMemset(values, 0, sizeof(int)));
    CHECK(cudaFree(values));
    const cudaError_t status = cudaMemcpy(&h_value, values, sizeof(int), cudaMemcpyDeviceToHost);
    return status == cudaSuccess ? 0 : 1;
}
