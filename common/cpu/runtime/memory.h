// Device memory: a reserved range of addresses that nobody may touch unless a kernel or a copy runs.
//
// Each allocation has pages of its own and ends at the end of a page (up to CUDA's alignment of 256
// bytes), so that one element too far is a fault. Freed addresses are not used again. What
// fresh memory holds is in patterns.h.
#pragma once

#include <sys/mman.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "first_touch.h"
#include "paging.h"
#include "patterns.h"
#include "report.h"

namespace cuda_cpu {

constexpr size_t page_bytes = 4096, large_page_bytes = 2 << 20, allocation_alignment = 256;
// How much is left free behind an allocation. With sanitizers an index that is far too large should
// not meet the next one.
#if defined(CUDA_CPU_BOUNDS) || defined(CUDA_CPU_RACES)
constexpr size_t guard_bytes = 1 << 20;
#else
constexpr size_t guard_bytes = page_bytes;
#endif

inline size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

// The program with all its variables stands between these two, which the linker makes.
extern "C" char __executable_start[], _end[];
inline bool in_program(const void* address) {
    return address >= __executable_start && address < _end;
}
// What of it nobody writes, as a table that is constexpr.
extern "C" char __data_start[] __attribute__((weak));
inline bool is_fixed(const void* address) { return in_program(address) && address < __data_start; }
// Its __constant__ and its __managed__ variables, likewise; there may be none.
extern "C" char __start_cuda_constant[] __attribute__((weak));
extern "C" char __stop_cuda_constant[] __attribute__((weak));
extern "C" char __start_cuda_managed[] __attribute__((weak));
extern "C" char __stop_cuda_managed[] __attribute__((weak));
inline bool is_constant(const char* address) {
    return address >= __start_cuda_constant && address < __stop_cuda_constant;
}

enum class MemoryKind { device, managed, pinned, registered, symbol };

struct Allocation {
    MemoryKind kind;
    char* start;   // what the program got
    size_t bytes;  // what it asked for
    char* pages;   // what is mapped
    size_t mapped_bytes;
    bool freed;
    int device = 0;  // whose memory it is
};

inline bool is_pinned(const Allocation& allocation) {
    return allocation.kind == MemoryKind::pinned || allocation.kind == MemoryKind::registered;
}

class Memory {
 public:
    // The one of this process. Never destroyed: kernels may run until the very end.
    static Memory& instance() {
        static Memory& memory = *new Memory;
        return memory;
    }

    // Null when there is no room. `kind` is device or managed.
    void* allocate(size_t bytes, MemoryKind kind, size_t capacity, int device) {
        std::lock_guard<std::mutex> lock(mutex_);
        const size_t used = kind == MemoryKind::device ? used_[device] : 0;
        if (bytes > capacity || used > capacity - bytes || !host_has(bytes)) {
            return nullptr;
        }
        // A guard page follows; large allocations start on a large page, which keeps closing cheap.
        const size_t unit = bytes >= large_page_bytes ? large_page_bytes : page_bytes;
        const size_t mapped = round_up(std::max<size_t>(bytes, 1), page_bytes);
        char* const pages =
            reinterpret_cast<char*>(round_up(reinterpret_cast<size_t>(next_), unit));
        if (pages + mapped + guard_bytes > end_) return nullptr;
        if (mprotect(pages, mapped, PROT_READ | PROT_WRITE) != 0) return nullptr;
        madvise(pages, mapped, MADV_DODUMP);
        if (mapped >= large_page_bytes) madvise(pages, mapped, MADV_HUGEPAGE);
        next_ = pages + mapped + guard_bytes;

        char* const start =
            pages + mapped - round_up(std::max<size_t>(bytes, 1), allocation_alignment);
        fill_with(outside_allocation, pages, start);
        char* const chunks = start == pages ? pages : pages + FirstTouch::chunk_bytes;
        char* const rest = FirstTouch::instance().add(chunks, start + bytes);
        fill_with(never_written_device, start, rest > chunks ? chunks : start + bytes);
        if (rest > chunks) fill_with(never_written_device, rest, start + bytes);
        fill_with(outside_allocation, start + bytes, pages + mapped);
        allocations_[start] = {kind, start, bytes, pages, mapped, false, device};
        if (kind == MemoryKind::managed) {
            share_with_host(start, bytes);
            Paging::instance().add(pages, pages + mapped, bytes);
        }
        if (kind == MemoryKind::device) used_[device] += bytes;
        if (kind == MemoryKind::device) {
            closable_.insert(&allocations_[start]);
            if (!is_open(device)) FirstTouch::instance().protect(pages, pages + mapped, PROT_NONE);
        }
        return start;
    }

    // Memory of the host that kernels and copies may know: pinned buffers and device variables.
    void add(const void* start, size_t bytes, MemoryKind kind) {
        std::lock_guard<std::mutex> lock(mutex_);
        char* const first = static_cast<char*>(const_cast<void*>(start));
        allocations_.erase(allocations_.lower_bound(first),
                           allocations_.lower_bound(first + bytes));
        allocations_[first] = {kind, first, bytes, nullptr, 0, false, 0};
        if (kind != MemoryKind::symbol) share_with_host(first, bytes);
        shares_host_memory_ =
            shares_host_memory_ || kind == MemoryKind::pinned || kind == MemoryKind::registered;
    }

    // False when `pointer` is not the start of a living allocation of one of the two kinds.
    bool release(void* pointer, MemoryKind kind, MemoryKind other) {
        std::lock_guard<std::mutex> lock(mutex_);
        const auto found = allocations_.find(static_cast<char*>(pointer));
        if (found == allocations_.end()) return false;
        Allocation& allocation = found->second;
        if (allocation.freed || (allocation.kind != kind && allocation.kind != other)) return false;
        if (allocation.pages == nullptr) {
            if (kind == MemoryKind::device) return false;  // a __managed__ variable
            allocations_.erase(found);
            return true;
        }
        // The addresses stay reserved and closed; the memory behind them goes back.
        Paging::instance().forget(allocation.pages);
        FirstTouch::instance().forget(allocation.pages, allocation.pages + allocation.mapped_bytes);
        madvise(allocation.pages, allocation.mapped_bytes, MADV_DONTNEED);
        madvise(allocation.pages, allocation.mapped_bytes, MADV_DONTDUMP);
        mprotect(allocation.pages, allocation.mapped_bytes, PROT_NONE);
        allocation.freed = true;
        closable_.erase(&allocation);
        if (allocation.kind == MemoryKind::device) used_[allocation.device] -= allocation.bytes;
        return true;
    }

    // What cudaDeviceReset does: nothing that cudaMalloc gave is valid any more.
    void release_all() {
        std::vector<std::pair<char*, MemoryKind>> living;
        visit([&](const Allocation& allocation) {
            if (allocation.pages != nullptr && !allocation.freed) {
                living.emplace_back(allocation.start, allocation.kind);
            }
        });
        for (const auto& [start, kind] : living) release(start, kind, kind);
    }

    // The allocation that holds `pointer`, or, inside the device's addresses, the last one before it.
    // Null for memory that CUDA does not know.
    const Allocation* find(const void* pointer) {
        std::lock_guard<std::mutex> lock(mutex_);
        return find_unlocked(pointer);
    }

    // The same without the lock, for the handler of a fault, which must not wait for anybody.
    const Allocation* find_unlocked(const void* pointer) const {
        const char* const address = static_cast<const char*>(pointer);
        auto next = allocations_.upper_bound(const_cast<char*>(address));
        if (next == allocations_.begin()) return nullptr;
        const Allocation& allocation = std::prev(next)->second;
        if (address < allocation.start + allocation.bytes) return &allocation;
        return on_device(address) && on_device(allocation.start) ? &allocation : nullptr;
    }

    // The allocation that an address of the device most likely belongs to: the one that holds it, or
    // the nearest. Also without the lock.
    const Allocation* nearest_unlocked(const void* pointer) const {
        if (!on_device(pointer)) return find_unlocked(pointer);
        char* const address = static_cast<char*>(const_cast<void*>(pointer));
        const Allocation* const before = find_unlocked(address);
        const auto next = allocations_.upper_bound(address);
        if (next == allocations_.end() || !on_device(next->first)) return before;
        const Allocation* const after = &next->second;
        if (before == nullptr) return after;
        const char* const end = before->start + before->bytes;
        return address >= end && address - end > after->start - address ? after : before;
    }

    // Whether kernels may know memory of the host: pinned or registered.
    // Whether there has been memory that host and kernels reach: they may wait for each other there.
    bool meets_host() const { return end_of_shared_ != nullptr; }
    bool shares_host_memory() const { return shares_host_memory_; }

    // Whether host code and kernels may both touch what lies there.
    bool is_shared_with_host(const void* pointer) const {
        const char* const address = static_cast<const char*>(pointer);
        if (address < first_shared_ || address >= end_of_shared_) return false;
        const Allocation* const allocation = find_unlocked(address);
        return allocation != nullptr && address < allocation->start + allocation->bytes &&
               !allocation->freed && allocation->kind != MemoryKind::device &&
               allocation->kind != MemoryKind::symbol;
    }

    bool on_device(const void* pointer) const { return pointer >= begin_ && pointer < end_; }

    // Opens the memory of these devices, a bit each, to the code that runs, and closes that of the others.
    void set_open(uint32_t devices) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (open_ == devices || stays_open_) return;
        const uint32_t changed = open_ ^ devices;
        open_ = devices;
        for (const Allocation* const allocation : closable_) {
            if ((changed >> allocation->device & 1) == 0) continue;
            const bool open = is_open(allocation->device);
            FirstTouch::instance().protect(allocation->pages,
                                           allocation->pages + allocation->mapped_bytes,
                                           open ? PROT_READ | PROT_WRITE : PROT_NONE);
        }
    }

    // From now on host code may touch device memory, too: a library that is not the learner's code does.
    void keep_open() {
        set_open(~0u);
        stays_open_ = true;
        Paging::instance().stop();
    }
    bool stays_open() const { return stays_open_; }

    // Whether a fault was only the first touch of a piece of a large allocation.
    bool first_touch(char* address) {
        const Allocation* const allocation = open_ == 0 ? nullptr : find_unlocked(address);
        const bool may_be_touched =
            (allocation != nullptr && is_open(allocation->device)) || is_shared_with_host(address);
        return may_be_touched && FirstTouch::instance().touched(address);
    }

    // The allocation behind whose end something was written, in the bytes up to CUDA's alignment,
    // which no guard page covers, of the devices that are open; null when there is none.
    const Allocation* overrun() {
        std::lock_guard<std::mutex> lock(mutex_);
        for (const Allocation* const allocation : closable_) {
            if (!is_open(allocation->device)) continue;
            const char* const end = allocation->start + allocation->bytes;
            const char* const guard = allocation->pages + allocation->mapped_bytes;
            if (!holds(outside_allocation, end, guard)) return allocation;
        }
        return nullptr;
    }

    size_t used(int device) const { return used_[device]; }

    // What the machine could still give.
    static size_t host_bytes_available() {
        size_t kilobytes = 0;
        if (FILE* const file = std::fopen("/proc/meminfo", "r")) {
            char line[128];
            while (std::fgets(line, sizeof line, file) != nullptr) {
                if (std::sscanf(line, "MemAvailable: %zu kB", &kilobytes) == 1) break;
            }
            std::fclose(file);
        }
        return kilobytes * 1024;
    }

    // Whether the machine could give so much. It is asked again when a sixteenth of what it had is given out.
    bool host_has(size_t bytes) {
        if (bytes > surely_available_) {
            const size_t available = host_bytes_available();
            if (bytes > available) return false;
            surely_available_ = bytes + (available - bytes) / 16;
        }
        surely_available_ -= bytes;
        return true;
    }

    template <class Visitor>
    void visit(Visitor visitor) {
        std::lock_guard<std::mutex> lock(mutex_);
        for (const auto& [start, allocation] : allocations_) visitor(allocation);
    }

 private:
    bool is_open(int device) const { return (open_ >> device & 1) != 0; }
    Memory() {
        for (int bits = 44; bits >= 36 && begin_ == nullptr; --bits) {
            const size_t bytes = size_t{1} << bits;
            void* const range =
                mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (range == MAP_FAILED) continue;
            // What is not given out differs in this, too, so that the system need not join a closed
            // allocation with what lies around it, and cut it out again when it is opened.
            madvise(range, bytes, MADV_DONTDUMP);
            begin_ = static_cast<char*>(range);
            end_ = begin_ + bytes;
            next_ = begin_ + page_bytes;  // the first guard page
        }
        if (begin_ == nullptr) {
            stop(
                "CUDA on the CPU could not reserve addresses for device memory; is there a limit "
                "on virtual memory (ulimit -v)?");
        }
    }

    void share_with_host(const char* start, size_t bytes) {
        first_shared_ = end_of_shared_ == nullptr ? start : std::min(first_shared_, start);
        end_of_shared_ = std::max(end_of_shared_, start + bytes);
    }

    std::mutex mutex_;
    std::map<char*, Allocation> allocations_;  // by start; freed ones stay, to be named
    std::set<const Allocation*> closable_;     // those that host code may not touch
    char* begin_ = nullptr;
    char* end_ = nullptr;
    char* next_ = nullptr;
    size_t used_[32] = {};  // by device
    size_t surely_available_ = 0;
    uint32_t open_ = 0;  // devices, a bit each
    bool stays_open_ = false;
    bool shares_host_memory_ = false;
    // All that host code and kernels share lies between these two.
    const char* first_shared_ = nullptr;
    const char* end_of_shared_ = nullptr;
};

}  // namespace cuda_cpu
