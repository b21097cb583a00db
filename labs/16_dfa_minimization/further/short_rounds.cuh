// adaptive's first rounds, over all states: without a table as long as signatures are short, and then with a
// sieve, which leaves to the table what it must compare.
//
// Know before: `signature` and `retire` (tasks 7 to 9), prefix sums (lab 19).
//
// Short. With few classes a signature has few bits, and is a number itself. Which of these codes occur is
// marked in an array; a prefix sum over the marks gives each code its class, without gaps:
//
//        signature   (1, 0, 1)         own class and those of the targets, 1 bit each
//        code        101 = 5
//        occurs      1 0 0 1 0 1 0 0
//        before      0 1 1 1 2 2 3 3   code 5 becomes class 2
//
// So a round reads the transitions and writes one number a state. Classes up to 256 are kept in bytes: their
// look-ups, which go all over memory, then find an array of one byte a state in the L2 cache.
//
// Long. When signatures are long there are nearly as many of them as states, in a random automaton. A state
// that has its signature for itself needs no entry in a table: two bits are enough to learn that it is alone.
//
//        its hash chooses a place of the sieve; the first state that comes there sets bit 0, any other sets bit 1
//        all were there: whoever finds bit 1 not set is alone, for equal signatures have equal places
//
// The others may have met by chance. They alone go into the rounds of `retire`, whose table is then small.
#pragma once

#include "../given/retiring_rounds.cuh"
#include "../given/sorted_signatures.cuh"  // bits_for

// bits: of a class's number. occurs: (2^((symbols + 1) bits)); all who mark a code write the same.
template <class Number>
__global__ void mark_codes(DeviceAutomaton automaton, const Number* numbers, int bits,
                           int32_t* codes, int32_t* occurs) {
    const int64_t q = global_thread();
    if (q >= automaton.states) return;
    uint32_t code = numbers[q];
    for (int64_t letter = 0; letter < automaton.symbols; letter++) {
        code = code << bits | numbers[__ldg(&automaton.next[letter * automaton.states + q])];
    }
    codes[q] = int32_t(code);
    if (look(&occurs[code]) == 0) *(volatile int32_t*)&occurs[code] = 1;
}

// before: of each code, how many lower ones occur
template <class Number>
__global__ void number_codes(const int32_t* codes, int64_t states, const int32_t* before,
                             Number* numbers) {
    const int64_t q = global_thread();
    if (q < states) numbers[q] = Number(before[codes[q]]);
}

template <class Number>
__global__ void widen_numbers(const Number* numbers, int64_t states, int32_t* class_of) {
    const int64_t q = global_thread();
    if (q < states) class_of[q] = int32_t(numbers[q]);
}

// sieve: 16 places a word, (mask + 1) in all. A stale look leads to an atomic too many.
template <class Number>
__global__ void sift_states(DeviceAutomaton automaton, const Number* numbers, uint32_t* places,
                            uint32_t* sieve, uint32_t mask) {
    const int64_t q = global_thread();
    if (q >= automaton.states) return;
    uint64_t bits = numbers[q];
#pragma unroll 8
    for (int64_t letter = 0; letter < automaton.symbols; letter++) {
        const int32_t target = __ldg(&automaton.next[letter * automaton.states + q]);
        bits = longer_hash(bits, int32_t(numbers[target]));
    }
    const uint32_t place = uint32_t(finished_hash(bits)) & mask, shift = place % 16 * 2;
    places[q] = place;
    uint32_t* const word = &sieve[place / 16];
    if ((look(word) >> shift & 2) != 0) return;
    const uint32_t found = atomicOr(word, 1u << shift);
    if ((found >> shift & 1) != 0) atomicOr(word, 2u << shift);
}

// Who is alone stands for itself; the others keep their old class, called by a negative number, and are listed.
// places may be class_of itself.
template <class Number>
__global__ void list_unsure(const uint32_t* places, const Number* numbers, int64_t states,
                            const uint32_t* sieve, int32_t* class_of, int32_t* list,
                            unsigned* count) {
    __shared__ int32_t warp_sums[32];
    __shared__ unsigned begin;
    const int64_t q = global_thread();
    bool unsure = false;
    if (q < states) {
        const uint32_t place = places[q];
        unsure = (sieve[place / 16] >> place % 16 * 2 & 2) != 0;
        class_of[q] = unsure ? ~int32_t(numbers[q]) : int32_t(q);
    }
    int32_t all;
    const int32_t before = sum_before_thread(unsure, warp_sums, all);
    if (threadIdx.x == 0) begin = atomicAdd(count, all);
    __syncthreads();
    if (unsure) list[begin + before] = int32_t(q);
}

// Rounds with short signatures. class_of is used for codes meanwhile.
class ShortRounds {
 public:
    ShortRounds(const DeviceAutomaton& automaton, int32_t* class_of)
        : automaton_(automaton),
          class_of_(class_of),
          from_(automaton.is_final),
          numbers_(automaton.states),
          occurs_(most_codes(automaton.states)),
          sum_(most_codes(automaton.states)) {}

    static int64_t bytes(int64_t states) {
        return 4 * (states + most_codes(states)) + PrefixSum::bytes(most_codes(states)) +
               places_for(states) / 4 + 4;
    }

    // Whether signatures are short enough for a round.
    static bool fits(const DeviceAutomaton& automaton, int64_t classes) {
        const int64_t bits = (automaton.symbols + 1) * bits_for(classes);
        return bits < 31 && int64_t{1} << bits <= most_codes(automaton.states);
    }
    bool fits() const { return fits(automaton_, classes_); }

    // Returns how many classes there are then.
    int64_t refine() {
        const int bits = bits_for(classes_);
        const int64_t codes = int64_t{1} << (automaton_.symbols + 1) * bits;
        CHECK(cudaMemsetAsync(occurs_.get(), 0, 4 * codes));
        with_numbers(from_, [&](const auto* from) {
            mark_codes<<<blocks(), usual_threads>>>(automaton_, from, bits, class_of_,
                                                    occurs_.get());
        });
        CHECK_LAUNCH();
        classes_ = sum_.exclusive(occurs_.get(), codes);
        with_numbers(numbers_.get(), [&](auto* numbers) {
            number_codes<<<blocks(), usual_threads>>>(class_of_, automaton_.states, occurs_.get(),
                                                      numbers);
        });
        CHECK_LAUNCH();
        from_ = numbers_.get();
        return classes_;
    }

    // Leaves its classes in class_of.
    void finish() {
        with_numbers(from_, [&](const auto* from) {
            widen_numbers<<<blocks(), usual_threads>>>(from, automaton_.states, class_of_);
        });
        CHECK_LAUNCH();
    }

    // Leaves in class_of who is alone, lists the others, and returns how many these are.
    int64_t sift(int32_t* list) {
        const int64_t places = places_for(automaton_.states);
        DeviceArray<uint32_t> sieve(places / 16);
        DeviceArray<unsigned> count(1);
        CHECK(cudaMemsetAsync(sieve.get(), 0, places / 4));
        CHECK(cudaMemsetAsync(count.get(), 0, sizeof(unsigned)));
        auto* const d_places = reinterpret_cast<uint32_t*>(class_of_);
        with_numbers(from_, [&](const auto* from) {
            sift_states<<<blocks(), usual_threads>>>(automaton_, from, d_places, sieve.get(),
                                                     uint32_t(places - 1));
            CHECK_LAUNCH();
            list_unsure<<<blocks(), usual_threads>>>(d_places, from, automaton_.states, sieve.get(),
                                                     class_of_, list, count.get());
        });
        CHECK_LAUNCH();
        return copied_back(count.get());
    }

 private:
    // Codes that the array of marks has room for, and places of the sieve: about ten a state.
    static int64_t most_codes(int64_t states) { return std::max<int64_t>(states, 64); }
    static int64_t places_for(int64_t states) {
        return std::min<int64_t>(4 * slots_for(states), int64_t{1} << 31);
    }

    // Calls use() with the numbers in as many bytes as the classes need.
    template <class Use>
    void with_numbers(const void* numbers, Use&& use) const {
        void* const writable = const_cast<void*>(numbers);
        if (classes_ <= 1 << 8) return use(static_cast<uint8_t*>(writable));
        if (classes_ <= 1 << 16) return use(static_cast<uint16_t*>(writable));
        use(static_cast<uint32_t*>(writable));
    }

    unsigned blocks() const { return blocks_for(automaton_.states, usual_threads); }

    const DeviceAutomaton automaton_;
    int32_t* class_of_;
    const void* from_;
    int64_t classes_ = 2;           // is_final has two numbers, even if one does not occur
    DeviceArray<int32_t> numbers_;  // (states), in 1, 2 or 4 bytes each
    DeviceArray<int32_t> occurs_;   // (codes)
    PrefixSum sum_;
};
