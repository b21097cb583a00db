// Atomics: every operation and type with many blocks at one address; locks; waiting for a thread.
#include <cstring>
#include <vector>

#include "runtime_expect.h"

constexpr int blocks = 60, block_size = 96, threads = blocks * block_size;

__device__ int global_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// results: add, sub, min, max, and, or, xor, exchange, compare-and-swap
template <class T>
__global__ void integer_kernel(T* results) {
    const T number = global_number();
    atomicAdd(&results[0], T(3));
    atomicMin(&results[2], T(number + 5));
    atomicMax(&results[3], T(number + 5));
    atomicAnd(&results[4], T(~(T(1) << number % 20)));
    atomicOr(&results[5], T(T(1) << number % 20));
    atomicXor(&results[6], number);
    const T old = atomicExch(&results[7], number + 1);
    EXPECT(old <= T(threads));
    // Adds 2 the hard way.
    T expected = results[8], seen;
    while ((seen = atomicCAS(&results[8], expected, T(expected + 2))) != expected) expected = seen;
}

template <class T>
void check_integers() {
    T start[9] = {1, 0, 1 << 20, 0, T((1 << 20) - 1), 0, 0, 0, 0}, end[9];
    T* const results = zeros<T>(9);
    SUCCEEDS(cudaMemcpy(results, start, sizeof start, cudaMemcpyHostToDevice));
    integer_kernel<<<blocks, block_size>>>(results);
    EXPECT_RUN();
    SUCCEEDS(cudaMemcpy(end, results, sizeof end, cudaMemcpyDeviceToHost));
    T odd_bits = 0;
    for (int i = 0; i < threads; ++i) odd_bits ^= i;
    EXPECT(end[0] == T(1 + 3 * threads));
    EXPECT(end[2] == 5 && end[3] == T(threads + 4));
    EXPECT(end[4] == 0 && end[5] == T((1 << 20) - 1) && end[6] == odd_bits);
    EXPECT(end[7] > 0 && end[7] <= T(threads));
    EXPECT(end[8] == T(2 * threads));
}

template <class T>
__global__ void signed_kernel(T* results) {
    const T number = global_number();
    atomicMin(&results[0], T(100 - number));
    atomicMax(&results[1], T(number - 100));
    atomicMax(&results[2], T(-5 - number));
}

template <class T>
void check_signed() {
    const T start[3] = {0, -1000, -1000000};
    T end[3], *const results = zeros<T>(3);
    SUCCEEDS(cudaMemcpy(results, start, sizeof start, cudaMemcpyHostToDevice));
    signed_kernel<<<blocks, block_size>>>(results);
    EXPECT_RUN();
    SUCCEEDS(cudaMemcpy(end, results, sizeof end, cudaMemcpyDeviceToHost));
    EXPECT(end[0] == T(100 - threads + 1) && end[1] == T(threads - 101) && end[2] == -5);
}

template <class T>
__global__ void floating_kernel(T* sum, int* subtracted) {
    atomicAdd(sum, T(0.5));
    atomicAdd(sum, 1);  // converts
    atomicSub(subtracted, 2);
    atomicSub(reinterpret_cast<unsigned*>(subtracted) + 1, 1u);
}

template <class T>
void check_floating() {
    T* const sum = zeros<T>(1);
    int* const subtracted = zeros<int>(2);
    floating_kernel<<<blocks, block_size>>>(sum, subtracted);
    EXPECT_RUN();
    EXPECT(read_back(sum) == T(1.5) * threads);
    EXPECT(read_back(subtracted) == -2 * threads);
    EXPECT(read_back(subtracted + 1) == -threads);
}

// Every old value is given out once.
__global__ void ticket_kernel(unsigned* counters, int* seen) {
    atomicAdd(&seen[atomicAdd(&counters[0], 1u)], 1);
    EXPECT(atomicInc(&counters[1], 9) <= 9);
    EXPECT(atomicDec(&counters[2], 6) <= 100);
    atomicExch(reinterpret_cast<float*>(&counters[3]), 2.5f);
    atomicAdd_block(&counters[4], 1u);
    atomicAdd_system(&counters[4], 1);
    atomicMax_system(&counters[5], 7u);
    atomicInc_block(&counters[6], 1000000);
}

void check_tickets() {
    unsigned* const counters = zeros<unsigned>(7);
    int* const seen = zeros<int>(threads);
    const unsigned large = 100;
    SUCCEEDS(cudaMemcpy(counters + 2, &large, sizeof large, cudaMemcpyHostToDevice));
    ticket_kernel<<<blocks, block_size>>>(counters, seen);
    EXPECT_RUN();
    std::vector<int> times(threads);
    SUCCEEDS(cudaMemcpy(times.data(), seen, threads * sizeof(int), cudaMemcpyDeviceToHost));
    for (const int count : times) EXPECT(count == 1);
    EXPECT(read_back(counters + 1) == threads % 10);
    // Above the limit it goes to the limit first: 100, 6, 5, ... 0, 6, ...
    EXPECT(read_back(counters + 2) == 6 - (threads - 1) % 7);
    EXPECT(read_back(reinterpret_cast<float*>(counters) + 3) == 2.5f);
    EXPECT(read_back(counters + 5) == 7);
}

__global__ void shared_kernel(int* total) {
    __shared__ int histogram[7];
    __shared__ unsigned short half;
    __shared__ float sum;
    if (threadIdx.x < 7) histogram[threadIdx.x] = 0;
    if (threadIdx.x == 0) half = 0, sum = 0;
    __syncthreads();
    atomicAdd(&histogram[threadIdx.x % 7], 1);
    atomicAdd(&sum, 0.25f);
    unsigned short expected = 0, seen;
    while ((seen = atomicCAS(&half, expected, static_cast<unsigned short>(expected + 1))) !=
           expected) {
        expected = seen;
    }
    __syncthreads();
    EXPECT(half == blockDim.x && sum == 0.25f * blockDim.x);
    if (threadIdx.x < 7) atomicAdd(total, histogram[threadIdx.x]);
}

// A lock for blocks, held by one thread of each, and a lock for all threads.
__global__ void lock_kernel(int* lock, volatile int* guarded, int rounds) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < rounds; ++i) {
            while (atomicCAS(&lock[0], 0, 1) != 0) {
            }
            __threadfence();
            guarded[0] = guarded[0] + 1;
            __threadfence();
            atomicExch(&lock[0], 0);
        }
    }
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock[1], 0, 1) == 0) {
            __threadfence();
            guarded[1] = guarded[1] + 1;
            __threadfence();
            atomicExch(&lock[1], 0);
            done = true;
        }
    }
}

// Threads that wait for others of their block, earlier and later ones, each in another way.
__global__ void wait_kernel() {
    __shared__ int flags[5];
    __shared__ volatile int data;
    const int thread = threadIdx.x;
    if (thread < 5) flags[thread] = 0;
    __syncthreads();
    if (thread == 0) {
        while (atomicAdd(&flags[0], 0) == 0) {
        }
        EXPECT(data == 42);
        atomicExch(&flags[1], 1);
    } else if (thread == 64) {
        data = 42;
        __threadfence_block();
        atomicExch(&flags[0], 1);
        while (atomicCAS(&flags[1], 1, 2) != 1) __nanosleep(20);
        __threadfence();
        *static_cast<volatile int*>(&flags[2]) = 1;
    } else if (thread == 1) {
        while (*static_cast<volatile int*>(&flags[2]) == 0) __threadfence();
        atomicOr(&flags[3], 1);
    }
    while (atomicMax(&flags[3], 0) == 0) {
    }
    EXPECT(atomicAdd(&flags[4], 1) < blockDim.x);
    __syncthreads();
    EXPECT(flags[4] == blockDim.x && flags[1] == 2);
}

// The block that finishes last adds up what the others left.
__global__ void last_block_kernel(int* partial, unsigned* finished, int* result) {
    __shared__ bool is_last;
    const int count = __syncthreads_count(global_number() % 3 == 0);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = count;
        __threadfence();
        is_last = atomicInc(finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
        atomicAdd(&sum, static_cast<volatile int*>(partial)[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) *result += sum;
}

// Blocks that wait for the block before them.
__global__ void chain_kernel(volatile int* sums) {
    if (threadIdx.x == 0) {
        int before = 0;
        while (blockIdx.x > 0 && (before = sums[blockIdx.x - 1]) == 0) {
        }
        sums[blockIdx.x] = before + 1;
        __threadfence();
    }
}

int main() {
    check_integers<int>();
    check_integers<unsigned>();
    check_integers<unsigned long long>();
    check_signed<int>();
    check_signed<long long>();
    check_floating<float>();
    check_floating<double>();
    check_tickets();

    int* const numbers = zeros<int>(4);
    shared_kernel<<<blocks, block_size>>>(numbers);
    EXPECT_RUN();
    EXPECT(read_back(numbers) == threads);
    lock_kernel<<<blocks, block_size>>>(numbers + 2, zeros<int>(2), 50);
    int* const guarded = zeros<int>(2);
    lock_kernel<<<blocks, block_size>>>(numbers + 2, guarded, 50);
    EXPECT_RUN();
    EXPECT(read_back(guarded) == 50 * blocks && read_back(guarded + 1) == threads);
    wait_kernel<<<20, 100>>>();
    EXPECT_RUN();

    int* const partial = zeros<int>(1000);
    int* const result = zeros<int>(1);
    unsigned* const finished = zeros<unsigned>(1);
    for (int i = 0; i < 5; ++i) last_block_kernel<<<1000, 64>>>(partial, finished, result);
    EXPECT_RUN();
    EXPECT(read_back(result) == 5 * ((64000 + 2) / 3));
    SUCCEEDS(cudaMemset(partial, 0, 1000 * sizeof(int)));
    chain_kernel<<<1000, 32>>>(partial);
    EXPECT_RUN();
    EXPECT(read_back(partial + 999) == 1000);
    std::printf("ok\n");
}
