// cuSOLVER's sparse part: systems of equations with a matrix by rows, by Eigen's QR, Cholesky and LU. Orders of rows and columns
// are Eigen's own, whatever is asked for.
#pragma once

#include "cusolver_common.h"
#include "cusparse.h"
#if __has_include(<eigen3/Eigen/Sparse>)
#include <eigen3/Eigen/Sparse>
#define CUDA_CPU_EIGEN
#elif __has_include(<Eigen/Sparse>)
#include <Eigen/Sparse>
#define CUDA_CPU_EIGEN
#endif

struct cusolverSpContext {
    cudaStream_t stream = nullptr;
};
using cusolverSpHandle_t = cusolverSpContext*;
CUDA_CPU_HANDLES(cusolverSp, cusolverSpHandle_t, cusolverSpContext, cusolverStatus_t,
                 CUSOLVER_STATUS_INTERNAL_ERROR, all)
struct csrqrInfo {};
using csrqrInfo_t = csrqrInfo*;

namespace cuda_cpu {

using SparseSolverCall =
    HandleCall<cusolverSpHandle_t, cusolverStatus_t, CUSOLVER_STATUS_INVALID_VALUE,
               CUSOLVER_STATUS_EXECUTION_FAILED>;
enum class SparseFactor { qr, cholesky, lu };
template <class T>
struct SparseSystem {
    int n, entries, base;
    const T* values;
    const int *offsets, *indices;
    const T* b;
    T* x;
    double tolerance;
};

#ifdef CUDA_CPU_EIGEN
template <class T>
using EigenNumber = std::conditional_t<is_complex<T>, std::complex<RealOf<T>>, T>;
template <class T>
using EigenMatrix = Eigen::SparseMatrix<EigenNumber<T>>;
template <class T>
EigenNumber<T> eigen_number(const T& x) {
    if constexpr (is_complex<T>) {
        return {x.x, x.y};
    } else {
        return x;
    }
}
// How many of the first columns, or leading minors, are well: is_well(k) holds up to there.
template <class IsWell>
int well_until(int n, IsWell is_well) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (is_well(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}
// Stores x. Returns -1, or from where on A is singular (for Cholesky: not positive definite).
template <SparseFactor factor, class T>
int solve_sparse(const SparseSystem<T>& system) {
    using Number = EigenNumber<T>;
    const int n = system.n;
    std::vector<Eigen::Triplet<Number>> entries;
    for (int row = 0; row < n; ++row)
        for (int i = system.offsets[row] - system.base; i < system.offsets[row + 1] - system.base;
             ++i)
            entries.emplace_back(row, system.indices[i] - system.base,
                                 eigen_number(system.values[i]));
    EigenMatrix<T> A(n, n);
    A.setFromTriplets(entries.begin(), entries.end());
    A.makeCompressed();
    Eigen::Matrix<Number, Eigen::Dynamic, 1> b(n), x;
    for (int i = 0; i < n; ++i) b[i] = eigen_number(system.b[i]);
    int singular = -1;
    const auto solved = [&](const auto& solver) { x = solver.solve(b); };
    if constexpr (factor == SparseFactor::cholesky) {
        const auto is_positive = [&](int size) {
            const EigenMatrix<T> leading = A.topLeftCorner(size, size);
            return Eigen::SimplicialLLT<EigenMatrix<T>>(leading).info() == Eigen::Success;
        };
        const Eigen::SimplicialLLT<EigenMatrix<T>> solver(A);
        if (solver.info() == Eigen::Success) {
            solved(solver);
        } else {
            singular = well_until(n, is_positive);
        }
    } else if constexpr (factor == SparseFactor::lu) {
        Eigen::SparseLU<EigenMatrix<T>> solver(A);
        if (solver.info() == Eigen::Success) {
            solved(solver);
        } else {
            singular = 0;
        }
    } else {
        const auto rank_of = [&](const EigenMatrix<T>& columns) {
            Eigen::SparseQR<EigenMatrix<T>, Eigen::COLAMDOrdering<int>> solver;
            solver.setPivotThreshold(static_cast<RealOf<T>>(system.tolerance));
            solver.compute(columns);
            if (solver.rank() == n) solved(solver);
            return static_cast<int>(solver.rank());
        };
        if (rank_of(A) < n)
            singular = well_until(n, [&](int size) {
                EigenMatrix<T> some = A.leftCols(size);
                some.makeCompressed();
                return rank_of(some) == size;
            });
    }
    for (int i = 0; i < n && singular < 0; ++i) {
        if constexpr (is_complex<T>) {
            system.x[i] = {x[i].real(), x[i].imag()};
        } else {
            system.x[i] = x[i];
        }
    }
    return singular;
}
#else
template <SparseFactor, class T>
int solve_sparse(const SparseSystem<T>&) {
    refuse_call("cusolverSp", "sparse systems without Eigen (install libeigen3-dev)");
}
#endif

// Of arrays on the device, and of arrays of the host.
template <class T, SparseFactor factor, bool on_host>
struct SparseSolve : Named {
    cusolverStatus_t operator()(cusolverSpHandle_t handle, int n, int entries,
                                cusparseMatDescr_t descriptor, const T* values, const int* offsets,
                                const int* indices, const T* b, RealOf<T> tolerance, int, T* x,
                                int* singular) const {
        SparseSolverCall call(name, handle);
        call.expect(n >= 0 && entries >= 0 && descriptor != nullptr && singular != nullptr);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        if (descriptor->type != CUSPARSE_MATRIX_TYPE_GENERAL)
            return CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED;
        const SparseSystem<T> system{n, entries, descriptor->base, values, offsets, indices,
                                     b, x,       tolerance};
        if constexpr (on_host) {
            *singular = solve_sparse<factor>(system);
            return CUSOLVER_STATUS_SUCCESS;
        } else {
            call.vector("the values", values, entries, 1, Use::read);
            call.vector("the offsets", offsets, n + 1ll, 1, Use::read);
            call.vector("the indices", indices, entries, 1, Use::read);
            call.vector("b", b, n, 1, Use::read);
            call.vector("x", x, n, 1, Use::written);
            return call.join_and_wait([=] { *singular = solve_sparse<factor>(system); });
        }
    }
};
template <class T>
using SparseQr = SparseSolve<T, SparseFactor::qr, false>;
template <class T>
using SparseQrHost = SparseSolve<T, SparseFactor::qr, true>;
template <class T>
using SparseCholesky = SparseSolve<T, SparseFactor::cholesky, false>;
template <class T>
using SparseCholeskyHost = SparseSolve<T, SparseFactor::cholesky, true>;
template <class T>
using SparseLuHost = SparseSolve<T, SparseFactor::lu, true>;

// Matrices with the same entries: their values, right-hand sides and solutions follow each other.
template <class T>
struct SparseQrBatchedLength : Named {
    cusolverStatus_t operator()(cusolverSpHandle_t, int, int, int, cusparseMatDescr_t, const T*,
                                const int*, const int*, int, csrqrInfo_t, size_t* internal,
                                size_t* bytes) const {
        *internal = *bytes = 8;
        return CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct SparseQrBatched : Named {
    cusolverStatus_t operator()(cusolverSpHandle_t handle, int m, int n, int entries,
                                cusparseMatDescr_t descriptor, const T* values, const int* offsets,
                                const int* indices, const T* b, T* x, int count, csrqrInfo_t,
                                void*) const {
        if (m != n || count < 0) return CUSOLVER_STATUS_INVALID_VALUE;
        for (int i = 0; i < count; ++i) {
            int singular = -1;
            const cusolverStatus_t status = SparseQr<T>{{name}}(
                handle, n, entries, descriptor, values + 1ll * i * entries, offsets, indices,
                b + 1ll * i * n, 0, 0, x + 1ll * i * n, &singular);
            if (status != CUSOLVER_STATUS_SUCCESS) return status;
        }
        return CUSOLVER_STATUS_SUCCESS;
    }
};

}  // namespace cuda_cpu

#define CUDA_CPU_SP(Function, name)                                                          \
    inline constexpr cuda_cpu::Function<float> cusolverSpS##name{{"cusolverSpS" #name}};     \
    inline constexpr cuda_cpu::Function<double> cusolverSpD##name{{"cusolverSpD" #name}};    \
    inline constexpr cuda_cpu::Function<cuComplex> cusolverSpC##name{{"cusolverSpC" #name}}; \
    inline constexpr cuda_cpu::Function<cuDoubleComplex> cusolverSpZ##name{{"cusolverSpZ" #name}};
CUDA_CPU_SP(SparseQr, csrlsvqr)
CUDA_CPU_SP(SparseQrHost, csrlsvqrHost)
CUDA_CPU_SP(SparseCholesky, csrlsvchol)
CUDA_CPU_SP(SparseCholeskyHost, csrlsvcholHost)
CUDA_CPU_SP(SparseLuHost, csrlsvluHost)
CUDA_CPU_SP(SparseQrBatched, csrqrsvBatched)
CUDA_CPU_SP(SparseQrBatchedLength, csrqrBufferInfoBatched)
#undef CUDA_CPU_SP
inline cusolverStatus_t cusolverSpCreateCsrqrInfo(csrqrInfo_t* info) {
    *info = new csrqrInfo;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverSpDestroyCsrqrInfo(csrqrInfo_t info) {
    delete info;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverSpXcsrqrAnalysisBatched(cusolverSpHandle_t, int, int, int,
                                                        cusparseMatDescr_t, const int*, const int*,
                                                        csrqrInfo_t) {
    return CUSOLVER_STATUS_SUCCESS;
}
// Whether each entry has its mirror image; of arrays of the host.
inline cusolverStatus_t cusolverSpXcsrissymHost(cusolverSpHandle_t handle, int n, int,
                                                cusparseMatDescr_t descriptor, const int* offsets,
                                                const int* ends, const int* indices,
                                                int* is_symmetric) {
    if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
    std::vector<std::pair<int, int>> places, mirrored;
    for (int row = 0; row < n; ++row)
        for (int i = offsets[row] - descriptor->base; i < ends[row] - descriptor->base; ++i) {
            places.push_back({row, indices[i] - descriptor->base});
            mirrored.push_back({indices[i] - descriptor->base, row});
        }
    std::sort(places.begin(), places.end());
    std::sort(mirrored.begin(), mirrored.end());
    *is_symmetric = places == mirrored;
    return CUSOLVER_STATUS_SUCCESS;
}

#include "cuda_cpu/libraries/solver_orders.h"
