// cuBLAS, level 3: matrices.
#pragma once

#include "blas_handle.h"
#include "numbers.h"

namespace cuda_cpu {

template <class T>
struct Gemm : Named {  // C = alpha op(A) op(B) + beta C; C has m rows and n columns
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t of_A, cublasOperation_t of_B,
                              int m, int n, int k, const T* alpha, const T* A, int leading_A,
                              const T* B, int leading_B, const T* beta, T* C, int leading_C) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_C = call.scalar("beta", beta);
        call.matrix("A", A, of_A == CUBLAS_OP_N ? m : k, of_A == CUBLAS_OP_N ? k : m, leading_A,
                    Use::read);
        call.matrix("B", B, of_B == CUBLAS_OP_N ? k : n, of_B == CUBLAS_OP_N ? n : k, leading_B,
                    Use::read);
        call.matrix("C", C, m, n, leading_C, Use::written);
        return call.routine<T>("gemm", letter(of_A), letter(of_B), m, n, k, of_product, A,
                               leading_A, B, leading_B, of_C, C, leading_C);
    }
    // As the interface of before CUDA 4 has it.
    void operator()(char of_A, char of_B, int m, int n, int k, T alpha, const T* A, int leading_A,
                    const T* B, int leading_B, T beta, T* C, int leading_C) const {
        legacy_status() = (*this)(legacy_handle(), operation(of_A), operation(of_B), m, n, k,
                                  &alpha, A, leading_A, B, leading_B, &beta, C, leading_C);
    }
};
// C = alpha A B + beta C, or B A; A is symmetric or Hermitian.
template <class T, bool hermitian>
struct SymmOf : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                              int m, int n, const T* alpha, const T* A, int leading_A, const T* B,
                              int leading_B, const T* beta, T* C, int leading_C) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_C = call.scalar("beta", beta);
        const int rows = side == CUBLAS_SIDE_LEFT ? m : n;
        call.matrix("A", A, rows, rows, leading_A, Use::read);
        call.matrix("B", B, m, n, leading_B, Use::read);
        call.matrix("C", C, m, n, leading_C, Use::written);
        return call.routine<T>(hermitian ? "hemm" : "symm", letter(side), letter(fill), m, n,
                               of_product, A, leading_A, B, leading_B, of_C, C, leading_C);
    }
    void operator()(char side, char fill, int m, int n, T alpha, const T* A, int leading_A,
                    const T* B, int leading_B, T beta, T* C, int leading_C) const {
        legacy_status() = (*this)(legacy_handle(), side_mode(side), fill_mode(fill), m, n, &alpha,
                                  A, leading_A, B, leading_B, &beta, C, leading_C);
    }
};
// C = alpha op(A) op(A)^T + beta C, one half of it; of a Hermitian C op(A)^H, and the factors are real.
template <class T, bool hermitian>
struct SyrkOf : Named {
    using Factor = std::conditional_t<hermitian, RealOf<T>, T>;
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t operation, int n, int k, const Factor* alpha,
                              const T* A, int leading_A, const Factor* beta, T* C,
                              int leading_C) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_C = call.scalar("beta", beta);
        const bool plain = operation == CUBLAS_OP_N;
        call.matrix("A", A, plain ? n : k, plain ? k : n, leading_A, Use::read);
        call.matrix("C", C, n, n, leading_C, Use::written);
        call.expect(!is_complex<T> || operation != (hermitian ? CUBLAS_OP_T : CUBLAS_OP_C));
        return call.routine<T>(hermitian ? "herk" : "syrk", letter(fill), letter(operation), n, k,
                               of_product, A, leading_A, of_C, C, leading_C);
    }
    void operator()(char fill, char of_A, int n, int k, Factor alpha, const T* A, int leading_A,
                    Factor beta, T* C, int leading_C) const {
        legacy_status() = (*this)(legacy_handle(), fill_mode(fill), operation(of_A), n, k, &alpha,
                                  A, leading_A, &beta, C, leading_C);
    }
};
// C = alpha op(A) op(B)^T + alpha op(B) op(A)^T + beta C, one half of it; of a Hermitian C with ^H, the second alpha
// conjugated, and beta real.
template <class T, bool hermitian>
struct Syr2kOf : Named {
    using Factor = std::conditional_t<hermitian, RealOf<T>, T>;
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t operation, int n, int k, const T* alpha, const T* A,
                              int leading_A, const T* B, int leading_B, const Factor* beta, T* C,
                              int leading_C) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha);
        const auto of_C = call.scalar("beta", beta);
        const bool plain = operation == CUBLAS_OP_N;
        call.matrix("A", A, plain ? n : k, plain ? k : n, leading_A, Use::read);
        call.matrix("B", B, plain ? n : k, plain ? k : n, leading_B, Use::read);
        call.matrix("C", C, n, n, leading_C, Use::written);
        call.expect(!is_complex<T> || operation != (hermitian ? CUBLAS_OP_T : CUBLAS_OP_C));
        return call.routine<T>(hermitian ? "her2k" : "syr2k", letter(fill), letter(operation), n, k,
                               of_product, A, leading_A, B, leading_B, of_C, C, leading_C);
    }
};
// C = alpha op(A) op(B)^T + beta C, one half of it: right where that product is symmetric (or, with ^H and a real beta,
// Hermitian). BLAS has only gemm for it.
template <class T, bool hermitian>
struct SyrkxOf : Named {
    using Factor = std::conditional_t<hermitian, RealOf<T>, T>;
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t operation, int n, int k, const T* alpha, const T* A,
                              int leading_A, const T* B, int leading_B, const Factor* beta, T* C,
                              int leading_C) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha);
        const auto of_C = call.scalar("beta", beta);
        const bool plain = operation == CUBLAS_OP_N;
        call.matrix("A", A, plain ? n : k, plain ? k : n, leading_A, Use::read);
        call.matrix("B", B, plain ? n : k, plain ? k : n, leading_B, Use::read);
        call.matrix("C", C, n, n, leading_C, Use::written);
        call.expect(letter(fill) != '\0' && letter(operation) != '\0');
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "gemm", name);
        const char other = hermitian ? 'C' : 'T';
        return call.join([=] {
            std::vector<T> product(static_cast<size_t>(n) * static_cast<size_t>(n));
            call_fortran(blas, plain ? 'N' : other, plain ? other : 'N', n, n, k, of_product, A,
                         leading_A, B, leading_B, T{}, product.data(), n);
            const Factor factor = value_of(of_C);
            for (long long column = 0; column < n; ++column) {
                const bool upper = fill == CUBLAS_FILL_MODE_UPPER;
                for (long long row = upper ? 0 : column; row < (upper ? column + 1 : n); ++row) {
                    T& element = C[row + column * leading_C];
                    T sum = product[static_cast<size_t>(row + column * n)];
                    if (!is_zero(factor))
                        sum = sum_of(sum, product_of(complex_of<T>(factor), element));
                    element = sum;
                }
            }
        });
    }
};
#define CUDA_CPU_HALVES(Name, symmetric, hermitian) \
    template <class T>                              \
    using symmetric = Name<T, false>;               \
    template <class T>                              \
    using hermitian = Name<T, true>;
CUDA_CPU_HALVES(SymmOf, Symm, Hemm)
CUDA_CPU_HALVES(SyrkOf, Syrk, Herk)
CUDA_CPU_HALVES(Syr2kOf, Syr2k, Her2k)
CUDA_CPU_HALVES(SyrkxOf, Syrkx, Herkx)
#undef CUDA_CPU_HALVES

template <class T>
struct Trsm : Named {  // B becomes the X of op(A) X = alpha B, or of X op(A) = alpha B
    cublasStatus_t operator()(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,
                              const T* alpha, const T* A, int leading_A, T* B,
                              int leading_B) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        const int rows = side == CUBLAS_SIDE_LEFT ? m : n;
        call.matrix("A", A, rows, rows, leading_A, Use::read);
        call.matrix("B", B, m, n, leading_B, Use::written);
        return call.routine<T>("trsm", letter(side), letter(fill), letter(operation),
                               letter(diagonal), m, n, factor, A, leading_A, B, leading_B);
    }
    void operator()(char side, char fill, char of_A, char diagonal, int m, int n, T alpha,
                    const T* A, int leading_A, T* B, int leading_B) const {
        legacy_status() =
            (*this)(legacy_handle(), side_mode(side), fill_mode(fill), operation(of_A),
                    diagonal_type(diagonal), m, n, &alpha, A, leading_A, B, leading_B);
    }
};
// C = alpha op(A) B, or B op(A); C may be B. That of BLAS always stores into B.
template <class T>
struct Trmm : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                              cublasOperation_t operation, cublasDiagType_t diagonal, int m, int n,
                              const T* alpha, const T* A, int leading_A, const T* B, int leading_B,
                              T* C, int leading_C) const {
        BlasCall call(name, handle);
        const auto factor = call.scalar("alpha", alpha);
        const int rows = side == CUBLAS_SIDE_LEFT ? m : n;
        call.matrix("A", A, rows, rows, leading_A, Use::read);
        call.matrix("B", B, m, n, leading_B, Use::read);
        call.matrix("C", C, m, n, leading_C, Use::written);
        call.expect(letter(side) != '\0' && letter(fill) != '\0' && letter(operation) != '\0' &&
                    letter(diagonal) != '\0');
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "trmm", name);
        return call.join([=] {
            for (long long column = 0; column < n; ++column)
                std::memmove(C + column * leading_C, B + column * leading_B,
                             static_cast<size_t>(m) * sizeof(T));
            call_fortran(blas, letter(side), letter(fill), letter(operation), letter(diagonal), m,
                         n, factor, A, leading_A, C, leading_C);
        });
    }
};

// What cuBLAS has and BLAS has not.
// The element of op(A) in a row and a column.
template <class T>
T element(cublasOperation_t operation, const T* A, int leading, long long row, long long column) {
    T value = operation == CUBLAS_OP_N ? A[row + column * leading] : A[column + row * leading];
    if constexpr (is_complex<T>) {
        if (operation == CUBLAS_OP_C) value.y = -value.y;
    }
    return value;
}

template <class T>
struct Geam : Named {  // C = alpha op(A) + beta op(B); with a factor of 0 a matrix is not read
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t of_A, cublasOperation_t of_B,
                              int m, int n, const T* alpha, const T* A, int leading_A,
                              const T* beta, const T* B, int leading_B, T* C, int leading_C) const {
        BlasCall call(name, handle);
        const auto factor_A = call.scalar("alpha", alpha), factor_B = call.scalar("beta", beta);
        const auto is_used = [](const Scalar<T>& factor) {
            return factor.on_device != nullptr || !is_zero(factor.value);
        };
        if (is_used(factor_A))
            call.matrix("A", A, of_A == CUBLAS_OP_N ? m : n, of_A == CUBLAS_OP_N ? n : m, leading_A,
                        Use::read);
        if (is_used(factor_B))
            call.matrix("B", B, of_B == CUBLAS_OP_N ? m : n, of_B == CUBLAS_OP_N ? n : m, leading_B,
                        Use::read);
        call.matrix("C", C, m, n, leading_C, Use::written);
        call.expect(letter(of_A) != '\0' && letter(of_B) != '\0');
        return call.join([=] {
            const T a = value_of(factor_A), b = value_of(factor_B);
            for (long long column = 0; column < n; ++column) {
                for (long long row = 0; row < m; ++row) {
                    T sum{};
                    if (!is_zero(a)) sum = product_of(a, element(of_A, A, leading_A, row, column));
                    if (!is_zero(b))
                        sum = sum_of(sum, product_of(b, element(of_B, B, leading_B, row, column)));
                    C[row + column * leading_C] = sum;
                }
            }
        });
    }
};
template <class T>
struct Dgmm : Named {  // C = A diag(x), or diag(x) A
    cublasStatus_t operator()(cublasHandle_t handle, cublasSideMode_t side, int m, int n,
                              const T* A, int leading_A, const T* x, int step, T* C,
                              int leading_C) const {
        BlasCall call(name, handle);
        call.matrix("A", A, m, n, leading_A, Use::read);
        const int count = side == CUBLAS_SIDE_LEFT ? m : n;
        call.vector("x", x, count, step, Use::read);
        call.matrix("C", C, m, n, leading_C, Use::written);
        return call.join([=] {
            const T* const first = step < 0 ? x - (count - 1ll) * step : x;
            for (long long column = 0; column < n; ++column) {
                for (long long row = 0; row < m; ++row) {
                    const T& factor = first[(side == CUBLAS_SIDE_LEFT ? row : column) * step];
                    C[row + column * leading_C] = product_of(A[row + column * leading_A], factor);
                }
            }
        });
    }
};

}  // namespace cuda_cpu

CUDA_CPU_BLAS(Gemm, gemm)
CUDA_CPU_BLAS_COMPLEX(Gemm, gemm3m)
CUDA_CPU_BLAS(Symm, symm)
CUDA_CPU_BLAS(Syrk, syrk)
CUDA_CPU_BLAS(Syr2k, syr2k)
CUDA_CPU_BLAS(Syrkx, syrkx)
CUDA_CPU_BLAS_COMPLEX(Hemm, hemm)
CUDA_CPU_BLAS_COMPLEX(Herk, herk)
CUDA_CPU_BLAS_COMPLEX(Her2k, her2k)
CUDA_CPU_BLAS_COMPLEX(Herkx, herkx)
CUDA_CPU_BLAS(Trsm, trsm)
CUDA_CPU_BLAS(Trmm, trmm)
CUDA_CPU_BLAS(Geam, geam)
CUDA_CPU_BLAS(Dgmm, dgmm)
