// The rounds of the signature table in one cooperative kernel, with one barrier of the grid a round and
// no word from the host.
#pragma once

#ifndef CUDA_ON_CPU

#include <cooperative_groups.h>

#include "signature_table.cuh"

// Everything the rounds share that is not in TableRound. The table of the next round is cleared
// while this one's is used; counts[round % 3] is this round's, and the next one is set to 0, which
// nobody reads any more: the last to read it did so before the last barrier.
struct Persistent {
    unsigned long long* other_slots;
    unsigned* counts;  // (3)
    int64_t classes;   // before the first round
    Refined* result;
};

// The grid's barrier makes what was written before it visible to all after it.
__global__ void refine_until_stable(TableRound now, Persistent shared) {
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int64_t threads = int64_t{gridDim.x} * blockDim.x;
    auto* slots = now.slots;
    auto* other_slots = shared.other_slots;
    auto* from = const_cast<int32_t*>(now.class_of);
    int32_t* to = now.refined;
    int64_t before = 0, classes = shared.classes;
    for (now.round = 1; classes > before; now.round++) {
        now.class_of = from;
        now.refined = to;
        now.slots = slots;
        for (int64_t slot = global_thread(); slot <= now.mask; slot += threads) {
            other_slots[slot] = no_entry;
        }
        if (grid.thread_rank() == 0) shared.counts[(now.round + 1) % 3] = 0;
        unsigned in_block = 0;
        for (int64_t first = int64_t{blockIdx.x} * blockDim.x; first < now.automaton.states;
             first += threads) {
            const int64_t q = first + threadIdx.x;
            in_block += __syncthreads_count(q < now.automaton.states && refine_state(now, q));
        }
        unsigned* count = &shared.counts[now.round % 3];
        if (threadIdx.x == 0 && in_block > 0) atomicAdd(count, in_block);
        grid.sync();
        before = classes;
        classes = *static_cast<volatile unsigned*>(count);
        int32_t* const swapped = from;
        from = to;
        to = swapped;
        auto* const swapped_slots = slots;
        slots = other_slots;
        other_slots = swapped_slots;
    }
    if (grid.thread_rank() == 0) *shared.result = {classes, now.round - 1};
}

// As many blocks as run at the same time, each with as few threads as the states need.
struct CooperativeShape {
    int blocks = 0, threads = 0;

    template <class Kernel>
    CooperativeShape(Kernel kernel, int64_t states) {
        int device = 0, multiprocessors = 0, blocks_each = 0;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        const int64_t share = lab::divide_up(lab::divide_up(states, multiprocessors), 32) * 32;
        threads = int(std::max<int64_t>(64, std::min<int64_t>(share, 512)));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_each, kernel, threads, 0));
        const int64_t wanted = lab::divide_up(states, threads);
        blocks = int(std::max<int64_t>(
            1, std::min<int64_t>(wanted, int64_t{multiprocessors} * blocks_each)));
    }
};

// All cards of the course can, but not under every system.
inline bool has_cooperative_launch() {
    int device = 0, can = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device));
    return can != 0;
}

inline int64_t persistent_bytes(int64_t states, int64_t, const RefineOptions&) {
    return 16 * slots_for(states) + 8 * states + 32 + Numbering::bytes(states, states);
}

inline Refined refine_persistently(const DeviceAutomaton& automaton, int32_t* class_of,
                                   const RefineOptions& options) {
    const int64_t states = automaton.states, slot_count = slots_for(states);
    if (states == 0) return {};
    if (!has_cooperative_launch()) return refine_by_signatures(automaton, class_of, options);
    DeviceArray<unsigned long long> slots(2 * slot_count);
    DeviceArray<int32_t> other(states), crowded(states);
    DeviceArray<unsigned> counts(3);
    DeviceArray<Refined> result(1);
    Numbering numbering(states, states);
    const int64_t classes = separate_final(automaton, numbering, class_of);
    CHECK(cudaMemsetAsync(crowded.get(), 0, 4 * states));
    CHECK(cudaMemsetAsync(slots.get(), 0xFF, 8 * slot_count));
    CHECK(cudaMemsetAsync(counts.get(), 0, 12));
    TableRound first = {
        automaton, class_of, other.get(), crowded.get(), slots.get(), uint32_t(slot_count - 1), 1};
    Persistent shared = {slots.get() + slot_count, counts.get(), classes, result.get()};
    const CooperativeShape shape(refine_until_stable, states);
    void* arguments[] = {&first, &shared};
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(refine_until_stable), shape.blocks,
                                      shape.threads, arguments, 0, nullptr));
    Refined refined = copied_back(result.get());
    report_round(options, refined.rounds, refined.classes);
    const int32_t* labels = refined.rounds % 2 ? other.get() : class_of;
    refined.classes = numbering.number(labels, class_of);
    return refined;
}

#endif
