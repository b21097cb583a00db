// expect: race 12 13
// A vector goes to a function by value, out of shared memory that other warps have not filled yet.

#include "../../common/lab.h"

__device__ float sum_of(float4 v) { return v.x + v.y + v.z + v.w; }

__global__ void sums(float* result) {
    __shared__ float4 tile[64];
    const int t = threadIdx.x;
    const float x = static_cast<float>(t);
    tile[t] = {x, x, x, x};
    result[t] = sum_of(tile[63 - t]);
}

int main() {
    lab::DeviceArray<float> result(64);
    sums<<<1, 64>>>(result.get());
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    return 0;
}
