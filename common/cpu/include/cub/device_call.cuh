// CUB's algorithms for the device: a call in its stream. A first call without memory to work in asks how much that is; none is
// needed here, but programs count on a size that is not 0.
#pragma once

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "../cuda_cpu/libraries/library.h"
#include "operators.cuh"

#define CUDA_CPU_WORK void *work, size_t &bytes
#define CUDA_CPU_ASK \
    if (detail::asks_for_size(work, bytes)) return cudaSuccess

namespace cub {

template <class T>
struct DoubleBuffer {
    T* d_buffers[2];
    int selector = 0;
    DoubleBuffer() : d_buffers{nullptr, nullptr} {}
    DoubleBuffer(T* current, T* other) : d_buffers{current, other} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

namespace detail {

template <class Iterator>
using ValueOf = std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<Iterator&>())>>;

// A call in its turn in a stream: what it reads and writes through plain pointers is looked at before.
class DeviceCall : public cuda_cpu::LibraryCall {
 public:
    using LibraryCall::LibraryCall;
    template <class Iterator>
    void reads(const char* name, Iterator first, long long count) {
        if constexpr (std::is_pointer_v<Iterator>)
            vector(name, first, count, 1, cuda_cpu::Use::read);
    }
    template <class Iterator>
    void writes(const char* name, Iterator first, long long count) {
        if constexpr (std::is_pointer_v<Iterator>)
            vector(name, first, count, 1, cuda_cpu::Use::written);
    }
    // Of an output whose length only the work tells.
    template <class Iterator>
    static void wrote(const char* name, Iterator first, long long count) {
        if constexpr (std::is_pointer_v<Iterator>) {
            if (count > 0)
                cuda_cpu::show_use(
                    {name, first, static_cast<size_t>(count) * sizeof(*first), 1, 0, true});
        }
    }
};
inline bool asks_for_size(void* work, size_t& bytes) {
    if (work == nullptr) bytes = 1;
    return work == nullptr;
}

// The places from 0 in the order that before(i, j) tells; equal ones stay in theirs.
template <class Before>
std::vector<long long> places_in_order(long long count, Before before) {
    std::vector<long long> places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), 0ll);
    std::stable_sort(places.begin(), places.end(), before);
    return places;
}
// Elements by their places, which may be stored where they were read.
template <class Input, class Output>
void store_in_order(const std::vector<long long>& places, Input in, Output out) {
    std::vector<ValueOf<Input>> moved;
    moved.reserve(places.size());
    for (const long long place : places) moved.push_back(in[place]);
    std::copy(moved.begin(), moved.end(), out);
}

}  // namespace detail

// Keeps nothing.
struct CachingDeviceAllocator {
    explicit CachingDeviceAllocator(bool = false) {}
    CachingDeviceAllocator(unsigned int, unsigned int = 1, unsigned int = ~0u, size_t = ~size_t{0},
                           bool = false, bool = false) {}
    cudaError_t DeviceAllocate(void** pointer, size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(pointer, bytes);
    }
    cudaError_t DeviceAllocate(int, void** pointer, size_t bytes, cudaStream_t = nullptr) {
        return cudaMalloc(pointer, bytes);
    }
    cudaError_t DeviceFree(void* pointer) { return cudaFree(pointer); }
    cudaError_t DeviceFree(int, void* pointer) { return cudaFree(pointer); }
    cudaError_t FreeAllCached() { return cudaSuccess; }
};

}  // namespace cub
