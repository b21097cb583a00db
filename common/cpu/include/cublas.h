// cuBLAS with the interface of before CUDA 4 as well: no handle, numbers by value, letters for what is to be done.
#pragma once

#include "cublas_v2.h"

inline cublasStatus cublasInit() { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus cublasShutdown() { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus cublasAlloc(int count, int size, void** pointer) {
    if (count <= 0 || size <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    return cudaMalloc(pointer, static_cast<size_t>(count) * static_cast<size_t>(size)) ==
                   cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_ALLOC_FAILED;
}
inline cublasStatus cublasFree(void* pointer) {
    return cudaFree(pointer) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}
inline cublasStatus cublasSetKernelStream(cudaStream_t stream) {
    return cublasSetStream(cuda_cpu::legacy_handle(), stream);
}
// What the last call has answered.
inline cublasStatus cublasGetError() {
    const cublasStatus status = cuda_cpu::legacy_status();
    cuda_cpu::legacy_status() = CUBLAS_STATUS_SUCCESS;
    return status;
}
