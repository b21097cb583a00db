// Device memory that frees itself, and the exclusive prefix sum of counts: each becomes the sum of
// those before it.
#pragma once

#include "../../../common/lab.h"

using lab::DeviceArray;

template <class T>
T copied_back(const T* d_value) {
    T value;
    CHECK(cudaMemcpy(&value, d_value, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

// A block sums a tile: 256 threads, each 16 neighbours, which it reads 16 bytes at a time.
constexpr int sum_threads = 256, sum_each = 16, sum_tile = sum_threads * sum_each;

struct Neighbours {
    int32_t values[sum_each];
};

// The thread's 16 elements, zeros past the end. values: (count), begins at a multiple of 16 bytes.
__device__ inline Neighbours load_neighbours(const int32_t* values, int64_t first, int64_t count) {
    Neighbours mine;
#pragma unroll
    for (int i = 0; i < sum_each; i += 4) {
        if (first + i + 4 <= count) {
            const int4 four = *reinterpret_cast<const int4*>(values + first + i);
            mine.values[i] = four.x;
            mine.values[i + 1] = four.y;
            mine.values[i + 2] = four.z;
            mine.values[i + 3] = four.w;
            continue;
        }
#pragma unroll
        for (int j = i; j < i + 4; j++) mine.values[j] = first + j < count ? values[first + j] : 0;
    }
    return mine;
}

__device__ inline void store_neighbours(int32_t* values, int64_t first, int64_t count,
                                        const Neighbours& mine) {
#pragma unroll
    for (int i = 0; i < sum_each; i += 4) {
        if (first + i + 4 <= count) {
            *reinterpret_cast<int4*>(values + first + i) = {mine.values[i], mine.values[i + 1],
                                                            mine.values[i + 2], mine.values[i + 3]};
            continue;
        }
#pragma unroll
        for (int j = i; j < i + 4; j++) {
            if (first + j < count) values[first + j] = mine.values[j];
        }
    }
}

// The sum over this lane and those below it.
__device__ inline int32_t sum_up_to_lane(int32_t value) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const int32_t below = __shfl_up_sync(0xFFFFFFFF, value, distance);
        if (lane >= distance) value += below;
    }
    return value;
}

// The sum over the threads before this one; `all` becomes the sum over the whole block, whose size
// is a multiple of 32. Every thread of the block must call it. warp_sums: (32), in shared memory.
__device__ inline int32_t sum_before_thread(int32_t value, int32_t* warp_sums, int32_t& all) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    const int32_t in_warp = sum_up_to_lane(value);
    if (lane == 31) warp_sums[warp] = in_warp;
    __syncthreads();
    int32_t before = 0;
    all = 0;
    for (int i = 0; i < warps; i++) {
        if (i < warp) before += warp_sums[i];
        all += warp_sums[i];
    }
    __syncthreads();  // nobody may write the next sums before all have read these
    return before + in_warp - value;
}

__global__ void __launch_bounds__(sum_threads)
    sum_tiles(const int32_t* values, int64_t count, int32_t* tile_sums) {
    __shared__ int32_t warp_sums[32];
    const int64_t first = int64_t{blockIdx.x} * sum_tile + threadIdx.x * sum_each;
    const Neighbours mine = load_neighbours(values, first, count);
    int32_t sum = 0, all;
#pragma unroll
    for (int i = 0; i < sum_each; i++) sum += mine.values[i];
    sum_before_thread(sum, warp_sums, all);
    if (threadIdx.x == 0) tile_sums[blockIdx.x] = all;
}

// In place. sums_before: (tiles), the sum of all tiles before each, or null for a single tile;
// *total becomes the sum of everything.
__global__ void __launch_bounds__(sum_threads)
    sum_within_tiles(int32_t* values, int64_t count, const int32_t* sums_before, int32_t* total) {
    __shared__ int32_t warp_sums[32];
    const int64_t first = int64_t{blockIdx.x} * sum_tile + threadIdx.x * sum_each;
    Neighbours mine = load_neighbours(values, first, count);
    int32_t sum = 0, all;
#pragma unroll
    for (int i = 0; i < sum_each; i++) sum += mine.values[i];
    int32_t before = sum_before_thread(sum, warp_sums, all);
    if (sums_before) before += sums_before[blockIdx.x];
#pragma unroll
    for (int i = 0; i < sum_each; i++) {
        const int32_t value = mine.values[i];
        mine.values[i] = before;
        before += value;
    }
    store_neighbours(values, first, count, mine);
    if (!sums_before && threadIdx.x == 0) *total = all;
}

// Prefix sums of up to `most` counts: the sums of tiles, their prefix sums by the same means, and
// then each tile within. The counts are read twice and written once.
class PrefixSum {
 public:
    explicit PrefixSum(int64_t most) : sums_(sums_for(most) + 1) {}

    static int64_t bytes(int64_t most) { return 4 * (sums_for(most) + 1); }

    // values: (count), in place. Returns the sum of all.
    int64_t exclusive(int32_t* values, int64_t count) {
        if (count == 0) return 0;
        enqueue(values, count, sums_.get() + 4);
        return copied_back(total());
    }

    // The same without waiting for it; *total() will be the sum.
    void enqueue(int32_t* values, int64_t count) { enqueue(values, count, sums_.get() + 4); }
    const int32_t* total() const { return sums_.get(); }

 private:
    // The first 16 bytes hold the total; each level begins at a multiple of 16 bytes.
    static int64_t sums_for(int64_t count) {
        int64_t sums = 4;
        for (; count > sum_tile; sums += lab::divide_up(count, 4) * 4) {
            count = lab::divide_up(count, sum_tile);
        }
        return sums;
    }

    void enqueue(int32_t* values, int64_t count, int32_t* sums) {
        const int64_t tiles = lab::divide_up(count, sum_tile);
        if (tiles > 1) {
            sum_tiles<<<unsigned(tiles), sum_threads>>>(values, count, sums);
            CHECK_LAUNCH();
            enqueue(sums, tiles, sums + lab::divide_up(tiles, 4) * 4);
        }
        sum_within_tiles<<<unsigned(tiles), sum_threads>>>(values, count,
                                                           tiles > 1 ? sums : nullptr, sums_.get());
        CHECK_LAUNCH();
    }

    DeviceArray<int32_t> sums_;
};
