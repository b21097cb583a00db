// expect: silent
// The usual sum of a block as a tree, with a barrier after each step.

#include <vector>

#include "../../common/lab.h"

__global__ void tree_sum(const int* values, int* result) {
    __shared__ int tile[128];
    const int t = threadIdx.x;
    tile[t] = values[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) tile[t] += tile[t + half];
        __syncthreads();
    }
    if (t == 0) *result = tile[0];
}

int main() {
    constexpr int count = 128;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    tree_sum<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    int h_result = 0, expected = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (const int value : h_values) expected += value;
    return h_result == expected ? 0 : 1;
}
