// expect: silent
// A block waits for the sum of the one before it: ticket, fence, flag by an atomic.
// Tickets make sure that the block waited for has begun.

#include <vector>

#include "../../common/lab.h"

__global__ void running_sum(const int* values, int* result, int* tickets, int* flags) {
    const int block = atomicAdd(tickets, 1);
    int before = 0;
    if (block > 0) {
        while (atomicAdd(&flags[block - 1], 0) == 0) {
        }
        __threadfence();
        before = result[block - 1];
    }
    result[block] = before + values[block];
    __threadfence();
    atomicExch(&flags[block], 1);
}

int main() {
    constexpr int count = 16;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    std::vector<int> h_result(count);
    lab::DeviceArray<int> values(count), result(count), tickets(1), flags(count);
    CHECK(cudaMemset(tickets.get(), 0, tickets.bytes()));
    CHECK(cudaMemset(flags.get(), 0, flags.bytes()));
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    running_sum<<<count, 1>>>(values.get(), result.get(), tickets.get(), flags.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result.data(), result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += h_values[i];
        if (h_result[i] != sum) return 1;
    }
    return 0;
}
