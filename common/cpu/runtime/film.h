// The film of a run, for `make replay`: which line each thread stands in front of, what every step reads
// and writes, and the values of variables; and the order in which the threads of a block take steps.
//
// What the page shows has really run in the order that it shows. The program is built without
// optimisation, so that variables lie where the debugging information says, with a call at each line
// (step_hooks.py) and one before each access (calls.h). At such a call a thread stops, and the next one
// that goes on is chosen as the hardware does it: a warp at a time, of its lanes those that are deepest in
// calls and, among these, first in the program, together with all that stand at the same place. A step
// is what a lane does up to the next stop, and holds one access at most: so lanes read together before they
// write together, and a lost update is lost. (To record threads one after another and to sort the steps
// afterwards would show an order in which the values were never made.)
//
//   CUDA_CPU_FILM=FILE          where the film goes; without it nothing is recorded
//   CUDA_CPU_FILM_PLACES=FILE   lines, functions and variables, from common/replay/dwarf.py
//   CUDA_CPU_FILM_EVENTS=N      how much is recorded; then the run goes on unseen
//   CUDA_CPU_FILM_KERNEL=NAME   only kernels whose name contains this
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "calls.h"
#include "film_reel.h"
#include "memory.h"
#include "names.h"
#include "order.h"

namespace cuda_cpu {

void pause_thread();  // stands until Film::next() chooses it (scheduler.h)

class Film {
 public:
    static Film& instance() {
        static Film& film = *new Film;
        return film;
    }
    bool recording() const { return recording_; }
    // Whether the launch that runs is in the film; and the step, for those who find something in it.
    bool has_launch() const { return in_launch_; }
    size_t moment() const { return reel_.steps(); }

    // ------------------------------------------------------------ what the runtime tells
    void grid_begins(const std::string& kernel, const Shape& shape, int depth,
                     const LaunchFacts& facts) {
        if (!reel_.wanted()) return;
        reel_.begin_launch(kernel, shape, depth, facts);
        in_launch_ = reel_.takes(kernel);
    }
    // `block` is the one that has it where several run at the same time, else none.
    void shared_variable(const char* name, const char* start, size_t bytes, int64_t block) {
        reel_.add_shared(name, start, bytes, block);
    }
    void shared_begins(const char* start, int64_t block) { reel_.shared_begins(start, block); }
    void released(const char* start) { reel_.released(start); }
    void grid_ends() {
        end_block();
        if (std::exchange(in_launch_, false)) reel_.end_launch();
    }
    void block_begins(unsigned int threads) {
        now_ = block_of_this_core();
        end_block();
        recording_ = now_->open = in_launch_ && reel_.has_room();
        now_->threads.clear();
        if (!recording_) return;
        reel_.begin_block(blockIdx, gridDim);
        now_->threads.assign(threads, Thread{});
        now_->lanes.clear();
        now_->turn = now_->picks = 0;
        now_->warp = order().kind == Order::reversed ? 0 : ~0u;
        now_->chance.state = order().seed + reel_.steps();
    }
    // Of blocks that run at the same time: this one lets another one go on, goes on, has ended.
    void block_gives_way() {
        if (recording_) end_step();
    }
    void block_goes_on() {
        now_ = block_of_this_core();
        if (recording_ && now_->open) reel_.goes_on_with_block(blockIdx, gridDim);
    }
    void block_has_ended() {
        if (recording_) end_step();
        now_->open = false;
    }
    void enter() {
        if (!recording_) return;
        mine() = Thread{};
        mine().inside = true;
    }
    // The running thread begins to wait for others, or was the last that they waited for.
    void waits(Waiting waiting) {
        if (!recording_ || waiting == Waiting::nothing || waiting == Waiting::step) return;
        finish(mine());
        tell(waiting == Waiting::barrier ? State::barrier : State::warp);
        met();
    }
    void met() {
        if (recording_ && running != nullptr) mine().must_stop = true;
    }
    // It waits for something that another one does: those have precedence.
    void yields() { mine().yields = true; }

    // ------------------------------------------------------------ what the program does
    void line(const void* pc, char* frame) {
        if (!recording_ || running == nullptr || !mine().inside) return;
        const uint32_t number = reel_.places.number_of(pc);
        if (number == 0) return;
        Thread& self = mine();
        finish(self);
        self.announced[0] = self.announced[1] = {};
        while (!self.frames.empty() && self.frames.back().base < frame) self.frames.pop_back();
        const bool entered = self.frames.empty() || self.frames.back().base != frame;
        if (entered) enter_function(self, number, frame);
        Frame& top = self.frames.back();
        const bool goes_on = !entered && !self.must_stop && self.frames.size() == self.depth &&
                             reel_.places.line_of(number) == reel_.places.line_of(top.place) &&
                             pc > top.pc;
        if (!goes_on) top.last_line = reel_.places.line_of(top.place);
        top.place = number, top.pc = pc;
        if (goes_on) {
            self.branched = true;  // within a line, as in c ? a : b
            return;
        }
        stop(self, pc);
    }
    void leave(const char* frame) {
        if (!recording_ || running == nullptr || !mine().inside || mine().frames.empty()) return;
        Thread& self = mine();
        finish(self);
        while (!self.frames.empty() && self.frames.back().base <= frame) self.frames.pop_back();
        if (!self.frames.empty()) return;
        self.inside = false;
        tell(State::ended);
    }
    // Before an access. One more in a step waits for the next one.
    void access(const char* address, size_t bytes, Access kind, const void* pc) {
        if (!recording_ || !mine().inside || mine().frames.empty()) return;
        Thread& self = mine();
        const int array = reel_.array_at(address, bytes);
        if (array < 0 && !Memory::instance().on_device(address)) return;
        self.announced[writes(kind)] = {address, address + bytes};
        // The exchange that ends an atomic operation, which has begun with a load.
        const bool ends_atomic = kind == Access::atomic_update && self.opened == address;
        self.opened = nullptr;
        if (ends_atomic) {
            reel_.drop_access();
        } else {
            finish(self);
            Frame& top = self.frames.back();
            const uint32_t place = reel_.places.number_of(pc);
            // A line that is nothing but a function of CPU mode, as atomicAdd, has no call of its own.
            if (place != 0 && reel_.places.function_of(place) == top.function &&
                reel_.places.line_of(place) != reel_.places.line_of(top.place)) {
                top.last_line = reel_.places.line_of(top.place);
                top.place = place, top.pc = pc;
                self.must_stop = true;
            }
            if (self.accessed || self.branched || self.must_stop) stop(self, pc);
        }
        self.accessed = true;
        if (array < 0) return;  // what is nobody's stands among the faults
        if (kind == Access::atomic_load) self.opened = address;
        const int what = kind == Access::atomic_update ? 2 : writes(kind) ? 1 : 0;
        const size_t both = reinterpret_cast<size_t>(address) | bytes | 16;
        const size_t unit = both & ~(both - 1);
        for (size_t done = 0; done < bytes; done += unit) {
            const size_t value = reel_.add_access(number(), reel_.places.number_of(pc), what, unit,
                                                  array, address + done);
            if (what != 0) self.pending.push_back({address + done, unit, value, array});
        }
    }

    // Before an instruction that moves memory: an access, if the compiler has not announced it.
    void moves(const void* pc, char* frame, const char* address, size_t bytes, Access kind) {
        if (!recording_ || running == nullptr || !mine().inside) return;
        auto& [begin, end] = mine().announced[writes(kind)];
        const bool known = begin <= address && address + bytes <= end;
        if (begin == address && address + bytes == end) begin = end = nullptr;
        if (known || reel_.array_at(address, bytes) < 0 || is_fixed(address)) return;
        Watch::access(address, bytes, kind, pc, frame);
        begin = end = nullptr;  // that was no announcement
    }

    // ------------------------------------------------------------ who goes next
    // The runner of the thread whose turn it is; null when none stands in front of a step.
    void stands(Runner* runner) { mine().runner = runner; }
    Runner* next() {
        while (now_->turn < now_->lanes.size()) {
            Thread& thread = now_->threads[now_->lanes[now_->turn++]];
            if (thread.runner != nullptr) return std::exchange(thread.runner, nullptr);
        }
        if (recording_) end_step();
        if (!choose()) return nullptr;
        now_->turn = 0;
        return next();
    }

    void write() {
        if (!reel_.wanted()) return;
        if (recording_) end_step();
        recording_ = false;
        reel_.write();
    }

 private:
    enum class State { stands, barrier, warp, ended };
    struct Frame {
        char* base;
        uint32_t place;  // the last line's
        const void* pc;
        unsigned int function;
        unsigned int last_line;  // before that
        bool told;
        std::vector<char> seen;  // the variables as the film has them
    };
    struct Pending {
        const char* address;
        size_t bytes, value;
        int array;
    };
    struct Thread {
        std::vector<Frame> frames;
        size_t depth = 0;          // how deep in calls it stood, and where
        const void* pc = nullptr;  // at its last stop
        uint64_t since = 0;        // its warp's steps before that
        Runner* runner = nullptr;  // null unless it stands
        bool inside = false;       // a kernel
        bool accessed = false, branched = false, must_stop = false, yields = false;
        const char* opened = nullptr;  // an atomic operation on it has begun
        std::pair<const char*, const char*> announced[2] = {};  // the last load and store
        std::vector<Pending> pending;  // what it writes, until the next call
    };

    Film() = default;
    const Order& order() const { return Order::asked_for(); }
    static unsigned int number() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    Thread& mine() { return now_->threads[number()]; }

    void stop(Thread& self, const void* pc) {
        self.pc = pc;
        self.depth = self.frames.size();
        self.since = now_->picks;
        tell(State::stands);
        pause_thread();
        self.accessed = self.branched = self.must_stop = self.yields = false;
    }
    // What it has written is there now.
    void finish(Thread& self) {
        for (const Pending& one : self.pending)
            reel_.set_value(one.value, one.array, one.address, one.bytes);
        self.pending.clear();
    }
    // Variables get a pattern first: what has it has no value yet.
    void enter_function(Thread& self, uint32_t place, char* frame) {
        const unsigned int function = reel_.places.function_of(place);
        const auto& variables = reel_.places.variables_of(function);
        self.frames.push_back({frame, place, nullptr, function, 0, false, {}});
        for (const Variable& variable : variables) {
            if (!variable.parameter) std::memset(variable.in(frame), no_value, variable.bytes);
        }
        size_t bytes = 0;
        for (const Variable& variable : variables) bytes += variable.bytes;
        self.frames.back().seen.assign(bytes, static_cast<char>(no_value));
    }
    void tell(State state) {
        Thread& self = mine();
        const bool ended = self.frames.empty();
        const bool first = !ended && !std::exchange(self.frames.back().told, true);
        reel_.add_move(number(), static_cast<int>(state), ended ? 0 : self.frames.back().place,
                       static_cast<int>(self.frames.size()), first);
        if (state != State::stands) return;
        Frame& top = self.frames.back();
        const uint32_t offset = reel_.places.offset_of(self.pc);
        size_t at = 0;
        for (const Variable& variable : reel_.places.variables_of(top.function)) {
            const char* const value = variable.in(top.base);
            char* const seen = top.seen.data() + at;
            at += variable.bytes;
            const bool in_scope = offset >= variable.first && offset < variable.end;
            const bool born = variable.parameter || top.last_line >= variable.line;
            if (!in_scope || !born) continue;
            if (std::memcmp(seen, value, variable.bytes) == 0 && variable.bytes > 1) continue;
            if (variable.bytes == 1 && *seen == *value && *value != static_cast<char>(no_value))
                continue;
            std::memcpy(seen, value, variable.bytes);
            reel_.add_variable(number(), variable.number, value, variable.bytes);
        }
    }

    void end_step() {
        if (!now_->open) return;
        if (!now_->lanes.empty() || now_->picks == 0) {
            reel_.end_step(now_->picks == 0 ? 0xffff : now_->warp, now_->mask, now_->place,
                           now_->depth);
            ++now_->picks;
        }
        now_->lanes.clear();
        if (!reel_.has_room()) {  // the rest of the block runs unseen
            reel_.cut();
            recording_ = in_launch_ = false;
        }
    }
    void end_block() {
        if (recording_) end_step();
        recording_ = now_->open = false;
    }

    bool stands(unsigned int thread, bool patient) const {
        return thread < now_->threads.size() && now_->threads[thread].runner != nullptr &&
               (patient || !now_->threads[thread].yields);
    }
    bool choose() {
        const auto warps = static_cast<unsigned int>((now_->threads.size() + 31) / 32);
        now_->lanes.clear();
        if (warps == 0) return false;
        const unsigned int start = order().kind == Order::forward ? now_->warp + 1
                                   : order().kind == Order::reversed
                                       ? now_->warp + warps - 1
                                       : static_cast<unsigned int>(now_->chance() % warps);
        const unsigned int forward = order().kind == Order::reversed ? warps - 1 : 1;
        for (const bool patient : {false, true}) {
            for (unsigned int i = 0; i < warps; ++i) {
                const unsigned int warp = (start + i * forward) % warps;
                if (choose_lanes(warp, patient)) return true;
            }
        }
        return false;
    }
    bool choose_lanes(unsigned int warp, bool patient) {
        const Thread* best = nullptr;
        for (unsigned int lane = 0; lane < 32; ++lane) {
            if (!stands(warp * 32 + lane, patient)) continue;
            const Thread& thread = now_->threads[warp * 32 + lane];
            const bool is_late = now_->picks - thread.since >
                                 most_patient * now_->threads.size() / 32 + most_patient;
            if (best == nullptr || is_late || thread.depth > best->depth ||
                (thread.depth == best->depth && thread.pc < best->pc))
                best = &thread;
            if (is_late) break;
        }
        if (best == nullptr) return false;
        const size_t depth = best->depth;
        const void* const pc = best->pc;
        now_->mask = 0;
        for (unsigned int i = 0; i < 32; ++i) {
            const unsigned int lane = order().kind == Order::reversed ? 31 - i : i;
            if (!stands(warp * 32 + lane, true)) continue;
            const Thread& thread = now_->threads[warp * 32 + lane];
            if (thread.depth != depth || thread.pc != pc) continue;
            now_->mask |= 1u << lane;
            now_->lanes.push_back(warp * 32 + lane);
        }
        now_->warp = warp;
        const Thread& first = now_->threads[now_->lanes.front()];
        now_->place = first.frames.empty() ? 0 : first.frames.back().place;
        now_->depth = static_cast<unsigned int>(depth);
        return true;
    }

    // Lanes that the others leave behind for so many steps of the block go on, as a warp's lanes may.
    static constexpr uint64_t most_patient = 300;
    static constexpr int no_value = 0xa5;

    Reel reel_;
    bool recording_ = false, in_launch_ = false;
    // The block that a core runs; of those that run at the same time one after the other goes a stretch.
    struct OfBlock {
        std::vector<Thread> threads;
        std::vector<unsigned int> lanes;  // of the step, by the threads' numbers
        size_t turn = 0;                  // which of them runs
        unsigned int warp = 0, mask = 0, place = 0, depth = 0;
        uint64_t picks = 0;  // steps of the block
        bool open = false;   // it has begun and not ended
        Chance chance{};
    };
    static OfBlock* block_of_this_core() {
        static thread_local OfBlock* const block = new OfBlock;
        return block;
    }
    OfBlock* now_ = block_of_this_core();
};

}  // namespace cuda_cpu
