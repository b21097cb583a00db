// What the command line asks for, and the nodes and points: generated, or from files.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/lab.h"
#include "nodes.h"

constexpr int64_t most_nodes = 1 << 20;
constexpr int64_t most_points = INT32_MAX;  // as many blocks as the phases' grid has along x

struct Function {
    const char* name;
    double (*value)(double x);
};

const Function all_functions[] = {
    {"runge", [](double x) { return 1 / (1 + 25 * x * x); }},
    {"sign", [](double x) { return double((x > 0) - (x < 0)); }},
    {"exp_cos", [](double x) { return std::exp(x) / std::cos(x); }},
    {"abs_line", [](double x) { return std::fabs(x) + x / 2 - x * x; }},
    {"sine", [](double x) { return std::sin(x); }},
};

struct Problem {
    std::vector<double> x, y;  // the nodes
    std::vector<double> abscissae;
    const Function* function = nullptr;  // what the nodes were taken from, if they were generated
};

// Both ends included; a single one is the lower end.
inline std::vector<double> equispaced(double from, double to, int64_t count) {
    std::vector<double> values = lab::zeros<double>(count);
    lab::in_parts(count, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            const double share =
                i == 0 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
            values[i] = from * (1 - share) + to * share;
        }
    });
    if (count > 1) values.back() = to;
    return values;
}

// Of the second kind: the extrema of Chebyshev's polynomial of degree n, the ends among them; from
// left to right cos(pi (n - j) / n), here as a sine, which is exact in the middle.
inline std::vector<double> chebyshev(double from, double to, int64_t count) {
    std::vector<double> values(count, from / 2 + to / 2);
    const double n = static_cast<double>(count - 1), pi = std::acos(-1.0);
    for (int64_t j = 0; j < count && count > 1; j++) {
        values[j] +=
            (to / 2 - from / 2) * std::sin(pi * (2 * static_cast<double>(j) - n) / (2 * n));
    }
    if (count > 1) values.front() = from, values.back() = to;
    return values;
}

// Refuses NaN and infinity, with their place.
inline void require_finite(const std::vector<double>& values, const std::string& what) {
    const auto bad = std::find_if(values.begin(), values.end(),
                                  [](double value) { return !std::isfinite(value); });
    if (bad == values.end()) return;
    lab::refuse("%s is %s at index %lld: every value must be a finite number", what.c_str(),
                std::isnan(*bad) ? "NaN" : "infinite",
                static_cast<long long>(bad - values.begin()));
}

// The power of two by which abscissae are multiplied so that the nodes lie 3 to 6 apart: over 4 the
// products of evenly placed differences stay near 1.
inline int unit_exponent(const std::vector<double>& x) {
    const auto ends = std::minmax_element(x.begin(), x.end());
    const long double width = static_cast<long double>(*ends.second) - *ends.first;
    if (width == 0) return -2;  // a single node: small enough for a difference to be finite
    int exponent;
    const long double share = std::frexp(width, &exponent);
    return (share < 0.7L ? 3 : 2) - exponent;
}

// The two factors of that power: the power itself may be out of range.
inline double unit_factor(int exponent, bool again) {
    return std::ldexp(1.0, again ? exponent - exponent / 2 : exponent / 2);
}

// The indices of the nodes from left to right. Refuses two in one place.
inline std::vector<int64_t> sorted_nodes(const std::vector<double>& x) {
    std::vector<int64_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return x[a] < x[b]; });
    const int exponent = unit_exponent(x);
    const double unit = unit_factor(exponent, false), again = unit_factor(exponent, true);
    for (size_t i = 1; i < order.size(); i++) {
        const long long a = std::min(order[i - 1], order[i]), b = std::max(order[i - 1], order[i]);
        if (x[a] == x[b]) {
            lab::refuse(
                "nodes %lld and %lld have the same abscissa, %.17g: no polynomial is defined", a, b,
                x[a]);
        }
        if (in_unit(x[a], unit, again) == in_unit(x[b], unit, again)) {
            lab::refuse(
                "nodes %lld and %lld lie too close together for nodes so far apart: between "
                "the closest and the farthest no double has room",
                a, b);
        }
    }
    return order;
}

// Deals the nodes out like cards, from left to right to as many hands as there are groups. Each
// group then is spread over the whole interval, and its products are neither huge nor tiny.
inline void deal(Problem& problem) {
    const std::vector<int64_t> order = sorted_nodes(problem.x);
    const int count = order.size();
    std::vector<double> x(count), y(count);
    for (int i = 0; i < count; i++) {
        x[dealt_place(i, count)] = problem.x[order[i]];
        y[dealt_place(i, count)] = problem.y[order[i]];
    }
    problem.x = x;
    problem.y = y;
}

struct Options {
    explicit Options(lab::Arguments& arguments) {
        nodes = arguments.choice("nodes", {"equispaced", "chebyshev"}, "chebyshev",
                                 "generated nodes; chebyshev: of the second kind, cos(j pi / n)");
        function = arguments.choice("function", lab::names_of(all_functions), "runge",
                                    "where they are taken from");
        degree = arguments.integer("degree", 31, 0, most_nodes - 1, "n, for n + 1 nodes");
        from = arguments.real("from", -1, -DBL_MAX, DBL_MAX, "left end of nodes and points");
        to = arguments.real("to", 1, -DBL_MAX, DBL_MAX, "right end of nodes and points");
        points = arguments.integer("points", lab::on_cpu ? 100 : 1000000, 0, most_points,
                                   "S, how many points, equispaced");
        x_path = arguments.input("x", "abscissae of the nodes, float64 .npy, in any order");
        y_path = arguments.input("y", "ordinates of the nodes, as many");
        at_path = arguments.input("at", "abscissae of the points, float64 .npy");
        piece = arguments.integer("piece", 0, 0, most_points,
                                  "points at a time in overlapped; 0: a sixteenth of all");
        output_path = arguments.output("output", "the values, for one variant");
        arguments.excludes("x", {"nodes", "function", "degree", "from", "to"}, "generated nodes");
        arguments.excludes("at", {"points"}, "generated points");
    }

    // After arguments.finish().
    void refuse_contradictions() const {
        if (x_path.empty() != y_path.empty()) {
            lab::refuse("--x and --y go together: give both or none");
        }
        if (!(from < to)) {
            lab::refuse("--from must be less than --to, and %g is not less than %g", from, to);
        }
    }

    // Points at a time in overlapped, of so many.
    int64_t piece_of(int64_t points) const {
        if (piece > 0) return piece;
        return std::min<int64_t>(std::max<int64_t>(lab::divide_up(points, 16), 65536), 1 << 22);
    }

    std::string nodes, function, x_path, y_path, at_path, output_path;
    int64_t degree, points, piece;
    double from, to;
};

inline void generate_nodes(Problem& problem, const Options& options) {
    const int64_t count = options.degree + 1;
    problem.x = options.nodes == "equispaced" ? equispaced(options.from, options.to, count)
                                              : chebyshev(options.from, options.to, count);
    problem.function = &lab::variant_of(all_functions, options.function);
    for (const double x : problem.x) problem.y.push_back(problem.function->value(x));
    require_finite(problem.y, "the function " + options.function + " at the nodes");
}

inline void read_nodes(Problem& problem, const Options& options) {
    problem.x = lab::read_array<double>(options.x_path, 1).values;
    problem.y = lab::read_array<double>(options.y_path, 1).values;
    if (problem.x.size() != problem.y.size()) {
        lab::refuse("--x has %zu values and --y has %zu: a node needs one of each",
                    problem.x.size(), problem.y.size());
    }
    if (problem.x.empty()) lab::refuse("--x and --y are empty: at least one node is needed");
    if (problem.x.size() > most_nodes) {
        lab::refuse("--x has %zu nodes, and at most %lld are allowed", problem.x.size(),
                    static_cast<long long>(most_nodes));
    }
    require_finite(problem.x, "--x");
    require_finite(problem.y, "--y");
}

inline Problem read_problem(const Options& options) {
    Problem problem;
    options.x_path.empty() ? generate_nodes(problem, options) : read_nodes(problem, options);
    if (options.at_path.empty()) {
        const auto ends = std::minmax_element(problem.x.begin(), problem.x.end());
        const bool generated = options.x_path.empty();
        lab::require_host_memory(2 * sizeof(double) * options.points, "that many points");
        problem.abscissae = equispaced(generated ? options.from : *ends.first,
                                       generated ? options.to : *ends.second, options.points);
    } else {
        problem.abscissae = lab::read_array<double>(options.at_path, 1).values;
        if (problem.abscissae.size() > most_points)
            lab::refuse("--at has more than 2147483647 values");
        require_finite(problem.abscissae, "--at");
    }
    deal(problem);
    return problem;
}
