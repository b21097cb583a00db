// What the programs runtime_*.cu share: expectations that hold on the CPU and on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

// Not by the macro of an architecture: in CPU mode that would have each program read twice, and no header precompiled.
#ifdef CUDA_ON_CPU
#define EXPECT_NO_MORE std::fflush(stdout), std::_Exit(1);
#else
#include <nv/target>
#define EXPECT_NO_MORE \
    NV_IF_ELSE_TARGET(NV_IS_DEVICE, (__trap();), (std::fflush(stdout); std::_Exit(1);))
#endif

__host__ __device__ inline void expectation_failed(const char* condition, const char* file,
                                                   int line) {
    printf("%s:%d: expected %s\n", file, line, condition);
    EXPECT_NO_MORE
}

// In host and in device code: says file, line and condition and ends the program with status 1.
#define EXPECT(...) \
    ((__VA_ARGS__) ? static_cast<void>(0) : expectation_failed(#__VA_ARGS__, __FILE__, __LINE__))

// A call that must succeed, and one that must fail with this error, which is then cleared.
#define SUCCEEDS(...) EXPECT((__VA_ARGS__) == cudaSuccess)
#define FAILS(error, ...) (EXPECT((__VA_ARGS__) == (error)), EXPECT(cudaGetLastError() == (error)))

// Whether this is what a launch of an impossible shape gives; CUDA 13 has another name for it.
inline bool is_bad_shape(cudaError_t error) {
#ifndef CUDA_ON_CPU
    if (CUDART_VERSION >= 13000) return error == cudaErrorInvalidValue;
#endif
    return error == cudaErrorInvalidConfiguration;
}

// After a launch: it was accepted, and what it started comes to a good end.
inline void expect_run(const char* file, int line) {
    const cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    if (launched == cudaSuccess && ran == cudaSuccess) return;
    expectation_failed(cudaGetErrorString(launched != cudaSuccess ? launched : ran), file, line);
}
#define EXPECT_RUN() expect_run(__FILE__, __LINE__)

// Device memory that holds `count` zeros.
template <class T>
T* zeros(int count) {
    T* values = nullptr;
    SUCCEEDS(cudaMalloc(&values, count * sizeof(T)));
    SUCCEEDS(cudaMemset(values, 0, count * sizeof(T)));
    return values;
}

// One value of device memory.
template <class T>
T read_back(const T* value) {
    T result;
    SUCCEEDS(cudaMemcpy(&result, value, sizeof(T), cudaMemcpyDeviceToHost));
    return result;
}
