// Which pieces of work come before which: grids, copies and host code, by streams, events and waits.
//
// The runtime runs one piece after another, but what CUDA orders is less. So each piece of work has a
// clock: of each stream, how many of its pieces surely ended before this one begins. Host code is a
// stream of its own, cut at each call that hands out work or waits for it. Work `a` comes before work
// `b` if b's clock of a's stream has reached a. (Lamport 1978; vector clocks: Mattern 1988.)
#pragma once

#include <execinfo.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "faults.h"
#include "grid.h"
#include "observer.h"

namespace cuda_cpu {

class StreamOrder {
 public:
    using Clock = std::vector<uint32_t>;  // by stream; what is behind the end is 0
    struct Work {
        size_t stream;   // its number; 0 is the host
        uint32_t place;  // the number of the work in its stream, from 1
        Clock clock;
        std::string kernel;         // its name; empty for a copy and for the host
        dim3 grid, block;           // of a kernel
        std::vector<void*> frames;  // where the host asked for it
        uint64_t graph = 0;         // the launch of a graph that it belongs to
    };
    static constexpr size_t host = 0;

    static StreamOrder& instance() {
        static StreamOrder& order = *new StreamOrder;
        return order;
    }

    // What happens to the queue; observer.h says what the calls mean.
    void enqueued(cudaStream_t stream, StreamKind kind, int device, uint64_t graph) {
        const size_t own = line_of(stream, kind, device);
        Clock clock = lines_[own].clock;
        join(clock, lines_[host].clock);
        for (const Line& other : lines_) {
            const bool either =
                kind == StreamKind::waits_for_all || other.kind == StreamKind::waits_for_all;
            if (either && device == other.device && kind != StreamKind::apart &&
                other.kind != StreamKind::apart)
                join(clock, other.clock);
        }
        lines_[own].clock = clock;
        advance(own);
        works_of_numbers_.push_back(add(own));
        void* frames[most_frames];
        works_.back().graph = graph;
        works_.back().frames.assign(frames, frames + backtrace(frames, most_frames));
        advance(host);
        outstanding_ = true;
    }
    void stream_waits(cudaStream_t stream, StreamKind kind, int device, uint64_t number) {
        join(lines_[line_of(stream, kind, device)].clock, work_of(number).clock);
    }
    void stream_ends(cudaStream_t stream) { numbers_.erase(stream); }
    void host_waits(uint64_t number) {
        join(lines_[host].clock, work_of(number).clock);
        host_has_waited();
    }
    void host_waits_for(cudaStream_t stream, StreamKind kind, int device) {
        const size_t own = line_of(stream, kind, device);
        const bool all = kind == StreamKind::waits_for_all;
        for (size_t i = 0; i < lines_.size(); ++i) {
            const Line& line = lines_[i];
            if (i == own || (all && line.device == device && line.kind != StreamKind::apart))
                join(lines_[host].clock, lines_[i].clock);
        }
        host_has_waited();
    }
    void host_waits_for_device(int device) {
        for (const Line& line : lines_)
            if (line.device == device) join(lines_[host].clock, line.clock);
        host_has_waited();
    }
    void host_waits_for_all() {
        for (const Line& line : lines_) join(lines_[host].clock, line.clock);
        host_has_waited();
    }
    void begins(uint64_t number) { current_ = works_of_numbers_[number - 1], begun_ = false; }
    void ends() { current_ = 0; }

    // Whether the host has waited for it, so that all it hands out from now on comes behind.
    bool host_knows(uint32_t number) const {
        const Work& work = works_[number];
        const Clock& clock = lines_[host].clock;
        return work.stream < clock.size() && clock[work.stream] >= work.place;
    }

    // Whether there is work that the host has not waited for.
    bool outstanding() const { return outstanding_; }

    // A grid of the work that runs: its first, or one that a kernel has launched, which comes behind.
    void grid_begins(const Grid& grid) {
        if (std::exchange(begun_, true)) {
            works_.push_back(works_[current_]);
            current_ = static_cast<uint32_t>(works_.size()) - 1;
        }
        Work& work = works_[current_];
        work.kernel = name_of(*grid.kernel);
        work.grid = grid.shape.grid, work.block = grid.shape.block;
    }

    // The work that runs; that of the host, where none does.
    uint32_t current() {
        if (current_ != 0) return current_;
        if (host_work_ == 0) host_work_ = add(host);
        return host_work_;
    }
    const Work& work(uint32_t number) const { return works_[number]; }

    bool is_before(uint32_t first, uint32_t second) const {
        const Work& a = works_[first];
        const Clock& clock = works_[second].clock;
        return a.stream < clock.size() && clock[a.stream] >= a.place;
    }

 private:
    struct Line {
        StreamKind kind;
        Clock clock;  // of its last work, and what it has been told to wait for
        int device;   // -1: the host's
    };

    StreamOrder() {
        works_.push_back({host, 0, {}, {}, {}, {}, {}});  // nobody's
        lines_.push_back({StreamKind::apart, {1}, -1});
    }
    size_t line_of(cudaStream_t stream, StreamKind kind, int device) {
        const auto [found, is_new] = numbers_.emplace(stream, lines_.size());
        if (is_new) lines_.push_back({kind, {}, device});
        return found->second;
    }
    static void join(Clock& clock, const Clock& other) {
        if (clock.size() < other.size()) clock.resize(other.size());
        for (size_t i = 0; i < other.size(); ++i) clock[i] = std::max(clock[i], other[i]);
    }
    void advance(size_t line) {
        Clock& clock = lines_[line].clock;
        if (clock.size() <= line) clock.resize(line + 1);
        ++clock[line];
        if (line == host) host_work_ = 0;
    }
    void host_has_waited() {
        advance(host);
        const Clock& clock = lines_[host].clock;
        outstanding_ = false;
        for (size_t i = 1; i < lines_.size(); ++i) {
            if (lines_[i].clock.size() > i && (clock.size() <= i || clock[i] < lines_[i].clock[i]))
                outstanding_ = true;
        }
    }
    uint32_t add(size_t line) {
        const Clock& clock = lines_[line].clock;
        works_.push_back({line, clock[line], clock, {}, {}, {}, {}});
        return static_cast<uint32_t>(works_.size()) - 1;
    }
    const Work& work_of(uint64_t number) const { return works_[works_of_numbers_[number - 1]]; }

    std::vector<Work> works_;
    std::vector<uint32_t> works_of_numbers_;
    std::vector<Line> lines_;
    std::map<cudaStream_t, size_t> numbers_;
    uint32_t current_ = 0, host_work_ = 0;
    bool begun_ = false, outstanding_ = false;
};

}  // namespace cuda_cpu
