// expect: bounds 15
// The copy is longer than the allocation that it goes to.

#include <vector>

#include "../../common/lab.h"

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(2 * count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count);
    const size_t bytes = 2 * count * sizeof(int);
    cudaError_t status = cudaSuccess;
    status = cudaMemcpy(values.get(), h_values.data(), bytes, cudaMemcpyHostToDevice);
    if (status != cudaSuccess) return 1;
    CHECK(cudaMemcpy(h_result.data(), values.get(), values.bytes(), cudaMemcpyDeviceToHost));
    return h_result[count - 1] == h_values[count - 1] ? 0 : 1;
}
