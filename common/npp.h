// What a lab needs beside NPP's own headers to call it in a benchmark: the context of the device.
// Include it only where they are there: #if defined(LAB_PEERS) && __has_include(<nppi_...h>).
#pragma once

#include <nppdefs.h>

#include "lab.h"

namespace lab {

// The current device and its default stream, for NPP's functions that end in _Ctx. It asks the
// runtime, so keep what it returns: what is timed must be the filter alone.
inline NppStreamContext npp_context() {
    NppStreamContext context = {};
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&context.nCudaDeviceId));
    CHECK(cudaGetDeviceProperties(&properties, context.nCudaDeviceId));
    context.nMultiProcessorCount = properties.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return context;
}

}  // namespace lab
