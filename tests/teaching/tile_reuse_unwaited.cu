// expect: race 12 14
// The barrier after the use of a tile is missing: a fast thread stores the next piece too early.

#include <vector>

#include "../../common/lab.h"

__global__ void reverse_pieces(const int* values, int* result, int pieces) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    for (int piece = 0; piece < pieces; ++piece) {
        tile[t] = values[64 * piece + t];
        __syncthreads();
        result[64 * piece + t] = tile[63 - t];
    }
}

int main() {
    constexpr int count = 256;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    reverse_pieces<<<1, 64>>>(values.get(), result.get(), count / 64);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i / 64 * 64 + 63 - i % 64]) return 1;
    }
    return 0;
}
