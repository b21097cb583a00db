// Large allocations get their pattern where they are first touched: what a program asks for and never uses takes no
// memory. A chunk that nobody has touched is closed; the handler of faults puts a filled one in its place.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "patterns.h"

namespace cuda_cpu {

class FirstTouch {
 public:
    static FirstTouch& instance() {
        static FirstTouch& first_touch = *new FirstTouch;
        return first_touch;
    }
    static constexpr size_t chunk_bytes = 2 << 20, least_bytes = 32 << 20;

    // From now on the whole chunks of begin..end, which starts with a chunk, are filled when they are touched;
    // returns where they end. `begin` if there are too few of them, or too many such allocations.
    char* add(char* begin, char* end) {
        const unsigned int count = count_.load();
        if (count == most || end < begin + least_bytes) return begin;
        Range& range = ranges_[count];
        const size_t chunks = static_cast<size_t>(end - begin) / chunk_bytes;
        range.begin = begin;
        range.end = begin + chunks * chunk_bytes;
        range.filled = new std::atomic<bool>[chunks]();
        range.living = true;
        mprotect(begin, chunks * chunk_bytes, PROT_NONE);
        count_.store(count + 1);
        return range.end;
    }
    // The memory of begin..end is given back.
    void forget(const char* begin, const char* end) {
        if (Range* const range = find(begin, end)) range->living = false;
    }
    // Opens begin..end, or closes it, but for what is not filled. False if the system refuses.
    bool protect(char* begin, char* end, int protection) {
        const auto set = [=](char* first, char* last) {
            first = std::max(first, begin), last = std::min(last, end);
            return last <= first ||
                   mprotect(first, static_cast<size_t>(last - first), protection) == 0;
        };
        const Range* const range = find(begin, end);
        if (range == nullptr) return set(begin, end);
        bool done = set(begin, range->begin);
        const size_t chunks = chunk_of(*range, std::min(end, range->end) - 1) + 1;
        for (size_t first = chunk_of(*range, std::max(begin, range->begin)), last; first < chunks;
             first = last + 1) {
            for (last = first; last < chunks && range->filled[last]; ++last) {
            }
            done &= set(range->begin + first * chunk_bytes, range->begin + last * chunk_bytes);
        }
        return set(range->end, end) && done;
    }
    // Whether an address is in a chunk that is still to be filled.
    bool is_empty(const char* address) {
        const Range* const range = find(address, address + 1);
        return range != nullptr && !range->filled[chunk_of(*range, address)];
    }
    // Fills the chunk of an address that was touched; false if that is none of these. Is called in the handler of a
    // fault, perhaps on several cores at once.
    bool touched(char* address) {
        Range* const range = find(address, address + 1);
        if (range == nullptr) return false;
        while (lock_.test_and_set()) {
        }
        const size_t chunk = chunk_of(*range, address);
        const bool filled = range->filled[chunk] || put_filled(range->begin + chunk * chunk_bytes);
        range->filled[chunk] = filled;
        lock_.clear();
        return filled;
    }

 private:
    struct Range {
        char* begin;
        char* end;
        std::atomic<bool>* filled;
        std::atomic<bool> living;
    };
    static size_t chunk_of(const Range& range, const char* address) {
        return static_cast<size_t>(address - range.begin) / chunk_bytes;
    }
    // The range that begin..end meets: an allocation has one at most.
    Range* find(const char* begin, const char* end) {
        for (unsigned int i = 0, count = count_.load(); i < count; ++i) {
            Range& range = ranges_[i];
            if (range.living && begin < range.end && end > range.begin) return &range;
        }
        return nullptr;
    }
    // A chunk is filled elsewhere and moved, so that no other core sees it half filled.
    static bool put_filled(char* target) {
        void* const mapped = mmap(nullptr, 2 * chunk_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) return false;
        char* const apart = static_cast<char*>(mapped);
        char* const aligned =
            apart + (chunk_bytes - reinterpret_cast<uintptr_t>(apart) % chunk_bytes) % chunk_bytes;
        madvise(aligned, chunk_bytes, MADV_HUGEPAGE);
        fill_with(never_written_device, aligned, aligned + chunk_bytes);
        const bool moved = mremap(aligned, chunk_bytes, chunk_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                  target) == target;
        if (aligned > apart) munmap(apart, static_cast<size_t>(aligned - apart));
        munmap(aligned + chunk_bytes, static_cast<size_t>(apart + chunk_bytes - aligned));
        return moved;
    }

    static constexpr unsigned int most = 4096;
    Range ranges_[most]{};
    std::atomic<unsigned int> count_{0};
    std::atomic_flag lock_ = ATOMIC_FLAG_INIT;
};

}  // namespace cuda_cpu
