// expect: bounds 9
// A shared array outside of the kernel that is one element too small.

#include "../../common/lab.h"

__shared__ int tile[63], other[8];

__global__ void fill(int* values) {
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 8) other[threadIdx.x] = tile[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = other[threadIdx.x % 8];
}

int main() {
    lab::DeviceArray<int> values(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    fill<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value >= 0 ? 0 : 1;
}
