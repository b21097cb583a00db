// With CUDA_CPU_LEAKS=1: device memory that nobody has freed when the program ends well, as
// `compute-sanitizer --leak-check full` tells it on a card.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "faults.h"

namespace cuda_cpu {

class Leaks {
 public:
    static Leaks& instance() {
        static Leaks& leaks = *new Leaks;
        return leaks;
    }

    bool gave_up = false;

    // Memory that nobody has freed, allocated in one line.
    struct Leak {
        std::string place;  // file:line, empty if it is not known
        size_t bytes, times;
    };

    // Asks to remember where memory is allocated.
    void keep_origins() {
        if (!std::exchange(kept_, true)) {
            on_exit([](int status, void*) { instance().status_ = status; }, nullptr);
        }
    }

    // Whether the program ends with status 0: of one that gives up nobody expects that it frees anything.
    bool ends_well() const { return status_ == 0; }

    // Keeps from where an allocation was asked for: looking up the line now would take long.
    void allocated(const void* start) {
        if (!kept_) return;
        Frames frames{};
        backtrace(frames.data(), most_frames);
        std::lock_guard<std::mutex> lock(mutex_);
        origins_[start] = frames;
    }

    // What is not freed now, in the order of addresses.
    std::vector<Leak> unfreed() {
        std::vector<std::pair<Frames, size_t>> found;
        Memory::instance().visit([&](const Allocation& allocation) {
            if (allocation.pages == nullptr || allocation.freed) return;
            found.emplace_back(origins_[allocation.start], allocation.bytes);
        });
        std::vector<Leak> leaks;
        std::map<Frames, size_t> numbers;
        for (const auto& [frames, bytes] : found) {
            const auto [number, is_new] = numbers.emplace(frames, leaks.size());
            if (is_new) leaks.push_back({place_of(frames), 0, 0});
            leaks[number->second].bytes += bytes;
            ++leaks[number->second].times;
        }
        return leaks;
    }

    // Called at the very end, after the destructors of all objects. A program whose last call has failed
    // has given up there.
    void report() {
        if (!wanted_ || !ends_well() || gave_up) return;
        const std::vector<Leak> leaks = unfreed();
        for (const Leak& leak : leaks) {
            const std::string times =
                leak.times > 1 ? format(" in %zu allocations", leak.times) : "";
            const std::string sentence =
                leak.place + (leak.place.empty() ? "" : ": ") +
                format("%zu bytes of device memory, allocated here%s, are never given to cudaFree.",
                       leak.bytes, times.c_str());
            std::fflush(stdout);
            std::fprintf(stderr, "%s\n", sentence.c_str());
            note("leak", sentence);
        }
        if (leaks.empty()) return;
        std::fflush(nullptr);
        _exit(1);
    }

 private:
    using Frames = std::array<void*, most_frames>;

    Leaks() {
        const char* const wish = std::getenv("CUDA_CPU_LEAKS");
        wanted_ = wish != nullptr && *wish == '1';
        if (wanted_) keep_origins();
    }

    static std::string place_of(Frames frames) {
        int count = 0;
        while (count < most_frames && frames[static_cast<size_t>(count)] != nullptr) {
            void*& frame = frames[static_cast<size_t>(count++)];
            frame = static_cast<char*>(frame) - 1;  // the call stands just before
        }
        return learners_line(frames.data(), count);
    }

    bool wanted_ = false, kept_ = false;
    int status_ = 1;  // how the program ends, once that is known
    std::mutex mutex_;
    std::map<const void*, Frames> origins_;
};

}  // namespace cuda_cpu
