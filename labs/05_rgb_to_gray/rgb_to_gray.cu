// 05 rgb_to_gray: from three bytes a pixel to one, gray = 0.299 red + 0.587 green + 0.114 blue. The
// arithmetic is small, so it is the memory that decides: how a picture is stored, and how many bytes
// a thread asks for at a time.
//
//   interleaved         a thread a pixel; a pixel's three bytes lie side by side
//   planar              a thread a pixel; first all reds, then all greens, then all blues
//   planar_vectorised   16 pixels a thread: 16 bytes of each colour in one load
//   vectorised          16 pixels a thread, interleaved: 48 bytes, cut up with shifts
//   staged              as vectorised, but the block loads together, by way of shared memory

#include <algorithm>
#include <cstdint>

#include "../../common/lab.h"

// ---------------------------------------------------------------------------------------------
// The value of a pixel.

// Whole numbers only, so that every machine gets the same: thousandths, rounded to the nearest
// value, and upwards from the middle between two. The weights add up to 1000: gray stays as it is.
__device__ inline uint8_t gray_of(unsigned red, unsigned green, unsigned blue) {
    // TODO 1 (1 line): the weighted sum in thousandths, rounded. A division of whole numbers cuts
    // off what is behind the point: what has to be added before, so that it rounds?
    return red;  // replace this line
}

// The same without a division: weights in 1/2^24, each rounded up. The sum is too large by less
// than 255 * 3 / 2^24 < 1/1000, too little to reach the next value, and never too small. The gray
// value is in the top byte.
constexpr uint32_t red_weight = 5016388, green_weight = 9848226, blue_weight = 1912603;

__device__ inline uint32_t scaled_gray(uint32_t red, uint32_t green, uint32_t blue) {
    return red_weight * red + green_weight * green + blue_weight * blue + (1u << 23);
}

// ---------------------------------------------------------------------------------------------
// A thread a pixel. The loop over rows is that of lab 04: a grid ends at 65535 blocks along y.

// What a launcher needs.
struct Job {
    const uint8_t *d_rgb, *d_planes;  // the same picture twice: pixels, and planes
    uint8_t* d_gray;
    int64_t height, width;
    dim3 block;
    int most_blocks;  // along y
};

lab::Launch a_pixel_a_thread(const Job& job) {
    const int64_t rows = lab::divide_up(job.height, job.block.y);
    return {dim3(lab::divide_up(job.width, job.block.x), std::min<int64_t>(rows, job.most_blocks)),
            job.block};
}

// rgb: (height, width, 3). 32 threads want 96 bytes that lie side by side, but in three loads, each
// of which takes every third byte.
__global__ void interleaved(const uint8_t* rgb, uint8_t* gray, int64_t height, int64_t width) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t stride = int64_t{gridDim.y} * blockDim.y;
    if (column >= width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < height;
         row += stride) {
        // TODO 2 (2 lines): the number of this pixel, and its gray value. Where does its red lie?
    }
}

lab::Launch launch_interleaved(const Job& job) {
    const lab::Launch launch = a_pixel_a_thread(job);
    interleaved<<<launch.grid, launch.block>>>(job.d_rgb, job.d_gray, job.height, job.width);
    CHECK_LAUNCH();
    return launch;
}

// The distance from one plane to the next: a multiple of 16 bytes, for the vectors further down.
__host__ __device__ inline int64_t plane_size(int64_t pixels) {
    return 16 * lab::divide_up(pixels, 16);
}

// planes: (3, plane_size). Each load takes 32 bytes that lie side by side.
__global__ void planar(const uint8_t* planes, uint8_t* gray, int64_t height, int64_t width) {
    const int64_t plane = plane_size(height * width);
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t stride = int64_t{gridDim.y} * blockDim.y;
    if (column >= width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < height;
         row += stride) {
        // TODO 3 (2 lines): red is in the first plane, green in the second, blue in the third.
        (void)plane;  // delete this line
    }
}

lab::Launch launch_planar(const Job& job) {
    const lab::Launch launch = a_pixel_a_thread(job);
    planar<<<launch.grid, launch.block>>>(job.d_planes, job.d_gray, job.height, job.width);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// 16 pixels a thread. A byte is a poor load: an instruction fetches 1 byte where it could fetch 16.
// Rows do not matter here: the picture is one line of pixels, and the last few are done one by one.

constexpr int threads_of_line = 256;  // threads of a block, in these three kernels

lab::Launch sixteen_pixels_a_thread(const Job& job) {
    return {dim3(lab::divide_up(job.height * job.width, 16 * threads_of_line)),
            dim3(threads_of_line)};
}

__device__ inline uint32_t byte_of(uint32_t word, int k) { return word >> (8 * k) & 255; }

// The top bytes of four words as one word. A digit of __byte_perm's third argument names a byte:
// 0 to 3 of the first word, 4 to 7 of the second.
__device__ inline uint32_t top_bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0073), __byte_perm(c, d, 0x0073), 0x5410);
}

// Four pixels from a word of reds, one of greens, one of blues.
__device__ inline uint32_t four_planar(uint32_t reds, uint32_t greens, uint32_t blues) {
    uint32_t sums[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        sums[k] = scaled_gray(byte_of(reds, k), byte_of(greens, k), byte_of(blues, k));
    }
    return top_bytes(sums[0], sums[1], sums[2], sums[3]);
}

// Four pixels from three words that hold, lowest byte first:  r g b r | g b r g | b r g b
__device__ inline uint32_t four_interleaved(uint32_t x, uint32_t y, uint32_t z) {
    // TODO 5a (4 lines): which byte of which word is the red, the green, the blue of each pixel?
    const uint32_t first = x, second = y, third = z, fourth = 0;  // replace this line
    return top_bytes(first, second, third, fourth);
}

// 48 bytes, 16 pixels
__device__ inline uint4 sixteen_interleaved(uint4 a, uint4 b, uint4 c) {
    return {four_interleaved(a.x, a.y, a.z), four_interleaved(a.w, b.x, b.y),
            four_interleaved(b.z, b.w, c.x), four_interleaved(c.y, c.z, c.w)};
}

// Three loads of 16 bytes, all under way before the first is used; neighbours lie side by side.
__global__ void planar_vectorised(const uint8_t* planes, uint8_t* gray, int64_t height,
                                  int64_t width) {
    const int64_t count = height * width;
    const int64_t plane = plane_size(count);
    const int64_t first = 16 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (first + 16 <= count) {
        // TODO 4 (about 6 lines): a uint4 (16 bytes: x, y, z, w of 4 each) from each plane; then
        // one uint4 to gray, whose four words come from four_planar.
    } else {
        for (int64_t i = first; i < count; i++) {
            gray[i] = gray_of(planes[i], planes[plane + i], planes[2 * plane + i]);
        }
    }
}

lab::Launch launch_planar_vectorised(const Job& job) {
    const lab::Launch launch = sixteen_pixels_a_thread(job);
    planar_vectorised<<<launch.grid, launch.block>>>(job.d_planes, job.d_gray, job.height,
                                                     job.width);
    CHECK_LAUNCH();
    return launch;
}

// 48 bytes a thread. One load of a warp takes 16 bytes in every 48: its neighbours in between come
// with the thread's other two loads, and it is left to the cache that nothing is fetched twice.
__global__ void vectorised(const uint8_t* rgb, uint8_t* gray, int64_t height, int64_t width) {
    const int64_t count = height * width;
    const int64_t first = 16 * (int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (first + 16 <= count) {
        // TODO 5b (about 3 lines): three uint4 from rgb, one to gray.
    } else {
        for (int64_t i = first; i < count; i++) {
            gray[i] = gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
        }
    }
}

lab::Launch launch_vectorised(const Job& job) {
    const lab::Launch launch = sixteen_pixels_a_thread(job);
    vectorised<<<launch.grid, launch.block>>>(job.d_rgb, job.d_gray, job.height, job.width);
    CHECK_LAUNCH();
    return launch;
}

// The block loads its 48 bytes a thread as one piece, so that neighbouring threads take neighbouring
// vectors, and puts them into shared memory. From there each thread takes its own three.
__global__ void staged(const uint8_t* rgb, uint8_t* gray, int64_t height, int64_t width) {
    const int64_t count = height * width;
    const int64_t pixels = 16 * threads_of_line, first = blockIdx.x * pixels;
    if (first + pixels <= count) {  // the same for all threads: each of them meets the barrier
        // TODO 6 (about 9 lines): an array `tile` of 3 * threads_of_line uint4 in shared memory. Into
        // it the vectors threadIdx.x, threads_of_line + threadIdx.x, 2 * threads_of_line + threadIdx.x
        // of this block's part of rgb. Wait for all threads. Then as in vectorised, from tile.
    } else {
        for (int64_t i = first + threadIdx.x; i < count; i += blockDim.x) {
            gray[i] = gray_of(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
        }
    }
}

lab::Launch launch_staged(const Job& job) {
    const lab::Launch launch = sixteen_pixels_a_thread(job);
    staged<<<launch.grid, launch.block>>>(job.d_rgb, job.d_gray, job.height, job.width);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/program.h has the reference, the table of variants, and the options.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
