// expect: uninitialised 13
// The first kernel leaves out the last element, which the second one reads.

#include <vector>

#include "../../common/lab.h"

__global__ void fill(int* values, int count) {
    if (threadIdx.x < count - 1) values[threadIdx.x] = threadIdx.x;
}

__global__ void doubled(const int* values, int* result) {
    result[threadIdx.x] = 2 * values[threadIdx.x];
}

int main() {
    constexpr int count = 64;
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    fill<<<1, count>>>(values.get(), count);
    doubled<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    return h_result[1] == 2 ? 0 : 1;
}
