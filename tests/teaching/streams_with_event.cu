// expect: silent
// Two streams: the second waits for an event that the first records.

#include <vector>

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

__global__ void twice(const int* values, int* result) {
    result[threadIdx.x] = 2 * values[threadIdx.x];
}

int main() {
    constexpr int count = 64;
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    cudaStream_t first, second;
    cudaEvent_t filled;
    CHECK(cudaEventCreate(&filled));
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    fill<<<1, count, 0, first>>>(values.get());
    CHECK_LAUNCH();
    CHECK(cudaEventRecord(filled, first));
    CHECK(cudaStreamWaitEvent(second, filled, 0));
    twice<<<1, count, 0, second>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaEventDestroy(filled));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != 2 * i) return 1;
    }
    return 0;
}
