// radix_sort: rounds by the toolkit's radix sort (CUB), for large automata. On a card only.
//
// Know before: a round by sorting (tasks 1 and 2, given/sorted_signatures.cuh), the prefix sum of lab 16's
// counting sort.
//
//        signature of a state, symbols + 1 = 3 classes, of which there are 200: 8 bits each
//        | own class | by a | by b |   = 24 bits: one key, one sort, in place of 3 sorts
//
// As many classes as fit into 64 bits make one key; and where a signature does not fit, a hash takes its
// place, and equal neighbours are compared in full. Classes keep their numbers: of a class that splits the
// first part keeps the old one and the others get new ones, so numbers stay below the number of classes, and
// the few classes of the first rounds make short keys.
//
// What it brought: 1.52 ms for C_2000000,30, where the best counting sort takes 44.6 and `persistent` 2.44
// (NVIDIA H200, CUDA 13.0, 28 November 2026, make bench LAB=16 SOLUTION=1).
#pragma once

#ifndef CUDA_ON_CPU

#include <cub/cub.cuh>

#include "../given/signature_table.cuh"
#include "../given/sorted_signatures.cuh"

// How a round makes keys. The class is always on top: sorted by key is sorted by class.
struct KeyForm {
    int bits;      // of a class
    bool exact;    // the key is the signature itself
    int key_bits;  // the lower ones, those that are used
    uint64_t odd;  // the hash's factor

    KeyForm(int64_t classes, int64_t symbols, int attempt)
        : bits(std::max(1, bits_for(classes))),
          exact((symbols + 1) * bits <= 64),
          key_bits(exact ? int(symbols + 1) * bits : 64),
          odd(lab::mixed_bits(attempt) | 1) {}

    __device__ uint64_t class_in(uint64_t key) const { return key >> (key_bits - bits); }
};

__device__ inline uint64_t key_of(const DeviceAutomaton& automaton, const int32_t* class_of,
                                  const KeyForm& form, int64_t q) {
    const uint64_t own = uint32_t(class_of[q]);
    uint64_t key = form.exact ? own : 0;
#pragma unroll 8
    for (int64_t letter = 0; letter < automaton.symbols; letter++) {
        const uint64_t target =
            uint32_t(class_of[__ldg(&automaton.next[letter * automaton.states + q])]);
        key = form.exact ? key << form.bits | target : (key + target + 1) * form.odd;
    }
    if (form.exact) return key;
    key = (key ^ (key >> 32)) * form.odd;
    return own << (64 - form.bits) | key >> form.bits;
}

// active: (count), or null for all. keys, states: (count)
__global__ void make_keys(DeviceAutomaton automaton, const int32_t* class_of, KeyForm form,
                          const int32_t* active, int64_t count, uint64_t* keys, int32_t* states) {
    const int64_t i = global_thread();
    if (i >= count) return;
    const int64_t q = active ? active[i] : i;
    keys[i] = key_of(automaton, class_of, form, q);
    states[i] = int32_t(q);
}

// A place in the sorted order. group: 0 where no class begins; -1 where one begins that keeps its
// number; and where one begins that needs a new number, how many such begin up to here.
struct Mark {
    int32_t fresh, group;
};

// Of two stretches, the second behind the first: what holds at the end of both.
struct JoinMarks {
    __host__ __device__ Mark operator()(const Mark& a, const Mark& b) const {
        return {a.fresh + b.fresh, b.group > 0 ? a.fresh + b.group : b.group < 0 ? -1 : a.group};
    }
};

struct SortCounts {
    unsigned alone;       // states that are alone in their class
    unsigned collisions;  // equal keys of different signatures
};

__global__ void mark_groups(DeviceAutomaton automaton, const int32_t* class_of, KeyForm form,
                            const uint64_t* keys, const int32_t* states, int64_t count, Mark* marks,
                            SortCounts* counts) {
    const int64_t i = global_thread();
    bool alone = false;
    if (i < count) {
        const uint64_t key = keys[i], before = i > 0 ? keys[i - 1] : ~key;
        const bool begins = key != before;
        const bool keeps = begins && (i == 0 || form.class_in(key) != form.class_in(before));
        marks[i] = {begins && !keeps, keeps ? -1 : begins ? 1 : 0};
        alone = begins && (i + 1 == count || keys[i + 1] != key);
        if (!begins && !form.exact &&
            !same_signature(automaton, class_of, states[i - 1], states[i])) {
            counts->collisions = 1;  // all write the same
        }
    }
    const int in_block = __syncthreads_count(alone);
    if (threadIdx.x == 0 && in_block > 0) atomicAdd(&counts->alone, in_block);
}

__global__ void give_numbers(const Mark* marks, const int32_t* states, int64_t count,
                             int32_t classes, int32_t* class_of) {
    const int64_t i = global_thread();
    if (i < count && marks[i].group > 0) class_of[states[i]] = classes + marks[i].group - 1;
}

__global__ void drop_alone(const uint64_t* keys, const int32_t* states, int64_t count,
                           int32_t* active, unsigned* length) {
    __shared__ int32_t warp_sums[32];
    __shared__ unsigned begin;
    const int64_t i = global_thread();
    const bool stays = i < count && ((i > 0 && keys[i - 1] == keys[i]) ||
                                     (i + 1 < count && keys[i + 1] == keys[i]));
    int32_t all;
    const int32_t before = sum_before_thread(stays, warp_sums, all);
    if (threadIdx.x == 0) begin = atomicAdd(length, all);
    __syncthreads();
    if (stays) active[begin + before] = states[i];
}

// The rounds, one call each.
class SortingRounds {
 public:
    SortingRounds(const DeviceAutomaton& automaton, int32_t* class_of, int64_t classes,
                  const RefineOptions&)
        : automaton_(automaton),
          class_of_(class_of),
          classes_(classes),
          active_(automaton.states),
          keys_(2 * automaton.states),
          states_(2 * automaton.states),
          list_(automaton.states),
          counts_(1),
          length_(1),
          temporary_bytes_(temporary_bytes(automaton.states)),
          temporary_(int64_t(temporary_bytes_)) {}

    static int64_t bytes(int64_t states) {
        return 28 * states + 16 + int64_t(temporary_bytes(states));
    }

    // Returns how many classes there are then.
    int64_t refine() {
        for (int attempt = 0; active_ > 0 && !refine(attempt); attempt++) {
        }
        return classes_;
    }

 private:
    // What the sort and the scan need beside their arrays.
    static size_t temporary_bytes(int64_t states) {
        size_t sort_bytes = 0, scan_bytes = 0;
        cub::DoubleBuffer<uint64_t> keys;
        cub::DoubleBuffer<int32_t> values;
        Mark* const marks = nullptr;
        CHECK(cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, keys, values, int(states)));
        CHECK(cub::DeviceScan::InclusiveScan(nullptr, scan_bytes, marks, marks, JoinMarks(),
                                             int(states)));
        return std::max(sort_bytes, scan_bytes);
    }

    // False if two signatures had the same hash: then nothing has changed.
    bool refine(int attempt) {
        const KeyForm form(classes_, automaton_.symbols, attempt);
        const int count = int(active_);
        const unsigned blocks = blocks_for(active_, usual_threads);
        cub::DoubleBuffer<uint64_t> keys(keys_.get(), keys_.get() + automaton_.states);
        cub::DoubleBuffer<int32_t> states(states_.get(), states_.get() + automaton_.states);
        make_keys<<<blocks, usual_threads>>>(automaton_, class_of_, form,
                                             compacted_ ? list_.get() : nullptr, active_,
                                             keys.Current(), states.Current());
        CHECK_LAUNCH();
        size_t bytes = temporary_bytes_;
        CHECK(cub::DeviceRadixSort::SortPairs(temporary_.get(), bytes, keys, states, count, 0,
                                              form.key_bits));
        Mark* const marks = reinterpret_cast<Mark*>(keys.Alternate());
        CHECK(cudaMemsetAsync(counts_.get(), 0, sizeof(SortCounts)));
        mark_groups<<<blocks, usual_threads>>>(automaton_, class_of_, form, keys.Current(),
                                               states.Current(), active_, marks, counts_.get());
        CHECK_LAUNCH();
        bytes = temporary_bytes_;
        CHECK(cub::DeviceScan::InclusiveScan(temporary_.get(), bytes, marks, marks, JoinMarks(),
                                             count));
        const SortCounts counts = copied_back(counts_.get());
        if (counts.collisions > 0) return false;
        give_numbers<<<blocks, usual_threads>>>(marks, states.Current(), active_, int32_t(classes_),
                                                class_of_);
        CHECK_LAUNCH();
        classes_ += copied_back(&marks[count - 1].fresh);
        if (counts.alone >= (active_ + 1) / 2) drop(keys.Current(), states.Current(), counts.alone);
        return true;
    }

    // The list then comes in the order of the keys, and reads by it are from all over memory; with
    // half the states gone that is no loss.
    void drop(const uint64_t* keys, const int32_t* states, int64_t alone) {
        CHECK(cudaMemsetAsync(length_.get(), 0, sizeof(unsigned)));
        drop_alone<<<blocks_for(active_, usual_threads), usual_threads>>>(
            keys, states, active_, list_.get(), length_.get());
        CHECK_LAUNCH();
        active_ -= alone;
        compacted_ = true;
    }

    const DeviceAutomaton automaton_;
    int32_t* class_of_;
    int64_t classes_, active_;
    bool compacted_ = false;
    DeviceArray<uint64_t> keys_;   // (2, states); the half that is not in use holds marks
    DeviceArray<int32_t> states_;  // (2, states)
    DeviceArray<int32_t> list_;    // (active), once some have left
    DeviceArray<SortCounts> counts_;
    DeviceArray<unsigned> length_;
    size_t temporary_bytes_;
    DeviceArray<char> temporary_;
};

inline int64_t radix_sort_bytes(int64_t states, int64_t, const RefineOptions&) {
    return SortingRounds::bytes(states) + Numbering::bytes(states, states);
}

inline Refined refine_by_radix_sort(const DeviceAutomaton& automaton, int32_t* class_of,
                                    const RefineOptions& options) {
    return refine_by_rounds<SortingRounds>(automaton, class_of, options);
}

#endif
