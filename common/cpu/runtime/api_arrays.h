// The API of CUDA arrays and of memory of three dimensions.
#pragma once

#include "api_call.h"
#include "api_copies.h"
#include "api_memory.h"

namespace cuda_cpu {

namespace {

// Where a copy begins, and how far apart its rows and slices are.
struct Block {
    char* start;
    size_t row_pitch, slice_pitch;
};
Block block_of(cudaArray_const_t array, size_t x, size_t y, size_t z) {
    const size_t row = array->row_bytes();
    return {array->data + (z * array->rows() + y) * row + x, row, row * array->rows()};
}
Block block_of(const cudaPitchedPtr& memory, const cudaPos& at) {
    const size_t slice = memory.pitch * memory.ysize;
    return {static_cast<char*>(memory.ptr) + at.z * slice + at.y * memory.pitch + at.x,
            memory.pitch, slice};
}
// Why these bytes along x, rows and slices do not fit into an array; empty if they do.
std::string outside(cudaArray_const_t array, size_t x, size_t y, size_t z,
                    const cudaExtent& extent) {
    if (x + extent.width <= array->row_bytes() && y + extent.height <= array->rows() &&
        z + extent.depth <= array->slices())
        return "";
    return format(
        "copy: %zu x %zu x %zu (bytes, rows, slices) from (%zu, %zu, %zu) on go past the end of an "
        "array of %zu x %zu x %zu",
        extent.width, extent.height, extent.depth, x, y, z, array->row_bytes(), array->rows(),
        array->slices());
}
cudaError_t copy_block(const Block& target, const Block& source, const cudaExtent& extent,
                       cudaMemcpyKind kind, cudaStream_t stream, bool blocking,
                       const char* function = __builtin_FUNCTION()) {
    for (size_t slice = 0; slice < extent.depth; ++slice) {
        const cudaError_t error = copy({target.start + slice * target.slice_pitch, target.row_pitch,
                                        source.start + slice * source.slice_pitch, source.row_pitch,
                                        extent.width, extent.height},
                                       kind, stream, blocking, function);
        if (error != cudaSuccess) return error;
    }
    return device_state();
}

cudaError_t copy_3d(const cudaMemcpy3DParms& p, cudaStream_t stream, bool blocking,
                    const char* function) {
    if ((p.srcArray == nullptr) == (p.srcPtr.ptr == nullptr) ||
        (p.dstArray == nullptr) == (p.dstPtr.ptr == nullptr))
        return failed(cudaErrorInvalidValue,
                      "copy: each side is an array or a pitched pointer, one of them");
    // With an array, x counts elements on both sides.
    const size_t unit = p.srcArray != nullptr   ? p.srcArray->element_bytes
                        : p.dstArray != nullptr ? p.dstArray->element_bytes
                                                : 1;
    const cudaExtent extent{p.extent.width * unit, p.extent.height, p.extent.depth};
    const auto at = [&](const cudaPos& pos) { return cudaPos{pos.x * unit, pos.y, pos.z}; };
    for (const auto& [array, pos] :
         {std::pair(p.srcArray, p.srcPos), std::pair(p.dstArray, p.dstPos)}) {
        const std::string wrong =
            array != nullptr ? outside(array, pos.x * unit, pos.y, pos.z, extent) : "";
        if (!wrong.empty()) return refused("bounds", wrong);
    }
    const Block source = p.srcArray != nullptr
                             ? block_of(p.srcArray, p.srcPos.x * unit, p.srcPos.y, p.srcPos.z)
                             : block_of(p.srcPtr, at(p.srcPos));
    const Block target = p.dstArray != nullptr
                             ? block_of(p.dstArray, p.dstPos.x * unit, p.dstPos.y, p.dstPos.z)
                             : block_of(p.dstPtr, at(p.dstPos));
    return copy_block(target, source, extent, p.kind, stream, blocking, function);
}

}  // namespace
}  // namespace cuda_cpu

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* f, cudaExtent extent,
                              unsigned int flags) {
    const Call call;
    if (!call) return call.state;
    if (array == nullptr || f == nullptr || extent.width == 0) return failed(cudaErrorInvalidValue);
    const size_t element = static_cast<size_t>(f->x + f->y + f->z + f->w) / 8;
    auto made = std::make_unique<cudaArray>(cudaArray{*f, extent, flags, nullptr, element});
    void* memory = nullptr;
    const cudaError_t error =
        allocate(&memory, made->row_bytes() * made->rows() * made->slices(), MemoryKind::device);
    if (error != cudaSuccess) return error;
    made->data = static_cast<char*>(memory);
    *array = made.release();
    return cudaSuccess;
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format, size_t width,
                            size_t height, unsigned int flags) {
    return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}
cudaError_t cudaFreeArray(cudaArray_t array) {
    if (array == nullptr) return cudaSuccess;
    const cudaError_t error = cudaFree(array->data);
    if (error == cudaSuccess) delete array;
    return error;
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned int* flags,
                             cudaArray_t array) {
    if (format != nullptr) *format = array->format;
    if (extent != nullptr) *extent = array->extent;
    if (flags != nullptr) *flags = array->flags;
    return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array) {
    *format = array->format;
    return cudaSuccess;
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
    *memory = {nullptr, 0, extent.width, extent.height};
    return cudaMallocPitch(&memory->ptr, &memory->pitch, extent.width,
                           extent.height * extent.depth);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent,
                              cudaStream_t stream) {
    for (size_t slice = 0; slice < extent.depth; ++slice) {
        char* const start = static_cast<char*>(memory.ptr) + slice * memory.pitch * memory.ysize;
        const cudaError_t error =
            fill(start, memory.pitch, value, extent.width, extent.height, stream, false);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
    return cudaMemset3DAsync(memory, value, extent, nullptr);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
    return copy_3d(*parameters, nullptr, true, __func__);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
    return copy_3d(*parameters, stream, false, __func__);
}

namespace {
cudaError_t copy_2d_to_array(cudaArray_t target, size_t x, size_t y, const void* source,
                             size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                             cudaStream_t stream, bool blocking) {
    const std::string wrong = outside(target, x, y, 0, {width, height, 1});
    if (!wrong.empty()) return refused("bounds", wrong);
    const Block from{static_cast<char*>(const_cast<void*>(source)), pitch, 0};
    return copy_block(block_of(target, x, y, 0), from, {width, height, 1}, kind, stream, blocking);
}
cudaError_t copy_2d_from_array(void* target, size_t pitch, cudaArray_const_t source, size_t x,
                               size_t y, size_t width, size_t height, cudaMemcpyKind kind,
                               cudaStream_t stream, bool blocking) {
    const std::string wrong = outside(source, x, y, 0, {width, height, 1});
    if (!wrong.empty()) return refused("bounds", wrong);
    return copy_block({static_cast<char*>(target), pitch, 0}, block_of(source, x, y, 0),
                      {width, height, 1}, kind, stream, blocking);
}
}  // namespace

cudaError_t cudaMemcpy2DToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                                size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
    return copy_2d_to_array(target, x, y, source, pitch, width, height, kind, nullptr, true);
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t target, size_t x, size_t y, const void* source,
                                     size_t pitch, size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream) {
    return copy_2d_to_array(target, x, y, source, pitch, width, height, kind, stream, false);
}
cudaError_t cudaMemcpy2DFromArray(void* target, size_t pitch, cudaArray_const_t source, size_t x,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
    return copy_2d_from_array(target, pitch, source, x, y, width, height, kind, nullptr, true);
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* target, size_t pitch, cudaArray_const_t source,
                                       size_t x, size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_2d_from_array(target, pitch, source, x, y, width, height, kind, stream, false);
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t target, size_t target_x, size_t target_y,
                                     cudaArray_const_t source, size_t source_x, size_t source_y,
                                     size_t width, size_t height, cudaMemcpyKind kind) {
    const std::string wrong = outside(source, source_x, source_y, 0, {width, height, 1});
    if (!wrong.empty()) return refused("bounds", wrong);
    const Block from = block_of(source, source_x, source_y, 0);
    return copy_2d_to_array(target, target_x, target_y, from.start, from.row_pitch, width, height,
                            kind, nullptr, true);
}
// The rows of an array lie without gaps, so this is one copy.
cudaError_t cudaMemcpyToArray(cudaArray_t target, size_t x, size_t y, const void* source,
                              size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy(block_of(target, x, y, 0).start, source, bytes, kind);
}
cudaError_t cudaMemcpyFromArray(void* target, cudaArray_const_t source, size_t x, size_t y,
                                size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy(target, block_of(source, x, y, 0).start, bytes, kind);
}
