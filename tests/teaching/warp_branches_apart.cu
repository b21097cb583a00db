// expect: warp 12 14
// A shuffle in one branch, a vote in the other: each mask names all lanes, and half are elsewhere.

#include <vector>

#include "../../common/lab.h"

__global__ void mixed(const int* values, int* result) {
    const unsigned full = 0xffffffffu;
    const int value = values[threadIdx.x];
    if (threadIdx.x < 16) {
        result[threadIdx.x] = __shfl_xor_sync(full, value, 1);
    } else {
        result[threadIdx.x] = __popc(__ballot_sync(full, value > 50));
    }
}

int main() {
    constexpr int count = 32;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    mixed<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    int above = 0;
    for (const int value : h_values) above += value > 50;
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != (i < 16 ? h_values[i ^ 1] : above)) return 1;
    }
    return 0;
}
