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
//     another launch               ordered by streams, events and waits: stream_order.h
//     the same thread              ordered
//     the same block               ordered if a barrier came between
//     the same warp                ordered if both were at a __syncwarp() that came between
//     any two threads              ordered if one passed a fence, then an atomic operation, and the
//                                  other one an atomic operation on the same address after that;
//                                  a barrier of the block may lie between the fence and the atomic
//                                  operation, which is then that of any of its threads
// The blocks run one after another here, and so do the threads of a block, but nothing of that counts.
// Copies and host code have stamps, too: they race with work that nobody has waited for.
//
// Two writes of the same value harm nobody. So if both are plain, the second one waits until its value is
// there, which is at the next call.
#pragma once

#include <malloc.h>
#include <sys/mman.h>

#include <cstring>
#include <unordered_set>
#include <vector>

#include "calls.h"
#include "faults.h"
#include "kernel_heap.h"
#include "observer.h"
#include "race_findings.h"  // what is told
#include "race_memory.h"    // who touched each word last
#include "race_order.h"     // what comes before what
#include "record.h"
#include "stream_order.h"  // and which launch before which

namespace cuda_cpu {

class Races : public RaceMemory, public RaceOrder, RaceFindings {
 public:
    static Races& instance() {
        static Races& races = *new Races;
        return races;
    }

    // ------------------------------------------------------------ what the runtime tells
    void grid_begins(const Grid& grid) {
        settle();
        RaceOrder::grid_begins(grid);
        storing_ = 0;
    }
    // How many threads of the grid that has run stored to global memory.
    uint64_t storing() const { return storing_; }
    void block_begins(unsigned int threads) {
        settle();
        RaceOrder::block_begins(threads);
    }
    // Whether such a lane has gone past the operation its last access tells.
    void meeting_without(unsigned int first, unsigned int absent, unsigned int mask,
                         const Site& site) {
        for (unsigned int rest = absent; rest != 0; rest &= rest - 1) {
            const auto lane = static_cast<unsigned int>(__builtin_ctz(rest));
            if (now_->last_places[first + lane] != 0)
                note_passed(now_->last_places[first + lane], lane, mask, site);
        }
    }
    void removed(const char* start) {
        settle();
        same_values_.clear();
        remove_region(start);
    }
    // A kernel has given back what it had from malloc.
    void freed_by_kernel(const char* start, size_t bytes, const void* place) {
        settle();
        same_values_.clear();
        const Stamp now = stamp(*region_at(start), false, place);
        first_unordered(start, start + bytes, now, true,
                        [&](const Stamp& then, bool wrote, const char* address) {
                            note_race(then, wrote, now, frees, address, 4);
                        });
        remove_region(start);
    }
    // The shared memory of a block of a cluster goes with it: who touches it must have done so before.
    void block_of_cluster_ends() {
        settle();
        RaceOrder::barrier();  // what one of its threads knows is known at its end
        Core::mine().each_shared_place([&](const char* start, size_t bytes) {
            Region* const region = region_at(start);
            region->ended = true;
            first_unordered(start, start + bytes, stamp(*region, false, nullptr), true,
                            [&](const Stamp& then, bool wrote, const char* address) {
                                note_place("ended", then, wrote, address, 4);
                            });
        });
    }
    // A copy, or what is set, on one of its sides.
    void copies(const void* memory, size_t bytes, bool write) {
        settle();
        const char* const begin = static_cast<const char*>(memory);
        Region* const region = bytes > 0 ? region_of_copy(begin) : nullptr;
        if (region == nullptr) return;
        const Stamp now = stamp_of_work(nullptr);
        if (!joins(*region, now.serial)) compare_with_cells(begin, begin + bytes, now, write);
        compare_with_copies(*region, begin, bytes, now, write);
        forget_copies(*region, [&](const Region::Copy& copy) {  // who sees that one sees this one
            return begin <= copy.begin && copy.end <= begin + bytes && (write || !copy.write) &&
                   is_ordered(copy.stamp, now);
        });
        region->copies.push_back({begin, begin + bytes, now, write});
    }

    // ------------------------------------------------------------ what the program does
    void touch(const void* pointer, size_t bytes, Access access, const void* place) {
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
        if (writes(access) && !region->shared && !now_->has_stored[now.thread]) {
            now_->has_stored[now.thread] = true;
            ++storing_;
        }
        if (region->ended) note_place("ended", now, writes(access), address, bytes);
        if (writes(access) && is_constant(address))
            note_place("constant", now, true, address, bytes);
        if (!region->written.empty()) keep_initialised(*region, address, bytes, access, now);
        if (!region->shared) joins(*region, now.serial);
        look(*region, address, bytes, access, now);
        if (waits) synchronise(address, writes(access));
    }
    // Host code touches memory that kernels and copies may touch as well.
    void touch_by_host(const void* pointer, size_t bytes, Access access, const void* place) {
        const std::lock_guard<std::recursive_mutex> lock(Queue::instance().mutex());
        settle();
        if (!StreamOrder::instance().outstanding()) return;
        const char* const address = static_cast<const char*>(pointer);
        Region* const region = region_in(page_of(address), address);
        if (region == nullptr) return;
        const Stamp now = stamp_of_work(place);
        joins(*region, now.serial);
        look(*region, address, bytes, access, now);
    }
    void read_by_host(const char* address, size_t bytes, const void* place) {
        const std::lock_guard<std::recursive_mutex> lock(Queue::instance().mutex());
        if (is_unwritten_at_host(address, bytes))
            note_place("uninitialised", stamp_of_work(place), false, address, bytes);
    }
    // A variable of the program. Of those some are the device's, by their declarations.
    void touch_variable_by_host(const char* address, size_t bytes, Access access,
                                const void* place) {
        if (!places_of_host_.insert(place).second) return;
        const std::lock_guard<std::recursive_mutex> lock(Queue::instance().mutex());
        settle();
        note_place("device-variable", stamp_of_work(place), writes(access), address, bytes);
    }
    void fence() {
        settle();
        RaceOrder::fence();
    }
    void gives_way() { settle(); }

    // Writes how often each finding came, at the end.
    void finish() {
        settle();
        finish_findings();
    }

 private:
    // An access that races with what a cell remembers, unless it leaves the value as it was.
    struct Doubt {
        Cell* cell;
        const char* address;
        char before[4];
        size_t bytes;
        Stamp write, read;  // what it races with if the value changes; nobody's if with nothing
        Stamp always;       // a read that it races with in any case
    };
    // Threads of a block that have written the value that a cell has.
    struct Writers {
        uint32_t serial, block;
        std::unordered_map<uint16_t, Stamp> threads;
    };

    // A kernel that finds memory of the host, behind a pointer in a structure for one.
    void refuse_host_memory(const char* address, size_t bytes, Access access, const void* place) {
        const Core& core = Core::mine();
        const char* const arguments = reinterpret_cast<const char*>(core.kernel());
        const bool is_argument =
            address >= arguments &&
            address < arguments + malloc_usable_size(const_cast<char*>(arguments));
        if (is_argument || is_null(address) || core.past_dynamic_shared(address) != 0 ||
            core.own_memory(address) != nullptr || !is_mapped(address) ||
            KernelHeap::instance().is_near(address))
            return;
        note_place("host-pointer", stamp({}, false, place), writes(access), address, bytes);
    }

    // Where nothing is mapped the access itself ends the run, and is told there.
    static bool is_mapped(const char* address) {
        const uintptr_t page = reinterpret_cast<uintptr_t>(address) / page_bytes * page_bytes;
        return msync(reinterpret_cast<void*>(page), 1, MS_ASYNC) == 0;
    }

    // Memory that threads share; not their stacks, nor what the runtime keeps for itself.
    bool is_tracked(const char* address) const {
        return Memory::instance().on_device(address) || core_of_shared(address) != nullptr ||
               in_program(address) || KernelHeap::instance().holds(address) ||
               (Memory::instance().shares_host_memory() &&
                Memory::instance().find_unlocked(address) != nullptr);
    }

    void look(Region& region, const char* address, size_t bytes, Access access, const Stamp& now) {
        doubter_ = now, doubted_ = address, doubted_bytes_ = bytes;
        if (!region.copies.empty())
            compare_with_copies(region, address, bytes, now, writes(access));
        each_cell(address, bytes, [&](Cell& cell, const char* where, size_t size) {
            return writes(access) ? check_write(cell, now, access, where, size)
                                  : check_read(cell, now);
        });
    }
    bool races(const Stamp& then, const Stamp& now) const {
        return !(then.atomic && now.atomic) && !is_ordered(then, now);
    }
    void found(const Stamp& then, bool wrote, bool writes) {
        note_race(then, wrote, doubter_, writes, doubted_, doubted_bytes_);
    }

    // Each compares an access with what the cell remembers, and remembers it. True if it raced.
    bool check_read(Cell& cell, Stamp now) {
        const bool knows = has_written(cell, now);
        const bool raced = races(cell.write, now) && !knows;
        if (raced) found(cell.write, true, false);
        now.reads_back = knows;
        Stamp* const slot = oldest_read(cell, now);
        // What it read before it wrote itself says more.
        const bool says_less = knows && slot->serial == now.serial && slot->thread == now.thread &&
                               slot->block == now.block && slot->barriers == now.barriers;
        if (!says_less || slot->reads_back) *slot = now;
        return raced;
    }
    bool check_write(Cell& cell, const Stamp& now, Access access, const char* address,
                     size_t bytes) {
        const Stamp nobody;
        const Stamp *write = &nobody, *read_back = &nobody, *always = &nobody;
        bool raced = false;
        if (races(cell.write, now)) {
            raced = cell.write.atomic || now.atomic;
            if (raced)
                found(cell.write, true, true);
            else
                write = &cell.write;
        }
        for (const Stamp& read : cell.reads) {
            if (raced || !races(read, now)) continue;
            if (read.reads_back && !now.atomic)
                read_back = &read;
            else if (write != &nobody)
                always = &read;
            else
                found(read, false, true), raced = true;
        }
        const bool is_known = !same_values_.empty() && same_values_.count(&cell) != 0;
        if (write != &nobody || read_back != &nobody || is_known) {
            doubts_.push_back({&cell, address, {}, bytes, *write, *read_back, *always});
            std::memcpy(doubts_.back().before, address, bytes);
        }
        cell.write = now;
        if (access == Access::atomic_update) forget_atomic_reads(cell, now);
        return raced;
    }
    // Whether the thread itself, or one that is ordered before it, has written the value that is there.
    bool has_written(const Cell& cell, const Stamp& now) const {
        const Stamp& last = cell.write;
        if (last.serial == now.serial && last.thread == now.thread && last.block == now.block &&
            !last.atomic)
            return true;
        if (same_values_.empty()) return false;
        const auto found = same_values_.find(&cell);
        if (found == same_values_.end()) return false;
        const Writers& writers = found->second;
        if (writers.serial != now.serial || writers.block != now.block) return false;
        const auto& threads = writers.threads;
        return threads.count(now.thread) != 0 ||
               std::any_of(threads.begin(), threads.end(),
                           [&](const auto& one) { return is_ordered(one.second, now); });
    }
    void settle() {
        if (doubts_.empty()) return;
        bool told = false;
        for (const Doubt& doubt : doubts_) {
            const bool changed = std::memcmp(doubt.before, doubt.address, doubt.bytes) != 0;
            const auto tell = [&](const Stamp& then, bool wrote) {
                if (then.serial != 0 && !std::exchange(told, true)) found(then, wrote, true);
            };
            if (changed) {
                same_values_.erase(doubt.cell);
                tell(doubt.write, true);
                tell(doubt.read, false);
            } else {
                Writers& writers = same_values_[doubt.cell];
                if (writers.serial != doubter_.serial || writers.block != doubter_.block)
                    writers = {doubter_.serial, doubter_.block, {}};
                for (const Stamp& one : {doubt.write, doubter_}) {
                    if (one.serial == doubter_.serial && one.block == doubter_.block)
                        writers.threads[one.thread] = one;
                }
            }
            tell(doubt.always, false);
        }
        doubts_.clear();
    }

    // ------------------------------------------------------------ copies
    Region* region_of_copy(const char* address) {
        if (Memory::instance().on_device(address) || in_program(address) ||
            Memory::instance().shares_host_memory())
            return region_in(page_of(address), address);
        return nullptr;
    }
    static constexpr size_t most_copies =
        256;  // that a region remembers; beyond, some are forgotten
    template <class Condition>
    static void forget_copies(Region& region, Condition condition) {
        auto& copies = region.copies;
        copies.erase(std::remove_if(copies.begin(), copies.end(), condition), copies.end());
    }
    // Notes that a piece of work touches the region. Whether all others that did came before.
    bool joins(Region& region, uint32_t work) {
        if (!region.works.empty() && region.works.back() == work) return region_is_ordered_;
        const auto is_before = [&](uint32_t other) {
            return StreamOrder::instance().is_before(other, work);
        };
        auto& works = region.works;
        works.erase(std::remove_if(works.begin(), works.end(), is_before), works.end());
        region_is_ordered_ = works.empty();
        works.push_back(work);
        // Work of a third stream may still come that nothing orders behind a copy, unless the host has waited for that.
        forget_copies(region, [&](const Region::Copy& copy) {
            return is_before(copy.stamp.serial) &&
                   (StreamOrder::instance().host_knows(copy.stamp.serial) ||
                    region.copies.size() > most_copies);
        });
        return region_is_ordered_;
    }
    void compare_with_cells(const char* begin, const char* end, const Stamp& now, bool write) {
        first_unordered(begin, end, now, write,
                        [&](const Stamp& then, bool wrote, const char* address) {
                            doubter_ = now, doubted_bytes_ = 4, doubted_ = address;
                            found(then, wrote, write);
                        });
    }
    // Shows the visitor the first access to a range that nothing orders before `now`.
    template <class Visitor>
    void first_unordered(const char* begin, const char* end, const Stamp& now, bool reads_count,
                         Visitor visit) {
        each_known_cell(begin, end, [&](Cell& cell, const char* address) {
            const auto tell = [&](const Stamp& then, bool wrote) {
                if (!is_ordered(then, now)) return visit(then, wrote, address), true;
                return false;
            };
            if (tell(cell.write, true)) return true;
            return reads_count && std::any_of(std::begin(cell.reads), std::end(cell.reads),
                                              [&](const Stamp& read) { return tell(read, false); });
        });
    }
    void compare_with_copies(Region& region, const char* begin, size_t bytes, const Stamp& now,
                             bool write) {
        for (const Region::Copy& copy : region.copies) {
            const bool apart = copy.end <= begin || begin + bytes <= copy.begin;
            if (apart || !(write || copy.write) || is_ordered(copy.stamp, now)) continue;
            note_race(copy.stamp, copy.write, now, write, std::max(begin, copy.begin), bytes);
        }
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

    void keep_initialised(Region& region, const char* address, size_t bytes, Access access,
                          const Stamp& now) {
        const size_t begin = static_cast<size_t>(address - region.start);
        const size_t end = std::min(begin + bytes, region.bytes);
        const uint32_t poison = region.shared ? never_written_shared : never_written_device;
        // Some stores the compiler does not announce, that of a returned structure for one; but what
        // nobody has written holds the poison that it was filled with.
        size_t missing = 0;
        for (size_t i = begin; i < end; ++i) {
            const char* const byte = region.start + i;
            if (!region.written[i] && *byte == byte_of(poison, byte)) ++missing;
            if (writes(access)) region.written[i] = true;
        }
        if (!reads(access) || missing == 0) return;
        // Of an element that was written in part, the rest may be what pads a structure.
        note_place(missing < end - begin ? "partly-uninitialised" : "uninitialised", now, false,
                   address, bytes);
    }
    uint64_t storing_ = 0;  // threads of the grid
    // What settle() has to look at: the last access, and where it is in doubt.
    Stamp doubter_;
    const char* doubted_ = nullptr;
    size_t doubted_bytes_ = 0;
    std::vector<Doubt> doubts_;
    // Cells that threads which nothing orders have written with one value.
    std::unordered_map<const Cell*, Writers> same_values_;
    bool region_is_ordered_ = true;
    std::unordered_set<const void*> places_of_host_;
};

// What else hears of it, where there is a film.
#ifdef CUDA_CPU_REPLAY
#define CUDA_CPU_FILMED(call) Film::instance().call
#else
#define CUDA_CPU_FILMED(call) static_cast<void>(0)
#endif

namespace observer {
void grid_begins(const Grid& grid) {
    Races::instance().grid_begins(grid);
    CUDA_CPU_FILMED(grid_begins(name_of(*grid.kernel), grid.shape, grid.depth, grid.facts));
}
void grid_ends(Grid& grid) {
    CUDA_CPU_FILMED(grid_ends());
    if (!Record::instance().wanted()) return;
    Record::instance().stored(name_of(*grid.kernel), grid.shape, grid.depth == 0,
                              Races::instance().storing());
}
void block_begins(unsigned int threads) {
    Races::instance().block_begins(threads);
    CUDA_CPU_FILMED(block_begins(threads));
}
void barrier() {
    Races::instance().barrier();
    CUDA_CPU_FILMED(met());
}
void meeting(unsigned int first, unsigned int lanes, bool orders) {
    if (orders) Races::instance().meeting(first, lanes);
    CUDA_CPU_FILMED(met());
}
void meeting_without(unsigned int first, unsigned int absent, unsigned int mask, const Site& site) {
    Races::instance().meeting_without(first, absent, mask, site);
}
void gives_way() {
    Races::instance().gives_way();
    CUDA_CPU_FILMED(block_gives_way());
}
void goes_on() {
    Races::instance().goes_on();
    CUDA_CPU_FILMED(block_goes_on());
}
void arrives_at_barrier_of_blocks(const void* barrier, uint64_t round) {
    Races::instance().arrives_at_barrier_of_blocks(barrier, round);
}
void leaves_barrier_of_blocks(const void* barrier, uint64_t round) {
    Races::instance().leaves_barrier_of_blocks(barrier, round);
}
void block_ends_among_others() {
    if (current_cluster != nullptr) Races::instance().block_of_cluster_ends();
    CUDA_CPU_FILMED(block_has_ended());
}
void allocated_by_kernel(void* memory, size_t bytes) {
    char* const start = static_cast<char*>(memory);
    fill_with(never_written_device, start, start + bytes);
    Races::instance().add_region(start, bytes, false, false);
}
void freed_by_kernel(const void* memory, size_t bytes, const void* place) {
    Races::instance().freed_by_kernel(static_cast<const char*>(memory), bytes,
                                      static_cast<const char*>(place) - 1);
}
void allocated(const Allocation& allocation) {
    const bool known = allocation.kind != MemoryKind::device;  // host code may write it unseen
    Races::instance().add_region(allocation.start, allocation.bytes, false, known);
}
void released(const Allocation& allocation) {
    CUDA_CPU_FILMED(released(allocation.start));
    Races::instance().removed(allocation.start);
}
void filled(const void* target, size_t bytes) {
    Races::instance().copies(target, bytes, true);
    Races::instance().filled(static_cast<const char*>(target), bytes);
}
void copied(const void* target, const void* source, size_t bytes) {
    Races::instance().copies(source, bytes, false);
    Races::instance().copies(target, bytes, true);
    Races::instance().filled(static_cast<const char*>(target), bytes,
                             static_cast<const char*>(source));
}
void read(const void* source, size_t bytes) { Races::instance().copies(source, bytes, false); }
void enqueued(uint64_t, cudaStream_t stream, StreamKind kind, int device, uint64_t graph) {
    StreamOrder::instance().enqueued(stream, kind, device, graph);
}
void begins(uint64_t number) { StreamOrder::instance().begins(number); }
void ends() { StreamOrder::instance().ends(); }
void stream_waits(cudaStream_t stream, StreamKind kind, int device, uint64_t number) {
    StreamOrder::instance().stream_waits(stream, kind, device, number);
}
void stream_ends(cudaStream_t stream) { StreamOrder::instance().stream_ends(stream); }
void host_waits(uint64_t number) { StreamOrder::instance().host_waits(number); }
void host_waits_for(cudaStream_t stream, StreamKind kind, int device) {
    StreamOrder::instance().host_waits_for(stream, kind, device);
}
void host_waits_for_device(int device) { StreamOrder::instance().host_waits_for_device(device); }
void host_waits_for_all() { StreamOrder::instance().host_waits_for_all(); }
void shared_variable(const char* name, const char* start, size_t bytes) {
    CUDA_CPU_FILMED(shared_variable(name, start, bytes, block_of_shared(start)));
    Races::instance().add_region(start, bytes, true, false);
}
void shared_begins(const char* start, size_t bytes) {
    CUDA_CPU_FILMED(shared_begins(start, block_of_shared(start)));
    Region& region = *Races::instance().region_at(start);
    region.written.assign(bytes, false);
    region.ended = false;
}
// The blocks of a grid have it in one place, one after the other.
void dynamic_shared(const char*, const char*, const char* start, size_t bytes) {
    CUDA_CPU_FILMED(shared_variable("", start, bytes, block_of_shared(start)));
    static thread_local const char* last = nullptr;
    static thread_local size_t last_bytes = 0;
    if (bytes > 0 && start == last && bytes == last_bytes) return shared_begins(start, bytes);
    if (last != nullptr) Races::instance().removed(last);
    last = bytes > 0 ? start : nullptr;
    last_bytes = bytes;
    if (bytes > 0) Races::instance().add_region(start, bytes, true, false);
}
}  // namespace observer

__attribute__((destructor)) inline void finish_races() { Races::instance().finish(); }

// The calls, by their places of return: an access stands just before.
inline const void* before(const void* place) { return static_cast<const char*>(place) - 1; }

inline void Watch::access(const volatile void* pointer, size_t bytes, Access access,
                          const void* place, const void*) {
    if (Ours::here) return;
    const void* const address = const_cast<const void*>(pointer);
    if (!in_kernel()) {
        if (access == Access::read && Races::instance().brings_unwritten())
            Races::instance().read_by_host(static_cast<const char*>(address), bytes, before(place));
        if (Memory::instance().is_shared_with_host(address))
            Races::instance().touch_by_host(address, bytes, access, before(place));
        else if (in_program(address))
            Races::instance().touch_variable_by_host(static_cast<const char*>(address), bytes,
                                                     access, before(place));
        return;
    }
    CUDA_CPU_FILMED(access(static_cast<const char*>(address), bytes, access, place));
    // Who reads one variable again and again waits for another thread, which has its turn then.
    static thread_local const void *last_address, *last_place;
    static thread_local unsigned int times;
    if (access != Access::read || address != last_address || place != last_place) times = 0;
    last_address = address, last_place = place;
    if (++times > 1000000) yield();
    const Ours ours;
    Races::instance().touch(address, bytes, access, before(place));
    if (is_atomic(access)) Races::instance().synchronise(address, writes(access));
}
inline void Watch::range(const void* address, size_t bytes, Access access, const void* place,
                         const void* frame) {
    Watch::access(address, bytes, access, place, frame);
}
inline void Watch::fence() {
    if (in_kernel()) Races::instance().fence();
}
inline bool Watch::counts_failures() { return true; }

#undef CUDA_CPU_FILMED

}  // namespace cuda_cpu
