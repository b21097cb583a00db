// Feature: cuSPARSE | `SpMV`, `SpMM` of CSR, CSC and COO with either base of indices and all types of indices, dense to sparse and back, `csr2coo`, `coo2csr`; `dense2csr` and `csrmv` of before CUDA 12
// Flags: -lcusparse
#include <cusparse.h>

#include <vector>

#include "../device_copies.h"

#define SPARSE(call) EXPECT((call) == CUSPARSE_STATUS_SUCCESS)

// Of 3 rows and 4 columns; the second row is empty.
//   2 0 0 5
//   0 0 0 0
//   0 3 7 0
const std::vector<int> offsets{1, 3, 3, 5}, columns{1, 4, 2, 3}, rows{1, 1, 3, 3};
const std::vector<float> values{2, 5, 3, 7};

void products(cusparseHandle_t handle) {
    int *at = on_device(offsets), *column = on_device(columns), *row = on_device(rows);
    float *value = on_device(values), *x = on_device(std::vector<float>{1, 2, 3, 4}),
          *y = on_device(std::vector<float>{10, 20, 30, 40});
    cusparseSpMatDescr_t by_rows, by_places;
    SPARSE(cusparseCreateCsr(&by_rows, 3, 4, 4, at, column, value, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    SPARSE(cusparseCreateCoo(&by_places, 3, 4, 4, row, column, value, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
    cusparseDnVecDescr_t four, three, result;
    SPARSE(cusparseCreateDnVec(&four, 4, x, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&three, 3, x, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&result, 3, y, CUDA_R_32F));
    const float one = 1, two = 2, zero = 0, half = 0.5f;
    size_t bytes = 0;
    SPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, by_rows, four,
                                   &half, result, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    void* buffer = nullptr;
    SUCCEEDS(cudaMalloc(&buffer, bytes + 4096));
    SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &two, by_rows, four, &half,
                        result, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    EXPECT(back(y, 3) == (std::vector<float>{49, 10, 69}));
    SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, by_places, four, &zero,
                        result, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    EXPECT(back(y, 3) == (std::vector<float>{22, 0, 27}));
    SPARSE(cusparseDestroyDnVec(result));
    SPARSE(cusparseCreateDnVec(&result, 4, y, CUDA_R_32F));
    SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, &one, by_rows, three, &zero, result,
                        CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    EXPECT(back(y, 4) == (std::vector<float>{2, 9, 21, 5}));

    // 4 x 2, rows first; the product columns first with a gap.
    float *b = on_device(std::vector<float>{1, 5, 2, 6, 3, 7, 4, 8}),
          *c = on_device(std::vector<float>(8));
    cusparseDnMatDescr_t B, C;
    SPARSE(cusparseCreateDnMat(&B, 4, 2, 2, b, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    SPARSE(cusparseCreateDnMat(&C, 3, 2, 4, c, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                   CUSPARSE_OPERATION_NON_TRANSPOSE, &one, by_rows, B, &zero, C,
                                   CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
    EXPECT(bytes <= 4096);
    SPARSE(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                        &one, by_rows, B, &zero, C, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, buffer));
    EXPECT(back(c, 8) == (std::vector<float>{22, 0, 27, 0, 50, 0, 67, 0}));
    SPARSE(cusparseDestroyDnMat(B));
    SPARSE(cusparseDestroyDnMat(C));
    SPARSE(cusparseDestroySpMat(by_rows));
    SPARSE(cusparseDestroySpMat(by_places));
    for (cusparseDnVecDescr_t vector : {four, three, result}) SPARSE(cusparseDestroyDnVec(vector));
    for (void* pointer :
         {buffer, static_cast<void*>(b), static_cast<void*>(c), static_cast<void*>(x),
          static_cast<void*>(y), static_cast<void*>(value), static_cast<void*>(at),
          static_cast<void*>(column), static_cast<void*>(row)})
        SUCCEEDS(cudaFree(pointer));
}

void forms(cusparseHandle_t handle) {
    int *at = on_device(offsets), *row = on_device(std::vector<int>(4)),
        *again = on_device(std::vector<int>(4));
    SPARSE(cusparseXcsr2coo(handle, at, 4, 3, row, CUSPARSE_INDEX_BASE_ONE));
    SPARSE(cusparseXcoo2csr(handle, row, 4, 3, again, CUSPARSE_INDEX_BASE_ONE));
    EXPECT(back(row, 4) == rows && back(again, 4) == offsets);

    // From a dense matrix of columns, 3 x 4, to rows with 64-bit offsets, and back to rows of a dense one.
    double *dense = on_device(std::vector<double>{2, 0, 0, 0, 0, 3, 0, 0, 7, 5, 0, 0}),
           *value = on_device(std::vector<double>(4));
    double* result = on_device(std::vector<double>(12, 9));
    int64_t *wide = on_device(std::vector<int64_t>(4)),
            *column = on_device(std::vector<int64_t>(4));
    cusparseDnMatDescr_t from, to;
    cusparseSpMatDescr_t sparse;
    SPARSE(cusparseCreateDnMat(&from, 3, 4, 3, dense, CUDA_R_64F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&to, 3, 4, 4, result, CUDA_R_64F, CUSPARSE_ORDER_ROW));
    SPARSE(cusparseCreateCsr(&sparse, 3, 4, 0, wide, nullptr, nullptr, CUSPARSE_INDEX_64I,
                             CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    size_t bytes = 0;
    SPARSE(cusparseDenseToSparse_bufferSize(handle, from, sparse,
                                            CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
    void* buffer = nullptr;
    SUCCEEDS(cudaMalloc(&buffer, bytes + 4096));
    SPARSE(cusparseDenseToSparse_analysis(handle, from, sparse, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                          buffer));
    int64_t height, width, entries;
    SPARSE(cusparseSpMatGetSize(sparse, &height, &width, &entries));
    EXPECT(height == 3 && width == 4 && entries == 4);
    SPARSE(cusparseCsrSetPointers(sparse, wide, column, value));
    SPARSE(cusparseDenseToSparse_convert(handle, from, sparse, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                         buffer));
    EXPECT(back(value, 4) == (std::vector<double>{2, 5, 3, 7}) &&
           back(column, 4) == (std::vector<int64_t>{0, 3, 1, 2}) &&
           back(wide, 4) == (std::vector<int64_t>{0, 2, 2, 4}));
    SPARSE(cusparseSparseToDense_bufferSize(handle, sparse, to, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
                                            &bytes));
    EXPECT(bytes <= 4096);
    SPARSE(cusparseSparseToDense(handle, sparse, to, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, buffer));
    EXPECT(back(result, 12) == (std::vector<double>{2, 0, 0, 5, 0, 0, 0, 0, 0, 3, 7, 0}));
    SPARSE(cusparseDestroyDnMat(from));
    SPARSE(cusparseDestroyDnMat(to));
    SPARSE(cusparseDestroySpMat(sparse));

#if CUDART_VERSION < 12000 || defined(CUDA_ON_CPU)
    cusparseMatDescr_t general;
    SPARSE(cusparseCreateMatDescr(&general));
    int total = 0;
    SPARSE(cusparseDnnz(handle, CUSPARSE_DIRECTION_ROW, 3, 4, general, dense, 3, row, &total));
    EXPECT(total == 4 && back(row, 3) == (std::vector<int>{2, 0, 2}));
    int* index = on_device(std::vector<int>(4));
    SPARSE(cusparseDdense2csr(handle, 3, 4, general, dense, 3, row, value, at, index));
    const double one = 1, zero = 0;
    double* x = on_device(std::vector<double>{1, 2, 3, 4});
    SPARSE(cusparseDcsrmv(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, 3, 4, 4, &one, general, value,
                          at, index, x, &zero, result));
    EXPECT(back(result, 3) == (std::vector<double>{22, 0, 27}));
    SPARSE(cusparseDestroyMatDescr(general));
    SUCCEEDS(cudaFree(index));
    SUCCEEDS(cudaFree(x));
#endif
    for (void* pointer :
         {buffer, static_cast<void*>(at), static_cast<void*>(row), static_cast<void*>(again),
          static_cast<void*>(dense), static_cast<void*>(value), static_cast<void*>(result),
          static_cast<void*>(wide), static_cast<void*>(column)})
        SUCCEEDS(cudaFree(pointer));
}

int main() {
    cusparseHandle_t handle;
    SPARSE(cusparseCreate(&handle));
    products(handle);
    forms(handle);
    SPARSE(cusparseDestroy(handle));
    std::puts("ok");
}
