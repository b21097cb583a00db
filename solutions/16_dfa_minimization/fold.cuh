// The simplest round that is exact and quick: the signature of a state is folded letter by letter.
// Of the pair (number so far, class of the next letter's target) one new number is made, and a hash
// table whose key is the whole pair sees to it that equal numbers mean equal pairs. given/folding.cuh
// has the rounds.
#pragma once

#include "given/partition.cuh"

constexpr unsigned long long no_pair = ~0ull;  // no state has the number 2^32 - 1

// A well mixed number of 32 bits (the finaliser of splitmix64).
__host__ __device__ inline uint32_t mixed(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return uint32_t(bits >> 32) ^ uint32_t(bits);
}

// At least twice as many slots as states, a power of two: half of them stay empty, and most searches
// end at their first slot.
inline int64_t slots_for(int64_t states) {
    int64_t slots = 64;
    while (slots < 2 * states) slots *= 2;
    return slots;
}

// The slot that holds the pair, put there by whoever comes first. Others may come at the same time:
// the slot changes once, from empty to its pair, and atomicCAS says what it holds since.
// slots: (mask + 1)
__device__ inline uint32_t slot_of_pair(unsigned long long* slots, uint32_t mask,
                                        unsigned long long pair) {
    uint32_t slot = mixed(pair) & mask;
    // BEGIN SOLUTION
    while (true) {
        unsigned long long found = look(&slots[slot]);
        if (found == no_pair) found = atomicCAS(&slots[slot], no_pair, pair);
        if (found == no_pair || found == pair) return slot;
        slot = (slot + 1) & mask;
    }
    //: // TODO 7 (about 6 lines): look() (given/partition.cuh) into the slot; where it is empty, try to put
    //: // the pair there by atomicCAS, which may find that another thread was quicker. A slot that holds the pair now is
    //: // the answer; one that holds another pair leads to the next slot, and behind the last to the first.
    //: // Replace the line below.
    //: return slot;
    // END SOLUTION
}

// numbers: (states), from the class itself (before the first letter) to the whole signature's slot.
// next: (states), the targets under this letter.
__global__ void fold_letter(const int32_t* next, const int32_t* class_of, int64_t states,
                            unsigned long long* slots, uint32_t mask, int32_t* numbers) {
    const int64_t q = global_thread();
    if (q >= states) return;
    // BEGIN SOLUTION
    const uint32_t target_class = class_of[next[q]];
    const auto pair = (unsigned long long)(numbers[q]) << 32 | target_class;
    numbers[q] = slot_of_pair(slots, mask, pair);
    //: // TODO 8 (about 3 lines): the pair of this state's number so far and the class of its target, one
    //: // in the upper and one in the lower 32 bits; the slot of that pair is the state's new number.
    // END SOLUTION
}
