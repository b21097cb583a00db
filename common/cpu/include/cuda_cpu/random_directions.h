// cuRAND: what Sobol sequences start from, a set of vectors for each dimension.
#pragma once

#include <cstdint>

using curandDirectionVectors32_t = unsigned int[32];
using curandDirectionVectors64_t = unsigned long long[64];
using curandDirectionVectors32 = curandDirectionVectors32_t;
using curandDirectionVectors64 = curandDirectionVectors64_t;

namespace cuda_cpu {

// Of all dimensions that there are, and of each a number to scramble with; cuRAND's own numbers for that are not known.
constexpr unsigned int sobol_dimensions = 3667;
struct SobolVectors {
    curandDirectionVectors32_t of_32[sobol_dimensions];
    curandDirectionVectors64_t of_64[sobol_dimensions];
    unsigned int scramble_32[sobol_dimensions];
    unsigned long long scramble_64[sobol_dimensions];
};
SobolVectors& sobol_vectors();

}  // namespace cuda_cpu
