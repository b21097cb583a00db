// expect: race 10
// The slices of neighbouring blocks overlap by one element, which two blocks then write.

#include <vector>

#include "../../common/lab.h"

__global__ void number_slices(int* result) {
    int* const slice = result + blockIdx.x * (blockDim.x - 1);
    slice[threadIdx.x] = blockIdx.x;
}

int main() {
    constexpr int count = 128;
    std::vector<int> h_result(count);
    lab::DeviceArray<int> result(count);
    CHECK(cudaMemset(result.get(), 0, result.bytes()));
    number_slices<<<count / 32, 32>>>(result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) {
        if (h_result[i] != i / 32) return 1;
    }
    return 0;
}
