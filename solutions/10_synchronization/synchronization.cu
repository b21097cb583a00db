// 10 synchronization: many threads, one result. What goes wrong when they do not wait for each
// other, how atomics and barriers repair it, and how to pay for as few of them as possible. You write
// the repairs of races.cuh (TODO 1 and 2) first, and here the ladders of two problems (TODO 3 to 9):
//
// --problem sum: the sum of an array of floats
//   global_atomics   every element is added to the result by an atomic
//   shared_tree      a block adds its elements in shared memory, in a tree; one atomic a block
//   warp_shuffles    the threads of a warp hand each other registers; one barrier a block
//   vectorised       16 bytes a load, many on their way; a thread adds many elements first
//   two_stages       in further/: as vectorised, without atomics, the same bits in every run
// --problem histogram: how often each of the 256 bytes occurs
//   global_atomics   every byte is counted in the result
//   shared_copy      a block counts in shared memory first
//   warp_copies      in further/: a copy for each warp, and 16 bytes a load
//   lane_copies      a copy for each lane of a warp, in a bank of its own

#include "../../common/lab.h"
#include "races.cuh"  // --demo: kernels that are WRONG ON PURPOSE, and their repairs

// ---------------------------------------------------------------------------------------------
// The sum. Each kernel adds to *sum, which its launcher sets to zero.

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xffffffff;
constexpr int block_size = 256;  // a power of two, for the tree, and whole warps

// What a launcher needs, and the grid of one thread an element.
template <class Input, class Result>
struct Job {
    const Input* d_input;  // (count)
    int64_t count;
    Result* d_result;     // the sum, or 256 counts
    int64_t most_blocks;  // where blocks go round a loop
    void* d_workspace;
    size_t workspace_bytes;
};
using SumJob = Job<float, float>;
using HistogramJob = Job<uint8_t, Count>;

lab::Launch thread_an_element(const SumJob& job) {
    return {dim3(lab::divide_up(job.count, block_size)), dim3(block_size)};
}

// An atomic reads, adds and writes as one step that nobody can interrupt: no addition is lost. But
// all of them want the same address, and there they queue.
__global__ void sum_global_atomics(const float* values, int64_t count, float* sum) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    // BEGIN SOLUTION
    if (i < count) atomicAdd(sum, values[i]);
    //: // TODO 3 (1 line): if the element exists, add it to *sum by an atomic.
    //: (void)i;  // delete this line
    // END SOLUTION
}

lab::Launch launch_sum_global_atomics(const SumJob& job) {
    const lab::Launch launch = thread_an_element(job);
    CHECK(cudaMemsetAsync(job.d_result, 0, sizeof(float)));
    sum_global_atomics<<<launch.grid, launch.block>>>(job.d_input, job.count, job.d_result);
    CHECK_LAUNCH();
    return launch;
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
    //: // TODO 4 (about 4 lines): a loop over stride = blockDim.x / 2, ..., 2, 1. In each step a
    //: // barrier for all, then the first `stride` threads add the part that is `stride` further.
    // END SOLUTION
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

lab::Launch launch_sum_shared_tree(const SumJob& job) {
    const lab::Launch launch = thread_an_element(job);
    CHECK(cudaMemsetAsync(job.d_result, 0, sizeof(float)));
    sum_shared_tree<<<launch.grid, launch.block>>>(job.d_input, job.count, job.d_result);
    CHECK_LAUNCH();
    return launch;
}

// The sum over a warp, complete in lane 0. A shuffle hands over registers: no memory, no barrier.
template <class T>
__device__ T warp_sum(T value) {
    // BEGIN SOLUTION
    for (int offset = warp_size / 2; offset > 0; offset /= 2) {
        value += __shfl_down_sync(all_lanes, value, offset);
    }
    //: // TODO 5 (about 3 lines): in a loop over offset = 16, 8, ..., 1 add the value of the lane
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
    //: // TODO 6 (about 4 lines): lane 0 of each warp stores its sum in sum_of_warp[warp]; a barrier;
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

lab::Launch launch_sum_warp_shuffles(const SumJob& job) {
    const lab::Launch launch = thread_an_element(job);
    CHECK(cudaMemsetAsync(job.d_result, 0, sizeof(float)));
    sum_warp_shuffles<<<launch.grid, launch.block>>>(job.d_input, job.count, job.d_result);
    CHECK_LAUNCH();
    return launch;
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
    //: // TODO 7 (about 12 lines): over the tiles blockIdx.x, blockIdx.x + gridDim.x, ... below
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

// As many blocks as the device runs at once, or --blocks.
template <class Kernel, class Job>
int64_t blocks_at_once(Kernel kernel, int threads, const Job& job) {
    int of_each = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_each, kernel, threads, 0));
    const int64_t all = lab::device_attribute(cudaDevAttrMultiProcessorCount);
    return std::min(of_each * all, job.most_blocks);
}

lab::Launch launch_sum_vectorised(const SumJob& job) {
    const int64_t tiles = lab::divide_up(job.count, tile_elements);
    const int64_t blocks = std::min(tiles, blocks_at_once(sum_vectorised, block_size, job));
    const lab::Launch launch = {dim3(blocks), dim3(block_size)};
    CHECK(cudaMemsetAsync(job.d_result, 0, sizeof(float)));
    sum_vectorised<<<launch.grid, launch.block>>>(job.d_input, job.count, job.d_result);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// The histogram. Each kernel adds to counts[256], which its launcher sets to zero.

constexpr int bins = 256;

__global__ void histogram_global_atomics(const uint8_t* bytes, int64_t count, Count* counts) {
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
        atomicAdd(&counts[bytes[i]], Count{1});
    }
}

using HistogramKernel = void (*)(const uint8_t*, int64_t, Count*);

// A launcher of any of these kernels. Bytes go through `threads` a block, some at a time.
template <HistogramKernel kernel, int threads, int bytes_of_thread>
lab::Launch launch_histogram(const HistogramJob& job) {
    const int64_t enough = lab::divide_up(job.count, int64_t{threads} * bytes_of_thread);
    const int64_t blocks = std::min(enough, blocks_at_once(kernel, threads, job));
    const lab::Launch launch = {dim3(blocks), dim3(threads)};
    CHECK(cudaMemsetAsync(job.d_result, 0, bins * sizeof(Count)));
    kernel<<<launch.grid, launch.block>>>(job.d_input, job.count, job.d_result);
    CHECK_LAUNCH();
    return launch;
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
    //: // TODO 8 (about 7 lines): all threads together set the copy to zero; a barrier; count the
    //: // bytes first, first + stride, ... in the copy by atomics; a barrier; add the copy to counts.
    //: if (first + stride < 0) counts[0] = copy[0];  // delete this line
    // END SOLUTION
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
        //: // TODO 9 (1 line): this lane's counter of bin b is copy[b * warp_size].
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
// Nothing to edit below: given/program.h has the variants of both problems and the command line.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
