// expect: silent
// __syncthreads_count is a barrier as well: what was stored before it may be read after it.

#include <vector>

#include "../../common/lab.h"

__global__ void above_neighbour(const int* values, int* result) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    tile[t] = values[t];
    const int small = __syncthreads_count(values[t] < 50);
    result[t] = tile[(t + 1) % 64] + small;
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    above_neighbour<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    int small = 0;
    for (const int value : h_values) small += value < 50;
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[(i + 1) % 64] + small) return 1;
    }
    return 0;
}
