// For `worklist`: the transitions the other way round. For each state the list of those that lead to it, all
// lists one after the other in one array, as a counting sort puts them (task 5).
#pragma once

#include "../given/partition.cuh"

// Lanes that hold the same number, as one adds all of them. Every active lane gets the counter's
// value before, plus its rank among those that share its number: a place of its own.
__device__ inline int32_t add_one_each(int32_t* counters, int32_t number) {
    const unsigned peers = __match_any_sync(__activemask(), number);
    const int lane = threadIdx.x % 32, leader = __ffs(peers) - 1;
    int32_t before = 0;
    if (lane == leader) before = atomicAdd(&counters[number], __popc(peers));
    return __shfl_sync(peers, before, leader) + __popc(peers & ((1u << lane) - 1));
}

// next: (transitions), all letters. counts: (states), how many lead to each.
__global__ void count_sources(const int32_t* next, int64_t transitions, int32_t* counts) {
    const int64_t transition = global_thread();
    if (transition < transitions) add_one_each(counts, next[transition]);
}

// ends: (states), first where each list begins, and then where it ends.
__global__ void list_sources(const int32_t* next, int64_t transitions, int64_t states,
                             int32_t* ends, int32_t* sources) {
    const int64_t transition = global_thread();
    if (transition >= transitions) return;
    sources[add_one_each(ends, next[transition])] = int32_t(transition % states);
}

// A state that leads to another under several letters stands there as often; the order is left to
// chance. There must be less than 2^31 transitions.
class Predecessors {
 public:
    explicit Predecessors(const DeviceAutomaton& automaton)
        : begins_(automaton.states + 1), sources_(automaton.states * automaton.symbols) {
        const int64_t states = automaton.states, transitions = states * automaton.symbols;
        const unsigned blocks = blocks_for(transitions, usual_threads);
        DeviceArray<int32_t> ends(states);
        PrefixSum sum(states + 1);
        CHECK(cudaMemsetAsync(begins_.get(), 0, 4 * (states + 1)));
        if (transitions == 0) return;
        count_sources<<<blocks, usual_threads>>>(automaton.next, transitions, begins_.get());
        CHECK_LAUNCH();
        sum.enqueue(begins_.get(), states + 1);
        CHECK(cudaMemcpyAsync(ends.get(), begins_.get(), 4 * states, cudaMemcpyDeviceToDevice));
        list_sources<<<blocks, usual_threads>>>(automaton.next, transitions, states, ends.get(),
                                                sources_.get());
        CHECK_LAUNCH();
    }

    static int64_t bytes(int64_t states, int64_t symbols) {
        return 4 * states * symbols + 8 * states + 4 + PrefixSum::bytes(states + 1);
    }

    const int32_t* begins() const { return begins_.get(); }    // (states + 1)
    const int32_t* sources() const { return sources_.get(); }  // (transitions)

 private:
    DeviceArray<int32_t> begins_, sources_;
};
