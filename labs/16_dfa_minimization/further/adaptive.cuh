// adaptive: which rounds for which automaton?
//
// Know before: `worklist`, and `retire`, whose rounds it begins with.
//
//        states   more than 131072 --->  rounds over all states, 8 at most  ---> still splitting?  --+
//                 fewer  --------------------------------------------------------------------------- +--> worklist
//
// A large one begins with rounds over all states: a random one is done after five or six. If it is not, it is
// deep, little changes in each round, and the lists of predecessors, which cost about as much as two such
// rounds, pay. A small one goes there at once.
//
// What it brought: it is never far from the best of the others. B_15000,2 takes 1.83 ms (`worklist` 1.85,
// `persistent` 59.0), and C_20000000,2 about as long as `retire`, 11.9 ms (85.5, 11.0) (NVIDIA H200, CUDA 13.0,
// 28 November 2026, make bench LAB=16 SOLUTION=1).
#pragma once

#include "../given/retiring_rounds.cuh"
#include "worklist_rounds.cuh"

constexpr int64_t small_automaton = lab::on_cpu ? 64 : 1 << 17;  // both ways shall be tried there
constexpr int most_first_rounds = 8;

// Where there is no room for the lists, the first rounds go on to the end.
inline bool has_room_for_worklist(int64_t states, int64_t symbols) {
    size_t available = 0, total = 0;
    if (!fits_worklist(states, symbols)) return false;
    CHECK(cudaMemGetInfo(&available, &total));
    return WorklistRounds::bytes(states, symbols) <= int64_t(available);
}

// What it cannot do without.
inline int64_t adaptive_bytes(int64_t states, int64_t symbols, const RefineOptions&) {
    const bool small = states <= small_automaton && fits_worklist(states, symbols);
    return Numbering::bytes(states, states) +
           (small ? WorklistRounds::bytes(states, symbols) : RetiringRounds::bytes(states));
}

inline Refined refine_adaptively(const DeviceAutomaton& automaton, int32_t* class_of,
                                 const RefineOptions& options) {
    if (automaton.states == 0) return {};
    Numbering numbering(automaton.states, automaton.states);
    Refined refined = {separate_final(automaton, numbering, class_of), 0};
    const bool listed = has_room_for_worklist(automaton.states, automaton.symbols);
    if (automaton.states > small_automaton || !listed) {
        RetiringRounds rounds(automaton, class_of, refined.classes, options);
        int64_t before = 0;
        while (refined.classes > before && (refined.rounds < most_first_rounds || !listed)) {
            before = refined.classes;
            refined.classes = rounds.refine();
            report_round(options, ++refined.rounds, refined.classes);
        }
        numbering.number(class_of, class_of);
        if (refined.classes == before) return refined;
    }
    WorklistRounds rounds(automaton, class_of, refined.classes);
    const Refined rest = rounds.run(options);
    numbering.number(class_of, class_of);
    return {rest.classes, refined.rounds + rest.rounds};
}
