// Runs the kernels, or works an occupancy out on paper.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "input.h"
#include "tables.h"

// Runs, compares, times; `reference` and `d_output` are of the variant's kind.
template <class T>
inline void measure(const Variant& variant, Shape shape, const Work& work,
                    lab::DeviceArray<T>& d_output, const std::vector<T>& reference,
                    const Options& options, lab::Study& study) {
    std::vector<T> h_output(reference.size());
    const double steps = double(work.items) * work.steps;
    study.moves(variant.walks ? steps * warp_size * sizeof(int32_t) : 0);
    study.computes(variant.walks ? 0 : 2 * steps);
    const auto launch = [&] {
        variant.launch(shape, work);
        return lab::Launch{dim3(shape.grid), dim3(shape.threads)};
    };
    study.run(
        variant.name, [&] { d_output.poison(); }, launch,
        [&] {
            d_output.download(h_output);
            return lab::compare(h_output.data(), reference.data(), h_output.size());
        });
    if (options.output_path.empty()) return;
    std::vector<int64_t> written = {work.items};
    if (work.every_lane) written.push_back(warp_size);
    lab::write_array(options.output_path, h_output.data(), written);
}

inline void run_walk(const Variant& variant, Shape shape, Work work, const Input& input,
                     const Options& options, lab::Study& study) {
    work.every_lane = input.width == warp_size;
    std::vector<int32_t> reference(work.items * input.width);
    walk_on_cpu(input.next.data(), work.rows, input.width, reference.data(), work.items,
                work.steps);
    lab::DeviceArray<int32_t> d_ends(reference.size());
    work.d_ends = d_ends.get();
    measure(variant, shape, work, d_ends, reference, options, study);
}

inline void run_square(const Variant& variant, Shape shape, Work work, const Input& input,
                       const Options& options, lab::Study& study) {
    const bool from_file = !options.values_path.empty();
    const std::vector<float> values = from_file ? input.values : random_starts(work.items);
    std::vector<float> reference(work.items);
    const int64_t once = from_file ? work.items : std::min(work.items, period);
    square_on_cpu(values.data(), reference.data(), once, work.steps);
    for (int64_t i = once; i < work.items; i++) reference[i] = reference[i - period];
    const lab::DeviceArray<float> d_values(values);
    lab::DeviceArray<float> d_results(work.items);
    work.d_values = d_values.get();
    work.d_results = d_results.get();
    measure(variant, shape, work, d_results, reference, options, study);
}

// Why the variant cannot run in such blocks, or "".
inline std::string obstacle(const Variant& variant, const Options& options) {
    if (options.threads > variant.most_threads()) {
        return "its __launch_bounds__ allow blocks of 256 threads at most";
    }
    if (variant.blocks_by_api(options.threads, options.shared_bytes) == 0) {
        return "not one such block fits on a multiprocessor";
    }
    return items_of(variant, options) == 0 ? "there is nothing to do" : "";
}

inline void run_variant(const Variant& variant, const Input& input, const Options& options,
                        lab::Study& study) {
    if (study.skips(variant.name, obstacle(variant, options))) return;
    Work work;
    work.items = items_of(variant, options);
    work.rows = input.rows;
    work.steps = steps_of(variant, options);
    work.d_links = input.d_links;
    const int64_t grid = lab::divide_up(work.items, variant.items_of_block(options.threads));
    const Shape shape = {int(grid), options.threads, options.shared_bytes};
    (variant.walks ? run_walk : run_square)(variant, shape, work, input, options, study);
}

// What one warp alone waits for one row that is in no cache, and what the device copies.
inline void measure_demand(const Input& input, const Options& options) {
    Work work;
    work.items = 1;
    work.rows = input.rows;
    work.steps = lab::on_cpu ? 1000 : 20000;
    work.d_links = input.d_links;
    const lab::DeviceArray<int32_t> d_end(1);
    work.d_ends = d_end.get();
    const double milliseconds = lab::median_milliseconds([&] {
        find("walk_1").launch({1, warp_size, options.shared_bytes}, work);
    });
    std::printf("device: %s\n", lab::device_name().c_str());
    print_demand(1e6 * milliseconds / work.steps,
                 lab::copy_bandwidth(lab::on_cpu ? int64_t{1} << 22 : int64_t{1} << 30),
                 options.bytes_of_thread, lab::device_attribute(cudaDevAttrMultiProcessorCount));
    std::printf("warp slots of a multiprocessor: %d\n", multiprocessor_of_device().warp_slots);
    if (lab::on_cpu) std::printf("\nCPU mode: these are not the figures of a GPU.\n");
}

// Warps on a multiprocessor, by the API, where they are the same for all kernels; or -1.
inline int common_warps(const Options& options) {
    int warps = -1;
    for (const std::string& name : options.names) {
        if (options.threads > find(name).most_threads()) continue;  // it will be skipped
        const int blocks = find(name).blocks_by_api(options.threads, options.shared_bytes);
        const int mine = blocks * int(lab::divide_up(options.threads, warp_size));
        if (warps >= 0 && warps != mine) return -1;
        warps = mine;
    }
    return warps;
}

// What tells this run from others: above the table, and in the CSV.
inline std::string size_text(const Options& options, Multiprocessor whole) {
    std::string text = lab::format("blocks of %d, %d bytes of shared memory", options.threads,
                                   options.shared_bytes);
    const int warps = common_warps(options);
    if (warps >= 0) text += lab::format(", %d of %d warps", warps, whole.warp_slots);
    for (const bool walks : {true, false}) {
        const auto chosen =
            std::find_if(options.names.begin(), options.names.end(),
                         [&](const std::string& name) { return find(name).walks == walks; });
        if (chosen == options.names.end()) continue;
        const int64_t items = walks ? options.walkers : options.values;
        const char* const noun = walks ? "walkers" : "values";
        text += options.waves > 0 ? lab::format(", %s", noun)
                                  : lab::format(", %lld %s", static_cast<long long>(items), noun);
        text += lab::format(" of %d steps", steps_of(find(*chosen), options));
    }
    if (options.waves > 0) text += lab::format(", %g waves", options.waves);
    return text;
}

// The tables of what is known beforehand, then the kernels. Returns the exit status.
inline int run_kernels(const Input& input, const Options& options, Multiprocessor whole,
                       lab::Study& study) {
    bool agree = print_kernels(whole, options.names, options.threads, options.shared_bytes);
    if (options.output_path.empty()) agree = print_agreement(whole) && agree;
    print_best(whole, options.names);
    std::printf("\n");
    study.size(size_text(options, whole));
    if (input.d_links) study.limit(lab::copy_bandwidth(lab::on_cpu ? 1 << 20 : 1 << 28));
    for (const std::string& name : options.names) {
        run_variant(find(name), input, options, study);
    }
    const int status = study.finish();
    const bool judged_alone = !options.output_path.empty();  // then only the result counts
    return status == 0 && !agree && !judged_alone ? 1 : status;
}

inline void write_nothing(const Options& options) {
    if (options.output_path.empty()) {
    } else if (find(options.names[0]).walks) {
        lab::write_array<int32_t>(options.output_path, nullptr, {0});
    } else {
        lab::write_array<float>(options.output_path, nullptr, {0});
    }
    std::printf("no items: the result is empty, and nothing is launched\n");
}

inline void prepare_links(Input& input, const Options& options) {
    input.rows = options.rows;
    if (options.links_path.empty()) {
        input.next = random_cycle(options.rows);
        return;
    }
    const lab::Array<int32_t> file = read_links(options.links_path);
    input.next = file.values;
    input.rows = file.shape[0];
    input.width = file.shape.size() == 2 ? warp_size : 1;
}

inline int run_on_device(Options options, lab::Study& study) {
    Input input;
    const bool walks = options.little || any_walks(options.names);
    if (!options.values_path.empty()) {
        input.values = lab::read_array<float>(options.values_path, 1).values;
        options.values = input.values.size();
    }
    if (walks) {
        prepare_links(input, options);
    }
    const bool one = options.names.size() == 1;
    if (one && (find(options.names[0]).walks ? options.walkers : options.values) == 0) {
        write_nothing(options);
        return 0;
    }
    lab::require_device();
    const Multiprocessor whole = multiprocessor_of_device();
    if (options.shared_bytes > whole.most_shared_bytes) {
        lab::skip("a block of this device has at most %d bytes of shared memory, not %d",
                  whole.most_shared_bytes, options.shared_bytes);
    }
    lab::require_device_memory(input.rows * 4 * (warp_size + 1) +
                                   8 * std::max(options.values, options.walkers * input.width),
                               "the links and the values");
    lab::DeviceArray<int32_t> d_links(walks ? input.rows * warp_size : 0);
    if (walks) spread(input, d_links);
    input.d_links = d_links.get();
    for (const Variant& variant : all_variants) variant.prepare(whole);
    if (!options.little) return run_kernels(input, options, whole, study);
    measure_demand(input, options);
    return 0;
}

inline int run_on_paper(const Options& options) {
    if (options.law) {
        print_demand(options.latency, options.bandwidth, options.bytes_of_thread,
                     options.multiprocessors);
        return 0;
    }
    const Capability& capability = *find_capability(options.compute);
    const Block block = {options.threads, options.registers, options.shared_bytes};
    std::printf("compute capability %s\n", options.compute.c_str());
    print_occupancy(capability.whole, block);
    if (options.grid > 0) {
        const int blocks = occupancy_of(capability.whole, block).blocks;
        print_waves(options.grid, blocks, options.multiprocessors);
    }
    return 0;
}

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv,
                             "Works out the occupancy of kernels and shows when it matters.");
    Options options;
    declare_paper(arguments, options);
    declare_kernels(arguments, options);
    lab::Study study(arguments, lab::names_of(all_variants));
    options.names = study.names();
    arguments.finish();
    refuse_contradictions(arguments, options);
    const bool on_paper = options.calculates || options.law;
    return on_paper ? run_on_paper(options) : run_on_device(options, study);
}
