// expect: silent
// Lanes that have ended need not vote, even if the mask names them.

#include "../../common/lab.h"

__global__ void vote(int* values, int count) {
    const int i = threadIdx.x;
    if (i >= count) return;
    values[i] = __all_sync(~0u, i < 20);
}

int main() {
    lab::DeviceArray<int> values(32);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    vote<<<1, 32>>>(values.get(), 20);
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 1 ? 0 : 1;
}
