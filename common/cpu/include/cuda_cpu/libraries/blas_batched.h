// cuBLAS: many small matrices in one call, and products of other types of numbers (cublasGemmEx).
#pragma once

#include "blas_level3.h"

enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100
};
enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};

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
            std::vector<int> unchanged(static_cast<size_t>(n));
            for (int i = 0; i < n; ++i) unchanged[static_cast<size_t>(i)] = i + 1;
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_C, C[i]);
                for (long long column = 0; column < n; ++column)
                    std::memcpy(C[i] + column * leading_C, A[i] + column * leading_A,
                                static_cast<size_t>(n) * sizeof(T));
                const int* const order =
                    pivots != nullptr ? pivots + 1ll * i * n : unchanged.data();
                call_fortran(lapack, n, C[i], leading_C, order, work.data(),
                             static_cast<int>(work.size()), info + i);
            }
        });
    }
};

// ---------------------------------------------------------------- numbers of other types
// Products are made in float or double; what is stored is rounded once.
inline int bytes_of(cudaDataType type) {
    switch (type) {
        case CUDA_R_8I:
            return 1;
        case CUDA_R_16F:
        case CUDA_R_16BF:
            return 2;
        case CUDA_R_32F:
        case CUDA_R_32I:
            return 4;
        case CUDA_R_64F:
            return 8;
        default:
            return 0;  // not there
    }
}
// A matrix of any type as one of Wide without gaps, and back.
template <class Wide>
std::vector<Wide> widened(const void* array, cudaDataType type, int rows, int columns,
                          long long leading) {
    std::vector<Wide> wide(static_cast<size_t>(rows) * static_cast<size_t>(columns));
    for (int column = 0; column < columns; ++column)
        for (int row = 0; row < rows; ++row)
            wide[static_cast<size_t>(row) +
                 static_cast<size_t>(column) * static_cast<size_t>(rows)] =
                read_number<Wide>(array, type, row + column * leading);
    return wide;
}
struct TypedMatrix {
    const void* array;
    cudaDataType type;
    int leading;
};
template <class Wide>
cublasStatus_t gemm_of_types(const char* name, cublasHandle_t handle, cublasOperation_t of_A,
                             cublasOperation_t of_B, int m, int n, int k, const void* alpha,
                             TypedMatrix A, TypedMatrix B, const void* beta, TypedMatrix C,
                             cudaDataType type_of_factors) {
    BlasCall call(name, handle);
    const int bytes = bytes_of(type_of_factors);
    const auto factor = [&](const char* which, const void* number) -> Scalar<Wide> {
        if (call.on_host()) {
            expect_on_host(name, which, number);
            return {read_number<Wide>(number, type_of_factors, 0), nullptr};
        }
        call.vector(which, static_cast<const char*>(number), bytes, 1, Use::read);
        return {Wide{}, static_cast<const Wide*>(number)};
    };
    const auto of_product = factor("alpha", alpha), of_C = factor("beta", beta);
    const auto value = [type_of_factors](const Scalar<Wide>& scalar) {
        return scalar.on_device != nullptr ? read_number<Wide>(scalar.on_device, type_of_factors, 0)
                                           : scalar.value;
    };
    const int rows_A = of_A == CUBLAS_OP_N ? m : k, columns_A = of_A == CUBLAS_OP_N ? k : m;
    const int rows_B = of_B == CUBLAS_OP_N ? k : n, columns_B = of_B == CUBLAS_OP_N ? n : k;
    const auto matrix = [&](const char* which, const TypedMatrix& typed, int rows, int columns,
                            Use use) {
        const int size = bytes_of(typed.type);
        call.expect(typed.leading >= std::max(1, rows));
        call.matrix(which, static_cast<const char*>(typed.array), 1ll * rows * size, columns,
                    1ll * typed.leading * size, use);
    };
    matrix("A", A, rows_A, columns_A, Use::read);
    matrix("B", B, rows_B, columns_B, Use::read);
    matrix("C", C, m, n, Use::written);
    if (call.status() != CUBLAS_STATUS_SUCCESS || m == 0 || n == 0) return call.status();
    void* const blas = fortran_function<Wide>(Library::blas, "gemm", name);
    return call.join([=] {
        const auto wide_A = widened<Wide>(A.array, A.type, rows_A, columns_A, A.leading);
        const auto wide_B = widened<Wide>(B.array, B.type, rows_B, columns_B, B.leading);
        const Wide factor_C = value(of_C);
        auto wide_C = factor_C == 0
                          ? std::vector<Wide>(static_cast<size_t>(m) * static_cast<size_t>(n))
                          : widened<Wide>(C.array, C.type, m, n, C.leading);
        call_fortran(blas, letter(of_A), letter(of_B), m, n, k, value(of_product), wide_A.data(),
                     std::max(1, rows_A), wide_B.data(), std::max(1, rows_B), factor_C,
                     wide_C.data(), m);
        for (int column = 0; column < n; ++column)
            for (int row = 0; row < m; ++row)
                store_number(const_cast<void*>(C.array), C.type, row + 1ll * column * C.leading,
                             wide_C[static_cast<size_t>(row) +
                                    static_cast<size_t>(column) * static_cast<size_t>(m)]);
    });
}

}  // namespace cuda_cpu

CUDA_CPU_BLAS(GemmBatched, gemmBatched)
CUDA_CPU_BLAS(GemmStridedBatched, gemmStridedBatched)
CUDA_CPU_BLAS(TrsmBatched, trsmBatched)
CUDA_CPU_BLAS(GetrfBatched, getrfBatched)
CUDA_CPU_BLAS(GetriBatched, getriBatched)

// In double where the product is asked for in double or integers; in float otherwise.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_A,
                                   cublasOperation_t of_B, int m, int n, int k, const void* alpha,
                                   const void* A, cudaDataType type_A, int leading_A, const void* B,
                                   cudaDataType type_B, int leading_B, const void* beta, void* C,
                                   cudaDataType type_C, int leading_C, cublasComputeType_t compute,
                                   cublasGemmAlgo_t) {
    for (const cudaDataType type : {type_A, type_B, type_C})
        if (cuda_cpu::bytes_of(type) == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    const cuda_cpu::TypedMatrix a{A, type_A, leading_A}, b{B, type_B, leading_B},
        c{C, type_C, leading_C};
    switch (compute) {
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
            return cuda_cpu::gemm_of_types<double>("cublasGemmEx", handle, of_A, of_B, m, n, k,
                                                   alpha, a, b, beta, c, CUDA_R_64F);
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            return cuda_cpu::gemm_of_types<double>("cublasGemmEx", handle, of_A, of_B, m, n, k,
                                                   alpha, a, b, beta, c, CUDA_R_32I);
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return cuda_cpu::gemm_of_types<float>("cublasGemmEx", handle, of_A, of_B, m, n, k,
                                                  alpha, a, b, beta, c, CUDA_R_16F);
        default:
            return cuda_cpu::gemm_of_types<float>("cublasGemmEx", handle, of_A, of_B, m, n, k,
                                                  alpha, a, b, beta, c, CUDA_R_32F);
    }
}
// The type of the computation as a type of numbers, as before CUDA 11.
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_A,
                                   cublasOperation_t of_B, int m, int n, int k, const void* alpha,
                                   const void* A, cudaDataType type_A, int leading_A, const void* B,
                                   cudaDataType type_B, int leading_B, const void* beta, void* C,
                                   cudaDataType type_C, int leading_C, cudaDataType compute,
                                   cublasGemmAlgo_t algorithm) {
    const cublasComputeType_t type = compute == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                     : compute == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                     : compute == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                                             : CUBLAS_COMPUTE_32F;
    return cublasGemmEx(handle, of_A, of_B, m, n, k, alpha, A, type_A, leading_A, B, type_B,
                        leading_B, beta, C, type_C, leading_C, type, algorithm);
}
inline cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t of_A,
                                    cublasOperation_t of_B, int m, int n, int k, const float* alpha,
                                    const void* A, cudaDataType type_A, int leading_A,
                                    const void* B, cudaDataType type_B, int leading_B,
                                    const float* beta, void* C, cudaDataType type_C,
                                    int leading_C) {
    return cublasGemmEx(handle, of_A, of_B, m, n, k, alpha, A, type_A, leading_A, B, type_B,
                        leading_B, beta, C, type_C, leading_C, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
}
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t of_A,
                                  cublasOperation_t of_B, int m, int n, int k, const __half* alpha,
                                  const __half* A, int leading_A, const __half* B, int leading_B,
                                  const __half* beta, __half* C, int leading_C) {
    return cublasGemmEx(handle, of_A, of_B, m, n, k, alpha, A, CUDA_R_16F, leading_A, B, CUDA_R_16F,
                        leading_B, beta, C, CUDA_R_16F, leading_C, CUBLAS_COMPUTE_16F,
                        CUBLAS_GEMM_DEFAULT);
}
