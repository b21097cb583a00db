// expect: silent
// A barrier inside a condition that is the same for all threads of a block.

#include <vector>

#include "../../common/lab.h"

__global__ void reverse(const int* values, int* result) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    tile[t] = values[t];
    if (blockIdx.x == 0) {
        __syncthreads();
    }
    if (blockIdx.x == 0) result[t] = tile[63 - t];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    reverse<<<2, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[63 - i]) return 1;
    }
    return 0;
}
