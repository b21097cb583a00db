// One insertion a round instead of one a letter. A slot holds a state that stands for all with its
// signature, and 32 bits of the signature's hash. Whoever finds the same bits compares the signatures
// themselves, letter by letter: a hash that lies costs time and not the truth.
// A launch a round, and the host asks after each how many classes there are.
#pragma once

#include "fold.cuh"

constexpr unsigned long long no_entry = ~0ull;  // as state it would be 2^32 - 1

// The hash is a polynomial in an odd number, a class at a time, and well mixed at the end.
__device__ inline uint64_t longer_hash(uint64_t bits, int32_t number) {
    return bits * 0xD1342543DE82EF95u + uint32_t(number) + 1;
}

__device__ inline uint64_t finished_hash(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

// class_of: (states)
__device__ inline uint64_t hash_of_signature(const DeviceAutomaton& automaton,
                                             const int32_t* class_of, int64_t q) {
    uint64_t bits = uint32_t(class_of[q]);
#pragma unroll 8
    for (int64_t letter = 0; letter < automaton.symbols; letter++) {
        const int32_t target = __ldg(&automaton.next[letter * automaton.states + q]);
        bits = longer_hash(bits, class_of[target]);
    }
    return finished_hash(bits);
}

// Nearly always they are the same, so nothing is gained by leaving early.
__device__ inline bool same_signature(const DeviceAutomaton& automaton, const int32_t* class_of,
                                      int64_t p, int64_t q) {
    int32_t difference = class_of[p] ^ class_of[q];
#pragma unroll 4
    for (int64_t letter = 0; letter < automaton.symbols; letter++) {
        const int32_t* next = automaton.next + letter * automaton.states;
        difference |= class_of[__ldg(&next[p])] ^ class_of[__ldg(&next[q])];
    }
    return difference == 0;
}

// Who stands for a signature, and where in the table that is written.
struct Entry {
    int32_t state;
    uint32_t slot;
};

// The state that stands for all states with q's signature: whichever came first. A slot changes once,
// from empty to its entry, so a stale look at it can only find it empty, and then atomicCAS decides.
// class_of does not change meanwhile. slots: (mask + 1)
__device__ inline Entry representative(const DeviceAutomaton& automaton, const int32_t* class_of,
                                       unsigned long long* slots, uint32_t mask, int64_t q) {
    const uint64_t hash = hash_of_signature(automaton, class_of, q);
    const auto entry = (unsigned long long)(hash >> 32 << 32 | uint64_t(q));
    for (uint32_t slot = uint32_t(hash) & mask;; slot = (slot + 1) & mask) {
        unsigned long long found = look(&slots[slot]);
        if (found == no_entry) found = atomicCAS(&slots[slot], no_entry, entry);
        if (found == no_entry) return {int32_t(q), slot};
        const auto other = int32_t(found);
        if (found >> 32 == entry >> 32 && same_signature(automaton, class_of, other, q)) {
            return {other, slot};
        }
    }
}

// A round reads class_of and writes refined; a class is called by the state that stands for it.
struct TableRound {
    DeviceAutomaton automaton;
    const int32_t* class_of;  // (states)
    int32_t* refined;         // (states)
    int32_t* crowded;         // (states), the last round in which others joined this state
    unsigned long long* slots;
    uint32_t mask;
    int32_t round;  // from 1
};

// Whether q stands for a class. A state that no other joined in the last round is alone, and stays alone.
// All who join a state write the same number: it does not matter who comes last. Nor does it matter if q sees
// that number already, since a state that is alone is not joined by anyone.
__device__ inline bool refine_state(const TableRound& now, int64_t q) {
    int32_t other = int32_t(q);
    const bool alone = now.class_of[q] == q && look(&now.crowded[q]) < now.round - 1;
    if (!alone) other = representative(now.automaton, now.class_of, now.slots, now.mask, q).state;
    if (other != q) *(volatile int32_t*)&now.crowded[other] = now.round;
    now.refined[q] = other;
    return other == q;
}

__global__ void refine_states(TableRound now, unsigned* classes) {
    const int64_t q = global_thread();
    const int in_block = __syncthreads_count(q < now.automaton.states && refine_state(now, q));
    if (threadIdx.x == 0) atomicAdd(classes, in_block);
}

inline int64_t signature_bytes(int64_t states, int64_t, const RefineOptions&) {
    return 8 * slots_for(states) + 8 * states + 4 + Numbering::bytes(states, states);
}

// So many rounds at most; if they are fewer, nothing splits any more.
inline Refined do_signature_rounds(const DeviceAutomaton& automaton, int32_t* class_of,
                                   const RefineOptions& options, int64_t most_rounds) {
    const int64_t states = automaton.states, slot_count = slots_for(states);
    if (states == 0) return {};
    const int threads = options.threads_per_block ? options.threads_per_block : usual_threads;
    DeviceArray<unsigned long long> slots(slot_count);
    DeviceArray<int32_t> other(states), crowded(states);
    DeviceArray<unsigned> d_classes(1);
    Numbering numbering(states, states);
    Refined refined = {separate_final(automaton, numbering, class_of), 0};
    CHECK(cudaMemsetAsync(crowded.get(), 0, 4 * states));
    int32_t *from = class_of, *to = other.get();
    for (int64_t before = 0; refined.classes > before && refined.rounds < most_rounds;) {
        before = refined.classes;
        CHECK(cudaMemsetAsync(slots.get(), 0xFF, 8 * slot_count));
        CHECK(cudaMemsetAsync(d_classes.get(), 0, 4));
        const TableRound now = {automaton,
                                from,
                                to,
                                crowded.get(),
                                slots.get(),
                                uint32_t(slot_count - 1),
                                int32_t(++refined.rounds)};
        refine_states<<<blocks_for(states, threads), threads>>>(now, d_classes.get());
        CHECK_LAUNCH();
        refined.classes = copied_back(d_classes.get());
        report_round(options, refined.rounds, refined.classes);
        std::swap(from, to);
    }
    refined.classes = numbering.number(from, class_of);
    return refined;
}

inline Refined refine_by_signatures(const DeviceAutomaton& automaton, int32_t* class_of,
                                    const RefineOptions& options) {
    return do_signature_rounds(automaton, class_of, options, INT64_MAX);
}
