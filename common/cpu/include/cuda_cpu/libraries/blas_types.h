// cuBLAS: calls whose numbers are of types that are arguments (cublasGemmEx, cublasAxpyEx, ...), and products of halves.
#pragma once

#include "blas_typed_gemm.h"

template <class Compute>
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_A, cublasOperation_t of_B,
                            int m, int n, int k, const void* alpha, const void* A,
                            cudaDataType type_A, int leading_A, const void* B, cudaDataType type_B,
                            int leading_B, const void* beta, void* C, cudaDataType type_C,
                            int leading_C, Compute compute, cublasGemmAlgo_t) {
    return cuda_cpu::gemm_of_types({"cublasGemmEx",
                                    handle,
                                    of_A,
                                    of_B,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    beta,
                                    {A, type_A, leading_A},
                                    {B, type_B, leading_B},
                                    {C, type_C, leading_C},
                                    cuda_cpu::compute_type(compute)});
}
template <class Compute>
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_A,
                                          cublasOperation_t of_B, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType type_A,
                                          int leading_A, long long stride_A, const void* B,
                                          cudaDataType type_B, int leading_B, long long stride_B,
                                          const void* beta, void* C, cudaDataType type_C,
                                          int leading_C, long long stride_C, int count,
                                          Compute compute, cublasGemmAlgo_t) {
    return cuda_cpu::gemm_of_types({"cublasGemmStridedBatchedEx",
                                    handle,
                                    of_A,
                                    of_B,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    beta,
                                    {A, type_A, leading_A, stride_A},
                                    {B, type_B, leading_B, stride_B},
                                    {C, type_C, leading_C, stride_C},
                                    cuda_cpu::compute_type(compute),
                                    count});
}
template <class Compute>
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t of_A,
                                   cublasOperation_t of_B, int m, int n, int k, const void* alpha,
                                   const void* const A[], cudaDataType type_A, int leading_A,
                                   const void* const B[], cudaDataType type_B, int leading_B,
                                   const void* beta, void* const C[], cudaDataType type_C,
                                   int leading_C, int count, Compute compute, cublasGemmAlgo_t) {
    return cuda_cpu::gemm_of_types({"cublasGemmBatchedEx",
                                    handle,
                                    of_A,
                                    of_B,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    beta,
                                    {A, type_A, leading_A, 0, true},
                                    {B, type_B, leading_B, 0, true},
                                    {C, type_C, leading_C, 0, true},
                                    cuda_cpu::compute_type(compute),
                                    count});
}
// Groups of products, each of one shape; a group's matrices follow each other in the arrays of addresses.
inline cublasStatus_t cublasGemmGroupedBatchedEx(
    cublasHandle_t handle, const cublasOperation_t of_A[], const cublasOperation_t of_B[],
    const int m[], const int n[], const int k[], const void* alpha, const void* const A[],
    cudaDataType type_A, const int leading_A[], const void* const B[], cudaDataType type_B,
    const int leading_B[], const void* beta, void* const C[], cudaDataType type_C,
    const int leading_C[], int groups, const int counts[], cublasComputeType_t compute) {
    if (groups < 0) return CUBLAS_STATUS_INVALID_VALUE;
    const int size = type_C == CUDA_R_64F ? 8 : 4;  // of a factor
    for (int group = 0, first = 0; group < groups; first += counts[group++]) {
        const cublasStatus_t status =
            cuda_cpu::gemm_of_types({"cublasGemmGroupedBatchedEx",
                                     handle,
                                     of_A[group],
                                     of_B[group],
                                     m[group],
                                     n[group],
                                     k[group],
                                     static_cast<const char*>(alpha) + group * size,
                                     static_cast<const char*>(beta) + group * size,
                                     {A + first, type_A, leading_A[group], 0, true},
                                     {B + first, type_B, leading_B[group], 0, true},
                                     {C + first, type_C, leading_C[group], 0, true},
                                     compute,
                                     counts[group]});
        if (status != CUBLAS_STATUS_SUCCESS) return status;
    }
    return CUBLAS_STATUS_SUCCESS;
}
template <class Factor>
cublasStatus_t cuda_cpu_gemm_in_float(cublasHandle_t handle, cublasOperation_t of_A,
                                      cublasOperation_t of_B, int m, int n, int k,
                                      const Factor* alpha, const void* A, cudaDataType type_A,
                                      int leading_A, const void* B, cudaDataType type_B,
                                      int leading_B, const Factor* beta, void* C,
                                      cudaDataType type_C, int leading_C) {
    return cublasGemmEx(handle, of_A, of_B, m, n, k, alpha, A, type_A, leading_A, B, type_B,
                        leading_B, beta, C, type_C, leading_C, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
}
inline constexpr auto cublasSgemmEx = cuda_cpu_gemm_in_float<float>;
inline constexpr auto cublasCgemmEx = cuda_cpu_gemm_in_float<cuComplex>;

inline cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t of_A,
                                                cublasOperation_t of_B, int m, int n, int k,
                                                const __half* alpha, const __half* A, int leading_A,
                                                long long stride_A, const __half* B, int leading_B,
                                                long long stride_B, const __half* beta, __half* C,
                                                int leading_C, long long stride_C, int count) {
    return cuda_cpu::gemm_of_types({"cublasHgemm",
                                    handle,
                                    of_A,
                                    of_B,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    beta,
                                    {A, CUDA_R_16F, leading_A, stride_A},
                                    {B, CUDA_R_16F, leading_B, stride_B},
                                    {C, CUDA_R_16F, leading_C, stride_C},
                                    CUBLAS_COMPUTE_16F,
                                    count});
}
inline cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t of_A,
                                  cublasOperation_t of_B, int m, int n, int k, const __half* alpha,
                                  const __half* A, int leading_A, const __half* B, int leading_B,
                                  const __half* beta, __half* C, int leading_C) {
    return cublasHgemmStridedBatched(handle, of_A, of_B, m, n, k, alpha, A, leading_A, 0, B,
                                     leading_B, 0, beta, C, leading_C, 0, 1);
}
inline cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t of_A,
                                         cublasOperation_t of_B, int m, int n, int k,
                                         const __half* alpha, const __half* const A[],
                                         int leading_A, const __half* const B[], int leading_B,
                                         const __half* beta, __half* const C[], int leading_C,
                                         int count) {
    return cuda_cpu::gemm_of_types({"cublasHgemmBatched",
                                    handle,
                                    of_A,
                                    of_B,
                                    m,
                                    n,
                                    k,
                                    alpha,
                                    beta,
                                    {A, CUDA_R_16F, leading_A, 0, true},
                                    {B, CUDA_R_16F, leading_B, 0, true},
                                    {C, CUDA_R_16F, leading_C, 0, true},
                                    CUBLAS_COMPUTE_16F,
                                    count});
}

// ---------------------------------------------------------------- vectors; computed in float or double
namespace cuda_cpu {

struct TypedVector {
    const void* array;
    cudaDataType type;
    int step;
    // The place of an element; a negative step begins at the end.
    long long at(int n, int i) const { return 1ll * (step < 0 ? i - (n - 1) : i) * step; }
    template <class Wide>
    Wide read(int n, int i) const {
        return read_number<Wide>(array, type, at(n, i));
    }
    template <class Wide>
    void store(int n, int i, Wide value) const {
        store_number(const_cast<void*>(array), type, at(n, i), value);
    }
};
inline void add_vector(BlasCall& call, const char* name, const TypedVector& x, int n, Use use) {
    const int size = bytes_of(x.type);
    if (n > 0 && size > 0)
        call.matrix(name, static_cast<const char*>(x.array), size, n,
                    1ll * size * std::max(1, std::abs(x.step)), use);
}
// Calls work(a number of the type in which is computed), where the types go together as cuBLAS documents it: all alike, or
// halves computed in float.
template <class Work>
cublasStatus_t in_type(std::initializer_list<cudaDataType> arrays, cudaDataType factor,
                       cudaDataType execution, Work work) {
    const cudaDataType first = *arrays.begin();
    for (const cudaDataType type : arrays)
        if (type != first) return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool is_half = first == CUDA_R_16F || first == CUDA_R_16BF;
    const cudaDataType computed = is_half ? CUDA_R_32F : first;
    if (execution != computed || (factor != computed && factor != first))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    switch (computed) {
        case CUDA_R_32F:
            return work(float{});
        case CUDA_R_64F:
            return work(double{});
        case CUDA_C_32F:
            return work(cuComplex{});
        case CUDA_C_64F:
            return work(cuDoubleComplex{});
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
inline cublasStatus_t typed_dot(const char* name, cublasHandle_t handle, int n, TypedVector x,
                                TypedVector y, bool conjugated, void* result,
                                cudaDataType type_of_result, cudaDataType execution) {
    return in_type({x.type, y.type}, type_of_result, execution, [=](auto zero) {
        using Wide = decltype(zero);
        BlasCall call(name, handle);
        add_vector(call, "x", x, n, Use::read);
        add_vector(call, "y", y, n, Use::read);
        call.result("the result", static_cast<char*>(result));
        return call.join_and_wait_for_result([=] {
            Wide sum{};
            for (int i = 0; i < n; ++i) {
                const Wide left = x.read<Wide>(n, i);
                sum = sum_of(
                    sum, product_of(conjugated ? conjugate_of(left) : left, y.read<Wide>(n, i)));
            }
            store_number(result, type_of_result, 0, sum);
        });
    });
}

}  // namespace cuda_cpu

inline cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void* alpha,
                                   cudaDataType type_of_alpha, const void* x, cudaDataType type_x,
                                   int step_x, void* y, cudaDataType type_y, int step_y,
                                   cudaDataType execution) {
    using namespace cuda_cpu;
    const TypedVector from{x, type_x, step_x}, to{y, type_y, step_y};
    return in_type({type_x, type_y}, type_of_alpha, execution, [=](auto zero) {
        using Wide = decltype(zero);
        BlasCall call("cublasAxpyEx", handle);
        const auto factor = typed_scalar<Wide>(call, "alpha", alpha, type_of_alpha);
        add_vector(call, "x", from, n, Use::read);
        add_vector(call, "y", to, n, Use::written);
        return call.join([=] {
            const Wide value = typed_value(factor, type_of_alpha);
            for (int i = 0; i < n; ++i)
                to.store(n, i,
                         sum_of(product_of(value, from.read<Wide>(n, i)), to.read<Wide>(n, i)));
        });
    });
}
inline cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void* alpha,
                                   cudaDataType type_of_alpha, void* x, cudaDataType type_x,
                                   int step, cudaDataType execution) {
    using namespace cuda_cpu;
    const TypedVector vector{x, type_x, step};
    return in_type({type_x}, type_of_alpha, execution, [=](auto zero) {
        using Wide = decltype(zero);
        BlasCall call("cublasScalEx", handle);
        const auto factor = typed_scalar<Wide>(call, "alpha", alpha, type_of_alpha);
        add_vector(call, "x", vector, n, Use::written);
        return call.join([=] {
            const Wide value = typed_value(factor, type_of_alpha);
            for (int i = 0; i < n; ++i)
                vector.store(n, i, product_of(value, vector.read<Wide>(n, i)));
        });
    });
}
inline cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void* x, cudaDataType type_x,
                                  int step_x, const void* y, cudaDataType type_y, int step_y,
                                  void* result, cudaDataType type_of_result,
                                  cudaDataType execution) {
    return cuda_cpu::typed_dot("cublasDotEx", handle, n, {x, type_x, step_x}, {y, type_y, step_y},
                               false, result, type_of_result, execution);
}
inline cublasStatus_t cublasDotcEx(cublasHandle_t handle, int n, const void* x, cudaDataType type_x,
                                   int step_x, const void* y, cudaDataType type_y, int step_y,
                                   void* result, cudaDataType type_of_result,
                                   cudaDataType execution) {
    return cuda_cpu::typed_dot("cublasDotcEx", handle, n, {x, type_x, step_x}, {y, type_y, step_y},
                               true, result, type_of_result, execution);
}
