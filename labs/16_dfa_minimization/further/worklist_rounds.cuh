// For `worklist`: runs the rounds, wide and narrow ones as they come, all in one kernel where blocks can wait
// for each other, and by launches where they cannot.
#pragma once

#ifndef CUDA_ON_CPU
#include <cooperative_groups.h>
#endif

#include "../given/retiring_rounds.cuh"
#include "narrow_round.cuh"
#include "persistent.cuh"

__global__ void touch_step(Worklist list) { touch_predecessors(list, whole_grid()); }
__global__ void group_step(Worklist list) { group_touched(list, whole_grid()); }
__global__ void number_step(Worklist list) { number_groups(list, whole_grid()); }
__global__ void rename_step(Worklist list) {
    rename_touched(list, list.progress->rounds + 1, whole_grid());
}
__global__ void count_round(Worklist list) {
    list.progress->rounds++;
    list.progress->too_wide = 0;
}
__global__ void narrow_rounds(Worklist list) { refine_narrowly(list); }

// The first round: every state is touched, so nothing need be known of what was before.
__global__ void touch_all(Worklist list) {
    const int64_t q = global_thread();
    if (q >= list.automaton.states) return;
    list.touched[q] = int32_t(q);
    add_one_each(list.class_size, list.class_of[q]);
    add_one_each(list.touched_size, list.class_of[q]);
}

#ifndef CUDA_ON_CPU

// All rounds after the first in one kernel.
__global__ void refine_worklist(Worklist list) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const volatile Progress* progress = list.progress;
    while (progress->changed > 0) {
        if (progress->changed <= narrow_states && !progress->too_wide) {
            grid.sync();  // all have seen it
            if (blockIdx.x == 0 && threadIdx.x < 32) refine_narrowly(list);
            grid.sync();
            continue;
        }
        const int32_t round = progress->rounds + 1;
        touch_predecessors(list, whole_grid());
        grid.sync();
        group_touched(list, whole_grid());
        grid.sync();
        number_groups(list, whole_grid());
        grid.sync();
        if (grid.thread_rank() == 0) {
            list.progress->rounds = round;
            list.progress->too_wide = 0;
        }
        rename_touched(list, round, whole_grid());
        grid.sync();
    }
}

#endif

class WorklistRounds {
 public:
    // class_of: (states), any numbers below `classes`
    WorklistRounds(const DeviceAutomaton& automaton, int32_t* class_of, int64_t classes)
        : states_(automaton.states),
          predecessors_(automaton),
          chains_(predecessors_, states_),
          slots_(slots_for(states_)),
          largest_(states_),
          numbers_(8 * states_),
          used_slots_(states_),
          progress_(1) {
        int32_t* numbers[8];
        for (int i = 0; i < 8; i++) numbers[i] = numbers_.get() + i * states_;
        list_ = {automaton,
                 predecessors_.begins(),
                 predecessors_.sources(),
                 chains_.jumps(),
                 class_of,
                 slots_.get(),
                 uint32_t(slots_for(states_) - 1),
                 numbers[0],
                 numbers[1],
                 largest_.get(),
                 numbers[2],
                 numbers[3],
                 numbers[4],
                 numbers[5],
                 numbers[6],
                 numbers[7],
                 used_slots_.get(),
                 progress_.get()};
        const Progress start = {0, {0, int32_t(states_)}, int32_t(classes), 0, 0};
        CHECK(cudaMemcpy(progress_.get(), &start, sizeof start, cudaMemcpyHostToDevice));
        CHECK(cudaMemsetAsync(numbers_.get(), 0, 4 * 4 * states_));
        CHECK(cudaMemsetAsync(largest_.get(), 0, 8 * states_));
        CHECK(cudaMemsetAsync(slots_.get(), 0xFF, 8 * slots_for(states_)));
    }

    static int64_t bytes(int64_t states, int64_t symbols) {
        return Predecessors::bytes(states, symbols) + Chains::bytes(states) +
               8 * slots_for(states) + 44 * states + int64_t(sizeof(Progress));
    }

    // Until nothing splits.
    Refined run(const RefineOptions& options) {
        touch_all<<<blocks_for(states_, usual_threads), usual_threads>>>(list_);
        CHECK_LAUNCH();
        finish_round(states_);
        if (!run_persistently()) {
            while (refine_by_launches()) {
            }
        }
        const Progress end = copied_back(progress_.get());
        report_round(options, end.rounds, end.classes);
        return {end.classes, end.rounds};
    }

 private:
    // The steps after touching, for at most so many touched states.
    void finish_round(int64_t touched) {
        const unsigned blocks = blocks_for(std::min<int64_t>(touched, 1 << 20), usual_threads);
        group_step<<<blocks, usual_threads>>>(list_);
        CHECK_LAUNCH();
        number_step<<<blocks, usual_threads>>>(list_);
        CHECK_LAUNCH();
        rename_step<<<blocks, usual_threads>>>(list_);
        CHECK_LAUNCH();
        count_round<<<1, 1>>>(list_);
        CHECK_LAUNCH();
    }

    // All further rounds in one kernel; false where there is no barrier of the grid.
    bool run_persistently() {
#ifndef CUDA_ON_CPU
        if (!has_cooperative_launch()) return false;
        const CooperativeShape shape(refine_worklist, states_);
        void* arguments[] = {&list_};
        CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(refine_worklist), shape.blocks,
                                          shape.threads, arguments, 0, nullptr));
        return true;
#else
        return false;
#endif
    }

    // Where there is no barrier of the grid: the end of a launch is one. False at the end.
    bool refine_by_launches() {
        const Progress now = copied_back(progress_.get());
        if (now.changed == 0) return false;
        if (now.changed <= narrow_states && !now.too_wide) {
            narrow_rounds<<<1, 32>>>(list_);
            CHECK_LAUNCH();
            return true;
        }
        constexpr int64_t most_threads = lab::on_cpu ? 1 << 13 : 1 << 20;  // fewer: both ways there
        const int64_t threads = std::min<int64_t>(32 * int64_t{now.changed}, most_threads);
        touch_step<<<blocks_for(threads, usual_threads), usual_threads>>>(list_);
        CHECK_LAUNCH();
        finish_round(states_);
        return true;
    }

    int64_t states_;
    Predecessors predecessors_;
    Chains chains_;
    DeviceArray<unsigned long long> slots_, largest_;
    DeviceArray<int32_t> numbers_;  // (8, states)
    DeviceArray<uint32_t> used_slots_;
    DeviceArray<Progress> progress_;
    Worklist list_;
};

// Predecessors are counted in 31 bits.
inline bool fits_worklist(int64_t states, int64_t symbols) {
    return symbols == 0 || states <= INT32_MAX / symbols;
}

inline int64_t worklist_bytes(int64_t states, int64_t symbols, const RefineOptions&) {
    return Numbering::bytes(states, states) + (fits_worklist(states, symbols)
                                                   ? WorklistRounds::bytes(states, symbols)
                                                   : RetiringRounds::bytes(states));
}

inline Refined refine_by_worklist(const DeviceAutomaton& automaton, int32_t* class_of,
                                  const RefineOptions& options) {
    if (automaton.states == 0) return {};
    if (!fits_worklist(automaton.states, automaton.symbols)) {
        return refine_and_retire(automaton, class_of, options);
    }
    Numbering numbering(automaton.states, automaton.states);
    const int64_t classes = separate_final(automaton, numbering, class_of);
    WorklistRounds rounds(automaton, class_of, classes);
    const Refined refined = rounds.run(options);
    numbering.number(class_of, class_of);
    return refined;
}
