// Blocks that run at the same time because they wait for each other, each on a thread of the operating system of its
// own: those of a cooperative launch, with the barrier at which they meet, and those for which a block gives way.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "ended_threads.h"
#include "observer.h"
#include "report.h"

namespace cuda_cpu {

// On one core, and where races are looked for, one block runs at a time, on whichever thread: the others wait for their
// turn, in the order in which they asked for it. Elsewhere there is nothing to wait for.
class Turn {
 public:
    static inline bool is_needed = false;

    // The first of so many numbers.
    static uint64_t ask(uint64_t count = 1) {
        const std::lock_guard<std::mutex> lock(line_.mutex);
        return std::exchange(line_.asked, line_.asked + count);
    }
    static void take(uint64_t number) {
        if (!is_needed) return;
        std::unique_lock<std::mutex> lock(line_.mutex);
        line_.changed.wait(lock, [&] { return line_.served == number; });
        lock.unlock();
        observer::goes_on();
    }
    static void take() { take(ask()); }
    static void give() {
        if (!is_needed) return;
        observer::gives_way();
        const std::lock_guard<std::mutex> lock(line_.mutex);
        ++line_.served;
        line_.changed.notify_all();
    }
    // To the end of the line, which may be empty.
    static void pass() {
        if (!is_needed) return std::this_thread::yield();
        {
            const std::lock_guard<std::mutex> lock(line_.mutex);
            if (line_.asked == line_.served + 1) return;
        }
        const uint64_t number = ask();
        give();
        take(number);
    }

 private:
    // Not among the program's variables, which are the same while nothing changes (stillness.h).
    struct Line {
        std::mutex mutex;
        std::condition_variable changed;
        uint64_t asked, served;
    };
    static inline Line& line_ = *new Line{};
};

// How many threads of the operating system CPU mode has made.
inline std::atomic<long> own_threads{0};
// Whether one of these runs kernels while the host does not wait for them.
inline std::atomic<bool> host_runs_beside{false};

class Stillness;
void waits_at_barrier(Stillness* stillness, bool begins);

// Where the blocks of one grid wait for each other.
class GridBarrier {
 public:
    // The blocks make up a grid or a cluster.
    explicit GridBarrier(uint64_t blocks, Stillness* stillness, bool is_cluster = false)
        : blocks_(blocks), stillness_(stillness), is_cluster_(is_cluster) {}

    // A block, all of whose threads have arrived, waits for the others. False if the kernel was aborted.
    bool wait(const Site& site) {
        observer::arrives_at_barrier_of_blocks(this, round_);
        const uint64_t round = meet(site);
        observer::leaves_barrier_of_blocks(this, round);
        return !aborted_;
    }
    // The same before they begin.
    uint64_t meet(const Site& site) {
        std::unique_lock<std::mutex> lock(mutex_);
        site_ = site;
        const uint64_t round = round_, place = arrived_++;
        if (arrived_ + ended_ == blocks_) open();
        Turn::give();
        waits_at_barrier(stillness_, true);
        changed_.wait(lock, [&] { return round_ != round || aborted_; });
        waits_at_barrier(stillness_, false);
        const uint64_t turn = round_ != round ? turns_ + place : Turn::ask();
        lock.unlock();
        Turn::take(turn);
        return round;
    }
    void block_ends(bool aborted) {
        std::lock_guard<std::mutex> lock(mutex_);
        ++ended_;
        if (aborted) aborted_ = true;
        if (aborted_ || ended_ == blocks_) changed_.notify_all();
        if (arrived_ > 0 && arrived_ + ended_ == blocks_) open();
    }
    // Until all blocks have ended.
    void wait_for_end() {
        Turn::give();
        std::unique_lock<std::mutex> lock(mutex_);
        waits_at_barrier(stillness_, true);
        changed_.wait(lock, [&] { return ended_ == blocks_; });
        waits_at_barrier(stillness_, false);
        lock.unlock();
        Turn::take();
    }

 private:
    void open() {
        if (ended_ > 0 && !aborted_ && is_cluster_ && EndedThreads::may_miss_barriers()) {
            EndedThreads::miss(site_, ended_, blocks_, "blocks of a cluster");
        } else if (ended_ > 0 && !aborted_) {
            const char* const whole = is_cluster_ ? "cluster" : "grid";
            stop(format("%s: only %llu of the %llu blocks of the %s reach this %s.sync(); the "
                        "others have ended before "
                        "it. Every block of the %s must reach it: no return before it, no "
                        "condition around it.",
                        to_string(site_).c_str(), static_cast<unsigned long long>(arrived_),
                        static_cast<unsigned long long>(blocks_), whole, whole, whole),
                 "barrier");
        }
        turns_ = Turn::ask(arrived_);  // they go on in the order in which they came
        arrived_ = 0;
        ++round_;
        changed_.notify_all();
    }
    const uint64_t blocks_;
    Stillness* const stillness_;
    const bool is_cluster_;
    uint64_t arrived_ = 0, ended_ = 0, turns_ = 0;
    std::atomic<uint64_t> round_{0};
    std::atomic<bool> aborted_{false};
    Site site_{};
    std::mutex mutex_;
    std::condition_variable changed_;
};

class Core;

// Blocks that see each other's shared memory, by their ranks.
struct Cluster {
    dim3 shape;
    uint64_t number;  // in its grid
    std::vector<Core*> cores;
    GridBarrier barrier;
    Cluster(dim3 shape, uint64_t number, Stillness* stillness)
        : shape(shape),
          number(number),
          cores(shape.x * shape.y * shape.z),
          barrier(cores.size(), stillness, true) {}
};

// Threads of the operating system, each for one piece of work at a time; they sleep until the next.
class Crowd {
 public:
    static Crowd& instance() {
        static Crowd& crowd = *new Crowd;
        return crowd;
    }
    // Does it at the same time as all that is being done.
    void add(std::function<void()> work) {
        const std::lock_guard<std::mutex> lock(mutex_);
        work_.push_back({Turn::ask(), std::move(work)});
        if (++at_work_ > members_) {
            ++members_;
            ++own_threads;
            std::thread([this] { help(); }).detach();
        }
        wake_.notify_one();
    }
    // Until all of it is done.
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return at_work_ == 0; });
    }

 private:
    struct Work {
        uint64_t turn;
        std::function<void()> function;
    };
    void help() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return !work_.empty(); });
            const Work mine = std::move(work_.front());
            work_.pop_front();
            lock.unlock();
            Turn::take(mine.turn);
            mine.function();
            Turn::give();
            lock.lock();
            if (--at_work_ == 0) done_.notify_all();
        }
    }
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::deque<Work> work_;
    uint64_t members_ = 0, at_work_ = 0;
};

}  // namespace cuda_cpu
