// expect: undefined 8
// A kernel assigns to constant memory, which only the host may.

#include "../../common/lab.h"

__constant__ int table[32];

__global__ void change(int* values) { table[threadIdx.x] = values[threadIdx.x]; }

int main() {
    lab::DeviceArray<int> values(32);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    change<<<1, 32>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 0 ? 0 : 1;
}
