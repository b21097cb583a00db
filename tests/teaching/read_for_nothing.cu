// expect: race 10 11
// The value that is read is never used; that it is read too early is a fault all the same.

#include "../../common/lab.h"

__global__ void shift(int* values) {
    __shared__ int tile[65];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int mine = tile[threadIdx.x];
    tile[threadIdx.x + 1] = threadIdx.x;
    (void)mine;
    __syncthreads();
    if (threadIdx.x == 0) values[0] = tile[1];
}

int main() {
    lab::DeviceArray<int> values(1);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    shift<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value >= 0 ? 0 : 1;
}
