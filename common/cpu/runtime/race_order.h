// What comes before what: barriers, meetings of a warp, fences and atomic operations.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
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
        known_at_barriers_.clear();
        clusters_.clear();
    }
    void block_begins(unsigned int threads) {
        serials_of_blocks_ = (serials_of_blocks_ + 1) | of_block;
        OfBlock& block = *(now_ = block_of_this_core());
        if (current_cluster == nullptr) {
            block.cluster = std::make_shared<OfCluster>(OfCluster{serials_of_blocks_, {}});
        } else {
            auto& cluster = clusters_[current_cluster->number];
            if (cluster == nullptr)
                cluster = std::make_shared<OfCluster>(OfCluster{serials_of_blocks_, {}});
            block.cluster = cluster;
        }
        block.number = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        block.barriers = 0;
        block.steps.assign(threads, 1);
        block.last_places.assign(threads, 0);
        block.has_stored.assign(threads, false);
        block.met.assign(threads, {});
        block.fenced.assign(threads, 0);
        block.first_fence = ~uint32_t{0};
        block.thread_knows.assign(threads, nullptr);
        block.knows = {};
    }
    // Another block has run since this core's did.
    void goes_on() { now_ = block_of_this_core(); }
    // What all threads of the block have done comes before what any does behind the barrier.
    void arrives_at_barrier_of_blocks(const void* barrier, uint64_t round) {
        auto& [last, known] = known_at_barriers_[{barrier, round % 2}];
        if (std::exchange(last, round) != round) known = {};
        known.join(now_->knows);
        Knowledge::raise(known.blocks, now_->number, now_->barriers);
    }
    void leaves_barrier_of_blocks(const void* barrier, uint64_t round) {
        now_->knows.join(known_at_barriers_[{barrier, round % 2}].second);
    }
    void barrier() {
        ++now_->barriers;
        for (auto& knowledge : now_->thread_knows) {
            if (knowledge == nullptr) continue;
            now_->knows.join(*knowledge);
            knowledge = nullptr;
        }
    }
    void meeting(unsigned int first, unsigned int lanes) {
        std::array<uint32_t, 32> common{};
        std::shared_ptr<Knowledge> knowledge;
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            const unsigned int thread = first + static_cast<unsigned int>(__builtin_ctz(rest));
            for (unsigned int i = 0; i < 32; ++i)
                common[i] = std::max(common[i], now_->met[thread][i]);
            common[thread - first] = now_->steps[thread]++;
            if (now_->thread_knows[thread] == nullptr) continue;
            if (knowledge == nullptr) knowledge = std::make_shared<Knowledge>();
            knowledge->join(*now_->thread_knows[thread]);
        }
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            const unsigned int thread = first + static_cast<unsigned int>(__builtin_ctz(rest));
            now_->met[thread] = common;
            if (knowledge != nullptr)
                now_->thread_knows[thread] = std::make_shared<Knowledge>(*knowledge);
        }
    }

    void fence() {
        const unsigned int thread = number();
        now_->fenced[thread] = time_of(thread);
        ++now_->steps[thread];
        now_->first_fence = std::min(now_->first_fence, now_->barriers);
        auto& fences = fences_[key_of_thread(now_->number, thread)];
        if (fences.empty() || fences.back() >> 32 != now_->barriers) fences.push_back(0);
        fences.back() = now_->fenced[thread];
    }
    // After an atomic operation of this thread on an address.
    void synchronise(const void* pointer, bool writes) {
        const char* const address = static_cast<const char*>(pointer);
        auto& map =
            core_of_shared(address) != nullptr ? now_->cluster->synchronised : synchronised_;
        const unsigned int thread = number();
        const auto found = map.find(address);
        if (found != map.end()) own_knowledge(thread).join(found->second);
        const bool fenced_before_barrier = now_->first_fence < now_->barriers;
        if (!writes || (now_->fenced[thread] == 0 && !fenced_before_barrier)) return;
        Knowledge& released = map[address];
        released.join(now_->knows);
        // A fence orders what its thread did before all that comes after it, and so does the barrier:
        // what the others fenced before the barrier lies before what this thread does now.
        if (fenced_before_barrier) Knowledge::raise(released.fenced, now_->number, now_->barriers);
        if (now_->fenced[thread] == 0) return;
        Knowledge::raise(released.threads, key_of_thread(now_->number, thread),
                         now_->fenced[thread]);
        Knowledge::raise(released.blocks, now_->number,
                         static_cast<uint32_t>(now_->fenced[thread] >> 32));
        const unsigned int first = thread / 32 * 32;
        for (unsigned int lane = 0; lane < 32; ++lane) {
            if (now_->met[thread][lane] == 0) continue;
            Knowledge::raise(released.threads, key_of_thread(now_->number, first + lane),
                             Time{now_->barriers} << 32 | now_->met[thread][lane]);
        }
        if (now_->thread_knows[thread] != nullptr) released.join(*now_->thread_knows[thread]);
    }

 protected:
    Stamp stamp(const Region& region, bool atomic, const void* place) {
        const unsigned int thread = number();
        now_->last_places[thread] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place));
        Stamp now;
        now.serial = region.shared ? now_->cluster->serial : work_;
        now.block = now_->number;
        now.place = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(place));
        now.barriers = now_->barriers;
        now.steps = now_->steps[thread];
        now.thread = static_cast<uint16_t>(thread);
        now.atomic = atomic;
        return now;
    }

    // What blocks have in common that see each other's shared memory; most blocks are alone.
    struct OfCluster {
        uint32_t serial;
        std::unordered_map<const char*, Knowledge> synchronised;  // by address
    };
    // What is kept of the block that a core runs.
    struct OfBlock {
        std::shared_ptr<OfCluster> cluster;
        uint32_t number = 0, barriers = 0;
        uint32_t first_fence = 0;                   // after how many barriers
        std::vector<uint32_t> steps;                // by thread
        std::vector<uint32_t> last_places;          // by thread: its last access
        std::vector<bool> has_stored;               // by thread: to global memory
        std::vector<std::array<uint32_t, 32>> met;  // by thread: what it knows of its warp
        std::vector<Time> fenced;                   // by thread: its last fence
        std::vector<std::shared_ptr<Knowledge>> thread_knows;  // by thread
        Knowledge knows;                                       // since the last barrier
    };
    OfBlock* now_ = block_of_this_core();  // the one that runs

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
            if (same_warp && then.steps <= now_->met[now.thread][then.thread % 32]) return true;
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
        return known(now_->knows) || (now_->thread_knows[now.thread] != nullptr &&
                                      known(*now_->thread_knows[now.thread]));
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
    Time time_of(unsigned int thread) const {
        return Time{now_->barriers} << 32 | now_->steps[thread];
    }
    Knowledge& own_knowledge(unsigned int thread) {
        if (now_->thread_knows[thread] == nullptr)
            now_->thread_knows[thread] = std::make_shared<Knowledge>();
        return *now_->thread_knows[thread];
    }

    static constexpr uint32_t of_block = uint32_t{1} << 31;  // marks the serial of a block
    mutable std::pair<uint32_t, uint32_t> known_;            // two works that are ordered
    static OfBlock* block_of_this_core() {
        static thread_local OfBlock* const block = new OfBlock;
        return block;
    }

    uint32_t work_ = 0, serials_of_blocks_ = of_block;
    std::unordered_map<uint64_t, std::shared_ptr<OfCluster>> clusters_;  // of the grid
    // At the last two rounds of each barrier of blocks: which round, and what all know then.
    std::map<std::pair<const void*, uint64_t>, std::pair<uint64_t, Knowledge>> known_at_barriers_;
    // Of the grid, by key_of_thread: for each stretch between barriers the last fence in it.
    std::unordered_map<uint64_t, std::vector<Time>> fences_;
    std::unordered_map<const char*, Knowledge> synchronised_;  // by address
};

}  // namespace cuda_cpu
