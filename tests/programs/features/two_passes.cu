// Feature: code for newer cards | `#if __CUDA_ARCH__ >= 700` and `#ifdef __CUDA_ARCH__`: kernels have the device's code, functions for both have the host's on the host; compiled as for compute capability 9.0
#include "../runtime_expect.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 300
#error "far too old"
#endif

__host__ __device__ int side() {
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2;
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600
#else
__device__ double atomicAdd(double* address, double value) { return *address += value; }
#endif

#if __CUDA_ARCH__ >= 700
__device__ int of_device() { return 10; }
#else
__device__ int of_device() { return 20; }
#endif

struct Both {
    int value;
    __host__ __device__ Both() {
#if __CUDA_ARCH__ >= 800
        value = 100;
#else
        value = 200;
#endif
    }
    __device__ int get() const {
        int result = value;
#ifndef __CUDA_ARCH__
        result = -1;
#endif
        return result;
    }
};

template <class T>
__global__ void kernel(T* out) {
#if __CUDA_ARCH__ >= 700
    out[0] = __popc(__activemask()) + 1000;
#endif
    if (threadIdx.x == 0) {
        out[1] = side();
        out[2] = of_device();
        out[3] = Both().get();
    }
}

int main() {
    int* out = zeros<int>(4);
    kernel<<<1, 32>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 1032 && read_back(out + 1) == 1);
    EXPECT(read_back(out + 2) == 10 && read_back(out + 3) == 100);
    EXPECT(side() == 2 && Both().value == 200);
    SUCCEEDS(cudaFree(out));
    std::puts("ok");
}
