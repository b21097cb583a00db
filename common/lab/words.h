// Text for people, the numbers in it, and the three ways in which a program ends early.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cuda_runtime.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace lab {

inline std::string format_list(const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    std::string text(std::max(0, std::vsnprintf(nullptr, 0, format, again)), '\0');
    va_end(again);
    std::vsnprintf(&text[0], text.size() + 1, format, arguments);
    return text;
}

// printf into a string.
__attribute__((format(printf, 1, 2))) inline std::string format(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string text = format_list(format, arguments);
    va_end(arguments);
    return text;
}

// The text between quotation marks; what a terminal would obey is shown as a question mark.
inline std::string quoted(std::string text) {
    for (char& letter : text) {
        if ((letter >= 0 && letter < ' ') || letter == 127) letter = '?';
    }
    return '"' + text + '"';
}

// A number of bytes as people say it: "512 bytes", "48.0 GiB".
inline std::string bytes_text(double bytes) {
    const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 6; ++unit) bytes /= 1024;
    return format(unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

// A grid or a block as the options take it: "256", "32x8", "8x8x4".
inline std::string shape_text(dim3 shape) {
    if (shape.x == 0) return "-";  // nothing was launched
    if (shape.z != 1) return format("%ux%ux%u", shape.x, shape.y, shape.z);
    if (shape.y != 1) return format("%ux%u", shape.x, shape.y);
    return format("%u", shape.x);
}

[[noreturn]] inline void stop(int status, const char* format, va_list arguments) {
    const std::string sentence = format_list(format, arguments);
    std::fflush(stdout);  // what was printed before stays before
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, sentence.c_str());
    std::exit(status);
}

// Bad input: the sentence on standard error, exit status 2. Said before any CUDA call.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    stop(2, format, arguments);
}

// A run that failed: the sentence on standard error, exit status 1.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    stop(1, format, arguments);
}

// What cannot be done on this machine: the reason on standard error, exit status 77.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void skip(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    stop(77, format, arguments);
}

// What was printed and could not be written (to a full disk, say) is a failure, however the program
// ends. Runs at exit.
inline void require_printed() {
    const bool failed_before = std::ferror(stdout);
    if (std::fflush(stdout) == 0 && !failed_before) return;
    std::fprintf(stderr, "%s: cannot print the results: %s\n", program_invocation_short_name,
                 failed_before ? "writing to standard output failed" : std::strerror(errno));
    _exit(1);
}

// How many letters must be put in, taken out or changed to make one word of the other.
inline int edit_distance(const std::string& from, const std::string& to) {
    std::vector<int> row(to.size() + 1);
    for (size_t j = 0; j <= to.size(); ++j) row[j] = int(j);
    for (size_t i = 0; i < from.size(); ++i) {
        int diagonal = row[0]++;
        for (size_t j = 0; j < to.size(); ++j) {
            const int changed = diagonal + (from[i] != to[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min(changed, 1 + std::min(row[j], row[j + 1]));
        }
    }
    return row.back();
}

// "; did you mean X?" for the known word nearest to the one given, or nothing when none is near.
inline std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
    std::string nearest;
    int fewest = 1 + int(std::min<size_t>(3, (word.size() + 1) / 3));
    for (const std::string& candidate : known) {
        const int edits = edit_distance(word, candidate);
        if (edits < fewest) {
            fewest = edits;
            nearest = candidate;
        }
    }
    return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

inline std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string text;
    for (size_t i = 0; i < words.size(); ++i) text += (i > 0 ? between : "") + words[i];
    return text;
}

// The text broken at spaces into lines of at most 100 letters, all but the first indented.
inline std::string wrapped(const std::string& text, size_t indent) {
    const size_t width = indent < 60 ? 100 - indent : 40;
    std::string lines;
    size_t start = 0;
    while (text.size() - start > width) {
        const size_t space = text.rfind(' ', start + width);
        if (space == std::string::npos || space <= start) break;
        lines += text.substr(start, space - start) + '\n' + std::string(indent, ' ');
        start = space + 1;
    }
    return lines + text.substr(start);
}

// Reads a decimal number, with an optional sign and suffix Ki, Mi or Gi. False when the text is
// anything else, or more than 64 bits hold.
inline bool parse_integer(const std::string& text, int64_t& value) {
    const bool negative = text[0] == '-';
    size_t at = negative ? 1 : 0;
    const size_t first = at;
    value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        if (__builtin_mul_overflow(value, int64_t(10), &value)) return false;
        if (__builtin_add_overflow(value, int64_t(text[at] - '0'), &value)) return false;
    }
    if (at == first) return false;
    const std::string suffix = text.substr(at);
    int64_t factor = negative ? -1 : 1;
    for (const char* known : {"", "Ki", "Mi", "Gi"}) {
        if (suffix == known) return !__builtin_mul_overflow(value, factor, &value);
        factor *= 1024;
    }
    return false;
}

// Reads one to three sides: "256", "32x8", "8x8x4". False when the text is anything else.
inline bool parse_shape(const std::string& text, int64_t (&sides)[3]) {
    size_t at = 0;
    for (int side = 0; side < 3; ++side) {
        const size_t end = std::min(text.find('x', at), text.size());
        const std::string digits = text.substr(at, end - at);
        if (digits.find_first_not_of("0123456789") != std::string::npos) return false;
        if (digits.empty() || !parse_integer(digits, sides[side])) return false;
        if (end == text.size()) return true;
        at = end + 1;
    }
    return false;
}

// Takes out of `names` what the list says, names with commas between them; "--without" in messages.
// `known` are the names that it may hold: a peer is one too where this build does not have it.
inline void leave_out(std::vector<std::string>& names, const std::vector<std::string>& known,
                      const std::string& list) {
    for (size_t at = 0; at < list.size();) {
        const size_t comma = std::min(list.find(',', at), list.size());
        const std::string name = list.substr(at, comma - at);
        if (!std::count(known.begin(), known.end(), name)) {
            refuse("--without: %s is not the name of a variant%s", quoted(name).c_str(),
                   suggestion(name, known).c_str());
        }
        names.erase(std::remove(names.begin(), names.end(), name), names.end());
        at = comma + 1;
    }
    if (names.empty()) refuse("--without leaves no variant to run");
}

}  // namespace lab
