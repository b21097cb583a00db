// 08 convolution: every output is a weighted sum of the inputs around it, and the weights are the
// filter. One sum for signals (one row), matrices (float) and pictures (8 bits a channel).
//     output(y, x) = sum over i, j of filter(i, j) * input(y * stride + i - top, x * stride + j - left)
// That is cross-correlation; turned by 180 degrees beforehand, the same filter gives convolution.
//
//   naive              one thread an output; input and filter in global memory
//   constant           the filter in constant memory: one read serves a warp
//   tiled              a block shares its inputs, with the halo around them, in shared memory
//   register_blocking  a thread makes 4 columns of outputs; an input serves 4 * size sums at once
//   separable          a filter of rank 1: first along the rows, then along the columns
//   separable_blocking both passes in one kernel, with the sums of the first in registers

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/image.h"
#include "../../common/lab.h"

#if defined(LAB_PEERS) && __has_include(<nppi_filtering_functions.h>)
#define LAB_NPP
#include <nppi_filtering_functions.h>

#include "../../common/npp.h"
#endif

struct Filter {
    int height, width;          // both odd
    std::vector<float> values;  // (height, width), row-major
};

// What a kernel has to know about the shapes. Inputs beyond the edge count as zeros: `top` rows of
// them lie above the first row, `left` columns before the first column.
struct Sizes {
    int64_t height, width;          // of the input
    int64_t out_height, out_width;  // of the output
    int filter_height, filter_width;
    int64_t top, left;
    int64_t stride;
};

// ---------------------------------------------------------------------------------------------
// CPU reference: one element of the filter after the other, for a whole row of outputs.

template <class T>
void filter_on_cpu(const T* input, const float* filter, double* output, const Sizes& s) {
    const lab::NvtxRange range("reference");
    for (int64_t row = 0; row < s.out_height; row++) {
        double* sums = output + row * s.out_width;
        std::fill(sums, sums + s.out_width, 0.0);
        for (int64_t k = 0; k < int64_t{s.filter_height} * s.filter_width; k++) {
            const int64_t y = row * s.stride + k / s.filter_width - s.top;
            if (y < 0 || y >= s.height) continue;
            const int64_t shift = k % s.filter_width - s.left;  // x = column * stride + shift
            const int64_t first = shift < 0 ? lab::divide_up(-shift, s.stride) : 0;
            const int64_t inside = shift < s.width ? lab::divide_up(s.width - shift, s.stride) : 0;
            const int64_t last = std::min(s.out_width, inside);
            const T* inputs = input + y * s.width + shift;
            const double weight = filter[k];
            for (int64_t column = first; column < last; column++) {
                sums[column] += weight * inputs[column * s.stride];
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Kernels. T is float or uint8_t; the sum is a float in any case.

// The sum as it is stored: a picture's pixels are rounded to nearest and kept within 0..255.
template <class T>
__host__ __device__ T to_pixel(float sum) {
    if constexpr (std::is_same_v<T, float>) {
        return sum;
    } else {
        // BEGIN SOLUTION
        return T(fminf(fmaxf(sum, 0.0f), 255.0f) + 0.5f);
        //: // TODO 2 (1 line): clamp the sum to 0..255 and round it to nearest (add 0.5, drop the rest).
        //: return T(int(sum));  // replace this line
        // END SOLUTION
    }
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
        //: // TODO 1 (about 10 lines): the formula at the head of this file, in a float. Inputs beyond
        //: // the edge are zeros: leave them out. Store the sum by to_pixel<T>(sum).
        // END SOLUTION
    }
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

template <class T>
struct alignas(4 * sizeof(T)) Quad {  // loaded and stored by one instruction
    T values[4];
};

// Loads `count` inputs from place x of a row on; `place` points there. Places beyond the edge give 0,
// also those before the first: as unsigned numbers they are huge. In an aligned picture x + radius is
// a multiple of four, and so is the width: four neighbours exist all or none.
template <int radius, int count, class T>
__device__ void load_window(float (&window)[count], const T* place, unsigned x, unsigned width,
                            bool aligned) {
    if (aligned) {
        constexpr int surplus = (4 - radius % 4) % 4;  // what the first quad holds before place x
        constexpr int quads = (surplus + count + 3) / 4;
        float values[4 * quads];
#pragma unroll
        for (int q = 0; q < quads; q++) {
            Quad<T> quad = {};
            if (x - surplus + 4 * q < width) {
                quad = *reinterpret_cast<const Quad<T>*>(place - surplus + 4 * q);
            }
#pragma unroll
            for (int k = 0; k < 4; k++) values[4 * q + k] = quad.values[k];
        }
#pragma unroll
        for (int k = 0; k < count; k++) window[k] = values[surplus + k];
    } else {
#pragma unroll
        for (int k = 0; k < count; k++) window[k] = x + k < width ? float(place[k]) : 0.0f;
    }
}

// Stores the outputs of one row from `column` on; `place` points there.
template <class T>
__device__ void store_sums(const float (&sums)[columns_per_thread], T* place, unsigned column,
                           unsigned width, bool aligned) {
    Quad<T> quad;
#pragma unroll
    for (int c = 0; c < columns_per_thread; c++) quad.values[c] = to_pixel<T>(sums[c]);
    if (aligned) {
        *reinterpret_cast<Quad<T>*>(place) = quad;
        return;
    }
#pragma unroll
    for (int c = 0; c < columns_per_thread; c++) {
        if (column + c < width) place[c] = quad.values[c];
    }
}

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
        //: // TODO 6 (about 7 lines): for each column c, the new sums[k][c] is the old sums[k + 1][c] (0
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
__global__ void __launch_bounds__(threads_per_block)
    register_blocking(const T* __restrict__ input, T* __restrict__ output, Sizes s,
                      int64_t rows_per_block, bool aligned) {
    constexpr int count = columns_per_thread + size - 1;
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t column = thread * columns_per_thread;
    const int64_t first = blockIdx.y * rows_per_block;
    const int64_t last = min(first + rows_per_block, s.out_height);
    if (column >= s.out_width) return;
    const T* from = input + (first - s.top) * s.width + column - s.left;
    T* to = output + first * s.out_width + column;
    float sums[size][columns_per_thread] = {};
    for (int64_t row = first; row < last + size - 1; row++) {  // of the inputs with their padding
        const int64_t y = row - s.top;
        float window[count] = {};
        if (y >= 0 && y < s.height) {
            load_window<size / 2>(window, from, unsigned(column - s.left), unsigned(s.width),
                                  aligned);
        }
        from += s.width;
        if constexpr (product) {
            add_row_of_product<size>(sums, window);
        } else {
            add_row<size>(sums, window);
        }
        if (row - first < size - 1) continue;  // no output is complete yet
        store_sums(sums[0], to, unsigned(column), unsigned(s.out_width), aligned);
        to += s.out_width;
    }
}

// ---------------------------------------------------------------------------------------------
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
        //: // TODO 7 (about 7 lines): separable_rows for columns. The column factor begins at
        //: // constant_filter[0]; `between` has s.height rows of s.out_width sums.
        // END SOLUTION
    }
}

// ---------------------------------------------------------------------------------------------
// Filters.

// The weights of one line, for filters that are a column times a row.
std::vector<double> unit_line(int size) {
    std::vector<double> line(size, 0.0);
    line[size / 2] = 1;
    return line;
}

std::vector<double> gaussian_line(int size, double sigma) {
    std::vector<double> line(size);
    double total = 0;
    for (int i = 0; i < size; i++) {
        const double distance = (i - size / 2) / sigma;
        total += line[i] = std::exp(-0.5 * distance * distance);
    }
    for (double& weight : line) weight /= total;
    return line;
}

// 1 2 1 for size 3, 1 4 6 4 1 for size 5: what repeated sums of two neighbours lead to.
std::vector<double> binomial_line(int size) {
    std::vector<double> line = {1};
    while (int(line.size()) < size) {
        line.push_back(0);
        for (size_t i = line.size() - 1; i > 0; i--) line[i] += line[i - 1];
    }
    return line;
}

// -1 0 1 for size 3, -1 -2 0 2 1 for size 5: a difference, smoothed.
std::vector<double> difference_line(int size) {
    const std::vector<double> smooth = binomial_line(size - 2);
    std::vector<double> line(size, 0.0);
    for (int i = 0; i < size - 2; i++) {
        line[i] -= smooth[i];
        line[i + 2] += smooth[i];
    }
    return line;
}

Filter product_filter(const std::vector<double>& column, const std::vector<double>& row) {
    Filter filter = {int(column.size()), int(row.size()), {}};
    for (double a : column) {
        for (double b : row) filter.values.push_back(float(a * b));
    }
    return filter;
}

// Size 3 is the classic: the middle and what tells it from its 4 neighbours (2 in a signal). Larger
// ones take twice the middle less a Gaussian mean.
Filter sharpen_filter(int size, double sigma, bool signal) {
    if (size == 3 && signal) return {1, 3, {-1, 3, -1}};
    if (size == 3) return {3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}};
    const std::vector<double> mean = gaussian_line(size, sigma);
    Filter filter = product_filter(signal ? unit_line(1) : mean, mean);
    for (float& value : filter.values) value = -value;
    filter.values[filter.values.size() / 2] += 2;
    return filter;
}

Filter random_filter(int size, bool signal) {
    const int count = signal ? size : size * size;  // the weights' sum is near 1
    return {signal ? 1 : size, size, lab::random_values<float>(count, 0, 2.0f / count, 3)};
}

// One row for a signal, otherwise as many rows as columns.
Filter named_filter(const std::string& name, int size, double sigma, bool signal) {
    const auto square = [&](const std::vector<double>& line) {
        return product_filter(signal ? unit_line(1) : line, line);
    };
    if (name == "box") return square(std::vector<double>(size, 1.0 / size));
    if (name == "gaussian") return square(gaussian_line(size, sigma));
    if (name == "identity") return square(unit_line(size));
    if (name == "random") return random_filter(size, signal);
    if (size < 3) lab::refuse("--filter %s needs --size 3 or more", name.c_str());
    if (name == "sharpen") return sharpen_filter(size, sigma, signal);
    if (size > 31) lab::refuse("--filter %s has at most --size 31", name.c_str());
    if (name == "sobel_x" && signal) return product_filter({1}, difference_line(size));
    if (name == "sobel_x") return product_filter(binomial_line(size), difference_line(size));
    if (signal)
        lab::refuse("--filter sobel_y compares rows, and a signal has no rows; use sobel_x");
    return product_filter(difference_line(size), binomial_line(size));
}

Filter read_filter(const std::string& path, bool signal) {
    const std::string name = lab::quoted(path);
    const lab::Array<float> array = lab::read_array<float>(path, signal ? 1 : 2);
    const int64_t height = signal ? 1 : array.shape[0], width = array.shape[signal ? 0 : 1];
    for (int64_t side : {height, width}) {
        if (side % 2 == 1 && side < INT32_MAX) continue;
        lab::refuse(
            "--filter-file: %s has the shape %s: both sides must be odd, or no element is in "
            "the middle",
            name.c_str(), lab::array_shape_text(array.shape).c_str());
    }
    for (float value : array.values) {
        if (!std::isfinite(value)) lab::refuse("--filter-file: %s holds %g", name.c_str(), value);
    }
    if (height * width > INT32_MAX) lab::refuse("--filter-file: %s is too large", name.c_str());
    return {int(height), int(width), array.values};
}

// Turned by 180 degrees: the last element first.
void turn(Filter& filter) {
    // BEGIN SOLUTION
    std::reverse(filter.values.begin(), filter.values.end());
    //: // TODO 3b (1 line): for --orientation convolution. What does a turn by 180 degrees do to the
    //: // order of the elements in memory? <algorithm> has it.
    //: (void)filter;  // delete this line
    // END SOLUTION
}

// A filter of rank 1 is a column times a row: `values` holds the one, then the other. Otherwise
// `problem` says which element is no such product. Rounded to floats, even products differ a little.
struct Factors {
    std::vector<float> values;
    std::string problem;
};

Factors factors_of(const Filter& filter) {
    const int height = filter.height, width = filter.width;
    const auto at = [&](int i, int j) { return filter.values[int64_t{i} * width + j]; };
    const auto largest = std::max_element(filter.values.begin(), filter.values.end(),
                                          [](float a, float b) { return fabs(a) < fabs(b); });
    const int row = int((largest - filter.values.begin()) / width);
    const int column = int((largest - filter.values.begin()) % width);
    Factors factors;
    const float pivot = *largest == 0 ? 1 : *largest;
    for (int i = 0; i < height; i++) factors.values.push_back(at(i, column));
    for (int j = 0; j < width; j++) factors.values.push_back(at(row, j) / pivot);
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < width; j++) {
            const double product = double(at(i, column)) * at(row, j) / pivot;
            if (fabs(product - at(i, j)) <= 0x1p-20 * fabs(at(i, j)) + FLT_MIN) continue;
            factors.problem = lab::format(
                "the filter's rank is not 1: element (%d, %d) is %g, and a product would be %g", i,
                j, at(i, j), product);
            return factors;
        }
    }
    return factors;
}

// ---------------------------------------------------------------------------------------------
// Launches.

constexpr int64_t longest_side = 2147483647;      // rows or columns
constexpr int most_blocks_along_y = 65535;        // the grid's limit
constexpr int64_t shared_bytes_of_block = 49152;  // what any block may have without asking

// One plane of inputs and outputs on the device, and what the kernels need besides.
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

struct Shape {
    dim3 grid, block;
};

Shape shape_of(int64_t height, int64_t width, dim3 block, int most_blocks) {
    const int64_t blocks = std::min<int64_t>(lab::divide_up(height, block.y), most_blocks);
    return {dim3(lab::divide_up(width, block.x), blocks), block};
}

template <class T>
Shape launch_naive(const Plane<T>& plane) {
    const Shape shape =
        shape_of(plane.sizes.out_height, plane.sizes.out_width, plane.block, plane.most_blocks);
    naive<<<shape.grid, shape.block>>>(plane.d_input, plane.d_filter, plane.d_output, plane.sizes);
    CHECK_LAUNCH();
    return shape;
}

template <class T>
Shape launch_constant(const Plane<T>& plane) {
    const Shape shape =
        shape_of(plane.sizes.out_height, plane.sizes.out_width, plane.block, plane.most_blocks);
    constant<<<shape.grid, shape.block>>>(plane.d_input, plane.d_output, plane.sizes);
    CHECK_LAUNCH();
    return shape;
}

int64_t tile_bytes(const Sizes& s, dim3 block) {
    const int64_t tile_height = int64_t{block.y - 1} * s.stride + s.filter_height;
    const int64_t tile_width = int64_t{block.x - 1} * s.stride + s.filter_width;
    if (std::max(tile_height, tile_width) > shared_bytes_of_block) return longest_side;
    return tile_height * tile_width * int64_t{sizeof(float)};
}

template <class T>
Shape launch_tiled(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const Shape shape = shape_of(s.out_height, s.out_width, plane.block, plane.most_blocks);
    tiled<<<shape.grid, shape.block, tile_bytes(s, shape.block)>>>(plane.d_input, plane.d_output,
                                                                   s);
    CHECK_LAUNCH();
    return shape;
}

// Every block walks down its rows once, and begins with size - 1 rows that complete no output. So
// there are only as many blocks as the device holds at one time, and each has many rows.
template <class T, int size, bool product>
Shape launch_blocked(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const auto kernel = register_blocking<T, size, product>;
    int device = 0, multiprocessors = 0, blocks_on_each = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_on_each, kernel, threads_per_block,
                                                        0));
    const int64_t along_x = lab::divide_up(s.out_width, columns_per_thread * threads_per_block);
    const int64_t resident = int64_t{multiprocessors} * blocks_on_each;
    const int64_t along_y = std::max<int64_t>(1, resident / along_x);
    const int64_t rows = std::max<int64_t>(lab::divide_up(s.out_height, along_y), 2 * size);
    const bool aligned = s.width % 4 == 0 && s.left == size / 2;
    const Shape shape = {dim3(along_x, lab::divide_up(s.out_height, rows)), threads_per_block};
    register_blocking<T, size, product>
        <<<shape.grid, shape.block>>>(plane.d_input, plane.d_output, s, rows, aligned);
    CHECK_LAUNCH();
    return shape;
}

template <class T, bool product>
Shape launch_register_blocking(const Plane<T>& plane) {
    switch (plane.sizes.filter_width) {
        case 3:
            return launch_blocked<T, 3, product>(plane);
        case 5:
            return launch_blocked<T, 5, product>(plane);
        case 7:
            return launch_blocked<T, 7, product>(plane);
        case 9:
            return launch_blocked<T, 9, product>(plane);
        case 11:
            return launch_blocked<T, 11, product>(plane);
        case 13:
            return launch_blocked<T, 13, product>(plane);
        default:
            return launch_blocked<T, 15, product>(plane);
    }
}

template <class T>
Shape launch_separable(const Plane<T>& plane) {
    const Sizes& s = plane.sizes;
    const Shape rows = shape_of(s.height, s.out_width, plane.block, plane.most_blocks);
    separable_rows<<<rows.grid, rows.block>>>(plane.d_input, plane.d_between, s);
    CHECK_LAUNCH();
    const Shape columns = shape_of(s.out_height, s.out_width, plane.block, plane.most_blocks);
    separable_columns<<<columns.grid, columns.block>>>(plane.d_between, plane.d_output, s);
    CHECK_LAUNCH();
    return columns;
}

// Why a variant cannot run with these sizes, or "".
std::string too_long_for_constant(int64_t elements) {
    if (elements <= constant_floats) return "";
    return lab::format("constant memory has 64 KiB, %d floats, and %lld are needed",
                       constant_floats, static_cast<long long>(elements));
}

std::string problem_of_constant(const Sizes& s, dim3) {
    return too_long_for_constant(int64_t{s.filter_height} * s.filter_width);
}

std::string problem_of_tiled(const Sizes& s, dim3 block) {
    const std::string problem = problem_of_constant(s, block);
    if (!problem.empty() || tile_bytes(s, block) <= shared_bytes_of_block) return problem;
    return "with its halo, the tile of a block is larger than 48 KiB of shared memory";
}

std::string problem_of_register_blocking(const Sizes& s, dim3) {
    if (s.filter_height != s.filter_width || s.filter_width < 3 || s.filter_width > 15) {
        return "it is compiled for the sizes 3 x 3, 5 x 5 to 15 x 15";
    }
    return s.stride == 1 ? "" : "it needs --stride 1: neighbouring windows must overlap";
}

std::string problem_of_separable(const Sizes& s, dim3) {
    return too_long_for_constant(int64_t{s.filter_height} + s.filter_width);
}

// NVIDIA's library, in the benchmark's build.
#ifdef LAB_NPP
// NPP turns the filter, so d_filter holds it turned before. It reads beyond the edges of what it is
// asked for: that is the inside of the picture, and the edge of the output stays as it was.
template <class T>
Shape launch_npp(const Plane<T>& plane) {
    static const NppStreamContext context = lab::npp_context();
    const Sizes& s = plane.sizes;
    const int row = s.filter_height / 2, column = s.filter_width / 2;
    const NppiSize inside = {int(s.width) - 2 * column, int(s.height) - 2 * row};
    const NppiSize filter = {s.filter_width, s.filter_height};
    const NppiPoint middle = {column, row};
    const T* d_input = plane.d_input + row * s.width + column;
    T* d_output = plane.d_output + s.top * s.out_width + s.left;
    const int pitch = int(s.width * sizeof(T)), out_pitch = int(s.out_width * sizeof(T));
    NppStatus status;
    if constexpr (std::is_same_v<T, float>) {
        status = nppiFilter_32f_C1R_Ctx(d_input, pitch, d_output, out_pitch, inside, plane.d_filter,
                                        filter, middle, context);
    } else {
        status = nppiFilter32f_8u_C1R_Ctx(d_input, pitch, d_output, out_pitch, inside,
                                          plane.d_filter, filter, middle, context);
    }
    if (status != NPP_SUCCESS) lab::fail("NPP's filter failed with status %d", int(status));
    return {dim3(0), dim3(0)};
}

std::string problem_of_npp(const Sizes& s, dim3) {
    if (s.stride != 1) return "NPP has no stride";
    if (s.filter_height > s.height || s.filter_width > s.width) return "the filter is too large";
    const bool small = std::max(s.height, s.width) < longest_side / 4;
    return small ? "" : "NPP counts the bytes of a row in 32 bits";
}
#endif

std::string no_problem(const Sizes&, dim3) { return ""; }

template <class T>
struct Variant {
    const char* name;
    std::string (*problem)(const Sizes&, dim3 block);
    Shape (*launch)(const Plane<T>&);
};

template <class T>
const std::vector<Variant<T>> all_variants = {
    {"naive", no_problem, launch_naive<T>},
    {"constant", problem_of_constant, launch_constant<T>},
    {"tiled", problem_of_tiled, launch_tiled<T>},
    {"register_blocking", problem_of_register_blocking, launch_register_blocking<T, false>},
    {"separable", problem_of_separable, launch_separable<T>},
    {"separable_blocking", problem_of_register_blocking, launch_register_blocking<T, true>},
#ifdef LAB_NPP
    {"npp", problem_of_npp, launch_npp<T>},
#endif
};

// ---------------------------------------------------------------------------------------------
// The program.

struct Request {
    std::vector<std::string> names;  // of the variants
    dim3 block;
    int most_blocks;  // along y
    std::string padding;
    int64_t stride;
    std::string output_path;
};

// Float or 8-bit inputs: plane after plane, each (height, width), row-major.
template <class T>
struct Input {
    int64_t planes, height, width;
    bool signal;
    std::vector<T> values;
};

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

Sizes sizes_of(int64_t height, int64_t width, const Filter& filter, const Request& request) {
    const bool zero = request.padding == "zero";
    const int top = zero ? filter.height / 2 : 0, left = zero ? filter.width / 2 : 0;
    return {height,
            width,
            out_side(height, filter.height, top, request.stride),
            out_side(width, filter.width, left, request.stride),
            filter.height,
            filter.width,
            top,
            left,
            request.stride};
}

// How far a float sum of these products may lie from the exact one: each of the n roundings is off
// by at most 2^-24 of sum |filter| * |input|; 20 more for the factors of a product.
template <class T>
double error_bound(const Filter& filter, const std::vector<T>& inputs) {
    double weights = 0, largest = 0;
    for (float value : filter.values) weights += fabs(double(value));
    for (T value : inputs) {
        const double size = fabs(double(value));
        if (std::isfinite(size)) largest = std::max(largest, size);
    }
    const double roundings = double(filter.values.size()) + 20;
    return roundings * (0x1p-24 * weights * largest + FLT_MIN * (1 + largest));
}

bool matches(float got, double expected, double bound) {
    if (!std::isfinite(expected)) return std::isnan(expected) ? std::isnan(got) : got == expected;
    if (fabs(expected) + bound > FLT_MAX && !std::isfinite(got)) return true;
    return fabs(got - expected) <= bound;
}

bool matches(uint8_t got, double expected, double bound) {
    const auto pixel = [](double sum) { return floor(std::min(std::max(sum, 0.0), 255.0) + 0.5); };
    return pixel(expected - bound) <= got && got <= pixel(expected + bound);
}

// Compares all outputs, or those so far inside that no filter sees the edge: twice its reach, as
// NPP's 3 x 3 kernel takes the edge of its region for the edge of the picture.
template <class T>
lab::Comparison compare(const std::vector<T>& got, const std::vector<double>& expected,
                        const Sizes& s, double bound, bool inside_only) {
    const int64_t rows = inside_only ? 2 * s.top : 0, columns = inside_only ? 2 * s.left : 0;
    lab::Comparison comparison;
    for (int64_t i = 0; i < int64_t(got.size()); i++) {
        const int64_t row = i / s.out_width % s.out_height, column = i % s.out_width;
        if (row < rows || row >= s.out_height - rows) continue;
        if (column < columns || column >= s.out_width - columns) continue;
        comparison.count++;
        if (matches(got[i], expected[i], bound) || comparison.wrong++ > 0) continue;
        comparison.first = i;
        comparison.expected = expected[i];
        comparison.got = got[i];
    }
    return comparison;
}

// GFLOP/s that the device can reach at best: two operations a clock in each FP32 unit. 0 on the CPU.
double peak_arithmetic() {
    int device = 0, major = 0, minor = 0, multiprocessors = 0, kilohertz = 0;
    if (lab::on_cpu) return 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device) != cudaSuccess) return 0;
    const int units = major < 8 || (major == 8 && minor == 0) ? 64 : 128;  // in a multiprocessor
    return 2e-6 * units * multiprocessors * kilohertz;
}

// The least time that the memory and the arithmetic allow, whatever the kernel.
void note_limits(lab::Results& results, double bytes, double operations, double bandwidth) {
    const double peak = peak_arithmetic();
    if (peak == 0 || bandwidth == 0) return;
    results.note(
        lab::format("the least time: %.4f ms for the memory, as a copy; %.4f ms for the direct "
                    "sum's arithmetic, at %.1f TFLOP/s",
                    1e-6 * bytes / bandwidth, 1e-6 * operations / peak, 1e-3 * peak));
}

bool takes_factors(const std::string& name) { return name.rfind("separable", 0) == 0; }

double operations_of(const std::string& name, const Sizes& s) {
    const double outputs = double(s.out_height) * s.out_width;
    if (!takes_factors(name)) return 2.0 * s.filter_height * s.filter_width * outputs;
    return 2.0 * s.filter_width * s.height * s.out_width + 2.0 * s.filter_height * outputs;
}

// Why a variant is left out when it has not been asked for by name, or "".
std::string takes_too_long(const std::string& name, const Sizes& s, int64_t planes) {
    constexpr double most_products = lab::on_cpu ? 1e8 : 2e13;  // beyond: many seconds
    const double products = planes * operations_of(name, s) / 2;
    if (products <= most_products) return "";
    return lab::format("would make %.1e products; ask for it with --variant %s", products,
                       name.c_str());
}

// What the variant reads from constant memory, and for NPP from d_filter.
void load_filter(const std::string& name, const Filter& filter, const Factors& factors,
                 float* d_filter) {
    std::vector<float> values = filter.values;
    if (name == "npp") std::reverse(values.begin(), values.end());
    CHECK(
        cudaMemcpy(d_filter, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
    if (takes_factors(name)) values = factors.values;
    if (int64_t(values.size()) <= constant_floats) load_constant_filter(values);
}

// Runs every variant that was chosen; returns the outputs of the last one, plane after plane.
template <class T>
std::vector<T> run_variants(const Request& request, const Filter& filter, const Input<T>& input,
                            const Sizes& s, lab::Results& results) {
    const int64_t count = s.height * s.width, out_count = s.out_height * s.out_width;
    const int64_t between_count = s.height * s.out_width;
    const double bytes = double(sizeof(T)) * input.planes * (count + out_count);
    const double bandwidth = lab::copy_bandwidth(int64_t(bytes / 2));
    results.limit(bandwidth);
    note_limits(results, bytes, input.planes * operations_of("", s), bandwidth);

    std::vector<double> reference(input.planes * out_count);
    std::vector<T> h_output(input.planes * out_count);
    for (int64_t p = 0; p < input.planes; p++) {
        filter_on_cpu(input.values.data() + p * count, filter.values.data(),
                      reference.data() + p * out_count, s);
    }
    const double bound = error_bound(filter, input.values);
    const Factors factors = factors_of(filter);

    Plane<T> first = {s, request.block, request.most_blocks, nullptr, nullptr, nullptr, nullptr};
    T *d_input = nullptr, *d_output = nullptr;
    float* d_filter = nullptr;
    CHECK(cudaMalloc(&d_input, input.planes * count * sizeof(T)));
    CHECK(cudaMalloc(&d_output, input.planes * out_count * sizeof(T)));
    CHECK(cudaMalloc(&d_filter, filter.values.size() * sizeof(float)));
    CHECK(cudaMalloc(&first.d_between, between_count * sizeof(float)));
    CHECK(cudaMemcpy(d_input, input.values.data(), input.planes * count * sizeof(T),
                     cudaMemcpyHostToDevice));
    first.d_filter = d_filter;

    for (const Variant<T>& variant : all_variants<T>) {
        const std::string name = variant.name;
        if (!std::count(request.names.begin(), request.names.end(), name)) continue;
        std::string problem = variant.problem(s, request.block);
        if (problem.empty() && takes_factors(name)) problem = factors.problem;
        if (problem.empty() && request.names.size() > 1) {
            problem = takes_too_long(name, s, input.planes);
        }
        if (!problem.empty()) {
            results.skip(name, problem);
            continue;
        }
        const lab::NvtxRange range(name);
        load_filter(name, filter, factors, d_filter);
        Shape shape;
        const auto work = [&] {
            for (int64_t p = 0; p < input.planes; p++) {
                Plane<T> plane = first;
                plane.d_input = d_input + p * count;
                plane.d_output = d_output + p * out_count;
                shape = variant.launch(plane);
            }
        };
        const bool npp =
            name == "npp";  // it rounds pixels in its own way, and leaves the edges out
        const auto attempt = [&] {
            CHECK(cudaMemset(d_output, 0xFF, h_output.size() * sizeof(T)));  // NaN in every float
            work();
            CHECK(cudaMemcpy(h_output.data(), d_output, h_output.size() * sizeof(T),
                             cudaMemcpyDeviceToHost));
            return compare(h_output, reference, s, npp && sizeof(T) == 1 ? bound + 1 : bound, npp);
        };
        const lab::Trial trial =
            lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(work); });
        results.add(name, shape.grid, shape.block, trial.milliseconds, bytes,
                    input.planes * operations_of(name, s), trial.comparison);
    }
    CHECK(cudaFree(d_input));
    CHECK(cudaFree(d_output));
    CHECK(cudaFree(d_filter));
    CHECK(cudaFree(first.d_between));
    return h_output;
}

void write_output(const std::string& path, const Input<float>& input,
                  const std::vector<float>& values, const Sizes& s) {
    if (input.signal) {
        lab::write_array(path, values.data(), {s.out_width});
    } else {
        lab::write_array(path, values.data(), {s.out_height, s.out_width});
    }
}

void write_output(const std::string& path, const Input<uint8_t>& input,
                  const std::vector<uint8_t>& values, const Sizes& s) {
    const int64_t count = s.out_height * s.out_width;
    std::vector<uint8_t> pixels(values.size());  // the channels side by side, as in the file
    for (int64_t i = 0; i < count; i++) {
        for (int64_t p = 0; p < input.planes; p++)
            pixels[i * input.planes + p] = values[p * count + i];
    }
    lab::write_image(path, pixels.data(), s.out_height, s.out_width, int(input.planes));
}

// Refuses what cannot be done, before any CUDA call.
template <class T>
void require_possible(const Request& request, const Filter& filter, const Input<T>& input,
                      const Sizes& s) {
    if (request.padding == "none" && (filter.height > input.height || filter.width > input.width)) {
        lab::refuse(
            "--padding none: the filter of %d x %d does not fit into the input of %lld x %lld; "
            "--padding zero allows it",
            filter.height, filter.width, (long long)input.height, (long long)input.width);
    }
    if (std::is_same_v<T, uint8_t>) {
        lab::require_writable_image("output", request.output_path, s.out_height, s.out_width,
                                    int(input.planes));
    }
    if (request.names.size() != 1) return;
    for (const Variant<T>& variant : all_variants<T>) {
        if (request.names[0] != variant.name) continue;
        std::string problem = variant.problem(s, request.block);
        if (problem.empty() && takes_factors(variant.name)) problem = factors_of(filter).problem;
        if (!problem.empty()) lab::refuse("--variant %s: %s", variant.name, problem.c_str());
    }
}

template <class T>
int run(const Request& request, const Filter& filter, const Input<T>& input,
        lab::Results& results) {
    const Sizes s = sizes_of(input.height, input.width, filter, request);
    require_possible(request, filter, input, s);
    const int64_t count = s.height * s.width, out_count = s.out_height * s.out_width;
    if (out_count == 0 || count == 0) {  // a grid without blocks cannot be launched
        if (!request.output_path.empty()) write_output(request.output_path, input, {}, s);
        std::printf("0 elements: the output is empty, and nothing is launched\n");
        return 0;
    }
    lab::require_device();
    const std::string what = sizeof(T) == 4
                                 ? "floats"
                                 : lab::format("pixels, %lld channel%s", (long long)input.planes,
                                               input.planes == 1 ? "" : "s");
    results.size(lab::format("%lld x %lld %s, filter %d x %d, padding %s, stride %lld",
                             (long long)s.height, (long long)s.width, what.c_str(), filter.height,
                             filter.width, request.padding.c_str(), (long long)s.stride));
    const std::vector<T> outputs = run_variants(request, filter, input, s, results);
    if (!request.output_path.empty()) write_output(request.output_path, input, outputs, s);
    return results.finish();
}

bool ends_in_npy(const std::string& path) {
    return path.size() >= 4 && path.substr(path.size() - 4) == ".npy";
}

Input<float> read_array_input(const std::string& path) {
    lab::Array<float> array = lab::read_array<float>(path);
    if (array.shape.size() != 1 && array.shape.size() != 2) {
        lab::refuse("--input: %s has the shape %s: a signal has one dimension, a matrix two",
                    lab::quoted(path).c_str(), lab::array_shape_text(array.shape).c_str());
    }
    const bool signal = array.shape.size() == 1;
    if (signal) array.shape.insert(array.shape.begin(), 1);
    if (std::max(array.shape[0], array.shape[1]) > longest_side) {
        lab::refuse("--input: %s has more than 2147483647 rows or columns",
                    lab::quoted(path).c_str());
    }
    return {1, array.shape[0], array.shape[1], signal, array.values};
}

// Input, output, reference and sums of this size; 2^52 elements are more than any machine has. A
// picture is there twice: its channels side by side, and in planes.
void require_memory_for(const Sizes& s, int64_t planes, bool picture) {
    const auto elements = [](int64_t rows, int64_t columns) {
        return std::min(rows * columns, int64_t{1} << 52);
    };
    const int64_t count = planes * elements(s.height, s.width), bytes = picture ? 1 : 4;
    const int64_t out_count = planes * elements(s.out_height, s.out_width);
    const int64_t between = elements(s.height, s.out_width) * int64_t(sizeof(float));
    lab::require_memory((picture ? 2 : 4) * count + out_count * (bytes + int64_t(sizeof(double))),
                        (count + out_count) * bytes + between, "input and output of this size");
}

// A picture's channels, each in a plane of its own. Alpha is no colour, and is dropped.
Input<uint8_t> planes_of(const lab::Image& image) {
    Input<uint8_t> input = {image.channels, image.height, image.width, false, {}};
    const int64_t count = image.height * image.width;
    input.values.resize(size_t(count * image.channels));
    for (int64_t i = 0; i < count; i++) {
        for (int p = 0; p < image.channels; p++) {
            input.values[p * count + i] = image.pixels[i * image.channels + p];
        }
    }
    return input;
}

Input<uint8_t> read_picture(const std::string& path, int channels,
                            const lab::BeforePixels& require_memory) {
    lab::Image image = lab::read_image(path, channels, require_memory);
    if (image.channels % 2 == 0) image = lab::read_image(path, image.channels - 1);
    return planes_of(image);
}

constexpr int64_t default_side = lab::on_cpu ? 384 : 8192;

struct InputRequest {
    std::string path;
    int64_t height, width;
    bool picture;
    int channels;
    int64_t seed;
};

InputRequest parse_input(lab::Arguments& arguments) {
    InputRequest request;
    request.path = arguments.input("input", "a signal or matrix, float32 .npy, or a picture");
    request.height =
        arguments.integer("height", default_side, 0, longest_side, "rows of random input");
    request.width =
        arguments.integer("width", default_side, 0, longest_side, "columns of random input");
    const std::string type = arguments.choice("type", {"float32", "uint8"}, "float32",
                                              "of random input: a matrix or a picture");
    const std::string channels = arguments.choice(
        "channels", {"1", "3"}, "", "of a picture; those of the file, or 1, when it is not given");
    request.channels = channels.empty() ? 0 : std::stoi(channels);
    request.seed = arguments.integer("seed", 1, 0, INT64_MAX, "of random input");
    request.picture = request.path.empty() ? type == "uint8" : !ends_in_npy(request.path);
    for (const char* name : {"height", "width", "type", "seed"}) {
        if (request.path.empty() || !arguments.given(name)) continue;
        lab::refuse("--%s is for random input: drop it, or --input", name);
    }
    if (request.channels && !request.picture) lab::refuse("--channels is for pictures");
    return request;
}

struct FilterRequest {
    std::string name, path;
    int size;
    double sigma;
    bool turned;
};

FilterRequest parse_filter(lab::Arguments& arguments) {
    FilterRequest request;
    request.name = arguments.choice(
        "filter", {"box", "gaussian", "sobel_x", "sobel_y", "sharpen", "identity", "random"},
        "gaussian", "which filter");
    request.size =
        int(arguments.integer("size", 5, 1, 4095, "of the filter, along each side; odd"));
    request.sigma = arguments.real("sigma", 0.15 * request.size + 0.35, 0.01, 1e6,
                                   "of gaussian and sharpen, in elements; grows with the size");
    request.path = arguments.input("filter-file", "a filter, float32 .npy");
    request.turned = arguments.choice("orientation", {"correlation", "convolution"}, "correlation",
                                      "convolution turns the filter") == "convolution";
    for (const char* name : {"filter", "size", "sigma"}) {
        if (request.path.empty() || !arguments.given(name)) continue;
        lab::refuse("--%s is for named filters: drop it, or --filter-file", name);
    }
    const bool bell = request.name == "gaussian" || (request.name == "sharpen" && request.size > 3);
    if (arguments.given("sigma") && !bell) {
        lab::refuse("--sigma is the width of gaussian, and of sharpen beyond size 3: drop it");
    }
    if (request.size % 2 == 0) {
        lab::refuse("--size %d is even: a filter needs odd sides, or no element is in its middle",
                    request.size);
    }
    return request;
}

Filter make_filter(const FilterRequest& request, bool signal) {
    Filter filter = request.path.empty()
                        ? named_filter(request.name, request.size, request.sigma, signal)
                        : read_filter(request.path, signal);
    if (request.turned) turn(filter);
    return filter;
}

int run_on_picture(const Request& request, const InputRequest& input, const FilterRequest& wanted,
                   lab::Results& results) {
    lab::require_writable_image("output", request.output_path, 1, 1, 1);  // the name, for now
    const Filter filter = make_filter(wanted, false);
    const auto require_memory = [&](int64_t height, int64_t width, int channels) {
        require_memory_for(sizes_of(height, width, filter, request), channels, true);
    };
    if (!input.path.empty()) {
        const Input<uint8_t> picture = read_picture(input.path, input.channels, require_memory);
        return run(request, filter, picture, results);
    }
    const int channels = std::max(1, input.channels);
    require_memory(input.height, input.width, channels);
    const lab::Image image = lab::random_image(input.height, input.width, channels, input.seed);
    return run(request, filter, planes_of(image), results);
}

int run_on_array(const Request& request, const InputRequest& input, const FilterRequest& wanted,
                 lab::Results& results) {
    if (!request.output_path.empty() && !ends_in_npy(request.output_path)) {
        lab::refuse("--output: %s: the result of floats is an array: choose a name in .npy",
                    lab::quoted(request.output_path).c_str());
    }
    if (!input.path.empty()) {
        const Input<float> array = read_array_input(input.path);
        const Filter filter = make_filter(wanted, array.signal);
        require_memory_for(sizes_of(array.height, array.width, filter, request), 1, false);
        return run(request, filter, array, results);
    }
    const Filter filter = make_filter(wanted, false);
    require_memory_for(sizes_of(input.height, input.width, filter, request), 1, false);
    const int64_t count = input.height * input.width;
    const Input<float> array = {1, input.height, input.width, false,
                                lab::random_values<float>(count, -1, 1, input.seed)};
    return run(request, filter, array, results);
}

int main(int argc, char** argv) {
    std::vector<std::string> names;
    for (const auto& variant : all_variants<float>) names.push_back(variant.name);
    lab::Arguments arguments(argc, argv, "Filters a signal, a matrix or a picture, in six ways.");
    const InputRequest input = parse_input(arguments);
    const FilterRequest filter = parse_filter(arguments);
    Request request;
    request.padding = arguments.choice("padding", {"zero", "none"}, "zero",
                                       "none: only where the whole filter lies inside");
    request.stride = arguments.integer("stride", 1, 1, longest_side, "from output to output");
    request.block = arguments.block("block", dim3(32, 8), "threads along x and y");
    request.most_blocks =
        int(arguments.integer("most-blocks", most_blocks_along_y, 1, most_blocks_along_y,
                              "along y; fewer than the rows need: a block takes several parts"));
    request.output_path =
        arguments.output("output", "the result of one variant, of the input's kind");
    request.names = arguments.variants(names);
    lab::Results results(arguments);
    arguments.finish();
    if (request.block.z != 1) lab::refuse("--block has two sides here, along x and y: 32x8, say");
    if (!request.output_path.empty() && request.names.size() != 1) {
        lab::refuse("--output takes the result of one variant: choose it with --variant");
    }
    return input.picture ? run_on_picture(request, input, filter, results)
                         : run_on_array(request, input, filter, results);
}
