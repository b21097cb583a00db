// What kernels have allocated with malloc, new and cudaMalloc: it lies among the host's memory, and is a kernel's own.
#pragma once

#include <atomic>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

#include "../include/cuda_runtime.h"
#include "observer.h"

namespace cuda_cpu {

// While one lives, the runtime works for itself, be it with the program's copy of the standard library, which is watched.
struct Ours {
    static inline thread_local bool here = false;
    Ours() { here = true; }
    Ours(const Ours&) = delete;
    Ours& operator=(const Ours&) = delete;
    ~Ours() { here = before; }
    const bool before = here;
};

class KernelHeap {
 public:
    static KernelHeap& instance() {
        alignas(KernelHeap) static char place[sizeof(KernelHeap)];  // `new` asks it
        static KernelHeap& heap = *new (place) KernelHeap;
        return heap;
    }
    void* allocate(size_t bytes, bool watched = true) {
        void* const memory = std::malloc(bytes);
        if (memory == nullptr || bytes == 0 || !in_kernel() || busy_ || Ours::here) return memory;
        const std::lock_guard<Busy> busy(busy_of_all_);
        const char* const start = static_cast<const char*>(memory);
        // What was here before is gone for good.
        auto next = pieces_.lower_bound(start);
        if (next != pieces_.begin() && std::prev(next)->second.end > start) --next;
        while (next != pieces_.end() && next->first < start + bytes) next = pieces_.erase(next);
        pieces_[start] = {start, start + bytes, watched};
        is_used_ = true;
        if (watched) observer::allocated_by_kernel(memory, bytes);
        return memory;
    }
    void release(void* memory, const void* place) {
        const char* const address = static_cast<const char*>(memory);
        if (const Piece piece = piece_at(address); piece.living && piece.start == address) {
            observer::freed_by_kernel(memory, static_cast<size_t>(piece.end - address), place);
            const std::lock_guard<Busy> busy(busy_of_all_);
            pieces_[address].living = false;
        }
        std::free(memory);
    }
    struct Piece {
        const char *start = nullptr, *end = nullptr;
        bool living = false;  // and looked at
    };
    bool holds(const char* address) { return piece_at(address).living; }
    // Also what lies close behind a piece: that is told by its bounds.
    bool is_near(const char* address) {
        return piece_at(address).start != nullptr || piece_at(address - 64).start != nullptr;
    }
    // The piece that an address belongs to, or has belonged to; without a start if there is none.
    Piece piece_at(const char* address) {
        if (!is_used_ || busy_) return {};
        const std::lock_guard<Busy> busy(busy_of_all_);
        const auto next = pieces_.upper_bound(address);
        if (next == pieces_.begin()) return {};
        const Piece& piece = std::prev(next)->second;
        return address < piece.end ? piece : Piece{};
    }

 private:
    // The memory of the table, and of those who are told, is none of a kernel's.
    static inline thread_local bool busy_ = false;
    struct Busy {
        std::mutex mutex;
        void lock() { mutex.lock(), busy_ = true; }
        void unlock() { busy_ = false, mutex.unlock(); }
    } busy_of_all_;
    std::map<const char*, Piece> pieces_;  // by their starts
    std::atomic<bool> is_used_{false};
};

}  // namespace cuda_cpu

#if defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
// As the program calls them (cuda_cpu/device.h).
extern "C" {
void* cuda_cpu_malloc(size_t bytes) { return cuda_cpu::KernelHeap::instance().allocate(bytes); }
void cuda_cpu_free(void* memory) {
    cuda_cpu::KernelHeap::instance().release(memory, __builtin_return_address(0));
}
}
#endif
#ifdef CUDA_CPU_RACES
// Of `new` elsewhere than in device code nobody knows whether a kernel calls it or the runtime, with the program's copy
// of the standard library: what it gives is known as no memory of the host's, and not looked at.
void* operator new(size_t bytes) {
    void* const memory = cuda_cpu::KernelHeap::instance().allocate(bytes > 0 ? bytes : 1, false);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
#endif
#if defined(CUDA_CPU_RACES) || defined(CUDA_CPU_ACCESSES)
void operator delete(void* memory) noexcept {
    cuda_cpu::KernelHeap::instance().release(memory, __builtin_return_address(0));
}
void operator delete(void* memory, size_t) noexcept {
    cuda_cpu::KernelHeap::instance().release(memory, __builtin_return_address(0));
}
void operator delete[](void* memory) noexcept {
    cuda_cpu::KernelHeap::instance().release(memory, __builtin_return_address(0));
}
void operator delete[](void* memory, size_t) noexcept {
    cuda_cpu::KernelHeap::instance().release(memory, __builtin_return_address(0));
}
#endif
