// Feature: thread block clusters | `__cluster_dims__`, `cudaLaunchKernelEx` with a cluster's dimension, `this_cluster()`, `map_shared_rank`, `cluster.sync()`
// Flags: -arch=native
#include <cooperative_groups.h>

#include "../runtime_expect.h"

namespace cg = cooperative_groups;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// Each block leaves its number where the other one of its cluster finds it.
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
    __shared__ int value;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) value = int(blockIdx.x);
    cluster.sync();
    EXPECT(cluster.num_blocks() == 2 && cluster.block_rank() == blockIdx.x % 2);
    EXPECT(cluster.num_threads() == 2 * blockDim.x &&
           cluster.thread_rank() == cluster.block_rank() * blockDim.x + threadIdx.x);
    const int* const other = cluster.map_shared_rank(&value, cluster.block_rank() ^ 1);
    if (threadIdx.x == 0) out[blockIdx.x] = *other;
    cluster.sync();
}

// A histogram whose bins are shared out over the blocks of a cluster.
__global__ void histogram(const int* in, int* bins, int bins_per_block) {
    extern __shared__ int own[];
    const cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) own[i] = 0;
    cluster.sync();
    const int bin = in[blockIdx.x * blockDim.x + threadIdx.x];
    int* const there = cluster.map_shared_rank(own, bin / bins_per_block);
    atomicAdd(there + bin % bins_per_block, 1);
    cluster.sync();
    for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
        atomicAdd(bins + cluster.block_rank() * bins_per_block + i, own[i]);
}
#else
__global__ void exchange(int*) {}
__global__ void histogram(const int*, int*, int) {}
#endif

int main() {
#ifndef CUDA_ON_CPU
    int has_clusters = 0;
    SUCCEEDS(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
    if (has_clusters == 0) {
        fprintf(stderr, "skipped: clusters need compute capability 9.0\n");
        return 77;
    }
#endif
    int* out = zeros<int>(4);
    exchange<<<4, 64>>>(out);
    EXPECT_RUN();
    for (int i = 0; i < 4; ++i) EXPECT(read_back(out + i) == (i ^ 1));

    int *in = nullptr, *bins = zeros<int>(32);
    SUCCEEDS(cudaMallocManaged(&in, 256 * sizeof(int)));
    for (int i = 0; i < 256; ++i) in[i] = i * i % 32;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 64;
    config.dynamicSmemBytes = 8 * sizeof(int);
    config.attrs = attribute;
    config.numAttrs = 1;
    SUCCEEDS(cudaLaunchKernelEx(&config, histogram, in, bins, 8));
    EXPECT_RUN();
    int expected[32] = {};
    for (int i = 0; i < 256; ++i) ++expected[in[i]];
    for (int i = 0; i < 32; ++i) EXPECT(read_back(bins + i) == expected[i]);
    config.gridDim = 6;
    EXPECT(cudaLaunchKernelEx(&config, histogram, in, bins, 8) != cudaSuccess);
    cudaGetLastError();
    printf("ok\n");
}
