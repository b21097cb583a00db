// Feature: cuBLAS, many small matrices | `gemmBatched`, `gemmStridedBatched`, `gemvBatched`, `trsmBatched`, `getrfBatched`, `getrsBatched`, `getriBatched`, `matinvBatched`, `geqrfBatched`, `gelsBatched`
// Flags: -lcublas
#include <cublas_v2.h>

#include <cmath>

#include "../host_matrices.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

constexpr int n = 3, count = 4;
const double one = 1, zero = 0;

// Matrices that follow each other on the device, and their addresses there.
struct Batch {
    int rows, columns;
    double* values;
    double** addresses;
    Batch(int rows, int columns, const std::vector<Matrix<double>>& matrices)
        : rows(rows), columns(columns) {
        std::vector<double> all;
        for (const Matrix<double>& A : matrices)
            all.insert(all.end(), A.values.begin(), A.values.end());
        values = on_device(all);
        std::vector<double*> starts;
        for (int i = 0; i < count; ++i) starts.push_back(values + i * rows * columns);
        addresses = on_device(starts);
    }
    Batch(int rows, int columns)
        : Batch(rows, columns, std::vector<Matrix<double>>(count, Matrix<double>(rows, columns))) {}
    Batch(const Batch&) = delete;
    ~Batch() {
        SUCCEEDS(cudaFree(values));
        SUCCEEDS(cudaFree(addresses));
    }
    Matrix<double> operator[](int i) const {
        return back(values + i * rows * columns, rows, columns);
    }
};

bool near(const Matrix<double>& A, const Matrix<double>& B) {
    for (size_t i = 0; i < A.values.size(); ++i)
        if (std::abs(A.values[i] - B.values[i]) > 1e-12) return false;
    return A.values.size() == B.values.size();
}
Matrix<double> identity() {
    Matrix<double> I(n, n);
    for (int i = 0; i < n; ++i) I(i, i) = 1;
    return I;
}

int main() {
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    std::vector<Matrix<double>> matrices, sides;
    for (int i = 0; i < count; ++i) {
        matrices.push_back(some_matrix<double>(n, n, 20 + i));
        for (int j = 0; j < n; ++j) matrices.back()(j, j) += 9;
        sides.push_back(some_matrix<double>(n, 2, 30 + i));
    }
    const Batch A(n, n, matrices), B(n, 2, sides), C(n, 2), inverses(n, n);
    BLAS(cublasDgemmBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, 2, n, &one, A.addresses, n,
                            B.addresses, n, &zero, C.addresses, n, count));
    for (int i = 0; i < count; ++i) EXPECT(C[i] == product(transposed(matrices[i]), sides[i]));
    BLAS(cublasDgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, 2, n, &one, A.values, n,
                                   n * n, B.values, n, 2 * n, &zero, C.values, n, 2 * n, count));
    for (int i = 0; i < count; ++i) EXPECT(C[i] == product(matrices[i], sides[i]));
#if CUDART_VERSION >= 11060
    BLAS(cublasDgemvStridedBatched(handle, CUBLAS_OP_N, n, n, &one, A.values, n, n * n, B.values, 1,
                                   2 * n, &zero, C.values, 1, 2 * n, count));
    BLAS(cublasDgemvBatched(handle, CUBLAS_OP_N, n, n, &one, A.addresses, n, B.addresses, 1, &one,
                            C.addresses, 1, count));
    for (int i = 0; i < count; ++i)
        EXPECT(C[i](1, 0) == 2 * product(matrices[i], sides[i])(1, 0) &&
               C[i](1, 1) == product(matrices[i], sides[i])(1, 1));
#endif

    int *pivots = on_device(std::vector<int>(n * count)),
        *info = on_device(std::vector<int>(count, 9));
    BLAS(cublasDmatinvBatched(handle, n, A.addresses, n, inverses.addresses, n, info, count));
    for (int i = 0; i < count; ++i) EXPECT(near(product(inverses[i], matrices[i]), identity()));
    EXPECT(back(info, count) == std::vector<int>(count));

    // P L U of each, what it solves, and the inverse from it.
    BLAS(cublasDgetrfBatched(handle, n, A.addresses, n, pivots, info, count));
    EXPECT(back(info, count) == std::vector<int>(count));
    int of_host = 9;
    BLAS(cublasDgetrsBatched(handle, CUBLAS_OP_N, n, 2, A.addresses, n, pivots, B.addresses, n,
                             &of_host, count));
    EXPECT(of_host == 0);
    for (int i = 0; i < count; ++i) EXPECT(near(product(matrices[i], B[i]), sides[i]));
    BLAS(
        cublasDgetriBatched(handle, n, A.addresses, n, pivots, inverses.addresses, n, info, count));
    for (int i = 0; i < count; ++i) EXPECT(near(product(matrices[i], inverses[i]), identity()));
    // L of each alone: the lower half, with ones.
    BLAS(cublasDtrsmBatched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                            CUBLAS_DIAG_UNIT, n, 2, &one, A.addresses, n, B.addresses, n, count));

    // Least squares of 5 equations for 2 unknowns: the residual is orthogonal to the columns.
    std::vector<Matrix<double>> tall, targets;
    for (int i = 0; i < count; ++i) {
        tall.push_back(some_matrix<double>(5, 2, 40 + i));
        tall.back()(0, 0) = tall.back()(1, 1) = 9;
        targets.push_back(some_matrix<double>(5, 1, 50 + i));
    }
    const Batch D(5, 2, tall), E(5, 2, tall), b(5, 1, targets), factors(2, 1);
    BLAS(cublasDgelsBatched(handle, CUBLAS_OP_N, 5, 2, 1, D.addresses, 5, b.addresses, 5, &of_host,
                            info, count));
    for (int i = 0; i < count; ++i) {
        Matrix<double> x(2, 1);
        x(0, 0) = b[i](0, 0), x(1, 0) = b[i](1, 0);
        const Matrix<double> rest = sum(1.0, product(tall[i], x), -1.0, targets[i]);
        EXPECT(near(product(transposed(tall[i]), rest), Matrix<double>(2, 1)));
    }
    BLAS(cublasDgeqrfBatched(handle, 5, 2, E.addresses, 5, factors.addresses, &of_host, count));
    for (int i = 0; i < count; ++i) {  // R^T R is A^T A
        const Matrix<double> QR = E[i];
        Matrix<double> R(2, 2);
        R(0, 0) = QR(0, 0), R(0, 1) = QR(0, 1), R(1, 1) = QR(1, 1);
        const Matrix<double> gram = product(transposed(tall[i]), tall[i]);
        EXPECT(std::abs(product(transposed(R), R)(0, 1) - gram(0, 1)) < 1e-10);
        EXPECT(std::abs(product(transposed(R), R)(1, 1) - gram(1, 1)) < 1e-10);
    }

    // A matrix that has no inverse, without pivots: info names the zero.
    const Batch singular(n, n);
    BLAS(cublasDgetrfBatched(handle, n, singular.addresses, n, nullptr, info, count));
    EXPECT(back(info, count) == std::vector<int>(count, 1));
    EXPECT(cublasDgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, 2, n, &one, A.addresses, n,
                              B.addresses, n, &zero, C.addresses, n,
                              -1) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasDmatinvBatched(handle, 33, A.addresses, 33, inverses.addresses, 33, info, 1) ==
           CUBLAS_STATUS_INVALID_VALUE);
    SUCCEEDS(cudaFree(pivots));
    SUCCEEDS(cudaFree(info));
    BLAS(cublasDestroy(handle));
    std::puts("ok");
}
