// expect: silent
// Constant memory, filled by the host, read by all.

#include <vector>

#include "../../common/lab.h"

__constant__ int weights[4];

__global__ void weighted(const int* values, int* result) {
    result[threadIdx.x] = weights[threadIdx.x % 4] * values[threadIdx.x];
}

int main() {
    constexpr int count = 64;
    const int h_weights[4] = {1, -2, 3, -4};
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights, h_weights, sizeof h_weights));
    weighted<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_weights[i % 4] * h_values[i]) return 1;
    }
    return 0;
}
