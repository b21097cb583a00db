// What the CPU does: elimination with partial pivoting, and an estimate of the condition.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "errors.h"

// L U = A with its rows in the order `order`; L's diagonal of ones is not stored. lu: (n, n), row-major
template <class T>
struct HostFactors {
    std::vector<T> lu;
    std::vector<int> order;
    int64_t singular = -1;  // the first column in which no pivot was left
};

// The report's reduction, which keeps the multipliers where it would write zeros.
template <class T>
HostFactors<T> factor_on_cpu(const std::vector<T>& a, int64_t n) {
    HostFactors<T> factors = {a, std::vector<int>(n), -1};
    T* const lu = factors.lu.data();
    std::iota(factors.order.begin(), factors.order.end(), 0);
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++) {  // > : the lowest row of equals
            if (std::fabs(lu[i * n + k]) > std::fabs(lu[pivot * n + k])) pivot = i;
        }
        if (lu[pivot * n + k] == 0) {
            if (factors.singular < 0) factors.singular = k;
            continue;
        }
        if (pivot != k) {
            std::swap_ranges(lu + k * n, lu + (k + 1) * n, lu + pivot * n);
            std::swap(factors.order[k], factors.order[pivot]);
        }
        for (int64_t i = k + 1; i < n; i++) {
            const T factor = lu[i * n + k] / lu[k * n + k];
            lu[i * n + k] = factor;
            for (int64_t j = k + 1; j < n; j++) lu[i * n + j] -= factor * lu[k * n + j];
        }
    }
    return factors;
}

// Takes a multiple of a row of x off another one.
template <class T>
void subtract_row(std::vector<T>& x, int64_t sides, int64_t to, int64_t from, T factor) {
    for (int64_t c = 0; c < sides; c++) x[to * sides + c] -= factor * x[from * sides + c];
}

// x = L^-1 b, in the order of the pivots. b, x: (n, sides), row-major; of the factors' type, or of doubles
template <class T, class X>
std::vector<X> solve_lower_on_cpu(const HostFactors<T>& factors, const std::vector<X>& b, int64_t n,
                                  int64_t sides) {
    std::vector<X> x(b.size());
    for (int64_t i = 0; i < n; i++) {
        std::copy_n(&b[factors.order[i] * sides], sides, &x[i * sides]);
        for (int64_t j = 0; j < i; j++) subtract_row(x, sides, i, j, X(factors.lu[i * n + j]));
    }
    return x;
}

// x = A^-1 b, by L and then by U
template <class T, class X>
std::vector<X> solve_on_cpu(const HostFactors<T>& factors, const std::vector<X>& b, int64_t n,
                            int64_t sides) {
    std::vector<X> x = solve_lower_on_cpu(factors, b, n, sides);
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) subtract_row(x, sides, i, j, X(factors.lu[i * n + j]));
        for (int64_t c = 0; c < sides; c++) x[i * sides + c] /= factors.lu[i * n + i];
    }
    return x;
}

// The same with U's columns eliminated above the diagonal, from the first one on, as Gauss-Jordan does it. That
// is less accurate where U's condition is bad: rows above grow by what substitution never computes.
// (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 14.4.)
template <class T>
std::vector<T> solve_by_jordan_on_cpu(HostFactors<T> factors, const std::vector<T>& b, int64_t n,
                                      int64_t sides) {
    std::vector<T> x = solve_lower_on_cpu(factors, b, n, sides);
    T* const u = factors.lu.data();
    for (int64_t k = 0; k < n; k++) {
        for (int64_t i = 0; i < k; i++) {
            const T factor = u[i * n + k] / u[k * n + k];
            for (int64_t j = k + 1; j < n; j++) u[i * n + j] -= factor * u[k * n + j];
            subtract_row(x, sides, i, k, factor);
        }
    }
    for (int64_t i = 0; i < n * sides; i++) x[i] /= u[i / sides * (n + 1)];
    return x;
}

// x = A^-T b, for one vector: U^T, then L^T.
template <class T>
std::vector<double> solve_transposed(const HostFactors<T>& factors, std::vector<double> b,
                                     int64_t n) {
    const T* const lu = factors.lu.data();
    for (int64_t i = 0; i < n; i++) {
        b[i] /= lu[i * n + i];
        for (int64_t j = i + 1; j < n; j++) b[j] -= lu[i * n + j] * b[i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = 0; j < i; j++) b[j] -= lu[i * n + j] * b[i];
    }
    std::vector<double> x(n);
    for (int64_t i = 0; i < n; i++) x[factors.order[i]] = b[i];
    return x;
}

// The sizes of a matrix: the largest magnitude, the largest sum of a row, of a column.
struct Norms {
    double largest = 0, rows = 0, columns = 0;
};

template <class T>
Norms norms_of(const std::vector<T>& a, int64_t n) {
    Norms norms;
    std::vector<double> columns(n);
    for (int64_t i = 0; i < n; i++) {
        double row = 0;
        for (int64_t j = 0; j < n; j++) {
            const double size = std::fabs(double(a[i * n + j]));
            norms.largest = std::max(norms.largest, size);
            row += size;
            columns[j] += size;
        }
        norms.rows = std::max(norms.rows, row);
    }
    for (double column : columns) norms.columns = std::max(norms.columns, column);
    return norms;
}

// The condition in the 1-norm, estimated by a few solutions with A and its transpose (Hager 1984, in
// Higham's form): it climbs from vertex to vertex of the unit ball towards the largest |A^-1 e|. Never too
// large, and rarely too small by more than a factor of 3. The vectors are longer than there by the root of
// `norm`, so that a matrix of tiny or huge numbers has the condition of any other. Where numbers overflow all
// the same, it is infinite.
template <class T>
double estimate_condition(const HostFactors<T>& factors, double norm, int64_t n) {
    if (factors.singular >= 0) return INFINITY;
    const double length = std::sqrt(norm);
    std::vector<double> x(n, length / double(n));
    const auto size_of = [](const std::vector<double>& y) {
        double sum = 0;
        for (double value : y) sum += std::fabs(value);
        return sum;
    };
    double estimate = 0;
    int64_t last = -1;
    for (int round = 0; round < 5; round++) {
        std::vector<double> y = solve_on_cpu(factors, x, n, 1);
        const double size = size_of(y);
        if (!std::isfinite(size)) return INFINITY;
        if (size <= estimate) break;
        estimate = size;
        for (double& value : y) value = value < 0 ? -length : length;
        const std::vector<double> z = solve_transposed(factors, y, n);
        const int64_t best =
            std::max_element(z.begin(), z.end(),
                             [](double a, double b) { return std::fabs(a) < std::fabs(b); }) -
            z.begin();
        if (best == last) break;
        last = best;
        std::fill(x.begin(), x.end(), 0.0);
        x[best] = length;
    }
    for (int64_t i = 0; i < n; i++) {  // a vector that finds what the climb may miss
        x[i] = (i % 2 ? -length : length) * (1 + double(i) / std::max<int64_t>(1, n - 1));
    }
    const double other = 2 * size_of(solve_on_cpu(factors, x, n, 1)) / (3 * double(n));
    return std::isfinite(other) ? length * std::max(estimate, other) : INFINITY;
}
