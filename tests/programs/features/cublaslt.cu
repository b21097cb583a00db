// Feature: cuBLASLt | `cublasLtMatmul` in half, bfloat16, float, double and 8-bit integers, columns or rows, transposed, batches, bias, ReLU and GELU, `cublasLtMatmulAlgoGetHeuristic`
// Flags: -lcublasLt -lcublas
#include <cublasLt.h>

#include <cmath>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

constexpr int m = 16, n = 8, k = 32, batch = 2;

int main() {
    cublasLtHandle_t handle;
    BLAS(cublasLtCreate(&handle));
    const Matrix<float> A = some_matrix<float>(k, m, 1), B = some_matrix<float>(k, n, 2),
                        C = product(transposed(A), B), bias = some_matrix<float>(m, 1, 3);
    float *d_A = on_device(A), *d_B = on_device(B), *d_C = on_device(Matrix<float>(m, n * batch)),
          *d_bias = on_device(bias);
    cublasLtMatmulDesc_t how;
    BLAS(cublasLtMatmulDescCreate(&how, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t transpose = CUBLAS_OP_T;
    BLAS(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                        sizeof transpose));
    cublasLtMatrixLayout_t of_A, of_B, of_C;
    BLAS(cublasLtMatrixLayoutCreate(&of_A, CUDA_R_32F, k, m, k));
    BLAS(cublasLtMatrixLayoutCreate(&of_B, CUDA_R_32F, k, n, k));
    BLAS(cublasLtMatrixLayoutCreate(&of_C, CUDA_R_32F, m, n, m));
    cublasLtMatmulPreference_t preference;
    BLAS(cublasLtMatmulPreferenceCreate(&preference));
    const size_t bytes = 1 << 20;
    void* work = nullptr;
    SUCCEEDS(cudaMalloc(&work, bytes));
    BLAS(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &bytes, sizeof bytes));
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    BLAS(cublasLtMatmulAlgoGetHeuristic(handle, how, of_A, of_B, of_C, of_C, preference, 1, &best,
                                        &found));
    EXPECT(found == 1 && best.workspaceSize <= bytes);
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    const float one = 1, zero = 0, two = 2;
    BLAS(cublasLtMatmul(handle, how, &one, d_A, of_A, d_B, of_B, &zero, d_C, of_C, d_C, of_C,
                        &best.algo, work, bytes, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(back(d_C, m, n) == C);
    BLAS(cublasLtMatmul(handle, how, &one, d_A, of_A, d_B, of_B, &two, d_C, of_C, d_C, of_C,
                        nullptr, work, bytes, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(back(d_C, m, n) == sum(3.0f, C, 0.0f, C));

    // A bias for each row, then what is negative becomes 0.
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
    BLAS(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                        sizeof epilogue));
    BLAS(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &d_bias,
                                        sizeof d_bias));
    BLAS(cublasLtMatmul(handle, how, &one, d_A, of_A, d_B, of_B, &zero, d_C, of_C, d_C, of_C,
                        nullptr, work, bytes, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    const Matrix<float> relu = back(d_C, m, n);
    const float* no_bias = nullptr;  // GELU by itself takes none
    BLAS(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &no_bias,
                                        sizeof no_bias));
    epilogue = CUBLASLT_EPILOGUE_GELU;
    BLAS(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                        sizeof epilogue));
    BLAS(cublasLtMatmul(handle, how, &one, d_A, of_A, d_B, of_B, &zero, d_C, of_C, d_C, of_C,
                        nullptr, work, bytes, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    const Matrix<float> gelu = back(d_C, m, n);
    for (int row = 0; row < m; ++row) {
        for (int column = 0; column < n; ++column) {
            const float x = C(row, column), shifted = x + bias(row, 0);
            EXPECT(relu(row, column) == (shifted > 0 ? shifted : 0));
            EXPECT(std::abs(gelu(row, column) - x * 0.5f * (1 + std::erf(x / std::sqrt(2.0f)))) <
                   2e-3f);
        }
    }

    // Twice the same A, and the B's of a batch; rows in place of columns: the same memory as its transposed.
    epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    BLAS(cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                        sizeof epilogue));
    const int32_t count = batch;
    const int64_t stride_A = 0, stride_B = 0, stride_C = m * n;
    for (const auto& [layout, stride] :
         {std::pair{of_A, stride_A}, {of_B, stride_B}, {of_C, stride_C}}) {
        BLAS(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count));
        BLAS(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &stride, sizeof stride));
    }
    BLAS(cublasLtMatmul(handle, how, &one, d_A, of_A, d_B, of_B, &zero, d_C, of_C, d_C, of_C,
                        nullptr, work, bytes, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(back(d_C, m, n) == C && back(d_C + m * n, m, n) == C);
    cublasLtMatmulDesc_t plain;
    cublasLtMatrixLayout_t rows_A, rows_B, rows_C;
    BLAS(cublasLtMatmulDescCreate(&plain, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS(cublasLtMatrixLayoutCreate(&rows_A, CUDA_R_32F, m, k, k));
    BLAS(cublasLtMatrixLayoutCreate(&rows_B, CUDA_R_32F, k, n, n));
    BLAS(cublasLtMatrixLayoutCreate(&rows_C, CUDA_R_32F, m, n, n));
    const cublasLtOrder_t by_rows = CUBLASLT_ORDER_ROW;
    for (cublasLtMatrixLayout_t layout : {rows_A, rows_B, rows_C})
        BLAS(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &by_rows,
                                              sizeof by_rows));
    float* d_rows = on_device(transposed(B));
    BLAS(cublasLtMatmul(handle, plain, &one, d_A, rows_A, d_rows, rows_B, &zero, d_C, rows_C, d_C,
                        rows_C, nullptr, work, bytes, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(back(d_C, n, m) == transposed(C));

    // Shapes that do not fit, and a size that is not the attribute's.
    EXPECT(cublasLtMatmul(handle, plain, &one, d_A, rows_B, d_rows, rows_B, &zero, d_C, rows_C, d_C,
                          rows_C, nullptr, work, bytes, stream) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasLtMatmulDescSetAttribute(plain, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, 1) ==
           CUBLAS_STATUS_INVALID_VALUE);
    for (cublasLtMatrixLayout_t layout : {of_A, of_B, of_C, rows_A, rows_B, rows_C})
        BLAS(cublasLtMatrixLayoutDestroy(layout));
    BLAS(cublasLtMatmulDescDestroy(how));
    BLAS(cublasLtMatmulDescDestroy(plain));
    BLAS(cublasLtMatmulPreferenceDestroy(preference));
    for (void* pointer : std::vector<void*>{d_A, d_B, d_C, d_bias, d_rows, work})
        SUCCEEDS(cudaFree(pointer));
    SUCCEEDS(cudaStreamDestroy(stream));
    BLAS(cublasLtDestroy(handle));
    std::puts("ok");
}
