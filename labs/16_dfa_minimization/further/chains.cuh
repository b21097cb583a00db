// For `worklist`: chains of predecessors. If a state has only one predecessor beside itself, the next round
// touches only that one, the round after it only that one's predecessor, and so on; whether each splits off
// follows from the size of its class (follow_chain in narrow_round.cuh). Tables of jumps say where 1, 2, 4, 8 and 16 steps lead, so a lane
// finds any of the next 31 states of a chain with five look-ups:
//
//        x <-- a <-- b <-- c <-- d <-- e      lane 5 = 4 + 1:  jumps[2][x] = d, jumps[0][d] = e
#pragma once

#include "predecessors.cuh"

constexpr int jump_levels = 5;

// jumps: (states), a step: the only state that leads to x beside itself; -1 if none does, or several.
__global__ void find_only_sources(const int32_t* begins, const int32_t* sources, int64_t states,
                                  int32_t* jumps) {
    const int64_t x = global_thread();
    if (x >= states) return;
    int32_t only = -1, end = begins[x + 1];
    for (int32_t edge = begins[x]; edge < end; edge++) {
        const int32_t p = sources[edge];
        if (p == x || p == only) continue;
        if (only >= 0) {
            only = -1;
            break;
        }
        only = p;
    }
    jumps[x] = only;
}

// doubled[x]: where twice as many steps lead.
__global__ void double_jumps(const int32_t* jumps, int64_t states, int32_t* doubled) {
    const int64_t x = global_thread();
    if (x >= states) return;
    const int32_t middle = jumps[x];
    doubled[x] = middle < 0 ? -1 : jumps[middle];
}

class Chains {
 public:
    Chains(const Predecessors& predecessors, int64_t states) : jumps_(jump_levels * states) {
        const unsigned blocks = blocks_for(states, usual_threads);
        find_only_sources<<<blocks, usual_threads>>>(predecessors.begins(), predecessors.sources(),
                                                     states, jumps_.get());
        CHECK_LAUNCH();
        for (int32_t* level = jumps_.get(); level < jumps_.get() + (jump_levels - 1) * states;
             level += states) {
            double_jumps<<<blocks, usual_threads>>>(level, states, level + states);
            CHECK_LAUNCH();
        }
    }

    static int64_t bytes(int64_t states) { return 4 * jump_levels * states; }

    const int32_t* jumps() const { return jumps_.get(); }  // (jump_levels, states)

 private:
    DeviceArray<int32_t> jumps_;
};
