// The program: the table of variants, what the command line asks for, the runs, the results and the output.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../../../common/lab.h"
#include "filters.h"
#include "input.h"
#include "judge.h"
#include "limits.h"

template <class T>
struct Variant {
    const char* name;
    std::string (*problem)(const Sizes&, dim3 block);
    lab::Launch (*launch)(const Plane<T>&);
};

template <class T>
const std::vector<Variant<T>> all_variants = {
    {"naive", no_problem, launch_naive<T>},
    {"constant", problem_of_constant, launch_constant<T>},
    {"tiled", problem_of_tiled, launch_tiled<T>},
    {"separable", problem_of_separable, launch_separable<T>},
    {"rolling", problem_of_rolling, launch_rolling<T, false>},
    {"separable_rolling", problem_of_rolling, launch_rolling<T, true>},
#ifdef LAB_FURTHER
    {"register_blocking", problem_of_register_blocking, launch_register_blocking<T, false>},
    {"separable_blocking", problem_of_register_blocking, launch_register_blocking<T, true>},
#endif
#ifdef LAB_NPP
    {"npp", problem_of_npp, launch_npp<T>},
#endif
};

struct Request {
    dim3 block;
    int most_blocks;  // along y
    std::string padding;
    int64_t stride;
    std::string output_path;
};

inline Sizes sizes_of(int64_t height, int64_t width, const Filter& filter, const Request& request) {
    const bool zero = request.padding == "zero";
    const int top = zero ? filter.height / 2 : 0, left = zero ? filter.width / 2 : 0;
    return {height,
            width,
            out_side(height, filter.height, top, request.stride),
            out_side(width, filter.width, left, request.stride),
            filter.height,
            filter.width,
            top,
            left,
            request.stride};
}

// What the variant reads from constant memory, and for NPP from d_filter.
inline void load_filter(const std::string& name, const Filter& filter, const Factors& factors,
                        lab::DeviceArray<float>& d_filter) {
    std::vector<float> values = filter.values;
    if (name == "npp") std::reverse(values.begin(), values.end());
    d_filter.upload(values.data(), int64_t(values.size()));
    if (takes_factors(name)) values = factors.values;
    if (int64_t(values.size()) <= constant_floats) load_constant_filter(values);
}

// Why a variant cannot run, or "".
template <class T>
std::string problem_of(const Variant<T>& variant, const Sizes& s, dim3 block,
                       const Factors& factors) {
    const std::string problem = variant.problem(s, block);
    return problem.empty() && takes_factors(variant.name) ? factors.problem : problem;
}

// Runs every variant that was chosen; returns the outputs of the last one, plane after plane.
template <class T>
std::vector<T> run_variants(const Request& request, const Filter& filter, const Input<T>& input,
                            const Sizes& s, lab::Study& study) {
    const int64_t count = s.height * s.width, out_count = s.out_height * s.out_width;
    const double bytes = double(sizeof(T)) * input.planes * (count + out_count);
    const double bandwidth = lab::copy_bandwidth(int64_t(bytes / 2));
    study.limit(bandwidth);
    study.moves(bytes);
    note_limits(study, bytes, input.planes * operations_of("", s), bandwidth);

    std::vector<double> reference = lab::zeros<double>(input.planes * out_count);
    std::vector<T> h_output = lab::zeros<T>(input.planes * out_count);
    for (int64_t p = 0; p < input.planes; p++) {
        filter_on_cpu(input.values.data() + p * count, filter.values.data(),
                      reference.data() + p * out_count, s);
    }
    const double bound = error_bound(filter, input.values);
    const Factors factors = factors_of(filter);

    const int64_t between_count = s.height * s.out_width;
    const lab::DeviceArray<T> d_input(input.values);
    lab::DeviceArray<T> d_output(input.planes * out_count);
    lab::DeviceArray<float> d_filter(filter.values.size()), d_between(between_count);
    for (const Variant<T>& variant : all_variants<T>) {
        const std::string name = variant.name;
        const std::string problem = problem_of(variant, s, request.block, factors);
        if (study.skips(name, problem)) continue;
        const bool alone = study.names().size() == 1;
        if (!alone && study.skips(name, takes_too_long(name, s, input.planes))) continue;
        load_filter(name, filter, factors, d_filter);
        study.computes(input.planes * operations_of(name, s));
        const auto launch = [&] {
            lab::Launch last;
            for (int64_t p = 0; p < input.planes; p++) {
                last = variant.launch({s, request.block, request.most_blocks,
                                       d_input.get() + p * count, d_output.get() + p * out_count,
                                       d_filter.get(), d_between.get()});
            }
            return last;
        };
        const auto judge = [&] {
            d_output.download(h_output);
            const bool npp =
                name == "npp";  // it rounds pixels in its own way, and leaves the edges out
            return compare(h_output, reference, s, npp && sizeof(T) == 1 ? bound + 1 : bound, npp);
        };
        study.run(
            name, [&] { d_output.poison(); }, launch, judge);
    }
    return h_output;
}

// Refuses what cannot be done, before any CUDA call.
template <class T>
void require_possible(const Request& request, const Filter& filter, const Input<T>& input,
                      const Sizes& s, const lab::Study& study) {
    if (request.padding == "none" && (filter.height > input.height || filter.width > input.width)) {
        lab::refuse(
            "--padding none: the filter of %d x %d does not fit into the input of %lld x %lld; "
            "--padding zero allows it",
            filter.height, filter.width, (long long)input.height, (long long)input.width);
    }
    if (std::is_same_v<T, uint8_t>) {
        lab::require_writable_image("output", request.output_path, s.out_height, s.out_width,
                                    int(input.planes));
    }
    for (const Variant<T>& variant : all_variants<T>) {
        if (variant.name != study.only_one()) continue;
        const std::string problem = problem_of(variant, s, request.block, factors_of(filter));
        if (!problem.empty()) lab::refuse("--variant %s: %s", variant.name, problem.c_str());
    }
}

template <class T>
int run(const Request& request, const Filter& filter, const Input<T>& input, lab::Study& study) {
    const Sizes s = sizes_of(input.height, input.width, filter, request);
    require_possible(request, filter, input, s, study);
    const int64_t count = s.height * s.width, out_count = s.out_height * s.out_width;
    if (out_count == 0 || count == 0) {  // a grid without blocks cannot be launched
        if (!request.output_path.empty()) write_output(request.output_path, input, {}, s);
        std::printf("0 elements: the output is empty, and nothing is launched\n");
        return 0;
    }
    lab::require_device();
    const std::string what = sizeof(T) == 4
                                 ? "floats"
                                 : lab::format("pixels, %lld channel%s", (long long)input.planes,
                                               input.planes == 1 ? "" : "s");
    study.size(lab::format("%lld x %lld %s, filter %d x %d, padding %s, stride %lld",
                           (long long)s.height, (long long)s.width, what.c_str(), filter.height,
                           filter.width, request.padding.c_str(), (long long)s.stride));
    const std::vector<T> outputs = run_variants(request, filter, input, s, study);
    if (!request.output_path.empty()) write_output(request.output_path, input, outputs, s);
    return study.finish();
}

inline int run_on_picture(const Request& request, const InputRequest& input,
                          const FilterRequest& wanted, lab::Study& study) {
    lab::require_writable_image("output", request.output_path, 1, 1, 1);  // the name, for now
    const Filter filter = make_filter(wanted, false);
    const auto require_memory = [&](int64_t height, int64_t width, int channels) {
        require_memory_for(sizes_of(height, width, filter, request), channels, true);
    };
    if (!input.path.empty()) {
        const Input<uint8_t> picture = read_picture(input.path, input.channels, require_memory);
        return run(request, filter, picture, study);
    }
    const int channels = std::max(1, input.channels);
    require_memory(input.height, input.width, channels);
    const lab::Image image = lab::random_image(input.height, input.width, channels, input.seed);
    return run(request, filter, planes_of(image), study);
}

inline int run_on_array(const Request& request, const InputRequest& input,
                        const FilterRequest& wanted, lab::Study& study) {
    if (!request.output_path.empty() && !ends_in_npy(request.output_path)) {
        lab::refuse("--output: %s: the result of floats is an array: choose a name in .npy",
                    lab::quoted(request.output_path).c_str());
    }
    if (!input.path.empty()) {
        const Input<float> array = read_array_input(input.path);
        const Filter filter = make_filter(wanted, array.signal);
        require_memory_for(sizes_of(array.height, array.width, filter, request), 1, false);
        return run(request, filter, array, study);
    }
    const Filter filter = make_filter(wanted, false);
    require_memory_for(sizes_of(input.height, input.width, filter, request), 1, false);
    const int64_t count = input.height * input.width;
    const Input<float> array = {1, input.height, input.width, false,
                                lab::random_values<float>(count, -1, 1, input.seed)};
    return run(request, filter, array, study);
}

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Filters a signal, a matrix or a picture.");
    const InputRequest input = parse_input(arguments);
    const FilterRequest filter = parse_filter(arguments);
    Request request;
    request.padding = arguments.choice("padding", {"zero", "none"}, "zero",
                                       "none: only where the whole filter lies inside");
    request.stride = arguments.integer("stride", 1, 1, longest_side, "from output to output");
    request.block = arguments.block("block", dim3(32, 8), "threads along x and y", 2);
    request.most_blocks = arguments.most_blocks();
    request.output_path =
        arguments.output("output", "the result of one variant, of the input's kind");
    lab::Study study(arguments, lab::names_of(all_variants<float>),
                     {"register_blocking", "separable_blocking"});
    arguments.finish();
    study.require_one_for(arguments, "output", "the result");
    return input.picture ? run_on_picture(request, input, filter, study)
                         : run_on_array(request, input, filter, study);
}
