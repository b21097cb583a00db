// What is right: the reference on the CPU, in double, and how far a sum of floats may be off. The page
// that includes this has Sizes.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

#include "filters.h"

// One element of the filter after the other, for a whole row of outputs.
template <class T>
void filter_rows(const T* input, const float* filter, double* output, const Sizes& s, int64_t begin,
                 int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        double* sums = output + row * s.out_width;
        std::fill(sums, sums + s.out_width, 0.0);
        for (int64_t k = 0; k < int64_t{s.filter_height} * s.filter_width; k++) {
            const int64_t y = row * s.stride + k / s.filter_width - s.top;
            if (y < 0 || y >= s.height) continue;
            const int64_t shift = k % s.filter_width - s.left;  // x = column * stride + shift
            const int64_t first = shift < 0 ? lab::divide_up(-shift, s.stride) : 0;
            const int64_t inside = shift < s.width ? lab::divide_up(s.width - shift, s.stride) : 0;
            const int64_t last = std::min(s.out_width, inside);
            const T* inputs = input + y * s.width + shift;
            const double weight = filter[k];
            for (int64_t column = first; column < last; column++) {
                sums[column] += weight * inputs[column * s.stride];
            }
        }
    }
}

template <class T>
void filter_on_cpu(const T* input, const float* filter, double* output, const Sizes& s) {
    const lab::NvtxRange range("reference");
    const auto work = [&](int64_t, int64_t begin, int64_t end) {
        filter_rows(input, filter, output, s, begin, end);
    };
    lab::in_parts(s.out_height, work, s.out_width * s.filter_height * s.filter_width);
}

// How far a float sum of these products may lie from the exact one: each of the n roundings is off
// by at most 2^-24 of sum |filter| * |input|; 20 more for the factors of a product.
template <class T>
double error_bound(const Filter& filter, const std::vector<T>& inputs) {
    double weights = 0, largest = 0;
    for (float value : filter.values) weights += fabs(double(value));
    for (T value : inputs) {
        const double size = fabs(double(value));
        if (std::isfinite(size)) largest = std::max(largest, size);
    }
    const double roundings = double(filter.values.size()) + 20;
    return roundings * (0x1p-24 * weights * largest + FLT_MIN * (1 + largest));
}

inline bool matches(float got, double expected, double bound) {
    if (!std::isfinite(expected)) return std::isnan(expected) ? std::isnan(got) : got == expected;
    if (fabs(expected) + bound > FLT_MAX && !std::isfinite(got)) return true;
    return fabs(got - expected) <= bound;
}

inline bool matches(uint8_t got, double expected, double bound) {
    const auto pixel = [](double sum) { return floor(std::min(std::max(sum, 0.0), 255.0) + 0.5); };
    return pixel(expected - bound) <= got && got <= pixel(expected + bound);
}

// Compares all outputs, or those so far inside that no filter sees the edge: twice its reach, as
// NPP's 3 x 3 kernel takes the edge of its region for the edge of the picture.
template <class T>
lab::Comparison compare(const std::vector<T>& got, const std::vector<double>& expected,
                        const Sizes& s, double bound, bool inside_only) {
    const int64_t rows = inside_only ? 2 * s.top : 0, columns = inside_only ? 2 * s.left : 0;
    const auto compare_rows = [&](int64_t begin, int64_t end) {
        lab::Comparison comparison;
        for (int64_t row = begin; row < end; row++) {
            if (row % s.out_height < rows || row % s.out_height >= s.out_height - rows) continue;
            const int64_t last = (row + 1) * s.out_width - columns;
            for (int64_t i = row * s.out_width + columns; i < last; i++) {
                comparison.count++;
                if (matches(got[i], expected[i], bound) || comparison.wrong++ > 0) continue;
                comparison.first = i;
                comparison.expected = expected[i];
                comparison.got = got[i];
            }
        }
        return comparison;
    };
    return lab::compare_parts(int64_t(got.size()) / s.out_width, compare_rows, s.out_width);
}
