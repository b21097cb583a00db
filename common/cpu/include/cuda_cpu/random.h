// The generators of cuRAND: XORWOW, Philox4x32-10 and MRG32k3a, with the numbers that a card gives, and the distributions.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "../cuda_runtime.h"

namespace cuda_cpu {

// A linear map of the 160 bits of XORWOW's state: for each bit what it contributes.
struct XorwowMap {
    uint32_t rows[160][5];
    void apply(uint32_t* state) const {
        uint32_t result[5] = {};
        for (int bit = 0; bit < 160; ++bit) {
            if ((state[bit / 32] >> (bit % 32) & 1) == 0) continue;
            for (int word = 0; word < 5; ++word) result[word] ^= rows[bit][word];
        }
        std::memcpy(state, result, sizeof result);
    }
    XorwowMap squared() const {
        XorwowMap result = *this;
        for (auto& row : result.rows) apply(row);
        return result;
    }
};
inline void xorwow_step(uint32_t* v) {
    const uint32_t t = v[0] ^ (v[0] >> 2);
    std::memmove(v, v + 1, 4 * sizeof(uint32_t));
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}
// The map of 2^exponent steps; exponents up to 67 + 63.
inline const XorwowMap& xorwow_map(int exponent) {
    struct Maps {
        XorwowMap of[131];
        Maps() {
            for (int bit = 0; bit < 160; ++bit) {
                uint32_t state[5] = {};
                state[bit / 32] = 1u << (bit % 32);
                xorwow_step(state);
                std::memcpy(of[0].rows[bit], state, sizeof state);
            }
            for (int i = 1; i <= 130; ++i) of[i] = of[i - 1].squared();
        }
    };
    static const Maps& maps = *new Maps;
    return maps.of[exponent];
}

// The upper and the lower half of a product.
inline uint32_t product(uint32_t a, uint32_t b, uint32_t* high) {
    const uint64_t whole = uint64_t{a} * b;
    *high = static_cast<uint32_t>(whole >> 32);
    return static_cast<uint32_t>(whole);
}

constexpr float two_to_minus_32 = 2.3283064e-10f;
constexpr double two_to_minus_53 = 1.1102230246251565e-16;
inline float uniform_of(uint32_t x) {
    return static_cast<float>(x) * two_to_minus_32 + two_to_minus_32 / 2.0f;
}
inline double uniform_double_of(uint32_t x, uint32_t y) {
    const uint64_t z = static_cast<uint64_t>(x) ^ (static_cast<uint64_t>(y) << (53 - 32));
    return static_cast<double>(z) * two_to_minus_53 + two_to_minus_53 / 2.0;
}
// Two numbers of the normal distribution from two uniform ones (Box and Muller).
struct TwoFloats {
    float x, y;
};
struct TwoDoubles {
    double x, y;
};
inline TwoFloats box_muller(uint32_t x, uint32_t y) {
    constexpr float turn = 2.3283064e-10f * 6.2831855f;
    const float u = uniform_of(x), v = static_cast<float>(y) * turn + turn / 2.0f;
    const float size = std::sqrt(-2.0f * std::log(u));
    return {size * std::sin(v), size * std::cos(v)};
}
inline TwoDoubles box_muller_double(uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
    const double u = uniform_double_of(x0, x1);
    const uint64_t z = static_cast<uint64_t>(y0) ^ (static_cast<uint64_t>(y1) << (53 - 32));
    const double v = static_cast<double>(z) * (two_to_minus_53 * 2.0) + two_to_minus_53;
    const double size = std::sqrt(-2.0 * std::log(u));
    return {size * ::sinpi(v), size * ::cospi(v)};
}

}  // namespace cuda_cpu
