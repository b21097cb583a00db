// What every refinement on the device shares: the automaton there, the rounds, and the
// numbering of classes by their lowest state.
#pragma once

#include <climits>

#include "../../../common/lab.h"
#include "prefix_sum.cuh"
#include "variants.h"

constexpr int usual_threads = 256;

inline unsigned blocks_for(int64_t threads, int block_size) {
    return unsigned(lab::divide_up(threads, block_size));
}

// The thread's place in a one-dimensional grid: a thread a state.
__device__ inline int64_t global_thread() { return int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

// A look at what other threads change by atomic operations meanwhile. It may be stale, for it may come from the
// multiprocessor's own cache as any other read does: whoever looks lets the atomic operation decide. In CPU mode
// other threads get their turn behind a look into a table, and so it is stale there as well.
template <class T>
__device__ inline T look(const T* place) {
#ifdef CUDA_ON_CPU
    const T value = *(const volatile T*)place;
    if (sizeof(T) == 8) __nanosleep(1);
    return value;
#else
    return __ldca(place);
#endif
}

inline void report_round(const RefineOptions& options, int64_t round, int64_t classes) {
    if (!options.verbose) return;
    std::fprintf(stderr, "round %lld: %lld classes\n", (long long)round, (long long)classes);
}

// ---------------------------------------------------------------------------------------------
// Numbers for classes. A refinement may call them what it likes, slots of a table for instance, as
// long as equal labels mean equal classes. This makes the numbers that everybody agrees upon.

// Most states find a lower one already noted, for blocks begin about in their order; so they look
// first, and do not queue at the same address. A stale look is a number too high: the atomic decides.
__global__ void note_lowest(const int32_t* labels, int64_t states, int32_t* lowest) {
    const int64_t q = global_thread();
    if (q < states && q < look(&lowest[labels[q]])) atomicMin(&lowest[labels[q]], int32_t(q));
}

__global__ void mark_lowest(const int32_t* labels, int64_t states, const int32_t* lowest,
                            int32_t* ranks) {
    const int64_t q = global_thread();
    if (q < states) ranks[q] = lowest[labels[q]] == q;
}

__global__ void read_ranks(const int32_t* labels, int64_t states, const int32_t* lowest,
                           const int32_t* ranks, int32_t* class_of) {
    const int64_t q = global_thread();
    if (q < states) class_of[q] = ranks[lowest[labels[q]]];
}

// Numbers classes in the order of their lowest states, so class_of[0] is 0.
class Numbering {
 public:
    Numbering(int64_t states, int64_t most_labels)
        : states_(states),
          labels_(std::max<int64_t>(most_labels, 2)),
          lowest_(labels_),
          ranks_(states),
          sum_(states) {}

    static int64_t bytes(int64_t states, int64_t most_labels) {
        return 4 * (std::max<int64_t>(most_labels, 2) + states) + PrefixSum::bytes(states);
    }

    // labels: (states), each below most_labels, or 2. class_of: (states), may be labels itself.
    // Returns how many classes there are.
    int64_t number(const int32_t* labels, int32_t* class_of) {
        const unsigned blocks = blocks_for(states_, usual_threads);
        CHECK(cudaMemsetAsync(lowest_.get(), 0x7F, 4 * labels_));  // more than any state
        note_lowest<<<blocks, usual_threads>>>(labels, states_, lowest_.get());
        CHECK_LAUNCH();
        mark_lowest<<<blocks, usual_threads>>>(labels, states_, lowest_.get(), ranks_.get());
        CHECK_LAUNCH();
        const int64_t classes = sum_.exclusive(ranks_.get(), states_);
        read_ranks<<<blocks, usual_threads>>>(labels, states_, lowest_.get(), ranks_.get(),
                                              class_of);
        CHECK_LAUNCH();
        return classes;
    }

    const int32_t* lowest() const { return lowest_.get(); }  // of each label, as number() found it

 private:
    int64_t states_, labels_;
    DeviceArray<int32_t> lowest_;  // (most_labels), of each label its lowest state
    DeviceArray<int32_t> ranks_;   // (states), 1 where a class begins, and then their prefix sum
    PrefixSum sum_;
};

__global__ void copy_final(const uint8_t* is_final, int64_t states, int32_t* labels) {
    const int64_t q = global_thread();
    if (q < states) labels[q] = is_final[q];
}

// The partition before the first round: what is final, and what is not. Returns its classes.
inline int64_t separate_final(const DeviceAutomaton& automaton, Numbering& numbering,
                              int32_t* class_of) {
    copy_final<<<blocks_for(automaton.states, usual_threads), usual_threads>>>(
        automaton.is_final, automaton.states, class_of);
    CHECK_LAUNCH();
    return numbering.number(class_of, class_of);
}

// Rounds until one finds no new class. Rounds(automaton, class_of, classes, options) works on class_of, and
// refine() does a round there and returns how many classes there are now.
template <class Rounds>
Refined refine_by_rounds(const DeviceAutomaton& automaton, int32_t* class_of,
                         const RefineOptions& options) {
    if (automaton.states == 0) return {};
    Numbering numbering(automaton.states, automaton.states);
    Refined refined = {separate_final(automaton, numbering, class_of), 0};
    Rounds rounds(automaton, class_of, refined.classes, options);
    for (int64_t before = 0; refined.classes > before;) {
        before = refined.classes;
        refined.classes = rounds.refine();
        report_round(options, ++refined.rounds, refined.classes);
    }
    refined.classes = numbering.number(class_of, class_of);
    return refined;
}
