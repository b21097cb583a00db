// expect: host-pointer 17
// A kernel gets the address of the values in the host's memory.

#include <vector>

#include "../../common/lab.h"

__global__ void doubled(const int* values, int* result) {
    result[threadIdx.x] = 2 * values[threadIdx.x];
}

int main() {
    constexpr int count = 64;
    std::vector<int> h_values = lab::random_values(count, 0, 99, 1), h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    doubled<<<1, count>>>(h_values.data(), result.get());
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    return h_result[count - 1] == 2 * h_values[count - 1] ? 0 : 1;
}
