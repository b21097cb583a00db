// expect: launch 11
// A block of 2048 threads: the launch fails, and nobody looks.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    lab::DeviceArray<int> values(2048);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    fill<<<1, 2048>>>(values.get());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
