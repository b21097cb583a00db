// expect: call 11
// The stream was destroyed; what cudaMemsetAsync returns would have said so.

#include "../../common/lab.h"

int main() {
    lab::DeviceArray<int> values(64);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamDestroy(stream));
    cudaMemsetAsync(values.get(), 0, values.bytes(), stream);
    return 0;
}
