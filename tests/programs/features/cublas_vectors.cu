// Feature: cuBLAS, level 1 | `rot`, `rotg`, `rotm`, `rotmg` with real and complex numbers, `csscal`, norms by type (`cublasNrm2Ex`), `cublasRotEx`, packed triangles (`trttp`, `tpttr`), groups of products (`gemmGroupedBatched`)
// Flags: -lcublas
#include <cublas_v2.h>

#include <cmath>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

bool near(double a, double b) { return std::abs(a - b) < 1e-5; }
bool near(cuComplex z, double re, double im) { return near(z.x, re) && near(z.y, im); }

void rotations(cublasHandle_t handle) {
    float a = 3, b = 4, c = 0, s = 0;
    BLAS(cublasSrotg(handle, &a, &b, &c, &s));
    EXPECT(near(a, 5) && near(c, 0.6) && near(s, 0.8));
    float *x = on_device(std::vector<float>{1, 2}), *y = on_device(std::vector<float>{3, 4});
    BLAS(cublasSrot(handle, 2, x, 1, y, 1, &c, &s));
    EXPECT(near(back(x, 2)[0], 3) && near(back(x, 2)[1], 4.4) && near(back(y, 2)[0], 1) &&
           near(back(y, 2)[1], 0.8));
    BLAS(
        cublasRotEx(handle, 2, x, CUDA_R_32F, 1, y, CUDA_R_32F, 1, &c, &s, CUDA_R_32F, CUDA_R_32F));
    EXPECT(near(back(x, 1)[0], 0.6 * 3 + 0.8 * 1) && near(back(y, 1)[0], 0.6 * 1 - 0.8 * 3));
    // The modified rotation: the second element becomes 0.
    float d1 = 2, d2 = 3, first = 1, parameters[5] = {};
    const float second = 2;
    const float start[2] = {first, second};
    BLAS(cublasSrotmg(handle, &d1, &d2, &first, &second, parameters));
    float *u = on_device(std::vector<float>{start[0]}),
          *v = on_device(std::vector<float>{start[1]});
    BLAS(cublasSrotm(handle, 1, u, 1, v, 1, parameters));
    EXPECT(near(back(u, 1)[0], first) && near(back(v, 1)[0], 0));

    cuComplex *z = on_device(std::vector<cuComplex>{{1, 1}, {2, 0}}),
              *w = on_device(std::vector<cuComplex>{{0, 1}, {1, 0}});
    const float half = 0.5f, two = 2;
    const cuComplex i{0, 1};
    BLAS(cublasCsscal(handle, 2, &two, z, 1));
    EXPECT(near(back(z, 2)[0], 2, 2));
    BLAS(cublasCsrot(handle, 2, z, 1, w, 1, &half, &two));  // (z/2 + 2 w, w/2 - 2 z)
    EXPECT(near(back(z, 2)[0], 1, 3) && near(back(w, 2)[0], -4, -3.5));
    BLAS(cublasCrot(handle, 1, z, 1, w, 1, &half, &i));  // (z/2 + i w, w/2 + i z)
    EXPECT(near(back(z, 1)[0], 4, -2.5) && near(back(w, 1)[0], -5, -0.75));
    for (void *pointer : std::vector<void *>{x, y, u, v, z, w}) SUCCEEDS(cudaFree(pointer));
}

int main() {
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    rotations(handle);
    double *x = on_device(std::vector<double>{3, 9, 4}), norm = 0;
    BLAS(cublasNrm2Ex(handle, 2, x, CUDA_R_64F, 2, &norm, CUDA_R_64F, CUDA_R_64F));
    EXPECT(norm == 5);

    // A lower triangle, packed and back.
    const Matrix<double> A = some_matrix<double>(4, 4, 1);
    double *d_A = on_device(A), *packed = on_device(std::vector<double>(10)),
           *B = on_device(Matrix<double>(4, 4));
    BLAS(cublasDtrttp(handle, CUBLAS_FILL_MODE_LOWER, 4, d_A, 4, packed));
    EXPECT(back(packed, 5) == (std::vector<double>{A(0, 0), A(1, 0), A(2, 0), A(3, 0), A(1, 1)}));
    BLAS(cublasDtpttr(handle, CUBLAS_FILL_MODE_LOWER, 4, packed, B, 4));
    EXPECT(half_of(back(B, 4, 4), false) == half_of(A, false));

#if CUDART_VERSION >= 12050
    // Two products of 4 x 4, then one of 2 x 3.
    const Matrix<double> C = some_matrix<double>(4, 4, 2), D = some_matrix<double>(2, 3, 3),
                         E = some_matrix<double>(3, 2, 4);
    double *d_C = on_device(C), *d_D = on_device(D), *d_E = on_device(E),
           *F = on_device(Matrix<double>(4, 4)), *G = on_device(Matrix<double>(2, 2));
    double **left = on_device(std::vector<double *>{d_A, d_C, d_D}),
           **right = on_device(std::vector<double *>{d_C, d_A, d_E}),
           **out = on_device(std::vector<double *>{B, F, G});
    const cublasOperation_t plain[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
    const int m[2] = {4, 2}, n[2] = {4, 2}, k[2] = {4, 3}, size_A[2] = {4, 2}, size_B[2] = {4, 3},
              size_C[2] = {4, 2}, counts[2] = {2, 1};
    const double alpha[2] = {1, 2}, beta[2] = {0, 0};
    BLAS(cublasDgemmGroupedBatched(handle, plain, plain, m, n, k, alpha, left, size_A, right,
                                   size_B, beta, out, size_C, 2, counts));
    EXPECT(back(B, 4, 4) == product(A, C) && back(F, 4, 4) == product(C, A));
    EXPECT(back(G, 2, 2) == sum(2.0, product(D, E), 0.0, Matrix<double>(2, 2)));
    for (void *pointer : std::vector<void *>{d_C, d_D, d_E, F, G, left, right, out})
        SUCCEEDS(cudaFree(pointer));
#endif
    // A A^H of complex numbers by the call that names their type.
    cuComplex *z = on_device(std::vector<cuComplex>{{1, 2}, {0, 3}}),
              *Z = on_device(std::vector<cuComplex>(4));
    const float one = 1, zero = 0;
    BLAS(cublasCherkEx(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, 2, 1, &one, z, CUDA_C_32F, 2,
                       &zero, Z, CUDA_C_32F, 2));
    EXPECT(near(back(Z, 4)[0], 5, 0) && near(back(Z, 4)[1], 6, 3));
    for (void *pointer : std::vector<void *>{x, d_A, packed, B, z, Z}) SUCCEEDS(cudaFree(pointer));
    BLAS(cublasDestroy(handle));
    std::puts("ok");
}
