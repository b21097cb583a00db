// For `worklist`: rounds that touch at most 32 states. It is tried where at most 32 have changed, and given up where
// more are touched, or have too many predecessors. One warp does them, a lane a state. What the wide
// form keeps in memory is a mask here, and no barrier is waited for. And rounds that touch one state each,
// along a chain: 31 of them at once.
#pragma once

#include "worklist.cuh"

__device__ inline unsigned lanes_below() { return (1u << threadIdx.x % 32) - 1; }

// What a lane knows of a touched state.
struct Touched {
    int32_t state, own, size;  // its class, and how many states that has
};

// The predecessors of the changed states x (one each in the first `changed` lanes) that are not alone
// go to touched_states: (32), in shared memory. Returns how many they are, or -1 if too many.
__device__ inline int touch_narrowly(const Worklist& list, int32_t round, int32_t x, int changed,
                                     Touched* touched_states) {
    const int lane = threadIdx.x % 32;
    const int32_t begin = lane < changed ? list.begins[x] : 0;
    const int32_t length = lane < changed ? min(list.begins[x + 1] - begin, 1 << 20) : 0;
    const int32_t before = sum_up_to_lane(length) - length;
    const int32_t sources = __shfl_sync(~0u, before + length, 31);
    if (sources > narrow_sources) return -1;
    int touched = 0;
    for (int32_t first = 0; first < sources; first += 32) {
        int32_t edge = -1;
        for (int i = 0; i < changed; i++) {
            // all lanes ask lane i, whatever they find
            const int32_t place = first + lane - __shfl_sync(~0u, before, i);
            const int32_t its_length = __shfl_sync(~0u, length, i);
            const int32_t its_begin = __shfl_sync(~0u, begin, i);
            const bool mine = place >= 0 && place < its_length;
            if (mine) edge = its_begin + place;
        }
        const int32_t p = edge >= 0 ? list.sources[edge] : -1;
        const int32_t own = p >= 0 ? list.class_of[p] : 0;
        const int32_t size = p >= 0 ? list.class_size[own] : 0;
        // the same state may stand there twice, in other lanes now or in earlier ones
        bool found = size > 1 && (sources <= 32 || list.stamps[p] != 2 * round);
        const unsigned same = __match_any_sync(~0u, found ? p : -1 - lane);
        found = found && (same & lanes_below()) == 0;
        const unsigned all = __ballot_sync(~0u, found);
        const int place = touched + __popc(all & lanes_below());
        touched += __popc(all);
        if (touched > narrow_states) return -1;
        if (found) touched_states[place] = {p, own, size};
        __syncwarp();  // all stamps have been read
        if (found && sources > 32) list.stamps[p] = 2 * round;
        __syncwarp();
    }
    return touched;
}

// The lanes of `peers`, all of one class, that have this lane's signature. A class with one touched
// state needs no look at it. False: two signatures have the same hash.
__device__ inline bool group_narrowly(const Worklist& list, int32_t p, bool is_touched,
                                      unsigned peers, unsigned& group) {
    const int lane = threadIdx.x % 32;
    const bool has_peers = __popc(peers) > 1;
    group = 1u << lane;
    if (!__any_sync(~0u, has_peers)) return true;
    uint64_t hash = lane;
    if (is_touched && has_peers) hash = hash_of_signature(list.automaton, list.class_of, p);
    group = peers & __match_any_sync(~0u, (unsigned long long)(hash));
    const int32_t first = __shfl_sync(~0u, p, is_touched ? __ffs(group) - 1 : lane);
    const bool differs =
        is_touched && first != p && !same_signature(list.automaton, list.class_of, first, p);
    return !__any_sync(~0u, differs);
}

// The state that as many steps as the lane's number lead to from x, back along its chain; -1 behind its end.
__device__ inline int32_t state_of_chain(const Worklist& list, int32_t x) {
#pragma unroll
    for (int level = jump_levels - 1; level >= 0; level--) {
        const bool jumps = threadIdx.x >> level & 1;
        if (jumps && x >= 0) x = list.jumps[level * list.automaton.states + x];
    }
    return x;
}

// Up to 31 rounds at once, if x alone has changed (so it is alone in its class) and each of the states
// that follow has one predecessor. A round then touches one state, and that gets a new number if it is not
// alone by then: what its class had at first, less those that have left it in the rounds before. Lane
// i does round i. The chain ends where a state is alone, or comes again. Returns where it goes on.
__device__ inline int32_t follow_chain(const Worklist& list, Progress& now, int32_t x) {
    const int lane = threadIdx.x % 32;
    const int32_t p = state_of_chain(list, x);
    const int32_t own = p >= 0 ? list.class_of[p] : -1;
    const int32_t size = p >= 0 ? list.class_size[own] : 0;
    const unsigned peers = __match_any_sync(~0u, own);
    const bool comes_again = (__match_any_sync(~0u, p) & lanes_below()) != 0;
    const bool splits = size > __popc(peers & lanes_below() & ~1u) + 1 && !comes_again;
    const unsigned ends = __ballot_sync(~0u, lane > 0 && !splits);
    const int rounds = ends == 0 ? 31 : __ffs(ends) - 2;
    const unsigned movers = ((2u << rounds) - 1) & ~1u;
    __syncwarp();  // all have read the sizes before some change: a vote orders no memory
    if (movers >> lane & 1) {
        const int32_t number = now.classes + lane - 1;
        list.class_of[p] = number;
        list.class_size[number] = 1;
        if ((peers & movers & lanes_below()) == 0) {
            list.class_size[own] = size - __popc(peers & movers);
        }
    }
    __syncwarp();
    now.classes += rounds;
    now.rounds += rounds;
    return __shfl_sync(~0u, p, rounds);
}

// Rounds by one warp for as long as they are narrow.
__device__ inline void refine_narrowly(const Worklist& list) {
    __shared__ Touched states[narrow_states];
    const int lane = threadIdx.x % 32;
    Progress now = *list.progress;
    int32_t x = lane < now.changed ? list.changed[lane] : 0;
    while (now.changed > 0) {
        if (now.changed == 1) {
            const int32_t before = now.rounds;
            x = follow_chain(list, now, __shfl_sync(~0u, x, 0));
            if (now.rounds == before + 31) continue;
        }
        const int32_t round = now.rounds + 1;
        const int touched = touch_narrowly(list, round, x, now.changed, states);
        now.too_wide = touched < 0;
        if (now.too_wide) break;
        const bool is_touched = lane < touched;
        const Touched mine = is_touched ? states[lane] : Touched{0, -1 - lane, 0};
        const unsigned peers = __match_any_sync(~0u, mine.own);
        unsigned group;
        now.too_wide = !group_narrowly(list, mine.state, is_touched, peers, group);
        if (now.too_wide) break;
        // of a class touched as a whole the first group keeps the number: 32 states are few anyway
        const bool keeps = __popc(peers) == mine.size && (group & (peers & (0u - peers))) != 0;
        const bool moves = is_touched && !keeps;
        const int leader = __ffs(group) - 1;
        const unsigned leaders = __ballot_sync(~0u, moves && leader == lane);
        const unsigned movers = __ballot_sync(~0u, moves);
        const int32_t number =
            __shfl_sync(~0u, now.classes + __popc(leaders & lanes_below()), leader);
        __syncwarp();  // all have read the classes before some change: a vote orders no memory
        if (is_touched && (peers & lanes_below()) == 0 && (peers & movers) != 0) {
            list.class_size[mine.own] = mine.size - __popc(peers & movers);
        }
        if (moves && leader == lane) list.class_size[number] = __popc(group);
        if (moves) list.class_of[mine.state] = number;
        __syncwarp();
        if (moves) states[__popc(movers & lanes_below())].state = mine.state;
        __syncwarp();
        now.classes += __popc(leaders);
        now.changed = __popc(movers);
        now.rounds = round;
        x = lane < now.changed ? states[lane].state : 0;
        __syncwarp();  // all have read the list before the next round writes it
    }
    if (lane < now.changed) list.changed[lane] = x;
    if (lane == 0) {
        now.touched[0] = now.touched[1] = 0;
        *list.progress = now;
    }
}
