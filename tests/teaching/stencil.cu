// expect: silent
// A stencil reads one array and writes another.

#include <vector>

#include "../../common/lab.h"

__global__ void add_left(const int* values, int* result) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = values[i > 0 ? i - 1 : 0];
    __syncthreads();
    result[i] = values[i] + left;
}

int main() {
    constexpr int count = 128;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    add_left<<<count / 32, 32>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i] + h_values[i > 0 ? i - 1 : 0]) return 1;
    }
    return 0;
}
