// What CPU mode says of wrong memory that a library is given: the argument chooses the mistake.
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
    if (is("small")) cublasSscal(handle, 5, &alpha, device, 2);
    if (is("scalar")) cublasSscal(handle, 8, device, device, 1);
    if (is("freed")) {
        cudaFree(device);
        cublasSscal(handle, 8, &alpha, device, 1);
    }
    cudaDeviceSynchronize();
}
