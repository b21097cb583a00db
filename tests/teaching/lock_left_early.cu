// expect: race 14
// The lock is given back before the update that it should protect.

#include <vector>

#include "../../common/lab.h"

__global__ void add_locked(const int* values, int* result, int* lock) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    atomicExch(lock, 0);
    *result += values[blockIdx.x];
}

int main() {
    constexpr int count = 16;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    lab::DeviceArray<int> values(count), result(1), lock(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(result.get(), 0, result.bytes()));
    CHECK(cudaMemset(lock.get(), 0, lock.bytes()));
    add_locked<<<count, 32>>>(values.get(), result.get(), lock.get());
    CHECK_LAUNCH();
    int h_result = 0, expected = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (const int value : h_values) expected += value;
    return h_result == expected ? 0 : 1;
}
