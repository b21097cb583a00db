// Feature: Thrust, policies and pointers | `thrust::host`, `thrust::device`, `thrust::cuda::par.on(stream)`, raw pointers, `device_pointer_cast`, `device_malloc`, vectors in managed memory, extended lambdas, `tabulate`, `transform_if`, `for_each_n`, `system_error`
// Flags: --extended-lambda
#ifdef CUDA_ON_CPU
#define __CUDACC__  // as FLAGS=-D__CUDACC__ has it
#endif
#include <thrust/count.h>
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/universal_vector.h>

#include <vector>

#include "../runtime_expect.h"

__global__ void add_one(int* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] += 1;
}

int main() {
    constexpr int n = 100;
    std::vector<int> host(n);
    thrust::sequence(thrust::host, host.begin(), host.end());
    EXPECT(thrust::reduce(thrust::host, host.begin(), host.end()) == 4950);

    // cudaMalloc's memory: with a policy as a raw pointer, or as a device_ptr without one.
    int* raw = nullptr;
    SUCCEEDS(cudaMalloc(&raw, n * sizeof(int)));
    SUCCEEDS(cudaMemcpy(raw, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    EXPECT(thrust::reduce(thrust::device, raw, raw + n) == 4950);
    add_one<<<1, 128>>>(raw, n);
    EXPECT(thrust::count(thrust::device_pointer_cast(raw), thrust::device_pointer_cast(raw) + n,
                         100) == 1);
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    add_one<<<1, 128, 0, stream>>>(raw, n);
    thrust::sort(thrust::cuda::par.on(stream), raw, raw + n, thrust::greater<int>());
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(read_back(raw) == 101 && read_back(raw + n - 1) == 2);
    SUCCEEDS(cudaStreamDestroy(stream));

    int* pointer = raw;
    thrust::for_each_n(thrust::device, thrust::counting_iterator<int>(0), n,
                       [=] __device__(int i) { pointer[i] = 3 * i; });
    EXPECT(read_back(raw + 7) == 21);
    thrust::tabulate(thrust::device, raw, raw + n, [] __device__(int i) { return i % 5; });
    thrust::transform_if(
        thrust::device, raw, raw + n, raw, [] __device__(int x) { return x + 100; },
        [] __device__(int x) { return x == 4; });
    EXPECT(thrust::count_if(thrust::device, raw, raw + n,
                            [] __device__(int x) { return x == 104; }) == n / 5);
    SUCCEEDS(cudaFree(raw));

    thrust::device_ptr<float> memory = thrust::device_malloc<float>(n);
    thrust::fill(memory, memory + n, 2.0f);
    memory[3] = 5.0f;
    EXPECT(thrust::reduce(memory, memory + n) == 203.0f && memory[3] == 5.0f);
    thrust::device_free(memory);

    // Managed: the host reads it without a copy.
    thrust::universal_vector<int> both(n);
    thrust::sequence(both.begin(), both.end());
    add_one<<<1, 128>>>(thrust::raw_pointer_cast(both.data()), n);
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(both[0] == 1 && both[n - 1] == n);

    bool caught = false;
    try {
        throw thrust::system_error(cudaErrorInvalidValue, thrust::cuda_category());
    } catch (const thrust::system_error& error) {
        caught = error.code().value() == cudaErrorInvalidValue;
    }
    EXPECT(caught);
    std::puts("ok");
}
