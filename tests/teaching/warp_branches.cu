// expect: silent
// Half of a warp uses a shuffle and half a vote: all lanes take part in both, before the branch.

#include <vector>

#include "../../common/lab.h"

__global__ void mixed(const int* values, int* result) {
    const unsigned full = 0xffffffffu;
    const int value = values[threadIdx.x];
    const int other = __shfl_xor_sync(full, value, 1);
    const int above = __popc(__ballot_sync(full, value > 50));
    result[threadIdx.x] = threadIdx.x < 16 ? other : above;
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
