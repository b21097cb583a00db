// Runs a variant, judges what it finds, and takes its time.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "solver.h"

struct Options {
    InputOptions input;
    std::vector<std::string> names;
    std::string output_path, study_path;
    bool cpu_asked_for;
};

// A run with what is known about all of its variants.
template <class T>
struct Run {
    const Options& options;
    const Problem<T>& problem;
    lab::Results& results;
    Norms norms;
    double allowed, allowed_by_jordan;  // of the backward error; of the variant gauss_jordan
    double operations;
    double condition;   // NaN: not known yet
    double backward;    // the largest backward error of a right solution
    std::vector<T> x;   // of the last variant that found one
    std::string study;  // lines for --study

    // Whether every variant must find all its pivots.
    bool is_regular() const { return condition * epsilon<T> < 1; }

    bool chosen(const std::string& name) const {
        return std::count(options.names.begin(), options.names.end(), name) > 0;
    }

    double allowed_for(const std::string& name) const {
        return name == "gauss_jordan" ? allowed_by_jordan : allowed;
    }

    bool is_right(const std::string& name, const std::vector<T>& solution) const {
        const double limit = allowed_for(name);
        return find_errors(problem, solution, norms.rows, limit).backward <= limit;
    }
};

// The largest backward error of a right solution. With partial pivoting it is at most of the order of 1
// but for matrices in which elements grow; of these the CPU's own elimination gives the measure. So does its
// Gauss-Jordan elimination for that variant, where the condition is bad.
constexpr double usual_backward_error = 16;

// What is wrong with X, which may be that nobody has written it, or that the type has no such numbers.
template <class T>
std::string what_is_wrong(const std::vector<T>& x, const Errors& errors, int64_t sides) {
    const auto is_finite = [](T value) { return std::isfinite(value); };
    const auto is_zero = [](T value) { return value == 0; };
    const char* const type = is_double<T> ? "double" : "float";
    const auto* const bytes = reinterpret_cast<const unsigned char*>(x.data());
    if (std::all_of(bytes, bytes + x.size() * sizeof(T), [](int byte) { return byte == 0xFF; })) {
        return "not one unknown was written";
    }
    if (!std::all_of(x.begin(), x.end(), is_finite)) {
        return lab::format(
            "X is not finite; if numbers become too large for a %s, divide B, or A and B, by a "
            "number",
            type);
    }
    if (std::all_of(x.begin(), x.end(), is_zero)) {
        return lab::format("X is 0; if it is too small for a %s, multiply B by a number", type);
    }
    return lab::format("A X is not B: in row %lld, column %lld it is %.6g, and B has %.6g there",
                       (long long)(errors.place / sides), (long long)(errors.place % sides),
                       errors.got, errors.expected);
}

// `later`: X is of a later run than the first one, which was right.
template <class T>
void report_errors(Run<T>& run, const std::string& name, lab::Launch shape, double milliseconds,
                   bool later = false) {
    const double allowed = run.allowed_for(name);
    const Errors errors = find_errors(run.problem, run.x, run.norms.rows, allowed);
    lab::Comparison comparison;
    comparison.count = run.problem.n * run.problem.sides;
    comparison.later = later;
    if (errors.backward <= run.allowed) {
        run.backward = std::max(run.backward, errors.backward);
    } else if (errors.backward <= allowed) {
        run.results.note(
            "gauss_jordan: what it eliminates above the diagonal is magnified by the condition, on "
            "the CPU as well");
    } else {
        comparison.wrong = std::max<int64_t>(1, errors.above);
        comparison.first = errors.place;
        comparison.expected = errors.expected;
        comparison.got = errors.got;
        run.results.note(name + ": " + what_is_wrong(run.x, errors, run.problem.sides));
    }
    run.results.add(name, shape.grid, shape.block, milliseconds, 0, run.operations, comparison);
    run.results.note(lab::format("%s: largest |b - A x| %.3g, backward error %.3g", name.c_str(),
                                 errors.residual, errors.backward));
    run.study += lab::format("%s,%s,%lld,%g,%g,%.6g,%.6g,%.6g\n", name.c_str(),
                             is_double<T> ? "double" : "float", (long long)run.problem.n,
                             run.options.input.range, run.options.input.value, milliseconds,
                             errors.residual, errors.backward);
}

// No pivot: the matrix has none, or the variant has missed it.
template <class T>
void report_singular(Run<T>& run, const std::string& name, lab::Launch shape, int column) {
    if (!run.is_regular()) {
        lab::fail("%s: A is singular to working precision: column %d (counted from 0) has no pivot",
                  name.c_str(), column);
    }
    lab::Comparison comparison;
    comparison.count = run.problem.n;
    comparison.wrong = run.problem.n - column;
    comparison.first = column;
    comparison.got = NAN;
    run.x.clear();
    run.results.add(name, shape.grid, shape.block, 0, 0, 0, comparison);
    run.results.note(
        lab::format("%s: no pivot found in column %d (counted from 0), where the CPU finds one",
                    name.c_str(), column));
}

// The median time of work() after setup(), which is not timed.
template <class Setup, class F>
double time_after(Setup&& setup, F&& work) {
    const lab::NvtxRange range("timing");
    lab::EventTimer timer;
    return lab::median_of(3, lab::on_cpu ? 3 : 20, 150, [&] {
        setup();
        CHECK(cudaDeviceSynchronize());
        timer.start();
        work();
        timer.stop();
        return timer.milliseconds();
    });
}

template <class T>
void run_variant(Run<T>& run, Solver<T>& solver, const Variant<T>& variant) {
    const lab::NvtxRange range(variant.name);
    if (!variant.reason.empty()) {
        run.results.skip(variant.name, variant.reason);
        return;
    }
    int rounds = -1;
    solver.reset();
    const lab::Launch shape = variant.solve(rounds);
    const int singular = solver.singular();
    if (singular >= 0) return report_singular(run, variant.name, shape, singular);
    const std::vector<T> first = solver.solution();
    const double milliseconds = time_after([&] { solver.reset(); }, [&] { variant.solve(rounds); });
    run.x = solver.solution();  // of the last run: what is right only once shows
    const bool later = std::memcmp(first.data(), run.x.data(), first.size() * sizeof(T)) != 0 &&
                       run.is_right(variant.name, first);
    if (!later) run.x = first;
    report_errors(run, variant.name, shape, milliseconds, later);
    if (rounds >= 0) {
        run.results.note(rounds > 0 ? lab::format("%s: %d round%s", variant.name.c_str(), rounds,
                                                  rounds == 1 ? "" : "s")
                                    : variant.name +
                                          ": floats made no progress, so doubles have solved it");
    }
}

// The CPU's solution: the measure of what rounding does to this matrix, and a row of the table.
template <class T>
void run_on_cpu(Run<T>& run) {
    const lab::NvtxRange range("reference");
    const int64_t n = run.problem.n;
    const lab::HostTimer clock;
    const HostFactors<T> factors = factor_on_cpu(run.problem.a, n);
    run.x = solve_on_cpu(factors, run.problem.b, n, run.problem.sides);
    const double milliseconds = clock.milliseconds();
    run.condition = estimate_condition(factors, run.norms.columns, n);
    if (factors.singular >= 0) {
        if (run.options.names.size() > 1 || !run.chosen("cpu")) return;  // let the device say so
        lab::fail(
            "cpu: A is singular to working precision: column %lld (counted from 0) has no pivot",
            (long long)factors.singular);
    }
    const double backward = find_errors(run.problem, run.x, run.norms.rows, run.allowed).backward;
    if (backward > run.allowed / 8 && std::isfinite(backward)) run.allowed = 8 * backward;
    run.allowed_by_jordan = run.allowed;
    if (run.chosen("gauss_jordan") && !run.is_regular()) {
        const std::vector<T> x =
            solve_by_jordan_on_cpu(factors, run.problem.b, n, run.problem.sides);
        const double measure = find_errors(run.problem, x, run.norms.rows, run.allowed).backward;
        if (std::isfinite(measure)) run.allowed_by_jordan = std::max(run.allowed, 64 * measure);
    }
    if (run.chosen("cpu")) report_errors(run, "cpu", {dim3(0), dim3(0)}, milliseconds);
}
