// Feature: cuSOLVER, 64-bit calls and batches | `cusolverDnXgetrf`, `Xgetrs`, `Xpotrf`, `Xpotrs`, `Xgeqrf`, `Xsyevd`, `Xgesvd`, `Xgesvdr`, `Xgeev`, `Xtrtri`; `potrfBatched`, `potrsBatched`, `cusolverDnDSgesv`
// Flags: -lcusolver
#include <cusolverDn.h>

#include <cmath>

#include "../host_matrices.h"

#define SOLVER(call) EXPECT((call) == CUSOLVER_STATUS_SUCCESS)

constexpr int n = 5;
cusolverDnHandle_t handle;
cusolverDnParams_t params;
void* work;
std::vector<char> of_host;
size_t bytes, host_bytes;
int* d_info;

template <class T>
bool near(const Matrix<T>& A, const Matrix<T>& B) {
    for (size_t i = 0; i < A.values.size(); ++i)
        if (std::abs(A.values[i] - B.values[i]) > 1e-9) return false;
    return A.values.size() == B.values.size();
}
void make_room() {
    EXPECT(bytes <= (1 << 27));
    of_host.resize(host_bytes + 1);
}
bool no_info() { return back(d_info, 1)[0] == 0; }

int main() {
    SOLVER(cusolverDnCreate(&handle));
    SOLVER(cusolverDnCreateParams(&params));
    SUCCEEDS(cudaMalloc(&work, 1 << 27));
    d_info = on_device(std::vector<int>(4, 9));
    const auto upload = [](double* device, const Matrix<double>& A) {
        SUCCEEDS(cudaMemcpy(device, A.values.data(), A.values.size() * sizeof(double),
                            cudaMemcpyHostToDevice));
    };
    Matrix<double> A = some_matrix<double>(n, n, 1);
    for (int i = 0; i < n; ++i) A(i, (i + 1) % n) += 9;  // rows have to be exchanged
    const Matrix<double> B = some_matrix<double>(n, 2, 2);
    double *d_A = on_device(A), *d_B = on_device(B), *d_w = on_device(std::vector<double>(n)),
           *d_U = on_device(Matrix<double>(n, n)), *d_V = on_device(Matrix<double>(n, n));
    int64_t* pivots = on_device(std::vector<int64_t>(n));
    constexpr cudaDataType type = CUDA_R_64F;

    SOLVER(
        cusolverDnXgetrf_bufferSize(handle, params, n, n, type, d_A, n, type, &bytes, &host_bytes));
    make_room();
    SOLVER(cusolverDnXgetrf(handle, params, n, n, type, d_A, n, pivots, type, work, bytes,
                            of_host.data(), host_bytes, d_info));
    EXPECT(no_info() && back(pivots, 1)[0] > 1);
    SOLVER(cusolverDnXgetrs(handle, params, CUBLAS_OP_N, n, 2, type, d_A, n, pivots, type, d_B, n,
                            d_info));
    EXPECT(no_info() && near(product(A, back(d_B, n, 2)), B));

    Matrix<double> S = product(transposed(A), A);
    upload(d_A, S);
    upload(d_B, B);
    SOLVER(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, d_A, n,
                                       type, &bytes, &host_bytes));
    make_room();
    SOLVER(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, n, type, d_A, n, type, work,
                            bytes, of_host.data(), host_bytes, d_info));
    const Matrix<double> L = half_of(back(d_A, n, n), false);
    EXPECT(no_info() && near(product(L, transposed(L)), S));
    SOLVER(cusolverDnXpotrs(handle, params, CUBLAS_FILL_MODE_LOWER, n, 2, type, d_A, n, type, d_B,
                            n, d_info));
    EXPECT(no_info() && near(product(S, back(d_B, n, 2)), B));
#if CUDART_VERSION >= 11040
    SOLVER(cusolverDnXtrtri_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_NON_UNIT, n,
                                       type, d_A, n, &bytes, &host_bytes));
    make_room();
    SOLVER(cusolverDnXtrtri(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_DIAG_NON_UNIT, n, type, d_A, n,
                            work, bytes, of_host.data(), host_bytes, d_info));
    Matrix<double> I(n, n);
    for (int i = 0; i < n; ++i) I(i, i) = 1;
    EXPECT(no_info() && near(product(L, half_of(back(d_A, n, n), false)), I));
#endif

    upload(d_A, A);
    SOLVER(cusolverDnXgeqrf_bufferSize(handle, params, n, n, type, d_A, n, type, d_w, type, &bytes,
                                       &host_bytes));
    make_room();
    SOLVER(cusolverDnXgeqrf(handle, params, n, n, type, d_A, n, type, d_w, type, work, bytes,
                            of_host.data(), host_bytes, d_info));
    const Matrix<double> R = half_of(back(d_A, n, n), true);
    EXPECT(no_info() && near(product(transposed(R), R), S));

    upload(d_A, S);
    SOLVER(cusolverDnXsyevd_bufferSize(handle, params, CUSOLVER_EIG_MODE_NOVECTOR,
                                       CUBLAS_FILL_MODE_UPPER, n, type, d_A, n, type, d_w, type,
                                       &bytes, &host_bytes));
    make_room();
    SOLVER(cusolverDnXsyevd(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_UPPER, n,
                            type, d_A, n, type, d_w, type, work, bytes, of_host.data(), host_bytes,
                            d_info));
    const std::vector<double> w = back(d_w, n);
    upload(d_A, A);
    SOLVER(cusolverDnXgesvd_bufferSize(handle, params, 'A', 'A', n, n, type, d_A, n, type, d_w,
                                       type, d_U, n, type, d_V, n, type, &bytes, &host_bytes));
    make_room();
    SOLVER(cusolverDnXgesvd(handle, params, 'A', 'A', n, n, type, d_A, n, type, d_w, type, d_U, n,
                            type, d_V, n, type, work, bytes, of_host.data(), host_bytes, d_info));
    const std::vector<double> s = back(d_w, n);
    for (int i = 0; i < n; ++i)  // the squares of the singular values are the eigenvalues of A^T A
        EXPECT(std::abs(s[i] * s[i] - w[n - 1 - i]) < 1e-8 * w[n - 1]);

#if CUDART_VERSION >= 12060
    // The first two of them by random numbers, with their vectors; and the values of a matrix that is not symmetric:
    // A v = (re + i im) v, where the columns of V hold the real and the imaginary part of v.
    upload(d_A, A);
    SOLVER(cusolverDnXgesvdr_bufferSize(handle, params, 'S', 'S', n, n, 2, 2, 4, type, d_A, n, type,
                                        d_w, type, d_U, n, type, d_V, n, type, &bytes,
                                        &host_bytes));
    make_room();
    SOLVER(cusolverDnXgesvdr(handle, params, 'S', 'S', n, n, 2, 2, 4, type, d_A, n, type, d_w, type,
                             d_U, n, type, d_V, n, type, work, bytes, of_host.data(), host_bytes,
                             d_info));
    const std::vector<double> first = back(d_w, 2);
    EXPECT(no_info() && std::abs(first[0] - s[0]) < 0.05 * s[0] &&
           std::abs(first[1] - s[1]) < 0.2 * s[0]);
    const Matrix<double> U = back(d_U, n, 1), AV = product(A, back(d_V, n, 1));
    for (int i = 0; i < n; ++i) EXPECT(std::abs(AV(i, 0) - first[0] * U(i, 0)) < 0.2 * s[0]);

    upload(d_A, A);
    double* d_pairs = on_device(std::vector<double>(2 * n));
    SOLVER(cusolverDnXgeev_bufferSize(handle, params, CUSOLVER_EIG_MODE_NOVECTOR,
                                      CUSOLVER_EIG_MODE_VECTOR, n, type, d_A, n, type, d_pairs,
                                      type, nullptr, 1, type, d_V, n, type, &bytes, &host_bytes));
    make_room();
    SOLVER(cusolverDnXgeev(handle, params, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n,
                           type, d_A, n, type, d_pairs, type, nullptr, 1, type, d_V, n, type, work,
                           bytes, of_host.data(), host_bytes, d_info));
    const std::vector<double> pairs = back(d_pairs, 2 * n);
    const Matrix<double> V = back(d_V, n, n), of_V = product(A, V);
    int pairs_found = 0;
    for (int j = 0; j < n; ++j) {
        const double im = pairs[n + j];
        const int step = im == 0 ? 0 : 1;
        for (int i = 0; i < n; ++i)
            EXPECT(std::abs(of_V(i, j) - pairs[j] * V(i, j) + im * V(i, j + step)) < 1e-9);
        j += step, pairs_found += step;
    }
    EXPECT(no_info() && pairs_found > 0);
    SUCCEEDS(cudaFree(d_pairs));
#endif

    // L of two matrices at their addresses, and what they solve.
    std::vector<double> two = S.values;
    for (double x : S.values) two.push_back(4 * x);
    double *d_two = on_device(two), *d_b = on_device(std::vector<double>(2 * n, 1.0));
    double **at_A = on_device(std::vector<double*>{d_two, d_two + n * n}),
           **at_b = on_device(std::vector<double*>{d_b, d_b + n});
    SOLVER(cusolverDnDpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, n, at_A, n, d_info, 2));
    EXPECT(back(d_info, 2) == std::vector<int>(2));
    SOLVER(
        cusolverDnDpotrsBatched(handle, CUBLAS_FILL_MODE_LOWER, n, 1, at_A, n, at_b, n, d_info, 2));
    EXPECT(near(product(S, back(d_b, n, 1)),
                sum(4.0, product(S, back(d_b + n, n, 1)), 0.0, Matrix<double>(n, 1))));

    // A X = B, factorised in float and refined to double.
    upload(d_A, A);
    upload(d_B, B);
    int* narrow = on_device(std::vector<int>(n));
    SOLVER(
        cusolverDnDSgesv_bufferSize(handle, n, 2, d_A, n, narrow, d_B, n, d_U, n, nullptr, &bytes));
    host_bytes = 0;
    make_room();
    int iterations = -99;
    SOLVER(cusolverDnDSgesv(handle, n, 2, d_A, n, narrow, d_B, n, d_U, n, work, bytes, &iterations,
                            d_info));
    EXPECT(no_info() && near(product(A, back(d_U, n, 2)), B));
    for (void* pointer : std::vector<void*>{d_A, d_B, d_w, d_U, d_V, pivots, d_two, d_b, at_A, at_b,
                                            narrow, d_info, work})
        SUCCEEDS(cudaFree(pointer));
    SOLVER(cusolverDnDestroyParams(params));
    SOLVER(cusolverDnDestroy(handle));
    std::puts("ok");
}
