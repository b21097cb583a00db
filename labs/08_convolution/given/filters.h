// Filters: those with a name, those from files, and the two factors of a filter of rank 1.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/lab.h"

struct Filter {
    int height, width;          // both odd
    std::vector<float> values;  // (height, width), row-major
};

// The weights of one line, for filters that are a column times a row.
inline std::vector<double> unit_line(int size) {
    std::vector<double> line(size, 0.0);
    line[size / 2] = 1;
    return line;
}

inline std::vector<double> gaussian_line(int size, double sigma) {
    std::vector<double> line(size);
    double total = 0;
    for (int i = 0; i < size; i++) {
        const double distance = (i - size / 2) / sigma;
        total += line[i] = std::exp(-0.5 * distance * distance);
    }
    for (double& weight : line) weight /= total;
    return line;
}

// 1 2 1 for size 3, 1 4 6 4 1 for size 5: what repeated sums of two neighbours lead to.
inline std::vector<double> binomial_line(int size) {
    std::vector<double> line = {1};
    while (int(line.size()) < size) {
        line.push_back(0);
        for (size_t i = line.size() - 1; i > 0; i--) line[i] += line[i - 1];
    }
    return line;
}

// -1 0 1 for size 3, -1 -2 0 2 1 for size 5: a difference, smoothed.
inline std::vector<double> difference_line(int size) {
    const std::vector<double> smooth = binomial_line(size - 2);
    std::vector<double> line(size, 0.0);
    for (int i = 0; i < size - 2; i++) {
        line[i] -= smooth[i];
        line[i + 2] += smooth[i];
    }
    return line;
}

inline Filter product_filter(const std::vector<double>& column, const std::vector<double>& row) {
    Filter filter = {int(column.size()), int(row.size()), {}};
    for (double a : column) {
        for (double b : row) filter.values.push_back(float(a * b));
    }
    return filter;
}

// Size 3 is the classic: the middle and what tells it from its 4 neighbours (2 in a signal). Larger
// ones take twice the middle less a Gaussian mean.
inline Filter sharpen_filter(int size, double sigma, bool signal) {
    if (size == 3 && signal) return {1, 3, {-1, 3, -1}};
    if (size == 3) return {3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}};
    const std::vector<double> mean = gaussian_line(size, sigma);
    Filter filter = product_filter(signal ? unit_line(1) : mean, mean);
    for (float& value : filter.values) value = -value;
    filter.values[filter.values.size() / 2] += 2;
    return filter;
}

inline Filter random_filter(int size, bool signal) {
    const int count = signal ? size : size * size;  // the weights' sum is near 1
    return {signal ? 1 : size, size, lab::random_values<float>(count, 0, 2.0f / count, 3)};
}

// One row for a signal, otherwise as many rows as columns.
inline Filter named_filter(const std::string& name, int size, double sigma, bool signal) {
    const auto square = [&](const std::vector<double>& line) {
        return product_filter(signal ? unit_line(1) : line, line);
    };
    if (name == "box") return square(std::vector<double>(size, 1.0 / size));
    if (name == "gaussian") return square(gaussian_line(size, sigma));
    if (name == "identity") return square(unit_line(size));
    if (name == "random") return random_filter(size, signal);
    if (size < 3) lab::refuse("--filter %s needs --size 3 or more", name.c_str());
    if (name == "sharpen") return sharpen_filter(size, sigma, signal);
    if (size > 31) lab::refuse("--filter %s has at most --size 31", name.c_str());
    if (name == "sobel_x" && signal) return product_filter({1}, difference_line(size));
    if (name == "sobel_x") return product_filter(binomial_line(size), difference_line(size));
    if (signal)
        lab::refuse("--filter sobel_y compares rows, and a signal has no rows; use sobel_x");
    return product_filter(difference_line(size), binomial_line(size));
}

inline Filter read_filter(const std::string& path, bool signal) {
    const std::string name = lab::quoted(path);
    const lab::Array<float> array = lab::read_array<float>(path, signal ? 1 : 2);
    const int64_t height = signal ? 1 : array.shape[0], width = array.shape[signal ? 0 : 1];
    for (int64_t side : {height, width}) {
        if (side % 2 == 1 && side < INT32_MAX) continue;
        lab::refuse(
            "--filter-file: %s has the shape %s: both sides must be odd, or no element is in "
            "the middle",
            name.c_str(), lab::array_shape_text(array.shape).c_str());
    }
    for (float value : array.values) {
        if (!std::isfinite(value)) lab::refuse("--filter-file: %s holds %g", name.c_str(), value);
    }
    if (height * width > INT32_MAX) lab::refuse("--filter-file: %s is too large", name.c_str());
    return {int(height), int(width), array.values};
}

// A filter of rank 1 is a column times a row: `values` holds the one, then the other. Otherwise
// `problem` says which element is no such product. Rounded to floats, even products differ a little.
struct Factors {
    std::vector<float> values;
    std::string problem;
};

inline Factors factors_of(const Filter& filter) {
    const int height = filter.height, width = filter.width;
    const auto at = [&](int i, int j) { return filter.values[int64_t{i} * width + j]; };
    const auto largest = std::max_element(filter.values.begin(), filter.values.end(),
                                          [](float a, float b) { return fabs(a) < fabs(b); });
    const int row = int((largest - filter.values.begin()) / width);
    const int column = int((largest - filter.values.begin()) % width);
    Factors factors;
    const float pivot = *largest == 0 ? 1 : *largest;
    for (int i = 0; i < height; i++) factors.values.push_back(at(i, column));
    for (int j = 0; j < width; j++) factors.values.push_back(at(row, j) / pivot);
    for (int i = 0; i < height; i++) {
        for (int j = 0; j < width; j++) {
            const double product = double(at(i, column)) * at(row, j) / pivot;
            if (fabs(product - at(i, j)) <= 0x1p-20 * fabs(at(i, j)) + FLT_MIN) continue;
            factors.problem = lab::format(
                "the filter's rank is not 1: element (%d, %d) is %g, and a product would be %g", i,
                j, at(i, j), product);
            return factors;
        }
    }
    return factors;
}

struct FilterRequest {
    std::string name, path;
    int size;
    double sigma;
    bool turned;
};

inline FilterRequest parse_filter(lab::Arguments& arguments) {
    FilterRequest request;
    request.name = arguments.choice(
        "filter", {"box", "gaussian", "sobel_x", "sobel_y", "sharpen", "identity", "random"},
        "gaussian", "which filter");
    request.size =
        int(arguments.integer("size", 5, 1, 4095, "of the filter, along each side; odd"));
    request.sigma = arguments.real("sigma", 0.15 * request.size + 0.35, 0.01, 1e6,
                                   "of gaussian and sharpen, in elements; grows with the size");
    request.path = arguments.input("filter-file", "a filter, float32 .npy");
    request.turned = arguments.choice("orientation", {"correlation", "convolution"}, "correlation",
                                      "convolution turns the filter") == "convolution";
    arguments.excludes("filter-file", {"filter", "size", "sigma"}, "named filters");
    const bool bell = request.name == "gaussian" || (request.name == "sharpen" && request.size > 3);
    if (arguments.given("sigma") && !bell) {
        lab::refuse("--sigma is the width of gaussian, and of sharpen beyond size 3: drop it");
    }
    if (request.size % 2 == 0) {
        lab::refuse("--size %d is even: a filter needs odd sides, or no element is in its middle",
                    request.size);
    }
    return request;
}

inline Filter make_filter(const FilterRequest& request, bool signal) {
    Filter filter = request.path.empty()
                        ? named_filter(request.name, request.size, request.sigma, signal)
                        : read_filter(request.path, signal);
    if (request.turned) turn(filter.values);
    return filter;
}
