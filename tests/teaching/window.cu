// expect: silent
// A small array of each thread's own, used within its bounds.

#include <vector>

#include "../../common/lab.h"

__global__ void largest_of_four(const int* values, int* result, int width) {
    int window[4];
    const int i = threadIdx.x;
    for (int k = 0; k < 4; ++k) window[k] = values[(i + k) % 64];
    int largest = 0;
    for (int k = 0; k < width; ++k) largest = max(largest, window[(i + k) % width]);
    result[i] = largest;
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    largest_of_four<<<1, count>>>(values.get(), result.get(), 4);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != std::max({h_values[i], h_values[(i + 1) % 64], h_values[(i + 2) % 64],
                                     h_values[(i + 3) % 64]}))
            return 1;
    }
    return 0;
}
