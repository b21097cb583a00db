// cuBLAS over several devices: products of matrices in the host's memory or a device's. A call returns when it is done. In CPU
// mode one BLAS makes them whole, whatever devices and blocks are chosen.
#pragma once

#include "cublas_v2.h"

enum cublasXtPinnedMemMode_t { CUBLASXT_PINNING_DISABLED = 0, CUBLASXT_PINNING_ENABLED = 1 };
struct cublasXtContext {
    cudaStream_t stream = nullptr;
    int block_dim = 2048;
    cublasXtPinnedMemMode_t pinning = CUBLASXT_PINNING_DISABLED;
};
using cublasXtHandle_t = cublasXtContext*;

inline cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
    *handle = nullptr;
    int device;
    if (cudaGetDevice(&device) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasXtContext;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]) {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    int there = 0;
    cudaGetDeviceCount(&there);
    for (int i = 0; i < count; ++i)
        if (devices[i] < 0 || devices[i] >= there) return CUBLAS_STATUS_INVALID_VALUE;
    return count > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
inline cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size) {
    if (size <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    handle->block_dim = size;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int* size) {
    *size = handle->block_dim;
    return CUBLAS_STATUS_SUCCESS;
}
CUDA_CPU_SETTING(cublasXt, cublasXtHandle_t, cublasStatus_t, PinningMemMode,
                 cublasXtPinnedMemMode_t, pinning)

namespace cuda_cpu {

template <class T>
struct XtGemm : Named {
    cublasStatus_t operator()(cublasXtHandle_t handle, cublasOperation_t of_A,
                              cublasOperation_t of_B, size_t m, size_t n, size_t k, const T* alpha,
                              const T* A, size_t leading_A, const T* B, size_t leading_B,
                              const T* beta, T* C, size_t leading_C) const {
        if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
        constexpr size_t most = 0x7fffffff;
        const char a = letter(of_A), b = letter(of_B);
        const bool valid = a != '\0' && b != '\0' && alpha != nullptr && beta != nullptr &&
                           leading_A >= std::max<size_t>(1, a == 'N' ? m : k) &&
                           leading_B >= std::max<size_t>(1, b == 'N' ? k : n) &&
                           leading_C >= std::max<size_t>(1, m) && std::max({m, n, k}) <= most &&
                           std::max({leading_A, leading_B, leading_C}) <= most;
        if (!valid) return CUBLAS_STATUS_INVALID_VALUE;
        void* const blas = fortran_function<T>(Library::blas, "gemm", name);
        const auto as_int = [](size_t size) { return static_cast<int>(size); };
        const cudaError_t error = add_library_work(name, nullptr, {}, [=] {
            call_fortran(blas, a, b, as_int(m), as_int(n), as_int(k), *alpha, A, as_int(leading_A),
                         B, as_int(leading_B), *beta, C, as_int(leading_C));
        });
        return error == cudaSuccess && cudaStreamSynchronize(nullptr) == cudaSuccess
                   ? CUBLAS_STATUS_SUCCESS
                   : CUBLAS_STATUS_EXECUTION_FAILED;
    }
};

}  // namespace cuda_cpu

CUDA_CPU_BLAS_NAME(XtGemm<float>, XtSgemm)
CUDA_CPU_BLAS_NAME(XtGemm<double>, XtDgemm)
CUDA_CPU_BLAS_NAME(XtGemm<cuComplex>, XtCgemm)
CUDA_CPU_BLAS_NAME(XtGemm<cuDoubleComplex>, XtZgemm)
