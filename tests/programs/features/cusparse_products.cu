// Feature: cuSPARSE, sparse by sparse, vectors, batches | `SpGEMM`, `SpGEMMreuse`, `SDDMM`, `SpVV`, `Axpby`, `Gather`, `Scatter`, batches of `SpMM`, `XcoosortByRow`, `Xcsrsort`, `Csr2cscEx2`
// Flags: -lcusparse
#include <cusparse.h>

#include "../host_matrices.h"

#define SPARSE(call) EXPECT((call) == CUSPARSE_STATUS_SUCCESS)

cusparseHandle_t handle;
void* work;
constexpr size_t room = 1 << 20;
constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
const float one = 1, two = 2, zero = 0;

// A: 3 x 4 with an empty row; its square with A^T.
//   1 0 2 0
//   0 0 0 0
//   0 3 0 4
const std::vector<int> offsets{0, 2, 2, 4}, columns{0, 2, 1, 3};
const std::vector<float> values{1, 2, 3, 4};

cusparseSpMatDescr_t rows_of(int rows, int width, int entries, int* at, int* column, float* value) {
    cusparseSpMatDescr_t A;
    SPARSE(cusparseCreateCsr(&A, rows, width, entries, at, column, value, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    return A;
}

void sparse_by_sparse() {
    int *at = on_device(offsets), *column = on_device(columns);
    float* value = on_device(values);
    // The columns of A are the rows of A^T.
    int *at_T = on_device(std::vector<int>(5)), *column_T = on_device(std::vector<int>(4));
    float* value_T = on_device(std::vector<float>(4));
    size_t bytes = 0;
    SPARSE(cusparseCsr2cscEx2_bufferSize(handle, 3, 4, 4, value, at, column, value_T, at_T,
                                         column_T, CUDA_R_32F, CUSPARSE_ACTION_NUMERIC,
                                         CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseCsr2cscEx2(handle, 3, 4, 4, value, at, column, value_T, at_T, column_T,
                              CUDA_R_32F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                              CUSPARSE_CSR2CSC_ALG1, work));
    EXPECT(back(at_T, 5) == (std::vector<int>{0, 1, 2, 3, 4}) &&
           back(column_T, 4) == (std::vector<int>{0, 2, 0, 2}) &&
           back(value_T, 4) == (std::vector<float>{1, 3, 2, 4}));

    // 2 A A^T is (10 0 0; 0 0 0; 0 0 50).
    int* at_C = on_device(std::vector<int>(4));
    const cusparseSpMatDescr_t A = rows_of(3, 4, 4, at, column, value),
                               T = rows_of(4, 3, 4, at_T, column_T, value_T),
                               C = rows_of(3, 3, 0, at_C, nullptr, nullptr);
    cusparseSpGEMMDescr_t plan;
    SPARSE(cusparseSpGEMM_createDescr(&plan));
    size_t first = 0, second = 0;
    void *work1 = nullptr, *work2 = nullptr;
    SPARSE(cusparseSpGEMM_workEstimation(handle, plain, plain, &two, A, T, &zero, C, CUDA_R_32F,
                                         CUSPARSE_SPGEMM_DEFAULT, plan, &first, nullptr));
    SUCCEEDS(cudaMalloc(&work1, first));
    SPARSE(cusparseSpGEMM_workEstimation(handle, plain, plain, &two, A, T, &zero, C, CUDA_R_32F,
                                         CUSPARSE_SPGEMM_DEFAULT, plan, &first, work1));
    SPARSE(cusparseSpGEMM_compute(handle, plain, plain, &two, A, T, &zero, C, CUDA_R_32F,
                                  CUSPARSE_SPGEMM_DEFAULT, plan, &second, nullptr));
    SUCCEEDS(cudaMalloc(&work2, second));
    SPARSE(cusparseSpGEMM_compute(handle, plain, plain, &two, A, T, &zero, C, CUDA_R_32F,
                                  CUSPARSE_SPGEMM_DEFAULT, plan, &second, work2));
    int64_t height, width, entries;
    SPARSE(cusparseSpMatGetSize(C, &height, &width, &entries));
    EXPECT(height == 3 && width == 3 && entries == 2);
    int* column_C = on_device(std::vector<int>(2));
    float* value_C = on_device(std::vector<float>(2));
    SPARSE(cusparseCsrSetPointers(C, at_C, column_C, value_C));
    SPARSE(cusparseSpGEMM_copy(handle, plain, plain, &two, A, T, &zero, C, CUDA_R_32F,
                               CUSPARSE_SPGEMM_DEFAULT, plan));
    EXPECT(back(at_C, 4) == (std::vector<int>{0, 1, 1, 2}) &&
           back(column_C, 2) == (std::vector<int>{0, 2}) &&
           back(value_C, 2) == (std::vector<float>{10, 50}));
    SPARSE(cusparseSpGEMM_destroyDescr(plan));
    for (cusparseSpMatDescr_t matrix : {A, T, C}) SPARSE(cusparseDestroySpMat(matrix));

    // A dense product, where A has entries: row i of X with column j of Y.
    const Matrix<float> X = some_matrix<float>(3, 5, 1), Y = some_matrix<float>(5, 4, 2),
                        XY = product(X, Y);
    float *x = on_device(X), *y = on_device(Y);
    cusparseDnMatDescr_t of_X, of_Y;
    const cusparseSpMatDescr_t S = rows_of(3, 4, 4, at, column, value);
    SPARSE(cusparseCreateDnMat(&of_X, 3, 5, 3, x, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&of_Y, 5, 4, 5, y, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseSDDMM_bufferSize(handle, plain, plain, &one, of_X, of_Y, &two, S, CUDA_R_32F,
                                    CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseSDDMM(handle, plain, plain, &one, of_X, of_Y, &two, S, CUDA_R_32F,
                         CUSPARSE_SDDMM_ALG_DEFAULT, work));
    EXPECT(back(value, 4) ==
           (std::vector<float>{XY(0, 0) + 2, XY(0, 2) + 4, XY(2, 1) + 6, XY(2, 3) + 8}));
    SPARSE(cusparseDestroySpMat(S));
    SPARSE(cusparseDestroyDnMat(of_X));
    SPARSE(cusparseDestroyDnMat(of_Y));
    for (void* pointer : std::vector<void*>{at, column, value, at_T, column_T, value_T, at_C,
                                            column_C, value_C, work1, work2, x, y})
        SUCCEEDS(cudaFree(pointer));
}

// One A, two B's: C_i = A B_i.
void batches() {
    int *at = on_device(offsets), *column = on_device(columns);
    float *value = on_device(values), *b = on_device(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}),
          *c = on_device(std::vector<float>(6));
    const cusparseSpMatDescr_t A = rows_of(3, 4, 4, at, column, value);
    cusparseDnMatDescr_t B, C;
    SPARSE(cusparseCreateDnMat(&B, 4, 1, 4, b, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&C, 3, 1, 3, c, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCsrSetStridedBatch(A, 2, 0, 0));
    SPARSE(cusparseDnMatSetStridedBatch(B, 2, 4));
    SPARSE(cusparseDnMatSetStridedBatch(C, 2, 3));
    size_t bytes = 0;
    SPARSE(cusparseSpMM_bufferSize(handle, plain, plain, &one, A, B, &zero, C, CUDA_R_32F,
                                   CUSPARSE_SPMM_CSR_ALG2, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseSpMM(handle, plain, plain, &one, A, B, &zero, C, CUDA_R_32F,
                        CUSPARSE_SPMM_CSR_ALG2, work));
    EXPECT(back(c, 6) == (std::vector<float>{7, 0, 22, 19, 0, 50}));
    SPARSE(cusparseDestroySpMat(A));
    SPARSE(cusparseDestroyDnMat(B));
    SPARSE(cusparseDestroyDnMat(C));
    for (void* pointer : std::vector<void*>{at, column, value, b, c}) SUCCEEDS(cudaFree(pointer));
}

void vectors() {
    int* index = on_device(std::vector<int>{1, 3, 4});
    float *x = on_device(std::vector<float>{1, 2, 3}),
          *y = on_device(std::vector<float>{10, 20, 30, 40, 50, 60});
    cusparseSpVecDescr_t X;
    cusparseDnVecDescr_t Y;
    SPARSE(cusparseCreateSpVec(&X, 6, 3, index, x, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                               CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&Y, 6, y, CUDA_R_32F));
#if CUDART_VERSION < 13000 || defined(CUDA_ON_CPU)
    float dot = 0;
    size_t bytes = 0;
    SPARSE(cusparseSpVV_bufferSize(handle, plain, X, Y, &dot, CUDA_R_32F, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseSpVV(handle, plain, X, Y, &dot, CUDA_R_32F, work));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(dot == 20 + 80 + 150);
#endif
    SPARSE(cusparseAxpby(handle, &two, X, &one, Y));
    EXPECT(back(y, 6) == (std::vector<float>{10, 22, 30, 44, 56, 60}));
    SPARSE(cusparseGather(handle, Y, X));
    EXPECT(back(x, 3) == (std::vector<float>{22, 44, 56}));
    SUCCEEDS(cudaMemset(x, 0, 3 * sizeof(float)));
    SPARSE(cusparseScatter(handle, X, Y));
    EXPECT(back(y, 6) == (std::vector<float>{10, 0, 30, 0, 0, 60}));
    SPARSE(cusparseDestroySpVec(X));
    SPARSE(cusparseDestroyDnVec(Y));
    for (void* pointer : std::vector<void*>{index, x, y}) SUCCEEDS(cudaFree(pointer));
}

void sorting() {
    int *row = on_device(std::vector<int>{2, 0, 2, 1}),
        *column = on_device(std::vector<int>{3, 1, 0, 2}), *place = on_device(std::vector<int>(4));
    size_t bytes = 0;
    SPARSE(cusparseCreateIdentityPermutation(handle, 4, place));
    SPARSE(cusparseXcoosort_bufferSizeExt(handle, 3, 4, 4, row, column, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseXcoosortByRow(handle, 3, 4, 4, row, column, place, work));
    EXPECT(back(row, 4) == (std::vector<int>{0, 1, 2, 2}) &&
           back(column, 4) == (std::vector<int>{1, 2, 0, 3}) &&
           back(place, 4) == (std::vector<int>{1, 3, 2, 0}));
    // Rows whose columns are in no order.
    int *at = on_device(std::vector<int>{0, 3, 4}),
        *mixed = on_device(std::vector<int>{2, 0, 1, 0});
    cusparseMatDescr_t general;
    SPARSE(cusparseCreateMatDescr(&general));
    SPARSE(cusparseCreateIdentityPermutation(handle, 4, place));
    SPARSE(cusparseXcsrsort_bufferSizeExt(handle, 2, 3, 4, at, mixed, &bytes));
    EXPECT(bytes <= room);
    SPARSE(cusparseXcsrsort(handle, 2, 3, 4, general, at, mixed, place, work));
    EXPECT(back(mixed, 4) == (std::vector<int>{0, 1, 2, 0}) &&
           back(place, 4) == (std::vector<int>{1, 2, 0, 3}));
    SPARSE(cusparseDestroyMatDescr(general));
    for (int* pointer : {row, column, place, at, mixed}) SUCCEEDS(cudaFree(pointer));
}

int main() {
    SPARSE(cusparseCreate(&handle));
    SUCCEEDS(cudaMalloc(&work, room));
    sparse_by_sparse();
    batches();
    vectors();
    sorting();
    SUCCEEDS(cudaFree(work));
    SPARSE(cusparseDestroy(handle));
    std::puts("ok");
}
