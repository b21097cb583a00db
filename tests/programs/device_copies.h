// What the programs about libraries share: vectors to device memory and back.
#pragma once

#include <vector>

#include "runtime_expect.h"

// Device memory that holds what the vector holds.
template <class T>
T* on_device(const std::vector<T>& host) {
    T* device = nullptr;
    SUCCEEDS(cudaMalloc(&device, host.size() * sizeof(T)));
    SUCCEEDS(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

// The first `count` values of device memory.
template <class T>
std::vector<T> back(const T* device, size_t count) {
    std::vector<T> host(count);
    SUCCEEDS(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}
