// cuBLAS: groups of products, triangles packed and unpacked, and the rest of the calls with types as arguments.
#pragma once

#include "blas_types.h"

namespace cuda_cpu {

// Groups of products, each of one shape; of a group's matrices the addresses follow each other in arrays of the device.
template <class T>
struct GemmGrouped : Named {
    cublasStatus_t operator()(cublasHandle_t handle, const cublasOperation_t of_A[],
                              const cublasOperation_t of_B[], const int m[], const int n[],
                              const int k[], const T alpha[], const T* const A[],
                              const int leading_A[], const T* const B[], const int leading_B[],
                              const T beta[], T* const C[], const int leading_C[], int groups,
                              const int counts[]) const {
        if (groups < 0) return CUBLAS_STATUS_INVALID_VALUE;
        for (int group = 0, first = 0; group < groups; first += counts[group++]) {
            const cublasStatus_t status = GemmBatched<T>{{name}}(
                handle, of_A[group], of_B[group], m[group], n[group], k[group], alpha + group,
                A + first, leading_A[group], B + first, leading_B[group], beta + group, C + first,
                leading_C[group], counts[group]);
            if (status != CUBLAS_STATUS_SUCCESS) return status;
        }
        return CUBLAS_STATUS_SUCCESS;
    }
};
template <class T>
struct Trttp : Named {  // one half of A, packed
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* A,
                              int leading, T* AP) const {
        BlasCall call(name, handle);
        call.matrix("A", A, n, n, leading, Use::read);
        call.vector("AP", AP, packed(n), 1, Use::written);
        call.expect(letter(fill) != '\0');
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "trttp", name);
        return call.join([=] {
            int ignored = 0;
            call_fortran(lapack, letter(fill), n, A, leading, AP, &ignored);
        });
    }
};
template <class T>
struct Tpttr : Named {  // and back
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill, int n, const T* AP,
                              T* A, int leading) const {
        BlasCall call(name, handle);
        call.vector("AP", AP, packed(n), 1, Use::read);
        call.matrix("A", A, n, n, leading, Use::written);
        call.expect(letter(fill) != '\0');
        if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
        void* const lapack = fortran_function<T>(Library::lapack, "tpttr", name);
        return call.join([=] {
            int ignored = 0;
            call_fortran(lapack, letter(fill), n, AP, A, leading, &ignored);
        });
    }
};
// Of the types that cuBLAS takes here, complex numbers of float alone are there.
template <class Function, class Factor>
struct RankEx : Named {
    cublasStatus_t operator()(cublasHandle_t handle, cublasFillMode_t fill,
                              cublasOperation_t operation, int n, int k, const Factor* alpha,
                              const void* A, cudaDataType type_A, int leading_A, const Factor* beta,
                              void* C, cudaDataType type_C, int leading_C) const {
        if (type_C != CUDA_C_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
        if (type_A == CUDA_C_8I) refuse_call(name, "complex numbers of 8-bit integers");
        if (type_A != CUDA_C_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
        return Function{{name}}(handle, fill, operation, n, k, alpha,
                                static_cast<const cuComplex*>(A), leading_A, beta,
                                static_cast<cuComplex*>(C), leading_C);
    }
};
using SyrkEx = RankEx<Syrk<cuComplex>, cuComplex>;
using HerkEx = RankEx<Herk<cuComplex>, float>;

}  // namespace cuda_cpu

CUDA_CPU_BLAS_REAL(GemmGrouped, gemmGroupedBatched)
CUDA_CPU_BLAS_COMPLEX(GemmBatched, gemm3mBatched)
CUDA_CPU_BLAS_COMPLEX(GemmStridedBatched, gemm3mStridedBatched)
CUDA_CPU_BLAS(Trttp, trttp)
CUDA_CPU_BLAS(Tpttr, tpttr)
CUDA_CPU_BLAS_NAME(SyrkEx, CsyrkEx)
CUDA_CPU_BLAS_NAME(SyrkEx, Csyrk3mEx)
CUDA_CPU_BLAS_NAME(HerkEx, CherkEx)
CUDA_CPU_BLAS_NAME(HerkEx, Cherk3mEx)

inline cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void* x, cudaDataType type,
                                   int step, void* result, cudaDataType type_of_result,
                                   cudaDataType execution) {
    using namespace cuda_cpu;
    const TypedVector vector{x, type, step};
    const bool fits = type_of_result == type_of_parts(type);
    if (!fits) return CUBLAS_STATUS_NOT_SUPPORTED;
    return in_type({type}, execution == CUDA_R_32F && type == CUDA_C_32F ? type : execution,
                   type == CUDA_C_32F || type == CUDA_C_64F ? type : execution, [=](auto zero) {
                       using Wide = decltype(zero);
                       BlasCall call("cublasNrm2Ex", handle);
                       add_vector(call, "x", vector, n, Use::read);
                       call.result("the result", static_cast<char*>(result));
                       if (call.status() != CUBLAS_STATUS_SUCCESS) return call.status();
                       const std::string letter =
                           is_complex<Wide> ? std::string(1, TypeLetter<Wide>::letter) : "";
                       void* const blas = fortran_function<RealOf<Wide>>(
                           Library::blas, letter + "nrm2", "cublasNrm2Ex");
                       return call.join_and_wait_for_result([=] {
                           std::vector<Wide> wide;
                           for (int i = 0; i < n; ++i) wide.push_back(vector.read<Wide>(n, i));
                           const RealOf<Wide> norm =
                               n > 0 ? call_fortran<RealOf<Wide>>(blas, n, wide.data(), 1) : 0;
                           store_number(result, type_of_result, 0, norm);
                       });
                   });
}
inline cublasStatus_t cublasRotEx(cublasHandle_t handle, int n, void* x, cudaDataType type_x,
                                  int step_x, void* y, cudaDataType type_y, int step_y,
                                  const void* c, const void* s, cudaDataType type_of_factors,
                                  cudaDataType execution) {
    using namespace cuda_cpu;
    const TypedVector left{x, type_x, step_x}, right{y, type_y, step_y};
    return in_type({type_x, type_y}, execution, execution, [=](auto zero) {
        using Wide = decltype(zero);
        BlasCall call("cublasRotEx", handle);
        const auto cosine = typed_scalar<Wide>(call, "c", c, type_of_parts(type_of_factors)),
                   sine = typed_scalar<Wide>(call, "s", s, type_of_factors);
        add_vector(call, "x", left, n, Use::written);
        add_vector(call, "y", right, n, Use::written);
        return call.join([=] {
            const Wide a = typed_value(cosine, type_of_parts(type_of_factors)),
                       b = typed_value(sine, type_of_factors);
            for (int i = 0; i < n; ++i) {
                const Wide old_x = left.read<Wide>(n, i), old_y = right.read<Wide>(n, i);
                left.store(n, i, sum_of(product_of(a, old_x), product_of(b, old_y)));
                right.store(
                    n, i, difference_of(product_of(a, old_y), product_of(conjugate_of(b), old_x)));
            }
        });
    });
}
