// expect: silent
// Two warps use the two halves of one tile, each in step with itself alone.

#include <vector>

#include "../../common/lab.h"

__global__ void reverse_in_warps(const int* values, int* result) {
    __shared__ int tile[64];
    const int t = threadIdx.x, first = t / 32 * 32;
    tile[t] = values[t];
    __syncwarp();
    result[t] = tile[first + 31 - t % 32];
    __syncwarp();
    tile[t] = 0;
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    reverse_in_warps<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i / 32 * 32 + 31 - i % 32]) return 1;
    }
    return 0;
}
