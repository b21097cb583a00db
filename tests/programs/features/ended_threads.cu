// Feature: barriers and threads that have ended | as on cards since Volta, `__syncthreads()` and its counting forms, `bar.sync 0` and groups of a block do not wait for them, nor does `cluster.sync()`; it is said at the end, and [make sanitize](sanitize.md) names the line
// Flags: -arch=native
#include <cooperative_groups.h>

#include "../runtime_expect.h"

namespace cg = cooperative_groups;

// The threads without an element leave at once. Each round half of the others add, and all meet.
__global__ void sum(const int* in, int* out, int count) {
    __shared__ int values[256];
    const unsigned int i = threadIdx.x;
    if (i >= count) return;
    values[i] = in[i];
    for (unsigned int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (i < width && i + width < count) values[i] += values[i + width];
    }
    if (i == 0) *out = values[0];
}

// Of each warp some have ended, the first one among them.
__global__ void by_other_names(int* out) {
    __shared__ int arrived;
    if (threadIdx.x % 3 == 0) return;
    if (threadIdx.x == 62) arrived = 0;
    cg::this_thread_block().sync();
    atomicAdd(&arrived, 1);
    asm volatile("bar.sync 0;" ::: "memory");
    if (threadIdx.x == 62) *out = arrived;
}

// Of four warps one has ended, and half of the next.
__global__ void counted(int* out) {
    if (threadIdx.x < 48) return;
    const int count = __syncthreads_count(threadIdx.x % 2),
              all = __syncthreads_and(threadIdx.x >= 48), none = __syncthreads_or(threadIdx.x < 48);
    if (threadIdx.x == 100) {
        out[0] = count;
        out[1] = all;
        out[2] = none;
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// Of each block of a cluster the first threads have ended, and all of the last block.
__global__ void __cluster_dims__(4, 1, 1) of_cluster(int* out) {
    __shared__ int value;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned int rank = cluster.block_rank();
    if (rank == 3 || threadIdx.x < 8 * rank) return;
    if (threadIdx.x == 63) value = int(blockIdx.x);
    cluster.sync();
    if (threadIdx.x == 63) out[blockIdx.x] = *cluster.map_shared_rank(&value, (rank + 1) % 3);
    cluster.sync();
}
#else
__global__ void of_cluster(int*) {}
#endif

int main() {
    int *in = zeros<int>(256), *out = zeros<int>(64), h_in[256];
    for (int i = 0; i < 256; ++i) h_in[i] = i * i % 17;
    SUCCEEDS(cudaMemcpy(in, h_in, sizeof h_in, cudaMemcpyHostToDevice));
    for (const int count : {1, 31, 32, 100, 255, 256}) {
        int expected = 0;
        for (int i = 0; i < count; ++i) expected += h_in[i];
        sum<<<1, 256>>>(in, out, count);
        EXPECT_RUN();
        EXPECT(read_back(out) == expected);
    }

    by_other_names<<<1, 64>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 42);

    counted<<<1, 128>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 40 && read_back(out + 1) == 1 && read_back(out + 2) == 0);

    int has_clusters = 1;
#ifndef CUDA_ON_CPU
    SUCCEEDS(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, 0));
#endif
    if (has_clusters != 0) {
        of_cluster<<<8, 64>>>(out);
        EXPECT_RUN();
        for (const int block : {0, 1, 2, 4, 5, 6})
            EXPECT(read_back(out + block) == block / 4 * 4 + (block % 4 + 1) % 3);
    }
    printf("ok\n");
}
