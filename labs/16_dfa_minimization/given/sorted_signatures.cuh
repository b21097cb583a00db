// Moore's rounds as the report has them: sort the states by their signatures, and equal neighbours
// are one class. The signature is a string of symbols + 1 class numbers, too long for one sort; it
// is consumed from its end, a few bits at a time, by a stable sort (radix sort).
#pragma once

#include <functional>

#include "bottom_up.cuh"
#include "counting_sorter.cuh"
#include "partition.cuh"

// Bits needed for the numbers below `count`.
inline int bits_for(int64_t count) {
    int bits = 0;
    while (count > int64_t{1} << bits) bits++;
    return bits;
}

// The report's buffer: what has been made of each signature and not yet been sorted by.
// waiting: (states). targets: (states), or null for the state's own class.
__global__ void append_classes(const int32_t* targets, const int32_t* class_of, int64_t states,
                               int bits_waiting, unsigned long long* waiting) {
    const int64_t q = global_thread();
    if (q >= states) return;
    const auto digit = (unsigned long long)(class_of[targets ? targets[q] : q]);
    waiting[q] = bits_waiting == 0 ? digit : waiting[q] | digit << bits_waiting;
}

// The digits in the present order of the states: a read from all over memory.
__global__ void read_digits(const unsigned long long* waiting, const int32_t* order, int64_t states,
                            int bits, int32_t* digits) {
    const int64_t p = global_thread();
    if (p < states) digits[p] = int32_t(waiting[order[p]] & ((1ull << bits) - 1));
}

// Where, in the new order, does a state differ from the one before it, in this digit or in those
// sorted by before? The latter is known by its rank.
__global__ void mark_heads(const unsigned long long* waiting, const int32_t* order,
                           const int32_t* ranks, int64_t states, int bits, int32_t* heads) {
    const int64_t p = global_thread();
    if (p >= states) return;
    const unsigned long long mask = (1ull << bits) - 1;
    const int32_t q = order[p], before = order[p > 0 ? p - 1 : 0];
    heads[p] = (waiting[q] & mask) != (waiting[before] & mask) || ranks[q] != ranks[before];
}

// sums: (states), how many heads come before each place. In place p the head of p itself counts too;
// whether there is one shows at place p + 1.
__global__ void note_ranks(const int32_t* order, const int32_t* sums, const int32_t* total,
                           int64_t states, int bits, int32_t* ranks, unsigned long long* waiting) {
    const int64_t p = global_thread();
    if (p >= states) return;
    ranks[order[p]] = p + 1 < states ? sums[p + 1] : *total;
    waiting[order[p]] >>= bits;
}

__global__ void count_up(int64_t states, int32_t* order) {
    const int64_t q = global_thread();
    if (q < states) order[q] = int32_t(q);
}

// The choices of the report's program: how many threads, how many elements for each, how many bits.
struct SortShape {
    int threads, elements, bits;

    explicit SortShape(const RefineOptions& options)
        : threads(options.threads_per_block ? options.threads_per_block : 128),
          elements(options.elements_per_thread ? options.elements_per_thread : 4),
          bits(bits_for(threads)) {
        if (options.bits_per_step) bits = std::min(bits, options.bits_per_step);
    }
};

// (digits, order, bits, sorted), and it may use up digits and order. No template: there are seven sorts, and what
// sorts by them is compiled once.
using Sort = std::function<void(int32_t*, int32_t*, int, int32_t*)>;

class SignatureSorter {
 public:
    SignatureSorter(const DeviceAutomaton& automaton, int bits_per_step, const Sort& sort)
        : automaton_(automaton),
          states_(automaton.states),
          bits_per_step_(bits_per_step),
          sort_(sort),
          waiting_(states_),
          order_(states_),
          sorted_(states_),
          digits_(states_),
          ranks_(states_),
          prefix_(states_) {
        CHECK(cudaMemsetAsync(sorted_.get(), 0, 4 * states_));
    }

    static int64_t bytes(int64_t states) { return 24 * states + PrefixSum::bytes(states); }

    // One round: class_of becomes the rank of each state's signature. Returns how many there are.
    int64_t refine(int32_t* class_of, int64_t classes) {
        const int bits = bits_for(classes);
        count_up<<<blocks(), usual_threads>>>(states_, order_.get());
        CHECK_LAUNCH();
        CHECK(cudaMemsetAsync(ranks_.get(), 0, 4 * states_));
        bits_waiting_ = 0;
        for (int64_t letter = automaton_.symbols - 1; letter >= -1; letter--) {
            const int32_t* targets = letter < 0 ? nullptr : automaton_.next + letter * states_;
            append_classes<<<blocks(), usual_threads>>>(targets, class_of, states_, bits_waiting_,
                                                        waiting_.get());
            CHECK_LAUNCH();
            bits_waiting_ += bits;
            while (bits_waiting_ >= bits_per_step_) consume(bits_per_step_);
        }
        if (bits_waiting_ > 0) consume(bits_waiting_);
        CHECK(cudaMemcpyAsync(class_of, ranks_.get(), 4 * states_, cudaMemcpyDeviceToDevice));
        return bits == 0 ? 1 : 1 + copied_back(prefix_.total());
    }

 private:
    unsigned blocks() const { return blocks_for(states_, usual_threads); }

    void consume(int bits) {
        read_digits<<<blocks(), usual_threads>>>(waiting_.get(), order_.get(), states_, bits,
                                                 digits_.get());
        CHECK_LAUNCH();
        sort_(digits_.get(), order_.get(), bits, sorted_.get());
        CHECK(cudaMemcpyAsync(order_.get(), sorted_.get(), 4 * states_, cudaMemcpyDeviceToDevice));
        mark_heads<<<blocks(), usual_threads>>>(waiting_.get(), order_.get(), ranks_.get(), states_,
                                                bits, digits_.get());
        CHECK_LAUNCH();
        prefix_.enqueue(digits_.get(), states_);
        note_ranks<<<blocks(), usual_threads>>>(order_.get(), digits_.get(), prefix_.total(),
                                                states_, bits, ranks_.get(), waiting_.get());
        CHECK_LAUNCH();
        bits_waiting_ -= bits;
    }

    const DeviceAutomaton& automaton_;
    int64_t states_;
    int bits_per_step_, bits_waiting_ = 0;
    Sort sort_;
    DeviceArray<unsigned long long> waiting_;               // (states), bits not yet sorted by
    DeviceArray<int32_t> order_, sorted_, digits_, ranks_;  // (states)
    PrefixSum prefix_;
};

// Rounds until one finds no new class.
inline Refined refine_by_sorting(const DeviceAutomaton& automaton, int32_t* class_of,
                                 const RefineOptions& options, int bits_per_step,
                                 const Sort& sort) {
    Numbering numbering(automaton.states, automaton.states);
    SignatureSorter sorter(automaton, bits_per_step, sort);
    Refined refined = {separate_final(automaton, numbering, class_of), 0};
    for (int64_t before = 0; refined.classes > before;) {
        before = refined.classes;
        refined.classes = sorter.refine(class_of, before);
        report_round(options, ++refined.rounds, refined.classes);
    }
    refined.classes = numbering.number(class_of, class_of);
    return refined;
}

template <Form form, Solution solution>
Refined refine_by_counting(const DeviceAutomaton& automaton, int32_t* class_of,
                           const RefineOptions& options) {
    if (automaton.states == 0) return {};
    const SortShape shape(options);
    CountingSort counting(automaton.states, shape.threads, shape.elements, shape.bits, form,
                          solution, options.fault);
    return refine_by_sorting(automaton, class_of, options, shape.bits,
                             [&](int32_t* digits, int32_t* order, int, int32_t* sorted) {
                                 counting.sort(digits, order, sorted);
                             });
}

template <Form form>
int64_t counting_bytes(int64_t states, int64_t, const RefineOptions& options) {
    const SortShape shape(options);
    return CountingSort::bytes(states, shape.threads, shape.elements, shape.bits, form) +
           24 * states + PrefixSum::bytes(states) + Numbering::bytes(states, states);
}

// Bits are sorted by singly here, so as many as an int32_t holds make one step.
inline Refined refine_bottom_up(const DeviceAutomaton& automaton, int32_t* class_of,
                                const RefineOptions& options) {
    if (automaton.states == 0) return {};
    BottomUpSort bottom_up(automaton.states);
    const int bits = options.bits_per_step ? std::min(options.bits_per_step, 31) : 31;
    return refine_by_sorting(automaton, class_of, options, bits,
                             [&](int32_t* digits, int32_t* order, int bits, int32_t* sorted) {
                                 bottom_up.sort(digits, order, bits, sorted);
                             });
}

inline int64_t bottom_up_bytes(int64_t states, int64_t, const RefineOptions&) {
    return BottomUpSort::bytes(states) + 24 * states + PrefixSum::bytes(states) +
           Numbering::bytes(states, states);
}
