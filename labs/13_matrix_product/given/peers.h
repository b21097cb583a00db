// The libraries that make bench compares with: cuBLAS, and OpenBLAS on the host, where they are found.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "input.h"
#include "launch.h"
#include "reference.h"

#if defined(LAB_BENCH) && defined(LAB_PEERS) && __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#define WITH_CUBLAS
#endif
#if defined(LAB_BENCH) && defined(LAB_HOST_PEERS) && __has_include(<cblas.h>)
#include <cblas.h>
#define WITH_OPENBLAS
#endif

// cuBLAS counts columns first: what it takes for a is the transposed matrix that lies there, and so
// b's transpose times a's is asked for, which is c's.
#ifdef WITH_CUBLAS
inline void check_cublas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) lab::fail("cuBLAS failed with status %d", int(status));
}

struct CublasHandle {
    cublasHandle_t handle;
    CublasHandle() { check_cublas(cublasCreate(&handle)); }
};

inline cublasHandle_t cublas_handle() {
    static const CublasHandle cublas;  // takes a while to make, so it is made once
    return cublas.handle;
}

template <class T>
lab::Launch launch_cublas(const Product<T>& product) {
    const T one = 1, zero = 0;
    const int m = product.m, n = product.n, k = product.k;
    const auto multiply = [&](auto gemm) {
        check_cublas(gemm(cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, product.b, n,
                          product.a, std::max(k, 1), &zero, product.c, n));
    };
    if constexpr (is_float<T>) {
        multiply(cublasSgemm);
    } else {
        multiply(cublasDgemm);
    }
    return {};
}
#endif

#ifdef WITH_OPENBLAS
template <class T>
void run_openblas(const Input<T>& input, std::vector<T>& c, const Reference& reference,
                  lab::Study& study) {
    const lab::NvtxRange range("openblas");
    const int m = int(reference.m), n = int(reference.n), k = int(reference.k);
    const auto multiply = [&](auto gemm) {
        gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, T(1), input.a.values.data(),
             std::max(k, 1), input.b.values.data(), n, T(0), c.data(), n);
    };
    std::vector<double> times;
    std::fill(c.begin(), c.end(), T(NAN));  // another variant's result may lie there
    for (int run = 0; run < 4; run++) {     // the first one is not counted
        const lab::HostTimer clock;
        if constexpr (is_float<T>) {
            multiply(cblas_sgemm);
        } else {
            multiply(cblas_dgemm);
        }
        times.push_back(clock.milliseconds());
    }
    std::sort(times.begin() + 1, times.end());
    const double operations = 2.0 * m * n * k;
    study.add("openblas", dim3(0), dim3(0), times[2], 0, operations, judge(c.data(), reference));
}
#endif

// The variants of this build: those given, and the peers.
inline std::vector<std::string> with_peers(std::vector<std::string> names) {
#ifdef WITH_CUBLAS
    names.push_back("cublas");
#endif
#ifdef WITH_OPENBLAS
    names.push_back("openblas");
#endif
    return names;
}

// What --without may name: a peer also where this build does not have it.
inline std::vector<std::string> names_with_peers(std::vector<std::string> names) {
    names.insert(names.end(), {"cublas", "openblas"});
    return names;
}
