// cuRAND's host API: arrays of random numbers in device memory, or in the host's for a generator of the host.
// XORWOW, Philox4x32-10, MRG32k3a and Sobol's sequences give the numbers that cuRAND gives in its default order.
#pragma once

#define CURAND_H_  // NVIDIA's helper_cuda.h asks for it

#include "curand_kernel.h"

enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
};
using curandStatus_t = curandStatus;
enum curandRngType {
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
using curandRngType_t = curandRngType;
// All orders of pseudo-random numbers are the default one.
enum curandOrdering {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102,
    CURAND_ORDERING_PSEUDO_LEGACY = 103,
    CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
    CURAND_ORDERING_QUASI_DEFAULT = 201
};
using curandOrdering_t = curandOrdering;
enum curandDirectionVectorSet {
    CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101,
    CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6 = 102,
    CURAND_DIRECTION_VECTORS_64_JOEKUO6 = 103,
    CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6 = 104
};
using curandDirectionVectorSet_t = curandDirectionVectorSet;

#include "cuda_cpu/random_generator.h"

namespace cuda_cpu {
inline curandStatus_t make_generator(curandGenerator_t* generator, curandRngType_t type,
                                     bool on_host) {
    *generator = nullptr;
    switch (type) {
        case CURAND_RNG_PSEUDO_DEFAULT:
        case CURAND_RNG_PSEUDO_XORWOW:
        case CURAND_RNG_PSEUDO_MRG32K3A:
        case CURAND_RNG_PSEUDO_MTGP32:
        case CURAND_RNG_PSEUDO_MT19937:
        case CURAND_RNG_PSEUDO_PHILOX4_32_10:
        case CURAND_RNG_QUASI_DEFAULT:
        case CURAND_RNG_QUASI_SOBOL32:
        case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32:
        case CURAND_RNG_QUASI_SOBOL64:
        case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
            break;
        default:
            return CURAND_STATUS_TYPE_ERROR;
    }
    if (!on_host && meets_capture(EndsCapture::by_mode)) return CURAND_STATUS_INITIALIZATION_FAILED;
    *generator = new curandGenerator_st{type, on_host};
    Generators& all = Generators::instance();
    const std::lock_guard lock(all.mutex);
    all.made.insert(*generator);
    return CURAND_STATUS_SUCCESS;
}
}  // namespace cuda_cpu

inline curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
    return cuda_cpu::make_generator(generator, type, false);
}
inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                curandRngType_t type) {
    return cuda_cpu::make_generator(generator, type, true);
}
inline curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    if (!cuda_cpu::is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    cuda_cpu::meets_capture(cuda_cpu::EndsCapture::by_mode);
    {
        cuda_cpu::Generators& all = cuda_cpu::Generators::instance();
        const std::lock_guard lock(all.mutex);
        all.made.erase(generator);
    }
    delete generator;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
    if (!cuda_cpu::is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->is_quasi()) return CURAND_STATUS_TYPE_ERROR;
    generator->seed = seed;
    generator->started = false;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
    if (!cuda_cpu::is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->is_twister()) return CURAND_STATUS_TYPE_ERROR;
    generator->offset = offset;
    generator->started = false;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                                 curandOrdering_t order) {
    if (!cuda_cpu::is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    const bool of_quasi = order == CURAND_ORDERING_QUASI_DEFAULT;
    return of_quasi == generator->is_quasi() ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                              unsigned int dimensions) {
    if (!cuda_cpu::is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    if (!generator->is_quasi()) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions < 1 || dimensions > 20000) return CURAND_STATUS_OUT_OF_RANGE;
    if (dimensions > cuda_cpu::sobol_dimensions)
        cuda_cpu::refuse_call("curandSetQuasiRandomGeneratorDimensions",
                              "more than 3667 dimensions");
    generator->dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    if (!cuda_cpu::is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetVersion(int* version) {
    *version = 10400;
    return CURAND_STATUS_SUCCESS;
}
// What would come with the first numbers.
inline curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    if (!cuda_cpu::is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    if (!generator->is_quasi()) generator->start();
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t** vectors,
                                                  curandDirectionVectorSet_t set) {
    if (set > CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
    *vectors = cuda_cpu::sobol_vectors().of_32;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t** vectors,
                                                  curandDirectionVectorSet_t set) {
    if (set < CURAND_DIRECTION_VECTORS_64_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
    *vectors = cuda_cpu::sobol_vectors().of_64;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetScrambleConstants32(unsigned int** constants) {
    *constants = cuda_cpu::sobol_vectors().scramble_32;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
    *constants = cuda_cpu::sobol_vectors().scramble_64;
    return CURAND_STATUS_SUCCESS;
}

// ---------------------------------------------------------------- numbers
inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* target,
                                     size_t count) {
    if (cuda_cpu::is_generator(generator) && generator->has_64_bits())
        return CURAND_STATUS_TYPE_ERROR;
    return cuda_cpu::generate_each(generator, target, count, [](auto* state) {
        return static_cast<unsigned int>(curand(state));
    });
}
inline curandStatus_t curandGenerateLongLong(curandGenerator_t generator,
                                             unsigned long long* target, size_t count) {
    if (cuda_cpu::is_generator(generator) && !generator->has_64_bits())
        return CURAND_STATUS_TYPE_ERROR;
    return cuda_cpu::generate_each(generator, target, count, [](auto* state) {
        return static_cast<unsigned long long>(curand(state));
    });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* target,
                                            size_t count) {
    return cuda_cpu::generate_each(generator, target, count,
                                   [](auto* state) { return curand_uniform(state); });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* target,
                                                  size_t count) {
    return cuda_cpu::generate_each(generator, target, count,
                                   [](auto* state) { return curand_uniform_double(state); });
}
namespace cuda_cpu {
template <class Shape>
curandStatus_t normal_floats(curandGenerator_t generator, float* target, size_t count,
                             Shape shape) {
    return generate_normal(
        generator, target, count, [](auto* state) { return curand_normal(state); },
        [](auto* state) { return curand_normal2(state); }, shape);
}
template <class Shape>
curandStatus_t normal_doubles(curandGenerator_t generator, double* target, size_t count,
                              Shape shape) {
    return generate_normal(
        generator, target, count, [](auto* state) { return curand_normal_double(state); },
        [](auto* state) { return curand_normal2_double(state); }, shape);
}
}  // namespace cuda_cpu
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* target, size_t count,
                                           float mean, float deviation) {
    return cuda_cpu::normal_floats(generator, target, count,
                                   [=](float x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* target,
                                                 size_t count, double mean, double deviation) {
    return cuda_cpu::normal_doubles(generator, target, count,
                                    [=](double x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* target,
                                              size_t count, float mean, float deviation) {
    return cuda_cpu::normal_floats(generator, target, count,
                                   [=](float x) { return std::exp(mean + deviation * x); });
}
inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* target,
                                                    size_t count, double mean, double deviation) {
    return cuda_cpu::normal_doubles(generator, target, count,
                                    [=](double x) { return std::exp(mean + deviation * x); });
}
inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* target,
                                            size_t count, double mean) {
    if (mean <= 0) return CURAND_STATUS_OUT_OF_RANGE;
    return cuda_cpu::generate_each(generator, target, count,
                                   [=](auto* state) { return curand_poisson(state, mean); });
}
