// Work that the host waits for by means of its own. A function of the host in a stream may signal a condition; a kernel
// may set a flag in pinned or managed memory. So when the host makes no calls for a while, what comes up to the last such
// work runs without it, beside host code: soon for a function, later for a kernel, which is rarely waited for like this.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "observer.h"
#include "queue.h"

namespace cuda_cpu {

enum class Behind { function, kernel };

inline void run_behind_the_host(uint64_t number, Behind kind = Behind::function) {
    if constexpr (is_observed) return;  // there one thread does everything
    static std::atomic<uint64_t> last[2];
    last[static_cast<int>(kind)] = number;
    static const bool watched = [] {
        ++own_threads;
        std::thread([] {
            uint64_t first = 0, end = 0;
            for (unsigned int idle = 0;;) {
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                Queue& queue = Queue::instance();
                std::lock_guard<std::recursive_mutex> lock(queue.mutex());
                const bool called = first != queue.first_number() || end != queue.last_number();
                idle = called ? 0 : idle + 1;
                const uint64_t until = std::max<uint64_t>(idle > 0 ? last[0].load() : 0,
                                                          idle >= 20 ? last[1].load() : 0);
                host_runs_beside = true;
                if (queue.first_number() <= until) queue.run_until(until);
                host_runs_beside = false;
                first = queue.first_number(), end = queue.last_number();
            }
        }).detach();
        return true;
    }();
    (void)watched;
}

}  // namespace cuda_cpu
