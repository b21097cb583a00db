// expect: race 6 9
// The event is recorded before the kernel that it should follow.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

__global__ void twice(const int* values, int* result) {
    result[threadIdx.x] = 2 * values[threadIdx.x];
}

int main() {
    lab::DeviceArray<int> values(64), result(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    cudaEvent_t filled;
    CHECK(cudaEventCreate(&filled));
    CHECK(cudaEventRecord(filled, first));
    fill<<<1, 64, 0, first>>>(values.get());
    CHECK_LAUNCH();
    CHECK(cudaStreamWaitEvent(second, filled, 0));
    twice<<<1, 64, 0, second>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(filled));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    return 0;
}
