// What one request of a warp asks of memory: sectors, wavefronts, bytes.
#pragma once

#include <algorithm>
#include <vector>

#include "figures.h"

namespace cuda_cpu {

// The lanes of a warp that do one step together.
struct Step {
    unsigned int count = 0;
    const Event* events[32];
    unsigned int lanes[32];
};

// Distinct numbers, in order; most come in order.
class Distinct {
 public:
    void clear() { count_ = 0; }
    void add(uint64_t value) {
        if (count_ == 0 || value > values_[count_ - 1]) {
            values_[count_++] = value;
            return;
        }
        uint64_t* const end = values_ + count_;
        uint64_t* const found = std::lower_bound(values_, end, value);
        if (*found == value) return;
        std::copy_backward(found, end, end + 1);
        *found = value;
        ++count_;
    }
    unsigned int count() const { return count_; }
    const uint64_t* begin() const { return values_; }
    const uint64_t* end() const { return values_ + count_; }

 private:
    uint64_t values_[32 * 16];  // 32 lanes, 16 bytes each
    unsigned int count_ = 0;
};

// Judges the requests of the block that one core runs.
class Requests {
 protected:
    Figures look_at(const Step& step) {
        Figures figures;
        figures.requests = 1;
        figures.lanes = step.count;
        const Event& first = *step.events[0];
        bool apart = false;
        sectors_.clear();
        words_.clear();
        starts_.clear();
        const bool in_sectors = first.space != Space::shared;
        uint64_t distinct_end = 0;
        for (unsigned int i = 0; i < step.count; ++i) {
            const Event& event = *step.events[i];
            apart = apart || event.address != first.address;
            figures.asked += event.bytes;
            if (in_sectors) {
                sectors_.add(event.address / 32);
                sectors_.add((event.address + event.bytes - 1) / 32);
            }
            starts_.add(event.address);
        }
        figures.apart = apart;
        for (const uint64_t start : starts_) {
            const uint64_t end = start + first.bytes, from = std::max(start, distinct_end);
            if (end > from) figures.bytes += end - from;
            distinct_end = std::max(end, distinct_end);
        }
        if (first.what == What::atomic) count_same(step, figures);
        if (first.space == Space::shared) return with_wavefronts(step, figures);
        figures.units = sectors_.count();
        figures.least = (figures.bytes + 31) / 32;
        if (first.space == Space::global) mark(step);
        return figures;
    }

    // Another launch has allocations of its own.
    void forget_allocations() { known_.clear(); }

 private:
    // For atomics: the most lanes that want the same address.
    void count_same(const Step& step, Figures& figures) {
        uint64_t most = 0;
        for (const uint64_t start : starts_) {
            uint64_t same = 0;
            for (unsigned int i = 0; i < step.count; ++i) same += step.events[i]->address == start;
            most = std::max(most, same);
        }
        figures.same = figures.most = most;
    }

    // Accesses of 8 bytes are served by half warps, those of 16 by quarters. Within such a part each
    // of the 32 banks gives one word of 4 bytes at a time, to all lanes that want it.
    Figures with_wavefronts(const Step& step, Figures figures) {
        const unsigned int bytes = step.events[0]->bytes;
        const unsigned int lanes_at_once = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
        unsigned int ways = 1;
        for (unsigned int part = 0; part < 32; part += lanes_at_once) {
            words_.clear();
            for (unsigned int i = 0; i < step.count; ++i) {
                if (step.lanes[i] < part || step.lanes[i] >= part + lanes_at_once) continue;
                const uint64_t address = step.events[i]->address;
                for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
                    words_.add(word);
                }
            }
            if (words_.count() == 0) continue;
            unsigned int of_bank[32] = {}, most = 0;
            for (const uint64_t word : words_) most = std::max(most, ++of_bank[word % 32]);
            figures.units += most;
            figures.conflicts += most - 1;
            ways = std::max(ways, most);
        }
        figures.least = figures.units - figures.conflicts;
        if (step.events[0]->what != What::atomic) figures.most = ways;
        return figures;
    }

    // Notes which bytes of an allocation were read and written.
    void mark(const Step& step) {
        const bool reads = step.events[0]->what != What::store;
        const bool writes = step.events[0]->what != What::load;
        for (unsigned int i = 0; i < step.count; ++i) {
            const char* const address = reinterpret_cast<const char*>(step.events[i]->address);
            Touched* const touched = touched_at(address);
            if (touched == nullptr) continue;
            const size_t offset = static_cast<size_t>(address - touched->start);
            if (offset + step.events[i]->bytes > touched->bytes) continue;
            if (reads) Touched::mark(touched->read, offset, step.events[i]->bytes);
            if (writes) Touched::mark(touched->written, offset, step.events[i]->bytes);
        }
    }
    Touched* touched_at(const char* address) {
        for (Touched* const touched : known_) {
            if (address >= touched->start && address < touched->start + touched->bytes) {
                return touched;
            }
        }
        const Allocation* const allocation = Memory::instance().find(address);
        if (allocation == nullptr) return nullptr;
        Touched* const touched = &Launch::instance().touched(*allocation);
        if (address >= touched->start + touched->bytes) return nullptr;
        known_.push_back(touched);
        return touched;
    }

    Distinct sectors_, words_, starts_;
    std::vector<Touched*> known_;
};

}  // namespace cuda_cpu
