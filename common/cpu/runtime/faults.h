// A memory fault, in words: which line touched what, and why it may not.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "grid.h"
#include "memory.h"

namespace cuda_cpu {

constexpr int most_frames = 24;

// Where the program was loaded: 0 unless it is position-independent.
inline uintptr_t load_address() {
    uintptr_t address = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            *static_cast<uintptr_t*>(result) = info->dlpi_addr;
            return 1;   // the program itself comes first
        },
        &address);
    return address;
}

// The first of these code addresses that lies in a .cu file, as file:line, found with addr2line;
// empty when there is none.
inline std::string learners_line(void* const* addresses, int count) {
    char program[4096] = {};
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return "";
    char texts[most_frames][32];
    const char* arguments[most_frames + 5] = {"addr2line", "-i", "-e", program};
    for (int i = 0; i < count; ++i) {
        std::snprintf(texts[i], sizeof texts[i], "%#lx",
                      reinterpret_cast<uintptr_t>(addresses[i]) - load_address());
        arguments[4 + i] = texts[i];
    }
    arguments[4 + count] = nullptr;

    int ends[2];
    if (pipe(ends) != 0) return "";
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(STDERR_FILENO);
        execvp(arguments[0], const_cast<char* const*>(arguments));
        _exit(127);
    }
    close(ends[1]);
    FILE* const lines = fdopen(ends[0], "r");
    char line[4096];
    std::string found;
    while (found.empty() && lines != nullptr && std::fgets(line, sizeof line, lines) != nullptr) {
        char* const end = std::strstr(line, ".cu:");
        if (end == nullptr || std::atoi(end + 4) == 0) continue;
        *end = '\0';
        const char* const slash = std::strrchr(line, '/');
        found = format("%s.cu:%d", slash != nullptr ? slash + 1 : line, std::atoi(end + 4));
    }
    if (lines != nullptr) std::fclose(lines);
    waitpid(child, nullptr, 0);
    return found;
}

inline std::string describe(const Allocation& allocation, const char* address) {
    const char* const end = allocation.start + allocation.bytes;
    const std::string what = format("%s of %zu bytes",
                                    allocation.freed ? "the freed allocation" : "the allocation",
                                    allocation.bytes);
    if (address >= end) return format("%zu bytes past the end of ", address - end) + what;
    return format("byte %zu of ", address - allocation.start) + what;
}

inline std::string explain_kernel_fault(const char* address, const Allocation* allocation,
                                        const char* verb) {
    const std::string who =
        format("kernel %s, thread %s of block %s, %s ", current_grid ? current_grid->name : "?",
               to_string(threadIdx).c_str(), to_string(blockIdx).c_str(), verb);
    if (address < reinterpret_cast<char*>(page_bytes)) {
        return who + format("address %p: a null pointer.", static_cast<const void*>(address));
    }
    if (allocation == nullptr) {
        return who + format("address %p, which is no device memory.",
                            static_cast<const void*>(address));
    }
    return who + describe(*allocation, address) +
           (allocation->freed ? ": it was given to cudaFree before this kernel ran."
                              : ": compare the index with the number of elements before the access.");
}

inline std::string explain_host_fault(const char* address, const Allocation& allocation,
                                      const char* verb) {
    return format("host code %s the device pointer %p (", verb, static_cast<const void*>(address)) +
           describe(allocation, address) +
           "). Device memory is not accessible while host code runs: copy it with cudaMemcpy, or "
           "touch it in a kernel.";
}

inline void handle_fault(int signal_number, siginfo_t* info, void* raw_context) {
    const auto* const context = static_cast<const ucontext_t*>(raw_context);
    const char* const address = static_cast<const char*>(info->si_addr);
#if defined(__x86_64__)
    void* const place = reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]);
    const char* const stack = reinterpret_cast<const char*>(context->uc_mcontext.gregs[REG_RSP]);
    const char* const verb = context->uc_mcontext.gregs[REG_ERR] & 2 ? "wrote to" : "read from";
#elif defined(__aarch64__)
    void* const place = reinterpret_cast<void*>(context->uc_mcontext.pc);
    const char* const stack = reinterpret_cast<const char*>(context->uc_mcontext.sp);
    const char* const verb = "touched";
#else
#error "CUDA on the CPU knows x86-64 and 64-bit Arm"
#endif
    void* frames[most_frames] = {place};
    const int count = 1 + backtrace(frames + 1, most_frames - 1);
    std::string line = learners_line(frames, count);
    if (!line.empty()) line += ": ";

    const Allocation* const allocation = Memory::instance().find_unlocked(address);
    const bool full_stack = allocation == nullptr && address < stack + page_bytes &&
                            address + 2 * StackAllocator::stack_bytes > stack;
    if (in_kernel()) {
        if (full_stack && address >= reinterpret_cast<char*>(page_bytes)) {
            stop(line + format("kernel %s needs more than the %zu KiB of stack that a thread has in "
                               "CPU mode: make its local arrays smaller.",
                               current_grid ? current_grid->name : "?",
                               StackAllocator::stack_bytes / 1024));
        }
        stop(line + explain_kernel_fault(address, allocation, verb));
    }
    if (allocation != nullptr && Memory::instance().on_device(address)) {
        stop(line + explain_host_fault(address, *allocation, verb));
    }
    // An ordinary crash of host code: say where, then crash as usual.
    std::fprintf(stderr, "%shost code %s address %p.\n", line.c_str(), verb,
                 static_cast<const void*>(address));
    signal(signal_number, SIG_DFL);
}

inline void install_fault_handler() {
    void* frame;
    backtrace(&frame, 1);   // loads what it needs now, not in the handler
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

}   // namespace cuda_cpu
