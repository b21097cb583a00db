// cuBLAS: systems of equations, inverses and factors of many small matrices in one call, by LAPACK.
#pragma once

#include "blas_batched.h"

namespace cuda_cpu {

template <class T>
struct TrsmBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,
                              const T* alpha, const T* const A[], int leading_A, T* const B[],
                              int leading_B, int count) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        const int rows = side == CUBLAS_SIDE_LEFT ? m : n;
        const BatchShape shape_A{"A", rows, rows, leading_A, Use::read},
            shape_B{"B", m, n, leading_B, Use::written};
        add_batch(call, shape_A, A, count);
        add_batch<T>(call, shape_B, B, count);
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "trsm", name);
        return call.join([=, function = name] {
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_B, B[i]);
                call_fortran(blas, letter(side), letter(fill), letter(operation), letter(diagonal),
                             m, n, factor, A[i], leading_A, B[i], leading_B);
            }
        });
    }
};

// The pivots of rows that stay where they are.
inline std::vector<int> rows_in_order(int n) {
    std::vector<int> pivots(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) pivots[static_cast<size_t>(i)] = i + 1;
    return pivots;
}
template <class T>
void copy_columns(const T* from, long long leading_from, T* to, long long leading_to, int rows,
                  int columns) {
    for (long long column = 0; column < columns; ++column)
        std::memmove(to + column * leading_to, from + column * leading_from,
                     static_cast<size_t>(rows) * sizeof(T));
}
// A = L U in its place, without exchanges of rows; the place of a pivot of 0, from 1, or 0.
template <class T>
int factorise_in_order(T* A, int n, long long leading) {
    for (int step = 0; step < n; ++step) {
        const T pivot = A[step + step * leading];
        if (is_zero(pivot)) return step + 1;
        for (int row = step + 1; row < n; ++row) {
            T& factor = A[row + step * leading];
            factor = quotient_of(factor, pivot);
            for (int column = step + 1; column < n; ++column) {
                T& element = A[row + column * leading];
                element = difference_of(element, product_of(factor, A[step + column * leading]));
            }
        }
    }
    return 0;
}

// A = P L U of each matrix in its place; without `pivots` no rows are exchanged.
template <class T>
struct GetrfBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, T* const A[], int leading, int* pivots,
                              int* info, int count) const {
        BlasCall call(name, handle);
        const BatchShape shape{"A", n, n, leading, Use::written};
        add_batch<T>(call, shape, A, count);
        call.vector("info", info, count, 1, Use::written);
        if (pivots != nullptr) call.vector("P", pivots, 1ll * n * count, 1, Use::written);
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const lapack =
            pivots != nullptr ? fortran_function<T>(Library::lapack, "getrf", name) : nullptr;
        return call.join([=, function = name] {
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape, A[i]);
                if (pivots != nullptr) {
                    call_fortran(lapack, n, n, A[i], leading, pivots + 1ll * i * n, info + i);
                } else {
                    info[i] = factorise_in_order(A[i], n, leading);
                }
            }
        });
    }
};
// The inverse of each matrix from its P L U, in another place.
template <class T>
struct GetriBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* const A[], int leading_A,
                              const int* pivots, T* const C[], int leading_C, int* info,
                              int count) const {
        BlasCall call(name, handle);
        const BatchShape shape_A{"A", n, n, leading_A, Use::read},
            shape_C{"C", n, n, leading_C, Use::written};
        add_batch(call, shape_A, A, count);
        add_batch<T>(call, shape_C, C, count);
        call.vector("info", info, count, 1, Use::written);
        if (pivots != nullptr) call.vector("P", pivots, 1ll * n * count, 1, Use::read);
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "getri", name);
        return call.join([=, function = name] {
            std::vector<T> work(static_cast<size_t>(n) * 16 + 1);
            const std::vector<int> unchanged = rows_in_order(n);
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_C, C[i]);
                copy_columns(A[i], leading_A, C[i], leading_C, n, n);
                const int* const order =
                    pivots != nullptr ? pivots + 1ll * i * n : unchanged.data();
                call_fortran(lapack, n, C[i], leading_C, order, work.data(),
                             static_cast<int>(work.size()), info + i);
            }
        });
    }
};

// op(A) X = B for each pair, from the P L U of A; X takes B's place.
template <class T>
struct GetrsBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t operation, int n,
                              int columns, const T* const A[], int leading_A, const int* pivots,
                              T* const B[], int leading_B, int* info, int count) const {
        BlasCall call(name, handle);
        const BatchShape shape_A{"A", n, n, leading_A, Use::read},
            shape_B{"B", n, columns, leading_B, Use::written};
        add_batch(call, shape_A, A, count);
        add_batch<T>(call, shape_B, B, count);
        call.expect(letter(operation) != '\0');
        if (pivots != nullptr) call.vector("P", pivots, 1ll * n * count, 1, Use::read);
        if (info != nullptr) *info = call.is_valid() ? 0 : -1;  // of the host
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "getrs", name);
        return call.join([=, function = name] {
            const std::vector<int> unchanged = rows_in_order(n);
            int ignored = 0;
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_B, B[i]);
                call_fortran(lapack, letter(operation), n, columns, A[i], leading_A,
                             pivots != nullptr ? pivots + 1ll * i * n : unchanged.data(), B[i],
                             leading_B, &ignored);
            }
        });
    }
};
// The inverse of each matrix of at most 32 rows.
template <class T>
struct MatinvBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int n, const T* const A[], int leading_A,
                              T* const C[], int leading_C, int* info, int count) const {
        BlasCall call(name, handle);
        const BatchShape shape_A{"A", n, n, leading_A, Use::read},
            shape_C{"Ainv", n, n, leading_C, Use::written};
        add_batch(call, shape_A, A, count);
        add_batch<T>(call, shape_C, C, count);
        call.expect(n <= 32);
        call.vector("info", info, count, 1, Use::written);
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const factorise = fortran_function<T>(Library::lapack, "getrf", name);
        void* const invert = fortran_function<T>(Library::lapack, "getri", name);
        return call.join([=, function = name] {
            std::vector<T> work(static_cast<size_t>(n) * 16 + 1);
            std::vector<int> pivots(static_cast<size_t>(n) + 1);
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_C, C[i]);
                copy_columns(A[i], leading_A, C[i], leading_C, n, n);
                call_fortran(factorise, n, n, C[i], leading_C, pivots.data(), info + i);
                if (info[i] == 0)
                    call_fortran(invert, n, C[i], leading_C, pivots.data(), work.data(),
                                 static_cast<int>(work.size()), info + i);
            }
        });
    }
};
template <class T>
struct GeqrfBatched : Named {  // A = Q R of each matrix in its place
    cublasStatus_t operator()(cublasHandle_t handle, int m, int n, T* const A[], int leading,
                              T* const factors[], int* info, int count) const {
        BlasCall call(name, handle);
        const BatchShape shape{"A", m, n, leading, Use::written},
            of_factors{"Tau", std::min(m, n), 1, std::max(1, std::min(m, n)), Use::written};
        add_batch<T>(call, shape, A, count);
        add_batch<T>(call, of_factors, factors, count);
        if (info != nullptr) *info = call.is_valid() ? 0 : -1;  // of the host
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "geqrf", name);
        return call.join([=, function = name] {
            std::vector<T> work(static_cast<size_t>(n) * 16 + 1);
            int ignored = 0;
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape, A[i]);
                show_matrix(function, of_factors, factors[i]);
                call_fortran(lapack, m, n, A[i], leading, factors[i], work.data(),
                             static_cast<int>(work.size()), &ignored);
            }
        });
    }
};
// The x with the least |A x - b| for the columns of each C, of at least as many rows as A has columns.
template <class T>
struct GelsBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              int columns, T* const A[], int leading_A, T* const C[], int leading_C,
                              int* info, int* infos, int count) const {
        BlasCall call(name, handle);
        const BatchShape shape_A{"A", m, n, leading_A, Use::written},
            shape_C{"C", m, columns, leading_C, Use::written};
        add_batch<T>(call, shape_A, A, count);
        add_batch<T>(call, shape_C, C, count);
        if (infos != nullptr) call.vector("devInfoArray", infos, count, 1, Use::written);
        if (info != nullptr) *info = call.is_valid() ? 0 : -1;  // of the host
        if (operation != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "gels", name);
        return call.join([=, function = name] {
            std::vector<T> work(static_cast<size_t>(m + n + columns) * 16 + 1);
            int ignored = 0;
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_C, C[i]);
                call_fortran(lapack, 'N', m, n, columns, A[i], leading_A, C[i], leading_C,
                             work.data(), static_cast<int>(work.size()),
                             infos != nullptr ? infos + i : &ignored);
            }
        });
    }
};
}  // namespace cuda_cpu

CUDA_CPU_BLAS(TrsmBatched, trsmBatched)
CUDA_CPU_BLAS(GetrfBatched, getrfBatched)
CUDA_CPU_BLAS(GetriBatched, getriBatched)
CUDA_CPU_BLAS(GetrsBatched, getrsBatched)
CUDA_CPU_BLAS(MatinvBatched, matinvBatched)
CUDA_CPU_BLAS(GeqrfBatched, geqrfBatched)
CUDA_CPU_BLAS(GelsBatched, gelsBatched)
