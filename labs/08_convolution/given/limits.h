// What a variant cannot do, what would take it too long, and what the card allows. The page that
// includes this has Sizes and the launchers.
#pragma once

#include <string>

#include "../../../common/lab.h"

// Why a variant cannot run with these sizes, or "".
inline std::string too_long_for_constant(int64_t elements) {
    if (elements <= constant_floats) return "";
    return lab::format("constant memory has 64 KiB, %d floats, and %lld are needed",
                       constant_floats, static_cast<long long>(elements));
}

inline std::string problem_of_constant(const Sizes& s, dim3) {
    return too_long_for_constant(int64_t{s.filter_height} * s.filter_width);
}

inline std::string problem_of_tiled(const Sizes& s, dim3 block) {
    const std::string problem = problem_of_constant(s, block);
    if (!problem.empty() || tile_bytes(s, block) <= shared_bytes_of_block) return problem;
    return "with its halo, the tile of a block is larger than 48 KiB of shared memory";
}

inline std::string problem_of_separable(const Sizes& s, dim3) {
    return too_long_for_constant(int64_t{s.filter_height} + s.filter_width);
}

inline std::string problem_of_rolling(const Sizes& s, dim3) {
    if (s.filter_height != s.filter_width || s.filter_width < 3 || s.filter_width > 7) {
        return "it is compiled for the sizes 3 x 3, 5 x 5 and 7 x 7";
    }
    return s.stride == 1 ? "" : "it needs --stride 1: neighbouring windows must overlap";
}

inline std::string no_problem(const Sizes&, dim3) { return ""; }

// GFLOP/s that the device can reach at best: two operations a clock in each FP32 unit. 0 on the CPU.
inline double peak_arithmetic() {
    int device = 0, major = 0, minor = 0, multiprocessors = 0, kilohertz = 0;
    if (lab::on_cpu) return 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device) != cudaSuccess) return 0;
    const int units = major < 8 || (major == 8 && minor == 0) ? 64 : 128;  // in a multiprocessor
    return 2e-6 * units * multiprocessors * kilohertz;
}

// The least time that the memory and the arithmetic allow, whatever the kernel.
inline void note_limits(lab::Study& study, double bytes, double operations, double bandwidth) {
    const double peak = peak_arithmetic();
    if (peak == 0 || bandwidth == 0) return;
    study.note(
        lab::format("the least time: %.4f ms for the memory, as a copy; %.4f ms for the direct "
                    "sum's arithmetic, at %.1f TFLOP/s",
                    1e-6 * bytes / bandwidth, 1e-6 * operations / peak, 1e-3 * peak));
}

inline bool takes_factors(const std::string& name) { return name.rfind("separable", 0) == 0; }

inline double operations_of(const std::string& name, const Sizes& s) {
    const double outputs = double(s.out_height) * s.out_width;
    if (!takes_factors(name)) return 2.0 * s.filter_height * s.filter_width * outputs;
    return 2.0 * s.filter_width * s.height * s.out_width + 2.0 * s.filter_height * outputs;
}

// Why a variant is left out when it has not been asked for by name, or "".
inline std::string takes_too_long(const std::string& name, const Sizes& s, int64_t planes) {
    constexpr double most_products = lab::on_cpu ? 1e8 : 2e13;  // beyond: many seconds
    const double products = planes * operations_of(name, s) / 2;
    if (products <= most_products) return "";
    return lab::format("would make %.1e products; ask for it with --variant %s", products,
                       name.c_str());
}
