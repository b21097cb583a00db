// expect: silent
// A running sum with two buffers whose roles change at each step.

#include <vector>

#include "../../common/lab.h"

__global__ void scan(const int* values, int* result) {
    __shared__ int buffers[2][64];
    const int t = threadIdx.x;
    int from = 0;
    int sum = values[t];
    buffers[from][t] = sum;
    for (int distance = 1; distance < 64; distance *= 2) {
        __syncthreads();
        const int to = 1 - from;
        if (t >= distance) sum += buffers[from][t - distance];
        buffers[to][t] = sum;
        from = to;
    }
    result[t] = sum;
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    scan<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += h_values[i];
        if (h_result[i] != sum) return 1;
    }
    return 0;
}
