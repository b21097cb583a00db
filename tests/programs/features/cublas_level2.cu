// Feature: cuBLAS, level 2 | symmetric, Hermitian, banded, packed and triangular matrices (`symv`, `hemv`, `sbmv`, `spmv`, `gbmv`, `trmv`, `trsv`, `tbsv`, `tpmv`, ...), updates (`ger`, `syr`, `her`, `spr`, `syr2`, `her2`), negative steps; wrong arguments are `CUBLAS_STATUS_INVALID_VALUE`
// Flags: -lcublas
#include <cublas_v2.h>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

constexpr int n = 5;

// Every second element of a vector, from its end: what a step of -2 means.
std::vector<double> spread(const Matrix<double>& x) {
    std::vector<double> result(2 * x.values.size());
    for (size_t i = 0; i < x.values.size(); ++i)
        result[2 * (x.values.size() - 1 - i)] = x.values[i];
    return result;
}

void symmetric_ones(cublasHandle_t handle) {
    const Matrix<double> A = symmetric<double>(n, 1), x = some_matrix<double>(n, 1, 2),
                         y = some_matrix<double>(n, 1, 3);
    const double two = 2, three = 3;
    const Matrix<double> right = sum(two, product(A, x), three, y);
    double *d_A = on_device(half_of(A, true, 99.0)), *d_x = on_device(spread(x)),
           *d_y = on_device(y);
    BLAS(cublasDsymv(handle, CUBLAS_FILL_MODE_UPPER, n, &two, d_A, n, d_x, -2, &three, d_y, 1));
    EXPECT(back(d_y, n, 1) == right);

    // The lower half, packed: its columns without gaps.
    std::vector<double> packed;
    for (int column = 0; column < n; ++column)
        for (int row = column; row < n; ++row) packed.push_back(A(row, column));
    double *d_packed = on_device(packed), *d_z = on_device(y);
    BLAS(cublasDspmv(handle, CUBLAS_FILL_MODE_LOWER, n, &two, d_packed, d_x, -2, &three, d_z, 1));
    EXPECT(back(d_z, n, 1) == right);

    // A symmetric band of one diagonal beside the main one, which lies in the first row of the band.
    Matrix<double> band(2, n), whole(n, n);
    for (int i = 0; i < n; ++i) {
        band(0, i) = whole(i, i) = A(i, i);
        if (i + 1 < n) band(1, i) = whole(i + 1, i) = whole(i, i + 1) = A(i + 1, i);
    }
    double *d_band = on_device(band), *d_u = on_device(y);
    BLAS(cublasDsbmv(handle, CUBLAS_FILL_MODE_LOWER, n, 1, &two, d_band, 2, d_x, -2, &three, d_u,
                     1));
    EXPECT(back(d_u, n, 1) == sum(two, product(whole, x), three, y));

    // A band of two diagonals below and one above; the main one lies in the second row.
    Matrix<double> general(4, n), full(n + 1, n);
    for (int column = 0; column < n; ++column)
        for (int row = std::max(0, column - 1); row <= std::min(n, column + 2); ++row)
            general(1 + row - column, column) = full(row, column) = row - 2 * column;
    double *d_general = on_device(general), *d_v = on_device(std::vector<double>(n + 1));
    const double zero = 0;
    BLAS(cublasDgbmv(handle, CUBLAS_OP_N, n + 1, n, 2, 1, &two, d_general, 4, d_x, -2, &zero, d_v,
                     1));
    EXPECT(back(d_v, n + 1, 1) == sum(two, product(full, x), zero, Matrix<double>(n + 1, 1)));
    for (double* pointer : {d_A, d_x, d_y, d_packed, d_z, d_band, d_u, d_general, d_v})
        SUCCEEDS(cudaFree(pointer));
}

void triangular_ones(cublasHandle_t handle) {
    Matrix<float> L = half_of(some_matrix<float>(n, n, 4), false);
    for (int i = 0; i < n; ++i) L(i, i) = 2;
    const Matrix<float> x = some_matrix<float>(n, 1, 5);
    float *d_L = on_device(L), *d_x = on_device(x);
    BLAS(cublasStrmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, d_L, n,
                     d_x, 1));
    EXPECT(back(d_x, n, 1) == product(transposed(L), x));
    BLAS(cublasStrsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, n, d_L, n,
                     d_x, 1));
    EXPECT(back(d_x, n, 1) == x);  // halves are exact

    // With a diagonal of ones that is not read; packed.
    std::vector<float> packed;
    Matrix<float> with_ones = L;
    for (int column = 0; column < n; ++column) {
        with_ones(column, column) = 1;
        for (int row = column; row < n; ++row) packed.push_back(L(row, column));
    }
    float* d_packed = on_device(packed);
    BLAS(cublasStpmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, n, d_packed,
                     d_x, 1));
    EXPECT(back(d_x, n, 1) == product(with_ones, x));
    BLAS(cublasStpsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, n, d_packed,
                     d_x, 1));
    EXPECT(back(d_x, n, 1) == x);

    Matrix<float> band(2, n), full(n, n);
    for (int i = 0; i < n; ++i) {
        band(0, i) = full(i, i) = 2;
        if (i + 1 < n) band(1, i) = full(i + 1, i) = L(i + 1, i);
    }
    float* d_band = on_device(band);
    BLAS(cublasStbmv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, 1,
                     d_band, 2, d_x, 1));
    EXPECT(back(d_x, n, 1) == product(full, x));
    BLAS(cublasStbsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, 1,
                     d_band, 2, d_x, 1));
    EXPECT(back(d_x, n, 1) == x);
    for (float* pointer : {d_L, d_x, d_packed, d_band}) SUCCEEDS(cudaFree(pointer));
}

void updates(cublasHandle_t handle) {
    const Matrix<double> A = symmetric<double>(n, 6), x = some_matrix<double>(n, 1, 7),
                         y = some_matrix<double>(n, 1, 8), xy = product(x, transposed(y)),
                         xx = product(x, transposed(x));
    const double two = 2;
    double *d_A = on_device(A), *d_x = on_device(x), *d_y = on_device(y);
    BLAS(cublasDger(handle, n, n, &two, d_x, 1, d_y, 1, d_A, n));
    EXPECT(back(d_A, n, n) == sum(two, xy, 1.0, A));
    SUCCEEDS(cudaMemcpy(d_A, A.values.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    BLAS(cublasDsyr(handle, CUBLAS_FILL_MODE_LOWER, n, &two, d_x, 1, d_A, n));
    EXPECT(half_of(back(d_A, n, n), false) == half_of(sum(two, xx, 1.0, A), false) &&
           half_of(back(d_A, n, n), true, 0.0)(0, 1) == A(0, 1));
    SUCCEEDS(cudaMemcpy(d_A, A.values.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    BLAS(cublasDsyr2(handle, CUBLAS_FILL_MODE_UPPER, n, &two, d_x, 1, d_y, 1, d_A, n));
    EXPECT(half_of(back(d_A, n, n), true) ==
           half_of(sum(1.0, sum(two, xy, two, transposed(xy)), 1.0, A), true));

    double* d_packed = on_device(std::vector<double>(n * (n + 1) / 2));
    BLAS(cublasDspr(handle, CUBLAS_FILL_MODE_UPPER, n, &two, d_x, 1, d_packed));
    BLAS(cublasDspr2(handle, CUBLAS_FILL_MODE_UPPER, n, &two, d_x, 1, d_y, 1, d_packed));
    const std::vector<double> packed = back(d_packed, n * (n + 1) / 2);
    size_t next = 0;
    for (int column = 0; column < n; ++column)
        for (int row = 0; row <= column; ++row)
            EXPECT(packed[next++] == 2 * (xx(row, column) + xy(row, column) + xy(column, row)));
    for (double* pointer : {d_A, d_x, d_y, d_packed}) SUCCEEDS(cudaFree(pointer));
}

// 2 x 2 and Hermitian: (1, 2+3i; 2-3i, 4).
void hermitian_ones(cublasHandle_t handle) {
    const auto is = [](cuComplex number, float re, float im) {
        return number.x == re && number.y == im;
    };
    const std::vector<cuComplex> A{{1, 0}, {2, -3}, {99, 99}, {4, 0}};
    cuComplex *d_A = on_device(A), *d_x = on_device(std::vector<cuComplex>{{1, 1}, {0, 2}}),
              *d_y = on_device(std::vector<cuComplex>(2));
    const cuComplex one{1, 0}, zero{0, 0}, i{0, 1};
    BLAS(cublasChemv(handle, CUBLAS_FILL_MODE_LOWER, 2, &one, d_A, 2, d_x, 1, &zero, d_y, 1));
    const std::vector<cuComplex> y = back(d_y, 2);
    EXPECT(is(y[0], -5, 5) && is(y[1], 5, 7));
    const float two = 2;
    BLAS(cublasCher(handle, CUBLAS_FILL_MODE_LOWER, 2, &two, d_x, 1, d_A, 2));
    std::vector<cuComplex> after = back(d_A, 4);
    EXPECT(is(after[0], 5, 0) && is(after[1], 6, 1) && is(after[2], 99, 99) && is(after[3], 12, 0));
    BLAS(cublasCher2(handle, CUBLAS_FILL_MODE_LOWER, 2, &i, d_x, 1, d_x, 1, d_A, 2));  // adds 0
    after = back(d_A, 4);
    EXPECT(is(after[1], 6, 1) && is(after[3], 12, 0));
    BLAS(cublasCgeru(handle, 2, 2, &one, d_x, 1, d_x, 1, d_A, 2));
    EXPECT(is(back(d_A, 4)[0], 5, 2));
    BLAS(cublasCgerc(handle, 2, 2, &one, d_x, 1, d_x, 1, d_A, 2));
    EXPECT(is(back(d_A, 4)[0], 7, 2));
    // Symmetric, not Hermitian; x from its end, so it is (2i, 1+i), with itself: 2 i x x^T.
    SUCCEEDS(cudaMemset(d_A, 0, 4 * sizeof(cuComplex)));
    BLAS(cublasCsyr2(handle, CUBLAS_FILL_MODE_UPPER, 2, &i, d_x, -1, d_x, -1, d_A, 2));
    after = back(d_A, 4);
    EXPECT(is(after[0], 0, -8) && is(after[1], 0, 0) && is(after[2], -4, -4) &&
           is(after[3], -4, 0));
    for (cuComplex* pointer : {d_A, d_x, d_y}) SUCCEEDS(cudaFree(pointer));
}

void wrong_arguments(cublasHandle_t handle) {
    const double one = 1;
    double* d = on_device(std::vector<double>(64));
    EXPECT(cublasDsymv(handle, CUBLAS_FILL_MODE_UPPER, -1, &one, d, 1, d, 1, &one, d, 1) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDsymv(handle, CUBLAS_FILL_MODE_UPPER, 4, &one, d, 3, d, 1, &one, d, 1) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDtrsv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 4, d, 4, d,
                       0) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDgbmv(handle, CUBLAS_OP_N, 4, 4, 1, 1, &one, d, 2, d, 1, &one, d, 1) ==
           CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDger(nullptr, 1, 1, &one, d, 1, d, 1, d, 1) == CUBLAS_STATUS_NOT_INITIALIZED);
    SUCCEEDS(cudaFree(d));
}

int main() {
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    symmetric_ones(handle);
    triangular_ones(handle);
    updates(handle);
    hermitian_ones(handle);
    wrong_arguments(handle);
    BLAS(cublasDestroy(handle));
    std::puts("ok");
}
