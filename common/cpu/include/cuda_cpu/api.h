// The CUDA runtime API that the CPU mode has, with CUDA's names, values and errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "types.h"

// ---------------------------------------------------------------- errors
#define CUDA_CPU_ERRORS(ERROR)                                                                  \
    ERROR(cudaSuccess, 0, "no error")                                                           \
    ERROR(cudaErrorInvalidValue, 1, "invalid argument")                                         \
    ERROR(cudaErrorMemoryAllocation, 2, "out of memory")                                        \
    ERROR(cudaErrorInitializationError, 3, "initialization error")                              \
    ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                   \
    ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                             \
    ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                  \
    ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                          \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")             \
    ERROR(cudaErrorInsufficientDriver, 35,                                                      \
          "CUDA driver version is insufficient for CUDA runtime version")                       \
    ERROR(cudaErrorLaunchMaxDepthExceeded, 65,                                                  \
          "launch would exceed maximum depth of nested launches")                               \
    ERROR(cudaErrorLaunchPendingCountExceeded, 69,                                              \
          "launch would exceed the limit of pending device launches")                           \
    ERROR(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                        \
    ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                         \
    ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                \
    ERROR(cudaErrorNoKernelImageForDevice, 209,                                                 \
          "no kernel image is available for execution on the device")                           \
    ERROR(cudaErrorPeerAccessUnsupported, 217,                                                  \
          "peer access is not supported between these two devices")                             \
    ERROR(cudaErrorUnsupportedPtxVersion, 222,                                                  \
          "the provided PTX was compiled with an unsupported toolchain.")                       \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                       \
    ERROR(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state") \
    ERROR(cudaErrorNotReady, 600, "device not ready")                                           \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")             \
    ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")        \
    ERROR(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")               \
    ERROR(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")             \
    ERROR(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")               \
    ERROR(cudaErrorContextIsDestroyed, 709, "context is destroyed")                             \
    ERROR(cudaErrorAssert, 710, "device-side assert triggered")                                 \
    ERROR(cudaErrorHostMemoryAlreadyRegistered, 712,                                            \
          "part or all of the requested memory range is already mapped")                        \
    ERROR(cudaErrorHostMemoryNotRegistered, 713,                                                \
          "pointer does not correspond to a registered memory region")                          \
    ERROR(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")           \
    ERROR(cudaErrorMisalignedAddress, 716, "misaligned address")                                \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure")                            \
    ERROR(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")     \
    ERROR(cudaErrorNotPermitted, 800, "operation not permitted")                                \
    ERROR(cudaErrorNotSupported, 801, "operation not supported")                                \
    ERROR(cudaErrorStreamCaptureUnsupported, 900,                                               \
          "operation not permitted when stream is capturing")                                   \
    ERROR(cudaErrorStreamCaptureInvalidated, 901,                                               \
          "operation failed due to a previous error during capture")                            \
    ERROR(cudaErrorStreamCaptureMerge, 902,                                                     \
          "operation would result in a merge of separate capture sequences")                    \
    ERROR(cudaErrorStreamCaptureUnmatched, 903,                                                 \
          "capture was not ended in the same stream as it began")                               \
    ERROR(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")            \
    ERROR(cudaErrorStreamCaptureIsolation, 905,                                                 \
          "dependency created on uncaptured work in another stream")                            \
    ERROR(cudaErrorStreamCaptureImplicit, 906,                                                  \
          "operation would make the legacy stream depend on a capturing blocking stream")       \
    ERROR(cudaErrorCapturedEvent, 907,                                                          \
          "operation not permitted on an event last recorded in a capturing stream")            \
    ERROR(cudaErrorGraphExecUpdateFailure, 910,                                                 \
          "the graph update was not performed because it included changes which "               \
          "violated constraints specific to instantiated graph update")                         \
    ERROR(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define CUDA_CPU_ENUMERATOR(name, value, sentence) name = value,
    CUDA_CPU_ERRORS(CUDA_CPU_ENUMERATOR)
#undef CUDA_CPU_ENUMERATOR
};
using cudaError_t = cudaError;

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();     // the last error, which it clears
cudaError_t cudaPeekAtLastError();  // the last error, which it keeps

// ---------------------------------------------------------------- devices
struct cudaUUID_t {
    char bytes[16];
};

// The fields of CUDA 13: clocks are asked for with cudaDeviceGetAttribute.
struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID, pciDeviceID, pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int concurrentManagedAccess;
    int pageableMemoryAccess;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int maxBlocksPerMultiProcessor;
    size_t reservedSharedMemPerBlock;
    int memoryPoolsSupported;
    size_t surfaceAlignment;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3];
    int maxTexture1DLayered[2], maxTexture2DLayered[3];
    int hostNativeAtomicSupported, pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost, canUseHostPointerForRegisteredMem;
    int accessPolicyMaxWindowSize;
    // What older programs ask for, and CUDA 13 no longer has.
    int clockRate, memoryClockRate, deviceOverlap, kernelExecTimeoutEnabled, computeMode;
    int computePreemptionSupported, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};
enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxPitch = 11,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrTextureAlignment = 14,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrSurfaceAlignment = 30,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrPciBusId = 33,
    cudaDevAttrPciDeviceId = 34,
    cudaDevAttrTccDriver = 35,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrPciDomainId = 50,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrGlobalL1CacheSupported = 79,
    cudaDevAttrLocalL1CacheSupported = 80,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrIsMultiGpuBoard = 84,
    cudaDevAttrMultiGpuBoardGroupID = 85,
    cudaDevAttrHostNativeAtomicSupported = 86,
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrComputePreemptionSupported = 90,
    cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrCooperativeMultiDeviceLaunch = 96,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrReservedSharedMemoryPerBlock = 111,
    cudaDevAttrMemoryPoolsSupported = 115,
    cudaDevAttrClusterLaunch = 120
};

enum cudaLimit {
    cudaLimitStackSize = 0,
    cudaLimitPrintfFifoSize = 1,
    cudaLimitMallocHeapSize = 2,
    cudaLimitDevRuntimeSyncDepth = 3,
    cudaLimitDevRuntimePendingLaunchCount = 4,
    cudaLimitMaxL2FetchGranularity = 5,
    cudaLimitPersistingL2CacheSize = 6
};

enum cudaFuncCache {
    cudaFuncCachePreferNone = 0,
    cudaFuncCachePreferShared = 1,
    cudaFuncCachePreferL1 = 2,
    cudaFuncCachePreferEqual = 3
};
enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault = 0,
    cudaSharedMemBankSizeFourByte = 1,
    cudaSharedMemBankSizeEightByte = 2
};
constexpr unsigned int cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1,
                       cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4,
                       cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16;

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int* version);  // 0: there is no driver
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaSetDeviceFlags(unsigned int flags);                    // ignored
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);            // ignored
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);  // ignored
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);

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
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
    return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <class T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
    return cudaMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = 0) {
    return cudaMallocHost(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
    return cudaHostAlloc(reinterpret_cast<void**>(pointer), bytes, flags);
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
    return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
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
