// The refinements that run on the device, in the order of the ladder.
#pragma once

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

std::vector<DeviceVariant> device_variants() {
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
