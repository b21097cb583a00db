// expect: race 7 8
// One thread adds 1, another stores 1: in the usual order the value stays the same.

#include "../../common/lab.h"

__global__ void mixed(int* sum) {
    if (threadIdx.x == 0) *sum += 1;
    if (threadIdx.x == 40) *sum = 1;
}

int main() {
    lab::DeviceArray<int> values(1);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    mixed<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value > 0 ? 0 : 1;
}
