// expect: race 10 12
// A stencil in place: the barrier orders the threads of a block, and nothing orders two blocks.

#include <vector>

#include "../../common/lab.h"

__global__ void add_left(int* values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int left = values[i > 0 ? i - 1 : 0];
    __syncthreads();
    values[i] += left;
}

int main() {
    constexpr int count = 128;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    add_left<<<count / 32, 32>>>(values.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), values.get(), values.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i] + h_values[i > 0 ? i - 1 : 0]) return 1;
    }
    return 0;
}
