// What the results should be: loops on the host.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/lab.h"

enum class Task { scan, compaction, radix_pass };

inline const char* name_of(Task task) {
    return task == Task::scan ? "scan" : task == Task::compaction ? "compaction" : "radix_pass";
}

// What files hold and tables show of a T: uint32_t is an int32_t that may wrap round.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, uint32_t>, int32_t, T>;

inline uint32_t bits_of(int32_t value) { return uint32_t(value); }
inline uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Sums of floats are kept in double. An addition rounds by at most 2^-24 of its result, which is at
// most the sum of all |x|; so a sum in which no element goes through more than `depth` additions is
// off by no more than depth * 2^-24 of that. Where this is more than an element of mean size, a
// lost one would not show, and nothing is judged. Whole numbers of at most 2^24 in all are never
// rounded, and no difference is allowed.
struct FloatSums {
    std::vector<double> expected;
    double bound = 0;
    std::string doubt;

    FloatSums(const std::vector<float>& input, int shift) : expected(input.size()) {
        const lab::NvtxRange range("reference");
        const int64_t count = int64_t(input.size());
        double sum = 0, magnitude = 0;
        bool whole = true;
        for (int64_t i = 0; i < count; i++) {
            if (shift == 1) expected[i] = sum;
            sum += input[i];
            if (std::isfinite(input[i])) magnitude += std::fabs(input[i]);
            whole = whole && !(std::isfinite(input[i]) && input[i] != std::trunc(input[i]));
            if (shift == 0) expected[i] = sum;
        }
        if (whole && magnitude <= 0x1p24) return;
        // no variant has a longer chain: a block's share in turn, or all tiles one by one
        const double depth = 100 + 2.0 * double(count) / block_size;
        bound = depth * 0x1p-24 * magnitude;
        if (bound * double(count) <= magnitude) return;
        doubt = "rounding alone may cost more than an element";
    }
};

// Whole numbers wrap round, and are right to the last bit.
struct IntegerSums {
    std::vector<int32_t> expected;
    double bound = 0;
    std::string doubt;

    IntegerSums(const std::vector<int32_t>& input, int shift) : expected(input.size()) {
        const lab::NvtxRange range("reference");
        uint32_t sum = 0;
        for (size_t i = 0; i < input.size(); i++) {
            if (shift == 1) expected[i] = int32_t(sum);
            sum += uint32_t(input[i]);
            if (shift == 0) expected[i] = int32_t(sum);
        }
    }
};

// Compares what was found with what is right. A reference is worked out when it is first asked for.
template <class T>
class Judge {
 public:
    using Number = Stored<T>;

    Judge(const std::vector<Number>& input, int shift) : input_(input), shift_(shift) {
        for (const Number value : input) kept_ += value < 0;
    }

    // Each element is read once and each result written once, at least.
    double bytes_moved(Task task) const {
        const int64_t results = task == Task::compaction ? kept_ : int64_t(input_.size());
        return double(sizeof(T)) * double(int64_t(input_.size()) + results);
    }

    lab::Comparison operator()(Task task, const std::vector<Number>& found, uint32_t kept_count) {
        const int64_t count = int64_t(found.size());
        if (task == Task::scan) return compare_sums(found);
        if (task == Task::radix_pass) {
            if (sorted_.empty()) sort_by_digit();
            return lab::compare(found.data(), sorted_.data(), count);
        }
        if (filtered_.empty()) filter();
        lab::Comparison comparison = lab::compare(found.data(), filtered_.data(), kept_);
        if (int64_t(kept_count) == kept_) return comparison;
        comparison.wrong = std::max<int64_t>(comparison.wrong, 1);
        comparison.instead = kept_count == UINT32_MAX  // the poison
                                 ? "*kept_count was never stored"
                                 : lab::format("%u are said to be kept, expected %lld", kept_count,
                                               (long long)kept_);
        return comparison;
    }

 private:
    using Sums = std::conditional_t<std::is_same_v<T, float>, FloatSums, IntegerSums>;

    lab::Comparison compare_sums(const std::vector<Number>& found) {
        if (!sums_) sums_ = std::make_unique<Sums>(input_, shift_);
        lab::Comparison comparison = lab::compare(found.data(), sums_->expected.data(),
                                                  int64_t(found.size()), {sums_->bound, 0});
        comparison.doubt = sums_->doubt;
        return comparison;
    }

    void filter() {
        for (const Number value : input_) {
            if (value < 0) filtered_.push_back(value);
        }
    }

    // Stable: elements of the same digit, the lowest 8 bits, stay in their order.
    void sort_by_digit() {
        int64_t places[257] = {};
        for (const Number value : input_) places[bits_of(value) % 256 + 1]++;
        for (int digit = 0; digit < 256; digit++) places[digit + 1] += places[digit];
        sorted_.resize(input_.size());
        for (const Number value : input_) sorted_[places[bits_of(value) % 256]++] = value;
    }

    const std::vector<Number>& input_;
    const int shift_;
    int64_t kept_ = 0;
    std::unique_ptr<Sums> sums_;
    std::vector<Number> filtered_, sorted_;
};
