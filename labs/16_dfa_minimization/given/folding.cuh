// `fold`: the rounds that are made of foldings, and with --verify a look at each of them.
#pragma once

#include "fold.cuh"
#include "verify.h"

// With --verify: the right pairs, and a table of them by slot_of_pair.
__global__ void find_slots(const unsigned long long* pairs, int64_t states,
                           unsigned long long* slots, uint32_t mask, uint32_t* found) {
    const int64_t q = global_thread();
    if (q < states) found[q] = slot_of_pair(slots, mask, pairs[q]);
}

// A folding as it was done, from `before` to `numbers`: first the table by itself, then the pairs.
inline void verify_folding(FirstFault& fault, const std::vector<int32_t>& before,
                           const int32_t* d_next, const int32_t* d_class_of,
                           const DeviceArray<unsigned long long>& slots, int64_t slot_count,
                           const int32_t* d_numbers) {
    const int64_t states = int64_t(before.size());
    const auto next = host_copy(d_next, states), class_of = host_copy(d_class_of, states);
    std::vector<unsigned long long> pairs(states);
    for (int64_t q = 0; q < states; q++) {
        pairs[q] = (unsigned long long)(uint32_t(before[q])) << 32 | uint32_t(class_of[next[q]]);
    }
    DeviceArray<unsigned long long> d_pairs(states), table(slot_count);
    DeviceArray<uint32_t> found(states);
    CHECK(cudaMemcpy(d_pairs.get(), pairs.data(), 8 * states, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(table.get(), 0xFF, 8 * slot_count));
    find_slots<<<blocks_for(states, usual_threads), usual_threads>>>(
        d_pairs.get(), states, table.get(), uint32_t(slot_count - 1), found.get());
    CHECK_LAUNCH();
    verify_slots(fault, pairs, host_copy(found.get(), states), host_copy(table.get(), slot_count));
    verify_pairs(fault, pairs, host_copy(d_numbers, states), host_copy(slots.get(), slot_count));
}

inline int64_t fold_bytes(int64_t states, int64_t, const RefineOptions&) {
    return 8 * slots_for(states) + 4 * states + Numbering::bytes(states, slots_for(states));
}

// Moore's rounds, each of `symbols` foldings, until a round finds no new class.
inline Refined refine_by_folding(const DeviceAutomaton& automaton, int32_t* class_of,
                                 const RefineOptions& options) {
    const int64_t states = automaton.states, slot_count = slots_for(states);
    if (states == 0) return {};
    const int threads = options.threads_per_block ? options.threads_per_block : usual_threads;
    DeviceArray<unsigned long long> slots(slot_count);
    DeviceArray<int32_t> numbers(states);
    Numbering numbering(states, slot_count);
    Refined refined = {separate_final(automaton, numbering, class_of), 0};
    for (int64_t before = 0; refined.classes > before;) {
        before = refined.classes;
        CHECK(cudaMemcpyAsync(numbers.get(), class_of, 4 * states, cudaMemcpyDeviceToDevice));
        for (int64_t letter = 0; letter < automaton.symbols; letter++) {
            std::vector<int32_t> numbers_before;
            if (verifies(options.fault)) numbers_before = host_copy(numbers.get(), states);
            CHECK(cudaMemsetAsync(slots.get(), 0xFF, 8 * slot_count));
            fold_letter<<<blocks_for(states, threads), threads>>>(
                automaton.next + letter * states, class_of, states, slots.get(),
                uint32_t(slot_count - 1), numbers.get());
            CHECK_LAUNCH();
            if (!verifies(options.fault)) continue;
            verify_folding(*options.fault, numbers_before, automaton.next + letter * states,
                           class_of, slots, slot_count, numbers.get());
        }
        refined.classes = numbering.number(numbers.get(), class_of);
        report_round(options, ++refined.rounds, refined.classes);
    }
    return refined;
}
