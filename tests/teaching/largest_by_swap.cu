// expect: silent
// An atomic maximum of floats, made of atomicCAS.

#include <vector>

#include "../../common/lab.h"

__global__ void largest(const float* values, unsigned* result) {
    unsigned seen = atomicAdd(result, 0u);
    while (__uint_as_float(seen) < values[threadIdx.x]) {
        const unsigned before = atomicCAS(result, seen, __float_as_uint(values[threadIdx.x]));
        if (before == seen) return;
        seen = before;
    }
}

int main() {
    const std::vector<float> h_values = lab::random_values(128, 0.0f, 1.0f, 1);
    lab::DeviceArray<float> values(128);
    lab::DeviceArray<unsigned> result(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(result.get(), 0, result.bytes()));
    largest<<<1, 128>>>(values.get(), result.get());
    CHECK_LAUNCH();
    float h_result = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(float), cudaMemcpyDeviceToHost));
    return h_result == *std::max_element(h_values.begin(), h_values.end()) ? 0 : 1;
}
