// expect: silent
// Managed memory is the host's and the device's: the host waits for the kernel, then reads.

#include "../../common/lab.h"

__global__ void doubled(int* values) { values[threadIdx.x] *= 2; }

int main() {
    int* values = nullptr;
    CHECK(cudaMallocManaged(&values, 64 * sizeof(int)));
    for (int i = 0; i < 64; ++i) values[i] = i;
    doubled<<<1, 64>>>(values);
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    const bool right = values[1] == 2 && values[63] == 126;
    CHECK(cudaFree(values));
    return right ? 0 : 1;
}
