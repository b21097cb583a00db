// cuSPARSE: its calls, and the entries of a matrix in any form.
#pragma once

#include "sparse_matrices.h"

namespace cuda_cpu {

using SparseCallBase = HandleCall<cusparseHandle_t, cusparseStatus_t, CUSPARSE_STATUS_INVALID_VALUE,
                                  CUSPARSE_STATUS_EXECUTION_FAILED>;
class SparseCall : public SparseCallBase {
 public:
    using SparseCallBase::SparseCallBase;
    template <class T>
    Scalar<T> scalar(const char* name, const void* number) {
        return SparseCallBase::scalar(name, static_cast<const T*>(number));
    }
    // Names what a sparse matrix has in memory.
    void sparse(const cusparseSpMatDescr& A, Use use) {
        const auto bytes = [](cusparseIndexType_t type) {
            return type == CUSPARSE_INDEX_64I ? 8 : 4;
        };
        const int64_t slice = A.format == CUSPARSE_FORMAT_SLICED_ELLPACK ? A.width : 1;
        const int64_t lines = A.format == CUSPARSE_FORMAT_CSC
                                  ? A.columns
                                  : (A.rows / A.block_rows + slice - 1) / slice;
        const int64_t offsets = (A.format == CUSPARSE_FORMAT_COO ? A.entries : lines + 1) +
                                (A.batch - 1) * A.offset_stride;
        const int64_t entries = A.entries + (A.batch - 1) * A.entry_stride;
        if (A.format != CUSPARSE_FORMAT_BLOCKED_ELL)
            vector("the offsets of A", static_cast<const char*>(A.offsets),
                   offsets * bytes(A.offset_type), 1, use);
        vector("the indices of A", static_cast<const char*>(A.indices),
               entries / (A.block_rows * A.block_columns) * bytes(A.index_type), 1, use);
        vector("the values of A", static_cast<const char*>(A.values), entries * bytes_of(A.type), 1,
               use);
    }
    void dense(const char* name, const cusparseDnMatDescr& M, Use use) {
        const bool by_columns = M.order == CUSPARSE_ORDER_COL;
        const int64_t lines = by_columns ? M.columns : M.rows,
                      length = by_columns ? M.rows : M.columns;
        if (lines > 0)
            vector(name, static_cast<const char*>(M.values),
                   ((M.batch - 1) * M.stride + (lines - 1) * M.leading + length) * bytes_of(M.type),
                   1, use);
    }
    void sparse(const cusparseSpVecDescr& x, Use use) {
        vector("the indices", static_cast<const char*>(x.indices),
               x.entries * (x.index_type == CUSPARSE_INDEX_64I ? 8 : 4), 1, Use::read);
        vector("the values", static_cast<const char*>(x.values), x.entries * bytes_of(x.type), 1,
               use);
    }
    void dense(const char* name, const cusparseDnVecDescr& x, Use use) {
        vector(name, static_cast<const char*>(x.values), x.size * bytes_of(x.type), 1, use);
    }
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
    const auto offset = [&](int64_t line) {
        return A.format == CUSPARSE_FORMAT_BLOCKED_ELL
                   ? line * (A.width / A.block_columns)
                   : read_index(A.offsets, A.offset_type, line) - A.base;
    };
    if (A.format == CUSPARSE_FORMAT_SLICED_ELLPACK) {  // column by column of a slice
        for (int64_t first = 0, slice = 0; first < A.rows; first += A.width, ++slice) {
            for (int64_t i = offset(slice); i < offset(slice + 1); ++i) {
                const int64_t row = first + (i - offset(slice)) % A.width;
                const int64_t column = read_index(A.indices, A.index_type, i);
                if (row < A.rows && column >= 0) visit(row, column - A.base, i);
            }
        }
        return;
    }
    if (A.format == CUSPARSE_FORMAT_BSR || A.format == CUSPARSE_FORMAT_BLOCKED_ELL) {
        const bool is_ell = A.format == CUSPARSE_FORMAT_BLOCKED_ELL;
        const bool by_rows = A.order == CUSPARSE_ORDER_ROW;
        const int64_t m = A.block_rows, n = A.block_columns;
        for (int64_t line = 0; line < A.rows / m; ++line) {
            for (int64_t i = offset(line); i < offset(line + 1); ++i) {
                const int64_t block = read_index(A.indices, A.index_type, i);
                for (int64_t row = 0; row < m && block >= 0; ++row) {
                    for (int64_t column = 0; column < n; ++column) {
                        const int64_t at =
                            is_ell ? (line * m + row) * A.width + (i - offset(line)) * n + column
                                   : i * m * n + (by_rows ? row * n + column : row + column * m);
                        visit(line * m + row, (block - A.base) * n + column, at);
                    }
                }
            }
        }
        return;
    }
    const bool by_rows = A.format == CUSPARSE_FORMAT_CSR;
    for (int64_t line = 0; line < (by_rows ? A.rows : A.columns); ++line) {
        const int64_t end = offset(line + 1);
        for (int64_t i = offset(line); i < end; ++i) {
            const int64_t other = read_index(A.indices, A.index_type, i) - A.base;
            visit(by_rows ? line : other, by_rows ? other : line, i);
        }
    }
}

// One matrix of a batch.
inline void* moved(void* start, int64_t bytes) { return static_cast<char*>(start) + bytes; }
inline cusparseSpMatDescr of_batch(cusparseSpMatDescr A, int i) {
    const auto bytes = [](cusparseIndexType_t type) { return type == CUSPARSE_INDEX_64I ? 8 : 4; };
    if (i >= A.batch) return A;
    A.offsets = moved(A.offsets, i * A.offset_stride * bytes(A.offset_type));
    A.indices = moved(A.indices, i * A.entry_stride * bytes(A.index_type));
    A.values = moved(A.values, i * A.entry_stride * bytes_of(A.type));
    A.batch = 1;
    return A;
}
inline cusparseDnMatDescr of_batch(cusparseDnMatDescr M, int i) {
    if (i >= M.batch) return M;
    M.values = moved(M.values, i * M.stride * bytes_of(M.type));
    M.batch = 1;
    return M;
}
// Calls work(a number of the type in which is computed).
template <class Work>
cusparseStatus_t in_sparse_type(cudaDataType type, Work work) {
    switch (type) {
        case CUDA_R_32F:
            return work(float{});
        case CUDA_R_64F:
            return work(double{});
        case CUDA_C_32F:
            return work(cuComplex{});
        case CUDA_C_64F:
            return work(cuDoubleComplex{});
        default:
            return CUSPARSE_STATUS_NOT_SUPPORTED;
    }
}

}  // namespace cuda_cpu
