// What the film of a run consists of: columns of numbers, and the file that they go to.
//
// The file begins with the length of its head (32 bits); the head is JSON, and says what the columns behind
// it are called, of how many bytes a number is, and how many they hold. common/replay/film.js reads them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memory.h"
#include "observer.h"
#include "report.h"

namespace cuda_cpu {

// A variable of a function, or 16 bytes of a large one.
struct Variable {
    long offset;                // from the frame's canonical address
    unsigned int by_reference;  // a class that is handed over by value: there lies where it is
    size_t first_byte, bytes;
    uint32_t first, end;  // where in the program it is visible
    unsigned int line;    // where it is declared
    bool parameter;
    unsigned int number;

    char* in(char* frame) const {
        char* const place = frame + 2 * sizeof(void*) + offset;
        return (by_reference ? *reinterpret_cast<char**>(place) : place) + first_byte;
    }
};

// What dwarf.py knows: each place where a call of the compiler's or a line's returns to, and the variables.
class FilmPlaces {
 public:
    void read(const char* path) {
        FILE* const file = path != nullptr ? std::fopen(path, "r") : nullptr;
        if (file == nullptr)
            stop("CUDA_CPU_FILM needs CUDA_CPU_FILM_PLACES: make replay sets both.");
        unsigned int count, address, line, function;
        if (std::fscanf(file, "%u", &count) != 1) count = 0;
        for (unsigned int i = 0;
             i < count && std::fscanf(file, "%x %u %u", &address, &line, &function) == 3; ++i) {
            if (i == 0) first_ = address;
            numbers_.resize(address - first_ + 1);
            numbers_.back() = static_cast<uint32_t>(lines_.size());
            lines_.push_back(line);
            functions_.push_back(function);
        }
        Variable one{};
        unsigned int parameter;
        while (std::fscanf(file, "%u %ld %u %zu %zu %x %x %u %u", &function, &one.offset,
                           &one.by_reference, &one.first_byte, &one.bytes, &one.first, &one.end,
                           &one.line, &parameter) == 9) {
            if (variables_.size() <= function) variables_.resize(function + 1);
            one.parameter = parameter != 0;
            variables_[function].push_back(one);
            ++one.number;
        }
        size_t start, bytes;
        unsigned int hidden;
        while (std::fscanf(file, " variable %zx %zu %u", &start, &bytes, &hidden) == 3)
            program_[start] = {bytes, hidden != 0};
        std::fclose(file);
    }
    struct ProgramVariable {
        const char* start;
        size_t bytes;
        bool hidden;  // the compiler's, or CPU mode's
    };
    // The variable of the program that holds these bytes; none: of 0 bytes.
    ProgramVariable variable_at(const char* address, size_t bytes) const {
        const auto at = reinterpret_cast<size_t>(address);
        const auto next = program_.upper_bound(at);
        if (next == program_.begin()) return {};
        const auto& [start, known] = *std::prev(next);
        if (at + bytes > start + known.first) return {};
        return {address - (at - start), known.first, known.second};
    }
    // 0 for what is not in the file.
    uint32_t number_of(const void* pc) const {
        const size_t offset = reinterpret_cast<size_t>(pc) - first_;
        return offset < numbers_.size() ? numbers_[offset] : 0;
    }
    static uint32_t offset_of(const void* pc) {
        return static_cast<uint32_t>(reinterpret_cast<size_t>(pc));
    }
    unsigned int line_of(uint32_t number) const { return lines_[number]; }
    unsigned int function_of(uint32_t number) const { return functions_[number]; }
    const std::vector<Variable>& variables_of(unsigned int function) const {
        static const std::vector<Variable> none;
        return function < variables_.size() ? variables_[function] : none;
    }

 private:
    size_t first_ = 0;
    std::vector<uint32_t> numbers_;
    std::vector<unsigned int> lines_{0}, functions_{0};
    std::vector<std::vector<Variable>> variables_;  // by function
    // The program's own, by where they begin: bytes, and whether they are hidden.
    std::map<size_t, std::pair<size_t, bool>> program_;
};

// What the film has of steps, of blocks, of accesses and what they store, of where threads go, of their
// variables, and of what a launch finds in memory.
#define CUDA_CPU_FILM_COLUMNS(COLUMN)   \
    COLUMN(uint16_t, step_warp);        \
    COLUMN(uint32_t, step_mask);        \
    COLUMN(uint32_t, step_place);       \
    COLUMN(uint8_t, step_depth);        \
    COLUMN(uint32_t, step_accesses);    \
    COLUMN(uint16_t, step_moves);       \
    COLUMN(uint32_t, step_variables);   \
    COLUMN(uint32_t, block_launch);     \
    COLUMN(uint32_t, block_number);     \
    COLUMN(uint32_t, block_step);       \
    COLUMN(uint16_t, access_thread);    \
    COLUMN(uint32_t, access_place);     \
    COLUMN(uint8_t, access_what);       \
    COLUMN(uint8_t, access_size);       \
    COLUMN(uint16_t, access_array);     \
    COLUMN(uint32_t, access_offset);    \
    COLUMN(uint8_t, values);            \
    COLUMN(uint16_t, move_thread);      \
    COLUMN(uint8_t, move_state);        \
    COLUMN(uint32_t, move_place);       \
    COLUMN(uint8_t, move_depth);        \
    COLUMN(uint16_t, variable_thread);  \
    COLUMN(uint32_t, variable_number);  \
    COLUMN(uint8_t, variable_values);   \
    COLUMN(uint32_t, beginning_launch); \
    COLUMN(uint16_t, beginning_array);  \
    COLUMN(uint32_t, beginning_offset); \
    COLUMN(uint8_t, beginning_values);

class Reel {
 public:
    FilmPlaces places;

    Reel() {
        path_ = std::getenv("CUDA_CPU_FILM");
        if (path_ == nullptr) return;
        places.read(std::getenv("CUDA_CPU_FILM_PLACES"));
        if (const char* const most = std::getenv("CUDA_CPU_FILM_EVENTS"))
            most_ = std::strtoull(most, nullptr, 10);
        if (const char* const kernel = std::getenv("CUDA_CPU_FILM_KERNEL")) kernel_ = kernel;
    }
    bool wanted() const { return path_ != nullptr; }
    bool has_room() const {
        return cut_.empty() && steps() + access_size.size() + move_state.size() / 8 < most_;
    }
    bool takes(const std::string& kernel) {
        const bool asked = kernel.find(kernel_) != std::string::npos;
        if (!asked) others_.insert(kernel);
        if (asked && !has_room()) ++left_out_;
        return asked && has_room();
    }
    size_t steps() const { return step_place.size(); }

    void begin_launch(const std::string& kernel, const Shape& shape, int depth,
                      const LaunchFacts& facts) {
        pointers_.clear();
        for (const PointerArgument& pointer : facts.pointers) pointers_.push_back(pointer.value);
        const dim3 grid = shape.grid, block = shape.block;
        launch_ = format(
            "{\"kernel\":%s,\"line\":%d,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%zu,"
            "\"depth\":%d,\"cluster\":[%u,%u,%u],"
            "\"step\":%zu}",
            json(kernel.c_str()).c_str(), shape.site.line, grid.x, grid.y, grid.z, block.x, block.y,
            block.z, shape.shared_bytes, depth, shape.cluster.x, shape.cluster.y, shape.cluster.z,
            steps());
        shown_ = 0;
        for (Array& array : arrays_) array.known.clear();
    }
    void begin_block(uint3 block, dim3 grid) {
        if (shown_++ == 0) launches_ += (launches_.empty() ? "" : ",") + launch_, ++launch_count_;
        for (const void* const pointer : std::exchange(pointers_, {}))
            array_at(static_cast<const char*>(pointer), 1);
        goes_on_with_block(block, grid);
    }
    // From here on the steps are this block's, which may have had some before.
    void goes_on_with_block(uint3 block, dim3 grid) {
        if (!block_step.empty() && block_step.back() == steps())  // who was to go on has not
            block_launch.pop_back(), block_number.pop_back(), block_step.pop_back();
        block_launch.push_back(launch_count_ - 1);
        block_number.push_back(block.x + grid.x * (block.y + grid.y * block.z));
        block_step.push_back(static_cast<uint32_t>(steps()));
    }
    // What has changed without a step, in code that nobody watches, changes here.
    void end_launch() {
        for (Array& array : arrays_)
            if (array.shared && array.block >= 0 && array.until == never)
                array.until = launch_count_;
        if (step_accesses.empty()) return;
        const size_t before = access_size.size();
        for (size_t i = 0; i < arrays_.size(); ++i) {
            for (size_t at = 0; at < arrays_[i].known.size(); ++at) {
                if (arrays_[i].known[at]) find_unseen(arrays_[i], static_cast<int>(i), at * piece);
            }
        }
        unseen_ += static_cast<unsigned int>(access_size.size() - before);
        step_accesses.back() += static_cast<uint32_t>(access_size.size() - ended_accesses_);
        ended_accesses_ = access_size.size();
    }
    // The launch that runs, be it that no block of it has a step yet.
    unsigned int next_launch() const { return shown_ == 0 ? launch_count_ : launch_count_ - 1; }
    void cut() { cut_ = format("{\"step\":%zu,\"launch\":%u}", steps(), launch_count_ - 1); }

    // ------------------------------------------------------------ memory
    void add_shared(const char* name, const char* start, size_t bytes, int64_t block) {
        if (!wanted() || bytes == 0) return;
        for (Array& array : arrays_) {
            if (array.shared && array.start == start && array.bytes == bytes &&
                array.until == never)
                return;
        }
        Array& added = arrays_[static_cast<size_t>(add_array(true, name, start, bytes))];
        added.block = block;
        if (block >= 0) added.since = next_launch();
    }
    // A block begins to use it, poisoned; the one of an earlier launch may be gone.
    void shared_begins(const char* start, int64_t block) {
        const Array* before = nullptr;
        for (Array& array : arrays_) {
            if (!array.shared || array.start != start) continue;
            before = &array;
            if (array.film != nullptr && array.until == never)
                std::memcpy(array.film.get(), start, array.bytes);
        }
        if (before != nullptr && before->until != never)
            add_shared(std::string(before->name).c_str(), start, before->bytes, block);
    }
    // An allocation goes; another one may have its place.
    void released(const char* start) {
        for (Array& array : arrays_) {
            if (array.shared || array.start != start || array.until != never) continue;
            array.until = launch_count_;
            array.known.clear();
        }
    }
    // The array that holds these bytes; negative when it is none of those that threads share.
    int array_at(const char* address, size_t bytes) {
        const auto holds = [&](const Array& array) {
            return address >= array.start && address + bytes <= array.start + array.bytes &&
                   array.until == never;
        };
        int found = -1;
        if (last_ < arrays_.size() && holds(arrays_[last_])) found = static_cast<int>(last_);
        for (size_t i = arrays_.size(); found < 0 && i-- > 0;) {
            if (holds(arrays_[i])) found = static_cast<int>(i);
        }
        if (found < 0) {
            const Allocation* const allocation = Memory::instance().find(address);
            if (allocation != nullptr && address + bytes <= allocation->start + allocation->bytes)
                found = add_array(false, "", allocation->start, allocation->bytes);
            else if (const auto one = places.variable_at(address, bytes); one.bytes > 0)
                found = one.hidden ? -1 : add_array(false, "", one.start, one.bytes);
            else if (in_program(address))
                found = add_constant(address, bytes);
            if (found < 0) return -1;
        }
        last_ = static_cast<size_t>(found);
        keep_beginning(arrays_[last_], found, static_cast<size_t>(address - arrays_[last_].start),
                       bytes);
        return found;
    }

    // ------------------------------------------------------------ what happens
    size_t add_access(unsigned int thread, uint32_t place, int what, size_t bytes, int array,
                      const char* address) {
        access_thread.push_back(static_cast<uint16_t>(thread));
        access_place.push_back(place);
        access_what.push_back(static_cast<uint8_t>(what));
        access_size.push_back(static_cast<uint8_t>(bytes));
        access_array.push_back(static_cast<uint16_t>(array));
        access_offset.push_back(
            static_cast<uint32_t>(address - arrays_[static_cast<size_t>(array)].start));
        const size_t value = values.size();
        if (what != 0) values.resize(value + bytes);
        return value;
    }
    // The load with which an atomic operation has begun.
    void drop_access() {
        access_thread.pop_back(), access_place.pop_back(), access_what.pop_back();
        access_size.pop_back(), access_array.pop_back(), access_offset.pop_back();
    }
    void set_value(size_t value, int array, const char* address, size_t bytes) {
        std::memcpy(values.data() + value, address, bytes);
        Array& one = arrays_[static_cast<size_t>(array)];
        std::memcpy(one.film.get() + (address - one.start), address, bytes);
    }
    void add_move(unsigned int thread, int state, uint32_t place, int depth, bool first) {
        move_thread.push_back(static_cast<uint16_t>(thread));
        move_state.push_back(static_cast<uint8_t>(state | first << 7));
        move_place.push_back(place);
        move_depth.push_back(static_cast<uint8_t>(std::min(depth, 255)));
    }
    void add_variable(unsigned int thread, unsigned int number, const char* value, size_t bytes) {
        variable_thread.push_back(static_cast<uint16_t>(thread));
        variable_number.push_back(number);
        variable_values.insert(variable_values.end(), value, value + bytes);
    }
    void end_step(unsigned int warp, unsigned int mask, uint32_t place, unsigned int depth) {
        step_warp.push_back(static_cast<uint16_t>(warp));
        step_mask.push_back(mask);
        step_place.push_back(place);
        step_depth.push_back(static_cast<uint8_t>(depth));
        step_accesses.push_back(static_cast<uint32_t>(access_size.size() - ended_accesses_));
        step_moves.push_back(static_cast<uint16_t>(move_state.size() - ended_moves_));
        step_variables.push_back(static_cast<uint32_t>(variable_number.size() - ended_variables_));
        ended_accesses_ = access_size.size(), ended_moves_ = move_state.size();
        ended_variables_ = variable_number.size();
    }

    void write() {
        FILE* const file = std::fopen(path_, "wb");
        if (file == nullptr) stop("CUDA_CPU_FILM: cannot write " + std::string(path_) + ".");
        std::string columns, arrays, others;
        std::vector<std::pair<const void*, size_t>> data;
        const auto add = [&](const char* name, const auto& column) {
            columns += format("%s[\"%s\",%zu,%zu]", columns.empty() ? "" : ",", name,
                              sizeof column[0], column.size());
            data.emplace_back(column.data(), column.size() * sizeof column[0]);
        };
#define CUDA_CPU_COLUMN(type, name) add(#name, name)
        CUDA_CPU_FILM_COLUMNS(CUDA_CPU_COLUMN)
#undef CUDA_CPU_COLUMN
        for (const Array& array : arrays_) {
            arrays += format(
                "%s{\"space\":\"%s\",\"name\":%s,\"start\":%zu,\"bytes\":%zu,\"since\":%u,"
                "\"until\":%u,\"block\":%lld}",
                arrays.empty() ? "" : ",",
                array.shared               ? "shared"
                : is_constant(array.start) ? "constant"
                                           : "global",
                json(array.name.c_str()).c_str(), reinterpret_cast<size_t>(array.start),
                array.bytes, array.since, array.until, static_cast<long long>(array.block));
        }
        for (const std::string& name : others_)
            others += (others.empty() ? "" : ",") + json(name.c_str());
        std::string head =
            "{\"launches\":[" + launches_ + "],\"arrays\":[" + arrays + "],\"columns\":[" +
            columns + "]," +
            format("\"cut\":%s,\"left_out\":%u,\"others\":[%s],\"unseen\":%u}",
                   cut_.empty() ? "null" : cut_.c_str(), left_out_, others.c_str(), unseen_);
        while ((head.size() + 4) % 8 != 0) head += ' ';
        const auto length = static_cast<uint32_t>(head.size());
        std::fwrite(&length, 4, 1, file);
        std::fwrite(head.data(), 1, head.size(), file);
        for (const auto& [start, bytes] : data) {
            std::fwrite(start, 1, bytes, file);
            std::fwrite("\0\0\0\0\0\0\0", 1, (8 - bytes % 8) % 8, file);
        }
        std::fclose(file);
    }

 private:
    struct Array {
        bool shared;
        std::string name;
        const char* start;
        size_t bytes;
        unsigned int since, until;  // launches
        int64_t block = -1;         // whose it is, among blocks that run at the same time
        std::vector<bool> known;    // which pieces the film has, in this launch
        std::unique_ptr<char[], decltype(&std::free)> film{nullptr,
                                                           &std::free};  // as the film has it
    };
    static constexpr size_t piece = 256, small = 65536;
    static constexpr unsigned int never = ~0u;
    static constexpr unsigned int nobody = 0xffff;  // who wrote is not known

    int add_array(bool shared, const char* name, const char* start, size_t bytes) {
        const unsigned int since = shared || launch_count_ == 0 ? 0 : launch_count_ - 1;
        arrays_.push_back({shared, name, start, bytes, since, never, -1, {}});
        return static_cast<int>(arrays_.size()) - 1;
    }
    // One without a name: a string's letter belongs to the whole string.
    int add_constant(const char* start, size_t bytes) {
        const auto is_letter = [&](const char* at) {
            return bytes == 1 && is_fixed(at) && *at != 0 && places.variable_at(at, 1).bytes == 0;
        };
        const char* end = start + bytes;
        if (is_letter(start)) {
            while (is_letter(end)) ++end;
            ++end;  // the zero behind it
        }
        while (is_letter(start - 1)) --start;
        return add_array(false, "", start, static_cast<size_t>(end - start));
    }
    void find_unseen(const Array& array, int number, size_t begin) {
        const size_t end = std::min(begin + piece, array.bytes);
        for (size_t at = begin; at < end; at += 4) {
            const size_t bytes = std::min<size_t>(4, end - at);
            const char* const start = array.start + at;
            if (std::memcmp(start, array.film.get() + at, bytes) != 0)
                set_value(add_access(nobody, 0, 1, bytes, number, start), number, start, bytes);
        }
    }
    // Before the first access to it: what the launch has found there. A small array is kept whole.
    void keep_beginning(Array& array, int number, size_t offset, size_t bytes) {
        if (array.known.empty()) {
            array.known.resize((array.bytes + piece - 1) / piece, array.shared);
            array.film.reset(static_cast<char*>(std::calloc(array.bytes, 1)));
            if (array.shared) std::memcpy(array.film.get(), array.start, array.bytes);
        }
        if (array.shared) return;
        size_t first = offset / piece, last = (offset + bytes - 1) / piece;
        if (array.known[first] && array.known[last]) return;
        if (array.bytes <= small) first = 0, last = array.known.size() - 1;
        for (size_t i = first; i <= last; ++i) {
            if (array.known[i]) continue;
            array.known[i] = true;
            const size_t begin = i * piece, size = std::min(piece, array.bytes - begin);
            std::memcpy(array.film.get() + begin, array.start + begin, size);
            beginning_launch.push_back(launch_count_ - 1);
            beginning_array.push_back(static_cast<uint16_t>(number));
            beginning_offset.push_back(static_cast<uint32_t>(begin));
            beginning_values.insert(beginning_values.end(), array.start + begin,
                                    array.start + begin + size);
        }
    }

#define CUDA_CPU_COLUMN(type, name) std::vector<type> name
    CUDA_CPU_FILM_COLUMNS(CUDA_CPU_COLUMN)
#undef CUDA_CPU_COLUMN

    const char* path_ = nullptr;
    std::string kernel_, launch_, launches_, cut_;
    uint64_t most_ = 1'500'000;
    unsigned int launch_count_ = 0, shown_ = 0, left_out_ = 0, unseen_ = 0;
    std::set<std::string> others_;  // kernels that were not asked for
    size_t ended_accesses_ = 0, ended_moves_ = 0, ended_variables_ = 0, last_ = 0;
    std::vector<Array> arrays_;
    std::vector<const void*> pointers_;  // the arguments of the launch
};

}  // namespace cuda_cpu
