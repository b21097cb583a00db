// The program: the reference, the table of variants, the options, and the run of each variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../../common/image.h"
#include "../../../common/lab.h"
#if defined(LAB_PEERS) && __has_include(<nppi_color_conversion.h>)
#define LAB_NPP
#include <nppi_color_conversion.h>

#include "../../../common/npp.h"
#endif

// The CPU reference, with an arithmetic of its own: it is right whatever gray_of says.
// rgb: (height, width, 3), gray: (height, width), row-major
inline void convert_on_cpu(const uint8_t* rgb, uint8_t* gray, int64_t height, int64_t width) {
    constexpr unsigned weights[] = {299, 587, 114};
    for (int64_t i = 0; i < height * width; i++) {
        unsigned thousandths = 0;
        for (int c = 0; c < 3; c++) thousandths += weights[c] * rgb[3 * i + c];
        gray[i] = thousandths / 1000 + (thousandths % 1000 >= 500);
    }
}

#ifdef LAB_NPP
// NVIDIA's own, in a benchmark build. It computes with floats and cuts off: one less now and then.
inline lab::Launch launch_npp(const Job& job) {
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
inline void require_memory(int64_t height, int64_t width, int) {
    const int64_t pixels = std::min(height * width, int64_t{1} << 56);
    lab::require_memory(8 * pixels, 7 * pixels, "a picture of this size");
}

inline bool all_neutral(const lab::Image& image) {
    for (int64_t i = 0; i < image.count(); i += 3) {
        const uint8_t* pixel = &image.pixels[i];
        if (pixel[0] != pixel[1] || pixel[1] != pixel[2]) return false;
    }
    return true;
}

// (height, width, 3) to (3, plane_size)
inline std::vector<uint8_t> planes_of(const lab::Image& image) {
    const int64_t pixels = image.height * image.width, plane = plane_size(pixels);
    std::vector<uint8_t> planes(3 * plane);
    for (int64_t i = 0; i < pixels; i++) {
        for (int channel = 0; channel < 3; channel++) {
            planes[channel * plane + i] = image.pixels[3 * i + channel];
        }
    }
    return planes;
}

inline int run_program(int argc, char** argv) {
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
