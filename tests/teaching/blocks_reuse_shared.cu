// expect: silent
// Many blocks follow each other on one multiprocessor; each has the shared memory to itself.

#include <vector>

#include "../../common/lab.h"

__global__ void reverse_blocks(const int* values, int* result) {
    __shared__ int tile[32];
    const int t = threadIdx.x, first = blockIdx.x * 32;
    tile[t] = values[first + t];
    __syncthreads();
    result[first + t] = tile[31 - t];
}

int main() {
    constexpr int count = 1024;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    reverse_blocks<<<count / 32, 32>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i / 32 * 32 + 31 - i % 32]) return 1;
    }
    return 0;
}
