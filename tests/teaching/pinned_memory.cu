// expect: silent
// A kernel may use pinned host memory; the host waits before it reads there.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    int* values = nullptr;
    CHECK(cudaMallocHost(&values, 64 * sizeof(int)));
    fill<<<1, 64>>>(values);
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    const bool right = values[0] == 0 && values[63] == 63;
    CHECK(cudaFreeHost(values));
    return right ? 0 : 1;
}
