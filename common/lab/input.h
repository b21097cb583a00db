// Input at random: the same numbers on every machine.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cstdint>
#include <type_traits>
#include <vector>

#include "checks.h"
#include "parts.h"

namespace lab {

// The bits of the counter, well mixed (the finaliser of splitmix64).
constexpr uint64_t mixed_bits(uint64_t counter) {
    uint64_t bits = counter * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

// `count` values between `low` and `high`, both included. Value i depends on the seed and i only.
template <class T>
std::vector<T> random_values(int64_t count, T low, T high, uint64_t seed) {
    const NvtxRange range("input");
    std::vector<T> values = zeros<T>(count);
    const uint64_t start = mixed_bits(seed + 1);
    in_parts(count, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            const uint64_t bits = mixed_bits(start + uint64_t(i));
            if constexpr (std::is_integral_v<T>) {
                const uint64_t choices =
                    uint64_t(high) - uint64_t(low) + 1;                  // 0: all 64-bit numbers
                const bool power_of_2 = (choices & (choices - 1)) == 0;  // no division is needed
                values[i] = T(uint64_t(low) + (power_of_2 ? bits & (choices - 1) : bits % choices));
            } else {
                const double fraction = double(bits >> 11) * 0x1p-53;
                values[i] = T(double(low) + fraction * (double(high) - double(low)));
            }
        }
    });
    return values;
}

}  // namespace lab
