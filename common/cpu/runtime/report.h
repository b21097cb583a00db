// Sentences for the learner: where, what, and what to do. Each ends the program with status 1.
#pragma once

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <string>

#include "../include/cuda_runtime.h"

namespace cuda_cpu {

// Prints one sentence and ends the program. Safe from any core: the first one to come is heard.
[[noreturn]] inline void stop(const std::string& sentence) {
    static std::mutex first;
    first.lock();
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", sentence.c_str());
    std::fflush(stderr);
    _exit(1);
}

__attribute__((format(printf, 1, 2))) inline std::string format(const char* pattern, ...) {
    char text[1024];
    va_list values;
    va_start(values, pattern);
    std::vsnprintf(text, sizeof text, pattern, values);
    va_end(values);
    return text;
}

inline std::string to_string(const Site& site) { return format("%s:%d", site.file, site.line); }
inline std::string to_string(uint3 index) {
    return format("(%u,%u,%u)", index.x, index.y, index.z);
}

}  // namespace cuda_cpu
