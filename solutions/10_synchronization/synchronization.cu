// 10 synchronization: many threads, one result. What goes wrong when they do not wait for each
// other, how atomics and barriers repair it, and how to pay for as few of them as possible.
//
// --problem sum: the sum of an array of floats
//   global_atomics   every element is added to the result by an atomic
//   shared_tree      a block adds its elements in shared memory, in a tree; one atomic a block
//   warp_shuffles    the threads of a warp hand each other registers; one barrier a block
//   vectorised       16 bytes a load, many on their way; a thread adds many elements first
//   two_stages       as vectorised, without atomics: the same bits in every run, on every card
// --problem histogram: how often each of the 256 bytes occurs
//   global_atomics   every byte is counted in the result
//   shared_copy      a block counts in shared memory first
//   warp_copies      a copy for each warp, and 16 bytes a load
//   lane_copies      a copy for each lane of a warp, in a bank of its own
// --demo: kernels that are WRONG ON PURPOSE, beside their repair. They are at the end of the
//   kernels, they run only when they are asked for by name, and nothing else uses them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/lab.h"

#if defined(LAB_BENCH) && __has_include(<cub/cub.cuh>)
#include <cub/cub.cuh>
#define LAB_CUB
#endif

using Count = unsigned long long;  // of a bin: 2^32 equal bytes fit into many a card

constexpr int bins = 256;
constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xffffffff;

// ---------------------------------------------------------------------------------------------
// CPU reference. The sum is kept in double: its error is nothing beside that of a sum in float.

struct Sum {
    double value = 0, magnitude = 0;  // the sum of x, and that of |x|
    double unit = INFINITY;           // the largest power of two of which all x are multiples

    // No addition rounds, in whatever order, as long as a float holds the sum of all |x|.
    bool exact() const { return magnitude <= 0x1p24 * unit; }
};

double unit_of(float x) {
    if (x == 0 || !std::isfinite(x)) return x == 0 ? INFINITY : 0;
    int exponent = 0;
    const int64_t digits = int64_t(std::frexp(double(x), &exponent) * 0x1p24);
    return std::ldexp(double(digits & -digits), exponent - 24);
}

void add_on_cpu(Sum& sum, const float* values, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        sum.value += values[i];
        sum.magnitude += std::fabs(values[i]);
        sum.unit = std::min(sum.unit, unit_of(values[i]));
    }
}

std::vector<Count> histogram_on_cpu(const uint8_t* bytes, int64_t count) {
    std::vector<Count> counts(bins);
    for (int64_t i = 0; i < count; i++) counts[bytes[i]]++;
    return counts;
}

// ---------------------------------------------------------------------------------------------
// The sum. Each kernel adds to *sum, which the launcher sets to zero.

constexpr int block_size = 256;  // a power of two, for the tree, and whole warps

// An atomic reads, adds and writes as one step that nobody can interrupt: no addition is lost. But
// all of them want the same address, and there they queue.
__global__ void sum_global_atomics(const float* values, int64_t count, float* sum) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    if (i < count) atomicAdd(sum, values[i]);
    //: // TODO 1 (1 line): if the element exists, add it to *sum by an atomic.
    //: (void)i;  // delete this line
    // END SOLUTION
}

// In each step the first half of the threads add what the second half hold: log2(block_size)
// steps in place of block_size. A step reads what the step before wrote, so a barrier stands
// between them, and every thread reaches it: there is no return, and the barrier is outside the if.
__global__ void sum_shared_tree(const float* values, int64_t count, float* sum) {
    __shared__ float part[block_size];
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < count ? values[i] : 0;
    // BEGIN SOLUTION
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        __syncthreads();
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    }
    //: // TODO 2 (about 4 lines): a loop over stride = blockDim.x / 2, ..., 2, 1. In each step a
    //: // barrier for all, then the first `stride` threads add the part that is `stride` further.
    // END SOLUTION
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

// The sum over a warp, complete in lane 0. A shuffle hands over registers: no memory, no barrier.
template <class T>
__device__ T warp_sum(T value) {
    // BEGIN SOLUTION
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(all_lanes, value, offset);
    }
    //: // TODO 3 (about 3 lines): in a loop over offset = 16, 8, ..., 1 add the value of the lane
    //: // that is `offset` further: __shfl_down_sync(all_lanes, value, offset).
    //: (void)all_lanes;  // delete this line
    // END SOLUTION
    return value;
}

// The sum over a block, complete in thread 0; a kernel calls it once, and all threads do. First
// every warp by itself, then the first warp over the sums of all.
__device__ float block_sum(float value) {
    __shared__ float sum_of_warp[warp_size];
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    value = warp_sum(value);
    // BEGIN SOLUTION
    if (lane == 0) sum_of_warp[warp] = value;
    __syncthreads();
    if (warp > 0) return 0;
    return warp_sum(lane < blockDim.x / warp_size ? sum_of_warp[lane] : 0);
    //: // TODO 4 (about 4 lines): lane 0 of each warp stores its sum in sum_of_warp[warp]; a barrier;
    //: // the lanes of warp 0 take one sum each (0 where there is no such warp) and add them up.
    //: if (lane == 0) sum_of_warp[warp] = value;  // replace these two lines
    //: return lane == 0 ? sum_of_warp[warp] : 0;
    // END SOLUTION
}

__global__ void sum_warp_shuffles(const float* values, int64_t count, float* sum) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const float total = block_sum(i < count ? values[i] : 0);
    if (threadIdx.x == 0) atomicAdd(sum, total);
}

// Memory answers late, so a thread asks for vectors_in_flight pieces of 16 bytes before it uses
// the first. The grid goes over the array tile by tile; a thread adds in registers all the while,
// in four sums that do not wait for each other, and the block comes together only once.
constexpr int vectors_in_flight = 4;
constexpr int64_t tile_vectors = block_size * vectors_in_flight;
constexpr int64_t tile_elements = 4 * tile_vectors;

__device__ float sum_of_thread(const float* values, int64_t count) {
    const int64_t whole_tiles = count / tile_elements;
    float4 part = {0, 0, 0, 0};
    // BEGIN SOLUTION
    for (int64_t tile = blockIdx.x; tile < whole_tiles; tile += gridDim.x) {
        const float4* mine = reinterpret_cast<const float4*>(values) + tile * tile_vectors;
        float4 vector[vectors_in_flight];
#pragma unroll
        for (int k = 0; k < vectors_in_flight; k++) vector[k] = mine[k * block_size + threadIdx.x];
#pragma unroll
        for (int k = 0; k < vectors_in_flight; k++) {
            part.x += vector[k].x;
            part.y += vector[k].y;
            part.z += vector[k].z;
            part.w += vector[k].w;
        }
    }
    //: // TODO 5 (about 12 lines): over the tiles blockIdx.x, blockIdx.x + gridDim.x, ... below
    //: // whole_tiles. Seen as float4, a tile begins at tile * tile_vectors, and vector k of this
    //: // thread is number k * block_size + threadIdx.x of it. Load all, then add them to `part`.
    // END SOLUTION
    const int64_t stride = int64_t{gridDim.x} * block_size;  // what is left, less than a tile
    int64_t i = whole_tiles * tile_elements + int64_t{blockIdx.x} * block_size + threadIdx.x;
    for (; i < count; i += stride) part.x += values[i];
    return (part.x + part.y) + (part.z + part.w);
}

__global__ void __launch_bounds__(block_size)
    sum_vectorised(const float* values, int64_t count, float* sum) {
    const float total = block_sum(sum_of_thread(values, count));
    if (threadIdx.x == 0) atomicAdd(sum, total);
}

// Atomics come in any order, and (a + b) + c is not always a + (b + c): the last digits of the sums
// above differ from run to run. Here each block stores its part, and a second kernel, which begins
// when the first has ended, adds the parts in a fixed order. The end of a kernel is the one barrier
// for a whole grid.
constexpr int most_parts = 1024;  // fixed: the same parts on every card

__global__ void __launch_bounds__(block_size)
    sum_into_parts(const float* values, int64_t count, float* parts) {
    const float total = block_sum(sum_of_thread(values, count));
    if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

__global__ void sum_of_parts(const float* parts, int count, float* sum) {
    const int i = threadIdx.x;
    const float total = block_sum(i < count ? parts[i] : 0);
    if (threadIdx.x == 0) *sum = total;
}

// ---------------------------------------------------------------------------------------------
// The histogram. Each kernel adds to counts[256], which the launcher sets to zero.

__global__ void histogram_global_atomics(const uint8_t* bytes, int64_t count, Count* counts) {
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        atomicAdd(&counts[bytes[i]], Count{1});
    }
}

// Atomics in shared memory are near, and only the threads of one block meet there. The block has
// one global atomic a bin at the end, and not one a byte.
__global__ void histogram_shared_copy(const uint8_t* bytes, int64_t count, Count* counts) {
    __shared__ unsigned copy[bins];
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) copy[bin] = 0;
    __syncthreads();
    for (int64_t i = first; i < count; i += stride) atomicAdd(&copy[bytes[i]], 1u);
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        if (copy[bin] > 0) atomicAdd(&counts[bin], Count{copy[bin]});
    }
    //: // TODO 6 (about 7 lines): all threads together set the copy to zero; a barrier; count the
    //: // bytes first, first + stride, ... in the copy by atomics; a barrier; add the copy to counts.
    //: if (first + stride < 0) counts[0] = copy[0];  // delete this line
    // END SOLUTION
}

// The threads of a warp meet at the same bin more often than those of two warps get in each other's
// way, but with a copy a warp nobody waits for another warp. A load brings 16 bytes.
constexpr int warps_of_block = block_size / warp_size;

__device__ void count_vector(uint4 vector, unsigned* copy) {
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int byte = 0; byte < 16; byte++) {
        atomicAdd(&copy[words[byte / 4] >> (8 * (byte % 4)) & 0xff], 1u);
    }
}

__global__ void histogram_warp_copies(const uint8_t* bytes, int64_t count, Count* counts) {
    __shared__ unsigned copies[warps_of_block][bins];
    unsigned* const mine = copies[threadIdx.x / warp_size];
    for (unsigned bin = threadIdx.x % warp_size; bin < bins; bin += warp_size) mine[bin] = 0;
    __syncwarp();  // the copy belongs to one warp: a barrier for the block would be too much

    const uint4* vectors = reinterpret_cast<const uint4*>(bytes);
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < count / 16; i += stride) count_vector(vectors[i], mine);
    for (int64_t i = count / 16 * 16 + first; i < count; i += stride) {
        atomicAdd(&mine[bytes[i]], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        Count total = 0;
        for (int warp = 0; warp < warps_of_block; warp++) total += copies[warp][bin];
        if (total > 0) atomicAdd(&counts[bin], total);
    }
}

// Two lanes that count in one bank of shared memory wait for each other. (Two equal bytes need not:
// see the handout.) So a lane gets a copy in a bank that no other lane uses, and 32 bytes are
// counted without a conflict, whatever they are. The warps of the block share the 32 copies.
constexpr int lane_block_size = 1024;
constexpr int bytes_in_flight = 2;  // vectors of 16 bytes that a thread asks for at once

__device__ void count_in_lane(uint4 vector, unsigned* copy) {
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int byte = 0; byte < 16; byte++) {
        // BEGIN SOLUTION
        atomicAdd(&copy[(words[byte / 4] >> (8 * (byte % 4)) & 0xff) * warp_size], 1u);
        //: // TODO 7 (1 line): this lane's counter of bin b is copy[b * warp_size].
        //: (void)words;  // delete this line
        // END SOLUTION
    }
}

__global__ void __launch_bounds__(lane_block_size)
    histogram_lane_copies(const uint8_t* bytes, int64_t count, Count* counts) {
    __shared__ unsigned copies[bins][warp_size];
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    for (unsigned bin = warp; bin < bins; bin += blockDim.x / warp_size) copies[bin][lane] = 0;
    __syncthreads();

    unsigned* const mine = &copies[0][lane];
    const uint4* vectors = reinterpret_cast<const uint4*>(bytes);
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    int64_t rest = count / 16 * 16 + i;
    for (; i + (bytes_in_flight - 1) * stride < count / 16; i += bytes_in_flight * stride) {
        uint4 vector[bytes_in_flight];
#pragma unroll
        for (int k = 0; k < bytes_in_flight; k++) vector[k] = vectors[i + k * stride];
#pragma unroll
        for (int k = 0; k < bytes_in_flight; k++) count_in_lane(vector[k], mine);
    }
    for (; i < count / 16; i += stride) count_in_lane(vectors[i], mine);
    for (; rest < count; rest += stride) atomicAdd(&mine[bytes[rest] * warp_size], 1u);
    __syncthreads();
    for (unsigned bin = warp; bin < bins; bin += blockDim.x / warp_size) {
        const unsigned total = warp_sum(copies[bin][lane]);
        if (lane == 0 && total > 0) atomicAdd(&counts[bin], Count{total});
    }
}

// ---------------------------------------------------------------------------------------------
// The demonstrations: a kernel that is WRONG ON PURPOSE, and its repair. Each counts its threads,
// or adds up what share_of() gives them, over all blocks.

constexpr int demo_block = 512;

// WRONG, a lost update: between reading and writing another thread may write, and its step is lost.
__global__ void lost_update(int64_t count, Count* total) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Count old = *total;
    *total = old + 1;
}

__global__ void lost_update_repaired(int64_t count, Count* total) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    if (i < count) atomicAdd(total, Count{1});
    //: // TODO 1 (1 line): if i < count, the same step as an atomic. One is Count{1}.
    //: (void)i;  // delete this line
    // END SOLUTION
}

// WRONG, the same in shared memory, where the race detector of compute-sanitizer looks.
__global__ void lost_update_in_shared(int64_t count, Count* total) {
    __shared__ unsigned counter;
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    if (i < count) {
        const unsigned old = counter;
        counter = old + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, Count{counter});
}

__global__ void lost_update_in_shared_repaired(int64_t count, Count* total) {
    __shared__ unsigned counter;
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    // BEGIN SOLUTION
    if (i < count) atomicAdd(&counter, 1u);
    //: // TODO 1 (1 line): if i < count, the same step as an atomic on the block's counter.
    //: (void)i;  // delete this line
    // END SOLUTION
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, Count{counter});
}

__host__ __device__ unsigned share_of(int64_t i, int64_t count) {
    return i < count ? unsigned(i % 1000) : 0;
}

// WRONG, no barrier: a warp that is ahead reads what another has not written yet.
__global__ void missing_barrier(int64_t count, Count* total) {
    __shared__ unsigned part[demo_block];
    part[threadIdx.x] = share_of(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            const unsigned other = part[threadIdx.x + stride];
            part[threadIdx.x] += other;
        }
    }
    if (threadIdx.x == 0) atomicAdd(total, Count{part[0]});
}

// WRONG, a barrier under a condition: some threads wait at it and others never come. What happens
// then is not defined. It may hang.
__global__ void conditional_barrier(int64_t count, Count* total) {
    __shared__ unsigned part[demo_block];
    part[threadIdx.x] = share_of(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            __syncthreads();
            part[threadIdx.x] += part[threadIdx.x + stride];
        }
    }
    if (threadIdx.x == 0) atomicAdd(total, Count{part[0]});
}

// The repair of both.
__global__ void barrier_repaired(int64_t count, Count* total) {
    __shared__ unsigned part[demo_block];
    part[threadIdx.x] = share_of(int64_t{blockIdx.x} * blockDim.x + threadIdx.x, count);
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        // BEGIN SOLUTION
        __syncthreads();
        //: // TODO 2 (1 line): what is missing here?
        // END SOLUTION
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    }
    if (threadIdx.x == 0) atomicAdd(total, Count{part[0]});
}

// ---------------------------------------------------------------------------------------------
// Launches. A grid has one thread an element, or as many blocks as the device holds at once.

struct Shape {
    dim3 grid, block;
};

struct Workspace {
    void* start;
    size_t bytes;
};

template <class Kernel>
int64_t blocks_at_once(Kernel kernel, int threads) {
    int device = 0, multiprocessors = 0, blocks_on_each = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_on_each, kernel, threads, 0));
    return int64_t{multiprocessors} * blocks_on_each;
}

Shape one_thread_an_element(int64_t count) {
    return {dim3(lab::divide_up(count, block_size)), dim3(block_size)};
}

Shape vectorised_shape(int64_t count) {
    const int64_t most = blocks_at_once(sum_vectorised, block_size);
    return {dim3(std::min(lab::divide_up(count, tile_elements), most)), dim3(block_size)};
}

Shape two_stages_shape(int64_t count) {
    const int64_t tiles = lab::divide_up(count, tile_elements);
    return {dim3(std::min<int64_t>(tiles, most_parts)), dim3(block_size)};
}

using SumKernel = void (*)(const float*, int64_t, float*);
using HistogramKernel = void (*)(const uint8_t*, int64_t, Count*);

template <SumKernel add>
void launch_sum(Shape shape, const float* d_values, int64_t count, float* d_sum, Workspace) {
    CHECK(cudaMemsetAsync(d_sum, 0, sizeof(float)));
    add<<<shape.grid, shape.block>>>(d_values, count, d_sum);
    CHECK_LAUNCH();
}

void launch_two_stages(Shape shape, const float* d_values, int64_t count, float* d_sum,
                       Workspace workspace) {
    float* const d_parts = static_cast<float*>(workspace.start);
    sum_into_parts<<<shape.grid, shape.block>>>(d_values, count, d_parts);
    CHECK_LAUNCH();
    sum_of_parts<<<1, most_parts>>>(d_parts, shape.grid.x, d_sum);
    CHECK_LAUNCH();
}

// Bytes go through 256, 1024 or more threads a block, up to 16 bytes at a time.
template <HistogramKernel kernel, int threads, int bytes_of_thread>
Shape histogram_shape(int64_t count) {
    const int64_t enough = lab::divide_up(count, int64_t{threads} * bytes_of_thread);
    return {dim3(std::min(enough, blocks_at_once(kernel, threads))), dim3(threads)};
}

template <HistogramKernel kernel>
void launch_histogram(Shape shape, const uint8_t* d_bytes, int64_t count, Count* d_counts,
                      Workspace) {
    CHECK(cudaMemsetAsync(d_counts, 0, bins * sizeof(Count)));
    kernel<<<shape.grid, shape.block>>>(d_bytes, count, d_counts);
    CHECK_LAUNCH();
}

#ifdef LAB_CUB
// NVIDIA's library, for comparison. It chooses its own grid.
Shape cub_shape(int64_t) { return {dim3(0), dim3(0)}; }

void launch_cub_sum(Shape, const float* d_values, int64_t count, float* d_sum, Workspace space) {
    CHECK(cub::DeviceReduce::Sum(space.start, space.bytes, d_values, d_sum, count));
}

void launch_cub_histogram(Shape, const uint8_t* d_bytes, int64_t count, Count* d_counts,
                          Workspace space) {
    CHECK(cub::DeviceHistogram::HistogramEven(space.start, space.bytes, d_bytes, d_counts, bins + 1,
                                              0, bins, count));
}
#endif

// How many additions an element goes through at most, in a grid of `blocks`: each rounds once.
int64_t depth_of_one_chain(int64_t count, int64_t) { return count; }
int64_t depth_of_tree(int64_t, int64_t blocks) { return 10 + blocks; }
int64_t depth_of_tiles(int64_t count, int64_t blocks) {
    return count / (4 * block_size * std::max<int64_t>(blocks, 1)) + 64 + blocks;
}

struct SumVariant {
    const char* name;
    bool loops;  // over the array, with as many blocks as there are
    Shape (*shape)(int64_t count);
    void (*launch)(Shape, const float* d_values, int64_t count, float* d_sum, Workspace);
    int64_t (*depth)(int64_t count, int64_t blocks);
};

const SumVariant sum_variants[] = {
    {"global_atomics", false, one_thread_an_element, launch_sum<sum_global_atomics>,
     depth_of_one_chain},
    {"shared_tree", false, one_thread_an_element, launch_sum<sum_shared_tree>, depth_of_tree},
    {"warp_shuffles", false, one_thread_an_element, launch_sum<sum_warp_shuffles>, depth_of_tree},
    {"vectorised", true, vectorised_shape, launch_sum<sum_vectorised>, depth_of_tiles},
    {"two_stages", true, two_stages_shape, launch_two_stages, depth_of_tiles},
#ifdef LAB_CUB
    {"cub", false, cub_shape, launch_cub_sum, depth_of_one_chain},
#endif
};

struct HistogramVariant {
    const char* name;
    bool loops;
    Shape (*shape)(int64_t count);
    void (*launch)(Shape, const uint8_t* d_bytes, int64_t count, Count* d_counts, Workspace);
};

const HistogramVariant histogram_variants[] = {
    {"global_atomics", true, histogram_shape<histogram_global_atomics, block_size, 1>,
     launch_histogram<histogram_global_atomics>},
    {"shared_copy", true, histogram_shape<histogram_shared_copy, block_size, 1>,
     launch_histogram<histogram_shared_copy>},
    {"warp_copies", true, histogram_shape<histogram_warp_copies, block_size, 16>,
     launch_histogram<histogram_warp_copies>},
    {"lane_copies", true, histogram_shape<histogram_lane_copies, lane_block_size, 16>,
     launch_histogram<histogram_lane_copies>},
#ifdef LAB_CUB
    {"cub", false, cub_shape, launch_cub_histogram},
#endif
};

struct Demo {
    const char* name;
    void (*wrong)(int64_t count, Count* total);
    void (*repaired)(int64_t count, Count* total);
    bool counts;  // its threads; or adds up what share_of() gives
};

const Demo demos[] = {
    {"lost_update", lost_update, lost_update_repaired, true},
    {"lost_update_in_shared", lost_update_in_shared, lost_update_in_shared_repaired, true},
    {"missing_barrier", missing_barrier, barrier_repaired, false},
    {"conditional_barrier", conditional_barrier, barrier_repaired, false},
};

// ---------------------------------------------------------------------------------------------
// The program.

template <class Table>
std::vector<std::string> names_of(const Table& table) {
    std::vector<std::string> names;
    for (const auto& row : table) names.push_back(row.name);
    return names;
}

template <class Table>
const auto& find(const Table& table, const std::string& name) {
    return *std::find_if(std::begin(table), std::end(table),
                         [&](const auto& row) { return name == row.name; });
}

struct Request {
    std::string input_path, output_path, data;
    std::vector<std::string> variants;
    int64_t elements;  // of random input
    int64_t repeats;   // how often each sum is taken
    int64_t step;      // 0: the whole array; otherwise its first step, 2 * step, ... elements
    int64_t blocks;    // 0: as many as the device holds at once; otherwise no more than this
    bool csv;
};

// Refuses options that the chosen work would ignore.
void refuse_ignored(const lab::Arguments& arguments, std::initializer_list<const char*> names,
                    const char* reason) {
    for (const char* name : names) {
        if (arguments.given(name)) lab::refuse("--%s %s", name, reason);
    }
}

// Before anything is computed: can there be such results of `count` elements, and is there room for
// them? Every size has `of_size` bytes of results in each repeat, and as many in the reference.
template <class Input>
void require_results(const Request& request, int64_t count, int64_t of_size) {
    if (request.step > count) lab::refuse("--step is larger than the array");
    if (request.csv && count == 0) lab::refuse("--csv takes times, and 0 elements take none");
    const double sizes = request.step == 0 ? 1 : double(count / request.step);
    const double results = double(request.repeats) * sizes * of_size;
    // what is found, its copy for the file, and that of the variant before
    const double bytes = count * sizeof(Input) + 3 * results + sizes * (of_size + 64.0);
    lab::require_host_memory(bytes < 0x1p62 ? int64_t(bytes) : -1,
                             "the results of all sizes in all repeats (--step, --repeat)");
}

// The lengths of the beginnings of the array that are summed, or counted.
std::vector<int64_t> sizes_of(const Request& request, int64_t count) {
    if (request.step == 0) return {count};
    std::vector<int64_t> sizes;
    for (int64_t size = request.step; size <= count; size += request.step) sizes.push_back(size);
    return sizes;
}

template <class Variant>
Shape shape_of(const Variant& variant, int64_t size, const Request& request) {
    Shape shape = variant.shape(size);
    if (variant.loops && request.blocks > 0)
        shape.grid.x = std::min<int64_t>(shape.grid.x, request.blocks);
    return shape;
}

// Launches a variant for every size and every repeat; results lie one behind the other, each of
// `width` numbers. They are filled with bytes 0xFF before, so that what nobody writes shows.
template <class Result, class Input, class Variant>
std::vector<Result> compute(const Variant& variant, const Input* d_input, int width,
                            const std::vector<int64_t>& sizes, const Request& request,
                            Workspace workspace) {
    std::vector<Result> h_results(request.repeats * sizes.size() * width);
    const size_t bytes = h_results.size() * sizeof(Result);
    Result* d_results = nullptr;
    CHECK(cudaMalloc(&d_results, bytes));
    CHECK(cudaMemset(d_results, 0xFF, bytes));
    Result* d_result = d_results;
    for (int64_t repeat = 0; repeat < request.repeats; repeat++) {
        for (const int64_t size : sizes) {
            variant.launch(shape_of(variant, size, request), d_input, size, d_result, workspace);
            d_result += width;
        }
    }
    CHECK(cudaMemcpy(h_results.data(), d_results, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_results));
    return h_results;
}

template <class Result, class Input, class Variant>
double milliseconds_of(const Variant& variant, Shape shape, const Input* d_input, int width,
                       int64_t size, Workspace workspace) {
    Result* d_result = nullptr;
    CHECK(cudaMalloc(&d_result, width * sizeof(Result)));
    const double milliseconds = lab::median_milliseconds(
        [&] { variant.launch(shape, d_input, size, d_result, workspace); });
    CHECK(cudaFree(d_result));
    return milliseconds;
}

// Adds what another comparison found, `offset` numbers further on.
void merge(lab::Comparison& all, const lab::Comparison& one, int64_t offset) {
    if (all.wrong == 0 && one.wrong > 0) {
        all.first = offset + one.first;
        all.expected = one.expected;
        all.got = one.got;
    }
    all.count += one.count;
    all.wrong += one.wrong;
}

struct Verdict {
    lab::Comparison comparison;
    std::string doubt;  // why nothing follows when all are within their bounds; or empty
};

// An addition rounds by at most 2^-24 of its result, which is at most the sum of |x|; so a sum in
// which each element goes through `depth` additions is off by no more than depth * 2^-24 of that.
// Where this is more than an element of mean size, a lost one would not show.
Verdict judge(const SumVariant& variant, const std::vector<float>& sums,
              const std::vector<Sum>& expected, const std::vector<int64_t>& sizes,
              const Request& request) {
    Verdict verdict;
    for (size_t k = 0; k < sums.size(); k++) {
        const int64_t size = sizes[k % sizes.size()];
        const Sum& sum = expected[k % sizes.size()];
        const double depth = double(variant.depth(size, shape_of(variant, size, request).grid.x));
        const double bound = sum.exact() ? 0 : depth * 0x1p-24 * sum.magnitude;
        merge(verdict.comparison, lab::compare(&sums[k], &sum.value, 1, {bound, 0}), int64_t(k));
        if (!(bound * double(size) > sum.magnitude)) continue;
        verdict.doubt =
            lab::format("off by %.3g, but rounding alone may cost %.3g, more than an element",
                        std::fabs(double(sums[k]) - sum.value), bound);
    }
    return verdict;
}

Verdict judge(const std::vector<Count>& counts, const std::vector<std::vector<Count>>& expected) {
    Verdict verdict;
    for (size_t k = 0; k < counts.size(); k += bins) {
        const Count* wanted = expected[k / bins % expected.size()].data();
        merge(verdict.comparison, lab::compare(&counts[k], wanted, bins), int64_t(k));
    }
    return verdict;
}

template <class T>
T* copy_to_device(const std::vector<T>& values) {
    T* d_values = nullptr;
    const size_t bytes = values.size() * sizeof(T);
    lab::require_device_memory(bytes, "the array");
    CHECK(cudaMalloc(&d_values, bytes));
    CHECK(cudaMemcpy(d_values, values.data(), bytes, cudaMemcpyHostToDevice));
    return d_values;
}

// For the parts of two_stages, and for the library.
Workspace make_workspace() {
    Workspace workspace = {nullptr, lab::on_cpu ? most_parts * sizeof(float) : size_t{32} << 20};
    CHECK(cudaMalloc(&workspace.start, workspace.bytes));
    return workspace;
}

std::vector<float> read_values(const Request& request) {
    if (!request.input_path.empty()) return lab::read_array<float>(request.input_path, 1).values;
    lab::require_host_memory(sizeof(float) * request.elements, "an array of this length");
    std::vector<float> values = lab::random_values<float>(request.elements, 0, 1, 1);
    if (request.data == "fractions") return values;
    // Whole numbers, in all no more than 2^23: their sum is exact, so that each lost one shows.
    const double choices = 1 + 0x1p23 / double(std::max<int64_t>(1, request.elements));
    for (float& value : values) value = float(std::floor(value * choices));
    return values;
}

std::vector<uint8_t> read_bytes(const Request& request) {
    if (!request.input_path.empty()) return lab::read_array<uint8_t>(request.input_path, 1).values;
    lab::require_host_memory(2 * request.elements, "an array of this length");
    std::vector<uint8_t> bytes(request.elements, 77);
    if (request.data == "equal" || bytes.empty()) return bytes;
    const std::vector<int64_t> words =  // eight random bytes each
        lab::random_values<int64_t>(request.elements / 8 + 1, INT64_MIN, INT64_MAX, 1);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

// Runs the chosen variants and gives the results of the last one.
template <class Result, class Input, class Table, class Judge>
std::vector<Result> run(const Request& request, const std::vector<Input>& input, const Table& table,
                        int width, Judge&& judge, lab::Results& results) {
    const int64_t count = input.size();
    const std::vector<int64_t> sizes = sizes_of(request, count);
    std::vector<Result> found(request.repeats * sizes.size() * width);
    if (count == 0) return found;  // zeros: a grid without blocks cannot be launched
    lab::require_device();
    lab::require_device_memory(count * sizeof(Input) + found.size() * sizeof(Result),
                               "the array and the results of all sizes in all repeats");
    results.limit(lab::copy_bandwidth(count * sizeof(Input) / 2));  // as many bytes as are read
    Input* const d_input = copy_to_device(input);
    const Workspace workspace = make_workspace();
    for (const std::string& name : request.variants) {
        const lab::NvtxRange range(name);
        const auto& variant = find(table, name);
        const Shape shape = shape_of(variant, count, request);
        Verdict verdict;
        const auto attempt = [&] {
            found = compute<Result>(variant, d_input, width, sizes, request, workspace);
            verdict = judge(variant, found);
            return verdict.comparison;
        };
        const auto time = [&] {
            return milliseconds_of<Result>(variant, shape, d_input, width, count, workspace);
        };
        const bool timed = found.size() == size_t(width);
        const lab::Trial trial =
            timed ? lab::compare_and_time(attempt, time) : lab::Trial{attempt()};
        results.add(name, shape.grid, shape.block, trial.milliseconds, count * sizeof(Input), 0,
                    trial.comparison, verdict.doubt);
    }
    CHECK(cudaFree(workspace.start));
    CHECK(cudaFree(d_input));
    return found;
}

int64_t run_sums(const Request& request, lab::Results& results) {
    const std::vector<float> values = read_values(request);
    const int64_t count = values.size();
    require_results<float>(request, count, sizeof(float));
    const std::vector<int64_t> sizes = sizes_of(request, count);
    std::vector<Sum> expected;
    for (size_t k = 0; k < sizes.size(); k++) {
        const lab::NvtxRange range("reference");
        const int64_t begin = k == 0 ? 0 : sizes[k - 1];
        expected.push_back(k == 0 ? Sum() : expected[k - 1]);
        add_on_cpu(expected[k], values.data() + begin, sizes[k] - begin);
    }
    const auto judge_sums = [&](const SumVariant& variant, const std::vector<float>& sums) {
        return judge(variant, sums, expected, sizes, request);
    };
    const std::vector<float> sums =
        run<float>(request, values, sum_variants, 1, judge_sums, results);
    if (!request.output_path.empty()) {
        lab::write_array(request.output_path, sums.data(),
                         {request.repeats, int64_t(sizes.size())});
    }
    results.size(lab::format("%lld floats", static_cast<long long>(count)));
    return count;
}

int64_t run_histograms(const Request& request, lab::Results& results) {
    const std::vector<uint8_t> bytes = read_bytes(request);
    const int64_t count = bytes.size();
    require_results<uint8_t>(request, count, bins * sizeof(Count));
    const std::vector<int64_t> sizes = sizes_of(request, count);
    std::vector<std::vector<Count>> expected;
    for (size_t k = 0; k < sizes.size(); k++) {
        const lab::NvtxRange range("reference");
        const int64_t begin = k == 0 ? 0 : sizes[k - 1];
        expected.push_back(histogram_on_cpu(bytes.data() + begin, sizes[k] - begin));
        for (int bin = 0; k > 0 && bin < bins; bin++) expected[k][bin] += expected[k - 1][bin];
    }
    const auto judge_counts = [&](const HistogramVariant&, const std::vector<Count>& counts) {
        return judge(counts, expected);
    };
    const std::vector<Count> counts =
        run<Count>(request, bytes, histogram_variants, bins, judge_counts, results);
    if (!request.output_path.empty()) {
        const std::vector<double> exact(counts.begin(), counts.end());  // up to 2^53
        lab::write_array(request.output_path, exact.data(),
                         {request.repeats, int64_t(sizes.size()), bins});
    }
    const std::string kind = request.input_path.empty() ? request.data + " " : "";
    results.size(lab::format("%lld %sbytes", static_cast<long long>(count), kind.c_str()));
    return count;
}

constexpr int64_t most_of_demo = lab::on_cpu ? 4 << 20 : 1 << 30;  // some seconds

// Runs a kernel that is wrong on purpose, and its repair. There is no verdict: the one may be right
// by luck, and the other is the checker's business.
void run_demo(const Demo& demo, int64_t count, bool only_repaired) {
    Count expected = 0;
    for (int64_t i = 0; i < count; i++) expected += demo.counts ? 1 : share_of(i, count);
    lab::require_device();
    std::printf("device: %s\n", lab::device_name().c_str());
    std::printf("demo %s: %lld thread%s in blocks of %d; expected: %llu\n", demo.name,
                static_cast<long long>(count), count == 1 ? "" : "s", demo_block, expected);
    std::fflush(stdout);  // in case that the kernel never ends
    Count* d_total = nullptr;
    CHECK(cudaMalloc(&d_total, sizeof(Count)));
    for (const bool repaired : {false, true}) {
        if (only_repaired && !repaired) continue;
        Count total = 0;
        CHECK(cudaMemset(d_total, 0, sizeof(Count)));
        if (count > 0) {  // a grid without blocks cannot be launched
            const auto kernel = repaired ? demo.repaired : demo.wrong;
            kernel<<<lab::divide_up(count, demo_block), demo_block>>>(count, d_total);
            CHECK_LAUNCH();
        }
        CHECK(cudaMemcpy(&total, d_total, sizeof(Count), cudaMemcpyDeviceToHost));
        std::printf("%s %llu\n",
                    repaired ? "repaired:            " : "racy: may be wrong:  ", total);
    }
    CHECK(cudaFree(d_total));
}

int main(int argc, char** argv) {
    constexpr int64_t most_elements = int64_t{1} << 38;  // one thread each: a grid holds them
    lab::Arguments arguments(argc, argv, "Sums an array, or counts its bytes, with many threads.");
    Request request;
    const std::string problem =
        arguments.choice("problem", {"sum", "histogram"}, "sum", "of floats, or of bytes");
    request.elements = arguments.integer("elements", lab::on_cpu ? 128 << 10 : 64 << 20, 0,
                                         most_elements, "of random input");
    request.data = arguments.choice("data", {"random", "equal", "fractions"}, "random",
                                    "equal bytes; fractions, not whole numbers, to sum");
    request.input_path = arguments.input("input", "float32 .npy for the sum, uint8 to count");
    request.output_path = arguments.output("output", "the results of one variant, .npy");
    request.repeats = arguments.integer("repeat", 1, 1, 1 << 20, "take each result so many times");
    request.step = arguments.integer("step", 0, 0, most_elements,
                                     "of the first N, 2N, 3N, ... elements; 0: of all");
    request.blocks = arguments.integer("blocks", 0, 0, most_parts,
                                       "at most, where blocks go round; 0: as many as run at once");
    std::vector<std::string> demo_names = names_of(demos);
    demo_names.push_back("none");
    const std::string demo =
        arguments.choice("demo", demo_names, "none", "a kernel that is wrong on purpose");
    const bool only_repaired = arguments.flag("repaired", "only the repair of the --demo");
    request.variants = arguments.variants(problem == "sum" ? names_of(sum_variants)
                                                           : names_of(histogram_variants));
    lab::Results results(arguments);
    arguments.finish();
    if (demo != "none") {
        refuse_ignored(
            arguments,
            {"problem", "data", "input", "output", "variant", "repeat", "step", "blocks", "csv"},
            "is for the variants, not for --demo");
        if (request.elements > most_of_demo) {
            lab::refuse("--elements: a --demo takes at most %lld",
                        static_cast<long long>(most_of_demo));
        }
        run_demo(find(demos, demo), request.elements, only_repaired);
        return 0;
    }
    if (only_repaired) lab::refuse("--repaired is for --demo");
    request.csv = arguments.given("csv");
    if (request.repeats > 1 || request.step > 0) {
        refuse_ignored(arguments, {"csv"},
                       "takes times, and with --repeat or --step nothing is timed");
    }
    if (!request.input_path.empty() && arguments.given("elements")) {
        lab::refuse("--elements is for random input: the array in --input has its length");
    }
    if (!request.output_path.empty() && request.variants.size() != 1) {
        lab::refuse("--output takes the results of one variant: choose it with --variant");
    }
    if (arguments.given("data") && !request.input_path.empty()) {
        lab::refuse("--data is for random input, and --input brings its own");
    }
    if (request.data == (problem == "sum" ? "equal" : "fractions")) {
        lab::refuse("--data equal is for --problem histogram, and fractions for the sum");
    }
    const auto loops = [](const std::string& name) { return find(sum_variants, name).loops; };
    if (arguments.given("blocks") && problem == "sum" &&
        std::none_of(request.variants.begin(), request.variants.end(), loops)) {
        lab::refuse("--blocks is for variants whose blocks go round: vectorised and two_stages");
    }
    const int64_t count =
        problem == "sum" ? run_sums(request, results) : run_histograms(request, results);
    if (count > 0) return results.finish();
    std::printf("0 elements: the result is zero, and nothing is launched\n");
    return 0;
}
