// Feature: CUB, scans by key, iterators, loops | `DeviceScan::InclusiveSumByKey`, `ExclusiveSumByKey`, in place; `DeviceReduce::TransformReduce`; `DeviceAdjacentDifference`; `DeviceFor`; counting, constant, transforming, numbering and cache-modified iterators
#include <cub/cub.cuh>
#include <vector>

#include "../device_copies.h"

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};
struct Add {
    __host__ __device__ int operator()(int a, int b) const { return a + b; }
};
struct Minus {
    __host__ __device__ int operator()(int a, int b) const { return a - b; }
};
struct Double {
    __device__ void operator()(int& x) const { x *= 2; }
};
struct StoreSquare {
    int* out;
    __device__ void operator()(int i) const { out[i] = i * i; }
};

template <class Call>
void run(Call call) {
    void* work = nullptr;
    size_t bytes = 0;
    SUCCEEDS(call(nullptr, bytes));
    EXPECT(bytes > 0);
    SUCCEEDS(cudaMalloc(&work, bytes));
    SUCCEEDS(call(work, bytes));
    SUCCEEDS(cudaDeviceSynchronize());
    SUCCEEDS(cudaFree(work));
}

int main() {
    constexpr int n = 6;
    int *keys = on_device(std::vector<int>{0, 0, 1, 1, 1, 0}),
        *in = on_device(std::vector<int>{1, 2, 3, 4, 5, 6}), *out = on_device(std::vector<int>(n));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceScan::InclusiveSumByKey(work, bytes, keys, in, out, n);
    });
    EXPECT(back(out, n) == (std::vector<int>{1, 3, 3, 7, 12, 6}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceScan::ExclusiveSumByKey(work, bytes, keys, in, out, n);
    });
    EXPECT(back(out, n) == (std::vector<int>{0, 1, 0, 3, 7, 0}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceScan::ExclusiveScanByKey(work, bytes, keys, in, out, Add(), 10, n);
    });
    EXPECT(back(out, n) == (std::vector<int>{10, 11, 10, 13, 17, 10}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceAdjacentDifference::SubtractLeftCopy(work, bytes, in, out, n, Minus());
    });
    EXPECT(back(out, n) == (std::vector<int>{1, 1, 1, 1, 1, 1}));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(work, bytes, out, n);
    });
    EXPECT(back(out, n) == (std::vector<int>{1, 2, 3, 4, 5, 6}));
#if CUDART_VERSION >= 13000
    run([&](void* work, size_t& bytes) {
        return cub::DeviceScan::InclusiveScanInit(work, bytes, in, out, Add(), 100, n);
    });
    EXPECT(back(out, n) == (std::vector<int>{101, 103, 106, 110, 115, 121}));
#endif
#if CUDART_VERSION >= 12040
    run([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::TransformReduce(work, bytes, in, out, n, Add(), Square(), 0);
    });
    EXPECT(back(out, 1)[0] == 91);
    SUCCEEDS(cub::DeviceFor::ForEachN(in, n, Double()));
    SUCCEEDS(cub::DeviceFor::Bulk(n, StoreSquare{out}));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(back(in, n) == (std::vector<int>{2, 4, 6, 8, 10, 12}) &&
           back(out, n) == (std::vector<int>{0, 1, 4, 9, 16, 25}));
#endif
    // Iterators as inputs. CUDA 13 has Thrust's in place of three of them.
#if CUDART_VERSION < 13000 || defined(CUDA_ON_CPU)
    const cub::CountingInputIterator<int> counting(1);
    const cub::TransformInputIterator<int, Square, cub::CountingInputIterator<int>> squares(
        counting, Square());
    run([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::Sum(work, bytes, squares, out, 10);
    });
    EXPECT(back(out, 1)[0] == 385);
    const cub::ConstantInputIterator<int> sevens(7);
    run([&](void* work, size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(work, bytes, sevens, out, n);
    });
    EXPECT(back(out, n) == (std::vector<int>{0, 7, 14, 21, 28, 35}));
    const cub::ConstantInputIterator<float> ones(1);  // beyond 2^24 a float does not grow by 1
    float* const sum = on_device(std::vector<float>{0});
    run([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::Sum(work, bytes, ones, sum, 20000000);
    });
    EXPECT(back(sum, 1)[0] == 20000000.0f);
#endif
    int* values = on_device(std::vector<int>{4, 9, 2, 9});
    const cub::CacheModifiedInputIterator<cub::LOAD_LDG, int> cached(values);
    run([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::Sum(work, bytes, cached, out, 4);
    });
    EXPECT(back(out, 1)[0] == 24);
    cub::KeyValuePair<int, int>* best =
        on_device(std::vector<cub::KeyValuePair<int, int>>(1, cub::KeyValuePair<int, int>(0, 0)));
    run([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::ArgMax(work, bytes, values, best, 4);
    });
    const cub::KeyValuePair<int, int> largest = back(best, 1)[0];
    EXPECT(largest.key == 1 && largest.value == 9);
    for (int* pointer : {keys, in, out, values}) SUCCEEDS(cudaFree(pointer));
    SUCCEEDS(cudaFree(best));
    std::puts("ok");
}
