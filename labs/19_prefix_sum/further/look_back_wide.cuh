// look_back_wide: look_back with larger tiles, 16 bytes an access, and a warp that looks back
// together.
//
// To be known before: look_back (task 7), further/vector_rows.cuh, votes (lab 09).
//
// One thread that looks back asks for a word, waits for it, and asks for the next: each costs the
// way to the L2 cache and back. Here a warp asks for 32 words at a time, one a lane:
//
//     tile:   ... 4864   ...   4988  4989  4990  4991 | 4992 = this one
//     word:       up_to        of    of    up_to  of
//     lane 31, 30, ...            3     2     1     0      nearest first: 32 words a window
//
// A vote tells which lanes have a word that is up_to_tile. The nearest of them and all lanes nearer
// than that are added up by shuffles; without any, the whole window is added, and the next one is
// looked at.
//
// A tile has 8192 elements, and there are few of them: while one tile waits for a word (half a
// microsecond or more), a card that moves 4 TB/s moves 30 such tiles. So with small tiles each
// finds many before it that have no sum up to them yet, and the look-back becomes long: that is
// what decides how large a tile should be.
//
// What it brought, on an NVIDIA H200 with CUDA 13.0 (1 December 2026): 256 Mi whole numbers take
// 0.779 ms, where look_back takes 2.80. Four words a lane were slower, 0.815 ms for 0.790 the day before.
#pragma once

#include "vector_rows.cuh"

#ifndef LAB_WIDE_THREADS
#define LAB_WIDE_THREADS 512
#endif
#ifndef LAB_WIDE_ROWS
#define LAB_WIDE_ROWS 4
#endif
constexpr int wide_threads = LAB_WIDE_THREADS, wide_rows = LAB_WIDE_ROWS;

// The word of a tile, or that of nothing before the first tile.
__device__ __forceinline__ Word word_of(const Word* words, int64_t tile) {
    if (tile < 0) return Word{up_to_tile} << 32;
    return *static_cast<const volatile Word*>(&words[tile]);
}

// The sum of all tiles before this one, in all lanes; a whole warp calls it.
template <class T>
__device__ T look_back_together(Word* words, int64_t tile, T total) {
    const int lane = threadIdx.x % warp_size;
    if (lane == 0) publish(&words[tile], tile == 0 ? up_to_tile : of_tile, total);
    T before = 0;
    bool done = tile == 0;
    for (int64_t nearest = tile - 1; !done; nearest -= warp_size) {
        Word found = word_of(words, nearest - lane);
        while (__any_sync(all_lanes, meaning_of(found) == nothing_yet)) {
            found = word_of(words, nearest - lane);
        }
        const unsigned complete = __ballot_sync(all_lanes, meaning_of(found) == up_to_tile);
        const int last = complete ? __ffs(int(complete)) - 1 : warp_size - 1;
        before += warp_total(lane <= last ? sum_in<T>(found) : T{0});
        done = complete != 0;
    }
    if (lane == 0 && tile > 0) publish(&words[tile], up_to_tile, before + total);
    return before;
}

template <class T, int rows>
__global__ void __launch_bounds__(wide_threads)
    scan_look_back_wide(Scan<T> scan, Word* words, unsigned* ticket) {
    constexpr int warps = wide_threads / warp_size;
    __shared__ unsigned shared_tile;
    __shared__ T of_warp[warps];  // its sum, and then what comes before it
    const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const int64_t tile = shared_tile, first = first_vector<rows>(tile, wide_threads);
    Rows<T, rows> mine;
    T before[rows];
    const bool whole = (tile + 1) * (4 * rows * wide_threads) <= scan.count;
    mine.load(scan.input, first, scan.count, whole);
    const T sum = mine.scan(before);
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        const T up_to_warp = warp_scan(lane < warps ? of_warp[lane] : T{0});
        const T total = __shfl_sync(all_lanes, up_to_warp, warp_size - 1);
        T before_warp = __shfl_up_sync(all_lanes, up_to_warp, 1);
        if (lane == 0) before_warp = 0;
        const T before_tile = look_back_together(words, tile, total);
        if (lane < warps) of_warp[lane] = before_tile + before_warp;
    }
    __syncthreads();
    mine.finish(before, of_warp[warp], scan.shift);
    mine.store(scan.output, first, scan.count, whole);
}

template <class T, int rows>
lab::Launch launch_look_back_wide(const Scan<T>& scan, Word* words) {
    const lab::Launch launch = {dim3(lab::divide_up(scan.count, 4 * rows * wide_threads)),
                                dim3(wide_threads)};
    const int64_t tiles = launch.grid.x;
    CHECK(cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(Word)));
    unsigned* const ticket = reinterpret_cast<unsigned*>(words + tiles);
    scan_look_back_wide<T, rows><<<launch.grid, launch.block>>>(scan, words, ticket);
    CHECK_LAUNCH();
    return launch;
}

template <class T>
lab::Launch run_look_back_wide(const Work<T>& work) {
    Word* const words = static_cast<Word*>(work.space);
    const bool enough = work.scan.count >= enough_for(4 * wide_rows * wide_threads);
    if (enough) return launch_look_back_wide<T, wide_rows>(work.scan, words);
    return launch_look_back_wide<T, 2>(work.scan, words);
}
