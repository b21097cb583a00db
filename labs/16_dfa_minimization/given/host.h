// The variants on the host, in the order of the ladder.
#pragma once

#include <vector>

#include "hopcroft.h"
#include "moore.h"
#include "moore_hash.h"
#include "variants.h"
#ifdef _OPENMP
#include "openmp.h"
#include "parallel_sort.h"
#endif

int64_t sort_bytes(int64_t states, int64_t symbols) {
    return SignatureSort::bytes(states, symbols);
}

int64_t unfolded_bytes(int64_t states, int64_t symbols) {
    const int64_t pairs = symbols == 2 ? 16 * states + SignatureSort::bytes(states, 4) : 0;
    return pairs + SignatureSort::bytes(states, symbols);
}

int64_t hash_bytes(int64_t states, int64_t) { return HashedRounds::bytes(states); }

const std::vector<HostVariant>& host_variants() {
    static const std::vector<HostVariant> variants = {
        {"hopcroft", hopcroft, hopcroft_bytes},
        {"moore_radix", moore_radix, sort_bytes},
        {"moore_hash", moore_hash, hash_bytes},
#ifdef _OPENMP
        {"openmp_for", openmp_for, sort_bytes},
        {"openmp_tasks", openmp_tasks, sort_bytes},
        {"openmp_sections", openmp_sections, sort_bytes},
        {"openmp_split", openmp_split, sort_bytes},
        {"openmp_unfolded", openmp_unfolded, unfolded_bytes},
        {"openmp_sort", openmp_sort, sort_bytes},
#endif
    };
    return variants;
}
