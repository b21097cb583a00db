// Grids: a launch that waits or runs, and on how many cores.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cooperative.h"
#include "names.h"
#include "scheduler.h"
#include "stillness.h"

namespace cuda_cpu {

// A launch that waits or runs.
struct Grid {
    Shape shape;
    std::unique_ptr<Kernel> kernel;
    int depth = 0;              // 0: launched by the host
    uint64_t parent_block = 0;  // which block of the parent launched it
    std::atomic<uint64_t> next_block{0};
    std::atomic<bool> aborted{false};
    std::mutex children_mutex;
    std::vector<std::unique_ptr<Grid>> children, tails;
    LaunchFacts facts{};
    int device = 0;
    std::unique_ptr<GridBarrier> barrier;  // of a cooperative launch
    // What a core had taken and gave back to wait for others; guarded by children_mutex.
    std::vector<std::pair<uint64_t, uint64_t>> given_back;
    std::atomic<bool> has_given_back{false};
    std::atomic<unsigned int> stand_ins{0};
    Stillness stillness;
    std::atomic<unsigned int> workers{0};  // threads of the operating system that run its blocks
    bool may_be_final = true;              // nobody else can change what its blocks wait for

    Grid(const Shape& shape, std::unique_ptr<Kernel> kernel)
        : shape(shape), kernel(std::move(kernel)) {}
    // Nothing of it has run.
    void begin() {
        next_block = 0;
        aborted = false;
        stand_ins = 0;
        children.clear();
        tails.clear();
    }
    // The next blocks to run, [first, second); none at the end.
    std::pair<uint64_t, uint64_t> take(uint64_t portion) {
        if (has_given_back) {
            const std::lock_guard<std::mutex> lock(children_mutex);
            if (!given_back.empty()) {
                const auto blocks = given_back.back();
                given_back.pop_back();
                has_given_back = !given_back.empty();
                return blocks;
            }
        }
        const uint64_t count = block_count();
        const uint64_t first =
            std::min(next_block.fetch_add(portion, std::memory_order_relaxed), count);
        return {first, std::min(first + portion, count)};
    }
    void give_back(std::pair<uint64_t, uint64_t> blocks) {
        const std::lock_guard<std::mutex> lock(children_mutex);
        given_back.push_back(blocks);
        has_given_back = true;
    }
    uint64_t block_count() const { return uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z; }
};

// The grid whose block this core runs; for launches from kernels and for messages.
inline thread_local Grid* current_grid = nullptr;
inline thread_local Cluster* current_cluster = nullptr;  // null where a block is one of its own
#ifdef CUDA_CPU_OBSERVED
// The core whose block has an address in its shared memory, the running one or another of its cluster; null if none has.
inline Core* core_of_shared(const char* address) {
    Core& mine = Core::mine();
    if (mine.in_shared(address)) return &mine;
    if (current_cluster == nullptr) return nullptr;
    for (Core* const core : current_cluster->cores)
        if (core != nullptr && core->in_shared(address)) return core;
    return nullptr;
}
// The number of that block in its grid, if others run at the same time; else -1.
inline int64_t block_of_shared(const char* address) {
    if (current_cluster == nullptr && current_grid->barrier == nullptr) return -1;
    const Core* const core = core_of_shared(address);
    const uint3 block = core != nullptr ? core->block() : blockIdx;
    return block.x + int64_t{gridDim.x} * (block.y + int64_t{gridDim.y} * block.z);
}
inline const Core::SharedPlace* shared_near(const char* address) {
    Core* const core = core_of_shared(address);
    return core != nullptr ? core->shared_near(address) : nullptr;
}
#endif
inline const char* current_kernel() {
    return current_grid != nullptr ? name_of(*current_grid->kernel).c_str() : nullptr;
}

// How many cores this process may use; CUDA_CPU_THREADS=n asks for another number.
inline unsigned int core_count() {
#ifdef CUDA_CPU_RACES
    return 1;  // what counts is what CUDA orders, not what runs at the same time
#endif
    if (const char* const wish = std::getenv("CUDA_CPU_THREADS")) {
        char* end = nullptr;
        const long number = std::strtol(wish, &end, 10);
        if (*wish == '\0' || *end != '\0' || number < 1 || number > 1024) {
            stop("CUDA_CPU_THREADS: \"" + std::string(wish) +
                 "\" is not a number of cores from 1 to 1024.");
        }
        return static_cast<unsigned int>(number);
    }
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return static_cast<unsigned int>(std::max(1, CPU_COUNT(&set)));
    }
    return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace cuda_cpu
