// Products of matrices of any type of numbers, for cublasGemmEx, its kin and cuBLASLt. They are made in float or double;
// what is stored is rounded once.
#pragma once

#include "blas_batched.h"

enum cublasGemmAlgo_t {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
#define CUDA_CPU_ALGORITHM(number) \
    CUBLAS_GEMM_ALGO##number = number, CUBLAS_GEMM_ALGO##number##_TENSOR_OP = 100 + number
    CUDA_CPU_ALGORITHM(0),
    CUDA_CPU_ALGORITHM(1),
    CUDA_CPU_ALGORITHM(2),
    CUDA_CPU_ALGORITHM(3),
    CUDA_CPU_ALGORITHM(4),
    CUDA_CPU_ALGORITHM(5),
    CUDA_CPU_ALGORITHM(6),
    CUDA_CPU_ALGORITHM(7),
    CUDA_CPU_ALGORITHM(8),
    CUDA_CPU_ALGORITHM(9),
    CUDA_CPU_ALGORITHM(10),
    CUDA_CPU_ALGORITHM(11),
    CUDA_CPU_ALGORITHM(12),
    CUDA_CPU_ALGORITHM(13),
    CUDA_CPU_ALGORITHM(14),
    CUDA_CPU_ALGORITHM(15),
#undef CUDA_CPU_ALGORITHM
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_AUTOTUNE = 999
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
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
    CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79
};
using cublasDataType_t = cudaDataType;

namespace cuda_cpu {

// Matrices of a batch lie `stride` elements apart, or at addresses that are stored on the device.
struct TypedMatrix {
    const void* array;
    cudaDataType type;
    int leading;
    long long stride = 0;
    bool has_addresses = false, by_rows = false;
    const void* at(int i) const {
        return has_addresses ? static_cast<const void* const*>(array)[i]
                             : static_cast<const char*>(array) + i * stride * bytes_of(type);
    }
    long long place(long long row, long long column) const {
        return by_rows ? row * leading + column : row + column * leading;
    }
    // As columns of Wide without gaps, and back.
    template <class Wide>
    std::vector<Wide> widened(int i, int rows, int columns) const {
        std::vector<Wide> wide;
        for (int column = 0; column < columns; ++column)
            for (int row = 0; row < rows; ++row)
                wide.push_back(read_number<Wide>(at(i), type, place(row, column)));
        return wide;
    }
    template <class Wide>
    void store(int i, int rows, int columns, const std::vector<Wide>& wide) const {
        size_t next = 0;
        for (int column = 0; column < columns; ++column)
            for (int row = 0; row < rows; ++row)
                store_number(const_cast<void*>(at(i)), type, place(row, column), wide[next++]);
    }
    // Of those at stored addresses, which only the device knows.
    void show(const char* function, const char* name, int i, long long rows, long long columns,
              Use use) const {
        const int size = bytes_of(type);
        if (has_addresses)
            show_matrix(function, {name, rows * size, columns, 1ll * leading * size, use},
                        static_cast<const char*>(at(i)));
    }
};
struct TypedGemm {
    const char* name;
    cublasHandle_t handle;
    cublasOperation_t of_A, of_B;
    int m, n, k;
    const void *alpha, *beta;
    TypedMatrix A, B, C;
    cublasComputeType_t compute;
    int count = 1;
    // Where the result goes, if not to C, and what is done to it before it is rounded (in float).
    const TypedMatrix* D = nullptr;
    std::function<void(std::vector<float>&)> epilogue = nullptr;
};
// A factor of the type in which a product is made.
template <class Wide>
Scalar<Wide> typed_scalar(BlasCall& call, const char* name, const void* number, cudaDataType type) {
    call.expect(number != nullptr);
    if (!call.is_valid()) return {};
    if (call.on_host()) {
        expect_on_host(call.function(), name, number);
        return {read_number<Wide>(number, type, 0), nullptr};
    }
    call.vector(name, static_cast<const char*>(number), bytes_of(type), 1, Use::read);
    return {Wide{}, static_cast<const Wide*>(number)};
}
template <class Wide>
Wide typed_value(const Scalar<Wide>& scalar, cudaDataType type) {
    return scalar.on_device != nullptr ? read_number<Wide>(scalar.on_device, type, 0)
                                       : scalar.value;
}
template <class Wide>
cublasStatus_t gemm_of_types(const TypedGemm& g, cudaDataType of_factors) {
    BlasCall call(g.name, g.handle);
    const auto of_product = typed_scalar<Wide>(call, "alpha", g.alpha, of_factors),
               of_C = typed_scalar<Wide>(call, "beta", g.beta, of_factors);
    const bool plain_A = g.of_A == CUBLAS_OP_N, plain_B = g.of_B == CUBLAS_OP_N;
    const int rows_A = plain_A ? g.m : g.k, columns_A = plain_A ? g.k : g.m;
    const int rows_B = plain_B ? g.k : g.n, columns_B = plain_B ? g.n : g.k;
    const TypedMatrix D = g.D != nullptr ? *g.D : g.C;
    const auto matrix = [&](const char* which, const TypedMatrix& M, int rows, int columns,
                            Use use) {
        if (M.by_rows) std::swap(rows, columns);
        const int size = bytes_of(M.type);
        call.expect(M.leading >= std::max(1, rows) && rows >= 0 && columns >= 0 && g.count >= 0);
        if (M.has_addresses)
            return call.vector(which, static_cast<const void* const*>(M.array), g.count, 1,
                               Use::read);
        for (int i = 0; i < g.count && call.is_valid(); ++i)
            call.matrix(which, static_cast<const char*>(M.at(i)), 1ll * rows * size, columns,
                        std::max(1ll * M.leading * size, 1ll), use);
    };
    matrix("A", g.A, rows_A, columns_A, Use::read);
    matrix("B", g.B, rows_B, columns_B, Use::read);
    if (of_C.on_device != nullptr || !is_zero(of_C.value)) matrix("C", g.C, g.m, g.n, Use::read);
    matrix(g.D != nullptr ? "D" : "C", D, g.m, g.n, Use::written);
    call.expect(letter(g.of_A) != '\0' && letter(g.of_B) != '\0');
    if (call.status() != CUBLAS_STATUS_SUCCESS || g.m == 0 || g.n == 0) return call.status();
    void* const blas = fortran_function<Wide>(Library::blas, "gemm", g.name);
    return call.join([=] {
        const Wide factor = typed_value(of_product, of_factors),
                   factor_C = typed_value(of_C, of_factors);
        for (int i = 0; i < g.count; ++i) {
            g.A.show(g.name, "A", i, rows_A, columns_A, Use::read);
            g.B.show(g.name, "B", i, rows_B, columns_B, Use::read);
            D.show(g.name, "C", i, g.m, g.n, Use::written);
            const auto A = g.A.widened<Wide>(i, rows_A, columns_A);
            const auto B = g.B.widened<Wide>(i, rows_B, columns_B);
            auto C = is_zero(factor_C)
                         ? std::vector<Wide>(static_cast<size_t>(g.m) * static_cast<size_t>(g.n))
                         : g.C.widened<Wide>(i, g.m, g.n);
            call_fortran(blas, letter(g.of_A), letter(g.of_B), g.m, g.n, g.k, factor, A.data(),
                         std::max(1, rows_A), B.data(), std::max(1, rows_B), factor_C, C.data(),
                         g.m);
            if constexpr (std::is_same_v<Wide, float>) {
                if (g.epilogue) g.epilogue(C);
            }
            D.store(i, g.m, g.n, C);
        }
    });
}
// The combinations of types that the documentation of cublasGemmEx lists.
inline bool is_product(cublasComputeType_t compute, cudaDataType A, cudaDataType B,
                       cudaDataType C) {
    if (A != B) return false;
    switch (compute) {
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return A == CUDA_R_16F && C == A;
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            return A == CUDA_R_8I && C == CUDA_R_32I;
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
        case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
            return (A == CUDA_R_64F || A == CUDA_C_64F) && C == A;
        case CUBLAS_COMPUTE_32F:
        case CUBLAS_COMPUTE_32F_PEDANTIC:
            if (A == CUDA_R_16F || A == CUDA_R_16BF) return C == A || C == CUDA_R_32F;
            if (A == CUDA_R_8I) return C == CUDA_R_32F;
            if (A == CUDA_C_8I) return C == CUDA_C_32F;
            [[fallthrough]];
        default:
            return (A == CUDA_R_32F || A == CUDA_C_32F) && C == A;
    }
}
inline cublasStatus_t gemm_of_types(const TypedGemm& g) {
    if (!is_product(g.compute, g.A.type, g.B.type, g.C.type)) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool in_complex = g.C.type == CUDA_C_32F || g.C.type == CUDA_C_64F;
    switch (g.compute) {
        case CUBLAS_COMPUTE_64F:
        case CUBLAS_COMPUTE_64F_PEDANTIC:
        case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
            return in_complex ? gemm_of_types<cuDoubleComplex>(g, CUDA_C_64F)
                              : gemm_of_types<double>(g, CUDA_R_64F);
        case CUBLAS_COMPUTE_32I:
        case CUBLAS_COMPUTE_32I_PEDANTIC:
            if (g.A.leading % 4 != 0 || g.B.leading % 4 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
            return gemm_of_types<double>(g, CUDA_R_32I);
        case CUBLAS_COMPUTE_16F:
        case CUBLAS_COMPUTE_16F_PEDANTIC:
            return gemm_of_types<float>(g, CUDA_R_16F);
        default:
            return in_complex ? gemm_of_types<cuComplex>(g, CUDA_C_32F)
                              : gemm_of_types<float>(g, CUDA_R_32F);
    }
}
// The type of the computation as a type of numbers, as before CUDA 11.
inline cublasComputeType_t compute_type(cudaDataType type) {
    return type == CUDA_R_64F || type == CUDA_C_64F ? CUBLAS_COMPUTE_64F
           : type == CUDA_R_32I                     ? CUBLAS_COMPUTE_32I
           : type == CUDA_R_16F                     ? CUBLAS_COMPUTE_16F
                                                    : CUBLAS_COMPUTE_32F;
}
inline cublasComputeType_t compute_type(cublasComputeType_t type) { return type; }

}  // namespace cuda_cpu
