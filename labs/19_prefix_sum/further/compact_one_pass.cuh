// compact_one_pass: compaction that reads each element once: look_back_wide, with flags in place of
// the elements.
//
// To be known before: compact (task 8), further/look_back_wide.cuh.
//
// compact stores flags, reads them, stores places, adds to them, reads them: all that lies between
// the input and the result is never needed by anyone else. Here flags and places stay in registers:
//
//     elements   3 -1  7 -5 | -2  4 -6 -8      a tile; each thread keeps its elements
//     flags      0  1  0  1 |  1  0  1  1      scanned as elements are in look_back_wide
//     places     0  0  1  1 |  2  3  3  4      in the tile; the look-back says what comes before the tile
//     shared    -1 -5 -2 -6 -8                 sorted there first, so that neighbours are stored side by side
//
// Only the first warp looks back. The others put their elements in order in the meantime.
#pragma once

#include "look_back_wide.cuh"

constexpr int kept_threads = 512, kept_rows = 4;

// words: (tiles), nothing_yet at first. kept: (up to count); *kept_count: how many
template <class T>
__global__ void __launch_bounds__(kept_threads)
    move_kept_in_one_pass(const T* input, int64_t count, Word* words, unsigned* ticket, T* kept,
                          uint32_t* kept_count) {
    constexpr int warps = kept_threads / warp_size, tile_elements = 4 * kept_rows * kept_threads;
    __shared__ unsigned shared_tile, before_tile;
    __shared__ unsigned of_warp[warps];
    __shared__ T in_order[tile_elements];
    const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const int64_t tile = shared_tile;
    const bool whole = (tile + 1) * tile_elements <= count;
    Rows<T, kept_rows> mine;
    Rows<uint32_t, kept_rows> places;  // first flags
    mine.load(input, first_vector<kept_rows>(tile, kept_threads), count, whole);
#pragma unroll
    for (int j = 0; j < kept_rows; j++) {
#pragma unroll
        for (int k = 0; k < 4; k++) places.row[j].x[k] = is_kept(mine.row[j].x[k]);
    }
    uint32_t before[kept_rows];
    const uint32_t sum = places.scan(before);
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    const uint32_t up_to_warp = warp_scan(lane < warps ? of_warp[lane] : 0u);
    const uint32_t total = __shfl_sync(all_lanes, up_to_warp, warp_size - 1);
    const uint32_t up_to_last = __shfl_sync(all_lanes, up_to_warp, warp > 0 ? warp - 1 : 0);
    if (warp == 0) {
        const uint32_t found = look_back_together(words, tile, total);
        if (lane == 0) before_tile = found;
        if (lane == 0 && (tile + 1) * tile_elements >= count) *kept_count = found + total;
    }
    places.finish(before, warp > 0 ? up_to_last : 0u, 1);
#pragma unroll
    for (int j = 0; j < kept_rows; j++) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (is_kept(mine.row[j].x[k])) in_order[places.row[j].x[k]] = mine.row[j].x[k];
        }
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < total; i += kept_threads) {
        kept[before_tile + i] = in_order[i];
    }
}

template <class T>
lab::Launch run_compact_one_pass(const Work<T>& work) {
    const Scan<T>& scan = work.scan;
    const lab::Launch launch = {dim3(lab::divide_up(scan.count, 4 * kept_rows * kept_threads)),
                                dim3(kept_threads)};
    const int64_t tiles = launch.grid.x;
    Word* const words = static_cast<Word*>(work.space);
    CHECK(cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(Word)));
    unsigned* const ticket = reinterpret_cast<unsigned*>(words + tiles);
    move_kept_in_one_pass<<<launch.grid, launch.block>>>(scan.input, scan.count, words, ticket,
                                                         scan.output, work.kept_count);
    CHECK_LAUNCH();
    return launch;
}
