// Feature: libraries together | conjugate gradients with cuSPARSE's `SpMV` and cuBLAS's `dot`, `axpy`, `scal` in one stream, scalars on the device
// Flags: -lcusparse -lcublas
#include <cublas_v2.h>
#include <cusparse.h>

#include <cmath>

#include "../device_copies.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)
#define SPARSE(call) EXPECT((call) == CUSPARSE_STATUS_SUCCESS)

// The quotient of two numbers on the device, and its opposite.
__global__ void divide(const double* a, const double* b, double* quotient, double* opposite) {
    *quotient = *a / *b;
    *opposite = -*quotient;
}

int main() {
    // -1 in the row above and below, 2 and a little more in the diagonal.
    constexpr int n = 100;
    std::vector<int> offsets{0}, columns;
    std::vector<double> values, right(n), ones(n, 1);
    for (int row = 0; row < n; ++row) {
        for (int column : {row - 1, row, row + 1}) {
            if (column < 0 || column == n) continue;
            columns.push_back(column);
            values.push_back(column == row ? 2.1 : -1.0);
            right[row] += values.back();  // so that all ones is the solution
        }
        offsets.push_back(static_cast<int>(columns.size()));
    }
    int *at = on_device(offsets), *column = on_device(columns);
    double *value = on_device(values), *x = on_device(std::vector<double>(n)),
           *r = on_device(right), *p = on_device(right), *Ap = on_device(std::vector<double>(n)),
           *numbers = on_device(std::vector<double>(8, 1.0));
    double *old = numbers, *fresh = numbers + 1, *curvature = numbers + 2, *alpha = numbers + 3,
           *minus_alpha = numbers + 4, *beta = numbers + 5, *unused = numbers + 6,
           *one = numbers + 7;
    double* zero = on_device(std::vector<double>{0});

    cudaStream_t stream;
    cublasHandle_t blas;
    cusparseHandle_t sparse;
    SUCCEEDS(cudaStreamCreate(&stream));
    BLAS(cublasCreate(&blas));
    BLAS(cublasSetStream(blas, stream));
    BLAS(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
    SPARSE(cusparseCreate(&sparse));
    SPARSE(cusparseSetStream(sparse, stream));
    SPARSE(cusparseSetPointerMode(sparse, CUSPARSE_POINTER_MODE_DEVICE));
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t of_p, of_Ap;
    SPARSE(cusparseCreateCsr(&A, n, n, static_cast<int64_t>(values.size()), at, column, value,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                             CUDA_R_64F));
    SPARSE(cusparseCreateDnVec(&of_p, n, p, CUDA_R_64F));
    SPARSE(cusparseCreateDnVec(&of_Ap, n, Ap, CUDA_R_64F));
    size_t bytes = 0;
    void* work = nullptr;
    SPARSE(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, one, A, of_p, zero,
                                   of_Ap, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    SUCCEEDS(cudaMalloc(&work, bytes + 8));

    BLAS(cublasDdot(blas, n, r, 1, r, 1, old));
    int steps = 0;
    for (double square = 1; square > 1e-24 && steps < 200; ++steps) {
        SPARSE(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, one, A, of_p, zero, of_Ap,
                            CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, work));
        BLAS(cublasDdot(blas, n, p, 1, Ap, 1, curvature));
        divide<<<1, 1, 0, stream>>>(old, curvature, alpha, minus_alpha);
        BLAS(cublasDaxpy(blas, n, alpha, p, 1, x, 1));
        BLAS(cublasDaxpy(blas, n, minus_alpha, Ap, 1, r, 1));
        BLAS(cublasDdot(blas, n, r, 1, r, 1, fresh));
        divide<<<1, 1, 0, stream>>>(fresh, old, beta, unused);
        BLAS(cublasDscal(blas, n, beta, p, 1));
        BLAS(cublasDaxpy(blas, n, one, r, 1, p, 1));
        SUCCEEDS(cudaMemcpyAsync(old, fresh, sizeof *old, cudaMemcpyDeviceToDevice, stream));
        SUCCEEDS(cudaMemcpyAsync(&square, fresh, sizeof square, cudaMemcpyDeviceToHost, stream));
        SUCCEEDS(cudaStreamSynchronize(stream));
    }
    EXPECT(steps < 120);
    for (double element : back(x, n)) EXPECT(std::abs(element - 1) < 1e-10);
    SPARSE(cusparseDestroyDnVec(of_p));
    SPARSE(cusparseDestroyDnVec(of_Ap));
    SPARSE(cusparseDestroySpMat(A));
    SPARSE(cusparseDestroy(sparse));
    BLAS(cublasDestroy(blas));
    SUCCEEDS(cudaStreamDestroy(stream));
    for (void* pointer : std::vector<void*>{at, column, value, x, r, p, Ap, numbers, zero, work})
        SUCCEEDS(cudaFree(pointer));
    std::puts("ok");
}
