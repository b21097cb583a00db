// Threads that end before a barrier of their block.
//
// CUDA wants every thread of a block at __syncthreads(). Cards since Volta do not wait for those that have ended, so
// programs with a return before a barrier run there. With CUDA_CPU_BARRIERS=volta they run here, too, and it is said at
// the end; without it such a barrier ends the program. What nvcc makes of a loop with a barrier that threads leave in
// different rounds may wait all the same: a program with one hung on an H200 (CUDA 13.0, -O3), and not with -G.
#pragma once

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "observer.h"
#include "report.h"

namespace cuda_cpu {

class EndedThreads {
 public:
    static bool may_miss_barriers() {
        static const bool may = [] {
            const char* const wish = std::getenv("CUDA_CPU_BARRIERS");
            if (wish == nullptr || *wish == '\0') return false;
            if (std::strcmp(wish, "volta") != 0) {
                stop(std::string("CUDA_CPU_BARRIERS: \"") + wish +
                     "\" is not known; write volta, or nothing.");
            }
            return !is_observed;  // what watches a program names them
        }();
        return may;
    }
    // `whole` has so many parts, threads or blocks, of which some do not come.
    static void miss(const Site& barrier, uint64_t ended, uint64_t all, const std::string& whole) {
        static std::mutex mutex;
        static auto& barriers = *new std::set<std::string>;
        static std::string& first = *new std::string;
        const std::lock_guard<std::mutex> lock(mutex);
        if (!barriers.insert(to_string(barrier)).second || barriers.size() > 1) return;
        first = format("%s: %llu of the %llu %s ended before this barrier",
                       to_string(barrier).c_str(), static_cast<unsigned long long>(ended),
                       static_cast<unsigned long long>(all), whole.c_str());
        std::atexit([] {
            std::fflush(stdout);
            std::fprintf(
                stderr,
                "%s%s. It did not wait for them, as on cards since Volta, but CUDA promises "
                "nothing there: a loop that threads leave in different rounds can hang. Let every "
                "thread of the block reach it (make sanitize FILE= takes it for a fault).\n",
                first.c_str(),
                barriers.size() > 1
                    ? format(" (and at %zu more like it)", barriers.size() - 1).c_str()
                    : "");
        });
    }
};

}  // namespace cuda_cpu
