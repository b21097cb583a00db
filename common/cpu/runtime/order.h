// The order in which the blocks of a grid, and the threads of a block, get their turn.
//
// CUDA promises none. Unless CUDA_CPU_ORDER says otherwise it is that of their numbers; a kernel that
// is right by luck in that order is found with "reversed" or "random".
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <utility>

#include "report.h"

namespace cuda_cpu {

// A sequence of numbers that its start decides (splitmix64).
struct Chance {
    uint64_t state;
    uint64_t operator()() {
        uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    template <class Array>
    void shuffle(Array& array, unsigned int count) {
        for (unsigned int i = count; i > 1; --i) std::swap(array[i - 1], array[(*this)() % i]);
    }
};

struct Order {
    enum Kind { forward, reversed, random } kind = forward;
    uint64_t seed = 0;

    static const Order& asked_for() {
        static const Order order = read(std::getenv("CUDA_CPU_ORDER"));
        return order;
    }

    // Which of `count` blocks gets the turn number `turn`.
    uint64_t block(uint64_t turn, uint64_t count) const {
        if (kind == forward) return turn;
        if (kind == reversed) return count - 1 - turn;
        Chance chance{seed};
        uint64_t factor = chance() % count | 1;  // with no common divisor each block has one turn
        while (std::gcd(factor, count) != 1) factor += 2;
        using Wide = unsigned __int128;
        return static_cast<uint64_t>((Wide{turn} * factor + chance() % count) % count);
    }

 private:
    static Order read(const char* text) {
        const std::string word = text == nullptr ? "forward" : text;
        if (word == "forward" || word.empty()) return {};
        if (word == "reversed") return {reversed, 0};
        if (word == "random") {
            const uint64_t seed = std::random_device{}();
            std::fprintf(stderr,
                         "threads and blocks run in random order: CUDA_CPU_ORDER=random:%llu\n",
                         static_cast<unsigned long long>(seed));
            return {random, seed};
        }
        char* end = nullptr;
        const bool seeded = word.rfind("random:", 0) == 0 && word[7] >= '0' && word[7] <= '9';
        const uint64_t seed = seeded ? std::strtoull(word.c_str() + 7, &end, 10) : 0;
        if (seeded && *end == '\0') return {random, seed};
        stop("CUDA_CPU_ORDER: \"" + word +
             "\" is no order; write forward, reversed, random or random:SEED.");
    }
};

}  // namespace cuda_cpu
