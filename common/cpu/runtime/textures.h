// Textures and surfaces: which elements a coordinate stands for, and what lies between them.
#pragma once

#include <cmath>
#include <cstring>

#include "api_arrays.h"
#include "observer.h"
#if defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
#include "calls.h"
#endif

namespace cuda_cpu {

namespace {

// What a texture or surface object is; it stays where it is when it is destroyed, so that its use can be named.
struct TextureObject {
    cudaResourceDesc resource;
    cudaTextureDesc description;
    cudaChannelFormatDesc format;
    const char* data;
    size_t sides[3];  // in elements
    size_t row_bytes, element_bytes;
    bool living;
};

TextureObject& living(unsigned long long object, const char* what) {
    auto* const texture = reinterpret_cast<TextureObject*>(object);
    if (texture == nullptr || !texture->living) {
        stop(learners_place() + this_thread() + "reads a " + what + " that " +
                 (texture == nullptr ? "was never made or bound." : "was destroyed before."),
             "freed");
    }
    return *texture;
}

// The whole number behind a coordinate in -1, 0, ... side; -1 for the border.
long long addressed(long long i, long long side, cudaTextureAddressMode mode, bool normalised) {
    if (i >= 0 && i < side) return i;
    if (!normalised && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
        mode = cudaAddressModeClamp;
    switch (mode) {
        case cudaAddressModeWrap:
            return ((i % side) + side) % side;
        case cudaAddressModeMirror: {
            const long long place = ((i % (2 * side)) + 2 * side) % (2 * side);
            return place < side ? place : 2 * side - 1 - place;
        }
        case cudaAddressModeClamp:
            return i < 0 ? 0 : side - 1;
        default:
            return -1;
    }
}

int bits_of(const cudaChannelFormatDesc& format, int part) {
    return part == 0 ? format.x : part == 1 ? format.y : part == 2 ? format.z : format.w;
}
float half_to_float(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float size =
        exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                       : std::ldexp(static_cast<float>(exponent != 0 ? fraction + 1024 : fraction),
                                    (exponent != 0 ? exponent : 1) - 25);
    return bits >> 15 != 0 ? -size : size;
}

// The call in the program that reads a texture: what is watched is an access of that place.
struct Reader {
    const void *place, *frame;
    void reads(const char* from, size_t bytes) const {
#if defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
        Watch::range(from, bytes, Access::read, place, frame);
#else
        static_cast<void>(from), static_cast<void>(bytes);
#endif
    }
};

// Each of these without a call: most of a sample's time went into them.
uint32_t stored_at(const char* from, int bits) {
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    if (bits == 32) return std::memcpy(&word, from, 4), word;
    if (bits == 16) return std::memcpy(&half, from, 2), half;
    return std::memcpy(&byte, from, 1), byte;
}
long long whole_part(float number) {
    const auto whole = static_cast<long long>(number);
    return whole - (static_cast<float>(whole) > number);
}

// An element as it is stored: whole numbers, or real ones where the format or the read mode says so.
Texel element_at(const TextureObject& texture, const long long* place, const Reader& reader) {
    Texel texel{};
    const cudaChannelFormatDesc& format = texture.format;
    const bool real = format.f == cudaChannelFormatKindFloat;
    const bool normalised = !real && texture.description.readMode == cudaReadModeNormalizedFloat;
    texel.is_whole = !real && !normalised;
    if (place[0] < 0 || place[1] < 0 || place[2] < 0) {
        for (int part = 0; part < 4; ++part) {
            texel.real[part] = texture.description.borderColor[part];
            std::memcpy(&texel.whole[part], &texture.description.borderColor[part], sizeof(int));
        }
        return texel;
    }
    const size_t rows = texture.sides[1];
    const char* from =
        texture.data +
        (static_cast<size_t>(place[2]) * rows + static_cast<size_t>(place[1])) * texture.row_bytes +
        static_cast<size_t>(place[0]) * texture.element_bytes;
    reader.reads(from, texture.element_bytes);
    for (int part = 0; part < 4 && bits_of(format, part) > 0; ++part) {
        const int bits = bits_of(format, part);
        const uint32_t stored = stored_at(from, bits);
        from += bits / 8;
        if (real) {
            if (bits == 16) {
                texel.real[part] = half_to_float(static_cast<uint16_t>(stored));
            } else {
                std::memcpy(&texel.real[part], &stored, sizeof stored);
            }
            continue;
        }
        const bool is_signed = format.f == cudaChannelFormatKindSigned;
        texel.whole[part] =
            is_signed ? static_cast<int64_t>(uint64_t{stored} << (64 - bits)) >> (64 - bits)
                      : static_cast<int64_t>(stored);
        if (normalised) {
            const double most = std::ldexp(1.0, bits - is_signed) - 1;
            texel.real[part] =
                static_cast<float>(std::max(static_cast<double>(texel.whole[part]) / most, -1.0));
        }
    }
    return texel;
}

}  // namespace

Texel sample(cudaTextureObject_t object, int dimensions, bool layered, float x, float y, float z) {
    const Reader reader{__builtin_return_address(0), __builtin_frame_address(0)};
    const TextureObject& texture = living(object, "texture");
    const cudaTextureDesc& how = texture.description;
    const bool normalised = how.normalizedCoords != 0,
               linear = how.filterMode == cudaFilterModeLinear;
    const float given[3] = {x, y, z};
    long long first[3] = {0, 0, 0};
    float share[3] = {0, 0, 0};  // of the second element along each side
    if (layered)
        first[2] = std::min<long long>(std::max(static_cast<long long>(z), 0LL),
                                       static_cast<long long>(texture.sides[2]) - 1);
    for (int side = 0; side < dimensions; ++side) {
        const float length = static_cast<float>(texture.sides[side]);
        float at = given[side];
        if (normalised) {
            // A wrapped coordinate is reduced before it is scaled, as the hardware does.
            if (how.addressMode[side] == cudaAddressModeWrap) at -= std::floor(at);
            at *= length;
        }
        if (!(std::fabs(at) < 1e9f)) at = at > 0 ? 1e9f : at < 0 ? -1e9f : 0.0f;
        if (linear) {
            at -= 0.5f;
            first[side] = whole_part(at);
            const float behind = at - static_cast<float>(first[side]);
            share[side] = static_cast<float>(static_cast<int>(behind * 256.0f + 0.5f)) /
                          256.0f;  // the hardware keeps 8 bits
        } else {
            first[side] = whole_part(at);
        }
    }
    Texel sum{};
    const int corners = linear ? 1 << dimensions : 1;
    for (int corner = 0; corner < corners; ++corner) {
        long long place[3] = {first[0], first[1], first[2]};
        float weight = 1;
        for (int side = 0; side < dimensions; ++side) {
            const bool second = corner >> side & 1;
            if (linear) weight *= second ? share[side] : 1 - share[side];
            place[side] =
                addressed(place[side] + second, static_cast<long long>(texture.sides[side]),
                          how.addressMode[side], normalised);
        }
        const Texel texel = element_at(texture, place, reader);
        if (!linear) return texel;
        for (int part = 0; part < 4 && weight != 0; ++part)
            sum.real[part] += weight * texel.real[part];
    }
    return sum;
}

// Of linear memory; what lies outside is 0.
Texel fetch(cudaTextureObject_t object, int index) {
    const Reader reader{__builtin_return_address(0), __builtin_frame_address(0)};
    const TextureObject& texture = living(object, "texture");
    const long long place[3] = {index, 0, 0};
    if (index >= 0 && static_cast<size_t>(index) < texture.sides[0])
        return element_at(texture, place, reader);
    const long long none[3] = {-1, -1, -1};
    Texel texel = element_at(texture, none, reader);
    for (int part = 0; part < 4; ++part) texel.real[part] = 0, texel.whole[part] = 0;
    return texel;
}

void* surface_place(cudaSurfaceObject_t object, int x, int y, int z, int bytes,
                    cudaSurfaceBoundaryMode mode) {
    const TextureObject& surface = living(object, "surface");
    const long long row = static_cast<long long>(surface.row_bytes),
                    rows = static_cast<long long>(surface.sides[1]),
                    slices = static_cast<long long>(surface.sides[2]);
    const bool inside = x >= 0 && x + bytes <= row && y >= 0 && y < rows && z >= 0 && z < slices;
    if (!inside && mode == cudaBoundaryModeZero) return nullptr;
    if (!inside && mode == cudaBoundaryModeTrap) {
        stop(learners_place() + this_thread() +
                 format("touches byte %d of row %d, slice %d of a surface of %lld bytes x %lld "
                        "rows x %lld slices: x counts bytes; compare "
                        "the coordinates with the sides before the access.",
                        x, y, z, row, rows, slices),
             "bounds");
    }
    const long long at_x = std::min(std::max<long long>(x, 0), row - bytes),
                    at_y = std::min(std::max<long long>(y, 0), rows - 1),
                    at_z = std::min(std::max<long long>(z, 0), slices - 1);
    return const_cast<char*>(surface.data) + (at_z * rows + at_y) * row + at_x;
}

namespace {
cudaError_t make_object(unsigned long long* object, const cudaResourceDesc& resource,
                        const cudaTextureDesc& description) {
    auto made = std::make_unique<TextureObject>(
        TextureObject{resource, description, {}, nullptr, {1, 1, 1}, 0, 0, true});
    const auto format_of = [&](const cudaChannelFormatDesc& format) {
        made->format = format;
        made->element_bytes = static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
    };
    if (resource.resType == cudaResourceTypeArray && resource.res.array.array != nullptr) {
        const cudaArray& array = *resource.res.array.array;
        format_of(array.format);
        made->data = array.data;
        made->sides[0] = array.extent.width, made->sides[1] = array.rows(),
        made->sides[2] = array.slices();
        made->row_bytes = array.row_bytes();
    } else if (resource.resType == cudaResourceTypeLinear &&
               resource.res.linear.devPtr != nullptr) {
        format_of(resource.res.linear.desc);
        made->data = static_cast<const char*>(resource.res.linear.devPtr);
        const Allocation* const allocation = Memory::instance().find(made->data);
        if (allocation == nullptr)
            return failed(cudaErrorInvalidValue, "a texture of linear memory needs device memory");
        const size_t left = static_cast<size_t>(allocation->start + allocation->bytes - made->data);
        made->sides[0] = std::min(resource.res.linear.sizeInBytes, left) /
                         std::max<size_t>(made->element_bytes, 1);
        made->row_bytes = made->sides[0] * made->element_bytes;
    } else if (resource.resType == cudaResourceTypePitch2D &&
               resource.res.pitch2D.devPtr != nullptr) {
        format_of(resource.res.pitch2D.desc);
        made->data = static_cast<const char*>(resource.res.pitch2D.devPtr);
        made->sides[0] = resource.res.pitch2D.width, made->sides[1] = resource.res.pitch2D.height;
        made->row_bytes = resource.res.pitch2D.pitchInBytes;
    } else {
        return failed(cudaErrorInvalidValue, resource.resType == cudaResourceTypeMipmappedArray
                                                 ? "mipmapped arrays are not in CPU mode"
                                                 : "the resource has no memory");
    }
    if (made->element_bytes == 0)
        return failed(cudaErrorInvalidValue, "the channel format has no bits");
    const bool gives_numbers = made->format.f == cudaChannelFormatKindFloat ||
                               description.readMode == cudaReadModeNormalizedFloat;
    if (description.filterMode == cudaFilterModeLinear && !gives_numbers)
        return failed(
            cudaErrorInvalidValue,
            "linear filtering needs elements of type float, or cudaReadModeNormalizedFloat");
    *object = reinterpret_cast<unsigned long long>(made.release());
    return cudaSuccess;
}
cudaError_t destroy_object(unsigned long long object) {
    if (object == 0) return cudaSuccess;
    auto* const texture = reinterpret_cast<TextureObject*>(object);
    if (!texture->living) return failed(cudaErrorInvalidValue, "it was destroyed before");
    Queue::instance().wait_for_all();
    texture->living = false;
    return cudaSuccess;
}
}  // namespace

cudaError_t bind(textureReference& reference, const cudaResourceDesc& resource) {
    const Call call;
    if (!call) return call.state;
    Queue::instance().run_until(
        Queue::instance().last_number());  // which read what was bound before
    cudaTextureDesc description{};
    for (int side = 0; side < 3; ++side)
        description.addressMode[side] = reference.addressMode[side];
    description.filterMode = reference.filterMode;
    description.readMode = reference.read_mode;
    description.normalizedCoords = reference.normalized;
    return make_object(&reference.object, resource, description);
}

}  // namespace cuda_cpu

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* description,
                                    const cudaResourceViewDesc*) {
    if (const Call call; !call) return call.state;
    return make_object(texture, *resource, *description);
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
    if (const Call call; !call) return call.state;
    return destroy_object(texture);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture) {
    *resource = reinterpret_cast<const TextureObject*>(texture)->resource;
    return cudaSuccess;
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface,
                                    const cudaResourceDesc* resource) {
    if (const Call call; !call) return call.state;
    return make_object(surface, *resource, {});
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface) {
    if (const Call call; !call) return call.state;
    return destroy_object(surface);
}
