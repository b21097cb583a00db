// expect: silent
// Dynamic shared memory in two parts of different types, and reused as a third after a barrier.

#include <vector>

#include "../../common/lab.h"

__global__ void two_parts(const int* values, int* result) {
    extern __shared__ double memory[];
    const int t = threadIdx.x, count = blockDim.x;
    double* const doubles = memory;
    int* const ints = reinterpret_cast<int*>(doubles + count);
    doubles[t] = values[t];
    ints[t] = values[t];
    __syncthreads();
    const int both = int(doubles[count - 1 - t]) + ints[(t + 1) % count];
    __syncthreads();
    short* const shorts = reinterpret_cast<short*>(memory);
    shorts[t] = both;
    __syncthreads();
    result[t] = shorts[count - 1 - t];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    two_parts<<<1, count, count*(sizeof(double) + sizeof(int))>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i] + h_values[(64 - i) % 64]) return 1;
    }
    return 0;
}
