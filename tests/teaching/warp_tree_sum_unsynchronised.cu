// expect: race 14
// Lanes of a warp do not run in step: volatile is no substitute for __syncwarp().

#include <vector>

#include "../../common/lab.h"

__global__ void warp_tree_sum(const int* values, int* result) {
    __shared__ volatile int tile[32];
    const int lane = threadIdx.x;
    tile[lane] = values[lane];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (lane < half) tile[lane] = tile[lane] + tile[lane + half];
    }
    if (lane == 0) *result = tile[0];
}

int main() {
    constexpr int count = 32;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    warp_tree_sum<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    int h_result = 0, expected = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (const int value : h_values) expected += value;
    return h_result == expected ? 0 : 1;
}
