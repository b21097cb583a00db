// expect: leak 10
// Device memory is not given back when the program ends.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    int *values = nullptr, h_value = 0;
    CHECK(cudaMalloc(&values, 64 * sizeof(int)));
    fill<<<1, 64>>>(values);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(&h_value, values + 63, sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 63 ? 0 : 1;
}
