// expect: race 8 10
// Two branches store to one element; each store keeps its own line.

#include "../../common/lab.h"

__global__ void sides(int* side) {
    if (threadIdx.x % 2 == 0)
        *side = 1;
    else
        *side = 2;
}

int main() {
    lab::DeviceArray<int> values(1);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    sides<<<1, 32>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value > 0 ? 0 : 1;
}
