// Multiprocessors, by the table of the CUDA programming guide and by the device.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../../../common/lab.h"

struct Capability {
    int major, minor;
    Multiprocessor whole;
};

// Of the CUDA programming guide, "Technical Specifications per Compute Capability".
const Capability capabilities[] = {
    {7, 0, {64, 32, 65536, 96 * 1024, 0, 256, 96 * 1024}},
    {7, 5, {32, 16, 65536, 64 * 1024, 0, 256, 64 * 1024}},
    {8, 0, {64, 32, 65536, 164 * 1024, 1024, 128, 163 * 1024}},
    {8, 6, {48, 16, 65536, 100 * 1024, 1024, 128, 99 * 1024}},
    {8, 7, {48, 16, 65536, 164 * 1024, 1024, 128, 163 * 1024}},
    {8, 9, {48, 24, 65536, 100 * 1024, 1024, 128, 99 * 1024}},
    {9, 0, {64, 32, 65536, 228 * 1024, 1024, 128, 227 * 1024}},
    {10, 0, {64, 32, 65536, 228 * 1024, 1024, 128, 227 * 1024}},
    {12, 0, {48, 24, 65536, 100 * 1024, 1024, 128, 99 * 1024}},
};

inline std::string capability_text(const Capability& capability) {
    return lab::format("%d.%d", capability.major, capability.minor);
}

inline std::string known_text() {
    std::vector<std::string> names;
    for (const Capability& capability : capabilities) names.push_back(capability_text(capability));
    return lab::joined(names, ", ");
}

// The one that is written like this, or the end.
inline const Capability* find_capability(const std::string& text) {
    return std::find_if(std::begin(capabilities), std::end(capabilities),
                        [&](const Capability& known) { return capability_text(known) == text; });
}

inline Multiprocessor multiprocessor_of_device() {
    const bool before_ampere = lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 8;
    return {lab::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / warp_size,
            lab::device_attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
            lab::device_attribute(cudaDevAttrMaxRegistersPerMultiprocessor),
            lab::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            lab::device_attribute(cudaDevAttrReservedSharedMemoryPerBlock),
            before_ampere ? 256 : 128,
            lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}
