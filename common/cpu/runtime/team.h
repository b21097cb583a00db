// The blocks of a launch over the cores of the machine, and the grids that a kernel launches.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cooperative.h"
#include "grid.h"
#include "patrol.h"
#include "scheduler.h"

namespace cuda_cpu {

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
        Patrol::instance().start();
        if (grid.shape.cooperative) return run_together(grid);
        if (grid.shape.cluster.x != 0) return run_clusters(grid);
        const bool alone = grid.block_count() == 1 || cores_ == 1;
        if (!alone) {
            start();
            {
                std::lock_guard<std::mutex> lock(mutex_);
                grid_ = &grid;
                ++round_;
            }
            wake_.notify_all();
        }
        Turn::take();
        work(grid);
        Turn::give();
        if (!alone) {  // who has not woken by now comes too late
            std::unique_lock<std::mutex> lock(mutex_);
            grid_ = nullptr;
            done_.wait(lock, [this] { return at_work_ == 0; });
        }
        if (grid.stand_ins > 0) Crowd::instance().wait();
    }

    // A grid for which the running block waits, and what it launches: on another thread, block by block. False if it was
    // aborted.
    bool run_for(std::unique_ptr<Grid> grid) {
        std::promise<bool> ended;
        Crowd::instance().add([&] { ended.set_value(run_alone(*grid)); });
        Turn::give();
        const bool well = ended.get_future().get();
        Turn::take();
        return well;
    }

    // The running block waits for another one, which may not have begun: a further thread takes over what this core has
    // taken, and then what is left. Only once for each block, since who stands in does so to the end.
    void give_way(uint64_t waits) {
        Grid& grid = *current_grid;
        if (waits == patience && !grid.shape.cooperative && grid.stand_ins < most_stand_ins) {
            if (mine_.first < mine_.second) grid.give_back(std::exchange(mine_, {0, 0}));
            if (grid.has_given_back || grid.next_block < grid.block_count()) {
                ++grid.stand_ins;
                Crowd::instance().add([this, &grid] { work(grid); });
            }
        }
        Turn::pass();
    }

    // Whether no block can do anything any more: each waits, and no other can begin.
    static bool nothing_will_change(const Core& core, bool asks) {
        Grid& grid = *current_grid;
        const bool none_begins = grid.shape.cooperative || grid.shape.cluster.x != 0 ||
                                 (!grid.has_given_back && grid.next_block >= grid.block_count()) ||
                                 grid.stand_ins == most_stand_ins;
        const bool none_goes_on = !asks && Turn::is_needed;
        return grid.may_be_final && (none_begins || none_goes_on) &&
               grid.stillness.is_final(&core, grid.workers, none_goes_on);
    }

 private:
    Team() : cores_(core_count()) { Turn::is_needed = cores_ == 1; }

    void start() {
        if (started_) return;
        started_ = true;
        own_threads += cores_ - 1;
        for (unsigned int i = 1; i < cores_; ++i) std::thread([this] { help(); }).detach();
    }

    void help() {
        Core::mine();
        uint64_t seen = 0;
        for (;;) {
            Grid* grid;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                wake_.wait(lock, [&] { return grid_ != nullptr && round_ != seen; });
                seen = round_;
                grid = grid_;
                ++at_work_;
            }
            work(*grid);
            std::lock_guard<std::mutex> lock(mutex_);
            if (--at_work_ == 0) done_.notify_one();
        }
    }

    bool run_alone(Grid& grid) {
        grid.may_be_final = false;  // the launching one goes on beside it
        work(grid);
        for (auto* const launches : {&grid.children, &grid.tails}) {
            for (auto& launch : *launches)
                if (!grid.aborted && !run_alone(*launch)) grid.aborted = true;
        }
        return !grid.aborted;
    }

    // Each block on a thread of its own.
    static void run_together(Grid& grid) {
        grid.barrier = std::make_unique<GridBarrier>(grid.block_count(), &grid.stillness);
        grid.workers = static_cast<unsigned int>(grid.block_count());
        for (uint64_t number = 0; number < grid.block_count(); ++number) {
            Crowd::instance().add([&grid, number] {
                begin_work(grid);
                blockIdx = block_index(number, grid.shape.grid);
                const bool well =
                    Core::mine().run_block(*grid.kernel, grid.shape.block, grid.shape.shared_bytes);
                if (!well) grid.aborted = true;
                observer::block_ends_among_others();
                grid.barrier->block_ends(!well);
                end_work(grid);
            });
        }
        Crowd::instance().wait();
    }

    // The blocks of a cluster at the same time, and a few clusters.
    static void run_clusters(Grid& grid) {
        const dim3 shape = grid.shape.cluster, blocks = grid.shape.grid;
        const dim3 clusters(blocks.x / shape.x, blocks.y / shape.y, blocks.z / shape.z);
        const uint64_t size = uint64_t{shape.x} * shape.y * shape.z,
                       count = uint64_t{clusters.x} * clusters.y * clusters.z;
        std::vector<std::unique_ptr<Cluster>> together;
        for (uint64_t turn = 0; turn < count && !grid.aborted; ++turn) {
            together.push_back(std::make_unique<Cluster>(shape, turn, &grid.stillness));
            grid.workers += static_cast<unsigned int>(size);
            grid.may_be_final = turn + 1 == count;
            const uint3 corner = block_index(Order::asked_for().block(turn, count), clusters);
            for (uint64_t rank = 0; rank < size; ++rank) {
                Crowd::instance().add(
                    [&grid, shape, corner, rank, cluster = together.back().get()] {
                        const uint3 place = block_index(rank, shape);
                        run_in_cluster(grid, *cluster, rank,
                                       {corner.x * shape.x + place.x, corner.y * shape.y + place.y,
                                        corner.z * shape.z + place.z});
                    });
            }
            if (together.size() * size < 16 && turn + 1 < count) continue;
            Crowd::instance().wait();
            together.clear();
        }
    }
    static void run_in_cluster(Grid& grid, Cluster& cluster, uint64_t rank, uint3 block) {
        begin_work(grid);
        blockIdx = block;
        current_cluster = &cluster;
        cluster.cores[rank] = &Core::mine();
        const bool well =
            Core::mine().run_block(*grid.kernel, grid.shape.block, grid.shape.shared_bytes);
        if (!well) grid.aborted = true;
        observer::block_ends_among_others();
        cluster.barrier.block_ends(!well);
        // Its shared memory stays as long as somebody may look for it.
        cluster.barrier.wait_for_end();
        current_cluster = nullptr;
        end_work(grid);
    }

    static void begin_work(Grid& grid) {
        current_grid = &grid;
        gridDim = grid.shape.grid;
        blockDim = grid.shape.block;
    }
    static void end_work(Grid& grid) {
        if (Core::mine().shared_is_overrun()) {
            stop(
                format("%s: kernel %s wrote past the end of a static __shared__ array: compare the "
                       "index with the size of the array before the access.",
                       to_string(grid.shape.site).c_str(), name_of(*grid.kernel).c_str()),
                "bounds");
        }
        --grid.workers;
        observer::core_leaves();
        current_grid = nullptr;
    }

    // Takes blocks in order, a few at a time, until there are none.
    void work(Grid& grid) {
        const uint64_t count = grid.block_count();
        const uint64_t portion = std::clamp<uint64_t>(count / (cores_ * 16), 1, 256);
        const dim3 shape = grid.shape.grid;
        Core& core = Core::mine();
        const Order& order = Order::asked_for();
        begin_work(grid);
        ++grid.workers;
        for (;;) {
            mine_ = grid.take(portion);
            if (mine_.first >= mine_.second) break;
            uint3 block = block_index(mine_.first, shape);
            while (mine_.first < mine_.second) {
                const uint64_t turn = mine_.first++;
                if (grid.aborted.load(std::memory_order_relaxed)) break;
                blockIdx = order.kind == Order::forward
                               ? block
                               : block_index(order.block(turn, count), shape);
                if (!core.run_block(*grid.kernel, grid.shape.block, grid.shape.shared_bytes)) {
                    grid.aborted = true;
                }
                if (++block.x == shape.x) {
                    block.x = 0;
                    if (++block.y == shape.y) block.y = 0, ++block.z;
                }
            }
        }
        end_work(grid);
    }

    static uint3 block_index(uint64_t number, dim3 shape) {
        return {static_cast<unsigned int>(number % shape.x),
                static_cast<unsigned int>(number / shape.x % shape.y),
                static_cast<unsigned int>(number / (uint64_t{shape.x} * shape.y))};
    }

    static constexpr uint64_t patience = 16;
    // As many as fit on a device beside each other, and more.
    static constexpr unsigned int most_stand_ins = 1024;
    static inline thread_local std::pair<uint64_t, uint64_t> mine_;  // what this core has taken
    const unsigned int cores_;
    bool started_ = false;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    Grid* grid_ = nullptr;
    uint64_t round_ = 0;
    unsigned int at_work_ = 0;
};

inline void waits_at_barrier(Stillness* stillness, bool begins) { stillness->waits(begins); }
inline bool nothing_will_change(const Core& core, bool asks) {
    return Team::nothing_will_change(core, asks);
}

inline void block_has_begun() {
    if (current_cluster != nullptr) current_cluster->barrier.meet(current_grid->shape.site);
}
inline void block_gives_way(uint64_t waits) {
    if (current_grid->aborted) Core::mine().abort_kernel();
    Team::instance().give_way(waits);
}

// Runs a grid, then the grids that it launched, then its tail launches, each to its end. False when
// one of them was aborted. A block's launches into its own stream keep their order; nothing orders those
// that it fires and forgets, and with CUDA_CPU_ORDER other than forward they come before.
inline bool run_grid(Grid& grid) {
    observer::grid_starts(grid);
    Patrol::instance().runs(&grid);
    Team::instance().run(grid);
    Patrol::instance().runs(nullptr);
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
