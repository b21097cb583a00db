// radix_pass: one pass of a radix sort: by the lowest 8 bits, equal ones in their order.
//
// To be known before: compact (task 8), scan_by_levels (task 5), privatised counters (lab 10),
// __match_any_sync.
//
// Where does an element go? Behind all with a smaller digit, behind those with the same digit in
// the blocks before it, and behind those in its own block before it. The first two are one
// exclusive scan over all counts, if those of a digit lie side by side:
//
//     counts     digit 0: block 0, 1, 2, ... | digit 1: block 0, 1, 2, ... | ... | digit 255: ...
//     places     exclusive scan: where block b's elements of digit d begin
//
// So a pass is: count (each block its own), scan, move. A sort of 32-bit keys is four of these
// passes, from the lowest digit up: it works because each is stable.
//
// Within a block a warp takes 32 neighbours at a time. __match_any_sync tells a lane which others
// have its digit, and how many of those come before it; a counter for each warp and digit tells how
// many came in earlier rows. The block sorts its tile in shared memory first, so that neighbours
// are stored side by side.
#pragma once

constexpr int digits = 256;  // as many as a block has threads: thread d looks after digit d
constexpr int radix_rows = 16;
constexpr int radix_tile = block_size * radix_rows;
static_assert(digits == block_size, "a thread for each digit");

// keys: (count), counts: (digits, gridDim.x)
__global__ void count_digits(const uint32_t* keys, int64_t count, uint32_t* counts) {
    __shared__ unsigned of_digit[digits];
    of_digit[threadIdx.x] = 0;
    __syncthreads();
    const int64_t first = int64_t{blockIdx.x} * radix_tile + threadIdx.x;
    for (int row = 0; row < radix_rows; row++) {
        const int64_t i = first + row * block_size;
        if (i < count) atomicAdd(&of_digit[keys[i] % digits], 1u);
    }
    __syncthreads();
    counts[int64_t{threadIdx.x} * gridDim.x + blockIdx.x] = of_digit[threadIdx.x];
}

// How many elements of its digit come before this one in its warp's rows so far; `seen` counts
// them: (digits)
__device__ __forceinline__ unsigned rank_in_warp(unsigned digit, bool exists, unsigned* seen) {
    const unsigned lane = threadIdx.x % warp_size;
    const unsigned alike = __match_any_sync(all_lanes, exists ? digit : unsigned{digits});
    const unsigned lower = alike & ((1u << lane) - 1);
    const unsigned before = exists ? seen[digit] : 0;
    __syncwarp();
    if (exists && lower == 0) seen[digit] = before + __popc(alike);
    __syncwarp();
    return before + __popc(lower);
}

// places: (digits, gridDim.x), where this block's elements of each digit begin in `sorted`
__global__ void move_by_digit(const uint32_t* keys, int64_t count, const uint32_t* places,
                              uint32_t* sorted) {
    constexpr int warps = block_size / warp_size;
    __shared__ unsigned seen[warps][digits];  // of each warp; then where its elements of a digit go
    __shared__ uint32_t tile[radix_tile];
    __shared__ uint32_t to_global[digits];  // from a place in the tile to that in `sorted`
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const int64_t first_of_tile = int64_t{blockIdx.x} * radix_tile;
    const int64_t first = first_of_tile + warp * (radix_rows * warp_size) + lane;
    for (int w = 0; w < warps; w++) seen[w][threadIdx.x] = 0;
    __syncthreads();

    uint32_t key[radix_rows];
    unsigned rank[radix_rows];
#pragma unroll
    for (int row = 0; row < radix_rows; row++) {
        const int64_t i = first + row * warp_size;
        key[row] = i < count ? keys[i] : 0;
    }
#pragma unroll
    for (int row = 0; row < radix_rows; row++) {
        rank[row] = rank_in_warp(key[row] % digits, first + row * warp_size < count, seen[warp]);
    }
    __syncthreads();

    // Thread d: how many of digit d are in the block, and what is before them.
    unsigned of_digit = 0, total;
    for (int w = 0; w < warps; w++) of_digit += seen[w][threadIdx.x];
    unsigned begin = sum_before_thread(of_digit, total);
    to_global[threadIdx.x] = places[int64_t{threadIdx.x} * gridDim.x + blockIdx.x] - begin;
    for (int w = 0; w < warps; w++) {
        const unsigned of_warp = seen[w][threadIdx.x];
        seen[w][threadIdx.x] = begin;
        begin += of_warp;
    }
    __syncthreads();

#pragma unroll
    for (int row = 0; row < radix_rows; row++) {
        if (first + row * warp_size < count)
            tile[seen[warp][key[row] % digits] + rank[row]] = key[row];
    }
    __syncthreads();
    for (unsigned at = threadIdx.x; at < total; at += block_size) {
        sorted[to_global[tile[at] % digits] + at] = tile[at];
    }
}

inline int64_t counts_of_digits(int64_t count) {
    return digits * lab::divide_up(count, radix_tile);
}
inline int64_t radix_bytes(int64_t count) {
    return 4 * (2 * counts_of_digits(count) + sums_of_levels(counts_of_digits(count)));
}

// Whatever T is, its bits are sorted.
template <class T>
lab::Launch run_radix_pass(const Work<T>& work) {
    const int64_t count = work.scan.count, all = counts_of_digits(count);
    const uint32_t* const keys = reinterpret_cast<const uint32_t*>(work.scan.input);
    uint32_t* const counts = static_cast<uint32_t*>(work.space);
    uint32_t *const places = counts + all, *const sums = places + all;
    const lab::Launch launch = {dim3(lab::divide_up(count, radix_tile)), dim3(block_size)};
    count_digits<<<launch.grid, launch.block>>>(keys, count, counts);
    CHECK_LAUNCH();
    scan_by_levels<uint32_t>(scan_warp_shuffles<uint32_t>, {counts, places, all, 1}, sums);
    move_by_digit<<<launch.grid, launch.block>>>(keys, count, places,
                                                 reinterpret_cast<uint32_t*>(work.scan.output));
    CHECK_LAUNCH();
    return launch;
}
