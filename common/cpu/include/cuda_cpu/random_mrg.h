// cuRAND's MRG32k3a, by L'Ecuyer (Operations Research 47, 1999), with a card's numbers.
#pragma once

#include <array>

struct curandStateMRG32k3a {
    uint32_t s1[3], s2[3];
    // Normal numbers come in pairs; the second one waits here.
    bool has_normal, has_normal_double;
    float normal;
    double normal_double;
};
using curandStateMRG32k3a_t = curandStateMRG32k3a;

namespace cuda_cpu {

constexpr uint64_t mrg_modulus[2] = {4294967087u, 4294944443u};
using MrgMatrix = std::array<std::array<uint64_t, 3>, 3>;

inline MrgMatrix mrg_product(const MrgMatrix& A, const MrgMatrix& B, uint64_t modulus) {
    MrgMatrix result{};
    for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 3; ++j)
            for (size_t k = 0; k < 3; ++k)
                result[i][j] = (result[i][j] + A[i][k] * B[k][j] % modulus) % modulus;
    return result;
}
// One step of a component, 2^exponent times; exponents up to 127 + 63.
inline const MrgMatrix& mrg_step(int component, int exponent) {
    struct Steps {
        MrgMatrix of[2][191];
        Steps() {
            of[0][0] = {{{0, 1, 0}, {0, 0, 1}, {mrg_modulus[0] - 810728, 1403580, 0}}};
            of[1][0] = {{{0, 1, 0}, {0, 0, 1}, {mrg_modulus[1] - 1370589, 0, 527612}}};
            for (int component = 0; component < 2; ++component)
                for (int i = 1; i < 191; ++i)
                    of[component][i] = mrg_product(of[component][i - 1], of[component][i - 1],
                                                   mrg_modulus[component]);
        }
    };
    static const Steps& steps = *new Steps;
    return steps.of[component][exponent];
}
// Leaves out `count` times 2^exponent numbers.
inline void mrg_skip(curandStateMRG32k3a* state, unsigned long long count, int exponent) {
    for (int component = 0; component < 2; ++component) {
        uint32_t* const s = component == 0 ? state->s1 : state->s2;
        for (int bit = 0; bit < 64; ++bit) {
            if ((count >> bit & 1) == 0) continue;
            const MrgMatrix& A = mrg_step(component, exponent + bit);
            const uint64_t modulus = mrg_modulus[component];
            uint64_t next[3];
            for (size_t i = 0; i < 3; ++i)
                next[i] = (A[i][0] * s[0] % modulus + A[i][1] * s[1] % modulus +
                           A[i][2] * s[2] % modulus) %
                          modulus;
            for (int i = 0; i < 3; ++i) s[i] = static_cast<uint32_t>(next[i]);
        }
    }
}
// The next whole number, from 1 to the first modulus.
inline double mrg_next(curandStateMRG32k3a* state) {
    mrg_skip(state, 1, 0);
    const int64_t difference = int64_t{state->s1[2]} - int64_t{state->s2[2]};
    return static_cast<double>(difference > 0 ? difference
                                              : difference + static_cast<int64_t>(mrg_modulus[0]));
}

}  // namespace cuda_cpu

inline void skipahead(unsigned long long count, curandStateMRG32k3a* state) {
    cuda_cpu::mrg_skip(state, count, 0);
}
inline void skipahead_subsequence(unsigned long long count, curandStateMRG32k3a* state) {
    cuda_cpu::mrg_skip(state, count & ((1ull << 51) - 1), 76);
}
inline void skipahead_sequence(unsigned long long count, curandStateMRG32k3a* state) {
    cuda_cpu::mrg_skip(state, count, 127);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStateMRG32k3a* state) {
    *state = {{12345, 12345, 12345}, {12345, 12345, 12345}, false, false, 0, 0};
    if (seed != 0) {
        const uint64_t x[2] = {static_cast<uint32_t>(seed) ^ 0x55555555u,
                               static_cast<uint32_t>(seed >> 32) ^ 0xAAAAAAAAu};
        for (int i = 0; i < 3; ++i) {
            state->s1[i] =
                static_cast<uint32_t>(x[i % 2] * state->s1[i] % cuda_cpu::mrg_modulus[0]);
            state->s2[i] =
                static_cast<uint32_t>(x[(i + 1) % 2] * state->s2[i] % cuda_cpu::mrg_modulus[1]);
        }
    }
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
}
inline unsigned int curand(curandStateMRG32k3a* state) {
    return static_cast<unsigned int>(cuda_cpu::mrg_next(state) * 1.000000048662);
}
inline double curand_uniform_double(curandStateMRG32k3a* state) {
    return cuda_cpu::mrg_next(state) * 2.3283065498378288e-10;
}
inline float curand_uniform(curandStateMRG32k3a* state) {
    return static_cast<float>(curand_uniform_double(state));
}
inline float2 curand_normal2(curandStateMRG32k3a* state) {
    const float u = curand_uniform(state), v = curand_uniform(state) * 6.2831855f;
    const float size = std::sqrt(-2.0f * std::log(u));
    return {size * std::sin(v), size * std::cos(v)};
}
inline double2 curand_normal2_double(curandStateMRG32k3a* state) {
    const double u = curand_uniform_double(state), v = curand_uniform_double(state) * 2.0;
    const double size = std::sqrt(-2.0 * std::log(u));
    return {size * ::sinpi(v), size * ::cospi(v)};
}
