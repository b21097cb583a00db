// cuSOLVER: the calls for eigenvalues, each with what tells how much it works in. All are eigenvalues() of solver_eigen.h.
#pragma once

namespace cuda_cpu {

template <class T>
struct SyevdLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t mode, cublasFillMode_t, int n,
                                const T*, int leading, const RealOf<T>*, int* length) const {
        return eigen_length<T>(mode, n, leading, length);
    }
};
template <class T>
struct Syevd : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                                cublasFillMode_t fill, int n, T* A, int leading, RealOf<T>* values,
                                T* work, int length, int* info) const {
        return eigenvalues(name, handle, mode, fill, n, A, leading, values, work, length, info);
    }
};
template <class T>
struct SyevjLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t mode, cublasFillMode_t, int n,
                                const T*, int leading, const RealOf<T>*, int* length,
                                syevjInfo_t) const {
        return eigen_length<T>(mode, n, leading, length);
    }
};
template <class T>
struct Syevj : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                                cublasFillMode_t fill, int n, T* A, int leading, RealOf<T>* values,
                                T* work, int length, int* info, syevjInfo_t settings) const {
        return eigenvalues(name, handle, mode, fill, n, A, leading, values, work, length, info, 1,
                           settings);
    }
};
template <class T>
struct SyevjBatchedLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t mode, cublasFillMode_t, int n,
                                const T*, int leading, const RealOf<T>*, int* length, syevjInfo_t,
                                int) const {
        return eigen_length<T>(mode, n, leading, length);
    }
};
template <class T>
struct SyevjBatched : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                                cublasFillMode_t fill, int n, T* A, int leading, RealOf<T>* values,
                                T* work, int length, int* info, syevjInfo_t settings,
                                int count) const {
        return eigenvalues(name, handle, mode, fill, n, A, leading, values, work, length, info,
                           count, settings);
    }
};
template <class T>
struct SyevdxLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigMode_t mode, cusolverEigRange_t,
                                cublasFillMode_t, int n, const T*, int leading, RealOf<T>,
                                RealOf<T>, int, int, int*, const RealOf<T>*, int* length) const {
        return eigen_length<T>(mode, n, leading, length);
    }
};
template <class T>
struct Syevdx : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigMode_t mode,
                                cusolverEigRange_t range, cublasFillMode_t fill, int n, T* A,
                                int leading, RealOf<T> from, RealOf<T> to, int first, int last,
                                int* found, RealOf<T>* values, T* work, int length,
                                int* info) const {
        return eigenvalues(name, handle, mode, fill, n, A, leading, values, work, length, info, 1,
                           nullptr, {range, from, to, first, last, found});
    }
};
template <class T>
struct SygvdLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t mode,
                                cublasFillMode_t, int n, const T*, int leading, const T*, int,
                                const RealOf<T>*, int* length) const {
        return eigen_length<T>(mode, n, leading, length);
    }
};
template <class T>
struct Sygvd : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigType_t type,
                                cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* A,
                                int leading_A, T* B, int leading_B, RealOf<T>* values, T* work,
                                int length, int* info) const {
        return eigenvalues(name, handle, mode, fill, n, A, leading_A, values, work, length, info, 1,
                           nullptr, {}, type, B, leading_B);
    }
};
template <class T>
struct SygvjLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t mode,
                                cublasFillMode_t, int n, const T*, int leading, const T*, int,
                                const RealOf<T>*, int* length, syevjInfo_t) const {
        return eigen_length<T>(mode, n, leading, length);
    }
};
template <class T>
struct Sygvj : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigType_t type,
                                cusolverEigMode_t mode, cublasFillMode_t fill, int n, T* A,
                                int leading_A, T* B, int leading_B, RealOf<T>* values, T* work,
                                int length, int* info, syevjInfo_t settings) const {
        return eigenvalues(name, handle, mode, fill, n, A, leading_A, values, work, length, info, 1,
                           settings, {}, type, B, leading_B);
    }
};
template <class T>
struct SygvdxLength : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t, cusolverEigType_t, cusolverEigMode_t mode,
                                cusolverEigRange_t, cublasFillMode_t, int n, const T*, int leading,
                                const T*, int, RealOf<T>, RealOf<T>, int, int, int*,
                                const RealOf<T>*, int* length) const {
        return eigen_length<T>(mode, n, leading, length);
    }
};
template <class T>
struct Sygvdx : Named {
    cusolverStatus_t operator()(cusolverDnHandle_t handle, cusolverEigType_t type,
                                cusolverEigMode_t mode, cusolverEigRange_t range,
                                cublasFillMode_t fill, int n, T* A, int leading_A, T* B,
                                int leading_B, RealOf<T> from, RealOf<T> to, int first, int last,
                                int* found, RealOf<T>* values, T* work, int length,
                                int* info) const {
        return eigenvalues(name, handle, mode, fill, n, A, leading_A, values, work, length, info, 1,
                           nullptr, {range, from, to, first, last, found}, type, B, leading_B);
    }
};

}  // namespace cuda_cpu

#define CUDA_CPU_EIGEN(Symmetric, symmetric, hermitian) \
    CUDA_CPU_SOLVER_REAL(Symmetric, symmetric)          \
    CUDA_CPU_SOLVER_COMPLEX(Symmetric, hermitian)
CUDA_CPU_EIGEN(Syevd, syevd, heevd)
CUDA_CPU_EIGEN(Syevj, syevj, heevj)
CUDA_CPU_EIGEN(SyevjBatched, syevjBatched, heevjBatched)
CUDA_CPU_EIGEN(Syevdx, syevdx, heevdx)
CUDA_CPU_EIGEN(Sygvd, sygvd, hegvd)
CUDA_CPU_EIGEN(Sygvj, sygvj, hegvj)
CUDA_CPU_EIGEN(Sygvdx, sygvdx, hegvdx)
#undef CUDA_CPU_EIGEN
