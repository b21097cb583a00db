// cuSOLVER: singular values, all by LAPACK's gesvd: also where cuSOLVER has the method of Jacobi (gesvdj) or the eigenvalues of
// A^H A (gesvda).
#pragma once

#include "solver_eigen.h"

// What is set for the method of Jacobi, and the residual, as for eigenvalues.
struct gesvdjInfo : syevjInfo {};
using gesvdjInfo_t = gesvdjInfo*;
inline cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) {
    *info = new gesvdjInfo;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info) {
    delete info;
    return CUSOLVER_STATUS_SUCCESS;
}
inline constexpr auto cusolverDnXgesvdjSetTolerance = cusolverDnXsyevjSetTolerance;
inline constexpr auto cusolverDnXgesvdjSetMaxSweeps = cusolverDnXsyevjSetMaxSweeps;
inline constexpr auto cusolverDnXgesvdjSetSortEig = cusolverDnXsyevjSetSortEig;
inline constexpr auto cusolverDnXgesvdjGetResidual = cusolverDnXsyevjGetResidual;
inline constexpr auto cusolverDnXgesvdjGetSweeps = cusolverDnXsyevjGetSweeps;

namespace cuda_cpu {

template <class T>
class Singular {
 public:
    explicit Singular(const char* asked_by)
        : lapack_(fortran_function<T>(Library::lapack, "gesvd", asked_by)) {}
    int operator()(char job_U, char job_VT, int m, int n, T* A, int leading_A, RealOf<T>* values,
                   T* U, int leading_U, T* VT, int leading_VT) const {
        const int least = std::max({1, 3 * std::min(m, n) + std::max(m, n), 5 * std::min(m, n)});
        std::vector<T> work(static_cast<size_t>(least));
        std::vector<RealOf<T>> reals(static_cast<size_t>(5 * std::min(m, n)) + 1);
        int info = 0;
        const auto routine = [&](auto... rest) {
            call_fortran(lapack_, job_U, job_VT, m, n, A, leading_A, values, U,
                         std::max(1, leading_U), VT, std::max(1, leading_VT), work.data(), least,
                         rest...);
        };
        if constexpr (is_complex<T>) {
            routine(reals.data(), &info);
        } else {
            routine(&info);
        }
        return info;
    }

 private:
    void* lapack_;
};

template <class T>
struct GesvdLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, int m, int n, int* length) const {
        *length = std::max({1, 3 * std::min(m, n) + std::max(m, n), 5 * std::min(m, n)});
        return m < n ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_SUCCESS;
    }
};
// Of matrices with at least as many rows as columns, as cuSOLVER has it.
template <class T>
cusolverStatus_t gesvd(const char* name, cusolverDnHandle_t handle, signed char job_U,
                       signed char job_VT, int m, int n, T* A, int leading_A, RealOf<T>* values,
                       T* U, int leading_U, T* VT, int leading_VT, int* info) {
    SolverCall call(name, handle);
    call.expect(m >= n);
    call.matrix("A", A, m, n, leading_A, Use::written);
    call.vector("S", values, n, 1, Use::written);
    if (job_U == 'A' || job_U == 'S')
        call.matrix("U", U, m, job_U == 'A' ? m : n, leading_U, Use::written);
    if (job_VT == 'A' || job_VT == 'S') call.matrix("VT", VT, n, n, leading_VT, Use::written);
    call.info(info);
    if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
    const Singular<T> solve(name);
    return call.join([=] {
        *info = solve(static_cast<char>(job_U), static_cast<char>(job_VT), m, n, A, leading_A,
                      values, U, leading_U, VT, leading_VT);
    });
}
template <class T>
struct Gesvd : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, signed char job_U, signed char job_VT,
                                int m, int n, T* A, int leading_A, RealOf<T>* values, T* U,
                                int leading_U, T* VT, int leading_VT, T* work, int length,
                                RealOf<T>*, int* info) const {
        if (length < std::max({1, 3 * n + m, 5 * n})) return CUSOLVER_STATUS_INVALID_VALUE;
        expect_on_device(
            name, {"the workspace", work, sizeof(T) * static_cast<size_t>(length), 1, 0, true});
        return gesvd(name, handle, job_U, job_VT, m, n, A, leading_A, values, U, leading_U, VT,
                     leading_VT, info);
    }
};

// A matrix of a batch and what it gives: V, not V^H; in the thin form only the first `rank` columns of U and V.
template <class T>
struct SingularBatch {
    T* A;
    int leading_A;
    long long stride_A;
    RealOf<T>* values;
    long long stride_values;
    T* U;
    int leading_U;
    long long stride_U;
    T* V;
    int leading_V;
    long long stride_V;
    int count;
    cusolverEigMode_t mode;
    bool is_thin;
    int rank;
};
template <class T>
cusolverStatus_t singular_values(const char* name, cusolverDnHandle_t handle, int m, int n,
                                 const SingularBatch<T>& batch, T* work, long long length,
                                 int* info, double* of_rest = nullptr,
                                 gesvdjInfo_t settings = nullptr) {
    const bool vectors = batch.mode == CUSOLVER_EIG_MODE_VECTOR;
    const int least = std::min(m, n), rank = std::min(batch.rank, least);
    const int columns_U = batch.is_thin ? rank : m, columns_V = batch.is_thin ? rank : n;
    SolverCall call(name, handle);
    call.expect(batch.count >= 0 && rank >= 0);
    for (int i = 0; i < batch.count && call.is_valid(); ++i) {
        call.matrix("A", batch.A + i * batch.stride_A, m, n, batch.leading_A, Use::written);
        call.vector("S", batch.values + i * batch.stride_values, rank, 1, Use::written);
        if (!vectors) continue;
        call.matrix("U", batch.U + i * batch.stride_U, m, columns_U, batch.leading_U, Use::written);
        call.matrix("V", batch.V + i * batch.stride_V, n, columns_V, batch.leading_V, Use::written);
    }
    call.work(work, length, 1);
    call.vector("info", info, batch.count, 1, Use::written);
    if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
    const Singular<T> solve(name);
    const auto compute = [=] {
        const char job = !vectors ? 'N' : batch.is_thin ? 'S' : 'A';
        const int rows_VT = batch.is_thin ? least : n, all_U = batch.is_thin ? least : m;
        std::vector<T> U(static_cast<size_t>(m) * static_cast<size_t>(all_U) + 1),
            VT(static_cast<size_t>(rows_VT) * static_cast<size_t>(n) + 1);
        std::vector<RealOf<T>> values(static_cast<size_t>(least) + 1);
        for (int i = 0; i < batch.count; ++i) {
            double of_A = 0, of_values = 0;  // sums of squares
            for (int column = 0; column < n && of_rest != nullptr; ++column)
                for (int row = 0; row < m; ++row)
                    of_A += square_of(
                        batch.A[i * batch.stride_A + 1ll * column * batch.leading_A + row]);
            std::vector<T> rest;
            if (settings != nullptr) {
                rest.resize(static_cast<size_t>(m) * static_cast<size_t>(n));
                copy_columns(batch.A + i * batch.stride_A, batch.leading_A, rest.data(), m, m, n);
            }
            info[i] = solve(job, job, m, n, batch.A + i * batch.stride_A, batch.leading_A,
                            values.data(), U.data(), m, VT.data(), rows_VT);
            if (settings != nullptr) settings->residual = -1;
            if (settings != nullptr &&
                vectors) {  // the root of the sum of the squares of A - U S V^H
                double squares = 0;
                for (size_t at = 0; at < rest.size(); ++at) {
                    const auto row = at % static_cast<size_t>(m),
                               column = at / static_cast<size_t>(m);
                    for (size_t k = 0; k < static_cast<size_t>(least); ++k)
                        rest[at] = difference_of(
                            rest[at],
                            product_of(complex_of<T>(values[k]),
                                       product_of(U[row + k * static_cast<size_t>(m)],
                                                  VT[k + column * static_cast<size_t>(rows_VT)])));
                    squares += square_of(rest[at]);
                }
                settings->residual = std::sqrt(squares);
            }
            std::copy(values.begin(), values.begin() + rank,
                      batch.values + i * batch.stride_values);
            if (of_rest != nullptr) {  // what all of them leave, whatever the rank: as a card says
                for (int j = 0; j < least; ++j)
                    of_values +=
                        1.0 * values[static_cast<size_t>(j)] * values[static_cast<size_t>(j)];
                of_rest[i] = std::abs(std::sqrt(of_A) - std::sqrt(of_values));
            }
            if (!vectors) continue;
            copy_columns(U.data(), m, batch.U + i * batch.stride_U, batch.leading_U, m, columns_U);
            T* const V = batch.V + i * batch.stride_V;
            for (int row = 0; row < n; ++row)
                for (long long column = 0; column < columns_V; ++column)
                    V[row + column * batch.leading_V] =
                        conjugate_of(VT[static_cast<size_t>(column + 1ll * row * rows_VT)]);
        }
    };
    return of_rest != nullptr || settings != nullptr ? call.join_and_wait(compute)
                                                     : call.join(compute);
}

template <class T>
struct GesvdjLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t, int, int m, int n, const T*,
                                int leading, const RealOf<T>*, const T*, int, const T*, int,
                                int* length, gesvdjInfo_t) const {
        *length = std::max({1, m, n}) * 4;
        return m < 0 || n < 0 || leading < std::max(1, m) ? CUSOLVER_STATUS_INVALID_VALUE
                                                          : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct Gesvdj : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode, int is_thin,
                                int m, int n, T* A, int leading_A, RealOf<T>* values, T* U,
                                int leading_U, T* V, int leading_V, T* work, int length, int* info,
                                gesvdjInfo_t settings) const {
        return singular_values<T>(name, handle, m, n,
                                  {A, leading_A, 0, values, 0, U, leading_U, 0, V, leading_V, 0, 1,
                                   mode, is_thin != 0, std::min(m, n)},
                                  work, length, info, nullptr, settings);
    }
};
template <class T>
struct GesvdjBatchedLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t, int m, int n, const T*,
                                int leading, const RealOf<T>*, const T*, int, const T*, int,
                                int* length, gesvdjInfo_t, int) const {
        *length = std::max({1, m, n}) * 4;
        return m < 0 || n < 0 || m > 32 || n > 32 || leading < std::max(1, m)
                   ? CUSOLVER_STATUS_INVALID_VALUE
                   : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct GesvdjBatched : Named {  // of at most 32 rows and columns
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode, int m, int n,
                                T* A, int leading_A, RealOf<T>* values, T* U, int leading_U, T* V,
                                int leading_V, T* work, int length, int* info, gesvdjInfo_t,
                                int count) const {
        if (m > 32 || n > 32) return CUSOLVER_STATUS_INVALID_VALUE;
        return singular_values<T>(name, handle, m, n,
                                  {A, leading_A, 1ll * leading_A * n, values, std::min(m, n), U,
                                   leading_U, 1ll * leading_U * m, V, leading_V,
                                   1ll * leading_V * n, count, mode, false, std::min(m, n)},
                                  work, length, info);
    }
};
template <class T>
struct GesvdaStridedBatchedLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t, int, int m, int n, const T*,
                                int, long long, const RealOf<T>*, long long, const T*, int,
                                long long, const T*, int, long long, int* length, int) const {
        *length = std::max({1, m, n}) * 4;
        return m < n ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct GesvdaStridedBatched : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode, int rank, int m,
                                int n, const T* A, int leading_A, long long stride_A,
                                RealOf<T>* values, long long stride_values, T* U, int leading_U,
                                long long stride_U, T* V, int leading_V, long long stride_V,
                                T* work, int length, int* info, double* of_rest, int count) const {
        return singular_values<T>(
            name, handle, m, n,
            {const_cast<T*>(A), leading_A, stride_A, values, stride_values, U, leading_U, stride_U,
             V, leading_V, stride_V, count, mode, true, rank},
            work, length, info, of_rest);
    }
};

}  // namespace cuda_cpu

CUDA_CPU_SOLVER(Gesvd, gesvd)
CUDA_CPU_SOLVER(Gesvdj, gesvdj)
CUDA_CPU_SOLVER(GesvdjBatched, gesvdjBatched)
CUDA_CPU_SOLVER(GesvdaStridedBatched, gesvdaStridedBatched)
