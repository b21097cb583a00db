// What CPU mode says of wrong memory that a library is given, and of what it does not have: the argument chooses.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstring>

int main(int, char** arguments) {
    cublasHandle_t handle;
    cublasCreate(&handle);
    float host[8] = {}, *device;
    const float alpha = 2;
    cudaMalloc(&device, sizeof host);
    const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
    if (is("host")) cublasSscal(handle, 8, &alpha, host, 1);
    if (is("null")) cublasSscal(handle, 8, &alpha, nullptr, 1);
    if (is("small")) cublasSscal(handle, 5, &alpha, device, 2);
    if (is("scalar")) cublasSscal(handle, 8, device, device, 1);
    if (is("freed")) {
        cudaFree(device);
        cublasSscal(handle, 8, &alpha, device, 1);
    }
    if (is("type")) {
        cublasLtHandle_t lt;
        cublasLtMatmulDesc_t product;
        cublasLtMatrixLayout_t layout;
        cublasLtCreate(&lt);
        cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F);
        cublasLtMatrixLayoutCreate(&layout, CUDA_R_8F_E4M3, 16, 16, 16);
        cublasLtMatmul(lt, product, &alpha, device, layout, device, layout, &alpha, device, layout,
                       device, layout, nullptr, nullptr, 0, nullptr);
    }
    if (is("node") || is("freed node")) {
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        if (is("node")) cudaMallocAsync(&device, 64, stream);
        cudaFreeAsync(device, stream);
    }
    cudaDeviceSynchronize();
}
