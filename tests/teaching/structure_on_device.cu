// expect: silent
// A structure with a pointer to device memory goes to a kernel by value.

#include <vector>

#include "../../common/lab.h"

struct Vector {
    int* values;
    int count;
};

__global__ void negate(Vector vector) {
    if (threadIdx.x < vector.count) vector.values[threadIdx.x] *= -1;
}

int main() {
    std::vector<int> h_values(50, 1);
    lab::DeviceArray<int> values(50);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    const Vector vector = {values.get(), 50};
    negate<<<1, 64>>>(vector);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    CHECK(cudaMemcpy(h_values.data(), values.get(), values.bytes(), cudaMemcpyDeviceToHost));
    return h_values[49] == -1 ? 0 : 1;
}
