// expect: warp 9
// The mask names all lanes, and the condition lets only some of them come.

#include "../../common/lab.h"

__global__ void sum(int* values) {
    int x = threadIdx.x;
    for (int d = 16; d > 0; d /= 2)
        if (static_cast<int>(threadIdx.x) < d) x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x == 0) values[0] = x;
}

int main() {
    lab::DeviceArray<int> values(1);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    sum<<<1, 32>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value != 1 << 30 ? 0 : 1;
}
