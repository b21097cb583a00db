// The API of copies, between any two sides, and of memory that is set.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "api_call.h"
#include "memory.h"
#include "observer.h"
#include "record.h"

namespace cuda_cpu {

namespace {

struct Side {
    bool on_host = true, on_device = false;  // managed and pinned memory is on both
    bool pinned = true;                      // no copy to it has to be waited for
    std::string wrong;                       // why it cannot be used
    const char* kind = "other";              // what kind of mistake that is
};

Side look_at(const void* pointer, size_t bytes, const char* which) {
    Side side;
    if (pointer == nullptr) {
        side.wrong = format("the %s is a null pointer", which);
        return side;
    }
    const Allocation* const allocation = Memory::instance().find(pointer);
    if (allocation == nullptr) {
        side.pinned = false;
        return side;
    }
    side.on_device = true;
    side.on_host = allocation->kind != MemoryKind::device && allocation->kind != MemoryKind::symbol;
    const char* const start = static_cast<const char*>(pointer);
    const char* const end = allocation->start + allocation->bytes;
    if (allocation->freed) {
        side.wrong = format("the %s was given to cudaFree", which);
        side.kind = "freed";
    } else if (start > end || bytes > static_cast<size_t>(end - start)) {
        side.wrong = format("%zu bytes at the %s go past the end of its allocation of %zu bytes",
                            bytes, which, allocation->bytes);
        side.kind = "bounds";
    }
    return side;
}

// Where the direction says device, there must be device memory. Where it says host, a card takes device memory, too, and finds
// out itself: only make sanitize says so then.
std::string wrong_direction(const Side& target, const Side& source, cudaMemcpyKind kind) {
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) return "";
    if (to_device && !target.on_device)
        return "the direction says device, but the target is host memory";
    if (from_device && !source.on_device)
        return "the direction says device, but the source is host memory";
    const bool wrong_target = !to_device && !target.on_host;
    if (findings_are_wanted() && (wrong_target || (!from_device && !source.on_host)))
        note("copy-direction", learners_place() + "copy: the direction says host, but the " +
                                   (wrong_target ? "target" : "source") + " is device memory.");
    return "";
}

Way way_of(const Side& target, const Side& source, cudaMemcpyKind kind) {
    if (kind == cudaMemcpyHostToDevice) return Way::to_device;
    if (kind == cudaMemcpyDeviceToHost) return Way::to_host;
    if (kind == cudaMemcpyDeviceToDevice) return Way::on_device;
    if (!target.on_device || (target.on_host && !source.on_host)) return Way::to_host;
    return source.on_device ? Way::on_device : Way::to_device;
}

struct Rectangle {
    char* target;
    size_t target_pitch;
    const char* source;
    size_t source_pitch, width, height;
};

// That a copy brings to the host what nobody has written, or what was computed from it, is said once. The line that reads
// such memory is known to `make sanitize`.
void tell_unwritten(const Rectangle& r) {
    static bool wanted = notes_are_wanted();
    if (!wanted) return;
    size_t words = 0;
    for (size_t row = 0; row < r.height; ++row) {
        const char* const begin = r.target + row * r.target_pitch;
        for (const char* at = begin; at + 4 <= begin + r.width; at += 4) {
            uint32_t word;
            std::memcpy(&word, at, 4);
            words += word == never_written_device || word == never_written_shared;
        }
    }
    if (words == 0) return;
    wanted = false;
    std::fflush(stdout);
    std::fprintf(
        stderr,
        "%swhat is copied to the host here is, in %zu of %zu words, memory that nobody has "
        "written, or NaN computed from it: cudaMalloc and __shared__ leave anything in "
        "memory, on a card often 0. make sanitize names the line that reads it.\n",
        learners_place().c_str(), words, r.width / 4 * r.height);
}

cudaError_t copy(const Rectangle& r, cudaMemcpyKind kind, cudaStream_t stream, bool blocking,
                 const char* function = __builtin_FUNCTION()) {
    const Call call(function);
    if (!call) return call.state;
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
        return failed(cudaErrorInvalidMemcpyDirection);
    }
    if (r.width == 0 || r.height == 0) return cudaSuccess;
    if (r.height > 1 && (r.width > r.target_pitch || r.width > r.source_pitch)) {
        return failed(cudaErrorInvalidPitchValue);
    }
    const Side target = look_at(r.target, r.target_pitch * (r.height - 1) + r.width, "target");
    const Side source = look_at(r.source, r.source_pitch * (r.height - 1) + r.width, "source");
    for (const Side* side : {&target, &source}) {
        if (!side->wrong.empty()) return refused(side->kind, "copy: " + side->wrong);
    }
    const std::string wrong = wrong_direction(target, source, kind);
    if (!wrong.empty()) return refused("copy-direction", "copy: " + wrong);

    const uint64_t number = Queue::instance().add(
        stream,
        [r] {
            Memory::instance().set_open(all_devices);
            Paging::instance().serve(Paging::copies);
            for (size_t row = 0; row < r.height; ++row) {
                char* const to = r.target + row * r.target_pitch;
                const char* const from = r.source + row * r.source_pitch;
                observer::copied(to, from, r.width);
                std::memmove(to, from, r.width);
                Paging::instance().filled(to, r.width);
            }
        },
        1);
    const bool through_host = target.on_host || source.on_host;
    if (Record::instance().wanted() && kind != cudaMemcpyHostToHost) {
        Record::instance().copied(way_of(target, source, kind), r.width * r.height, stream);
    }
    if (number != 0 && through_host && (blocking || !target.pinned || !source.pinned)) {
        Queue::instance().wait_for(number);
        if (!source.on_host) tell_unwritten(r);
    }
    return device_state();
}

cudaError_t fill(void* target, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t stream, bool blocking, const char* function = __builtin_FUNCTION()) {
    const Call call(function);
    if (!call) return call.state;
    if (const cudaError_t error = state_of(stream); error != cudaSuccess) return error;
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return failed(cudaErrorInvalidPitchValue);
    const Side side = look_at(target, pitch * (height - 1) + width, "target");
    if (!side.wrong.empty()) return refused(side.kind, "set: " + side.wrong);
    if (!side.on_device) return refused("host-pointer", "set: the target is host memory");
    const uint64_t number = Queue::instance().add(
        stream,
        [=] {
            Memory::instance().set_open(all_devices);
            Paging::instance().serve(Paging::copies);
            for (size_t row = 0; row < height; ++row) {
                observer::filled(static_cast<char*>(target) + row * pitch, width);
                std::memset(static_cast<char*>(target) + row * pitch, value, width);
                Paging::instance().filled(static_cast<char*>(target) + row * pitch, width);
            }
        },
        2);
    if (number != 0 && blocking && side.on_host) Queue::instance().wait_for(number);
    return device_state();
}

}  // namespace

// From now on `symbol` is device memory. Only a variable at namespace scope can be one.
cudaError_t register_symbol(const void* symbol, size_t size) {
    if (const Call call; !call) return call.state;
    const char* const address = static_cast<const char*>(symbol);
    if (!in_program(address)) {
        return failed(cudaErrorInvalidSymbol,
                      "give the __device__ or __constant__ variable itself, not a pointer");
    }
    if (Memory::instance().find(symbol) == nullptr) {
        Memory::instance().add(symbol, size, MemoryKind::symbol);
    }
    return cudaSuccess;
}

cudaError_t place_in_symbol(const void* symbol, size_t size, size_t bytes, size_t offset) {
    const cudaError_t error = register_symbol(symbol, size);
    if (error != cudaSuccess || (offset <= size && bytes <= size - offset)) return error;
    return refused("bounds",
                   format("copy: %zu bytes at offset %zu go past the end of a symbol of %zu bytes",
                          bytes, offset, size));
}

}  // namespace cuda_cpu

cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
    return copy(
        {static_cast<char*>(target), bytes, static_cast<const char*>(source), bytes, bytes, 1},
        kind, nullptr, true);
}

cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy(
        {static_cast<char*>(target), bytes, static_cast<const char*>(source), bytes, bytes, 1},
        kind, stream, false);
}

namespace {
// Device memory must be that of the device which is named.
cudaError_t copy_between(void* target, int target_device, const void* source, int source_device,
                         size_t bytes, cudaStream_t stream, bool blocking, const char* function) {
    if (const Call call(function); !call) return call.state;
    if (!is_device(target_device) || !is_device(source_device))
        return failed(cudaErrorInvalidDevice);
    const std::pair<const void*, int> sides[] = {{target, target_device}, {source, source_device}};
    for (const auto& [pointer, device] : sides) {
        const Allocation* const found = Memory::instance().find(pointer);
        if (found != nullptr && found->kind == MemoryKind::device && found->device != device)
            return refused("other",
                           format("copy: the %s is memory of device %d, not of device %d",
                                  pointer == target ? "target" : "source", found->device, device));
    }
    return copy(
        {static_cast<char*>(target), bytes, static_cast<const char*>(source), bytes, bytes, 1},
        cudaMemcpyDeviceToDevice, stream, blocking, function);
}
}  // namespace

cudaError_t cudaMemcpyPeer(void* target, int target_device, const void* source, int source_device,
                           size_t bytes) {
    return copy_between(target, target_device, source, source_device, bytes, nullptr, true,
                        "cudaMemcpyPeer");
}

cudaError_t cudaMemcpyPeerAsync(void* target, int target_device, const void* source,
                                int source_device, size_t bytes, cudaStream_t stream) {
    return copy_between(target, target_device, source, source_device, bytes, stream, false,
                        "cudaMemcpyPeerAsync");
}

cudaError_t cudaMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    return copy({static_cast<char*>(target), target_pitch, static_cast<const char*>(source),
                 source_pitch, width, height},
                kind, nullptr, true);
}

cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                              size_t source_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    return copy({static_cast<char*>(target), target_pitch, static_cast<const char*>(source),
                 source_pitch, width, height},
                kind, stream, false);
}

cudaError_t cudaMemset(void* target, int value, size_t bytes) {
    return fill(target, bytes, value, bytes, 1, nullptr, true);
}

cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
    return fill(target, bytes, value, bytes, 1, stream, false);
}

cudaError_t cudaMemset2D(void* target, size_t pitch, int value, size_t width, size_t height) {
    return fill(target, pitch, value, width, height, nullptr, true);
}

cudaError_t cudaMemset2DAsync(void* target, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return fill(target, pitch, value, width, height, stream, false);
}
