// expect: race 9
// memcpy in a kernel: all threads copy to one place.

#include <vector>

#include "../../common/lab.h"

__global__ void copy(const int* in, int* out) {
    memcpy(out, in + 6 * threadIdx.x, 6 * sizeof(int));
}

int main() {
    lab::DeviceArray<int> values(384);
    std::vector<int> h_values(384);
    for (int i = 0; i < 384; ++i) h_values[i] = i;
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    lab::DeviceArray<int> result(6);
    copy<<<1, 64>>>(values.get(), result.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value >= 0 ? 0 : 1;
}
