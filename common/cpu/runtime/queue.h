// Work that the host has asked for and not yet waited for.
//
// A launch returns at once, as on a GPU: what it asks for waits in one queue, in the order of the
// calls, and runs when the host waits for it (a synchronising call, a blocking copy, cudaFree, ...).
// That order satisfies every stream and event, and host code never runs beside a kernel. With
// CUDA_CPU_ORDER it is another one that they allow too, so that work in different streams shows that
// it should have been in one. What nobody has waited for when the program ends is never run, as the
// output of a GPU's kernel would be lost.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "call_log.h"
#include "devices.h"
#include "grid.h"
#include "memory.h"
#include "observer.h"
#include "order.h"

struct CUstream_st {
    unsigned int flags;
    int priority, device;
    bool is_default = false;  // of its device
};

// What a record leaves behind; shared with the queue, since an event may be destroyed early.
struct EventRecord {
    uint64_t number = 0;  // of the operation that stamps it
    bool done = false;
    std::chrono::steady_clock::time_point time;
};
// What streams get while they are captured into a graph: its nodes, each behind those that came before
// it in its stream or that its stream waits for.
struct Captured {
    int type;  // a cudaGraphNodeType
    std::function<void()> run;
    std::vector<size_t> after;
};
struct CapturedStreams {
    cudaStream_t first;  // whose capture was begun
    cudaStreamCaptureMode mode;
    std::thread::id thread;  // that began it
    std::vector<Captured> nodes;
    std::map<cudaStream_t, std::vector<size_t>> last;  // what the next node of a stream is behind
    bool is_invalid = false;                           // by a call that cannot be captured
};
using Capture = std::shared_ptr<CapturedStreams>;
struct CUevent_st {
    bool timing;
    std::shared_ptr<EventRecord> record;
    int device;
    Capture capture{};  // whose stream recorded it last, if that is captured
    std::vector<size_t> captured_behind{};
};

namespace cuda_cpu {

struct Operation {
    uint64_t number;
    cudaStream_t stream;
    StreamKind kind;
    int device;
    std::vector<uint64_t> behind;  // what its stream waits for since the operation before
    std::function<void()> run;
    int type;          // a cudaGraphNodeType
    const Grid* grid;  // of a launch

    bool is_copy() const { return type == 1 || type == 2; }  // or sets memory
};

class Queue {
 public:
    static Queue& instance() {
        static Queue& queue = *new Queue;
        return queue;
    }

    std::recursive_mutex& mutex() { return mutex_; }
    uint64_t last_number() const { return last_number_; }

    // Its number; 0 if it has become a node of a graph. `type` is a cudaGraphNodeType.
    uint64_t add(cudaStream_t asked, std::function<void()> run, int type = 0,
                 const Grid* grid = nullptr) {
        const cudaStream_t stream = of_device(asked);
        if (const auto capture = captures.find(stream); capture != captures.end()) {
            CapturedStreams& captured = *capture->second;
            auto& last = captured.last[stream];
            captured.nodes.push_back({type, std::move(run), std::move(last)});
            last = {captured.nodes.size() - 1};
            return 0;
        }
        log(stream, 1);
        last_of_stream_[stream] = ++last_number_;
        last_of_device_[device_of(stream)] = last_number_;
        operations_.push_back({last_number_, stream, kind_of(stream), device_of(stream),
                               std::move(behind_of_stream_[stream]), std::move(run), type, grid});
        behind_of_stream_.erase(stream);
        const uint64_t number = last_number_;
        observer::enqueued(number, stream, kind_of(stream), device_of(stream), graph);
        if (operations_.size() >= most_pending || Memory::instance().stays_open())
            run_until(number);
        return number;
    }

    // Runs everything up to the operation with this number, and closes device memory behind it.
    void run_until(uint64_t number) {
        while (!operations_.empty() && operations_.front().number <= number) {
            const auto next = operations_.begin() + next_until(number);
            const Operation operation = std::move(*next);
            operations_.erase(next);
            observer::begins(operation.number);
            const Operation* const before = std::exchange(running_, &operation);
            operation.run();
            running_ = before;
            observer::ends();
        }
        Memory::instance().set_open(0);
        Paging::instance().serve(Paging::host);
    }
    // The host waits: for the operation with this number, for a stream, for a device, for everything.
    // Legacy default-stream rules: the null stream waits for every stream of its device.
    void wait_for(uint64_t number) {
        CallLog::instance().waits();
        run_until(number);
        observer::host_waits(number);
    }
    void wait_for(cudaStream_t stream) {
        CallLog::instance().waits();
        run_until(last_of(stream));
        observer::host_waits_for(of_device(stream), kind_of(stream), device_of(stream));
    }
    void wait_for_device(int device) {
        CallLog::instance().waits();
        run_until(last_of_device_[device]);
        observer::host_waits_for_device(device);
    }
    void wait_for_all() {
        CallLog::instance().waits();
        run_until(last_number_);
        observer::host_waits_for_all();
    }
    // What comes into this stream from now on runs behind the operation with this number.
    void wait(cudaStream_t asked, uint64_t number) {
        const cudaStream_t stream = of_device(asked);
        observer::stream_waits(stream, kind_of(stream), device_of(stream), number);
        log(stream, 0);
        behind_of_stream_[stream].push_back(number);
        if (kind_of(stream) == StreamKind::waits_for_all) add(stream, [] {});  // all wait for that
    }
    // Asking makes progress: each question that is answered with no runs one more operation.
    bool asked(uint64_t number) {
        const bool done = operations_.empty() || operations_.front().number > number;
        if (!done) run_until(operations_.front().number);
        return done;
    }
    bool asked(cudaStream_t stream) {
        const bool done = asked(last_of(stream));
        if (done) observer::host_waits_for(of_device(stream), kind_of(stream), device_of(stream));
        return done;
    }
    // A call that no capture allows ends those that are going on. Whether there is one.
    bool break_captures() {
        for (const auto& [stream, capture] : captures) capture->is_invalid = true;
        return !captures.empty();
    }
    // The same for a call that the mode of a capture, or that of this thread, may allow.
    bool breaks_capture_by_mode() {
        bool found = false;
        for (const auto& [stream, capture] : captures) {
            const bool is_own = capture->thread == std::this_thread::get_id();
            if (capture->mode == cudaStreamCaptureModeRelaxed ||
                capture_mode == cudaStreamCaptureModeRelaxed ||
                (!is_own && (capture->mode != cudaStreamCaptureModeGlobal ||
                             capture_mode != cudaStreamCaptureModeGlobal)))
                continue;
            capture->is_invalid = found = true;
        }
        return found;
    }
    // The same for work in a stream that would make the default stream wait for one that is captured.
    bool breaks_capture(cudaStream_t stream) {
        if (kind_of(stream) != StreamKind::waits_for_all) return false;
        const bool found = std::any_of(captures.begin(), captures.end(), [](const auto& one) {
            return kind_of(one.first) == StreamKind::common;
        });
        return found && break_captures();
    }
    // What cudaDeviceReset does: no stream and no event is valid any more.
    void forget_all() {
        streams.clear();
        events.clear();
        captures.clear();
        behind_of_stream_.clear();
    }

    // All that runs waits for a change. What a card could do at the same time: a copy that is done now, of other streams.
    // False if there is none.
    bool copies_beside() {
        const auto is_copy = [](const Operation& one) { return one.is_copy(); };
        for (const size_t i : free_until(last_number_, running_, is_copy)) {
            if (!operations_[i].is_copy()) continue;
            const auto run = std::move(operations_[i].run);
            operations_.erase(operations_.begin() + static_cast<std::ptrdiff_t>(i));
            run();
            Paging::instance().serve(Paging::device);
            return true;
        }
        return false;
    }
    // A launch, which CPU mode does not begin before the running one has ended; null if there is none.
    const Grid* could_run_beside() const {
        for (const size_t i :
             free_until(last_number_, running_, [](const Operation&) { return true; }))
            if (operations_[i].grid != nullptr) return operations_[i].grid;
        return nullptr;
    }

    uint64_t first_number() const {
        return operations_.empty() ? last_number_ + 1 : operations_.front().number;
    }

    uint64_t last_of(cudaStream_t stream) const {
        if (kind_of(stream) == StreamKind::waits_for_all) return last_of_device_[device_of(stream)];
        const auto found = last_of_stream_.find(stream);
        return found == last_of_stream_.end() ? 0 : found->second;
    }

    // The default stream of the device that is current; of device 0 it is null, as in the call.
    static cudaStream_t of_device(cudaStream_t stream) {
        if (stream != nullptr && stream != cudaStreamLegacy) return stream;
        if (current_device == 0) return nullptr;
        static auto& defaults = *new std::map<int, CUstream_st>;
        return &defaults.try_emplace(current_device, CUstream_st{0, 0, current_device, true})
                    .first->second;
    }
    static int device_of(cudaStream_t stream) {
        const cudaStream_t own = of_device(stream);
        if (own == nullptr) return 0;
        return own == cudaStreamPerThread ? current_device : own->device;
    }

    std::map<cudaStream_t, Capture> captures;  // of the streams that are captured
    // What this thread may do while others capture.
    static inline thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    uint64_t graph = 0;  // the launch of a graph whose nodes are added now; the outermost

 private:
    static StreamKind kind_of(cudaStream_t stream) {
        if (stream == nullptr || stream == cudaStreamLegacy) return StreamKind::waits_for_all;
        if (stream == cudaStreamPerThread) return StreamKind::common;
        if (stream->is_default) return StreamKind::waits_for_all;
        return stream->flags == cudaStreamNonBlocking ? StreamKind::apart : StreamKind::common;
    }
    static void log(cudaStream_t stream, uint64_t work) {
        const bool is_default = kind_of(stream) == StreamKind::waits_for_all;
        CallLog::instance().work_for(is_default ? nullptr : stream, priority_of(stream),
                                     device_of(stream), work);
    }
    static int priority_of(cudaStream_t stream) {
        const bool made =
            stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread;
        return made ? stream->priority : 0;
    }

    // Which of the operations up to this number runs next: the first, or in another order one of
    // those that nothing before them keeps waiting.
    size_t next_until(uint64_t number) {
        const Order& order = Order::asked_for();
        if (order.kind == Order::forward) return 0;
        const std::vector<size_t> free =
            free_until(number, nullptr, [](const Operation&) { return false; });
        if (order.kind == Order::reversed) return free.back();
        return free[chance_() % free.size()];
    }
    // Those that nothing before them keeps waiting, nor `running`; what does `passes` by itself keeps nothing waiting.
    template <class Passes>
    std::vector<size_t> free_until(uint64_t number, const Operation* running, Passes passes) const {
        std::vector<size_t> free;
        std::set<cudaStream_t> seen;
        std::set<uint64_t> numbers;
        uint32_t seen_all = 0, seen_common = 0;  // on which devices
        const auto see = [&](const Operation& one) {
            const uint32_t here = 1u << one.device;
            seen.insert(one.stream);
            numbers.insert(one.number);
            if (one.kind == StreamKind::waits_for_all) seen_all |= here;
            if (one.kind == StreamKind::common) seen_common |= here;
        };
        if (running != nullptr) see(*running);
        for (size_t i = 0; i < operations_.size() && operations_[i].number <= number; ++i) {
            const Operation& one = operations_[i];
            const uint32_t here = 1u << one.device;
            const bool behind_one =
                std::any_of(one.behind.begin(), one.behind.end(),
                            [&](uint64_t other) { return numbers.count(other) != 0; });
            const bool waits = seen.count(one.stream) || behind_one ||
                               ((seen_all & here) && one.kind != StreamKind::apart) ||
                               ((seen_common & here) && one.kind == StreamKind::waits_for_all);
            if (!waits) free.push_back(i);
            if (waits || !passes(one)) see(one);
        }
        return free;
    }

    static constexpr size_t most_pending = 1024;  // a GPU's launches block about here, too
    std::recursive_mutex mutex_;
    std::deque<Operation> operations_;
    const Operation* running_ = nullptr;
    std::map<cudaStream_t, uint64_t> last_of_stream_;
    std::map<cudaStream_t, std::vector<uint64_t>> behind_of_stream_;
    uint64_t last_of_device_[32] = {};
    Chance chance_{Order::asked_for().seed};
    uint64_t last_number_ = 0;
};

}  // namespace cuda_cpu
