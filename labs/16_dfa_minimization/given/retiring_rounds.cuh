// `retire`: the rounds, one call each, and with --verify a look at who remains.
#pragma once

#include "retire.cuh"
#include "verify.h"

// Labels are states that stand for their classes.
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
