// What the program multiplies: its options, and matrices from files or at random; and where the product goes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "../../../common/array_file.h"
#include "../../../common/lab.h"
#include "reference.h"

constexpr int64_t longest_side = int64_t{1} << 30;  // sides and tiles add up to less than 31 bits
constexpr int64_t most_elements = int64_t{1}
                                  << 33;  // of c; 2 x 2 tiles of more are too many blocks

#ifdef LAB_FURTHER
const std::vector<std::string> types = {"float", "double", "half"};
#else
const std::vector<std::string> types = {"float", "double"};
#endif

// What a user asks for: sides of random matrices, or files.
struct InputOptions {
    int64_t m, n, k;
    std::string a_path, b_path;

    explicit InputOptions(lab::Arguments& arguments) {
        constexpr int64_t side = lab::on_cpu ? 128 : 2048;
        const int64_t size =
            arguments.integer("size", side, 0, longest_side, "--m, --n and --k in one");
        m = arguments.integer("m", size, 0, longest_side, "rows of random a, and of c");
        n = arguments.integer("n", size, 0, longest_side, "columns of random b, and of c");
        k = arguments.integer("k", size, 0, longest_side, "columns of a, rows of b");
        a_path = arguments.input("a", "a matrix, .npy of the type");
        b_path = arguments.input("b", "another, with as many rows as the first has columns");
    }

    // After Arguments::finish().
    void require_sense(const lab::Arguments& arguments) const {
        if (a_path.empty() != b_path.empty()) {
            lab::refuse("--a and --b go together: give both or none");
        }
        arguments.excludes("a", {"size", "m", "n", "k"}, "random input");
    }
};

// How many elements a, b and c have together; products beyond any machine are cut.
inline int64_t elements_of_all(int64_t m, int64_t n, int64_t k) {
    const int64_t beyond = int64_t{1} << 57;
    return std::min(m * k, beyond) + std::min(k * n, beyond) + std::min(m * n, beyond);
}

inline void require_memory(int64_t m, int64_t n, int64_t k, int64_t element_bytes) {
    const int64_t matrices = elements_of_all(m, n, k) * element_bytes;
    lab::require_host_memory(matrices, "matrices of this size");
    if (m * n > most_elements)
        lab::refuse("c would have %lld x %lld elements; 2^33 is the most here", (long long)m,
                    (long long)n);
    const int64_t reference = (rows_affordable(m, n, k) * (n + 1) + 4 * (m + n)) * 8;
    lab::require_memory(matrices + reference, m * n > 0 ? matrices : 0, "matrices of this size");
}

template <class T>
struct Input {
    lab::Array<T> a, b;
};

// The two matrices: from files where they are given, otherwise random.
template <class T>
Input<T> read_input(const InputOptions& options) {
    const int64_t m = options.m, n = options.n, k = options.k;
    if (options.a_path.empty()) {
        require_memory(m, n, k, sizeof(T));
        return {{{m, k}, lab::random_values<T>(m * k, -1, 1, 1)},
                {{k, n}, lab::random_values<T>(k * n, -1, 1, 2)}};
    }
    Input<T> input = {lab::read_array<T>(options.a_path, 2), lab::read_array<T>(options.b_path, 2)};
    lab::require_finite(input.a, options.a_path);
    lab::require_finite(input.b, options.b_path);
    const auto &a = input.a.shape, &b = input.b.shape;
    if (a[1] != b[0]) {
        lab::refuse(
            "--a has the shape %s and --b has %s: a must have as many columns as b has rows",
            lab::array_shape_text(a).c_str(), lab::array_shape_text(b).c_str());
    }
    if (std::max({a[0], a[1], b[1]}) > longest_side) {
        lab::refuse("--a and --b have more than 1073741824 rows or columns");
    }
    require_memory(a[0], b[1], a[1], sizeof(T));
    return input;
}

// The exit status where c has no element: a grid without blocks cannot be launched, and need not be.
template <class T>
int empty_product(const std::string& path, const std::vector<T>& c, int64_t m, int64_t n) {
    if (!path.empty()) lab::write_array(path, c.data(), {m, n});
    return lab::nothing_to_launch("elements");
}

// Ends the table and writes c, if a path is given and something ran. Returns the exit status.
template <class T>
int finish(lab::Study& study, const std::string& path, const std::vector<T>& c, int64_t m,
           int64_t n) {
    const int status = study.finish();
    if (!path.empty() && status != 77) lab::write_array(path, c.data(), {m, n});
    return status;
}
