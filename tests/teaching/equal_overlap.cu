// expect: silent
// What two wide stores both write has the same value in both.

#include "../../common/lab.h"

__global__ void smooth(int* values) {
    const int t = threadIdx.x;
    int2 pair = {t, t + 1};
    memcpy(&values[t], &pair, sizeof pair);
}

int main() {
    lab::DeviceArray<int> values(65);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    smooth<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 0 ? 0 : 1;
}
