// What a program that is built for `make replay` calls at each line, where a function ends, and before what
// moves memory (common/replay/step_hooks.py). The calls stand between instructions that know nothing of them, so every
// register and the flags are as they were.
#pragma once

#include <csignal>

#include "film.h"
#include "report.h"

#ifndef __x86_64__
#error "make replay knows x86-64 only"
#endif

extern "C" {
void cuda_cpu_film_line(const void* pc, char* frame) { cuda_cpu::Film::instance().line(pc, frame); }
void cuda_cpu_film_leave(const void*, char* frame) { cuda_cpu::Film::instance().leave(frame); }
void cuda_cpu_film_load(const void* pc, char* frame, const char* address, size_t bytes) {
    cuda_cpu::Film::instance().moves(pc, frame, address, bytes, cuda_cpu::Access::read);
}
void cuda_cpu_film_store(const void* pc, char* frame, const char* address, size_t bytes) {
    cuda_cpu::Film::instance().moves(pc, frame, address, bytes, cuda_cpu::Access::write);
}
}

// What the compiler calls where an index leaves a declared array; the data are those of UndefinedBehaviorSanitizer.
struct IndexOutOfBounds {
    struct Type {
        uint16_t kind,
            form;  // of an integer: whether it is signed, and twice the logarithm of its bits
        char name[1];
    };
    const char* file;
    uint32_t line, column;
    const Type *array, *index;
};
extern "C" void __ubsan_handle_out_of_bounds(const IndexOutOfBounds* where, uint64_t index) {
    if (!cuda_cpu::findings_are_wanted()) return;
    const int unused = 64 - (1 << (where->index->form >> 1));
    const auto value = static_cast<int64_t>(index << unused) >> unused;
    cuda_cpu::write_finding(
        "\"kind\": \"undefined\", \"by\": \"ubsan\", \"description\": \"out-of-bounds-index\", "
        "\"file\": " +
        cuda_cpu::json(where->file) +
        cuda_cpu::format(", \"line\": %u, \"text\": \"index %lld out of bounds for type %s\", ",
                         where->line, static_cast<long long>(value), where->array->name) +
        cuda_cpu::who());
}

#define CUDA_CPU_STEP(name, function)                                                            \
    asm(".text\n.globl " name "\n.type " name ", @function\n" name                               \
        ":\n"                                                                                    \
        ".cfi_startproc\n"                                                                       \
        "pushfq\n.cfi_adjust_cfa_offset 8\n"                                                     \
        "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\n"     \
        "pushq %r10\npushq %r11\npushq %rbx\n.cfi_adjust_cfa_offset 80\n"                        \
        "movq %rdi, %rdx\nmovq %rsi, %rcx\nmovq 88(%rsp), %rdi\nmovq %rbp, %rsi\n"               \
        "movq %rsp, %rbx\n.cfi_def_cfa_register %rbx\n.cfi_offset %rbx, -96\n"                   \
        "subq $512, %rsp\nandq $-64, %rsp\nfxsave64 (%rsp)\ncld\n"                               \
        "call " function                                                                         \
        "\n"                                                                                     \
        "fxrstor64 (%rsp)\nmovq %rbx, %rsp\n.cfi_def_cfa_register %rsp\n"                        \
        "popq %rbx\npopq %r11\npopq %r10\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\n" \
        "popq %rcx\npopq %rax\npopfq\n.cfi_adjust_cfa_offset -88\n"                              \
        "ret\n.cfi_endproc\n.size " name ", .-" name "\n")
CUDA_CPU_STEP("cuda_cpu_line", "cuda_cpu_film_line");
CUDA_CPU_STEP("cuda_cpu_leave", "cuda_cpu_film_leave");
CUDA_CPU_STEP("cuda_cpu_load", "cuda_cpu_film_load");
CUDA_CPU_STEP("cuda_cpu_store", "cuda_cpu_film_store");
#undef CUDA_CPU_STEP

namespace cuda_cpu {

void entered_kernel(const char*) { Film::instance().enter(); }

namespace {
// Each finding says at which step it came; and a program that is stopped, or crashes, has its film, too.
void (*stopped_before)() = nullptr;
const bool films = [] {
    moment = [] {
        const Film& film = Film::instance();
        return film.has_launch() ? format(", \"moment\": %zu", film.moment()) : std::string();
    };
    stopped_before = before_stop;
    before_stop = [] {
        if (stopped_before != nullptr) stopped_before();
        Film::instance().write();
    };
    before_crash = [] { Film::instance().write(); };
    for (const int number : {SIGABRT, SIGTERM}) {  // its own end, and that of our patience
        std::signal(number, [](int signal_number) {
            Film::instance().write();
            std::signal(signal_number, SIG_DFL);
            std::raise(signal_number);
        });
    }
    return true;
}();
}  // namespace

__attribute__((destructor)) inline void end_film() { Film::instance().write(); }

}  // namespace cuda_cpu
