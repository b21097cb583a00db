// Feature: cuSOLVER, singular values | `gesvd`, `gesvdj` thin and whole with its settings, `gesvdjBatched`, `gesvdaStridedBatched` of a given rank
// Flags: -lcusolver
#include <cusolverDn.h>

#include <algorithm>
#include <cmath>

#include "../host_matrices.h"

#define SOLVER(call) EXPECT((call) == CUSOLVER_STATUS_SUCCESS)

constexpr int m = 7, n = 4;

// U diag(s) V^T
Matrix<double> composed(const Matrix<double>& U, const std::vector<double>& s,
                        const Matrix<double>& V) {
    Matrix<double> scaled(U.rows, static_cast<int>(s.size()));
    for (int column = 0; column < scaled.columns; ++column)
        for (int row = 0; row < U.rows; ++row) scaled(row, column) = U(row, column) * s[column];
    Matrix<double> chosen(V.rows, scaled.columns);
    std::copy(V.values.begin(), V.values.begin() + static_cast<long>(chosen.values.size()),
              chosen.values.begin());
    return product(scaled, transposed(chosen));
}
bool near(const Matrix<double>& A, const Matrix<double>& B) {
    for (size_t i = 0; i < A.values.size(); ++i)
        if (std::abs(A.values[i] - B.values[i]) > 1e-9) return false;
    return A.values.size() == B.values.size();
}

int main() {
    cusolverDnHandle_t handle;
    SOLVER(cusolverDnCreate(&handle));
    const Matrix<double> A = some_matrix<double>(m, n, 1), wide = transposed(A);
    double *d_A = on_device(A), *d_s = on_device(std::vector<double>(2 * n)),
           *d_U = on_device(std::vector<double>(2 * m * m)),
           *d_V = on_device(std::vector<double>(2 * m * m)), *work = nullptr;
    int* d_info = on_device(std::vector<int>(2, 9));
    SUCCEEDS(cudaMalloc(&work, 1 << 26));
    const auto fits = [](int length) { return length >= 0 && length <= (1 << 23); };
    int length = 0;
    SOLVER(cusolverDnDgesvd_bufferSize(handle, m, n, &length));
    EXPECT(fits(length));
    SOLVER(cusolverDnDgesvd(handle, 'A', 'A', m, n, d_A, m, d_s, d_U, m, d_V, n, work, length,
                            nullptr, d_info));
    const std::vector<double> s = back(d_s, n);
    EXPECT(back(d_info, 1)[0] == 0 && std::is_sorted(s.rbegin(), s.rend()));
    EXPECT(near(composed(back(d_U, m, m), s, transposed(back(d_V, n, n))), A));

    // V itself, not its transposed; thin: n columns of U. Also of a matrix with more columns than rows.
    gesvdjInfo_t settings;
    SOLVER(cusolverDnCreateGesvdjInfo(&settings));
    SOLVER(cusolverDnXgesvdjSetTolerance(settings, 1e-12));
    SOLVER(cusolverDnXgesvdjSetMaxSweeps(settings, 30));
    for (const Matrix<double>& M : {A, wide}) {
        SUCCEEDS(cudaMemcpy(d_A, M.values.data(), m * n * sizeof(double), cudaMemcpyHostToDevice));
        SOLVER(cusolverDnDgesvdj_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, 1, M.rows, M.columns,
                                            d_A, M.rows, d_s, d_U, M.rows, d_V, M.columns, &length,
                                            settings));
        EXPECT(fits(length));
        SOLVER(cusolverDnDgesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, 1, M.rows, M.columns, d_A,
                                 M.rows, d_s, d_U, M.rows, d_V, M.columns, work, length, d_info,
                                 settings));
        EXPECT(back(d_info, 1)[0] == 0);
        EXPECT(near(composed(back(d_U, M.rows, n), back(d_s, n), back(d_V, M.columns, n)), M));
        double residual = 1;
        int sweeps = -1;
        SOLVER(cusolverDnXgesvdjGetResidual(handle, settings, &residual));
        SOLVER(cusolverDnXgesvdjGetSweeps(handle, settings, &sweeps));
        EXPECT(residual < 1e-9 && sweeps >= 0);
    }

    // A and its rows from the last to the first, in one call.
    std::vector<double> two = A.values;
    Matrix<double> turned = A;
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) turned(row, column) = A(m - 1 - row, column);
    two.insert(two.end(), turned.values.begin(), turned.values.end());
    double* d_two = on_device(two);
    SOLVER(cusolverDnDgesvdjBatched_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, m, n, d_two, m,
                                               d_s, d_U, m, d_V, n, &length, settings, 2));
    EXPECT(fits(length));
    SOLVER(cusolverDnDgesvdjBatched(handle, CUSOLVER_EIG_MODE_VECTOR, m, n, d_two, m, d_s, d_U, m,
                                    d_V, n, work, length, d_info, settings, 2));
    for (int i = 0; i < 2; ++i)
        EXPECT(near(composed(back(d_U + i * m * m, m, m), back(d_s + i * n, n),
                             back(d_V + i * n * n, n, n)),
                    i == 0 ? A : turned));

    // Of rank 2 what is left has the root of the sum of the squares of the other singular values.
    SUCCEEDS(cudaMemcpy(d_two, two.data(), two.size() * sizeof(double), cudaMemcpyHostToDevice));
    SOLVER(cusolverDnDgesvdaStridedBatched_bufferSize(handle, CUSOLVER_EIG_MODE_VECTOR, 2, m, n,
                                                      d_two, m, m * n, d_s, 2, d_U, m, 2 * m, d_V,
                                                      n, 2 * n, &length, 2));
    EXPECT(fits(length));
    double rest[2] = {-1, -1};
    SOLVER(cusolverDnDgesvdaStridedBatched(handle, CUSOLVER_EIG_MODE_VECTOR, 2, m, n, d_two, m,
                                           m * n, d_s, 2, d_U, m, 2 * m, d_V, n, 2 * n, work,
                                           length, d_info, rest, 2));
    SUCCEEDS(cudaDeviceSynchronize());
    const double expected = std::sqrt(s[2] * s[2] + s[3] * s[3]);
    for (int i = 0; i < 2; ++i) {
        EXPECT(rest[i] >= 0 && rest[i] < 1e-6);  // of all four, not of the two
        const Matrix<double> left = sum(1.0, i == 0 ? A : turned, -1.0,
                                        composed(back(d_U + i * 2 * m, m, 2), back(d_s + i * 2, 2),
                                                 back(d_V + i * 2 * n, n, 2)));
        double squares = 0;
        for (double x : left.values) squares += x * x;
        EXPECT(std::abs(std::sqrt(squares) - expected) < 1e-6);
    }
    EXPECT(cusolverDnDgesvd(handle, 'A', 'A', n, m, d_A, n, d_s, d_U, n, d_V, m, work, length,
                            nullptr, d_info) == CUSOLVER_STATUS_INVALID_VALUE);
    for (void* pointer : std::vector<void*>{d_A, d_s, d_U, d_V, work, d_info, d_two})
        SUCCEEDS(cudaFree(pointer));
    SOLVER(cusolverDnDestroyGesvdjInfo(settings));
    SOLVER(cusolverDnDestroy(handle));
    std::puts("ok");
}
