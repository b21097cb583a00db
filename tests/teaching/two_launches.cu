// expect: silent
// The second kernel of a stream reads what other threads of the first one stored.

#include <vector>

#include "../../common/lab.h"

__global__ void doubled(const int* values, int* result) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    result[i] = 2 * values[i];
}

__global__ void reverse(int* values, int count) {
    const int i = threadIdx.x;
    const int first = values[i], last = values[count - 1 - i];
    values[i] = last;
    values[count - 1 - i] = first;
}

int main() {
    constexpr int count = 128;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    doubled<<<4, 32>>>(values.get(), result.get());
    reverse<<<1, count / 2>>>(result.get(), count);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != 2 * h_values[127 - i]) return 1;
    }
    return 0;
}
