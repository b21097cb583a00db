// expect: launch 12
// With no element the grid has no block, and such a launch fails.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    const int count = 0;
    lab::DeviceArray<int> values(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    fill<<<(count + 63) / 64, 64>>>(values.get());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
