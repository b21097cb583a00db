// What the results should be, and which of them can be judged. The sum is kept in double: its error is
// nothing beside that of a sum in float. The page includes it behind Count and bins.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "../../../common/lab.h"

struct Sum {
    double value = 0, magnitude = 0;  // the sum of x, and that of |x|
    double unit = INFINITY;           // the largest power of two of which all x are multiples

    // No addition rounds, in whatever order, as long as a float holds the sum of all |x|.
    bool exact() const { return magnitude <= 0x1p24 * unit; }
};

inline double unit_of(float x) {
    if (x == 0 || !std::isfinite(x)) return x == 0 ? INFINITY : 0;
    int exponent = 0;
    const int64_t digits = int64_t(std::frexp(double(x), &exponent) * 0x1p24);
    return std::ldexp(double(digits & -digits), exponent - 24);
}

// The smallest unit of `count` values.
inline double unit_of(const float* values, int64_t count) {
    std::vector<double> units(size_t(lab::parts_of(count)), INFINITY);
    lab::in_parts(count, [&](int64_t part, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            units[size_t(part)] = std::min(units[size_t(part)], unit_of(values[i]));
        }
    });
    return *std::min_element(units.begin(), units.end());
}

// The sums of the first sizes[0], sizes[1], ... values; each size is larger than the one before.
inline std::vector<Sum> sums_on_cpu(const std::vector<float>& values,
                                    const std::vector<int64_t>& sizes) {
    const lab::NvtxRange range("reference");
    std::vector<Sum> sums;
    Sum sum;
    int64_t i = 0;
    for (const int64_t size : sizes) {
        sum.unit = std::min(sum.unit, unit_of(values.data() + i, size - i));
        for (; i < size; i++) {
            sum.value += values[i];
            sum.magnitude += std::fabs(values[i]);
        }
        sums.push_back(sum);
    }
    return sums;
}

inline std::vector<Count> counts_on_cpu(const std::vector<uint8_t>& bytes,
                                        const std::vector<int64_t>& sizes) {
    const lab::NvtxRange range("reference");
    std::vector<Count> counts(bins), all;
    int64_t i = 0;
    for (const int64_t size : sizes) {
        for (; i < size; i++) counts[bytes[i]]++;
        all.insert(all.end(), counts.begin(), counts.end());
    }
    return all;
}

// Adds what another comparison found, `offset` numbers further on.
inline void merge(lab::Comparison& all, const lab::Comparison& one, int64_t offset) {
    if (all.wrong == 0 && one.wrong > 0) {
        all.first = offset + one.first;
        all.expected = one.expected;
        all.got = one.got;
    }
    all.count += one.count;
    all.wrong += one.wrong;
}

// How many additions an element goes through at most: in its thread, in its block, and then one a
// block; in one long chain where `chain` says so. Each rounds once.
inline double depth_of(int64_t size, const lab::Launch& launch, bool chain) {
    const int64_t blocks = launch.grid.x;
    return double(chain ? size : size / (blocks * launch.block.x) + 64 + blocks);
}

// The sums of the first sizes[0], sizes[1], ... values. An addition rounds by at most 2^-24 of its
// result, which is at most the sum of |x|; so a sum in which each element goes through `depth`
// additions is off by no more than depth * 2^-24 of that. Where this is more than an element of mean
// size, a lost one would not show.
struct SumJudge {
    using Result = float;
    using Written = float;  // to --output

    SumJudge(const std::vector<float>& values, const std::vector<int64_t>& of_sizes)
        : sizes(of_sizes), expected(sums_on_cpu(values, of_sizes)) {}

    // sums: (repeats, sizes); launches: (sizes)
    template <class Variant>
    lab::Comparison operator()(const Variant& variant, const std::vector<float>& sums,
                               const std::vector<lab::Launch>& launches) const {
        lab::Comparison comparison;
        for (size_t k = 0; k < sums.size(); k++) {
            const size_t place = k % sizes.size();
            const Sum& sum = expected[place];
            const double depth = depth_of(sizes[place], launches[place], variant.chain);
            const double bound = sum.exact() ? 0 : depth * 0x1p-24 * sum.magnitude;
            merge(comparison, lab::compare(&sums[k], &sum.value, 1, {bound, 0}), int64_t(k));
            if (!(bound * double(sizes[place]) > sum.magnitude)) continue;
            comparison.doubt =
                lab::format("off by %.3g, but rounding alone may cost %.3g, more than an element",
                            std::fabs(double(sums[k]) - sum.value), bound);
        }
        return comparison;
    }

    std::vector<int64_t> sizes;
    std::vector<Sum> expected;
};

// How often each byte is among the first sizes[0], sizes[1], ... bytes.
struct CountJudge {
    using Result = Count;
    using Written = double;  // whole numbers up to 2^53

    CountJudge(const std::vector<uint8_t>& bytes, const std::vector<int64_t>& sizes)
        : expected(counts_on_cpu(bytes, sizes)) {}

    // counts: (repeats, sizes, bins)
    template <class Variant>
    lab::Comparison operator()(const Variant&, const std::vector<Count>& counts,
                               const std::vector<lab::Launch>&) const {
        lab::Comparison comparison;
        for (size_t k = 0; k < counts.size(); k += expected.size()) {
            const int64_t numbers = expected.size();
            merge(comparison, lab::compare(&counts[k], expected.data(), numbers), int64_t(k));
        }
        return comparison;
    }

    std::vector<Count> expected;  // (sizes, bins)
};
