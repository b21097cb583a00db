// Much of everything: launches, blocks, stacks, waiting of all kinds at once, kernels that fail.
#include <vector>

#include "runtime_expect.h"

constexpr unsigned full = 0xffffffffu;

__global__ void count_kernel(int* count) { atomicAdd(count, 1); }

__global__ void print_kernel(double* results) {
    double numbers[64];
    for (int i = 0; i < 64; ++i) numbers[i] = threadIdx.x + i / 64.0;
    __syncthreads();
    if (threadIdx.x % 128 == 5) printf("thread %4d has %.4f\n", threadIdx.x, numbers[33]);
    __syncthreads();
    double sum = 0;
    for (int i = 0; i < 64; ++i) sum += numbers[i];
    results[threadIdx.x] = sum;
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ double power(double base, int exponent) {
    __syncthreads();
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}
__global__ void recursion_kernel(int* numbers, double* powers) {
    numbers[threadIdx.x] = fibonacci(threadIdx.x % 16);
    powers[threadIdx.x] = power(2, 50);
}

// Barriers, warp primitives, locks and divergence, mixed as one likes.
__global__ void mixed_kernel(int rounds, unsigned long long* total, int* lock) {
    __shared__ int board[256], sum;
    const int thread = threadIdx.x, lane = thread % 32;
    unsigned seed = blockIdx.x * 7919 + 1;  // the same for all threads of the block
    for (int round = 0; round < rounds; ++round) {
        seed = seed * 1664525 + 1013904223;
        const int choice = seed >> 29;
        board[thread] = thread + round;
        if (thread == 0) sum = 0;
        __syncthreads();
        if (choice < 3) {
            int value = board[255 - thread];
            for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(full, value, mask);
            if (lane == choice) atomicAdd(&sum, value);
        } else if (choice < 5) {
            if (thread % 2 == 0) {
                const unsigned even = __ballot_sync(0x55555555u, thread >= 0);
                atomicAdd(&sum, board[thread] + (even == 0x55555555u ? 0 : 1000000));
            } else {
                for (int i = 0; i < lane; ++i) __syncwarp(1u << lane);
                atomicAdd(&sum, board[thread]);
            }
        } else if (thread / 32 == choice) {
            for (int i = lane; i < 256; i += 32) atomicAdd(&sum, board[i]);
            __syncwarp();
        } else if (thread % 32 == 31) {
            while (atomicCAS(lock, 0, 1) != 0) {
            }
            __threadfence();
            atomicExch(lock, 0);
        }
        EXPECT(__syncthreads_count(lane == 3) == 8);
        EXPECT(sum == 255 * 128 + 256 * round);
        __syncthreads();
    }
    if (thread == 77) atomicAdd(total, static_cast<unsigned long long>(rounds));
}

// Fails while others wait in every way there is.
__global__ void failing_kernel() {
    __shared__ int arrived;
    const int thread = threadIdx.x, lane = thread % 32;
    if (thread == 0) arrived = 0;
    __syncthreads();
    atomicAdd(&arrived, 1);
    if (thread == 255) {
        while (atomicAdd(&arrived, 0) < 256) {
        }
        __trap();
    }
    if (thread < 64) {
        __syncthreads();
    } else if (thread < 128 && lane < 20) {
        __shfl_sync(full, thread, 0);
    } else if (thread < 160) {
        __syncwarp(1u << lane);
        __activemask();
    }
    while (atomicAdd(&arrived, 0) > 0) {
    }
}

int main(int argc, char**) {
    int* const count = zeros<int>(1);
    if (argc > 1) {  // only many threads with a stack each
        mixed_kernel<<<300, 256>>>(3, zeros<unsigned long long>(1), count);
        print_kernel<<<300, 1024>>>(zeros<double>(1024));
        EXPECT_RUN();
        return 0;
    }
    for (int i = 0; i < 10000; ++i) count_kernel<<<1, 1>>>(count);
    for (int i = 0; i < 1000; ++i) count_kernel<<<3, 2>>>(count);
    count_kernel<<<1000000, 1>>>(count);
    EXPECT_RUN();
    EXPECT(read_back(count) == 1016000);

    double* const results = zeros<double>(1024);
    print_kernel<<<1, 1024>>>(results);
    EXPECT_RUN();
    EXPECT(read_back(results + 1000) == 64 * 1000 + 31.5);
    int* const numbers = zeros<int>(256);
    recursion_kernel<<<2, 256>>>(numbers, results);
    EXPECT_RUN();
    EXPECT(read_back(numbers + 31) == 610 && read_back(results + 255) == 1125899906842624.0);

    unsigned long long* const total = zeros<unsigned long long>(1);
    SUCCEEDS(cudaMemset(count, 0, sizeof(int)));
    mixed_kernel<<<100, 256>>>(20, total, count);
    EXPECT_RUN();
    EXPECT(read_back(total) == 2000);

#ifdef CUDA_ON_CPU
    for (int i = 0; i < 20; ++i) {
        failing_kernel<<<5, 256>>>();
        EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
        SUCCEEDS(cudaDeviceReset());
        unsigned long long* const again = zeros<unsigned long long>(1);
        mixed_kernel<<<4, 256>>>(3, again, zeros<int>(1));
        EXPECT_RUN();
        EXPECT(read_back(again) == 12);
    }
#endif
    std::printf("ok\n");
}
