// Feature: tiles of several warps | `tiled_partition<64>` to `<512>`: `sync`, `shfl`, `any`, `all`, `reduce`, scans; `block_tile_memory`
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "../runtime_expect.h"

namespace cg = cooperative_groups;

template <unsigned int size>
__global__ void in_tiles(int* sums) {
    __shared__ cg::block_tile_memory<256> memory;
    const cg::thread_block block = cg::this_thread_block(memory);
    const auto tile = cg::tiled_partition<size>(block);
    EXPECT(tile.size() == size && tile.meta_group_size() == 256 / size &&
           tile.meta_group_rank() == threadIdx.x / size &&
           tile.thread_rank() == threadIdx.x % size);
    const int sum = cg::reduce(tile, int(threadIdx.x), cg::plus<int>());
    EXPECT(tile.shfl(int(threadIdx.x), 3) == int(tile.meta_group_rank() * size + 3));
    EXPECT(tile.any(tile.thread_rank() == 40) && !tile.any(tile.thread_rank() > size));
    EXPECT(tile.all(tile.thread_rank() < size) && !tile.all(tile.thread_rank() < 40));
    EXPECT(cg::inclusive_scan(tile, 1) == int(tile.thread_rank()) + 1);
    tile.sync();
    if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
}

int main() {
    int* sums = zeros<int>(4);
    in_tiles<64><<<1, 256>>>(sums);
    EXPECT_RUN();
    EXPECT(read_back(sums) == 2016 && read_back(sums + 3) == 2016 + 64 * 192);
    in_tiles<128><<<1, 256>>>(sums);
    EXPECT_RUN();
    EXPECT(read_back(sums + 1) == 8128 + 128 * 128);
    printf("ok\n");
}
