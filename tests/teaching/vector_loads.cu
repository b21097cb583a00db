// expect: silent
// Whole vectors are loaded and stored; the last, incomplete one element by element.

#include <vector>

#include "../../common/lab.h"

__global__ void doubled(const int* values, int* result, int count) {
    const int first = 4 * threadIdx.x;
    if (first + 4 <= count) {
        const int4 four = reinterpret_cast<const int4*>(values)[threadIdx.x];
        const int4 twice = make_int4(2 * four.x, 2 * four.y, 2 * four.z, 2 * four.w);
        reinterpret_cast<int4*>(result)[threadIdx.x] = twice;
    } else {
        for (int i = first; i < count; ++i) result[i] = 2 * values[i];
    }
}

int main() {
    constexpr int count = 126;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    doubled<<<1, 32>>>(values.get(), result.get(), count);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != 2 * h_values[i]) return 1;
    }
    return 0;
}
