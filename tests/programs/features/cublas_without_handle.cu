// Feature: cuBLAS of before CUDA 4 | `cublas.h`: no handle, numbers by value, letters: `cublasAlloc`, `cublasSetMatrix`, `gemm`, `symm`, `syrk`, `trsm`, `gemv`, `symv`, `trsv`, `ger`, `syr`, `dot`, `nrm2`, `rot`, `cublasGetError`
// Flags: -lcublas
#include <cublas.h>

#include <cmath>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

constexpr int n = 4;

int main() {
    BLAS(cublasInit());
    const Matrix<float> A = some_matrix<float>(n, n, 1), B = some_matrix<float>(n, n, 2),
                        S = symmetric<float>(n, 3), x = some_matrix<float>(n, 1, 4);
    Matrix<float> L = half_of(A, false);
    for (int i = 0; i < n; ++i) L(i, i) = 2;
    float *d_A, *d_B, *d_C, *d_S, *d_L, *d_x, *d_y;
    for (float** matrix : {&d_A, &d_B, &d_C, &d_S, &d_L, &d_x, &d_y})
        BLAS(cublasAlloc(n * n, sizeof(float), reinterpret_cast<void**>(matrix)));
    const auto upload = [](float* device, const Matrix<float>& M) {
        BLAS(cublasSetMatrix(M.rows, M.columns, sizeof(float), M.values.data(), M.rows, device,
                             M.rows));
    };
    upload(d_A, A), upload(d_B, B), upload(d_S, half_of(S, true, 99.0f)), upload(d_L, L),
        upload(d_x, x);

    cublasSgemm('T', 'N', n, n, n, 2, d_A, n, d_B, n, 0, d_C, n);
    EXPECT(back(d_C, n, n) == sum(2.0f, product(transposed(A), B), 0.0f, A));
    cublasSsymm('L', 'U', n, n, 1, d_S, n, d_B, n, 0, d_C, n);
    EXPECT(back(d_C, n, n) == product(S, B));
    cublasSsyrk('L', 'N', n, n, 1, d_A, n, 0, d_C, n);
    EXPECT(half_of(back(d_C, n, n), false) == half_of(product(A, transposed(A)), false));
    upload(d_C, product(L, B));
    cublasStrsm('L', 'L', 'N', 'N', n, n, 1, d_L, n, d_C, n);
    EXPECT(back(d_C, n, n) == B);
    cublasSgemv('N', n, n, 1, d_A, n, d_x, 1, 0, d_y, 1);
    EXPECT(back(d_y, n, 1) == product(A, x));
    cublasSsymv('U', n, 1, d_S, n, d_x, 1, 0, d_y, 1);
    EXPECT(back(d_y, n, 1) == product(S, x));
    upload(d_y, product(L, x));
    cublasStrsv('L', 'N', 'N', n, d_L, n, d_y, 1);
    EXPECT(back(d_y, n, 1) == x);
    cublasStrmv('L', 'T', 'N', n, d_L, n, d_y, 1);
    EXPECT(back(d_y, n, 1) == product(transposed(L), x));
    upload(d_C, A);
    cublasSger(n, n, 3, d_x, 1, d_x, 1, d_C, n);
    EXPECT(back(d_C, n, n) == sum(3.0f, product(x, transposed(x)), 1.0f, A));
    upload(d_C, A);
    cublasSsyr('U', n, 3, d_x, 1, d_C, n);
    EXPECT(half_of(back(d_C, n, n), true) ==
           half_of(sum(3.0f, product(x, transposed(x)), 1.0f, A), true));

    const float square = product(transposed(x), x)(0, 0);
    EXPECT(cublasSdot(n, d_x, 1, d_x, 1) == square);
    EXPECT(std::abs(cublasSnrm2(n, d_x, 1) - std::sqrt(square)) < 1e-5f);
    upload(d_y, x);
    cublasSrot(n, d_x, 1, d_y, 1, 0, 1);  // (x, y) = (y, -x)
    EXPECT(back(d_y, n, 1) == sum(-1.0f, x, 0.0f, x));
    BLAS(cublasGetError());
    cublasSgemm('N', 'N', -1, n, n, 1, d_A, n, d_B, n, 0, d_C, n);
    EXPECT(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE);
    BLAS(cublasGetError());  // it is told once
    for (float* matrix : {d_A, d_B, d_C, d_S, d_L, d_x, d_y}) BLAS(cublasFree(matrix));
    BLAS(cublasShutdown());
    std::puts("ok");
}
