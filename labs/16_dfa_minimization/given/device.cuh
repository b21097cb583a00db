// The refinements that run on the device, in the order of the ladder.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "folding.cuh"
#include "retiring_rounds.cuh"
#include "signature_table.cuh"
#include "sorted_signatures.cuh"
#ifdef LAB_FURTHER
#include "../further/adaptive.cuh"
#include "../further/persistent.cuh"
#include "../further/worklist_rounds.cuh"
#endif

// Refines until nothing splits. class_of: (states), on the device; becomes the coarsest partition
// that tells final states apart and is respected by every letter, numbered by lowest states.
using Refine = Refined (*)(const DeviceAutomaton& automaton, int32_t* class_of,
                           const RefineOptions& options);

struct DeviceVariant {
    const char* name;
    Refine refine;
    // That it allocates at most, beside the automaton and class_of.
    int64_t (*bytes)(int64_t states, int64_t symbols, const RefineOptions& options);
};

// Those that can run here.
inline std::vector<DeviceVariant> device_variants() {
    return {
        {"horizontal_a", refine_by_counting<Form::horizontal, Solution::a>,
         counting_bytes<Form::horizontal>},
        {"horizontal_b", refine_by_counting<Form::horizontal, Solution::b>,
         counting_bytes<Form::horizontal>},
        {"horizontal_c", refine_by_counting<Form::horizontal, Solution::c>,
         counting_bytes<Form::horizontal>},
        {"vertical_a", refine_by_counting<Form::vertical, Solution::a>,
         counting_bytes<Form::vertical>},
        {"vertical_b", refine_by_counting<Form::vertical, Solution::b>,
         counting_bytes<Form::vertical>},
        {"vertical_c", refine_by_counting<Form::vertical, Solution::c>,
         counting_bytes<Form::vertical>},
        {"bottom_up", refine_bottom_up, bottom_up_bytes},
        {"fold", refine_by_folding, fold_bytes},
        {"signature", refine_by_signatures, signature_bytes},
        {"retire", refine_and_retire, retire_bytes},
#ifdef LAB_FURTHER
        {"persistent", refine_persistently, persistent_bytes},
        {"worklist", refine_by_worklist, worklist_bytes},
        {"adaptive", refine_adaptively, adaptive_bytes},
#endif
    };
}

// The device memory that the variant needs at its peak, the automaton and class_of included.
inline int64_t device_bytes(const char* name, int64_t states, int64_t symbols,
                            const RefineOptions& options) {
    int64_t bytes = 4 * states * symbols + 5 * states;
    for (const DeviceVariant& variant : device_variants()) {
        if (std::strcmp(variant.name, name) == 0) bytes += variant.bytes(states, symbols, options);
    }
    return bytes;
}

inline Refine find_device_variant(const std::string& name) {
    for (const DeviceVariant& variant : device_variants()) {
        if (name == variant.name) return variant.refine;
    }
    return nullptr;
}
