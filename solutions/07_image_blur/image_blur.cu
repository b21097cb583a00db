// 07 image_blur: every pixel becomes the mean of the pixels around it, those of the window of
// (2 radius + 1)^2 pixels that lie inside the picture. Each channel is blurred by itself, alpha too.
// The sums are whole numbers, so all six ways give the same bytes.
//
//   naive       a thread a value, which reads its whole window
//   tiled       the same sums, from a tile with its surroundings (the halo) in shared memory
//   separable   first along the rows, then down the columns: 2 (2 radius + 1) reads
//   running     sums that slide: what enters is added, what leaves is taken away; any radius
//   fused       the same in one kernel, its sums in registers and shared memory
//   shuffled    for small windows: two sums a register, the neighbours' by warp shuffles

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../../common/image.h"
#include "../../common/lab.h"
#if defined(LAB_PEERS) && __has_include(<nppi_filtering_functions.h>)
#define LAB_NPP
#include <nppi_filtering_functions.h>

#include "../../common/npp.h"
#endif

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

// ---------------------------------------------------------------------------------------------
// CPU reference: the sums of columns slide down, their sums slide along the row.

// pixels, blurred: (height, width, channels), without padding
void blur_on_cpu(const uint8_t* pixels, uint8_t* blurred, const Shape& shape, int radius) {
    const lab::NvtxRange range("reference");
    const int64_t width = shape.width, height = shape.height, values = shape.values();
    std::vector<uint64_t> column_sums(values);
    int64_t rows = 0;  // how many rows are in the sums
    const auto add_row = [&](int64_t row, int sign) {
        for (int64_t v = 0; v < values; v++) column_sums[v] += sign * pixels[row * values + v];
        rows += sign;
    };
    for (int64_t row = 0; row < std::min<int64_t>(radius, height); row++) add_row(row, 1);
    for (int64_t row = 0; row < height; row++) {
        if (row + radius < height) add_row(row + radius, 1);
        if (row - radius - 1 >= 0) add_row(row - radius - 1, -1);
        for (int channel = 0; channel < shape.channels; channel++) {
            const uint64_t* sums = &column_sums[channel];
            uint64_t sum = 0;
            int64_t columns = std::min<int64_t>(radius, width);  // how many columns are in the sum
            for (int64_t x = 0; x < columns; x++) sum += sums[x * shape.channels];
            for (int64_t x = 0; x < width; x++) {
                if (x + radius < width) {
                    sum += sums[(x + radius) * shape.channels];
                    columns++;
                }
                if (x - radius - 1 >= 0) {
                    sum -= sums[(x - radius - 1) * shape.channels];
                    columns--;
                }
                blurred[row * values + x * shape.channels + channel] = sum / (rows * columns);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Kernels. input, output: (height, pitch) bytes, row after row. `Sum` is uint32_t, or uint64_t where
// the sum of a window passes 2^32. Blocks are numbered along x only, row after row of tiles: a grid
// has 65535 blocks along y, and a picture may be taller.

struct Place {
    int row, value;
};

// Where the tile of this block begins, when tiles of blockDim cover the picture.
__device__ Place tile_of_block(const Shape& shape) {
    const unsigned across = (shape.values() + blockDim.x - 1) / blockDim.x;
    return {int(blockIdx.x / across * blockDim.y), int(blockIdx.x % across * blockDim.x)};
}

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
    //: // TODO 2 (about 8 lines): the rows and the columns of the window (two ranges); the sum over
    //: // both, pixel (y, x) beginning at y * shape.pitch() + x * shape.channels; the mean. Replace
    //: // these two lines, which only copy.
    //: const int64_t here = row * shape.pitch() + column * shape.channels + channel;
    //: output[here] = input[here];
    // END SOLUTION
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
    const int right = columns.last * channels + value % channels;
    const int left = right - columns.count() * channels;  // the last value before the window
    const auto row_sum = [&](int row) -> Sum {
        const Sum* prefix = prefixes + int64_t{row} * shape.values();
        return prefix[right] - (left >= 0 ? prefix[left] : 0);
    };
    const Range start = window(first - 1, radius, shape.height);
    Sum sum = 0;
    for (int row = start.first; row <= start.last; row++) sum += row_sum(row);
    for (int row = first; row < end; row++) {
        // BEGIN SOLUTION
        if (row + radius < shape.height) sum += row_sum(row + radius);
        if (row - radius - 1 >= 0) sum -= row_sum(row - radius - 1);
        //: // TODO 5 (2 lines): which row comes into the window here, and which goes out of it?
        // END SOLUTION
        const Range rows = window(row, radius, shape.height);
        output[row * shape.pitch() + value] = sum / (Sum(rows.count()) * columns.count());
    }
}

// ---------------------------------------------------------------------------------------------
// In one kernel. A warp goes down a strip of the picture alone. Each lane owns neighbouring columns
// and keeps their sums in registers; what enters and leaves comes 16 bytes at a time. Row by row the
// warp makes prefix sums of its column sums, lays them down in shared memory, and takes differences.
// Only pixels are read and written, no sums, and nobody waits for another warp.

// Division by a number that stays the same for long: a multiplication, of whose 64 bits the upper
// ones count. With 2^shift < divisor <= 2^(shift+1) the factor is 2^(32+shift) / divisor, rounded up
// by less than 1: a quotient is too large by less than number / 2^(32+shift) <= 1 / divisor for
// number < 2^31, and so never reaches the next whole number.
struct Reciprocal {
    uint32_t factor = 0;
    int shift = 0;

    __device__ void set(uint32_t divisor) {  // from 2 on
        shift = 31 - __clz(divisor - 1);
        factor = uint32_t(((uint64_t{1} << (32 + shift)) + divisor - 1) / divisor);
    }
    __device__ uint32_t divide(uint32_t number) const { return __umulhi(number, factor) >> shift; }
};

// How the strips lie. A strip reads 32 * Lane::bytes bytes of a row and writes `outputs` of them.
struct Strips {
    int outputs, left;  // bytes it writes, and those it reads before them
    int across, rows;   // strips side by side, and rows of each
};

// What a lane owns: `vectors` pieces of 16 (uint4) or 8 bytes (uint2), a whole number of pixels. The
// compiler is to use so few registers that `blocks` blocks find room on a multiprocessor.
template <int channel_count, int vector_count, class VectorType, int block_count>
struct Lane {
    using Vector = VectorType;
    static constexpr int channels = channel_count, vectors = vector_count;
    static constexpr int vector_bytes = sizeof(Vector), bytes = vectors * vector_bytes;
    static constexpr int blocks = block_count;
    static_assert(bytes % channels == 0, "a lane owns whole pixels");
};

// Prefix sums of a strip. Number i lies in plane i % 4: so a lane writes several of a plane at once,
// and 32 lanes that want every fourth number find them side by side, without a bank conflict.
template <class Lane>
struct Planes {
    typename Lane::Vector vectors[4][32 * Lane::vectors];

    __device__ const uint32_t* plane(int i) const {
        return reinterpret_cast<const uint32_t*>(vectors[i % 4]) + i / 4;
    }
};

__device__ void every_fourth(const uint32_t* numbers, uint4& vector) {
    vector = make_uint4(numbers[0], numbers[4], numbers[8], numbers[12]);
}
__device__ void every_fourth(const uint32_t* numbers, uint2& vector) {
    vector = make_uint2(numbers[0], numbers[4]);
}

// The bytes of a lane in a row; zeros where there is no row, or where the row has ended.
template <class Lane>
__device__ void load_row(const uint8_t* input, const Shape& shape, int row, int first,
                         uint32_t (&words)[Lane::bytes / 4]) {
    using Vector = typename Lane::Vector;
    const bool exists = row >= 0 && row < shape.height;
#pragma unroll
    for (int j = 0; j < Lane::vectors; j++) {
        const int at = first + j * Lane::vector_bytes;
        Vector vector = {};
        if (exists && at >= 0 && at < shape.pitch()) {
            vector = *reinterpret_cast<const Vector*>(input + row * shape.pitch() + at);
        }
        memcpy(&words[j * Lane::vector_bytes / 4], &vector, sizeof vector);
    }
}

__device__ uint32_t byte_of(const uint32_t* words, int k) {
    return words[k / 4] >> k % 4 * 8 & 255;
}

__device__ uint32_t sum_of_lanes_before(uint32_t number) {
    const int lane = threadIdx.x;
    uint32_t sum = number;
    for (int step = 1; step < 32; step *= 2) {
        const uint32_t other = __shfl_up_sync(0xFFFFFFFF, sum, step);
        if (lane >= step) sum += other;
    }
    return sum - number;
}

// Column sums of all lanes to prefix sums of the strip, each channel by itself.
template <class Lane>
__device__ void store_prefixes(const uint32_t (&columns)[Lane::bytes], Planes<Lane>& planes) {
    uint32_t running[Lane::channels] = {};
#pragma unroll
    for (int k = 0; k < Lane::bytes; k++) running[k % Lane::channels] += columns[k];
#pragma unroll
    for (int c = 0; c < Lane::channels; c++) running[c] = sum_of_lanes_before(running[c]);
#pragma unroll
    for (int j = 0; j < Lane::vectors; j++) {
        uint32_t prefixes[Lane::vector_bytes];
#pragma unroll
        for (int k = 0; k < Lane::vector_bytes; k++) {
            const int column = j * Lane::vector_bytes + k;
            prefixes[k] = running[column % Lane::channels] += columns[column];
        }
#pragma unroll
        for (int plane = 0; plane < 4; plane++) {
            every_fourth(prefixes + plane, planes.vectors[plane][threadIdx.x * Lane::vectors + j]);
        }
    }
}

// The means of a row, four neighbouring values a lane and step. Where all windows are whole, their
// sums are divided by one number.
template <class Lane>
__device__ void write_row(const Planes<Lane>& planes, uint8_t* output, const Shape& shape,
                          int radius, const Strips& strips, int first, int rows,
                          const Reciprocal& whole) {
    const int reach = radius * Lane::channels, values = shape.values();
#pragma unroll 1  // unrolled, the counts of columns would be kept in registers, for all steps
    for (int step = 0; step < strips.outputs; step += 128) {
        const int at = step + 4 * threadIdx.x, value = first + at;
        if (at >= strips.outputs || value >= values) continue;
        uint32_t sums[4], mean[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            // BEGIN SOLUTION
            const uint32_t* right = planes.plane(strips.left + reach + k);
            const uint32_t* left = planes.plane(strips.left - reach - Lane::channels + k);
            sums[k] = right[at / 4] - left[at / 4];
            //: // TODO 6b (about 3 lines): the prefix sum at the window's last value, less the one
            //: // before its first. Value `at + k` of the output is number strips.left + at + k of
            //: // the strip; planes.plane(i)[at / 4] is the prefix sum of number i + at.
            //: sums[k] = 0;  // replace this line
            // END SOLUTION
        }
        if (first + step >= reach && first + step + 127 + reach < values && radius > 0) {
#pragma unroll
            for (int k = 0; k < 4; k++) mean[k] = whole.divide(sums[k]);
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int column = min(value + k, values - 1) / Lane::channels;
                mean[k] = sums[k] / (rows * window(column, radius, shape.width).count());
            }
        }
        *reinterpret_cast<uint32_t*>(output + value) =
            mean[0] | mean[1] << 8 | mean[2] << 16 | mean[3] << 24;
    }
}

constexpr int warps_of_block = 4;

template <class Lane>
__global__ void __launch_bounds__(32 * warps_of_block, Lane::blocks)
    fused(const uint8_t* input, uint8_t* output, Shape shape, int radius, Strips strips) {
    __shared__ Planes<Lane> planes_of_block[warps_of_block];
    Planes<Lane>& planes = planes_of_block[threadIdx.y];
    const unsigned strip = blockIdx.x * warps_of_block + threadIdx.y;
    const int first_row = strip / strips.across * strips.rows;
    if (first_row >= shape.height) return;  // a whole warp: nobody waits for it
    const int end = min(first_row + strips.rows, shape.height);
    const int first_value = strip % strips.across * strips.outputs;              // that it writes
    const int own = first_value - strips.left + int(threadIdx.x) * Lane::bytes;  // this lane's

    uint32_t columns[Lane::bytes] = {}, entering[Lane::bytes / 4], leaving[Lane::bytes / 4];
#pragma unroll 2
    for (int row = first_row - radius - 1; row < first_row + radius; row++) {
        load_row<Lane>(input, shape, row, own, entering);
#pragma unroll
        for (int k = 0; k < Lane::bytes; k++) columns[k] += byte_of(entering, k);
    }
    load_row<Lane>(input, shape, first_row + radius, own, entering);
    load_row<Lane>(input, shape, first_row - radius - 1, own, leaving);
    Reciprocal whole;
    int rows_before = 0;
    for (int row = first_row; row < end; row++) {
#pragma unroll
        for (int k = 0; k < Lane::bytes; k++) {
            // BEGIN SOLUTION
            columns[k] += byte_of(entering, k) - byte_of(leaving, k);
            //: // TODO 6a (1 line): column k as it is one row further down.
            // END SOLUTION
        }
        load_row<Lane>(input, shape, row + 1 + radius, own, entering);  // they come while the rest
        load_row<Lane>(input, shape, row - radius, own, leaving);       // is done
        const int rows = window(row, radius, shape.height).count();
        if (rows != rows_before) whole.set(max(2, rows * (2 * radius + 1)));
        rows_before = rows;
        store_prefixes<Lane>(columns, planes);
        __syncwarp();
        write_row<Lane>(planes, output + row * shape.pitch(), shape, radius, strips, first_value,
                        rows, whole);
        __syncwarp();
    }
}

// ---------------------------------------------------------------------------------------------
// Small windows, without shared memory. Up to radius 7 the sum of a window fits into 16 bits, so a
// register holds two and one addition serves both: those of bytes q and q + 2 are a pair. The radius
// is known to the compiler, and a lane gets the column sums beside its own ones from other lanes.
// Strips are so short that a lane keeps its pixels of all rows in registers: it asks for them at
// once, and none waits for another.

// What a lane owns, as in Lane, though not always whole pixels; the outermost lanes are halo. A
// strip has `rows` rows of means.
template <int channel_count, int radius_of_window, class VectorType, int row_count, int block_count>
struct SmallWindow {
    using Vector = VectorType;
    static constexpr int channels = channel_count, radius = radius_of_window, blocks = block_count;
    static constexpr int rows = row_count, rows_read = rows + 2 * radius;
    static constexpr int vectors = 1, vector_bytes = sizeof(Vector);
    static constexpr int bytes = vectors * vector_bytes, words = bytes / 4;
    static constexpr int side = 2 * radius + 1, reach = radius * channels;
    static constexpr int halo_words = (reach + 3) / 4;  // on each side
    static constexpr int halo_lanes = (halo_words + words - 1) / words;
    static constexpr int outputs = (32 - 2 * halo_lanes) * bytes;  // of a strip
    static_assert(255 * side * side < 65536, "the sum of a window fits into 16 bits");
};

// A word of the picture as two pairs: its bytes 0 and 2, and its bytes 1 and 3.
__device__ uint32_t even_bytes(uint32_t word) { return word & 0x00FF00FF; }
__device__ uint32_t odd_bytes(uint32_t word) { return __byte_perm(word, 0, 0x4341); }

// The pair of q and q + 2. Where these lie in two words, the halves of two pairs are joined.
__device__ uint32_t pair_at(const uint32_t* pairs, int q) {
    const uint32_t* pair = pairs + q / 4 * 2 + q % 2;
    return q % 4 < 2 ? pair[0] : __byte_perm(pair[0], pair[2], 0x5432);
}

template <class Small>
__device__ void add_to_columns(const uint32_t (&row)[Small::words],
                               uint32_t (&columns)[2 * Small::words]) {
#pragma unroll
    for (int i = 0; i < Small::words; i++) {
        columns[2 * i] += even_bytes(row[i]);
        columns[2 * i + 1] += odd_bytes(row[i]);
    }
}

template <class Small>
__device__ void take_from_columns(const uint32_t (&row)[Small::words],
                                  uint32_t (&columns)[2 * Small::words]) {
#pragma unroll
    for (int i = 0; i < Small::words; i++) {
        columns[2 * i] -= even_bytes(row[i]);
        columns[2 * i + 1] -= odd_bytes(row[i]);
    }
}

// Column sums with those that the neighbours own, of the words that the windows reach into.
template <class Small>
__device__ void gather(const uint32_t (&columns)[2 * Small::words],
                       uint32_t (&wide)[2 * (Small::words + 2 * Small::halo_words)]) {
    constexpr int words = Small::words, halo = Small::halo_words;
#pragma unroll
    for (int i = 0; i < 2 * words; i++) wide[2 * halo + i] = columns[i];
#pragma unroll
    for (int h = 0; h < halo; h++) {  // word h of the halo, counted outwards
        const int lanes = h / words + 1, left = words - 1 - h % words, right = h % words;
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            wide[2 * (halo - 1 - h) + odd] =
                __shfl_up_sync(0xFFFFFFFF, columns[2 * left + odd], lanes);
            wide[2 * (halo + words + h) + odd] =
                __shfl_down_sync(0xFFFFFFFF, columns[2 * right + odd], lanes);
        }
    }
}

// Sums along the row, pair by pair: all of a window, or, if that is shorter, what lies between it
// and an earlier window `steps` pixels to the left, whose sums are a pair as well.
template <class Small>
__device__ void add_along_row(const uint32_t* wide, uint32_t (&sums)[2 * Small::words]) {
    constexpr int channels = Small::channels, side = Small::side;
#pragma unroll
    for (int i = 0; i < 2 * Small::words; i++) {
        const int at = i / 2 * 4 + i % 2;
        const int steps = channels % 2 == 0 ? 4 / channels : i % 2 == channels / 2 ? 3 : 1;
        const int before = at - steps * channels;
        const int first = 4 * Small::halo_words + at - Small::reach;
        const bool slides = before >= 0 && steps < Small::radius;
        sums[i] = slides ? sums[before / 4 * 2 + before % 4] : 0;
#pragma unroll
        for (int x = 0; x < side; x++) {
            if (slides && x < steps) {
                sums[i] += pair_at(wide, first + (side - 1 - x) * channels) -
                           pair_at(wide, first - (x + 1) * channels);
            }
            if (!slides) sums[i] += pair_at(wide, first + x * channels);
        }
    }
}

// Four means of whole windows, of bytes 0 and 2 (even) and 1 and 3 (odd). The factor is 2^24 / count,
// rounded up by less than 1: the upper byte of a product is a quotient that is too large by less
// than sum / 2^24 <= 255 count / 2^24 < 1 / count, since count < 256. So it is the right byte.
template <int count>
__device__ uint32_t four_means(uint32_t even, uint32_t odd) {
    constexpr uint32_t factor = ((1u << 24) + count - 1) / count;
    static_assert(count < 256, "see above");
    const uint32_t low = __byte_perm((even & 0xFFFF) * factor, (odd & 0xFFFF) * factor, 0x0073);
    const uint32_t high = __byte_perm((even >> 16) * factor, (odd >> 16) * factor, 0x0073);
    return __byte_perm(low, high, 0x5410);
}

// The same at the border. A half added to the sum keeps the quotient away from whole numbers by
// 1 / (2 count) at least, which is far more than what floats lose here. Not inlined, else the counts
// would be kept in registers from row to row, also by the many lanes that are not at the border.
template <class Small>
__device__ __noinline__ uint32_t four_means_at_border(uint32_t even, uint32_t odd, Shape shape,
                                                      int rows, int value) {
    uint32_t means = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint32_t pair = k % 2 == 0 ? even : odd, sum = k < 2 ? pair & 0xFFFF : pair >> 16;
        const int column = min(value + k, shape.values() - 1) / Small::channels;
        const int count = rows * window(column, Small::radius, shape.width).count();
        means |= uint32_t(__fdividef(float(sum) + 0.5f, float(count))) << 8 * k;
    }
    return means;
}

template <class Small>
__device__ void write_means(const uint32_t (&sums)[2 * Small::words], uint8_t* output,
                            const Shape& shape, int rows, int own) {
    using Vector = typename Small::Vector;
    constexpr int side = Small::side, reach = Small::reach;
    const bool whole = rows == side && own >= reach && own + Small::bytes + reach <= shape.values();
    uint32_t means[Small::words];
    if (whole) {
#pragma unroll
        for (int i = 0; i < Small::words; i++) {
            means[i] = four_means<side * side>(sums[2 * i], sums[2 * i + 1]);
        }
    } else {
#pragma unroll
        for (int i = 0; i < Small::words; i++) {
            means[i] =
                four_means_at_border<Small>(sums[2 * i], sums[2 * i + 1], shape, rows, own + 4 * i);
        }
    }
#pragma unroll
    for (int j = 0; j < Small::vectors; j++) {
        const int at = own + j * Small::vector_bytes;
        Vector vector;
        memcpy(&vector, &means[j * Small::vector_bytes / 4], sizeof vector);
        if (at < shape.pitch()) *reinterpret_cast<Vector*>(output + at) = vector;
    }
}

template <class Small>
__global__ void __launch_bounds__(32 * warps_of_block, Small::blocks)
    shuffled(const uint8_t* input, uint8_t* output, Shape shape, int strips_across) {
    constexpr int radius = Small::radius, words = Small::words;
    const unsigned strip = blockIdx.x * warps_of_block + threadIdx.y;
    const int lane = threadIdx.x, first_row = strip / strips_across * Small::rows;
    if (first_row >= shape.height) return;  // a whole warp
    const int own =
        strip % strips_across * Small::outputs + (lane - Small::halo_lanes) * Small::bytes;
    const bool writes =
        lane >= Small::halo_lanes && lane < 32 - Small::halo_lanes && own < shape.values();

    uint32_t pixels[Small::rows_read][words], columns[2 * words] = {};
#pragma unroll
    for (int i = 0; i < Small::rows_read; i++) {
        load_row<Small>(input, shape, first_row - radius + i, own, pixels[i]);
    }
#pragma unroll
    for (int i = 0; i < Small::rows_read; i++) {  // row i enters
        add_to_columns<Small>(pixels[i], columns);
        if (i < 2 * radius) continue;
        const int row = first_row + i - 2 * radius;
        uint32_t wide[2 * (words + 2 * Small::halo_words)], sums[2 * words];
        gather<Small>(columns, wide);
        add_along_row<Small>(wide, sums);
        const int rows = window(row, radius, shape.height).count();
        if (writes && row < shape.height) {
            write_means<Small>(sums, output + row * shape.pitch(), shape, rows, own);
        }
        take_from_columns<Small>(pixels[i - 2 * radius], columns);
    }
}

// ---------------------------------------------------------------------------------------------
// Grids, blocks and launches.

constexpr dim3 tile_block(32, 16);
constexpr int64_t most_shared_bytes = 48 * 1024;  // what every device gives a block unasked

struct Launch {
    dim3 grid, block;
};

// Everything that a launcher may need. `sums` is there for the variants of two kernels.
struct Job {
    const uint8_t* d_input;
    uint8_t* d_output;
    void* d_sums;
    Shape shape;
    int radius;
    bool large;  // the sum of a window may pass 2^32
};

int64_t tile_bytes(const Shape& shape, int64_t radius) {
    return (tile_block.y + 2 * radius) * (tile_block.x + 2 * radius * shape.channels);
}

Launch tiles(const Shape& shape) {
    const int64_t blocks =
        lab::divide_up(shape.values(), tile_block.x) * lab::divide_up(shape.height, tile_block.y);
    return {dim3(unsigned(blocks)), tile_block};
}

Launch launch_naive(const Job& job) {
    const Launch launch = tiles(job.shape);
    const auto naive_kernel = job.large ? naive<uint64_t> : naive<uint32_t>;
    naive_kernel<<<launch.grid, launch.block>>>(job.d_input, job.d_output, job.shape, job.radius);
    CHECK_LAUNCH();
    return launch;
}

Launch launch_tiled(const Job& job) {
    const Launch launch = tiles(job.shape);
    const size_t bytes = tile_bytes(job.shape, job.radius);
    tiled<<<launch.grid, launch.block, bytes>>>(job.d_input, job.d_output, job.shape, job.radius);
    CHECK_LAUNCH();
    return launch;
}

template <class Sum>
Launch launch_separable_with(const Job& job) {
    const Launch launch = tiles(job.shape);
    Sum* d_sums = static_cast<Sum*>(job.d_sums);
    sum_along_rows<<<launch.grid, launch.block>>>(job.d_input, d_sums, job.shape, job.radius);
    CHECK_LAUNCH();
    mean_down_columns<<<launch.grid, launch.block>>>(d_sums, job.d_output, job.shape, job.radius);
    CHECK_LAUNCH();
    return launch;
}

Launch launch_separable(const Job& job) {
    return job.large ? launch_separable_with<uint64_t>(job) : launch_separable_with<uint32_t>(job);
}

template <class Sum>
Launch launch_running_with(const Job& job) {
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

Launch launch_running(const Job& job) {
    return job.large ? launch_running_with<uint64_t>(job) : launch_running_with<uint32_t>(job);
}

// Calls use(Lane) with what a lane of the fused kernel owns for this number of channels.
template <class Use>
auto with_lane(int channels, Use use) {
    if (channels == 1) return use(Lane<1, 1, uint4, 8>());
    if (channels == 2) return use(Lane<2, 2, uint4, 4>());
    if (channels == 3) return use(Lane<3, 3, uint2, 5>());
    return use(Lane<4, 2, uint4, 4>());
}

// The strips without their number of rows. `outputs` is 0 where the halo leaves too little.
template <class Lane>
Strips strips_across(const Shape& shape, int64_t radius) {
    const int64_t reach = radius * Lane::channels;
    const int64_t left = lab::divide_up(reach + Lane::channels, 16) * 16;  // loads stay aligned
    const int64_t outputs = std::max<int64_t>((32 * Lane::bytes - left - reach) / 32 * 32, 0);
    if (outputs < 128) return {};
    return {int(outputs), int(left), int(lab::divide_up(shape.values(), outputs)), 0};
}

// As many rows a strip as it takes to fill the card once, though not many fewer than the rows that
// a strip reads before its first output.
template <class Lane>
int strip_rows(const Shape& shape, int radius, const Strips& strips) {
    int device = 0, multiprocessors = 0, blocks = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fused<Lane>, 32 * warps_of_block,
                                                        0));
    const int64_t warps = int64_t{multiprocessors} * blocks * warps_of_block;
    const int64_t down = std::max<int64_t>(1, warps / strips.across);
    const int64_t rows = std::max<int64_t>(lab::divide_up(shape.height, down), 16 + radius);
    return int(std::min<int64_t>(rows, shape.height));
}

Launch launch_fused(const Job& job) {
    return with_lane(job.shape.channels, [&](auto lane) -> Launch {
        using Lane = decltype(lane);
        Strips strips = strips_across<Lane>(job.shape, job.radius);
        strips.rows = strip_rows<Lane>(job.shape, job.radius, strips);
        const int64_t down = lab::divide_up(job.shape.height, strips.rows);
        const dim3 grid(unsigned(lab::divide_up(down * strips.across, warps_of_block)));
        const dim3 block(32, warps_of_block);
        fused<Lane><<<grid, block>>>(job.d_input, job.d_output, job.shape, job.radius, strips);
        CHECK_LAUNCH();
        return {grid, block};
    });
}

constexpr int largest_small_radius = 7;

// Measured: in gray 8 bytes a lane and 8 rows, in colour, where the halo is wider, 16 and 6.
template <int channels, int radius>
using ChosenWindow =
    std::conditional_t<channels == 1, SmallWindow<1, radius, uint2, 8, radius <= 5 ? 8 : 6>,
                       SmallWindow<channels, radius, uint4, 6, radius <= 2 ? 6 : 4>>;

// Calls use(SmallWindow) with the one for this radius.
template <int channels, int radius = 0, class Use>
void with_radius(int wanted, Use use) {
    if (wanted == radius) {
        use(ChosenWindow<channels, radius>());
    } else if constexpr (radius < largest_small_radius) {
        with_radius<channels, radius + 1>(wanted, use);
    }
}

template <class Use>
void with_small_window(int channels, int radius, Use use) {
    if (channels == 1) with_radius<1>(radius, use);
    if (channels == 2) with_radius<2>(radius, use);
    if (channels == 3) with_radius<3>(radius, use);
    if (channels == 4) with_radius<4>(radius, use);
}

// Short strips: warps that run at the same time are close to each other in the picture, and find in
// the caches what their neighbours have read.
Launch launch_shuffled(const Job& job) {
    const dim3 block(32, warps_of_block);
    dim3 grid;
    with_small_window(job.shape.channels, job.radius, [&](auto small) {
        using Small = decltype(small);
        const int64_t across = lab::divide_up(job.shape.values(), Small::outputs);
        const int64_t down = lab::divide_up(job.shape.height, Small::rows);
        grid = dim3(unsigned(lab::divide_up(down * across, warps_of_block)));
        shuffled<Small><<<grid, block>>>(job.d_input, job.d_output, job.shape, int(across));
        CHECK_LAUNCH();
    });
    return {grid, block};
}

#ifdef LAB_NPP

// NVIDIA's NPP. It computes where the whole window is inside only, and rounds in its own way.
Launch launch_npp(const Job& job) {
    static const NppStreamContext context = lab::npp_context();
    const int radius = job.radius, side = 2 * radius + 1, pitch = int(job.shape.pitch());
    const NppiSize inside = {job.shape.width - 2 * radius, job.shape.height - 2 * radius};
    const int64_t start = radius * job.shape.pitch() + radius * job.shape.channels;
    const auto filter =
        job.shape.channels == 1 ? nppiFilterBox_8u_C1R_Ctx : nppiFilterBox_8u_C3R_Ctx;
    const NppStatus status = filter(job.d_input + start, pitch, job.d_output + start, pitch, inside,
                                    {side, side}, {radius, radius}, context);
    if (status != NPP_SUCCESS) lab::fail("NPP's box filter failed with status %d", int(status));
    return {dim3(0), dim3(0)};
}
#endif

struct Variant {
    const char* name;
    Launch (*launch)(const Job&);
};

const Variant all_variants[] = {
    {"naive", launch_naive},     {"tiled", launch_tiled}, {"separable", launch_separable},
    {"running", launch_running}, {"fused", launch_fused}, {"shuffled", launch_shuffled},
#ifdef LAB_NPP
    {"npp", launch_npp},
#endif
};

const Variant& find(const std::string& name) {
    return *std::find_if(std::begin(all_variants), std::end(all_variants),
                         [&](const Variant& variant) { return name == variant.name; });
}

// ---------------------------------------------------------------------------------------------

constexpr int64_t longest_side = int64_t{1} << 28;       // so that a place in a row has 31 bits
constexpr double most_reads = lab::on_cpu ? 2e9 : 2e13;  // beyond it a kernel takes many seconds

// How many pixels the window has at most, along one side of the picture.
double window_side(int64_t radius, int64_t size) {
    return std::min(2.0 * double(radius) + 1, double(size));
}

// Why a variant cannot blur such a picture, or "".
std::string impossible(const std::string& name, const Shape& shape, int radius) {
    if (name == "tiled" && tile_bytes(shape, radius) > most_shared_bytes) {
        return lab::format(
            "needs %lld bytes of shared memory for a tile and its halo, and a block "
            "has %lld",
            (long long)tile_bytes(shape, radius), (long long)most_shared_bytes);
    }
    const auto outputs = [&](auto lane) {
        return strips_across<decltype(lane)>(shape, radius).outputs;
    };
    if (name == "fused" && with_lane(shape.channels, outputs) == 0) {
        return "keeps a strip in the registers of one warp, and the halo leaves too little of it; "
               "the variant running takes any radius";
    }
    if (name == "shuffled" && radius > largest_small_radius) {
        return "keeps the sum of a window in 16 bits, and has kernels up to radius 7 only; the "
               "variant fused takes more";
    }
    const int smaller = std::min(shape.height, shape.width);
    if (name == "npp" && (shape.channels % 2 == 0 || 2 * int64_t{radius} >= smaller)) {
        return "computes 1 or 3 channels, and only whole windows";
    }
    return "";
}

// Why a variant is left out when it has not been asked for by name, or "".
std::string takes_too_long(const std::string& name, const Shape& shape, int radius) {
    const double across = window_side(radius, shape.width),
                 down = window_side(radius, shape.height);
    double reads = 0;
    if (name == "naive" || name == "tiled") reads = across * down * double(shape.count());
    if (name == "separable") reads = (across + down) * double(shape.count());
    if (reads <= most_reads) return "";
    return lab::format("would read %.1e values; ask for it with --variant %s", reads, name.c_str());
}

// The bytes of a sum: 8 where that of a window may pass 2^32.
int bytes_of_sum(int64_t radius, int64_t height, int64_t width) {
    return 255 * window_side(radius, height) * window_side(radius, width) < 4294967296.0 ? 4 : 8;
}

// Only these variants keep sums in memory.
bool needs_sums(const std::string& name) { return name == "separable" || name == "running"; }

// Between a picture without padding on the host, and one with padded rows on the device.
void upload(uint8_t* d_pixels, const lab::Image& image, const Shape& shape) {
    CHECK(cudaMemset(d_pixels, 0, shape.padded_bytes()));
    CHECK(cudaMemcpy2D(d_pixels, shape.pitch(), image.pixels.data(), shape.values(), shape.values(),
                       shape.height, cudaMemcpyHostToDevice));
}

void download(uint8_t* h_pixels, const uint8_t* d_pixels, const Shape& shape) {
    CHECK(cudaMemcpy2D(h_pixels, shape.values(), d_pixels, shape.pitch(), shape.values(),
                       shape.height, cudaMemcpyDeviceToHost));
}

// NPP leaves the border out: there it gets what is right, and is compared inside only. It rounds to
// the nearest number, most of the time, and may be off by one.
lab::Comparison compare(const std::string& name, std::vector<uint8_t>& got,
                        const std::vector<uint8_t>& reference, const Shape& shape, int radius) {
    if (name != "npp") return lab::compare(got.data(), reference.data(), shape.count());
    for (int64_t i = 0; i < shape.count(); i++) {
        const int row = int(i / shape.values()), column = int(i % shape.values()) / shape.channels;
        const bool inside = row >= radius && row + radius < shape.height && column >= radius &&
                            column + radius < shape.width;
        if (!inside) got[i] = reference[i];
    }
    return lab::compare(got.data(), reference.data(), shape.count(), {1, 0});
}

int main(int argc, char** argv) {
    constexpr int64_t side = lab::on_cpu ? 256 : 4096;
    std::vector<std::string> names;
    for (const Variant& variant : all_variants) names.push_back(variant.name);
    lab::Arguments arguments(argc, argv, "Blurs a picture: the mean over a window, in six ways.");
    const int64_t height = arguments.integer("height", side, 0, longest_side, "of random pixels");
    const int64_t width = arguments.integer("width", side, 0, longest_side, "of random pixels");
    const int channels = arguments.integer(
        "channels", 1, 1, 4, "of random pixels; with --input what the picture is converted to");
    const int64_t seed = arguments.integer("seed", 1, 0, INT64_MAX, "of random pixels");
    const int64_t asked = arguments.integer("radius", 5, 0, 2147483647,
                                            "of the window, which has 2 radius + 1 pixels a side");
    const std::string input_path = arguments.input("input", "the picture");
    const std::string output_path =
        lab::image_output(arguments, "output", "the blurred picture, for one variant");
    names = arguments.variants(names);
    lab::Results results(arguments);
    arguments.finish();
    if (!input_path.empty()) {
        for (const char* option : {"height", "width", "seed"}) {
            if (arguments.given(option))
                lab::refuse("--%s is for random pixels: drop it, or --input", option);
        }
    }
    if (!output_path.empty() && names.size() != 1) {
        lab::refuse("--output takes the picture of one variant: choose with --variant");
    }

    const bool sums = std::any_of(names.begin(), names.end(), needs_sums);
    const auto require_memory = [&](int64_t rows, int64_t columns, int bytes) {
        const int64_t pitch = lab::divide_up(columns * bytes, 16) * 16;
        const int64_t sum = sums ? bytes_of_sum(asked, rows, columns) : 0;
        lab::require_memory(3 * rows * columns * bytes, rows * (2 * pitch + columns * bytes * sum),
                            "two pictures and their sums");
    };
    lab::Image image;
    if (input_path.empty()) {
        require_memory(height, width, channels);
        image = lab::random_image(height, width, channels, uint64_t(seed));
    } else {
        image =
            lab::read_image(input_path, arguments.given("channels") ? channels : 0, require_memory);
    }
    const Shape shape = {int(image.height), int(image.width), image.channels};
    lab::require_writable_image("output", output_path, shape.height, shape.width, shape.channels);
    if (shape.count() == 0) {  // a grid without blocks cannot be launched, and need not be
        std::printf("0 pixels: nothing is launched\n");
        return 0;
    }
    // A window that covers the picture from every pixel cannot grow.
    const int radius = int(std::min<int64_t>(asked, std::max(shape.height, shape.width)));
    if (names.size() == 1) {
        const std::string reason = impossible(names[0], shape, radius);
        if (!reason.empty()) lab::refuse("%s %s", names[0].c_str(), reason.c_str());
    }
    const bool large = bytes_of_sum(radius, shape.height, shape.width) == 8;
    const int64_t sums_bytes = sums ? shape.count() * (large ? 8 : 4) : 0;
    lab::require_device();
    results.size(lab::format("%d x %d pixels, %d channel%s, radius %lld", shape.height, shape.width,
                             shape.channels, shape.channels == 1 ? "" : "s", (long long)asked));
    results.limit(lab::copy_bandwidth(shape.count()));

    std::vector<uint8_t> reference(shape.count()), h_output(shape.count());
    const lab::HostTimer clock;
    blur_on_cpu(image.pixels.data(), reference.data(), shape, radius);
    results.note(lab::format("the same on the CPU, one loop: %.3f ms", clock.milliseconds()));

    uint8_t *d_input = nullptr, *d_output = nullptr;
    void* d_sums = nullptr;
    CHECK(cudaMalloc(&d_input, shape.padded_bytes()));
    CHECK(cudaMalloc(&d_output, shape.padded_bytes()));
    if (sums) CHECK(cudaMalloc(&d_sums, sums_bytes));
    upload(d_input, image, shape);
    const Job job = {d_input, d_output, d_sums, shape, radius, large};

    for (const std::string& name : names) {
        const lab::NvtxRange range(name);
        std::string reason = impossible(name, shape, radius);
        if (reason.empty() && names.size() > 1) reason = takes_too_long(name, shape, radius);
        if (!reason.empty()) {
            results.skip(name, reason);
            continue;
        }
        const Variant& variant = find(name);
        Launch launch;
        const auto work = [&] { launch = variant.launch(job); };
        const auto attempt = [&] {
            CHECK(
                cudaMemset(d_output, 0xFF, shape.padded_bytes()));  // what nobody writes will show
            if (sums) CHECK(cudaMemset(d_sums, 0xFF, sums_bytes));
            work();
            download(h_output.data(), d_output, shape);
            return compare(name, h_output, reference, shape, radius);
        };
        const lab::Trial trial =
            lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(work); });
        results.add(name, launch.grid, launch.block, trial.milliseconds, 2.0 * shape.count(), 0,
                    trial.comparison);
    }
    if (!output_path.empty()) {
        lab::write_image(output_path, h_output.data(), shape.height, shape.width, shape.channels);
    }
    CHECK(cudaFree(d_input));
    CHECK(cudaFree(d_output));
    CHECK(cudaFree(d_sums));
    return results.finish();
}
