// A block that runs for long: is it a loop that cannot end, or much work?
//
// A thread that asks for a change lets others go on (stillness.h), if the compiler leaves its question in the loop. Of a
// plain variable it reads once, and what is left is a loop that does nothing for ever. So whoever has been in the same block
// for half a second is looked at by a signal again and again: with the same registers, at the same instruction, it is where it
// was before. What is known then is the same as of a thread that asks.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "cooperative.h"
#include "grid.h"
#include "scheduler.h"

namespace cuda_cpu {

class Patrol {
    static constexpr std::chrono::milliseconds pause{25};
    static constexpr unsigned int patience = 20;  // pauses in the same block

 public:
    static Patrol& instance() {
        static Patrol& patrol = *new Patrol;
        return patrol;
    }
    void add(const Core& core) {
        const std::lock_guard<std::mutex> lock(mutex_);
        cores_.push_back({pthread_self(), &core});
    }
    void remove(const Core& core) {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (auto one = cores_.begin(); one != cores_.end(); ++one)
            if (one->core == &core) return void(cores_.erase(one));
    }
    // From the first grid on.
    void start() {
        static const bool started = [this] {
            struct sigaction action {};
            action.sa_sigaction = look;
            action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
            sigaction(SIGURG, &action, nullptr);
            ++own_threads;
            sigset_t all, before;
            sigfillset(&all);
            pthread_sigmask(SIG_SETMASK, &all,
                            &before);  // the program's signals are not for the new thread
            std::thread([this] { watch(); }).detach();
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            return true;
        }();
        (void)started;
    }
    // The launch of the host that runs; null when it has ended.
    void runs(const Grid* grid) {
        if (grid != nullptr) ++launches_;
        grid_ = grid;
        while (grid == nullptr && reads_) std::this_thread::yield();
    }

 private:
    struct Watched {
        pthread_t thread;
        const Core* core;
        unsigned long long block = 0;
        unsigned int pauses = 0;
    };
    void watch() {
        for (;;) {
            std::this_thread::sleep_for(pause);
            const std::lock_guard<std::mutex> lock(mutex_);
            reads_ = true;
            const Grid* const grid = grid_;
            for (Watched& one : cores_) {
                const bool is_same = one.core->last_block() == one.block && grid != nullptr;
                one.block = one.core->last_block();
                one.pauses = is_same ? one.pauses + 1 : 0;
                if (one.pauses > patience) pthread_kill(one.thread, SIGURG);
            }
            if (grid != nullptr) tell_progress(*grid);
            reads_ = false;
        }
    }
    static void look(int, siginfo_t*, void* raw_context) {
        if (!in_kernel()) return;
        const auto& machine = static_cast<const ucontext_t*>(raw_context)->uc_mcontext;
        Digest registers;
        const auto add = [&](const auto& piece) {
            const char* const begin = reinterpret_cast<const char*>(&piece);
            registers.add(begin, begin + sizeof piece);
        };
#if defined(__x86_64__)
        add(machine.gregs);
        add(*machine.fpregs);
        Core::mine().look_at_loop(reinterpret_cast<const char*>(machine.gregs[REG_RIP]),
                                  reinterpret_cast<const char*>(machine.gregs[REG_RSP]) - 128,
                                  registers.value);
#elif defined(__aarch64__)
        add(machine);
        Core::mine().look_at_loop(reinterpret_cast<const char*>(machine.pc),
                                  reinterpret_cast<const char*>(machine.sp), registers.value);
#endif
    }
    // With CUDA_CPU_PROGRESS=SECONDS: after that time, and then each time four times as much, it is said that this is no hang.
    void tell_progress(const Grid& grid) {
        static const char* const wish = std::getenv("CUDA_CPU_PROGRESS");
        static std::chrono::milliseconds next =
            std::chrono::seconds(wish != nullptr ? std::atoi(wish) : 0);
        busy_ += pause;
        if (next.count() == 0 || busy_ < next) return;
        next *= 4;
        const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
        std::fprintf(stderr,
                     "%s: kernels have computed for %lld seconds and go on: this is launch %llu, "
                     "of kernel %s, at about block "
                     "%llu of %llu. A card is some hundred times faster; a smaller problem shows "
                     "the same.\n",
                     to_string(grid.shape.site).c_str(),
                     static_cast<long long>(busy_.count() / 1000), number(launches_),
                     name_of(*grid.kernel).c_str(),
                     number(std::min<uint64_t>(grid.next_block, grid.block_count())),
                     number(grid.block_count()));
    }

    std::mutex mutex_;
    std::vector<Watched> cores_;
    std::atomic<const Grid*> grid_{nullptr};
    std::atomic<bool> reads_{false};
    uint64_t launches_ = 0;
    std::chrono::milliseconds busy_{0};
};

inline void watch_core(const Core& core) { Patrol::instance().add(core); }
inline void leave_core(const Core& core) { Patrol::instance().remove(core); }

}  // namespace cuda_cpu
