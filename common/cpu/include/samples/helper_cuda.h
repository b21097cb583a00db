// What NVIDIA's samples include to check calls and to choose a device; used where the samples' own header is not given
// with -I. Written for CPU mode: the same names, as far as sources use them.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "../cuda_runtime.h"
#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
inline int ftoi(float value) { return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f); }

inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
template <class Status>
const char* _cudaGetErrorEnum(Status) {
    return "a library's status";
}

template <class Status>
void check(Status status, const char* call, const char* file, int line) {
    if (static_cast<int>(status) == 0) return;
    std::fprintf(stderr, "%s:%d: `%s` failed: %s (%d)\n", file, line, call,
                 _cudaGetErrorEnum(status), static_cast<int>(status));
    std::exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline void __getLastCudaError(const char* message, const char* file, int line) {
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "%s:%d: %s: %s (%d)\n", file, line, message, cudaGetErrorString(error),
                 static_cast<int>(error));
    std::exit(EXIT_FAILURE);
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
inline void __printLastCudaError(const char* message, const char* file, int line) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        std::fprintf(stderr, "%s:%d: %s: %s\n", file, line, message, cudaGetErrorString(error));
}
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

// Units for FP32 on a multiprocessor, by the compute capability (Programming Guide, arithmetic throughput).
inline int _ConvertSMVer2Cores(int major, int minor) {
    if (major == 3) return 192;
    if (major == 6 && minor == 0) return 64;
    if (major == 7 || (major == 8 && minor == 0)) return 64;
    return 128;
}
inline const char* _ConvertSMVer2ArchName(int major, int minor) {
    switch (major) {
        case 3:
            return "Kepler";
        case 5:
            return "Maxwell";
        case 6:
            return "Pascal";
        case 7:
            return minor == 5 ? "Turing" : "Volta";
        case 8:
            return minor == 9 ? "Ada" : "Ampere";
        case 9:
            return "Hopper";
        default:
            return "Blackwell";
    }
}

// Makes a device current and returns it; ends the program if there is none of this number.
inline int gpuDeviceInit(int device) {
    checkCudaErrors(cudaSetDevice(device < 0 ? 0 : device));
    return device < 0 ? 0 : device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int findCudaDevice(int argc, const char** argv) {
    const int device = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device"));
    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, device));
    std::printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", device,
                _ConvertSMVer2ArchName(properties.major, properties.minor), properties.major,
                properties.minor);
    return device;
}
// The first device that shares its memory with the host; the pretend ones do not.
inline int findIntegratedGPU() {
    std::fprintf(stderr, "no device of this machine is an integrated one\n");
    std::exit(EXIT_FAILURE);
}
inline bool checkCudaCapabilities(int major, int minor) {
    int device = 0;
    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaGetDeviceProperties(&properties, device));
    return properties.major > major || (properties.major == major && properties.minor >= minor);
}
