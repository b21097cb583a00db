// cuSOLVER: A = P L U, A = L L^T, A = L D L^T, A = Q R, what they solve, inverses.
#pragma once

#include "solver_handle.h"

namespace cuda_cpu {

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

template <class T>
struct SytrfLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, int n, T*, int leading, int* length) const {
        *length = std::max(1, n) * 32;
        return n < 0 || leading < std::max(1, n) ? CUSOLVER_STATUS_INVALID_VALUE
                                                 : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct Sytrf : Named {  // A = L D L^T with pivots (Bunch and Kaufman)
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasFillMode_t fill, int n, T* A,
                                int leading, int* pivots, T* work, int length, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, n, n, leading, Use::written);
        call.vector("the pivots", pivots, n, 1, Use::written);
        call.work(work, length, std::max(1, n));
        call.info(info);
        return call.routine<T>("sytrf", letter(fill), n, A, leading, pivots, work, length, info);
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

}  // namespace cuda_cpu

CUDA_CPU_SOLVER(Getrf, getrf)
CUDA_CPU_SOLVER(Potrf, potrf)
CUDA_CPU_SOLVER(Potri, potri)
CUDA_CPU_SOLVER(Sytrf, sytrf)
CUDA_CPU_SOLVER(Geqrf, geqrf)
CUDA_CPU_SOLVER_REAL(Orgqr, orgqr)
CUDA_CPU_SOLVER_COMPLEX(Orgqr, ungqr)
CUDA_CPU_SOLVER_REAL(Ormqr, ormqr)
CUDA_CPU_SOLVER_COMPLEX(Ormqr, unmqr)
CUDA_CPU_SOLVER_ALONE(Getrs, getrs)
CUDA_CPU_SOLVER_ALONE(Potrs, potrs)
