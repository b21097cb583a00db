// expect: silent
// The sum of a warp by shuffles, with all of its lanes.

#include <vector>

#include "../../common/lab.h"

__global__ void warp_sum(const int* values, int* result) {
    int sum = values[threadIdx.x];
    for (int half = 16; half > 0; half /= 2) sum += __shfl_down_sync(0xffffffffu, sum, half);
    if (threadIdx.x == 0) *result = sum;
}

int main() {
    constexpr int count = 32;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    warp_sum<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    int h_result = 0, expected = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (const int value : h_values) expected += value;
    return h_result == expected ? 0 : 1;
}
