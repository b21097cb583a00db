// Grids: the blocks of a launch over the cores of the machine, and the grids that a kernel launches.
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

    Grid(const Shape& shape, std::unique_ptr<Kernel> kernel)
        : shape(shape), kernel(std::move(kernel)) {}
    // Nothing of it has run.
    void begin() {
        next_block = 0;
        aborted = false;
        children.clear();
        tails.clear();
    }
    uint64_t block_count() const { return uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z; }
};

// The grid whose block this core runs; for launches from kernels and for messages.
inline thread_local Grid* current_grid = nullptr;
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

// The other cores: they sleep until a grid has more than one block.
class Team {
 public:
    static Team& instance() {
        static Team& team = *new Team;
        return team;
    }

    // Runs `grid` to its end, together with the calling thread.
    void run(Grid& grid) {
        observer::grid_begins(grid);
        if (grid.shape.cooperative) return run_together(grid);
        if (grid.block_count() == 1 || cores_ == 1) return work(grid);
        start();
        {
            std::lock_guard<std::mutex> lock(mutex_);
            grid_ = &grid;
            at_work_ = cores_ - 1;
            ++round_;
        }
        wake_.notify_all();
        work(grid);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return at_work_ == 0; });
    }

 private:
    Team() : cores_(core_count()) {}

    void start() {
        if (started_) return;
        started_ = true;
        for (unsigned int i = 1; i < cores_; ++i) std::thread([this] { help(); }).detach();
    }

    void help() {
        Core::mine();
        uint64_t seen = 0;
        for (;;) {
            Grid* grid;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return round_ != seen; });
                seen = round_;
                grid = grid_;
            }
            work(*grid);
            std::lock_guard<std::mutex> lock(mutex_);
            if (--at_work_ == 0) done_.notify_one();
        }
    }

    // Each block on a thread of its own.
    static void run_together(Grid& grid) {
        if constexpr (is_observed) {
            stop(
                to_string(grid.shape.site) +
                ": make sanitize, explain and replay do not watch cooperative launches: the blocks "
                "of one run at the same time. make run does.");
        }
        grid.barrier = std::make_unique<GridBarrier>(grid.block_count());
        Crowd::instance().run(grid.block_count(), [&grid](uint64_t number) {
            current_grid = &grid;
            gridDim = grid.shape.grid;
            blockDim = grid.shape.block;
            blockIdx = block_index(number, grid.shape.grid);
            const bool well =
                Core::mine().run_block(*grid.kernel, grid.shape.block, grid.shape.shared_bytes);
            if (!well) grid.aborted = true;
            grid.barrier->block_ends(!well);
            current_grid = nullptr;
        });
    }

    // Takes blocks in order, a few at a time, until there are none.
    void work(Grid& grid) {
        const uint64_t count = grid.block_count();
        const uint64_t portion = std::clamp<uint64_t>(count / (cores_ * 16), 1, 256);
        const dim3 shape = grid.shape.grid;
        Core& core = Core::mine();
        const Order& order = Order::asked_for();
        current_grid = &grid;
        gridDim = shape;
        blockDim = grid.shape.block;
        for (;;) {
            const uint64_t first = grid.next_block.fetch_add(portion, std::memory_order_relaxed);
            if (first >= count) break;
            uint3 block = block_index(first, shape);
            for (uint64_t i = first; i < std::min(first + portion, count); ++i) {
                if (grid.aborted.load(std::memory_order_relaxed)) break;
                blockIdx = order.kind == Order::forward ? block
                                                        : block_index(order.block(i, count), shape);
                if (!core.run_block(*grid.kernel, grid.shape.block, grid.shape.shared_bytes)) {
                    grid.aborted = true;
                }
                if (++block.x == shape.x) {
                    block.x = 0;
                    if (++block.y == shape.y) block.y = 0, ++block.z;
                }
            }
        }
        observer::core_leaves();
        current_grid = nullptr;
    }

    static uint3 block_index(uint64_t number, dim3 shape) {
        return {static_cast<unsigned int>(number % shape.x),
                static_cast<unsigned int>(number / shape.x % shape.y),
                static_cast<unsigned int>(number / (uint64_t{shape.x} * shape.y))};
    }

    const unsigned int cores_;
    bool started_ = false;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    Grid* grid_ = nullptr;
    uint64_t round_ = 0;
    unsigned int at_work_ = 0;
};

// Runs a grid, then the grids that it launched, then its tail launches, each to its end. False when
// one of them was aborted. A block's launches into its own stream keep their order; nothing orders those
// that it fires and forgets, and with CUDA_CPU_ORDER other than forward they come before.
inline bool run_grid(Grid& grid) {
    observer::grid_starts(grid);
    Team::instance().run(grid);
    observer::grid_ends(grid);
    if (grid.aborted) return false;
    const bool free_first = Order::asked_for().kind != Order::forward;
    const auto rank = [&](const Grid& launch) {
        const bool is_free = launch.shape.stream == cudaStreamFireAndForget;
        return std::pair(launch.parent_block, free_first && !is_free);
    };
    const auto by_block = [&](const std::unique_ptr<Grid>& a, const std::unique_ptr<Grid>& b) {
        return rank(*a) < rank(*b);
    };
    for (auto* const launches : {&grid.children, &grid.tails}) {
        std::stable_sort(launches->begin(), launches->end(), by_block);
        for (auto& launch : *launches) {
            if (!run_grid(*launch)) return false;
            launch.reset();
        }
    }
    return true;
}

}  // namespace cuda_cpu
