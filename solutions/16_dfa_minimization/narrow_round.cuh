// Rounds of a worklist that touch at most 32 states: one warp does them, a lane a state. What the wide
// form keeps in memory is a mask here, and no barrier is waited for.
#pragma once

#include "worklist.cuh"

__device__ inline unsigned lanes_below() { return (1u << threadIdx.x % 32) - 1; }

// The predecessors of the changed states x (one each in the first `changed` lanes) that are not alone
// go to touched_states: (32), in shared memory. Returns how many they are, or -1 if too many.
__device__ inline int touch_narrowly(const Worklist& list, int32_t round, int32_t x, int changed,
                                     int32_t* touched_states) {
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
        bool found = p >= 0 && list.class_size[list.class_of[p]] > 1;
        // the same state may stand there twice, in other lanes now or in earlier ones
        found = found && (sources <= 32 || list.stamps[p] != 2 * round);
        const unsigned same = __match_any_sync(~0u, found ? p : -1 - lane);
        found = found && (same & lanes_below()) == 0;
        const unsigned all = __ballot_sync(~0u, found);
        const int place = touched + __popc(all & lanes_below());
        touched += __popc(all);
        if (touched > narrow_states) return -1;
        if (found) touched_states[place] = p;
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

// Rounds by one warp for as long as they are narrow.
__device__ inline void refine_narrowly(const Worklist& list) {
    __shared__ int32_t states[narrow_states];
    const int lane = threadIdx.x % 32;
    Progress now = *list.progress;
    int32_t x = lane < now.changed ? list.changed[lane] : 0;
    while (now.changed > 0) {
        const int32_t round = now.rounds + 1;
        const int touched = touch_narrowly(list, round, x, now.changed, states);
        now.too_wide = touched < 0;
        if (now.too_wide) break;
        const bool is_touched = lane < touched;
        const int32_t p = is_touched ? states[lane] : 0;
        const int32_t own = is_touched ? list.class_of[p] : -1 - lane;
        const int32_t size = is_touched ? list.class_size[own] : 0;
        const unsigned peers = __match_any_sync(~0u, own);
        unsigned group;
        now.too_wide = !group_narrowly(list, p, is_touched, peers, group);
        if (now.too_wide) break;
        // of a class touched as a whole the first group keeps the number: 32 states are few anyway
        const bool keeps = __popc(peers) == size && (group & (peers & (0u - peers))) != 0;
        const bool moves = is_touched && !keeps;
        const int leader = __ffs(group) - 1;
        const unsigned leaders = __ballot_sync(~0u, moves && leader == lane);
        const unsigned movers = __ballot_sync(~0u, moves);
        const int32_t number =
            __shfl_sync(~0u, now.classes + __popc(leaders & lanes_below()), leader);
        if (is_touched && (peers & lanes_below()) == 0 && (peers & movers) != 0) {
            list.class_size[own] = size - __popc(peers & movers);
        }
        if (moves && leader == lane) list.class_size[number] = __popc(group);
        if (moves) list.class_of[p] = number;
        __syncwarp();
        if (moves) states[__popc(movers & lanes_below())] = p;
        __syncwarp();
        now.classes += __popc(leaders);
        now.changed = __popc(movers);
        now.rounds = round;
        x = lane < now.changed ? states[lane] : 0;
        __syncwarp();  // all have read the list before the next round writes it
    }
    if (lane < now.changed) list.changed[lane] = x;
    if (lane == 0) {
        now.touched[0] = now.touched[1] = 0;
        *list.progress = now;
    }
}
