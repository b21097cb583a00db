// expect: race 9 10
// A shared array outside of the kernel, and no barrier between the two uses.

#include "../../common/lab.h"

__shared__ int tile[64];

__global__ void reverse(int* values) {
    tile[threadIdx.x] = threadIdx.x;
    values[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
    lab::DeviceArray<int> values(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    reverse<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value != 1 << 30 ? 0 : 1;
}
