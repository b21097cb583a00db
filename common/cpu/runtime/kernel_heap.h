// What kernels have allocated with malloc, new and cudaMalloc: it lies among the host's memory, and is a kernel's own.
// Its accesses are not looked at.
#pragma once

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "../include/cuda_runtime.h"

namespace cuda_cpu {

class KernelHeap {
 public:
    static KernelHeap& instance() {
        alignas(KernelHeap) static char place[sizeof(KernelHeap)];  // `new` asks it
        static KernelHeap& heap = *new (place) KernelHeap;
        return heap;
    }
    void* allocate(size_t bytes) {
        void* const memory = std::malloc(bytes);
        if (memory == nullptr || !in_kernel() || busy_) return memory;
        const std::lock_guard<Busy> busy(busy_of_all_);
        pieces_[static_cast<const char*>(memory)] = bytes;
        count_ = pieces_.size();
        return memory;
    }
    void release(void* memory) {
        if (count_ != 0 && !busy_) {
            const std::lock_guard<Busy> busy(busy_of_all_);
            pieces_.erase(static_cast<const char*>(memory));
            count_ = pieces_.size();
        }
        std::free(memory);
    }
    bool holds(const char* address) {
        const std::lock_guard<Busy> busy(busy_of_all_);
        const auto next = pieces_.upper_bound(address);
        if (next == pieces_.begin()) return false;
        const auto& [start, bytes] = *std::prev(next);
        return address < start + bytes;
    }

 private:
    // The table's own memory is none of a kernel's.
    static inline thread_local bool busy_ = false;
    struct Busy {
        std::mutex mutex;
        void lock() { mutex.lock(), busy_ = true; }
        void unlock() { busy_ = false, mutex.unlock(); }
    } busy_of_all_;
    std::map<const char*, size_t> pieces_;
    std::atomic<size_t> count_{0};
};

}  // namespace cuda_cpu

// As the program calls them (cuda_cpu/device.h).
extern "C" {
void* cuda_cpu_malloc(size_t bytes) { return cuda_cpu::KernelHeap::instance().allocate(bytes); }
void cuda_cpu_free(void* memory) { cuda_cpu::KernelHeap::instance().release(memory); }
}
void* operator new(size_t bytes) {
    if (void* const memory = cuda_cpu_malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { cuda_cpu_free(memory); }
void operator delete(void* memory, size_t) noexcept { cuda_cpu_free(memory); }
