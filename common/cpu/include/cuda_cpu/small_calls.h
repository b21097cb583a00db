// Calls that follow from others, or that change nothing here.
#pragma once

#include <cstdio>
#include <cstring>

#include "graphs.h"

inline cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
    int count = 0;
    cudaGetDeviceCount(&count);
    return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}
inline cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    for (int i = 0; error == cudaSuccess && i < count; ++i) {
        char own[32];
        error = cudaDeviceGetPCIBusId(own, sizeof own, i);
        if (error == cudaSuccess && std::strcmp(own, text) == 0) return *device = i, cudaSuccess;
    }
    return error == cudaSuccess ? cudaErrorInvalidDevice : error;
}
inline cudaError_t cudaSetValidDevices(int*, int) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}
inline cudaError_t cudaStreamGetDevice(cudaStream_t, int* device) { return cudaGetDevice(device); }
constexpr unsigned int cudaEventRecordDefault = 0, cudaEventRecordExternal = 1;
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                            unsigned int = 0) {
    return cudaEventRecord(event, stream);
}

// One row of an array, or rows that follow each other.
inline cudaError_t cudaMemcpyToArrayAsync(cudaArray_t target, size_t x, size_t y,
                                          const void* source, size_t bytes, cudaMemcpyKind kind,
                                          cudaStream_t = nullptr) {
    return cudaMemcpyToArray(target, x, y, source, bytes, kind);
}
inline cudaError_t cudaMemcpyFromArrayAsync(void* target, cudaArray_const_t source, size_t x,
                                            size_t y, size_t bytes, cudaMemcpyKind kind,
                                            cudaStream_t = nullptr) {
    return cudaMemcpyFromArray(target, source, x, y, bytes, kind);
}

constexpr unsigned int cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1;
template <class KernelFunction>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, KernelFunction,
                                                                   int block_size, size_t bytes,
                                                                   unsigned int) {
    return cuda_cpu::occupancy(blocks, block_size, bytes);
}
template <class KernelFunction>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size,
                                                        KernelFunction kernel, size_t bytes = 0,
                                                        int limit = 0, unsigned int = 0) {
    return cudaOccupancyMaxPotentialBlockSize(grid_size, block_size, kernel, bytes, limit);
}
// What so many blocks leave each of them of a multiprocessor's shared memory.
template <class KernelFunction>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, KernelFunction, int blocks,
                                                      int) {
    int all = 0, most = 0, reserved = 0;
    cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlock, 0);
    cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, 0);
    const int each = all / (blocks > 0 ? blocks : 1) - reserved;
    *bytes = static_cast<size_t>(each < most ? each : most);
    return cudaSuccess;
}
