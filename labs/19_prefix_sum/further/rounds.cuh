// rounds: one pass in which nobody looks back further than to the blocks beside it, with the same
// bits in every run.
//
// To be known before: one_launch (task 6), the words of look_back (task 7),
// further/vector_rows.cuh, common/async_copy.h (lab 13).
//
// As many blocks as run at once, and all of them take a tile, side by side: that is a round. Then
// each takes the tile as many blocks further. So each block knows what came before the round: it
// has added up all rounds before. What it needs of the others are the sums of this round's tiles,
// one word from each:
//
//     round 0    tile 0  tile 1  tile 2  tile 3      all blocks publish, then read all four words:
//     round 1    tile 4  tile 5  tile 6  tile 7      before tile 6 = round 0, and tiles 4 and 5
//     round 2    tile 8  ...
//
// No sum has to wait for another tile's sum, and the order of all additions is fixed. The price is
// that every round is a meeting of all blocks. It costs no time as long as nobody is late, and for
// that each block is ahead: it publishes its sum of the next round before it waits for this one's
// words, and copies for the rounds behind that are under way in the meantime, past the registers
// (`stages` tiles in shared memory).
//
//     stage      r % 3: is scanned, stored     (r + 1) % 3: is added up, published     (r + 2) % 3: arrives
//
// A thread copies, adds up and scans its own vectors alone, so stages need no barrier.
//
// What it brought, on an NVIDIA H200 with CUDA 13.0 (1 December 2026): 256 Mi whole numbers take
// 0.583 ms, 87 % of a copy's speed; CUB takes 0.683. Before the words were asked for early, at the
// beginning of a round, each round waited for the way to the L2 cache and back, and it took 0.644
// ms.
#pragma once

#include "../../../common/async_copy.h"
#include "vector_rows.cuh"

#ifndef LAB_ROUND_THREADS
#define LAB_ROUND_THREADS 512
#endif
#ifndef LAB_ROUND_ROWS
#define LAB_ROUND_ROWS 4
#endif
#ifndef LAB_ROUND_STAGES
#define LAB_ROUND_STAGES 3
#endif
constexpr int round_threads = LAB_ROUND_THREADS, round_rows = LAB_ROUND_ROWS;
constexpr int round_warps = round_threads / warp_size, stages = LAB_ROUND_STAGES;

// The stages of this thread in shared memory.
template <class T, int rows>
struct Stages {
    Vector<T>* mine;  // (stages, rows), round_threads apart
    int64_t count;

    __device__ Vector<T>& vector(int64_t round, int row) const {
        return mine[(round % stages * rows + row) * round_threads];
    }
    // Begins the copies of a tile, and makes a group of them, even if there is nothing to copy.
    // Only a vector that is all in the array is copied at one go.
    __device__ void begin(const T* input, int64_t round, int64_t tile) const {
        const int64_t first = first_vector<rows>(tile, round_threads);
        const bool whole = (tile + 1) * (4 * rows * round_threads) <= count;
#pragma unroll
        for (int j = 0; j < rows; j++) {
            const int64_t element = 4 * (first + j * warp_size);
            Vector<T>& to = vector(round, j);
            if (whole) {
                lab::copy_async<16>(&to, input + element, true);
            } else {
                for (int k = 0; k < 4; k++) {
                    const bool exists = element + k < count;
                    lab::copy_async<4>(&to.x[k], exists ? input + element + k : input, exists);
                }
            }
        }
        lab::commit_copies();
    }
    __device__ Rows<T, rows> read(int64_t round) const {
        Rows<T, rows> found;
#pragma unroll
        for (int j = 0; j < rows; j++) found.row[j] = vector(round, j);
        return found;
    }
};

// A word as it is now.
__device__ __forceinline__ Word look(const Word* word) {
    return *static_cast<const volatile Word*>(word);
}

// What a block adds up of a tile before it can be stored.
template <class T>
struct OfTile {
    T before_warp, total;
};

// Adds up a tile, warp by warp, and publishes its sum. All threads call it; of_warp: (round_warps)
template <class T, int rows>
__device__ OfTile<T> add_up(const Rows<T, rows>& found, T* of_warp, Word* word) {
    const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    T sum = 0;
#pragma unroll
    for (int j = 0; j < rows; j++) {
        sum += (found.row[j].x[0] + found.row[j].x[1]) + (found.row[j].x[2] + found.row[j].x[3]);
    }
    sum = warp_total(sum);
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    const T up_to_warp = warp_scan(lane < round_warps ? of_warp[lane] : T{0});
    const T total = __shfl_sync(all_lanes, up_to_warp, warp_size - 1);
    const T before_next = __shfl_sync(all_lanes, up_to_warp, max(warp - 1, 0));
    if (threadIdx.x == 0 && word) publish(word, of_tile, total);
    return {warp == 0 ? T{0} : before_next, total};
}

// words: (tiles), nothing_yet at first. Dynamic shared memory: stages * rows * round_threads
// vectors
template <class T, int rows>
__global__ void __launch_bounds__(round_threads) scan_rounds(Scan<T> scan, Word* words) {
    extern __shared__ uint4 all_stages[];
    __shared__ T of_warp[2][round_warps], before_of_warp[round_warps], all_of_warp[round_warps];
    const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const int64_t blocks = gridDim.x, tile_elements = 4 * rows * round_threads;
    const int64_t tiles = (scan.count + tile_elements - 1) / tile_elements;
    const Stages<T, rows> staged = {reinterpret_cast<Vector<T>*>(all_stages) + threadIdx.x,
                                    scan.count};
    for (int64_t ahead = 0; ahead < stages - 1; ahead++) {
        staged.begin(scan.input, ahead, ahead * blocks + blockIdx.x);
    }
    lab::wait_for_copies<stages - 2>();
    OfTile<T> mine =
        add_up(staged.read(0), of_warp[0], blockIdx.x < tiles ? &words[blockIdx.x] : nullptr);
    T before_round = 0;
    for (int64_t round = 0; round * blocks < tiles; round++) {
        const int64_t first = round * blocks, tile = first + blockIdx.x, next = tile + blocks;
        const int64_t others = min(blocks, tiles - first);
        // Asked for now, needed later: by then the word has come.
        Word early = 0;
        if (threadIdx.x < others) early = look(&words[first + threadIdx.x]);
        staged.begin(scan.input, round + stages - 1, tile + (stages - 1) * blocks);
        lab::wait_for_copies<stages - 2>();
        const OfTile<T> of_next = add_up(staged.read(round + 1), of_warp[(round + 1) % 2],
                                         next < tiles ? &words[next] : nullptr);
        Rows<T, rows> found = staged.read(round);
        T before_row[rows];
        found.scan(before_row);

        // Thread k adds up the words of blocks k, k + round_threads, ...
        T before = 0, all = 0;
        for (int64_t block = threadIdx.x; block < others; block += round_threads) {
            if (meaning_of(early) == nothing_yet || block >= round_threads) {
                early = wait_for(&words[first + block]);
            }
            const T sum = sum_in<T>(early);
            if (block < blockIdx.x) before += sum;
            all += sum;
        }
        if (warp * warp_size < others) {
            before = warp_total(before);
            all = warp_total(all);
        }
        if (lane == 0) before_of_warp[warp] = before, all_of_warp[warp] = all;
        __syncthreads();
        before = warp_total(lane < round_warps ? before_of_warp[lane] : T{0});
        all = warp_total(lane < round_warps ? all_of_warp[lane] : T{0});

        found.finish(before_row, before_round + before + mine.before_warp, scan.shift);
        found.store(scan.output, first_vector<rows>(tile, round_threads), scan.count,
                    (tile + 1) * tile_elements <= scan.count);
        before_round += all;
        mine = of_next;
    }
}

template <class T, int rows>
bool fits_rounds() {
    return lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >=
           int(sizeof(Vector<T>)) * stages * rows * round_threads + 4096;
}

template <class T, int rows>
lab::Launch launch_rounds(const Scan<T>& scan, Word* words) {
    const size_t shared_bytes = sizeof(Vector<T>) * stages * rows * round_threads;
    int of_each = 0;
    CHECK(cudaFuncSetAttribute(scan_rounds<T, rows>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(shared_bytes)));
    CHECK(cudaFuncSetAttribute(scan_rounds<T, rows>, cudaFuncAttributePreferredSharedMemoryCarveout,
                               100));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, scan_rounds<T, rows>,
                                                        round_threads, shared_bytes));
    // in CPU mode a block that waits for a word takes a core from those that it waits for
    const int64_t at_once =
        lab::on_cpu ? 3 : of_each * lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const int64_t tiles = lab::divide_up(scan.count, 4 * rows * round_threads);
    const dim3 grid(unsigned(std::min(at_once, tiles)));
    CHECK(cudaMemsetAsync(words, 0, tiles * sizeof(Word)));
    Scan<T> what = scan;
    void* arguments[] = {&what, &words};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(scan_rounds<T, rows>), grid,
                                      dim3(round_threads), arguments, shared_bytes, nullptr));
    return {grid, dim3(round_threads)};
}

template <class T>
lab::Launch run_rounds(const Work<T>& work) {
    Word* const words = static_cast<Word*>(work.space);
    const bool enough = work.scan.count >= enough_for(4 * round_rows * round_threads);
    if (enough && fits_rounds<T, round_rows>())
        return launch_rounds<T, round_rows>(work.scan, words);
    return launch_rounds<T, 2>(work.scan, words);
}
