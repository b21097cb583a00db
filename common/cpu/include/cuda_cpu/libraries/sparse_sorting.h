// cuSPARSE: entries in their order, CSR to CSC, and tridiagonal systems by LAPACK.
#pragma once

#include <algorithm>
#include <numeric>

#include "sparse_older.h"

enum cusparseCsr2CscAlg_t {
    CUSPARSE_CSR2CSC_ALG_DEFAULT = 1,
    CUSPARSE_CSR2CSC_ALG1 = 1,
    CUSPARSE_CSR2CSC_ALG2 = 2
};

inline cusparseStatus_t cusparseCreateIdentityPermutation(cusparseHandle_t handle, int count,
                                                          int* places) {
    cuda_cpu::SparseCall call("cusparseCreateIdentityPermutation", handle);
    call.vector("p", places, count, 1, cuda_cpu::Use::written);
    return call.join([=] { std::iota(places, places + count, 0); });
}

namespace cuda_cpu {

// Moves `arrays` into the order of the keys from `begin` to `end`, of which before(a, b) tells which comes first.
template <class Before>
void sort_places(int begin, int end, std::initializer_list<int*> arrays, Before before) {
    std::vector<int> order(static_cast<size_t>(end - begin));
    std::iota(order.begin(), order.end(), begin);
    std::stable_sort(order.begin(), order.end(), before);
    for (int* const array : arrays) {
        if (array == nullptr) continue;
        std::vector<int> moved;
        for (const int place : order) moved.push_back(array[place]);
        std::copy(moved.begin(), moved.end(), array + begin);
    }
}
inline cusparseStatus_t sort_entries(const char* name, cusparseHandle_t handle, int entries,
                                     int* major, int* minor, int* places) {
    SparseCall call(name, handle);
    call.vector("the row indices", major, entries, 1, Use::written);
    call.vector("the column indices", minor, entries, 1, Use::written);
    if (places != nullptr) call.vector("P", places, entries, 1, Use::written);
    return call.join([=] {
        const std::vector<int> first(major, major + entries), second(minor, minor + entries);
        sort_places(0, entries, {major, minor, places}, [&](int a, int b) {
            const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
            return first[i] != first[j] ? first[i] < first[j] : second[i] < second[j];
        });
    });
}

}  // namespace cuda_cpu

inline cusparseStatus_t cusparseXcoosort_bufferSizeExt(cusparseHandle_t, int, int, int, const int*,
                                                       const int*, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseXcoosortByRow(cusparseHandle_t handle, int, int, int entries,
                                              int* rows, int* columns, int* places, void*) {
    return cuda_cpu::sort_entries("cusparseXcoosortByRow", handle, entries, rows, columns, places);
}
inline cusparseStatus_t cusparseXcoosortByColumn(cusparseHandle_t handle, int, int, int entries,
                                                 int* rows, int* columns, int* places, void*) {
    return cuda_cpu::sort_entries("cusparseXcoosortByColumn", handle, entries, columns, rows,
                                  places);
}
inline cusparseStatus_t cusparseXcsrsort_bufferSizeExt(cusparseHandle_t, int, int, int, const int*,
                                                       const int*, size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseXcsrsort(cusparseHandle_t handle, int rows, int, int entries,
                                         cusparseMatDescr_t descriptor, const int* offsets,
                                         int* indices, int* places, void*) {
    cuda_cpu::SparseCall call("cusparseXcsrsort", handle);
    call.vector("the offsets", offsets, rows + 1ll, 1, cuda_cpu::Use::read);
    call.vector("the indices", indices, entries, 1, cuda_cpu::Use::written);
    if (places != nullptr) call.vector("P", places, entries, 1, cuda_cpu::Use::written);
    return call.join([=, base = descriptor->base] {
        const std::vector<int> keys(indices, indices + entries);
        for (int row = 0; row < rows; ++row)
            cuda_cpu::sort_places(
                offsets[row] - base, offsets[row + 1] - base, {indices, places}, [&](int a, int b) {
                    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
                });
    });
}
inline cusparseStatus_t cusparseCsr2cscEx2_bufferSize(cusparseHandle_t, int, int, int, const void*,
                                                      const int*, const int*, void*, int*, int*,
                                                      cudaDataType, cusparseAction_t,
                                                      cusparseIndexBase_t, cusparseCsr2CscAlg_t,
                                                      size_t* bytes) {
    *bytes = 8;
    return CUSPARSE_STATUS_SUCCESS;
}
inline cusparseStatus_t cusparseCsr2cscEx2(cusparseHandle_t handle, int rows, int columns,
                                           int entries, const void* values, const int* offsets,
                                           const int* indices, void* new_values, int* new_offsets,
                                           int* new_indices, cudaDataType type,
                                           cusparseAction_t action, cusparseIndexBase_t base,
                                           cusparseCsr2CscAlg_t, void*) {
    using namespace cuda_cpu;
    const bool has_values = action == CUSPARSE_ACTION_NUMERIC;
    const int bytes = bytes_of(type);
    SparseCall call("cusparseCsr2cscEx2", handle);
    call.vector("the offsets", offsets, rows + 1ll, 1, Use::read);
    call.vector("the indices", indices, entries, 1, Use::read);
    call.vector("the new offsets", new_offsets, columns + 1ll, 1, Use::written);
    call.vector("the new indices", new_indices, entries, 1, Use::written);
    if (has_values) {
        call.vector("the values", static_cast<const char*>(values), 1ll * entries * bytes, 1,
                    Use::read);
        call.vector("the new values", static_cast<char*>(new_values), 1ll * entries * bytes, 1,
                    Use::written);
    }
    return call.join([=] {
        std::vector<int> next(static_cast<size_t>(columns) + 1);
        for (int i = 0; i < entries; ++i) ++next[static_cast<size_t>(indices[i] - base) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (int i = 0; i <= columns; ++i) new_offsets[i] = next[static_cast<size_t>(i)] + base;
        for (int row = 0; row < rows; ++row) {
            for (int i = offsets[row] - base; i < offsets[row + 1] - base; ++i) {
                const int at = next[static_cast<size_t>(indices[i] - base)]++;
                new_indices[at] = row + base;
                if (has_values)
                    std::memcpy(static_cast<char*>(new_values) + 1ll * at * bytes,
                                static_cast<const char*>(values) + 1ll * i * bytes,
                                static_cast<size_t>(bytes));
            }
        }
    });
}

namespace cuda_cpu {

template <class T>
struct TridiagonalLength : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t, int, int, const T*, const T*, const T*, const T*,
                                int, size_t* bytes) const {
        *bytes = 8;
        return CUSPARSE_STATUS_SUCCESS;
    }
};
// X takes B's place; the first element of the lower and the last of the upper diagonal do not count.
template <class T>
struct Tridiagonal : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, int rows, int columns, const T* lower,
                                const T* diagonal, const T* upper, T* B, int leading, void*) const {
        SparseCall call(this->name, handle);
        call.vector("dl", lower, rows, 1, Use::read);
        call.vector("d", diagonal, rows, 1, Use::read);
        call.vector("du", upper, rows, 1, Use::read);
        call.matrix("B", B, rows, columns, leading, Use::written);
        call.expect(rows >= 3);
        if (call.status() != CUSPARSE_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "gtsv", this->name);
        return call.join([=] {
            std::vector<T> below(lower + 1, lower + rows), middle(diagonal, diagonal + rows),
                above(upper, upper + rows - 1);
            int ignored = 0;
            call_fortran(lapack, rows, columns, below.data(), middle.data(), above.data(), B,
                         leading, &ignored);
        });
    }
};
template <class T>
struct TridiagonalBatchLength : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t, int, const T*, const T*, const T*, const T*, int,
                                int, size_t* bytes) const {
        *bytes = 8;
        return CUSPARSE_STATUS_SUCCESS;
    }
};
template <class T>
struct TridiagonalBatch : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, int rows, const T* lower,
                                const T* diagonal, const T* upper, T* x, int count, int stride,
                                void* work) const {
        if (count < 0 || stride < rows) return CUSPARSE_STATUS_INVALID_VALUE;
        for (int i = 0; i < count; ++i) {
            const long long at = 1ll * i * stride;
            const cusparseStatus_t status = Tridiagonal<T>{this->name}(
                handle, rows, 1, lower + at, diagonal + at, upper + at, x + at, rows, work);
            if (status != CUSPARSE_STATUS_SUCCESS) return status;
        }
        return CUSPARSE_STATUS_SUCCESS;
    }
};

// Systems of a batch side by side: element i of system s lies at i * count + s. The diagonals are given from the lowest.
template <class T>
struct InterleavedLength : SparseNamed<T> {
    template <class... Arguments>
    cusparseStatus_t operator()(const Arguments&... arguments) const {
        *std::get<sizeof...(Arguments) - 1>(std::tie(arguments...)) = 8;
        return CUSPARSE_STATUS_SUCCESS;
    }
};
template <class T>
cusparseStatus_t solve_interleaved(const char* name, cusparseHandle_t handle, int rows,
                                   const std::vector<const T*>& diagonals, T* x, int count) {
    SparseCall call(name, handle);
    const long long elements = 1ll * rows * count;
    for (const T* const diagonal : diagonals)
        call.vector("a diagonal", diagonal, elements, 1, Use::read);
    call.vector("x", x, elements, 1, Use::written);
    call.expect(rows >= 3 && count >= 1);
    if (call.status() != CUSPARSE_STATUS_SUCCESS) return call.status();
    void* const lapack = fortran_function<T>(Library::lapack, "gbsv", name);
    return call.join([=] {
        const int side = static_cast<int>(diagonals.size()) / 2, leading = 3 * side + 1;
        for (int system = 0; system < count; ++system) {
            std::vector<T> band(static_cast<size_t>(leading) * static_cast<size_t>(rows)), own;
            std::vector<int> pivots(static_cast<size_t>(rows));
            for (int i = 0; i < rows; ++i) {
                own.push_back(x[1ll * i * count + system]);
                for (int k = -side; k <= side; ++k)
                    if (i + k >= 0 && i + k < rows)
                        band[static_cast<size_t>(2 * side - k + (i + k) * leading)] =
                            diagonals[static_cast<size_t>(k + side)][1ll * i * count + system];
            }
            int ignored = 0;
            call_fortran(lapack, rows, side, side, 1, band.data(), leading, pivots.data(),
                         own.data(), rows, &ignored);
            for (int i = 0; i < rows; ++i)
                x[1ll * i * count + system] = own[static_cast<size_t>(i)];
        }
    });
}
template <class T>
struct TridiagonalInterleaved : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, int, int rows, T* dl, T* d, T* du, T* x,
                                int count, void*) const {
        return solve_interleaved<T>(this->name, handle, rows, {dl, d, du}, x, count);
    }
};
template <class T>
struct PentadiagonalInterleaved : SparseNamed<T> {
    cusparseStatus_t operator()(cusparseHandle_t handle, int, int rows, T* ds, T* dl, T* d, T* du,
                                T* dw, T* x, int count, void*) const {
        return solve_interleaved<T>(this->name, handle, rows, {ds, dl, d, du, dw}, x, count);
    }
};

}  // namespace cuda_cpu

CUDA_CPU_SPARSE(Tridiagonal, gtsv2)
CUDA_CPU_SPARSE(TridiagonalLength, gtsv2_bufferSizeExt)
CUDA_CPU_SPARSE(Tridiagonal, gtsv2_nopivot)
CUDA_CPU_SPARSE(TridiagonalLength, gtsv2_nopivot_bufferSizeExt)
CUDA_CPU_SPARSE(TridiagonalBatch, gtsv2StridedBatch)
CUDA_CPU_SPARSE(TridiagonalBatchLength, gtsv2StridedBatch_bufferSizeExt)
CUDA_CPU_SPARSE(TridiagonalInterleaved, gtsvInterleavedBatch)
CUDA_CPU_SPARSE(InterleavedLength, gtsvInterleavedBatch_bufferSizeExt)
CUDA_CPU_SPARSE(PentadiagonalInterleaved, gpsvInterleavedBatch)
CUDA_CPU_SPARSE(InterleavedLength, gpsvInterleavedBatch_bufferSizeExt)
