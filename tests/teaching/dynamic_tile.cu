// expect: silent
// The launch asks for as many bytes of dynamic shared memory as the kernel uses.

#include <vector>

#include "../../common/lab.h"

__global__ void reverse(const int* values, int* result) {
    extern __shared__ int tile[];
    const int t = threadIdx.x;
    tile[t] = values[t];
    __syncthreads();
    result[t] = tile[blockDim.x - 1 - t];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    reverse<<<1, count, count * sizeof(int)>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != h_values[63 - i]) return 1;
    }
    return 0;
}
