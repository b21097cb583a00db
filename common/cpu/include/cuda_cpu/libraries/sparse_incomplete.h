// cuSPARSE: factors with the zeros of A, A = L U (csrilu02) and A = L L^T (csric02), and the triangular systems of before the
// generic interface (csrsv2).
#pragma once

#include "sparse_older.h"
#include "sparse_triangular.h"

// What an analysis finds; of CPU mode the place of a zero on the diagonal, or -1.
struct csrilu02Info {
    int zero = -1;
};
struct csric02Info : csrilu02Info {};
struct csrsv2Info : csrilu02Info {};
using csrilu02Info_t = csrilu02Info*;
using csric02Info_t = csric02Info*;
using csrsv2Info_t = csrsv2Info*;

namespace cuda_cpu {

template <class T>
struct Rows {  // of CSR, with ascending columns
    T* values;
    const int *offsets, *indices;
    int n, base;
    int begin(int row) const { return offsets[row] - base; }
    int end(int row) const { return offsets[row + 1] - base; }
    int column(int at) const { return indices[at] - base; }
    // The place of an entry, or -1.
    int find(int row, int wanted) const {
        const int* const first = indices + begin(row);
        const int* const last = indices + end(row);
        const int* const found = std::lower_bound(first, last, wanted + base);
        return found != last && *found == wanted + base ? static_cast<int>(found - indices) : -1;
    }
};
// L and U take A's place; the ones of L are not stored. Returns the row of a zero on the diagonal, or -1.
template <class T>
int incomplete_lu(const Rows<T>& A) {
    int zero = -1;
    for (int row = 0; row < A.n; ++row) {
        for (int at = A.begin(row); at < A.end(row) && A.column(at) < row; ++at) {
            const int pivot = A.find(A.column(at), A.column(at));
            if (pivot < 0 || is_zero(A.values[pivot])) continue;
            A.values[at] = quotient_of(A.values[at], A.values[pivot]);
            for (int other = pivot + 1; other < A.end(A.column(at)); ++other) {
                const int target = A.find(row, A.column(other));
                if (target >= 0)
                    A.values[target] =
                        difference_of(A.values[target], product_of(A.values[at], A.values[other]));
            }
        }
        const int diagonal = A.find(row, row);
        if (zero < 0 && (diagonal < 0 || is_zero(A.values[diagonal]))) zero = row;
    }
    return zero;
}
// L takes the place of A's lower half; what is above stays.
template <class T>
int incomplete_cholesky(const Rows<T>& A) {
    int zero = -1;
    for (int row = 0; row < A.n; ++row) {
        for (int at = A.begin(row); at < A.end(row) && A.column(at) <= row; ++at) {
            const int column = A.column(at);
            T sum = A.values[at];
            for (int left = A.begin(row); left < at; ++left) {
                const int other = A.find(column, A.column(left));
                if (other >= 0 && A.column(left) < column)
                    sum = difference_of(sum,
                                        product_of(A.values[left], conjugate_of(A.values[other])));
            }
            if (column < row) {
                const int pivot = A.find(column, column);
                A.values[at] = pivot >= 0 ? quotient_of(sum, A.values[pivot]) : sum;
            } else if constexpr (is_complex<T>) {
                if (zero < 0 && !(sum.x > 0)) zero = row;
                A.values[at] = {std::sqrt(sum.x), 0};
            } else {
                if (zero < 0 && !(sum > 0)) zero = row;
                A.values[at] = std::sqrt(sum);
            }
        }
        if (zero < 0 && A.find(row, row) < 0) zero = row;
    }
    return zero;
}
template <class T, class Info>
struct IncompleteLength : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t, int, int, cusparseMatDescr_t, T*, const int*,
                                const int*, Info, int* bytes) const {
        *bytes = 8;
        return CUSPARSE_STATUS_SUCCESS;
    }
};
template <class T, class Info>
struct IncompleteAnalysis : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t, int, int, cusparseMatDescr_t, const T*,
                                const int*, const int*, Info, cusparseSolvePolicy_t, void*) const {
        return CUSPARSE_STATUS_SUCCESS;
    }
};
template <class T, class Info>
struct Incomplete : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, int rows, int entries,
                                cusparseMatDescr_t descriptor, T* values, const int* offsets,
                                const int* indices, Info info, cusparseSolvePolicy_t, void*) const {
        SparseCall call(this->name, handle);
        call.vector("the values", values, entries, 1, Use::written);
        call.vector("the offsets", offsets, rows + 1ll, 1, Use::read);
        call.vector("the indices", indices, entries, 1, Use::read);
        call.expect(rows >= 0 && entries >= 0 && info != nullptr);
        const Rows<T> A{values, offsets, indices, rows, descriptor->base};
        return call.join([=] {
            info->zero =
                std::is_same_v<Info, csrilu02Info_t> ? incomplete_lu(A) : incomplete_cholesky(A);
            if (info->zero >= 0) info->zero += A.base;
        });
    }
};
inline cusparseStatus_t zero_pivot(const char* name, cusparseHandle_t handle, csrilu02Info* info,
                                   int* place) {
    SparseCall call(name, handle);
    const cusparseStatus_t status = call.join_and_wait([] {});
    if (status != CUSPARSE_STATUS_SUCCESS) return status;
    *place = info->zero;
    return info->zero >= 0 ? CUSPARSE_STATUS_ZERO_PIVOT : CUSPARSE_STATUS_SUCCESS;
}

template <class T>
struct RowsSolveLength : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t, cusparseOperation_t, int, int, cusparseMatDescr_t,
                                T*, const int*, const int*, csrsv2Info_t, int* bytes) const {
        *bytes = 8;
        return CUSPARSE_STATUS_SUCCESS;
    }
};
template <class T>
struct RowsSolveAnalysis : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t, cusparseOperation_t, int, int, cusparseMatDescr_t,
                                const T*, const int*, const int*, csrsv2Info_t,
                                cusparseSolvePolicy_t, void*) const {
        return CUSPARSE_STATUS_SUCCESS;
    }
};
template <class T>
struct RowsSolve : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, cusparseOperation_t operation, int rows,
                                int entries, const T* alpha, cusparseMatDescr_t descriptor,
                                const T* values, const int* offsets, const int* indices,
                                csrsv2Info_t, const T* x, T* y, cusparseSolvePolicy_t,
                                void*) const {
        cusparseSpMatDescr A = by_rows(*descriptor, rows, rows, entries, values, offsets, indices);
        A.fill = descriptor->fill, A.diagonal = descriptor->diagonal;
        const cusparseDnMatDescr b = as_column({rows, const_cast<T*>(x), type_of<T>}),
                                 result = as_column({rows, y, type_of<T>});
        return solve_triangular<T>(this->name, handle, operation, alpha, A, b,
                                   view_of(b, CUSPARSE_OPERATION_NON_TRANSPOSE), result);
    }
};
template <class T>
using Ilu02 = Incomplete<T, csrilu02Info_t>;
template <class T>
using Ilu02Length = IncompleteLength<T, csrilu02Info_t>;
template <class T>
using Ilu02Analysis = IncompleteAnalysis<T, csrilu02Info_t>;
template <class T>
using Ic02 = Incomplete<T, csric02Info_t>;
template <class T>
using Ic02Length = IncompleteLength<T, csric02Info_t>;
template <class T>
using Ic02Analysis = IncompleteAnalysis<T, csric02Info_t>;

}  // namespace cuda_cpu

#define CUDA_CPU_SPARSE_INFO(Name, type, prefix)                                                  \
    inline cusparseStatus_t cusparseCreate##Name##Info(type##_t* info) {                          \
        *info = new type;                                                                         \
        return CUSPARSE_STATUS_SUCCESS;                                                           \
    }                                                                                             \
    inline cusparseStatus_t cusparseDestroy##Name##Info(type##_t info) {                          \
        delete info;                                                                              \
        return CUSPARSE_STATUS_SUCCESS;                                                           \
    }                                                                                             \
    inline cusparseStatus_t cusparseX##prefix##_zeroPivot(cusparseHandle_t handle, type##_t info, \
                                                          int* place) {                           \
        return cuda_cpu::zero_pivot("cusparseX" #prefix "_zeroPivot", handle, info, place);       \
    }
CUDA_CPU_SPARSE_INFO(Csrilu02, csrilu02Info, csrilu02)
CUDA_CPU_SPARSE_INFO(Csric02, csric02Info, csric02)
CUDA_CPU_SPARSE_INFO(Csrsv2, csrsv2Info, csrsv2)
#undef CUDA_CPU_SPARSE_INFO
CUDA_CPU_SPARSE(Ilu02, csrilu02)
CUDA_CPU_SPARSE(Ilu02Length, csrilu02_bufferSize)
CUDA_CPU_SPARSE(Ilu02Analysis, csrilu02_analysis)
CUDA_CPU_SPARSE(Ic02, csric02)
CUDA_CPU_SPARSE(Ic02Length, csric02_bufferSize)
CUDA_CPU_SPARSE(Ic02Analysis, csric02_analysis)
CUDA_CPU_SPARSE(RowsSolveLength, csrsv2_bufferSize)
CUDA_CPU_SPARSE(RowsSolveAnalysis, csrsv2_analysis)
CUDA_CPU_SPARSE(RowsSolve, csrsv2_solve)
