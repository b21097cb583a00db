// expect: bounds 12
// The filter has five weights, the loop takes a sixth.

#include <vector>

#include "../../common/lab.h"

__constant__ int weights[5];

__global__ void filter(const int* values, int* result, int width) {
    int sum = 0;
    for (int k = 0; k <= width; ++k) sum += weights[k] * values[(threadIdx.x + k) % 64];
    result[threadIdx.x] = sum;
}

int main() {
    constexpr int count = 64;
    const int h_weights[5] = {1, 2, 3, 2, 1};
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights, h_weights, sizeof h_weights));
    filter<<<1, count>>>(values.get(), result.get(), 5);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i]) return 1;
    }
    return 0;
}
