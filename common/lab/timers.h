// Time, on the host and on the device, and what a copy takes.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cuda_runtime.h>
#include <errno.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "comparison.h"
#include "memory.h"

namespace lab {

// What `make replay` shows is no measurement: nothing is run again. CPU mode's compile.sh gives each program the answer.
#ifdef LAB_COMPILED
extern "C" const bool lab_runs_once;
inline const bool& runs_once = lab_runs_once;
#else
constexpr bool runs_once = false;
#endif

// The median of the times that run() returns, in milliseconds: `fewest` of them at least, then more until they are `enough`
// in all or there are `most`. A checker, which has set LAB_JUDGED, reads no times: there it is one.
inline double median_of(size_t fewest, size_t most, double enough,
                        const std::function<double()>& run) {
    if (std::getenv("LAB_JUDGED")) fewest = most = 1;
    std::vector<double> times;
    double total = 0;
    while (times.size() < fewest || (times.size() < most && total < enough)) {
        times.push_back(run());
        total += times.back();
        if (times[0] > (on_cpu ? 20000 : 300)) break;  // once more would take as long
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// The time that passes on the host. A launch returns at once: synchronise before you read it.
class HostTimer {
 public:
    HostTimer() { restart(); }
    void restart() { start_ = std::chrono::steady_clock::now(); }
    double milliseconds() const {
        const auto passed = std::chrono::steady_clock::now() - start_;
        return std::chrono::duration<double, std::milli>(passed).count();
    }

 private:
    std::chrono::steady_clock::time_point start_;
};

// The time between two points of a stream, taken by the device itself.
class EventTimer {
 public:
    EventTimer() {
        CHECK(cudaEventCreate(&start_));
        CHECK(cudaEventCreate(&stop_));
    }
    ~EventTimer() {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }
    EventTimer(const EventTimer&) = delete;
    EventTimer& operator=(const EventTimer&) = delete;

    void start(cudaStream_t stream = 0) { CHECK(cudaEventRecord(start_, stream)); }
    void stop(cudaStream_t stream = 0) { CHECK(cudaEventRecord(stop_, stream)); }

    // Waits for the second point.
    double milliseconds() {
        float passed = 0;
        CHECK(cudaEventSynchronize(stop_));
        CHECK(cudaEventElapsedTime(&passed, start_, stop_));
        return passed;
    }

 private:
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};

// Writes over a buffer of twice the size of the L2 cache, so that a timed run finds there nothing
// that the run before it left. Does nothing on the CPU, nor where the device has no room for it.
class CacheFlush {
 public:
    CacheFlush() {
        int device = 0, cache_bytes = 0;
        if (on_cpu) return;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
        bytes_ = 2 * size_t(cache_bytes);
        if (cudaMalloc(&buffer_, bytes_) != cudaSuccess) {
            cudaGetLastError();  // not to be taken for a failed launch
            buffer_ = nullptr;
        }
    }
    ~CacheFlush() { cudaFree(buffer_); }
    CacheFlush(const CacheFlush&) = delete;
    CacheFlush& operator=(const CacheFlush&) = delete;

    void run() {
        if (buffer_) CHECK(cudaMemset(buffer_, 0, bytes_));
    }

 private:
    void* buffer_ = nullptr;
    size_t bytes_ = 0;
};

// The median time of what `launch()` puts into the default stream, after one run that is not
// timed. `runs` 0: as many as make the median steady (3 on the CPU, and on a card of what takes more than
// 0.03 s); on a card the first run is the time of what takes longer than 0.3 s.
inline double median_milliseconds(const std::function<void()>& launch, int runs = 0) {
    const NvtxRange range("timing");
    size_t fewest = runs > 0 ? runs : on_cpu ? 3 : 5;
    const size_t most = runs > 0 ? runs : on_cpu ? 3 : 50;
    CacheFlush flush;
    EventTimer timer;
    timer.start();
    launch();
    timer.stop();
    if (runs_once) return 0;
    const double first = timer.milliseconds();
    if (runs == 0 && !on_cpu && first > 300) return first;
    if (runs == 0 && first > 30) fewest = 3;
    return median_of(fewest, most, 100, [&] {
        flush.run();  // while it runs, the host queues the rest: no gap is timed
        timer.start();
        launch();
        timer.stop();
        return timer.milliseconds();
    });
}

// How a variant did.
struct Trial {
    Comparison comparison;
    double milliseconds = 0;  // 0: wrong, hence not timed
};

// Compares, times and compares again. `attempt()` fills the result with something wrong (0xFF),
// launches, copies back and returns a Comparison; `time()` returns milliseconds, and runs only when
// the first attempt was right. The second attempt shows what is right only once: a launch behind a
// static variable, a counter or a buffer that is never cleared. A benchmark leaves that to the checker: to copy
// back and compare takes longer than to measure.
//     const lab::Trial trial =
//         lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(work); });
//     results.add(name, grid, block, trial.milliseconds, bytes, operations, trial.comparison);
inline Trial compare_and_time(const std::function<Comparison()>& attempt,
                              const std::function<double()>& time) {
    Trial trial;
    trial.comparison = attempt();
    if (!trial.comparison.right() || runs_once) return trial;
    trial.milliseconds = time();
#ifndef LAB_BENCH
    trial.comparison = attempt();
    trial.comparison.later = true;
    if (!trial.comparison.right()) trial.milliseconds = 0;
#endif
    return trial;
}

// GB/s of a copy of `bytes` within the device, measured now; bytes read and bytes written both
// count. It is what a kernel that only moves data can hope for. Copies less where memory is short.
inline double copy_bandwidth(int64_t bytes) {
    const NvtxRange range("copy within the device");
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    bytes = std::min(bytes, int64_t(available / 4));
    if (bytes <= 0) return 0;
    void *from = nullptr, *to = nullptr;
    CHECK(cudaMalloc(&from, size_t(bytes)));
    CHECK(cudaMalloc(&to, size_t(bytes)));
    CHECK(cudaMemset(from, 0, size_t(bytes)));
    const double milliseconds = median_milliseconds(
        [&] { CHECK(cudaMemcpyAsync(to, from, size_t(bytes), cudaMemcpyDeviceToDevice)); });
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return 2e-6 * double(bytes) / milliseconds;
}

}  // namespace lab
