// cuBLASLt: the product itself, D = epilogue(alpha op(A) op(B) + beta C).
#pragma once

namespace cuda_cpu {

inline TypedMatrix typed_matrix(const void* array, const cublasLtMatrixLayoutOpaque_t& layout) {
    return {array,         layout.type, static_cast<int>(layout.leading),
            layout.stride, false,       layout.order == CUBLASLT_ORDER_ROW};
}
// GELU by its tanh, as cuBLASLt computes it.
inline float gelu(float x) {
    return 0.5f * x * (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}
inline void refuse_what_lt_has_not(const cublasLtMatmulDescOpaque_t& product,
                                   std::initializer_list<const cublasLtMatrixLayoutOpaque_t*> all) {
    constexpr uint32_t known =
        CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU_BIAS | CUBLASLT_EPILOGUE_GELU;
    for (const auto* const layout : all) {
        if (layout->order != CUBLASLT_ORDER_COL && layout->order != CUBLASLT_ORDER_ROW)
            refuse_call("cublasLtMatmul", "a matrix in neither columns nor rows");
        if (bytes_of(layout->type) == 0)
            refuse_call("cublasLtMatmul",
                        "numbers of type " + std::to_string(layout->type) + " (cudaDataType)");
    }
    if ((product.epilogue & ~known) != 0)
        refuse_call("cublasLtMatmul", "epilogue " + std::to_string(product.epilogue));
    if (product.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE)
        refuse_call("cublasLtMatmul", "a vector of factors");
}

}  // namespace cuda_cpu

inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                     const void* alpha, const void* A,
                                     cublasLtMatrixLayout_t layout_A, const void* B,
                                     cublasLtMatrixLayout_t layout_B, const void* beta,
                                     const void* C, cublasLtMatrixLayout_t layout_C, void* D,
                                     cublasLtMatrixLayout_t layout_D, const cublasLtMatmulAlgo_t*,
                                     void*, size_t, cudaStream_t stream) {
    using namespace cuda_cpu;
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (product == nullptr || layout_A == nullptr || layout_B == nullptr || layout_C == nullptr ||
        layout_D == nullptr)
        return CUBLAS_STATUS_INVALID_VALUE;
    refuse_what_lt_has_not(*product, {layout_A, layout_B, layout_C, layout_D});
    const auto of_A = static_cast<cublasOperation_t>(product->of_A),
               of_B = static_cast<cublasOperation_t>(product->of_B);
    const bool plain_A = of_A == CUBLAS_OP_N, plain_B = of_B == CUBLAS_OP_N;
    const uint64_t m = plain_A ? layout_A->rows : layout_A->columns,
                   k = plain_A ? layout_A->columns : layout_A->rows,
                   n = plain_B ? layout_B->columns : layout_B->rows;
    const bool fits = (plain_B ? layout_B->rows : layout_B->columns) == k && layout_D->rows == m &&
                      layout_D->columns == n && layout_C->rows == m && layout_C->columns == n &&
                      layout_C->type == layout_D->type && layout_A->batch == layout_D->batch &&
                      layout_B->batch == layout_D->batch && layout_C->batch == layout_D->batch;
    if (!fits) return CUBLAS_STATUS_INVALID_VALUE;

    // A handle of cuBLAS for the length of this call.
    cublasContext in_stream;
    in_stream.stream = stream;
    in_stream.pointer_mode = static_cast<cublasPointerMode_t>(product->pointer_mode);
    const TypedMatrix target = typed_matrix(D, *layout_D);
    TypedGemm gemm{"cublasLtMatmul",
                   &in_stream,
                   of_A,
                   of_B,
                   static_cast<int>(m),
                   static_cast<int>(n),
                   static_cast<int>(k),
                   alpha,
                   beta,
                   typed_matrix(A, *layout_A),
                   typed_matrix(B, *layout_B),
                   typed_matrix(C, *layout_C),
                   product->compute,
                   layout_D->batch,
                   &target};
    const uint32_t epilogue = product->epilogue;
    if (epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        const bool is_float = layout_D->type == CUDA_R_32F || layout_D->type == CUDA_R_16F ||
                              layout_D->type == CUDA_R_16BF;
        if (!is_float) refuse_call("cublasLtMatmul", "an epilogue of other numbers than float's");
        const void* const bias = (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0 ? product->bias : nullptr;
        const auto type = product->type_of_bias < 0
                              ? layout_D->type
                              : static_cast<cudaDataType>(product->type_of_bias);
        if ((epilogue & CUBLASLT_EPILOGUE_BIAS) != 0)
            expect_on_device(
                "cublasLtMatmul",
                {"the bias", bias, m * static_cast<uint64_t>(bytes_of(type)), 1, 0, false});
        gemm.epilogue = [=](std::vector<float>& result) {
            for (size_t i = 0; i < result.size(); ++i) {
                float& x = result[i];
                if (bias != nullptr)
                    x += read_number<float>(bias, type, static_cast<long long>(i % m));
                if ((epilogue & CUBLASLT_EPILOGUE_RELU) != 0) x = x > 0 ? x : 0;
                if ((epilogue & CUBLASLT_EPILOGUE_GELU) != 0) x = gelu(x);
            }
        };
    }
    return gemm_of_types(gemm);
}
// There is one algorithm, which needs no workspace.
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t A,
    cublasLtMatrixLayout_t B, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t D,
    cublasLtMatmulPreference_t preference, int wanted, cublasLtMatmulHeuristicResult_t results[],
    int* found) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (product == nullptr || A == nullptr || B == nullptr || D == nullptr ||
        preference == nullptr || wanted < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    *found = cuda_cpu::is_product(product->compute, A->type, B->type, D->type) ? 1 : 0;
    if (*found == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    results[0] = {};
    results[0].state = CUBLAS_STATUS_SUCCESS;
    results[0].wavesCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}
