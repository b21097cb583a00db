// cuSPARSE: from one form of a matrix to another.
#pragma once

#include "sparse_products.h"

enum cusparseDenseToSparseAlg_t { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT = 0 };
enum cusparseSparseToDenseAlg_t { CUSPARSE_SPARSETODENSE_ALG_DEFAULT = 0 };

inline cusparseStatus_t cusparseXcsr2coo(cusparseHandle_t handle, const int* offsets, int entries,
                                         int rows, int* row_indices, cusparseIndexBase_t base) {
    cuda_cpu::SparseCall call("cusparseXcsr2coo", handle);
    call.vector("the offsets", offsets, rows + 1ll, 1, cuda_cpu::Use::read);
    call.vector("the row indices", row_indices, entries, 1, cuda_cpu::Use::written);
    return call.join([=] {
        for (int row = 0; row < rows; ++row)
            for (int i = offsets[row] - base; i < offsets[row + 1] - base; ++i)
                row_indices[i] = row + base;
    });
}
inline cusparseStatus_t cusparseXcoo2csr(cusparseHandle_t handle, const int* row_indices,
                                         int entries, int rows, int* offsets,
                                         cusparseIndexBase_t base) {
    cuda_cpu::SparseCall call("cusparseXcoo2csr", handle);
    call.vector("the row indices", row_indices, entries, 1, cuda_cpu::Use::read);
    call.vector("the offsets", offsets, rows + 1ll, 1, cuda_cpu::Use::written);
    return call.join([=] {
        int i = 0;
        for (int row = 0; row <= rows; ++row) {
            while (i < entries && row_indices[i] - base < row) ++i;
            offsets[row] = i + base;
        }
    });
}

namespace cuda_cpu {

// A dense matrix whose entries are looked at line by line, as CSR or CSC has them.
struct DenseLines {
    int64_t lines, length, line_step, step;
    static DenseLines of(const cusparseDnMatDescr& M, bool by_rows) {
        const DenseView view = view_of(M, CUSPARSE_OPERATION_NON_TRANSPOSE);
        if (by_rows) return {view.rows, view.columns, view.row_step, view.column_step};
        return {view.columns, view.rows, view.column_step, view.row_step};
    }
    // Calls visit(line, place in the line, place in memory) where an element is not 0.
    template <class Visit>
    void each(const void* values, cudaDataType type, Visit visit) const {
        for (int64_t line = 0; line < lines; ++line) {
            for (int64_t place = 0; place < length; ++place) {
                const int64_t at = line * line_step + place * step;
                if (!is_zero(read_number<cuDoubleComplex>(values, type, at)))
                    visit(line, place, at);
            }
        }
    }
};
inline cusparseStatus_t join_dense(SparseCall& call, const cusparseDnMatDescr& M, Use use,
                                   std::function<void()> work) {
    call.dense("the dense matrix", M, use);
    return call.join(std::move(work));
}

}  // namespace cuda_cpu

inline cusparseStatus_t cusparseDenseToSparse_bufferSize(cusparseHandle_t,
                                                         cusparseConstDnMatDescr_t,
                                                         cusparseSpMatDescr_t,
                                                         cusparseDenseToSparseAlg_t,
                                                         size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
// Counts the entries, which the caller asks for (cusparseSpMatGetSize), and stores the offsets.
inline cusparseStatus_t cusparseDenseToSparse_analysis(cusparseHandle_t handle,
                                                       cusparseConstDnMatDescr_t dense,
                                                       cusparseSpMatDescr_t sparse,
                                                       cusparseDenseToSparseAlg_t, void*) {
    // Of ELL the caller has said which blocks there are.
    if (sparse->format == CUSPARSE_FORMAT_BLOCKED_ELL) return CUSPARSE_STATUS_SUCCESS;
    const auto lines = cuda_cpu::DenseLines::of(*dense, sparse->format != CUSPARSE_FORMAT_CSC);
    cuda_cpu::SparseCall call("cusparseDenseToSparse_analysis", handle);
    const cusparseStatus_t status = cuda_cpu::join_dense(call, *dense, cuda_cpu::Use::read, [=] {
        int64_t count = 0, next = 0;
        const bool has_offsets = sparse->format != CUSPARSE_FORMAT_COO;
        const auto offset = [&] {
            if (has_offsets)
                cuda_cpu::store_index(sparse->offsets, sparse->offset_type, next,
                                      count + sparse->base);
            ++next;
        };
        lines.each(dense->values, dense->type, [&](int64_t line, int64_t, int64_t) {
            while (next <= line) offset();
            ++count;
        });
        while (next <= lines.lines) offset();
        sparse->entries = count;
        if (has_offsets) {
            const size_t size = sparse->offset_type == CUSPARSE_INDEX_64I ? 8 : 4;
            cuda_cpu::show_use(
                {"the offsets", sparse->offsets, static_cast<size_t>(next) * size, 1, 0, true});
        }
    });
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    return cudaStreamSynchronize(call.stream()) == cudaSuccess ? CUSPARSE_STATUS_SUCCESS
                                                               : CUSPARSE_STATUS_EXECUTION_FAILED;
}
inline cusparseStatus_t cusparseDenseToSparse_convert(cusparseHandle_t handle,
                                                      cusparseConstDnMatDescr_t dense,
                                                      cusparseSpMatDescr_t sparse,
                                                      cusparseDenseToSparseAlg_t, void*) {
    const auto lines = cuda_cpu::DenseLines::of(*dense, sparse->format != CUSPARSE_FORMAT_CSC);
    const auto view = cuda_cpu::view_of(*dense, CUSPARSE_OPERATION_NON_TRANSPOSE);
    cuda_cpu::SparseCall call("cusparseDenseToSparse_convert", handle);
    call.sparse(*sparse, cuda_cpu::Use::written);
    // The caller may destroy both descriptors before this runs.
    return cuda_cpu::join_dense(
        call, *dense, cuda_cpu::Use::read, [lines, view, M = *dense, A = *sparse] {
            const int64_t size = cuda_cpu::bytes_of(M.type);
            const auto copy = [&](int64_t to, int64_t from) {
                std::memcpy(cuda_cpu::moved(A.values, to * size),
                            cuda_cpu::moved(M.values, from * size), static_cast<size_t>(size));
            };
            if (A.format == CUSPARSE_FORMAT_BLOCKED_ELL)
                return cuda_cpu::each_entry(A, [&](int64_t row, int64_t column, int64_t at) {
                    copy(at, row * view.row_step + column * view.column_step);
                });
            int64_t i = 0;
            lines.each(M.values, M.type, [&](int64_t line, int64_t place, int64_t at) {
                if (A.format == CUSPARSE_FORMAT_COO)
                    cuda_cpu::store_index(A.offsets, A.offset_type, i, line + A.base);
                cuda_cpu::store_index(A.indices, A.index_type, i, place + A.base);
                copy(i++, at);
            });
        });
}
inline cusparseStatus_t cusparseSparseToDense_bufferSize(cusparseHandle_t,
                                                         cusparseConstSpMatDescr_t,
                                                         cusparseDnMatDescr_t,
                                                         cusparseSparseToDenseAlg_t,
                                                         size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSparseToDense(cusparseHandle_t handle,
                                              cusparseConstSpMatDescr_t sparse,
                                              cusparseDnMatDescr_t dense,
                                              cusparseSparseToDenseAlg_t, void*) {
    const auto view = cuda_cpu::view_of(*dense, CUSPARSE_OPERATION_NON_TRANSPOSE);
    cuda_cpu::SparseCall call("cusparseSparseToDense", handle);
    call.sparse(*sparse, cuda_cpu::Use::read);
    return cuda_cpu::join_dense(
        call, *dense, cuda_cpu::Use::written, [A = *sparse, C = *dense, view] {
            for (int64_t row = 0; row < C.rows; ++row)
                for (int64_t column = 0; column < C.columns; ++column)
                    cuda_cpu::store_number(C.values, C.type,
                                           row * view.row_step + column * view.column_step, 0.0);
            cuda_cpu::each_entry(A, [&](int64_t row, int64_t column, int64_t at) {
                const int64_t to = row * view.row_step + column * view.column_step;
                cuda_cpu::store_number(C.values, C.type, to,
                                       cuda_cpu::read_number<double>(A.values, A.type, at));
            });
        });
}
