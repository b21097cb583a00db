// expect: silent
// The host reads its own copy of a result.

#include "../../common/lab.h"

__global__ void answer(int* result) { *result = 42; }

int main() {
    lab::DeviceArray<int> result(1);
    answer<<<1, 1>>>(result.get());
    CHECK_LAUNCH();
    int h_result = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    if (h_result != 42) return 1;
    return 0;
}
