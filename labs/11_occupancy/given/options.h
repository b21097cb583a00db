// The options, and which of them go together.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "multiprocessors.h"

struct Options {
    // on paper
    std::string compute;
    bool calculates, law;
    int registers, multiprocessors, bytes_of_thread;
    int64_t grid;
    double latency, bandwidth;
    // on the device
    bool little;
    std::vector<std::string> names;
    std::string values_path, links_path, output_path;
    int threads, shared_bytes, steps;
    int64_t walkers, values, rows;
    double waves;  // 0: as many items as were asked for
};

inline bool any_walks(const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return find(name).walks; });
}

inline bool any_squares(const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return !find(name).walks; });
}

inline void declare_paper(lab::Arguments& arguments, Options& options) {
    options.compute =
        arguments.text("compute", "", "work out this compute capability: " + known_text());
    options.calculates = arguments.given("compute");
    options.registers = arguments.integer("registers", 32, 0, 255, "of a thread, with --compute");
    options.grid = arguments.integer("grid", 0, 0, 2147483647, "blocks, with --compute");
    options.multiprocessors =
        arguments.integer("multiprocessors", 1, 1, 1024, "with --compute or --latency");
    options.latency =
        arguments.real("latency", 500, 0, 1e6, "of memory in ns: work out Little's law");
    options.law = arguments.given("latency");
    options.bandwidth =
        arguments.real("bandwidth", 1000, 0, 1e6, "of memory in GB/s, with --latency");
    options.bytes_of_thread =
        arguments.integer("bytes", 4, 1, 65536, "that a thread has under way, for Little's law");
}

inline void declare_kernels(lab::Arguments& arguments, Options& options) {
    constexpr int64_t most = int64_t{1} << 30;
    const dim3 block = arguments.block("block", dim3(256), "threads of a block");
    options.threads = block.x * block.y * block.z;
    options.shared_bytes =
        arguments.integer("shared", 0, 0, 228 * 1024, "bytes of shared memory of a block");
    options.little = arguments.flag("little", "measure latency and bandwidth: Little's law");
    options.walkers = arguments.integer("walkers", lab::on_cpu ? 256 : 64 * 1024, 0, most / 64,
                                        "of the walks, one a warp and chain");
    options.rows = arguments.integer("rows", lab::on_cpu ? 4096 : 2 * 1024 * 1024, 1, most / 32,
                                     "of 128 bytes that the walks go through");
    options.values = arguments.integer("values", lab::on_cpu ? 4096 : 4 * 1024 * 1024, 0, most,
                                       "of the squares, one a thread and chain");
    options.steps = arguments.integer("steps", lab::on_cpu ? 64 : 2048, 0, 1000000,
                                      "of each square; a walk takes 64 without it");
    if (!arguments.given("steps")) options.steps = -1;
    options.waves = arguments.real("waves", 0, 0, 64, "as many items as make so many waves");
    options.values_path = arguments.input("values-file", "values of the squares, float32 .npy");
    options.links_path = arguments.input("links", "the next row of each row, int32 .npy");
    options.output_path = arguments.output("output", "the results of one variant");
}

// What a run is about; an option that says nothing to it is refused rather than ignored.
enum Question { on_occupancy = 1, on_the_law = 2, on_the_device = 4, on_kernels = 8 };

struct Rule {
    const char* option;
    int questions;  // that take the option
    const char* others;
};

const char* const kernels_only = "the kernels: drop --compute, --latency or --little";
const Rule rules[] = {
    {"registers", on_occupancy, "--compute: a kernel has its own"},
    {"grid", on_occupancy, "--compute: a kernel's grid follows from its work"},
    {"bandwidth", on_the_law, "--latency"},
    {"bytes", on_the_law | on_the_device, "--latency or --little"},
    {"multiprocessors", on_occupancy | on_the_law, "--compute or --latency: a device has its own"},
    {"block", on_occupancy | on_kernels, "--compute or the kernels"},
    {"shared", on_occupancy | on_the_device | on_kernels, "--compute, --little or the kernels"},
    {"rows", on_the_device | on_kernels, "--little or the walks"},
    {"links", on_the_device | on_kernels, "--little or the walks"},
    {"walkers", on_kernels, kernels_only},
    {"values", on_kernels, kernels_only},
    {"values-file", on_kernels, kernels_only},
    {"steps", on_kernels, kernels_only},
    {"waves", on_kernels, kernels_only},
    {"variant", on_kernels, kernels_only},
    {"output", on_kernels, kernels_only},
    {"csv", on_kernels, kernels_only},
};

inline void refuse_strangers(const lab::Arguments& arguments, const Options& options) {
    const int question = options.calculates ? on_occupancy
                         : options.law      ? on_the_law
                         : options.little   ? on_the_device
                                            : on_kernels;
    for (const Rule& rule : rules) {
        if ((rule.questions & question) || !arguments.given(rule.option)) continue;
        lab::refuse("--%s goes with %s", rule.option, rule.others);
    }
    if (question != on_kernels) return;
    for (const char* option : {"walkers", "rows", "links"}) {
        if (any_walks(options.names) || !arguments.given(option)) continue;
        lab::refuse("--%s is for the walks, and none was chosen", option);
    }
    for (const char* option : {"values", "values-file"}) {
        if (any_squares(options.names) || !arguments.given(option)) continue;
        lab::refuse("--%s is for the squares, and none was chosen", option);
    }
    for (const char* option : {"walkers", "values", "values-file"}) {
        if (options.waves == 0 || !arguments.given(option)) continue;
        lab::refuse("--waves says how many items there are: drop it, or --%s", option);
    }
}

inline void refuse_contradictions(const lab::Arguments& arguments, const Options& options) {
    if (options.calculates + options.law + options.little > 1) {
        lab::refuse("--compute, --latency and --little are three questions: ask one at a time");
    }
    if (options.calculates && find_capability(options.compute) == std::end(capabilities)) {
        lab::refuse("--compute: %s is not one of %s", lab::quoted(options.compute).c_str(),
                    known_text().c_str());
    }
    refuse_strangers(arguments, options);
    if (options.calculates || options.law) return;
    if (options.threads % warp_size != 0 && any_walks(options.names)) {
        lab::refuse("--block: the walks want whole warps, a multiple of 32");
    }
    if (!options.output_path.empty() && options.names.size() != 1) {
        lab::refuse("--output takes one result: choose with --variant");
    }
    if (!options.values_path.empty() && arguments.given("values")) {
        lab::refuse("--values-file says how many values there are: drop --values");
    }
    if (!options.links_path.empty() && arguments.given("rows")) {
        lab::refuse("--links says how many rows there are: drop --rows");
    }
}
