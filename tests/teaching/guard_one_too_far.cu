// expect: bounds 10
// i <= count instead of i < count: one element past the end.

#include <vector>

#include "../../common/lab.h"

__global__ void doubled(const int* values, int* result, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count) result[i] = 2 * values[i < count ? i : 0];
}

int main() {
    constexpr int count = 100;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    doubled<<<2, 64>>>(values.get(), result.get(), count);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != 2 * h_values[i]) return 1;
    }
    return 0;
}
