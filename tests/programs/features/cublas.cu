// Feature: cuBLAS | levels 1 to 3 in float, double and complex, batches, `cublasGemmEx`, pointer modes, streams; `cublas.h` of before CUDA 4; needs a BLAS of the system
// Flags: -lcublas
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include <vector>

#include "../runtime_expect.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

// No two numbers alike, no matrix square or symmetric.
template <class T>
std::vector<T> numbers(int count, int seed) {
    std::vector<T> all(count);
    for (int i = 0; i < count; ++i) all[i] = static_cast<T>(((i + seed) * 37 % 101 - 50) / 16.0);
    return all;
}
template <class T>
T* on_device(const std::vector<T>& host) {
    T* device = nullptr;
    SUCCEEDS(cudaMalloc(&device, host.size() * sizeof(T)));
    BLAS(cublasSetVector(static_cast<int>(host.size()), sizeof(T), host.data(), 1, device, 1));
    return device;
}
template <class T>
std::vector<T> back(const T* device, size_t count) {
    std::vector<T> host(count);
    SUCCEEDS(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}
template <class T>
bool near(T a, T b) {
    return std::abs(a - b) <= 1e-4 * (1 + std::abs(b));
}
// op(A) of `leading` rows in memory, at a row and a column.
double at(const std::vector<double>& A, int leading, bool transposed, int row, int column) {
    return A[transposed ? column + row * leading : row + column * leading];
}

// 5 x 3 = 5 x 4 times 4 x 3, with gaps between the columns, in all four forms.
void products(cublasHandle_t handle) {
    const int m = 5, n = 3, k = 4, leading = 7;
    const auto A = numbers<double>(49, 3), B = numbers<double>(49, 11), C = numbers<double>(49, 29);
    double *a = on_device(A), *b = on_device(B), *c = on_device(C);
    const double alpha = 1.5, beta = -0.5;
    for (int form = 0; form < 4; ++form) {
        const bool ta = form & 1, tb = form & 2;
        BLAS(cublasSetVector(49, sizeof(double), C.data(), 1, c, 1));
        BLAS(cublasDgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m,
                         n, k, &alpha, a, leading, b, leading, &beta, c, leading));
        const auto result = back(c, 49);
        for (int i = 0; i < 49; ++i) {
            const int row = i % leading, column = i / leading;
            double sum = C[i];
            if (row < m && column < n) {
                sum *= beta;
                for (int j = 0; j < k; ++j)
                    sum += alpha * at(A, leading, ta, row, j) * at(B, leading, tb, j, column);
            }
            EXPECT(near(result[i], sum));
        }
    }
    EXPECT(cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &alpha, a, 4, b, leading, &beta,
                       c, leading) == CUBLAS_STATUS_INVALID_VALUE);
    // A X = B with the lower triangle of A, then back by trmm into another matrix.
    BLAS(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                     CUBLAS_DIAG_UNIT, m, n, &alpha, a, leading, b, leading));
    const double one = 1 / alpha;
    BLAS(cublasDtrmm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                     CUBLAS_DIAG_UNIT, m, n, &one, a, leading, b, leading, c, leading));
    const auto again = back(c, 49);
    for (int i = 0; i < n * leading; ++i)
        if (i % leading < m) EXPECT(near(again[i], B[i]));
    // C = A^T + 2 B, of 3 x 5
    const double two = 2, unit = 1;
    BLAS(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 3, 5, &unit, a, leading, &two, a, leading, c,
                     3));
    const auto sum = back(c, 15);
    EXPECT(near(sum[1 + 3 * 4], at(A, leading, true, 1, 4) + 2 * at(A, leading, false, 1, 4)));
    for (double* pointer : {a, b, c}) SUCCEEDS(cudaFree(pointer));
}

void vectors(cublasHandle_t handle) {
    const int n = 40;
    const auto X = numbers<float>(2 * n, 5), Y = numbers<float>(n, 17);
    float *x = on_device(X), *y = on_device(Y);
    float dot = 0, norm = 0, size = 0;
    int largest = 0, smallest = 0;
    BLAS(cublasSdot(handle, n, x, 2, y, -1, &dot));
    BLAS(cublasSnrm2(handle, n, y, 1, &norm));
    BLAS(cublasSasum(handle, n, y, 1, &size));
    BLAS(cublasIsamax(handle, n, y, 1, &largest));
    BLAS(cublasIsamin(handle, n, y, 1, &smallest));
    double right_dot = 0, squares = 0, sizes = 0;
    int most = 0, least = 0;
    for (int i = 0; i < n; ++i) {
        right_dot += X[2 * i] * Y[n - 1 - i];
        squares += Y[i] * Y[i];
        sizes += std::abs(Y[i]);
        if (std::abs(Y[i]) > std::abs(Y[most])) most = i;
        if (std::abs(Y[i]) < std::abs(Y[least])) least = i;
    }
    EXPECT(near<double>(dot, right_dot) && near<double>(norm, std::sqrt(squares)) &&
           near<double>(size, sizes));
    EXPECT(largest == most + 1 && smallest == least + 1);

    // Numbers on the device, in a stream.
    cudaStream_t stream;
    SUCCEEDS(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    float* result = on_device(std::vector<float>{2, 0});
    BLAS(cublasSaxpy(handle, n, result, x, 2, y, 1));
    BLAS(cublasSdot(handle, n, y, 1, y, 1, result + 1));
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    SUCCEEDS(cudaStreamSynchronize(stream));
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (Y[i] + 2.0 * X[2 * i]) * (Y[i] + 2.0 * X[2 * i]);
    EXPECT(near<double>(back(result, 2)[1], sum));
    BLAS(cublasSetStream(handle, nullptr));

    // y = A^T x with A of 6 x 4; A = A + x y^T
    const auto A = numbers<float>(24, 7);
    float* a = on_device(A);
    const float alpha = 1, beta = 0;
    BLAS(cublasSgemv(handle, CUBLAS_OP_T, 6, 4, &alpha, a, 6, x, 1, &beta, y, 1));
    BLAS(cublasSger(handle, 6, 4, &alpha, x, 1, x + 1, 2, a, 6));
    const auto product = back(y, 4), changed = back(a, 24);
    for (int column = 0; column < 4; ++column) {
        double right = 0;
        for (int row = 0; row < 6; ++row) {
            right += A[row + 6 * column] * X[row];
            EXPECT(
                near(changed[row + 6 * column], A[row + 6 * column] + X[row] * X[1 + 2 * column]));
        }
        EXPECT(near<double>(product[column], right));
    }
    SUCCEEDS(cudaStreamDestroy(stream));
    for (float* pointer : {x, y, a, result}) SUCCEEDS(cudaFree(pointer));
}

// 2 x 3 times 3 x 2 for three pairs, by strides and by pointers; half precision; complex numbers.
void batches(cublasHandle_t handle) {
    const auto A = numbers<float>(18, 2), B = numbers<float>(18, 31);
    float *a = on_device(A), *b = on_device(B), *c = on_device(std::vector<float>(24));
    const float alpha = 1, beta = 0;
    BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, a, 2, 6, b, 3,
                                   6, &beta, c, 2, 4, 3));
    float** pointers =
        on_device(std::vector<float*>{a, a + 6, a + 12, b, b + 6, b + 12, c + 12, c + 16, c + 20});
    BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, pointers, 2,
                            pointers + 3, 3, &beta, pointers + 6, 2, 3));
    const auto C = back(c, 24);
    for (int i = 0; i < 12; ++i) {
        double sum = 0;
        for (int j = 0; j < 3; ++j)
            sum += A[i / 4 * 6 + i % 2 + 2 * j] * B[i / 4 * 6 + j + 3 * (i / 2 % 2)];
        EXPECT(near<double>(C[i], sum) && C[i] == C[12 + i]);
    }
    std::vector<__half> halves;
    for (const float x : A) halves.push_back(__float2half(x));
    __half* h = on_device(halves);
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 3, &alpha, h, CUDA_R_16F, 2, h,
                      CUDA_R_16F, 3, &beta, c, CUDA_R_32F, 2, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    EXPECT(near(back(c, 2)[1], A[1] * A[0] + A[3] * A[1] + A[5] * A[2]));

    cuComplex* z = on_device(std::vector<cuComplex>{{1, 2}, {3, -1}, {0.5f, 4}});
    cuComplex product;
    BLAS(cublasCdotc(handle, 2, z, 1, z + 1, 1, &product));  // conj(1+2i)(3-i) + conj(3-i)(0.5+4i)
    EXPECT(near(product.x, 1 - 2.5f) && near(product.y, -7 + 12.5f));
    SUCCEEDS(cudaFree(z));
    SUCCEEDS(cudaFree(h));
    SUCCEEDS(cudaFree(pointers));
    for (float* pointer : {a, b, c}) SUCCEEDS(cudaFree(pointer));
}

int main() {
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    products(handle);
    vectors(handle);
    batches(handle);
    BLAS(cublasDestroy(handle));
    EXPECT(cublasSetStream(nullptr, nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
    std::puts("ok");
}
