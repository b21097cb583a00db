// expect: warp 12
// The block has 20 threads, and its sum by shuffles reads the lanes of 32.

#include <vector>

#include "../../common/lab.h"

constexpr int count = 20;

__global__ void sum(const int* values, int* result) {
    int total = values[threadIdx.x];
    for (int by = 16; by > 0; by /= 2) total += __shfl_down_sync(0xffffffffu, total, by);
    if (threadIdx.x == 0) *result = total;
}

int main() {
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    int total = 0;
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    sum<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(&total, result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    return 0;
}
