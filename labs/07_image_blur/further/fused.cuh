// fused: `running` in one kernel. `running` writes four bytes of sums for every byte of the picture,
// and reads them several times. Here they stay where they are made: a warp takes a strip of a few
// hundred columns and goes down alone, with the sums of its columns in registers. From row to row:
//
//   memory         the row that enters  - - 16 bytes a lane - ->  +
//                  the row that leaves  - - 16 bytes a lane - ->  -
//                                                                 |
//   registers      column sums: 16 a lane, 512 a warp  <----------+
//                       |  prefix sums of the warp (__shfl_up_sync)
//   shared memory  P(0) ... P(511)
//                       |  P(x + radius) - P(x - radius - 1), times a reciprocal
//   memory         four means a lane, one store of 4 bytes
//
// Only pixels are read and written, and nobody waits for another warp. The row that leaves is read a
// second time, but it was there 2 radius + 1 rows ago: the L2 cache often still has it. The strip has
// a halo: of 512 columns it writes 480 at radius 1, 448 at radius 25 and 288 at radius 100. Beyond
// radius 191 (with three channels 105) too little is left of it.
//
// Known before: sums that slide, and differences of prefix sums (`running`, task 5). Loads of 16
// bytes (lab 03, "More than one element a thread"). What one needs to see the rest: shuffles and the
// banks of shared memory (lab 10, "The sum" and "The histogram"), __launch_bounds__ (lab 11).
//
// What it brought: milliseconds, 8192 x 8192 pixels of 1 channel, H200, 1 December 2026.
//
//   radius           1      5     25    100
//   running      0.518  0.567  0.656  0.732
//   fused        0.118  0.124  0.159  0.264        a copy of as many bytes: 0.036
#pragma once

#include <cstring>

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
            const uint32_t* right = planes.plane(strips.left + reach + k);
            const uint32_t* left = planes.plane(strips.left - reach - Lane::channels + k);
            sums[k] = right[at / 4] - left[at / 4];
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
            columns[k] += byte_of(entering, k) - byte_of(leaving, k);
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

// Grid, block and launch.

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

lab::Launch launch_fused(const Job& job) {
    return with_lane(job.shape.channels, [&](auto lane) -> lab::Launch {
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

std::string problem_of_fused(const Shape& shape, int radius) {
    const auto outputs = [&](auto lane) {
        return strips_across<decltype(lane)>(shape, radius).outputs;
    };
    if (with_lane(shape.channels, outputs) > 0) return "";
    return "keeps a strip in the registers of one warp, and the halo leaves too little of it; "
           "the variant running takes any radius";
}
