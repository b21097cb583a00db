// cuSPARSE: what describes matrices and vectors.
#pragma once

#include "sparse_handle.h"

// ---------------------------------------------------------------- matrices and vectors
struct cusparseSpMatDescr {
    cusparseFormat_t format;
    int64_t rows, columns, entries;
    void *offsets, *indices, *values;  // of COO: the rows, the columns, the values
    cusparseIndexType_t offset_type, index_type;
    cusparseIndexBase_t base;
    cudaDataType type;
    cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    int batch = 1;
    int64_t offset_stride = 0, entry_stride = 0;
    // Of matrices in blocks (BSR, ELL): their sizes, and how they lie; of ELL the columns that are stored, or a slice's rows.
    int64_t block_rows = 1, block_columns = 1, width = 0;
    cusparseOrder_t order = CUSPARSE_ORDER_ROW;
};
struct cusparseSpVecDescr {
    int64_t size, entries;
    void *indices, *values;
    cusparseIndexType_t index_type;
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
    int batch = 1;
    int64_t stride = 0;
};
using cusparseSpVecDescr_t = cusparseSpVecDescr*;
using cusparseConstSpVecDescr_t = const cusparseSpVecDescr*;
using cusparseSpMatDescr_t = cusparseSpMatDescr*;
using cusparseDnVecDescr_t = cusparseDnVecDescr*;
using cusparseDnMatDescr_t = cusparseDnMatDescr*;
using cusparseConstSpMatDescr_t = const cusparseSpMatDescr*;
using cusparseConstDnVecDescr_t = const cusparseDnVecDescr*;
using cusparseConstDnMatDescr_t = const cusparseDnMatDescr*;

#define CUDA_CPU_CREATE_LINES(Name, FORMAT)                                                        \
    inline cusparseStatus_t cusparseCreate##Name(                                                  \
        cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t entries,              \
        void* offsets, void* indices, void* values, cusparseIndexType_t offset_type,               \
        cusparseIndexType_t index_type, cusparseIndexBase_t base, cudaDataType type) {             \
        *matrix = nullptr;                                                                         \
        if (rows < 0 || columns < 0 || entries < 0) return CUSPARSE_STATUS_INVALID_VALUE;          \
        *matrix =                                                                                  \
            new cusparseSpMatDescr{FORMAT, rows,        columns,    entries, offsets, indices,     \
                                   values, offset_type, index_type, base,    type};                \
        return CUSPARSE_STATUS_SUCCESS;                                                            \
    }                                                                                              \
    inline cusparseStatus_t cusparseCreateConst##Name(                                             \
        cusparseConstSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t entries,         \
        const void* offsets, const void* indices, const void* values,                              \
        cusparseIndexType_t offset_type, cusparseIndexType_t index_type, cusparseIndexBase_t base, \
        cudaDataType type) {                                                                       \
        return cusparseCreate##Name(const_cast<cusparseSpMatDescr_t*>(matrix), rows, columns,      \
                                    entries, const_cast<void*>(offsets),                           \
                                    const_cast<void*>(indices), const_cast<void*>(values),         \
                                    offset_type, index_type, base, type);                          \
    }
CUDA_CPU_CREATE_LINES(Csr, CUSPARSE_FORMAT_CSR)
CUDA_CPU_CREATE_LINES(Csc, CUSPARSE_FORMAT_CSC)
#undef CUDA_CPU_CREATE_LINES
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
inline cusparseStatus_t cusparseCreateBsr(cusparseSpMatDescr_t* matrix, int64_t rows,
                                          int64_t columns, int64_t blocks, int64_t block_rows,
                                          int64_t block_columns, void* offsets, void* indices,
                                          void* values, cusparseIndexType_t offset_type,
                                          cusparseIndexType_t index_type, cusparseIndexBase_t base,
                                          cudaDataType type, cusparseOrder_t order) {
    if (block_rows < 1 || block_columns < 1) return CUSPARSE_STATUS_INVALID_VALUE;
    const cusparseStatus_t status = cusparseCreateCsr(
        matrix, rows * block_rows, columns * block_columns, blocks * block_rows * block_columns,
        offsets, indices, values, offset_type, index_type, base, type);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    (*matrix)->format = CUSPARSE_FORMAT_BSR, (*matrix)->order = order;
    (*matrix)->block_rows = block_rows, (*matrix)->block_columns = block_columns;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateBlockedEll(cusparseSpMatDescr_t* matrix, int64_t rows,
                                                 int64_t columns, int64_t block, int64_t width,
                                                 void* indices, void* values,
                                                 cusparseIndexType_t index_type,
                                                 cusparseIndexBase_t base, cudaDataType type) {
    if (block < 1 || rows % block != 0 || columns % block != 0 || width % block != 0)
        return CUSPARSE_STATUS_INVALID_VALUE;
    const cusparseStatus_t status =
        cusparseCreateCsr(matrix, rows, columns, rows * width, nullptr, indices, values, index_type,
                          index_type, base, type);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    (*matrix)->format = CUSPARSE_FORMAT_BLOCKED_ELL, (*matrix)->width = width;
    (*matrix)->block_rows = (*matrix)->block_columns = block;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateSlicedEll(cusparseSpMatDescr_t* matrix, int64_t rows,
                                                int64_t columns, int64_t, int64_t values_size,
                                                int64_t slice, void* offsets, void* indices,
                                                void* values, cusparseIndexType_t offset_type,
                                                cusparseIndexType_t index_type,
                                                cusparseIndexBase_t base, cudaDataType type) {
    if (slice < 1) return CUSPARSE_STATUS_INVALID_VALUE;
    const cusparseStatus_t status =
        cusparseCreateCsr(matrix, rows, columns, values_size, offsets, indices, values, offset_type,
                          index_type, base, type);
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    (*matrix)->format = CUSPARSE_FORMAT_SLICED_ELLPACK, (*matrix)->width = slice;
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
    *matrix = nullptr;
    if (leading < (order == CUSPARSE_ORDER_COL ? rows : columns))
        return CUSPARSE_STATUS_INVALID_VALUE;
    *matrix = new cusparseDnMatDescr{rows, columns, leading, values, type, order};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroyDnMat(cusparseConstDnMatDescr_t matrix) {
    delete matrix;
    return CUSPARSE_STATUS_SUCCESS;
}

#define CUDA_CPU_MEMBER(function, Object, declaration, statement)    \
    inline cusparseStatus_t function(Object object, declaration) {   \
        if (object == nullptr) return CUSPARSE_STATUS_INVALID_VALUE; \
        statement;                                                   \
        return CUSPARSE_STATUS_SUCCESS;                              \
    }
CUDA_CPU_MEMBER(cusparseSpMatGetValues, cusparseSpMatDescr_t, void** values,
                *values = object->values)
CUDA_CPU_MEMBER(cusparseSpMatSetValues, cusparseSpMatDescr_t, void* values, object->values = values)
CUDA_CPU_MEMBER(cusparseSpMatGetFormat, cusparseConstSpMatDescr_t, cusparseFormat_t* format,
                *format = object->format)
CUDA_CPU_MEMBER(cusparseSpMatGetIndexBase, cusparseConstSpMatDescr_t, cusparseIndexBase_t* base,
                *base = object->base)
CUDA_CPU_MEMBER(cusparseDnMatGetValues, cusparseDnMatDescr_t, void** values,
                *values = object->values)
CUDA_CPU_MEMBER(cusparseDnMatSetValues, cusparseDnMatDescr_t, void* values, object->values = values)
CUDA_CPU_MEMBER(cusparseSpVecGetValues, cusparseSpVecDescr_t, void** values,
                *values = object->values)
CUDA_CPU_MEMBER(cusparseSpVecSetValues, cusparseSpVecDescr_t, void* values, object->values = values)
#undef CUDA_CPU_MEMBER
inline cusparseStatus_t cusparseSpMatSetAttribute(cusparseSpMatDescr_t matrix,
                                                  cusparseSpMatAttribute_t attribute,
                                                  const void* value, size_t bytes) {
    if (matrix == nullptr || value == nullptr || bytes != sizeof(int))
        return CUSPARSE_STATUS_INVALID_VALUE;
    if (attribute == CUSPARSE_SPMAT_FILL_MODE) {
        matrix->fill = *static_cast<const cusparseFillMode_t*>(value);
    } else {
        matrix->diagonal = *static_cast<const cusparseDiagType_t*>(value);
    }
    return CUSPARSE_STATUS_SUCCESS;
}
// Matrices of a batch: how far apart their offsets, and their indices and values, are; 0 where all have the same ones.
inline cusparseStatus_t cusparseCsrSetStridedBatch(cusparseSpMatDescr_t matrix, int count,
                                                   int64_t offset_stride, int64_t entry_stride) {
    if (matrix == nullptr || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
    matrix->batch = count, matrix->offset_stride = offset_stride;
    matrix->entry_stride = entry_stride;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCooSetStridedBatch(cusparseSpMatDescr_t matrix, int count,
                                                   int64_t stride) {
    return cusparseCsrSetStridedBatch(matrix, count, stride, stride);
}
inline cusparseStatus_t cusparseDnMatSetStridedBatch(cusparseDnMatDescr_t matrix, int count,
                                                     int64_t stride) {
    if (matrix == nullptr || count < 1) return CUSPARSE_STATUS_INVALID_VALUE;
    matrix->batch = count, matrix->stride = stride;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCreateSpVec(cusparseSpVecDescr_t* vector, int64_t size,
                                            int64_t entries, void* indices, void* values,
                                            cusparseIndexType_t index_type,
                                            cusparseIndexBase_t base, cudaDataType type) {
    *vector = nullptr;
    if (entries > size || entries < 0) return CUSPARSE_STATUS_INVALID_VALUE;
    *vector = new cusparseSpVecDescr{size, entries, indices, values, index_type, base, type};
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseDestroySpVec(cusparseConstSpVecDescr_t vector) {
    delete vector;
    return CUSPARSE_STATUS_SUCCESS;
}
