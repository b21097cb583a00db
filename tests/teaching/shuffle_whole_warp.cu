// expect: silent
// The block has a whole warp; its lanes without an element add 0.

#include <vector>

#include "../../common/lab.h"

constexpr int count = 20;

__global__ void sum(const int* values, int* result) {
    int total = threadIdx.x < count ? values[threadIdx.x] : 0;
    for (int by = 16; by > 0; by /= 2) total += __shfl_down_sync(0xffffffffu, total, by);
    if (threadIdx.x == 0) *result = total;
}

int main() {
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    int total = 0, expected = 0;
    for (int value : h_values) expected += value;
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    sum<<<1, 32>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(&total, result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    return total == expected ? 0 : 1;
}
