// Feature: cuBLAS, numbers by their type | `cublasGemmEx`, `cublasGemmStridedBatchedEx`, `cublasGemmBatchedEx`, `cublasHgemm`, `cublasSgemmEx`, `cublasAxpyEx`, `cublasScalEx`, `cublasDotEx` with half, bfloat16, 8-bit integers; other combinations are `CUBLAS_STATUS_NOT_SUPPORTED`
// Flags: -lcublas
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

constexpr int m = 8, n = 4, k = 16;

template <class To, class From>
std::vector<To> converted(const std::vector<From>& values, To (*convert)(From)) {
    std::vector<To> result;
    for (const From& value : values) result.push_back(convert(value));
    return result;
}
__half to_half(float x) { return __float2half(x); }
float from_half(__half x) { return __half2float(x); }
__nv_bfloat16 to_bfloat(float x) { return __float2bfloat16(x); }
float from_bfloat(__nv_bfloat16 x) { return __bfloat162float(x); }
signed char to_char(float x) { return static_cast<signed char>(x); }

int main() {
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    const Matrix<float> A = some_matrix<float>(m, k, 1), B = some_matrix<float>(k, n, 2),
                        C = product(A, B);
    const float one = 1, zero = 0;
    const __half half_one = __float2half(1), half_zero = __float2half(0);
    __half *A16 = on_device(converted(A.values, to_half)),
           *B16 = on_device(converted(B.values, to_half)),
           *C16 = on_device(std::vector<__half>(2 * m * n));
    __nv_bfloat16 *A_b = on_device(converted(A.values, to_bfloat)),
                  *B_b = on_device(converted(B.values, to_bfloat)),
                  *C_b = on_device(std::vector<__nv_bfloat16>(m * n));
    signed char *A8 = on_device(converted(A.values, to_char)),
                *B8 = on_device(converted(B.values, to_char));
    float* C32 = on_device(std::vector<float>(2 * m * n));
    int* C_i = on_device(std::vector<int>(m * n));

    BLAS(cublasHgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &half_one, A16, m, B16, k,
                     &half_zero, C16, m));
    EXPECT(converted(back(C16, m * n), from_half) == C.values);
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A16, CUDA_R_16F, m, B16,
                      CUDA_R_16F, k, &zero, C32, CUDA_R_32F, m, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    EXPECT(back(C32, m, n) == C);
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A_b, CUDA_R_16BF, m, B_b,
                      CUDA_R_16BF, k, &zero, C_b, CUDA_R_16BF, m, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT_TENSOR_OP));
    EXPECT(converted(back(C_b, m * n), from_bfloat) == C.values);
    BLAS(cublasSgemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A16, CUDA_R_16F, m, B16,
                       CUDA_R_16F, k, &one, C32, CUDA_R_32F, m));
    EXPECT(back(C32, m, n) == sum(2.0f, C, 0.0f, C));
    const int int_one = 1, int_zero = 0;
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &int_one, A8, CUDA_R_8I, m, B8,
                      CUDA_R_8I, k, &int_zero, C_i, CUDA_R_32I, m, CUBLAS_COMPUTE_32I,
                      CUBLAS_GEMM_DEFAULT));
    const std::vector<int> integers = back(C_i, m * n);
    for (size_t i = 0; i < integers.size(); ++i)
        EXPECT(integers[i] == static_cast<int>(C.values[i]));

    // Two products, of which the second has the first's A again; by strides and by addresses.
    BLAS(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A16,
                                    CUDA_R_16F, m, 0, B16, CUDA_R_16F, k, 0, &zero, C32, CUDA_R_32F,
                                    m, m * n, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    EXPECT(back(C32 + m * n, m, n) == C);
    const void** A_at = on_device(std::vector<const void*>{A16, A16});
    const void** B_at = on_device(std::vector<const void*>{B16, B16});
    void** C_at = on_device(std::vector<void*>{C16 + m * n, C16});
    BLAS(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A_at, CUDA_R_16F, m,
                             B_at, CUDA_R_16F, k, &zero, C_at, CUDA_R_16F, m, 2, CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT));
    EXPECT(converted(back(C16 + m * n, m * n), from_half) == C.values);

#if CUDART_VERSION >= 12050
    // The same two as groups of one matrix each, and a product in float that may be made of others.
    const cublasOperation_t as_it_is[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
    const int rows[2] = {m, m}, columns[2] = {n, n}, inner[2] = {k, k}, counts[2] = {1, 1};
    const float ones[2] = {1, 1}, zeros[2] = {0, 0};
    BLAS(cublasGemmGroupedBatchedEx(handle, as_it_is, as_it_is, rows, columns, inner, ones, A_at,
                                    CUDA_R_16F, rows, B_at, CUDA_R_16F, inner, zeros, C_at,
                                    CUDA_R_16F, rows, 2, counts, CUBLAS_COMPUTE_32F));
    EXPECT(converted(back(C16, m * n), from_half) == C.values);
#endif
#if CUDART_VERSION >= 13000
    float *A32 = on_device(A), *B32 = on_device(B);
    BLAS(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_DEFAULT));
    BLAS(cublasSetMathMode(handle, CUBLAS_FP32_EMULATED_BF16X9_MATH));
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A32, CUDA_R_32F, m, B32,
                      CUDA_R_32F, k, &zero, C32, CUDA_R_32F, m, CUBLAS_COMPUTE_32F_EMULATED_16BFX9,
                      CUBLAS_GEMM_AUTOTUNE));
    EXPECT(back(C32, m, n) == C);
    BLAS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    for (float* pointer : {A32, B32}) SUCCEEDS(cudaFree(pointer));
#endif

    // No such combination.
    EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A16, CUDA_R_16F, m, B_b,
                        CUDA_R_16BF, k, &zero, C32, CUDA_R_32F, m, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, A16, CUDA_R_16F, m - 1,
                        B16, CUDA_R_16F, k, &zero, C32, CUDA_R_32F, m, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_INVALID_VALUE);

    // y = 3 x + y of halves, computed in float; every second y.
    const float three = 3;
    __half* x = on_device(converted(std::vector<float>{1, 2, 3}, to_half));
    __half* y = on_device(converted(std::vector<float>{1, 9, 2, 9, 3}, to_half));
    BLAS(cublasAxpyEx(handle, 3, &three, CUDA_R_32F, x, CUDA_R_16F, 1, y, CUDA_R_16F, 2,
                      CUDA_R_32F));
    EXPECT(converted(back(y, 5), from_half) == (std::vector<float>{4, 9, 8, 9, 12}));
    BLAS(cublasScalEx(handle, 3, &three, CUDA_R_32F, x, CUDA_R_16F, 1, CUDA_R_32F));
    __half dot;
    BLAS(cublasDotEx(handle, 3, x, CUDA_R_16F, 1, x, CUDA_R_16F, 1, &dot, CUDA_R_16F, CUDA_R_32F));
    EXPECT(__half2float(dot) == 9 + 36 + 81);
    EXPECT(cublasScalEx(handle, 3, &three, CUDA_R_32F, x, CUDA_R_16F, 1, CUDA_R_64F) ==
           CUBLAS_STATUS_NOT_SUPPORTED);
    for (void* pointer :
         std::vector<void*>{A16, B16, C16, A_b, B_b, C_b, A8, B8, C32, C_i, A_at, B_at, C_at, x, y})
        SUCCEEDS(cudaFree(pointer));
    BLAS(cublasDestroy(handle));
    std::puts("ok");
}
