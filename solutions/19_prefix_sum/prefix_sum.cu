// 19 prefix_sum: sums of the first elements of an array, a scan, and its use. Yours: TODO 1 to 8.
//
//   hillis_steele   in a block: log2 steps, in each of them every thread adds
//   blelloch        in a block: up a tree and down again, twice the steps and few additions
//   warp_shuffles   in a block: lanes hand each other registers, and one barrier is left
//                   (these three: scan each block, scan the blocks' sums, add those: three kernels)
//   one_launch      the same in one cooperative launch: the grid waits for itself
//   look_back       one pass: each block looks back at those before it
//   compact         what a scan is for: the negative elements side by side, in their order
//   look_back_wide, rounds, compact_one_pass, radix_pass   in further/

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/lab.h"

namespace cg = cooperative_groups;

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int block_size = 256;  // a power of two, for the tree, and whole warps

__device__ int64_t global_thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

// What is scanned, and where to. T is float or uint32_t: whole numbers that wrap round beyond 32
// bits, which is defined, and right for negative ones, too. The sum up to element i belongs in
// place i, or, with shift 1, in place i + 1: then each sum leaves its own element out (an exclusive
// scan), and begins with 0.
template <class T>
struct Scan {
    const T* input;  // (count)
    T* output;       // (count)
    int64_t count;
    int shift;

    __device__ T value(int64_t i) const { return i < count ? input[i] : T{0}; }
    __device__ void store(int64_t i, T sum) const {
        if (i + shift < count) output[i + shift] = sum;
        if (i == 0 && shift == 1) output[0] = 0;
    }
};

// ---------------------------------------------------------------------------------------------
// A block by itself. Each of the three kernels stores the sums within each block, and the block's
// own sum in sums[blockIdx.x].

// In step s a thread adds what the thread 2^s before it holds, so each holds the sum of twice as
// many. Two copies take turns: nobody reads where somebody writes, with one barrier a step.
template <class T>
__global__ void scan_hillis_steele(Scan<T> scan, T* sums) {
    __shared__ T held[2][block_size];
    const int64_t i = global_thread();
    T sum = scan.value(i);
    int now = 0;  // the copy to read from
    held[now][threadIdx.x] = sum;
    __syncthreads();
    // BEGIN SOLUTION
    for (unsigned distance = 1; distance < block_size; distance *= 2) {
        if (threadIdx.x >= distance) sum += held[now][threadIdx.x - distance];
        now = 1 - now;
        held[now][threadIdx.x] = sum;
        __syncthreads();
    }
    //: // TODO 1 (about 5 lines): a loop over distance = 1, 2, 4, ... below block_size. A thread
    //: // that has another `distance` before it adds what that one holds in held[now]; then the other
    //: // copy is `now`, each thread stores its sum there, and a barrier for all ends the step.
    // END SOLUTION
    scan.store(i, sum);
    if (threadIdx.x == block_size - 1) sums[blockIdx.x] = sum;
}

// block_size / 2 additions in the first step of the tree, half as many in each later one. Word w of
// shared memory is in bank w % 32. So that strides of 2, 4, 8, ... do not meet in few banks, a word
// is left out after each 32.
__device__ unsigned with_gaps(unsigned element) { return element + element / warp_size; }

template <class T>
__global__ void scan_blelloch(Scan<T> scan, T* sums) {
    __shared__ T tree[block_size + block_size / warp_size];
    const int64_t i = global_thread();
    const T own = scan.value(i);
    tree[with_gaps(threadIdx.x)] = own;
    // Up: the right end of each stretch of 2 * half elements becomes the sum of that stretch.
    for (unsigned half = 1; half < block_size; half *= 2) {
        const unsigned right = 2 * half * (threadIdx.x + 1) - 1, left = right - half;
        __syncthreads();
        if (right < block_size) tree[with_gaps(right)] += tree[with_gaps(left)];
    }
    __syncthreads();
    if (threadIdx.x == block_size - 1) {
        sums[blockIdx.x] = tree[with_gaps(block_size - 1)];
        tree[with_gaps(block_size - 1)] = 0;  // before the whole block there is nothing
    }
    // Down: a stretch's right end holds the sum of all before it, and passes it on to both halves.
    for (unsigned half = block_size / 2; half > 0; half /= 2) {
        const unsigned right = 2 * half * (threadIdx.x + 1) - 1, left = right - half;
        __syncthreads();
        // BEGIN SOLUTION
        if (right < block_size) {
            const T before = tree[with_gaps(right)];
            tree[with_gaps(right)] = before + tree[with_gaps(left)];
            tree[with_gaps(left)] = before;
        }
        //: // TODO 2 (about 5 lines): if right < block_size, the right end holds the sum before
        //: // this stretch, and the left end that of the left half. Before the left half comes what
        //: // came before the stretch; before the right half, that and the left half.
        //: (void)left;  // delete this line
        // END SOLUTION
    }
    __syncthreads();
    scan.store(i, tree[with_gaps(threadIdx.x)] + own);
}

// The sum of the values of lane 0 to this lane. A shuffle needs no memory and no barrier.
template <class T>
__device__ T warp_scan(T value) {
    const unsigned lane = threadIdx.x % warp_size;
    // BEGIN SOLUTION
    for (unsigned distance = 1; distance < warp_size; distance *= 2) {
        const T before = __shfl_up_sync(all_lanes, value, distance);
        if (lane >= distance) value += before;
    }
    //: // TODO 3 (about 4 lines): Hillis and Steele's steps again, distance = 1, 2, 4, 8, 16. All
    //: // lanes call __shfl_up_sync(all_lanes, value, distance), and those add that have a lane so
    //: // far before them.
    //: (void)lane;  // delete this line
    // END SOLUTION
    return value;
}

// The sum of what the threads before this one bring, and that of all: a warp by itself, then the
// sums of the warps. All threads of the block call it. A tile of cooperative groups can scan, too,
// in the same steps.
template <class T, bool by_groups = false>
__device__ T sum_before_thread(T value, T& total) {
    __shared__ T sum_of_warp[block_size / warp_size];
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    T up_to_here;
    if constexpr (by_groups) {
        up_to_here =
            cg::inclusive_scan(cg::tiled_partition<warp_size>(cg::this_thread_block()), value);
    } else {
        up_to_here = warp_scan(value);
    }
    T before = __shfl_up_sync(all_lanes, up_to_here, 1);
    if (lane == 0) before = 0;
    total = 0;
    // BEGIN SOLUTION
    if (lane == warp_size - 1) sum_of_warp[warp] = up_to_here;
    __syncthreads();
    for (unsigned w = 0; w < block_size / warp_size; w++) {
        if (w < warp) before += sum_of_warp[w];
        total += sum_of_warp[w];
    }
    //: // TODO 4 (about 6 lines): the last lane of each warp stores its warp's sum in
    //: // sum_of_warp[warp]; a barrier; a loop over all warps w: the sums of those before this warp
    //: // are added to `before`, and all of them to `total`.
    //: (void)sum_of_warp, (void)warp;  // delete this line
    // END SOLUTION
    // Who calls this again stores in sum_of_warp again.
    __syncthreads();
    return before;
}

template <class T>
__global__ void scan_warp_shuffles(Scan<T> scan, T* sums) {
    const int64_t i = global_thread();
    const T own = scan.value(i);
    T total;
    const T before = sum_before_thread(own, total);
    scan.store(i, before + own);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// ---------------------------------------------------------------------------------------------
// Arrays of any length: scan the blocks, scan their sums, add to each block what came before it.

// sums: (blocks), scanned: each is that of all blocks up to its own
template <class T>
__global__ void add_sums(Scan<T> scan, const T* sums) {
    const int64_t place = global_thread() + scan.shift;  // where this thread's sum is
    // BEGIN SOLUTION
    if (blockIdx.x > 0 && place < scan.count) scan.output[place] += sums[blockIdx.x - 1];
    //: // TODO 5 (1 line): in every block but the first, and if the place exists, add the sum of
    //: // all blocks before this one to scan.output[place].
    //: (void)place;  // delete this line
    // END SOLUTION
}

// The sums are an array like any other: more than block_size of them are scanned in the same way,
// in place, with their own sums behind them. 2^31 elements have four levels.
template <class T>
lab::Launch scan_by_levels(void (*kernel)(Scan<T>, T*), const Scan<T>& scan, T* sums) {
    const lab::Launch launch = {dim3(lab::divide_up(scan.count, block_size)), dim3(block_size)};
    kernel<<<launch.grid, launch.block>>>(scan, sums);
    CHECK_LAUNCH();
    if (launch.grid.x == 1) return launch;
    const int64_t blocks = launch.grid.x;
    scan_by_levels<T>(kernel, {sums, sums, blocks, 0}, sums + blocks);
    add_sums<<<launch.grid, launch.block>>>(scan, sums);
    CHECK_LAUNCH();
    return launch;
}

// Of all levels together.
inline int64_t sums_of_levels(int64_t count) {
    return count <= block_size ? 1 : lab::divide_up(count, block_size - 1) + 8;
}

// ---------------------------------------------------------------------------------------------
// One cooperative launch: all blocks are resident together, so they may wait for each other. Each
// has a share of neighbouring elements: it adds them up, waits, knows what comes before its share,
// and scans it. The input is read twice, and the output is written once; three kernels write it,
// read it and write it again.

template <class T>
__global__ void scan_one_launch(Scan<T> scan, int64_t share, T* sums) {
    const int64_t begin = blockIdx.x * share, end = min(begin + share, scan.count);
    T part = 0, total, before_share;
    for (int64_t i = begin + threadIdx.x; i < end; i += block_size) part += scan.input[i];
    sum_before_thread<T, true>(part, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
    part = 0;
    // BEGIN SOLUTION
    cg::this_grid().sync();
    for (unsigned block = threadIdx.x; block < blockIdx.x; block += block_size) part += sums[block];
    //: // TODO 6 (2 lines): all blocks of the grid wait for each other, cg::this_grid().sync();
    //: // then the threads add up the sums of the blocks before this one in `part`, thread t
    //: // numbers t, t + block_size, ...
    // END SOLUTION
    sum_before_thread<T, true>(part, before_share);
    for (int64_t first = begin; first < end; first += block_size) {
        const int64_t i = first + threadIdx.x;
        const T own = i < end ? scan.input[i] : T{0};
        const T before = sum_before_thread<T, true>(own, total);
        if (i < end) scan.store(i, before_share + before + own);
        before_share += total;
    }
}

template <class T>
lab::Launch launch_one_launch(const Scan<T>& scan, T* sums) {
    int of_each = 0;
    CHECK(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, scan_one_launch<T>, block_size, 0));
    const int64_t at_once = of_each * lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const int64_t wanted = lab::divide_up(scan.count, 4 * block_size);
    const dim3 grid(unsigned(std::min(at_once, wanted)));
    int64_t share = lab::divide_up(lab::divide_up(scan.count, grid.x), block_size) * block_size;
    Scan<T> what = scan;
    void* arguments[] = {&what, &share, &sums};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(scan_one_launch<T>), grid,
                                      dim3(block_size), arguments, 0, nullptr));
    return {grid, dim3(block_size)};
}

// ---------------------------------------------------------------------------------------------
// One pass: decoupled look-back (D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", NVIDIA technical report NVR-2016-002). A block takes the next tile,
// publishes its sum at once, and looks back at the tiles before it, from the nearest one on. Some
// of them have published their own sum only, others that of all tiles up to theirs; at the first of
// these it knows all.

// A word holds a sum, and above it of what. It is written in one store, so nobody sees half of it,
// and no fence is needed. `volatile`: each look goes to memory.
using Word = unsigned long long;
enum Meaning : unsigned { nothing_yet, of_tile, up_to_tile };

template <class T>
__device__ void publish(Word* word, Meaning meaning, T sum) {
    unsigned bits;
    memcpy(&bits, &sum, sizeof bits);
    *static_cast<volatile Word*>(word) = Word{meaning} << 32 | bits;
}

__device__ Meaning meaning_of(Word word) { return Meaning(word >> 32); }

template <class T>
__device__ T sum_in(Word word) {
    const unsigned bits = unsigned(word);
    T sum;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

__device__ Word wait_for(const Word* word) {
    Word found;
    do {
        found = *static_cast<const volatile Word*>(word);
    } while (meaning_of(found) == nothing_yet);
    return found;
}

// The sum of all tiles before this one, whose sum is `total`. words: (tiles), nothing_yet at first.
// is_known: the sum up to its end is published, too, for those who look back.
template <class T>
__device__ T look_back(Word* words, int64_t tile, T total, bool is_known) {
    T before = 0;
    publish(&words[tile], tile == 0 ? up_to_tile : of_tile, total);
    // BEGIN SOLUTION
    for (int64_t other = tile - 1; other >= 0; other--) {
        const Word word = wait_for(&words[other]);
        before = sum_in<T>(word) + before;
        if (meaning_of(word) == up_to_tile) break;
    }
    //: // TODO 7 (about 4 lines): a loop over the tiles before this one, back from tile - 1.
    //: // wait_for() returns the word of a tile: add sum_in<T>(word) to `before`; if
    //: // meaning_of(word) is up_to_tile, that was the last one.
    // END SOLUTION
    if (is_known) publish(&words[tile], up_to_tile, before + total);
    return before;
}

// A thread has several neighbouring elements, so that a tile is large and there are fewer to look
// back at. Blocks take their tiles by a ticket: CUDA promises no order of blocks, but all smaller
// tickets are held by blocks that run already, so waiting for those ends.
constexpr int items = 4;
constexpr int tile_size = block_size * items;

template <class T>
__global__ void scan_look_back(Scan<T> scan, Word* words, unsigned* ticket, unsigned known_every) {
    __shared__ unsigned tile;
    __shared__ T before_tile;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1u);
    __syncthreads();
    const int64_t first = int64_t{tile} * tile_size + threadIdx.x * items;
    T sum[items], own = 0, total;
#pragma unroll
    for (int k = 0; k < items; k++) sum[k] = own += scan.value(first + k);
    T before = sum_before_thread(own, total);
    if (threadIdx.x == 0) before_tile = look_back(words, tile, total, tile % known_every == 0);
    __syncthreads();
    before += before_tile;
#pragma unroll
    for (int k = 0; k < items; k++) scan.store(first + k, before + sum[k]);
}

// words: (tiles + 1), the last of which is for the tickets
template <class T>
lab::Launch launch_look_back(const Scan<T>& scan, Word* words, unsigned known_every) {
    const lab::Launch launch = {dim3(lab::divide_up(scan.count, tile_size)), dim3(block_size)};
    const int64_t tiles = launch.grid.x;
    CHECK(cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(Word)));
    unsigned* const ticket = reinterpret_cast<unsigned*>(words + tiles);
    scan_look_back<<<launch.grid, launch.block>>>(scan, words, ticket, known_every);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// What it is for: compaction. Each element that is kept goes to a place of its own, and its place
// is the number of those kept before it. An exclusive scan of the flags gives all places at once;
// no atomic could keep the order.

__host__ __device__ inline bool is_kept(float value) { return value < 0; }
__host__ __device__ inline bool is_kept(uint32_t value) { return int32_t(value) < 0; }

// flags: (count)
template <class T>
__global__ void mark_kept(const T* input, int64_t count, uint32_t* flags) {
    const int64_t i = global_thread();
    if (i < count) flags[i] = is_kept(input[i]);
}

// places: (count), how many are kept before each element. kept: (up to count)
template <class T>
__global__ void move_kept(const T* input, int64_t count, const uint32_t* places, T* kept,
                          uint32_t* kept_count) {
    const int64_t i = global_thread();
    // BEGIN SOLUTION
    if (i < count && is_kept(input[i])) kept[places[i]] = input[i];
    if (i == count - 1) *kept_count = places[i] + is_kept(input[i]);
    //: // TODO 8 (2 lines): if element i exists and is kept, store it in its place of `kept`. The
    //: // thread of the last element stores in *kept_count how many are kept altogether.
    //: (void)i;  // delete this line
    // END SOLUTION
}

template <class T>
lab::Launch launch_compact(const T* input, int64_t count, uint32_t* flags, uint32_t* sums, T* kept,
                           uint32_t* kept_count) {
    const lab::Launch launch = {dim3(lab::divide_up(count, block_size)), dim3(block_size)};
    mark_kept<<<launch.grid, launch.block>>>(input, count, flags);
    CHECK_LAUNCH();
    scan_by_levels<uint32_t>(scan_warp_shuffles<uint32_t>, {flags, flags + count, count, 1}, sums);
    move_kept<<<launch.grid, launch.block>>>(input, count, flags + count, kept, kept_count);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// The program: nothing to edit below.

#include "given/run.h"
#ifdef LAB_FURTHER  // make run LAB=19 FURTHER=1: variants that nobody is asked to write
#include "further/compact_one_pass.cuh"
#include "further/look_back_wide.cuh"
#include "further/radix_pass.cuh"
#include "further/rounds.cuh"
#endif
#include "given/cub.cuh"

template <class T>
const Variant<T> variants[] = {
    {"hillis_steele", Task::scan, run_levels<T, scan_hillis_steele<T>>, levels_bytes},
    {"blelloch", Task::scan, run_levels<T, scan_blelloch<T>>, levels_bytes},
    {"warp_shuffles", Task::scan, run_levels<T, scan_warp_shuffles<T>>, levels_bytes},
    {"one_launch", Task::scan, run_one_launch<T>, levels_bytes, true},
    {"look_back", Task::scan, run_look_back<T>, words_bytes},
#ifdef LAB_FURTHER
    {"look_back_wide", Task::scan, run_look_back_wide<T>, words_bytes},
    {"rounds", Task::scan, run_rounds<T>, words_bytes, true},
#endif
#ifdef LAB_CUB
    {"cub", Task::scan, run_cub_scan<T>, cub_scan_bytes<T>},
#endif
    {"compact", Task::compaction, run_compact<T>, compact_bytes},
#ifdef LAB_FURTHER
    {"compact_one_pass", Task::compaction, run_compact_one_pass<T>, words_bytes},
#endif
#ifdef LAB_CUB
    {"cub_select", Task::compaction, run_cub_select<T>, cub_select_bytes<T>},
#endif
#ifdef LAB_FURTHER
    {"radix_pass", Task::radix_pass, run_radix_pass<T>, radix_bytes},
#endif
#ifdef LAB_CUB
    {"cub_radix", Task::radix_pass, run_cub_radix<T>, cub_radix_bytes<T>},
#endif
};

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Sums of the first elements of an array, and their use.");
    const Request request(arguments);
    std::vector<std::string> further;  // which this program does not have
    if (!lab::with_further)
        further = {"look_back_wide", "rounds", "compact_one_pass", "radix_pass"};
    lab::Study study(arguments, lab::names_of(variants<float>), further, false);
    arguments.finish();
    study.require_one_for(arguments, "output", "the result");
    if (request.type == "int") return run_all(request, study, variants<uint32_t>);
    return run_all(request, study, variants<float>);
}
