// cuSPARSE: sparse vectors, of which the indices and values of the entries are stored, and dense ones.
#pragma once

#include "sparse_call.h"

// The inner product of x, conjugated where asked for, and y.
inline cusparseStatus_t cusparseSpVV_bufferSize(cusparseHandle_t, cusparseOperation_t,
                                                cusparseConstSpVecDescr_t,
                                                cusparseConstDnVecDescr_t, const void*,
                                                cudaDataType, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseSpVV(cusparseHandle_t handle, cusparseOperation_t operation,
                                     cusparseConstSpVecDescr_t x, cusparseConstDnVecDescr_t y,
                                     void* result, cudaDataType compute, void*) {
    using namespace cuda_cpu;
    return in_sparse_type(compute, [=](auto zero) {
        using Wide = decltype(zero);
        SparseCall call("cusparseSpVV", handle);
        call.expect(x->size == y->size);
        call.sparse(*x, Use::read);
        call.dense("y", *y, Use::read);
        call.result("the result", static_cast<Wide*>(result));
        return call.join_and_wait_for_result([=, X = *x, Y = *y] {
            Wide sum{};
            for (int64_t i = 0; i < X.entries; ++i) {
                const Wide a = read_number<Wide>(X.values, X.type, i);
                const int64_t at = read_index(X.indices, X.index_type, i) - X.base;
                sum = sum_of(sum, product_of(operation == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
                                                 ? conjugate_of(a)
                                                 : a,
                                             read_number<Wide>(Y.values, Y.type, at)));
            }
            *static_cast<Wide*>(result) = sum;
        });
    });
}
// y = alpha x + beta y
inline cusparseStatus_t cusparseAxpby(cusparseHandle_t handle, const void* alpha,
                                      cusparseConstSpVecDescr_t x, const void* beta,
                                      cusparseDnVecDescr_t y) {
    using namespace cuda_cpu;
    const bool is_short = y->type == CUDA_R_16F || y->type == CUDA_R_16BF;
    return in_sparse_type(is_short ? CUDA_R_32F : y->type, [=](auto zero) {
        using Wide = decltype(zero);
        SparseCall call("cusparseAxpby", handle);
        const auto of_x = call.scalar<Wide>("alpha", alpha), of_y = call.scalar<Wide>("beta", beta);
        call.expect(x->size == y->size && x->type == y->type);
        call.sparse(*x, Use::read);
        call.dense("y", *y, Use::written);
        return call.join([=, X = *x, Y = *y] {
            for (int64_t i = 0; i < Y.size; ++i)
                store_number(Y.values, Y.type, i,
                             product_of(value_of(of_y), read_number<Wide>(Y.values, Y.type, i)));
            for (int64_t i = 0; i < X.entries; ++i) {
                const int64_t at = read_index(X.indices, X.index_type, i) - X.base;
                store_number(
                    Y.values, Y.type, at,
                    sum_of(read_number<Wide>(Y.values, Y.type, at),
                           product_of(value_of(of_x), read_number<Wide>(X.values, X.type, i))));
            }
        });
    });
}
namespace cuda_cpu {
// Calls move(the entry's place in x, its place in y, bytes of a number) for each entry.
template <class Move>
cusparseStatus_t move_entries(SparseCall& call, const cusparseSpVecDescr& x,
                              const cusparseDnVecDescr& y, Move move) {
    call.expect(x.size == y.size && x.type == y.type && bytes_of(x.type) != 0);
    return call.join([=] {
        const int bytes = bytes_of(x.type);
        for (int64_t i = 0; i < x.entries; ++i)
            move(moved(x.values, i * bytes),
                 moved(y.values, (read_index(x.indices, x.index_type, i) - x.base) * bytes),
                 static_cast<size_t>(bytes));
    });
}
}  // namespace cuda_cpu
// The entries of x from the elements of y, and back.
inline cusparseStatus_t cusparseGather(cusparseHandle_t handle, cusparseConstDnVecDescr_t y,
                                       cusparseSpVecDescr_t x) {
    cuda_cpu::SparseCall call("cusparseGather", handle);
    call.sparse(*x, cuda_cpu::Use::written);
    call.dense("y", *y, cuda_cpu::Use::read);
    return cuda_cpu::move_entries(call, *x, *y, [](void* entry, void* element, size_t bytes) {
        std::memcpy(entry, element, bytes);
    });
}
inline cusparseStatus_t cusparseScatter(cusparseHandle_t handle, cusparseConstSpVecDescr_t x,
                                        cusparseDnVecDescr_t y) {
    cuda_cpu::SparseCall call("cusparseScatter", handle);
    call.sparse(*x, cuda_cpu::Use::read);
    call.dense("y", *y, cuda_cpu::Use::written);
    return cuda_cpu::move_entries(call, *x, *y, [](void* entry, void* element, size_t bytes) {
        std::memcpy(element, entry, bytes);
    });
}
// (x, y) = (c x + s y, c y - s x) at the entries of x; of real numbers.
inline cusparseStatus_t cusparseRot(cusparseHandle_t handle, const void* c, const void* s,
                                    cusparseSpVecDescr_t x, cusparseDnVecDescr_t y) {
    using namespace cuda_cpu;
    return in_sparse_type(y->type, [=](auto zero) {
        using Wide = decltype(zero);
        SparseCall call("cusparseRot", handle);
        const auto cosine = call.scalar<Wide>("c", c), sine = call.scalar<Wide>("s", s);
        call.sparse(*x, Use::written);
        call.dense("y", *y, Use::written);
        return move_entries(call, *x, *y, [=](void* entry, void* element, size_t) {
            Wide &a = *static_cast<Wide*>(entry), &b = *static_cast<Wide*>(element);
            const Wide old = a;
            a = sum_of(product_of(value_of(cosine), old), product_of(value_of(sine), b));
            b = difference_of(product_of(value_of(cosine), b), product_of(value_of(sine), old));
        });
    });
}
