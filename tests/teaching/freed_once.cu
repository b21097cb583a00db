// expect: silent
// Each allocation is freed once, and a null pointer may be freed at any time.

#include "../../common/lab.h"

int main() {
    int* values = nullptr;
    CHECK(cudaMalloc(&values, 64 * sizeof(int)));
    CHECK(cudaFree(values));
    values = nullptr;
    const cudaError_t status = cudaFree(values);
    return status == cudaSuccess ? 0 : 1;
}
