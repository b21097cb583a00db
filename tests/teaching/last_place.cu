// expect: silent
// Whoever finds the value offers its place, and atomicMax keeps the largest.

#include <vector>

#include "../../common/lab.h"

__global__ void last_place(const int* values, int* result, int wanted) {
    __shared__ int place;
    const int t = threadIdx.x;
    if (t == 0) place = -1;
    __syncthreads();
    if (values[t] == wanted) {
        atomicMax(&place, t);
    }
    __syncthreads();
    if (t == 0) *result = place;
}

int main() {
    constexpr int count = 128;
    const std::vector<int> h_values = lab::random_values(count, 0, 7, 1);
    lab::DeviceArray<int> values(count), result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    last_place<<<1, count>>>(values.get(), result.get(), 3);
    CHECK_LAUNCH();
    int h_result = 0, expected = -1;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_values[i] == 3) expected = i;
    }
    return h_result == expected ? 0 : 1;
}
