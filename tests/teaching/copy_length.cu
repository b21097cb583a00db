// expect: silent
// A copy of as many bytes as both sides have.

#include <vector>

#include "../../common/lab.h"

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(2 * count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count);
    const size_t bytes = count * sizeof(int);
    const cudaError_t status =
        cudaMemcpy(values.get(), h_values.data(), bytes, cudaMemcpyHostToDevice);
    if (status != cudaSuccess) return 1;
    CHECK(cudaMemcpy(h_result.data(), values.get(), values.bytes(), cudaMemcpyDeviceToHost));
    return h_result[count - 1] == h_values[count - 1] ? 0 : 1;
}
