// expect: silent
// A tile that is not square, stored in one order and read in the other.

#include <vector>

#include "../../common/lab.h"

__global__ void transpose(const int* values, int* result) {
    __shared__ int tile[4][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int t = 16 * y + x;
    tile[y][x] = values[t];
    __syncthreads();
    result[t] = tile[t % 4][t / 4];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    transpose<<<1, dim3(16, 4)>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[16 * (i % 4) + i / 4]) return 1;
    }
    return 0;
}
