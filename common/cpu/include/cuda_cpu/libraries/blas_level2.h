// cuBLAS, level 2: a matrix and vectors.
#pragma once

#include "blas_handle.h"

namespace cuda_cpu {

template <class T>
struct Gemv : Named {  // y = alpha op(A) x + beta y; A has m rows and n columns
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              const T* alpha, const T* A, int leading, const T* x, int step_x,
                              const T* beta, T* y, int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        const bool plain = operation == CUBLAS_OP_N;
        call.matrix("A", A, m, n, leading, Use::read);
        call.vector("x", x, plain ? n : m, step_x, Use::read);
        call.vector("y", y, plain ? m : n, step_y, Use::written);
        call.expect(step_x != 0 && step_y != 0);
        return call.routine<T>("gemv", letter(operation), m, n, of_product, A, leading, x, step_x,
                               of_y, y, step_y);
    }
    void operator()(char of_A, int m, int n, T alpha, const T* A, int leading, const T* x,
                    int step_x, T beta, T* y, int step_y) const {
        legacy_status() = (*this)(legacy_handle(), operation(of_A), m, n, &alpha, A, leading, x,
                                  step_x, &beta, y, step_y);
    }
};
template <class T>
struct Gbmv : Named {  // the same with a band of `below` and `above` diagonals beside the main one
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              int below, int above, const T* alpha, const T* A, int leading,
                              const T* x, int step_x, const T* beta, T* y, int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        const bool plain = operation == CUBLAS_OP_N;
        call.expect(m >= 0 && below >= 0 && above >= 0 && step_x != 0 && step_y != 0);
        call.matrix("A", A, below + above + 1, n, leading, Use::read);
        call.vector("x", x, plain ? n : m, step_x, Use::read);
        call.vector("y", y, plain ? m : n, step_y, Use::written);
        return call.routine<T>("gbmv", letter(operation), m, n, below, above, of_product, A,
                               leading, x, step_x, of_y, y, step_y);
    }
};

// A symmetric matrix of n rows, of which one half is read: whole, as a band, or packed.
template <class T>
struct Symv : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* A, int leading, const T* x, int step_x, const T* beta, T* y,
                              int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        call.matrix("A", A, n, n, leading, Use::read);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        call.expect(step_x != 0 && step_y != 0);
        return call.routine<T>("symv", letter(fill), n, of_product, A, leading, x, step_x, of_y, y,
                               step_y);
    }
};
template <class T>
struct Sbmv : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, int diagonals,
                              const T* alpha, const T* A, int leading, const T* x, int step_x,
                              const T* beta, T* y, int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        call.matrix("A", A, diagonals + 1, n, leading, Use::read);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        call.expect(diagonals >= 0 && step_x != 0 && step_y != 0);
        return call.routine<T>("sbmv", letter(fill), n, diagonals, of_product, A, leading, x,
                               step_x, of_y, y, step_y);
    }
};
inline long long packed(int n) { return n * (n + 1ll) / 2; }
template <class T>
struct Spmv : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* A, const T* x, int step_x, const T* beta, T* y,
                              int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        call.vector("A", A, packed(n), 1, Use::read);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        call.expect(n >= 0 && step_x != 0 && step_y != 0);
        return call.routine<T>("spmv", letter(fill), n, of_product, A, x, step_x, of_y, y, step_y);
    }
};

// x = op(A) x, or the x of op(A) x = b that takes b's place; A is triangular.
template <class T, bool solves>
struct Triangular : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int n,
                              const T* A, int leading, T* x, int step) const {
        BlasCall call(name, handle);
        call.matrix("A", A, n, n, leading, Use::read);
        call.vector("x", x, n, step, Use::written);
        call.expect(step != 0);
        return call.routine<T>(solves ? "trsv" : "trmv", letter(fill), letter(operation),
                               letter(diagonal), n, A, leading, x, step);
    }
};
template <class T, bool solves>
struct TriangularBand : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int n,
                              int diagonals, const T* A, int leading, T* x, int step) const {
        BlasCall call(name, handle);
        call.matrix("A", A, diagonals + 1, n, leading, Use::read);
        call.vector("x", x, n, step, Use::written);
        call.expect(diagonals >= 0 && step != 0);
        return call.routine<T>(solves ? "tbsv" : "tbmv", letter(fill), letter(operation),
                               letter(diagonal), n, diagonals, A, leading, x, step);
    }
};
template <class T, bool solves>
struct TriangularPacked : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int n,
                              const T* A, T* x, int step) const {
        BlasCall call(name, handle);
        call.vector("A", A, packed(n), 1, Use::read);
        call.vector("x", x, n, step, Use::written);
        call.expect(n >= 0 && step != 0);
        return call.routine<T>(solves ? "tpsv" : "tpmv", letter(fill), letter(operation),
                               letter(diagonal), n, A, x, step);
    }
};
template <class T>
using Trmv = Triangular<T, false>;
template <class T>
using Trsv = Triangular<T, true>;
template <class T>
using Tbmv = TriangularBand<T, false>;
template <class T>
using Tbsv = TriangularBand<T, true>;
template <class T>
using Tpmv = TriangularPacked<T, false>;
template <class T>
using Tpsv = TriangularPacked<T, true>;

// A = alpha x y^T + A; of complex numbers y is conjugated by gerc and not by geru.
template <class T, bool conjugated>
struct GerOf : Named {
    cublasStatus_t operator()(cublasHandle_t handle, int m, int n, const T* alpha, const T* x,
                              int step_x, const T* y, int step_y, T* A, int leading) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, m, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::read);
        call.matrix("A", A, m, n, leading, Use::written);
        call.expect(step_x != 0 && step_y != 0);
        return call.routine<T>(!is_complex<T> ? "ger"
                               : conjugated   ? "gerc"
                                              : "geru",
                               m, n, factor, x, step_x, y, step_y, A, leading);
    }
    void operator()(int m, int n, T alpha, const T* x, int step_x, const T* y, int step_y, T* A,
                    int leading) const {
        legacy_status() = (*this)(legacy_handle(), m, n, &alpha, x, step_x, y, step_y, A, leading);
    }
};
template <class T>
using Ger = GerOf<T, false>;
template <class T>
using GerConjugated = GerOf<T, true>;
template <class T>
struct Syr : Named {  // A = alpha x x^T + A, one half of it
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* x, int step, T* A, int leading) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step, Use::read);
        call.matrix("A", A, n, n, leading, Use::written);
        call.expect(step != 0);
        return call.routine<T>("syr", letter(fill), n, factor, x, step, A, leading);
    }
};
template <class T>
struct Syr2 : Named {  // A = alpha (x y^T + y x^T) + A, one half of it
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* x, int step_x, const T* y, int step_y, T* A,
                              int leading) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::read);
        call.matrix("A", A, n, n, leading, Use::written);
        call.expect(step_x != 0 && step_y != 0);
        return call.routine<T>("syr2", letter(fill), n, factor, x, step_x, y, step_y, A, leading);
    }
};

}  // namespace cuda_cpu

CUDA_CPU_BLAS(Gemv, gemv)
CUDA_CPU_BLAS(Gbmv, gbmv)
CUDA_CPU_BLAS_REAL(Symv, symv)
CUDA_CPU_BLAS_REAL(Sbmv, sbmv)
CUDA_CPU_BLAS_REAL(Spmv, spmv)
CUDA_CPU_BLAS(Trmv, trmv)
CUDA_CPU_BLAS(Trsv, trsv)
CUDA_CPU_BLAS(Tbmv, tbmv)
CUDA_CPU_BLAS(Tbsv, tbsv)
CUDA_CPU_BLAS(Tpmv, tpmv)
CUDA_CPU_BLAS(Tpsv, tpsv)
CUDA_CPU_BLAS_REAL(Ger, ger)
CUDA_CPU_BLAS_COMPLEX(Ger, geru)
CUDA_CPU_BLAS_COMPLEX(GerConjugated, gerc)
CUDA_CPU_BLAS_REAL(Syr, syr)
CUDA_CPU_BLAS_REAL(Syr2, syr2)
