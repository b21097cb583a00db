// expect: device-pointer 13
// memcpy instead of cudaMemcpy: it runs on the host, which cannot read the device's memory.

#include <cstring>
#include <vector>

#include "../../common/lab.h"

int main() {
    lab::DeviceArray<int> values(64);
    std::vector<int> h_values(64);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    std::memcpy(h_values.data(), values.get(), values.bytes());
    return h_values[63];
}
