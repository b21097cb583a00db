// expect: race 10
// Each block is one thread, so no barrier could help: blocks lose each other's counts.

#include <vector>

#include "../../common/lab.h"

__global__ void histogram(const int* values, int* bins, int count) {
    for (int i = blockIdx.x; i < count; i += gridDim.x) {
        bins[values[i]] += 1;
    }
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 7, 1);
    std::vector<int> h_bins(8), expected(8);
    lab::DeviceArray<int> values(count), bins(8);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(bins.get(), 0, bins.bytes()));
    histogram<<<4, 1>>>(values.get(), bins.get(), count);
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_bins.data(), bins.get(), bins.bytes(), cudaMemcpyDeviceToHost));
    for (const int value : h_values) ++expected[value];
    return h_bins == expected ? 0 : 1;
}
