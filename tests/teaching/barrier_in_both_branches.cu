// expect: barrier 13 16
// A barrier in each of two branches: two barriers, and neither is reached by all.

#include <vector>

#include "../../common/lab.h"

__global__ void halves(const int* values, int* result) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    if (t < 32) {
        tile[t] = values[t];
        __syncthreads();
    } else {
        tile[t] = -values[t];
        __syncthreads();
    }
    result[t] = tile[63 - t];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    halves<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != (i < 32 ? -h_values[63 - i] : h_values[63 - i])) return 1;
    }
    return 0;
}
