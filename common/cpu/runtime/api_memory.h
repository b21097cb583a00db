// The API of memory: allocated, given back, asked about.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "api_call.h"
#include "api_copies.h"
#include "leaks.h"
#include "memory.h"
#include "observer.h"

namespace {

// What the device has, and managed memory may be more than that; CUDA_CPU_MEMORY=BYTES leaves a program less.
size_t capacity(MemoryKind kind = MemoryKind::device) {
    static const size_t most = [] {
        const char* const wish = std::getenv("CUDA_CPU_MEMORY");
        return wish == nullptr ? ~size_t{0} : std::strtoull(wish, nullptr, 10);
    }();
    if (kind == MemoryKind::managed) return most;
    return std::min(most, devices()[static_cast<size_t>(current_device)]->memory_bytes);
}

#if defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)  // remember what is a kernel's
void* kernel_malloc(size_t bytes) { return KernelHeap::instance().allocate(bytes); }
void kernel_free(void* memory) {
    KernelHeap::instance().release(memory, __builtin_return_address(0));
}
#else
void* kernel_malloc(size_t bytes) { return std::malloc(bytes); }
void kernel_free(void* memory) { std::free(memory); }
#endif

cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind,
                     const char* function = __builtin_FUNCTION()) {
    if (in_kernel() &&
        kind == MemoryKind::device) {  // from the heap that malloc in a kernel uses, too
        *pointer = kernel_malloc(bytes);
        return *pointer != nullptr || bytes == 0 ? cudaSuccess : failed(cudaErrorMemoryAllocation);
    }
    const Call call(function);
    if (!call) return call.state;
    if (pointer == nullptr) return failed(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    *pointer = Memory::instance().allocate(bytes, kind, capacity(kind), current_device);
    if (*pointer != nullptr) {
        Leaks::instance().allocated(*pointer);
        if constexpr (is_observed) observer::allocated(*Memory::instance().find(*pointer));
        return cudaSuccess;
    }
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    if (findings_are_wanted()) write_finding(format("\"refused\": %zu, \"of\": %zu", bytes, total));
    const std::string what = kind == MemoryKind::managed ? format("the machine has %zu free",
                                                                  Memory::host_bytes_available())
                                                         : format("%zu of %zu free", free, total);
    return failed(cudaErrorMemoryAllocation,
                  format("%zu bytes asked for, %s", bytes, what.c_str()));
}

}  // namespace

namespace cuda_cpu {
void share_device_memory() { Memory::instance().keep_open(); }
}  // namespace cuda_cpu

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
    return allocate(pointer, bytes, MemoryKind::device);
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
    const Call call;
    if (!call) return call.state;
    *pitch = round_up(width, 512);
    size_t bytes;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return failed(cudaErrorMemoryAllocation);
    return allocate(pointer, bytes, MemoryKind::device);
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned int) {
    return allocate(pointer, bytes, MemoryKind::managed);
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes, unsigned int) {
    const Call call;
    if (!call) return call.state;
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    *pointer = bytes == 0 ? nullptr : std::aligned_alloc(page_bytes, round_up(bytes, page_bytes));
    if (*pointer == nullptr) return bytes == 0 ? cudaSuccess : failed(cudaErrorMemoryAllocation);
    Memory::instance().add(*pointer, bytes, MemoryKind::pinned);
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
    const Call call;  // by its own name
    return cudaMallocHost(pointer, bytes, flags);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int) {
    const Call call;
    if (!call) return call.state;
    const Allocation* const allocation = Memory::instance().find(host);
    if (allocation == nullptr || !is_pinned(*allocation)) return failed(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

// Waits for the work that may still use the memory, as on a GPU.
cudaError_t cudaFree(void* pointer) {
    if (in_kernel()) {
        if (pointer != nullptr && Memory::instance().find(pointer) != nullptr)
            return failed(cudaErrorInvalidValue,
                          "cudaFree in a kernel: the host has allocated this memory");
        kernel_free(pointer);
        return cudaSuccess;
    }
    const Call call;
    if (!call) return call.state;
    Queue::instance().wait_for_all();
    if (pointer == nullptr) return device_state();
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    if (!Memory::instance().release(pointer, MemoryKind::device, MemoryKind::managed)) {
        const Allocation* const allocation = Memory::instance().find(pointer);
        const bool again =
            allocation != nullptr && allocation->freed && allocation->start == pointer;
        return refused("double-free",
                       again ? "cudaFree: this memory was freed before"
                             : "cudaFree: the pointer is not one that cudaMalloc returned");
    }
    if constexpr (is_observed) observer::released(*Memory::instance().find(pointer));
    return device_state();
}

cudaError_t cudaFreeHost(void* pointer) {
    const Call call;
    if (!call) return call.state;
    Queue::instance().wait_for_all();
    if (pointer == nullptr) return cudaSuccess;
    if (!Memory::instance().release(pointer, MemoryKind::pinned, MemoryKind::pinned)) {
        return failed(cudaErrorInvalidValue, "cudaFreeHost: not memory of cudaMallocHost");
    }
    std::free(pointer);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned int) {
    const Call call;
    if (!call) return call.state;
    if (pointer == nullptr || bytes == 0) return failed(cudaErrorInvalidValue);
    if (Memory::instance().find(pointer) != nullptr) {
        return failed(cudaErrorHostMemoryAlreadyRegistered);
    }
    if (const cudaError_t error = refuse_in_capture(); error != cudaSuccess) return error;
    Memory::instance().add(pointer, bytes, MemoryKind::registered);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
    const Call call;
    if (!call) return call.state;
    Queue::instance().wait_for_all();
    if (Memory::instance().release(pointer, MemoryKind::registered, MemoryKind::registered)) {
        return cudaSuccess;
    }
    return failed(cudaErrorHostMemoryNotRegistered);
}

namespace {

// Whether pages of a range can be moved, or something said of them.
cudaError_t check_managed(const void* pointer, size_t bytes,
                          const char* function = __builtin_FUNCTION()) {
    const Call call(function);
    if (!call) return call.state;
    const Side side = look_at(pointer, bytes, "range");
    if (!side.wrong.empty()) return failed(cudaErrorInvalidValue, side.wrong);
    const Allocation* const allocation = Memory::instance().find(pointer);
    if (allocation != nullptr && allocation->kind == MemoryKind::managed) return cudaSuccess;
    return failed(cudaErrorInvalidValue, "only managed memory can be moved or advised");
}

bool is_place(int device) { return device == cudaCpuDeviceId || is_device(device); }

}  // namespace

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                 cudaStream_t stream) {
    const Call call;
    const cudaError_t error = check_managed(pointer, bytes);
    if (error != cudaSuccess) return error;
    if (const cudaError_t wrong = state_of(stream); wrong != cudaSuccess) return wrong;
    if (!is_place(device)) return failed(cudaErrorInvalidDevice);
    Queue::instance().add(stream, [=] {
        Paging::instance().prefetch(pointer, bytes,
                                    device == cudaCpuDeviceId ? Paging::host : Paging::device);
    });
    return cudaSuccess;
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
    const Call call;
    const cudaError_t error = check_managed(pointer, bytes);
    if (error != cudaSuccess) return error;
    const auto say = [=](Paging::Advice what, bool set) {
        Paging::instance().advise(pointer, bytes, what, set);
    };
    const bool of_all = advice == cudaMemAdviseSetReadMostly ||
                        advice == cudaMemAdviseUnsetReadMostly ||
                        advice == cudaMemAdviseUnsetPreferredLocation;
    if (!of_all && !is_place(device)) return failed(cudaErrorInvalidDevice);
    switch (advice) {
        case cudaMemAdviseSetReadMostly:
        case cudaMemAdviseUnsetReadMostly:
            say(Paging::read_mostly, advice == cudaMemAdviseSetReadMostly);
            break;
        case cudaMemAdviseSetPreferredLocation:
        case cudaMemAdviseUnsetPreferredLocation:
            say(Paging::prefers_host,
                advice == cudaMemAdviseSetPreferredLocation && device == cudaCpuDeviceId);
            break;
        case cudaMemAdviseSetAccessedBy:
        case cudaMemAdviseUnsetAccessedBy:  // the host cannot read a device's memory
            if (device != cudaCpuDeviceId)
                say(Paging::accessed_by_device, advice == cudaMemAdviseSetAccessedBy);
            break;
        default:
            return failed(cudaErrorInvalidValue, "no such advice");
    }
    return cudaSuccess;
}

cuda_cpu::PageTraffic cuda_cpu::page_traffic(const void* pointer) {
    return Paging::instance().traffic(pointer);
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    const Call call;
    if (!call) return call.state;
    // What the machine has is asked once: what other programs take and give back meanwhile is none of the device's.
    const size_t used = Memory::instance().used(current_device);
    static const size_t machine = Memory::host_bytes_available() + used;
    *total = capacity();
    *free = std::min(*total, machine) - std::min({*total, machine, used});
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    if (const Call call; !call) return call.state;
    *attributes = {cudaMemoryTypeUnregistered, -1, nullptr, const_cast<void*>(pointer)};
    const Allocation* const allocation = Memory::instance().find(pointer);
    if (allocation == nullptr || allocation->freed) return cudaSuccess;
    void* const address = const_cast<void*>(pointer);
    const bool managed = allocation->kind == MemoryKind::managed;
    const bool pinned = is_pinned(*allocation);
    attributes->type = managed  ? cudaMemoryTypeManaged
                       : pinned ? cudaMemoryTypeHost
                                : cudaMemoryTypeDevice;
    attributes->device =
        allocation->kind == MemoryKind::device ? allocation->device : current_device;
    attributes->devicePointer = address;
    attributes->hostPointer = managed || pinned ? address : nullptr;
    return cudaSuccess;
}
