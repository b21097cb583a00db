// Feature: cuBLAS over several devices | `cublasXtSgemm` and its kin on matrices of the host or a device, `cublasXtDeviceSelect`, block size
// Flags: -lcublas
#include <cublasXt.h>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

int main() {
    cublasXtHandle_t handle;
    BLAS(cublasXtCreate(&handle));
    int devices[1] = {0};
    BLAS(cublasXtDeviceSelect(handle, 1, devices));
    BLAS(cublasXtSetBlockDim(handle, 64));
    int size = 0;
    BLAS(cublasXtGetBlockDim(handle, &size));
    EXPECT(size == 64);
    constexpr int m = 150, n = 70, k = 90;
    const Matrix<float> A = some_matrix<float>(m, k, 1), B = some_matrix<float>(n, k, 2);
    Matrix<float> C = some_matrix<float>(m, n, 3);
    const Matrix<float> right = sum(2.0f, product(A, transposed(B)), 3.0f, C);
    const float two = 2, three = 3;
    float* d_C = on_device(C);
    BLAS(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &two, A.values.data(), m,
                       B.values.data(), n, &three, C.values.data(), m));
    EXPECT(C == right);  // a call returns when it is done
    BLAS(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &two, A.values.data(), m,
                       B.values.data(), n, &three, d_C, m));
    EXPECT(back(d_C, m, n) == right);
    EXPECT(cublasXtSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, k, &two, A.values.data(), m - 1,
                         B.values.data(), n, &three, d_C, m) == CUBLAS_STATUS_INVALID_VALUE);
    SUCCEEDS(cudaFree(d_C));
    BLAS(cublasXtDestroy(handle));
    std::puts("ok");
}
