// expect: warp 8
// Half of the warp votes under a mask that names all of it; the others go on.

#include "../../common/lab.h"

__global__ void vote(int* values) {
    int all = 1;
    if (threadIdx.x < 16) all = __all_sync(~0u, threadIdx.x < 20);
    values[threadIdx.x] = all;
}

int main() {
    lab::DeviceArray<int> values(32);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    vote<<<1, 32>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value >= 0 ? 0 : 1;
}
