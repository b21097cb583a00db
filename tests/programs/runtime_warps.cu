// Warp primitives: shuffles, votes, matches, reductions, masks, lanes that are missing.
#include "runtime_expect.h"

constexpr unsigned full = 0xffffffffu;

__device__ int lane_number() { return threadIdx.x % 32; }

template <class T>
__device__ T value_of(int lane) {
    return static_cast<T>(lane * 3 + 1) * static_cast<T>(sizeof(T) == 8 ? 1000000007 : 1);
}
template <>
__device__ float value_of<float>(int lane) {
    return lane * 0.5f - 3;
}
template <>
__device__ double value_of<double>(int lane) {
    return lane * 0.1 - 3;
}

template <class T>
__global__ void shuffle_kernel() {
    const int lane = lane_number();
    const T value = value_of<T>(lane);
    for (int width = 1; width <= 32; width *= 2) {
        const int first = lane / width * width, last = first + width - 1;
        for (int i = 0; i < 40; ++i) {
            const int bits = i % 32;  // no more of a distance counts
            EXPECT(__shfl_sync(full, value, i, width) == value_of<T>(first + i % width));
            EXPECT(__shfl_sync(full, value, -i, width) == value_of<T>(first + (-i & (width - 1))));
            const int up = lane - bits, down = lane + bits, other = lane ^ bits;
            EXPECT(__shfl_up_sync(full, value, i, width) == value_of<T>(up < first ? lane : up));
            EXPECT(__shfl_down_sync(full, value, i, width) ==
                   value_of<T>(down > last ? lane : down));
            EXPECT(__shfl_xor_sync(full, value, i, width) ==
                   value_of<T>(other > last ? lane : other));
        }
    }
    EXPECT(__shfl_sync(full, value, 7) == value_of<T>(7));
    EXPECT(__shfl_down_sync(full, value, 4) == value_of<T>(lane + 4 > 31 ? lane : lane + 4));
}

__global__ void vote_kernel() {
    const int lane = lane_number();
    for (int step = 1; step < 33; ++step) {
        unsigned expected = 0;
        for (int i = 0; i < 32; i += step) expected |= 1u << i;
        const int predicate = lane % step == 0 ? 1 << step % 31 : 0;
        EXPECT(__ballot_sync(full, predicate) == expected);
        EXPECT(!__all_sync(full, lane != step % 32) && __all_sync(full, lane + 1));
        EXPECT(__any_sync(full, lane == step % 32) && !__any_sync(full, 0));
    }
}

template <class T>
__global__ void match_kernel() {
    const int lane = lane_number();
    for (int groups = 1; groups <= 32; ++groups) {
        unsigned expected = 0;
        for (int i = lane % groups; i < 32; i += groups) expected |= 1u << i;
        EXPECT(__match_any_sync(full, value_of<T>(lane % groups)) == expected);
        int equal = -1;
        EXPECT(__match_all_sync(full, value_of<T>(lane % groups), &equal) ==
               (groups == 1 ? full : 0));
        EXPECT((equal != 0) == (groups == 1));
    }
}

__global__ void reduce_kernel() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const int lane = lane_number();
    EXPECT(__reduce_add_sync(full, lane) == 496);
    EXPECT(__reduce_add_sync(full, -lane) == -496);
    EXPECT(__reduce_add_sync(full, 0x80000000u + lane) == 496u);
    EXPECT(__reduce_min_sync(full, 5 - lane) == -26 && __reduce_max_sync(full, 5 - lane) == 5);
    EXPECT(__reduce_min_sync(full, -5 - lane) == -36 && __reduce_max_sync(full, -5 - lane) == -5);
    EXPECT(__reduce_min_sync(full, 5u - lane) == 0u);
    EXPECT(__reduce_max_sync(full, 5u - lane) == 0xffffffffu);
    EXPECT(__reduce_and_sync(full, 0xf0u | lane) == 0xf0u);
    EXPECT(__reduce_or_sync(full, 1u << lane) == full);
    EXPECT(__reduce_xor_sync(full, 3u << lane) == 0x00000001u);
    const unsigned mask = lane < 10 ? 0x3ffu : ~0x3ffu;
    EXPECT(__reduce_add_sync(mask, 1) == (lane < 10 ? 10 : 22));
#endif
}

// Parts of a warp under masks of their own, at different operations at the same time.
__global__ void mask_kernel() {
    const int lane = lane_number(), start = lane < 12 ? 0 : 12, end = lane < 12 ? 12 : 32;
    const unsigned mask = lane < 12 ? 0xfffu : ~0xfffu;
    EXPECT(__ballot_sync(mask, 1) == mask);
    EXPECT(__shfl_sync(mask, lane, start + 3) == start + 3);
    EXPECT(__popc(__match_any_sync(mask, lane / 2)) == 2);
    if (lane % 2 == 0) {
        EXPECT(__ballot_sync(0x55555555u, lane > 3) == 0x55555550u);
        EXPECT(__shfl_sync(0x55555555u, lane, 8) == 8);
    } else {
        EXPECT(__shfl_sync(0xaaaaaaaau, lane, 9) == 9);
        EXPECT(__any_sync(0xaaaaaaaau, lane == 1));
    }
    if (lane == 31) EXPECT(__shfl_sync(1u << 31, lane, 31) == 31);
    // In a loop that each part leaves at another time.
    int sum = 0;
    for (int i = start; i < end; ++i) sum += __shfl_sync(mask, lane, i);
    EXPECT(sum == (lane < 12 ? 66 : 430));
}

// Who calls this from different places is not active together. counters: (numbers). Returns a place of its own for each lane.
__device__ __noinline__ int add_together(int* counters, int number) {
    const unsigned peers = __match_any_sync(__activemask(), number);
    const int lane = lane_number(), leader = __ffs(peers) - 1;
    int before = 0;
    if (lane == leader) before = atomicAdd(&counters[number], __popc(peers));
    return __shfl_sync(peers, before, leader) + __popc(peers & ((1u << lane) - 1));
}

__global__ void apart_kernel() {
    const int lane = lane_number();
    __shared__ int first[2], second[2], third[2];
    first[lane % 2] = second[lane % 2] = third[lane % 2] = 0;
    __syncwarp();
    if (lane < 7) {
        add_together(first, lane % 2);
    } else if (lane % 3 == 0) {
        add_together(second, lane % 2);
        add_together(third, 0);
    } else {
        add_together(third, lane % 2);
    }
    __syncwarp();
    EXPECT(first[0] == 4 && first[1] == 3);
    EXPECT(second[0] == 4 && second[1] == 4);
    EXPECT(third[0] == 8 + 8 && third[1] == 9);
}

__global__ void active_kernel() {
    const int lane = lane_number();
#ifdef CUDA_ON_CPU
    // As together as they can be; a GPU promises less.
    EXPECT(__activemask() == full);
    if (lane % 3 == 0) {
        EXPECT(__activemask() == 0x49249249u);
    } else {
        EXPECT(__activemask() == ~0x49249249u);
    }
    for (int i = 0; i <= lane; ++i) EXPECT(__activemask() == full << i);
#endif
    __shared__ int counter, tickets[4][32];
    counter = 0;
    __syncwarp();
    // The lanes that came along elect a leader, who draws the tickets of all.
    if (lane & 5) {
        const unsigned active = __activemask();
        const int leader = __ffs(active) - 1, before = __popc(active & ((1u << lane) - 1));
        int ticket = 0;
        if (lane == leader) ticket = atomicAdd(&counter, __popc(active));
        tickets[0][lane] = __shfl_sync(active, ticket, leader) + before;
    } else {
        tickets[0][lane] = -1;
    }
    __syncwarp();
    for (int i = 0; i < 32; ++i) {
        EXPECT((i & 5) == 0 || i == lane || tickets[0][i] != tickets[0][lane] || !(lane & 5));
    }
    EXPECT(counter == 24);
}

// Lanes that do not exist, and lanes that ended before, are not waited for.
__global__ void missing_kernel(int ends) {
    const int lane = lane_number(), threads = min(32, int(blockDim.x) - int(threadIdx.x) / 32 * 32);
    const unsigned existing = threads == 32 ? full : (1u << threads) - 1;
    EXPECT(__ballot_sync(full, 1) == existing);
    EXPECT(__shfl_sync(full, lane, 0) == 0);
    __syncwarp();
    if (lane >= ends) return;
    const unsigned left = existing & ((1u << ends) - 1);
    EXPECT(__ballot_sync(full, 1) == left);
    int sum = lane;
    for (int distance = 16; distance > 0; distance /= 2) {
        const int other = __shfl_down_sync(full, sum, distance);
        if (lane + distance < min(ends, threads)) sum += other;
    }
    const int lanes = min(ends, threads);
    if (lane == 0) EXPECT(sum == lanes * (lanes - 1) / 2);
    EXPECT(__all_sync(full, lane < ends));
    __syncwarp();
}

__global__ void neighbour_kernel(int rounds) {
    __shared__ int board[1024];
    const int number = threadIdx.x, first = number / 32 * 32;
    const int threads = min(32, int(blockDim.x) - first);
    for (int round = 0; round < rounds; ++round) {
        board[number] = 1024 * round + number;
        __syncwarp();
        const int neighbour = first + (number - first + 1) % threads;
        EXPECT(board[neighbour] == 1024 * round + neighbour);
        __syncwarp();
    }
}

// A sum over a block: warps by shuffles, then one warp while the others wait at the barrier.
__global__ void sum_kernel(unsigned long long* sum) {
    __shared__ int partial[32];
    const int lane = lane_number(), warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    int value = blockIdx.x * blockDim.x + threadIdx.x;
    for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(full, value, mask);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < warps ? partial[lane] : 0;
        for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(full, value, mask);
        if (lane == 0) atomicAdd(sum, static_cast<unsigned long long>(value));
    }
    __syncthreads();
    EXPECT(__syncthreads_count(1) == blockDim.x);
}

__global__ void shape_kernel() {
    const int number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    EXPECT(__shfl_sync(full, number, 31) == number / 32 * 32 + 31);
    EXPECT(__shfl_down_sync(full, number, 1) == number + (number % 32 < 31 ? 1 : 0));
}

// Halves meet apart and then together: the thread that was the first of the block may end before others
// have begun, and these must have their turn all the same.
__global__ void halves_kernel(int* ended) {
    const bool low = threadIdx.x % 32 < 16;
    if (low) {
        __syncwarp(0x0000ffffu);
    } else {
        __syncwarp(0xffff0000u);
    }
    __syncwarp();
    atomicAdd(ended, 1);
}

int main() {
    shuffle_kernel<int><<<1, 32>>>();
    shuffle_kernel<unsigned><<<1, 64>>>();
    shuffle_kernel<long long><<<2, 32>>>();
    shuffle_kernel<unsigned long long><<<1, 32>>>();
    shuffle_kernel<float><<<1, 96>>>();
    shuffle_kernel<double><<<1, 32>>>();
    EXPECT_RUN();
    vote_kernel<<<3, 64>>>();
    match_kernel<int><<<1, 32>>>();
    match_kernel<unsigned long long><<<1, 64>>>();
    match_kernel<float><<<1, 32>>>();
    match_kernel<double><<<1, 32>>>();
    reduce_kernel<<<2, 32>>>();
    EXPECT_RUN();
    mask_kernel<<<2, 64>>>();
    apart_kernel<<<2, 32>>>();
    active_kernel<<<2, 32>>>();
    EXPECT_RUN();
    for (const int threads : {1, 7, 31, 32, 33, 40, 63, 100, 1024}) {
        for (const int ends : {1, 2, 20, 31}) missing_kernel<<<2, threads>>>(ends);
        neighbour_kernel<<<2, threads>>>(20);
        EXPECT_RUN();
    }
    for (const dim3 block : {dim3(8, 8), dim3(4, 4, 4), dim3(32, 32), dim3(16, 64), dim3(64, 1)}) {
        shape_kernel<<<3, block>>>();
        EXPECT_RUN();
    }
    int* const ended = zeros<int>(1);
    halves_kernel<<<3, 256>>>(ended);
    EXPECT_RUN();
    EXPECT(read_back(ended) == 3 * 256);
    unsigned long long* const sum = zeros<unsigned long long>(1);
    sum_kernel<<<10, 1024>>>(sum);
    EXPECT_RUN();
    EXPECT(read_back(sum) == 10240ull * 10239 / 2);
    std::printf("ok\n");
}
