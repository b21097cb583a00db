// expect: uninitialised 13
// One element of a shared tile is read that no thread has set.

#include <vector>

#include "../../common/lab.h"

__global__ void sum_of_two(const int* values, int* result) {
    __shared__ int tile[65];
    const int t = threadIdx.x;
    tile[t] = values[t];
    __syncthreads();
    result[t] = tile[t] + tile[t + 1];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    sum_of_two<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i] + (i < 63 ? h_values[i + 1] : 0)) return 1;
    }
    return 0;
}
