// Texture and surface objects, and what kernels read and write through them.
#pragma once

#include "arrays.h"
#include "launch.h"

enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0,
    cudaAddressModeClamp = 1,
    cudaAddressModeMirror = 2,
    cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaResourceType {
    cudaResourceTypeArray = 0,
    cudaResourceTypeMipmappedArray = 1,
    cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3
};
enum cudaSurfaceBoundaryMode {
    cudaBoundaryModeZero = 0,
    cudaBoundaryModeClamp = 1,
    cudaBoundaryModeTrap = 2
};

struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
    unsigned int flags;
};
struct cudaTextureDesc {
    cudaTextureAddressMode addressMode[3];
    cudaTextureFilterMode filterMode;
    cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaResourceViewDesc;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc* view = nullptr);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface);

namespace cuda_cpu {
// What a texture gives: numbers if its elements are or become such, else whole numbers.
struct Texel {
    float real[4];
    long long whole[4];
    bool is_whole;
};
// `dimensions` says how many of x, y, z are coordinates; layered textures take the layer from z.
Texel sample(cudaTextureObject_t texture, int dimensions, bool layered, float x, float y, float z);
Texel fetch(cudaTextureObject_t texture, int index);
// The address of `bytes` bytes at x (in bytes), y, z of a surface; null where they lie outside and nothing is to be done.
void* surface_place(cudaSurfaceObject_t surface, int x, int y, int z, int bytes,
                    cudaSurfaceBoundaryMode mode);

template <class T>
T from_texel(const Texel& texel) {
    using Number = Part<T>;
    Number parts[sizeof(T) / sizeof(Number)];
    for (size_t i = 0; i < sizeof(T) / sizeof(Number); ++i)
        parts[i] = texel.is_whole ? static_cast<Number>(texel.whole[i])
                                  : static_cast<Number>(texel.real[i]);
    T result;
    std::memcpy(&result, parts, sizeof(T));
    return result;
}
template <class T>
T read_surface(cudaSurfaceObject_t surface, int x, int y, int z, cudaSurfaceBoundaryMode mode) {
    T value{};
    if (const void* const place = surface_place(surface, x, y, z, sizeof(T), mode))
        std::memcpy(&value, place, sizeof(T));
    return value;
}
template <class T>
void write_surface(const T& value, cudaSurfaceObject_t surface, int x, int y, int z,
                   cudaSurfaceBoundaryMode mode) {
    if (mode == cudaBoundaryModeClamp)
        mode = cudaBoundaryModeZero;  // what lies outside is not written
    if (void* const place = surface_place(surface, x, y, z, sizeof(T), mode))
        std::memcpy(place, &value, sizeof(T));
}
}  // namespace cuda_cpu

#define CUDA_CPU_TEXTURE(name, parameters, dimensions, layered, x, y, z)                         \
    template <class T>                                                                           \
    T name parameters {                                                                          \
        return cuda_cpu::from_texel<T>(cuda_cpu::sample(texture, dimensions, layered, x, y, z)); \
    }
CUDA_CPU_TEXTURE(tex1D, (cudaTextureObject_t texture, float x), 1, false, x, 0, 0)
CUDA_CPU_TEXTURE(tex2D, (cudaTextureObject_t texture, float x, float y), 2, false, x, y, 0)
CUDA_CPU_TEXTURE(tex3D, (cudaTextureObject_t texture, float x, float y, float z), 3, false, x, y, z)
CUDA_CPU_TEXTURE(tex1DLayered, (cudaTextureObject_t texture, float x, int layer), 1, true, x, 0,
                 static_cast<float>(layer))
CUDA_CPU_TEXTURE(tex2DLayered, (cudaTextureObject_t texture, float x, float y, int layer), 2, true,
                 x, y, static_cast<float>(layer))
// A texture has one level here.
CUDA_CPU_TEXTURE(tex1DLod, (cudaTextureObject_t texture, float x, float), 1, false, x, 0, 0)
CUDA_CPU_TEXTURE(tex2DLod, (cudaTextureObject_t texture, float x, float y, float), 2, false, x, y,
                 0)
CUDA_CPU_TEXTURE(tex3DLod, (cudaTextureObject_t texture, float x, float y, float z, float), 3,
                 false, x, y, z)
#undef CUDA_CPU_TEXTURE
template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int index) {
    return cuda_cpu::from_texel<T>(cuda_cpu::fetch(texture, index));
}
template <class T>
void tex1Dfetch(T* value, cudaTextureObject_t texture, int index) {
    *value = tex1Dfetch<T>(texture, index);
}
template <class T>
void tex1D(T* value, cudaTextureObject_t texture, float x) {
    *value = tex1D<T>(texture, x);
}
template <class T>
void tex2D(T* value, cudaTextureObject_t texture, float x, float y) {
    *value = tex2D<T>(texture, x, y);
}
template <class T>
void tex3D(T* value, cudaTextureObject_t texture, float x, float y, float z) {
    *value = tex3D<T>(texture, x, y, z);
}

#define CUDA_CPU_COMMA ,
#define CUDA_CPU_SURFACES(name, more, x, y, z)                              \
    template <class T>                                                      \
    T name##read(cudaSurfaceObject_t surface, int px more,                  \
                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {     \
        return cuda_cpu::read_surface<T>(surface, x, y, z, mode);           \
    }                                                                       \
    template <class T>                                                      \
    void name##read(T* value, cudaSurfaceObject_t surface, int px more,     \
                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
        *value = cuda_cpu::read_surface<T>(surface, x, y, z, mode);         \
    }                                                                       \
    template <class T>                                                      \
    void name##write(T value, cudaSurfaceObject_t surface, int px more,     \
                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
        cuda_cpu::write_surface(value, surface, x, y, z, mode);             \
    }
CUDA_CPU_SURFACES(surf1D, , px, 0, 0)
CUDA_CPU_SURFACES(surf2D, CUDA_CPU_COMMA int py, px, py, 0)
CUDA_CPU_SURFACES(surf3D, CUDA_CPU_COMMA int py CUDA_CPU_COMMA int pz, px, py, pz)
CUDA_CPU_SURFACES(surf1DLayered, CUDA_CPU_COMMA int layer, px, 0, layer)
CUDA_CPU_SURFACES(surf2DLayered, CUDA_CPU_COMMA int py CUDA_CPU_COMMA int layer, px, py, layer)
#undef CUDA_CPU_SURFACES
#undef CUDA_CPU_COMMA
