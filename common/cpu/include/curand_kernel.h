// cuRAND's device API: the states of XORWOW, Philox4x32-10, MRG32k3a and Sobol's sequences, and the distributions.
#pragma once

#include "cuda_cpu/random.h"
#include "cuda_runtime.h"

struct curandStateXORWOW {
    uint32_t d, v[5];
    // Normal numbers come in pairs; the second one waits here.
    bool has_normal, has_normal_double;
    float normal;
    double normal_double;
};
struct curandStatePhilox4_32_10 {
    uint32_t counter[4], key[2], output[4];
    unsigned int used;  // how many of the four
    bool has_normal, has_normal_double;
    float normal;
    double normal_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;

// ---------------------------------------------------------------- XORWOW
// Leaves out this many numbers.
inline void skipahead(unsigned long long count, curandStateXORWOW* state) {
    for (int bit = 0; bit < 64; ++bit)
        if (count >> bit & 1) cuda_cpu::xorwow_map(bit).apply(state->v);
    state->d += 362437u * static_cast<uint32_t>(count);
}
// Leaves out this many times 2^67 numbers.
inline void skipahead_sequence(unsigned long long count, curandStateXORWOW* state) {
    for (int bit = 0; bit < 64; ++bit)
        if (count >> bit & 1) cuda_cpu::xorwow_map(67 + bit).apply(state->v);
}
inline void curand_init(unsigned long long seed, unsigned long long sequence,
                        unsigned long long offset, curandStateXORWOW* state) {
    const uint32_t low = static_cast<uint32_t>(seed) ^ 0xaad26b49u,
                   high = static_cast<uint32_t>(seed >> 32) ^ 0xf7dcefddu;
    const uint32_t a = 1099087573u * low, b = 2591861531u * high;
    *state = {6615241u + a + b,
              {123456789u + a, 362436069u ^ a, 521288629u + b, 88675123u ^ b, 5783321u + a},
              false,
              false,
              0,
              0};
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}
inline unsigned int curand(curandStateXORWOW* state) {
    cuda_cpu::xorwow_step(state->v);
    state->d += 362437u;
    return state->v[4] + state->d;
}

// ---------------------------------------------------------------- Philox4x32-10
namespace cuda_cpu {
inline void philox_fill(curandStatePhilox4_32_10* state) {
    uint32_t c[4], key[2] = {state->key[0], state->key[1]};
    std::memcpy(c, state->counter, sizeof c);
    for (int round = 0; round < 10; ++round) {
        uint32_t high0, high1;
        const uint32_t low0 = product(0xD2511F53u, c[0], &high0),
                       low1 = product(0xCD9E8D57u, c[2], &high1);
        const uint32_t next[4] = {high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0};
        std::memcpy(c, next, sizeof c);
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    std::memcpy(state->output, c, sizeof c);
}
inline void philox_advance(curandStatePhilox4_32_10* state, unsigned long long count) {
    uint64_t low, high;
    std::memcpy(&low, state->counter, sizeof low);
    std::memcpy(&high, state->counter + 2, sizeof high);
    low += count;
    high += low < count;
    std::memcpy(state->counter, &low, sizeof low);
    std::memcpy(state->counter + 2, &high, sizeof high);
}
}  // namespace cuda_cpu
inline void skipahead(unsigned long long count, curandStatePhilox4_32_10* state) {
    const unsigned long long used = state->used + count % 4;
    cuda_cpu::philox_advance(state, count / 4 + used / 4);
    state->used = static_cast<unsigned int>(used % 4);
    cuda_cpu::philox_fill(state);
}
inline void skipahead_sequence(unsigned long long count, curandStatePhilox4_32_10* state) {
    uint64_t high;
    std::memcpy(&high, state->counter + 2, sizeof high);
    high += count;
    std::memcpy(state->counter + 2, &high, sizeof high);
    cuda_cpu::philox_fill(state);
}
inline void curand_init(unsigned long long seed, unsigned long long subsequence,
                        unsigned long long offset, curandStatePhilox4_32_10* state) {
    *state = {};
    state->key[0] = static_cast<uint32_t>(seed);
    state->key[1] = static_cast<uint32_t>(seed >> 32);
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
inline unsigned int curand(curandStatePhilox4_32_10* state) {
    const unsigned int result = state->output[state->used];
    if (++state->used == 4) {
        cuda_cpu::philox_advance(state, 1);
        cuda_cpu::philox_fill(state);
        state->used = 0;
    }
    return result;
}
inline uint4 curand4(curandStatePhilox4_32_10* state) {
    uint4 result;
    result.x = curand(state), result.y = curand(state), result.z = curand(state),
    result.w = curand(state);
    return result;
}

#include "cuda_cpu/random_mrg.h"
#include "cuda_cpu/random_sobol.h"

// ---------------------------------------------------------------- distributions
template <class State>
float curand_uniform(State* state) {
    return cuda_cpu::uniform_of(curand(state));
}
template <class State>
double curand_uniform_double(State* state) {
    const unsigned int x = curand(state);
    return cuda_cpu::uniform_double_of(x, curand(state));
}
template <class State>
float2 curand_normal2(State* state) {
    const unsigned int x = curand(state);
    const cuda_cpu::TwoFloats pair = cuda_cpu::box_muller(x, curand(state));
    return {pair.x, pair.y};
}
template <class State>
double2 curand_normal2_double(State* state) {
    const unsigned int x0 = curand(state), x1 = curand(state), y0 = curand(state),
                       y1 = curand(state);
    const cuda_cpu::TwoDoubles pair = cuda_cpu::box_muller_double(x0, x1, y0, y1);
    return {pair.x, pair.y};
}
template <class State>
float curand_normal(State* state) {
    if (state->has_normal) {
        state->has_normal = false;
        return state->normal;
    }
    const float2 pair = curand_normal2(state);
    state->has_normal = true;
    state->normal = pair.y;
    return pair.x;
}
template <class State>
double curand_normal_double(State* state) {
    if (state->has_normal_double) {
        state->has_normal_double = false;
        return state->normal_double;
    }
    const double2 pair = curand_normal2_double(state);
    state->has_normal_double = true;
    state->normal_double = pair.y;
    return pair.x;
}
template <class State>
float curand_log_normal(State* state, float mean, float deviation) {
    return std::exp(mean + deviation * curand_normal(state));
}
template <class State>
double curand_log_normal_double(State* state, double mean, double deviation) {
    return std::exp(mean + deviation * curand_normal_double(state));
}
template <class State>
float2 curand_log_normal2(State* state, float mean, float deviation) {
    const float2 pair = curand_normal2(state);
    return {std::exp(mean + deviation * pair.x), std::exp(mean + deviation * pair.y)};
}
inline float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return {cuda_cpu::uniform_of(x.x), cuda_cpu::uniform_of(x.y), cuda_cpu::uniform_of(x.z),
            cuda_cpu::uniform_of(x.w)};
}
inline double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return {cuda_cpu::uniform_double_of(x.x, x.y), cuda_cpu::uniform_double_of(x.z, x.w)};
}
inline float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const float2 first = curand_normal2(state), second = curand_normal2(state);
    return {first.x, first.y, second.x, second.y};
}
// Products of uniform numbers, in portions that do not underflow; not the numbers of a card. A quasi-random number is one place
// of the distribution.
template <class State>
unsigned int curand_poisson(State* state, double mean) {
    unsigned int count = 0;
    if constexpr (std::is_same_v<State, curandStateSobol32> ||
                  std::is_same_v<State, curandStateScrambledSobol32> ||
                  std::is_same_v<State, curandStateSobol64> ||
                  std::is_same_v<State, curandStateScrambledSobol64>) {
        double rest = curand_uniform_double(state);
        const double log_mean = std::log(mean);
        for (double term = 0, log_of_factorial = 0;; ++count) {
            if (count > 0) log_of_factorial += std::log(count);
            term = std::exp(count * log_mean - mean - log_of_factorial);
            rest -= term;
            if (rest <= 0 || (count > mean && term < 1e-18)) return count;
        }
    }
    while (mean > 0) {
        const double part = mean < 500 ? mean : 500, least = std::exp(-part);
        mean -= part;
        for (double rest = curand_uniform_double(state); rest > least;
             rest *= curand_uniform_double(state))
            ++count;
    }
    return count;
}

// As with CUDA, this header brings the host API, too.
#include "curand.h"
