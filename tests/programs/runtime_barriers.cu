// Barriers: each form, many rounds, blocks of every size and shape, many blocks.
#include "runtime_expect.h"

__device__ int thread_number() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Each thread hands a number to its neighbour in every round, with the barrier in a function.
__device__ int from_neighbour(int* board, int number, int threads, int value) {
    board[number] = value;
    __syncthreads();
    const int read = board[(number + 1) % threads];
    __syncthreads();
    return read;
}

__global__ void rounds_kernel(int rounds, int* threads_seen) {
    __shared__ int board[1024];
    const int number = thread_number(), threads = blockDim.x * blockDim.y * blockDim.z;
    const uint3 thread = threadIdx, block = blockIdx;
    int kept[16];
    for (int i = 0; i < 16; ++i) kept[i] = number + i;
    for (int round = 0; round < rounds; ++round) {
        const int got = from_neighbour(board, number, threads, 2048 * round + number);
        EXPECT(got == 2048 * round + (number + 1) % threads);
    }
    EXPECT(thread.x == threadIdx.x && thread.y == threadIdx.y && thread.z == threadIdx.z);
    EXPECT(block.x == blockIdx.x && block.y == blockIdx.y && block.z == blockIdx.z);
    for (int i = 0; i < 16; ++i) EXPECT(kept[i] == number + i);
    atomicAdd(threads_seen, 1);
}

__global__ void counting_kernel(int rounds) {
    const int number = thread_number(), threads = blockDim.x * blockDim.y * blockDim.z;
    for (int round = 0; round < rounds; ++round) {
        // Any number but zero is true.
        const int step = round + 1, value = number % step == 0 ? (round % 2 ? -256 : 1 << 30) : 0;
        EXPECT(__syncthreads_count(value) == (threads + step - 1) / step);
        const bool one = number == round % threads;
        EXPECT(__syncthreads_or(one ? 4 : 0) != 0);
        EXPECT(__syncthreads_or(0) == 0);
        EXPECT(__syncthreads_and(one ? 0 : 8) == 0);
        EXPECT(__syncthreads_and(number + 1) != 0);
        EXPECT(__syncthreads_count(one) == 1);
    }
}

// Whole blocks may go their own way: end at once, or take barriers that others do not have.
__global__ void uneven_kernel(int* sums) {
    __shared__ int total;
    if (blockIdx.x % 3 == 0) return;
    if (threadIdx.x == 0) total = 0;
    for (unsigned round = 0; round < blockIdx.x % 7; ++round) {
        __syncthreads();
        if (round == threadIdx.x) total += 1;
    }
    if (blockIdx.x % 3 == 1) __syncthreads();
    if (blockIdx.x % 3 == 2) __syncthreads();
    if (threadIdx.x == 5) sums[blockIdx.x] = total;
}

// A sum over the block, halving the number of threads at work.
template <int size>
__global__ void sum_kernel(const int* input, int* output) {
    __shared__ int partial[size];
    partial[threadIdx.x] = input[blockIdx.x * size + threadIdx.x];
    __syncthreads();
    for (int half = size / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) output[blockIdx.x] = partial[0];
}

void check_shapes() {
    const dim3 blocks[] = {1,      2,        31,        32,        33,         1000,      1024,
                           {7, 5}, {32, 32}, {1, 1024}, {4, 3, 5}, {2, 8, 64}, {1, 1, 64}};
    const dim3 grids[] = {1, 3, {5, 4}, {2, 3, 4}};
    for (const dim3 block : blocks) {
        for (const dim3 grid : grids) {
            int* const seen = zeros<int>(1);
            rounds_kernel<<<grid, block>>>(5, seen);
            EXPECT_RUN();
            const unsigned threads = block.x * block.y * block.z, count = grid.x * grid.y * grid.z;
            EXPECT(read_back(seen) == int(threads * count));
            SUCCEEDS(cudaFree(seen));
        }
        counting_kernel<<<3, block>>>(6);
        EXPECT_RUN();
    }
}

void check_many() {
    int* const seen = zeros<int>(1);
    rounds_kernel<<<1, 1024>>>(200, seen);
    rounds_kernel<<<2000, 64>>>(3, seen);
    EXPECT_RUN();
    EXPECT(read_back(seen) == 1024 + 2000 * 64);

    const int blocks = 500;
    int* const sums = zeros<int>(blocks);
    uneven_kernel<<<blocks, 32>>>(sums);
    EXPECT_RUN();
    for (int i = 0; i < blocks; ++i) EXPECT(read_back(sums + i) == (i % 3 == 0 ? 0 : i % 7));
}

void check_sum() {
    const int size = 512, blocks = 64;
    int* input = nullptr;
    SUCCEEDS(cudaMallocManaged(&input, size * blocks * sizeof(int)));
    for (int i = 0; i < size * blocks; ++i) input[i] = i % 1000;
    int* const output = zeros<int>(blocks);
    for (int round = 0; round < 4; ++round) sum_kernel<size><<<blocks, size>>>(input, output);
    EXPECT_RUN();
    for (int block = 0; block < blocks; ++block) {
        int sum = 0;
        for (int i = 0; i < size; ++i) sum += input[block * size + i];
        EXPECT(read_back(output + block) == sum);
    }
}

int main() {
    check_shapes();
    check_many();
    check_sum();
    std::printf("ok\n");
}
