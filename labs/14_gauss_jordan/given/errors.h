// How far A x is from b: the errors by which every solution is judged.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "input.h"

// How far A x is from b.
struct Errors {
    double residual = 0;  // the largest |b - A x|, which the report calls the error
    double backward =
        0;  // the largest |b - A x| / (|A| |x| n eps): of the order of 1 or below if A x = b was
            // solved as well as the type allows, however bad the condition
    int64_t place = 0;  // in b, where it is largest
    int64_t above = 0;  // elements of b where it is above what is allowed, of those that are judged
    double expected = 0, got = 0;
};

template <class T>
constexpr double epsilon = double(std::numeric_limits<T>::epsilon());

// Which right-hand sides are judged: all, or as many as can be in a second or so, spread evenly.
inline std::vector<int64_t> judged_sides(int64_t n, int64_t sides) {
    const int64_t affordable =
        std::max<int64_t>(2, (int64_t{1} << 31) / std::max<int64_t>(1, n * n));
    const int64_t count = std::min(sides, affordable);
    std::vector<int64_t> judged(count);
    for (int64_t i = 0; i < count; i++)
        judged[i] = count == sides ? i : (sides - 1) * i / (count - 1);
    return judged;
}

// NaN is larger than any number.
inline bool exceeds(double a, double b) { return !(a <= b) && !std::isnan(b); }

template <class T>
Errors errors_of_side(const Problem<T>& problem, const std::vector<T>& x, int64_t side, double norm,
                      double allowed) {
    using Sum = std::conditional_t<std::is_same_v<T, float>, double, long double>;
    const int64_t n = problem.n, sides = problem.sides;
    std::vector<Sum> column(n);
    double solution = 0;
    for (int64_t i = 0; i < n; i++) {
        column[i] = x[i * sides + side];
        const double size = std::fabs(double(column[i]));
        if (exceeds(size, solution)) solution = size;
    }
    std::vector<Sum> sums(n);
    const auto sum_rows = [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            Sum sum = 0;
            for (int64_t j = 0; j < n; j++) sum += problem.a[i * n + j] * column[j];
            sums[i] = sum;
        }
    };
    lab::in_parts(n, sum_rows, n);
    Errors errors;
    std::vector<double> residuals(n);
    for (int64_t i = 0; i < n; i++) {
        const Sum expected = problem.b[i * sides + side];
        const double residual = residuals[i] = std::fabs(double(expected - sums[i]));
        if (i == 0 || exceeds(residual, errors.residual)) {
            errors = {residual, 0, i * sides + side, 0, double(expected), double(sums[i])};
        }
    }
    // a long double, as the product of both sizes may be more than a double holds, or less; and of subnormal
    // numbers each product may lose half of the smallest one
    long double size = norm;
    size *= solution * double(n) * epsilon<T>;
    size += double(n) * double(std::numeric_limits<T>::denorm_min());
    errors.backward = errors.residual == 0 ? 0 : std::fabs(double(errors.residual / size));
    if (solution == 0 && errors.residual > 0) errors.backward = INFINITY;
    errors.above = std::count_if(residuals.begin(), residuals.end(), [&](double residual) {
        return !(residual <= allowed * size) || (solution == 0 && residual > 0);
    });
    return errors;
}

// allowed: of the backward error
template <class T>
Errors find_errors(const Problem<T>& problem, const std::vector<T>& x, double norm,
                   double allowed) {
    Errors worst;
    for (const int64_t side : judged_sides(problem.n, problem.sides)) {
        const Errors errors = errors_of_side(problem, x, side, norm, allowed);
        const int64_t above = worst.above + errors.above;
        const double residual =
            exceeds(errors.residual, worst.residual) ? errors.residual : worst.residual;
        if (side == 0 || exceeds(errors.backward, worst.backward)) worst = errors;
        worst.residual = residual;
        worst.above = above;
    }
    return worst;
}
