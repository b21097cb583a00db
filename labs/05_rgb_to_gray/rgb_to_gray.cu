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
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/image.h"
#include "../../common/lab.h"
#if defined(LAB_PEERS) && __has_include(<nppi_color_conversion.h>)
#define LAB_NPP
#include <nppi_color_conversion.h>

#include "../../common/npp.h"
#endif

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
// The program: nothing to edit below.

// The CPU reference, with an arithmetic of its own: it is right whatever gray_of says.
// rgb: (height, width, 3), gray: (height, width), row-major
void convert_on_cpu(const uint8_t* rgb, uint8_t* gray, int64_t height, int64_t width) {
    constexpr unsigned weights[] = {299, 587, 114};
    for (int64_t i = 0; i < height * width; i++) {
        unsigned thousandths = 0;
        for (int c = 0; c < 3; c++) thousandths += weights[c] * rgb[3 * i + c];
        gray[i] = thousandths / 1000 + (thousandths % 1000 >= 500);
    }
}

#ifdef LAB_NPP
// NVIDIA's own, in a benchmark build. It computes with floats and cuts off: one less now and then.
lab::Launch launch_npp(const Job& job) {
    static const NppStreamContext context = lab::npp_context();
    const NppiSize size = {int(job.width), int(job.height)};
    const NppStatus status = nppiRGBToGray_8u_C3C1R_Ctx(job.d_rgb, 3 * size.width, job.d_gray,
                                                        size.width, size, context);
    if (status != NPP_SUCCESS) lab::fail("nppiRGBToGray_8u_C3C1R_Ctx gives %d", int(status));
    return {};
}
#endif

struct Variant {
    const char* name;
    lab::Launch (*launch)(const Job&);
    double tolerance = 0;  // how far a value may be off
};

const Variant all_variants[] = {
    {"interleaved", launch_interleaved},
    {"planar", launch_planar},
    {"planar_vectorised", launch_planar_vectorised},
    {"vectorised", launch_vectorised},
    {"staged", launch_staged},
#ifdef LAB_NPP
    {"npp", launch_npp, 1},
#endif
};

constexpr int64_t longest_side = 2147483647;

// Pixels side by side, planes and gray; the host has the reference besides.
void require_memory(int64_t height, int64_t width, int) {
    const int64_t pixels = std::min(height * width, int64_t{1} << 56);
    lab::require_memory(8 * pixels, 7 * pixels, "a picture of this size");
}

bool all_neutral(const lab::Image& image) {
    for (int64_t i = 0; i < image.count(); i += 3) {
        const uint8_t* pixel = &image.pixels[i];
        if (pixel[0] != pixel[1] || pixel[1] != pixel[2]) return false;
    }
    return true;
}

// (height, width, 3) to (3, plane_size)
std::vector<uint8_t> planes_of(const lab::Image& image) {
    const int64_t pixels = image.height * image.width, plane = plane_size(pixels);
    std::vector<uint8_t> planes(3 * plane);
    for (int64_t i = 0; i < pixels; i++) {
        for (int channel = 0; channel < 3; channel++) {
            planes[channel * plane + i] = image.pixels[3 * i + channel];
        }
    }
    return planes;
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Makes a gray picture of a coloured one.");
    const lab::PictureInput picture(arguments, lab::on_cpu ? 1024 : 8192, longest_side);
    const std::string output_path =
        lab::image_output(arguments, "output", "the gray picture, for one variant");
    const dim3 block = arguments.block("block", dim3(32, 8), "of interleaved and planar", 2);
    const int most_blocks = arguments.most_blocks();
    lab::Study study(arguments, lab::names_of(all_variants));
    arguments.finish();
    study.require_one_for(arguments, "output", "the picture");

    const lab::Image input = picture.read(3, 3, require_memory);  // a gray file: three equal bytes
    const int64_t height = input.height, width = input.width, count = height * width;
    lab::require_writable_image("output", output_path, height, width, 1);
    if (count == 0) return lab::nothing_to_launch("pixels");
    lab::require_device();
    study.size(lab::format("%lld x %lld pixels", (long long)height, (long long)width));
    study.limit(lab::copy_bandwidth(2 * count));  // 4 bytes a pixel, read and written together
    study.moves(4.0 * count);

    std::vector<uint8_t> reference(count), h_gray(count);
    study.time_on_cpu(
        [&] { convert_on_cpu(input.pixels.data(), reference.data(), height, width); });
    if (all_neutral(input)) study.note("no pixel has a colour: the picture stays as it is");

    const lab::DeviceArray<uint8_t> d_rgb(input.pixels), d_planes(planes_of(input));
    lab::DeviceArray<uint8_t> d_gray(count);
    const Job job = {d_rgb.get(), d_planes.get(), d_gray.get(), height, width, block, most_blocks};
    for (const Variant& variant : all_variants) {
        study.run(
            variant.name, [&] { d_gray.poison(); }, [&] { return variant.launch(job); },
            [&] {
                d_gray.download(h_gray);
                return lab::compare(h_gray.data(), reference.data(), count, {variant.tolerance, 0});
            });
    }
    if (!output_path.empty()) lab::write_image(output_path, h_gray.data(), height, width, 1);
    return study.finish();
}
