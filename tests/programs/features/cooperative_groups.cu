// Feature: cooperative groups | block, tiles of 1 to 32 threads, coalesced and partitioned groups, `thread_group`, `reduce`, scans, `memcpy_async`
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "../runtime_expect.h"

namespace cg = cooperative_groups;

struct Three {
    double a, b, c;
};

__device__ int sum_of(cg::thread_group group, int* memory, int value) {
    const unsigned int rank = group.thread_rank();
    for (unsigned int half = group.size() / 2; half > 0; half /= 2) {
        memory[rank] = value;
        group.sync();
        if (rank < half) value += memory[rank + half];
        group.sync();
    }
    return value;
}

// A block is a group.
__device__ unsigned int half_of(const cg::thread_group& group) { return group.size() / 2; }
__device__ void meet(cg::thread_group& group) { group.sync(); }

__global__ void groups(int* sums, const int* values) {
    __shared__ int memory[128];
    const cg::thread_block block = cg::this_thread_block();
    EXPECT(block.size() == 128 && block.thread_rank() == threadIdx.x &&
           block.group_index().x == blockIdx.x);
    const int total = sum_of(block, memory, static_cast<int>(threadIdx.x));
    if (block.thread_rank() == 0) sums[0] = total;

    cg::thread_block own = block;
    meet(own);
    EXPECT(half_of(block) == 64);

    const auto warp = cg::tiled_partition<32>(block);
    const auto tile = cg::tiled_partition<4>(warp);
    EXPECT(warp.meta_group_rank() == threadIdx.x / 32 && warp.meta_group_size() == 4);
    EXPECT(tile.size() == 4 && tile.thread_rank() == threadIdx.x % 4);
    const int rank = static_cast<int>(tile.thread_rank());
    EXPECT(tile.shfl(rank, 2) == 2 && tile.shfl_up(rank, 1) == (rank == 0 ? 0 : rank - 1));
    EXPECT(tile.shfl_down(rank, 2) == (rank < 2 ? rank + 2 : rank) &&
           tile.shfl_xor(rank, 3) == 3 - rank);
    EXPECT(tile.ballot(rank == 1) == 2u && tile.any(rank == 3) && !tile.all(rank == 3));
    EXPECT(tile.match_any(rank / 2) == (rank < 2 ? 3u : 12u));
    const Three three = warp.shfl(Three{1.0 * threadIdx.x, 2, 3}, 5);
    EXPECT(three.a == warp.meta_group_rank() * 32 + 5 && three.c == 3);

    EXPECT(cg::reduce(tile, rank, cg::plus<int>()) == 6 &&
           cg::reduce(warp, rank, cg::greater<int>()) == 3);
    EXPECT(cg::inclusive_scan(tile, 1) == rank + 1 && cg::exclusive_scan(tile, 2) == 2 * rank);
    cg::thread_group part = cg::tiled_partition(block, 16);
    EXPECT(part.size() == 16 && part.thread_rank() == threadIdx.x % 16);

    if (threadIdx.x % 3 == 0) {
        const cg::coalesced_group active = cg::coalesced_threads();
        EXPECT(active.size() == 10 + (threadIdx.x / 32 != 2));
        EXPECT(active.shfl(static_cast<int>(threadIdx.x), 1) % 3 == 0);
        EXPECT(cg::reduce(active, 1, cg::plus<int>()) == static_cast<int>(active.size()));
        if (active.thread_rank() == 0) atomicAdd(&sums[1], static_cast<int>(active.size()));
    }
    block.sync();
    const auto same = cg::labeled_partition(warp, threadIdx.x % 5);
    EXPECT(same.size() == 6 || same.size() == 7);
    const auto odd = cg::binary_partition(warp, threadIdx.x % 2 == 1);
    EXPECT(odd.size() == 16 && odd.thread_rank() == threadIdx.x % 32 / 2);

    cg::memcpy_async(block, memory, values, sizeof(int) * 128);
    cg::wait(block);
    if (threadIdx.x == 127) sums[2] = memory[127] + memory[0];
    cg::sync(block);
}

int main() {
    int *sums = zeros<int>(3), *values = zeros<int>(128), host[128];
    for (int i = 0; i < 128; ++i) host[i] = 100 + i;
    SUCCEEDS(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    groups<<<1, 128>>>(sums, values);
    EXPECT_RUN();
    EXPECT(read_back(sums) == 127 * 64 && read_back(sums + 1) == 43 && read_back(sums + 2) == 327);
    SUCCEEDS(cudaFree(sums));
    SUCCEEDS(cudaFree(values));
    printf("ok\n");
}
