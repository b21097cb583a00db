// expect: silent
// Each thread stores four elements at once, those of its own group.

#include "../../common/lab.h"

__global__ void number_groups(int* result) {
    const int t = threadIdx.x;
    *reinterpret_cast<int4*>(result + 4 * t) = make_int4(t, t, t, t);
}

int main() {
    int h_result[128];
    lab::DeviceArray<int> result(128);
    CHECK(cudaMemset(result.get(), 0, result.bytes()));
    number_groups<<<1, 32>>>(result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result, result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; ++i) {
        if (h_result[i] != i / 4) return 1;
    }
    return 0;
}
