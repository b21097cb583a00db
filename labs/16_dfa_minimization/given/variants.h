// What a variant is, on the host and on the device; host.h and device.cuh have the lists of them.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <cstring>
#include <string>
#include <vector>

#include "rounds.h"

struct HostVariant {
    const char* name;
    Partition (*minimize)(const Automaton&, const HostOptions&);
    int64_t (*bytes)(int64_t states, int64_t symbols);  // beside the automaton and the partition
};

const std::vector<HostVariant>& host_variants();

// An automaton in device memory.
struct DeviceAutomaton {
    int64_t states, symbols;
    const int32_t* next;      // (symbols, states), letter-major: next[symbol * states + state]
    const uint8_t* is_final;  // (states), 0 or 1
};

// What may be chosen on the device; 0 leaves a choice to the variant.
struct RefineOptions {
    int threads_per_block = 0;    // a power of two, 64 to 1024
    int elements_per_thread = 0;  // of the counting sort: the length of a segment, in threads
    int bits_per_step = 0;        // of the counting sort: at most log2(threads_per_block)
    bool verbose = false;         // a line on standard error for each round
    FirstFault* fault = nullptr;  // receives what goes wrong first
};

// rounds counts the last one too, which finds nothing more to split; no states take no round.
struct Refined {
    int64_t classes = 0, rounds = 0;
};

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
std::vector<DeviceVariant> device_variants();

inline const HostVariant* find_host_variant(const std::string& name) {
    for (const HostVariant& variant : host_variants()) {
        if (name == variant.name) return &variant;
    }
    return nullptr;
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
