// expect: race 12 13
// The second of two arrays in dynamic shared memory begins before the first one ends.

#include <vector>

#include "../../common/lab.h"

__global__ void two_parts(const int* values, int* result) {
    extern __shared__ int memory[];
    const int t = threadIdx.x, count = blockDim.x;
    int* const sums = memory + count / 2;
    memory[t] = values[t];
    sums[t] = 2 * values[t];
    __syncthreads();
    result[t] = sums[count - 1 - t];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    two_parts<<<1, count, 2 * count * sizeof(int)>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != 2 * h_values[63 - i]) return 1;
    }
    return 0;
}
