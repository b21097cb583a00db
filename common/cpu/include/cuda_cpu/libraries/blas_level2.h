// cuBLAS, level 2: a matrix and vectors.
#pragma once

#include "blas_handle.h"
#include "numbers.h"

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

// A symmetric or Hermitian matrix of n rows, of which one half is read: whole, as a band, or packed. BLAS has no complex
// symmetric ones; LAPACK has some.
template <class T, bool hermitian>
struct SymvOf : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* A, int leading, const T* x, int step_x, const T* beta, T* y,
                              int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        call.matrix("A", A, n, n, leading, Use::read);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        call.expect(step_x != 0 && step_y != 0);
        constexpr Library library = is_complex<T> && !hermitian ? Library::lapack : Library::blas;
        return call.routine<T, library>(hermitian ? "hemv" : "symv", letter(fill), n, of_product, A,
                                        leading, x, step_x, of_y, y, step_y);
    }
    void operator()(char fill, int n, T alpha, const T* A, int leading, const T* x, int step_x,
                    T beta, T* y, int step_y) const {
        legacy_status() = (*this)(legacy_handle(), fill_mode(fill), n, &alpha, A, leading, x,
                                  step_x, &beta, y, step_y);
    }
};
template <class T, bool hermitian>
struct SbmvOf : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, int diagonals,
                              const T* alpha, const T* A, int leading, const T* x, int step_x,
                              const T* beta, T* y, int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        call.matrix("A", A, diagonals + 1, n, leading, Use::read);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        call.expect(diagonals >= 0 && step_x != 0 && step_y != 0);
        return call.routine<T>(hermitian ? "hbmv" : "sbmv", letter(fill), n, diagonals, of_product,
                               A, leading, x, step_x, of_y, y, step_y);
    }
};
inline long long packed(int n) { return n * (n + 1ll) / 2; }
template <class T, bool hermitian>
struct SpmvOf : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* A, const T* x, int step_x, const T* beta, T* y,
                              int step_y) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        call.vector("A", A, packed(n), 1, Use::read);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::written);
        call.expect(n >= 0 && step_x != 0 && step_y != 0);
        return call.routine<T>(hermitian ? "hpmv" : "spmv", letter(fill), n, of_product, A, x,
                               step_x, of_y, y, step_y);
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
    void operator()(char fill, char of_A, char diagonal, int n, const T* A, int leading, T* x,
                    int step) const {
        legacy_status() = (*this)(legacy_handle(), fill_mode(fill), operation(of_A),
                                  diagonal_type(diagonal), n, A, leading, x, step);
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

// A = alpha x x^T + A, one half of it; of a Hermitian A x^H, and alpha is real.
template <class T, bool hermitian>
struct SyrOf : Named {
    using Factor = std::conditional_t<hermitian, RealOf<T>, T>;
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n,
                              const Factor* alpha, const T* x, int step, T* A, int leading) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step, Use::read);
        call.matrix("A", A, n, n, leading, Use::written);
        call.expect(step != 0);
        constexpr Library library = is_complex<T> && !hermitian ? Library::lapack : Library::blas;
        return call.routine<T, library>(hermitian ? "her" : "syr", letter(fill), n, factor, x, step,
                                        A, leading);
    }
    void operator()(char fill, int n, Factor alpha, const T* x, int step, T* A, int leading) const {
        legacy_status() = (*this)(legacy_handle(), fill_mode(fill), n, &alpha, x, step, A, leading);
    }
};
template <class T, bool hermitian>
struct SprOf : Named {  // the same of a packed A
    using Factor = std::conditional_t<hermitian, RealOf<T>, T>;
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n,
                              const Factor* alpha, const T* x, int step, T* A) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step, Use::read);
        call.vector("A", A, packed(n), 1, Use::written);
        call.expect(n >= 0 && step != 0);
        return call.routine<T>(hermitian ? "hpr" : "spr", letter(fill), n, factor, x, step, A);
    }
};
// A = alpha x y^T + alpha y x^T + A, one half of it; of a Hermitian A alpha x y^H + conj(alpha) y x^H.
template <class T, bool hermitian>
struct Syr2Of : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* x, int step_x, const T* y, int step_y, T* A,
                              int leading) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::read);
        call.matrix("A", A, n, n, leading, Use::written);
        call.expect(step_x != 0 && step_y != 0);
        if constexpr (is_complex<T> && !hermitian) {  // which neither BLAS nor LAPACK has
            call.expect(letter(fill) != '\0');
            return call.join([=] {
                const T a = value_of(factor);
                const T* const first_x = step_x < 0 ? x - (n - 1ll) * step_x : x;
                const T* const first_y = step_y < 0 ? y - (n - 1ll) * step_y : y;
                for (long long j = 0; j < n; ++j) {
                    const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
                    for (long long i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i) {
                        T& to = A[i + j * leading];
                        to = sum_of(
                            to,
                            product_of(
                                a, sum_of(product_of(first_x[i * step_x], first_y[j * step_y]),
                                          product_of(first_y[i * step_y], first_x[j * step_x]))));
                    }
                }
            });
        }
        return call.routine<T>(hermitian ? "her2" : "syr2", letter(fill), n, factor, x, step_x, y,
                               step_y, A, leading);
    }
};
template <class T, bool hermitian>
struct Spr2Of : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* alpha,
                              const T* x, int step_x, const T* y, int step_y, T* A) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        call.vector("x", x, n, step_x, Use::read);
        call.vector("y", y, n, step_y, Use::read);
        call.vector("A", A, packed(n), 1, Use::written);
        call.expect(n >= 0 && step_x != 0 && step_y != 0);
        return call.routine<T>(hermitian ? "hpr2" : "spr2", letter(fill), n, factor, x, step_x, y,
                               step_y, A);
    }
};
#define CUDA_CPU_HALVES(Name, symmetric, hermitian) \
    template <class T>                              \
    using symmetric = Name<T, false>;               \
    template <class T>                              \
    using hermitian = Name<T, true>;
CUDA_CPU_HALVES(SymvOf, Symv, Hemv)
CUDA_CPU_HALVES(SbmvOf, Sbmv, Hbmv)
CUDA_CPU_HALVES(SpmvOf, Spmv, Hpmv)
CUDA_CPU_HALVES(SyrOf, Syr, Her)
CUDA_CPU_HALVES(SprOf, Spr, Hpr)
CUDA_CPU_HALVES(Syr2Of, Syr2, Her2)
CUDA_CPU_HALVES(Spr2Of, Spr2, Hpr2)
CUDA_CPU_HALVES(Triangular, Trmv, Trsv)
CUDA_CPU_HALVES(TriangularBand, Tbmv, Tbsv)
CUDA_CPU_HALVES(TriangularPacked, Tpmv, Tpsv)
#undef CUDA_CPU_HALVES

}  // namespace cuda_cpu

CUDA_CPU_BLAS(Gemv, gemv)
CUDA_CPU_BLAS(Gbmv, gbmv)
CUDA_CPU_BLAS(Symv, symv)
CUDA_CPU_BLAS_REAL(Sbmv, sbmv)
CUDA_CPU_BLAS_REAL(Spmv, spmv)
CUDA_CPU_BLAS_COMPLEX(Hemv, hemv)
CUDA_CPU_BLAS_COMPLEX(Hbmv, hbmv)
CUDA_CPU_BLAS_COMPLEX(Hpmv, hpmv)
CUDA_CPU_BLAS(Trmv, trmv)
CUDA_CPU_BLAS(Trsv, trsv)
CUDA_CPU_BLAS(Tbmv, tbmv)
CUDA_CPU_BLAS(Tbsv, tbsv)
CUDA_CPU_BLAS(Tpmv, tpmv)
CUDA_CPU_BLAS(Tpsv, tpsv)
CUDA_CPU_BLAS_REAL(Ger, ger)
CUDA_CPU_BLAS_COMPLEX(Ger, geru)
CUDA_CPU_BLAS_COMPLEX(GerConjugated, gerc)
CUDA_CPU_BLAS(Syr, syr)
CUDA_CPU_BLAS_REAL(Spr, spr)
CUDA_CPU_BLAS(Syr2, syr2)
CUDA_CPU_BLAS_REAL(Spr2, spr2)
CUDA_CPU_BLAS_COMPLEX(Her, her)
CUDA_CPU_BLAS_COMPLEX(Hpr, hpr)
CUDA_CPU_BLAS_COMPLEX(Her2, her2)
CUDA_CPU_BLAS_COMPLEX(Hpr2, hpr2)
