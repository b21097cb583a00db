// expect: silent
// A loop that adds in its body, atomically.

#include "../../common/lab.h"

__global__ void count(int* counter) {
    for (int i = 0; i < 100; i++) {
        atomicAdd(&counter[0], 1);
    }
}

int main() {
    lab::DeviceArray<int> values(1);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    count<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 6400 ? 0 : 1;
}
