// The errors of CUDA, with its names, values and sentences.
#pragma once

#define CUDA_CPU_ERRORS(ERROR)                                                                     \
    ERROR(cudaSuccess, 0, "no error")                                                              \
    ERROR(cudaErrorInvalidValue, 1, "invalid argument")                                            \
    ERROR(cudaErrorMemoryAllocation, 2, "out of memory")                                           \
    ERROR(cudaErrorInitializationError, 3, "initialization error")                                 \
    ERROR(cudaErrorCudartUnloading, 4, "driver shutting down")                                     \
    ERROR(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")   \
    ERROR(cudaErrorProfilerNotInitialized, 6,                                                      \
          "profiler not initialized: call cudaProfilerInitialize()")                               \
    ERROR(cudaErrorProfilerAlreadyStarted, 7, "profiler already started")                          \
    ERROR(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped")                          \
    ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                      \
    ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                \
    ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                     \
    ERROR(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                 \
    ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                             \
    ERROR(cudaErrorInvalidTexture, 18, "invalid texture reference")                                \
    ERROR(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                 \
    ERROR(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                     \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                \
    ERROR(cudaErrorAddressOfConstant, 22, "invalid address of constant")                           \
    ERROR(cudaErrorTextureFetchFailed, 23, "fetch from texture failed")                            \
    ERROR(cudaErrorTextureNotBound, 24, "cannot fetch from a texture that is not bound")           \
    ERROR(cudaErrorSynchronizationError, 25, "incorrect use of __syncthreads()")                   \
    ERROR(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")  \
    ERROR(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for data type") \
    ERROR(cudaErrorMixedDeviceExecution, 28,                                                       \
          "device emulation mode and device execution mode cannot be mixed")                       \
    ERROR(cudaErrorNotYetImplemented, 31, "feature not yet implemented")                           \
    ERROR(cudaErrorMemoryValueTooLarge, 32,                                                        \
          "memory size or pointer value too large to fit in 32 bit")                               \
    ERROR(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                               \
    ERROR(cudaErrorInsufficientDriver, 35,                                                         \
          "CUDA driver version is insufficient for CUDA runtime version")                          \
    ERROR(cudaErrorCallRequiresNewerDriver, 36,                                                    \
          "API call is not supported in the installed CUDA driver")                                \
    ERROR(cudaErrorInvalidSurface, 37, "invalid surface reference")                                \
    ERROR(cudaErrorDuplicateVariableName, 43,                                                      \
          "duplicate global variable looked up by string name")                                    \
    ERROR(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name")         \
    ERROR(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name")         \
    ERROR(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")    \
    ERROR(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                   \
    ERROR(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")         \
    ERROR(cudaErrorPriorLaunchFailure, 53, "unspecified launch failure in prior launch")           \
    ERROR(cudaErrorLaunchMaxDepthExceeded, 65,                                                     \
          "launch would exceed maximum depth of nested launches")                                  \
    ERROR(cudaErrorLaunchFileScopedTex, 66,                                                        \
          "launch failed because kernel uses unsupported, file-scoped textures (texture objects "  \
          "are supported)")                                                                        \
    ERROR(cudaErrorLaunchFileScopedSurf, 67,                                                       \
          "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects "  \
          "are supported)")                                                                        \
    ERROR(cudaErrorSyncDepthExceeded, 68,                                                          \
          "cudaDeviceSynchronize failed because caller's grid depth exceeds "                      \
          "cudaLimitDevRuntimeSyncDepth")                                                          \
    ERROR(cudaErrorLaunchPendingCountExceeded, 69,                                                 \
          "launch would exceed the limit of pending device launches")                              \
    ERROR(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                           \
    ERROR(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                            \
    ERROR(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                   \
    ERROR(cudaErrorDeviceNotLicensed, 102, "device doesn't have valid Grid license")               \
    ERROR(cudaErrorSoftwareValidityNotEstablished, 103, "integrity checks failed")                 \
    ERROR(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                         \
    ERROR(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                      \
    ERROR(cudaErrorDeviceUninitialized, 201, "invalid device context")                             \
    ERROR(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                  \
    ERROR(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed")              \
    ERROR(cudaErrorArrayIsMapped, 207, "array is mapped")                                          \
    ERROR(cudaErrorAlreadyMapped, 208, "resource already mapped")                                  \
    ERROR(cudaErrorNoKernelImageForDevice, 209,                                                    \
          "no kernel image is available for execution on the device")                              \
    ERROR(cudaErrorAlreadyAcquired, 210, "resource already acquired")                              \
    ERROR(cudaErrorNotMapped, 211, "resource not mapped")                                          \
    ERROR(cudaErrorNotMappedAsArray, 212, "resource not mapped as array")                          \
    ERROR(cudaErrorNotMappedAsPointer, 213, "resource not mapped as pointer")                      \
    ERROR(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                   \
    ERROR(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")           \
    ERROR(cudaErrorDeviceAlreadyInUse, 216,                                                        \
          "exclusive-thread device already in use by a different thread")                          \
    ERROR(cudaErrorPeerAccessUnsupported, 217,                                                     \
          "peer access is not supported between these two devices")                                \
    ERROR(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                \
    ERROR(cudaErrorInvalidGraphicsContext, 219, "invalid OpenGL or DirectX context")               \
    ERROR(cudaErrorNvlinkUncorrectable, 220,                                                       \
          "uncorrectable NVLink error detected during the execution")                              \
    ERROR(cudaErrorJitCompilerNotFound, 221, "PTX JIT compiler library not found")                 \
    ERROR(cudaErrorUnsupportedPtxVersion, 222,                                                     \
          "the provided PTX was compiled with an unsupported toolchain.")                          \
    ERROR(cudaErrorJitCompilationDisabled, 223, "PTX JIT compilation was disabled")                \
    ERROR(cudaErrorUnsupportedExecAffinity, 224,                                                   \
          "the provided execution affinity is not supported")                                      \
    ERROR(cudaErrorUnsupportedDevSideSync, 225,                                                    \
          "the provided PTX contains unsupported call to cudaDeviceSynchronize")                   \
    ERROR(cudaErrorContained, 226,                                                                 \
          "Invalid access of peer GPU memory over nvlink or a hardware error")                     \
    ERROR(cudaErrorInvalidSource, 300, "device kernel image is invalid")                           \
    ERROR(cudaErrorFileNotFound, 301, "file not found")                                            \
    ERROR(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")              \
    ERROR(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed")             \
    ERROR(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")   \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                          \
    ERROR(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")    \
    ERROR(cudaErrorLossyQuery, 402, "attempted introspection would be semantically lossy")         \
    ERROR(cudaErrorSymbolNotFound, 500, "named symbol not found")                                  \
    ERROR(cudaErrorNotReady, 600, "device not ready")                                              \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                \
    ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")           \
    ERROR(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                  \
    ERROR(cudaErrorLaunchIncompatibleTexturing, 703, "launch uses incompatible texturing mode")    \
    ERROR(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                \
    ERROR(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                  \
    ERROR(cudaErrorSetOnActiveProcess, 708, "cannot set while device is active in this process")   \
    ERROR(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                \
    ERROR(cudaErrorAssert, 710, "device-side assert triggered")                                    \
    ERROR(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted")                          \
    ERROR(cudaErrorHostMemoryAlreadyRegistered, 712,                                               \
          "part or all of the requested memory range is already mapped")                           \
    ERROR(cudaErrorHostMemoryNotRegistered, 713,                                                   \
          "pointer does not correspond to a registered memory region")                             \
    ERROR(cudaErrorHardwareStackError, 714, "hardware stack error")                                \
    ERROR(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")              \
    ERROR(cudaErrorMisalignedAddress, 716, "misaligned address")                                   \
    ERROR(cudaErrorInvalidAddressSpace, 717,                                                       \
          "operation not supported on global/shared address space")                                \
    ERROR(cudaErrorInvalidPc, 718, "invalid program counter")                                      \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure")                               \
    ERROR(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")        \
    ERROR(cudaErrorTensorMemoryLeak, 721, "tensor memory not completely freed")                    \
    ERROR(cudaErrorNotPermitted, 800, "operation not permitted")                                   \
    ERROR(cudaErrorNotSupported, 801, "operation not supported")                                   \
    ERROR(cudaErrorSystemNotReady, 802, "system not yet initialized")                              \
    ERROR(cudaErrorSystemDriverMismatch, 803,                                                      \
          "system has unsupported display driver / cuda driver combination")                       \
    ERROR(cudaErrorCompatNotSupportedOnDevice, 804,                                                \
          "forward compatibility was attempted on non supported HW")                               \
    ERROR(cudaErrorMpsConnectionFailed, 805,                                                       \
          "MPS client failed to connect to the MPS control daemon or the MPS server")              \
    ERROR(cudaErrorMpsRpcFailure, 806,                                                             \
          "the remote procedural call between the MPS server and the MPS client failed")           \
    ERROR(cudaErrorMpsServerNotReady, 807,                                                         \
          "MPS server is not ready to accept new MPS client requests")                             \
    ERROR(cudaErrorMpsMaxClientsReached, 808,                                                      \
          "the hardware resources required to create MPS client have been exhausted")              \
    ERROR(cudaErrorMpsMaxConnectionsReached, 809,                                                  \
          "the hardware resources required to support device connections have been exhausted")     \
    ERROR(cudaErrorMpsClientTerminated, 810, "the MPS client has been terminated by the server")   \
    ERROR(cudaErrorCdpNotSupported, 811,                                                           \
          "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not "  \
          "support it")                                                                            \
    ERROR(cudaErrorCdpVersionMismatch, 812,                                                        \
          "unsupported interaction between different versions of CUDA Dynamic Parallelism")        \
    ERROR(cudaErrorStreamCaptureUnsupported, 900,                                                  \
          "operation not permitted when stream is capturing")                                      \
    ERROR(cudaErrorStreamCaptureInvalidated, 901,                                                  \
          "operation failed due to a previous error during capture")                               \
    ERROR(cudaErrorStreamCaptureMerge, 902,                                                        \
          "operation would result in a merge of separate capture sequences")                       \
    ERROR(cudaErrorStreamCaptureUnmatched, 903,                                                    \
          "capture was not ended in the same stream as it began")                                  \
    ERROR(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")               \
    ERROR(cudaErrorStreamCaptureIsolation, 905,                                                    \
          "dependency created on uncaptured work in another stream")                               \
    ERROR(cudaErrorStreamCaptureImplicit, 906,                                                     \
          "operation would make the legacy stream depend on a capturing blocking stream")          \
    ERROR(cudaErrorCapturedEvent, 907,                                                             \
          "operation not permitted on an event last recorded in a capturing stream")               \
    ERROR(cudaErrorStreamCaptureWrongThread, 908,                                                  \
          "attempt to terminate a thread-local capture sequence from another thread")              \
    ERROR(cudaErrorTimeout, 909, "wait operation timed out")                                       \
    ERROR(cudaErrorGraphExecUpdateFailure, 910,                                                    \
          "the graph update was not performed because it included changes which violated "         \
          "constraints specific to instantiated graph update")                                     \
    ERROR(cudaErrorExternalDevice, 911,                                                            \
          "an async error has occured in external entity outside of CUDA")                         \
    ERROR(cudaErrorInvalidClusterSize, 912, "cluster misconfiguration")                            \
    ERROR(cudaErrorFunctionNotLoaded, 913,                                                         \
          "the function handle is not loaded when calling an API that requires a loaded function") \
    ERROR(cudaErrorInvalidResourceType, 914,                                                       \
          "one or more resources passed in are not valid resource types for the operation")        \
    ERROR(cudaErrorInvalidResourceConfiguration, 915,                                              \
          "one or more resources are insufficient or non-applicable for the operation")            \
    ERROR(cudaErrorUnknown, 999, "unknown error")                                                  \
    ERROR(cudaErrorApiFailureBase, 10000, "api failure base")

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
