// expect: launch 15
// A block asks for more shared memory than it may have unasked.

#include "../../common/lab.h"

__global__ void fill(int* values) {
    extern __shared__ int row[];
    row[threadIdx.x] = threadIdx.x;
    values[threadIdx.x] = row[threadIdx.x];
}

int main() {
    lab::DeviceArray<int> values(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    fill<<<1, 64, 100 * 1024>>>(values.get());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
