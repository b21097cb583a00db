// Feature: what nvcc includes | `INT_MAX`, `isdigit`, `abs`, `sqrt`, `memset`, `cuInit`, the guards that `helper_cuda.h` asks for
#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__)
#error helper_cuda.h would hide checkCudaErrors and findCudaDevice
#endif
#ifdef CUDA_ON_CPU
#include <cuda.h>
#else
int cuInit(unsigned int) { return 0; }  // it needs a library of its own there
#endif
extern "C" int printf(const char*, ...);

__global__ void largest(int* out) { *out = INT_MAX; }

int main() {
    int *out, host = 0, mode = -1;
    char text[4];
    memset(text, '7', sizeof text);
    if (cuInit(0) != 0) return 1;
    cudaMalloc(&out, sizeof(int));
    largest<<<1, 1>>>(out);
    cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
    const bool right = host == INT_MAX && isdigit(text[3]) != 0 && abs(-3) == 3 && sqrt(4.0) == 2.0;
    if (!right || mode == cudaComputeModeProhibited) return 1;
    cudaFree(out);
    printf("ok\n");
}
