// expect: silent
// One thread stores a value for all, a barrier, all load it.

#include <vector>

#include "../../common/lab.h"

__global__ void subtract_first(const int* values, int* result) {
    __shared__ int first;
    const int t = threadIdx.x;
    if (t == 0) first = values[0];
    __syncthreads();
    result[t] = values[t] - first;
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    subtract_first<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i] - h_values[0]) return 1;
    }
    return 0;
}
