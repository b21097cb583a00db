// Feature: names of older CUDA | `cudaThreadSynchronize`, all errors that `helper_cuda.h` ever knew, clocks in `cudaDeviceProp`, shuffles and votes without a mask, texture and surface references, bound anew between launches (CUDA 13 has them no more)
#include <sm_20_intrinsics.h>
#include <sm_32_intrinsics.h>
#include <sm_61_intrinsics.h>

#include <cstring>

#include "../runtime_expect.h"

#ifdef CUDA_ON_CPU
__global__ void sum_warp(int* out) {
    int value = static_cast<int>(threadIdx.x);
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down(value, distance);
    if (threadIdx.x == 0) out[0] = value;
    const unsigned int even = __ballot(threadIdx.x % 2 == 0);
    const int some = __any(threadIdx.x == 7), each = __all(threadIdx.x < 7);
    if (threadIdx.x == 0) out[1] = even == 0x55555555u && some && !each;
    out[2] = __shfl(value, 0) + 0 * __shfl_xor(value, 1) + 0 * __shfl_up(value, 1);
}

texture<int, 1, cudaReadModeElementType> numbers;
__global__ void fetch(int* out) { *out = tex1Dfetch(numbers, 1); }

texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> image;
surface<void, cudaSurfaceType2D> canvas;
__global__ void shade() {
    surf2Dwrite(static_cast<unsigned char>(threadIdx.x * 10), canvas, threadIdx.x, 1);
}
__global__ void look(int* same) {
    unsigned char there;
    surf2Dread(&there, canvas, threadIdx.x, 1);
    const float shown = tex2D(image, threadIdx.x + 0.5f, 1.5f);
    if (there == threadIdx.x * 10 && shown == there / 255.0f) atomicAdd(same, 1);
}
#endif

int main() {
    EXPECT(cudaErrorPriorLaunchFailure == 53 && cudaErrorHardwareStackError == 714);
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorTextureNotBound), "cudaErrorTextureNotBound") ==
           0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorNotMapped), "resource not mapped") == 0);
#ifdef CUDA_ON_CPU
    int* out = zeros<int>(3);
    sum_warp<<<1, 32>>>(out);
    SUCCEEDS(cudaThreadSynchronize());
    EXPECT(read_back(out) == 496 && read_back(out + 1) == 1 && read_back(out + 2) == 496);
    cudaDeviceProp properties;
    SUCCEEDS(cudaGetDeviceProperties(&properties, 0));
    EXPECT(properties.clockRate > 0 && properties.memoryClockRate > 0 &&
           properties.deviceOverlap == 1);
    int* pairs = zeros<int>(128);
    const int two[2] = {5, 7};
    SUCCEEDS(cudaMemcpy(pairs + 64, two, sizeof two, cudaMemcpyHostToDevice));
    SUCCEEDS(cudaBindTexture(nullptr, numbers, pairs, sizeof two));
    fetch<<<1, 1>>>(out);
    SUCCEEDS(cudaBindTexture(nullptr, numbers, pairs + 64, sizeof two));
    fetch<<<1, 1>>>(out + 1);
    SUCCEEDS(cudaUnbindTexture(numbers));
    EXPECT(read_back(out) == 0 && read_back(out + 1) == 7);
    SUCCEEDS(cudaFree(pairs));
    cudaArray* arrays[2];
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    for (cudaArray*& array : arrays)
        SUCCEEDS(cudaMallocArray(&array, &format, 4, 2, cudaArraySurfaceLoadStore));
    SUCCEEDS(cudaBindSurfaceToArray(canvas, arrays[0]));
    SUCCEEDS(cudaBindTextureToArray(image, arrays[0], format));
    shade<<<1, 4>>>();
    SUCCEEDS(cudaMemset(out, 0, sizeof(int)));
    look<<<1, 4>>>(out);
    SUCCEEDS(cudaBindSurfaceToArray(canvas, arrays[1], format));
    EXPECT(read_back(out) == 4);
    for (cudaArray* const array : arrays) SUCCEEDS(cudaFreeArray(array));
    SUCCEEDS(cudaFree(out));
    SUCCEEDS(cudaThreadExit());
#endif
    printf("ok\n");
}
