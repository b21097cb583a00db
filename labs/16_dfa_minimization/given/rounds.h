// Moore's algorithm on the host: round after round, whoever makes a round.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "automaton.h"
#include "verify.h"

struct HostOptions {
    int threads = 1;              // of the OpenMP programs
    int pause = 0;                // milliseconds before each phase of openmp_tasks
    bool verbose = false;         // a line for each round
    FirstFault* fault = nullptr;  // receives what goes wrong first
};

// The first partition: final and not final. One class when all states are alike.
inline Partition by_finality(const Automaton& automaton) {
    Partition partition;
    for (const uint8_t is_final : automaton.is_final) {
        partition.class_of.push_back(is_final != automaton.is_final[0]);
        partition.classes = std::max<int64_t>(partition.classes, partition.class_of.back() + 1);
    }
    return partition;
}

// Refines until a round finds no class more than the one before: that one is counted as well.
// `refine(class_of, classes)` replaces the classes by finer ones, and returns how many they are. Where
// something went wrong there is no partition: all classes are -1.
inline Partition moore(const Automaton& automaton, const HostOptions& options,
                       const std::function<int64_t(std::vector<int32_t>&, int64_t)>& refine) {
    Partition partition = by_finality(automaton);
    for (int64_t before = 0; before < partition.classes;) {
        before = partition.classes;
        partition.classes = refine(partition.class_of, before);
        ++partition.rounds;
        if (options.fault && partition.classes < before) {
            options.fault->note(lab::format(
                "TODO 2 in moore.h: round %lld found %lld classes where there were %lld: a round "
                "only splits classes, so begins_class leaves out a digit, or compares other states",
                (long long)partition.rounds, (long long)partition.classes, (long long)before));
        }
        if (options.fault && options.fault->found()) {
            partition.class_of.assign(automaton.states, -1);
            return partition;
        }
        if (!options.verbose) continue;
        std::fprintf(stderr, "round %lld: %lld classes\n", (long long)partition.rounds,
                     (long long)partition.classes);
    }
    number_by_lowest_state(partition);
    return partition;
}
