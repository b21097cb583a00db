// cuRAND's generators of the host API: what they give next.
#pragma once

#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <vector>

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
// Sequences of which each gives one number in its turn.
template <class State>
struct TurningStates {
    std::vector<State> states{};
    size_t turn = 0;
    template <class Skip>
    void start(size_t count, unsigned long long seed, unsigned long long offset,
               Skip skip_sequence) {
        states.resize(count);
        curand_init(seed, 0, 0, &states[0]);
        for (size_t i = 1; i < count; ++i) {
            states[i] = states[i - 1];
            skip_sequence(&states[i]);
        }
        for (size_t i = 0; i < count; ++i)
            skipahead(offset / count + (i < offset % count), &states[i]);
        turn = offset % count;
    }
    State* next() {
        State* const mine = &states[turn];
        turn = (turn + 1) % states.size();
        return mine;
    }
};
// The Mersenne Twister; not the numbers of a card, which has many of them side by side.
struct TwisterState : std::mt19937 {};
inline unsigned int curand(TwisterState* state) { return static_cast<unsigned int>((*state)()); }

}  // namespace cuda_cpu

struct curandGenerator_st {
    curandRngType type;
    bool on_host;
    unsigned long long seed = 0, offset = 0;
    unsigned int dimensions = 1;  // of a quasi-random generator
    cudaStream_t stream = nullptr;
    cuda_cpu::TurningStates<curandStateXORWOW> xorwow{};
    cuda_cpu::TurningStates<curandStateMRG32k3a> mrg{};
    cuda_cpu::PhiloxStream philox{};
    cuda_cpu::TwisterState twister{};
    bool started = false;

    bool is_quasi() const { return type >= CURAND_RNG_QUASI_DEFAULT; }
    bool has_64_bits() const { return type >= CURAND_RNG_QUASI_SOBOL64; }
    bool is_twister() const {
        return type == CURAND_RNG_PSEUDO_MTGP32 || type == CURAND_RNG_PSEUDO_MT19937;
    }
    void start() {
        if (started) return;
        started = true;
        if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
            philox = {seed, offset - offset % 4, {}};
            for (unsigned long long i = 0; i < offset % 4; ++i) curand(&philox);
        } else if (type == CURAND_RNG_PSEUDO_MRG32K3A) {
            mrg.start(81920, seed, offset,
                      [](curandStateMRG32k3a* state) { skipahead_subsequence(1, state); });
        } else if (is_twister()) {
            twister.seed(static_cast<unsigned int>(seed ^ seed >> 32));
            twister.discard(offset);
        } else {
            xorwow.start(4096, seed, offset,
                         [](curandStateXORWOW* state) { skipahead_sequence(1, state); });
        }
    }
    // The next number, pair or whatever `draw` takes from a state of pseudo-random numbers.
    template <class Draw>
    auto next(Draw draw) {
        start();
        if (type == CURAND_RNG_PSEUDO_PHILOX4_32_10) return draw(&philox);
        if (type == CURAND_RNG_PSEUDO_MRG32K3A) return draw(mrg.next());
        if (is_twister()) return draw(&twister);
        return draw(xorwow.next());
    }
    // Numbers of each dimension in its turn, as many of each.
    template <class T, class Draw>
    void fill_quasi(std::vector<T>& numbers, Draw draw) {
        const size_t each = numbers.size() / dimensions;
        const cuda_cpu::SobolVectors& vectors = cuda_cpu::sobol_vectors();
        for (unsigned int dimension = 0; dimension < dimensions; ++dimension) {
            T* const mine = numbers.data() + dimension * each;
            const auto from = [&](auto state, auto... start) {
                curand_init(start..., &state);
                for (size_t i = 0; i < each; ++i) mine[i] = draw(&state);
            };
            const auto at = static_cast<unsigned int>(offset);
            const auto* const of_32 = vectors.of_32[dimension];
            const auto* const of_64 = vectors.of_64[dimension];
            if (type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32) {
                from(curandStateScrambledSobol32{}, of_32, vectors.scramble_32[dimension], at);
            } else if (type == CURAND_RNG_QUASI_SOBOL64) {
                from(curandStateSobol64{}, of_64, offset);
            } else if (type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64) {
                from(curandStateScrambledSobol64{}, of_64, vectors.scramble_64[dimension], offset);
            } else {
                from(curandStateSobol32{}, of_32, at);
            }
        }
        offset += each;
    }
};
using curandGenerator_t = curandGenerator_st*;

namespace cuda_cpu {

// Those that are made and not destroyed: a variable that nobody has set is no generator.
struct Generators {
    std::mutex mutex;
    std::set<curandGenerator_t> made;
    static Generators& instance() {
        static Generators generators;
        return generators;
    }
};
inline bool is_generator(curandGenerator_t generator) {
    Generators& all = Generators::instance();
    const std::lock_guard lock(all.mutex);
    return all.made.count(generator) != 0;
}

// Numbers to where they belong in the generator's stream.
template <class T, class Make>
curandStatus_t generate(curandGenerator_t generator, T* target, size_t count, Make make) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->is_quasi() && count % generator->dimensions != 0)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
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
// One number of each state.
template <class T, class Draw>
curandStatus_t generate_each(curandGenerator_t generator, T* target, size_t count, Draw draw) {
    return generate(generator, target, count, [&](std::vector<T>& numbers) {
        if (generator->is_quasi()) return generator->fill_quasi(numbers, draw);
        for (T& number : numbers) number = generator->next(draw);
    });
}
// Normal numbers come in pairs but for quasi-random ones: only Philox gives one of a pair.
template <class T, class Draw, class DrawPair, class Shape>
curandStatus_t generate_normal(curandGenerator_t generator, T* target, size_t count, Draw draw,
                               DrawPair draw_pair, Shape shape) {
    if (!is_generator(generator)) return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->is_quasi())
        return generate(generator, target, count, [&](std::vector<T>& numbers) {
            generator->fill_quasi(numbers, [=](auto* state) { return shape(draw(state)); });
        });
    if (count % 2 != 0 && generator->type != CURAND_RNG_PSEUDO_PHILOX4_32_10)
        return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return generate(generator, target, count, [&](std::vector<T>& numbers) {
        for (size_t i = 0; i < count; i += 2) {
            const auto pair = generator->next(draw_pair);
            numbers[i] = shape(pair.x);
            if (i + 1 < count) numbers[i + 1] = shape(pair.y);
        }
    });
}

}  // namespace cuda_cpu
