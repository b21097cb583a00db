// expect: race 13 14
// An atomic on one side only: the counter is read while others still raise it.

#include <vector>

#include "../../common/lab.h"

__global__ void count_even(const int* values, int* result) {
    __shared__ int even;
    const int t = threadIdx.x;
    if (t == 0) even = 0;
    __syncthreads();
    if (values[t] % 2 == 0) atomicAdd(&even, 1);
    result[t] = even;
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    count_even<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    int even = 0;
    for (const int value : h_values) even += value % 2 == 0;
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != even) return 1;
    }
    return 0;
}
