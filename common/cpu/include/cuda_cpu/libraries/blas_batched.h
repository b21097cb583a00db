// cuBLAS: many small matrices in one call.
#pragma once

#include "blas_level2.h"
#include "blas_level3.h"

namespace cuda_cpu {

// Matrices of one shape in a batch: at addresses that are stored on the device.
struct BatchShape {
    const char* name;
    long long rows, columns, leading;
    Use use;
};
template <class T>
void show_matrix(const char* function, const BatchShape& shape, const T* start) {
    const long long length = shape.rows, count = shape.columns;
    if (length <= 0 || count <= 0) return;
    const Piece piece{shape.name,
                      start,
                      static_cast<size_t>(length) * sizeof(T),
                      static_cast<size_t>(count),
                      static_cast<size_t>(shape.leading) * sizeof(T),
                      shape.use == Use::written};
    expect_on_device(function, piece);
    show_use(piece);
}
template <class T>
void add_batch(BlasCall& call, const BatchShape& shape, const T* const* matrices, int count) {
    call.expect(shape.rows >= 0 && shape.columns >= 0 &&
                shape.leading >= std::max(1ll, shape.rows) && count >= 0);
    call.vector(shape.name, matrices, count, 1, Use::read);
}

template <class T>
struct GemmBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t of_A, cublasOperation_t of_B,
                              int m, int n, int k, const T* alpha, const T* const A[],
                              int leading_A, const T* const B[], int leading_B, const T* beta,
                              T* const C[], int leading_C, int count) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_C = call.scalar("beta", beta);
        const bool plain_A = of_A == CUBLAS_OP_N, plain_B = of_B == CUBLAS_OP_N;
        const BatchShape shape_A{"A", plain_A ? m : k, plain_A ? k : m, leading_A, Use::read};
        const BatchShape shape_B{"B", plain_B ? k : n, plain_B ? n : k, leading_B, Use::read};
        const BatchShape shape_C{"C", m, n, leading_C, Use::written};
        add_batch(call, shape_A, A, count);
        add_batch(call, shape_B, B, count);
        add_batch<T>(call, shape_C, C, count);
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "gemm", name);
        return call.join([=, function = name] {
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_B, B[i]);
                show_matrix(function, shape_C, C[i]);
                call_fortran(blas, letter(of_A), letter(of_B), m, n, k, of_product, A[i], leading_A,
                             B[i], leading_B, of_C, C[i], leading_C);
            }
        });
    }
};
template <class T>
struct GemmStridedBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t of_A, cublasOperation_t of_B,
                              int m, int n, int k, const T* alpha, const T* A, int leading_A,
                              long long stride_A, const T* B, int leading_B, long long stride_B,
                              const T* beta, T* C, int leading_C, long long stride_C,
                              int count) const {
        if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
        for (int i = 0; i < count; ++i) {
            const cublasStatus_t status =
                Gemm<T>{{name}}(handle, of_A, of_B, m, n, k, alpha, A + i * stride_A, leading_A,
                                B + i * stride_B, leading_B, beta, C + i * stride_C, leading_C);
            if (status != CUBLAS_STATUS_SUCCESS) return status;
        }
        return CUBLAS_STATUS_SUCCESS;
    }
};
template <class T>
struct GemvBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              const T* alpha, const T* const A[], int leading, const T* const x[],
                              int step_x, const T* beta, T* const y[], int step_y,
                              int count) const {
        BlasCall call(name, handle);
        const auto of_product = call.scalar("alpha", alpha), of_y = call.scalar("beta", beta);
        const bool plain = operation == CUBLAS_OP_N;
        const BatchShape shape_A{"A", m, n, leading, Use::read},
            shape_x{"x", 1, plain ? n : m, std::max(1, std::abs(step_x)), Use::read},
            shape_y{"y", 1, plain ? m : n, std::max(1, std::abs(step_y)), Use::written};
        add_batch(call, shape_A, A, count);
        add_batch(call, shape_x, x, count);
        add_batch<T>(call, shape_y, y, count);
        call.expect(step_x != 0 && step_y != 0 && letter(operation) != '\0');
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const blas = fortran_function<T>(Library::blas, "gemv", name);
        return call.join([=, function = name] {
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_x, x[i]);
                show_matrix(function, shape_y, y[i]);
                call_fortran(blas, letter(operation), m, n, of_product, A[i], leading, x[i], step_x,
                             of_y, y[i], step_y);
            }
        });
    }
};
template <class T>
struct GemvStridedBatched : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasOperation_t operation, int m, int n,
                              const T* alpha, const T* A, int leading, long long stride_A,
                              const T* x, int step_x, long long stride_x, const T* beta, T* y,
                              int step_y, long long stride_y, int count) const {
        if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
        for (int i = 0; i < count; ++i) {
            const cublasStatus_t status =
                Gemv<T>{{name}}(handle, operation, m, n, alpha, A + i * stride_A, leading,
                                x + i * stride_x, step_x, beta, y + i * stride_y, step_y);
            if (status != CUBLAS_STATUS_SUCCESS) return status;
        }
        return CUBLAS_STATUS_SUCCESS;
    }
};

}  // namespace cuda_cpu

CUDA_CPU_BLAS(GemmBatched, gemmBatched)
CUDA_CPU_BLAS(GemmStridedBatched, gemmStridedBatched)
CUDA_CPU_BLAS(GemvBatched, gemvBatched)
CUDA_CPU_BLAS(GemvStridedBatched, gemvStridedBatched)
