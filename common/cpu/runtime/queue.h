// Work that the host has asked for and not yet waited for.
//
// A launch returns at once, as on a GPU: what it asks for waits in one queue, in the order of the
// calls, and runs when the host waits for it (a synchronising call, a blocking copy, cudaFree, ...).
// That order satisfies every stream and event, and host code never runs beside a kernel. What nobody
// has waited for when the program ends is never run, as the output of a GPU's kernel would be lost.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "grid.h"
#include "memory.h"

struct CUstream_st {
    unsigned int flags;
    int priority;
};

// What a record leaves behind; shared with the queue, since an event may be destroyed early.
struct EventRecord {
    uint64_t number = 0;  // of the operation that stamps it
    bool done = false;
    std::chrono::steady_clock::time_point time;
};
struct CUevent_st {
    bool timing;
    std::shared_ptr<EventRecord> record;
};

namespace cuda_cpu {

struct Operation {
    uint64_t number;
    std::function<void()> run;
};

class Queue {
 public:
    static Queue& instance() {
        static Queue& queue = *new Queue;
        return queue;
    }

    std::recursive_mutex& mutex() { return mutex_; }
    uint64_t last_number() const { return last_number_; }

    uint64_t add(cudaStream_t stream, std::function<void()> run) {
        last_of_stream_[stream] = ++last_number_;
        operations_.push_back({last_number_, std::move(run)});
        const uint64_t number = last_number_;
        if (operations_.size() >= most_pending) run_until(number);
        return number;
    }

    // Runs everything up to the operation with this number, and closes device memory behind it.
    void run_until(uint64_t number) {
        while (!operations_.empty() && operations_.front().number <= number) {
            const Operation operation = std::move(operations_.front());
            operations_.pop_front();
            operation.run();
        }
        Memory::instance().set_open(false);
    }
    void run_all() { run_until(last_number_); }
    void run_one() {
        if (!operations_.empty()) run_until(operations_.front().number);
    }
    // What cudaDeviceReset does: no stream and no event is valid any more.
    void forget_all() {
        streams.clear();
        events.clear();
    }

    bool is_done(uint64_t number) const {
        return operations_.empty() || operations_.front().number > number;
    }
    // Legacy default-stream rules: the null stream waits for every stream, so it is the whole queue.
    uint64_t last_of(cudaStream_t stream) const {
        if (stream == nullptr || stream == cudaStreamLegacy) return last_number_;
        const auto found = last_of_stream_.find(stream);
        return found == last_of_stream_.end() ? 0 : found->second;
    }

    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;

 private:
    static constexpr size_t most_pending = 1024;  // a GPU's launches block about here, too
    std::recursive_mutex mutex_;
    std::deque<Operation> operations_;
    std::map<cudaStream_t, uint64_t> last_of_stream_;
    uint64_t last_number_ = 0;
};

}  // namespace cuda_cpu
