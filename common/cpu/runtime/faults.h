// A memory fault, in words: which line touched what, and why it may not.
#pragma once

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "devices.h"
#include "grid.h"
#include "memory.h"
#include "paging.h"

namespace cuda_cpu {

constexpr int most_frames = 24;
extern "C" const char
    cuda_cpu_common[];  // the course's folder common/, in the program (compile.sh)

// Where the program was loaded: 0 unless it is position-independent.
inline uintptr_t load_address() {
    uintptr_t address = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            *static_cast<uintptr_t*>(result) = info->dlpi_addr;
            return 1;  // the program itself comes first
        },
        &address);
    return address;
}

// Whether a file is the learner's: a .cu or .cuh, or a header that neither the system nor the course
// brings.
inline bool is_learners(const char* file) {
    const char* const suffix = std::strrchr(file, '.');
    if (suffix == nullptr || std::strchr(suffix, '/') != nullptr) return false;
    if (std::strncmp(suffix, ".cu", 3) == 0) return true;
    char path[4096];
    if (realpath(file, path) == nullptr) return false;
    for (const char* const folder : {"/usr/", "/opt/", cuda_cpu_common}) {
        if (std::strncmp(path, folder, std::strlen(folder)) == 0) return false;
    }
    return true;
}

// The addresses themselves, {code 401a2f 4020b0}, for somebody who turns them into a line: with
// CUDA_CPU_ADDRESSES=1, where a program can start no other. A first word "call" is `of_call` below.
inline std::string as_addresses(void* const* addresses, int count, bool of_call) {
    std::string text = of_call ? "{code call" : "{code";
    for (int i = 0; i < count; ++i) {
        text += format(" %zx", reinterpret_cast<uintptr_t>(addresses[i]) - load_address());
    }
    return text + "}";
}

// The first of these code addresses that lies in a file of the learner, as file:line, found with addr2line;
// empty when there is none. With `of_call` the line in which that function was called, if known.
inline std::string learners_line(void* const* addresses, int count, bool of_call = false) {
    const char* const wish = std::getenv("CUDA_CPU_ADDRESSES");
    if (wish != nullptr && *wish == '1') return as_addresses(addresses, count, of_call);
    char program[4096] = {};
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return "";
    char texts[most_frames][32];
    const char* arguments[most_frames + 4] = {"addr2line", "-fie", program};
    for (int i = 0; i < count; ++i) {
        std::snprintf(texts[i], sizeof texts[i], "%#lx",
                      reinterpret_cast<uintptr_t>(addresses[i]) - load_address());
        arguments[3 + i] = texts[i];
    }
    arguments[3 + count] = nullptr;

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
    char function[4096], line[4096];
    std::string found, first_function;
    while (lines != nullptr && (found.empty() || of_call) &&
           std::fgets(function, sizeof function, lines) != nullptr &&
           std::fgets(line, sizeof line, lines) != nullptr) {
        char* const end = std::strrchr(line, ':');
        if (end == nullptr || std::atoi(end + 1) == 0) continue;
        *end = '\0';
        if (found.empty() && current_grid != nullptr &&
            is_learners(current_grid->shape.site.file) &&
            std::strstr(function, "cuda_cpu8KernelOf") && std::strstr(line, "cuda_cpu/launch.h")) {
            // No line of the kernel is known; further out is host code, which waits for it.
            found = to_string(current_grid->shape.site) + ": launched here";
            break;
        }
        if (!is_learners(line)) continue;
        if (found.empty())
            first_function = function;
        else if (first_function == function)
            continue;
        else
            of_call = false;
        const char* const slash = std::strrchr(line, '/');
        found = format("%s:%d", slash != nullptr ? slash + 1 : line, std::atoi(end + 1));
    }
    if (lines != nullptr) std::fclose(lines);
    waitpid(child, nullptr, 0);
    return found;
}

// The line of the learner's file from which this was called, as "file:line: "; empty if unknown.
// `of_call` as above.
inline std::string learners_place(void* first = nullptr, bool of_call = false) {
    void* frames[most_frames] = {first};
    const int known = first == nullptr ? 0 : 1;
    const int count = known + backtrace(frames + known, most_frames - known);
    // What is on the stack are addresses of return: the call stands just before.
    for (int i = known; i < count; ++i) frames[i] = static_cast<char*>(frames[i]) - 1;
    const std::string line = learners_line(frames, count, of_call);
    return line.empty() ? "" : line + ": ";
}

// Where so many bytes are nearly 2^32 elements of 1 to 16 bytes: what the index has been.
inline std::string went_below_0(uint64_t past) {
    for (uint64_t all = uint64_t{1} << 32; all <= uint64_t{16} << 32; all *= 2) {
        if (past < all && past > all - all / 16)
            return " (nearly 2^32 elements: the index is probably an unsigned number that went "
                   "below 0)";
    }
    return "";
}

inline std::string describe(const Allocation& allocation, const char* address) {
    const char* const end = allocation.start + allocation.bytes;
    const std::string what =
        (allocation.freed ? "the freed allocation of " : "the allocation of ") +
        in_bytes(allocation.bytes);
    if (address == end) return "the first byte past the end of " + what;
    if (address > end)
        return in_bytes(address - end) + " past the end of " + what + went_below_0(address - end);
    if (address < allocation.start) {
        return in_bytes(allocation.start - address) + " before the start of " + what;
    }
    return format("byte %zu of ", address - allocation.start) + what;
}

// The allocation that code missed at an address, and by how much, in words.
struct Missed {
    const Allocation* allocation;  // null where it may be one of two, or the device has none
    std::string words;
};

// An index that is wrong by much comes out beside another allocation. So where none is close it goes by
// what the kernel was given: the last that ends before the address, or the first that begins behind it.
// A kernel without a pointer has its addresses from memory: then by the nearest.
inline Missed missed(const char* address) {
    constexpr ptrdiff_t close = 256, far = ptrdiff_t{1} << 30;
    const Allocation* const nearest = Memory::instance().nearest_unlocked(address);
    if (nearest == nullptr) return {nullptr, ""};
    if (address > nearest->start - close && address < nearest->start + nearest->bytes + close)
        return {nearest, describe(*nearest, address)};
    const Allocation *before = nullptr, *behind = nullptr;
    if (current_grid != nullptr) {
        for (const PointerArgument& pointer : current_grid->facts.pointers) {
            const Allocation* const given = Memory::instance().find_unlocked(pointer.value);
            if (given == nullptr || !Memory::instance().on_device(given->start)) continue;
            if (given->start > address)
                behind = behind == nullptr || given->start < behind->start ? given : behind;
            else
                before = before == nullptr || given->start > before->start ? given : before;
        }
    }
    if (before == nullptr && behind == nullptr) before = nearest;
    if (before != nullptr && behind != nullptr) {
        const ptrdiff_t past = address - before->start - static_cast<ptrdiff_t>(before->bytes);
        const ptrdiff_t ahead = behind->start - address;
        if (ahead > 4 * past) behind = nullptr;
        // More indices are too large than below 0.
        if (past > 4 * ahead && past > static_cast<ptrdiff_t>(2 * page_bytes)) before = nullptr;
    }
    if (before != nullptr && behind != nullptr)
        return {nullptr, describe(*before, address) + ", or " + describe(*behind, address)};
    const Allocation& array = before != nullptr ? *before : *behind;
    const std::string words = describe(array, address);
    if (address - array.start > far + static_cast<ptrdiff_t>(array.bytes) ||
        array.start - address > far)
        return {nullptr, format("address %p, which is in no allocation: ",
                                static_cast<const void*>(address)) +
                             words};
    return {&array, words};
}

// No program has anything at the lowest addresses, so an element of a null array is there, too.
inline bool is_null(const char* address) { return address < reinterpret_cast<char*>(1 << 20); }

// What went wrong: the kind under which `make sanitize` counts it, and a sentence; empty when it was
// an ordinary crash of host code.
struct Explanation {
    const char* kind;
    std::string sentence;
};

inline Explanation explain_address(const char* address, const std::string& who) {
    if (is_null(address)) {
        return {"bounds",
                who + format("address %p: a null pointer.", static_cast<const void*>(address))};
    }
    if (const size_t bytes = Core::mine().past_dynamic_shared(address)) {
        const std::string what = bytes == 1 ? "the first byte" : format("%zu bytes", bytes - 1);
        return {"bounds", who + what +
                              " past the end of the dynamic shared memory of its block: does the "
                              "launch ask for enough?"};
    }
    if (address >= shared_guard && address < shared_guard + shared_guard_bytes) {
        return {"bounds", who +
                              "an address past the end of a static __shared__ array: compare the "
                              "index with the size of the array before the access."};
    }
    const auto [allocation, words] = missed(address);
    if (words.empty()) {
        return {"host-pointer", who + format("address %p, which is no device memory.",
                                             static_cast<const void*>(address))};
    }
    const std::string what = who + words;
    if (allocation != nullptr && allocation->freed)
        return {"freed", what + ": it was given to cudaFree before this kernel ran."};
    if (allocation != nullptr && address >= allocation->start &&
        address < allocation->start + allocation->bytes && current_grid != nullptr &&
        !(reach_of(current_grid->device) >> allocation->device & 1)) {
        return {"other", what + format(" of device %d. The kernel runs on device %d, which %s.",
                                       allocation->device, current_grid->device,
                                       how_to_reach(allocation->device).c_str())};
    }
    if (allocation != nullptr && address < allocation->start)
        return {"bounds", what + ": the index is below 0, compare it with 0 before the access."};
    return {"bounds", what + ": compare the index with the number of elements before the access."};
}

#ifdef CUDA_CPU_OBSERVED
// What the address belongs to, if it is memory of a kernel.
inline std::string owner_of(const char* address) {
    if (const Core::SharedPlace* const place = shared_near(address)) {
        return format("\"variable\": %s, \"offset\": %td, \"bytes\": %zu",
                      json(place->name).c_str(), address - place->start, place->bytes);
    }
    const auto [allocation, words] = missed(address);
    if (words.empty() || !Memory::instance().on_device(address)) return "";
    const char* const text = current_grid != nullptr ? current_grid->facts.arguments : nullptr;
    int position = 0;
    if (current_grid != nullptr && allocation != nullptr)
        position = current_grid->facts.position_of(*allocation);
    return format("\"what\": %s, \"position\": %d, \"arguments\": %s", json(words.c_str()).c_str(),
                  position, json(text).c_str());
}
#endif

inline std::string explain_host_fault(const char* address, const Allocation& allocation,
                                      const char* verb) {
    return format("host code %s the device pointer %p (", verb, static_cast<const void*>(address)) +
           describe(allocation, address) +
           "). Device memory is not accessible while host code runs: copy it with cudaMemcpy, or "
           "touch it in a kernel.";
}

// The call that is on the stack many times; null where none is.
inline void* recursive_call() {
    void* frames[64];
    const int count = backtrace(frames, 64);
    for (int i = 0; i < count; ++i) {
        if (std::count(frames, frames + count, frames[i]) > 8)
            return static_cast<char*>(frames[i]) - 1;
    }
    return nullptr;
}

inline Explanation explain_fault(const siginfo_t& info, const char* stack, const char* verb) {
    const char* const address = static_cast<const char*>(info.si_addr);
    const char* const kernel = current_grid != nullptr ? current_kernel() : "?";
    const Allocation* const allocation = Memory::instance().nearest_unlocked(address);
    if (!in_kernel()) {
        const bool on_device = allocation != nullptr && Memory::instance().on_device(address);
        return {"device-pointer", on_device ? explain_host_fault(address, *allocation, verb) : ""};
    }
    const std::string who = this_thread();
    if (info.si_signo == SIGFPE) return {"other", who + "divided an integer by zero."};
    if (info.si_code == SI_KERNEL) {  // the processor does not tell the address
        return {"other",
                who +
                    "used an address that is not aligned for its type (16 bytes for a float4) or "
                    "far outside all memory."};
    }
#ifdef CUDA_CPU_BOUNDS
    // AddressSanitizer looks at its own notes of an address first: that is not the kernel's access.
    // The other build, without them, meets the kernel's.
    if (address >= reinterpret_cast<char*>(0x7fff8000) &&
        address < reinterpret_cast<char*>(0x10007fff8000)) {
        return {"", who + "touched memory that is none of the device's."};
    }
#endif
    const bool full_stack = allocation == nullptr && !is_null(address) &&
                            address < stack + page_bytes &&
                            address + 2 * StackAllocator::stack_bytes > stack;
    if (full_stack) {
        return {"other",
                format("kernel %s needs more than the %zu KiB of stack that a thread has in "
                       "CPU mode: %s",
                       kernel, StackAllocator::stack_bytes / 1024,
                       recursive_call() != nullptr
                           ? "a function calls itself, and does not come to an end."
                           : "make its local arrays smaller.")};
    }
    return explain_address(address, who + verb + " ");
}

// A kernel called what is no function: a function pointer that is null, or of the host.
inline Explanation explain_jump(const char* address) {
    return {"host-pointer", this_thread() + "calls a function through a pointer that " +
                                (is_null(address) ? "is null." : "does not lead to code.")};
}

// The instruction that the compiler puts behind a function's last line.
inline Explanation explain_end() {
    return {
        "other",
        in_kernel()
            ? this_thread() +
                  "comes to the end of a function that must return a value: write its return."
            : "this function must return a value, and comes to its end without: write its return."};
}

inline void handle_fault(int signal_number, siginfo_t* info, void* raw_context) {
    const auto* const context = static_cast<const ucontext_t*>(raw_context);
#if defined(__x86_64__)
    void* place = reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]);
    const char* const stack = reinterpret_cast<const char*>(context->uc_mcontext.gregs[REG_RSP]);
    const bool jumped =  // what was called is no code
        (signal_number == SIGSEGV || signal_number == SIGBUS) && place == info->si_addr;
    if (jumped) place = *reinterpret_cast<char* const*>(stack) - 1;
    const bool writes = context->uc_mcontext.gregs[REG_ERR] & 2;
    const char* const verb = writes ? "wrote to" : "read from";
#elif defined(__aarch64__)
    void* place = reinterpret_cast<void*>(context->uc_mcontext.pc);
    const char* const stack = reinterpret_cast<const char*>(context->uc_mcontext.sp);
    const bool jumped =  // what was called is no code
        (signal_number == SIGSEGV || signal_number == SIGBUS) && place == info->si_addr;
    if (jumped) place = reinterpret_cast<char*>(context->uc_mcontext.regs[30]) - 1;
    const bool writes = false;  // unknown: what turns out to be a store faults once more
    const char* const verb = "touched";
#else
#error "CUDA on the CPU knows x86-64 and 64-bit Arm"
#endif
    if (signal_number == SIGSEGV && !jumped) {
        char* const address = static_cast<char*>(info->si_addr);
        if (Paging::instance().fault(address, writes)) return;
        if (Memory::instance().first_touch(address)) return;
    }
    const bool has_ended = signal_number == SIGILL || signal_number == SIGTRAP;
    alarm(10);  // should the crash have happened while the heap was locked, it ends here
    std::string line = learners_place(place);
    const auto [kind, sentence] = has_ended ? explain_end()
                                  : jumped && in_kernel()
                                      ? explain_jump(static_cast<const char*>(info->si_addr))
                                      : explain_fault(*info, stack, verb);
    if (sentence.find("calls itself") != std::string::npos) line = learners_place(recursive_call());
    if (!sentence.empty()) stop(line + sentence, kind);
    // An ordinary crash of host code: say where, then crash as usual.
    const std::string crash =
        line + (signal_number == SIGFPE ? "host code divided an integer by zero"
                                        : format("host code %s address %p", verb, info->si_addr));
    note("crash", crash + ", and the program crashed.");
    std::fprintf(stderr, "%s.\n", crash.c_str());
    if (before_crash != nullptr) before_crash();
    signal(signal_number, SIG_DFL);
}

inline void install_fault_handler() {
    void* frame;
    backtrace(&frame, 1);  // loads what it needs now, not in the handler
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
        sigaction(number, &action, nullptr);
}

}  // namespace cuda_cpu
