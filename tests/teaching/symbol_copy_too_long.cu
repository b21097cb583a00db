// expect: bounds 13
// The copy is in bytes, and longer than the table that it goes to.

#include "../../common/lab.h"

__constant__ int table[4];

__global__ void take(int* result) { *result = table[3]; }

int main() {
    const int h_table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    lab::DeviceArray<int> result(1);
    if (cudaMemcpyToSymbol(table, h_table, sizeof h_table) != cudaSuccess) return 1;
    take<<<1, 1>>>(result.get());
    CHECK_LAUNCH();
    int h_result = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof h_result, cudaMemcpyDeviceToHost));
    return h_result == 4 ? 0 : 1;
}
