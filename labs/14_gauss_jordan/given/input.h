// Systems from files: NumPy's .npy and Matrix Market's .mtx; and random ones.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <strings.h>

#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "matrix_market.h"
#include "system.h"

// A X = B on the host. a: (n, n), b: (n, sides), row-major
template <class T>
struct Problem {
    int64_t n = 0, sides = 0;
    std::vector<T> a, b;
    bool b_is_vector = true;  // the solution's file has the shape of b's
    std::string words;        // "random, 0 to 10", or the name of a file
};

// a and b, on the host with the factors of the CPU and the solution, on the device as variants need them.
inline void require_memory(int64_t n, int64_t sides, int64_t element_bytes) {
    const int64_t device = n * sides > 0 ? elements_on_device(n, sides) * element_bytes : 0;
    lab::require_memory((n * n + n * sides) * 2 * element_bytes, device, "a system of this size");
}

// ---------------------------------------------------------------------------------------------
// The problem that the options describe

struct InputOptions {
    std::string a_path, b_path;
    int64_t n, sides;
    double range, value;
    int64_t seed;
    bool inverse;
};

// By the end of its name, or by its first words, in letters of either size.
inline bool is_matrix_market(const std::string& path) {
    const bool named_so =
        path.size() > 4 && strcasecmp(path.c_str() + path.size() - 4, ".mtx") == 0;
    const std::string start = beginning(path);
    if (start.compare(0, 6, "\x93NUMPY") == 0) return false;
    return named_so || strncasecmp(start.c_str(), "%%MatrixMarket", 14) == 0;
}

// Any matrix from either kind of file; a vector of a .npy file is a column.
template <class T>
lab::Array<T> read_matrix(const std::string& path) {
    const std::string start = beginning(path), problem = lab::foreign_file(start);
    if (!problem.empty()) {
        lab::refuse("cannot read %s: %s", lab::quoted(path).c_str(), problem.c_str());
    }
    if (is_harwell_boeing(start)) {
        lab::refuse(
            "cannot read %s: it is a Harwell-Boeing file; take the Matrix Market form (.mtx) of "
            "the "
            "matrix, which collections offer as well",
            lab::quoted(path).c_str());
    }
    if (!is_matrix_market(path)) return lab::read_array<T>(path);
    MatrixMarketFile file(path);
    return {{file.height(), file.width()}, file.read<T>()};
}

template <class T>
void read_coefficients(Problem<T>& problem, const std::string& path) {
    lab::Array<T> a = read_matrix<T>(path);
    if (a.shape.size() != 2 || a.shape[0] != a.shape[1]) {
        lab::refuse(
            "--a has the shape %s: a system has as many equations as unknowns, so it must be "
            "square",
            lab::array_shape_text(a.shape).c_str());
    }
    if (a.shape[0] > largest_n) {
        lab::refuse("--a has more than %lld rows", (long long)largest_n);
    }
    lab::require_finite(a, path);
    problem.n = a.shape[0];
    problem.a = std::move(a.values);
    problem.words = path.substr(path.rfind('/') + 1);
}

template <class T>
void read_right_sides(Problem<T>& problem, const std::string& path) {
    lab::Array<T> b = read_matrix<T>(path);
    if (b.shape.empty() || b.shape.size() > 2 || b.shape[0] != problem.n) {
        lab::refuse("--b has the shape %s: it needs %lld rows, one for each equation",
                    lab::array_shape_text(b.shape).c_str(), (long long)problem.n);
    }
    lab::require_finite(b, path);
    problem.sides = b.shape.size() == 2 ? b.shape[1] : 1;
    if (problem.sides > largest_n) {
        lab::refuse("--b has more than %lld columns", (long long)largest_n);
    }
    problem.b_is_vector = b.shape.size() == 1 || (is_matrix_market(path) && problem.sides == 1);
    problem.b = std::move(b.values);
}

// What files say is read first; what is not in files is made when the memory for all of it is there.
template <class T>
Problem<T> read_problem(const InputOptions& options) {
    Problem<T> problem;
    problem.n = options.n;
    if (!options.a_path.empty()) read_coefficients(problem, options.a_path);
    problem.sides = options.inverse ? problem.n : options.sides;
    problem.b_is_vector = problem.sides == 1 && !options.inverse;
    if (!options.b_path.empty()) read_right_sides(problem, options.b_path);
    const int64_t n = problem.n;
    require_memory(n, problem.sides, sizeof(T));
    if (options.a_path.empty()) {
        problem.a = lab::random_values<T>(n * n, 0, T(options.range), options.seed);
        problem.words = lab::format("random, 0 to %g", options.range);
    }
    if (options.b_path.empty()) {
        problem.b.assign(size_t(n * problem.sides), options.inverse ? T(0) : T(options.value));
        for (int64_t i = 0; options.inverse && i < n; i++) problem.b[i * n + i] = 1;
    }
    return problem;
}
