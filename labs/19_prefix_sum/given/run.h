// What the command line asks for, and how each variant is run and judged. Included behind the
// kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "judging.h"

// The words of look_back end where a sum does, at 2^32, and so do the places of compact; half of it
// is a round number.
constexpr int64_t most_elements = int64_t{1} << 31;

struct Request {
    explicit Request(lab::Arguments& arguments) {
        type = arguments.choice("type", {"int", "float"}, "int", "of the elements, 32 bits");
        elements = arguments.integer("elements", lab::on_cpu ? 64 << 10 : 64 << 20, 0,
                                     most_elements, "of random input");
        data = arguments.choice("data", {"random", "ones", "fractions"}, "random",
                                "all 1; or floats whose sums are rounded");
        task = arguments.choice("task", {"all", "scan", "compaction", "radix_pass"}, "all",
                                "the variants that do this");
        if (task == "radix_pass" && !lab::with_further) {
            lab::refuse(
                "--task: radix_pass is in the lab's folder further, which only FURTHER=1 "
                "builds, as in make run FURTHER=1");
        }
        if (arguments.given("task") && arguments.given("variant")) {
            lab::refuse("--task chooses variants, and so does --variant: give one of them");
        }
        known_every = arguments.integer("known-every", 1, 1, 1 << 30,
                                        "look_back: each Nth tile alone publishes up_to_tile");
        shift = arguments.flag("exclusive", "each sum leaves its own element out");
        input_path = arguments.input("input", "the elements, int32 or float32 .npy");
        output_path = arguments.output("output", "the result of one variant, .npy");
        arguments.excludes("input", {"elements", "data"}, "random input");
    }

    bool wants(Task of_variant) const { return task == "all" || task == name_of(of_variant); }

    std::string type, data, task, input_path, output_path;
    int64_t elements;  // of random input
    int64_t known_every;
    int shift;  // 1: exclusive
};

// What a launcher is given: the scan, or the elements and where they go to; and memory to work in.
template <class T>
struct Work {
    Scan<T> scan;
    uint32_t* kept_count;  // of a compaction
    void* space;           // as many bytes as the variant asks for
    size_t space_bytes;
    unsigned known_every;  // of look_back
};

template <class T>
struct Variant {
    const char* name;
    Task task;
    lab::Launch (*launch)(const Work<T>& work);
    int64_t (*space_bytes)(int64_t count);
    bool cooperative = false;
};

inline int64_t levels_bytes(int64_t count) {
    // one_launch has a sum for each of its blocks, which are as many as run at once
    return 4 * std::max<int64_t>(sums_of_levels(count), 1 << 16);
}
inline int64_t words_bytes(int64_t count) { return 8 * (lab::divide_up(count, tile_size) + 1); }
inline int64_t compact_bytes(int64_t count) { return 8 * count + 4 * sums_of_levels(count); }

// Launchers as the table of variants has them.
template <class T, void (*kernel)(Scan<T>, T*)>
lab::Launch run_levels(const Work<T>& work) {
    return scan_by_levels<T>(kernel, work.scan, static_cast<T*>(work.space));
}
template <class T>
lab::Launch run_one_launch(const Work<T>& work) {
    return launch_one_launch(work.scan, static_cast<T*>(work.space));
}
template <class T>
lab::Launch run_look_back(const Work<T>& work) {
    return launch_look_back(work.scan, static_cast<Word*>(work.space), work.known_every);
}
template <class T>
lab::Launch run_compact(const Work<T>& work) {
    const Scan<T>& scan = work.scan;
    uint32_t* const flags = static_cast<uint32_t*>(work.space);
    return launch_compact(scan.input, scan.count, flags, flags + 2 * scan.count, scan.output,
                          work.kept_count);
}

// The lab's random input. Whole floats whose magnitudes add up to about 2^23 at most: all their
// sums are exact, in whatever order they are added, so each lost one shows.
inline std::vector<float> random_input(const Request& request, float) {
    if (request.data == "ones") return std::vector<float>(request.elements, 1);
    std::vector<float> values = lab::random_values<float>(request.elements, -1, 1, 1);
    if (request.data == "fractions") return values;
    const double choices = 1 + 0x1p23 / double(std::max<int64_t>(1, request.elements));
    for (float& value : values) value = float(int64_t(value * choices));
    return values;
}
inline std::vector<int32_t> random_input(const Request& request, int32_t) {
    if (request.data == "fractions") lab::refuse("--data fractions is for --type float");
    if (request.data == "ones") return std::vector<int32_t>(request.elements, 1);
    return lab::random_values<int32_t>(request.elements, INT32_MIN, INT32_MAX, 1);
}

// Why a cooperative launch is left out, or "".
inline std::string no_cooperative_launch(bool wanted) {
#ifdef CUDA_CPU_REPLAY
    if (wanted) return "the blocks of a cooperative launch are not shown: make run does it";
#endif
    if (wanted && lab::device_attribute(cudaDevAttrCooperativeLaunch) == 0) {
        return "this device has no cooperative launch";
    }
    return "";
}

// Runs and judges the chosen variants. T: what kernels compute in; files hold Stored<T>.
template <class T, size_t count_of_variants>
int run_all(const Request& request, lab::Study& study,
            const Variant<T> (&variants)[count_of_variants]) {
    using Number = Stored<T>;
    lab::require_host_memory(
        (request.input_path.empty() ? request.elements : 0) * 4 * sizeof(Number),
        "an array of this length");
    const std::vector<Number> input = request.input_path.empty()
                                          ? random_input(request, Number{})
                                          : lab::read_array<Number>(request.input_path, 1).values;
    const int64_t count = int64_t(input.size());
    if (count > most_elements) lab::refuse("--input: more than 2^31 elements");
    std::vector<Number> found(count);
    if (count > 0) {
        lab::require_device();
        int64_t space = 0;
        for (const Variant<T>& variant : variants) {
            if (study.chosen(variant.name) && request.wants(variant.task))
                space = std::max(space, variant.space_bytes(count));
        }
        const int64_t bytes = count * int64_t(sizeof(T));
        lab::require_device_memory(2 * bytes + space,
                                   "the array, its result and what lies between");
        study.size(lab::format(
            "%lld %s%s%s%s", static_cast<long long>(count),
            request.type == "int" ? "whole numbers" : "floats", request.shift ? ", exclusive" : "",
            request.task == "all" ? "" : ", ", request.task == "all" ? "" : request.task.c_str()));
        study.limit(lab::copy_bandwidth(bytes));
        const lab::DeviceArray<Number> d_input(input);
        lab::DeviceArray<Number> d_found(count);
        lab::DeviceArray<uint32_t> d_kept_count(1);
        const lab::DeviceArray<char> d_space(space);
        const Work<T> work = {{reinterpret_cast<const T*>(d_input.get()),
                               reinterpret_cast<T*>(d_found.get()), count, request.shift},
                              d_kept_count.get(),
                              d_space.get(),
                              size_t(space),
                              unsigned(request.known_every)};
        Judge<T> judge(input, request.shift);
        for (const Variant<T>& variant : variants) {
            if (!request.wants(variant.task)) continue;
            if (study.skips(variant.name, no_cooperative_launch(variant.cooperative))) continue;
            study.moves(judge.bytes_moved(variant.task));
            std::vector<uint32_t> kept_count(1);
            study.run(
                variant.name,
                [&] {
                    d_found.poison();
                    d_kept_count.poison();
                },
                [&] { return variant.launch(work); },
                [&] {
                    d_found.download(found);
                    d_kept_count.download(kept_count);
                    return judge(variant.task, found, kept_count[0]);
                });
            if (variant.task == Task::compaction && study.only_one() == variant.name) {
                found.resize(std::min<int64_t>(kept_count[0], count));
            }
        }
    }
    if (!request.output_path.empty()) {
        lab::write_array(request.output_path, found.data(), {int64_t(found.size())});
    }
    return count > 0 ? study.finish() : lab::nothing_to_launch("elements");
}
