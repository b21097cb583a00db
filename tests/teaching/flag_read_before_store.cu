// expect: race 8 9
// Two threads store the same, which is no fault; but what the first of them read before is 0 or 1.

#include "../../common/lab.h"

__global__ void set_flag(int* flag) {
    int before = 0;
    if (threadIdx.x == 40) before = flag[0];
    if (threadIdx.x == 40 || threadIdx.x == 70) flag[0] = 1;
    if (threadIdx.x == 40) flag[1] = before;
}

int main() {
    lab::DeviceArray<int> values(2);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    set_flag<<<1, 96>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 1 ? 0 : 1;
}
