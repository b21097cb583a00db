// 06 image_flip: a picture as in a mirror. Not one value is computed, all of them move: what counts
// is who moves what, so that nobody is in another's way, and in pieces of which size.
//
//   naive      a thread a pixel, from one picture into another
//   in_place   a thread a pair of pixels, which it swaps: no second picture
//   words      a thread four bytes of the output, put together from what lies around their source
//   staged     as words, but from shared memory, into which the block loads 16 bytes a thread
//
// Flips:  horizontal  left becomes right   vertical  top becomes bottom   both  a half turn

#include <algorithm>
#include <cstdint>

#include "../../common/lab.h"

// The picture, and which of its coordinates run backwards. Pixels: (height, width, channels),
// row-major.
struct Flip {
    int64_t height, width;
    int channels;
    bool columns;  // horizontal, or both
    bool rows;     // vertical, or both

    __host__ __device__ int64_t source_row(int64_t row) const {
        return rows ? height - 1 - row : row;
    }
    __host__ __device__ int64_t source_column(int64_t column) const {
        return columns ? width - 1 - column : column;
    }
};

// ---------------------------------------------------------------------------------------------
// CPU reference.

// ---------------------------------------------------------------------------------------------
// A thread a pixel, or two. The loop over rows is that of lab 04.

// What a launcher needs.
struct Job {
    const uint8_t* d_input;
    uint8_t* d_output;
    Flip flip;
    dim3 block;
    int most_blocks;  // along y
};

// A thread for each of height x width places.
lab::Launch threads_for(int64_t height, int64_t width, const Job& job) {
    const int64_t rows = lab::divide_up(height, job.block.y);
    return {dim3(lab::divide_up(width, job.block.x), std::min<int64_t>(rows, job.most_blocks)),
            job.block};
}

// Each thread has its own place in the output, and nobody writes to the input: no order matters.
__global__ void naive(const uint8_t* input, uint8_t* output, Flip flip) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t stride = int64_t{gridDim.y} * blockDim.y;
    if (column >= flip.width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < flip.height;
         row += stride) {
        // BEGIN SOLUTION
        const int64_t to = row * flip.width + column;
        const int64_t from = flip.source_row(row) * flip.width + flip.source_column(column);
        for (int channel = 0; channel < flip.channels; channel++) {
            output[to * flip.channels + channel] = input[from * flip.channels + channel];
        }
        //: // TODO 1 (about 5 lines): the number of this pixel, that of the one that comes here, and a
        //: // loop over the channels. flip.source_row and flip.source_column turn coordinates round.
        // END SOLUTION
    }
}

lab::Launch launch_naive(const Job& job) {
    const lab::Launch launch = threads_for(job.flip.height, job.flip.width, job);
    naive<<<launch.grid, launch.block>>>(job.d_input, job.d_output, job.flip);
    CHECK_LAUNCH();
    return launch;
}

// Without a second picture a thread must not write where another still has to read. Two pixels that
// change places are a closed pair: one thread takes both, reads both, then writes both. Of the two
// threads that meet in a pair it is the one whose pixel comes first; a pixel in the middle, which
// is its own partner, has none.
__global__ void in_place(const uint8_t*, uint8_t* pixels, Flip flip) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t stride = int64_t{gridDim.y} * blockDim.y;
    if (column >= flip.width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < flip.height;
         row += stride) {
        // BEGIN SOLUTION
        const int64_t mine = row * flip.width + column;
        const int64_t partner = flip.source_row(row) * flip.width + flip.source_column(column);
        if (mine >= partner) continue;
        for (int channel = 0; channel < flip.channels; channel++) {
            const uint8_t value = pixels[mine * flip.channels + channel];
            pixels[mine * flip.channels + channel] = pixels[partner * flip.channels + channel];
            pixels[partner * flip.channels + channel] = value;
        }
        //: // TODO 2 (about 8 lines): the number of this pixel and of its partner; nothing to do for
        //: // the second of the two; otherwise swap them, channel by channel.
        // END SOLUTION
    }
}

// The first pixels of all pairs: the left half of every row, or the upper half with the middle row.
lab::Launch launch_in_place(const Job& job) {
    const Flip& flip = job.flip;
    const lab::Launch launch =
        threads_for(flip.rows ? lab::divide_up(flip.height, 2) : flip.height,
                    flip.rows ? flip.width : lab::divide_up(flip.width, 2), job);
    in_place<<<launch.grid, launch.block>>>(nullptr, job.d_output, flip);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// Four bytes a thread. The output is taken in whole words, which lie at multiples of four; where
// their bytes come from begins anywhere. The number of channels and the direction are known to the
// compiler here, so that divisions become multiplications and the branches on them vanish.

// Where byte x of a row of the output comes from, in its row of the input.
template <int channels, bool columns>
__device__ int64_t source_byte(int64_t x, int64_t width) {
    return columns ? (width - 1 - x / channels) * channels + x % channels : x;
}

// The four bytes from x on come out of one short piece of the input's row: it begins here. With 3
// channels a word may begin with red, green or blue: x is `channel` past the beginning of a pixel.
template <int channels, bool columns>
__device__ int64_t window_begin(int64_t x, int64_t width, unsigned channel) {
    if (!columns) return x;
    if (channels == 3) return 3 * (width - 2) - (x - channel);  // this pixel and the one before it
    return channels * width - 4 - x;                            // 4, 2 or 1 pixels
}

// The word of the output whose window begins `begin` bytes behind the first of `words`. Two aligned
// words are shifted so that the window's first byte is the lowest, then the bytes change places.
template <int channels, bool columns, class Place>
__device__ uint32_t flipped_word(const uint32_t* words, Place begin, unsigned channel) {
    const uint32_t* word = words + (begin >> 2);
    const unsigned shift = 8 * unsigned(begin & 3);
    if (channels == 4) return word[0];  // a word is a pixel
    const uint32_t low = __funnelshift_r(word[0], word[1], shift);
    if (!columns) return low;
    // BEGIN SOLUTION
    if (channels == 1) return __byte_perm(low, 0, 0x0123);
    if (channels == 2) return __byte_perm(low, 0, 0x1032);
    //: // TODO 3a (2 lines): `low` holds the bytes 0 1 2 3 of the window. Which order for 1 channel,
    //: // which for 2? A digit of __byte_perm's third argument names a byte, the last digit that
    //: // of the lowest: 0x3210 changes nothing.
    // END SOLUTION
    const uint32_t high = __funnelshift_r(word[1], word[2], shift);
    // BEGIN SOLUTION
    return __byte_perm(low, high, channel == 0 ? 0x0543 : channel == 1 ? 0x1054 : 0x2105);
    //: // TODO 3b (1 line): the window is r g b R G B, bytes 0 1 2 3 in `low`, 4 5 in `high`. The word
    //: // is R G B r, or G B r g, or B r g b: it begins with channel 0, 1 or 2.
    //: (void)channel;      // delete this line
    //: return low + high;  // replace this line
    // END SOLUTION
}

// A row has one word more than it would need if it began at a multiple of four. The first and the
// last word of a row may belong to two rows: there only the bytes of this row are written.
template <int channels, bool columns>
__global__ void words(const uint8_t* input, uint8_t* output, Flip flip) {
    const int64_t row_bytes = channels * flip.width;
    const int64_t stride = int64_t{gridDim.y} * blockDim.y;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < flip.height;
         row += stride) {
        const int64_t to = row * row_bytes, from = flip.source_row(row) * row_bytes;
        const int64_t word = to / 4 + int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
        const int64_t x = 4 * word - to;  // in the row; -3 to -1 if it begins in the row before
        if (x >= 0 && x + 4 <= row_bytes) {
            const unsigned channel = channels == 3 ? x % 3 : 0;
            const int64_t begin = from + window_begin<channels, columns>(x, flip.width, channel);
            const auto* all = reinterpret_cast<const uint32_t*>(input);
            reinterpret_cast<uint32_t*>(output)[word] =
                flipped_word<channels, columns>(all, begin, channel);
        } else {
            for (int64_t i = x < 0 ? 0 : x; i < x + 4 && i < row_bytes; i++) {
                output[to + i] = input[from + source_byte<channels, columns>(i, flip.width)];
            }
        }
    }
}

using WordsKernel = void (*)(const uint8_t*, uint8_t*, Flip);

lab::Launch launch_words(const Job& job) {
    const WordsKernel kernels[4][2] = {{words<1, false>, words<1, true>},
                                       {words<2, false>, words<2, true>},
                                       {words<3, false>, words<3, true>},
                                       {words<4, false>, words<4, true>}};
    const Flip& flip = job.flip;
    const lab::Launch launch =
        threads_for(flip.height, lab::divide_up(flip.width * flip.channels, 4) + 1, job);
    const WordsKernel words_kernel = kernels[flip.channels - 1][flip.columns];
    words_kernel<<<launch.grid, launch.block>>>(job.d_input, job.d_output, flip);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// By way of shared memory: the block takes a part of a row of the output, and loads what goes there
// in aligned vectors of 16 bytes, all of them under way before the first arrives. From there words
// are put together as above; where they begin costs nothing there.

constexpr int vectors_per_thread = 4;
constexpr int most_threads = 128;
constexpr int most_vectors = vectors_per_thread * most_threads;  // of a part

// How rows are cut: `parts` of `vectors` vectors of 16 bytes each; the last may be shorter.
struct Cut {
    unsigned parts;
    int vectors;
};

template <int channels, bool columns>
__global__ void __launch_bounds__(most_threads)
    staged(const uint8_t* input, uint8_t* output, Flip flip, Cut cut) {
    __shared__ uint4 tile[most_vectors + 4];  // what is needed may begin and end within a vector
    const int64_t row_bytes = channels * flip.width;
    const int64_t row = blockIdx.x / cut.parts, part = blockIdx.x % cut.parts;
    const int64_t to = row * row_bytes, from = flip.source_row(row) * row_bytes;

    // This part of the output, from `begin` up to `end`, and the place where its first vector lies.
    const int64_t origin = (to / 16 + part * cut.vectors) * 16;
    const int64_t begin = origin > to ? origin : to;
    const int64_t limit = origin + 16 * int64_t{cut.vectors};
    const int64_t end = limit < to + row_bytes ? limit : to + row_bytes;
    if (begin >= end) return;  // the whole block: nobody waits at the barrier

    // Its bytes come from whole pixels of the input; the vectors that hold them:
    const int64_t first_pixel = (begin - to) / channels, last_pixel = (end - 1 - to) / channels;
    const int64_t lowest = flip.source_column(columns ? last_pixel : first_pixel);
    const int64_t highest = flip.source_column(columns ? first_pixel : last_pixel);
    const int64_t first_vector = (from + lowest * channels) / 16;
    const int count = int(lab::divide_up(from + (highest + 1) * channels, 16) - first_vector);

    // The words of the last window may reach into one vector more; its bytes are not used.
    if (threadIdx.x == 0) tile[count] = {};
    // BEGIN SOLUTION
    const uint4* vectors = reinterpret_cast<const uint4*>(input) + first_vector;
    uint4 held[vectors_per_thread + 1] = {};
#pragma unroll
    for (int k = 0; k <= vectors_per_thread; k++) {
        const int i = k * blockDim.x + threadIdx.x;
        if (i < count) held[k] = vectors[i];
    }
#pragma unroll
    for (int k = 0; k <= vectors_per_thread; k++) {
        const int i = k * blockDim.x + threadIdx.x;
        if (i < count) tile[i] = held[k];
    }
    __syncthreads();
    //: // TODO 4 (about 12 lines): `count` vectors of the input, from number `first_vector` on, into
    //: // tile. Vector i is loaded by thread i % blockDim.x; a thread has vectors_per_thread + 1 of
    //: // them at most. First load all into an array, then store all. Then wait for all threads.
    // END SOLUTION

    // From here on places are counted from `origin` in the output, and in the tile in the input.
    const int left = int(begin - origin), right = int(end - origin);
    const int64_t x = origin - to;                                        // in the row, -15 or more
    const unsigned channel = channels == 3 ? unsigned((x + 15) % 3) : 0;  // x % 3, for such x too
    const int64_t tile_begin = 16 * first_vector - from;
    const int window = int(window_begin<channels, columns>(x, flip.width, 0) - tile_begin);
    for (int i = 4 * threadIdx.x; i < right; i += 4 * blockDim.x) {
        if (i >= left && i + 4 <= right) {
            const unsigned c = channels == 3 ? (channel + i) % 3 : 0;
            const int place = columns ? window - i + int(c) : window + i;
            reinterpret_cast<uint32_t*>(output + origin)[i / 4] =
                flipped_word<channels, columns>(reinterpret_cast<uint32_t*>(tile), place, c);
        } else {
            for (int k = i < left ? left : i; k < i + 4 && k < right; k++) {
                const int64_t place =
                    source_byte<channels, columns>(x + k, flip.width) - tile_begin;
                output[origin + k] = reinterpret_cast<uint8_t*>(tile)[place];
            }
        }
    }
}

// A half turn is the whole picture backwards, pixel by pixel: a picture of one row.
Flip as_one_row(Flip flip) {
    if (!flip.columns || !flip.rows) return flip;
    return {1, flip.height * flip.width, flip.channels, true, false};
}

// Rows that begin at multiples of 16 have fewer vectors: none of them belongs to two rows. Parts of
// the same size, and of an even number of vectors, as memory is fetched in pieces of 32 bytes.
Cut cut_of(Flip flip) {
    const int64_t bytes = flip.width * flip.channels;
    const int64_t vectors = bytes % 16 == 0 || flip.height == 1 ? lab::divide_up(bytes, 16)
                                                                : lab::divide_up(bytes + 15, 16);
    const int64_t parts = lab::divide_up(vectors, most_vectors);
    return {unsigned(parts), int(2 * lab::divide_up(lab::divide_up(vectors, parts), 2))};
}

using StagedKernel = void (*)(const uint8_t*, uint8_t*, Flip, Cut);

lab::Launch launch_staged(const Job& job) {
    const StagedKernel kernels[4][2] = {{staged<1, false>, staged<1, true>},
                                        {staged<2, false>, staged<2, true>},
                                        {staged<3, false>, staged<3, true>},
                                        {staged<4, false>, staged<4, true>}};
    const Flip flip = as_one_row(job.flip);
    const Cut cut = cut_of(flip);
    const int64_t warps = lab::divide_up(cut.vectors, 32 * vectors_per_thread);
    const lab::Launch launch = {dim3(flip.height * cut.parts), dim3(32 * warps)};
    const StagedKernel staged_kernel = kernels[flip.channels - 1][flip.columns];
    staged_kernel<<<launch.grid, launch.block>>>(job.d_input, job.d_output, flip, cut);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/program.h has the reference, the table of variants, and the options.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
