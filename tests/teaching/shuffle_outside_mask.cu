// expect: warp 12
// A lane calls a shuffle whose mask does not name it.

#include <vector>

#include "../../common/lab.h"

__global__ void sum_of_pairs(const int* values, int* result) {
    const int lane = threadIdx.x;
    const unsigned chosen = __ballot_sync(0xffffffffu, lane < 16);
    result[lane] = values[lane];
    if (lane < 20) result[lane] += __shfl_xor_sync(chosen, values[lane], 1);
}

int main() {
    constexpr int count = 32;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    sum_of_pairs<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[i] + (i < 16 ? h_values[i ^ 1] : 0)) return 1;
    }
    return 0;
}
