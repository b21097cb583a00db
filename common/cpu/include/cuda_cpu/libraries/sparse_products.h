// cuSPARSE: products of a sparse matrix with dense vectors and matrices.
#pragma once

#include "sparse_call.h"

enum cusparseSpMVAlg_t {
    CUSPARSE_SPMV_ALG_DEFAULT = 0,
    CUSPARSE_SPMV_CSR_ALG1 = 2,
    CUSPARSE_SPMV_CSR_ALG2 = 3,
    CUSPARSE_SPMV_COO_ALG1 = 1,
    CUSPARSE_SPMV_COO_ALG2 = 4,
    CUSPARSE_SPMV_SELL_ALG1 = 5,
    CUSPARSE_SPMV_BSR_ALG1 = 6,
    CUSPARSE_MV_ALG_DEFAULT = 0,  // as before CUDA 11.2
    CUSPARSE_CSRMV_ALG1 = 2
};
enum cusparseSpMMAlg_t {
    CUSPARSE_SPMM_ALG_DEFAULT = 0,
    CUSPARSE_SPMM_COO_ALG1 = 1,
    CUSPARSE_SPMM_COO_ALG2 = 2,
    CUSPARSE_SPMM_COO_ALG3 = 3,
    CUSPARSE_SPMM_COO_ALG4 = 5,
    CUSPARSE_SPMM_CSR_ALG1 = 4,
    CUSPARSE_SPMM_CSR_ALG2 = 6,
    CUSPARSE_SPMM_CSR_ALG3 = 12,
    CUSPARSE_SPMM_BLOCKED_ELL_ALG1 = 13,
    CUSPARSE_SPMM_BSR_ALG1 = 14,
    CUSPARSE_MM_ALG_DEFAULT = 0
};

namespace cuda_cpu {

// Where the elements of op(M) lie in a dense matrix: rows and columns by their distances.
struct DenseView {
    int64_t rows, columns, row_step, column_step;
};
inline DenseView view_of(const cusparseDnMatDescr& M, cusparseOperation_t operation) {
    const bool by_columns = M.order == CUSPARSE_ORDER_COL;
    DenseView view{M.rows, M.columns, by_columns ? 1 : M.leading, by_columns ? M.leading : 1};
    if (operation != CUSPARSE_OPERATION_NON_TRANSPOSE) {
        std::swap(view.rows, view.columns);
        std::swap(view.row_step, view.column_step);
    }
    return view;
}
// C = alpha op(A) B + beta C, summed in Wide; with a beta of 0 C is not read.
template <class Wide>
void one_product(cusparseOperation_t of_A, Wide factor, const cusparseSpMatDescr& A,
                 const cusparseDnMatDescr& B, DenseView of_B, Wide of_old,
                 const cusparseDnMatDescr& C, DenseView result) {
    const bool plain = of_A == CUSPARSE_OPERATION_NON_TRANSPOSE;
    std::vector<Wide> sums(static_cast<size_t>(C.rows * C.columns));
    each_entry(A, [&](int64_t row, int64_t column, int64_t at) {
        Wide value = read_number<Wide>(A.values, A.type, at);
        if (of_A == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) value = conjugate_of(value);
        if (!plain) std::swap(row, column);
        for (int64_t i = 0; i < C.columns; ++i) {
            Wide& sum = sums[static_cast<size_t>(row * C.columns + i)];
            sum = sum_of(sum, product_of(value, read_number<Wide>(B.values, B.type,
                                                                  column * of_B.row_step +
                                                                      i * of_B.column_step)));
        }
    });
    for (int64_t row = 0; row < C.rows; ++row) {
        for (int64_t column = 0; column < C.columns; ++column) {
            const int64_t at = row * result.row_step + column * result.column_step;
            Wide value = product_of(factor, sums[static_cast<size_t>(row * C.columns + column)]);
            if (!is_zero(of_old))
                value = sum_of(value, product_of(of_old, read_number<Wide>(C.values, C.type, at)));
            store_number(C.values, C.type, at, value);
        }
    }
}
template <class Wide>
cusparseStatus_t sparse_product(const char* name, cusparseHandle_t handle, cusparseOperation_t of_A,
                                const void* alpha, const cusparseSpMatDescr& A,
                                const cusparseDnMatDescr& B, DenseView of_B, const void* beta,
                                const cusparseDnMatDescr& C) {
    SparseCall call(name, handle);
    const auto of_product = call.scalar<Wide>("alpha", alpha),
               of_C = call.scalar<Wide>("beta", beta);
    const bool plain = of_A == CUSPARSE_OPERATION_NON_TRANSPOSE;
    const DenseView result = view_of(C, CUSPARSE_OPERATION_NON_TRANSPOSE);
    call.expect((plain ? A.columns : A.rows) == of_B.rows &&
                (plain ? A.rows : A.columns) == C.rows && of_B.columns == C.columns);
    call.sparse(A, Use::read);
    call.dense("B or x", B, Use::read);
    call.dense("C or y", C, Use::written);
    call.expect((A.batch == 1 || A.batch == C.batch) && (B.batch == 1 || B.batch == C.batch));
    return call.join([=] {
        const Wide factor = value_of(of_product), of_old = value_of(of_C);
        for (int i = 0; i < C.batch; ++i)
            one_product<Wide>(of_A, factor, of_batch(A, i), of_batch(B, i), of_B, of_old,
                              of_batch(C, i), result);
    });
}
inline cusparseStatus_t sparse_product_in(cudaDataType compute, const char* name,
                                          cusparseHandle_t handle, cusparseOperation_t of_A,
                                          const void* alpha, const cusparseSpMatDescr& A,
                                          const cusparseDnMatDescr& B, DenseView of_B,
                                          const void* beta, const cusparseDnMatDescr& C) {
    return in_sparse_type(compute, [&](auto zero) {
        return sparse_product<decltype(zero)>(name, handle, of_A, alpha, A, B, of_B, beta, C);
    });
}

}  // namespace cuda_cpu

// Nothing is needed to work in, but a size of 0 has many programs stop.
inline cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnVecDescr_t, const void*,
                                                cusparseDnVecDescr_t, cudaDataType,
                                                cusparseSpMVAlg_t, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t, cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnVecDescr_t, const void*,
                                                cusparseDnVecDescr_t, cudaDataType,
                                                cusparseSpMVAlg_t, void*) {
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t of_A,
                                     const void* alpha, cusparseConstSpMatDescr_t A,
                                     cusparseConstDnVecDescr_t x, const void* beta,
                                     cusparseDnVecDescr_t y, cudaDataType compute,
                                     cusparseSpMVAlg_t, void*) {
    const cusparseDnMatDescr column{x->size, 1, x->size, x->values, x->type, CUSPARSE_ORDER_COL};
    const cusparseDnMatDescr result{y->size, 1, y->size, y->values, y->type, CUSPARSE_ORDER_COL};
    return cuda_cpu::sparse_product_in(compute, "cusparseSpMV", handle, of_A, alpha, *A, column,
                                       cuda_cpu::view_of(column, CUSPARSE_OPERATION_NON_TRANSPOSE),
                                       beta, result);
}
inline cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnMatDescr_t, const void*,
                                                cusparseDnMatDescr_t, cudaDataType,
                                                cusparseSpMMAlg_t, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t, cusparseOperation_t,
                                                cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnMatDescr_t, const void*,
                                                cusparseDnMatDescr_t, cudaDataType,
                                                cusparseSpMMAlg_t, void*) {
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t of_A,
                                     cusparseOperation_t of_B, const void* alpha,
                                     cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B,
                                     const void* beta, cusparseDnMatDescr_t C, cudaDataType compute,
                                     cusparseSpMMAlg_t, void*) {
    return cuda_cpu::sparse_product_in(compute, "cusparseSpMM", handle, of_A, alpha, *A, *B,
                                       cuda_cpu::view_of(*B, of_B), beta, *C);
}
