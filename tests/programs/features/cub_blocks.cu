// Feature: CUB, blocks | `BlockMergeSort`, `BlockHistogram`, `BlockShuffle`, `BlockDiscontinuity`, `BlockAdjacentDifference`, `BlockExchange` by ranks, storage that several algorithms share, `LoadDirectStriped` and its kin
#include <algorithm>
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>
#include <vector>

#include "../device_copies.h"

constexpr int threads = 64, items = 4, count = threads * items, bins = 8;

struct Less {
    __device__ bool operator()(int a, int b) const { return a < b; }
};
struct Differ {
    __device__ bool operator()(int a, int b) const { return a != b; }
};
struct Minus {
    __device__ int operator()(int a, int b) const { return a - b; }
};

// One storage for all, with a barrier between two uses.
__global__ void of_blocks(const int* in, int* sorted, int* heads, int* tails, int* differences,
                          int* turned, int* scattered, unsigned int* histogram) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_VECTORIZE>;
    using Sort = cub::BlockMergeSort<int, threads, items>;
    using Ends = cub::BlockDiscontinuity<int, threads>;
    using Neighbours = cub::BlockAdjacentDifference<int, threads>;
    using Shuffle = cub::BlockShuffle<int, threads>;
    using Exchange = cub::BlockExchange<int, threads, items>;
    using Histogram = cub::BlockHistogram<int, threads, items, bins>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        typename Ends::TempStorage ends;
        typename Neighbours::TempStorage neighbours;
        typename Shuffle::TempStorage shuffle;
        typename Exchange::TempStorage exchange;
        typename Histogram::TempStorage histogram;
    } storage;
    __shared__ unsigned int counts[bins];
    const int thread = threadIdx.x;
    int values[items], results[items], flags[items];
    Load(storage.load).Load(in, values);
    __syncthreads();
    Histogram(storage.histogram).Histogram(values, counts);
    __syncthreads();
    if (thread < bins) histogram[thread] = counts[thread];

    int there[items] = {}, and_back[items] = {};
    cub::LoadDirectStriped<threads>(thread, in, there);
    cub::StoreDirectStriped<threads>(thread, scattered, there);
    __syncthreads();
    cub::LoadDirectBlocked(thread, scattered, and_back, count - 1);
    for (int i = 0; i < items; ++i)
        EXPECT(there[i] == in[thread + i * threads] &&
               and_back[i] == (thread * items + i < count - 1 ? in[thread * items + i] : 0));
    __syncthreads();

    Sort(storage.sort).Sort(values, Less());
    __syncthreads();
    for (int i = 0; i < items; ++i) sorted[thread * items + i] = values[i];
    Ends(storage.ends).FlagHeads(flags, values, Differ());
    __syncthreads();
    for (int i = 0; i < items; ++i) heads[thread * items + i] = flags[i];
    Ends(storage.ends).FlagTails(flags, values, Differ());
    __syncthreads();
    for (int i = 0; i < items; ++i) tails[thread * items + i] = flags[i];
    Neighbours(storage.neighbours).SubtractLeft(values, results, Minus());
    __syncthreads();
    for (int i = 0; i < items; ++i) differences[thread * items + i] = results[i];

    int next = -1;
    Shuffle(storage.shuffle).Rotate(thread, next, 5);
    __syncthreads();
    turned[thread] = next;
    Shuffle(storage.shuffle).Up(values, results);
    __syncthreads();
    for (int i = 0; i < items; ++i)
        if (thread + i > 0) turned[threads + thread * items + i] = results[i];
    // Each value to the place that is as far from the end.
    int ranks[items];
    for (int i = 0; i < items; ++i) ranks[i] = count - 1 - (thread * items + i);
    Exchange(storage.exchange).ScatterToBlocked(values, results, ranks);
    for (int i = 0; i < items; ++i) scattered[thread * items + i] = results[i];
}

// Of 100 elements of a block's, with the largest number for what is missing.
__global__ void of_a_part(int* data, int valid) {
    using Sort = cub::BlockMergeSort<int, threads, items>;
    __shared__ typename Sort::TempStorage storage;
    int values[items];
    for (int i = 0; i < items; ++i)
        values[i] =
            static_cast<int>(threadIdx.x) * items + i < valid ? data[threadIdx.x * items + i] : 0;
    Sort(storage).Sort(values, Less(), valid, 2147483647);
    for (int i = 0; i < items; ++i)
        if (static_cast<int>(threadIdx.x) * items + i < valid)
            data[threadIdx.x * items + i] = values[i];
}

int main() {
    std::vector<int> in(count);
    for (int i = 0; i < count; ++i) in[i] = i * 37 % 11 % bins;
    std::vector<int> right = in;
    std::sort(right.begin(), right.end());
    const std::vector<int> none(count);
    int *d_in = on_device(in), *sorted = on_device(none), *heads = on_device(none),
        *tails = on_device(none), *differences = on_device(none),
        *turned = on_device(std::vector<int>(threads + count, 99)), *scattered = on_device(none);
    unsigned int* histogram = on_device(std::vector<unsigned int>(bins));
    of_blocks<<<1, threads>>>(d_in, sorted, heads, tails, differences, turned, scattered,
                              histogram);
    EXPECT_RUN();
    EXPECT(back(sorted, count) == right);
    const std::vector<int> is_head = back(heads, count), is_tail = back(tails, count),
                           difference = back(differences, count),
                           moved = back(turned, threads + count), reversed = back(scattered, count);
    for (int i = 0; i < count; ++i) {
        EXPECT(is_head[i] == (i == 0 || right[i - 1] != right[i]));
        EXPECT(is_tail[i] == (i + 1 == count || right[i + 1] != right[i]));
        EXPECT(difference[i] == (i == 0 ? right[0] : right[i] - right[i - 1]));
        if (i > 0) EXPECT(moved[threads + i] == right[i - 1]);
        EXPECT(reversed[i] == right[count - 1 - i]);
    }
    for (int i = 0; i < threads; ++i) EXPECT(moved[i] == (i + 5) % threads);
    const std::vector<unsigned int> counts = back(histogram, bins);
    for (int bin = 0; bin < bins; ++bin)
        EXPECT(static_cast<long>(counts[bin]) == std::count(in.begin(), in.end(), bin));

    std::vector<int> part(in.begin(), in.begin() + 100);
    int* d_part = on_device(part);
    of_a_part<<<1, threads>>>(d_part, 100);
    EXPECT_RUN();
    std::sort(part.begin(), part.end());
    EXPECT(back(d_part, 100) == part);
    for (int* pointer : {d_in, sorted, heads, tails, differences, turned, scattered, d_part})
        SUCCEEDS(cudaFree(pointer));
    SUCCEEDS(cudaFree(histogram));
    std::puts("ok");
}
