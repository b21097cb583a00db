// What memory holds before anybody writes to it, a word for each kind, so that a result tells where it
// comes from (common/checker/comparison.py). Each word is a NaN as a float, two are one as a double, and
// the bits behind the exponent survive arithmetic and conversions. As an integer it is negative.
// A program that fills its output by cudaMemset(..., 0xff, ...) has a pattern that is none of these.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cuda_cpu {

constexpr uint32_t never_written_device = 0xfffbe1f1;
constexpr uint32_t outside_allocation =
    0xfffcafe5;  // around an allocation, up to the ends of its pages
constexpr uint32_t never_written_shared = 0xfffd5a5d;
constexpr uint32_t absent_lane = 0xfffe3c6d;  // what a shuffle reads from a lane that takes no part

// The byte that a pattern has at an address: words lie at multiples of four.
inline char byte_of(uint32_t word, const char* address) {
    return static_cast<char>(word >> (reinterpret_cast<uintptr_t>(address) % 4 * 8));
}
inline void fill_with(uint32_t word, char* begin, char* end) {
    while (begin < end && reinterpret_cast<uintptr_t>(begin) % 4 != 0)
        *begin = byte_of(word, begin), ++begin;
    const size_t words = static_cast<size_t>(std::max(end, begin) - begin) / 4;
    std::fill_n(reinterpret_cast<uint32_t*>(begin), words, word);
    for (begin += 4 * words; begin < end; ++begin) *begin = byte_of(word, begin);
}
// Whether a piece of memory still holds a pattern.
inline bool holds(uint32_t word, const char* begin, const char* end) {
    uint32_t others = 0;
    const auto compare_bytes = [&](const char* last) {
        for (; begin < last; ++begin) others |= *begin != byte_of(word, begin);
    };
    const uintptr_t start = reinterpret_cast<uintptr_t>(begin);
    compare_bytes(std::min(end, begin + (4 - start % 4) % 4));
    for (; begin + 4 <= end; begin += 4) others |= *reinterpret_cast<const uint32_t*>(begin) ^ word;
    compare_bytes(end);
    return others == 0;
}

}  // namespace cuda_cpu
