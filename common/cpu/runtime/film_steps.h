// What a program that is built for `make replay` calls at each line, and where a function ends
// (common/replay/step_hooks.py). The calls stand between instructions that know nothing of them, so every
// register and the flags are as they were.
#pragma once

#include "film.h"
#include "report.h"

#ifndef __x86_64__
#error "make replay knows x86-64 only"
#endif

extern "C" {
void cuda_cpu_film_line(const void* pc, char* frame) { cuda_cpu::Film::instance().line(pc, frame); }
void cuda_cpu_film_leave(const void*, char* frame) { cuda_cpu::Film::instance().leave(frame); }
}

#define CUDA_CPU_STEP(name, function)                                                            \
    asm(".text\n.globl " name "\n.type " name ", @function\n" name                               \
        ":\n"                                                                                    \
        ".cfi_startproc\n"                                                                       \
        "pushfq\n.cfi_adjust_cfa_offset 8\n"                                                     \
        "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\n"     \
        "pushq %r10\npushq %r11\npushq %rbx\n.cfi_adjust_cfa_offset 80\n"                        \
        "movq 88(%rsp), %rdi\nmovq %rbp, %rsi\n"                                                 \
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
#undef CUDA_CPU_STEP

namespace cuda_cpu {

void entered_kernel(const char*) { Film::instance().enter(); }

namespace {
// Each finding says at which step it came; and a program that is stopped has its film, too.
void (*stopped_before)() = nullptr;
const bool films = [] {
    moment = [] { return format(", \"moment\": %zu", Film::instance().moment()); };
    stopped_before = before_stop;
    before_stop = [] {
        if (stopped_before != nullptr) stopped_before();
        Film::instance().write();
    };
    return true;
}();
}  // namespace

__attribute__((destructor)) inline void end_film() { Film::instance().write(); }

}  // namespace cuda_cpu
