// expect: bounds 9
// cudaMemset counts bytes, and gets here more of them than were allocated.

#include "../../common/lab.h"

int main() {
    constexpr int count = 100;
    lab::DeviceArray<char> values(count);
    const cudaError_t status = cudaMemset(values.get(), 0, count * sizeof(int));
    return status == cudaSuccess ? 0 : 1;
}
