// expect: copy-direction 12
// The source of a copy from device to device is in the host's memory.

#include <vector>

#include "../../common/lab.h"

int main() {
    const std::vector<int> h_values = lab::random_values(64, 0, 99, 1);
    lab::DeviceArray<int> values(64);
    cudaError_t status = cudaSuccess;
    status = cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyDeviceToDevice);
    return status == cudaSuccess ? 0 : 1;
}
