// expect: silent
// The same inside a block: each thread a byte of its own, and a barrier before words are read.

#include <vector>

#include "../../common/lab.h"

__global__ void pack(const int* values, unsigned* result) {
    __shared__ __align__(4) unsigned char bytes[64];
    const int t = threadIdx.x;
    bytes[t] = values[t];
    __syncthreads();
    if (t < 16) result[t] = reinterpret_cast<const unsigned*>(bytes)[t];
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    unsigned h_result[16];
    lab::DeviceArray<int> values(count);
    lab::DeviceArray<unsigned> result(16);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    pack<<<1, count>>>(values.get(), result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result, result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (int(h_result[i / 4] >> 8 * (i % 4) & 255) != h_values[i]) return 1;
    }
    return 0;
}
