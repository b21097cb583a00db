// adaptive: which rounds for which automaton?
//
// Know before: `worklist`, `retire`, and short_rounds.cuh, which has the first rounds.
//
//        states   more than 131072, few letters --->  short signatures ---> sieve --->  `retire`  ---+
//                                  many letters --->  `signature`  -----------------------------------+--> still splitting?
//                 fewer  -----------------------------------------------------------------------------+--> worklist
//
// A large one begins with rounds over all states: a random one is done after five or six. If little changes in
// each round, it is deep, and the lists of predecessors, which cost about as much as two such rounds, pay. So
// rounds that bring hardly any classes may cost as much as eight over all states. A small one goes to the lists
// at once.
//
// What a round over all states must read for C_20000000,2: 160 MB of transitions, 0.04 ms at the speed of a copy,
// and a class for each, 40 million sectors of 32 bytes from all over memory, 0.3 ms at that speed. Rounds by
// short signatures take 0.40, 0.38 and 0.54 ms, the sieve 1.4, the table for those that it leaves 0.4.
//
// What it brought: random transitions, 20 million states and 2 letters, 5.0 ms, where `retire` takes 12.2; 60 million
// states of two classes, 4.0 and 8.1; 34 million and 4 letters, 12.8 and 33.7 (NVIDIA H200, CUDA 13.0,
// 30 November 2026, median of nine, the automaton on the device). With one letter, 3 million states and 42 rounds it takes
// 5.06 ms and `retire` 6.14 (the same day, --input random --n 3000000 --m 1); where it went to the lists after eight
// rounds, whatever they brought, it was slower than `retire` by half. With 30 letters no
// signature is short, and it begins as `signature` does, which has one kernel a round where `retire` has two.
// B_15000,2 takes 1.80 ms (`worklist` 1.80, `persistent` 58.5; 1 December 2026, make bench LAB=16 SOLUTION=1).
#pragma once

#include "short_rounds.cuh"
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
inline int64_t adaptive_bytes(int64_t states, int64_t symbols, const RefineOptions& options) {
    if (states <= small_automaton && fits_worklist(states, symbols)) {
        return Numbering::bytes(states, states) + WorklistRounds::bytes(states, symbols);
    }
    const int64_t sieved =
        4 * states + std::max(ShortRounds::bytes(states), RetiringRounds::bytes(states));
    return std::max(signature_bytes(states, symbols, options),
                    Numbering::bytes(states, states) + sieved);
}

// Rounds with short signatures, the sieve, rounds of `retire`. A round in which the classes grow by less than a
// quarter spends what it looks at, and `budget` states are to be spent at most. True: nothing splits any more.
inline bool refine_with_sieve(const DeviceAutomaton& automaton, int32_t* class_of, int64_t budget,
                              Refined& refined, const RefineOptions& options) {
    int64_t before = 0, unsure = 0;
    const auto goes_on = [&] { return refined.classes > before && budget > 0; };
    const auto count = [&](int64_t classes, int64_t looked_at) {
        before = refined.classes;
        refined.classes = classes;
        if (classes < before + before / 4) budget -= std::max(looked_at, small_automaton);
        report_round(options, ++refined.rounds, classes);
    };
    DeviceArray<int32_t> list(automaton.states);
    refined.classes = 1;
    {
        ShortRounds rounds(automaton, class_of);
        while (goes_on() && rounds.fits()) count(rounds.refine(), automaton.states);
        if (!goes_on()) {
            rounds.finish();
            return refined.classes == before;
        }
        unsure = rounds.sift(list.get());
    }
    RetiringRounds rounds(automaton, class_of, options, list.get(), unsure);
    while (goes_on()) {
        const int64_t active = rounds.active();
        count(rounds.refine(), active);
    }
    return refined.classes == before;
}

inline Refined refine_adaptively(const DeviceAutomaton& automaton, int32_t* class_of,
                                 const RefineOptions& options) {
    const int64_t states = automaton.states;
    if (states == 0) return {};
    const bool listed = has_room_for_worklist(states, automaton.symbols);
    const bool small = states <= small_automaton && listed;
    const int64_t most_rounds = listed ? most_first_rounds : INT64_MAX / states;
    Refined refined;
    if (!small && !ShortRounds::fits(automaton, 2)) {
        refined = do_signature_rounds(automaton, class_of, options, most_rounds);
        if (refined.rounds < most_rounds) return refined;
    }
    Numbering numbering(states, states);
    if (small) {
        refined.classes = separate_final(automaton, numbering, class_of);
    } else if (refined.rounds == 0) {
        const bool stable =
            refine_with_sieve(automaton, class_of, most_rounds * states, refined, options);
        numbering.number(class_of, class_of);
        if (stable) return refined;
    }
    WorklistRounds rounds(automaton, class_of, refined.classes);
    const Refined rest = rounds.run(options);
    numbering.number(class_of, class_of);
    return {rest.classes, refined.rounds + rest.rounds};
}
