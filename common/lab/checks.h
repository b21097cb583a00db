// CUDA calls that may fail, and the names that a profiler sees (docs/profiling.md).
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cuda_runtime.h>
#include <errno.h>

// Names for the profilers; CPU mode has none. Headers only: nothing is linked.
#if !defined(CUDA_ON_CPU) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define LAB_NVTX
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace lab {

// True when the program was built for the CPU (see docs/), false for a GPU.
#ifdef CUDA_ON_CPU
inline constexpr bool on_cpu = true;
#else
inline constexpr bool on_cpu = false;
#endif

// True where the program has the variants of its lab's folder further/ (FURTHER=1). CPU mode precompiles this header for
// programs with them and without, and its compile.sh gives each program the answer.
#ifdef LAB_COMPILED
extern "C" const bool lab_with_further;
inline const bool& with_further = lab_with_further;
#elif defined(LAB_FURTHER)
constexpr bool with_further = true;
#else
constexpr bool with_further = false;
#endif

// The smallest whole number of groups of `divisor` that hold `value` things; both are >= 0.
__host__ __device__ constexpr int64_t divide_up(int64_t value, int64_t divisor) {
    return value / divisor + (value % divisor != 0);
}

// From here to the end of its scope the host's time has a name, on the time line of Nsight Systems
// and beside the kernels of Nsight Compute; ranges nest. Without a profiler it costs nanoseconds.
class NvtxRange {
 public:
#ifdef LAB_NVTX
    explicit NvtxRange(const char* name) : named_(name) {
        if (named_) nvtxRangePushA(name);
    }
    ~NvtxRange() {
        if (named_) nvtxRangePop();
    }
#else
    explicit NvtxRange(const char*) {}
    ~NvtxRange() {}
#endif
    explicit NvtxRange(const std::string& name) : NvtxRange(name.c_str()) {}
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;

#ifdef LAB_NVTX
 private:
    bool named_;
#endif
};

// What a CUDA call is called there, by its text: "upload", "download", or nullptr for no range.
inline const char* range_of_call(const char* call) {
    if (std::strncmp(call, "cudaMemcpy", 10) != 0) return nullptr;  // all that most calls cost
    if (std::strstr(call, "DeviceToHost")) return "download";
    if (std::strstr(call, "DeviceToDevice")) return nullptr;
    return "upload";
}

inline void check(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: `%s` failed: %s: %s\n", file, line, call, cudaGetErrorName(status),
                 cudaGetErrorString(status));
    std::exit(1);
}

// Evaluates the call once; says where and why it failed, and exits with status 1. A copy is a range
// of its own.
#define CHECK(...)                                                                      \
    ::lab::check((::lab::NvtxRange(::lab::range_of_call(#__VA_ARGS__)), (__VA_ARGS__)), \
                 #__VA_ARGS__, __FILE__, __LINE__)

// Stands after a launch, which returns nothing itself. A kernel that goes wrong while it runs shows
// only at a later call; a debug build waits for it here, so that the line is the right one.
#ifdef LAB_DEBUG
#define CHECK_LAUNCH() (CHECK(cudaGetLastError()), CHECK(cudaDeviceSynchronize()))
#else
#define CHECK_LAUNCH() CHECK(cudaGetLastError())
#endif

}  // namespace lab
