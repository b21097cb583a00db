// Feature: CUB | `BlockReduce`, `BlockScan`, `BlockLoad`, `BlockStore`, `BlockRadixSort`, `BlockExchange`, `WarpReduce`, `WarpScan`; `DeviceReduce`, `DeviceScan`, `DeviceRadixSort`, `DeviceSelect`, `DeviceRunLengthEncode`, `DeviceHistogram`
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

#include "../runtime_expect.h"

struct Larger {
    template <class T>
    __host__ __device__ T operator()(const T& a, const T& b) const {
        return a < b ? b : a;
    }
};
struct Odd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
constexpr int threads = 64, items = 3, block_items = threads * items;

__global__ void of_blocks(const int* in, int* out) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_STRIPED>;
    using Reduce = cub::BlockReduce<int, threads>;
    using Scan = cub::BlockScan<int, threads>;
    using Sort = cub::BlockRadixSort<int, threads, items, int>;
    using Exchange = cub::BlockExchange<int, threads, items>;
    __shared__ typename Load::TempStorage for_load;
    __shared__ typename Store::TempStorage for_store;
    __shared__ typename Reduce::TempStorage for_reduce;
    __shared__ typename Scan::TempStorage for_scan;
    __shared__ typename Sort::TempStorage for_sort;
    __shared__ typename Exchange::TempStorage for_exchange;
    const int thread = threadIdx.x;
    int keys[items], values[items], sums[items];
    Load(for_load).Load(in, keys);
    const int sum = Reduce(for_reduce).Sum(keys);
    __syncthreads();
    const int largest = Reduce(for_reduce).Reduce(keys[0], Larger(), 10);
    int total = 0;
    Scan(for_scan).ExclusiveSum(keys, sums, total);
    __syncthreads();
    int before = 0;
    Scan(for_scan).InclusiveScan(keys[0], before, Larger());
    if (thread == 0) out[0] = sum, out[1] = largest;
    if (thread == threads - 1) out[2] = sums[items - 1], out[3] = total, out[4] = before;
    for (int i = 0; i < items; ++i) values[i] = thread * items + i;
    Sort(for_sort).Sort(keys, values);
    for (int i = 0; i < items; ++i)
        out[8 + thread * items + i] = keys[i],
                                 out[8 + block_items + thread * items + i] = values[i];
    Exchange(for_exchange).BlockedToStriped(keys, keys);
    Store(for_store).Store(out + 8 + 2 * block_items, keys);
}
__global__ void of_warps(const int* in, int* out) {
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int, 16>;
    __shared__ typename Reduce::TempStorage for_reduce[2];
    __shared__ typename Scan::TempStorage for_scan[4];
    const int sum = Reduce(for_reduce[threadIdx.x / 32]).Sum(in[threadIdx.x]);
    if (threadIdx.x % 32 == 0) out[64 + threadIdx.x / 32] = sum;
    int before = 0;
    Scan(for_scan[threadIdx.x / 16]).ExclusiveSum(in[threadIdx.x], before);
    out[threadIdx.x] = before;
}

// Calls an algorithm twice: for the size of its memory, and for what it is there for.
template <class Algorithm>
void twice(Algorithm algorithm) {
    void* work = nullptr;
    size_t bytes = 0;
    SUCCEEDS(algorithm(work, bytes));
    EXPECT(bytes > 0);
    SUCCEEDS(cudaMalloc(&work, bytes));
    SUCCEEDS(algorithm(work, bytes));
    SUCCEEDS(cudaDeviceSynchronize());
    SUCCEEDS(cudaFree(work));
}

void of_device(const int* in, int* out, const std::vector<int>& host) {
    const int count = static_cast<int>(host.size());
    auto sorted = host;
    std::sort(sorted.begin(), sorted.end());
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::Sum(work, bytes, in, out, count);
    });
    EXPECT(out[0] == std::accumulate(host.begin(), host.end(), 0));
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::Min(work, bytes, in, out, count);
    });
    EXPECT(out[0] == sorted[0]);
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceReduce::Reduce(work, bytes, in, out, count, Larger(), -1000);
    });
    EXPECT(out[0] == sorted.back());
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(work, bytes, in, out, count);
    });
    EXPECT(out[0] == 0 && out[count - 1] == std::accumulate(host.begin(), host.end() - 1, 0));
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceScan::InclusiveScan(work, bytes, in, out, Larger(), count);
    });
    EXPECT(out[0] == host[0] && out[count - 1] == sorted.back());
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceRadixSort::SortKeys(work, bytes, in, out, count);
    });
    EXPECT(std::equal(sorted.begin(), sorted.end(), out));
    int* places = out + count;
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceRadixSort::SortPairsDescending(work, bytes, in, out, in, places, count);
    });
    EXPECT(std::equal(sorted.rbegin(), sorted.rend(), out) &&
           std::equal(sorted.rbegin(), sorted.rend(), places));
    int* number = out + 2 * count;
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceSelect::If(work, bytes, in, out, number, count, Odd());
    });
    EXPECT(*number == std::count_if(host.begin(), host.end(), Odd()) &&
           out[0] == *std::find_if(host.begin(), host.end(), Odd()));
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(work, bytes, in, out, 6, -50, 50, count);
    });
    EXPECT(out[1] ==
           std::count_if(host.begin(), host.end(), [](int x) { return x >= -30 && x < -10; }));
    int* runs = const_cast<int*>(in);
    for (int i = 0; i < count; ++i) runs[i] = i / 7;
    twice([&](void* work, size_t& bytes) {
        return cub::DeviceRunLengthEncode::Encode(work, bytes, in, out, places, number, count);
    });
    EXPECT(*number == (count + 6) / 7 && out[2] == 2 && places[2] == 7 &&
           places[*number - 1] == count - 7 * (*number - 1));
}

int main() {
    std::vector<int> host;
    for (int i = 0; i < block_items; ++i) host.push_back(i * 37 % 101 - 50);
    int *in, *out;
    SUCCEEDS(cudaMallocManaged(&in, block_items * sizeof(int)));
    SUCCEEDS(cudaMallocManaged(&out, (8 + 3 * block_items) * sizeof(int)));
    std::copy(host.begin(), host.end(), in);
    of_blocks<<<1, threads>>>(in, out);
    EXPECT_RUN();
    const int sum = std::accumulate(host.begin(), host.end(), 0);
    int largest = -50, first = -50;
    for (int i = 0; i < threads; ++i) {
        if (i < 10) largest = std::max(largest, host[i * items]);
        first = std::max(first, host[i * items]);
    }
    EXPECT(out[0] == sum && out[1] == largest && out[2] == sum - host.back() && out[3] == sum &&
           out[4] == first);
    auto sorted = host;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < block_items; ++i) {
        EXPECT(out[8 + i] == sorted[i] && host[out[8 + block_items + i]] == sorted[i] &&
               out[8 + 2 * block_items + i] == sorted[i]);
        if (i > 0 && sorted[i] == sorted[i - 1])
            EXPECT(out[8 + block_items + i - 1] < out[8 + block_items + i]);
    }
    of_warps<<<1, threads>>>(in, out);
    EXPECT_RUN();
    EXPECT(out[65] == std::accumulate(host.begin() + 32, host.begin() + 64, 0));
    for (int i = 0; i < 64; ++i)
        EXPECT(out[i] == std::accumulate(host.begin() + i / 16 * 16, host.begin() + i, 0));
    of_device(in, out, host);
    SUCCEEDS(cudaFree(in));
    SUCCEEDS(cudaFree(out));
    std::puts("ok");
}
