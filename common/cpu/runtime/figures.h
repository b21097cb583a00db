// What `make explain` keeps of a launch: the figures of each place, and the file that they go to.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "faults.h"
#include "grid.h"

namespace cuda_cpu {

enum class What : uint8_t { load, store, atomic, piece };
// distributed: shared memory of another block of the cluster
enum class Space : uint8_t { global, shared, local, constant, none, distributed };

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
struct CodePiece {
    uint64_t runs = 0, lanes = 0, split = 0;
    uint32_t next[2] = {};  // two places that followed; that is enough to call it a branch

    void follow(uint32_t place) {
        if (next[0] == 0) next[0] = place;
        if (next[1] == 0 && next[0] != place) next[1] = place;
    }
    void add(const CodePiece& other) {
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
    std::map<uint32_t, CodePiece> pieces;

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

}  // namespace cuda_cpu
