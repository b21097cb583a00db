// Feature: cuSOLVER, eigenvalues | `syevd`, `heevd`, `syevdx` (a range), `syevj` and its settings, `syevjBatched`, `sygvd`, `sygvj` of A x = w B x
// Flags: -lcusolver
#include <cusolverDn.h>

#include <algorithm>
#include <cmath>

#include "../host_matrices.h"

#define SOLVER(call) EXPECT((call) == CUSOLVER_STATUS_SUCCESS)

constexpr int n = 6;
cusolverDnHandle_t handle;

bool near(double a, double b) { return std::abs(a - b) < 1e-9; }
double largest(const Matrix<double>& A) {
    double result = 0;
    for (double x : A.values) result = std::max(result, std::abs(x));
    return result;
}
// A V - B V diag(w)
Matrix<double> residual(const Matrix<double>& A, const Matrix<double>& B, const Matrix<double>& V,
                        const std::vector<double>& w) {
    Matrix<double> scaled = product(B, V);
    for (int column = 0; column < V.columns; ++column)
        for (int row = 0; row < V.rows; ++row) scaled(row, column) *= w[column];
    return sum(1.0, product(A, V), -1.0, scaled);
}
Matrix<double> identity() {
    Matrix<double> I(n, n);
    for (int i = 0; i < n; ++i) I(i, i) = 1;
    return I;
}

int main() {
    SOLVER(cusolverDnCreate(&handle));
    const Matrix<double> A = symmetric<double>(n, 1);
    double *d_A = on_device(half_of(A, false, 99.0)), *d_w = on_device(std::vector<double>(2 * n));
    int* d_info = on_device(std::vector<int>(2, 9));
    int length = 0;
    SOLVER(cusolverDnDsyevd_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                       d_A, n, d_w, &length));
    double* work = on_device(std::vector<double>(std::max(length, (1 << 22))));
    SOLVER(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, d_A, n,
                            d_w, work, length, d_info));
    const std::vector<double> w = back(d_w, n);
    const Matrix<double> V = back(d_A, n, n);
    EXPECT(back(d_info, 1)[0] == 0 && std::is_sorted(w.begin(), w.end()));
    EXPECT(largest(residual(A, identity(), V, w)) < 1e-12);
    EXPECT(largest(sum(1.0, product(transposed(V), V), -1.0, identity())) < 1e-12);

    // The second to the fourth, then those between two values.
    const auto again = [&](const Matrix<double>& matrix) {
        SUCCEEDS(
            cudaMemcpy(d_A, matrix.values.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    };
    again(A);
    int found = 0;
    SOLVER(cusolverDnDsyevdx_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I,
                                        CUBLAS_FILL_MODE_LOWER, n, d_A, n, 0, 0, 2, 4, &found, d_w,
                                        &length));
    EXPECT(length <= (1 << 22));
    SOLVER(cusolverDnDsyevdx(handle, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I,
                             CUBLAS_FILL_MODE_LOWER, n, d_A, n, 0, 0, 2, 4, &found, d_w, work,
                             length, d_info));
    EXPECT(found == 3);
    std::vector<double> some = back(d_w, 3);
    for (int i = 0; i < 3; ++i) EXPECT(near(some[i], w[i + 1]));
    EXPECT(largest(residual(A, identity(), back(d_A, n, 3), some)) < 1e-9);
    again(A);
    SOLVER(cusolverDnDsyevdx(handle, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_RANGE_V,
                             CUBLAS_FILL_MODE_UPPER, n, d_A, n, (w[0] + w[1]) / 2,
                             (w[2] + w[3]) / 2, 0, 0, &found, d_w, work, length, d_info));
    EXPECT(found == 2 && near(back(d_w, 2)[0], w[1]) && near(back(d_w, 2)[1], w[2]));

    // By the method of Jacobi.
    again(A);
    syevjInfo_t settings;
    SOLVER(cusolverDnCreateSyevjInfo(&settings));
    SOLVER(cusolverDnXsyevjSetTolerance(settings, 1e-12));
    SOLVER(cusolverDnXsyevjSetMaxSweeps(settings, 20));
    SOLVER(cusolverDnXsyevjSetSortEig(settings, 1));
    SOLVER(cusolverDnDsyevj_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n,
                                       d_A, n, d_w, &length, settings));
    EXPECT(length <= (1 << 22));
    SOLVER(cusolverDnDsyevj(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n, d_A, n,
                            d_w, work, length, d_info, settings));
    double left = 1;
    SUCCEEDS(cudaDeviceSynchronize());
    SOLVER(cusolverDnXsyevjGetResidual(handle, settings, &left));
    EXPECT(left < 1e-9);
    some = back(d_w, n);
    for (int i = 0; i < n; ++i) EXPECT(near(some[i], w[i]));
    EXPECT(largest(residual(A, identity(), back(d_A, n, n), some)) < 1e-9);

    // Two matrices that follow each other: A and 2 A.
    std::vector<double> two = A.values;
    for (double x : A.values) two.push_back(2 * x);
    double* d_two = on_device(two);
    SOLVER(cusolverDnDsyevjBatched_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR,
                                              CUBLAS_FILL_MODE_LOWER, n, d_two, n, d_w, &length,
                                              settings, 2));
    EXPECT(length <= (1 << 22));
    SOLVER(cusolverDnDsyevjBatched(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                   d_two, n, d_w, work, length, d_info, settings, 2));
    some = back(d_w, 2 * n);
    for (int i = 0; i < n; ++i) EXPECT(near(some[i], w[i]) && near(some[n + i], 2 * w[i]));
    EXPECT(back(d_info, 2) == std::vector<int>(2));

    // A x = w B x with a B that is positive definite.
    Matrix<double> B = product(A, A);
    for (int i = 0; i < n; ++i) B(i, i) += 1;
    double* d_B = on_device(B);
    again(A);
    SOLVER(cusolverDnDsygvd_bufferSize(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR,
                                       CUBLAS_FILL_MODE_LOWER, n, d_A, n, d_B, n, d_w, &length));
    EXPECT(length <= (1 << 22));
    SOLVER(cusolverDnDsygvd(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR,
                            CUBLAS_FILL_MODE_LOWER, n, d_A, n, d_B, n, d_w, work, length, d_info));
    const std::vector<double> generalised = back(d_w, n);
    EXPECT(back(d_info, 1)[0] == 0);
    EXPECT(largest(residual(A, B, back(d_A, n, n), generalised)) < 1e-9);
    again(A);
    SUCCEEDS(cudaMemcpy(d_B, B.values.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    SOLVER(cusolverDnDsygvj_bufferSize(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR,
                                       CUBLAS_FILL_MODE_UPPER, n, d_A, n, d_B, n, d_w, &length,
                                       settings));
    EXPECT(length <= (1 << 22));
    SOLVER(cusolverDnDsygvj(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR,
                            CUBLAS_FILL_MODE_UPPER, n, d_A, n, d_B, n, d_w, work, length, d_info,
                            settings));
    some = back(d_w, n);
    for (int i = 0; i < n; ++i) EXPECT(near(some[i], generalised[i]));
    double rest = 1;
    SOLVER(cusolverDnXsyevjGetResidual(handle, settings, &rest));
    EXPECT(rest < 1e-6);

    // Hermitian: (2, i; -i, 2) has 1 and 3.
    cuDoubleComplex *d_H = on_device(std::vector<cuDoubleComplex>{{2, 0}, {0, -1}, {9, 9}, {2, 0}}),
                    *d_work = on_device(std::vector<cuDoubleComplex>((1 << 22)));
    SOLVER(cusolverDnZheevd_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2,
                                       d_H, 2, d_w, &length));
    EXPECT(length <= (1 << 22));
    SOLVER(cusolverDnZheevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 2, d_H, 2,
                            d_w, d_work, length, d_info));
    EXPECT(near(back(d_w, 2)[0], 1) && near(back(d_w, 2)[1], 3));
    for (void* pointer : std::vector<void*>{d_A, d_w, d_info, work, d_two, d_B, d_H, d_work})
        SUCCEEDS(cudaFree(pointer));
    SOLVER(cusolverDnDestroySyevjInfo(settings));
    SOLVER(cusolverDnDestroy(handle));
    std::puts("ok");
}
