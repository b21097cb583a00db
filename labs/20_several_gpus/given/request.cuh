// What the command line asks for, and the input.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

inline std::vector<std::string> variant_names() {
    return {"heat_one", "heat_waiting", "heat_reading", "heat",   "sum_through_first",
            "sum_ring", "sum_nccl",     "product_one",  "product"};
}
// "heat", "sum" or "product".
inline std::string part_of(const std::string& variant) {
    return variant.substr(0, variant.find('_'));
}

struct Request {
    int cards, height, width, steps, size;
    int64_t numbers;
    std::string plate_path, arrays_path, a_path, b_path, output;
    std::vector<float> plate, a, b;             // (height, width), (m, k), (k, n)
    std::vector<std::vector<uint32_t>> arrays;  // a card each
    int m = 0, n = 0, k = 0;

    explicit Request(lab::Arguments& arguments) {
        const auto number = [&](const char* name, int64_t card, int64_t cpu, int64_t lowest,
                                int64_t highest, const char* help) {
            return arguments.integer(name, lab::on_cpu ? cpu : card, lowest, highest, help);
        };
        cards = int(number("devices", 0, 4, 0, 32,
                           "that share the work; 0: all there are, and 2 at least"));
        height = int(number("height", 8192, 200, 1, 1 << 20, "of the plate, in cells"));
        width = int(number("width", 8192, 96, 1, 1 << 20, "of the plate"));
        steps = int(number("steps", 20, 4, 0, 100000, "in which heat spreads"));
        numbers = number("numbers", 64 << 20, 20000, 1, int64_t{1} << 31, "that each card adds");
        size = int(number("size", 4096, 80, 1, 1 << 15, "of the square matrices"));
        plate_path = arguments.input("plate", "its heat, float32 of (height, width)");
        arrays_path = arguments.input("arrays", "what is added, int32 of (cards, numbers)");
        a_path = arguments.input("a", "the left matrix, int32");
        b_path = arguments.input("b", "the right matrix, int32");
        output = arguments.output("output", "the result of one variant");
        arguments.excludes("plate", {"height", "width"}, "a random plate");
        arguments.excludes("arrays", {"numbers", "devices"}, "random arrays");
        arguments.excludes("a", {"size"}, "random matrices");
    }

    // Refuses what does not go together, and makes or reads what the chosen variants work on.
    void finish(const lab::Arguments& arguments, const lab::Study& study) {
        study.require_one_for(arguments, "output", "the result");
        const auto wanted = [&](const char* part) {
            const auto& names = study.names();
            return std::any_of(names.begin(), names.end(),
                               [&](const std::string& name) { return part_of(name) == part; });
        };
        read_arrays();
        make_devices();
        if (wanted("heat")) read_plate();
        if (wanted("sum") && arrays.empty()) {
            lab::require_host_memory(4 * numbers * (cards + 2), "an array a card");
            for (int card = 0; card < cards; ++card)
                arrays.push_back(lab::random_values<uint32_t>(numbers, 0, UINT32_MAX, 7 + card));
        }
        if (wanted("product")) read_matrices();
    }

 private:
    // CPU mode pretends as many devices as are asked for, unless the environment says how many there are.
    void make_devices() {
        if (lab::on_cpu && cards > 0) setenv("CUDA_CPU_DEVICES", std::to_string(cards).c_str(), 0);
        if (cards > 0) return;
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess) devices = 0;
        cards = std::max(2, devices);
    }

    void read_arrays() {
        if (arrays_path.empty()) return;
        const auto read = lab::read_array<int32_t>(arrays_path, 2);
        numbers = read.shape[1];
        if (read.shape[0] < 1 || read.shape[0] > 32 || numbers < 1)
            lab::refuse("--arrays: from 1 to 32 arrays, with a number each at least");
        cards = int(read.shape[0]);
        for (auto row = read.values.begin(); row != read.values.end(); row += numbers)
            arrays.emplace_back(row, row + numbers);
    }

    void read_plate() {
        if (!plate_path.empty()) {
            auto read = lab::read_array<float>(plate_path, 2);
            if (read.count() < 1 || std::max(read.shape[0], read.shape[1]) > 1 << 20)
                lab::refuse("--plate: no cells, or more than 2^20 in a row or a column");
            height = int(read.shape[0]), width = int(read.shape[1]);
            plate = std::move(read.values);
            return;
        }
        const int64_t cells = int64_t{height} * width;
        lab::require_host_memory(16 * cells, "a plate of this size");
        plate = lab::random_values<float>(cells, 0, 100, 5);
    }

    // Whole numbers whose products add up to less than 2^24: as floats they are exact, in any order.
    void read_matrices() {
        if (a_path.empty() != b_path.empty())
            lab::refuse("--a and --b go together: give both or none");
        if (!a_path.empty()) {
            const auto left = lab::read_array<int32_t>(a_path, 2);
            const auto right = lab::read_array<int32_t>(b_path, 2);
            if (left.count() < 1 || right.count() < 1 || left.shape[1] != right.shape[0])
                lab::refuse("--a and --b: shapes %s and %s have no product",
                            lab::array_shape_text(left.shape).c_str(),
                            lab::array_shape_text(right.shape).c_str());
            m = int(left.shape[0]), k = int(left.shape[1]), n = int(right.shape[1]);
            a.assign(left.values.begin(), left.values.end());
            b.assign(right.values.begin(), right.values.end());
        } else {
            m = n = k = size;
            lab::require_host_memory(24 * int64_t{size} * size, "matrices of this size");
            for (std::vector<float>* const matrix : {&a, &b})
                for (const int value :
                     lab::random_values<int>(int64_t{size} * size, -8, 8, matrix == &a ? 3 : 4))
                    matrix->push_back(float(value));
        }
        const auto largest = [](const std::vector<float>& values) {
            float most = 0;
            for (const float value : values) most = std::max(most, std::fabs(value));
            return double(most);
        };
        if (largest(a) * largest(b) * k >= 0x1p24)
            lab::refuse("--a and --b: sums of 2^24 and more are not exact in floats");
    }
};
