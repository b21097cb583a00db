// expect: device-pointer 13
// The host reads the result where it lies: in the device's memory.

#include "../../common/lab.h"

__global__ void answer(int* result) { *result = 42; }

int main() {
    lab::DeviceArray<int> result(1);
    answer<<<1, 1>>>(result.get());
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    if (*result.get() != 42) return 1;
    return 0;
}
