// cuRAND's Sobol sequences of 32 and 64 bits, plain and scrambled, with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput.
// 30, 2008), which are Boost's.
#pragma once

#include "libraries/library.h"
#include "random_directions.h"

namespace cuda_cpu {

// Numbers of a type that follow each other in the order of Gray's code.
template <class Number>
struct SobolState {
    Number i, x, c;
    Number direction_vectors[8 * sizeof(Number)];
};
template <class Number>
void sobol_start(const Number* vectors, Number scramble, unsigned long long offset,
                 SobolState<Number>* state) {
    std::copy(vectors, vectors + 8 * sizeof(Number), state->direction_vectors);
    state->i = static_cast<Number>(offset);
    state->c = state->x = scramble;
    for (Number gray = state->i ^ (state->i >> 1), bit = 0; gray != 0; gray >>= 1, ++bit)
        if ((gray & 1) != 0) state->x ^= state->direction_vectors[bit];
}
template <class Number>
Number sobol_next(SobolState<Number>* state) {
    const Number result = state->x;
    const int bit = __builtin_ctzll(~static_cast<unsigned long long>(state->i));
    if (bit < static_cast<int>(8 * sizeof(Number))) state->x ^= state->direction_vectors[bit];
    ++state->i;
    return result;
}
// The place in (0, 1) of a number, and where the normal distribution has it.
inline float sobol_uniform(uint32_t x) { return uniform_of(x); }
inline float sobol_uniform(unsigned long long x) {
    return uniform_of(static_cast<uint32_t>(x >> 32));
}
inline double sobol_uniform_double(uint32_t x) {
    return x * 2.3283064365386963e-10 + 2.3283064365386963e-10;
}
inline double sobol_uniform_double(unsigned long long x) {
    return static_cast<double>(x >> 11) * two_to_minus_53 + two_to_minus_53 / 2.0;
}
inline double sobol_normal(uint32_t x) {
    return ::normcdfinv(x * 2.3283064365386963e-10 + 2.3283064365386963e-10 / 2.0);
}
inline double sobol_normal(unsigned long long x) {
    return ::normcdfinv(static_cast<double>(x >> 11) * two_to_minus_53 + two_to_minus_53 / 2.0);
}

}  // namespace cuda_cpu

#define CUDA_CPU_SOBOL(State, Number)                                                            \
    struct State : cuda_cpu::SobolState<Number> {};                                              \
    using State##_t = State;                                                                     \
    inline Number curand(State* state) { return cuda_cpu::sobol_next<Number>(state); }           \
    inline void skipahead(unsigned long long count, State* state) {                              \
        const std::vector<Number> vectors(std::begin(state->direction_vectors),                  \
                                          std::end(state->direction_vectors));                   \
        cuda_cpu::sobol_start<Number>(vectors.data(), state->c, state->i + count, state);        \
    }                                                                                            \
    inline float curand_uniform(State* state) { return cuda_cpu::sobol_uniform(curand(state)); } \
    inline double curand_uniform_double(State* state) {                                          \
        return cuda_cpu::sobol_uniform_double(curand(state));                                    \
    }                                                                                            \
    inline float curand_normal(State* state) {                                                   \
        return static_cast<float>(cuda_cpu::sobol_normal(curand(state)));                        \
    }                                                                                            \
    inline double curand_normal_double(State* state) {                                           \
        return cuda_cpu::sobol_normal(curand(state));                                            \
    }
CUDA_CPU_SOBOL(curandStateSobol32, uint32_t)
CUDA_CPU_SOBOL(curandStateScrambledSobol32, uint32_t)
CUDA_CPU_SOBOL(curandStateSobol64, unsigned long long)
CUDA_CPU_SOBOL(curandStateScrambledSobol64, unsigned long long)
#undef CUDA_CPU_SOBOL

inline void curand_init(const curandDirectionVectors32_t vectors, unsigned int offset,
                        curandStateSobol32* state) {
    cuda_cpu::sobol_start<uint32_t>(vectors, 0, offset, state);
}
inline void curand_init(const curandDirectionVectors32_t vectors, unsigned int scramble,
                        unsigned int offset, curandStateScrambledSobol32* state) {
    cuda_cpu::sobol_start<uint32_t>(vectors, scramble, offset, state);
}
inline void curand_init(const curandDirectionVectors64_t vectors, unsigned long long offset,
                        curandStateSobol64* state) {
    cuda_cpu::sobol_start<unsigned long long>(vectors, 0, offset, state);
}
inline void curand_init(const curandDirectionVectors64_t vectors, unsigned long long scramble,
                        unsigned long long offset, curandStateScrambledSobol64* state) {
    cuda_cpu::sobol_start<unsigned long long>(vectors, scramble, offset, state);
}
