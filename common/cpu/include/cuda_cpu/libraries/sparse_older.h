// cuSPARSE of before the generic interface: what CUDA 11 and 12 have taken away.
#pragma once

#include "sparse_conversions.h"

namespace cuda_cpu {

template <class T>
constexpr cudaDataType type_of = std::is_same_v<T, float>       ? CUDA_R_32F
                                 : std::is_same_v<T, double>    ? CUDA_R_64F
                                 : std::is_same_v<T, cuComplex> ? CUDA_C_32F
                                                                : CUDA_C_64F;
template <class T>
struct SparseNamed {
    const char* name;
};
template <class T>
struct CountEntries : SparseNamed<T> {  // of each row or column of a dense matrix, and of all
    cusparseStatus_t operator()(cusparseHandle_t handle, cusparseDirection_t direction, int rows,
                                int columns, cusparseMatDescr_t, const T* A, int leading,
                                int* counts, int* total) const {
        const bool by_rows = direction == CUSPARSE_DIRECTION_ROW;
        const cusparseDnMatDescr dense{rows,       columns,           leading, const_cast<T*>(A),
                                       type_of<T>, CUSPARSE_ORDER_COL};
        const auto lines = DenseLines::of(dense, by_rows);
        SparseCall call(this->name, handle);
        call.vector("the counts", counts, lines.lines, 1, Use::written);
        if (!call.on_host()) call.vector("the total", total, 1, 1, Use::written);
        const cusparseStatus_t status = join_dense(call, dense, Use::read, [=] {
            *total = 0;
            for (int64_t i = 0; i < lines.lines; ++i) counts[i] = 0;
            lines.each(dense.values, dense.type, [&](int64_t line, int64_t, int64_t) {
                ++counts[line];
                ++*total;
            });
        });
        if (status != CUSPARSE_STATUS_SUCCESS || !call.on_host()) return status;
        return cudaStreamSynchronize(call.stream()) == cudaSuccess
                   ? CUSPARSE_STATUS_SUCCESS
                   : CUSPARSE_STATUS_EXECUTION_FAILED;
    }
};
template <class T>
struct DenseToRows : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, int rows, int columns,
                                cusparseMatDescr_t descriptor, const T* A, int leading,
                                const int* counts, T* values, int* offsets, int* indices) const {
        const cusparseIndexBase_t base = descriptor->base;
        SparseCall call(this->name, handle);
        call.matrix("A", A, rows, columns, leading, Use::read);
        call.vector("the counts", counts, rows, 1, Use::read);
        call.vector("the offsets", offsets, rows + 1ll, 1, Use::written);
        return call.join([=] {
            int i = 0;
            for (long long row = 0; row < rows; ++row) {
                offsets[row] = i + base;
                for (long long column = 0; column < columns; ++column) {
                    const T value = A[row + column * leading];
                    if (is_zero(value)) continue;
                    values[i] = value;
                    indices[i++] = static_cast<int>(column) + base;
                }
            }
            offsets[rows] = i + base;
            const auto count = static_cast<size_t>(i);
            show_use({"the values", values, count * sizeof(T), 1, 0, true});
            show_use({"the indices", indices, count * sizeof(int), 1, 0, true});
        });
    }
};
template <class T>
struct RowsToDense : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, int rows, int columns,
                                cusparseMatDescr_t descriptor, const T* values, const int* offsets,
                                const int* indices, T* A, int leading) const {
        SparseCall call(this->name, handle);
        call.vector("the offsets", offsets, rows + 1ll, 1, Use::read);
        call.matrix("A", A, rows, columns, leading, Use::written);
        return call.join([=, base = descriptor->base] {
            for (long long row = 0; row < rows; ++row) {
                for (long long column = 0; column < columns; ++column)
                    A[row + column * leading] = T{};
                for (int i = offsets[row] - base; i < offsets[row + 1] - base; ++i)
                    A[row + 1ll * (indices[i] - base) * leading] = values[i];
            }
        });
    }
};
template <class T>
cusparseSpMatDescr by_rows(const cusparseMatDescr& descriptor, int rows, int columns, int entries,
                           const T* values, const int* offsets, const int* indices) {
    return {CUSPARSE_FORMAT_CSR,
            rows,
            columns,
            entries,
            const_cast<int*>(offsets),
            const_cast<int*>(indices),
            const_cast<T*>(values),
            CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_32I,
            descriptor.base,
            type_of<T>};
}
template <class T>
struct RowsTimesVector : SparseNamed<T> {  // of general matrices
    cusparseStatus_t operator()(cusparseHandle_t handle, cusparseOperation_t operation, int rows,
                                int columns, int entries, const T* alpha,
                                cusparseMatDescr_t descriptor, const T* values, const int* offsets,
                                const int* indices, const T* x, const T* beta, T* y) const {
        if (descriptor->type != CUSPARSE_MATRIX_TYPE_GENERAL)
            return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
        const bool plain = operation == CUSPARSE_OPERATION_NON_TRANSPOSE;
        const int length = plain ? columns : rows, height = plain ? rows : columns;
        const cusparseDnMatDescr B{
            length, 1, length, const_cast<T*>(x), type_of<T>, CUSPARSE_ORDER_COL};
        const cusparseDnMatDescr C{height, 1, height, y, type_of<T>, CUSPARSE_ORDER_COL};
        return sparse_product<T>(
            this->name, handle, operation, alpha,
            by_rows(*descriptor, rows, columns, entries, values, offsets, indices), B,
            view_of(B, CUSPARSE_OPERATION_NON_TRANSPOSE), beta, C);
    }
};
template <class T>
struct RowsTimesMatrix : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, cusparseOperation_t operation, int rows,
                                int n, int columns, int entries, const T* alpha,
                                cusparseMatDescr_t descriptor, const T* values, const int* offsets,
                                const int* indices, const T* B, int leading_B, const T* beta, T* C,
                                int leading_C) const {
        if (descriptor->type != CUSPARSE_MATRIX_TYPE_GENERAL)
            return CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
        const bool plain = operation == CUSPARSE_OPERATION_NON_TRANSPOSE;
        const cusparseDnMatDescr b{plain ? columns : rows, n,          leading_B,
                                   const_cast<T*>(B),      type_of<T>, CUSPARSE_ORDER_COL};
        const cusparseDnMatDescr c{plain ? rows : columns, n, leading_C, C, type_of<T>,
                                   CUSPARSE_ORDER_COL};
        return sparse_product<T>(
            this->name, handle, operation, alpha,
            by_rows(*descriptor, rows, columns, entries, values, offsets, indices), b,
            view_of(b, CUSPARSE_OPERATION_NON_TRANSPOSE), beta, c);
    }
};

}  // namespace cuda_cpu

#define CUDA_CPU_SPARSE(Function, name)                                                  \
    inline constexpr cuda_cpu::Function<float> cusparseS##name{{"cusparseS" #name}};     \
    inline constexpr cuda_cpu::Function<double> cusparseD##name{{"cusparseD" #name}};    \
    inline constexpr cuda_cpu::Function<cuComplex> cusparseC##name{{"cusparseC" #name}}; \
    inline constexpr cuda_cpu::Function<cuDoubleComplex> cusparseZ##name{{"cusparseZ" #name}};
CUDA_CPU_SPARSE(CountEntries, nnz)
CUDA_CPU_SPARSE(DenseToRows, dense2csr)
CUDA_CPU_SPARSE(RowsToDense, csr2dense)
CUDA_CPU_SPARSE(RowsTimesVector, csrmv)
CUDA_CPU_SPARSE(RowsTimesMatrix, csrmm)
