// expect: device-pointer 12
// A function of the host's library is given the device's memory.

#include <vector>

#include "../../common/lab.h"

int main() {
    const std::vector<int> h_values = lab::random_values(64, 0, 99, 1);
    lab::DeviceArray<int> values(64);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    std::sort(values.get(), values.get() + 64);
    return 0;
}
