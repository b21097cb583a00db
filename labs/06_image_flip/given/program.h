// The program: the reference, the table of variants, the options, and the run of each variant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../../common/image.h"
#include "../../../common/lab.h"
#if defined(LAB_PEERS) && __has_include(<nppi_geometry_transforms.h>)
#define LAB_NPP
#include <nppi_geometry_transforms.h>

#include "../../../common/npp.h"
#endif

inline void flip_on_cpu(const uint8_t* input, uint8_t* output, Flip flip) {
    for (int64_t row = 0; row < flip.height; row++) {
        for (int64_t column = 0; column < flip.width; column++) {
            const int64_t from = flip.source_row(row) * flip.width + flip.source_column(column);
            for (int channel = 0; channel < flip.channels; channel++) {
                *output++ = input[from * flip.channels + channel];
            }
        }
    }
}

#ifdef LAB_NPP
// NVIDIA's own, in a benchmark build. It names the axis that stays, not what changes places.
inline lab::Launch launch_npp(const Job& job) {
    static const NppStreamContext context = lab::npp_context();
    const Flip& flip = job.flip;
    const NppiSize size = {int(flip.width), int(flip.height)};
    const NppiAxis axis = !flip.rows      ? NPP_VERTICAL_AXIS
                          : !flip.columns ? NPP_HORIZONTAL_AXIS
                                          : NPP_BOTH_AXIS;
    const auto mirror = flip.channels == 1   ? nppiMirror_8u_C1R_Ctx
                        : flip.channels == 3 ? nppiMirror_8u_C3R_Ctx
                                             : nppiMirror_8u_C4R_Ctx;
    const int pitch = size.width * flip.channels;
    const NppStatus status = mirror(job.d_input, pitch, job.d_output, pitch, size, axis, context);
    if (status != NPP_SUCCESS) lab::fail("nppiMirror gives %d", int(status));
    return {};
}
#endif

struct Variant {
    const char* name;
    lab::Launch (*launch)(const Job&);
    bool in_place = false;
};

const Variant all_variants[] = {
    {"naive", launch_naive}, {"in_place", launch_in_place, true},
    {"words", launch_words}, {"staged", launch_staged},
#ifdef LAB_NPP
    {"npp", launch_npp},
#endif
};

constexpr int64_t longest_side = 2147483647;

inline void require_memory(int64_t height, int64_t width, int channels) {
    const int64_t pixels = std::min(height * width, int64_t{1} << 56);
    lab::require_memory(3 * channels * pixels, 2 * channels * pixels, "pictures of this size");
}

// In whole vectors, and one more: a kernel that puts words together reads a little past the end.
inline int64_t padded(int64_t bytes) { return 16 * (lab::divide_up(bytes, 16) + 1); }

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Flips a picture.");
    const std::string direction =
        arguments.choice("direction", {"horizontal", "vertical", "both"}, "horizontal",
                         "left becomes right, top becomes bottom, or a half turn");
    const lab::PictureInput picture(arguments, lab::on_cpu ? 1024 : 8192, longest_side);
    const int channels = int(arguments.integer("channels", 3, 1, 4, "bytes of a random pixel"));
    arguments.excludes("input", {"channels"}, "random pixels");
    const std::string output_path =
        lab::image_output(arguments, "output", "the flipped picture, for one variant");
    const dim3 block = arguments.block("block", dim3(32, 8), "of all variants but staged", 2);
    const int most_blocks = arguments.most_blocks();
    lab::Study study(arguments, lab::names_of(all_variants));
    arguments.finish();
    study.require_one_for(arguments, "output", "the picture");

    const lab::Image input = picture.read(channels, 0, require_memory);
    const Flip flip = {input.height, input.width, input.channels, direction != "vertical",
                       direction != "horizontal"};
    const int64_t bytes = input.count();
    lab::require_writable_image("output", output_path, flip.height, flip.width, flip.channels);
    if (bytes == 0) return lab::nothing_to_launch("pixels");
    if (as_one_row(flip).height * cut_of(as_one_row(flip)).parts > longest_side) {
        lab::refuse("the picture is too large: staged needs more than 2147483647 blocks");
    }
    lab::require_device();
    study.size(lab::format("%lld x %lld pixels, %d channel%s, %s", (long long)flip.height,
                           (long long)flip.width, flip.channels, flip.channels == 1 ? "" : "s",
                           direction.c_str()));
    study.limit(lab::copy_bandwidth(bytes));
    study.moves(2.0 * bytes);

    std::vector<uint8_t> reference(bytes), h_output(bytes);
    study.time_on_cpu([&] { flip_on_cpu(input.pixels.data(), reference.data(), flip); });

    lab::DeviceArray<uint8_t> d_input(padded(bytes)), d_output(padded(bytes));
    const Job job = {d_input.get(), d_output.get(), flip, block, most_blocks};
    for (const Variant& variant : all_variants) {
        const bool lacking = variant.name == std::string("npp") && flip.channels == 2;
        if (study.skips(variant.name, lacking ? "it has no mirror for 2 channels" : "")) continue;
        const auto prepare = [&] {
            d_output.poison();
            CHECK(cudaMemset(d_input.get(), 0x5A, d_input.bytes()));  // what in_place reads here
            (variant.in_place ? d_output : d_input).upload(input.pixels.data(), bytes);
        };
        study.run(
            variant.name, prepare, [&] { return variant.launch(job); },
            [&] {
                d_output.download(h_output);
                return lab::compare(h_output.data(), reference.data(), bytes);
            });
    }
    if (!output_path.empty()) {
        lab::write_image(output_path, h_output.data(), flip.height, flip.width, flip.channels);
    }
    return study.finish();
}
