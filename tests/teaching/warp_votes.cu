// expect: silent
// Votes and matches: lanes exchange bits without any memory.

#include <vector>

#include "../../common/lab.h"

__global__ void votes(const int* values, int* result) {
    const unsigned full = 0xffffffffu;
    const int value = values[threadIdx.x];
    const int even = __popc(__ballot_sync(full, value % 2 == 0));
    const bool some = __any_sync(full, value == 50), all = __all_sync(full, value >= 0);
    result[threadIdx.x] = even + (some ? 100 : 0) + (all ? 1000 : 0);
}

int main() {
    constexpr int count = 32;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    votes<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    int expected = 1000;
    for (const int value : h_values) expected += value % 2 == 0;
    if (std::count(h_values.begin(), h_values.end(), 50)) expected += 100;
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != expected) return 1;
    }
    return 0;
}
