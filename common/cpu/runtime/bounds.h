// Built with AddressSanitizer: what no kernel may touch is poisoned, and what the sanitizers report
// is written down with the thread that did it.
//
// A guard page ends every allocation, but CUDA's alignment leaves up to 255 bytes before it; shared
// arrays lie side by side. The sanitizer knows neither, so it is told by hand.
#pragma once

#include <fcntl.h>
#include <sanitizer/asan_interface.h>

#include "faults.h"
#include "observer.h"

namespace cuda_cpu {

namespace observer {

inline void poison_range(const char* begin, const char* end) {
    __asan_poison_memory_region(begin, static_cast<size_t>(end - begin));
}

void grid_begins(const Grid&) {}
void block_begins(unsigned int) {}
void barrier() {}
void meeting(unsigned int, unsigned int, bool) {}
void meeting_without(unsigned int, unsigned int, unsigned int, const Site&) {}
void released(const Allocation& allocation) {
    // From now on the closed pages say more: whose memory it was.
    __asan_unpoison_memory_region(allocation.pages, allocation.mapped_bytes);
}
void filled(const void*, size_t) {}
void copied(const void*, const void*, size_t) {}
void read(const void*, size_t) {}

void allocated(const Allocation& allocation) {
    poison_range(allocation.pages, allocation.start);
    poison_range(allocation.start + allocation.bytes, allocation.pages + allocation.mapped_bytes);
}

void dynamic_shared(const char* begin, const char* end, const char* start, size_t bytes) {
    static thread_local size_t last = ~size_t{0};
    if (bytes == last) return;
    last = bytes;
    __asan_unpoison_memory_region(start, bytes);
    poison_range(begin, start);
    poison_range(start + bytes, end);
}

// A variable of shared memory stands alone between two pieces that nobody may touch.
void shared_variable(const char*, const char* start, size_t bytes) {
    poison_range(start - shared_gap, start);
    poison_range(start + bytes, start + round_up(bytes, shared_gap) + shared_gap);
}
void shared_begins(const char*, size_t) {}

inline std::string frames_here(void* first) {
    void* frames[most_frames] = {first};
    const int count = 1 + backtrace(frames + 1, most_frames - 1);
    std::string list;
    for (int i = 0; i < count; ++i) {
        const uintptr_t call = reinterpret_cast<uintptr_t>(frames[i]) - (i > 0 ? 1 : 0);
        list += format("%s%zu", i > 0 ? ", " : "", static_cast<size_t>(call));
    }
    return list;
}

inline void write_report(const char* text) {
    const char* const address = static_cast<const char*>(__asan_get_report_address());
    const std::string owner = owner_of(address);
    write_finding("\"kind\": \"bounds\", \"by\": \"asan\", \"description\": " +
                  json(__asan_get_report_description()) +
                  format(", \"write\": %d, \"size\": %zu", __asan_get_report_access_type(),
                         __asan_get_report_access_size()) +
                  ", \"frames\": [" + frames_here(__asan_get_report_pc()) + "], " + who() +
                  (owner.empty() ? ", \"text\": " + json(text) : ", " + owner));
}

}  // namespace observer

// Somebody who reads the findings needs no report besides.
inline const bool sanitizer_is_heard = [] {
    if (!findings_are_wanted()) return false;
    __asan_set_error_report_callback(observer::write_report);
    const intptr_t nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) __sanitizer_set_report_fd(reinterpret_cast<void*>(nowhere));
    return true;
}();

}  // namespace cuda_cpu

// A run goes on after a report. Memory that is never freed is the host's affair. Local arrays of a
// function that has returned stay closed for a while, so that a pointer to one is seen.
extern "C" const char* __asan_default_options() {
    return "halt_on_error=0:detect_leaks=0:detect_stack_use_after_return=1";
}

// UndefinedBehaviorSanitizer asks for this one after each of its reports.
extern "C" void __ubsan_get_current_report_data(const char**, const char**, const char**, unsigned*,
                                                unsigned*, char**);
extern "C" void __ubsan_on_report() {
    if (!cuda_cpu::findings_are_wanted()) return;
    const char *kind = nullptr, *message = nullptr, *file = nullptr;
    unsigned line = 0, column = 0;
    char* address = nullptr;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
    // The host's processor allows it.
    if (std::strcmp(kind, "misaligned-pointer-use") == 0 && !cuda_cpu::in_kernel()) return;
    cuda_cpu::write_finding(
        "\"kind\": \"undefined\", \"by\": \"ubsan\", \"description\": " + cuda_cpu::json(kind) +
        ", \"text\": " + cuda_cpu::json(message) + ", \"file\": " + cuda_cpu::json(file) +
        cuda_cpu::format(", \"line\": %u, ", line) + cuda_cpu::who());
}
