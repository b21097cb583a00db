// cuSOLVER's dense part on a LAPACK of the system: columns first, as both have it. A call works in the memory that
// its bufferSize has asked for, as far as LAPACK needs any.
#pragma once

#include "cusolver_common.h"

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};
using cusolverDnHandle_t = cusolverDnContext*;

inline cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
    int device;
    if (cudaGetDevice(&device) != cudaSuccess) return CUSOLVER_STATUS_NOT_INITIALIZED;
    *handle = new cusolverDnContext;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
    delete handle;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUSOLVER_STATUS_SUCCESS;
}

namespace cuda_cpu {

class SolverCall : public LibraryCall {
 public:
    SolverCall(const char* name, cusolverDnHandle_t handle)
        : LibraryCall(name, handle != nullptr ? handle->stream : nullptr),
          has_handle_(handle != nullptr) {}

    template <class T>
    void work(T* start, int count, int least) {
        expect(count >= least);
        vector("the workspace", start, count, 1, Use::written);
    }
    void info(int* start) { vector("info", start, 1, 1, Use::written); }
    cusolverStatus_t status() const {
        if (!has_handle_) return CUSOLVER_STATUS_NOT_INITIALIZED;
        return is_valid() ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
    }
    cusolverStatus_t join(std::function<void()> work) const {
        if (status() != CUSOLVER_STATUS_SUCCESS) return status();
        return run(std::move(work)) == cudaSuccess ? CUSOLVER_STATUS_SUCCESS
                                                   : CUSOLVER_STATUS_EXECUTION_FAILED;
    }
    template <class T, class... Arguments>
    cusolverStatus_t routine(const char* routine, Arguments... arguments) const {
        if (status() != CUSOLVER_STATUS_SUCCESS) return status();
        void* const lapack = fortran_function<T>(Library::lapack, routine, function());
        return join([=] { call_fortran(lapack, arguments...); });
    }

 private:
    bool has_handle_;
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

// ---------------------------------------------------------------- A = P L U, A = L L^T and what they solve
template <class T>
struct GetrfLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, int m, int n, T*, int leading,
                                int* length) const {
        *length = std::max(1, m) * std::max(1, n);
        return m < 0 || n < 0 || leading < std::max(1, m) ? CUSOLVER_STATUS_INVALID_VALUE
                                                          : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct Getrf : Named {  // without pivots no rows are exchanged
    cusolverStatus_t operator()(cusolverDnHandle_t handle, int m, int n, T* A, int leading, T*,
                                int* pivots, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, m, n, leading, Use::written);
        call.info(info);
        if (pivots == nullptr) {
            call.expect(m == n);
            return call.join([=] { *info = factorise_in_order(A, n, leading); });
        }
        call.vector("the pivots", pivots, std::min(m, n), 1, Use::written);
        return call.routine<T>("getrf", m, n, A, leading, pivots, info);
    }
};
template <class T>
struct Getrs : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasOperation_t operation, int n,
                                int columns, const T* A, int leading_A, const int* pivots, T* B,
                                int leading_B, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, n, n, leading_A, Use::read);
        call.matrix("B", B, n, columns, leading_B, Use::written);
        call.info(info);
        if (pivots != nullptr) call.vector("the pivots", pivots, n, 1, Use::read);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "getrs", name);
        return call.join([=] {
            std::vector<int> in_order(static_cast<size_t>(n));
            for (int i = 0; i < n; ++i) in_order[static_cast<size_t>(i)] = i + 1;
            call_fortran(lapack, letter(operation), n, columns, A, leading_A,
                         pivots != nullptr ? pivots : in_order.data(), B, leading_B, info);
        });
    }
};
template <class T>
struct PotrfLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cublasFillMode_t, int n, T*, int leading,
                                int* length) const {
        *length = std::max(1, n);
        return n < 0 || leading < std::max(1, n) ? CUSOLVER_STATUS_INVALID_VALUE
                                                 : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct Potrf : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* A,
                                int leading, T* work, int length, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, n, n, leading, Use::written);
        call.work(work, length, std::max(1, n));
        call.info(info);
        return call.routine<T>("potrf", letter(fill), n, A, leading, info);
    }
};
template <class T>
struct Potrs : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                                int columns, const T* A, int leading_A, T* B, int leading_B,
                                int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, n, n, leading_A, Use::read);
        call.matrix("B", B, n, columns, leading_B, Use::written);
        call.info(info);
        return call.routine<T>("potrs", letter(fill), n, columns, A, leading_A, B, leading_B, info);
    }
};
template <class T>
using PotriLength = PotrfLength<T>;
template <class T>
struct Potri : Named {  // the inverse from L L^T
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* A,
                                int leading, T* work, int length, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, n, n, leading, Use::written);
        call.work(work, length, std::max(1, n));
        call.info(info);
        return call.routine<T>("potri", letter(fill), n, A, leading, info);
    }
};

// ---------------------------------------------------------------- A = Q R
template <class T>
struct GeqrfLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, int m, int n, T* A, int leading,
                                int* length) const {
        return ask_length<T>(name, "geqrf", length, m, n, A, leading, A);
    }
};
template <class T>
struct Geqrf : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, int m, int n, T* A, int leading,
                                T* factors, T* work, int length, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, m, n, leading, Use::written);
        call.vector("tau", factors, std::min(m, n), 1, Use::written);
        call.work(work, length, std::max(1, n));
        call.info(info);
        return call.routine<T>("geqrf", m, n, A, leading, factors, work, length, info);
    }
};
template <class T>
struct OrgqrLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, int m, int n, int k, const T* A, int leading,
                                const T* factors, int* length) const {
        return ask_length<T>(name, is_complex<T> ? "ungqr" : "orgqr", length, m, n, k, A, leading,
                             factors);
    }
};
template <class T>
struct Orgqr : Named {  // Q as a matrix
    cusolverStatus_t operator()(cusolverDnHandle_t handle, int m, int n, int k, T* A, int leading,
                                const T* factors, T* work, int length, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, m, n, leading, Use::written);
        call.vector("tau", factors, k, 1, Use::read);
        call.work(work, length, std::max(1, n));
        call.info(info);
        return call.routine<T>(is_complex<T> ? "ungqr" : "orgqr", m, n, k, A, leading, factors,
                               work, length, info);
    }
};
template <class T>
struct OrmqrLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cublasSideMode_t side,
                                cublasOperation_t operation, int m, int n, int k, const T* A,
                                int leading_A, const T* factors, const T* C, int leading_C,
                                int* length) const {
        return ask_length<T>(name, is_complex<T> ? "unmqr" : "ormqr", length, letter(side),
                             letter(operation), m, n, k, A, leading_A, factors, C, leading_C);
    }
};
template <class T>
struct Ormqr : Named {  // C = op(Q) C, or C op(Q)
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasSideMode_t side,
                                cublasOperation_t operation, int m, int n, int k, const T* A,
                                int leading_A, const T* factors, T* C, int leading_C, T* work,
                                int length, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, side == CUBLAS_SIDE_LEFT ? m : n, k, leading_A, Use::read);
        call.vector("tau", factors, k, 1, Use::read);
        call.matrix("C", C, m, n, leading_C, Use::written);
        call.work(work, length, std::max(1, side == CUBLAS_SIDE_LEFT ? n : m));
        call.info(info);
        return call.routine<T>(is_complex<T> ? "unmqr" : "ormqr", letter(side), letter(operation),
                               m, n, k, A, leading_A, factors, C, leading_C, work, length, info);
    }
};

// ---------------------------------------------------------------- eigenvalues and singular values
// What LAPACK's syevd and heevd need beside the numbers of the call's own workspace.
struct EigenLengths {
    int of_numbers, of_reals, of_integers;
};
inline EigenLengths eigen_lengths(bool vectors, bool of_complex, int n) {
    if (n <= 1) return {1, 1, 1};
    const int square = n * n;
    if (of_complex)
        return {vectors ? 2 * n + square : n + 1, vectors ? 1 + 5 * n + 2 * square : n,
                vectors ? 3 + 5 * n : 1};
    return {vectors ? 1 + 6 * n + 2 * square : 2 * n + 1, 0, vectors ? 3 + 5 * n : 1};
}
template <class T>
struct SyevdLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t mode, cublasFillMode_t, int n,
                                const T*, int leading, const RealOf<T>*, int* length) const {
        *length = eigen_lengths(mode == CUSOLVER_EIG_MODE_VECTOR, is_complex<T>, n).of_numbers;
        return n < 0 || leading < std::max(1, n) ? CUSOLVER_STATUS_INVALID_VALUE
                                                 : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct Syevd : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                                cublasFillMode_t fill, int n, T* A, int leading, RealOf<T>* values,
                                T* work, int length, int* info) const {
        const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
        const EigenLengths lengths = eigen_lengths(vectors, is_complex<T>, n);
        SolverCall call(name, handle);
        call.matrix("A", A, n, n, leading, Use::written);
        call.vector("W", values, n, 1, Use::written);
        call.work(work, length, lengths.of_numbers);
        call.info(info);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack =
            fortran_function<T>(Library::lapack, is_complex<T> ? "heevd" : "syevd", name);
        const char job = vectors ? 'V' : 'N';
        return call.join([=] {
            std::vector<int> integers(static_cast<size_t>(lengths.of_integers));
            if constexpr (is_complex<T>) {
                std::vector<RealOf<T>> reals(static_cast<size_t>(lengths.of_reals));
                call_fortran(lapack, job, letter(fill), n, A, leading, values, work, length,
                             reals.data(), lengths.of_reals, integers.data(), lengths.of_integers,
                             info);
            } else {
                call_fortran(lapack, job, letter(fill), n, A, leading, values, work, length,
                             integers.data(), lengths.of_integers, info);
            }
        });
    }
};
template <class T>
struct GesvdLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, int m, int n, int* length) const {
        *length = std::max({1, 3 * std::min(m, n) + std::max(m, n), 5 * std::min(m, n)});
        return m < n ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct Gesvd : Named {  // of matrices with at least as many rows as columns, as cuSOLVER has it
    cusolverStatus_t operator()(cusolverDnHandle_t handle, signed char job_U, signed char job_VT,
                                int m, int n, T* A, int leading_A, RealOf<T>* values, T* U,
                                int leading_U, T* VT, int leading_VT, T* work, int length,
                                RealOf<T>*, int* info) const {
        SolverCall call(name, handle);
        call.expect(m >= n);
        call.matrix("A", A, m, n, leading_A, Use::written);
        call.vector("S", values, n, 1, Use::written);
        if (job_U == 'A' || job_U == 'S')
            call.matrix("U", U, m, job_U == 'A' ? m : n, leading_U, Use::written);
        if (job_VT == 'A' || job_VT == 'S') call.matrix("VT", VT, n, n, leading_VT, Use::written);
        call.work(work, length, std::max({1, 3 * n + m, 5 * n}));
        call.info(info);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "gesvd", name);
        const char of_U = static_cast<char>(job_U), of_VT = static_cast<char>(job_VT);
        return call.join([=] {
            if constexpr (is_complex<T>) {
                std::vector<RealOf<T>> reals(static_cast<size_t>(5 * n) + 1);
                call_fortran(lapack, of_U, of_VT, m, n, A, leading_A, values, U, leading_U, VT,
                             leading_VT, work, length, reals.data(), info);
            } else {
                call_fortran(lapack, of_U, of_VT, m, n, A, leading_A, values, U, leading_U, VT,
                             leading_VT, work, length, info);
            }
        });
    }
};

}  // namespace cuda_cpu

#define CUDA_CPU_SOLVER_NAME(Function, letter, T, name) \
    inline constexpr cuda_cpu::Function<T> cusolverDn##letter##name{{"cusolverDn" #letter #name}};
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
CUDA_CPU_SOLVER(Getrf, getrf)
CUDA_CPU_SOLVER(Potrf, potrf)
CUDA_CPU_SOLVER(Potri, potri)
CUDA_CPU_SOLVER(Geqrf, geqrf)
CUDA_CPU_SOLVER_REAL(Orgqr, orgqr)
CUDA_CPU_SOLVER_COMPLEX(Orgqr, ungqr)
CUDA_CPU_SOLVER_REAL(Ormqr, ormqr)
CUDA_CPU_SOLVER_COMPLEX(Ormqr, unmqr)
CUDA_CPU_SOLVER_REAL(Syevd, syevd)
CUDA_CPU_SOLVER_COMPLEX(Syevd, heevd)
CUDA_CPU_SOLVER(Gesvd, gesvd)
CUDA_CPU_SOLVER_NAME(Getrs, S, float, getrs)
CUDA_CPU_SOLVER_NAME(Getrs, D, double, getrs)
CUDA_CPU_SOLVER_NAME(Getrs, C, cuComplex, getrs)
CUDA_CPU_SOLVER_NAME(Getrs, Z, cuDoubleComplex, getrs)
CUDA_CPU_SOLVER_NAME(Potrs, S, float, potrs)
CUDA_CPU_SOLVER_NAME(Potrs, D, double, potrs)
CUDA_CPU_SOLVER_NAME(Potrs, C, cuComplex, potrs)
CUDA_CPU_SOLVER_NAME(Potrs, Z, cuDoubleComplex, potrs)
#undef CUDA_CPU_SOLVER
#undef CUDA_CPU_SOLVER_REAL
#undef CUDA_CPU_SOLVER_COMPLEX
#undef CUDA_CPU_SOLVER_NAME
