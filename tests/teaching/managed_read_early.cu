// expect: race 6 14
// The host reads managed memory before it has waited for the kernel.

#include "../../common/lab.h"

__global__ void doubled(int* values) { values[threadIdx.x] *= 2; }

int main() {
    int* values = nullptr;
    CHECK(cudaMallocManaged(&values, 64 * sizeof(int)));
    for (int i = 0; i < 64; ++i) values[i] = i;
    doubled<<<1, 64>>>(values);
    CHECK_LAUNCH();
    const int value = values[1];
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(values));
    return value == 1 << 30;
}
