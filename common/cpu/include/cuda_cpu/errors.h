// The errors of CUDA, with its names, values and sentences.
#pragma once

#define CUDA_CPU_ERRORS(ERROR)                                                                     \
    ERROR(cudaSuccess, 0, "no error")                                                              \
    ERROR(cudaErrorInvalidValue, 1, "invalid argument")                                            \
    ERROR(cudaErrorMemoryAllocation, 2, "out of memory")                                           \
    ERROR(cudaErrorInitializationError, 3, "initialization error")                                 \
    ERROR(cudaErrorCudartUnloading, 4, "driver shutting down")                                     \
    ERROR(cudaErrorProfilerDisabled, 5, "profiler disabled while using external profiling tool")   \
    ERROR(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                      \
    ERROR(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                \
    ERROR(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                     \
    ERROR(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                             \
    ERROR(cudaErrorInvalidTexture, 18, "invalid texture reference")                                \
    ERROR(cudaErrorInvalidTextureBinding, 19, "texture is not bound to a pointer")                 \
    ERROR(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                     \
    ERROR(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                \
    ERROR(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")  \
    ERROR(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for data type") \
    ERROR(cudaErrorInsufficientDriver, 35,                                                         \
          "CUDA driver version is insufficient for CUDA runtime version")                          \
    ERROR(cudaErrorDuplicateVariableName, 43,                                                      \
          "duplicate global variable looked up by string name")                                    \
    ERROR(cudaErrorDuplicateTextureName, 44, "duplicate texture looked up by string name")         \
    ERROR(cudaErrorDuplicateSurfaceName, 45, "duplicate surface looked up by string name")         \
    ERROR(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")    \
    ERROR(cudaErrorIncompatibleDriverContext, 49, "incompatible driver context")                   \
    ERROR(cudaErrorMissingConfiguration, 52, "__global__ function call is not configured")         \
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
    ERROR(cudaErrorStartupFailure, 127, "startup failure in cuda runtime")                         \
    ERROR(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                      \
    ERROR(cudaErrorMapBufferObjectFailed, 205, "mapping of buffer object failed")                  \
    ERROR(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of buffer object failed")              \
    ERROR(cudaErrorNoKernelImageForDevice, 209,                                                    \
          "no kernel image is available for execution on the device")                              \
    ERROR(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error encountered")                   \
    ERROR(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")           \
    ERROR(cudaErrorDeviceAlreadyInUse, 216,                                                        \
          "exclusive-thread device already in use by a different thread")                          \
    ERROR(cudaErrorPeerAccessUnsupported, 217,                                                     \
          "peer access is not supported between these two devices")                                \
    ERROR(cudaErrorUnsupportedPtxVersion, 222,                                                     \
          "the provided PTX was compiled with an unsupported toolchain.")                          \
    ERROR(cudaErrorSharedObjectSymbolNotFound, 302, "shared object symbol not found")              \
    ERROR(cudaErrorSharedObjectInitFailed, 303, "shared object initialization failed")             \
    ERROR(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")   \
    ERROR(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                          \
    ERROR(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")    \
    ERROR(cudaErrorNotReady, 600, "device not ready")                                              \
    ERROR(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                \
    ERROR(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")           \
    ERROR(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                  \
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
    ERROR(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")              \
    ERROR(cudaErrorMisalignedAddress, 716, "misaligned address")                                   \
    ERROR(cudaErrorLaunchFailure, 719, "unspecified launch failure")                               \
    ERROR(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")        \
    ERROR(cudaErrorNotPermitted, 800, "operation not permitted")                                   \
    ERROR(cudaErrorNotSupported, 801, "operation not supported")                                   \
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
    ERROR(cudaErrorGraphExecUpdateFailure, 910,                                                    \
          "the graph update was not performed because it included changes which violated "         \
          "constraints specific to instantiated graph update")                                     \
    ERROR(cudaErrorInvalidClusterSize, 912, "cluster misconfiguration")                            \
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
