// The variants of the path, in the order of the ladder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "blocked.cuh"
#include "on_device.cuh"
#include "refined.cuh"
#include "report.cuh"
#include "solver.h"

// Factors by blocks, and the solution of what floats could not, in one.
template <class T>
lab::Launch launch_blocked(const Solver<T>& solver) {
    return Blocked<T>(solver.n(), solver.work().singular)
        .solve(solver.work().system, solver.work().x);
}

// Refinement with factors by Lu, made when it is needed. Where floats make no progress, in_doubles solves, and
// `rounds` is 0.
template <class Lu, class InDoubles>
Variant<double> refined_variant(const char* name, const Solver<double>& solver,
                                const InDoubles& in_doubles, const std::string& reason) {
    std::shared_ptr<Refinement<Lu>> refinement;
    const auto solve = [=, &solver](int& rounds) mutable {
        const Norms& norms = solver.norms();
        if (!refinement) refinement = std::make_shared<Refinement<Lu>>(solver.given());
        rounds = refinement->solve(solver.given(), norms.largest, norms.rows, solver.work().x);
        if (rounds == 0) return in_doubles(rounds);
        return lab::Launch{dim3(blocks_for(solver.n(), 256)), dim3(256)};
    };
    return {name, solve, reason};
}

template <class T>
std::vector<Variant<T>> path_variants(const Solver<T>& solver) {
    const bool fits = solver.n() <= most_panel_rows;
    const std::string too_many = lab::format(
        "one block has no more than %lld rows in its registers", (long long)most_panel_rows);
    std::vector<Variant<T>> variants = {
        {"report", [&](int&) { return launch_report(solver.work()); }, ""},
        {"on_device", [&](int&) { return launch_on_device<T, false>(solver.work()); }, ""},
        {"gauss_jordan", [&](int&) { return launch_on_device<T, true>(solver.work()); }, ""},
        {"tiled", [&](int&) { return launch_tiled(solver.work()); }, ""},
        {"blocked", [&](int&) { return launch_blocked(solver); }, fits ? "" : too_many},
        {"refined", {}, "its answers are doubles"}};
    if constexpr (is_double<T>) {
        const auto in_doubles = [&solver](int&) { return launch_blocked(solver); };
        variants.back() =
            refined_variant<Blocked<float>>("refined", solver, in_doubles, fits ? "" : too_many);
    }
    return variants;
}

template <class T>
HostFactors<T> blocked_factors(Solver<T>& solver) {
    const int n = solver.n();
    const System<T>& system = solver.work().system;
    Blocked<T> blocked(n, solver.work().singular);
    solver.reset();
    blocked.factor(system);
    HostFactors<T> factors = {std::vector<T>(size_t(n) * n), order_of(blocked.pivots(), n), -1};
    CHECK(cudaMemcpy2D(factors.lu.data(), n * sizeof(T), system.values, system.stride * sizeof(T),
                       n * sizeof(T), n, cudaMemcpyDeviceToHost));
    factors.singular = solver.singular();
    return factors;
}

template std::vector<Variant<float>> path_variants(const Solver<float>& solver);
template std::vector<Variant<double>> path_variants(const Solver<double>& solver);
template HostFactors<float> blocked_factors(Solver<float>& solver);
template HostFactors<double> blocked_factors(Solver<double>& solver);
