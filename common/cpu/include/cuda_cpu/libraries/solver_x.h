// cuSOLVER: its calls with 64-bit sizes, whose numbers are of types that are arguments (cusolverDnXgetrf and its kin). The matrices
// are of one type; LAPACK's sizes are of 32 bits. They work in memory of the host alone.
#pragma once

#include <tuple>

#include "solver_factors.h"
#include "solver_singular.h"

struct cusolverDnParams {};
using cusolverDnParams_t = cusolverDnParams*;
enum cusolverDnFunction_t {
    CUSOLVERDN_GETRF = 0,
    CUSOLVERDN_POTRF = 1,
    CUSOLVERDN_SYEVBATCHED = 2
};
inline cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) {
    *params = new cusolverDnParams;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
    delete params;
    return CUSOLVER_STATUS_SUCCESS;
}
inline cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t, cusolverDnFunction_t,
                                                cusolverAlgMode_t) {
    return CUSOLVER_STATUS_SUCCESS;
}

namespace cuda_cpu {

// Calls work(a number of the type), where all matrices have that type and it is that of the computation.
template <class Work>
cusolverStatus_t in_solver_type(std::initializer_list<cudaDataType> types, Work work) {
    for (const cudaDataType type : types)
        if (type != *types.begin()) return CUSOLVER_STATUS_NOT_SUPPORTED;
    switch (*types.begin()) {
        case CUDA_R_32F:
            return work(float{});
        case CUDA_R_64F:
            return work(double{});
        case CUDA_C_32F:
            return work(cuComplex{});
        case CUDA_C_64F:
            return work(cuDoubleComplex{});
        default:
            return CUSOLVER_STATUS_INVALID_VALUE;
    }
}
inline int as_int(int64_t size) { return size > 0x7fffffff ? -1 : static_cast<int>(size); }
// Tells in its last two arguments how many bytes are needed on the device and on the host.
struct XLengths {
    template <class... Arguments>
    cusolverStatus_t operator()(const Arguments&... arguments) const {
        const auto all = std::tie(arguments...);
        constexpr size_t count = sizeof...(Arguments);
        *std::get<count - 2>(all) = 16;
        *std::get<count - 1>(all) = 0;
        return CUSOLVER_STATUS_SUCCESS;
    }
};

}  // namespace cuda_cpu

inline constexpr cuda_cpu::XLengths cusolverDnXgetrf_bufferSize, cusolverDnXpotrf_bufferSize,
    cusolverDnXgeqrf_bufferSize, cusolverDnXsyevd_bufferSize, cusolverDnXsyevdx_bufferSize,
    cusolverDnXgesvd_bufferSize, cusolverDnXgesvdp_bufferSize, cusolverDnXgesvdr_bufferSize,
    cusolverDnXgeev_bufferSize, cusolverDnXtrtri_bufferSize;

// What comes last in each of these calls.
#define CUDA_CPU_X_WORK cudaDataType compute, void *work, size_t bytes, void *, size_t, int *info

inline cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m,
                                         int64_t n, cudaDataType type, void* A, int64_t leading,
                                         int64_t* pivots, CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    return in_solver_type({type, compute}, [=](auto zero) {
        using T = decltype(zero);
        const int rows = as_int(m), columns = as_int(n), step = as_int(leading);
        SolverCall call("cusolverDnXgetrf", handle);
        call.matrix("A", static_cast<T*>(A), m, n, leading, Use::written);
        if (pivots != nullptr) call.vector("the pivots", pivots, std::min(m, n), 1, Use::written);
        call.work(static_cast<char*>(work), static_cast<long long>(bytes), 1);
        call.info(info);
        call.expect(pivots != nullptr || m == n);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "getrf", call.function());
        return call.join([=] {
            if (pivots == nullptr) {
                *info = factorise_in_order(static_cast<T*>(A), columns, leading);
                return;
            }
            std::vector<int> narrow(static_cast<size_t>(std::min(m, n)) + 1);
            call_fortran(lapack, rows, columns, static_cast<T*>(A), step, narrow.data(), info);
            std::copy(narrow.begin(), narrow.end() - 1, pivots);
        });
    });
}
inline cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                         cublasOperation_t operation, int64_t n, int64_t columns,
                                         cudaDataType type_A, const void* A, int64_t leading_A,
                                         const int64_t* pivots, cudaDataType type_B, void* B,
                                         int64_t leading_B, int* info) {
    using namespace cuda_cpu;
    return in_solver_type({type_A, type_B}, [=](auto zero) {
        using T = decltype(zero);
        SolverCall call("cusolverDnXgetrs", handle);
        call.matrix("A", static_cast<const T*>(A), n, n, leading_A, Use::read);
        call.matrix("B", static_cast<T*>(B), n, columns, leading_B, Use::written);
        if (pivots != nullptr) call.vector("the pivots", pivots, n, 1, Use::read);
        call.info(info);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "getrs", call.function());
        return call.join([=] {
            std::vector<int> narrow = rows_in_order(as_int(n));
            if (pivots != nullptr) std::copy(pivots, pivots + n, narrow.begin());
            call_fortran(lapack, letter(operation), as_int(n), as_int(columns),
                         static_cast<const T*>(A), as_int(leading_A), narrow.data(),
                         static_cast<T*>(B), as_int(leading_B), info);
        });
    });
}
inline cusolverStatus_t cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t,
                                         cublasFillMode_t fill, int64_t n, cudaDataType type,
                                         void* A, int64_t leading, CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    return in_solver_type({type, compute}, [=](auto zero) {
        using T = decltype(zero);
        SolverCall call("cusolverDnXpotrf", handle);
        call.matrix("A", static_cast<T*>(A), n, n, leading, Use::written);
        call.work(static_cast<char*>(work), static_cast<long long>(bytes), 1);
        call.info(info);
        return call.routine<T>("potrf", letter(fill), as_int(n), static_cast<T*>(A),
                               as_int(leading), info);
    });
}
inline cusolverStatus_t cusolverDnXpotrs(cusolverDnHandle_t handle, cusolverDnParams_t,
                                         cublasFillMode_t fill, int64_t n, int64_t columns,
                                         cudaDataType type_A, const void* A, int64_t leading_A,
                                         cudaDataType type_B, void* B, int64_t leading_B,
                                         int* info) {
    using namespace cuda_cpu;
    return in_solver_type({type_A, type_B}, [=](auto zero) {
        using T = decltype(zero);
        return Potrs<T>{{"cusolverDnXpotrs"}}(handle, fill, as_int(n), as_int(columns),
                                              static_cast<const T*>(A), as_int(leading_A),
                                              static_cast<T*>(B), as_int(leading_B), info);
    });
}
inline cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m,
                                         int64_t n, cudaDataType type, void* A, int64_t leading,
                                         cudaDataType type_of_factors, void* factors,
                                         CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    return in_solver_type({type, type_of_factors, compute}, [=](auto zero) {
        using T = decltype(zero);
        SolverCall call("cusolverDnXgeqrf", handle);
        call.matrix("A", static_cast<T*>(A), m, n, leading, Use::written);
        call.vector("tau", static_cast<T*>(factors), std::min(m, n), 1, Use::written);
        call.work(static_cast<char*>(work), static_cast<long long>(bytes), 1);
        call.info(info);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "geqrf", call.function());
        return call.join([=] {
            std::vector<T> own(static_cast<size_t>(n) * 32 + 1);
            call_fortran(lapack, as_int(m), as_int(n), static_cast<T*>(A), as_int(leading),
                         static_cast<T*>(factors), own.data(), static_cast<int>(own.size()), info);
        });
    });
}
inline cusolverStatus_t cusolverDnXsyevd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                         cusolverEigMode_t mode, cublasFillMode_t fill, int64_t n,
                                         cudaDataType type, void* A, int64_t leading,
                                         cudaDataType type_of_values, void* values,
                                         CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    if (type_of_values != type_of_parts(type)) return CUSOLVER_STATUS_NOT_SUPPORTED;
    return in_solver_type({type, compute}, [=](auto zero) {
        using T = decltype(zero);
        return eigenvalues("cusolverDnXsyevd", handle, mode, fill, as_int(n), static_cast<T*>(A),
                           as_int(leading), static_cast<RealOf<T>*>(values), static_cast<T*>(work),
                           static_cast<long long>(bytes / sizeof(T)), info);
    });
}
inline cusolverStatus_t cusolverDnXsyevdx(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          cusolverEigMode_t mode, cusolverEigRange_t range,
                                          cublasFillMode_t fill, int64_t n, cudaDataType type,
                                          void* A, int64_t leading, void* from, void* to,
                                          int64_t first, int64_t last, int64_t* found,
                                          cudaDataType type_of_values, void* values,
                                          CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    if (type_of_values != type_of_parts(type)) return CUSOLVER_STATUS_NOT_SUPPORTED;
    return in_solver_type({type, compute}, [=](auto zero) {
        using T = decltype(zero);
        int count = 0;
        const bool by_value = range == CUSOLVER_EIG_RANGE_V;
        const EigenChoice choice{range,
                                 by_value ? read_number<double>(from, type_of_values, 0) : 0,
                                 by_value ? read_number<double>(to, type_of_values, 0) : 0,
                                 first,
                                 last,
                                 &count};
        const cusolverStatus_t status =
            eigenvalues("cusolverDnXsyevdx", handle, mode, fill, as_int(n), static_cast<T*>(A),
                        as_int(leading), static_cast<RealOf<T>*>(values), static_cast<T*>(work),
                        static_cast<long long>(bytes / sizeof(T)), info, 1, nullptr, choice);
        *found = count;
        return status;
    });
}
inline cusolverStatus_t cusolverDnXgesvd(cusolverDnHandle_t handle, cusolverDnParams_t,
                                         signed char job_U, signed char job_VT, int64_t m,
                                         int64_t n, cudaDataType type, void* A, int64_t leading_A,
                                         cudaDataType type_of_values, void* values,
                                         cudaDataType type_U, void* U, int64_t leading_U,
                                         cudaDataType type_VT, void* VT, int64_t leading_VT,
                                         CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    if (type_of_values != type_of_parts(type)) return CUSOLVER_STATUS_NOT_SUPPORTED;
    return in_solver_type({type, type_U, type_VT, compute}, [=](auto zero) {
        using T = decltype(zero);
        const int rows = as_int(m), columns = as_int(n);
        if (bytes < 16) return CUSOLVER_STATUS_INVALID_VALUE;
        expect_on_device("cusolverDnXgesvd", {"the workspace", work, bytes, 1, 0, true});
        return gesvd<T>("cusolverDnXgesvd", handle, job_U, job_VT, rows, columns,
                        static_cast<T*>(A), as_int(leading_A), static_cast<RealOf<T>*>(values),
                        static_cast<T*>(U), as_int(leading_U), static_cast<T*>(VT),
                        as_int(leading_VT), info);
    });
}
// By the polar decomposition in cuSOLVER; V, not V^H. LAPACK has no error of sigma to tell of: 0.
inline cusolverStatus_t cusolverDnXgesvdp(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          cusolverEigMode_t mode, int is_thin, int64_t m, int64_t n,
                                          cudaDataType type, void* A, int64_t leading_A,
                                          cudaDataType type_of_values, void* values,
                                          cudaDataType type_U, void* U, int64_t leading_U,
                                          cudaDataType type_V, void* V, int64_t leading_V,
                                          CUDA_CPU_X_WORK, double* error_of_sigma) {
    using namespace cuda_cpu;
    if (type_of_values != type_of_parts(type)) return CUSOLVER_STATUS_NOT_SUPPORTED;
    *error_of_sigma = 0;
    return in_solver_type({type, type_U, type_V, compute}, [=](auto zero) {
        using T = decltype(zero);
        const int rows = as_int(m), columns = as_int(n);
        return singular_values<T>(
            "cusolverDnXgesvdp", handle, rows, columns,
            {static_cast<T*>(A), as_int(leading_A), 0, static_cast<RealOf<T>*>(values), 0,
             static_cast<T*>(U), as_int(leading_U), 0, static_cast<T*>(V), as_int(leading_V), 0, 1,
             mode, is_thin != 0, std::min(rows, columns)},
            static_cast<T*>(work), static_cast<long long>(bytes / sizeof(T)), info);
    });
}
// By random numbers in cuSOLVER; V, not V^H. The first k values here are exact.
inline cusolverStatus_t cusolverDnXgesvdr(cusolverDnHandle_t handle, cusolverDnParams_t,
                                          signed char job_U, signed char job_V, int64_t m,
                                          int64_t n, int64_t k, int64_t, int64_t, cudaDataType type,
                                          void* A, int64_t leading_A, cudaDataType type_of_values,
                                          void* values, cudaDataType type_U, void* U,
                                          int64_t leading_U, cudaDataType type_V, void* V,
                                          int64_t leading_V, CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    if (type_of_values != type_of_parts(type)) return CUSOLVER_STATUS_NOT_SUPPORTED;
    if (job_U != job_V || (job_U != 'S' && job_U != 'N')) return CUSOLVER_STATUS_INVALID_VALUE;
    return in_solver_type({type, type_U, type_V, compute}, [=](auto zero) {
        using T = decltype(zero);
        return singular_values<T>(
            "cusolverDnXgesvdr", handle, as_int(m), as_int(n),
            {static_cast<T*>(A), as_int(leading_A), 0, static_cast<RealOf<T>*>(values), 0,
             static_cast<T*>(U), as_int(leading_U), 0, static_cast<T*>(V), as_int(leading_V), 0, 1,
             job_U == 'S' ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR, true, as_int(k)},
            static_cast<T*>(work), static_cast<long long>(bytes / sizeof(T)), info);
    });
}
// Of a general matrix, with vectors from the right alone, as cuSOLVER has it. The values of a real one are complex numbers, or
// real numbers: n real parts, then n imaginary ones.
inline cusolverStatus_t cusolverDnXgeev(cusolverDnHandle_t handle, cusolverDnParams_t,
                                        cusolverEigMode_t mode_VL, cusolverEigMode_t mode,
                                        int64_t n, cudaDataType type, void* A, int64_t leading_A,
                                        cudaDataType type_of_values, void* values,
                                        cudaDataType type_VL, void*, int64_t, cudaDataType type_VR,
                                        void* VR, int64_t leading_VR, CUDA_CPU_X_WORK) {
    using namespace cuda_cpu;
    return in_solver_type({type, type_VL, type_VR, compute}, [=](auto zero) {
        using T = decltype(zero);
        using Real = RealOf<T>;
        const bool vectors = mode == CUSOLVER_EIG_MODE_VECTOR;
        const bool in_pairs = type_of_values != type_of_parts(type);
        if (in_pairs ? type_of_parts(type_of_values) != type_of_parts(type) : is_complex<T>)
            return CUSOLVER_STATUS_NOT_SUPPORTED;
        SolverCall call("cusolverDnXgeev", handle);
        call.expect(mode_VL == CUSOLVER_EIG_MODE_NOVECTOR);
        call.matrix("A", static_cast<T*>(A), n, n, leading_A, Use::written);
        call.vector("W", static_cast<Real*>(values), 2 * n, 1, Use::written);
        if (vectors) call.matrix("VR", static_cast<T*>(VR), n, n, leading_VR, Use::written);
        call.work(static_cast<char*>(work), static_cast<long long>(bytes), 1);
        call.info(info);
        if (call.status() != CUSOLVER_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "geev", call.function());
        return call.join([=] {
            const auto count = static_cast<size_t>(n);
            std::vector<T> own(4 * count + 1);
            std::vector<Real> reals(2 * count + 1);
            const auto routine = [&](auto... of_values) {
                return [=, &own](auto... rest) {
                    call_fortran(lapack, 'N', vectors ? 'V' : 'N', as_int(n), static_cast<T*>(A),
                                 as_int(leading_A), of_values..., static_cast<T*>(nullptr), 1,
                                 static_cast<T*>(VR), std::max(1, as_int(leading_VR)), own.data(),
                                 static_cast<int>(own.size()), rest...);
                };
            };
            if constexpr (is_complex<T>) {
                routine(static_cast<T*>(values))(reals.data(), info);
            } else {
                routine(reals.data(), reals.data() + n)(info);
                for (size_t i = 0; i < 2 * count; ++i)
                    static_cast<Real*>(values)[in_pairs ? 2 * (i % count) + i / count : i] =
                        reals[i];
            }
        });
    });
}
inline cusolverStatus_t cusolverDnXtrtri(cusolverDnHandle_t handle, cublasFillMode_t fill,
                                         cublasDiagType_t diagonal, int64_t n, cudaDataType type,
                                         void* A, int64_t leading, void* work, size_t bytes, void*,
                                         size_t, int* info) {
    using namespace cuda_cpu;
    return in_solver_type({type}, [=](auto zero) {
        using T = decltype(zero);
        SolverCall call("cusolverDnXtrtri", handle);
        call.matrix("A", static_cast<T*>(A), n, n, leading, Use::written);
        call.work(static_cast<char*>(work), static_cast<long long>(bytes), 1);
        call.info(info);
        return call.routine<T>("trtri", letter(fill), letter(diagonal), as_int(n),
                               static_cast<T*>(A), as_int(leading), info);
    });
}
#undef CUDA_CPU_X_WORK
