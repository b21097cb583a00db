// expect: silent
// Every thread stores the same value, and reads back what it has stored itself.

#include "../../common/lab.h"

__global__ void set_flag(int* flag) {
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        *flag = 1;
        __syncwarp();
        sum += *flag;
    }
    if (sum != 3) *flag = 2;
}

int main() {
    lab::DeviceArray<int> values(1);
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    set_flag<<<2, 96>>>(values.get());
    CHECK_LAUNCH();
    int h_value = 0;
    CHECK(cudaMemcpy(&h_value, values.get(), sizeof(int), cudaMemcpyDeviceToHost));
    return h_value == 1 ? 0 : 1;
}
