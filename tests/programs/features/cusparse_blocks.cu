// Feature: cuSPARSE, blocks and slices | matrices in blocks (BSR, blocked ELL) and in slices (sliced ELL): `SpMM`, `SpMV`, `SpSV`, `SDDMM`, `DenseToSparse`; systems side by side: `gtsvInterleavedBatch`, `gpsvInterleavedBatch`
// Flags: -lcusparse
#include <cuda_fp16.h>
#include <cusparse.h>

#include <cmath>

#include "../host_matrices.h"

#define SPARSE(call) EXPECT((call) == CUSPARSE_STATUS_SUCCESS)

cusparseHandle_t handle;
constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr cusparseIndexType_t of_int = CUSPARSE_INDEX_32I;
constexpr cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
const float one = 1, zero = 0;

void* room_for(size_t bytes) {
    void* work = nullptr;
    SUCCEEDS(cudaMalloc(&work, bytes + 1));
    return work;
}

// Block row 0 has block 1; block row 1 has blocks 0 and 2. Each row of a block stands in the array of its whole row.
void blocked_ell() {
    Matrix<float> A(4, 6), B(6, 3);
    for (int i = 0; i < 4; ++i)
        for (int block : i < 2 ? std::vector<int>{1} : std::vector<int>{0, 2})
            for (int j = 0; j < 2; ++j) A(i, 2 * block + j) = i + 2 * j + 1;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 3; ++j) B(i, j) = i - j;
    std::vector<__half> A16, B16;
    for (float x : A.values) A16.push_back(__float2half(x));
    for (float x : B.values) B16.push_back(__float2half(x));
    __half *dense = on_device(A16), *b = on_device(B16),
           *values = on_device(std::vector<__half>(16)), *c = on_device(std::vector<__half>(12));
    int* columns = on_device(std::vector<int>{1, -1, 0, 2});
    cusparseDnMatDescr_t of_A, of_B, of_C;
    cusparseSpMatDescr_t ell;
    SPARSE(cusparseCreateDnMat(&of_A, 4, 6, 4, dense, CUDA_R_16F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&of_B, 6, 3, 6, b, CUDA_R_16F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&of_C, 4, 3, 4, c, CUDA_R_16F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateBlockedEll(&ell, 4, 6, 2, 4, columns, values, of_int, base, CUDA_R_16F));
    size_t bytes = 0;
    SPARSE(cusparseDenseToSparse_bufferSize(handle, of_A, ell, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                            &bytes));
    void* work = room_for(bytes);
    SPARSE(cusparseDenseToSparse_analysis(handle, of_A, ell, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
                                          work));
    SPARSE(
        cusparseDenseToSparse_convert(handle, of_A, ell, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, work));
    SPARSE(cusparseDestroyDnMat(of_A));  // the call has all it needs
    const std::vector<__half> stored = back(values, 16);
    const float right[16] = {1, 3, 0, 0, 2, 4, 0, 0, 3, 5, 3, 5, 4, 6, 4, 6};
    for (int i = 0; i < 16; ++i) EXPECT(__half2float(stored[i]) == right[i]);
    SPARSE(cusparseSpMM_bufferSize(handle, plain, plain, &one, ell, of_B, &zero, of_C, CUDA_R_32F,
                                   CUSPARSE_SPMM_BLOCKED_ELL_ALG1, &bytes));
    void* more = room_for(bytes);
    SPARSE(cusparseSpMM(handle, plain, plain, &one, ell, of_B, &zero, of_C, CUDA_R_32F,
                        CUSPARSE_SPMM_BLOCKED_ELL_ALG1, more));
    const std::vector<__half> result = back(c, 12);
    for (int i = 0; i < 12; ++i)
        EXPECT(__half2float(result[i]) == product(A, B).values[static_cast<size_t>(i)]);
    SPARSE(cusparseDestroySpMat(ell));
    for (cusparseDnMatDescr_t matrix : {of_B, of_C}) SPARSE(cusparseDestroyDnMat(matrix));
    for (void* pointer : std::vector<void*>{dense, b, values, c, columns, work, more})
        SUCCEEDS(cudaFree(pointer));
}

#if CUDART_VERSION >= 12010
// A lower triangle in slices of two rows, the last of which has one; a column of -1 fills.
//   2 0 0
//   1 1 0
//   0 3 4
void slices() {
    int *offsets = on_device(std::vector<int>{0, 4, 8}),
        *columns = on_device(std::vector<int>{0, 0, -1, 1, 1, -1, 2, -1});
    float *values = on_device(std::vector<float>{2, 1, 0, 1, 3, 0, 4, 0}),
          *x = on_device(std::vector<float>{1, 2, 3}), *y = on_device(std::vector<float>(3));
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t of_x, of_y;
    SPARSE(cusparseCreateSlicedEll(&A, 3, 3, 5, 8, 2, offsets, columns, values, of_int, of_int,
                                   base, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&of_x, 3, x, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&of_y, 3, y, CUDA_R_32F));
    size_t bytes = 0;
    SPARSE(cusparseSpMV_bufferSize(handle, plain, &one, A, of_x, &zero, of_y, CUDA_R_32F,
                                   CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    void* work = room_for(bytes);
    SPARSE(cusparseSpMV(handle, plain, &one, A, of_x, &zero, of_y, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, work));
    EXPECT(back(y, 3) == (std::vector<float>{2, 3, 18}));
    cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
    SPARSE(cusparseSpMatSetAttribute(A, CUSPARSE_SPMAT_FILL_MODE, &lower, sizeof lower));
    cusparseSpSVDescr_t plan;
    SPARSE(cusparseSpSV_createDescr(&plan));
    SPARSE(cusparseSpSV_bufferSize(handle, plain, &one, A, of_y, of_x, CUDA_R_32F,
                                   CUSPARSE_SPSV_ALG_DEFAULT, plan, &bytes));
    void* more = room_for(bytes);
    SPARSE(cusparseSpSV_analysis(handle, plain, &one, A, of_y, of_x, CUDA_R_32F,
                                 CUSPARSE_SPSV_ALG_DEFAULT, plan, more));
    SPARSE(cusparseSpSV_solve(handle, plain, &one, A, of_y, of_x, CUDA_R_32F,
                              CUSPARSE_SPSV_ALG_DEFAULT, plan));
    EXPECT(back(x, 3) == (std::vector<float>{1, 2, 3}));
    SPARSE(cusparseSpSV_destroyDescr(plan));
    SPARSE(cusparseDestroySpMat(A));
    for (cusparseDnVecDescr_t vector : {of_x, of_y}) SPARSE(cusparseDestroyDnVec(vector));
    for (void* pointer : std::vector<void*>{offsets, columns, values, x, y, work, more})
        SUCCEEDS(cudaFree(pointer));
}

// X Y, of 8 x 8, where two blocks of 4 x 4 are.
void blocks() {
    const Matrix<float> X = some_matrix<float>(8, 8, 1), Y = some_matrix<float>(8, 8, 2),
                        XY = product(X, Y);
    int *offsets = on_device(std::vector<int>{0, 1, 2}),
        *columns = on_device(std::vector<int>{1, 0});
    float *values = on_device(std::vector<float>(32)), *x = on_device(transposed(X)),
          *y = on_device(transposed(Y));
    cusparseSpMatDescr_t C;
    cusparseDnMatDescr_t of_X, of_Y;
    SPARSE(cusparseCreateBsr(&C, 2, 2, 2, 4, 4, offsets, columns, values, of_int, of_int, base,
                             CUDA_R_32F, CUSPARSE_ORDER_ROW));
    SPARSE(cusparseCreateDnMat(&of_X, 8, 8, 8, x, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    SPARSE(cusparseCreateDnMat(&of_Y, 8, 8, 8, y, CUDA_R_32F, CUSPARSE_ORDER_ROW));
    size_t bytes = 0;
    SPARSE(cusparseSDDMM_bufferSize(handle, plain, plain, &one, of_X, of_Y, &zero, C, CUDA_R_32F,
                                    CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
    void* work = room_for(bytes);
    SPARSE(cusparseSDDMM_preprocess(handle, plain, plain, &one, of_X, of_Y, &zero, C, CUDA_R_32F,
                                    CUSPARSE_SDDMM_ALG_DEFAULT, work));
    SPARSE(cusparseSDDMM(handle, plain, plain, &one, of_X, of_Y, &zero, C, CUDA_R_32F,
                         CUSPARSE_SDDMM_ALG_DEFAULT, work));
    const std::vector<float> result = back(values, 32);
    for (int i = 0; i < 32; ++i) {
        const int block = i / 16, row = 4 * block + i % 16 / 4, column = 4 * (1 - block) + i % 4;
        EXPECT(result[static_cast<size_t>(i)] == XY(row, column));
    }
    SPARSE(cusparseDestroySpMat(C));
    for (cusparseDnMatDescr_t matrix : {of_X, of_Y}) SPARSE(cusparseDestroyDnMat(matrix));
    for (void* pointer : std::vector<void*>{offsets, columns, values, x, y, work})
        SUCCEEDS(cudaFree(pointer));
}
#endif

// Two systems: 5 on the diagonals, s + 1 beside them, and 1 beyond; the solution is i + 1.
void side_by_side() {
    constexpr int rows = 4, count = 2;
    std::vector<double> diagonals[5], of_three(rows * count), of_five(rows * count);
    for (std::vector<double>& diagonal : diagonals) diagonal.resize(rows * count);
    for (int i = 0; i < rows; ++i) {
        for (int s = 0; s < count; ++s) {
            const auto at = static_cast<size_t>(i * count + s);
            for (int k = -2; k <= 2; ++k) {
                if (i + k < 0 || i + k >= rows) continue;
                const double value = k == 0 ? 5 : k * k == 1 ? s + 1 : 1;
                diagonals[k + 2][at] = value;
                of_five[at] += value * (i + k + 1);
                if (k * k < 4) of_three[at] += value * (i + k + 1);
            }
        }
    }
    double *d[5], *x = on_device(of_three);
    for (int k = 0; k < 5; ++k) d[k] = on_device(diagonals[k]);
    const auto is_solved = [&] {
        for (int i = 0; i < rows * count; ++i)
            if (std::abs(back(x, rows * count)[static_cast<size_t>(i)] - (i / count + 1)) > 1e-12)
                return false;
        return true;
    };
    size_t bytes = 0;
    SPARSE(cusparseDgtsvInterleavedBatch_bufferSizeExt(handle, 0, rows, d[1], d[2], d[3], x, count,
                                                       &bytes));
    void* work = room_for(bytes);
    SPARSE(cusparseDgtsvInterleavedBatch(handle, 0, rows, d[1], d[2], d[3], x, count, work));
    EXPECT(is_solved());
    for (int k = 0; k < 5; ++k)  // the call may have written over them
        SUCCEEDS(cudaMemcpy(d[k], diagonals[k].data(), sizeof(double) * rows * count,
                            cudaMemcpyHostToDevice));
    SUCCEEDS(cudaMemcpy(x, of_five.data(), sizeof(double) * rows * count, cudaMemcpyHostToDevice));
    SPARSE(cusparseDgpsvInterleavedBatch_bufferSizeExt(handle, 0, rows, d[0], d[1], d[2], d[3],
                                                       d[4], x, count, &bytes));
    void* more = room_for(bytes);
    SPARSE(cusparseDgpsvInterleavedBatch(handle, 0, rows, d[0], d[1], d[2], d[3], d[4], x, count,
                                         more));
    EXPECT(is_solved());
    for (void* pointer : std::vector<void*>{d[0], d[1], d[2], d[3], d[4], x, work, more})
        SUCCEEDS(cudaFree(pointer));
}

int main() {
    SPARSE(cusparseCreate(&handle));
    blocked_ell();
#if CUDART_VERSION >= 12010
    slices();
    blocks();
#endif
    side_by_side();
    SPARSE(cusparseDestroy(handle));
    std::puts("ok");
}
