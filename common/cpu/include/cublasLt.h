// cuBLASLt: cublasLtMatmul of columns or rows, batches, and what may follow the product (bias, ReLU, GELU); no other order of
// elements, no numbers of 8 bits but integers. There is one algorithm.
#pragma once

#include <cmath>

#include "cublas_v2.h"

struct cublasLtContext {};
using cublasLtHandle_t = cublasLtContext*;
enum cublasLtOrder_t { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1 };
enum cublasLtPointerMode_t { CUBLASLT_POINTER_MODE_HOST = 0, CUBLASLT_POINTER_MODE_DEVICE = 1 };
enum cublasLtEpilogue_t {
    CUBLASLT_EPILOGUE_DEFAULT = 1,
    CUBLASLT_EPILOGUE_RELU = 2,
    CUBLASLT_EPILOGUE_BIAS = 4,
    CUBLASLT_EPILOGUE_RELU_BIAS = 2 | 4,
    CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 32 | 4
};
enum cublasLtMatrixLayoutAttribute_t {
    CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
    CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
    CUBLASLT_MATRIX_LAYOUT_ROWS = 2,
    CUBLASLT_MATRIX_LAYOUT_COLS = 3,
    CUBLASLT_MATRIX_LAYOUT_LD = 4,
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
};
enum cublasLtMatmulDescAttributes_t {
    CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,
    CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1,
    CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,
    CUBLASLT_MATMUL_DESC_TRANSA = 3,
    CUBLASLT_MATMUL_DESC_TRANSB = 4,
    CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
    CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
    CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
};
enum cublasLtMatmulPreferenceAttributes_t {
    CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0,
    CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8,
    CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT = 9
};
struct cublasLtMatrixLayoutOpaque_t {
    cudaDataType type;
    uint64_t rows, columns;
    int64_t leading;
    int32_t order = CUBLASLT_ORDER_COL, batch = 1;
    int64_t stride = 0;
};
struct cublasLtMatmulDescOpaque_t {
    cublasComputeType_t compute;
    int32_t type_of_factors;
    int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST, of_A = CUBLAS_OP_N, of_B = CUBLAS_OP_N;
    uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;
    int32_t type_of_bias = -1;  // as D
};
struct cublasLtMatmulPreferenceOpaque_t {};
struct cublasLtMatmulAlgo_t {
    uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
};
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t*;
using cublasLtMatmulPreference_t = cublasLtMatmulPreferenceOpaque_t*;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
    *handle = nullptr;
    int device;
    if (cudaGetDevice(&device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasLtContext;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
inline size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

// ---------------------------------------------------------------- descriptions
namespace cuda_cpu {

struct LtMember {
    void* start;
    size_t bytes;
};
inline LtMember member_of(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name) {
    switch (name) {
        case CUBLASLT_MATRIX_LAYOUT_TYPE:
            return {&layout->type, sizeof layout->type};
        case CUBLASLT_MATRIX_LAYOUT_ORDER:
            return {&layout->order, sizeof layout->order};
        case CUBLASLT_MATRIX_LAYOUT_ROWS:
            return {&layout->rows, sizeof layout->rows};
        case CUBLASLT_MATRIX_LAYOUT_COLS:
            return {&layout->columns, sizeof layout->columns};
        case CUBLASLT_MATRIX_LAYOUT_LD:
            return {&layout->leading, sizeof layout->leading};
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            return {&layout->batch, sizeof layout->batch};
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
            return {&layout->stride, sizeof layout->stride};
    }
    return {nullptr, 0};
}
inline LtMember member_of(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t name) {
    switch (name) {
        case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
            return {&product->compute, sizeof product->compute};
        case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
            return {&product->type_of_factors, sizeof product->type_of_factors};
        case CUBLASLT_MATMUL_DESC_POINTER_MODE:
            return {&product->pointer_mode, sizeof product->pointer_mode};
        case CUBLASLT_MATMUL_DESC_TRANSA:
            return {&product->of_A, sizeof product->of_A};
        case CUBLASLT_MATMUL_DESC_TRANSB:
            return {&product->of_B, sizeof product->of_B};
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            return {&product->epilogue, sizeof product->epilogue};
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            return {&product->bias, sizeof product->bias};
        case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
            return {&product->type_of_bias, sizeof product->type_of_bias};
    }
    return {nullptr, 0};
}
inline cublasStatus_t set_member(LtMember member, const void* value, size_t bytes) {
    if (member.start == nullptr || value == nullptr || bytes != member.bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(member.start, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}
// A `bytes` of 0 asks for the length alone.
inline cublasStatus_t get_member(LtMember member, void* value, size_t bytes, size_t* length) {
    if (length != nullptr) *length = member.bytes;
    if (bytes == 0 && length != nullptr) return CUBLAS_STATUS_SUCCESS;
    if (member.start == nullptr || value == nullptr || bytes < member.bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(value, member.start, member.bytes);
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace cuda_cpu

#define CUDA_CPU_DESCRIPTION(Name, Attribute)                                                     \
    inline cublasStatus_t cublasLt##Name##Destroy(cublasLt##Name##_t object) {                    \
        delete object;                                                                            \
        return CUBLAS_STATUS_SUCCESS;                                                             \
    }                                                                                             \
    inline cublasStatus_t cublasLt##Name##SetAttribute(cublasLt##Name##_t object, Attribute name, \
                                                       const void* value, size_t bytes) {         \
        return cuda_cpu::set_member(cuda_cpu::member_of(object, name), value, bytes);             \
    }                                                                                             \
    inline cublasStatus_t cublasLt##Name##GetAttribute(                                           \
        cublasLt##Name##_t object, Attribute name, void* value, size_t bytes, size_t* length) {   \
        return cuda_cpu::get_member(cuda_cpu::member_of(object, name), value, bytes, length);     \
    }
CUDA_CPU_DESCRIPTION(MatrixLayout, cublasLtMatrixLayoutAttribute_t)
CUDA_CPU_DESCRIPTION(MatmulDesc, cublasLtMatmulDescAttributes_t)
#undef CUDA_CPU_DESCRIPTION
inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type,
                                               uint64_t rows, uint64_t columns, int64_t leading) {
    *layout = {type, rows, columns, leading};
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                                 uint64_t rows, uint64_t columns, int64_t leading) {
    *layout = new cublasLtMatrixLayoutOpaque_t{type, rows, columns, leading};
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t product,
                                             cublasComputeType_t compute, cudaDataType factors) {
    *product = {compute, factors};
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product,
                                               cublasComputeType_t compute, cudaDataType factors) {
    *product = new cublasLtMatmulDescOpaque_t{compute, factors};
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
    *preference = new cublasLtMatmulPreferenceOpaque_t;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t) {
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    delete preference;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t,
                                                           const void*, size_t) {
    return CUBLAS_STATUS_SUCCESS;
}

#include "cuda_cpu/libraries/lt_matmul.h"
