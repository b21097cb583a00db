// expect: race 10
// All threads raise one counter in global memory with +=: updates are lost.

#include <vector>

#include "../../common/lab.h"

__global__ void count_even(const int* values, int* result) {
    if (values[threadIdx.x] % 2 == 0) {
        *result += 1;
    }
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(result.get(), 0, result.bytes()));
    count_even<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    int h_result = 0, expected = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (const int value : h_values) expected += value % 2 == 0;
    return h_result == expected ? 0 : 1;
}
