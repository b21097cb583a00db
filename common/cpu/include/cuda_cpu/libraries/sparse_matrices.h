// cuSPARSE: handles, and what describes matrices and vectors.
#pragma once

#define CUSPARSEAPI  // NVIDIA's helper_cuda.h asks for it

#include "../../cuComplex.h"
#include "../../cuda_bf16.h"
#include "../../cuda_fp16.h"
#include "../../library_types.h"
#include "library.h"

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
enum cusparseFormat_t { CUSPARSE_FORMAT_CSR = 1, CUSPARSE_FORMAT_CSC = 2, CUSPARSE_FORMAT_COO = 3 };
enum cusparseOrder_t { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2 };
enum cusparseIndexType_t { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3 };

struct cusparseContext {
    cudaStream_t stream = nullptr;
    cusparsePointerMode_t pointer_mode = CUSPARSE_POINTER_MODE_HOST;
};
using cusparseHandle_t = cusparseContext*;
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

inline cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
    int device;
    if (cudaGetDevice(&device) != cudaSuccess) return CUSPARSE_STATUS_NOT_INITIALIZED;
    *handle = new cusparseContext;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
    delete handle;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle,
                                               cusparsePointerMode_t mode) {
    if (handle == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
    handle->pointer_mode = mode;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* descriptor) {
    *descriptor = new cusparseMatDescr;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t descriptor) {
    delete descriptor;
    return CUSPARSE_STATUS_SUCCESS;
}
#define CUDA_CPU_SETTING(name, Type, member)                                                  \
    inline cusparseStatus_t cusparseSetMat##name(cusparseMatDescr_t descriptor, Type value) { \
        descriptor->member = value;                                                           \
        return CUSPARSE_STATUS_SUCCESS;                                                       \
    }                                                                                         \
    inline Type cusparseGetMat##name(const cusparseMatDescr* descriptor) {                    \
        return descriptor->member;                                                            \
    }
CUDA_CPU_SETTING(Type, cusparseMatrixType_t, type)
CUDA_CPU_SETTING(IndexBase, cusparseIndexBase_t, base)
CUDA_CPU_SETTING(FillMode, cusparseFillMode_t, fill)
CUDA_CPU_SETTING(DiagType, cusparseDiagType_t, diagonal)
#undef CUDA_CPU_SETTING

// ---------------------------------------------------------------- matrices and vectors
struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, columns, entries;
    void *offsets, *indices, *values;  // of COO: the rows, the columns, the values
    cusparseIndexType_t offset_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
};
struct cusparseDnVecDescr {
    int64_t size;
    void* values;
    cudaDataType type;
};
struct cusparseDnMatDescr {
    int64_t rows, columns, leading;
    void* values;
    cudaDataType type;
    cusparseOrder_t order;
};
using cusparseSpMatDescr_t = cusparseSpMatDescr*;
using cusparseDnVecDescr_t = cusparseDnVecDescr*;
using cusparseDnMatDescr_t = cusparseDnMatDescr*;
using cusparseConstSpMatDescr_t = const cusparseSpMatDescr*;
using cusparseConstDnVecDescr_t = const cusparseDnVecDescr*;
using cusparseConstDnMatDescr_t = const cusparseDnMatDescr*;

inline cusparseStatus_t cusparseCreateCsr(cusparseSpMatDescr_t* matrix, int64_t rows,
                                          int64_t columns, int64_t entries, void* offsets,
                                          void* indices, void* values,
                                          cusparseIndexType_t offset_type,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
    *matrix = new cusparseSpMatDescr{
        CUSPARSE_FORMAT_CSR, rows,       columns, entries, offsets, indices, values,
        offset_type,         index_type, base,    type};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateCsc(cusparseSpMatDescr_t* matrix, int64_t rows,
                                          int64_t columns, int64_t entries, void* offsets,
                                          void* indices, void* values,
                                          cusparseIndexType_t offset_type,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
    *matrix = new cusparseSpMatDescr{
        CUSPARSE_FORMAT_CSC, rows,       columns, entries, offsets, indices, values,
        offset_type,         index_type, base,    type};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateCoo(cusparseSpMatDescr_t* matrix, int64_t rows,
                                          int64_t columns, int64_t entries, void* row_indices,
                                          void* column_indices, void* values,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type) {
    *matrix = new cusparseSpMatDescr{CUSPARSE_FORMAT_COO, rows,           columns, entries,
                                     row_indices,         column_indices, values,  index_type,
                                     index_type,          base,           type};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroySpMat(cusparseConstSpMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMatGetSize(cusparseConstSpMatDescr_t matrix, int64_t* rows,
                                             int64_t* columns, int64_t* entries) {
    *rows = matrix->rows, *columns = matrix->columns, *entries = matrix->entries;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* offsets,
                                               void* indices, void* values) {
    matrix->offsets = offsets, matrix->indices = indices, matrix->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t size,
                                            void* values, cudaDataType type) {
    *vector = new cusparseDnVecDescr{size, values, type};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroyDnVec(cusparseConstDnVecDescr_t vector) {
    delete vector;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDnVecSetValues(cusparseDnVecDescr_t vector, void* values) {
    vector->values = values;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDnVecGetValues(cusparseDnVecDescr_t vector, void** values) {
    *values = vector->values;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows,
                                            int64_t columns, int64_t leading, void* values,
                                            cudaDataType type, cusparseOrder_t order) {
    if (leading < (order == CUSPARSE_ORDER_COL ? rows : columns))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *matrix = new cusparseDnMatDescr{rows, columns, leading, values, type, order};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

namespace cuda_cpu {

class SparseCall : public LibraryCall {
 public:
    SparseCall(const char* name, cusparseHandle_t handle)
        : LibraryCall(name, handle != nullptr ? handle->stream : nullptr), handle_(handle) {}

    bool on_host() const {
        return handle_ == nullptr || handle_->pointer_mode == CUSPARSE_POINTER_MODE_HOST;
    }
    template <class T>
    Scalar<T> scalar(const char* name, const void* number) {
        if (number == nullptr || handle_ == nullptr) {
            expect(false);
            return {};
        }
        if (on_host()) {
            expect_on_host(function(), name, number);
            return {*static_cast<const T*>(number), nullptr};
        }
        vector(name, static_cast<const T*>(number), 1, 1, Use::read);
        return {T{}, static_cast<const T*>(number)};
    }
    cusparseStatus_t join(std::function<void()> work) const {
        if (handle_ == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
        if (!is_valid()) return CUSPARSE_STATUS_INVALID_VALUE;
        return run(std::move(work)) == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                                                   : CUSPARSE_STATUS_EXECUTION_FAILED;
    }
    // Names what a sparse matrix has in memory.
    void sparse(const cusparseSpMatDescr& A, Use use) {
        const auto bytes = [](cusparseIndexType_t type) {
            return type == CUSPARSE_INDEX_64I ? 8 : 4;
        };
        const int64_t lines = A.format == CUSPARSE_FORMAT_CSC ? A.columns : A.rows;
        const int64_t offsets = A.format == CUSPARSE_FORMAT_COO ? A.entries : lines + 1;
        vector("the offsets of A", static_cast<const char*>(A.offsets),
               offsets * bytes(A.offset_type), 1, use);
        vector("the indices of A", static_cast<const char*>(A.indices),
               A.entries * bytes(A.index_type), 1, use);
        vector("the values of A", static_cast<const char*>(A.values),
               A.entries * bytes_of_number(A.type), 1, use);
    }
    static int bytes_of_number(cudaDataType type) {
        return type == CUDA_C_64F                          ? 16
               : type == CUDA_R_64F || type == CUDA_C_32F  ? 8
               : type == CUDA_R_16F || type == CUDA_R_16BF ? 2
                                                           : 4;
    }

 private:
    cusparseHandle_t handle_;
};

inline int64_t read_index(const void* array, cusparseIndexType_t type, int64_t at) {
    return type == CUSPARSE_INDEX_64I ? static_cast<const int64_t*>(array)[at]
                                      : static_cast<const int*>(array)[at];
}
inline void store_index(void* array, cusparseIndexType_t type, int64_t at, int64_t value) {
    if (type == CUSPARSE_INDEX_64I) {
        static_cast<int64_t*>(array)[at] = value;
    } else {
        static_cast<int*>(array)[at] = static_cast<int>(value);
    }
}
// Calls visit(row, column, place of the value) for each entry, all from 0.
template <class Visit>
void each_entry(const cusparseSpMatDescr& A, Visit visit) {
    if (A.format == CUSPARSE_FORMAT_COO) {
        for (int64_t i = 0; i < A.entries; ++i)
            visit(read_index(A.offsets, A.offset_type, i) - A.base,
                  read_index(A.indices, A.index_type, i) - A.base, i);
        return;
    }
    const bool by_rows = A.format == CUSPARSE_FORMAT_CSR;
    for (int64_t line = 0; line < (by_rows ? A.rows : A.columns); ++line) {
        const int64_t end = read_index(A.offsets, A.offset_type, line + 1) - A.base;
        for (int64_t i = read_index(A.offsets, A.offset_type, line) - A.base; i < end; ++i) {
            const int64_t other = read_index(A.indices, A.index_type, i) - A.base;
            visit(by_rows ? line : other, by_rows ? other : line, i);
        }
    }
}

}  // namespace cuda_cpu
