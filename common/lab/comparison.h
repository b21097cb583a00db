// Comparing what the device computed with what was expected.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "checks.h"
#include "parts.h"
#include "words.h"

namespace lab {

// A value is right within absolute + relative * |expected|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

// What compare() found; `first`, `expected` and `got` tell of the first wrong value.
struct Comparison {
    int64_t count = 0;
    int64_t wrong = 0;
    int64_t first = -1;
    double expected = 0;
    double got = 0;
    bool later = false;   // found in a later launch, though the first one was right
    std::string instead;  // of the sentence below, where that does not say what is so
    std::string doubt;    // why nothing follows from no difference: such a variant is not judged

    bool right() const { return wrong == 0; }

    static std::string digits(double value, int count) {
        if (std::isnan(value)) return "nan";  // never "-nan"
        const bool whole = value == std::trunc(value) && std::fabs(value) < 1e15;
        return format("%.*g", whole ? 15 : count, value);
    }

    // "correct", or "5 of 1000 differ; first at 512: expected 1.5, got nan", and of a later launch
    // "right only once: in a later launch 5 of 1000 differ; ...".
    std::string sentence() const {
        if (!instead.empty()) return instead;
        if (right()) return count == 0 ? "correct (empty)" : "correct";
        const bool alike = format("%.9g", expected) == format("%.9g", got);
        const int enough = alike ? 17 : 9;
        return format("%s%lld of %lld differ; first at %lld: expected %s, got %s",
                      later ? "right only once: in a later launch " : "", (long long)wrong,
                      (long long)count, (long long)first, digits(expected, enough).c_str(),
                      digits(got, enough).c_str());
    }
};

// Has compare(begin, end) look at the parts of `count` things, `steps` values each, all at the same time; what
// they find is put together in their order.
inline Comparison compare_parts(int64_t count,
                                const std::function<Comparison(int64_t, int64_t)>& compare,
                                int64_t steps = 1) {
    const NvtxRange range("comparison");
    std::vector<Comparison> parts(size_t(parts_of(count, steps)));
    in_parts(
        count,
        [&](int64_t part, int64_t begin, int64_t end) {
            parts[size_t(part)] = compare(begin, end);
        },
        steps);
    Comparison all;
    for (const Comparison& part : parts) {
        const Comparison before = all;
        if (before.right()) all = part;
        all.count = before.count + part.count;
        all.wrong = before.wrong + part.wrong;
    }
    return all;
}

// NaN is not within any bound, nor is an infinity unless the same one is expected. That is why the
// last line asks for what is within the bound, and not for what is beyond it.
template <class Number>
bool matches(Number got, Number expected, Tolerance tolerance) {
    if (got == expected) return true;
    if (!std::isfinite(got) || !std::isfinite(expected)) return false;
    return std::fabs(got - expected) <=
           tolerance.absolute + tolerance.relative * std::fabs(expected);
}

// No number is expected, because the input holds none or the result is too large for T: then NaN and
// infinity are right. The NaN that fills memory before a launch is not: nobody has written it.
template <class T, class R>
bool is_expected_nonfinite(T got, R expected) {
    if constexpr (std::is_floating_point_v<T>) {
        const T rounded = T(expected);
        unsigned char filling[sizeof(T)];
        std::memset(filling, 0xFF, sizeof filling);
        if (std::isnan(rounded))
            return std::isnan(got) && std::memcmp(&got, filling, sizeof got) != 0;
        return std::isinf(rounded) && got == rounded;
    }
    return false;
}

// How many values at the beginning are the very ones expected: most are, and are passed over quickly, a stretch at a
// time, in a loop without branches, of which the compiler makes vectors.
template <class T, class R>
int64_t equal_at_first(const T* got, const R* expected, int64_t count) {
    int64_t equal = 0;
    if constexpr (std::is_same_v<T, R> && std::is_arithmetic_v<T>) {
        constexpr int64_t stretch = 1024;
        for (; equal + stretch <= count; equal += stretch) {
            unsigned differ = 0;
            for (int64_t i = equal; i < equal + stretch; ++i) differ |= got[i] != expected[i];
            if (differ != 0) break;
        }
    }
    return equal;
}

// Compares the values from `begin` to `end`.
template <class T, class R>
Comparison compare_part(const T* got, const R* expected, int64_t begin, int64_t end,
                        Tolerance tolerance) {
    // long double holds any 64-bit integer exactly
    constexpr bool integers = std::is_integral_v<T> && std::is_integral_v<R>;
    using Number = std::conditional_t<integers, long double, double>;
    Comparison comparison;
    comparison.count = end - begin;
    for (int64_t i = begin; i < end; ++i) {
        if ((i - begin) % 1024 == 0) i += equal_at_first(got + i, expected + i, end - i);
        if (i == end) break;
        if (matches(Number(got[i]), Number(expected[i]), tolerance)) continue;
        if (is_expected_nonfinite(got[i], expected[i])) continue;
        if (comparison.wrong++ > 0) continue;
        comparison.first = i;
        comparison.expected = double(expected[i]);
        comparison.got = double(got[i]);
    }
    return comparison;
}

// Compares `count` values of the device's result (copied back) with the reference's.
template <class T, class R>
Comparison compare(const T* got, const R* expected, int64_t count, Tolerance tolerance = {}) {
    return compare_parts(count, [&](int64_t begin, int64_t end) {
        return compare_part(got, expected, begin, end, tolerance);
    });
}

}  // namespace lab
