// cuSPARSE: systems of equations with a sparse triangular matrix, for a vector (SpSV) or the columns of a matrix (SpSM), and the
// incomplete factors that conjugate gradients take for a preconditioner (csrilu02, csric02).
#pragma once

#include <map>

#include "sparse_products.h"

enum cusparseSpSVAlg_t { CUSPARSE_SPSV_ALG_DEFAULT = 0 };
enum cusparseSpSMAlg_t { CUSPARSE_SPSM_ALG_DEFAULT = 0 };
enum cusparseSpSVUpdate_t { CUSPARSE_SPSV_UPDATE_GENERAL = 0, CUSPARSE_SPSV_UPDATE_DIAGONAL = 1 };
struct cusparseSpSVDescr {};
struct cusparseSpSMDescr {};
using cusparseSpSVDescr_t = cusparseSpSVDescr*;
using cusparseSpSMDescr_t = cusparseSpSMDescr*;

namespace cuda_cpu {

// The entries of op(A) in the triangle that counts, by rows: columns and values; the diagonal by itself.
template <class Wide>
struct Triangle {
    std::vector<std::vector<std::pair<int64_t, Wide>>> rows;
    std::vector<Wide> diagonal;
    bool is_lower;
    Triangle(const cusparseSpMatDescr& A, cusparseOperation_t operation)
        : rows(static_cast<size_t>(A.rows)), diagonal(static_cast<size_t>(A.rows)) {
        const bool plain = operation == CUSPARSE_OPERATION_NON_TRANSPOSE;
        const bool stored_lower = A.fill == CUSPARSE_FILL_MODE_LOWER;
        is_lower = stored_lower == plain;
        each_entry(A, [&](int64_t row, int64_t column, int64_t at) {
            Wide value = read_number<Wide>(A.values, A.type, at);
            if (operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) value = conjugate_of(value);
            if (row == column) {
                diagonal[static_cast<size_t>(row)] = value;
            } else if (stored_lower == (row > column)) {
                rows[static_cast<size_t>(plain ? row : column)].push_back(
                    {plain ? column : row, value});
            }
        });
        if (A.diagonal == CUSPARSE_DIAG_TYPE_UNIT)
            for (Wide& value : diagonal) value = complex_of<Wide>(RealOf<Wide>(1));
    }
    // x takes b's place.
    void solve(std::vector<Wide>& x) const {
        const auto n = static_cast<int64_t>(rows.size());
        for (int64_t i = 0; i < n; ++i) {
            const auto row = static_cast<size_t>(is_lower ? i : n - 1 - i);
            for (const auto& [column, value] : rows[row])
                x[row] = difference_of(x[row], product_of(value, x[static_cast<size_t>(column)]));
            x[row] = quotient_of(x[row], diagonal[row]);
        }
    }
};
// op(A) X = alpha B, column by column.
template <class Wide>
cusparseStatus_t solve_triangular(const char* name, cusparseHandle_t handle,
                                  cusparseOperation_t of_A, const void* alpha,
                                  const cusparseSpMatDescr& A, const cusparseDnMatDescr& B,
                                  DenseView of_B, const cusparseDnMatDescr& X) {
    SparseCall call(name, handle);
    const auto factor = call.scalar<Wide>("alpha", alpha);
    call.expect(A.rows == A.columns && of_B.rows == A.rows && X.rows == A.rows &&
                of_B.columns == X.columns);
    call.sparse(A, Use::read);
    call.dense("the right-hand side", B, Use::read);
    call.dense("the solution", X, Use::written);
    const DenseView of_X = view_of(X, CUSPARSE_OPERATION_NON_TRANSPOSE);
    return call.join([=] {
        const Triangle<Wide> triangle(A, of_A);
        for (int64_t column = 0; column < of_B.columns; ++column) {
            std::vector<Wide> x;
            for (int64_t row = 0; row < A.rows; ++row)
                x.push_back(
                    product_of(value_of(factor),
                               read_number<Wide>(B.values, B.type,
                                                 row * of_B.row_step + column * of_B.column_step)));
            triangle.solve(x);
            for (int64_t row = 0; row < A.rows; ++row)
                store_number(X.values, X.type, row * of_X.row_step + column * of_X.column_step,
                             x[static_cast<size_t>(row)]);
        }
    });
}
inline cusparseDnMatDescr as_column(const cusparseDnVecDescr& x) {
    return {x.size, 1, std::max<int64_t>(1, x.size), x.values, x.type, CUSPARSE_ORDER_COL};
}

}  // namespace cuda_cpu

#define CUDA_CPU_SOLVE_DESCRIPTION(Name)                                                        \
    inline cusparseStatus_t cusparse##Name##_createDescr(cusparse##Name##Descr_t* descriptor) { \
        *descriptor = new cusparse##Name##Descr;                                                \
        return CUSPARSE_STATUS_SUCCESS;                                                         \
    }                                                                                           \
    inline cusparseStatus_t cusparse##Name##_destroyDescr(cusparse##Name##Descr_t descriptor) { \
        delete descriptor;                                                                      \
        return CUSPARSE_STATUS_SUCCESS;                                                         \
    }
CUDA_CPU_SOLVE_DESCRIPTION(SpSV)
CUDA_CPU_SOLVE_DESCRIPTION(SpSM)
#undef CUDA_CPU_SOLVE_DESCRIPTION
// There is nothing to analyse, but a size of 0 has many programs stop.
inline cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t, cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnVecDescr_t, cusparseDnVecDescr_t,
                                                cudaDataType, cusparseSpSVAlg_t,
                                                cusparseSpSVDescr_t, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t, cusparseOperation_t, const void*,
                                              cusparseConstSpMatDescr_t, cusparseConstDnVecDescr_t,
                                              cusparseDnVecDescr_t, cudaDataType, cusparseSpSVAlg_t,
                                              cusparseSpSVDescr_t, void*) {
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t, cusparseSpSVDescr_t, void*,
                                                  cusparseSpSVUpdate_t) {
    cuda_cpu::refuse_call("cusparseSpSV_updateMatrix", "new values for an analysed matrix");
}
inline cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t of_A,
                                           const void* alpha, cusparseConstSpMatDescr_t A,
                                           cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                           cudaDataType compute, cusparseSpSVAlg_t,
                                           cusparseSpSVDescr_t) {
    using namespace cuda_cpu;
    const cusparseDnMatDescr b = as_column(*x), result = as_column(*y);
    return in_sparse_type(compute, [&](auto zero) {
        return solve_triangular<decltype(zero)>("cusparseSpSV_solve", handle, of_A, alpha, *A, b,
                                                view_of(b, CUSPARSE_OPERATION_NON_TRANSPOSE),
                                                result);
    });
}
inline cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                cusparseOperation_t, const void*,
                                                cusparseConstSpMatDescr_t,
                                                cusparseConstDnMatDescr_t, cusparseDnMatDescr_t,
                                                cudaDataType, cusparseSpSMAlg_t,
                                                cusparseSpSMDescr_t, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t, cusparseOperation_t,
                                              cusparseOperation_t, const void*,
                                              cusparseConstSpMatDescr_t, cusparseConstDnMatDescr_t,
                                              cusparseDnMatDescr_t, cudaDataType, cusparseSpSMAlg_t,
                                              cusparseSpSMDescr_t, void*) {
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t of_A,
                                           cusparseOperation_t of_B, const void* alpha,
                                           cusparseConstSpMatDescr_t A, cusparseConstDnMatDescr_t B,
                                           cusparseDnMatDescr_t C, cudaDataType compute,
                                           cusparseSpSMAlg_t, cusparseSpSMDescr_t) {
    using namespace cuda_cpu;
    return in_sparse_type(compute, [&](auto zero) {
        return solve_triangular<decltype(zero)>("cusparseSpSM_solve", handle, of_A, alpha, *A, *B,
                                                view_of(*B, of_B), *C);
    });
}
