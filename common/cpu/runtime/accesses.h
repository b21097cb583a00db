// What a kernel asks of memory, warp by warp: the figures of `make explain`.
//
// The compiler's -fsanitize=thread puts a call in front of every access, and -fsanitize-coverage=trace-pc
// one at the start of every piece of code without a branch. The calls end here. Each thread of a block
// leaves a trace of what it passed; at a barrier, at the meeting of a whole warp, and at the end of the
// block, the traces of a warp are laid side by side and walked through as the hardware does it: of all
// lanes those that are deepest in calls and, among these, first in the program go one step, together
// with the others that stand at the same place. So lanes that parted meet again behind the branch, and
// what the lanes of one step access is one request.
//
//   CUDA_CPU_ACCESSES=FILE   where the figures go, a line of JSON a launch; without it nothing is recorded
//   CUDA_CPU_PLACES=FILE     what the program's places are, from common/explain/places.py
//   CUDA_CPU_TOUCHES=N       also who touched what: the first N requests of each kernel's first launch
//   CUDA_CPU_EVENTS=N        how much of a launch is recorded; then blocks are left out, evenly
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calls.h"
#include "faults.h"
#include "grid.h"
#include "observer.h"

namespace cuda_cpu {

enum class What : uint8_t { load, store, atomic, piece };
enum class Space : uint8_t { global, shared, local, constant, none };

// Something that a thread passed. Sixteen bytes: a block may leave tens of millions.
struct Event {
    uint64_t address;  // in local memory: how far below the thread's first frame
    uint32_t place;    // its number in Places
    uint16_t depth;    // of the stack, in units of 16 bytes
    uint8_t bytes;
    What what : 2;
    Space space : 3;
    bool cut : 1;  // where the thread went from here is not known
};
static_assert(sizeof(Event) == 16);

// Sums over the requests of one place.
struct Figures {
    uint64_t requests = 0, lanes = 0;
    uint64_t units = 0, least = 0;  // sectors, or wavefronts of shared memory; the fewest possible
    uint64_t conflicts = 0;         // wavefronts more than the width of the access asks for
    uint64_t bytes = 0;             // distinct ones
    uint64_t asked = 0;             // all lanes' together
    uint64_t same = 0;              // the most lanes on one address, over the requests
    uint64_t most = 0;              // the largest of these; in shared memory the most ways
    uint64_t apart = 0;             // requests whose lanes have different addresses

    void add(const Figures& other) {
        requests += other.requests, lanes += other.lanes, units += other.units;
        least += other.least, conflicts += other.conflicts, bytes += other.bytes;
        asked += other.asked, same += other.same, apart += other.apart;
        most = std::max(most, other.most);
    }
};

// The runs of a piece of code by warps, and where they went on.
struct Piece {
    uint64_t runs = 0, lanes = 0, split = 0;
    uint32_t next[2] = {};  // two places that followed; that is enough to call it a branch

    void follow(uint32_t place) {
        if (next[0] == 0) next[0] = place;
        if (next[1] == 0 && next[0] != place) next[1] = place;
    }
    void add(const Piece& other) {
        runs += other.runs, lanes += other.lanes, split += other.split;
        for (const uint32_t place : other.next) {
            if (place != 0) follow(place);
        }
    }
};

// The bytes of an allocation that a launch has read and written, a bit each.
struct Touched {
    const char* start;
    size_t bytes;
    std::vector<std::atomic<uint64_t>> read, written;

    Touched(const char* start, size_t bytes)
        : start(start), bytes(bytes), read(bytes / 64 + 2), written(bytes / 64 + 2) {}
    static void mark(std::vector<std::atomic<uint64_t>>& bits, size_t first, size_t count) {
        for (size_t i = first; i < first + count;) {
            const size_t shift = i % 64, here = std::min(first + count - i, 64 - shift);
            const uint64_t mask = (here == 64 ? ~uint64_t{0} : (uint64_t{1} << here) - 1) << shift;
            auto& word = bits[i / 64];
            if ((word.load(std::memory_order_relaxed) & mask) != mask) {
                word.fetch_or(mask, std::memory_order_relaxed);
            }
            i += here;
        }
    }
    static uint64_t count(const std::vector<std::atomic<uint64_t>>& bits) {
        uint64_t sum = 0;
        for (const auto& word : bits) sum += static_cast<uint64_t>(__builtin_popcountll(word));
        return sum;
    }
};

inline uint64_t number_from(const char* variable, uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

// The program's places in the order of CUDA_CPU_PLACES, which is that in which lanes walk through them
// (common/explain/flow.py). The file holds the first and the last address, then a line a place: its
// address, 1 if a piece of the learner's code begins there, and for the second and later parts of a
// vector the address of the first.
class Places {
 public:
    static const Places& instance() {
        static const Places& places = *new Places;
        return places;
    }
    // 0 for what is not in the file.
    uint32_t number_of(const void* place) const {
        const uint64_t offset = reinterpret_cast<uint64_t>(place) - first_;
        return offset < numbers_.size() ? numbers_[offset] : 0;
    }
    bool is_piece(uint32_t number) const { return is_piece_[number]; }
    uint32_t leader_of(uint32_t number) const { return leaders_[number]; }
    uint32_t address_of(uint32_t number) const {
        return number < addresses_.size() ? addresses_[number] : 0;
    }

 private:
    Places() {
        const char* const path = std::getenv("CUDA_CPU_PLACES");
        FILE* const file = path != nullptr ? std::fopen(path, "r") : nullptr;
        if (file == nullptr)
            stop("CUDA_CPU_ACCESSES needs CUDA_CPU_PLACES: make explain sets both.");
        unsigned int first, last, address, piece, leader;
        if (std::fscanf(file, "%x %x", &first, &last) != 2) first = last = 0;
        first_ = first;
        numbers_.resize(last - first + 1);
        while (std::fscanf(file, "%x %u %x", &address, &piece, &leader) == 3) {
            numbers_[address - first] = static_cast<uint32_t>(addresses_.size());
            addresses_.push_back(address);
            leaders_.push_back(leader);
            is_piece_.push_back(piece != 0);
        }
        std::fclose(file);
        for (uint32_t& place : leaders_) place = place == 0 ? 0 : numbers_[place - first];
    }
    uint64_t first_ = 0;
    // 0 is no place, 1 a thread's end.
    std::vector<uint32_t> numbers_, addresses_{0, 0}, leaders_{0, 0};
    std::vector<bool> is_piece_{false, false};
};

// The launch that runs now, and the file that hears of it when it has ended.
class Launch {
 public:
    static Launch& instance() {
        static Launch& launch = *new Launch;
        return launch;
    }
    bool wanted() const { return file_ != nullptr; }

    void begin(const Grid& grid) {
        const dim3 shape = grid.shape.grid, block = grid.shape.block;
        site_ = format("%s %d %u %u %u %u %u %u", grid.kernel->called, grid.shape.site.line,
                       shape.x, shape.y, shape.z, block.x, block.y, block.z);
        // A site that launches through a pointer most likely launches what it did the last time.
        const Repeated& repeated = repeated_[last_name_[site_] + site_];
        recorded_ = repeated.events < 3 * budget_ &&
                    (repeated.launches < 32 || repeated.launches % 16 == 0);
        count_ = grid.block_count();
        most_ = count_;
        blocks_ = events_ = barriers_ = truncated_ = 0;
        name_ = grid.kernel->called;
        figures.clear();
        pieces.clear();
        touched_.clear();
        touches_.clear();
        touches_left_ = number_from("CUDA_CPU_TOUCHES", 0);
    }

    // Whether a block is recorded. They lie evenly over the grid.
    bool takes(uint64_t block) const {
        if (!recorded_) return false;
        const double most = static_cast<double>(most_.load(std::memory_order_relaxed));
        const double share = most / static_cast<double>(count_);
        return block == 0 || std::floor(share * static_cast<double>(block)) !=
                                 std::floor(share * static_cast<double>(block - 1));
    }
    // A block was recorded: from the first one follows how many can be.
    void took(uint64_t events, uint64_t barriers, bool truncated) {
        ++blocks_;
        events_ += events;
        barriers_ += barriers;
        truncated_ += truncated;
        if (events > 0) most_ = std::min(count_, std::max<uint64_t>(budget_ / events, 8));
    }
    uint64_t budget() const { return budget_; }
    // A launch may name a pointer; the kernel itself knows what it is called.
    void name(const char* kernel) { name_.store(kernel, std::memory_order_relaxed); }

    Touched& touched(const Allocation& allocation) {
        std::lock_guard<std::mutex> lock(mutex);
        auto& found = touched_[allocation.start];
        if (found == nullptr) {
            found = std::make_unique<Touched>(allocation.start, allocation.bytes);
        }
        return *found;
    }

    bool wants_touches() const { return touches_left_ > 0; }
    void touches(const std::string& text) {
        std::lock_guard<std::mutex> lock(mutex);
        if (touches_left_ == 0) return;
        --touches_left_;
        touches_ += (touches_.empty() ? "" : ",") + text;
    }

    void end(const Grid& grid) {
        const dim3 shape = grid.shape.grid, block = grid.shape.block;
        std::fprintf(
            file_,
            "{\"kernel\":%s,\"file\":%s,\"line\":%d,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],"
            "\"dynamic_shared\":%zu,\"recorded\":%llu,\"barriers\":%llu,\"truncated\":%llu",
            json(name_).c_str(), json(grid.shape.site.file).c_str(), grid.shape.site.line, shape.x,
            shape.y, shape.z, block.x, block.y, block.z, grid.shape.shared_bytes, number(blocks_),
            number(barriers_), number(truncated_));
        last_name_[site_] = name_;
        Repeated& repeated = repeated_[last_name_[site_] + site_];
        repeated.events += events_;
        ++repeated.launches;
        uint64_t read = 0, written = 0;
        for (const auto& [start, touched] : touched_) {
            read += Touched::count(touched->read);
            written += Touched::count(touched->written);
        }
        std::fprintf(file_, ",\"unique_read\":%llu,\"unique_written\":%llu", number(read),
                     number(written));
        write_figures();
        if (!touches_.empty() && !std::exchange(repeated.drawn, true)) {
            std::fprintf(file_, ",\"touches\":[%s]", touches_.c_str());
        }
        std::fputs("}\n", file_);
        std::fflush(file_);
    }

    std::mutex mutex;
    std::map<std::pair<uint32_t, int>, Figures> figures;  // by place and What | Space << 2
    std::map<uint32_t, Piece> pieces;

 private:
    struct Repeated {
        uint64_t launches = 0, events = 0;
        bool drawn = false;
    };
    Launch() : budget_(number_from("CUDA_CPU_EVENTS", 20'000'000)) {
        if (const char* const path = std::getenv("CUDA_CPU_ACCESSES")) {
            file_ = std::fopen(path, "w");
            if (file_ == nullptr)
                stop("CUDA_CPU_ACCESSES: cannot write " + std::string(path) + ".");
        }
    }
    static unsigned long long number(uint64_t value) { return value; }

    void write_figures() {
        std::fputs(",\"accesses\":[", file_);
        const char* comma = "";
        for (const auto& [key, f] : figures) {
            std::fprintf(file_, "%s[%u,%d,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu]",
                         comma, Places::instance().address_of(key.first), key.second,
                         number(f.requests), number(f.lanes), number(f.units), number(f.least),
                         number(f.conflicts), number(f.bytes), number(f.asked), number(f.same),
                         number(f.most), number(f.apart));
            comma = ",";
        }
        std::fputs("],\"pieces\":[", file_);
        comma = "";
        for (const auto& [place, p] : pieces) {
            std::fprintf(file_, "%s[%u,%llu,%llu,%llu,%u,%u]", comma,
                         Places::instance().address_of(place), number(p.runs), number(p.lanes),
                         number(p.split), p.next[0], p.next[1]);
            comma = ",";
        }
        std::fputs("]", file_);
    }

    FILE* file_ = nullptr;
    const uint64_t budget_;
    std::map<std::string, Repeated> repeated_;      // by kernel, site and shape
    std::map<std::string, std::string> last_name_;  // the kernel of a site's last launch
    std::string site_;
    std::atomic<const char*> name_{""};
    bool recorded_ = false;
    uint64_t count_ = 0;
    std::atomic<uint64_t> most_{0}, blocks_{0}, events_{0}, barriers_{0}, truncated_{0};
    std::map<const char*, std::unique_ptr<Touched>> touched_;
    std::atomic<uint64_t> touches_left_{0};
    std::string touches_;
};

// The lanes of a warp that do one step together.
struct Step {
    unsigned int count = 0;
    const Event* events[32];
    unsigned int lanes[32];
};

// Distinct numbers, in order; most come in order.
class Distinct {
 public:
    void clear() { count_ = 0; }
    void add(uint64_t value) {
        if (count_ == 0 || value > values_[count_ - 1]) {
            values_[count_++] = value;
            return;
        }
        uint64_t* const end = values_ + count_;
        uint64_t* const found = std::lower_bound(values_, end, value);
        if (*found == value) return;
        std::copy_backward(found, end, end + 1);
        *found = value;
        ++count_;
    }
    unsigned int count() const { return count_; }
    const uint64_t* begin() const { return values_; }
    const uint64_t* end() const { return values_ + count_; }

 private:
    uint64_t values_[32 * 16];  // 32 lanes, 16 bytes each
    unsigned int count_ = 0;
};

// The constants of the program stand between the first two, which the linker makes when there are any;
// its variables begin at the third.
extern "C" char __start_cuda_constant[] __attribute__((weak));
extern "C" char __stop_cuda_constant[] __attribute__((weak));
extern "C" char __data_start[] __attribute__((weak));

// Records the block that one core runs.
class Recorder {
 public:
    static Recorder& mine() {
        static thread_local Recorder* const recorder = new Recorder;
        return *recorder;
    }

    void begin_block(unsigned int threads) {
        if (!Launch::instance().wanted()) return;
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
        known_.clear();
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
        if (core_->in_shared_arena(address) || core_->in_dynamic_shared(address)) {
            return Space::shared;
        }
        if (in_program(address)) return of_program(address);
        // The host's memory: pinned or managed, or none of the kernel's business, as its arguments.
        auto& known = host_pages_[reinterpret_cast<uint64_t>(address) / 64];
        if (known == 0) known = Memory::instance().find(address) != nullptr ? 1 : 2;
        return known == 1 ? Space::global : Space::none;
    }
    static Space of_program(const char* address) {
        if (address >= __start_cuda_constant && address < __stop_cuda_constant) {
            return Space::constant;
        }
        return address >= __data_start ? Space::global : Space::constant;
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
        Step step;
        while (choose(count, step)) take(step);
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
        if (event.space <= Space::shared && Launch::instance().wants_touches()) tell(step);
    }

    void take_piece(const Step& step) {
        Piece& piece = pieces_[step.events[0]->place];
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

    // ------------------------------------------------------------ one request
    Figures look_at(const Step& step) {
        Figures figures;
        figures.requests = 1;
        figures.lanes = step.count;
        const Event& first = *step.events[0];
        bool apart = false;
        sectors_.clear();
        words_.clear();
        starts_.clear();
        const bool in_sectors = first.space != Space::shared;
        uint64_t distinct_end = 0;
        for (unsigned int i = 0; i < step.count; ++i) {
            const Event& event = *step.events[i];
            apart = apart || event.address != first.address;
            figures.asked += event.bytes;
            if (in_sectors) {
                sectors_.add(event.address / 32);
                sectors_.add((event.address + event.bytes - 1) / 32);
            }
            starts_.add(event.address);
        }
        figures.apart = apart;
        for (const uint64_t start : starts_) {
            const uint64_t end = start + first.bytes, from = std::max(start, distinct_end);
            if (end > from) figures.bytes += end - from;
            distinct_end = std::max(end, distinct_end);
        }
        if (first.what == What::atomic) count_same(step, figures);
        if (first.space == Space::shared) return with_wavefronts(step, figures);
        figures.units = sectors_.count();
        figures.least = (figures.bytes + 31) / 32;
        if (first.space == Space::global) mark(step);
        return figures;
    }

    // For atomics: the most lanes that want the same address.
    void count_same(const Step& step, Figures& figures) {
        uint64_t most = 0;
        for (const uint64_t start : starts_) {
            uint64_t same = 0;
            for (unsigned int i = 0; i < step.count; ++i) same += step.events[i]->address == start;
            most = std::max(most, same);
        }
        figures.same = figures.most = most;
    }

    // Accesses of 8 bytes are served by half warps, those of 16 by quarters. Within such a part each
    // of the 32 banks gives one word of 4 bytes at a time, to all lanes that want it.
    Figures with_wavefronts(const Step& step, Figures figures) {
        const unsigned int bytes = step.events[0]->bytes;
        const unsigned int lanes_at_once = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
        unsigned int ways = 1;
        for (unsigned int part = 0; part < 32; part += lanes_at_once) {
            words_.clear();
            for (unsigned int i = 0; i < step.count; ++i) {
                if (step.lanes[i] < part || step.lanes[i] >= part + lanes_at_once) continue;
                const uint64_t address = step.events[i]->address;
                for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; ++word) {
                    words_.add(word);
                }
            }
            if (words_.count() == 0) continue;
            unsigned int of_bank[32] = {}, most = 0;
            for (const uint64_t word : words_) most = std::max(most, ++of_bank[word % 32]);
            figures.units += most;
            figures.conflicts += most - 1;
            ways = std::max(ways, most);
        }
        figures.least = figures.units - figures.conflicts;
        if (step.events[0]->what != What::atomic) figures.most = ways;
        return figures;
    }

    // Notes which bytes of an allocation were read and written.
    void mark(const Step& step) {
        const bool reads = step.events[0]->what != What::store;
        const bool writes = step.events[0]->what != What::load;
        for (unsigned int i = 0; i < step.count; ++i) {
            const char* const address = reinterpret_cast<const char*>(step.events[i]->address);
            Touched* const touched = touched_at(address);
            if (touched == nullptr) continue;
            const size_t offset = static_cast<size_t>(address - touched->start);
            if (offset + step.events[i]->bytes > touched->bytes) continue;
            if (reads) Touched::mark(touched->read, offset, step.events[i]->bytes);
            if (writes) Touched::mark(touched->written, offset, step.events[i]->bytes);
        }
    }
    Touched* touched_at(const char* address) {
        for (Touched* const touched : known_) {
            if (address >= touched->start && address < touched->start + touched->bytes) {
                return touched;
            }
        }
        const Allocation* const allocation = Memory::instance().find(address);
        if (allocation == nullptr) return nullptr;
        Touched* const touched = &Launch::instance().touched(*allocation);
        if (address >= touched->start + touched->bytes) return nullptr;
        known_.push_back(touched);
        return touched;
    }

    // One request with all its lanes, for the pictures.
    void tell(const Step& step) {
        const Event& first = *step.events[0];
        std::string name = "\"\"";
        const char* start = nullptr;
        size_t bytes = 0;
        const char* const address = reinterpret_cast<const char*>(first.address);
        if (first.space == Space::shared) {
            if (const auto* const place = core_->shared_near(address)) {
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
    Distinct sectors_, words_, starts_;
    std::unordered_map<uint64_t, Figures> figures_;  // by place << 8 | What | Space << 2
    std::unordered_map<uint32_t, Piece> pieces_;
    std::vector<Touched*> known_;
    std::unordered_map<uint64_t, int> host_pages_;
};

// ---------------------------------------------------------------- what the runtime tells
namespace observer {

void grid_begins(const LaunchFacts&) {}
void grid_starts(const Grid& grid) {
    if (Launch::instance().wanted()) Launch::instance().begin(grid);
}
void core_leaves() {
    if (Launch::instance().wanted()) Recorder::mine().leave();
}
void grid_ends(Grid& grid) {
    if (Launch::instance().wanted()) Launch::instance().end(grid);
}
void block_begins(unsigned int threads) { Recorder::mine().begin_block(threads); }
void barrier() { Recorder::mine().barrier(); }
void meeting(unsigned int first, unsigned int lanes) { Recorder::mine().meeting(first, lanes); }
void allocated(const Allocation&) {}
void released(const Allocation&) {}
void filled(const void*, size_t) {}
void copied(const void*, const void*, size_t) {}
void shared_variable(const char*, const char*, size_t) {}
void shared_begins(const char*, size_t) {}
void dynamic_shared(const char*, const char*, const char*, size_t) {}

}  // namespace observer

void entered_kernel(const char* kernel) { Recorder::mine().enter(kernel); }

// The loops of load and weak exchange (atomicAdd of a float, say) are the runtime's own, and one
// atomic: what counts is the exchange that succeeds. The load before it is none of the kernel's.
inline bool Watch::counts_failures() { return false; }

inline What what_is(Access access) {
    if (access == Access::atomic_update) return What::atomic;
    return writes(access) ? What::store : What::load;
}
inline void Watch::access(const volatile void* address, size_t bytes, Access access, bool,
                          const void* place, const void* frame) {
    if (!Recorder::recording || !in_kernel() || access == Access::atomic_load) return;
    Recorder::mine().access(const_cast<const void*>(address), bytes, what_is(access), place, frame);
}
inline void Watch::range(const void* address, size_t bytes, Access access, const void* place,
                         const void* frame) {
    if (!Recorder::recording || !in_kernel()) return;
    Recorder::mine().range(address, bytes, what_is(access), place, frame);
}
inline void Watch::fence() {}

}  // namespace cuda_cpu

extern "C" void __sanitizer_cov_trace_pc() {
    if (!cuda_cpu::Recorder::recording || !cuda_cpu::in_kernel()) return;
    cuda_cpu::Recorder::mine().piece(__builtin_return_address(0), __builtin_frame_address(0));
}
