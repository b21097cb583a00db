// cuSPARSE: the product of two sparse matrices (SpGEMM), and a product of dense ones where a sparse matrix has entries (SDDMM).
#pragma once

#include <map>

#include "sparse_products.h"

enum cusparseSpGEMMAlg_t {
    CUSPARSE_SPGEMM_DEFAULT = 0,
    CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1,
    CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2,
    CUSPARSE_SPGEMM_ALG1 = 3,
    CUSPARSE_SPGEMM_ALG2 = 4,
    CUSPARSE_SPGEMM_ALG3 = 5
};
enum cusparseSDDMMAlg_t { CUSPARSE_SDDMM_ALG_DEFAULT = 0 };
// The columns of each row of the product, in their order, and the values in double or of pairs of it.
struct cusparseSpGEMMDescr {
    std::vector<std::map<int64_t, cuDoubleComplex>> rows;
};
using cusparseSpGEMMDescr_t = cusparseSpGEMMDescr*;

namespace cuda_cpu {

// The product's rows, summed in Wide; C has its own entries too where beta is not 0.
template <class Wide>
void multiply_sparse(const cusparseSpMatDescr& A, const cusparseSpMatDescr& B, Wide alpha,
                     std::vector<std::map<int64_t, Wide>>& rows) {
    std::vector<std::vector<std::pair<int64_t, Wide>>> of_B(static_cast<size_t>(B.rows));
    each_entry(B, [&](int64_t row, int64_t column, int64_t at) {
        of_B[static_cast<size_t>(row)].push_back({column, read_number<Wide>(B.values, B.type, at)});
    });
    rows.assign(static_cast<size_t>(A.rows), {});
    each_entry(A, [&](int64_t row, int64_t middle, int64_t at) {
        const Wide value = product_of(alpha, read_number<Wide>(A.values, A.type, at));
        for (const auto& [column, other] : of_B[static_cast<size_t>(middle)]) {
            Wide& sum = rows[static_cast<size_t>(row)][column];
            sum = sum_of(sum, product_of(value, other));
        }
    });
}
// Computes the product into the descriptor and tells C how many entries it has.
inline cusparseStatus_t compute_spgemm(const char* name, cusparseHandle_t handle,
                                       cusparseOperation_t of_A, cusparseOperation_t of_B,
                                       const void* alpha, cusparseConstSpMatDescr_t A,
                                       cusparseConstSpMatDescr_t B, const void* beta,
                                       cusparseSpMatDescr_t C, cudaDataType compute,
                                       cusparseSpGEMMDescr_t descriptor) {
    if (of_A != CUSPARSE_OPERATION_NON_TRANSPOSE || of_B != CUSPARSE_OPERATION_NON_TRANSPOSE ||
        A->format != CUSPARSE_FORMAT_CSR || B->format != CUSPARSE_FORMAT_CSR ||
        C->format != CUSPARSE_FORMAT_CSR)
        return CUSPARSE_STATUS_NOT_SUPPORTED;
    return in_sparse_type(compute, [=](auto zero) {
        using Wide = decltype(zero);
        SparseCall call(name, handle);
        const auto factor = call.scalar<Wide>("alpha", alpha),
                   of_C = call.scalar<Wide>("beta", beta);
        call.expect(A->columns == B->rows && C->rows == A->rows && C->columns == B->columns);
        call.sparse(*A, Use::read);
        call.sparse(*B, Use::read);
        return call.join_and_wait([=] {
            if (!is_zero(value_of(of_C))) refuse_call("cusparseSpGEMM", "a beta that is not 0");
            std::vector<std::map<int64_t, Wide>> rows;
            multiply_sparse<Wide>(*A, *B, value_of(factor), rows);
            descriptor->rows.assign(rows.size(), {});
            C->entries = 0;
            for (size_t row = 0; row < rows.size(); ++row) {
                for (const auto& [column, value] : rows[row]) {
                    cuDoubleComplex& wide = descriptor->rows[row][column];
                    if constexpr (is_complex<Wide>) {
                        wide = {value.x, value.y};
                    } else {
                        wide = {value, 0};
                    }
                }
                C->entries += static_cast<int64_t>(rows[row].size());
            }
        });
    });
}
inline cusparseStatus_t copy_spgemm(const char* name, cusparseHandle_t handle,
                                    cusparseSpMatDescr_t matrix, cusparseSpGEMMDescr_t descriptor,
                                    bool with_values) {
    SparseCall call(name, handle);
    const cusparseSpMatDescr C = *matrix;
    call.sparse(C, Use::written);
    return call.join_and_wait([=] {
        int64_t at = 0;
        for (int64_t row = 0; row < C.rows; ++row) {
            store_index(C.offsets, C.offset_type, row, at + C.base);
            for (const auto& [column, value] : descriptor->rows[static_cast<size_t>(row)]) {
                store_index(C.indices, C.index_type, at, column + C.base);
                if (with_values && type_of_parts(C.type) == C.type) {
                    store_number(C.values, C.type, at, value.x);
                } else if (with_values) {
                    store_number(C.values, C.type, at, value);
                }
                ++at;
            }
        }
        store_index(C.offsets, C.offset_type, C.rows, at + C.base);
    });
}
// A first call without memory to work in asks how much that is.
inline bool asks_for_bytes(size_t* bytes, const void* work) {
    if (work == nullptr && bytes != nullptr) *bytes = 8;
    return work == nullptr;
}

}  // namespace cuda_cpu

inline cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descriptor) {
    *descriptor = new cusparseSpGEMMDescr;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) {
    delete descriptor;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, const void*,
    cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t, const void*, cusparseSpMatDescr_t,
    cudaDataType, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t, size_t* bytes, void* work) {
    cuda_cpu::asks_for_bytes(bytes, work);
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpGEMM_compute(
    cusparseHandle_t handle, cusparseOperation_t of_A, cusparseOperation_t of_B, const void* alpha,
    cusparseConstSpMatDescr_t A, cusparseConstSpMatDescr_t B, const void* beta,
    cusparseSpMatDescr_t C, cudaDataType compute, cusparseSpGEMMAlg_t,
    cusparseSpGEMMDescr_t descriptor, size_t* bytes, void* work) {
    if (cuda_cpu::asks_for_bytes(bytes, work)) return CUSPARSE_STATUS_SUCCESS;
    return cuda_cpu::compute_spgemm("cusparseSpGEMM_compute", handle, of_A, of_B, alpha, A, B, beta,
                                    C, compute, descriptor);
}
inline cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t,
                                            cusparseOperation_t, const void*,
                                            cusparseConstSpMatDescr_t, cusparseConstSpMatDescr_t,
                                            const void*, cusparseSpMatDescr_t C, cudaDataType,
                                            cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor) {
    return cuda_cpu::copy_spgemm("cusparseSpGEMM_copy", handle, C, descriptor, true);
}

// The same in steps, of which the last may be repeated for other values.
inline cusparseStatus_t cusparseSpGEMMreuse_workEstimation(
    cusparseHandle_t, cusparseOperation_t, cusparseOperation_t, cusparseConstSpMatDescr_t,
    cusparseConstSpMatDescr_t, cusparseSpMatDescr_t, cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t,
    size_t* bytes, void* work) {
    cuda_cpu::asks_for_bytes(bytes, work);
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpGEMMreuse_nnz(
    cusparseHandle_t handle, cusparseOperation_t of_A, cusparseOperation_t of_B,
    cusparseConstSpMatDescr_t A, cusparseConstSpMatDescr_t B, cusparseSpMatDescr_t C,
    cusparseSpGEMMAlg_t, cusparseSpGEMMDescr_t descriptor, size_t* bytes2, void* work2,
    size_t* bytes3, void* work3, size_t* bytes4, void* work4) {
    cuda_cpu::asks_for_bytes(bytes3, work3);
    cuda_cpu::asks_for_bytes(bytes4, work4);
    if (cuda_cpu::asks_for_bytes(bytes2, work2)) return CUSPARSE_STATUS_SUCCESS;
    cusparseContext on_host = *handle;  // the factors here are of the host
    on_host.pointer_mode = CUSPARSE_POINTER_MODE_HOST;
    const cuDoubleComplex one{1, 0}, zero{0, 0};
    return cuda_cpu::compute_spgemm("cusparseSpGEMMreuse_nnz", &on_host, of_A, of_B, &one, A, B,
                                    &zero, C, CUDA_C_64F, descriptor);
}
inline cusparseStatus_t cusparseSpGEMMreuse_copy(cusparseHandle_t handle, cusparseOperation_t,
                                                 cusparseOperation_t, cusparseConstSpMatDescr_t,
                                                 cusparseConstSpMatDescr_t, cusparseSpMatDescr_t C,
                                                 cusparseSpGEMMAlg_t,
                                                 cusparseSpGEMMDescr_t descriptor, size_t* bytes,
                                                 void* work) {
    if (cuda_cpu::asks_for_bytes(bytes, work)) return CUSPARSE_STATUS_SUCCESS;
    return cuda_cpu::copy_spgemm("cusparseSpGEMMreuse_copy", handle, C, descriptor, false);
}
inline cusparseStatus_t cusparseSpGEMMreuse_compute(
    cusparseHandle_t handle, cusparseOperation_t of_A, cusparseOperation_t of_B, const void* alpha,
    cusparseConstSpMatDescr_t A, cusparseConstSpMatDescr_t B, const void* beta,
    cusparseSpMatDescr_t C, cudaDataType compute, cusparseSpGEMMAlg_t,
    cusparseSpGEMMDescr_t descriptor) {
    const cusparseStatus_t status =
        cuda_cpu::compute_spgemm("cusparseSpGEMMreuse_compute", handle, of_A, of_B, alpha, A, B,
                                 beta, C, compute, descriptor);
    return status != CUSPARSE_STATUS_SUCCESS
               ? status
               : cuda_cpu::copy_spgemm("cusparseSpGEMMreuse_compute", handle, C, descriptor, true);
}

// C = alpha (op(A) op(B)) + beta C at the entries of C.
inline cusparseStatus_t cusparseSDDMM_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                 cusparseOperation_t, const void*,
                                                 cusparseConstDnMatDescr_t,
                                                 cusparseConstDnMatDescr_t, const void*,
                                                 cusparseSpMatDescr_t, cudaDataType,
                                                 cusparseSDDMMAlg_t, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSDDMM_preprocess(cusparseHandle_t, cusparseOperation_t,
                                                 cusparseOperation_t, const void*,
                                                 cusparseConstDnMatDescr_t,
                                                 cusparseConstDnMatDescr_t, const void*,
                                                 cusparseSpMatDescr_t, cudaDataType,
                                                 cusparseSDDMMAlg_t, void*) {
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSDDMM(cusparseHandle_t handle, cusparseOperation_t of_A,
                                      cusparseOperation_t of_B, const void* alpha,
                                      cusparseConstDnMatDescr_t A, cusparseConstDnMatDescr_t B,
                                      const void* beta, cusparseSpMatDescr_t C,
                                      cudaDataType compute, cusparseSDDMMAlg_t, void*) {
    using namespace cuda_cpu;
    return in_sparse_type(compute, [=](auto zero) {
        using Wide = decltype(zero);
        SparseCall call("cusparseSDDMM", handle);
        const auto factor = call.scalar<Wide>("alpha", alpha),
                   of_C = call.scalar<Wide>("beta", beta);
        const DenseView a = view_of(*A, of_A), b = view_of(*B, of_B);
        call.expect(a.columns == b.rows && a.rows == C->rows && b.columns == C->columns);
        call.dense("A", *A, Use::read);
        call.dense("B", *B, Use::read);
        call.sparse(*C, Use::written);
        return call.join([=, first = *A, second = *B, result = *C] {
            for (int i = 0; i < result.batch; ++i) {
                const cusparseSpMatDescr own = of_batch(result, i);
                const cusparseDnMatDescr left = of_batch(first, i), right = of_batch(second, i);
                each_entry(own, [&](int64_t row, int64_t column, int64_t at) {
                    Wide sum{};
                    for (int64_t k = 0; k < a.columns; ++k)
                        sum = sum_of(
                            sum,
                            product_of(read_number<Wide>(left.values, left.type,
                                                         row * a.row_step + k * a.column_step),
                                       read_number<Wide>(right.values, right.type,
                                                         k * b.row_step + column * b.column_step)));
                    sum = product_of(value_of(factor), sum);
                    if (!is_zero(value_of(of_C)))
                        sum = sum_of(sum, product_of(value_of(of_C),
                                                     read_number<Wide>(own.values, own.type, at)));
                    store_number(own.values, own.type, at, sum);
                });
            }
        });
    });
}
