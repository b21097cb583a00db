// expect: silent
// Every thread has a fence behind its part; after the barrier thread 0 takes the ticket for all.

#include <vector>

#include "../../common/lab.h"

__global__ void sum_by_last_block(const int* values, int* parts, int* result, unsigned* tickets) {
    __shared__ bool last;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    parts[i] = 2 * values[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last || threadIdx.x != 0) return;
    __threadfence();
    int sum = 0;
    for (unsigned k = 0; k < gridDim.x * blockDim.x; ++k) sum += parts[k];
    *result = sum;
}

int main() {
    constexpr int count = 128;
    const std::vector<int> h_values = lab::random_values(count, 0, 99, 1);
    lab::DeviceArray<int> values(count), parts(count), result(1);
    lab::DeviceArray<unsigned> tickets(1);
    CHECK(cudaMemcpy(values.get(), h_values.data(), values.bytes(), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(tickets.get(), 0, tickets.bytes()));
    sum_by_last_block<<<4, 32>>>(values.get(), parts.get(), result.get(), tickets.get());
    CHECK_LAUNCH();
    int h_result = 0, expected = 0;
    CHECK(cudaMemcpy(&h_result, result.get(), sizeof(int), cudaMemcpyDeviceToHost));
    for (const int value : h_values) expected += 2 * value;
    return h_result == expected ? 0 : 1;
}
