// With CUDA_CPU_LEAKS=1: device memory that nobody has freed when the program ends well, as
// `compute-sanitizer --leak-check full` tells it on a card.
#pragma once

#include <array>
#include <map>
#include <mutex>

#include "faults.h"

namespace cuda_cpu {

class Leaks {
 public:
    static Leaks& instance() {
        static Leaks& leaks = *new Leaks;
        return leaks;
    }

    // Keeps from where an allocation was asked for: looking up the line now would take long.
    void allocated(const void* start) {
        if (!wanted_) return;
        Frames frames{};
        backtrace(frames.data(), most_frames);
        std::lock_guard<std::mutex> lock(mutex_);
        origins_[start] = frames;
    }

    // Called at the very end, after the destructors of all objects.
    void report() {
        if (!wanted_ || status_ != 0) return;
        bool found = false;
        Memory::instance().visit([&](const Allocation& allocation) {
            if (allocation.pages == nullptr || allocation.freed) return;
            found = true;
            const std::string sentence =
                place_of(allocation.start) +
                format("%zu bytes of device memory, allocated here, are never given to cudaFree.",
                       allocation.bytes);
            std::fflush(stdout);
            std::fprintf(stderr, "%s\n", sentence.c_str());
            note("leak", sentence);
        });
        if (!found) return;
        std::fflush(nullptr);
        _exit(1);
    }

 private:
    using Frames = std::array<void*, most_frames>;

    Leaks() {
        const char* const wish = std::getenv("CUDA_CPU_LEAKS");
        wanted_ = wish != nullptr && *wish == '1';
        if (wanted_) on_exit([](int status, void*) { instance().status_ = status; }, nullptr);
    }

    std::string place_of(const void* start) {
        Frames& frames = origins_[start];
        int count = 0;
        while (count < most_frames && frames[static_cast<size_t>(count)] != nullptr) {
            void*& frame = frames[static_cast<size_t>(count++)];
            frame = static_cast<char*>(frame) - 1;  // the call stands just before
        }
        const std::string line = learners_line(frames.data(), count);
        return line.empty() ? "" : line + ": ";
    }

    bool wanted_ = false;
    int status_ = 1;  // how the program ends, once that is known
    std::mutex mutex_;
    std::map<const void*, Frames> origins_;
};

__attribute__((destructor(200))) inline void report_leaks() { Leaks::instance().report(); }

}  // namespace cuda_cpu
