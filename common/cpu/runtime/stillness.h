// A grid that never ends: every thread of it waits, and nothing changes.
//
// A thread that waits asks again and again, and lets others go on between. When all that a block is made of, its
// threads' stacks with the registers and its shared memory, is the same at each look, the block does nothing but ask.
// When that holds for all blocks that have begun, none is left to begin, and what kernels can write to is the same as
// well, nothing will ever change: whoever is in the same state as before goes on as before. So a kernel that counts its
// rounds, or looks at the clock, is none of these; nor is one beside which host code runs that may change something.
#pragma once

#include <dirent.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "cooperative.h"
#include "memory.h"

namespace cuda_cpu {

// A digest of memory, piece by piece.
class Digest {
 public:
    uint64_t value = 0x243f6a8885a308d3;

    void add(const char* begin, const char* end) {
        for (; begin + 8 <= end; begin += 8) {
            uint64_t word;
            __builtin_memcpy(&word, begin, 8);
            add(word);
        }
        for (; begin < end; ++begin) add(static_cast<unsigned char>(*begin));
    }
    void add(uint64_t word) {
        value = (value ^ word) * 0x9e3779b97f4a7c15;
        value ^= value >> 29;
    }
    // Of begin..end what is in memory and may be read; the system reads it, so that no page moves for that.
    void add_touched(const char* begin, const char* end) {
        constexpr size_t page = 4096, pages = 256;
        static thread_local std::vector<char> piece(page * pages);
        unsigned char there[pages];
        for (const char* at = begin; at < end;) {
            const char* const first =
                reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(at) / page * page);
            const char* const last = std::min(end, first + page * pages);
            const size_t bytes = static_cast<size_t>(last - at);
            if (mincore(const_cast<char*>(first), static_cast<size_t>(last - first), there) == 0 &&
                std::any_of(there, there + (static_cast<size_t>(last - first) + page - 1) / page,
                            [](unsigned char one) { return one & 1; })) {
                const iovec from{const_cast<char*>(at), bytes}, to{piece.data(), bytes};
                const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
                if (got > 0) add(piece.data(), piece.data() + got);
            }
            at = last;
        }
    }
};

// Of all that kernels can write to outside of their blocks: allocations, and the program's variables.
inline uint64_t digest_of_memory() {
    Digest digest;
    Memory::instance().visit([&](const Allocation& one) {
        if (!one.freed) digest.add_touched(one.start, one.start + one.bytes);
    });
    dl_iterate_phdr(
        [](dl_phdr_info* program, size_t, void* digest) {
            for (int i = 0; i < program->dlpi_phnum; ++i) {
                const auto& part = program->dlpi_phdr[i];
                if (part.p_type != PT_LOAD || !(part.p_flags & PF_W)) continue;
                const char* const start =
                    reinterpret_cast<const char*>(program->dlpi_addr + part.p_vaddr);
                static_cast<Digest*>(digest)->add_touched(start, start + part.p_memsz);
            }
            return 1;  // the program itself comes first
        },
        &digest);
    return digest.value;
}

// Whether the process has threads besides the calling one and CPU mode's own.
inline bool host_code_runs() {
    if (host_runs_beside) return true;
    long tasks = -2;  // . and ..
    DIR* const folder = opendir("/proc/self/task");
    if (folder == nullptr) return true;
    while (readdir(folder) != nullptr) ++tasks;
    closedir(folder);
    return tasks != own_threads + 1;
}

// Which workers of one grid do nothing but wait.
class Stillness {
    using Clock = std::chrono::steady_clock;

 public:
    // A block that runs on `worker` has been the same for a while. Whether the whole grid of `workers` will stay so, of which
    // all others may have to wait for this one.
    bool is_final(const void* worker, unsigned int workers, bool others_wait) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const Clock::time_point now = Clock::now();
        seen_[worker] = now;
        unsigned int still = waiting_;
        for (const auto& [one, time] : seen_) still += now - time < std::chrono::seconds(1);
        if ((still != workers && !others_wait) || host_code_runs()) {
            has_begun_ = false;
        } else if (!has_begun_) {
            has_begun_ = true;
            begin_ = now;
            digest_ = digest_of_memory();
        } else if (now - begin_ > patience_) {
            if (digest_of_memory() == digest_) return true;
            has_begun_ = false;
            patience_ *= 2;
        }
        return false;
    }
    // At the barrier of the grid, or of a cluster.
    void waits(bool begins) {
        const std::lock_guard<std::mutex> lock(mutex_);
        waiting_ += begins ? 1u : -1u;
        has_begun_ = false;
    }

 private:
    std::mutex mutex_;
    std::map<const void*, Clock::time_point> seen_;
    unsigned int waiting_ = 0;
    bool has_begun_ = false;
    Clock::time_point begin_{};
    Clock::duration patience_ = std::chrono::seconds(1);  // until each has been seen again
    uint64_t digest_ = 0;
};

}  // namespace cuda_cpu
