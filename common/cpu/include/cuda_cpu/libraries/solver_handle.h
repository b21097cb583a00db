// cuSOLVER's dense part: its handles and calls, and LAPACK behind them.
#pragma once

#include "../../cusolver_common.h"

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};
using cusolverDnHandle_t = cusolverDnContext*;
CUDA_CPU_HANDLES(cusolverDn, cusolverDnHandle_t, cusolverDnContext, cusolverStatus_t,
                 CUSOLVER_STATUS_INTERNAL_ERROR, all)

namespace cuda_cpu {

using SolverCallBase = HandleCall<cusolverDnHandle_t, cusolverStatus_t,
                                  CUSOLVER_STATUS_INVALID_VALUE, CUSOLVER_STATUS_EXECUTION_FAILED>;
class SolverCall : public SolverCallBase {
 public:
    using SolverCallBase::SolverCallBase;
    template <class T>
    void work(T* start, long long count, long long least) {
        expect(count >= least);
        vector("the workspace", start, count, 1, Use::written);
    }
    void info(int* start) { vector("info", start, 1, 1, Use::written); }
    template <class T, class... Arguments>
    cusolverStatus_t routine(const char* routine, Arguments... arguments) const {
        if (status() != CUSOLVER_STATUS_SUCCESS) return status();
        void* const lapack = fortran_function<T>(Library::lapack, routine, function());
        return join([=] { call_fortran(lapack, arguments...); });
    }
};

// How many numbers a routine of LAPACK wants to work in: asked by a length of -1, the last arguments but info.
template <class T, class... Arguments>
cusolverStatus_t ask_length(const char* name, const char* routine, int* length,
                            Arguments... arguments) {
    T best{};
    int info = 0;
    call_fortran(fortran_function<T>(Library::lapack, routine, name), arguments..., &best, -1,
                 &info);
    if constexpr (is_complex<T>) {
        *length = static_cast<int>(best.x);
    } else {
        *length = static_cast<int>(best);
    }
    return info == 0 ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

}  // namespace cuda_cpu

// Names for a function object of cuSOLVER in each type of numbers, and for the one that tells how much it works in.
#define CUDA_CPU_SOLVER_NAME(Function, letter, T, name) \
    inline constexpr cuda_cpu::Function<T> cusolverDn##letter##name{{"cusolverDn" #letter #name}};
#define CUDA_CPU_SOLVER_ALONE(Function, name)          \
    CUDA_CPU_SOLVER_NAME(Function, S, float, name)     \
    CUDA_CPU_SOLVER_NAME(Function, D, double, name)    \
    CUDA_CPU_SOLVER_NAME(Function, C, cuComplex, name) \
    CUDA_CPU_SOLVER_NAME(Function, Z, cuDoubleComplex, name)
#define CUDA_CPU_SOLVER_REAL(Function, name)                            \
    CUDA_CPU_SOLVER_NAME(Function, S, float, name)                      \
    CUDA_CPU_SOLVER_NAME(Function, D, double, name)                     \
    CUDA_CPU_SOLVER_NAME(Function##Length, S, float, name##_bufferSize) \
    CUDA_CPU_SOLVER_NAME(Function##Length, D, double, name##_bufferSize)
#define CUDA_CPU_SOLVER_COMPLEX(Function, name)                             \
    CUDA_CPU_SOLVER_NAME(Function, C, cuComplex, name)                      \
    CUDA_CPU_SOLVER_NAME(Function, Z, cuDoubleComplex, name)                \
    CUDA_CPU_SOLVER_NAME(Function##Length, C, cuComplex, name##_bufferSize) \
    CUDA_CPU_SOLVER_NAME(Function##Length, Z, cuDoubleComplex, name##_bufferSize)
#define CUDA_CPU_SOLVER(Function, name) \
    CUDA_CPU_SOLVER_REAL(Function, name) CUDA_CPU_SOLVER_COMPLEX(Function, name)
