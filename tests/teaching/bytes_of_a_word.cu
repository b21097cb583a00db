// expect: silent
// Blocks write neighbouring bytes: one 8-byte word, and still no race.

#include "../../common/lab.h"

__global__ void number_bytes(unsigned char* result) { result[blockIdx.x] = blockIdx.x; }

int main() {
    unsigned char h_result[16];
    lab::DeviceArray<unsigned char> result(16);
    number_bytes<<<16, 1>>>(result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result, result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 16; ++i) {
        if (h_result[i] != i) return 1;
    }
    return 0;
}
