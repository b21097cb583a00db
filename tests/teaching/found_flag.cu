// expect: silent
// Any thread may raise the flag: atomicOr makes that no race.

#include <vector>

#include "../../common/lab.h"

__global__ void contains(const int* values, int* result, int wanted) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (values[threadIdx.x] == wanted) atomicOr(&found, 1);
    __syncthreads();
    if (threadIdx.x == 0) *result = found;
}

int main() {
    constexpr int count = 128;
    const std::vector<int> h_values = lab::random_values(count, 0, 7, 1);
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    contains<<<1, count>>>(values.get(), result.get(), 3);
    CHECK_LAUNCH();
    int h_result = 0, expected = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (const int value : h_values) expected |= value == 3;
    return h_result == expected ? 0 : 1;
}
