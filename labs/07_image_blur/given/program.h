// The program: the reference, the table of variants, the options, and the run of each variant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../../../common/image.h"
#include "../../../common/lab.h"

// The reference: sums of columns slide down; along the row their prefix sums are subtracted.
// pixels, blurred: (height, width, channels), without padding
inline void blur_rows_on_cpu(const uint8_t* pixels, uint8_t* blurred, const Shape& shape,
                             int64_t radius, int64_t begin, int64_t end_row) {
    const int64_t height = shape.height, width = shape.width;
    const int64_t channels = shape.channels, values = shape.values();
    std::vector<uint64_t> columns(values), prefixes(values + channels);  // behind a pixel of zeros
    const auto add_row = [&](int64_t row, int sign) {
        if (row < 0 || row >= height) return;
        for (int64_t v = 0; v < values; v++) columns[v] += sign * pixels[row * values + v];
    };
    for (int64_t row = begin - radius - 1; row < begin + radius; row++) add_row(row, 1);
    for (int64_t row = begin; row < end_row; row++) {
        add_row(row + radius, 1);
        add_row(row - radius - 1, -1);
        const int64_t rows =
            std::min(row + radius + 1, height) - std::max(row - radius, int64_t{0});
        for (int64_t v = 0; v < values; v++) prefixes[v + channels] = prefixes[v] + columns[v];
        for (int64_t v = 0; v < values; v++) {
            const uint64_t* prefix = &prefixes[v % channels];
            const int64_t x = v / channels, end = std::min(x + radius + 1, width);
            const int64_t first = std::max(x - radius, int64_t{0});
            const uint64_t sum = prefix[end * channels] - prefix[first * channels];
            blurred[row * values + v] = sum / (rows * (end - first));
        }
    }
}

inline void blur_on_cpu(const uint8_t* pixels, uint8_t* blurred, const Shape& shape,
                        int64_t radius) {
    const lab::NvtxRange range("reference");
    const auto work = [&](int64_t, int64_t begin, int64_t end) {
        blur_rows_on_cpu(pixels, blurred, shape, radius, begin, end);
    };
    lab::in_parts(shape.height, work, shape.values());
}

inline std::string no_problem(const Shape&, int) { return ""; }

struct Variant {
    const char* name;
    std::string (*problem)(const Shape&, int radius);  // why it cannot blur such a picture, or ""
    lab::Launch (*launch)(const Job&);
};

const Variant variants[] = {
    {"naive", no_problem, launch_naive},         {"tiled", problem_of_tiled, launch_tiled},
    {"separable", no_problem, launch_separable}, {"running", no_problem, launch_running},
#ifdef LAB_FURTHER
    {"fused", problem_of_fused, launch_fused},   {"shuffled", problem_of_shuffled, launch_shuffled},
#endif
#ifdef LAB_NPP
    {"npp", problem_of_npp, launch_npp},
#endif
};

// How many pixels the window has at most, along one side of the picture.
inline double window_side(int64_t radius, int64_t size) {
    return std::min(2.0 * double(radius) + 1, double(size));
}

// Why a variant is left out when it has not been asked for by name, or "".
inline std::string takes_too_long(const std::string& name, const Shape& shape, int radius) {
    constexpr double most_reads = lab::on_cpu ? 2e9 : 2e13;  // beyond it: many seconds
    const double across = window_side(radius, shape.width);
    const double down = window_side(radius, shape.height);
    double reads = 0;
    if (name == "naive" || name == "tiled") reads = across * down * double(shape.count());
    if (name == "separable") reads = (across + down) * double(shape.count());
    if (reads <= most_reads) return "";
    return lab::format("would read %.1e values; ask for it with --variant %s", reads, name.c_str());
}

// The bytes of a sum: 8 where that of a window may pass 2^32.
inline int bytes_of_sum(int64_t radius, int64_t height, int64_t width) {
    return 255 * window_side(radius, height) * window_side(radius, width) < 4294967296.0 ? 4 : 8;
}

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Blurs a picture: the mean over a window.");
    // The longest side is such that a place in a row has 31 bits.
    const lab::PictureInput picture(arguments, lab::on_cpu ? 256 : 4096, int64_t{1} << 28);
    const int channels = int(arguments.integer(
        "channels", 1, 1, 4, "of random pixels; with --input what the picture is converted to"));
    const int64_t asked = arguments.integer("radius", 5, 0, 2147483647,
                                            "of the window, which has 2 radius + 1 pixels a side");
    const std::string output_path =
        lab::image_output(arguments, "output", "the blurred picture, for one variant");
    lab::Study study(arguments, lab::names_of(variants), {"fused", "shuffled"});
    arguments.finish();
    study.require_one_for(arguments, "output", "the picture");

    const bool sums = study.chosen("separable") || study.chosen("running");
    const auto require_memory = [&](int64_t height, int64_t width, int bytes) {
        const int64_t pitch = lab::divide_up(width * bytes, 16) * 16;
        const int64_t sum = sums ? bytes_of_sum(asked, height, width) : 0;
        lab::require_memory(3 * height * width * bytes, height * (2 * pitch + width * bytes * sum),
                            "two pictures and their sums");
    };
    const lab::Image image =
        picture.read(channels, arguments.given("channels") ? channels : 0, require_memory);
    const Shape shape = {int(image.height), int(image.width), image.channels};
    lab::require_writable_image("output", output_path, shape.height, shape.width, shape.channels);
    if (shape.count() == 0) return lab::nothing_to_launch("pixels");
    // A window that covers the picture from every pixel cannot grow.
    const int radius = int(std::min<int64_t>(asked, std::max(shape.height, shape.width)));
    const bool large = bytes_of_sum(radius, shape.height, shape.width) == 8;
    for (const Variant& variant : variants) {
        const std::string problem = variant.problem(shape, radius);
        if (variant.name != study.only_one() || problem.empty()) continue;
        lab::refuse("%s %s", variant.name, problem.c_str());
    }
    lab::require_device();
    study.size(lab::format("%d x %d pixels, %d channel%s, radius %lld", shape.height, shape.width,
                           shape.channels, shape.channels == 1 ? "" : "s", (long long)asked));
    study.limit(lab::copy_bandwidth(shape.count()));
    study.moves(2.0 * shape.count());
    std::vector<uint8_t> reference(shape.count()), h_output(shape.count());
    const lab::HostTimer clock;
    blur_on_cpu(image.pixels.data(), reference.data(), shape, radius);
    study.note(lab::format("the same on the CPU, all cores: %.3f ms", clock.milliseconds()));

    lab::DeviceArray<uint8_t> d_input(shape.padded_bytes()), d_output(shape.padded_bytes());
    lab::DeviceArray<uint8_t> d_sums(sums ? shape.count() * (large ? 8 : 4) : 0);
    const Job job = {d_input.get(), d_output.get(), d_sums.get(), shape, radius, large};
    CHECK(cudaMemset(d_input.get(), 0, d_input.bytes()));  // the padding
    CHECK(cudaMemcpy2D(d_input.get(), shape.pitch(), image.pixels.data(), shape.values(),
                       shape.values(), shape.height, cudaMemcpyHostToDevice));
    const auto prepare = [&] { d_output.poison(), d_sums.poison(); };
    for (const Variant& variant : variants) {
        if (study.skips(variant.name, variant.problem(shape, radius))) continue;
        const bool alone = study.names().size() == 1;
        if (!alone && study.skips(variant.name, takes_too_long(variant.name, shape, radius)))
            continue;
        const auto judge = [&] {
            CHECK(cudaMemcpy2D(h_output.data(), shape.values(), d_output.get(), shape.pitch(),
                               shape.values(), shape.height, cudaMemcpyDeviceToHost));
#ifdef LAB_NPP
            if (variant.launch == launch_npp) return compare_inside(h_output, reference, job);
#endif
            return lab::compare(h_output.data(), reference.data(), shape.count());
        };
        study.run(
            variant.name, prepare, [&] { return variant.launch(job); }, judge);
    }
    if (!output_path.empty()) {
        lab::write_image(output_path, h_output.data(), shape.height, shape.width, shape.channels);
    }
    return study.finish();
}
