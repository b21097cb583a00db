// cuSOLVER: factors of many small matrices by LAPACK's potrf, and systems of equations with refinement by its gesv.
#pragma once

#include "solver_handle.h"

namespace cuda_cpu {

// Matrices of one shape at addresses on the device.
template <class T>
void add_matrices(SolverCall& call, const BatchShape& shape, T* const* matrices, int count) {
    call.expect(shape.rows >= 0 && shape.columns >= 0 &&
                shape.leading >= std::max(1ll, shape.rows) && count >= 0);
    call.vector(shape.name, matrices, count, 1, Use::read);
}
template <class T>
struct PotrfBatched : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                                T* const A[], int leading, int* info, int count) const {
        const BatchShape shape{"A", n, n, leading, Use::written};
        SolverCall call(name, handle);
        add_matrices(call, shape, A, count);
        call.vector("info", info, count, 1, Use::written);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "potrf", name);
        return call.join([=, function = name] {
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape, A[i]);
                call_fortran(lapack, letter(fill), n, A[i], leading, info + i);
            }
        });
    }
};
template <class T>
struct PotrsBatched : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cublasFillMode_t fill, int n,
                                int columns, T* const A[], int leading_A, T* const B[],
                                int leading_B, int* info, int count) const {
        const BatchShape shape_A{"A", n, n, leading_A, Use::read},
            shape_B{"B", n, columns, leading_B, Use::written};
        SolverCall call(name, handle);
        add_matrices(call, shape_A, A, count);
        add_matrices(call, shape_B, B, count);
        call.info(info);
        call.expect(columns == 1);  // as cuSOLVER has it
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "potrs", name);
        return call.join([=, function = name] {
            *info = 0;
            for (int i = 0; i < count; ++i) {
                show_matrix(function, shape_A, A[i]);
                show_matrix(function, shape_B, B[i]);
                int own = 0;
                call_fortran(lapack, letter(fill), n, columns, A[i], leading_A, B[i], leading_B,
                             &own);
                if (own != 0) *info = own;
            }
        });
    }
};

// X of A X = B. cuSOLVER factorises in a shorter type and refines; here LAPACK solves in T at once, in no iterations.
template <class T>
struct GesvLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, int n, int, T*, int, int*, T*, int, T*, int,
                                void*, size_t* bytes) const {
        *bytes = static_cast<size_t>(std::max(1, n)) * sizeof(T);
        return n < 0 ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_SUCCESS;
    }
};
template <class T>
struct Gesv : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, int n, int columns, T* A, int leading_A,
                                int* pivots, T* B, int leading_B, T* X, int leading_X, void* work,
                                size_t bytes, int* iterations, int* info) const {
        SolverCall call(name, handle);
        call.matrix("A", A, n, n, leading_A, Use::written);
        call.vector("the pivots", pivots, n, 1, Use::written);
        call.matrix("B", B, n, columns, leading_B, Use::read);
        call.matrix("X", X, n, columns, leading_X, Use::written);
        call.work(static_cast<char*>(work), static_cast<long long>(bytes), 1);
        call.info(info);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "gesv", name);
        *iterations = 0;
        return call.join([=] {
            copy_columns(B, leading_B, X, leading_X, n, columns);
            call_fortran(lapack, n, columns, A, leading_A, pivots, X, leading_X, info);
        });
    }
};

}  // namespace cuda_cpu

CUDA_CPU_SOLVER_ALONE(PotrfBatched, potrfBatched)
CUDA_CPU_SOLVER_ALONE(PotrsBatched, potrsBatched)
#define CUDA_CPU_GESV(letters, T)                                                                 \
    inline constexpr cuda_cpu::Gesv<T> cusolverDn##letters##gesv{{"cusolverDn" #letters "gesv"}}; \
    inline constexpr cuda_cpu::GesvLength<T> cusolverDn##letters##gesv_bufferSize{                \
        {"cusolverDn" #letters "gesv_bufferSize"}};
CUDA_CPU_GESV(SS, float)
CUDA_CPU_GESV(SH, float)
CUDA_CPU_GESV(SB, float)
CUDA_CPU_GESV(SX, float)
CUDA_CPU_GESV(DD, double)
CUDA_CPU_GESV(DS, double)
CUDA_CPU_GESV(DH, double)
CUDA_CPU_GESV(DB, double)
CUDA_CPU_GESV(DX, double)
CUDA_CPU_GESV(CC, cuComplex)
CUDA_CPU_GESV(ZZ, cuDoubleComplex)
CUDA_CPU_GESV(ZC, cuDoubleComplex)
#undef CUDA_CPU_GESV
