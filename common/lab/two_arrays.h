// Two arrays of floats of one shape, as a sum takes them: from files, or random.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../array_file.h"

namespace lab {

struct TwoArrays {
    std::vector<int64_t> shape;
    std::vector<float> a, b;  // row-major
};

// What the options --a and --b name, with as many dimensions as `shape` has; without both, random
// values of that shape.
inline TwoArrays read_two_arrays(const std::string& a_path, const std::string& b_path,
                                 const std::vector<int64_t>& shape) {
    if (a_path.empty() != b_path.empty()) refuse("--a and --b go together: give both or none");
    TwoArrays two = {shape, {}, {}};
    if (!a_path.empty()) {
        Array<float> a = read_array<float>(a_path, int(shape.size()));
        Array<float> b = read_array<float>(b_path, int(shape.size()));
        if (a.shape != b.shape) {
            refuse("--a has the shape %s and --b has %s: they must have the same",
                   array_shape_text(a.shape).c_str(), array_shape_text(b.shape).c_str());
        }
        two = {a.shape, std::move(a.values), std::move(b.values)};
    }
    int64_t count = 1;
    for (const int64_t side : two.shape) count = std::min(count * side, int64_t{1} << 56);
    require_host_memory(5 * int64_t(sizeof(float)) * count, "arrays of this size");
    if (a_path.empty()) {
        two.a = random_values<float>(count, -100, 100, 1);
        two.b = random_values<float>(count, -100, 100, 2);
    }
    return two;
}

}  // namespace lab
