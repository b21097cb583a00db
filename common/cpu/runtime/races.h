// Races, elements that are read before anybody wrote them, and what lies just outside of an array.
//
// The compiler's -fsanitize=thread puts a call in front of every access to memory. ThreadSanitizer's
// own library behind these calls knows threads of the operating system: one costs it milliseconds and
// most of a megabyte, and a block has up to 1024. So the calls end here, where a thread is a number
// and time is counted in what CUDA knows: launches, barriers, meetings of a warp, fences.
//
// Each word of memory keeps a stamp of its last write and of a few reads: which thread, at which
// time, at which place in the program. Two accesses race if one of them writes, they are not both
// atomic, and nothing orders them:
//     another launch               ordered: one ends before the next begins
//     the same thread              ordered
//     the same block               ordered if a barrier came between
//     the same warp                ordered if both were at a meeting of the warp that came between
//     any two threads              ordered if one passed a fence, then an atomic operation, and the
//                                  other one an atomic operation on the same address after that;
//                                  a barrier of the block may lie between the fence and the atomic
//                                  operation, which is then that of any of its threads
// The blocks run one after another here, and so do the threads of a block, but nothing of that counts.
#pragma once

#include <malloc.h>

#include <cstring>
#include <vector>

#include "calls.h"
#include "faults.h"
#include "observer.h"
#include "race_findings.h"  // what is told
#include "race_memory.h"    // who touched each word last
#include "race_order.h"     // what comes before what
#include "record.h"

namespace cuda_cpu {

class Races : public RaceMemory, public RaceOrder, RaceFindings {
 public:
    static Races& instance() {
        static Races& races = *new Races;
        return races;
    }

    // ------------------------------------------------------------ what the runtime tells
    void grid_begins() {
        RaceOrder::grid_begins();
        storing_ = 0;
    }
    // How many threads of the grid that has run stored to global memory.
    uint64_t storing() const { return storing_; }
    void block_begins(unsigned int threads) {
        settle();
        RaceOrder::block_begins(threads);
        has_stored_.assign(threads, false);
    }

    // ------------------------------------------------------------ what the program does
    // `aligned`: as the type of this size wants it.
    void touch(const void* pointer, size_t bytes, Access access, const void* place, bool aligned) {
        settle();
        const char* const address = static_cast<const char*>(pointer);
        if (!is_tracked(address)) return refuse_host_memory(address, bytes, access, place);
        Page& page = page_of(address);
        Region* const region = region_in(page, address);
        if (region == nullptr) return note_outside(address, bytes, access, place);
        // A volatile access to global memory is one that other blocks may wait for. In shared memory
        // it is what was written before __syncwarp, and orders nothing.
        const bool waits = is_volatile(access) && !region->shared;
        const bool atomic = is_atomic(access) || waits;
        const Stamp now = stamp(*region, atomic, place);
        if (writes(access) && !region->shared && !has_stored_[now.thread]) {
            has_stored_[now.thread] = true;
            ++storing_;
        }
        if (aligned && reinterpret_cast<uintptr_t>(address) % bytes != 0) {
            note_place("misaligned", now, writes(access), address, bytes);
        }
        if (!region->written.empty()) keep_initialised(*region, address, bytes, access, now);
        each_cell(address, bytes,
                  [&](Cell& cell) { return check(cell, now, access, address, bytes); });
        if (waits) synchronise(address, writes(access));
    }
    void fence() {
        settle();
        RaceOrder::fence();
    }

    // Writes how often each finding came, at the end.
    void finish() {
        settle();
        finish_findings();
    }

 private:
    // Two writes of the same value harm nobody. Whether they are the same is seen only after the
    // second one, that is at the next call.
    struct Pending {
        const char* address = nullptr;
        size_t bytes = 0;
        char before[16];
        Stamp first, second;
    };

    // A kernel that finds memory of the host, behind a pointer in a structure for one.
    void refuse_host_memory(const char* address, size_t bytes, Access access, const void* place) {
        const Core& core = Core::mine();
        const char* const arguments = reinterpret_cast<const char*>(core.kernel());
        const bool is_argument =
            address >= arguments &&
            address < arguments + malloc_usable_size(const_cast<char*>(arguments));
        if (is_argument || is_null(address) || core.past_dynamic_shared(address) != 0 ||
            core.own_memory(address) != nullptr)
            return;
        note_place("host-pointer", stamp({}, false, place), writes(access), address, bytes);
    }

    // Memory that threads share; not their stacks, nor what the runtime keeps for itself.
    bool is_tracked(const char* address) const {
        return Memory::instance().on_device(address) || Core::mine().in_shared_arena(address) ||
               Core::mine().in_dynamic_shared(address) || in_program(address) ||
               (Memory::instance().shares_host_memory() &&
                Memory::instance().find_unlocked(address) != nullptr);
    }

    // Compares an access with what the cell remembers, and remembers it. True if it raced.
    bool check(Cell& cell, const Stamp& now, Access access, const char* address, size_t bytes) {
        bool raced = false;
        const auto look = [&](const Stamp& then, bool wrote) {
            if (raced || (then.atomic && now.atomic) || is_ordered(then, now)) return;
            raced = true;
            if (wrote && writes(access) && !then.atomic && !now.atomic &&
                bytes <= sizeof Pending::before)
                wait_for_value(then, now, address, bytes);
            else
                note_race(then, wrote, now, writes(access), address, bytes);
        };
        look(cell.write, true);
        if (writes(access)) {
            for (const Stamp& read : cell.reads) look(read, false);
            cell.write = now;
            if (access == Access::atomic_update) forget_atomic_reads(cell, now);
        } else {
            *oldest_read(cell, now) = now;
        }
        return raced;
    }
    // An atomic update stands for the atomic loads that its thread did before, as the loop of
    // atomicInc() does. The next update sees this one, so all before it lies before what the thread
    // of the next one then does there, be it a plain store: the last block clears its counter so.
    static void forget_atomic_reads(Cell& cell, const Stamp& now) {
        for (Stamp& read : cell.reads) {
            if (read.atomic && read.thread == now.thread && read.block == now.block) read = {};
        }
    }
    // The read to forget: one of the same thread, one that is ordered before, or any.
    Stamp* oldest_read(Cell& cell, const Stamp& now) {
        for (Stamp& read : cell.reads) {
            if (read.thread == now.thread && read.block == now.block) return &read;
        }
        for (Stamp& read : cell.reads) {
            if (is_ordered(read, now)) return &read;
        }
        return &cell.reads[1 + now.thread / 32 % 2];  // the first one stays
    }

    void wait_for_value(const Stamp& first, const Stamp& second, const char* address,
                        size_t bytes) {
        pending_.address = address;
        pending_.bytes = bytes;
        std::memcpy(pending_.before, address, bytes);
        pending_.first = first;
        pending_.second = second;
    }
    void settle() {
        if (pending_.address == nullptr) return;
        const char* const address = pending_.address;
        pending_.address = nullptr;
        if (std::memcmp(pending_.before, address, pending_.bytes) == 0) return;
        note_race(pending_.first, true, pending_.second, true, address, pending_.bytes);
    }

    void keep_initialised(Region& region, const char* address, size_t bytes, Access access,
                          const Stamp& now) {
        const size_t begin = static_cast<size_t>(address - region.start);
        const size_t end = std::min(begin + bytes, region.bytes);
        bool written = true;
        for (size_t i = begin; i < end; ++i) {
            written = written && region.written[i];
            if (writes(access)) region.written[i] = true;
        }
        // Some stores the compiler does not announce, that of a returned structure for one; but what
        // nobody has written holds the poison that it was filled with.
        const bool poisoned = holds(region.shared ? never_written_shared : never_written_device,
                                    address, address + (end - begin));
        if (!reads(access) || written || !poisoned) return;
        note_place("uninitialised", now, false, address, bytes);
    }
    uint64_t storing_ = 0;          // threads of the grid
    std::vector<bool> has_stored_;  // by thread
    Pending pending_;
};

namespace observer {
void grid_begins(const LaunchFacts&) { Races::instance().grid_begins(); }
void grid_ends(Grid& grid) {
    if (!Record::instance().wanted()) return;
    Record::instance().stored(name_of(*grid.kernel), grid.shape, grid.depth == 0,
                              Races::instance().storing());
}
void block_begins(unsigned int threads) { Races::instance().block_begins(threads); }
void barrier() { Races::instance().barrier(); }
void meeting(unsigned int first, unsigned int lanes) { Races::instance().meeting(first, lanes); }
void allocated(const Allocation& allocation) {
    const bool known = allocation.kind != MemoryKind::device;  // host code may write it unseen
    Races::instance().add_region(allocation.start, allocation.bytes, false, known);
}
void released(const Allocation& allocation) { Races::instance().remove_region(allocation.start); }
void filled(const void* target, size_t bytes) {
    Races::instance().filled(static_cast<const char*>(target), bytes);
}
void copied(const void* target, const void* source, size_t bytes) {
    Races::instance().filled(static_cast<const char*>(target), bytes,
                             static_cast<const char*>(source));
}
void shared_variable(const char*, const char* start, size_t bytes) {
    Races::instance().add_region(start, bytes, true, false);
}
void shared_begins(const char* start, size_t bytes) {
    Races::instance().region_at(start)->written.assign(bytes, false);
}
// The blocks of a grid have it in one place, one after the other.
void dynamic_shared(const char*, const char*, const char* start, size_t bytes) {
    static const char* last = nullptr;
    static size_t last_bytes = 0;
    if (bytes > 0 && start == last && bytes == last_bytes) return shared_begins(start, bytes);
    if (last != nullptr) Races::instance().remove_region(last);
    last = bytes > 0 ? start : nullptr;
    last_bytes = bytes;
    if (bytes > 0) Races::instance().add_region(start, bytes, true, false);
}
}  // namespace observer

__attribute__((destructor)) inline void finish_races() { Races::instance().finish(); }

// The calls, by their places of return: an access stands just before.
inline const void* before(const void* place) { return static_cast<const char*>(place) - 1; }

inline void Watch::access(const volatile void* pointer, size_t bytes, Access access, bool aligned,
                          const void* place, const void*) {
    if (!in_kernel()) return;
    const void* const address = const_cast<const void*>(pointer);
    Races::instance().touch(address, bytes, access, before(place), aligned);
    if (is_atomic(access)) Races::instance().synchronise(address, writes(access));
}
inline void Watch::range(const void* address, size_t bytes, Access access, const void* place,
                         const void* frame) {
    Watch::access(address, bytes, access, false, place, frame);
}
inline void Watch::fence() {
    if (in_kernel()) Races::instance().fence();
}
inline bool Watch::counts_failures() { return true; }

}  // namespace cuda_cpu
