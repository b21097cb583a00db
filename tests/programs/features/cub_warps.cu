// Feature: CUB, warps | `WarpReduce` of segments, `WarpScan` with its total and of parts of a warp, `WarpExchange`, `WarpMergeSort`, `WarpLoad`, `WarpStore`
#include <algorithm>
#include <cub/cub.cuh>
#include <vector>

#include "../device_copies.h"

constexpr int warps = 2, items = 3, count = 32 * warps * items;

struct Less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};
struct Larger {
    __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

__global__ void of_warps(const int* in, int* stripes, int* sorted, int* sums, int* scans) {
    using Load = cub::WarpLoad<int, items, cub::WARP_LOAD_TRANSPOSE>;
    using Store = cub::WarpStore<int, items, cub::WARP_STORE_STRIPED>;
    using Exchange = cub::WarpExchange<int, items>;
    using Sort = cub::WarpMergeSort<int, items>;
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int>;
    using Quarter = cub::WarpScan<int, 8>;
    __shared__ typename Load::TempStorage for_load[warps];
    __shared__ typename Store::TempStorage for_store[warps];
    __shared__ typename Exchange::TempStorage for_exchange[warps];
    __shared__ typename Sort::TempStorage for_sort[warps];
    __shared__ typename Reduce::TempStorage for_reduce[warps];
    __shared__ typename Scan::TempStorage for_scan[warps];
    __shared__ typename Quarter::TempStorage for_quarter[4 * warps];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = warp * 32 * items;
    int values[items];
    Load(for_load[warp]).Load(in + first, values);
    int mixed[items];
    Exchange(for_exchange[warp]).BlockedToStriped(values, mixed);
    Store(for_store[warp]).Store(stripes + first, mixed);  // striped twice: as it was
    __syncwarp();
    Sort(for_sort[warp]).Sort(values, Less());
    for (int i = 0; i < items; ++i) sorted[first + lane * items + i] = values[i];

    // Segments of 5 lanes.
    const int sum = Reduce(for_reduce[warp]).HeadSegmentedSum(lane, lane % 5 == 0);
    sums[threadIdx.x] = lane % 5 == 0 ? sum : -1;
    __syncwarp();
    const int largest = Reduce(for_reduce[warp]).TailSegmentedReduce(lane, lane % 5 == 4, Larger());
    sums[64 + threadIdx.x] = lane % 5 == 0 ? largest : -1;

    int before = 0, total = 0, highest = 0, in_quarter = 0;
    Scan(for_scan[warp]).ExclusiveSum(lane, before, total);
    __syncwarp();
    Scan(for_scan[warp]).InclusiveScan((lane * 7) % 32, highest, Larger());
    Quarter(for_quarter[threadIdx.x / 8]).InclusiveSum(1, in_quarter);
    scans[threadIdx.x] = before;
    scans[64 + threadIdx.x] = total;
    scans[128 + threadIdx.x] = highest;
    scans[192 + threadIdx.x] = in_quarter;
    __syncwarp();
    int up_to = 0, below = 0;
    __syncwarp();
    Scan(for_scan[warp]).Scan(lane, up_to, below, 100, Larger());
    if (up_to != 100 || below != 100) scans[0] = -1;
    __syncwarp();
    scans[256 + threadIdx.x] = Scan(for_scan[warp]).Broadcast(lane, 9);
}

int main() {
    std::vector<int> in(count);
    for (int i = 0; i < count; ++i) in[i] = i * 53 % 97;
    int *d_in = on_device(in), *stripes = on_device(std::vector<int>(count)),
        *sorted = on_device(std::vector<int>(count)), *sums = on_device(std::vector<int>(128)),
        *scans = on_device(std::vector<int>(320));
    of_warps<<<1, 32 * warps>>>(d_in, stripes, sorted, sums, scans);
    EXPECT_RUN();
    EXPECT(back(stripes, count) == in);
    std::vector<int> right = in;
    for (int warp = 0; warp < warps; ++warp)
        std::sort(right.begin() + warp * 32 * items, right.begin() + (warp + 1) * 32 * items);
    EXPECT(back(sorted, count) == right);
    const std::vector<int> sum = back(sums, 128), scan = back(scans, 320);
    for (int i = 0; i < 64; ++i) {
        const int lane = i % 32;
        int of_segment = 0, highest = 0;
        for (int other = lane; other < std::min(32, lane + 5); ++other) of_segment += other;
        for (int other = 0; other <= lane; ++other) highest = std::max(highest, other * 7 % 32);
        EXPECT(sum[i] == (lane % 5 == 0 ? of_segment : -1));
        EXPECT(sum[64 + i] == (lane % 5 == 0 ? std::min(31, lane + 4) : -1));
        EXPECT(scan[i] == lane * (lane - 1) / 2 && scan[64 + i] == 496);
        EXPECT(scan[128 + i] == highest && scan[192 + i] == lane % 8 + 1 && scan[256 + i] == 9);
    }
    for (int* pointer : {d_in, stripes, sorted, sums, scans}) SUCCEEDS(cudaFree(pointer));
    std::puts("ok");
}
