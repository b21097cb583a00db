// expect: uninitialised 9
// A kernel adds to memory that nobody has cleared: cudaMalloc does not.

#include <vector>

#include "../../common/lab.h"

__global__ void accumulate(const int* values, int* result) {
    result[threadIdx.x] += values[threadIdx.x];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    accumulate<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i]) return 1;
    }
    return 0;
}
