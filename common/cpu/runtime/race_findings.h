// What `make sanitize` hears of races and their kin: each finding once, and how often it came.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "calls.h"
#include "faults.h"
#include "kernel_heap.h"
#include "race_memory.h"
#include "stream_order.h"

namespace cuda_cpu {

class RaceFindings {
 protected:
    // A finding about one access.
    void note_place(const char* kind, const Stamp& now, bool writes, const char* address,
                    size_t bytes) {
        note_finding({static_cast<uint32_t>(*kind), now.place}, 0, [&](int id) {
            return format("\"id\": %d, \"kind\": \"%s\", \"second\": {%s}, ", id, kind,
                          describe_side(now, writes).c_str()) +
                   describe_memory(address, bytes);
        });
    }

    // A lane that a mask names is not there, and has been at this place.
    void note_passed(uint32_t place, unsigned int lane, unsigned int mask, const Site& site) {
        note_finding({'w' << 20 | static_cast<uint32_t>(site.line), place}, 0, [&](int id) {
            return format(
                       "\"id\": %d, \"kind\": \"passed\", \"place\": %u, \"lane\": %u, "
                       "\"mask\": \"0x%08x\", \"file\": %s, \"line\": %d, ",
                       id, place, lane, mask, json(site.file).c_str(), site.line) +
                   who();
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

    static constexpr int frees = 2;  // an access that is neither a read nor a write
    void note_race(const Stamp& first, bool wrote, const Stamp& second, int writes,
                   const char* address, size_t bytes) {
        const int width = first.serial != second.serial             ? 3
                          : first.block != second.block             ? 2
                          : first.thread / 32 != second.thread / 32 ? 1
                                                                    : 0;
        note_finding(std::minmax(place_of(first), place_of(second)), width, [&](int id) {
            return format("\"id\": %d, \"kind\": \"race\", \"first\": {", id) +
                   describe_side(first, wrote) + "}, \"second\": {" +
                   describe_side(second, writes) + "}, " + describe_memory(address, bytes);
        });
    }
    // Writes how often each finding came, at the end.
    void finish_findings() {
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

    // Writes a finding when it comes for the first time, and again between threads further apart.
    template <class Describe>
    void note_finding(std::pair<uint32_t, uint32_t> key, int width, Describe describe) {
        const Ours ours;
        Finding& finding = findings_[key];
        ++finding.count;
        if (width <= finding.width || !findings_are_wanted()) return;
        finding.width = width;
        if (finding.id == 0) finding.id = static_cast<int>(findings_.size());
        write_finding(describe(finding.id));
    }

    static bool is_of_kernel(const Stamp& side) {
        return side.serial >> 31 != 0 || !work_of(side).kernel.empty();
    }
    static const StreamOrder::Work& work_of(const Stamp& side) {
        return StreamOrder::instance().work(side.serial);
    }
    // Where in the program; of a copy something that is the same for all that are asked for there.
    static uint32_t place_of(const Stamp& side) {
        if (side.place != 0) return side.place;
        uint32_t hash = 0;
        for (const void* const frame : work_of(side).frames)
            hash = hash * 31 + static_cast<uint32_t>(reinterpret_cast<uintptr_t>(frame));
        return hash;
    }
    static std::string describe_side(const Stamp& side, int writes) {
        const bool shared = side.serial >> 31 != 0;
        const StreamOrder::Work& work = work_of(shared ? Stamp{} : side);
        const std::string text =
            format("\"place\": %u, \"write\": %d, \"atomic\": %d, \"work\": %u, \"graph\": %llu, ",
                   side.place, writes, side.atomic, shared ? 0 : side.serial,
                   static_cast<unsigned long long>(work.graph));
        if (!is_of_kernel(side) && side.place != 0)
            return text +
                   format("\"by\": \"host\", \"in_stream\": %d", work.stream != StreamOrder::host);
        if (!is_of_kernel(side)) {
            std::string frames;
            for (const void* const frame : work_of(side).frames) {
                frames += format("%s%zu", frames.empty() ? "" : ", ",
                                 reinterpret_cast<size_t>(frame) - 1);
            }
            return text + "\"by\": \"copy\", \"frames\": [" + frames + "]";
        }
        const dim3 grid = shared ? gridDim : work_of(side).grid;
        const dim3 block = shared ? blockDim : work_of(side).block;
        const uint3 in_grid = {side.block % grid.x, side.block / grid.x % grid.y,
                               side.block / (grid.x * grid.y)};
        const uint3 thread = {side.thread % block.x, side.thread / block.x % block.y,
                              side.thread / (block.x * block.y)};
        return text +
               format("\"by\": %s, ",
                      json(shared ? current_kernel() : work_of(side).kernel.c_str()).c_str()) +
               format(
                   "\"block\": \"%s\", \"thread\": \"%s\", \"warp\": %u, \"warps\": %u, "
                   "\"number\": %u",
                   to_string(in_grid).c_str(), to_string(thread).c_str(), side.thread / 32u,
                   (block.x * block.y * block.z + 31) / 32, side.block);
    }
    // Which memory: a variable with the place in it, or an allocation with the argument that leads
    // there.
    static std::string describe_memory(const char* address, size_t bytes) {
        std::string text =
            format("\"address\": %zu, \"size\": %zu, \"kernel\": %s",
                   reinterpret_cast<size_t>(address), bytes, json(current_kernel()).c_str());
        const Core::SharedPlace* const place = shared_near(address);
        if (place != nullptr) {
            return text + format(", \"variable\": %s, \"offset\": %td, \"bytes\": %zu",
                                 json(place->name).c_str(), address - place->start, place->bytes);
        }
        if (const auto [start, end, living] = KernelHeap::instance().piece_at(address); living)
            return text + format(", \"heap\": 1, \"offset\": %td, \"bytes\": %td", address - start,
                                 end - start);
        const Allocation* const allocation = Memory::instance().find_unlocked(address);
        if (allocation == nullptr) return text;
        text += format(", \"offset\": %td, \"bytes\": %zu, \"pinned\": %d",
                       address - allocation->start, allocation->bytes, is_pinned(*allocation));
        if (current_grid == nullptr) return text;
        const LaunchFacts& facts = current_grid->facts;
        return text + format(", \"position\": %d", facts.position_of(*allocation)) +
               ", \"arguments\": " + json(facts.arguments);
    }

    std::map<std::pair<uint32_t, uint32_t>, Finding> findings_;
};

}  // namespace cuda_cpu
