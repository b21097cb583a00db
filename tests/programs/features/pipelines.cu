// Feature: barriers and pipelines of libcu++ | `cuda::barrier` (arrive, wait, `memcpy_async`), `cuda::pipeline` of a thread and of a block with producers and consumers, `__pipeline_memcpy_async`
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#if __has_include(<cuda/std/__barrier/barrier.h>)
#include <cuda/std/barrier>  // in this order, too
#endif
#include <cuda/barrier>
#include <cuda/pipeline>

#include "../runtime_expect.h"

#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

// Each thread's square, summed by the first warp behind a barrier, in four rounds.
__global__ void rounds(const int* in, int* out) {
    __shared__ block_barrier barrier;
    __shared__ int values[64];
    __shared__ int sum;
    const cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    if (threadIdx.x == 0) sum = 0;
    block.sync();
    for (int round = 0; round < 4; ++round) {
        cuda::memcpy_async(&values[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
        block_barrier::arrival_token token = barrier.arrive();
        barrier.wait(std::move(token));
        if (threadIdx.x < 32) atomicAdd(&sum, values[63 - threadIdx.x] + round);
        barrier.arrive_and_wait();
    }
    if (threadIdx.x == 0) *out = sum;
}

// Two stages ahead.
__global__ void ahead(const int* in, int* out, int count) {
    __shared__ int stage[3][32];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int sum = 0;
    const auto shape = cuda::aligned_size_t<alignof(int)>(sizeof(int));
    for (int next = 0, i = 0; i < count; ++i) {
        for (; next < count && next < i + 3; ++next) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[next % 3][threadIdx.x], &in[next * 32 + threadIdx.x], shape,
                               pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[i % 3][threadIdx.x] * (i + 1);
        pipe.consumer_release();
    }
    atomicAdd(out, sum);
}

// The first warp copies, the second one sums.
__global__ void roles(const int* in, int* out, int count) {
    constexpr int stages = 2;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
    __shared__ int stage[stages][32];
    const bool produces = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(
        cg::this_thread_block(), &state,
        produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int i = 0; i < count; ++i) {
        if (produces) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[i % stages][threadIdx.x], &in[i * 32 + threadIdx.x],
                               sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            atomicAdd(out, stage[i % stages][63 - threadIdx.x] * (i + 1));
            pipe.consumer_release();
        }
    }
}

__global__ void plain(const int* in, int* out) {
    __shared__ int4 values[32];
    __pipeline_memcpy_async(&values[threadIdx.x], &reinterpret_cast<const int4*>(in)[threadIdx.x],
                            sizeof(int4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const int4 value = values[31 - threadIdx.x];
    atomicAdd(out, value.x + value.y + value.z + value.w);
}

int main() {
    const int count = 5;
    int *in, *out;
    SUCCEEDS(cudaMallocManaged(&in, 32 * count * sizeof(int)));
    SUCCEEDS(cudaMallocManaged(&out, 4 * sizeof(int)));
    int sum = 0, weighted = 0, half = 0;
    for (int i = 0; i < 32 * count; ++i) {
        in[i] = i * 37 % 101;
        weighted += in[i] * (i / 32 + 1);
        if (i < 128) sum += in[i];
        if (i >= 32 && i < 64) half += in[i];
    }
    for (int i = 0; i < 4; ++i) out[i] = 0;
    rounds<<<1, 64>>>(in, out);
    ahead<<<1, 32>>>(in, out + 1, count);
    roles<<<1, 64>>>(in, out + 2, count);
    plain<<<1, 32>>>(in, out + 3);
    EXPECT_RUN();
    EXPECT(out[0] == 4 * half + 32 * (0 + 1 + 2 + 3) && out[1] == weighted);
    EXPECT(out[2] == weighted && out[3] == sum);
    SUCCEEDS(cudaFree(in));
    SUCCEEDS(cudaFree(out));
    std::puts("ok");
}
