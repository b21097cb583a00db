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

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "calls.h"
#include "faults.h"
#include "observer.h"
#include "record.h"

namespace cuda_cpu {

// When a thread did something: the barriers that its block had passed, then its own steps.
using Time = uint64_t;

// What one thread knows of others by fences and atomic operations.
struct Knowledge {
    std::unordered_map<uint32_t, uint32_t> blocks;  // all before this barrier of the block
    std::unordered_map<uint64_t, Time> threads;     // all up to this time of the thread
    std::unordered_map<uint32_t, uint32_t> fenced;  // all before a fence before this barrier

    template <class Map, class Key, class Value>
    static void raise(Map& map, Key key, Value value) {
        auto& known = map[key];
        if (known < value) known = value;
    }
    void join(const Knowledge& other) {
        for (const auto& [block, barriers] : other.blocks) raise(blocks, block, barriers);
        for (const auto& [thread, time] : other.threads) raise(threads, thread, time);
        for (const auto& [block, barriers] : other.fenced) raise(fenced, block, barriers);
    }
};

// Who touched a word, when, and where in the program.
struct Stamp {
    uint32_t serial = 0;  // of the launch; of the block, for shared memory; 0: nobody
    uint32_t block = 0;
    uint32_t place = 0;  // an address of the program, which lies low
    uint32_t barriers = 0, steps = 0;
    uint16_t thread = 0;
    bool atomic = false;
};

struct Cell {
    Stamp write;
    Stamp reads[3];
};

// A variable of shared memory or an allocation.
struct Region {
    const char* start;
    size_t bytes;
    bool shared;
    std::vector<bool> written;  // by the byte; empty if everything counts as written
};

struct Page {
    static constexpr uintptr_t bytes = 4096;
    Cell words[bytes / 4];
    std::unordered_map<unsigned int, std::array<Cell, 4>> split;  // words that are used in pieces
    std::vector<Region*> regions;
};

class Races {
 public:
    static Races& instance() {
        static Races& races = *new Races;
        return races;
    }

    // ------------------------------------------------------------ what the runtime tells
    void grid_begins() {
        ++grid_serial_;
        synchronised_.clear();
        fences_.clear();
        storing_ = 0;
    }
    // How many threads of the grid that has run stored to global memory.
    uint64_t storing() const { return storing_; }
    void block_begins(unsigned int threads) {
        settle();
        ++block_serial_;
        block_ = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        barriers_ = 0;
        steps_.assign(threads, 1);
        has_stored_.assign(threads, false);
        met_.assign(threads, {});
        fenced_.assign(threads, 0);
        first_fence_ = ~uint32_t{0};
        knows_.assign(threads, nullptr);
        block_knows_ = {};
        // What is atomic in shared memory orders nothing for the next block.
        synchronised_shared_.clear();
    }
    void barrier() {
        ++barriers_;
        for (auto& knowledge : knows_) {
            if (knowledge == nullptr) continue;
            block_knows_.join(*knowledge);
            knowledge = nullptr;
        }
    }
    void meeting(unsigned int first, unsigned int lanes) {
        std::array<uint32_t, 32> common{};
        std::shared_ptr<Knowledge> knowledge;
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            const unsigned int thread = first + static_cast<unsigned int>(__builtin_ctz(rest));
            for (unsigned int i = 0; i < 32; ++i) common[i] = std::max(common[i], met_[thread][i]);
            common[thread - first] = steps_[thread]++;
            if (knows_[thread] == nullptr) continue;
            if (knowledge == nullptr) knowledge = std::make_shared<Knowledge>();
            knowledge->join(*knows_[thread]);
        }
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            const unsigned int thread = first + static_cast<unsigned int>(__builtin_ctz(rest));
            met_[thread] = common;
            if (knowledge != nullptr) knows_[thread] = std::make_shared<Knowledge>(*knowledge);
        }
    }

    Region* add_region(const char* start, size_t bytes, bool shared, bool written) {
        Region* const region = &(regions_[start] = Region{start, bytes, shared, {}});
        if (!written) region->written.assign(bytes, false);
        return region;
    }
    void remove_region(const char* start) {
        const auto found = regions_.find(start);
        if (found == regions_.end()) return;
        const uintptr_t first = key_of(start), last = key_of(start + found->second.bytes - 1);
        for (uintptr_t key = first; key <= last; ++key) pages_.erase(key);
        recent_ = {};
        regions_.erase(found);
    }
    Region* region_at(const char* address) {
        const auto next = regions_.upper_bound(address);
        if (next == regions_.begin()) return nullptr;
        Region* const region = &std::prev(next)->second;
        return address < region->start + region->bytes ? region : nullptr;
    }
    void filled(const char* target, size_t bytes, const char* source = nullptr) {
        Region* const to = region_at(target);
        if (to == nullptr || to->written.empty()) return;
        const Region* const from = source == nullptr ? nullptr : region_at(source);
        const bool copied = from != nullptr && !from->written.empty();
        const size_t at = static_cast<size_t>(target - to->start);
        for (size_t i = 0; i < bytes; ++i) {
            to->written[at + i] =
                !copied || from->written[static_cast<size_t>(source - from->start) + i];
        }
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
        const unsigned int thread = number();
        fenced_[thread] = time_of(thread);
        ++steps_[thread];
        first_fence_ = std::min(first_fence_, barriers_);
        auto& fences = fences_[key_of_thread(block_, thread)];
        if (fences.empty() || fences.back() >> 32 != barriers_) fences.push_back(0);
        fences.back() = fenced_[thread];
    }
    // After an atomic operation of this thread on an address.
    void synchronise(const void* pointer, bool writes) {
        const char* const address = static_cast<const char*>(pointer);
        const bool shared =
            Core::mine().in_shared_arena(address) || Core::mine().in_dynamic_shared(address);
        auto& map = shared ? synchronised_shared_ : synchronised_;
        const unsigned int thread = number();
        const auto found = map.find(address);
        if (found != map.end()) own_knowledge(thread).join(found->second);
        const bool fenced_before_barrier = first_fence_ < barriers_;
        if (!writes || (fenced_[thread] == 0 && !fenced_before_barrier)) return;
        Knowledge& released = map[address];
        released.join(block_knows_);
        // A fence orders what its thread did before all that comes after it, and so does the barrier:
        // what the others fenced before the barrier lies before what this thread does now.
        if (fenced_before_barrier) Knowledge::raise(released.fenced, block_, barriers_);
        if (fenced_[thread] == 0) return;
        Knowledge::raise(released.threads, key_of_thread(block_, thread), fenced_[thread]);
        Knowledge::raise(released.blocks, block_, static_cast<uint32_t>(fenced_[thread] >> 32));
        const unsigned int first = thread / 32 * 32;
        for (unsigned int lane = 0; lane < 32; ++lane) {
            if (met_[thread][lane] == 0) continue;
            Knowledge::raise(released.threads, key_of_thread(block_, first + lane),
                             Time{barriers_} << 32 | met_[thread][lane]);
        }
        if (knows_[thread] != nullptr) released.join(*knows_[thread]);
    }

    // Writes how often each finding came, at the end.
    void finish() {
        settle();
        if (!findings_are_wanted()) return;
        for (const auto& [key, finding] : findings_) {
            if (finding.count > 1)
                write_finding(format("\"id\": %d, \"count\": %llu", finding.id, finding.count));
        }
    }

 private:
    struct Finding {
        int id = 0;
        unsigned long long count = 0;
        int width = -1;  // how far apart the two threads are: in a warp, a block, a grid
    };
    // Two writes of the same value harm nobody. Whether they are the same is seen only after the
    // second one, that is at the next call.
    struct Pending {
        const char* address = nullptr;
        size_t bytes = 0;
        char before[16];
        Stamp first, second;
    };

    static uintptr_t key_of(const char* address) {
        return reinterpret_cast<uintptr_t>(address) / Page::bytes;
    }
    static uint64_t key_of_thread(uint32_t block, unsigned int thread) {
        return uint64_t{block} << 10 | thread;
    }
    static unsigned int number() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    Time time_of(unsigned int thread) const { return Time{barriers_} << 32 | steps_[thread]; }
    Knowledge& own_knowledge(unsigned int thread) {
        if (knows_[thread] == nullptr) knows_[thread] = std::make_shared<Knowledge>();
        return *knows_[thread];
    }

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

    Page& page_of(const char* address) {
        const uintptr_t key = key_of(address);
        auto& [recent_key, recent_page] = recent_[key % recent_.size()];
        if (recent_key == key && recent_page != nullptr) return *recent_page;
        std::unique_ptr<Page>& page = pages_[key];
        if (page == nullptr) page = std::make_unique<Page>();
        recent_key = key;
        recent_page = page.get();
        return *page;
    }
    Region* region_in(Page& page, const char* address) {
        for (Region* const region : page.regions) {
            if (address >= region->start && address < region->start + region->bytes) return region;
        }
        Region* region = region_at(address);
        if (region == nullptr && in_program(address)) region = add_variable(address);
        if (region == nullptr && !Memory::instance().on_device(address)) {
            const Allocation* const pinned = Memory::instance().find_unlocked(address);
            if (pinned != nullptr) region = add_region(pinned->start, pinned->bytes, false, true);
        }
        if (region != nullptr) page.regions.push_back(region);
        return region;
    }
    // Of the program's own variables nothing is known: a page of them is a region.
    Region* add_variable(const char* address) {
        return add_region(reinterpret_cast<const char*>(key_of(address) * Page::bytes), Page::bytes,
                          false, true);
    }

    Stamp stamp(const Region& region, bool atomic, const void* place) const {
        const unsigned int thread = number();
        Stamp now;
        now.serial = region.shared ? block_serial_ : grid_serial_;
        now.block = block_;
        now.place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place));
        now.barriers = barriers_;
        now.steps = steps_[thread];
        now.thread = static_cast<uint16_t>(thread);
        now.atomic = atomic;
        return now;
    }

    // Whether the thread passed a fence after this access, and that before this barrier of its block.
    bool is_fenced(const Stamp& then, uint32_t barrier) const {
        const auto found = fences_.find(key_of_thread(then.block, then.thread));
        if (found == fences_.end()) return false;
        const Time time = Time{then.barriers} << 32 | then.steps;
        const auto fence = std::lower_bound(found->second.begin(), found->second.end(), time);
        return fence != found->second.end() && *fence >> 32 < barrier;
    }
    // Whether an earlier access surely came before what the running thread does now.
    bool is_ordered(const Stamp& then, const Stamp& now) const {
        if (then.serial != now.serial) return true;
        if (then.block == now.block) {
            if (then.thread == now.thread || then.barriers < now.barriers) return true;
            const bool same_warp = then.thread / 32 == now.thread / 32;
            if (same_warp && then.steps <= met_[now.thread][then.thread % 32]) return true;
        }
        const auto known = [&](const Knowledge& knowledge) {
            const auto block = knowledge.blocks.find(then.block);
            if (block != knowledge.blocks.end() && then.barriers < block->second) return true;
            const auto fenced = knowledge.fenced.find(then.block);
            if (fenced != knowledge.fenced.end() && is_fenced(then, fenced->second)) return true;
            const auto thread = knowledge.threads.find(key_of_thread(then.block, then.thread));
            return thread != knowledge.threads.end() &&
                   (Time{then.barriers} << 32 | then.steps) <= thread->second;
        };
        return known(block_knows_) || (knows_[now.thread] != nullptr && known(*knows_[now.thread]));
    }

    // Shows the visitor every word that is touched, or the bytes of one that is touched in part,
    // until it has seen enough.
    template <class Visitor>
    void each_cell(const char* address, size_t bytes, Visitor visit) {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(address), end = begin + bytes;
        for (uintptr_t word = begin / 4 * 4; word < end; word += 4) {
            Page& page = page_of(reinterpret_cast<const char*>(word));
            const auto index = static_cast<unsigned int>(word % Page::bytes / 4);
            const bool whole = word >= begin && word + 4 <= end;
            auto found = page.split.empty() ? page.split.end() : page.split.find(index);
            if (whole && found == page.split.end()) {
                if (visit(page.words[index])) return;
                continue;
            }
            if (found == page.split.end()) {
                const Cell& cell = page.words[index];
                found =
                    page.split.emplace(index, std::array<Cell, 4>{cell, cell, cell, cell}).first;
            }
            for (uintptr_t byte = std::max(begin, word); byte < std::min(end, word + 4); ++byte) {
                if (visit(found->second[byte % 4])) return;
            }
        }
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
    // A finding about one access.
    void note_place(const char* kind, const Stamp& now, bool writes, const char* address,
                    size_t bytes) {
        note_finding({static_cast<uint32_t>(*kind), now.place}, 0, [&](int id) {
            return format("\"id\": %d, \"kind\": \"%s\", \"second\": {%s}, ", id, kind,
                          describe_side(now, writes).c_str()) +
                   describe_memory(address, bytes);
        });
    }

    // Shared variables and allocations do not touch each other: what lies between is nobody's. Freed
    // memory is closed: the access itself ends the run, and is told there.
    void note_outside(const char* address, size_t bytes, Access access, const void* place) {
        const Allocation* const allocation = missed(address).allocation;
        if (allocation != nullptr && allocation->freed) return;
        const auto number = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place));
        const std::string owner = owner_of(address);
        note_finding({'b', number}, 0, [&](int id) {
            return format("\"id\": %d, \"kind\": \"bounds\", \"description\": \"nobody's\", ", id) +
                   format("\"write\": %d, \"size\": %zu, ", writes(access), bytes) +
                   format("\"frames\": [%u], ", number) + who() +
                   (owner.empty() ? ", \"text\": \"\"" : ", " + owner);
        });
    }

    void note_race(const Stamp& first, bool wrote, const Stamp& second, bool writes,
                   const char* address, size_t bytes) {
        const auto key = std::minmax(first.place, second.place);
        const bool same_warp = first.thread / 32 == second.thread / 32;
        note_finding(
            key,
            first.block != second.block ? 2
            : same_warp                 ? 0
                                        : 1,
            [&](int id) {
                return format("\"id\": %d, \"kind\": \"race\", \"first\": {%s}, \"second\": {%s}, ",
                              id, describe_side(first, wrote).c_str(),
                              describe_side(second, writes).c_str()) +
                       describe_memory(address, bytes);
            });
    }
    // Writes a finding when it comes for the first time, and again between threads further apart.
    template <class Describe>
    void note_finding(std::pair<uint32_t, uint32_t> key, int width, Describe describe) {
        Finding& finding = findings_[key];
        ++finding.count;
        if (width <= finding.width || !findings_are_wanted()) return;
        finding.width = width;
        if (finding.id == 0) finding.id = static_cast<int>(findings_.size());
        write_finding(describe(finding.id));
    }

    static std::string describe_side(const Stamp& side, bool writes) {
        const uint3 block = {side.block % gridDim.x, side.block / gridDim.x % gridDim.y,
                             side.block / (gridDim.x * gridDim.y)};
        const uint3 thread = {side.thread % blockDim.x, side.thread / blockDim.x % blockDim.y,
                              side.thread / (blockDim.x * blockDim.y)};
        return format(
            "\"place\": %u, \"block\": \"%s\", \"thread\": \"%s\", \"write\": %d, "
            "\"atomic\": %d, \"warp\": %u, \"warps\": %u, \"number\": %u",
            side.place, to_string(block).c_str(), to_string(thread).c_str(), writes, side.atomic,
            side.thread / 32u, (blockDim.x * blockDim.y * blockDim.z + 31) / 32, side.block);
    }
    // Which memory: a variable with the place in it, or an allocation with the argument that leads
    // there.
    static std::string describe_memory(const char* address, size_t bytes) {
        std::string text =
            format("\"address\": %zu, \"size\": %zu, \"kernel\": %s",
                   reinterpret_cast<size_t>(address), bytes, json(current_kernel()).c_str());
        if (const Core::SharedPlace* const place = Core::mine().shared_near(address)) {
            return text + format(", \"variable\": %s, \"offset\": %td, \"bytes\": %zu",
                                 json(place->name).c_str(), address - place->start, place->bytes);
        }
        const Allocation* const allocation = Memory::instance().find_unlocked(address);
        if (allocation == nullptr) return text;
        const LaunchFacts& facts = current_grid->facts;
        return text +
               format(", \"offset\": %td, \"bytes\": %zu, \"position\": %d",
                      address - allocation->start, allocation->bytes,
                      facts.position_of(*allocation)) +
               ", \"arguments\": " + json(facts.arguments);
    }

    uint32_t grid_serial_ = 0, block_serial_ = 0, block_ = 0, barriers_ = 0;
    uint64_t storing_ = 0;                           // threads of the grid
    std::vector<bool> has_stored_;                   // by thread
    std::vector<uint32_t> steps_;                    // by thread
    std::vector<std::array<uint32_t, 32>> met_;      // by thread: what it knows of its warp
    std::vector<Time> fenced_;                       // by thread: its last fence
    uint32_t first_fence_ = 0;                       // of the block: after how many barriers
    std::vector<std::shared_ptr<Knowledge>> knows_;  // by thread
    Knowledge block_knows_;                          // since the last barrier
    // Of the grid, by key_of_thread: for each stretch between barriers the last fence in it.
    std::unordered_map<uint64_t, std::vector<Time>> fences_;
    std::unordered_map<const char*, Knowledge> synchronised_, synchronised_shared_;  // by address
    std::map<const char*, Region> regions_;  // by their starts
    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
    std::array<std::pair<uintptr_t, Page*>, 64> recent_{};
    std::map<std::pair<uint32_t, uint32_t>, Finding> findings_;
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
