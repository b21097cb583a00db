// For tests/test_sanitize.py and tests/test_explain.py: clusters whose blocks read each other's shared memory. The argument chooses a fault; without
// one all is right.
#include <cooperative_groups.h>

#include <cstdlib>

namespace cg = cooperative_groups;

constexpr int threads = 32;

__device__ int* other_of(int* own, unsigned int rank) {
    return cg::this_cluster().map_shared_rank(own, static_cast<int>(rank));
}

// Each thread reads what one of the next block has written.
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out, int fault) {
    __shared__ int own[threads];
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int i = threadIdx.x, next = cluster.block_rank() ^ 1;
    if (fault == 5 && next == 0) return;
    if (fault != 4 || i < 16) own[i] = static_cast<int>(blockIdx.x);  // LINE 1
    if (fault != 1) cluster.sync();                                   // LINE 5
    const int* const other = other_of(own, fault == 6 ? 2 : next);
    out[blockIdx.x * threads + i] = other[fault == 3 ? i + 1 : threads - 1 - i];  // LINE 1 2 3 4
    if (fault != 2) cluster.sync();
}

// Counts in the shared memory of the first block.
__global__ void count(int* out, bool atomically) {
    extern __shared__ int total[];
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) *total = 0;
    cluster.sync();
    int* const first = other_of(total, 0);
    if (atomically) atomicAdd(first, 1);
    if (!atomically && threadIdx.x == 0) *first += 1;  // LINE 7
    cluster.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = *first;
    cluster.sync();
}

int main(int argc, char** argv) {
    const int fault = argc > 1 ? std::atoi(argv[1]) : 0;
    int* out;
    cudaMalloc(&out, 4 * threads * sizeof(int));
    exchange<<<4, threads>>>(out, fault);
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = threads;
    config.dynamicSmemBytes = sizeof(int);
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, count, out, fault != 7);
    cudaDeviceSynchronize();
    cudaFree(out);
}
