// expect: device-pointer 21
// Host code takes a variable of the device by its name: that is another one, which no kernel has changed.

#include <vector>

#include "../../common/lab.h"

__device__ int hits;

__global__ void count_above(const int* values, int limit) {
    if (values[threadIdx.x] > limit) atomicAdd(&hits, 1);
}

int main() {
    constexpr int count = 64;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    lab::DeviceArray<int> values(count);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    count_above<<<1, count>>>(values.get(), 50);
    CHECK_LAUNCH();
    return hits > count ? 1 : 0;
}
