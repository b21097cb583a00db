// expect: race 8 9
// A shuffle lets lanes meet, but orders nothing that they do in memory: __syncwarp() does.

#include "../../common/lab.h"

__global__ void rotate(int* values) {
    __shared__ int tile[32];
    tile[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0) + threadIdx.x, __ballot_sync(~0u, 1);
    values[threadIdx.x] = tile[(threadIdx.x + 1) % 32];
}

int main() {
    lab::DeviceArray<int> values(32);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    rotate<<<1, 32>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value != 1 << 30 ? 0 : 1;
}
