// With CUDA_CPU_RECORD=FILE: what the program has asked of CUDA, one object of JSON at its end.
//
//     {"launches": [{"kernel": "add", "grid": [4, 1, 1], "block": [256, 1, 1], "shared": 0,
//                    "from": "host", "times": 1, "streams": 0}],
//      "copies": {"to_device": {"calls": 2, "bytes": 8000, "streams": 0}, "to_host": ..., "on_device": ...},
//      "leaks": [{"bytes": 4000, "times": 1, "place": "add.cu:41"}],
//      "unchecked": [{"kernel": "add", "place": "add.cu:44", "times": 1}],
//      "absent_lanes": ["add.cu:20: lane 0 of a warp reads lane 16 in this shuffle, ..."],
//      "managed": [{"bytes": 4000, "device_faults": 1, "host_faults": 1, "to_device": 1, "to_host": 1}]}
//
// Launches of one kernel and shape are one entry. "streams": in how many beside the default one. "from"
// is the host or a kernel. In the build that looks for races an entry has "storing", too: how many
// threads of a launch stored to global memory, the most of all its launches. Leaks are those of a
// program that ends with status 0. A launch is unchecked if nobody asked for the last error before the
// next launch, or before the end. "managed": of each allocation, faults and moved pages (paging.h). A program that crashes or is killed leaves the file empty.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "call_log.h"
#include "leaks.h"
#include "names.h"
#include "paging.h"

namespace cuda_cpu {

enum class Way { to_device, to_host, on_device };

class Record {
 public:
    static Record& instance() {
        static Record& record = *new Record;
        return record;
    }
    bool wanted() const { return file_ >= 0; }

    // A launch by the host begins, valid or not.
    void launch_begins(const Kernel& kernel, const Site& site) {
        if (!wanted()) return;
        std::lock_guard<std::mutex> lock(mutex_);
        settle();
        pending_ = {name_of(kernel), base_name(to_string(site)), 1};
    }
    // Somebody has asked for the last error.
    void checked() {
        if (!wanted()) return;
        std::lock_guard<std::mutex> lock(mutex_);
        pending_ = {};
    }
    void launched(const std::string& kernel, const Shape& shape, bool by_host) {
        std::lock_guard<std::mutex> lock(mutex_);
        Entry& entry = entry_of(kernel, shape, by_host);
        ++entry.times;
        if (by_host) entry.streams.insert(shape.stream);
    }
    void stored(const std::string& kernel, const Shape& shape, bool by_host, uint64_t threads) {
        std::lock_guard<std::mutex> lock(mutex_);
        uint64_t& most = entry_of(kernel, shape, by_host).storing;
        most = std::max(most, threads);
    }
    void copied(Way way, size_t bytes, cudaStream_t stream) {
        std::lock_guard<std::mutex> lock(mutex_);
        streams_[static_cast<size_t>(way)].insert(stream);
        ++calls_[static_cast<size_t>(way)];
        bytes_[static_cast<size_t>(way)] += bytes;
    }

    // Called once, at the end. `stopped`: by the runtime, which has found a fault.
    void write(bool stopped) {
        if (!wanted() || getpid() != process_) return;
        std::lock_guard<std::mutex> lock(mutex_);
        settle();
        const std::string text =
            "{\"launches\": [" + launches() + "], \"copies\": {" + copies() + "}, \"leaks\": [" +
            (stopped || !Leaks::instance().ends_well() ? "" : leaks()) + "], \"unchecked\": [" +
            unchecked() + "], \"absent_lanes\": [" + absent_lanes() + "], \"managed\": [" +
            managed() + "]" +
            (CallLog::instance().wanted() ? ", \"calls\": [" + CallLog::instance().text() + "]"
                                          : "") +
            "}\n";
        if (::write(file_, text.data(), text.size()) < 0)
            std::perror("CUDA_CPU_RECORD cannot be written");
        close(std::exchange(file_, -1));
    }

 private:
    using Streams = std::set<cudaStream_t>;
    struct Entry {
        std::string kernel;
        dim3 grid, block;
        size_t shared;
        bool by_host;
        uint64_t times = 0, storing = 0;
        Streams streams = {};
    };
    struct Unchecked {
        std::string kernel, place;
        uint64_t times = 0;
    };

    Record() : process_(getpid()) {
        const char* const path = std::getenv("CUDA_CPU_RECORD");
        if (path == nullptr || *path == '\0') return;
        file_ = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (file_ < 0) stop("CUDA_CPU_RECORD: cannot write " + std::string(path) + ".");
        Leaks::instance().keep_origins();
        before_stop = [] { instance().write(true); };
        on_absent_lane = [](const std::string& sentence) {
            std::lock_guard<std::mutex> lock(instance().mutex_);
            instance().absent_lanes_.push_back(sentence);
        };
    }

    // Those of a program are few, and the last one most likely comes again.
    Entry& entry_of(const std::string& kernel, const Shape& shape, bool by_host) {
        const auto same = [](dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
        const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) {
            return e.by_host == by_host && e.shared == shape.shared_bytes &&
                   same(e.grid, shape.grid) && same(e.block, shape.block) && e.kernel == kernel;
        });
        if (found != entries_.rend()) return *found;
        entries_.push_back({kernel, shape.grid, shape.block, shape.shared_bytes, by_host});
        return entries_.back();
    }
    // The last launch was not checked.
    void settle() {
        if (pending_.times == 0) return;
        const auto found = std::find_if(unchecked_.begin(), unchecked_.end(), [&](const auto& one) {
            return one.kernel == pending_.kernel && one.place == pending_.place;
        });
        if (found != unchecked_.end())
            ++found->times;
        else
            unchecked_.push_back(pending_);
        pending_ = {};
    }
    static std::string base_name(const std::string& path) {
        return path.substr(path.rfind('/') + 1);
    }

    template <class List, class Write>
    static std::string listed(const List& list, Write write) {
        std::string text;
        for (const auto& one : list) text += (text.empty() ? "{" : ", {") + write(one) + "}";
        return text;
    }
    std::string launches() const {
        return listed(entries_, [](const Entry& e) {
            return "\"kernel\": " + json(e.kernel.c_str()) +
                   format(
                       ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared\": %zu, "
                       "\"from\": \"%s\", \"times\": %llu, \"streams\": %zu",
                       e.grid.x, e.grid.y, e.grid.z, e.block.x, e.block.y, e.block.z, e.shared,
                       e.by_host ? "host" : "kernel", static_cast<unsigned long long>(e.times),
                       besides_default(e.streams)) +
#ifdef CUDA_CPU_RACES
                   format(", \"storing\": %llu", static_cast<unsigned long long>(e.storing));
#else
                   "";
#endif
        });
    }
    std::string copies() const {
        std::string text;
        for (size_t i = 0; i < 3; ++i) {
            static const char* const names[] = {"to_device", "to_host", "on_device"};
            text +=
                format("%s\"%s\": {\"calls\": %llu, \"bytes\": %llu, \"streams\": %zu}",
                       i > 0 ? ", " : "", names[i], static_cast<unsigned long long>(calls_[i]),
                       static_cast<unsigned long long>(bytes_[i]), besides_default(streams_[i]));
        }
        return text;
    }
    static size_t besides_default(const Streams& streams) {
        return streams.size() - streams.count(nullptr) - streams.count(cudaStreamLegacy);
    }
    static std::string leaks() {
        return listed(Leaks::instance().unfreed(), [](const Leaks::Leak& leak) {
            return format("\"bytes\": %zu, \"times\": %zu, \"place\": ", leak.bytes, leak.times) +
                   json(leak.place.c_str());
        });
    }
    std::string unchecked() const {
        return listed(unchecked_, [](const Unchecked& one) {
            return "\"kernel\": " + json(one.kernel.c_str()) +
                   ", \"place\": " + json(one.place.c_str()) +
                   format(", \"times\": %llu", static_cast<unsigned long long>(one.times));
        });
    }

    static std::string managed() {
        return listed(Paging::instance().traffic(), [](const PageTraffic& traffic) {
            return format(
                "\"bytes\": %zu, \"device_faults\": %zu, \"host_faults\": %zu, \"to_device\": %zu, "
                "\"to_host\": %zu",
                traffic.bytes, traffic.device_faults, traffic.host_faults, traffic.to_device,
                traffic.to_host);
        });
    }
    std::string absent_lanes() const {
        std::string text;
        for (const std::string& sentence : absent_lanes_)
            text += (text.empty() ? "" : ", ") + json(base_name(sentence).c_str());
        return text;
    }

    int file_ = -1;
    const pid_t process_;
    std::mutex mutex_;
    std::vector<Entry> entries_;
    std::vector<Unchecked> unchecked_;
    std::vector<std::string> absent_lanes_;
    Unchecked pending_;  // the last launch, as long as nobody has checked it
    uint64_t calls_[3] = {}, bytes_[3] = {};
    Streams streams_[3];
};

// At the very end, after the destructors of all objects.
__attribute__((destructor(200))) inline void write_record() {
    Record::instance().write(false);
    Leaks::instance().report();
    const std::string& unheeded = Unheeded::instance().sentence;
    if (unheeded.empty()) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", unheeded.c_str());
}

}  // namespace cuda_cpu
