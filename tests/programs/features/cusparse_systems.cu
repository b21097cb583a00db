// Feature: cuSPARSE, systems of equations | `SpSV` and `SpSM` of lower and upper triangles, transposed, with a diagonal of ones; incomplete factors `csrilu02` and `csric02` with their zero pivots; tridiagonal systems `gtsv2`, `gtsv2StridedBatch`
// Flags: -lcusparse
#include <cusparse.h>

#include <cmath>

#include "../host_matrices.h"

#define SPARSE(call) EXPECT((call) == CUSPARSE_STATUS_SUCCESS)

cusparseHandle_t handle;
void* work;
constexpr size_t room = 1 << 20;

// 4 x 4; all of it is stored, and a call reads one triangle.
//   2 1 0 4
//   1 4 2 0
//   0 2 8 1
//   4 0 1 2
const std::vector<int> offsets{0, 3, 6, 9, 12}, columns{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3};
const std::vector<double> values{2, 1, 4, 1, 4, 2, 2, 8, 1, 4, 1, 2};
Matrix<double> dense() {
    Matrix<double> A(4, 4);
    for (int row = 0; row < 4; ++row)
        for (int i = offsets[row]; i < offsets[row + 1]; ++i) A(row, columns[i]) = values[i];
    return A;
}

void triangles() {
    int *at = on_device(offsets), *column = on_device(columns);
    double *value = on_device(values), *b = on_device(std::vector<double>{2, 6, -4, 8}),
           *x = on_device(std::vector<double>(8)),
           *B = on_device(std::vector<double>{2, 6, -4, 8, 4, 0, 8, 2});
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t of_b, of_x;
    SPARSE(cusparseCreateCsr(&A, 4, 4, 12, at, column, value, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    SPARSE(cusparseCreateDnVec(&of_b, 4, b, CUDA_R_64F));
    SPARSE(cusparseCreateDnVec(&of_x, 4, x, CUDA_R_64F));
    const double two = 2;
    for (int form = 0; form < 8; ++form) {
        const bool upper = form % 2 != 0, unit = form / 2 % 2 != 0, turned = form / 4 != 0;
        cusparseFillMode_t fill = upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
        cusparseDiagType_t diagonal = unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
        const cusparseOperation_t operation =
            turned ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
        SPARSE(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
        SPARSE(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
        cusparseSpSVDescr_t plan;
        size_t bytes = 0;
        SPARSE(cusparseSpSV_createDescr(&plan));
        SPARSE(cusparseSpSV_bufferSize(handle, operation, &two, A, of_b, of_x, CUDA_R_64F,
                                       CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes));
        EXPECT(bytes <= room);
        SPARSE(cusparseSpSV_analysis(handle, operation, &two, A, of_b, of_x, CUDA_R_64F,
                                     CUSPARSE_SPSV_ALG_DEFAULT, plan, work));
        SPARSE(cusparseSpSV_solve(handle, operation, &two, A, of_b, of_x, CUDA_R_64F,
                                  CUSPARSE_SPSV_ALG_DEFAULT, plan));
        SUCCEEDS(cudaDeviceSynchronize());
        Matrix<double> T = half_of(dense(), upper);
        for (int i = 0; i < 4 && unit; ++i) T(i, i) = 1;
        if (turned) T = transposed(T);
        const Matrix<double> left = product(T, back(x, 4, 1));
        const std::vector<double> right{4, 12, -8, 16};  // exact: only halves come up
        for (int i = 0; i < 4; ++i) EXPECT(std::abs(left(i, 0) - right[i]) < 1e-12);
        SPARSE(cusparseSpSV_destroyDescr(plan));
    }
    // The columns of a matrix, in one call; the upper triangle is set, with its own diagonal.
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    SPARSE(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    cusparseDnMatDescr_t of_B, of_X;
    SPARSE(cusparseCreateDnMat(&of_B, 4, 2, 4, B, CUDA_R_64F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&of_X, 4, 2, 4, x, CUDA_R_64F, CUSPARSE_ORDER_COL));
    cusparseSpSMDescr_t plan;
    size_t bytes = 0;
    SPARSE(cusparseSpSM_createDescr(&plan));
    SPARSE(cusparseSpSM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                   CUSPARSE_OPERATION_NON_TRANSPOSE, &two, A, of_B, of_X,
                                   CUDA_R_64F, CUSPARSE_SPSM_ALG_DEFAULT, plan, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseSpSM_analysis(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                 CUSPARSE_OPERATION_NON_TRANSPOSE, &two, A, of_B, of_X, CUDA_R_64F,
                                 CUSPARSE_SPSM_ALG_DEFAULT, plan, work));
    SPARSE(cusparseSpSM_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                              CUSPARSE_OPERATION_NON_TRANSPOSE, &two, A, of_B, of_X, CUDA_R_64F,
                              CUSPARSE_SPSM_ALG_DEFAULT, plan));
    const Matrix<double> left = product(half_of(dense(), true), back(x, 4, 2));
    const std::vector<double> right = back(B, 8);
    for (size_t i = 0; i < 8; ++i) EXPECT(std::abs(left.values[i] - 2 * right[i]) < 1e-12);
    SPARSE(cusparseSpSM_destroyDescr(plan));
    SPARSE(cusparseDestroyDnMat(of_B));
    SPARSE(cusparseDestroyDnMat(of_X));
    SPARSE(cusparseDestroyDnVec(of_b));
    SPARSE(cusparseDestroyDnVec(of_x));
    SPARSE(cusparseDestroySpMat(A));
    for (void* pointer : std::vector<void*>{at, column, value, b, x, B})
        SUCCEEDS(cudaFree(pointer));
}

// Tridiagonal: nothing is left out of its factors, so they are those of A.
void incomplete_factors() {
    const std::vector<int> lines{0, 2, 5, 7}, places{0, 1, 0, 1, 2, 1, 2};
    int *at = on_device(lines), *column = on_device(places);
    double* value = on_device(std::vector<double>{4, 2, 2, 5, 2, 2, 5});
    cusparseMatDescr_t general;
    csrilu02Info_t lu;
    csric02Info_t cholesky;
    SPARSE(cusparseCreateMatDescr(&general));
    SPARSE(cusparseCreateCsrilu02Info(&lu));
    SPARSE(cusparseCreateCsric02Info(&cholesky));
    int bytes = 0, zero = 0;
    SPARSE(cusparseDcsrilu02_bufferSize(handle, 3, 7, general, value, at, column, lu, &bytes));
    EXPECT(bytes <= static_cast<int>(room));
    SPARSE(cusparseDcsrilu02_analysis(handle, 3, 7, general, value, at, column, lu,
                                      CUSPARSE_SOLVE_POLICY_USE_LEVEL, work));
    SPARSE(cusparseDcsrilu02(handle, 3, 7, general, value, at, column, lu,
                             CUSPARSE_SOLVE_POLICY_USE_LEVEL, work));
    SPARSE(cusparseXcsrilu02_zeroPivot(handle, lu, &zero));
    EXPECT(zero == -1 && back(value, 7) == (std::vector<double>{4, 2, 0.5, 4, 2, 0.5, 4}));
    const std::vector<double> again{4, 2, 2, 5, 2, 2, 5};
    SUCCEEDS(cudaMemcpy(value, again.data(), sizeof(double) * 7, cudaMemcpyHostToDevice));
    SPARSE(cusparseDcsric02_bufferSize(handle, 3, 7, general, value, at, column, cholesky, &bytes));
    EXPECT(bytes <= static_cast<int>(room));
    SPARSE(cusparseDcsric02_analysis(handle, 3, 7, general, value, at, column, cholesky,
                                     CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
    SPARSE(cusparseDcsric02(handle, 3, 7, general, value, at, column, cholesky,
                            CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
    SPARSE(cusparseXcsric02_zeroPivot(handle, cholesky, &zero));
    const std::vector<double> L = back(value, 7);  // the lower half
    EXPECT(zero == -1 && L[0] == 2 && L[2] == 1 && L[3] == 2 && L[5] == 1 && L[6] == 2);
    // A zero on the diagonal of U: the second row becomes (0, 0).
    const std::vector<double> singular{4, 2, 4, 2, 0, 2, 5};
    SUCCEEDS(cudaMemcpy(value, singular.data(), sizeof(double) * 7, cudaMemcpyHostToDevice));
    SPARSE(cusparseDcsrilu02_analysis(handle, 3, 7, general, value, at, column, lu,
                                      CUSPARSE_SOLVE_POLICY_USE_LEVEL, work));
    SPARSE(cusparseDcsrilu02(handle, 3, 7, general, value, at, column, lu,
                             CUSPARSE_SOLVE_POLICY_USE_LEVEL, work));
    EXPECT(cusparseXcsrilu02_zeroPivot(handle, lu, &zero) == CUSPARSE_STATUS_ZERO_PIVOT);
    EXPECT(zero == 1);
    SPARSE(cusparseDestroyCsrilu02Info(lu));
    SPARSE(cusparseDestroyCsric02Info(cholesky));
    SPARSE(cusparseDestroyMatDescr(general));
    for (void* pointer : std::vector<void*>{at, column, value}) SUCCEEDS(cudaFree(pointer));
}

// -1 4 -1 in each row, of which x = (1, 2, ..., n) is the solution; twice beside each other.
void tridiagonal() {
    constexpr int n = 7;
    std::vector<double> right;
    for (int system = 0; system < 2; ++system)
        for (int i = 1; i <= n; ++i)
            right.push_back(4 * i - (i > 1 ? i - 1 : 0) - (i < n ? i + 1 : 0));
    double *lower = on_device(std::vector<double>(2 * n, -1)),
           *d = on_device(std::vector<double>(2 * n, 4)),
           *upper = on_device(std::vector<double>(2 * n, -1)), *x = on_device(right);
    const double nothing = 0;  // the first of the lower and the last of the upper diagonal
    for (int system = 0; system < 2; ++system) {
        SUCCEEDS(cudaMemcpy(lower + system * n, &nothing, sizeof nothing, cudaMemcpyHostToDevice));
        SUCCEEDS(cudaMemcpy(upper + system * n + n - 1, &nothing, sizeof nothing,
                            cudaMemcpyHostToDevice));
    }
    const auto is_right = [&](int count) {
        const std::vector<double> result = back(x, 2 * n);
        for (int i = 0; i < count * n; ++i) EXPECT(std::abs(result[i] - (i % n + 1)) < 1e-12);
    };
    size_t bytes = 0;
    SPARSE(cusparseDgtsv2_bufferSizeExt(handle, n, 2, lower, d, upper, x, n, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseDgtsv2(handle, n, 2, lower, d, upper, x, n, work));
    is_right(2);
    SUCCEEDS(cudaMemcpy(x, right.data(), sizeof(double) * 2 * n, cudaMemcpyHostToDevice));
    SPARSE(cusparseDgtsv2StridedBatch_bufferSizeExt(handle, n, lower, d, upper, x, 2, n, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseDgtsv2StridedBatch(handle, n, lower, d, upper, x, 2, n, work));
    is_right(2);
    for (double* pointer : {lower, d, upper, x}) SUCCEEDS(cudaFree(pointer));
}

int main() {
    SPARSE(cusparseCreate(&handle));
    SUCCEEDS(cudaMalloc(&work, room));
    triangles();
    incomplete_factors();
    tridiagonal();
    SUCCEEDS(cudaFree(work));
    SPARSE(cusparseDestroy(handle));
    std::puts("ok");
}
