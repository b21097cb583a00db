// expect: uninitialised 6
// Of the last element all bytes are set but one.

#include "../../common/lab.h"

__global__ void twice(const int* a, int* b) { b[threadIdx.x] = a[threadIdx.x] * 2; }

int main() {
    lab::DeviceArray<int> values(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes() - 1));
    lab::DeviceArray<int> result(64);
    twice<<<1, 64>>>(values.get(), result.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 0 ? 0 : 1;
}
