// What the command line asks for: the options, what they refuse, and the input.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/lab.h"

constexpr int64_t most_elements = int64_t{1} << 38;  // one thread each: a grid holds them
constexpr int most_parts = 1024;                     // of --blocks, and of two_stages

struct Request {
    explicit Request(lab::Arguments& arguments) {
        problem =
            arguments.choice("problem", {"sum", "histogram"}, "sum", "of floats, or of bytes");
        elements = arguments.integer("elements", lab::on_cpu ? 128 << 10 : 64 << 20, 0,
                                     most_elements, "of random input");
        data = arguments.choice("data", {"random", "equal", "fractions"}, "random",
                                "equal bytes; fractions, not whole numbers, to sum");
        input_path = arguments.input("input", "float32 .npy for the sum, uint8 to count");
        output_path = arguments.output("output", "the results of one variant, .npy");
        repeats = arguments.integer("repeat", 1, 1, 1 << 20, "take each result so many times");
        step = arguments.integer("step", 0, 0, most_elements,
                                 "of the first N, 2N, 3N, ... elements; 0: of all");
        blocks = arguments.integer("blocks", 0, 0, most_parts,
                                   "at most, where blocks go round; 0: as many as run at once");
        arguments.excludes("input", {"elements", "data"}, "random input");
        arguments.excludes(
            "demo",
            {"problem", "data", "input", "output", "variant", "repeat", "step", "blocks", "csv"},
            "the variants");
    }

    std::string problem, input_path, output_path, data;
    int64_t elements;  // of random input
    int64_t repeats;   // how often each result is taken
    int64_t step;      // 0: the whole array; otherwise its first step, 2 * step, ... elements
    int64_t blocks;    // 0: as many as the device holds at once; otherwise no more than this

    bool is_sum() const { return problem == "sum"; }

    std::vector<int64_t> sizes(int64_t count) const {
        if (step == 0) return {count};
        std::vector<int64_t> sizes;
        for (int64_t size = step; size <= count; size += step) sizes.push_back(size);
        return sizes;
    }
};

// Refuses what cannot go together. `goes_round`: a chosen variant minds --blocks.
inline void refuse_contradictions(const lab::Arguments& arguments, const Request& request,
                                  bool goes_round) {
    if ((request.repeats > 1 || request.step > 0) && arguments.given("csv")) {
        lab::refuse("--csv takes times, and with --repeat or --step nothing is timed");
    }
    if (request.data == (request.is_sum() ? "equal" : "fractions")) {
        lab::refuse("--data equal is for --problem histogram, and fractions for the sum");
    }
    if (arguments.given("blocks") && !goes_round) {
        lab::refuse("--blocks is for variants whose blocks go round: vectorised and two_stages");
    }
}

// Before anything is computed: can there be such results of `count` elements, and is there room for
// them? Every size has `of_size` bytes of results in each repeat, and as many in the reference.
inline void require_results(const lab::Arguments& arguments, const Request& request, int64_t count,
                            int64_t of_element, int64_t of_size) {
    if (request.step > count) lab::refuse("--step is larger than the array");
    if (arguments.given("csv") && count == 0) {
        lab::refuse("--csv takes times, and 0 elements take none");
    }
    const double sizes = request.step == 0 ? 1 : double(count / request.step);
    const double results = double(request.repeats) * sizes * of_size;
    // what is found, its copy for the file, and that of the variant before
    const double bytes = count * of_element + 3 * results + sizes * (of_size + 64.0);
    lab::require_host_memory(bytes < 0x1p62 ? int64_t(bytes) : -1,
                             "the results of all sizes in all repeats (--step, --repeat)");
}

inline std::vector<float> read_values(const Request& request) {
    if (!request.input_path.empty()) return lab::read_array<float>(request.input_path, 1).values;
    lab::require_host_memory(sizeof(float) * request.elements, "an array of this length");
    std::vector<float> values = lab::random_values<float>(request.elements, 0, 1, 1);
    if (request.data == "fractions") return values;
    // Whole numbers, in all no more than 2^23: their sum is exact, so that each lost one shows.
    const double choices = 1 + 0x1p23 / double(std::max<int64_t>(1, request.elements));
    for (float& value : values) value = float(std::floor(value * choices));
    return values;
}

inline std::vector<uint8_t> read_bytes(const Request& request) {
    if (!request.input_path.empty()) return lab::read_array<uint8_t>(request.input_path, 1).values;
    lab::require_host_memory(2 * request.elements, "an array of this length");
    std::vector<uint8_t> bytes(request.elements, 77);
    if (request.data == "equal" || bytes.empty()) return bytes;
    const std::vector<int64_t> words =  // eight random bytes each
        lab::random_values<int64_t>(request.elements / 8 + 1, INT64_MIN, INT64_MAX, 1);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}
