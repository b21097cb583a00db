// Feature: cuSOLVER | dense: `getrf`, `getrs`, `potrf`, `potrs`, `potri`, `geqrf`, `ormqr`, `orgqr`, `syevd`, `gesvd` with their `bufferSize`, in float, double and complex; needs a LAPACK of the system
// Flags: -lcusolver -lcublas
#include <cusolverDn.h>

#include <cmath>
#include <vector>

#include "../device_copies.h"

#define SOLVER(call) EXPECT((call) == CUSOLVER_STATUS_SUCCESS)

// Columns first, not symmetric; `more` on the diagonal.
std::vector<double> matrix(int rows, int columns, double more = 0) {
    std::vector<double> all;
    for (int i = 0; i < rows * columns; ++i)
        all.push_back((i * 37 % 101 - 50) / 16.0 + (i % (rows + 1) == 0 ? more : 0));
    return all;
}
std::vector<double> product(const std::vector<double>& A, const std::vector<double>& B, int m,
                            int k, int n) {
    std::vector<double> C(m * n);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            for (int l = 0; l < k; ++l) C[i + j * m] += A[i + l * m] * B[l + j * k];
    return C;
}
std::vector<double> transposed(const std::vector<double>& A, int rows, int columns) {
    std::vector<double> result;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column) result.push_back(A[row + column * rows]);
    return result;
}
bool alike(const std::vector<double>& a, const std::vector<double>& b) {
    for (size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) < 1e-8)) return false;
    return true;
}

struct Device {
    cusolverDnHandle_t handle;
    int* info = on_device(std::vector<int>{7});
    int* pivots = on_device(std::vector<int>(8));
    double* work = on_device(std::vector<double>(1 << 20));
};

void systems(const Device& on) {
    const int n = 4, columns = 2;
    const auto A = matrix(n, n), X = matrix(n, columns, 1), B = product(A, X, n, n, columns);
    double *a = on_device(A), *b = on_device(B);
    int length = 0;
    SOLVER(cusolverDnDgetrf_bufferSize(on.handle, n, n, a, n, &length));
    EXPECT(length > 0);
    SOLVER(cusolverDnDgetrf(on.handle, n, n, a, n, on.work, on.pivots, on.info));
    EXPECT(read_back(on.info) == 0);
    SOLVER(cusolverDnDgetrs(on.handle, CUBLAS_OP_N, n, columns, a, n, on.pivots, b, n, on.info));
    EXPECT(alike(back(b, n * columns), X));
    SUCCEEDS(cudaMemset(a, 0, n * n * sizeof(double)));
    SOLVER(cusolverDnDgetrf(on.handle, n, n, a, n, on.work, on.pivots, on.info));
    EXPECT(read_back(on.info) == 1);
    const auto refused = cusolverDnDgetrf(on.handle, n, n, a, 2, on.work, on.pivots, on.info);
#ifdef CUDA_ON_CPU
    EXPECT(refused == CUSOLVER_STATUS_INVALID_VALUE);
#else  // a card says by info which argument it was
    EXPECT(refused == CUSOLVER_STATUS_SUCCESS && read_back(on.info) == -4);
#endif

    // S = A A^T + 30 I is symmetric and positive.
    auto S = product(A, transposed(A, n, n), n, n, n);
    for (int i = 0; i < n; ++i) S[i * (n + 1)] += 30;
    const auto right = product(S, X, n, n, columns);
    SUCCEEDS(cudaMemcpy(a, S.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    SUCCEEDS(cudaMemcpy(b, right.data(), n * columns * sizeof(double), cudaMemcpyHostToDevice));
    SOLVER(cusolverDnDpotrf_bufferSize(on.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, &length));
    SOLVER(cusolverDnDpotrf(on.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, on.work, length, on.info));
    SOLVER(cusolverDnDpotrs(on.handle, CUBLAS_FILL_MODE_LOWER, n, columns, a, n, b, n, on.info));
    EXPECT(read_back(on.info) == 0 && alike(back(b, n * columns), X));

    // The lower half of the inverse, in the factor's place.
    SOLVER(cusolverDnDpotri_bufferSize(on.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, &length));
    SOLVER(cusolverDnDpotri(on.handle, CUBLAS_FILL_MODE_LOWER, n, a, n, on.work, length, on.info));
    auto inverse = back(a, n * n), unit = std::vector<double>(n * n);
    for (int i = 0; i < n * n; ++i) {
        if (i % n < i / n) inverse[i] = inverse[i / n + i % n * n];
        unit[i] = i % (n + 1) == 0;
    }
    EXPECT(alike(product(S, inverse, n, n, n), unit));

    // Eigenvalues rise, and S V = V W.
    SUCCEEDS(cudaMemcpy(a, S.data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    SOLVER(cusolverDnDsyevd_bufferSize(on.handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER,
                                       n, a, n, b, &length));
    EXPECT(length <= 1 << 20);
    SOLVER(cusolverDnDsyevd(on.handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n, a, n, b,
                            on.work, length, on.info));
    const auto V = back(a, n * n), W = back(b, n);
    auto scaled = V;
    for (int i = 0; i < n * n; ++i) scaled[i] *= W[i / n];
    EXPECT(W[0] < W[1] && W[1] < W[2] && W[2] < W[3] && alike(product(S, V, n, n, n), scaled));
    SUCCEEDS(cudaFree(a));
    SUCCEEDS(cudaFree(b));
}

// A of 5 x 3 is Q R and U S V^T.
void factors(const Device& on) {
    const int m = 5, n = 3;
    const auto A = matrix(m, n, 2);
    double *a = on_device(A), *tau = on_device(std::vector<double>(n)), *c = on_device(A);
    int length = 0, other = 0;
    SOLVER(cusolverDnDgeqrf_bufferSize(on.handle, m, n, a, m, &length));
    SOLVER(cusolverDnDgeqrf(on.handle, m, n, a, m, tau, on.work, length, on.info));
    SOLVER(cusolverDnDormqr_bufferSize(on.handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, n, n, a, m, tau,
                                       c, m, &other));
    SOLVER(cusolverDnDormqr(on.handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, n, n, a, m, tau, c, m,
                            on.work, other, on.info));
    auto R = back(a, m * n);
    for (int i = 0; i < m * n; ++i)
        if (i % m > i / m) R[i] = 0;
    EXPECT(alike(back(c, m * n), R));  // Q^T A = R
    SOLVER(cusolverDnDorgqr_bufferSize(on.handle, m, n, n, a, m, tau, &length));
    SOLVER(cusolverDnDorgqr(on.handle, m, n, n, a, m, tau, on.work, length, on.info));
    const auto Q = back(a, m * n);
    std::vector<double> unit(n * n), top;
    for (int i = 0; i < n; ++i) unit[i * (n + 1)] = 1;
    EXPECT(alike(product(transposed(Q, m, n), Q, n, m, n), unit));

    SUCCEEDS(cudaMemcpy(a, A.data(), m * n * sizeof(double), cudaMemcpyHostToDevice));
    double *s = on_device(std::vector<double>(n)), *u = on_device(std::vector<double>(m * m)),
           *vt = on_device(unit);
    SOLVER(cusolverDnDgesvd_bufferSize(on.handle, m, n, &length));
    SOLVER(cusolverDnDgesvd(on.handle, 'A', 'A', m, n, a, m, s, u, m, vt, n, on.work, length,
                            nullptr, on.info));
    const auto S = back(s, n), U = back(u, m * m);
    auto US = std::vector<double>(U.begin(), U.begin() + m * n);
    for (int i = 0; i < m * n; ++i) US[i] *= S[i / m];
    EXPECT(S[0] > S[1] && S[1] > S[2] && alike(product(US, back(vt, n * n), m, n, n), A));
    for (double* pointer : {a, tau, c, s, u, vt}) SUCCEEDS(cudaFree(pointer));
}

// (1 + i) x = 4, with cuComplex.
void complex_numbers(const Device& on) {
    cuComplex *a = on_device(std::vector<cuComplex>{{1, 1}}),
              *b = on_device(std::vector<cuComplex>{{4, 0}});
    SOLVER(cusolverDnCgetrf(on.handle, 1, 1, a, 1, reinterpret_cast<cuComplex*>(on.work), on.pivots,
                            on.info));
    SOLVER(cusolverDnCgetrs(on.handle, CUBLAS_OP_N, 1, 1, a, 1, on.pivots, b, 1, on.info));
    EXPECT(std::abs(read_back(b).x - 2) < 1e-5f && std::abs(read_back(b).y + 2) < 1e-5f);
    SUCCEEDS(cudaFree(a));
    SUCCEEDS(cudaFree(b));
}

int main() {
    Device on;
    SOLVER(cusolverDnCreate(&on.handle));
    systems(on);
    factors(on);
    complex_numbers(on);
    SOLVER(cusolverDnDestroy(on.handle));
    std::puts("ok");
}
