// worklist: rounds that touch only what may split. This page has a round of many states; narrow_round.cuh one
// of few, and 31 along a chain in one, with the tables of chains.cuh; predecessors.cuh has the lists,
// worklist_rounds.cuh the order of it all.
//
// Know before: `signature` (given/signature_table.cuh); `persistent`; shuffles of a warp (lab 10). New here:
// __ballot_sync gives all lanes a word with a bit for each lane whose condition holds, __match_any_sync the bits
// of the lanes that hold the same number.
//
// Of a class that splits, one part keeps the number and the others get new ones. A state's signature
// then differs from that of its class in the round before only if one of its successors has a new
// number. So a round begins with the states whose number changed, and goes to their predecessors, the
// touched ones:
//
//        changed        touched (they lead to a changed one)      their class            becomes
//        x  --------->  p   signature (4; 9, 2)                   4 = { p, q, r, s }     4 = { r, s }
//           --------->  q   signature (4; 9, 2)                   r, s: not touched      12 = { p, q }
//
//        9 is x's new number; the arrows go back along transitions. In the first round all states are touched.
//
//   - those of a class that are not touched have all still the same signature: they stay together;
//   - a touched state has a successor whose number is new, and an untouched one has none such: they
//     part, without a comparison;
//   - the touched ones of a class are grouped by their signatures. If the whole class is touched, its
//     largest group keeps the number (in a narrow round the first one). That is no bound as in Hopcroft's
//     algorithm: where most of a class is touched and not all, most of it gets a new number.
// These are Moore's rounds, each with the same classes as in `signature`. A wide round takes four steps of the whole
// grid; a narrow one, when at most 32 states are touched, is done by a single warp in its registers; and
// where each round touches one state, on a chain, a warp does 31 rounds at once, a lane each (lane 0 has the
// state that has changed).
//
// What it brought: 0.77 ms for the 10000 rounds of B_5000,20, where `persistent` takes 24; but 84 ms for the
// six rounds of C_20000000,2, where `retire` takes 11 (NVIDIA H200, CUDA 13.0, 1 December 2026, make bench
// LAB=16 SOLUTION=1): there nearly every state is touched in the first four rounds, and lists only cost.
#pragma once

#include "../given/signature_table.cuh"
#include "chains.cuh"

constexpr int narrow_states = 32, narrow_sources = 1024;
constexpr int few_sources = 8;  // a lane goes through so many alone

// What changes from round to round, in device memory.
struct Progress {
    int32_t changed;  // states with a new number
    int32_t touched
        [2];  // states to be looked at: in this round; the other one is set to 0 for the next
    int32_t classes, rounds;
    int32_t too_wide;  // the narrow form has tried, and left the round to the wide one
};

struct Worklist {
    DeviceAutomaton automaton;
    const int32_t* begins;   // (states + 1), where each state's predecessors begin
    const int32_t* sources;  // (transitions)
    const int32_t* jumps;    // (jump_levels, states)
    int32_t* class_of;       // (states)
    unsigned long long* slots;
    uint32_t mask;
    // by class, (states)
    int32_t* class_size;
    int32_t* touched_size;  // how many of it are touched, 0 between rounds
    unsigned long long*
        largest;  // size and state of a group, of a class that is touched as a whole
    // by state, (states)
    int32_t* stamps;  // twice the last round that touched it; 1 more in a wide one, which a narrow
                      // attempt that gave up must not hide it from
    int32_t* group_size;  // of the group that it stands for, 0 between rounds
    int32_t* number;      // of the group that it stands for, from now on
    // lists, (states)
    int32_t* changed;
    int32_t* touched;
    int32_t* others;       // who stands for the touched state
    uint32_t* used_slots;  // where that is written in the table
    Progress* progress;
};

// Which of all threads that share the work this is.
struct Team {
    int64_t thread, threads;
};

__device__ inline Team whole_grid() { return {global_thread(), int64_t{gridDim.x} * blockDim.x}; }

// A wide round in four steps; between two of them all threads wait for each other. In each step a place
// in memory is either read or written or changed by atomics, but for a look before an atomic, which may be
// stale, and class_of[p] in step 4, which p's thread alone uses. Where several write a place, they write the same.

// What there is to do about a predecessor p. States alone in their class are left out. Who
// stamps p first takes it into the list.
__device__ inline void touch(const Worklist& list, int32_t round, int32_t p) {
    const int32_t own = list.class_of[p];
    if (list.class_size[own] == 1) return;
    if (atomicExch(&list.stamps[p], 2 * round + 1) == 2 * round + 1) return;
    list.touched[add_one_each(&list.progress->touched[round % 2], 0)] = p;
    add_one_each(list.touched_size, own);
}

// Step 1. A warp goes through the predecessors of a state. Where there are more states than warps it takes
// 32 of them, and each lane goes through those of its own, if they are few; long lists the whole warp walks together.
__device__ inline void touch_predecessors(const Worklist& list, Team team) {
    const int32_t round = list.progress->rounds + 1, changed = list.progress->changed;
    const int64_t warp = team.thread / 32, warps = team.threads / 32;
    const int lane = threadIdx.x % 32, share = changed <= warps ? 1 : 32;
    for (int64_t first = warp * share; first < changed; first += warps * share) {
        const bool has_one = lane < share && first + lane < changed;
        const int32_t x = has_one ? list.changed[first + lane] : 0;
        const int32_t begin = has_one ? list.begins[x] : 0;
        const int32_t end = has_one ? list.begins[x + 1] : 0;
        const bool alone = share > 1 && end - begin <= few_sources;
        for (int32_t edge = begin; alone && edge < end; edge++) {
            touch(list, round, list.sources[edge]);
        }
        for (unsigned left = __ballot_sync(~0u, has_one && !alone); left != 0; left &= left - 1) {
            const int32_t its_begin = __shfl_sync(~0u, begin, __ffs(left) - 1);
            const int32_t its_end = __shfl_sync(~0u, end, __ffs(left) - 1);
            for (int32_t edge = its_begin + lane; edge < its_end; edge += 32) {
                touch(list, round, list.sources[edge]);
            }
        }
    }
}

// Step 2. One touched state of a class is a group by itself; several look for their like.
__device__ inline void group_touched(const Worklist& list, Team team) {
    const int32_t round = list.progress->rounds + 1;
    const int32_t count = list.progress->touched[round % 2];
    for (int64_t i = team.thread; i < count; i += team.threads) {
        const int32_t p = list.touched[i], own = list.class_of[p];
        const int32_t size = list.touched_size[own];
        Entry entry = {p, ~0u};
        if (size > 1) {
            entry = representative(list.automaton, list.class_of, list.slots, list.mask, p);
        }
        list.others[i] = entry.state;
        list.used_slots[i] = entry.slot;
        const int32_t in_group = 1 + add_one_each(list.group_size, entry.state);
        if (size != list.class_size[own]) continue;
        const auto group = (unsigned long long)(in_group) << 32 | uint32_t(entry.state);
        if (look(&list.largest[own]) < group) atomicMax(&list.largest[own], group);
    }
    if (team.thread == 0) {
        list.progress->changed = 0;
        list.progress->touched[(round + 1) % 2] = 0;
    }
}

// Step 3. A number for each group.
__device__ inline void number_groups(const Worklist& list, Team team) {
    const int32_t count = list.progress->touched[(list.progress->rounds + 1) % 2];
    for (int64_t i = team.thread; i < count; i += team.threads) {
        const int32_t p = list.touched[i], own = list.class_of[p];
        if (list.others[i] != p) continue;
        const unsigned long long largest = list.largest[own];
        const bool keeps = largest != 0 && int32_t(largest) == p;
        int32_t number = own;
        if (!keeps) {
            const int32_t size = list.group_size[p];
            number = add_one_each(&list.progress->classes, 0);
            list.class_size[number] = size;
            atomicSub(&list.class_size[own], size);
        }
        list.number[p] = number;
    }
}

// Step 4. Each state takes the number of its group, and the lists are made ready for the next round.
__device__ inline void rename_touched(const Worklist& list, int32_t round, Team team) {
    const int32_t count = list.progress->touched[round % 2];
    for (int64_t i = team.thread; i < count; i += team.threads) {
        const int32_t p = list.touched[i], own = list.class_of[p], other = list.others[i];
        list.touched_size[own] = 0;
        list.largest[own] = 0;
        if (other == p) {
            list.group_size[p] = 0;
            if (list.used_slots[i] != ~0u) list.slots[list.used_slots[i]] = no_entry;
        }
        const int32_t number = list.number[other];
        if (number == own) continue;
        list.class_of[p] = number;
        list.changed[add_one_each(&list.progress->changed, 0)] = p;
    }
}
