// What the device's product is judged by. Small products are computed in full on the CPU. Of a large one
// this takes minutes, so then a few rows are, and a test that costs no more than reading the matrices
// looks at every element.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../../../common/lab.h"

#ifdef _OPENMP
#include <omp.h>
#endif

// a: (m, k), b: (k, n), c: (rows.size(), n), row-major
template <class T>
void multiply_on_cpu(const T* a, const T* b, double* c, const std::vector<int64_t>& rows, int64_t n,
                     int64_t k) {
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
    for (int64_t i = 0; i < int64_t(rows.size()); i++) {
        double* sums = c + i * n;
        std::fill(sums, sums + n, 0.0);
        for (int64_t p = 0; p < k; p++) {
            const double factor = a[rows[i] * k + p];
            for (int64_t j = 0; j < n; j++) sums[j] += factor * b[p * n + j];
        }
    }
}

// y = matrix x.  matrix: (height, width), row-major
template <class T>
std::vector<double> times_vector(const T* matrix, const std::vector<double>& x, int64_t height) {
    const int64_t width = x.size();
    std::vector<double> y(height);
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (int64_t i = 0; i < height; i++) {
        for (int64_t j = 0; j < width; j++) y[i] += matrix[i * width + j] * x[j];
    }
    return y;
}

// The lengths of all rows (or columns) as vectors. long double: the square of any double is finite.
template <class T>
std::vector<double> lengths(const T* matrix, int64_t height, int64_t width, bool of_rows) {
    std::vector<long double> squares(of_rows ? height : width);
    const auto add_squares = [&](int64_t first, int64_t last, int64_t left, int64_t right) {
        for (int64_t i = first; i < last; i++) {
            for (int64_t j = left; j < right; j++) {
                const long double value = matrix[i * width + j];
                squares[of_rows ? i : j] += value * value;
            }
        }
    };
    const auto work = [&](int64_t, int64_t begin, int64_t end) {
        of_rows ? add_squares(begin, end, 0, width) : add_squares(0, height, begin, end);
    };
    lab::in_parts(of_rows ? height : width, work, of_rows ? width : height);
    std::vector<double> roots(squares.size());
    std::transform(squares.begin(), squares.end(), roots.begin(),
                   [](long double square) { return double(std::sqrt(square)); });
    return roots;
}

// What the device's product is judged by.
struct Reference {
    int64_t m, n, k;
    std::vector<int64_t> rows;              // those computed: all, or a sample
    std::vector<double> c;                  // (rows.size(), n)
    std::vector<double> a_rows, b_columns;  // lengths of a's rows and of b's columns
    std::vector<double> signs, c_signs;     // a sample's second test: x of +1 and -1, and a (b x)
    double milliseconds;                    // for the listed rows

    bool is_sample() const { return int64_t(rows.size()) < m; }
};

// By the host; a second or so. In CPU mode the device is slow, too.
constexpr double most_multiplications = lab::on_cpu ? 1 << 26 : 1 << 30;

// How many rows of c that is.
inline int64_t rows_affordable(int64_t m, int64_t n, int64_t k) {
    const double affordable = most_multiplications / std::max(1.0, double(n) * double(k));
    return std::min(m, std::max<int64_t>(8, int64_t(affordable)));
}

// All rows, or the first, the last and others between them.
inline std::vector<int64_t> rows_to_compute(int64_t m, int64_t count) {
    std::vector<int64_t> rows(count);
    for (int64_t i = 0; i < count; i++) rows[i] = count == m ? i : (m - 1) * i / (count - 1);
    return rows;
}

template <class T>
Reference make_reference(const T* a, const T* b, int64_t m, int64_t n, int64_t k) {
    const lab::NvtxRange range("reference");
    Reference reference = {m,  n,  k, rows_to_compute(m, rows_affordable(m, n, k)), {}, {}, {},
                           {}, {}, 0};
    reference.c.resize(reference.rows.size() * n);
    const lab::HostTimer clock;
    multiply_on_cpu(a, b, reference.c.data(), reference.rows, n, k);
    reference.milliseconds = clock.milliseconds();
    reference.a_rows = lengths(a, m, k, true);
    reference.b_columns = lengths(b, k, n, false);
    if (reference.is_sample()) {
        for (int64_t j = 0; j < n; j++) {
            reference.signs.push_back(lab::mixed_bits(j) % 2 ? 1 : -1);
        }
        reference.c_signs = times_vector(a, times_vector(b, reference.signs, k), m);
    }
    return reference;
}

inline void note_wrong(lab::Comparison& comparison, int64_t place, double expected, double got) {
    if (comparison.wrong++ > 0) return;
    comparison.first = place;
    comparison.expected = expected;
    comparison.got = got;
}

// Adding k products in any order, each rounded, is wrong by at most (k + 1) u |a's row| |b's column|,
// u half the distance from 1 to the next number; and the reference rounds as well. Twice that is
// allowed. The test c x = a (b x) sums the errors of a row; they rarely add up, so their size grows
// like a root, and seven times what is typical is allowed.
template <class T>
lab::Comparison judge(const T* c, const Reference& reference) {
    const double u = std::is_same_v<T, float> ? 0x1p-24 : 0x1p-53;
    const int64_t n = reference.n;
    lab::Comparison comparison;
    comparison.count = reference.m * n;
    for (size_t i = 0; i < reference.rows.size(); i++) {
        const double scale = 2 * (reference.k + 1.0) * u * reference.a_rows[reference.rows[i]];
        for (int64_t j = 0; j < n; j++) {
            const int64_t place = reference.rows[i] * n + j;
            const double expected = reference.c[i * n + j];
            if (!lab::matches(double(c[place]), expected, {scale * reference.b_columns[j], 0})) {
                note_wrong(comparison, place, expected, double(c[place]));
            }
        }
    }
    if (!reference.is_sample() || !comparison.right()) return comparison;
    double all_columns = 0;
    for (double length : reference.b_columns) all_columns = std::hypot(all_columns, length);
    const std::vector<double> got = times_vector(c, reference.signs, reference.m);
    for (int64_t i = 0; i < reference.m; i++) {
        const double allowed =
            4 * std::sqrt(reference.k + n + 1.0) * u * reference.a_rows[i] * all_columns;
        if (!lab::matches(got[i], reference.c_signs[i], {allowed, 0})) {
            note_wrong(comparison, i * n, reference.c_signs[i], got[i]);
        }
    }
    return comparison;
}

// What the CPU did, for the speed-up and to say how the results were judged.
inline std::string reference_text(const Reference& reference) {
    int threads = 1;
#ifdef _OPENMP
    threads = omp_get_max_threads();
#endif
    const std::string on = lab::format("on the CPU, %d thread%s", threads, threads == 1 ? "" : "s");
    if (!reference.is_sample()) {
        return lab::format("the same product %s: %.3f ms", on.c_str(), reference.milliseconds);
    }
    const int64_t rows = reference.rows.size();
    return lab::format(
        "%lld of %lld rows %s: %.0f ms, so about %.3g s for all of them\n"
        "judged by these rows, and all rows by c x = a (b x) for an x of random signs",
        (long long)rows, (long long)reference.m, on.c_str(), reference.milliseconds,
        1e-3 * reference.milliseconds * reference.m / rows);
}
