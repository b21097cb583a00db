// expect: silent
// A grid-stride loop: few threads, many elements, each of them one thread's own.

#include <vector>

#include "../../common/lab.h"

__global__ void doubled(const int* values, int* result, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        result[i] = 2 * values[i];
    }
}

int main() {
    constexpr int count = 1000;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    doubled<<<3, 32>>>(values.get(), result.get(), count);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != 2 * h_values[i]) return 1;
    }
    return 0;
}
