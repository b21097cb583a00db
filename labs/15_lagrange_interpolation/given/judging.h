// Which values are compared with the reference, within which bounds, and how many of their digits count.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "input.h"
#include "reference.h"

// The reference at some of the points, spread evenly over all.
struct Sample {
    std::vector<int64_t> places;
    std::vector<Expected> expected;
    double largest_y = DBL_MIN;

    // What an error is measured against: the value, or the largest y where the value is near 0.
    double scale(const Expected& point) const {
        return std::max(std::fabs(point.value), largest_y);
    }
    // Whether rounding leaves a digit of this value. Where it does not, nearly any number is right.
    bool is_judged(const Expected& point, double bound) const {
        return std::isfinite(point.value) && 10 * bound <= scale(point);
    }
};

constexpr size_t most_judged_nodes = 16384;  // the reference needs n^2 steps before the first point

inline Sample take_sample(const Problem& problem) {
    const lab::NvtxRange range("reference");
    Sample sample;
    const int64_t points = problem.abscissae.size(), nodes = problem.x.size();
    const int64_t budget = std::max<int64_t>(50, (lab::on_cpu ? 1 << 19 : 1 << 22) / nodes);
    if (problem.x.size() > most_judged_nodes) return sample;
    const Reference reference(problem.x, problem.y);
    for (const double y : problem.y) sample.largest_y = std::max(sample.largest_y, std::fabs(y));
    const int64_t count = std::min(points, budget);
    sample.places.resize(count);
    sample.expected.resize(count);
    const auto find = [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) {
            sample.places[i] =
                count == points ? i : i * ((points - 1) / std::max<int64_t>(1, count - 1));
            sample.expected[i] = reference.at(problem.abscissae[sample.places[i]]);
        }
    };
    lab::in_parts(count, find, 50 * nodes);  // three divisions a node
    return sample;
}

// Values in the sample are compared where rounding leaves a digit; all others must have been written.
inline lab::Comparison judge(const std::vector<double>& values, const Sample& sample, bool phases) {
    lab::Comparison comparison;
    comparison.count = values.size();
    const auto wrong = [&](int64_t place, double expected) {
        if (comparison.wrong++ > 0) return;
        comparison.first = place;
        comparison.expected = expected;
        comparison.got = values[place];
    };
    size_t judged = 0;
    for (size_t i = 0; i < sample.places.size(); i++) {
        const Expected& expected = sample.expected[i];
        const double bound = phases ? expected.phases_bound : expected.bound;
        if (!sample.is_judged(expected, bound)) continue;
        judged++;
        const double difference = std::fabs(values[sample.places[i]] - expected.value);
        if (!(difference <= bound)) wrong(sample.places[i], expected.value);
    }
    const unsigned char unwritten[sizeof(double)] = {255, 255, 255, 255, 255, 255, 255, 255};
    for (size_t i = 0; i < values.size() && comparison.right(); i++) {
        if (std::memcmp(&values[i], unwritten, sizeof unwritten) == 0) wrong(i, 0);
    }
    if (judged == 0 && comparison.right()) {
        comparison.instead = "not judged, see the accuracy";
    } else if (judged < sample.places.size() && comparison.right()) {
        comparison.instead = lab::format("correct at the %zu of %zu points that can be judged",
                                         judged, sample.places.size());
    }
    return comparison;
}

// How many digits of the values can be trusted, whatever the variant, and a warning where that is none.
inline void note_accuracy(const Sample& sample, lab::Results& results) {
    if (sample.places.empty()) {
        results.note(lab::format("accuracy: not judged, as there are more than %zu nodes",
                                 most_judged_nodes));
        return;
    }
    size_t hopeless = 0;
    double terms = 0, bound = 0, digits = INFINITY;
    for (const Expected& point : sample.expected) {
        if (!std::isfinite(point.value)) continue;
        hopeless += !sample.is_judged(point, point.bound);
        terms = std::max(terms, point.terms);
        bound = std::max(bound, point.bound);
        digits = std::min(digits, -std::log10(point.bound / sample.scale(point)));
    }
    const std::string certain =
        hopeless == 0 ? std::to_string(int(digits)) + " digits" : "not one digit";
    results.note(
        lab::format("accuracy: the |y_j L_j(x)| add up to as much as %.2g, so rounding may "
                    "change a value by %.2g: %s can be trusted",
                    terms, bound, certain.c_str()));
    if (hopeless == 0 && 0x1p-53 * terms < sample.largest_y / 10) return;
    results.note(
        lab::format("warning: beside y of at most %.2g that leaves nothing. Through y that "
                    "differ in their last digits goes quite another polynomial, and not one "
                    "digit can be trusted as a value of what the y were taken from. Fewer "
                    "nodes or Chebyshev points help",
                    sample.largest_y));
}

// What the report's serial algorithm takes for a few points.
inline std::string serial_note(const Problem& problem) {
    const int64_t nodes = problem.x.size(), points = problem.abscissae.size();
    const int64_t few = std::min(points, std::max<int64_t>(1, 1000000 / (nodes * nodes)));
    std::vector<double> values(few);
    const lab::HostTimer clock;
    basis_on_cpu(problem.x, problem.y, problem.abscissae.data(), values.data(), few);
    const double milliseconds = clock.milliseconds();
    return lab::format("basis on the CPU, one loop: %.3g ms for %lld points, %.3g factors a second",
                       milliseconds, static_cast<long long>(few),
                       double(few) * nodes * nodes / (milliseconds * 1e-3));
}
