// Cooperative launches: all blocks of the grid at once, each on a thread of the operating system of its own, and
// the barrier at which they meet.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "report.h"

namespace cuda_cpu {

// Where the blocks of one grid wait for each other.
class GridBarrier {
 public:
    explicit GridBarrier(uint64_t blocks) : blocks_(blocks) {}

    // A block, all of whose threads have arrived, waits for the others. False if the kernel was aborted.
    bool wait(const Site& site) {
        std::unique_lock<std::mutex> lock(mutex_);
        site_ = site;
        const uint64_t round = round_;
        if (++arrived_ + ended_ == blocks_) open();
        changed_.wait(lock, [&] { return round_ != round || aborted_; });
        return !aborted_;
    }
    void block_ends(bool aborted) {
        std::lock_guard<std::mutex> lock(mutex_);
        ++ended_;
        aborted_ = aborted_ || aborted;
        if (aborted_) changed_.notify_all();
        if (arrived_ > 0 && arrived_ + ended_ == blocks_) open();
    }

 private:
    void open() {
        if (ended_ > 0 && !aborted_) {
            stop(format("%s: only %llu of the %llu blocks of the grid reach this grid.sync(); the "
                        "others have ended before "
                        "it. Every block of the grid must reach it: no return before it, no "
                        "condition around it.",
                        to_string(site_).c_str(), static_cast<unsigned long long>(arrived_),
                        static_cast<unsigned long long>(blocks_)),
                 "barrier");
        }
        arrived_ = 0;
        ++round_;
        changed_.notify_all();
    }
    const uint64_t blocks_;
    uint64_t arrived_ = 0, ended_ = 0, round_ = 0;
    bool aborted_ = false;
    Site site_{};
    std::mutex mutex_;
    std::condition_variable changed_;
};

// Threads that do `count` pieces of work at the same time; they sleep until the next.
class Crowd {
 public:
    static Crowd& instance() {
        static Crowd& crowd = *new Crowd;
        return crowd;
    }
    void run(uint64_t count, const std::function<void(uint64_t)>& work) {
        std::unique_lock<std::mutex> lock(mutex_);
        work_ = &work;
        next_ = 0;
        count_ = left_ = count;
        for (; members_ < count; ++members_) std::thread([this] { help(); }).detach();
        wake_.notify_all();
        done_.wait(lock, [this] { return left_ == 0; });
        count_ = 0;
    }

 private:
    void help() {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return next_ < count_; });
            const uint64_t mine = next_++;
            lock.unlock();
            (*work_)(mine);
            lock.lock();
            if (--left_ == 0) done_.notify_one();
        }
    }
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    const std::function<void(uint64_t)>* work_ = nullptr;
    uint64_t members_ = 0, next_ = 0, count_ = 0, left_ = 0;
};

}  // namespace cuda_cpu
