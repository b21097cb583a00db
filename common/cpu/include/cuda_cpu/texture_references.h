// Texture and surface references, which CUDA 12 took away and older books use: a global object, bound by the host.
#pragma once

#include "textures.h"

constexpr int cudaTextureType1D = 1, cudaTextureType2D = 2, cudaTextureType3D = 3,
              cudaTextureType1DLayered = 0xF1, cudaTextureType2DLayered = 0xF2;

struct textureReference {
    int normalized = 0;
    cudaTextureFilterMode filterMode = cudaFilterModePoint;
    cudaTextureAddressMode addressMode[3] = {cudaAddressModeClamp, cudaAddressModeClamp,
                                             cudaAddressModeClamp};
    cudaChannelFormatDesc channelDesc{};
    cudaTextureReadMode read_mode = cudaReadModeElementType;
    cudaTextureObject_t object = 0;
};
template <class T, int type = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct texture : textureReference {
    texture(int normalized = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
            cudaTextureAddressMode address = cudaAddressModeClamp) {
        this->normalized = normalized;
        filterMode = filter;
        for (cudaTextureAddressMode& one : addressMode) one = address;
        channelDesc = cudaCreateChannelDesc<T>();
        read_mode = mode;
    }
};

namespace cuda_cpu {
cudaError_t bind(textureReference& reference, const cudaResourceDesc& resource);
template <class T, cudaTextureReadMode mode>
using Read = std::conditional_t<
    mode == cudaReadModeElementType, T,
    std::conditional_t<sizeof(T) == sizeof(Part<T>), float,
                       std::conditional_t<sizeof(T) == 2 * sizeof(Part<T>), float2, float4>>>;
}  // namespace cuda_cpu

template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(size_t* offset, texture<T, type, mode>& reference, const void* pointer,
                            const cudaChannelFormatDesc& format, size_t bytes = UINT_MAX) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {const_cast<void*>(pointer), format, bytes};
    if (offset != nullptr) *offset = 0;
    return cuda_cpu::bind(reference, resource);
}
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTexture(size_t* offset, texture<T, type, mode>& reference, const void* pointer,
                            size_t bytes = UINT_MAX) {
    return cudaBindTexture(offset, reference, pointer, reference.channelDesc, bytes);
}
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTexture2D(size_t* offset, texture<T, type, mode>& reference,
                              const void* pointer, const cudaChannelFormatDesc& format,
                              size_t width, size_t height, size_t pitch) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {const_cast<void*>(pointer), format, width, height, pitch};
    if (offset != nullptr) *offset = 0;
    return cuda_cpu::bind(reference, resource);
}
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(texture<T, type, mode>& reference, cudaArray_const_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    return cuda_cpu::bind(reference, resource);
}
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaBindTextureToArray(texture<T, type, mode>& reference, cudaArray_const_t array,
                                   const cudaChannelFormatDesc&) {
    return cudaBindTextureToArray(reference, array);
}
template <class T, int type, cudaTextureReadMode mode>
cudaError_t cudaUnbindTexture(texture<T, type, mode>& reference) {
    const cudaError_t error =
        cudaDestroyTextureObject(reference.object);  // behind launches that read it
    reference.object = 0;
    return error;
}

template <class T, int type, cudaTextureReadMode mode>
auto tex1Dfetch(const texture<T, type, mode>& reference, int index) {
    return tex1Dfetch<cuda_cpu::Read<T, mode>>(reference.object, index);
}
template <class T, int type, cudaTextureReadMode mode>
auto tex1D(const texture<T, type, mode>& reference, float x) {
    return tex1D<cuda_cpu::Read<T, mode>>(reference.object, x);
}
template <class T, int type, cudaTextureReadMode mode>
auto tex2D(const texture<T, type, mode>& reference, float x, float y) {
    return tex2D<cuda_cpu::Read<T, mode>>(reference.object, x, y);
}
template <class T, int type, cudaTextureReadMode mode>
auto tex3D(const texture<T, type, mode>& reference, float x, float y, float z) {
    return tex3D<cuda_cpu::Read<T, mode>>(reference.object, x, y, z);
}

constexpr int cudaSurfaceType1D = 1, cudaSurfaceType2D = 2, cudaSurfaceType3D = 3,
              cudaSurfaceType1DLayered = 0xF1, cudaSurfaceType2DLayered = 0xF2;
struct surfaceReference {
    cudaSurfaceObject_t object = 0;
    operator cudaSurfaceObject_t() const { return object; }
};
template <class T, int type = 1>
struct surface : surfaceReference {};

inline cudaError_t cudaBindSurfaceToArray(surfaceReference& reference, cudaArray_const_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = const_cast<cudaArray_t>(array);
    const cudaError_t error = cudaDestroySurfaceObject(reference.object);
    return error != cudaSuccess ? error : cudaCreateSurfaceObject(&reference.object, &resource);
}
inline cudaError_t cudaBindSurfaceToArray(surfaceReference& reference, cudaArray_const_t array,
                                          const cudaChannelFormatDesc&) {
    return cudaBindSurfaceToArray(reference, array);
}
