// expect: silent
// memcpy and memset in a kernel, to each thread a place of its own.

#include "../../common/lab.h"

__global__ void copy(int* out) {
    int six[6];
    memset(six, 0, sizeof six);
    six[0] = threadIdx.x;
    memcpy(out + 6 * threadIdx.x, six, sizeof six);
}

int main() {
    lab::DeviceArray<int> values(384);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    copy<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 0 ? 0 : 1;
}
