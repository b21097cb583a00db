// expect: bounds 12
// A thread's own array is read before its start.

#include <vector>

#include "../../common/lab.h"

__global__ void last_of_four(const int* values, int* result, int back) {
    int window[4];
    const int i = threadIdx.x;
    for (int k = 0; k < 4; ++k) window[(i + k) % 4] = values[(i + k) % 64];
    result[i] = window[i % 4 - back];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    last_of_four<<<1, count>>>(values.get(), result.get(), 1);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[(i + 3) % 64]) return 1;
    }
    return 0;
}
