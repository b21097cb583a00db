// expect: silent
// The first element has no left neighbour, and is treated apart.

#include <vector>

#include "../../common/lab.h"

__global__ void difference(const int* values, int* result) {
    const int i = threadIdx.x;
    const int left = i == 0 ? 0 : values[i - 1];
    result[i] = values[i] - left;
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    difference<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i] - (i == 0 ? 0 : h_values[i - 1])) return 1;
    }
    return 0;
}
