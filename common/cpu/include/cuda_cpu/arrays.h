// CUDA arrays, memory of three dimensions, and copies from and to both.
#pragma once

#include "api.h"

enum cudaChannelFormatKind {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2,
    cudaChannelFormatKindNone = 3
};
// The bits of each part of an element, and what they are.
struct cudaChannelFormatDesc {
    int x, y, z, w;
    cudaChannelFormatKind f;
};
inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}

namespace cuda_cpu {
template <class T>
constexpr cudaChannelFormatKind channel_kind =
    std::is_floating_point_v<T> ? cudaChannelFormatKindFloat
    : std::is_signed_v<T>       ? cudaChannelFormatKindSigned
                                : cudaChannelFormatKindUnsigned;
// What a part of an element is, of a number or of a vector.
template <class T, class = void>
struct PartOf {
    using Type = T;
};
template <class T>
struct PartOf<T, std::void_t<decltype(T::x)>> {
    using Type = decltype(T::x);
};
template <class T>
using Part = typename PartOf<T>::Type;
}  // namespace cuda_cpu

template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
    using Part = cuda_cpu::Part<T>;
    constexpr int bits = 8 * sizeof(Part), parts = sizeof(T) / sizeof(Part);
    return {bits, parts > 1 ? bits : 0, parts > 2 ? bits : 0, parts > 3 ? bits : 0,
            cuda_cpu::channel_kind<Part>};
}

struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
};
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
    return {width, height, depth};
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t width,
                                          size_t height) {
    return {pointer, pitch, width, height};
}

// Here its elements lie row by row, without gaps. The extent counts elements; 0 where there is no such side.
struct cudaArray {
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned int flags;
    char* data;
    size_t element_bytes;
    size_t row_bytes() const { return extent.width * element_bytes; }
    size_t rows() const { return extent.height > 0 ? extent.height : 1; }
    size_t slices() const { return extent.depth > 0 ? extent.depth : 1; }
};
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;
constexpr unsigned int cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
                       cudaArrayCubemap = 4, cudaArrayTextureGather = 8;

struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;  // in elements if an array takes part, else in bytes along x
    cudaMemcpyKind kind;
};

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height = 0, unsigned int flags = 0);
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned int flags = 0);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array);
cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent);
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr);
// Offsets along x and widths are bytes.
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                     size_t source_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                                size_t source_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void* target, size_t target_pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2DFromArray(void* target, size_t target_pitch, cudaArray_const_t source,
                                  size_t x, size_t y, size_t width, size_t height,
                                  cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t target, size_t target_x, size_t target_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y,
                                     size_t width, size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice);
// Through the rows of an array, one after the other.
cudaError_t cudaMemcpyToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                              size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray(void* target, cudaArray_const_t source, size_t x, size_t y,
                                size_t bytes, cudaMemcpyKind kind);
