// 08 convolution: every output is a weighted sum of the inputs around it, and the weights are the
// filter. One sum for signals (one row), matrices (float) and pictures (8 bits a channel).
//     output(y, x) = sum over i, j of filter(i, j) * input(y * stride + i - top, x * stride + j - left)
// That is cross-correlation; turned by 180 degrees beforehand, the same filter gives convolution. You
// write how a sum is stored, the heart of each kernel, and two lines of the host:
//
//   naive              one thread an output; input and filter in global memory
//   constant           the filter in constant memory: one read serves a warp
//   tiled              a block shares its inputs, with the halo around them, in shared memory
//   separable          a filter of rank 1: first along the rows, then along the columns
//   rolling            a thread makes 4 columns of outputs; an input serves 4 * size sums at once
//   separable_rolling  both passes in one kernel, with the sums of the first in registers
//
// In further/, to be read: the last two, tuned (register_blocking and separable_blocking).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../common/lab.h"

// What a kernel has to know about the shapes. Inputs beyond the edge count as zeros: `top` rows of
// them lie above the first row, `left` columns before the first column.
struct Sizes {
    int64_t height, width;          // of the input
    int64_t out_height, out_width;  // of the output
    int filter_height, filter_width;
    int64_t top, left;
    int64_t stride;
};

// The sum as it is stored: a picture's pixels are rounded to nearest and kept within 0..255. T is float
// or uint8_t; the sum is a float in any case.
template <class T>
__host__ __device__ T to_pixel(float sum) {
    if constexpr (std::is_same_v<T, float>) {
        return sum;
    } else {
        // BEGIN SOLUTION
        return T(fminf(fmaxf(sum, 0.0f), 255.0f) + 0.5f);
        //: // TODO 1 (1 line): clamp the sum to 0..255 and round it to nearest (add 0.5, drop the rest).
        //: return T(int(sum));  // replace this line
        // END SOLUTION
    }
}

// One plane of inputs and outputs on the device, and what launchers need besides.
template <class T>
struct Plane {
    Sizes sizes;
    dim3 block;
    int most_blocks;  // along y; where there are more rows, a block takes several parts in turn
    const T* d_input;
    T* d_output;
    const float* d_filter;
    float* d_between;  // of separable
};

// A grid over so many rows and columns, a thread each.
template <class T>
lab::Launch grid_over(int64_t height, int64_t width, const Plane<T>& plane) {
    const int64_t blocks =
        std::min<int64_t>(lab::divide_up(height, plane.block.y), plane.most_blocks);
    return {dim3(lab::divide_up(width, plane.block.x), blocks), plane.block};
}

// A thread has one column; along y it goes on by the height of the grid, as that may be smaller
// than the output. The filter is read from global memory, by all threads from the same address.
template <class T>
__global__ void naive(const T* input, const float* filter, T* output, Sizes s) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t rows_of_grid = int64_t{gridDim.y} * blockDim.y;
    if (column >= s.out_width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < s.out_height;
         row += rows_of_grid) {
        // BEGIN SOLUTION
        float sum = 0;
        for (int i = 0; i < s.filter_height; i++) {
            const int64_t y = row * s.stride + i - s.top;
            for (int j = 0; j < s.filter_width; j++) {
                const int64_t x = column * s.stride + j - s.left;
                if (y < 0 || y >= s.height || x < 0 || x >= s.width) continue;
                sum += filter[i * s.filter_width + j] * input[y * s.width + x];
            }
        }
        output[row * s.out_width + column] = to_pixel<T>(sum);
        //: // TODO 2 (about 10 lines): the formula at the head of this file, in a float. Inputs beyond
        //: // the edge are zeros: leave them out. Store the sum by to_pixel<T>(sum).
        // END SOLUTION
    }
}

template <class T>
lab::Launch launch_naive(const Plane<T>& plane) {
    const lab::Launch launch = grid_over(plane.sizes.out_height, plane.sizes.out_width, plane);
    naive<<<launch.grid, launch.block>>>(plane.d_input, plane.d_filter, plane.d_output,
                                         plane.sizes);
    CHECK_LAUNCH();
    return launch;
}

// How many outputs there are along a side: the filter's first place, and one more for each stride.
int64_t out_side(int64_t side, int filter_side, int64_t padding, int64_t stride) {
    const int64_t padded = side + 2 * padding;
    // BEGIN SOLUTION
    return padded < filter_side ? 0 : (padded - filter_side) / stride + 1;
    //: // TODO 3a (1 line): right for --padding zero with --stride 1 so far. In how many places does a
    //: // filter of filter_side elements fit into `padded` elements, `stride` apart?
    //: (void)stride;                            // delete this line
    //: return padded < filter_side ? 0 : side;  // replace this line
    // END SOLUTION
}

// For --orientation convolution: a filter, (height, width), turned by 180 degrees.
void turn(std::vector<float>& filter) {
    // BEGIN SOLUTION
    std::reverse(filter.begin(), filter.end());
    //: // TODO 3b (1 line): what does a turn do to the order of the elements in memory? <algorithm> has it.
    //: (void)filter;  // delete this line
    // END SOLUTION
}

// 64 KiB that all multiprocessors cache. When the threads of a warp read one and the same address,
// as they do here, a read costs what a read of a register does.
constexpr int constant_floats = 16384;
__constant__ float constant_filter[constant_floats];

void load_constant_filter(const std::vector<float>& values) {
    // BEGIN SOLUTION
    CHECK(cudaMemcpyToSymbol(constant_filter, values.data(), values.size() * sizeof(float)));
    //: // TODO 4a (1 line): copy the values to constant_filter; a __constant__ array is a symbol, and
    //: // cudaMemcpyToSymbol(symbol, source, bytes) copies to it.
    //: (void)values;  // delete this line
    // END SOLUTION
}

template <class T>
__global__ void constant(const T* input, T* output, Sizes s) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t rows_of_grid = int64_t{gridDim.y} * blockDim.y;
    if (column >= s.out_width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < s.out_height;
         row += rows_of_grid) {
        // BEGIN SOLUTION
        float sum = 0;
        for (int i = 0; i < s.filter_height; i++) {
            const int64_t y = row * s.stride + i - s.top;
            if (y < 0 || y >= s.height) continue;
            for (int j = 0; j < s.filter_width; j++) {
                const int64_t x = column * s.stride + j - s.left;
                if (x < 0 || x >= s.width) continue;
                sum += constant_filter[i * s.filter_width + j] * input[y * s.width + x];
            }
        }
        output[row * s.out_width + column] = to_pixel<T>(sum);
        //: // TODO 4b (about 10 lines): as naive, with constant_filter for filter.
        // END SOLUTION
    }
}

template <class T>
lab::Launch launch_constant(const Plane<T>& plane) {
    const lab::Launch launch = grid_over(plane.sizes.out_height, plane.sizes.out_width, plane);
    constant<<<launch.grid, launch.block>>>(plane.d_input, plane.d_output, plane.sizes);
    CHECK_LAUNCH();
    return launch;
}

// The outputs of a block need overlapping inputs. The block loads each of them once, as floats, with
// zeros for what lies beyond the edge; then no thread tests an edge again.
//
//     tile_height = (blockDim.y - 1) * stride + filter_height, and alike along x
template <class T>
__global__ void tiled(const T* input, T* output, Sizes s) {
    extern __shared__ float tile[];  // (tile_height, tile_width)
    const int stride = int(s.stride);
    const int tile_height = int(blockDim.y - 1) * stride + s.filter_height;
    const int tile_width = int(blockDim.x - 1) * stride + s.filter_width;
    const int64_t first_column = int64_t{blockIdx.x} * blockDim.x;
    const int64_t rows_of_grid = int64_t{gridDim.y} * blockDim.y;
    for (int64_t first_row = int64_t{blockIdx.y} * blockDim.y; first_row < s.out_height;
         first_row += rows_of_grid) {
        // BEGIN SOLUTION
        for (int i = threadIdx.y; i < tile_height; i += blockDim.y) {
            const int64_t y = first_row * stride + i - s.top;
            for (int j = threadIdx.x; j < tile_width; j += blockDim.x) {
                const int64_t x = first_column * stride + j - s.left;
                const bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
                tile[i * tile_width + j] = inside ? float(input[y * s.width + x]) : 0.0f;
            }
        }
        __syncthreads();  // the tile is complete
        const int64_t row = first_row + threadIdx.y, column = first_column + threadIdx.x;
        float sum = 0;
        for (int i = 0; i < s.filter_height; i++) {
            const float* inputs = tile + (threadIdx.y * stride + i) * tile_width;
            for (int j = 0; j < s.filter_width; j++) {
                sum += constant_filter[i * s.filter_width + j] * inputs[threadIdx.x * stride + j];
            }
        }
        if (row < s.out_height && column < s.out_width) {
            output[row * s.out_width + column] = to_pixel<T>(sum);
        }
        __syncthreads();  // nobody reads the tile any more: it may be overwritten
        //: // TODO 5 (about 20 lines): 1. all threads load the tile, each the elements that are
        //: // blockDim apart; element (i, j) is input (first_row * stride + i - top, first_column *
        //: // stride + j - left), or 0 beyond the edge. 2. a barrier. 3. the sum, all of it from the
        //: // tile and constant_filter; store it if the output exists. 4. a barrier.
        //: (void)tile, (void)tile_height, (void)tile_width, (void)first_column;  // delete this line
        // END SOLUTION
    }
}

constexpr int64_t shared_bytes_of_block = 49152;  // what any block may have without asking

int64_t tile_bytes(const Sizes& s, dim3 block) {
    const int64_t tile_height = int64_t{block.y - 1} * s.stride + s.filter_height;
    const int64_t tile_width = int64_t{block.x - 1} * s.stride + s.filter_width;
    if (std::max(tile_height, tile_width) > shared_bytes_of_block) return INT32_MAX;
    return tile_height * tile_width * int64_t{sizeof(float)};
}

template <class T>
lab::Launch launch_tiled(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const lab::Launch launch = grid_over(s.out_height, s.out_width, plane);
    tiled<<<launch.grid, launch.block, tile_bytes(s, launch.block)>>>(plane.d_input, plane.d_output,
                                                                      s);
    CHECK_LAUNCH();
    return launch;
}

// Separable. If filter(i, j) = column_factor(i) * row_factor(j), the sum over j can be made once for
// all i: filter_height + filter_width products an output in place of filter_height * filter_width.
// constant_filter holds the column factor, and behind it the row factor. What lies between the two
// passes stays a float: rounded to 8 bits there, a pixel would be rounded twice.

template <class T>
__global__ void separable_rows(const T* input, float* between, Sizes s) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t rows_of_grid = int64_t{gridDim.y} * blockDim.y;
    const float* const row_factor = constant_filter + s.filter_height;
    if (column >= s.out_width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < s.height;
         row += rows_of_grid) {
        const int64_t start = column * s.stride - s.left;  // of the window, in the row
        const int begin = int(max(int64_t{0}, -start));    // inputs before it do not exist
        const int end = int(min(int64_t{s.filter_width}, s.width - start));
        const T* inputs = input + row * s.width + start;
        float sum = 0;
        for (int j = begin; j < end; j++) sum += row_factor[j] * inputs[j];
        between[row * s.out_width + column] = sum;  // (height, out_width)
    }
}

template <class T>
__global__ void separable_columns(const float* between, T* output, Sizes s) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t rows_of_grid = int64_t{gridDim.y} * blockDim.y;
    if (column >= s.out_width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < s.out_height;
         row += rows_of_grid) {
        // BEGIN SOLUTION
        const int64_t start = row * s.stride - s.top;  // of the window, in the column
        const int begin = int(max(int64_t{0}, -start));
        const int end = int(min(int64_t{s.filter_height}, s.height - start));
        const float* sums = between + start * s.out_width + column;
        float sum = 0;
        for (int i = begin; i < end; i++) sum += constant_filter[i] * sums[i * s.out_width];
        output[row * s.out_width + column] = to_pixel<T>(sum);
        //: // TODO 6 (about 7 lines): separable_rows for columns. The column factor begins at
        //: // constant_filter[0]; `between` has s.height rows of s.out_width sums.
        // END SOLUTION
    }
}

template <class T>
lab::Launch launch_separable(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const lab::Launch rows = grid_over(s.height, s.out_width, plane);
    separable_rows<<<rows.grid, rows.block>>>(plane.d_input, plane.d_between, s);
    CHECK_LAUNCH();
    const lab::Launch columns = grid_over(s.out_height, s.out_width, plane);
    separable_columns<<<columns.grid, columns.block>>>(plane.d_between, plane.d_output, s);
    CHECK_LAUNCH();
    return columns;
}

// ---------------------------------------------------------------------------------------------
// Register blocking. A thread makes `columns_per_thread` columns of outputs and walks down the rows.
// From each row of inputs it loads one window, which serves the sums of `size` output rows:
//
//     window            w0 w1 w2 w3 w4 w5           4 columns + size - 1 (here size is 3)
//     sums[0]           the output row that this input row completes: it is the filter's last row
//     sums[1], sums[2]  the next two output rows; for them it is the filter's middle and first row
//
// After each row the sums move up by one. All loops over the filter and the columns have fixed
// bounds, so that the compiler unrolls them: sums and window stay in registers, and a weight is an
// operand that the instruction itself fetches from constant memory.

constexpr int columns_per_thread = 4;
constexpr int threads_per_block = 128;

// What one row of inputs adds to the sums, which move up by one.
template <int size>
__device__ void add_row(float (&sums)[size][columns_per_thread],
                        const float (&window)[columns_per_thread + size - 1]) {
#pragma unroll
    for (int k = 0; k < size; k++) {
        // BEGIN SOLUTION
#pragma unroll
        for (int c = 0; c < columns_per_thread; c++) {
            float sum = k + 1 < size ? sums[k + 1][c] : 0.0f;
#pragma unroll
            for (int j = 0; j < size; j++) {
                sum += constant_filter[(size - 1 - k) * size + j] * window[c + j];
            }
            sums[k][c] = sum;
        }
        //: // TODO 7 (about 7 lines): for each column c, the new sums[k][c] is the old sums[k + 1][c] (0
        //: // for the last k) plus what this row adds: filter row size - 1 - k times the window, from
        //: // place c on. Write #pragma unroll before each loop.
        //: (void)window[k];  // delete this line
        // END SOLUTION
    }
}

// The same for a filter that is a product (see separable, below): the sum along the row is made once
// and serves all output rows. 2 * size products an output in place of size * size.
template <int size>
__device__ void add_row_of_product(float (&sums)[size][columns_per_thread],
                                   const float (&window)[columns_per_thread + size - 1]) {
    // BEGIN SOLUTION
#pragma unroll
    for (int c = 0; c < columns_per_thread; c++) {
        float along_row = 0;
#pragma unroll
        for (int j = 0; j < size; j++) along_row += constant_filter[size + j] * window[c + j];
#pragma unroll
        for (int k = 0; k < size; k++) {
            const float before = k + 1 < size ? sums[k + 1][c] : 0.0f;
            sums[k][c] = before + constant_filter[size - 1 - k] * along_row;
        }
    }
    //: // TODO 8 (about 8 lines): for each column c, first the row factor times the window; it begins at
    //: // constant_filter[size]. Then the new sums[k][c]: the old sums[k + 1][c] (0 for the last k) plus
    //: // element size - 1 - k of the column factor, which begins at constant_filter[0], times that.
    //: (void)sums, (void)window;  // delete this line
    // END SOLUTION
}

// The threads of a block lie side by side along x; along y, each block has `rows_per_block` rows.
template <class T, int size, bool product>
__global__ void rolling(const T* input, T* output, Sizes s, int64_t rows_per_block) {
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t column = thread * columns_per_thread;
    const int64_t first = blockIdx.y * rows_per_block;
    const int64_t last = min(first + rows_per_block, s.out_height);
    float sums[size][columns_per_thread] = {};
    for (int64_t row = first; row < last + size - 1; row++) {  // of the inputs with their padding
        const int64_t y = row - s.top;
        float window[columns_per_thread + size - 1];
#pragma unroll
        for (int j = 0; j < columns_per_thread + size - 1; j++) {
            const int64_t x = column + j - s.left;
            const bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
            window[j] = inside ? float(input[y * s.width + x]) : 0.0f;
        }
        if constexpr (product) {
            add_row_of_product<size>(sums, window);
        } else {
            add_row<size>(sums, window);
        }
        if (row - first < size - 1) continue;  // no output is complete yet
#pragma unroll
        for (int c = 0; c < columns_per_thread; c++) {
            if (column + c >= s.out_width) continue;
            output[(row - size + 1) * s.out_width + column + c] = to_pixel<T>(sums[0][c]);
        }
    }
}

// A block begins with size - 1 rows that complete no output, so it has many.
template <class T, int size, bool product>
lab::Launch launch_rolling_of(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const int64_t along_x = lab::divide_up(s.out_width, columns_per_thread * threads_per_block);
    const int64_t rows = std::max<int64_t>(64, lab::divide_up(s.out_height, plane.most_blocks));
    const lab::Launch launch = {dim3(along_x, lab::divide_up(s.out_height, rows)),
                                threads_per_block};
    rolling<T, size, product>
        <<<launch.grid, launch.block>>>(plane.d_input, plane.d_output, s, rows);
    CHECK_LAUNCH();
    return launch;
}

template <class T, bool product>
lab::Launch launch_rolling(const Plane<T>& plane) {
    if (plane.sizes.filter_width == 3) return launch_rolling_of<T, 3, product>(plane);
    if (plane.sizes.filter_width == 5) return launch_rolling_of<T, 5, product>(plane);
    return launch_rolling_of<T, 7, product>(plane);
}

#ifdef LAB_FURTHER  // make run LAB=08 FURTHER=1: variants that nobody is asked to write
#include "further/npp.cuh"
#include "further/register_blocking.cuh"
#endif

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/program.h has the table of variants, and the options. The other pages of
// given/ have inputs, filters, reference and judging.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
