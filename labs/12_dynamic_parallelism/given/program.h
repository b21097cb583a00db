// The program: the variants of the picture, the command line, and which part it asks for.
#pragma once

#include <cstdio>
#include <string>

#include "../../../common/lab.h"

struct Variant {
    const char* name;
    lab::Launch (*launch)(const Job&);
    bool fills;  // rectangles, so that a pixel may differ from the direct one
};

const Variant all_variants[] = {
    {"direct", launch_direct, false},
    {"device_launches", launch_device_launches, true},
    {"device_levels", launch_device_levels, true},
    {"host_levels", launch_host_levels, true},
};

#include "parts.h"

// Refuses options that the chosen work would ignore.
inline void refuse_ignored(const lab::Arguments& arguments,
                           std::initializer_list<const char*> names, const char* reason) {
    for (const char* name : names) {
        if (arguments.given(name)) lab::refuse("--%s %s", name, reason);
    }
}

inline void refuse_other_parts(const lab::Arguments& arguments, const std::string& part) {
    if (part != "hello") refuse_ignored(arguments, {"blocks", "threads"}, "is for --part hello");
    if (part == "picture") return;
    refuse_ignored(arguments,
                   {"height", "width", "limit", "x", "y", "span", "tile", "smallest", "variant",
                    "output", "picture", "csv"},
                   "is for --part picture");
}

inline int run_program(int argc, char** argv) {
    constexpr int side = lab::on_cpu ? 256 : 1024, most_side = 1 << 24;
    lab::Arguments arguments(argc, argv, "Kernels that launch kernels.");
    const std::string part =
        arguments.choice("part", {"picture", "hello", "streams"}, "picture", "what to run");
    const int64_t blocks = arguments.integer("blocks", 1, 1, 64, "of hello's first grid");
    const int64_t threads = arguments.integer("threads", 8, 1, 1024, "of a block of it");
    const int64_t height = arguments.integer("height", side, 0, most_side, "rows of the picture");
    const int64_t width = arguments.integer("width", side, 0, most_side, "columns of it");
    const int64_t limit = arguments.integer("limit", lab::on_cpu ? 500 : 5000, 1, 10000000,
                                            "steps after which a point counts as inside");
    const double x = arguments.real("x", -0.7, -4, 4, "the middle of the picture");
    const double y = arguments.real("y", 0, -4, 4, "the middle of the picture");
    const double span = arguments.real("span", 2.8, 1e-12, 16, "the length of its longer side");
    Request request;
    request.tile = arguments.integer("tile", 64, 8, 1024, "side of the first rectangles");
    const int64_t smallest =
        arguments.integer("smallest", 16, 4, 1024, "a rectangle with such a side is computed");
    request.output_path = arguments.output("output", "the dwells of one variant, int32 .npy");
    request.picture_path = lab::image_output(arguments, "picture", "the same in colours");
    lab::Study study(arguments, lab::names_of(all_variants));
    arguments.finish();
    refuse_other_parts(arguments, part);
    study.require_one_for(arguments, "output", "the dwells");
    study.require_one_for(arguments, "picture", "the picture");
    if (part == "hello") run_hello(int(blocks), int(threads));
    if (part == "streams") run_streams();
    if (part != "picture") return 0;
    lab::require_writable_image("picture", request.picture_path, height, width, 3);
    if (height * width == 0) {  // a grid without blocks cannot be launched
        refuse_ignored(arguments, {"csv"}, "takes times, and an empty picture takes none");
        if (!request.output_path.empty()) {
            lab::write_array<int32_t>(request.output_path, nullptr, {height, width});
        }
        std::printf("0 pixels: the picture is empty, and nothing is launched\n");
        return 0;
    }
    if (height * width > int64_t{1} << 34) lab::refuse("--height and --width: too many pixels");
    request.view = make_view(int(height), int(width), int(limit), x, y, span);
    request.view.smallest = int(smallest);
    const int64_t lists = 2 * sizeof(Rectangle) * reach_of(request).rectangles;
    lab::require_memory(16 * height * width, 4 * height * width + lists, "a picture of this size");
    run_picture(request, study);
    return study.finish();
}
