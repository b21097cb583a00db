// expect: undefined 6
// Two elements at once, from an address that is no multiple of 8.

#include "../../common/lab.h"

__global__ void swap(int* values) { *reinterpret_cast<int2*>(values + 1) = {1, 2}; }

int main() {
    lab::DeviceArray<int> values(4);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    swap<<<1, 1>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 0 ? 0 : 1;
}
