// shuffled: small windows, without shared memory. At radius 1 `fused` takes three times as long as a
// copy: prefix sums of a whole strip are much work for the sum of three numbers. Up to radius 7 the
// sum of a window is at most 255 * 225 = 57375 and fits into 16 bits. So two sums share a register,
// and one addition serves both: those of bytes q and q + 2 are a pair.
//
//   a word of the picture      b3 b2 b1 b0      bytes of four neighbouring values
//   as two pairs                0 b2  0 b0      even: bytes 0 and 2
//                               0 b3  0 b1      odd:  bytes 1 and 3
//   column sums, 16 bits each    c2    c0       one addition for two of them
//   the pair (c2, c4)            c4    c2       halves of two registers, by one __byte_perm
//
// One row, in a warp: each lane owns the sums of 8 columns (16 in colour), and gets those that its
// windows reach into from the lanes beside it. The outermost lanes are the halo, and write nothing.
//
//   lanes           |  halo  |   1    |   2    |  ...   |   30   |  halo  |
//   column sums     | ...... | ...... | ...... |        | ...... | ...... |
//                          >------^  ^------<         __shfl_up_sync, __shfl_down_sync
//   means                    | ...... | ...... |        | ...... |
//
// - A strip has 10 rows, so few that a lane keeps its pixels of all of them in registers.
//   It asks for them all before it adds the first: a dozen loads are under way at a time, and no row that
//   leaves is read again. That alone took a fifth of the time away at radius 1.
// - In colour the four strips of a block lie one below the other: of the 20 rows that a strip reads at radius 5, the next
//   one reads 10, and finds them in the L1 cache.
// - Radius and channels are known to the compiler: it unrolls all loops, and a mean is one
//   multiplication by a constant. The price: 32 kernels, for 8 radii and 4 numbers of channels.
//
// Known before: sums that slide (`running`). Shuffles: lab 10, "The sum". Registers against warps, and loads under way: lab 11, "Why many warps".
//
// What it brought: milliseconds, 8192 x 8192 pixels, H200, 1 December 2026.
//
//                1 channel, radius 1      5      3 channels, radius 1      5
//   fused                      0.118  0.124                     0.319  0.332
//   shuffled                   0.043  0.048                     0.107  0.123
//   a copy                     0.036  0.036                     0.099  0.099
//
// At radius 5 in colour, step by step, in runs of that day before: 0.143 before; 0.133 with sums of words and couples (a third fewer instructions of the
// pipe for whole numbers); 0.126 to 0.128 with strips one below the other; 0.124 with 10 rows for 8. What did not help, in the
// same run as 0.124 and 0.128: 5, 6, 7, 12 rows (0.133, 0.126, 0.132, 0.135), registers for five blocks a multiprocessor (0.126 with
// 6 rows), blocks of 8 warps (0.134, 0.141), two strips beside two (0.131). In gray, radius 5, where it takes 0.048: strips one below
// the other (0.049 to 0.052; at radius 7 0.054 for 0.050), 6, 8, 12, 14, 16 rows (0.050, 0.048, 0.052, 0.052, 0.051).
#pragma once

#include <type_traits>

// What a lane owns, as in Lane, though not always whole pixels; the outermost lanes are halo. A
// strip has `rows` rows of means.
template <int channel_count, int radius_of_window, class VectorType, int row_count, int block_count,
          int down_count>
struct SmallWindow {
    using Vector = VectorType;
    static constexpr int channels = channel_count, radius = radius_of_window, blocks = block_count;
    static constexpr int rows = row_count, rows_read = rows + 2 * radius;
    static constexpr int down = down_count, beside = warps_of_block / down;  // strips of a block
    static constexpr int bytes = sizeof(Vector), words = bytes / 4;
    static constexpr int side = 2 * radius + 1, reach = radius * channels;
    static constexpr int halo_words = (reach + 3) / 4;  // on each side
    static constexpr int halo_lanes = (halo_words + words - 1) / words;
    static constexpr int outputs = (32 - 2 * halo_lanes) * bytes;  // of a strip
    static_assert(255 * side * side < 65536, "the sum of a window fits into 16 bits");
};

// Of a word of the picture the odd pair: its bytes 1 and 3.
__device__ uint32_t odd_bytes(uint32_t word) { return __byte_perm(word, 0, 0x4341); }

// The pair of q and q + 2. Where these lie in two words, the halves of two pairs are joined.
__device__ uint32_t pair_at(const uint32_t* pairs, int q) {
    const uint32_t* pair = pairs + q / 4 * 2 + q % 2;
    return q % 4 < 2 ? pair[0] : __byte_perm(pair[0], pair[2], 0x5432);
}

// Of four columns a lane keeps two sums: that of the words, and that of their odd bytes. A word is the even pair and 256
// times the odd one; so is the sum of words, and the even pair's sum is what is left (modulo 2^32, as it fits).
template <class Small>
__device__ void add_to_columns(const uint32_t (&row)[Small::words],
                               uint32_t (&columns)[2 * Small::words]) {
#pragma unroll
    for (int i = 0; i < Small::words; i++) {
        columns[2 * i] += row[i];
        columns[2 * i + 1] += odd_bytes(row[i]);
    }
}

// To add one row and take away another is one instruction: it adds three numbers.
template <class Small>
__device__ void slide_columns(const uint32_t (&enters)[Small::words],
                              const uint32_t (&leaves)[Small::words],
                              uint32_t (&columns)[2 * Small::words]) {
#pragma unroll
    for (int i = 0; i < Small::words; i++) {
        columns[2 * i] += enters[i] - leaves[i];
        columns[2 * i + 1] += odd_bytes(enters[i]) - odd_bytes(leaves[i]);
    }
}

// The pairs of column sums, with those that the neighbours own, of the words that the windows reach into.
template <class Small>
__device__ void gather(const uint32_t (&columns)[2 * Small::words],
                       uint32_t (&wide)[2 * (Small::words + 2 * Small::halo_words)]) {
    constexpr int words = Small::words, halo = Small::halo_words;
    uint32_t* const own = wide + 2 * halo;
#pragma unroll
    for (int i = 0; i < words; i++) {
        own[2 * i] = columns[2 * i] - 256 * columns[2 * i + 1];
        own[2 * i + 1] = columns[2 * i + 1];
    }
#pragma unroll
    for (int h = 0; h < halo; h++) {  // word h of the halo, counted outwards
        const int lanes = h / words + 1, left = words - 1 - h % words, right = h % words;
#pragma unroll
        for (int odd = 0; odd < 2; odd++) {
            wide[2 * (halo - 1 - h) + odd] = __shfl_up_sync(0xFFFFFFFF, own[2 * left + odd], lanes);
            wide[2 * (halo + words + h) + odd] =
                __shfl_down_sync(0xFFFFFFFF, own[2 * right + odd], lanes);
        }
    }
}

// Sums along the row, pair by pair: all of a window, or, if that is shorter, what lies between it
// and an earlier window `steps` pixels to the left, whose sums are a pair as well.
template <class Small>
__device__ void slide_along_row(const uint32_t* wide, uint32_t (&sums)[2 * Small::words]) {
    constexpr int channels = Small::channels, side = Small::side, steps = 4 / channels;
#pragma unroll
    for (int i = 0; i < 2 * Small::words; i++) {
        const int at = i / 2 * 4 + i % 2, before = at - 4;
        const int first = 4 * Small::halo_words + at - Small::reach;
        const bool slides = before >= 0 && steps < Small::radius;
        sums[i] = slides ? sums[i - 2] : 0;
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

// The same for 1 and 3 channels, where half of a window's pairs lie across two words, at q % 4 = 2 or 3. Not these are
// joined but the sums of their halves, once a window: as pairs, `across` of a word has the left halves and that of the next
// word the right ones. And the sums overlap: an even pair and the odd one that lies a pixel beside it are
// either both in a window, as a `couple`, or one of them is at its end.
//
//   1 channel, the window of radius 3 around q = 4 w:    q-3  q-2 q-1   q q+1   q+2 q+3
//                                                         | across w-1 | couple | across w |
template <class Small>
__device__ void add_along_row(const uint32_t* wide, uint32_t (&sums)[2 * Small::words]) {
    constexpr int channels = Small::channels, radius = Small::radius, words = Small::words;
    constexpr int halo = Small::halo_words, all = words + 2 * halo;
    constexpr int step =
        channels == 1 ? 1 : -1;  // from an even byte to the odd one beside it, in pixels
    constexpr int back = channels == 1 ? 0 : 1;  // and in words to the left
    uint32_t couples[all], direct[2 * words], across[2 * words + 2];
#pragma unroll
    for (int w = back; w < all; w++) couples[w] = wide[2 * w] + wide[2 * (w - back) + 1];
#pragma unroll
    for (int i = 0; i < 2 * words + 2; i++) {
        uint32_t within = 0, halves = 0;
#pragma unroll
        for (int x = -radius; x <= radius; x++) {
            const int q = (halo + i / 2) * 4 + i % 2 + x * channels, word = q / 4;
            const bool even = q % 2 == 0, is_across = q % 4 >= 2;
            const int beside = even ? x + step : x - step;
            const bool is_couple = beside >= -radius && beside <= radius;
            if (q < 0 || word >= all || (is_couple && !even)) continue;
            (is_across ? halves : within) += is_couple ? couples[word] : wide[2 * word + q % 2];
        }
        if (i < 2 * words) direct[i] = within;
        across[i] = halves;
    }
#pragma unroll
    for (int i = 0; i < 2 * words; i++) {
        sums[i] = direct[i] + __byte_perm(across[i], across[i + 2], 0x5432);
    }
}

// Four means of whole windows, of bytes 0 and 2 (even) and 1 and 3 (odd). The factor is 2^24 / count,
// rounded up by less than 1: the upper byte of a product is a quotient that is too large by less
// than sum / 2^24 <= 255 count / 2^24 < 1 / count, since count < 256. So it is the right byte.
// The product of a pair, less that of its upper half, is the lower half's: modulo 2^32 nothing else is left.
template <int count>
__device__ uint32_t four_means(uint32_t even, uint32_t odd) {
    constexpr uint32_t factor = ((1u << 24) + count - 1) / count;
    static_assert(count < 256, "see above");
    const uint32_t even_high = (even >> 16) * factor, odd_high = (odd >> 16) * factor;
    const uint32_t even_low = even * factor - (even_high << 16);
    const uint32_t odd_low = odd * factor - (odd_high << 16);
    return __byte_perm(__byte_perm(even_low, odd_low, 0x0073),
                       __byte_perm(even_high, odd_high, 0x0073), 0x5410);
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

// The means of a lane, from byte `own` of a row on; `place` points there.
template <class Small>
__device__ void write_means(const uint32_t (&sums)[2 * Small::words], uint8_t* place,
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
    Vector vector;
    memcpy(&vector, means, sizeof vector);
    *reinterpret_cast<Vector*>(place) = vector;
}

template <class Small>
__global__ void __launch_bounds__(32 * warps_of_block, Small::blocks)
    shuffled(const uint8_t* __restrict__ input, uint8_t* __restrict__ output, Shape shape,
             int strips_across) {
    constexpr int radius = Small::radius, words = Small::words, side = Small::side;
    using Vector = typename Small::Vector;
    const unsigned strip = blockIdx.x * Small::beside + threadIdx.y / Small::down;
    const int lane = threadIdx.x;
    const int first_row =
        (strip / strips_across * Small::down + threadIdx.y % Small::down) * Small::rows;
    if (first_row >= shape.height) return;  // a whole warp
    const int own =
        strip % strips_across * Small::outputs + (lane - Small::halo_lanes) * Small::bytes;
    const bool reads = own >= 0 && own < shape.pitch();
    const bool writes =
        lane >= Small::halo_lanes && lane < 32 - Small::halo_lanes && own < shape.values();
    // From row to row a place moves on: to compute each anew, with numbers of 64 bits, is a dozen instructions a row.
    const int64_t pitch = shape.pitch();
    const uint8_t* from = input + (first_row - radius) * pitch + own;
    uint8_t* to = output + first_row * pitch + own;

    uint32_t pixels[Small::rows_read][words], columns[2 * words] = {};
#pragma unroll
    for (int i = 0; i < Small::rows_read; i++) {
        Vector vector = {};
        if (reads && unsigned(first_row - radius + i) < unsigned(shape.height)) {
            vector = *reinterpret_cast<const Vector*>(from);
        }
        memcpy(pixels[i], &vector, sizeof vector);
        from += pitch;
    }
#pragma unroll
    for (int i = 0; i < Small::rows_read; i++) {  // row i enters
        if (i < side) {
            add_to_columns<Small>(pixels[i], columns);
        } else {
            slide_columns<Small>(pixels[i], pixels[i - side], columns);
        }
        if (i < 2 * radius) continue;
        const int row = first_row + i - 2 * radius;
        uint32_t wide[2 * (words + 2 * Small::halo_words)], sums[2 * words];
        gather<Small>(columns, wide);
        if constexpr (Small::channels % 2 == 1) {
            add_along_row<Small>(wide, sums);
        } else {
            slide_along_row<Small>(wide, sums);
        }
        const int rows = window(row, radius, shape.height).count();
        if (writes && row < shape.height) write_means<Small>(sums, to, shape, rows, own);
        to += pitch;
    }
}

// Grid, block and launch.

constexpr int largest_small_radius = 7;

// Measured: in gray 8 bytes a lane, in colour, where the halo is wider, 16, and all strips of a block one below the other.
template <int channels, int radius>
using ChosenWindow = std::conditional_t<channels == 1, SmallWindow<1, radius, uint2, 10, 7, 1>,
                                        SmallWindow<channels, radius, uint4, 10, 3, 4>>;

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
lab::Launch launch_shuffled(const Job& job) {
    const dim3 block(32, warps_of_block);
    dim3 grid;
    with_small_window(job.shape.channels, job.radius, [&](auto small) {
        using Small = decltype(small);
        const int64_t across = lab::divide_up(job.shape.values(), Small::outputs);
        const int64_t down = lab::divide_up(job.shape.height, Small::rows * Small::down);
        grid = dim3(unsigned(lab::divide_up(down * across, Small::beside)));
        shuffled<Small><<<grid, block>>>(job.d_input, job.d_output, job.shape, int(across));
        CHECK_LAUNCH();
    });
    return {grid, block};
}

std::string problem_of_shuffled(const Shape&, int radius) {
    if (radius <= largest_small_radius) return "";
    return "keeps the sum of a window in 16 bits, and has kernels up to radius 7 only; the variant "
           "fused takes more";
}
