// cuRAND's host API: arrays of random numbers in device memory, or in the host's for a generator of the host.
// XORWOW and Philox4x32-10 give the numbers that cuRAND gives in its default order.
#pragma once

#define CURAND_H_  // NVIDIA's helper_cuda.h asks for it

#include <memory>
#include <vector>

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
// The kinds that need tables or another algorithm are CURAND_STATUS_TYPE_ERROR.
enum curandRngType {
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201
};
using curandRngType_t = curandRngType;
enum curandOrdering { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT = 101 };
using curandOrdering_t = curandOrdering;

namespace cuda_cpu {
// Philox's numbers in cuRAND's order: four of each of 65536 subsequences, then the next four of each.
struct PhiloxStream {
    unsigned long long seed, next;
    uint32_t four[4];
};
inline unsigned int curand(PhiloxStream* stream) {
    constexpr unsigned long long subsequences = 65536;
    const unsigned long long group = stream->next / 4;
    const unsigned int place = static_cast<unsigned int>(stream->next++ % 4);
    if (place == 0) {
        curandStatePhilox4_32_10 state;
        curand_init(stream->seed, group % subsequences, group / subsequences * 4, &state);
        std::memcpy(stream->four, state.output, sizeof stream->four);
    }
    return stream->four[place];
}
}  // namespace cuda_cpu

struct curandGenerator_st {
    curandRngType type;
    bool on_host;
    unsigned long long seed = 0, offset = 0;
    cudaStream_t stream = nullptr;
    // XORWOW: 4096 sequences that take turns, so that each has given as many numbers; else the first one alone.
    std::vector<curandStateXORWOW> xorwow{};
    cuda_cpu::PhiloxStream philox{};
    bool started = false;
    size_t turn = 0;  // of the sequences, the one that is next

    void start() {
        if (started) return;
        started = true;
        turn = 0;
        if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
            philox = {seed, offset - offset % 4, {}};
            for (unsigned long long i = 0; i < offset % 4; ++i) curand(&philox);
            return;
        }
        xorwow.resize(4096);
        curand_init(seed, 0, 0, &xorwow[0]);
        for (size_t i = 1; i < xorwow.size(); ++i) {
            xorwow[i] = xorwow[i - 1];
            skipahead_sequence(1, &xorwow[i]);
        }
        for (size_t i = 0; i < xorwow.size(); ++i)
            skipahead(offset / 4096 + (i < offset % 4096), &xorwow[i]);
        turn = offset % 4096;
    }
    // The next number, pair or whatever `draw` takes from a state.
    template <class Draw>
    auto next(Draw draw) {
        start();
        if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) return draw(&philox);
        const size_t mine = turn;
        turn = (turn + 1) % xorwow.size();
        return draw(&xorwow[mine]);
    }
};
using curandGenerator_t = curandGenerator_st*;

namespace cuda_cpu {
// Numbers made one after the other, to where they belong in the generator's stream.
template <class T, class Make>
curandStatus_t generate(curandGenerator_t generator, T* target, size_t count, Make make) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    std::vector<T> numbers(count);
    make(numbers);
    if (generator->on_host) {
        std::copy(numbers.begin(), numbers.end(), target);
        return CURAND_STATUS_SUCCESS;
    }
    const cudaError_t error = cudaMemcpyAsync(target, numbers.data(), count * sizeof(T),
                                              cudaMemcpyHostToDevice, generator->stream);
    return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}
// Normal numbers come in pairs: only Philox gives one of a pair.
template <class T, class Draw, class Shape>
curandStatus_t generate_pairs(curandGenerator_t generator, T* target, size_t count, Draw draw,
                              Shape shape) {
    if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
    if (count % 2 != 0 && generator->type != CURAND_RNG_PSEUDO_PHILOX4_32_10) {
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    }
    return generate(generator, target, count, [&](std::vector<T>& numbers) {
        for (size_t i = 0; i < count; i += 2) {
            const auto pair = generator->next(draw);
            numbers[i] = shape(pair.x);
            if (i + 1 < count) numbers[i + 1] = shape(pair.y);
        }
    });
}
inline curandStatus_t make_generator(curandGenerator_t* generator, curandRngType_t type,
                                     bool on_host) {
    const bool known = type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW ||
                       type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
    if (!known) return CURAND_STATUS_TYPE_ERROR;
    *generator = new curandGenerator_st{type, on_host};
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
    delete generator;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
    generator->seed = seed;
    generator->started = false;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
    generator->offset = offset;
    generator->started = false;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGetVersion(int* version) {
    *version = 10400;
    return CURAND_STATUS_SUCCESS;
}
inline curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* target,
                                     size_t count) {
    return cuda_cpu::generate(generator, target, count, [&](std::vector<unsigned int>& numbers) {
        for (unsigned int& number : numbers)
            number = generator->next([](auto* state) { return curand(state); });
    });
}
inline curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* target,
                                            size_t count) {
    return cuda_cpu::generate(generator, target, count, [&](std::vector<float>& numbers) {
        for (float& number : numbers)
            number = generator->next([](auto* state) { return curand_uniform(state); });
    });
}
inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* target,
                                                  size_t count) {
    return cuda_cpu::generate(generator, target, count, [&](std::vector<double>& numbers) {
        for (double& number : numbers)
            number = generator->next([](auto* state) { return curand_uniform_double(state); });
    });
}
inline curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* target, size_t count,
                                           float mean, float deviation) {
    return cuda_cpu::generate_pairs(
        generator, target, count, [](auto* state) { return curand_normal2(state); },
        [=](float x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* target,
                                                 size_t count, double mean, double deviation) {
    return cuda_cpu::generate_pairs(
        generator, target, count, [](auto* state) { return curand_normal2_double(state); },
        [=](double x) { return mean + deviation * x; });
}
inline curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* target,
                                              size_t count, float mean, float deviation) {
    return cuda_cpu::generate_pairs(
        generator, target, count, [](auto* state) { return curand_normal2(state); },
        [=](float x) { return std::exp(mean + deviation * x); });
}
inline curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* target,
                                            size_t count, double mean) {
    return cuda_cpu::generate(generator, target, count, [&](std::vector<unsigned int>& numbers) {
        for (unsigned int& number : numbers)
            number = generator->next([=](auto* state) { return curand_poisson(state, mean); });
    });
}
