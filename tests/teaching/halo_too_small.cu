// expect: bounds 13
// The tile has room for one element of the halo, not for two: the last one is past its end.

#include <vector>

#include "../../common/lab.h"

__global__ void sum_of_three(const int* values, int* result, int count) {
    __shared__ int tile[65];
    const int t = threadIdx.x;
    tile[t + 1] = values[t];
    if (t == 0) tile[0] = 0;
    if (t == count - 1) tile[t + 2] = 0;
    __syncthreads();
    result[t] = tile[t] + tile[t + 1] + (t == count - 1 ? 0 : tile[t + 2]);
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    sum_of_three<<<1, count>>>(values.get(), result.get(), count);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] !=
            (i > 0 ? h_values[i - 1] : 0) + h_values[i] + (i < 63 ? h_values[i + 1] : 0))
            return 1;
    }
    return 0;
}
