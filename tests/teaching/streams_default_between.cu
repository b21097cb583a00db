// expect: silent
// The default stream waits for the others, and they for it.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

__global__ void twice(const int* values, int* result) {
    result[threadIdx.x] = 2 * values[threadIdx.x];
}

int main() {
    lab::DeviceArray<int> values(64), result(64);
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    fill<<<1, 64, 0, first>>>(values.get());
    CHECK_LAUNCH();
    CHECK(cudaMemset(result.get(), 0, result.bytes()));
    twice<<<1, 64, 0, second>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    return 0;
}
