// The stop watch of NVIDIA's samples, in milliseconds.
#pragma once

#include <chrono>

class StopWatchInterface {
 public:
    void start() { begin_ = Clock::now(), runs_ = true; }
    void stop() {
        total_ += since_start(), ++sessions_;
        runs_ = false;
    }
    void reset() {
        total_ = 0, sessions_ = 0;
        if (runs_) begin_ = Clock::now();
    }
    float getTime() { return total_ + (runs_ ? since_start() : 0); }
    float getAverageTime() { return sessions_ > 0 ? total_ / static_cast<float>(sessions_) : 0; }

 private:
    using Clock = std::chrono::steady_clock;
    float since_start() const {
        return std::chrono::duration<float, std::milli>(Clock::now() - begin_).count();
    }
    Clock::time_point begin_{};
    float total_ = 0;
    int sessions_ = 0;
    bool runs_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
    *timer = new StopWatchInterface;
    return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
    delete *timer;
    *timer = nullptr;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) { return (*timer)->start(), true; }
inline bool sdkStopTimer(StopWatchInterface** timer) { return (*timer)->stop(), true; }
inline bool sdkResetTimer(StopWatchInterface** timer) { return (*timer)->reset(), true; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return (*timer)->getTime(); }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
    return (*timer)->getAverageTime();
}
