// What `make sanitize` hears of races and their kin: each finding once, and how often it came.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "calls.h"
#include "faults.h"
#include "race_memory.h"

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

    std::map<std::pair<uint32_t, uint32_t>, Finding> findings_;
};

}  // namespace cuda_cpu
