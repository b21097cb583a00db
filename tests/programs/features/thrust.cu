// Feature: Thrust | vectors, algorithms, iterators, `device_ptr` of `cudaMalloc`'s memory, `thrust::device`, kernels on a `device_vector`; the system's own headers (CUDA Toolkit or libthrust-dev)
#include <thrust/copy.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include "../runtime_expect.h"

struct square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
__global__ void add_one(int* values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] += 1;
}

int main() {
    const int count = 1000;
    thrust::device_vector<int> values(count);
    thrust::sequence(values.begin(), values.end());
    add_one<<<4, 256>>>(thrust::raw_pointer_cast(values.data()), count);
    EXPECT(thrust::reduce(values.begin(), values.end()) == count * (count + 1) / 2);
    const int squares =
        thrust::transform_reduce(values.begin(), values.end(), square(), 0, thrust::plus<int>());
    EXPECT(squares == count * (count + 1) / 2 * (2 * count + 1) / 3);
    thrust::sort(values.begin(), values.end(), thrust::greater<int>());
    EXPECT(values[0] == count && values[count - 1] == 1);
    thrust::host_vector<int> host = values;
    EXPECT(host[1] == count - 1);
    thrust::exclusive_scan(values.begin(), values.end(), values.begin());
    EXPECT(values[2] == 2 * count - 1);

    int* raw = zeros<int>(8);
    thrust::device_ptr<int> pointer = thrust::device_pointer_cast(raw);
    thrust::copy(thrust::counting_iterator<int>(3), thrust::counting_iterator<int>(11), pointer);
    add_one<<<1, 8>>>(raw, 8);
    EXPECT(thrust::reduce(thrust::device, pointer, pointer + 8) == 4 * (4 + 11));
    EXPECT(read_back(raw + 7) == 11);
    thrust::device_vector<int> keys(4), order(4);
    for (int i = 0; i < 4; ++i) keys[i] = (3 * i + 2) % 4, order[i] = i;
    thrust::sort_by_key(keys.begin(), keys.end(), order.begin());
    EXPECT(order[0] == 2 && order[3] == 3);
    SUCCEEDS(cudaFree(raw));
    printf("ok\n");
}
