// What comes before what: barriers, meetings of a warp, fences and atomic operations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "race_memory.h"
#include "scheduler.h"
#include "stream_order.h"

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

class RaceOrder {
 public:
    void grid_begins(const Grid& grid) {
        StreamOrder::instance().grid_begins(grid);
        work_ = StreamOrder::instance().current();
        synchronised_.clear();
        fences_.clear();
    }
    void block_begins(unsigned int threads) {
        block_serial_ = (block_serial_ + 1) | of_block;
        block_ = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        barriers_ = 0;
        steps_.assign(threads, 1);
        last_places_.assign(threads, 0);
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

    void fence() {
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

 protected:
    Stamp stamp(const Region& region, bool atomic, const void* place) {
        const unsigned int thread = number();
        last_places_[thread] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place));
        Stamp now;
        now.serial = region.shared ? block_serial_ : work_;
        now.block = block_;
        now.place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place));
        now.barriers = barriers_;
        now.steps = steps_[thread];
        now.thread = static_cast<uint16_t>(thread);
        now.atomic = atomic;
        return now;
    }

    std::vector<uint32_t> last_places_;  // by thread: its last access

    // What host code or a copy does.
    static Stamp stamp_of_work(const void* place) {
        Stamp now;
        now.serial = StreamOrder::instance().current();
        now.place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place));
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
        if (then.serial != now.serial) return is_before(then.serial, now.serial);
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

 private:
    bool is_before(uint32_t then, uint32_t now) const {
        if (then == 0 || (now & of_block) != 0) return true;
        if (then == known_.first && now == known_.second) return true;  // as most of the time
        if (!StreamOrder::instance().is_before(then, now)) return false;
        known_ = {then, now};
        return true;
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

    static constexpr uint32_t of_block = uint32_t{1} << 31;  // marks the serial of a block
    mutable std::pair<uint32_t, uint32_t> known_;            // two works that are ordered
    uint32_t work_ = 0, block_serial_ = of_block, block_ = 0, barriers_ = 0;
    std::vector<uint32_t> steps_;                    // by thread
    std::vector<std::array<uint32_t, 32>> met_;      // by thread: what it knows of its warp
    std::vector<Time> fenced_;                       // by thread: its last fence
    uint32_t first_fence_ = 0;                       // of the block: after how many barriers
    std::vector<std::shared_ptr<Knowledge>> knows_;  // by thread
    Knowledge block_knows_;                          // since the last barrier
    // Of the grid, by key_of_thread: for each stretch between barriers the last fence in it.
    std::unordered_map<uint64_t, std::vector<Time>> fences_;
    std::unordered_map<const char*, Knowledge> synchronised_, synchronised_shared_;  // by address
};

}  // namespace cuda_cpu
