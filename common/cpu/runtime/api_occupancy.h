// What a kernel may occupy, and its attributes.
#pragma once

#include <algorithm>

#include "api_call.h"
#include "devices.h"
#include "memory.h"

namespace cuda_cpu {

// Nothing is known of registers and static shared memory, so 32 registers a thread and none are
// assumed; both are given out in the units of the hardware.
cudaError_t occupancy(int* blocks, int block_size, size_t dynamic_shared_bytes) {
    if (const Call call; !call) return call.state;
    const DeviceFacts& facts = *devices()[static_cast<size_t>(current_device)];
    if (block_size <= 0) return failed(cudaErrorInvalidValue);
    *blocks = 0;
    const int warps = (block_size + 31) / 32;
    if (block_size > 1024 || dynamic_shared_bytes > shared_limit(facts)) return cudaSuccess;
    const int by_threads = facts.threads_per_multiprocessor / (warps * 32);
    const int by_registers =
        registers_per_multiprocessor / (warps * 32 * assumed_registers_per_thread);
    int most = std::min({by_threads, by_registers, facts.blocks_per_multiprocessor});
    const size_t shared = round_up(
        dynamic_shared_bytes + static_cast<size_t>(facts.shared_reserved), shared_unit(facts));
    if (shared > 0) {
        most = std::min(
            most, static_cast<int>(static_cast<size_t>(facts.shared_per_multiprocessor) / shared));
    }
    *blocks = most;
    return cudaSuccess;
}

cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value) {
    if (const Call call; !call) return call.state;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    const int limit = devices()[static_cast<size_t>(current_device)]->shared_per_block_optin;
    if (value < 0 || value > limit) {
        return failed(
            cudaErrorInvalidValue,
            format("%d bytes of dynamic shared memory; at most %d a block", value, limit));
    }
    largest_dynamic_shared = std::max(largest_dynamic_shared.load(), value);
    return cudaSuccess;
}

cudaError_t function_attributes(cudaFuncAttributes* attributes) {
    if (const Call call; !call) return call.state;
    const DeviceFacts& facts = *devices()[static_cast<size_t>(current_device)];
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = assumed_registers_per_thread;
    attributes->ptxVersion = attributes->binaryVersion = 10 * facts.major + facts.minor;
    attributes->maxDynamicSharedSizeBytes = largest_dynamic_shared;
    return cudaSuccess;
}

}  // namespace cuda_cpu
