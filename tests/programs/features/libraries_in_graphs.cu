// Feature: libraries in graphs | calls of cuBLAS, cuSPARSE and cuFFT captured from a stream, between kernels, and launched again; one in the default stream ends a capture; handles are made before it
// Flags: -lcublas -lcusparse -lcufft
#include <cublas_v2.h>
#include <cufft.h>
#include <cusparse.h>

#include "../host_matrices.h"

__global__ void add(float* values, int count, float what) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] += what;
}

// A handle is made before a capture begins: it needs memory, and to give one up waits for the device.
template <class Call>
void check_handle_in_capture(cudaStream_t stream, bool relaxed, Call call, int status, bool ends) {
    const auto mode = relaxed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
    cudaGraph_t graph = nullptr;
    SUCCEEDS(cudaStreamBeginCapture(stream, mode));
    EXPECT(static_cast<int>(call()) == status);
    EXPECT(cudaStreamEndCapture(stream, &graph) ==
           (ends ? cudaErrorStreamCaptureInvalidated : cudaSuccess));
    cudaGetLastError();
    if (graph != nullptr) SUCCEEDS(cudaGraphDestroy(graph));
}
void check_handles_in_capture(cudaStream_t stream) {
    for (const bool relaxed : {false, true}) {
        const auto check = [&](auto call, int status, bool ends) {
            check_handle_in_capture(stream, relaxed, call, status, ends);
        };
        cublasHandle_t blas;
        cusparseHandle_t sparse;
        cufftHandle fft;
        check([&] { return cublasCreate(&blas); }, relaxed ? 0 : CUBLAS_STATUS_NOT_INITIALIZED,
              !relaxed);
        if (!relaxed) EXPECT(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
        check([&] { return cublasDestroy(blas); }, 0, true);
        check([&] { return cusparseCreate(&sparse); },
              relaxed ? 0 : CUSPARSE_STATUS_NOT_INITIALIZED, !relaxed);
        if (!relaxed) EXPECT(cusparseCreate(&sparse) == CUSPARSE_STATUS_SUCCESS);
        check([&] { return cusparseDestroy(sparse); }, 0, false);
        check([&] { return cufftPlan1d(&fft, 4096, CUFFT_C2C, 1); }, CUFFT_INTERNAL_ERROR, true);
        EXPECT(cufftPlan1d(&fft, 64, CUFFT_C2C, 1) == CUFFT_SUCCESS);
        check([&] { return cufftDestroy(fft); }, 0, !relaxed);
    }
}

int main() {
    constexpr int n = 16;
    const Matrix<float> A = some_matrix<float>(n, n, 1), x = some_matrix<float>(n, 1, 2);
    std::vector<int> offsets, columns;
    std::vector<float> twos(n, 2);
    for (int i = 0; i <= n; ++i) offsets.push_back(i);
    for (int i = 0; i < n; ++i)
        columns.push_back(n - 1 - i);  // turns a vector round, and doubles it
    float *d_A = on_device(A), *d_x = on_device(x), *d_y = on_device(std::vector<float>(n)),
          *d_z = on_device(std::vector<float>(n)), *value = on_device(twos);
    int *at = on_device(offsets), *column = on_device(columns);
    cufftComplex* spectrum = on_device(std::vector<cufftComplex>(n / 2 + 1));
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    cublasHandle_t blas;
    cusparseHandle_t sparse;
    cufftHandle fft;
    EXPECT(cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS &&
           cublasSetStream(blas, stream) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cusparseCreate(&sparse) == CUSPARSE_STATUS_SUCCESS &&
           cusparseSetStream(sparse, stream) == CUSPARSE_STATUS_SUCCESS);
    EXPECT(cufftPlan1d(&fft, n, CUFFT_R2C, 1) == CUFFT_SUCCESS &&
           cufftSetStream(fft, stream) == CUFFT_SUCCESS);
    void *work_of_blas = nullptr, *work = nullptr;  // a graph may not allocate
    SUCCEEDS(cudaMalloc(&work_of_blas, 1 << 25));
    EXPECT(cublasSetWorkspace(blas, work_of_blas, 1 << 25) == CUBLAS_STATUS_SUCCESS);
    cusparseSpMatDescr_t S;
    cusparseDnVecDescr_t Y, Z;
    EXPECT(cusparseCreateCsr(&S, n, n, n, at, column, value, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
    EXPECT(cusparseCreateDnVec(&Y, n, d_y, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
    EXPECT(cusparseCreateDnVec(&Z, n, d_z, CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS);
    const float one = 1, zero = 0;
    size_t bytes = 0;
    EXPECT(cusparseSpMV_bufferSize(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, S, Y, &zero, Z,
                                   CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                                   &bytes) == CUSPARSE_STATUS_SUCCESS);
    SUCCEEDS(cudaMalloc(&work, bytes + 8));

    cudaGraph_t graph;
    cudaGraphExec_t launched;
    SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    EXPECT(cublasSgemv(blas, CUBLAS_OP_N, n, n, &one, d_A, n, d_x, 1, &zero, d_y, 1) ==
           CUBLAS_STATUS_SUCCESS);
    add<<<1, 32, 0, stream>>>(d_y, n, 1);
    EXPECT(cusparseSpMV(sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, S, Y, &zero, Z, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, work) == CUSPARSE_STATUS_SUCCESS);
    EXPECT(cufftExecR2C(fft, d_z, spectrum) == CUFFT_SUCCESS);
    SUCCEEDS(cudaStreamEndCapture(stream, &graph));
#if CUDART_VERSION >= 12000
    SUCCEEDS(cudaGraphInstantiate(&launched, graph, 0));
#else
    SUCCEEDS(cudaGraphInstantiate(&launched, graph, nullptr, nullptr, 0));
#endif
    EXPECT(back(d_z, n) == std::vector<float>(n));  // nothing ran yet
    for (int round = 1; round <= 3; ++round) {
        SUCCEEDS(cudaGraphLaunch(launched, stream));
        SUCCEEDS(cudaStreamSynchronize(stream));
        Matrix<float> scaled = x;
        for (float& element : scaled.values) element *= static_cast<float>(round);
        const Matrix<float> y = product(A, scaled);
        const std::vector<float> z = back(d_z, n);
        float sum = 0;
        for (int i = 0; i < n; ++i) {
            EXPECT(z[i] == 2 * (y(n - 1 - i, 0) + 1));
            sum += z[i];
        }
        const float error = back(spectrum, 1)[0].x - sum;
        EXPECT(error < 1e-2f && error > -1e-2f);
        // The next launch has one x more.
        for (int i = 0; i < n; ++i) scaled.values[i] = x.values[i] * static_cast<float>(round + 1);
        SUCCEEDS(cudaMemcpy(d_x, scaled.values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    }
    SUCCEEDS(cudaGraphExecDestroy(launched));
    SUCCEEDS(cudaGraphDestroy(graph));
    // A call in the default stream would have to wait for the one that is captured.
    EXPECT(cublasSetStream(blas, nullptr) == CUBLAS_STATUS_SUCCESS);
    SUCCEEDS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT(cublasSscal(blas, n, &one, d_x, 1) == CUBLAS_STATUS_EXECUTION_FAILED);
    EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
    check_handles_in_capture(stream);
    EXPECT(cusparseDestroyDnVec(Y) == CUSPARSE_STATUS_SUCCESS &&
           cusparseDestroyDnVec(Z) == CUSPARSE_STATUS_SUCCESS &&
           cusparseDestroySpMat(S) == CUSPARSE_STATUS_SUCCESS &&
           cusparseDestroy(sparse) == CUSPARSE_STATUS_SUCCESS);
    EXPECT(cublasDestroy(blas) == CUBLAS_STATUS_SUCCESS && cufftDestroy(fft) == CUFFT_SUCCESS);
    SUCCEEDS(cudaStreamDestroy(stream));
    for (void* pointer :
         std::vector<void*>{d_A, d_x, d_y, d_z, value, at, column, spectrum, work_of_blas, work})
        SUCCEEDS(cudaFree(pointer));
    std::puts("ok");
}
