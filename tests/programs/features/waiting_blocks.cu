// Feature: blocks that wait for each other | `atomicAdd(p, 0)`, `atomicCAS` locks, `volatile` flags behind `__threadfence`, `__nanosleep`, a grid's barrier made by hand: also on one core and in any order; kernels that wait for a copy in another stream
#include "../runtime_expect.h"

// Block i writes when block i - 1 has: the token says how many have.
__device__ void pass_on(int* token, int* out) {
    out[blockIdx.x] = blockIdx.x == 0 ? 1 : out[blockIdx.x - 1] + 1;
    __threadfence();
    atomicExch(token, blockIdx.x + 1);
}
__global__ void by_atomics(int* token, int* out) {
    if (threadIdx.x != 0) return;
    while (atomicAdd(token, 0) != int(blockIdx.x)) {
    }
    __threadfence();
    pass_on(token, out);
}
__global__ void by_a_flag(volatile int* token, int* out) {
    if (threadIdx.x != 0) return;
    while (*token != int(blockIdx.x)) {
    }
    __threadfence();
    pass_on(const_cast<int*>(token), out);
}
__global__ void by_sleeping(int* token, int* out) {
    if (threadIdx.x != 0) return;
    while (atomicCAS(token, -1, -1) != int(blockIdx.x)) __nanosleep(20);
    __threadfence();
    pass_on(token, out);
}

// Each round all blocks wait for the last one.
struct GridBarrier {
    unsigned int arrived;
    volatile unsigned int round;
};
__device__ void wait_for_grid(GridBarrier* barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned int round = barrier->round;
        __threadfence();
        if (atomicAdd(&barrier->arrived, 1) == gridDim.x - 1) {
            barrier->arrived = 0;
            __threadfence();
            barrier->round = round + 1;
        } else {
            while (barrier->round == round) {
            }
        }
        __threadfence();
    }
    __syncthreads();
}
__global__ void shift(GridBarrier* barrier, const int* in, int* between, int* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
    between[(i + blockDim.x) % count] = in[i];
    wait_for_grid(barrier);
    out[(i + blockDim.x) % count] = between[i];
    wait_for_grid(barrier);
    EXPECT(out[(i + 2 * blockDim.x) % count] == in[i]);
}

// All threads of a warp want the lock: who has it does its work inside the loop.
__device__ int mutex = 0;
__global__ void count_with_lock(int* count) {
    for (bool done = false; !done;) {
        if (atomicCAS(&mutex, 0, 1) == 0) {
            __threadfence();
            ++*count;
            __threadfence();
            atomicExch(&mutex, 0);
            done = true;
        }
    }
}

// The last block that comes adds up what the others have.
__device__ unsigned int finished = 0;
__global__ void sum(const int* in, volatile int* parts, int* total) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[2 * blockIdx.x] + in[2 * blockIdx.x + 1];
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    int all = 0;
    for (unsigned int i = 0; i < gridDim.x; ++i) all += parts[i];
    *total = all;
}

// What is copied in another stream while the kernel runs.
__global__ void by_a_copy(volatile int* values, int* out) {
    while (values[1] == 0) {
    }
    __threadfence();
    *out = values[0];
}
void wait_for_a_copy() {
    int *values = zeros<int>(2), *out = zeros<int>(1), *h_values = nullptr;
    SUCCEEDS(cudaMallocHost(&h_values, sizeof(int)));
    *h_values = 7;
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams)
        SUCCEEDS(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    SUCCEEDS(cudaDeviceSynchronize());
    by_a_copy<<<1, 1, 0, streams[0]>>>(values, out);
    SUCCEEDS(cudaMemcpyAsync(values, h_values, sizeof(int), cudaMemcpyHostToDevice, streams[1]));
    SUCCEEDS(cudaMemsetAsync(values + 1, 1, sizeof(int), streams[1]));
    EXPECT_RUN();
    EXPECT(read_back(out) == 7);
}

int main() {
    constexpr int blocks = 8;
    int* out = zeros<int>(blocks);
    by_atomics<<<blocks, 32>>>(zeros<int>(1), out);
    EXPECT_RUN();
    EXPECT(read_back(out + blocks - 1) == blocks);
    by_a_flag<<<blocks, 32>>>(zeros<int>(1), out);
    EXPECT_RUN();
    EXPECT(read_back(out + blocks - 1) == blocks);
    by_sleeping<<<blocks, 32>>>(zeros<int>(1), out);
    EXPECT_RUN();
    EXPECT(read_back(out + blocks - 1) == blocks);

    int* in = nullptr;
    SUCCEEDS(cudaMallocManaged(&in, 256 * sizeof(int)));
    for (int i = 0; i < 256; ++i) in[i] = i;
    shift<<<4, 64>>>(zeros<GridBarrier>(1), in, zeros<int>(256), zeros<int>(256));
    EXPECT_RUN();
    int* count = zeros<int>(1);
    count_with_lock<<<4, 64>>>(count);
    EXPECT_RUN();
    EXPECT(read_back(count) == 256);
    int* total = zeros<int>(1);
    sum<<<128, 32>>>(in, zeros<int>(128), total);
    EXPECT_RUN();
    EXPECT(read_back(total) == 255 * 128);
    wait_for_a_copy();
    printf("ok\n");
}
