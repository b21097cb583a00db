// Feature: cuBLAS, level 3 | `symm`, `hemm`, `syrk`, `herk`, `syr2k`, `syrkx`, `trmm`, `trsm`, `geam`, `dgmm`, halves of a matrix, leading dimensions; wrong arguments are `CUBLAS_STATUS_INVALID_VALUE`
// Flags: -lcublas
#include <cublas_v2.h>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

constexpr int m = 6, n = 4, k = 3;
const double two = 2, three = 3, one = 1, zero = 0;

void symmetric_ones(cublasHandle_t handle) {
    const Matrix<double> S = symmetric<double>(m, 1), T = symmetric<double>(n, 2),
                         B = some_matrix<double>(m, n, 3), C = some_matrix<double>(m, n, 4);
    double *d_S = on_device(half_of(S, true, 99.0)), *d_T = on_device(half_of(T, false, 99.0)),
           *d_B = on_device(B), *d_C = on_device(C);
    BLAS(cublasDsymm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, m, n, &two, d_S, m, d_B, m,
                     &three, d_C, m));
    EXPECT(back(d_C, m, n) == sum(two, product(S, B), three, C));
    BLAS(cublasDsymm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, m, n, &two, d_T, n, d_B, m,
                     &zero, d_C, m));
    EXPECT(back(d_C, m, n) == sum(two, product(B, T), zero, C));

    // One half of C alone is written.
    const Matrix<double> A = some_matrix<double>(m, k, 5), D = some_matrix<double>(m, k, 6),
                         AD = product(A, transposed(D)), old = symmetric<double>(m, 7);
    double *d_A = on_device(A), *d_D = on_device(D), *d_E = on_device(old);
    BLAS(cublasDsyrk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, m, k, &two, d_A, m, &three, d_E,
                     m));
    const Matrix<double> right = sum(two, product(A, transposed(A)), three, old);
    EXPECT(half_of(back(d_E, m, m), false) == half_of(right, false));
    EXPECT(back(d_E, m, m)(1, 3) == old(1, 3));
    double* d_F = on_device(Matrix<double>(m, m));
    BLAS(cublasDsyr2k(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, m, k, &two, d_A, m, d_D, m,
                      &zero, d_F, m));
    EXPECT(back(d_F, m, m) == half_of(sum(two, AD, two, transposed(AD)), true));
    // A^T A of columns, and with D = 2 A the same by syrkx.
    double* d_twice = on_device(sum(two, A, zero, A));
    BLAS(cublasDsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, k, m, &two, d_A, m, &zero, d_E,
                     k));
    BLAS(cublasDsyrkx(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, k, m, &one, d_A, m, d_twice, m,
                      &zero, d_F, k));
    const Matrix<double> gram = half_of(product(transposed(A), A), true);
    EXPECT(half_of(back(d_E, k, k), true) == sum(two, gram, zero, gram));
    EXPECT(half_of(back(d_F, k, k), true) == sum(two, gram, zero, gram));
    for (double* pointer : {d_S, d_T, d_B, d_C, d_A, d_D, d_E, d_F, d_twice})
        SUCCEEDS(cudaFree(pointer));
}

void triangular_ones(cublasHandle_t handle) {
    Matrix<float> U = half_of(some_matrix<float>(n, n, 8), true);
    for (int i = 0; i < n; ++i) U(i, i) = i % 2 == 0 ? 2.0f : -1.0f;
    const Matrix<float> B = some_matrix<float>(m, n, 9);
    const float factor = 2, half = 0.5f;
    float *d_U = on_device(U), *d_B = on_device(B), *d_C = on_device(Matrix<float>(m, n));
    BLAS(cublasStrmm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                     CUBLAS_DIAG_NON_UNIT, m, n, &factor, d_U, n, d_B, m, d_C, m));
    EXPECT(back(d_C, m, n) == sum(2.0f, product(B, U), 0.0f, B) && back(d_B, m, n) == B);
    BLAS(cublasStrsm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                     CUBLAS_DIAG_NON_UNIT, m, n, &half, d_U, n, d_C, m));
    EXPECT(back(d_C, m, n) == B);
    // In place.
    BLAS(cublasStrmm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T,
                     CUBLAS_DIAG_NON_UNIT, m, n, &factor, d_U, n, d_B, m, d_B, m));
    EXPECT(back(d_B, m, n) == sum(2.0f, product(B, transposed(U)), 0.0f, B));
    for (float* pointer : {d_U, d_B, d_C}) SUCCEEDS(cudaFree(pointer));
}

void of_cublas_alone(cublasHandle_t handle) {
    const Matrix<double> A = some_matrix<double>(m, n, 10), B = some_matrix<double>(n, m, 11),
                         x = some_matrix<double>(m, 1, 12);
    double *d_A = on_device(A), *d_B = on_device(B), *d_C = on_device(Matrix<double>(m, n)),
           *d_x = on_device(x);
    BLAS(cublasDgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, m, n, &two, d_A, m, &three, d_B, n, d_C, m));
    EXPECT(back(d_C, m, n) == sum(two, A, three, transposed(B)));
    BLAS(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_T, n, m, &one, d_A, m, &zero, nullptr, m, d_C,
                     n));
    EXPECT(back(d_C, n, m) == transposed(A));
    BLAS(cublasDdgmm(handle, CUBLAS_SIDE_LEFT, m, n, d_A, m, d_x, 1, d_C, m));
    const Matrix<double> scaled = back(d_C, m, n);
    BLAS(cublasDdgmm(handle, CUBLAS_SIDE_RIGHT, m, n, d_A, m, d_x, 1, d_C, m));
    const Matrix<double> by_columns = back(d_C, m, n);
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column)
            EXPECT(scaled(row, column) == x(row, 0) * A(row, column) &&
                   by_columns(row, column) == x(column, 0) * A(row, column));
    for (double* pointer : {d_A, d_B, d_C, d_x}) SUCCEEDS(cudaFree(pointer));
}

void hermitian_ones(cublasHandle_t handle) {
    const auto is = [](cuDoubleComplex number, double re, double im) {
        return number.x == re && number.y == im;
    };
    // A is a column (1+2i, 3i): A A^H is (5, 6-3i; 6+3i, 9).
    cuDoubleComplex *d_A = on_device(std::vector<cuDoubleComplex>{{1, 2}, {0, 3}}),
                    *d_C = on_device(std::vector<cuDoubleComplex>(4, {7, 7})),
                    *d_D = on_device(std::vector<cuDoubleComplex>(2));
    BLAS(cublasZherk(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 2, 1, &one, d_A, 2, &zero, d_C,
                     2));
    std::vector<cuDoubleComplex> C = back(d_C, 4);
    EXPECT(is(C[0], 5, 0) && is(C[1], 6, 3) && is(C[2], 7, 7) && is(C[3], 9, 0));
    const cuDoubleComplex factor{1, 0}, nothing{0, 0};
    BLAS(cublasZhemm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, 2, 1, &factor, d_C, 2, d_A,
                     2, &nothing, d_D, 2));
    const std::vector<cuDoubleComplex> D = back(d_D, 2);  // 14 A, since A^H A is 14
    EXPECT(is(D[0], 14, 28) && is(D[1], 0, 42));
    BLAS(cublasZher2k(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 2, 1, &factor, d_A, 2, d_A, 2,
                      &zero, d_C, 2));
    C = back(d_C, 4);
    EXPECT(is(C[0], 10, 0) && is(C[1], 12, 6) && is(C[3], 18, 0));
    for (cuDoubleComplex* pointer : {d_A, d_C, d_D}) SUCCEEDS(cudaFree(pointer));
}

void wrong_arguments(cublasHandle_t handle) {
    double* d = on_device(std::vector<double>(64));
    EXPECT(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, -1, 2, 2, &one, d, 2, d, 2, &one, d, 2) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 2, &one, d, 2, d, 2, &one, d, 3) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDgemm(handle, CUBLAS_OP_N, static_cast<cublasOperation_t>(9), 2, 2, 2, &one, d, 2,
                       d, 2, &one, d, 2) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDsymm(handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, 2, 4, &one, d, 2, d, 2,
                       &one, d, 2) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, 2, 4, &one, d, 2, &one, d, 2) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, d, 2, d, 2, &one, d, 2) ==
           CUBLAS_STATUS_NOT_INITIALIZED);
    SUCCEEDS(cudaFree(d));
}

int main() {
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    symmetric_ones(handle);
    triangular_ones(handle);
    of_cublas_alone(handle);
    hermitian_ones(handle);
    wrong_arguments(handle);
    BLAS(cublasDestroy(handle));
    std::puts("ok");
}
