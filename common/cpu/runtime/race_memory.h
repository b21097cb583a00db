// What is kept of the memory that threads share: who touched each word last, and what was written.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "memory.h"

namespace cuda_cpu {

// Who touched a word, when, and where in the program.
struct Stamp {
    uint32_t serial = 0;  // of the work; of the block, for shared memory; 0: nobody
    uint32_t block = 0;
    uint32_t place = 0;  // an address of the program, which lies low
    uint32_t barriers = 0, steps = 0;
    uint16_t thread = 0;
    bool atomic = false;
    bool reads_back = false;  // a value that the same thread has written there
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
    std::vector<bool> written;         // by the byte; empty if everything counts as written
    std::vector<uint32_t> works = {};  // the last of each stream that touched it
    bool ended = false;                // its block, of a cluster, has
    // What copies have touched, as long as it may matter.
    struct Copy {
        const char *begin, *end;
        Stamp stamp;
        bool write;
    };
    std::vector<Copy> copies = {};
};

struct Page {
    static constexpr uintptr_t bytes = 4096;
    Cell words[bytes / 4];
    std::unordered_map<unsigned int, std::array<Cell, 4>> split;  // words that are used in pieces
    std::vector<Region*> regions;
};

class RaceMemory {
 public:
    Region* add_region(const char* start, size_t bytes, bool shared, bool written) {
        Region* const region = &(regions_[start] = Region{start, bytes, shared, {}, {}, {}});
        if (!written) region->written.assign(bytes, false);
        return region;
    }
    void remove_region(const char* start) {
        const auto found = regions_.find(start);
        if (found == regions_.end()) return;
        Region* const region = &found->second;
        each_known_cell(start, start + region->bytes, [](Cell& cell, const char*) {
            cell = {};
            return false;
        });
        for (uintptr_t key = key_of(start); key <= key_of(start + region->bytes - 1); ++key) {
            const auto page = pages_.find(key);
            if (page == pages_.end()) continue;
            auto& regions = page->second->regions;
            regions.erase(std::remove(regions.begin(), regions.end(), region), regions.end());
            if (regions.empty()) pages_.erase(page);
        }
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
        const Region* const from = source == nullptr ? nullptr : region_at(source);
        const bool copied = from != nullptr && !from->written.empty();
        const auto was_written = [&](size_t i) {
            return !copied || from->written[static_cast<size_t>(source - from->start) + i];
        };
        if (to == nullptr || to->written.empty()) {
            brought_to_host(target, bytes, was_written);
            return;
        }
        const size_t at = static_cast<size_t>(target - to->start);
        for (size_t i = 0; i < bytes; ++i) to->written[at + i] = was_written(i);
    }
    // Whether a copy from the device has brought an element to the host that nobody had written there, and nobody
    // has written it since.
    bool brings_unwritten() const { return brings_unwritten_; }
    bool is_unwritten_at_host(const char* address, size_t bytes) const {
        auto piece = unwritten_at_host_.upper_bound(address);
        return piece != unwritten_at_host_.begin() && address + bytes <= (--piece)->second &&
               holds(never_written_device, address, address + bytes);
    }

 protected:
    // Shows the visitor every word that is touched, or the bytes of one that is touched in part, and
    // where it lies, until it has seen enough.
    template <class Visitor>
    void each_cell(const char* address, size_t bytes, Visitor visit) {
        const uintptr_t begin = reinterpret_cast<uintptr_t>(address), end = begin + bytes;
        for (uintptr_t word = begin / 4 * 4; word < end; word += 4) {
            Page& page = page_of(reinterpret_cast<const char*>(word));
            const auto index = static_cast<unsigned int>(word % Page::bytes / 4);
            const bool whole = word >= begin && word + 4 <= end;
            auto found = page.split.empty() ? page.split.end() : page.split.find(index);
            if (whole && found == page.split.end()) {
                if (visit(page.words[index], reinterpret_cast<const char*>(word), 4)) return;
                continue;
            }
            if (found == page.split.end()) {
                const Cell& cell = page.words[index];
                found =
                    page.split.emplace(index, std::array<Cell, 4>{cell, cell, cell, cell}).first;
            }
            for (uintptr_t byte = std::max(begin, word); byte < std::min(end, word + 4); ++byte) {
                if (visit(found->second[byte % 4], reinterpret_cast<const char*>(byte), 1)) return;
            }
        }
    }

    // The same for words of a range that somebody has touched before.
    template <class Visitor>
    void each_known_cell(const char* begin, const char* end, Visitor visit) {
        for (uintptr_t key = key_of(begin); key <= key_of(end - 1); ++key) {
            if (pages_.count(key) == 0) continue;
            const char* const page = reinterpret_cast<const char*>(key * Page::bytes);
            const char* const first = std::max(begin, page);
            bool enough = false;
            each_cell(first, static_cast<size_t>(std::min(end, page + Page::bytes) - first),
                      [&](Cell& cell, const char* address, size_t) {
                          return enough = visit(cell, address);
                      });
            if (enough) return;
        }
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

 private:
    template <class Written>
    void brought_to_host(const char* target, size_t bytes, Written was_written) {
        const char* const end = target + bytes;
        auto piece = unwritten_at_host_.lower_bound(target);
        if (piece != unwritten_at_host_.begin() && std::prev(piece)->second > target) --piece;
        while (piece != unwritten_at_host_.end() && piece->first < end) {
            const auto [first, last] = *piece;
            piece = unwritten_at_host_.erase(piece);
            if (first < target) unwritten_at_host_[first] = target;
            if (last > end) unwritten_at_host_[end] = last;
        }
        for (size_t i = 0; i < bytes; ++i) {
            if (was_written(i)) continue;
            brings_unwritten_ = true;
            const char* const first = target + i;
            while (i < bytes && !was_written(i)) ++i;
            unwritten_at_host_[first] = target + i;
        }
    }
    static uintptr_t key_of(const char* address) {
        return reinterpret_cast<uintptr_t>(address) / Page::bytes;
    }
    // Of the program's own variables nothing is known: a page of them is a region.
    Region* add_variable(const char* address) {
        return add_region(reinterpret_cast<const char*>(key_of(address) * Page::bytes), Page::bytes,
                          false, true);
    }

    std::map<const char*, Region> regions_;                 // by their starts
    std::map<const char*, const char*> unwritten_at_host_;  // pieces, from where to where
    std::atomic<bool> brings_unwritten_{false};
    std::unordered_map<uintptr_t, std::unique_ptr<Page>> pages_;
    std::array<std::pair<uintptr_t, Page*>, 64> recent_{};
};

}  // namespace cuda_cpu
