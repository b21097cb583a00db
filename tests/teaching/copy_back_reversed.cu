// expect: copy-direction 15
// The copy of the result says the direction of the copy of the input.

#include <vector>

#include "../../common/lab.h"

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    cudaError_t status = cudaSuccess;
    status = cudaMemcpy(h_result.data(), values.get(), values.bytes(), cudaMemcpyHostToDevice);
    if (status != cudaSuccess) return 1;
    return h_result == h_values ? 0 : 1;
}
