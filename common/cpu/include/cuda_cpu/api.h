// The CUDA runtime API that the CPU mode has, with CUDA's names, values and errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "device_properties.h"
#include "errors.h"
#include "types.h"

// ---------------------------------------------------------------- memory
enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};
enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
};
constexpr unsigned int cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;
constexpr unsigned int cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                       cudaHostAllocWriteCombined = 4;

constexpr unsigned int cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1,
                       cudaHostRegisterMapped = 2, cudaHostRegisterReadOnly = 8;
constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5,
    cudaMemAdviseUnsetAccessedBy = 6
};
enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
};

namespace cuda_cpu {
inline int number_of(const cudaMemLocation& location) {
    return location.type == cudaMemLocationTypeDevice ? location.id
           : location.type == cudaMemLocationTypeHost ? cudaCpuDeviceId
                                                      : cudaInvalidDeviceId;
}

// What CPU mode counts of an allocation of managed memory: how often the device and the host touched a page of 64 KiB
// that was not there, and how many pages moved, by that or by a prefetch. A card's runtime has no such call.
struct PageTraffic {
    size_t bytes, device_faults, host_faults, to_device, to_host;
};
PageTraffic page_traffic(const void* pointer);
}  // namespace cuda_cpu

struct CUstream_st;
using cudaStream_t = CUstream_st*;

cudaError_t cudaMalloc(void** pointer, size_t bytes);
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
cudaError_t cudaMallocManaged(void** pointer, size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int flags = 0);
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* target, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream = nullptr);

cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t bytes);
cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream = nullptr);

// Managed memory moves in pages of 64 KiB. CUDA 13 names the place by a cudaMemLocation.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device);
inline cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation location,
                                        unsigned int, cudaStream_t stream = nullptr) {
    return cudaMemPrefetchAsync(pointer, bytes, cuda_cpu::number_of(location), stream);
}
inline cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                                 cudaMemLocation location) {
    return cudaMemAdvise(pointer, bytes, advice, cuda_cpu::number_of(location));
}

template <class T>
cudaError_t cudaMalloc(T** pointer, size_t bytes) {
    return cudaMalloc((void**)pointer, bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    return cudaMallocPitch((void**)pointer, pitch, width, height);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
    return cudaMallocManaged((void**)pointer, bytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = 0) {
    return cudaMallocHost((void**)pointer, bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
    return cudaHostAlloc((void**)pointer, bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
    return cudaHostGetDevicePointer((void**)device, host, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync((void**)pointer, bytes, stream);
}

// Symbols: __constant__ and __device__ variables, which are plain globals here.
namespace cuda_cpu {
cudaError_t register_symbol(const void* symbol, size_t size);
// The same, and whether `bytes` at `offset` are in the symbol.
cudaError_t place_in_symbol(const void* symbol, size_t size, size_t bytes, size_t offset);

template <class T>
char* symbol_address(const T& symbol, size_t offset) {
    return const_cast<char*>(reinterpret_cast<const volatile char*>(&symbol)) + offset;
}
}  // namespace cuda_cpu

template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    const cudaError_t error = cuda_cpu::place_in_symbol(&symbol, sizeof(T), bytes, offset);
    if (error != cudaSuccess) return error;
    return cudaMemcpy(cuda_cpu::symbol_address(symbol, offset), source, bytes, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* target, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    const cudaError_t error = cuda_cpu::place_in_symbol(&symbol, sizeof(T), bytes, offset);
    if (error != cudaSuccess) return error;
    return cudaMemcpy(target, cuda_cpu::symbol_address(symbol, offset), bytes, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
    const cudaError_t error = cuda_cpu::place_in_symbol(&symbol, sizeof(T), bytes, offset);
    if (error != cudaSuccess) return error;
    return cudaMemcpyAsync(cuda_cpu::symbol_address(symbol, offset), source, bytes, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* target, const T& symbol, size_t bytes,
                                      size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
    const cudaError_t error = cuda_cpu::place_in_symbol(&symbol, sizeof(T), bytes, offset);
    if (error != cudaSuccess) return error;
    return cudaMemcpyAsync(target, cuda_cpu::symbol_address(symbol, offset), bytes, kind, stream);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
    const cudaError_t error = cuda_cpu::register_symbol(&symbol, sizeof(T));
    if (error == cudaSuccess) *pointer = cuda_cpu::symbol_address(symbol, 0);
    return error;
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
    const cudaError_t error = cuda_cpu::register_symbol(&symbol, sizeof(T));
    if (error == cudaSuccess) *size = sizeof(T);
    return error;
}

// ---------------------------------------------------------------- streams and events
struct CUevent_st;
using cudaEvent_t = CUevent_st*;
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);
using cudaHostFn_t = void (*)(void* data);
constexpr unsigned int cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned int cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                       cudaEventInterprocess = 4;
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned int flags);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes = 0,
                                     unsigned int flags = cudaMemAttachSingle);
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t bytes = 0,
                                     unsigned int flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), bytes, flags);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
    return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

// ---------------------------------------------------------------- kernels and occupancy
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxShared = 100,
    cudaSharedmemCarveoutMaxL1 = 0
};
struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};

namespace cuda_cpu {
cudaError_t set_function_attribute(cudaFuncAttribute attribute, int value);
cudaError_t function_attributes(cudaFuncAttributes* attributes);
cudaError_t occupancy(int* blocks, int block_size, size_t dynamic_shared_bytes);

// The largest block that keeps most threads resident, and the grid that fills the device with it;
// both 0 when no block fits. `dynamic_shared_bytes(size)` is what a block of so many threads needs.
template <class SharedBytes>
cudaError_t best_block_size(int* grid_size, int* block_size, SharedBytes dynamic_shared_bytes,
                            int block_size_limit) {
    *grid_size = *block_size = 0;
    int device = 0, multiprocessors = 0, most_threads = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) {
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    }
    const int limit = block_size_limit > 0 && block_size_limit < 1024 ? block_size_limit : 1024;
    for (int whole = (limit + 31) / 32 * 32; whole > 0 && error == cudaSuccess; whole -= 32) {
        const int size = whole < limit ? whole : limit;
        int blocks = 0;
        error = occupancy(&blocks, size, dynamic_shared_bytes(size));
        if (blocks * size <= most_threads) continue;
        most_threads = blocks * size;
        *block_size = size;
        *grid_size = blocks * multiprocessors;
    }
    return error;
}
}  // namespace cuda_cpu

// What a kernel needs of registers and static shared memory is not known on the CPU; docs/cpu-mode.md
// says what is assumed.
template <class Function>
cudaError_t cudaFuncSetAttribute(Function, cudaFuncAttribute attribute, int value) {
    return cuda_cpu::set_function_attribute(attribute, value);
}
template <class Function>
cudaError_t cudaFuncSetCacheConfig(Function, cudaFuncCache) {
    return cudaSuccess;
}
template <class Function>
cudaError_t cudaFuncSetSharedMemConfig(Function, cudaSharedMemConfig) {
    return cudaSuccess;
}
template <class Function>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Function) {
    return cuda_cpu::function_attributes(attributes);
}
template <class Function>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function, int block_size,
                                                          size_t dynamic_shared_bytes) {
    return cuda_cpu::occupancy(blocks, block_size, dynamic_shared_bytes);
}
template <class Function>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, Function,
                                               size_t dynamic_shared_bytes = 0,
                                               int block_size_limit = 0) {
    return cuda_cpu::best_block_size(
        grid_size, block_size, [=](int) { return dynamic_shared_bytes; }, block_size_limit);
}
template <class Function, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid_size, int* block_size,
                                                           Function,
                                                           SharedBytes dynamic_shared_bytes,
                                                           int block_size_limit = 0) {
    return cuda_cpu::best_block_size(grid_size, block_size, dynamic_shared_bytes, block_size_limit);
}
