// The devices that the CPU pretends to be, with facts from their data sheets. CUDA_CPU_DEVICE names
// one or, separated by commas, several; CUDA_CPU_DEVICES says how many of them there are, in turn.
// CUDA_VISIBLE_DEVICES set to nothing or -1 hides them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "report.h"

namespace cuda_cpu {

struct DeviceFacts {
    const char* key;
    const char* name;
    int major, minor, multiprocessors;
    size_t memory_bytes;
    int core_clock_khz, memory_clock_khz, bus_bits, l2_bytes;
    int shared_per_block_optin, shared_per_multiprocessor, shared_reserved;
    int threads_per_multiprocessor, blocks_per_multiprocessor;
    int copy_engines, error_correction, single_to_double;
};

constexpr DeviceFacts device_facts[] = {
    {"t4", "Tesla T4", 7, 5, 40, 15843721216, 1590000, 5001000, 256, 4194304, 65536, 65536, 0, 1024,
     16, 3, 1, 32},
    {"rtx3090", "NVIDIA GeForce RTX 3090", 8, 6, 82, 25438126080, 1695000, 9751000, 384, 6291456,
     101376, 102400, 1024, 1536, 16, 2, 0, 64},
    {"a100", "NVIDIA A100-SXM4-40GB", 8, 0, 108, 42298834944, 1410000, 1215000, 5120, 41943040,
     166912, 167936, 1024, 2048, 32, 3, 1, 2},
    {"h100", "NVIDIA H100 80GB HBM3", 9, 0, 132, 85028896768, 1980000, 2619000, 5120, 52428800,
     232448, 233472, 1024, 2048, 32, 3, 1, 2},
    {"rtx4060laptop", "NVIDIA GeForce RTX 4060 Laptop GPU", 8, 9, 24, 8585216000, 1890000, 8001000,
     128, 33554432, 101376, 102400, 1024, 1536, 24, 1, 0, 64},
};
constexpr int registers_per_multiprocessor = 65536, shared_per_block = 48 * 1024;
constexpr int assumed_registers_per_thread = 32;  // the host compiler does not say what nvcc would

// Shared memory is given to a block in units of this many bytes.
inline size_t shared_unit(const DeviceFacts& facts) { return facts.major < 8 ? 256 : 128; }

constexpr unsigned long most_devices = 32;  // a set of devices is a word
constexpr uint32_t all_devices = ~0u;

// The devices of CUDA_CPU_DEVICE.
inline std::vector<const DeviceFacts*> wished_devices() {
    const char* const wish = std::getenv("CUDA_CPU_DEVICE");
    std::vector<const DeviceFacts*> devices;
    for (std::string rest = wish != nullptr && *wish != '\0' ? wish : "t4"; !rest.empty();) {
        const size_t comma = rest.find(',');
        const std::string key = rest.substr(0, comma);
        rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
        const auto known = std::find_if(std::begin(device_facts), std::end(device_facts),
                                        [&](const DeviceFacts& facts) { return key == facts.key; });
        if (known == std::end(device_facts)) {
            std::string keys;
            for (const DeviceFacts& facts : device_facts) keys += std::string(" ") + facts.key;
            stop("CUDA_CPU_DEVICE: there is no pretend device \"" + key + "\"; known are:" + keys +
                 ".");
        }
        devices.push_back(known);
    }
    if (const char* const text = std::getenv("CUDA_CPU_DEVICES");
        text != nullptr && *text != '\0') {
        char* end = nullptr;
        const unsigned long count = std::strtoul(text, &end, 10);
        if (*end != '\0' || count < 1 || count > most_devices)
            stop("CUDA_CPU_DEVICES: \"" + std::string(text) +
                 "\" is not a number of devices from 1 to 32.");
        const size_t kinds = devices.size();
        while (devices.size() < count) devices.push_back(devices[devices.size() - kinds]);
        devices.resize(count);
    }
    return devices;
}

// Those of them whose numbers CUDA_VISIBLE_DEVICES lists, in its order, up to the first that is none.
inline std::vector<const DeviceFacts*> visible_devices() {
    const std::vector<const DeviceFacts*> all = wished_devices();
    const char* rest = std::getenv("CUDA_VISIBLE_DEVICES");
    if (rest == nullptr) return all;
    std::vector<const DeviceFacts*> devices;
    for (;; ++rest) {
        char* end;
        const unsigned long number = std::strtoul(rest, &end, 10);
        if (end == rest || number >= all.size()) return devices;
        devices.push_back(all[number]);
        rest = end;
        if (*rest != ',') return devices;
    }
}

inline const std::vector<const DeviceFacts*>& devices() {
    static const auto& list = *new std::vector<const DeviceFacts*>(visible_devices());
    return list;
}

inline thread_local int current_device = 0;

// Which device may use the memory of which, since cudaDeviceEnablePeerAccess, or for the sake of a pool, since
// cudaMemPoolSetAccess; under the queue's lock.
using Peers = std::set<std::pair<int, int>>;
inline Peers& peers() {
    static auto& pairs = *new Peers;
    return pairs;
}
inline Peers& peers_of_pools() {
    static auto& pairs = *new Peers;
    return pairs;
}
// The devices whose memory a kernel on this one can use, a bit each.
inline uint32_t reach_of(int device) {
    if (devices().size() == 1) return all_devices;
    uint32_t reach = 1u << device;
    for (const Peers* pairs : {&peers(), &peers_of_pools()})
        for (const auto& [user, owner] : *pairs)
            if (user == device) reach |= 1u << owner;
    return reach;
}

// What is said of a device that cannot: the end of a sentence.
inline std::string how_to_reach(int owner) {
    return format(
        "has no access to it: copy it with cudaMemcpyPeerAsync, or call "
        "cudaDeviceEnablePeerAccess(%d, 0) while that device is current",
        owner);
}

inline cudaDeviceProp properties_of(const DeviceFacts& facts) {
    cudaDeviceProp properties{};
    std::snprintf(properties.name, sizeof properties.name, "CPU mode, as %s", facts.name);
    properties.totalGlobalMem = facts.memory_bytes;
    properties.sharedMemPerBlock = shared_per_block;
    properties.regsPerBlock = properties.regsPerMultiprocessor = registers_per_multiprocessor;
    properties.warpSize = 32;
    properties.memPitch = 2147483647;
    properties.maxThreadsPerBlock = 1024;
    properties.maxThreadsDim[0] = properties.maxThreadsDim[1] = 1024;
    properties.maxThreadsDim[2] = 64;
    properties.maxGridSize[0] = 2147483647;
    properties.maxGridSize[1] = properties.maxGridSize[2] = 65535;
    properties.totalConstMem = 65536;
    properties.major = facts.major;
    properties.minor = facts.minor;
    properties.textureAlignment = 512;
    properties.texturePitchAlignment = 32;
    properties.multiProcessorCount = facts.multiprocessors;
    properties.canMapHostMemory = properties.concurrentKernels = 1;
    properties.ECCEnabled = facts.error_correction;
    properties.asyncEngineCount = facts.copy_engines;
    properties.unifiedAddressing = 1;
    properties.memoryBusWidth = facts.bus_bits;
    properties.l2CacheSize = facts.l2_bytes;
    properties.maxThreadsPerMultiProcessor = facts.threads_per_multiprocessor;
    properties.streamPrioritiesSupported = 1;
    properties.globalL1CacheSupported = properties.localL1CacheSupported = 1;
    properties.sharedMemPerMultiprocessor = static_cast<size_t>(facts.shared_per_multiprocessor);
    properties.managedMemory = 1;
    properties.concurrentManagedAccess = 1;
    properties.sharedMemPerBlockOptin = static_cast<size_t>(facts.shared_per_block_optin);
    properties.maxBlocksPerMultiProcessor = facts.blocks_per_multiprocessor;
    properties.surfaceAlignment = 512;
    properties.maxTexture1D = properties.maxTexture2D[0] = 131072;
    properties.maxTexture2D[1] = 65536;
    for (int& side : properties.maxTexture3D) side = 16384;
    properties.maxTexture1DLayered[0] = 32768;
    properties.maxTexture2DLayered[0] = properties.maxTexture2DLayered[1] = 32768;
    properties.maxTexture1DLayered[1] = properties.maxTexture2DLayered[2] = 2048;
    properties.cooperativeLaunch = 1;
    properties.memoryPoolsSupported = 1;
    properties.clockRate = facts.core_clock_khz;
    properties.memoryClockRate = facts.memory_clock_khz;
    properties.deviceOverlap = 1;
    properties.singleToDoublePrecisionPerfRatio = facts.single_to_double;
    properties.reservedSharedMemPerBlock = static_cast<size_t>(facts.shared_reserved);
    return properties;
}

// CUDA_CPU_MISSING=clockRate,memoryClockRate makes a device that does not tell these, as some do not.
inline bool is_missing(const char* attribute) {
    const char* const missing = std::getenv("CUDA_CPU_MISSING");
    return missing != nullptr &&
           ("," + std::string(missing) + ",").find("," + std::string(attribute) + ",") !=
               std::string::npos;
}

inline cudaError_t attribute_of(const DeviceFacts& facts, cudaDeviceAttr attribute, int* value) {
    const cudaDeviceProp properties = properties_of(facts);
    const auto give = [&](auto number) {
        *value = static_cast<int>(number);
        return cudaSuccess;
    };
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock:
            return give(properties.maxThreadsPerBlock);
        case cudaDevAttrMaxBlockDimX:
            return give(properties.maxThreadsDim[0]);
        case cudaDevAttrMaxBlockDimY:
            return give(properties.maxThreadsDim[1]);
        case cudaDevAttrMaxBlockDimZ:
            return give(properties.maxThreadsDim[2]);
        case cudaDevAttrMaxGridDimX:
            return give(properties.maxGridSize[0]);
        case cudaDevAttrMaxGridDimY:
            return give(properties.maxGridSize[1]);
        case cudaDevAttrMaxGridDimZ:
            return give(properties.maxGridSize[2]);
        case cudaDevAttrMaxSharedMemoryPerBlock:
            return give(properties.sharedMemPerBlock);
        case cudaDevAttrTotalConstantMemory:
            return give(properties.totalConstMem);
        case cudaDevAttrWarpSize:
            return give(properties.warpSize);
        case cudaDevAttrMaxPitch:
            return give(properties.memPitch);
        case cudaDevAttrMaxRegistersPerBlock:
            return give(properties.regsPerBlock);
        case cudaDevAttrClockRate:
            return is_missing("clockRate") ? cudaErrorNotSupported : give(facts.core_clock_khz);
        case cudaDevAttrTextureAlignment:
            return give(properties.textureAlignment);
        case cudaDevAttrMultiProcessorCount:
            return give(properties.multiProcessorCount);
        case cudaDevAttrConcurrentKernels:
            return give(properties.concurrentKernels);
        case cudaDevAttrCanMapHostMemory:
            return give(properties.canMapHostMemory);
        case cudaDevAttrEccEnabled:
            return give(properties.ECCEnabled);
        case cudaDevAttrMemoryClockRate:
            return is_missing("memoryClockRate") ? cudaErrorNotSupported
                                                 : give(facts.memory_clock_khz);
        case cudaDevAttrGlobalMemoryBusWidth:
            return give(properties.memoryBusWidth);
        case cudaDevAttrL2CacheSize:
            return give(properties.l2CacheSize);
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            return give(properties.maxThreadsPerMultiProcessor);
        case cudaDevAttrAsyncEngineCount:
            return give(properties.asyncEngineCount);
        case cudaDevAttrUnifiedAddressing:
            return give(properties.unifiedAddressing);
        case cudaDevAttrComputeCapabilityMajor:
            return give(properties.major);
        case cudaDevAttrComputeCapabilityMinor:
            return give(properties.minor);
        case cudaDevAttrStreamPrioritiesSupported:
            return give(1);
        case cudaDevAttrGlobalL1CacheSupported:
            return give(1);
        case cudaDevAttrLocalL1CacheSupported:
            return give(1);
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return give(properties.sharedMemPerMultiprocessor);
        case cudaDevAttrMaxRegistersPerMultiprocessor:
            return give(properties.regsPerMultiprocessor);
        case cudaDevAttrManagedMemory:
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrGpuOverlap:
            return give(1);
        case cudaDevAttrSurfaceAlignment:
            return give(properties.surfaceAlignment);
        case cudaDevAttrSingleToDoublePrecisionPerfRatio:
            return give(facts.single_to_double);
        case cudaDevAttrConcurrentManagedAccess:
            return give(1);
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return give(properties.sharedMemPerBlockOptin);
        case cudaDevAttrMaxBlocksPerMultiprocessor:
            return give(properties.maxBlocksPerMultiProcessor);
        case cudaDevAttrReservedSharedMemoryPerBlock:
            return give(properties.reservedSharedMemPerBlock);
        case cudaDevAttrMemoryPoolsSupported:
            return give(properties.memoryPoolsSupported);
        case cudaDevAttrKernelExecTimeout:
        case cudaDevAttrIntegrated:
        case cudaDevAttrComputeMode:
        case cudaDevAttrPciBusId:
        case cudaDevAttrPciDeviceId:
        case cudaDevAttrPageableMemoryAccess:
        case cudaDevAttrComputePreemptionSupported:
        case cudaDevAttrTccDriver:
        case cudaDevAttrPciDomainId:
        case cudaDevAttrIsMultiGpuBoard:
        case cudaDevAttrMultiGpuBoardGroupID:
        case cudaDevAttrHostNativeAtomicSupported:
        case cudaDevAttrCanUseHostPointerForRegisteredMem:
        case cudaDevAttrCooperativeMultiDeviceLaunch:
        case cudaDevAttrClusterLaunch:
            return give(0);
    }
    return cudaErrorInvalidValue;
}

}  // namespace cuda_cpu
