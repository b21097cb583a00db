// `retire`: the rounds, one call each, and with --verify a look at who remains.
#pragma once

#include "retire.cuh"
#include "verify.h"

// Labels are states that stand for their classes. It begins with `active` states, those of a list, or with all.
class RetiringRounds {
 public:
    RetiringRounds(const DeviceAutomaton& automaton, int32_t* class_of, int64_t,
                   const RefineOptions& options)
        : RetiringRounds(automaton, class_of, options, nullptr, automaton.states) {}

    RetiringRounds(const DeviceAutomaton& automaton, int32_t* class_of,
                   const RefineOptions& options, const int32_t* list, int64_t active)
        : fault_(options.fault),
          automaton_(automaton),
          class_of_(class_of),
          list_(list),
          most_active_(active),
          active_(active),
          retired_(automaton.states - active),
          slots_(slots_for(active)),
          lists_(2 * active),
          others_(active),
          crowded_(automaton.states),
          counts_(1) {
        CHECK(cudaMemsetAsync(crowded_.get(), 0, 4 * automaton.states));
    }

    static int64_t bytes(int64_t states) { return 8 * slots_for(states) + 16 * states + 8; }

    int64_t active() const { return active_; }

    // Returns how many classes there are then.
    int64_t refine() {
        if (active_ == 0) return retired_;
        const int64_t slot_count = slots_for(active_);
        int32_t* remaining = lists_.get() + round_ % 2 * most_active_;
        const TableRound now = {automaton_,     class_of_,    class_of_,
                                crowded_.get(), slots_.get(), uint32_t(slot_count - 1),
                                ++round_};
        const unsigned blocks = blocks_for(active_, usual_threads);
        CHECK(cudaMemsetAsync(slots_.get(), 0xFF, 8 * slot_count));
        CHECK(cudaMemsetAsync(counts_.get(), 0, sizeof(RetireCounts)));
        find_representatives<<<blocks, usual_threads>>>(now, list_, active_, others_.get(),
                                                        counts_.get());
        CHECK_LAUNCH();
        keep_crowded<<<blocks, usual_threads>>>(now, list_, active_, others_.get(), remaining,
                                                counts_.get());
        CHECK_LAUNCH();
        const RetireCounts counts = copied_back(counts_.get());
        if (verifies(fault_)) verify(remaining, counts.active);
        const int64_t classes = retired_ + counts.represented;
        retired_ += active_ - counts.active;
        active_ = counts.active;
        list_ = remaining;
        return classes;
    }

 private:
    // remaining: (count)
    void verify(const int32_t* remaining, int64_t count) const {
        std::vector<int32_t> active(active_);
        for (int64_t i = 0; i < active_; i++) active[i] = int32_t(i);
        if (list_) active = host_copy(list_, active_);
        verify_remaining(*fault_, active, host_copy(others_.get(), active_),
                         host_copy(remaining, count));
    }

    FirstFault* fault_;
    const DeviceAutomaton automaton_;
    int32_t* class_of_;
    const int32_t* list_;  // (active), or null for all states
    int64_t most_active_, active_, retired_;
    int32_t round_ = 0;
    DeviceArray<unsigned long long> slots_;
    DeviceArray<int32_t> lists_;             // (2, most active), of one round and the next
    DeviceArray<int32_t> others_, crowded_;  // (most active), (states)
    DeviceArray<RetireCounts> counts_;
};

inline int64_t retire_bytes(int64_t states, int64_t, const RefineOptions&) {
    return RetiringRounds::bytes(states) + Numbering::bytes(states, states);
}

inline Refined refine_and_retire(const DeviceAutomaton& automaton, int32_t* class_of,
                                 const RefineOptions& options) {
    return refine_by_rounds<RetiringRounds>(automaton, class_of, options);
}
