// With CUDA_CPU_RECORD_CALLS=1 the record (record.h) has the calls, too, in their order, as "calls":
//
//     {"call": "cudaMemcpyAsync", "kernel": "", "work": 1, "stream": 2, "priority": 0, "device": 0, "waits": false}
//
// A launch is the call "launch". "work": how many operations it has put into the queue, none while a
// stream is captured; "stream": where, by the order in which streams get their first, 0 is the default
// stream of its device, -1 none; that of cudaStreamWaitEvent is the one that waits; "waits": the host has waited in it for
// the device, as a copy of pageable memory does.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "grid.h"
#include "report.h"

namespace cuda_cpu {

class CallLog {
 public:
    static CallLog& instance() {
        static CallLog& log = *new CallLog;
        return log;
    }
    bool wanted() const { return wanted_; }

    // All under the queue's lock.
    void begins(const char* function) {
        if (wanted_ && calls_.size() < most) calls_.push_back({function, {}, 0, -1, 0, 0, false});
    }
    void launches(const std::string& kernel) {
        if (Made* const last = newest()) last->function = "launch", last->kernel = kernel;
    }
    // `stream`: null for a default stream. A wait for an event is no work, and yet has a stream.
    void work_for(cudaStream_t stream, int priority, int device, uint64_t work = 1) {
        Made* const last = newest();
        if (last == nullptr || (last->work += work) > work) return;
        const int fresh = static_cast<int>(numbers_.size()) + 1;
        last->stream = stream == nullptr ? 0 : numbers_.emplace(stream, fresh).first->second;
        last->priority = priority;
        last->device = device;
    }
    void waits() {
        if (Made* const last = newest()) last->waits = true;
    }

    std::string text() const {
        std::string text;
        for (const Made& one : calls_)
            text += format(
                "%s{\"call\": \"%s\", \"kernel\": %s, \"work\": %llu, \"stream\": %d, "
                "\"priority\": %d, \"device\": %d, \"waits\": %s}",
                text.empty() ? "" : ", ", one.function, json(one.kernel.c_str()).c_str(),
                static_cast<unsigned long long>(one.work), one.stream, one.priority, one.device,
                one.waits ? "true" : "false");
        return text;
    }

 private:
    struct Made {
        const char* function;
        std::string kernel;
        uint64_t work;
        int stream, priority, device;
        bool waits;
    };
    static constexpr size_t most = 100000;

    CallLog() {
        const char* const asked = std::getenv("CUDA_CPU_RECORD_CALLS");
        wanted_ = asked != nullptr && *asked == '1';
    }
    Made* newest() { return wanted_ && !calls_.empty() ? &calls_.back() : nullptr; }

    bool wanted_ = false;
    std::vector<Made> calls_;
    std::map<cudaStream_t, int> numbers_;
};

}  // namespace cuda_cpu
