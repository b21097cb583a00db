// The same rounds for the states that may still split. A state alone in its class never changes
// again: it leaves the list, and the rounds of a random automaton soon have almost nothing to do.
#pragma once

#include "given/signature_table.cuh"

// What a round counts.
struct RetireCounts {
    unsigned represented;  // classes among the active states
    unsigned active;       // states that remain
};

// active: (count), or null for all states. others: (count), who stands for each.
__global__ void find_representatives(TableRound now, const int32_t* active, int64_t count,
                                     int32_t* others, RetireCounts* counts) {
    const int64_t i = global_thread();
    bool represents = false;
    if (i < count) {
        const int64_t q = active ? active[i] : i;
        const int32_t other =
            representative(now.automaton, now.class_of, now.slots, now.mask, q).state;
        represents = other == q;
        if (!represents) now.crowded[other] = now.round;  // all write the same
        others[i] = other;
    }
    const int in_block = __syncthreads_count(represents);
    if (threadIdx.x == 0) atomicAdd(&counts->represented, in_block);
}

// Only now class_of may change. A block that knows how many of its states remain asks once for a
// place for all of them; so their order is the blocks', and of no matter.
__global__ void keep_crowded(TableRound now, const int32_t* active, int64_t count,
                             const int32_t* others, int32_t* remaining, RetireCounts* counts) {
    __shared__ int32_t warp_sums[32];
    __shared__ unsigned begin;
    const int64_t i = global_thread();
    int64_t q = 0;
    bool may_split = false;
    if (i < count) {
        q = active ? active[i] : i;
        now.refined[q] = others[i];
        // TODO 9 (about 1 line): a state may split from others as long as it is not alone: another
        // state stands for it, or it does so itself and others have joined it in this round:
        // now.crowded says so (TableRound, in given/signature_table.cuh). Replace the line below.
        may_split = false;
    }
    int32_t all;
    const int32_t before = sum_before_thread(may_split, warp_sums, all);
    if (threadIdx.x == 0) begin = atomicAdd(&counts->active, all);
    __syncthreads();
    if (may_split) remaining[begin + before] = int32_t(q);
}

// The rounds, one call each. Labels are states that stand for their classes.
class RetiringRounds {
 public:
    RetiringRounds(const DeviceAutomaton& automaton, int32_t* class_of, int64_t,
                   const RefineOptions& options)
        : fault_(options.fault),
          automaton_(automaton),
          class_of_(class_of),
          active_(automaton.states),
          slots_(slots_for(automaton.states)),
          lists_(2 * automaton.states),
          others_(automaton.states),
          crowded_(automaton.states),
          counts_(1) {
        CHECK(cudaMemsetAsync(crowded_.get(), 0, 4 * automaton.states));
    }

    static int64_t bytes(int64_t states) { return 8 * slots_for(states) + 16 * states + 8; }

    // Returns how many classes there are then.
    int64_t refine() {
        if (active_ == 0) return retired_;
        const int64_t slot_count = slots_for(active_), states = automaton_.states;
        const int32_t* list = round_ == 0 ? nullptr : lists_.get() + round_ % 2 * states;
        int32_t* remaining = lists_.get() + (round_ + 1) % 2 * states;
        const TableRound now = {automaton_,     class_of_,    class_of_,
                                crowded_.get(), slots_.get(), uint32_t(slot_count - 1),
                                ++round_};
        const unsigned blocks = blocks_for(active_, usual_threads);
        CHECK(cudaMemsetAsync(slots_.get(), 0xFF, 8 * slot_count));
        CHECK(cudaMemsetAsync(counts_.get(), 0, sizeof(RetireCounts)));
        find_representatives<<<blocks, usual_threads>>>(now, list, active_, others_.get(),
                                                        counts_.get());
        CHECK_LAUNCH();
        keep_crowded<<<blocks, usual_threads>>>(now, list, active_, others_.get(), remaining,
                                                counts_.get());
        CHECK_LAUNCH();
        const RetireCounts counts = copied_back(counts_.get());
        if (verifies(fault_)) verify(list, remaining, counts.active);
        const int64_t classes = retired_ + counts.represented;
        retired_ += active_ - counts.active;
        active_ = counts.active;
        return classes;
    }

 private:
    // list: (active_), or null for all states; remaining: (count)
    void verify(const int32_t* list, const int32_t* remaining, int64_t count) const {
        std::vector<int32_t> active(active_);
        for (int64_t i = 0; i < active_; i++) active[i] = int32_t(i);
        if (list) active = host_copy(list, active_);
        verify_remaining(*fault_, active, host_copy(others_.get(), active_),
                         host_copy(remaining, count));
    }

    FirstFault* fault_;
    const DeviceAutomaton automaton_;
    int32_t* class_of_;
    int64_t active_, retired_ = 0;
    int32_t round_ = 0;
    DeviceArray<unsigned long long> slots_;
    DeviceArray<int32_t> lists_;             // (2, states), active now and then
    DeviceArray<int32_t> others_, crowded_;  // (states)
    DeviceArray<RetireCounts> counts_;
};

inline int64_t retire_bytes(int64_t states, int64_t, const RefineOptions&) {
    return RetiringRounds::bytes(states) + Numbering::bytes(states, states);
}

inline Refined refine_and_retire(const DeviceAutomaton& automaton, int32_t* class_of,
                                 const RefineOptions& options) {
    return refine_by_rounds<RetiringRounds>(automaton, class_of, options);
}
