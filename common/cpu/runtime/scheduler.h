// The threads of one block on one core.
//
// A runner is a stack on which threads run one after the other. The first runner of a block is the
// core's own stack; as long as no thread waits, it runs them all, and a kernel without barriers is a
// plain loop. When a thread waits (at a barrier or at a warp primitive) it keeps its runner, and the
// core goes on with a thread that is ready or, if there is none, with the next thread of the block
// on another runner. Runners are used again for the next block.
//
// When nothing can go on, two things may still be resolved: lanes that asked for the active mask, and
// warp primitives whose missing lanes have ended. What is left then is a barrier that some threads
// never reach, and the program ends with a sentence that names it.
#pragma once

#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#ifdef CUDA_CPU_REPLAY
#include "film.h"
#endif
#include "ended_threads.h"
#include "memory.h"
#include "observer.h"
#include "order.h"
#include "report.h"
#include "stillness.h"

namespace cuda_cpu {

// No thread of the running block can do anything but wait for another block; the how-many-th time (grid.h).
void block_gives_way(uint64_t waits);
// Its shared memory is there: a block of a cluster waits until that holds for all (team.h).
void block_has_begun();
// Whether that is so for all blocks, and for ever (stillness.h); asked by a core whose block has long been the same. One
// that never asks lets no other block go on where one runs at a time.
class Core;
bool nothing_will_change(const Core& core, bool asks);
// Whether a copy in another stream, which may make the change, was done now (queue.h).
bool copies_beside();
[[noreturn]] void tell_waiting_for_ever(const std::string& others);
[[noreturn]] void tell_endless_loop(const char* place);
// Each core is watched as long as its thread lives (patrol.h).
void watch_core(const Core& core);
void leave_core(const Core& core);

// What lies behind the program's thread-local variables (runtime.cpp).
constexpr size_t shared_guard_bytes = 32 * 1024;
extern "C" __thread char shared_end[] asm("cuda_cpu_shared_end");
extern "C" __thread char shared_guard[] asm("cuda_cpu_shared_guard");

#ifdef __x86_64__
// The registers that a function keeps lie on the stack that is left, and on the one where it goes on.
asm(R"(
.text
.globl cuda_cpu_jump
.type cuda_cpu_jump, @function
cuda_cpu_jump:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, %rax
    movq %rdi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    movq %rax, %rdi
    jmp *%rcx
.size cuda_cpu_jump, . - cuda_cpu_jump
)");
#endif

// Thrown through a kernel to leave it, after a trap or a failed assertion.
struct KernelAbort {};

inline bool same_place(const Site& a, const Site& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

// A ring: each runner is in it at most once, and a block has no more than 1024 and the core's own.
class RunnerQueue {
 public:
    bool empty() const { return first_ == end_; }
    void push(Runner* runner) { ring_[end_++ % size] = runner; }
    void push_front(Runner* runner) { ring_[--first_ % size] = runner; }
    Runner* pop() { return empty() ? nullptr : ring_[first_++ % size]; }
    void take_all(RunnerQueue& other) {
        while (Runner* const runner = other.pop()) push(runner);
    }
    // The last one first.
    void take_all_reversed(RunnerQueue& other) {
        while (!other.empty()) push(other.ring_[--other.end_ % size]);
    }
    void take_all_shuffled(RunnerQueue& other, Chance& chance) {
        const unsigned int start = end_;
        take_all(other);
        for (unsigned int count = end_ - start; count > 1; --count) {
            std::swap(ring_[(start + count - 1) % size], ring_[(start + chance() % count) % size]);
        }
    }

 private:
    static constexpr unsigned int size = 2048;
    Runner* ring_[size];
    unsigned int first_ = 0, end_ = 0;
};

// Stacks for runners, with a guard page each. Their tops are staggered, or else the threads of a
// block would all want the same few lines of the cache.
class StackAllocator {
 public:
    // Makes a page one that nobody may touch. Linux 6.13 marks it as such; before, each such page costs the process two of
    // the mappings that the system allows it, so a machine of many cores does without some of them.
    static void guard(void* page) {
        constexpr int install_guard = 102;  // MADV_GUARD_INSTALL
        static std::atomic<long> left{[] {
            long most = 65530;
            if (FILE* const file = std::fopen("/proc/sys/vm/max_map_count", "r")) {
                if (std::fscanf(file, "%ld", &most) != 1) most = 65530;
                std::fclose(file);
            }
            return most / 4;
        }()};
        if (madvise(page, page_bytes, install_guard) != 0 && left-- > 0)
            mprotect(page, page_bytes, PROT_NONE);
    }

    // The highest address of a new stack, which lives as long as the process; `bytes` gets its size.
    static void* allocate(size_t& bytes) {
        constexpr unsigned int at_once = 32;
        static thread_local unsigned int count = 0;
        static thread_local char* start = nullptr;
        const size_t total = stack_bytes + page_bytes;
        if (count % at_once == 0) {
            void* const mapped =
                mmap(nullptr, at_once * total, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
            if (mapped == MAP_FAILED)
                stop("CUDA on the CPU found no memory for the stacks of a block.");
            start = static_cast<char*>(mapped) - total;
        }
        start += total;
        guard(start);
        const size_t stagger = (count++ % 61) * 64;
        bytes = total - stagger - page_bytes;
        return start + total - stagger;
    }
    static constexpr size_t stack_bytes = 128 * 1024;
};

class Core {
 public:
    // The scheduler of the operating system's thread that calls.
    static Core& mine() {
        static thread_local Core* const core = new Core;
        return *core;
    }

    // Runs one block from the first to the last thread. False when the kernel was aborted.
    bool run_block(const Kernel& kernel, dim3 shape, size_t shared_bytes) {
        kernel_ = &kernel;
        thread_count_ = shape.x * shape.y * shape.z;
        unstarted_ = 0;  // the front runner starts them all unless one waits
        held_ = 1;
        arrived_ = 0;
        waits_ = 0;
        threads_at_cluster = 0;
        aborting = false;
        serial_ = ++block_serial;
        block_ = blockIdx;
        observer::block_begins(thread_count_);
        prepare_shared(shared_bytes);
        block_has_begun();
        threadIdx = {0, 0, 0};
        if (order_.kind != Order::forward) choose_order();
        running = front_runner = &own_;
        run_here();
        --held_;
        front_runner = nullptr;
        own_.waiting = Waiting::block_end;
        if (held_ > 0 || unstarted_ > 0) switch_away();
        own_.waiting = Waiting::nothing;
        running = nullptr;
        return !aborting;
    }
    // How many threads have passed the block's own barrier, on their way to that of the cluster.
    unsigned int threads_at_cluster = 0;

    // The last block that has begun; another thread may ask.
    unsigned long long last_block() const { return __atomic_load_n(&serial_, __ATOMIC_RELAXED); }

    // The running thread was found at `place` with such registers, not for the first time in this block. A loop that does
    // nothing has as many states as instructions, and soon all have been seen.
    void look_at_loop(const char* place, const char* frame, uint64_t registers) {
        if (place < code_ || place >= code_ + code_bytes_) return;  // it waits for the system
        // On the way from one thread to the next the stack is not yet that of the next, and between the two lies anything.
        if (frame > running->base || running->base - frame > 64 << 20) return;
        if (std::find(states_.begin(), states_.end(), registers) == states_.end()) {
            states_[next_state_++ % states_.size()] = registers;
            known_states_ = 0;
        } else if (++known_states_ > 10) {
            look(frame, place);
        }
    }

    Runner* arrive_at_barrier(bool predicate, const Site& site) {
        if (arrived_ == 0) {
            barrier_site_ = site;
            barrier_count_ = 0;
            apart_ = false;
        } else if (!apart_ && !same_place(site, barrier_site_)) {
            apart_ = true;  // told when it is known where the others wait
        }
        barrier_count_ += predicate;
        if (++arrived_ < thread_count_) {
            at_barrier_.push(suspend(Waiting::barrier, site));
            return next_runner();
        }
        if (apart_) {
            suspend(Waiting::barrier, site);
            report_divergent_barrier();
        }
        open_barrier();
        return nullptr;
    }

    Runner* arrive_in_warp(WarpOperation operation, unsigned int mask, uint64_t value, int source,
                           const Site& site) {
        const unsigned int number = thread_number(), lane = number % 32, first = number - lane;
        const unsigned int existing = existing_lanes(first);
        if ((mask >> lane & 1) == 0) {
            stop(
                format("%s: lane %u of the warp takes part in a warp primitive whose mask 0x%08x "
                       "does not name it (thread %s of block %s). Each calling lane must be in the "
                       "mask.",
                       to_string(site).c_str(), lane, mask, to_string(threadIdx).c_str(),
                       to_string(blockIdx).c_str()),
                "warp");
        }
        Runner* const self = running;
        self->operation = operation;
        self->mask = mask;
        self->value = value;
        self->source = source;
        self->site = site;
        wait_in_warp(number, self);
        // Who waits under another mask or for another operation is not looked for before all lanes wait.
        if ((mask & existing & ~waiting_lanes_[number / 32]) == 0 &&
            meeting_lanes(first, *self) == (mask & existing)) {
            finish_meeting(first, mask & existing, self);
            return nullptr;
        }
        suspend(Waiting::warp, site);
        return next_runner();
    }

    // by_path: lanes in the same line are active together only if the same calls have led there.
    unsigned int active_lanes(const Site& site, bool by_path) {
        const uint64_t path = by_path ? path_of_calls() : 0;
        Runner* const self = suspend(Waiting::active_mask, site);
        self->value = path;
        wait_in_warp(self->thread_number, self);
        switch_away();
        return static_cast<unsigned int>(self->result);
    }

    // The running thread goes to the end of the line; threads that have not started come first,
    // since it may be one of them that it waits for.
    void yield() {
        __builtin_unwind_init();  // the kernel's registers are on the stack
#ifdef CUDA_CPU_REPLAY
        if (film_.recording()) return film_.yields();
#endif
        const bool more_to_start = front_runner == running ? threads_behind() > 0 : unstarted_ > 0;
        // When all others have only waited like this one, it is lanes that ask for the active mask who go on.
        const bool all_wait = !more_to_start && (ready_.empty() || ++yields_ > thread_count_);
        if (all_wait) {
            yields_ = 0;
            release_asking_lanes();
            block_gives_way(++waits_);
            if (waits_ % 64 == 0)
                look(static_cast<const char*>(__builtin_frame_address(0)), nullptr);
        }
        if (ready_.empty() && !more_to_start) return;
        ready_.push(suspend(Waiting::nothing, Site{"", 0}));
        if (more_to_start) ready_.push_front(start_thread());
        switch_away();
    }

#ifdef CUDA_CPU_REPLAY
    // The running thread stands in front of a step until the film lets it go on.
    void pause() {
        film_.stands(suspend(Waiting::step, Site{"", 0}));
        switch_away();
    }
#endif

    [[noreturn]] void abort_kernel() {
        if (front_runner == running) front_runner = nullptr;
        aborting = true;
        unstarted_ = 0;
        arrived_ = 0;
        ready_.take_all(at_barrier_);
        for (unsigned int i = 0; i < thread_count_; ++i) {
            Runner* const waiter = goes_on_in_warp(i);
            if (waiter != nullptr && waiter != running) ready_.push(waiter);
        }
        throw KernelAbort{};
    }

    // How far past the end of dynamic shared memory an address is, plus 1; 0 when it is elsewhere.
    size_t past_dynamic_shared(const char* address) const {
        const char* const end = shared_ + shared_pages;
        return address >= end && address < end + page_bytes ? static_cast<size_t>(address - end) + 1
                                                            : 0;
    }

#ifdef CUDA_CPU_OBSERVED
    // In an observed run: the place of a variable in shared memory, poisoned once a block.
    char* place_shared(SharedVariable& variable, size_t bytes) {
        if (variable.start == nullptr) {
            variable.start = arena_ + offset_in_arena(variable, bytes);
            places_.push_back({variable.name, variable.start, bytes, &variable});
            observer::shared_variable(variable.name, variable.start, bytes);
        }
        variable.block = serial_;
        poison(variable.start, bytes);
        observer::shared_begins(variable.start, bytes);
        return variable.start;
    }
    void poison_for_each_block(SharedVariable& variable, size_t bytes) {
        of_all_kernels_.emplace_back(&variable, bytes);
    }
    struct SharedPlace {
        const char* name;
        const char* start;
        size_t bytes;
        SharedVariable* variable;  // null for dynamic shared memory
    };
    // Another block of the cluster wants what is here where `place` is there: it has its place, although this block may not
    // have come to the declaration.
    void place_like(const Core& other, const SharedPlace& place) {
        if (place.variable == nullptr) return;
        const char* const there = reinterpret_cast<const char*>(place.variable);
        auto* const here = reinterpret_cast<SharedVariable*>(const_cast<char*>(variables_) +
                                                             (there - other.variables_));
        if (here->block != serial_) place_shared(*here, place.bytes);
    }
    // What the running block has of it.
    template <class Visitor>
    void each_shared_place(Visitor visit) const {
        for (const SharedPlace& place : places_)
            if (place.variable->block == serial_) visit(place.start, place.bytes);
        if (dynamic_bytes_ > 0) visit(dynamic_shared_start, dynamic_bytes_);
    }
    // The variable of shared memory at or around an address; null when there is none near it.
    const SharedPlace* shared_near(const char* address) {
        if (address >= shared_ && address < shared_ + shared_pages) {
            dynamic_ = {dynamic_name, shared_ + shared_pages - round_up(dynamic_bytes_, 128),
                        dynamic_bytes_, nullptr};
            return &dynamic_;
        }
        if (!in_shared_arena(address)) return nullptr;
        for (const SharedPlace& place : places_) {
            const char* const end =
                place.start + round_up(place.bytes, shared_gap) + shared_gap / 2;
            if (address >= place.start - shared_gap / 2 && address < end) return &place;
        }
        return nullptr;
    }
    bool in_shared_arena(const char* address) const {
        return address >= arena_ && address < arena_ + arena_bytes;
    }
    bool in_dynamic_shared(const char* address) const {
        return address >= shared_ && address < shared_ + shared_pages;
    }
    bool in_shared(const char* address) const {
        return in_shared_arena(address) || in_dynamic_shared(address);
    }
    const char* dynamic_name = "dynamic shared memory";
#endif

    // Whether a kernel has written past the last static array in shared memory.
    bool shared_is_overrun() const {
        return has_shared_variables_ && !holds(never_written_shared, shared_end, shared_guard);
    }

    const Kernel* kernel() const { return kernel_; }
    uint3 block() const { return block_; }

    // The spaces of this core's shared memory, each with the first of the numbers that stand for its addresses.
    template <class Visitor>
    void each_shared_space(Visitor visit) const {
        visit(shared_, shared_pages + page_bytes, uint64_t{1} << 24);
        visit(variables_, variables_bytes_, uint64_t{2} << 24);
#ifdef CUDA_CPU_OBSERVED
        visit(arena_, arena_bytes, uint64_t{4} << 24);
#endif
    }
    uint64_t shared_offset(uint64_t address) const {
        uint64_t offset = address;
        each_shared_space([&](const char* start, size_t bytes, uint64_t first) {
            const uint64_t begin = reinterpret_cast<uint64_t>(start);
            if (address - begin < bytes) offset = first + (address - begin);
        });
        return offset;
    }
    uint64_t shared_address(uint64_t offset) const {
        uint64_t address = offset;
        each_shared_space([&](const char* start, size_t bytes, uint64_t first) {
            if (offset - first < bytes)
                address = reinterpret_cast<uint64_t>(start) + offset - first;
        });
        return address;
    }
    NumberedBarrier* numbered_barriers() {
        if (std::exchange(block_of_barriers_, block_serial) != block_serial)
            std::fill(std::begin(barriers_), std::end(barriers_), NumberedBarrier{0, 0});
        return barriers_;
    }

    // Whether an address is in memory that ends with the thread or the block that runs: "local
    // memory" or "shared memory". Null when it is elsewhere.
    const char* own_memory(const void* pointer) const {
        const char* const address = static_cast<const char*>(pointer);
        const char* const frame = static_cast<const char*>(__builtin_frame_address(0));
        if (address > frame && address < running->base) return "local memory";
        const bool is_shared = (address >= shared_ && address < shared_ + shared_pages) ||
                               (address >= variables_ && address < variables_ + variables_bytes_);
#ifdef CUDA_CPU_OBSERVED
        if (in_shared_arena(address)) return "shared memory";
#endif
        return is_shared ? "shared memory" : nullptr;
    }

 private:
    Core() {
        // A stack of its own for the handler of faults, since the fault may be a full stack.
        stack_t alternative{};
        alternative.ss_size = 64 * 1024;
        alternative.ss_sp = std::malloc(alternative.ss_size);
        sigaltstack(&alternative, nullptr);
        shared_ =
            static_cast<char*>(mmap(nullptr, shared_pages + page_bytes, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(shared_ + shared_pages, page_bytes, PROT_NONE);
#ifdef CUDA_CPU_OBSERVED
        arena_ = static_cast<char*>(mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
#endif
        dl_iterate_phdr(
            [](dl_phdr_info* program, size_t, void* core) {
                static_cast<Core*>(core)->find_variables(*program);
                static_cast<Core*>(core)->find_code(*program);
                return 1;  // the program itself comes first
            },
            this);
        watch_core(*this);
        static thread_local struct Leave {
            const Core* core;
            ~Leave() { leave_core(*core); }
        } leave{this};
    }

    // Static shared memory is among the program's thread-local variables. Behind them is a pattern, and then come pages that
    // nobody may touch; the system clears them when it gives them to another thread.
    void find_variables(const dl_phdr_info& program) {
        variables_ = static_cast<const char*>(program.dlpi_tls_data);
        [[maybe_unused]] size_t initialised = 0;
        for (int i = 0; i < program.dlpi_phnum; ++i) {
            if (program.dlpi_phdr[i].p_type != PT_TLS) continue;
            variables_bytes_ = program.dlpi_phdr[i].p_memsz;
            initialised = round_up(program.dlpi_phdr[i].p_filesz, program.dlpi_phdr[i].p_align);
        }
#ifndef CUDA_CPU_OBSERVED
        has_shared_variables_ = shared_end > variables_ + initialised;
        fill_with(never_written_shared, shared_end, shared_guard);
        static thread_local struct Guard {
            Guard() { mprotect(shared_guard, shared_guard_bytes, PROT_NONE); }
            ~Guard() { mprotect(shared_guard, shared_guard_bytes, PROT_READ | PROT_WRITE); }
        } guard;
#endif
    }
    void find_code(const dl_phdr_info& program) {
        for (int i = 0; i < program.dlpi_phnum; ++i) {
            const auto& part = program.dlpi_phdr[i];
            if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
            code_ = reinterpret_cast<const char*>(program.dlpi_addr + part.p_vaddr);
            code_bytes_ = part.p_memsz;
        }
    }

    // Dynamic shared memory ends at a page that nobody may touch, and starts poisoned.
    void prepare_shared(size_t bytes) {
        dynamic_bytes_ = bytes;
        dynamic_shared_start = shared_ + shared_pages - round_up(bytes, 128);
        observer::dynamic_shared(shared_, shared_ + shared_pages, dynamic_shared_start, bytes);
        if (bytes > 0) poison(dynamic_shared_start, is_observed ? bytes : round_up(bytes, 128));
#ifdef CUDA_CPU_OBSERVED
        for (const auto& [variable, size] : of_all_kernels_) place_shared(*variable, size);
#endif
    }

#ifdef CUDA_CPU_OBSERVED
    // The same on every core, so that the blocks of a cluster find each other's.
    size_t offset_in_arena(const SharedVariable& variable, size_t bytes) const {
        static std::mutex mutex;
        static auto& offsets = *new std::map<ptrdiff_t, size_t>;
        static size_t taken = 0;
        const std::lock_guard<std::mutex> lock(mutex);
        const auto [found, is_new] = offsets.try_emplace(
            reinterpret_cast<const char*>(&variable) - variables_, taken + shared_gap);
        if (is_new) taken += round_up(bytes, shared_gap) + shared_gap;
        if (taken > arena_bytes) stop("too many variables in shared memory.");
        return found->second;
    }
#endif

    // In another order than that of their numbers the threads of a block stand in a list.
    void choose_order() {
        for (unsigned int i = 0; i < thread_count_; ++i) {
            const bool reversed = order_.kind == Order::reversed;
            order_of_threads_[i] = thread_index(reversed ? thread_count_ - 1 - i : i);
        }
        chance_.state =
            order_.seed + blockIdx.x + (uint64_t{blockIdx.y} << 32) + (uint64_t{blockIdx.z} << 48);
        if (order_.kind == Order::random) chance_.shuffle(order_of_threads_, thread_count_);
        thread_order = order_of_threads_;
        threadIdx = *thread_order;
    }
    // How many threads have their first turn after the one that the front runner runs.
    unsigned int threads_behind() const {
        return thread_order != nullptr
                   ? static_cast<unsigned int>(order_of_threads_ + thread_count_ - thread_order) - 1
                   : thread_count_ - thread_number() - 1;
    }

    static unsigned int number_of(uint3 thread) {
        return thread.x + blockDim.x * (thread.y + blockDim.y * thread.z);
    }
    static unsigned int thread_number() { return number_of(threadIdx); }
    static uint3 thread_index(unsigned int number) {
        return {number % blockDim.x, number / blockDim.x % blockDim.y,
                number / (blockDim.x * blockDim.y)};
    }
    unsigned int existing_lanes(unsigned int first) const {
        const unsigned int lanes = thread_count_ - first;
        return lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
    }

    // ------------------------------------------------------------ running and switching
#ifdef CUDA_CPU_ACCESSES
    __attribute__((noinline))  // the depth of a stack counts from here, on whichever runner
#endif
    void
    run_here() {
        Runner* const self = running;
        self->is_in_kernel = true;
        self->base = static_cast<const char*>(__builtin_frame_address(0));
        try {
            kernel_->run_threads();
            while (thread_order != nullptr && front_runner == self && threads_behind() > 0) {
                threadIdx = *++thread_order;
                kernel_->run_threads();
            }
        } catch (const KernelAbort&) {
        }
        self->is_in_kernel = false;
    }

    // Marks the running thread as one that waits. If it was the front runner, the threads behind it
    // are now for another runner to start.
    Runner* suspend(Waiting waiting, const Site& site) {
        Runner* const self = running;
        self->thread = threadIdx;
        self->thread_number = thread_number();
        self->waiting = waiting;
        // One by one, as they were stored a moment ago: both at once would have to wait for that.
        self->site.file = site.file;
        self->site.line = site.line;
#ifdef CUDA_CPU_REPLAY
        film_.waits(waiting);
#endif
        if (front_runner == self) {
            front_runner = nullptr;
            unstarted_ = threads_behind();
        }
        return self;
    }

    // A runner for the threads that have not started; null when there are none.
    Runner* start_thread() {
        if (unstarted_ == 0) return nullptr;
        Runner* const runner = idle_.empty() ? new_runner() : idle_.pop();
        const unsigned int turn = thread_count_ - unstarted_;
        if (thread_order != nullptr) thread_order = order_of_threads_ + turn;
        runner->thread = thread_order != nullptr ? *thread_order : thread_index(turn);
        runner->thread_number = number_of(runner->thread);
        runner->waiting = Waiting::nothing;
        unstarted_ = 0;
        ++held_;
        front_runner = runner;
        return runner;
    }

    Runner* new_runner() {
        runners_.push_back(std::make_unique<Runner>());
        Runner* const runner = runners_.back().get();
        size_t bytes = 0;
        void* const top = StackAllocator::allocate(bytes);
        runner->context = new_context(top, bytes);
#ifdef CUDA_CPU_BOUNDS
        runner->stack = static_cast<char*>(top) - bytes;
        runner->stack_bytes = bytes;
#endif
        return runner;
    }

    // Where a stack begins: what cuda_cpu_jump takes from it, and the end of all frames.
    static boost::context::detail::fcontext_t new_context(void* top, size_t bytes) {
#ifdef __x86_64__
        (void)bytes;
        const auto place = reinterpret_cast<void**>(reinterpret_cast<uintptr_t>(top) & ~15) - 8;
        std::fill_n(place, 8, nullptr);
        place[6] = reinterpret_cast<void*>(&run_for_ever);
        return place;
#else
        return boost::context::detail::make_fcontext(top, bytes, run_for_ever);
#endif
    }

    static void run_for_ever(boost::context::detail::transfer_t from) {
        finish_step(running, left_runner);
        left_runner->context = from.fctx;
        Core& core = mine();
        for (;;) {
            core.run_here();
            core.finish_runner();
        }
    }

    void finish_runner() {
        Runner* const self = running;
        if (front_runner == self) front_runner = nullptr;
        --held_;
        self->waiting = Waiting::nothing;
        idle_.push(self);
        switch_away();
    }

    Runner* next_runner() {
        Runner* next = ready_.pop();
        if (next == nullptr) next = start_thread();
#ifdef CUDA_CPU_REPLAY
        if (next == nullptr) next = film_.next();
#endif
        if (next == nullptr && held_ == 0) next = &own_;  // waits for the end of the block
        if (next == nullptr) {
            resolve();
            next = ready_.pop();
        }
        return next;
    }

    // Leaves the running thread for one that can go on.
    void switch_away() { go_on_with(next_runner()); }

    // All that have not ended have arrived.
    void open_barrier() {
        arrived_ = 0;
        waits_ = 0;
        barrier_result = barrier_count_;
        observer::barrier();
        // The threads of a large block do not fit into the cache together. The one that came last is
        // still there, so go back the way that was come.
        if (order_.kind == Order::random)
            ready_.take_all_shuffled(at_barrier_, chance_);
        else if (thread_count_ > 128 && order_.kind == Order::forward)
            ready_.take_all_reversed(at_barrier_);
        else
            ready_.take_all(at_barrier_);
    }

    // ------------------------------------------------------------ warps
    void wait_in_warp(unsigned int number, Runner* runner) {
        warp_waiter_[number] = runner;
        waiting_lanes_[number / 32] |= 1u << (number % 32);
    }
    Runner* goes_on_in_warp(unsigned int number) {
        waiting_lanes_[number / 32] &= ~(1u << (number % 32));
        return std::exchange(warp_waiter_[number], nullptr);
    }

    bool meets(const Runner* waiter, const Runner& self) const {
        return waiter != nullptr && waiter->mask == self.mask &&
               waiter->operation == self.operation &&
               (waiter == &self || waiter->waiting == Waiting::warp);
    }

    // The lanes that wait for the same operation under the same mask.
    unsigned int meeting_lanes(unsigned int first, const Runner& self) const {
        unsigned int lanes = 0;
        for (unsigned int rest = self.mask & existing_lanes(first); rest != 0; rest &= rest - 1) {
            const unsigned int lane = static_cast<unsigned int>(__builtin_ctz(rest));
            if (meets(warp_waiter_[first + lane], self)) lanes |= 1u << lane;
        }
        return lanes;
    }

    // Gives each of `lanes` its result and lets all but `self` go on.
    void finish_meeting(unsigned int first, unsigned int lanes, const Runner* self) {
        Runner** const waiter = warp_waiter_ + first;
        const WarpOperation operation = waiter[__builtin_ctz(lanes)]->operation;
        observer::meeting(first, lanes, operation == WarpOperation::sync);
        const Runner& one = *waiter[__builtin_ctz(lanes)];
        if (const unsigned int absent = one.mask & existing_lanes(first) & ~lanes)
            observer::meeting_without(first, absent, one.mask, one.site);
        const uint64_t common =
            operation == WarpOperation::shuffle ? 0 : combine(operation, waiter, lanes);
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            Runner* const lane = waiter[__builtin_ctz(rest)];
            lane->result = common;
            if (operation == WarpOperation::shuffle) {
                const bool there = lanes >> lane->source & 1;  // else the value is undefined
                if (!there) tell_absent_lane(*lane, lanes, existing_lanes(first));
                lane->result =
                    there ? waiter[lane->source]->value : absent_lane * ((uint64_t{1} << 32) + 1);
            } else if (operation == WarpOperation::match_any) {
                lane->result = 0;
                for (unsigned int other = lanes; other != 0; other &= other - 1) {
                    const int i = __builtin_ctz(other);
                    if (waiter[i]->value == lane->value) lane->result |= 1u << i;
                }
            }
        }
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            Runner* const lane =
                goes_on_in_warp(first + static_cast<unsigned int>(__builtin_ctz(rest)));
            if (lane != self) ready_.push(lane);
        }
    }

    // Once for each line.
    static void tell_absent_lane(const Runner& reader, unsigned int lanes, unsigned int existing) {
        if (!findings_are_wanted() && on_absent_lane == nullptr) return;
        static std::mutex mutex;
        static std::set<std::string> told;
        std::lock_guard<std::mutex> lock(mutex);
        const std::string place = to_string(reader.site);
        if (!told.insert(place).second) return;
        const bool exists = existing >> reader.source & 1;
        const std::string why =
            exists ? format("which lane %d does not call: only the lanes 0x%08x do", reader.source,
                            lanes)
                   : format("which the block does not have: its last warp has %d lanes",
                            __builtin_popcount(existing));
        const std::string sentence = format(
            "%s: lane %u of a warp reads lane %d in this shuffle, %s (block %s). What is read is "
            "undefined. %s",
            place.c_str(), reader.thread_number % 32, reader.source, why.c_str(),
            to_string(blockIdx).c_str(),
            exists
                ? "All lanes of the mask call the shuffle, outside of conditions; what a lane does "
                  "with the value may depend on one."
                : "Let blocks have a multiple of 32 threads, of which those without an element "
                  "bring what "
                  "changes nothing, 0 for a sum.");
        note("warp", sentence);
        if (on_absent_lane != nullptr) on_absent_lane(sentence);
    }

    // The result that all lanes share.
    static uint64_t combine(WarpOperation operation, Runner** waiter, unsigned int lanes) {
        const uint64_t first = waiter[__builtin_ctz(lanes)]->value;
        uint32_t ballot = 0, sum = 0, all_bits = ~0u, any_bits = 0, odd_bits = 0;
        uint32_t smallest = ~0u, largest = 0;
        int32_t smallest_signed = INT32_MAX, largest_signed = INT32_MIN;
        bool equal = true;
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            const int lane = __builtin_ctz(rest);
            const uint64_t bits = waiter[lane]->value;
            const uint32_t value = static_cast<uint32_t>(bits);
            if (bits != 0) ballot |= 1u << lane;
            equal = equal && bits == first;
            sum += value;
            all_bits &= value;
            any_bits |= value;
            odd_bits ^= value;
            smallest = std::min(smallest, value);
            largest = std::max(largest, value);
            smallest_signed = std::min(smallest_signed, static_cast<int32_t>(value));
            largest_signed = std::max(largest_signed, static_cast<int32_t>(value));
        }
        switch (operation) {
            case WarpOperation::ballot:
                return ballot;
            case WarpOperation::all:
                return ballot == lanes;
            case WarpOperation::any:
                return ballot != 0;
            case WarpOperation::match_all:
                return equal ? lanes : 0;
            case WarpOperation::reduce_add:
                return sum;
            case WarpOperation::reduce_min:
                return smallest;
            case WarpOperation::reduce_max:
                return largest;
            case WarpOperation::reduce_min_signed:
                return static_cast<uint32_t>(smallest_signed);
            case WarpOperation::reduce_max_signed:
                return static_cast<uint32_t>(largest_signed);
            case WarpOperation::reduce_and:
                return all_bits;
            case WarpOperation::reduce_or:
                return any_bits;
            case WarpOperation::reduce_xor:
                return odd_bits;
            default:
                return 0;
        }
    }

    // ------------------------------------------------------------ when nothing can go on
    void resolve() {
        const unsigned int warps = (thread_count_ + 31) / 32;
        for (unsigned int i = 0; i < warps; ++i) {
            const unsigned int first = (turn_ + i) % warps * 32;
            for (unsigned int lane = 0; lane < 32 && first + lane < thread_count_; ++lane) {
                Runner* const waiter = warp_waiter_[first + lane];
                if (waiter == nullptr) continue;
                if (waiter->waiting == Waiting::active_mask) return release_active(first);
                const unsigned int lanes = meeting_lanes(first, *waiter);
                const unsigned int missing = waiter->mask & existing_lanes(first) & ~lanes;
                if ((missing & lanes_that_wait(first)) == 0)
                    return finish_meeting(first, lanes, nullptr);
            }
        }
        // held_ is how many threads have not ended.
        if (arrived_ == 0 || arrived_ != held_ || apart_ || !EndedThreads::may_miss_barriers())
            report_deadlock();
        EndedThreads::miss(barrier_site_, thread_count_ - arrived_, thread_count_,
                           "threads of block " + to_string(blockIdx));
        open_barrier();
    }

    void release_asking_lanes() {
        for (unsigned int i = 0; i < thread_count_; ++i) {
            const unsigned int number = (turn_ * 32 + i) % thread_count_;
            const Runner* const waiter = warp_waiter_[number];
            if (waiter == nullptr || waiter->waiting != Waiting::active_mask) continue;
            return release_active(number / 32 * 32);
        }
    }

    // While no thread can do anything but wait, or the running one is in a loop that does nothing: whether that is for ever.
    __attribute__((noinline)) void look(const char* frame, const char* loop) {
        const auto now = std::chrono::steady_clock::now();
        if (now - looked_ < std::chrono::milliseconds(200)) return;
        looked_ = now;
        if (const uint64_t digest = digest_of_block(frame);
            std::exchange(last_digest_, digest) != digest) {
            same_since_ = now;
        } else if (now - same_since_ > std::chrono::milliseconds(500) &&
                   nothing_will_change(*this, loop == nullptr)) {
            if (loop != nullptr) tell_endless_loop(loop);
            if (copies_beside()) return;
            report_waiting_for_ever();
        }
    }
    // Of the stacks of its threads, the running one's from `frame` on, and of shared memory.
    uint64_t digest_of_block(const char* frame) const {
        Digest digest;
        digest.add(block_serial);
        digest.add_touched(frame, running->base);
        const auto add = [&](const Runner& runner) {
            if (&runner != running && runner.context != nullptr && runner.is_in_kernel)
                digest.add(static_cast<const char*>(runner.context), runner.base);
        };
        add(own_);
        for (const auto& runner : runners_) add(*runner);
        digest.add(dynamic_shared_start, shared_ + shared_pages);
        digest.add(variables_, shared_end);
        return digest.value;
    }

    // Shows the visitor each runner whose thread waits for others.
    template <class Visitor>
    void each_that_waits(Visitor visit) const {
        const auto look = [&](const Runner& runner) {
            if (runner.waiting == Waiting::nothing || runner.waiting == Waiting::block_end) return;
            visit(runner);
        };
        look(own_);
        for (const auto& runner : runners_) look(*runner);
    }

    // The lanes of the warp that have not ended: all of those wait somewhere.
    unsigned int lanes_that_wait(unsigned int first) const {
        unsigned int lanes = 0;
        each_that_waits([&](const Runner& runner) {
            if (runner.thread_number / 32 == first / 32) lanes |= 1u << (runner.thread_number % 32);
        });
        return lanes;
    }

    // A digest of the addresses in the functions that have been called, from here down to the kernel.
    static uint64_t path_of_calls() {
        struct Path {
            uint64_t digest = 0, last = 0;
        } path;
        _Unwind_Backtrace(
            [](_Unwind_Context* frame, void* of) {
                Path& path = *static_cast<Path*>(of);
                // It gives where the stack ended when this function called. What is last then is run_here, which differs.
                if (_Unwind_GetCFA(frame) > reinterpret_cast<uintptr_t>(running->base))
                    return _URC_NORMAL_STOP;
                path.digest = (path.digest + path.last) * 0x9E3779B97F4A7C15u;
                path.last = _Unwind_GetIP(frame);
                return _URC_NO_REASON;
            },
            &path);
        return path.digest;
    }

    // Lanes of a warp that asked for the active mask at the same place are active together. Those at
    // the first line go on first: so the lanes meet again behind a loop or a condition.
    void release_active(unsigned int first) {
        turn_ = first / 32 + 1;  // another warp is next: this one may wait for it
        // Lanes that ask in one line for ever wait for one that asks behind them.
        const bool last_line = releases_ > 10000;
        unsigned int lanes = 0;
        const Runner* asker = nullptr;
        for (unsigned int lane = 0; lane < 32 && first + lane < thread_count_; ++lane) {
            const Runner* const waiter = warp_waiter_[first + lane];
            if (waiter == nullptr || waiter->waiting != Waiting::active_mask) continue;
            if (asker == nullptr || (last_line ? waiter->site.line > asker->site.line
                                               : waiter->site.line < asker->site.line)) {
                asker = waiter;
                lanes = 0;
            }
            if (same_place(waiter->site, asker->site) && waiter->value == asker->value)
                lanes |= 1u << lane;
        }
        releases_ = same_place(asker->site, released_) ? releases_ + 1 : 0;
        released_ = asker->site;
        for (unsigned int rest = lanes; rest != 0; rest &= rest - 1) {
            Runner* const waiter =
                goes_on_in_warp(first + static_cast<unsigned int>(__builtin_ctz(rest)));
            waiter->result = lanes;
            ready_.push(waiter);
        }
    }

    [[noreturn]] void report_waiting_for_ever() {
        unsigned int at_barrier = 0, in_warps = 0;
        each_that_waits([&](const Runner& runner) {
            at_barrier += runner.waiting == Waiting::barrier;
            in_warps += runner.waiting == Waiting::warp;
        });
        std::string others;
        if (at_barrier > 0)
            others += format(", %u of its block at the barrier in line %d", at_barrier,
                             barrier_site_.line);
        if (in_warps > 0) others += format(", %u of its block in a warp primitive", in_warps);
        tell_waiting_for_ever(others);
    }

    // Of the two places those are counted that more threads have reached.
    [[noreturn]] void report_divergent_barrier() {
        const Runner* other = nullptr;
        unsigned int here = 0, there = 0;
        each_that_waits([&](const Runner& runner) {
            if (runner.waiting != Waiting::barrier) return;
            if (same_place(runner.site, barrier_site_)) {
                ++here;
            } else if (other == nullptr || same_place(runner.site, other->site)) {
                ++there;
                if (other == nullptr || runner.thread_number < other->thread_number)
                    other = &runner;
            }
        });
        Site few = other->site, many = barrier_site_;
        if (there > here) std::swap(few, many), std::swap(here, there);
        stop(format(
                 "%s: %u of the block's %u threads %s at this barrier, and %u at the one in line "
                 "%d (block %s). All threads of a block must reach the same __syncthreads(): move "
                 "it out of the condition.",
                 to_string(few).c_str(), there, thread_count_, there == 1 ? "waits" : "wait", here,
                 many.line, to_string(blockIdx).c_str()),
             "barrier");
    }

    [[noreturn]] void report_deadlock() {
        std::vector<const Runner*> waiter(thread_count_, nullptr);
        each_that_waits([&](const Runner& runner) { waiter[runner.thread_number] = &runner; });
        unsigned int ended = 0, elsewhere = 0, first_ended = 0;
        const Runner* other = nullptr;
        for (unsigned int i = thread_count_; i-- > 0;) {
            if (waiter[i] == nullptr) {
                ++ended;
                first_ended = i;
            } else if (waiter[i]->waiting != Waiting::barrier) {
                ++elsewhere;
                other = waiter[i];
            }
        }
        if (apart_ && arrived_ > 0) report_divergent_barrier();
        if (arrived_ == 0) report_warp_deadlock(*other);
        for (const Runner* const one : waiter) {
            if (one == nullptr || one->waiting != Waiting::warp) continue;
            const unsigned int first = one->thread_number / 32 * 32;
            for (unsigned int lane = 0; lane < 32 && first + lane < thread_count_; ++lane) {
                const Runner* const absent = waiter[first + lane];
                if ((one->mask >> lane & 1) != 0 && absent != nullptr &&
                    absent->waiting == Waiting::barrier)
                    report_split_warp(*one, lane);
            }
        }
        std::string rest;
        if (ended > 0) {
            rest += format("; %u ended before it (the first is thread %s)", ended,
                           to_string(thread_index(first_ended)).c_str());
        }
        if (elsewhere > 0) {
            rest +=
                format("; %u wait at the warp primitive in line %d", elsewhere, other->site.line);
        }
        stop(format(
                 "%s: only %u of the %u threads of block %s reach this barrier%s. Every thread of "
                 "the block must reach __syncthreads(): no return before it, no condition around "
                 "it that differs from thread to thread.",
                 to_string(barrier_site_).c_str(), arrived_, thread_count_,
                 to_string(blockIdx).c_str(), rest.c_str()),
             "barrier");
    }

    // Some lanes of a warp have passed by what the others wait in.
    [[noreturn]] void report_split_warp(const Runner& waiter, unsigned int lane) {
        const unsigned int lanes = meeting_lanes(waiter.thread_number / 32 * 32, waiter);
        stop(
            format("%s: the lanes 0x%08x of a warp of block %s wait in a warp primitive whose mask "
                   "0x%08x names lane %u, too, and that one waits at the barrier in line %d. All "
                   "lanes named in the mask must call the primitive: move it out of the condition, "
                   "or name only the lanes for which the condition holds.",
                   to_string(waiter.site).c_str(), lanes, to_string(blockIdx).c_str(), waiter.mask,
                   lane, barrier_site_.line),
            "warp");
    }

    [[noreturn]] void report_warp_deadlock(const Runner& waiter) {
        const unsigned int first = waiter.thread_number / 32 * 32;
        const unsigned int missing =
            waiter.mask & existing_lanes(first) & ~meeting_lanes(first, waiter);
        const unsigned int lane = static_cast<unsigned int>(__builtin_ctz(missing));
        const Runner* const absent = warp_waiter_[first + lane];
        stop(format(
                 "%s: thread %s of block %s waits in a warp primitive with mask 0x%08x for lane "
                 "%u, which waits %s. All lanes named in the mask must call the same primitive "
                 "with the same mask.",
                 to_string(waiter.site).c_str(), to_string(waiter.thread).c_str(),
                 to_string(blockIdx).c_str(), waiter.mask, lane,
                 absent != nullptr ? format("in line %d", absent->site.line).c_str() : "elsewhere"),
             "warp");
    }

#ifdef CUDA_CPU_REPLAY
    Film& film_ = Film::instance();
#endif
    const Order& order_ = Order::asked_for();
    Chance chance_{};
    uint3 order_of_threads_[1024];
    const Kernel* kernel_ = nullptr;
    unsigned long long serial_ = 0;  // of the block
    uint3 block_{};
    unsigned int thread_count_ = 0;
    unsigned int unstarted_ = 0;  // threads that wait for a front runner
    unsigned int held_ = 0;       // runners with threads that have not ended
    Runner own_;                  // the core's own stack
    std::vector<std::unique_ptr<Runner>> runners_;
    RunnerQueue ready_, at_barrier_, idle_;
    unsigned int arrived_ = 0, barrier_count_ = 0;
    bool apart_ = false;       // not all of them at the same one
    unsigned int yields_ = 0;  // in a row
    uint64_t waits_ = 0;       // how often none of the threads could do anything but wait
    std::chrono::steady_clock::time_point looked_{}, same_since_{};  // when that was looked at
    uint64_t last_digest_ = 0;
    const char* code_ = nullptr;  // the program's
    size_t code_bytes_ = 0;
    std::array<uint64_t, 128> states_{};  // in which a signal has found the running thread
    size_t next_state_ = 0;
    unsigned int known_states_ = 0;
    unsigned int turn_ = 0;      // the warp whose lanes that ask for the active mask are next
    Site released_{"", 0};       // where the last of them asked
    unsigned int releases_ = 0;  // how often in a row
    Site barrier_site_{};
    NumberedBarrier barriers_[barriers_of_ptx + barriers_of_tiles] = {};
    unsigned long long block_of_barriers_ = 0;
    Runner* warp_waiter_[1024] = {};       // by thread: the runner that waits at a warp primitive
    unsigned int waiting_lanes_[32] = {};  // by warp: the lanes that have one
    static constexpr size_t shared_pages = 228 * 1024;
    char* shared_ = nullptr;  // dynamic shared memory
    size_t dynamic_bytes_ = 0;
#ifdef CUDA_CPU_OBSERVED
    static constexpr size_t arena_bytes = 16 << 20;
    char* arena_ = nullptr;  // static shared memory
    std::vector<SharedPlace> places_;
    std::vector<std::pair<SharedVariable*, size_t>> of_all_kernels_;
    SharedPlace dynamic_{};
#endif
    const char* variables_ = nullptr;  // the thread-local variables, with static shared memory
    size_t variables_bytes_ = 0;
    bool has_shared_variables_ = false;
};

#ifdef CUDA_CPU_REPLAY
inline void pause_thread() { Core::mine().pause(); }
#endif

}  // namespace cuda_cpu
