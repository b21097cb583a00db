// The API of devices: how many there are, what they are like, their limits, waiting for them.
#pragma once

#include "api_call.h"
#include "devices.h"
#include "memory.h"
#include "queue.h"

cudaError_t cudaGetDeviceCount(int* count) {
    *count = static_cast<int>(devices().size());
    return device_state();
}

cudaError_t cudaGetDevice(int* device) {
    *device = current_device;
    return device_state();
}

cudaError_t cudaSetDevice(int device) {
    if (const Call call; !call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    if (const Call call; !call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    *properties = properties_of(*devices()[static_cast<size_t>(device)]);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    if (const Call call; !call) return call.state;
    if (!is_device(device)) return failed(cudaErrorInvalidDevice);
    const cudaError_t error =
        attribute_of(*devices()[static_cast<size_t>(device)], attribute, value);
    return error == cudaSuccess ? error : failed(error);
}

// The first device with the wanted compute capability or more; else device 0.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
    if (const Call call; !call) return call.state;
    *device = 0;
    for (size_t i = 0; i < devices().size(); ++i) {
        const int major = devices()[i]->major, minor = devices()[i]->minor;
        if (major * 10 + minor < wanted->major * 10 + wanted->minor) continue;
        *device = static_cast<int>(i);
        break;
    }
    return cudaSuccess;
}

namespace {
unsigned int device_flags = 0;
}  // namespace

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    const Call call;
    device_flags = flags;
    return call.state;
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
    const Call call;
    *flags = device_flags;
    return call.state;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
    if (const Call call; !call) return call.state;
    if (!is_device(device) || length < 13) return failed(cudaErrorInvalidValue);
    std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", device);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
    const Call call;
    return call.state;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
    const Call call;
    return call.state;
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
    const Call call;
    *config = cudaSharedMemBankSizeFourByte;
    return call.state;
}

// All pretend devices can use each other's memory, once they are asked to.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
    const Call call;
    if (!call) return call.state;
    if (!is_device(device) || !is_device(peer)) return failed(cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int) {
    const Call call;
    if (!call) return call.state;
    if (!is_device(peer)) return failed(cudaErrorInvalidDevice);
    if (peer == current_device) return failed(cudaErrorPeerAccessUnsupported);
    const bool is_new = peers().emplace(current_device, peer).second;
    return is_new ? cudaSuccess : failed(cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    const Call call;
    if (!call) return call.state;
    const bool was_there = peers().erase({current_device, peer}) != 0;
    return was_there ? cudaSuccess : failed(cudaErrorPeerAccessNotEnabled);
}

cudaError_t cudaDriverGetVersion(int* version) {
    *version = 0;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
    const Call call;
    if (!call) return call.state;
    if (Queue::instance().break_captures())
        return failed(cudaErrorStreamCaptureUnsupported, "a stream is captured");
    Queue::instance().wait_for_device(current_device);
    return device_state();
}

cudaError_t cudaDeviceReset() {
    const Call call;
    if (!call && lost_device == cudaSuccess) return call.state;
    Queue::instance().wait_for_all();
    Queue::instance().forget_all();
    Memory::instance().release_all();
    peers().clear();
    peers_of_pools().clear();
    lost_device = cudaSuccess;
    last_error() = cudaSuccess;
    return cudaSuccess;
}

namespace {
// Stack and printf buffer, in bytes; heap; depth; pending launches: CUDA's defaults.
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
}  // namespace

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (const Call call; !call) return call.state;
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return failed(cudaErrorInvalidValue);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    if (const Call call; !call) return call.state;
    if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return failed(cudaErrorInvalidValue);
    *value = limits[limit];
    return cudaSuccess;
}
