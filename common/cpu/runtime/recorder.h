// The traces that the threads of a block leave, and the walk of each warp through them.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "figures.h"
#include "grid.h"
#include "kernel_heap.h"
#include "requests.h"

namespace cuda_cpu {

// Records the block that one core runs.
class Recorder : Requests {
 public:
    static Recorder& mine() {
        static thread_local Recorder* const recorder = new Recorder;
        return *recorder;
    }

    void begin_block(unsigned int threads) {
        if (!Launch::instance().wanted()) return;
        // Not in a kernel: a vector's functions may be the program's own, and watched there.
        Places::instance();
        finish_block();
        const uint64_t block =
            blockIdx.x + uint64_t{gridDim.x} * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
        recording = Launch::instance().takes(block);
        if (!recording) return;
        core_ = &Core::mine();
        block_ = block;
        threads_ = threads;
        events_ = barriers_ = step_ = 0;
        truncated_ = false;
        most_events_ = std::max<uint64_t>(2 * Launch::instance().budget() / threads, 4096);
        if (traces_.size() < threads) traces_.resize(threads);
        for (auto& trace : traces_) trace.clear();
    }

    // The kernel begins, in this thread. What came before belongs to the launch.
    void enter(const char* kernel) {
        if (Launch::instance().wanted()) Launch::instance().name(kernel);
        if (!recording) return;
        auto& trace = this_trace();
        const auto is_piece = [](const Event& event) { return event.what == What::piece; };
        if (std::all_of(trace.begin(), trace.end(), is_piece)) trace.clear();
    }

    void barrier() {
        if (!recording) return;
        ++barriers_;
        settle();
    }

    // These lanes of a warp have met. If they are all, what came before is settled.
    void meeting(unsigned int first, unsigned int lanes) {
        if (!recording) return;
        const unsigned int left = threads_ - first;
        if (lanes == (left >= 32 ? 0xffffffffu : (1u << left) - 1)) return settle_warp(first);
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            auto& trace = traces_[first + static_cast<unsigned int>(__builtin_ctz(rest))];
            if (!trace.empty()) trace.back().cut = true;
        }
    }

    // The core has run its last block of a grid: what it found joins the launch.
    void leave() {
        finish_block();
        Launch& launch = Launch::instance();
        std::lock_guard<std::mutex> lock(launch.mutex);
        for (const auto& [key, figures] : figures_) {
            launch.figures[{static_cast<uint32_t>(key >> 8), static_cast<int>(key & 255)}].add(
                figures);
        }
        for (const auto& [place, piece] : pieces_) launch.pieces[place].add(piece);
        figures_.clear();
        pieces_.clear();
        forget_allocations();
        host_pages_.clear();
    }

    __attribute__((always_inline)) void access(const void* pointer, size_t bytes, What what,
                                               const void* place, const void* frame) {
        const char* const address = static_cast<const char*>(pointer);
        const uint32_t number = Places::instance().number_of(place);
        if (number == 0) return;  // CPU mode's own, as on the way from one thread to the next
        Event event{reinterpret_cast<uint64_t>(address),
                    number,
                    depth_of(frame),
                    static_cast<uint8_t>(bytes),
                    what,
                    space_of(address, frame),
                    false};
        if (event.space == Space::none) return;
        if (event.space == Space::local) {
            event.address = static_cast<uint64_t>(running->base - address);
        }
        std::vector<Event>& trace = this_trace();
        const uint32_t leader = Places::instance().leader_of(event.place);
        if (leader == 0 || !joins(trace, event, leader)) push(trace, event);
    }

    // An aggregate, in accesses as wide as its size and its address allow.
    void range(const void* pointer, size_t bytes, What what, const void* place, const void* frame) {
        const char* address = static_cast<const char*>(pointer);
        const uint64_t both = reinterpret_cast<uint64_t>(pointer) | bytes | 16;
        const size_t unit = both & ~(both - 1);
        for (size_t done = 0; done < bytes; done += unit) {
            access(address + done, unit, what, place, frame);
        }
    }

    void piece(const void* place, const void* frame) {
        const uint32_t number = Places::instance().number_of(place);
        if (!Places::instance().is_piece(number)) return;
        const Event event{0, number, depth_of(frame), 0, What::piece, Space::none, false};
        push(this_trace(), event);
    }

    static inline thread_local bool recording = false;

 private:
    static uint16_t depth_of(const void* frame) {
        const auto depth = running->base - static_cast<const char*>(frame);
        return static_cast<uint16_t>(std::min<ptrdiff_t>(depth / 16, 65535));
    }
    std::vector<Event>& this_trace() {
        return traces_[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)];
    }
    void push(std::vector<Event>& trace, const Event& event) {
        if (trace.size() >= most_events_) {
            truncated_ = true;
            return;
        }
        trace.push_back(event);
        ++events_;
    }
    // The parts of a vector that is stored part by part are one access, if they lie as one does.
    static bool joins(std::vector<Event>& trace, const Event& next, uint32_t leader) {
        const size_t near = trace.size() > 16 ? trace.size() - 16 : 0;
        for (size_t i = trace.size(); i-- > near;) {
            Event& first = trace[i];
            if (first.place != leader) continue;
            const bool fits = first.space == next.space && first.bytes + next.bytes <= 16 &&
                              first.address + first.bytes == next.address;
            if (fits) first.bytes = static_cast<uint8_t>(first.bytes + next.bytes);
            return fits;
        }
        return false;
    }

    Space space_of(const char* address, const void* frame) {
        if (address > frame && address < running->base) return Space::local;
        if (Memory::instance().on_device(address)) return Space::global;
        if (core_->in_shared(address)) return Space::shared;
        if (core_of_shared(address) != nullptr) return Space::distributed;
        if (in_program(address)) return of_program(address);
        if (KernelHeap::instance().holds(address)) return Space::global;
        // The host's memory: pinned or managed, or none of the kernel's business, as its arguments.
        auto& known = host_pages_[reinterpret_cast<uint64_t>(address) / 64];
        if (known == 0) known = Memory::instance().find(address) != nullptr ? 1 : 2;
        return known == 1 ? Space::global : Space::none;
    }
    static Space of_program(const char* address) {
        if (is_constant(address) || is_fixed(address)) return Space::constant;
        return Space::global;
    }
    // ------------------------------------------------------------ the traces of a block
    void finish_block() {
        if (!recording) return;
        recording = false;
        ended_ = true;
        settle();
        ended_ = false;
        Launch::instance().took(events_, barriers_, truncated_);
    }
    void settle() {
        for (unsigned int first = 0; first < threads_; first += 32) settle_warp(first);
    }
    void settle_warp(unsigned int first) {
        const unsigned int count = std::min(32u, threads_ - first);
        first_ = first;
        for (unsigned int lane = 0; lane < count; ++lane) {
            next_[lane] = traces_[first + lane].data();
            end_[lane] = next_[lane] + traces_[first + lane].size();
        }
        // What this takes of the standard library may be the program's own copy, which is watched.
        const bool was_recording = std::exchange(recording, false);
        Step step;
        while (choose(count, step)) take(step);
        recording = was_recording;
        for (unsigned int lane = 0; lane < count; ++lane) traces_[first + lane].clear();
    }
    // The lanes that go next: the deepest, then the first in the program.
    bool choose(unsigned int count, Step& step) {
        uint64_t best = ~uint64_t{0};
        step.count = 0;
        for (unsigned int lane = 0; lane < count; ++lane) {
            const Event* const event = next_[lane];
            if (event == end_[lane]) continue;
            const uint64_t key = uint64_t{65535u - event->depth} << 32 | event->place;
            if (key > best) continue;
            if (key < best) step.count = 0;
            best = key;
            step.events[step.count] = event;
            step.lanes[step.count++] = lane;
        }
        return step.count > 0;
    }
    void take(const Step& step) {
        for (unsigned int i = 0; i < step.count; ++i) ++next_[step.lanes[i]];
        ++step_;
        const Event& event = *step.events[0];
        if (event.what == What::piece) return take_piece(step);
        const uint64_t key = uint64_t{event.place} << 8 | static_cast<unsigned int>(event.what) |
                             static_cast<unsigned int>(event.space) << 2;
        Figures figures = look_at(step);
        figures_[key].add(figures);
        if (event.space != Space::local && Launch::instance().wants_touches()) tell(step);
    }

    void take_piece(const Step& step) {
        CodePiece& piece = pieces_[step.events[0]->place];
        ++piece.runs;
        piece.lanes += step.count;
        uint32_t first = 0;
        bool split = false;
        for (unsigned int i = 0; i < step.count; ++i) {
            const uint32_t next = where_next(step.events[i], end_[step.lanes[i]]);
            if (next == 0) continue;
            if (first == 0) first = next;
            split = split || next != first;
            piece.follow(next);
        }
        piece.split += split;
    }
    // The piece of code that follows in a lane's trace; 0 when it is not known, 1 for the thread's end.
    uint32_t where_next(const Event* event, const Event* end) const {
        while (!event->cut) {
            if (++event == end) return ended_;
            if (event->what == What::piece) return event->place;
        }
        return 0;
    }

    // One request with all its lanes, for the pictures.
    void tell(const Step& step) {
        const Event& first = *step.events[0];
        std::string name = "\"\"";
        const char* start = nullptr;
        size_t bytes = 0;
        const char* const address = reinterpret_cast<const char*>(first.address);
        if (first.space == Space::shared || first.space == Space::distributed) {
            if (const auto* const place = shared_near(address)) {
                name = json(place->name), start = place->start, bytes = place->bytes;
            }
        } else if (const Allocation* const allocation = Memory::instance().find(address)) {
            start = allocation->start, bytes = allocation->bytes;
            name = format("\"%llx\"", reinterpret_cast<unsigned long long>(start));
        }
        if (start == nullptr) return;
        std::string text =
            format("[%u,%d,%d,%s,%zu,%u,%llu,%llu,%u,[", Places::instance().address_of(first.place),
                   static_cast<int>(first.what), static_cast<int>(first.space), name.c_str(), bytes,
                   first.bytes, static_cast<unsigned long long>(block_),
                   static_cast<unsigned long long>(step_), first_);
        for (unsigned int i = 0; i < step.count; ++i) {
            text += format("%s[%u,%lld]", i == 0 ? "" : ",", step.lanes[i],
                           static_cast<long long>(step.events[i]->address) -
                               static_cast<long long>(reinterpret_cast<intptr_t>(start)));
        }
        Launch::instance().touches(text + "]]");
    }

    Core* core_ = nullptr;
    uint64_t block_ = 0, events_ = 0, barriers_ = 0, step_ = 0, most_events_ = 0;
    unsigned int threads_ = 0, first_ = 0;
    bool truncated_ = false, ended_ = false;
    std::vector<std::vector<Event>> traces_;  // by thread
    const Event* next_[32];
    const Event* end_[32];
    std::unordered_map<uint64_t, Figures> figures_;  // by place << 8 | What | Space << 2
    std::unordered_map<uint32_t, CodePiece> pieces_;
    std::unordered_map<uint64_t, int> host_pages_;
};

}  // namespace cuda_cpu
