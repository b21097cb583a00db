// cuSOLVER's sparse part: orders of rows and columns, on the host, and A in another order. Every order that is asked for is Eigen's
// approximate minimum degree.
#pragma once

namespace cuda_cpu {

inline cusolverStatus_t sparse_order(const char* name, cusolverSpHandle_t handle, int n,
                                     cusparseMatDescr_t descriptor, const int* offsets,
                                     const int* indices, int* order) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (n < 0 || descriptor == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
#ifdef CUDA_CPU_EIGEN
    static_cast<void>(name);
    std::vector<Eigen::Triplet<double>> entries;
    for (int row = 0; row < n; ++row)
        for (int i = offsets[row] - descriptor->base; i < offsets[row + 1] - descriptor->base; ++i)
            entries.emplace_back(row, indices[i] - descriptor->base, 1.0);
    Eigen::SparseMatrix<double> A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> places;
    Eigen::AMDOrdering<int>()(A, places);
    for (int i = 0; i < n; ++i) order[i] = places.indices()[i];
    return CUSOLVER_STATUS_SUCCESS;
#else
    static_cast<void>(offsets), static_cast<void>(indices), static_cast<void>(order);
    refuse_call(name, "orders without Eigen (install libeigen3-dev)");
#endif
}

}  // namespace cuda_cpu

#define CUDA_CPU_ORDER(name)                                                                       \
    inline cusolverStatus_t cusolverSp##name(cusolverSpHandle_t handle, int n, int,                \
                                             cusparseMatDescr_t descriptor, const int* offsets,    \
                                             const int* indices, int* order) {                     \
        return cuda_cpu::sparse_order("cusolverSp" #name, handle, n, descriptor, offsets, indices, \
                                      order);                                                      \
    }
CUDA_CPU_ORDER(XcsrsymrcmHost)
CUDA_CPU_ORDER(XcsrsymmdqHost)
CUDA_CPU_ORDER(XcsrsymamdHost)
#undef CUDA_CPU_ORDER
inline cusolverStatus_t cusolverSpXcsrmetisndHost(cusolverSpHandle_t handle, int n, int,
                                                  cusparseMatDescr_t descriptor, const int* offsets,
                                                  const int* indices, const int64_t*, int* order) {
    return cuda_cpu::sparse_order("cusolverSpXcsrmetisndHost", handle, n, descriptor, offsets,
                                  indices, order);
}
inline cusolverStatus_t cusolverSpXcsrperm_bufferSizeHost(cusolverSpHandle_t, int, int, int,
                                                          cusparseMatDescr_t, const int*,
                                                          const int*, const int*, const int*,
                                                          size_t* bytes) {
    *bytes = 8;
    return CUSOLVER_STATUS_SUCCESS;
}
// Row i becomes row p[i] of A, column j column q[j]; `places` follows the entries.
inline cusolverStatus_t cusolverSpXcsrpermHost(cusolverSpHandle_t handle, int m, int n, int entries,
                                               cusparseMatDescr_t descriptor, int* offsets,
                                               int* indices, const int* p, const int* q,
                                               int* places, void*) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    const int base = descriptor->base;
    const std::vector<int> old_offsets(offsets, offsets + m + 1),
        old_indices(indices, indices + entries), old_places(places, places + entries);
    std::vector<int> new_column(static_cast<size_t>(n));
    for (int j = 0; j < n; ++j) new_column[static_cast<size_t>(q[j])] = j;
    int next = 0;
    for (int row = 0; row < m; ++row) {
        std::vector<std::pair<int, int>> own;  // column and place of the entries of a row
        const auto old = static_cast<size_t>(p[row]);
        for (int i = old_offsets[old] - base; i < old_offsets[old + 1] - base; ++i) {
            const auto at = static_cast<size_t>(i);
            own.push_back(
                {new_column[static_cast<size_t>(old_indices[at] - base)], old_places[at]});
        }
        std::sort(own.begin(), own.end());
        offsets[row] = next + base;
        for (const auto& [column, place] : own) {
            indices[next] = column + base;
            places[next++] = place;
        }
    }
    offsets[m] = next + base;
    return CUSOLVER_STATUS_SUCCESS;
}
