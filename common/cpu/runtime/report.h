// Sentences for the learner: where, what, and what to do. Each ends the program with status 1.
//
// With CUDA_CPU_FINDINGS=FILE each is written there as well, with its kind, a JSON object a line:
// common/checker/sanitize.py reads them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

#include "../include/cuda_runtime.h"

namespace cuda_cpu {

// The name of the kernel whose block this core runs; null while host code runs.
inline const char* current_kernel();

__attribute__((format(printf, 1, 2))) inline std::string format(const char* pattern, ...) {
    char text[1024];
    va_list values;
    va_start(values, pattern);
    std::vsnprintf(text, sizeof text, pattern, values);
    va_end(values);
    return text;
}

inline std::string in_bytes(size_t bytes) {
    return bytes == 1 ? "1 byte" : format("%zu bytes", bytes);
}

inline std::string to_string(const Site& site) { return format("%s:%d", site.file, site.line); }
inline std::string to_string(uint3 index) {
    return format("(%u,%u,%u)", index.x, index.y, index.z);
}

// A string or null, as JSON.
inline std::string json(const char* text) {
    if (text == nullptr) return "null";
    std::string quoted = "\"";
    for (; *text != '\0'; ++text) {
        const unsigned char letter = static_cast<unsigned char>(*text);
        if (letter < ' ')
            quoted += format("\\u%04x", letter);
        else
            quoted += (letter == '"' || letter == '\\' ? "\\" : "") + std::string(1, *text);
    }
    return quoted + '"';
}

// Whether somebody reads what a run finds, and the line that it reads.
inline bool findings_are_wanted() {
    static const bool wanted = std::getenv("CUDA_CPU_FINDINGS") != nullptr;
    return wanted;
}
// What else is to be known of a finding; null for nothing.
inline std::string (*moment)() = nullptr;
inline void write_finding(const std::string& members) {
    static const int file =
        open(std::getenv("CUDA_CPU_FINDINGS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const std::string line = "{" + members + (moment != nullptr ? moment() : "") + "}\n";
    if (write(file, line.data(), line.size()) < 0) _exit(1);
}
inline std::string who() {
    return "\"kernel\": " + json(current_kernel()) +
           (current_kernel() == nullptr
                ? ""
                : format(", \"block\": \"%s\", \"thread\": \"%s\"", to_string(blockIdx).c_str(),
                         to_string(threadIdx).c_str()));
}
// The running thread of a kernel, as the beginning of a sentence.
inline std::string this_thread() {
    return format("kernel %s, thread %s of block %s, ", current_kernel(),
                  to_string(threadIdx).c_str(), to_string(blockIdx).c_str());
}
inline void note(const char* kind, const std::string& sentence) {
    if (!findings_are_wanted()) return;
    write_finding("\"kind\": " + json(kind) + ", \"sentence\": " + json(sentence.c_str()) + ", " +
                  who());
}

// With CUDA_CPU_NOTES=1 what is no fault for sure is said on standard error.
inline bool notes_are_wanted() {
    static const bool wanted = std::getenv("CUDA_CPU_NOTES") != nullptr;
    return wanted;
}
// Then also, at the end of a program that ends well, the first failure that nobody has looked at.
struct Unheeded {
    std::string sentence;
    static Unheeded& instance() {
        static Unheeded& unheeded = *new Unheeded;
        return unheeded;
    }
};

// Who wants to hear that a shuffle read a lane that has ended; null for nobody.
inline void (*on_absent_lane)(const std::string& sentence) = nullptr;

// What is to be done before a sentence ends the program; null for nothing.
inline void (*before_stop)() = nullptr;
// The same before a crash that no sentence explains.
inline void (*before_crash)() = nullptr;

// Prints one sentence and ends the program. Safe from any core: the first one to come is heard.
// The kind is the one under which `make sanitize` counts it; with none it does not.
[[noreturn]] inline void stop(const std::string& sentence, const char* kind = "other") {
    static std::mutex first;
    first.lock();
    if (*kind != '\0') note(kind, sentence);
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", sentence.c_str());
    std::fflush(stderr);
    if (before_stop != nullptr) before_stop();
    _exit(1);
}

}  // namespace cuda_cpu
