// expect: race 13
// Shared counters raised with a plain +=: two threads read the same old number, one count is lost.

#include <vector>

#include "../../common/lab.h"

__global__ void histogram(const int* values, int* bins) {
    __shared__ int counts[8];
    const int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    counts[values[t]] += 1;
    __syncthreads();
    if (t < 8) bins[t] = counts[t];
}

int main() {
    constexpr int count = 256;
    const std::vector<int> h_values = lab::random_values(count, 0, 7, 1);
    std::vector<int> h_bins(8), expected(8);
    lab::DeviceArray<int> values(count), bins(8);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(bins.get(), 0, bins.bytes()));
    histogram<<<1, count>>>(values.get(), bins.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_bins.data(), bins.get(), bins.bytes(), cudaMemcpyDeviceToHost));
    for (const int value : h_values) ++expected[value];
    return h_bins == expected ? 0 : 1;
}
