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

cudaError_t cudaSetDeviceFlags(unsigned int) {
    const Call call;
    return call.state;
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

// All pretend devices share their memory.
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
    return is_device(peer) && peer != current_device ? cudaSuccess : failed(cudaErrorInvalidDevice);
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
    Queue::instance().wait_for_all();
    return device_state();
}

cudaError_t cudaDeviceReset() {
    const Call call;
    if (!call && lost_device == cudaSuccess) return call.state;
    Queue::instance().wait_for_all();
    Queue::instance().forget_all();
    Memory::instance().release_all();
    lost_device = cudaSuccess;
    last_error() = cudaSuccess;
    return cudaSuccess;
}

namespace {
// Stack and printf buffer, in bytes; heap; depth; pending launches: CUDA's defaults.
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048};
}  // namespace

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (const Call call; !call) return call.state;
    if (limit < 0 || limit > cudaLimitDevRuntimePendingLaunchCount)
        return failed(cudaErrorInvalidValue);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
    if (const Call call; !call) return call.state;
    if (limit < 0 || limit > cudaLimitDevRuntimePendingLaunchCount)
        return failed(cudaErrorInvalidValue);
    *value = limits[limit];
    return cudaSuccess;
}
