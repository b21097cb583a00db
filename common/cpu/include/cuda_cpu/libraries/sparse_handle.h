// cuSPARSE: handles, and what describes a matrix of before the generic interface.
#pragma once

#define CUSPARSEAPI  // NVIDIA's helper_cuda.h asks for it

#include "numbers.h"

enum cusparseStatus_t {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_ARCH_MISMATCH = 4,
    CUSPARSE_STATUS_MAPPING_ERROR = 5,
    CUSPARSE_STATUS_EXECUTION_FAILED = 6,
    CUSPARSE_STATUS_INTERNAL_ERROR = 7,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSPARSE_STATUS_ZERO_PIVOT = 9,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11
};
enum cusparsePointerMode_t { CUSPARSE_POINTER_MODE_HOST = 0, CUSPARSE_POINTER_MODE_DEVICE = 1 };
enum cusparseAction_t { CUSPARSE_ACTION_SYMBOLIC = 0, CUSPARSE_ACTION_NUMERIC = 1 };
enum cusparseMatrixType_t {
    CUSPARSE_MATRIX_TYPE_GENERAL = 0,
    CUSPARSE_MATRIX_TYPE_SYMMETRIC = 1,
    CUSPARSE_MATRIX_TYPE_HERMITIAN = 2,
    CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3
};
enum cusparseFillMode_t { CUSPARSE_FILL_MODE_LOWER = 0, CUSPARSE_FILL_MODE_UPPER = 1 };
enum cusparseDiagType_t { CUSPARSE_DIAG_TYPE_NON_UNIT = 0, CUSPARSE_DIAG_TYPE_UNIT = 1 };
enum cusparseIndexBase_t { CUSPARSE_INDEX_BASE_ZERO = 0, CUSPARSE_INDEX_BASE_ONE = 1 };
enum cusparseOperation_t {
    CUSPARSE_OPERATION_NON_TRANSPOSE = 0,
    CUSPARSE_OPERATION_TRANSPOSE = 1,
    CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE = 2
};
enum cusparseDirection_t { CUSPARSE_DIRECTION_ROW = 0, CUSPARSE_DIRECTION_COLUMN = 1 };
enum cusparseFormat_t {
    CUSPARSE_FORMAT_CSR = 1,
    CUSPARSE_FORMAT_CSC = 2,
    CUSPARSE_FORMAT_COO = 3,
    CUSPARSE_FORMAT_BLOCKED_ELL = 5,
    CUSPARSE_FORMAT_BSR = 6,
    CUSPARSE_FORMAT_SLICED_ELLPACK = 7
};
enum cusparseSpMatAttribute_t { CUSPARSE_SPMAT_FILL_MODE = 0, CUSPARSE_SPMAT_DIAG_TYPE = 1 };
enum cusparseSolvePolicy_t {
    CUSPARSE_SOLVE_POLICY_NO_LEVEL = 0,
    CUSPARSE_SOLVE_POLICY_USE_LEVEL = 1
};
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };

struct cusparseContext {
    cudaStream_t stream = nullptr;
    cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};
using cusparseHandle_t = cusparseContext*;
CUDA_CPU_HANDLES(cusparse, cusparseHandle_t, cusparseContext, cusparseStatus_t,
                 CUSPARSE_STATUS_NOT_INITIALIZED, none)
CUDA_CPU_SETTING(cusparse, cusparseHandle_t, cusparseStatus_t, PointerMode, cusparsePointerMode_t,
                 pointer_mode)
inline cusparseStatus_t cusparseGetVersion(cusparseHandle_t, int* version) {
    *version = 12600;
    return CUSPARSE_STATUS_SUCCESS;
}

struct cusparseMatDescr {
    cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
    cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};
using cusparseMatDescr_t = cusparseMatDescr*;

inline const char* cusparseGetErrorName(cusparseStatus_t status) {
    static const char* const names[] = {"CUSPARSE_STATUS_SUCCESS",
                                        "CUSPARSE_STATUS_NOT_INITIALIZED",
                                        "CUSPARSE_STATUS_ALLOC_FAILED",
                                        "CUSPARSE_STATUS_INVALID_VALUE",
                                        "CUSPARSE_STATUS_ARCH_MISMATCH",
                                        "CUSPARSE_STATUS_MAPPING_ERROR",
                                        "CUSPARSE_STATUS_EXECUTION_FAILED",
                                        "CUSPARSE_STATUS_INTERNAL_ERROR",
                                        "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                        "CUSPARSE_STATUS_ZERO_PIVOT",
                                        "CUSPARSE_STATUS_NOT_SUPPORTED",
                                        "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};
    return status >= 0 && status <= CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? names[status]
                                                                           : "unknown status";
}
inline const char* cusparseGetErrorString(cusparseStatus_t status) {
    return cusparseGetErrorName(status);
}

inline cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descriptor) {
    *descriptor = new cusparseMatDescr;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor) {
    delete descriptor;
    return CUSPARSE_STATUS_SUCCESS;
}
#define CUDA_CPU_MATRIX_SETTING(name, Type, member)                                           \
    inline cusparseStatus_t cusparseSetMat##name(cusparseMatDescr_t descriptor, Type value) { \
        descriptor->member = value;                                                           \
        return CUSPARSE_STATUS_SUCCESS;                                                       \
    }                                                                                         \
    inline Type cusparseGetMat##name(const cusparseMatDescr* descriptor) {                    \
        return descriptor->member;                                                            \
    }
CUDA_CPU_MATRIX_SETTING(Type, cusparseMatrixType_t, type)
CUDA_CPU_MATRIX_SETTING(IndexBase, cusparseIndexBase_t, base)
CUDA_CPU_MATRIX_SETTING(FillMode, cusparseFillMode_t, fill)
CUDA_CPU_MATRIX_SETTING(DiagType, cusparseDiagType_t, diagonal)
#undef CUDA_CPU_MATRIX_SETTING
