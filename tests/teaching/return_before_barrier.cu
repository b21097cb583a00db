// expect: barrier 13
// Threads without an element return, and so never come to the barrier.

#include <vector>

#include "../../common/lab.h"

__global__ void reverse(const int* values, int* result, int count) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    if (t >= count) return;
    tile[t] = values[t];
    __syncthreads();
    result[t] = tile[count - 1 - t];
}

int main() {
    constexpr int count = 50;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    reverse<<<1, 64>>>(values.get(), result.get(), count);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[49 - i]) return 1;
    }
    return 0;
}
