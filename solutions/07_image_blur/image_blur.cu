// 07 image_blur: every pixel becomes the mean of the pixels around it, those of the window of
// (2 radius + 1)^2 pixels that lie inside the picture. Each channel is blurred by itself, alpha too.
// Sums of whole numbers: all ways give the same bytes. You write the window, and what kernels lack:
//
//   naive       a thread a value, which reads its whole window
//   tiled       the same sums, from a tile with its surroundings (the halo) in shared memory
//   separable   first along the rows, then down the columns: 2 (2 radius + 1) reads
//   running     sums that slide: what enters is added, what leaves is taken away; any radius
//
// In further/, to be read: fused (running in one kernel) and shuffled (small windows, from registers).

#include <algorithm>
#include <cstdint>

#include "../../common/lab.h"

// How a picture lies in memory. A value is one channel of one pixel: the neighbours of value v in
// its row are v - channels and v + channels. Rows are padded to a multiple of 16 bytes, so that
// each may be read in pieces of 16; in the input the padding holds zeros.
struct Shape {
    int height, width, channels;

    __host__ __device__ int values() const { return width * channels; }  // in a row
    __host__ __device__ int64_t pitch() const { return (int64_t{values()} + 15) / 16 * 16; }
    int64_t count() const { return int64_t{height} * values(); }
    int64_t padded_bytes() const { return height * pitch(); }
};

// The part of a window that lies inside: from first to last, both included.
struct Range {
    int first, last;

    __host__ __device__ int count() const { return last - first + 1; }
};

__host__ __device__ inline Range window(int centre, int radius, int size) {
    // BEGIN SOLUTION
    return {centre - radius < 0 ? 0 : centre - radius,
            centre + radius > size - 1 ? size - 1 : centre + radius};
    //: // TODO 1 (1 line): what lies before 0, or behind size - 1, does not belong to it.
    //: return {0, 0};  // replace this line
    // END SOLUTION
}

// What a launcher may need. Only `separable` and `running` keep sums in memory.
struct Job {
    const uint8_t* d_input;
    uint8_t* d_output;
    void* d_sums;
    Shape shape;
    int radius;
    bool large;  // the sum of a window may pass 2^32: Sum is uint64_t, else uint32_t
};

// Where the tile of a block begins, when tiles of blockDim cover the picture. Blocks are numbered
// along x only, row after row of tiles: a grid has 65535 along y, and a picture may be taller.
struct Place {
    int row, value;
};

__device__ Place tile_of_block(const Shape& shape) {
    const unsigned across = (shape.values() + blockDim.x - 1) / blockDim.x;
    return {int(blockIdx.x / across * blockDim.y), int(blockIdx.x % across * blockDim.x)};
}

constexpr dim3 tile_block(32, 16);
lab::Launch tiles(const Shape& shape) {
    const int64_t blocks =
        lab::divide_up(shape.values(), tile_block.x) * lab::divide_up(shape.height, tile_block.y);
    return {dim3(unsigned(blocks)), tile_block};
}

// input, output: (height, pitch) bytes, row after row
template <class Sum>
__global__ void naive(const uint8_t* input, uint8_t* output, Shape shape, int radius) {
    const Place tile = tile_of_block(shape);
    const int row = tile.row + threadIdx.y, value = tile.value + threadIdx.x;
    if (row >= shape.height || value >= shape.values()) return;
    const int column = value / shape.channels, channel = value % shape.channels;
    // BEGIN SOLUTION
    const Range rows = window(row, radius, shape.height);
    const Range columns = window(column, radius, shape.width);
    Sum sum = 0;
    for (int y = rows.first; y <= rows.last; y++) {
        for (int x = columns.first; x <= columns.last; x++) {
            sum += input[y * shape.pitch() + x * shape.channels + channel];
        }
    }
    output[row * shape.pitch() + value] = sum / (Sum(rows.count()) * columns.count());
    //: // TODO 2 (about 8 lines): two ranges, of rows and of columns; the sum over both, where pixel
    //: // (y, x) begins at y * shape.pitch() + x * shape.channels; the mean. Replace these two lines.
    //: const int64_t here = row * shape.pitch() + column * shape.channels + channel;
    //: output[here] = input[here];
    // END SOLUTION
}

lab::Launch launch_naive(const Job& job) {
    const lab::Launch launch = tiles(job.shape);
    const auto naive_kernel = job.large ? naive<uint64_t> : naive<uint32_t>;
    naive_kernel<<<launch.grid, launch.block>>>(job.d_input, job.d_output, job.shape, job.radius);
    CHECK_LAUNCH();
    return launch;
}

// Neighbours read nearly the same windows. Here a block reads what all its threads need into shared
// memory, once: its tile and a halo of `radius` pixels on each side. What lies outside is zero.
__global__ void tiled(const uint8_t* input, uint8_t* output, Shape shape, int radius) {
    extern __shared__ uint8_t tile_values[];
    const Place tile = tile_of_block(shape);
    const int halo = radius * shape.channels;
    const int tile_width = blockDim.x + 2 * halo, tile_height = blockDim.y + 2 * radius;
    for (int y = threadIdx.y; y < tile_height; y += blockDim.y) {
        for (int x = threadIdx.x; x < tile_width; x += blockDim.x) {
            // BEGIN SOLUTION
            const int row = tile.row + y - radius, value = tile.value + x - halo;
            const bool inside =
                row >= 0 && row < shape.height && value >= 0 && value < shape.values();
            tile_values[y * tile_width + x] = inside ? input[row * shape.pitch() + value] : 0;
            //: // TODO 3a (about 4 lines): which row and value of the picture belongs at (y, x) of
            //: // the tile? Place it there, or 0 where there is none.
            //: tile_values[y * tile_width + x] = 0;  // replace this line
            // END SOLUTION
        }
    }
    // BEGIN SOLUTION
    __syncthreads();
    //: // TODO 3b (1 line): nobody may go on before everything is there.
    // END SOLUTION

    const int row = tile.row + threadIdx.y, value = tile.value + threadIdx.x;
    if (row >= shape.height || value >= shape.values()) return;
    const Range rows = window(row, radius, shape.height);
    const Range columns = window(value / shape.channels, radius, shape.width);
    uint32_t sum = 0;  // of a tile's worth of bytes at most: far from 2^32
    for (int y = 0; y <= 2 * radius; y++) {
        for (int x = 0; x <= 2 * halo; x += shape.channels) {
            sum += tile_values[(threadIdx.y + y) * tile_width + threadIdx.x + x];
        }
    }
    output[row * shape.pitch() + value] = sum / (rows.count() * columns.count());
}

int64_t tile_bytes(const Shape& shape, int64_t radius) {
    return (tile_block.y + 2 * radius) * (tile_block.x + 2 * radius * shape.channels);
}

lab::Launch launch_tiled(const Job& job) {
    const lab::Launch launch = tiles(job.shape);
    const size_t bytes = tile_bytes(job.shape, job.radius);
    tiled<<<launch.grid, launch.block, bytes>>>(job.d_input, job.d_output, job.shape, job.radius);
    CHECK_LAUNCH();
    return launch;
}

std::string problem_of_tiled(const Shape& shape, int radius) {
    constexpr int64_t most_bytes = 48 * 1024;  // what every device gives a block unasked
    const int64_t bytes = tile_bytes(shape, radius);
    if (bytes <= most_bytes) return "";
    return lab::format(
        "needs %lld bytes of shared memory for a tile and its halo, and a block has %lld",
        (long long)bytes, (long long)most_bytes);
}

// The sum over a square is the sum over its rows of the sums along them. These are computed once,
// and not once for each of the 2 radius + 1 windows that they belong to. Two kernels: the second
// needs sums of other blocks. The sums are not divided in between: nothing is rounded twice.
// sums: (height, values), row-major
template <class Sum>
__global__ void sum_along_rows(const uint8_t* input, Sum* sums, Shape shape, int radius) {
    const Place tile = tile_of_block(shape);
    const int row = tile.row + threadIdx.y, value = tile.value + threadIdx.x;
    if (row >= shape.height || value >= shape.values()) return;
    const Range columns = window(value / shape.channels, radius, shape.width);
    const uint8_t* values = input + row * shape.pitch() + value % shape.channels;
    Sum sum = 0;
    for (int x = columns.first; x <= columns.last; x++) sum += values[x * shape.channels];
    sums[int64_t{row} * shape.values() + value] = sum;
}

template <class Sum>
__global__ void mean_down_columns(const Sum* sums, uint8_t* output, Shape shape, int radius) {
    const Place tile = tile_of_block(shape);
    const int row = tile.row + threadIdx.y, value = tile.value + threadIdx.x;
    if (row >= shape.height || value >= shape.values()) return;
    const Range rows = window(row, radius, shape.height);
    const Range columns = window(value / shape.channels, radius, shape.width);
    // BEGIN SOLUTION
    Sum sum = 0;
    for (int y = rows.first; y <= rows.last; y++) sum += sums[int64_t{y} * shape.values() + value];
    output[row * shape.pitch() + value] = sum / (Sum(rows.count()) * columns.count());
    //: // TODO 4 (about 3 lines): add up the row sums above and below as well, then the mean.
    //: const Sum sum = sums[int64_t{row} * shape.values() + value];  // replace this line
    //: output[row * shape.pitch() + value] = sum / (Sum(rows.count()) * columns.count());
    // END SOLUTION
}

template <class Sum>
lab::Launch launch_separable_with(const Job& job) {
    const lab::Launch launch = tiles(job.shape);
    Sum* d_sums = static_cast<Sum*>(job.d_sums);
    sum_along_rows<<<launch.grid, launch.block>>>(job.d_input, d_sums, job.shape, job.radius);
    CHECK_LAUNCH();
    mean_down_columns<<<launch.grid, launch.block>>>(d_sums, job.d_output, job.shape, job.radius);
    CHECK_LAUNCH();
    return launch;
}

lab::Launch launch_separable(const Job& job) {
    return job.large ? launch_separable_with<uint64_t>(job) : launch_separable_with<uint32_t>(job);
}

// Sums whose cost does not grow with the radius. Let prefix[v] be the sum of value v and all before
// it in its row (of its channel): the sum along any piece of the row is a difference of two. A warp
// takes a row, 32 values at a time; each step adds what the lane `step` before has summed up so far.
// The sums may pass 2^32 and begin anew at 0: the differences are still right.
template <class Sum>
__global__ void prefix_along_rows(const uint8_t* input, Sum* prefixes, Shape shape) {
    const int lane = threadIdx.x, row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= shape.height) return;  // a whole warp
    Sum before = 0;                   // the prefix of the last value of this channel so far
    for (int first = 0; first < shape.values(); first += 32) {
        const int value = first + lane;
        Sum sum = value < shape.values() ? input[row * shape.pitch() + value] : 0;
        for (int step = shape.channels; step < 32 && step < shape.values(); step *= 2) {
            const Sum other = __shfl_up_sync(0xFFFFFFFF, sum, step);
            if (lane >= step) sum += other;
        }
        sum += before;
        if (value < shape.values()) prefixes[int64_t{row} * shape.values() + value] = sum;
        before = __shfl_sync(0xFFFFFFFF, sum, 32 - shape.channels + lane % shape.channels);
    }
}

// A thread goes down a strip of rows. From one row to the next one row enters its window and one
// leaves it. What is outside the picture neither enters nor leaves.
template <class Sum>
__global__ void slide_down(const Sum* prefixes, uint8_t* output, Shape shape, int radius,
                           int strip_rows) {
    const unsigned across = (shape.values() + blockDim.x - 1) / blockDim.x;
    const int value = blockIdx.x % across * blockDim.x + threadIdx.x;
    if (value >= shape.values()) return;
    const int first = blockIdx.x / across * strip_rows, channels = shape.channels;
    const int end = first + strip_rows < shape.height ? first + strip_rows : shape.height;
    const Range columns = window(value / channels, radius, shape.width);
    // BEGIN SOLUTION
    const int right = columns.last * channels + value % channels;
    const int left = right - columns.count() * channels;  // the last value before the window
    const auto row_sum = [&](int row) -> Sum {
        const Sum* prefix = prefixes + int64_t{row} * shape.values();
        return prefix[right] - (left >= 0 ? prefix[left] : 0);
    };
    //: // TODO 5a (about 6 lines): the sum of `row` over the columns of the window. In the prefixes of
    //: // that row it is the one at the window's last value, of this channel, less the one at the last
    //: // value before the window, which the first columns do not have.
    //: const auto row_sum = [&](int) -> Sum { return 0; };  // replace this line
    // END SOLUTION
    const Range start = window(first - 1, radius, shape.height);
    Sum sum = 0;
    for (int row = start.first; row <= start.last; row++) sum += row_sum(row);
    for (int row = first; row < end; row++) {
        // BEGIN SOLUTION
        if (row + radius < shape.height) sum += row_sum(row + radius);
        if (row - radius - 1 >= 0) sum -= row_sum(row - radius - 1);
        //: // TODO 5b (2 lines): which row comes into the window here, and which goes out of it?
        // END SOLUTION
        const Range rows = window(row, radius, shape.height);
        output[row * shape.pitch() + value] = sum / (Sum(rows.count()) * columns.count());
    }
}

template <class Sum>
lab::Launch launch_running_with(const Job& job) {
    Sum* d_prefixes = static_cast<Sum*>(job.d_sums);
    const dim3 warps(32, 4), block(256);
    prefix_along_rows<<<unsigned(lab::divide_up(job.shape.height, warps.y)), warps>>>(
        job.d_input, d_prefixes, job.shape);
    CHECK_LAUNCH();
    // A strip begins with 2 radius + 1 rows for its first sum: let it be as long at least.
    const int strip_rows = std::min(std::max(256, 2 * job.radius + 1), job.shape.height);
    const dim3 grid(unsigned(lab::divide_up(job.shape.values(), block.x) *
                             lab::divide_up(job.shape.height, strip_rows)));
    slide_down<<<grid, block>>>(d_prefixes, job.d_output, job.shape, job.radius, strip_rows);
    CHECK_LAUNCH();
    return {grid, block};
}

lab::Launch launch_running(const Job& job) {
    return job.large ? launch_running_with<uint64_t>(job) : launch_running_with<uint32_t>(job);
}

#ifdef LAB_FURTHER  // make run LAB=07 FURTHER=1: variants that nobody is asked to write
#include "further/fused.cuh"
#include "further/npp.cuh"
#include "further/shuffled.cuh"
#endif

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/program.h has the reference, the table of variants, and the options.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
