// The one header that a lab includes: checked CUDA calls, arguments, random input, comparing
// results, timers and the table of results. Everything is in namespace lab; nothing is global.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cuda_runtime.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

// Names for the profilers; CPU mode has none. Headers only: nothing is linked.
#if !defined(CUDA_ON_CPU) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define LAB_NVTX
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

namespace lab {

// True when the program was built for the CPU (see docs/), false for a GPU.
#ifdef CUDA_ON_CPU
inline constexpr bool on_cpu = true;
#else
inline constexpr bool on_cpu = false;
#endif

// The smallest whole number of groups of `divisor` that hold `value` things; both are >= 0.
__host__ __device__ constexpr int64_t divide_up(int64_t value, int64_t divisor) {
    return value / divisor + (value % divisor != 0);
}

// ---------------------------------------------------------------------------------------------
// Words: text for people, and the three ways a program ends early
// ---------------------------------------------------------------------------------------------

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

// ---------------------------------------------------------------------------------------------
// Names for what a profiler sees (docs/profiling.md)
// ---------------------------------------------------------------------------------------------

// From here to the end of its scope the host's time has a name, on the time line of Nsight Systems
// and beside the kernels of Nsight Compute; ranges nest. Without a profiler it costs nanoseconds.
class NvtxRange {
 public:
#ifdef LAB_NVTX
    explicit NvtxRange(const char* name) : named_(name) {
        if (named_) nvtxRangePushA(name);
    }
    ~NvtxRange() {
        if (named_) nvtxRangePop();
    }
#else
    explicit NvtxRange(const char*) {}
    ~NvtxRange() {}
#endif
    explicit NvtxRange(const std::string& name) : NvtxRange(name.c_str()) {}
    NvtxRange(const NvtxRange&) = delete;
    NvtxRange& operator=(const NvtxRange&) = delete;

#ifdef LAB_NVTX
 private:
    bool named_;
#endif
};

// What a CUDA call is called there, by its text: "upload", "download", or nullptr for no range.
inline const char* range_of_call(const char* call) {
    if (std::strncmp(call, "cudaMemcpy", 10) != 0) return nullptr;  // all that most calls cost
    if (std::strstr(call, "DeviceToHost")) return "download";
    if (std::strstr(call, "DeviceToDevice")) return nullptr;
    return "upload";
}

// ---------------------------------------------------------------------------------------------
// CUDA calls that may fail
// ---------------------------------------------------------------------------------------------

inline void check(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
    std::fflush(stdout);
    std::fprintf(stderr, "%s:%d: `%s` failed: %s: %s\n", file, line, call, cudaGetErrorName(status),
                 cudaGetErrorString(status));
    std::exit(1);
}

// Evaluates the call once; says where and why it failed, and exits with status 1. A copy is a range
// of its own.
#define CHECK(...)                                                                      \
    ::lab::check((::lab::NvtxRange(::lab::range_of_call(#__VA_ARGS__)), (__VA_ARGS__)), \
                 #__VA_ARGS__, __FILE__, __LINE__)

// Stands after a launch, which returns nothing itself. A kernel that goes wrong while it runs shows
// only at a later call; a debug build waits for it here, so that the line is the right one.
#ifdef LAB_DEBUG
#define CHECK_LAUNCH() (CHECK(cudaGetLastError()), CHECK(cudaDeviceSynchronize()))
#else
#define CHECK_LAUNCH() CHECK(cudaGetLastError())
#endif

// ---------------------------------------------------------------------------------------------
// Arguments: long options, declared one after the other, then finish()
// ---------------------------------------------------------------------------------------------

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

// The folder that a path lies in: "." for a bare name.
inline std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// Why the file cannot be read, or "". Asked before it is opened: opening a pipe waits for a writer.
inline std::string reading_problem(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return std::strerror(errno);
    if (S_ISDIR(status.st_mode)) return "it is a folder";
    if (!S_ISREG(status.st_mode)) return "it is not a regular file";
    if (access(path.c_str(), R_OK) != 0) return std::strerror(errno);
    return "";
}

// What a file is that begins with these bytes, and what to do about it, if it is of a kind that no reader
// of text or arrays takes; "" otherwise.
inline std::string foreign_file(const std::string& start) {
    const struct {
        const char *mark, *words;  // in a mark ? stands for any byte
    } kinds[] = {
        {"\x1F\x8B", "it is compressed by gzip; unpack it with gunzip"},
        {"\x1F\x9D", "it is compressed by compress; unpack it with gunzip"},
        {"BZh?1AY&SY", "it is compressed by bzip2; unpack it with bunzip2"},
        {"\xFD\x37zXZ", "it is compressed by xz; unpack it with unxz"},
        {"\x28\xB5\x2F\xFD", "it is compressed by zstd; unpack it with unzstd"},
        {"\x04\x22\x4D\x18", "it is compressed by lz4; unpack it with unlz4"},
        {"7z\xBC\xAF\x27\x1C", "it is a 7z archive; unpack it with 7z x"},
        {"PK\3\4", "it is a zip archive, as .npz files are; unpack it with unzip"},
        {"PK\5\6", "it is an empty zip archive; make it anew"},
        {"\xFF\xFE", "it is text in UTF-16; save it as UTF-8"},
        {"\xFE\xFF", "it is text in UTF-16; save it as UTF-8"},
        {"MATLAB 5.0 MAT-file",
         "it is a MATLAB file; in Python, scipy.io.loadmat reads it and numpy.save writes .npy"},
        {"\x89HDF\r\n", "it is an HDF5 file; in Python, h5py reads it and numpy.save writes .npy"},
    };
    for (const auto& kind : kinds) {
        const size_t length = std::strlen(kind.mark);
        bool same = start.size() >= length;
        for (size_t i = 0; same && i < length; ++i) {
            same = kind.mark[i] == '?' || kind.mark[i] == start[i];
        }
        if (same) return kind.words;
    }
    const bool is_tar = start.size() > 262 && start.compare(257, 5, "ustar") == 0;
    return is_tar ? "it is a tar archive; unpack it with tar -xf" : "";
}

// Where a link leads; the path itself when it is no link, or leads nowhere.
inline std::string link_target(const std::string& path) {
    struct stat status;
    if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
    char* const target = realpath(path.c_str(), nullptr);
    const std::string found = target ? target : path;
    std::free(target);
    return found;
}

// One spelling for all paths that lead to a file: "a.npy", "./a.npy", a link to it.
inline std::string plain_path(const std::string& path) {
    const std::string target = link_target(path), name = target.substr(target.rfind('/') + 1);
    char* const folder = realpath(folder_of(target).c_str(), nullptr);
    const std::string found = folder ? std::string(folder) + '/' + name : target;
    std::free(folder);
    return found;
}

// Why no file can be put there, in place of one that may be there now; or "".
inline std::string writing_problem(const std::string& path) {
    struct stat status;
    const std::string folder = folder_of(link_target(path));
    if (path.empty()) return "the name is empty";
    if (stat(path.c_str(), &status) == 0) {
        if (S_ISDIR(status.st_mode)) return "it is a folder";
        if (!S_ISREG(status.st_mode)) return "it is not a regular file";
        if (access(path.c_str(), W_OK) != 0) return std::strerror(errno);
    } else if (errno == ELOOP || errno == ENAMETOOLONG) {
        return std::strerror(errno);
    } else if (path.back() == '/') {
        return "there is no such folder";
    } else if (lstat(path.c_str(), &status) == 0) {
        return "it is a link that leads nowhere";
    }
    if (access((folder + "/.").c_str(), W_OK | X_OK) == 0) return "";
    return "its folder " + quoted(folder) + ": " + std::strerror(errno);
}

// Options have long names ("elements" is --elements 16 or --elements=16). Each is declared by the
// call that returns its value; a value that does not fit is refused there (exit status 2). After
// the last one, finish() refuses what is left over, or answers --help, which wins over any error.
class Arguments {
 public:
    // `summary` is one line that says what the program does.
    Arguments(int argc, char** argv, const char* summary)
        : summary_(summary), words_(argv + std::min(argc, 1), argv + argc), used_(words_.size()) {
        for (const std::string& word : words_) help_ = help_ || word == "--help";
        std::atexit(require_printed);
        signal(SIGXFSZ, SIG_IGN);  // a file beyond its limit is an error like that of a full disk
    }

    // A whole number; the suffixes Ki, Mi and Gi multiply by 1024, 1048576 and 1073741824.
    int64_t integer(const std::string& name, int64_t fallback, int64_t lowest, int64_t highest,
                    const std::string& help) {
        const std::string range = format("%lld to %lld", (long long)lowest, (long long)highest);
        declare(name, "N", help, format("%lld; %s", (long long)fallback, range.c_str()));
        std::string text;
        if (!take(name, text)) return fallback;
        int64_t value;
        const bool sign = text[0] == '-' && lowest >= 0;
        if (sign || !parse_integer(text, value) || value < lowest || value > highest) {
            refuse("--%s: %s is not a whole number between %lld and %lld", name.c_str(),
                   quoted(text).c_str(), (long long)lowest, (long long)highest);
        }
        return value;
    }

    // A number, such as 0.5 or 1e-6.
    double real(const std::string& name, double fallback, double lowest, double highest,
                const std::string& help) {
        declare(name, "X", help, format("%g; %g to %g", fallback, lowest, highest));
        std::string text;
        if (!take(name, text)) return fallback;
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool plain = text.find_first_not_of("0123456789+-.eE") == std::string::npos;
        if (text.empty() || !plain || *end || !(value >= lowest && value <= highest)) {
            refuse("--%s: %s is not a number between %g and %g", name.c_str(), quoted(text).c_str(),
                   lowest, highest);
        }
        return value;
    }

    // True when the option, which takes no value, was given.
    bool flag(const std::string& name, const std::string& help) {
        declare(name, "", help, "");
        const int word = find(name);
        if (word < 0) return false;
        if (words_[word].find('=') != std::string::npos) {
            refuse("--%s takes no value, and got %s", name.c_str(), quoted(words_[word]).c_str());
        }
        return true;
    }

    // Any words.
    std::string text(const std::string& name, const std::string& fallback,
                     const std::string& help) {
        declare(name, "TEXT", help, fallback);
        std::string value = fallback;
        take(name, value);
        return value;
    }

    // One of the words in `allowed`.
    std::string choice(const std::string& name, const std::vector<std::string>& allowed,
                       const std::string& fallback, const std::string& help) {
        declare(name, joined(allowed, "|"), help, fallback);
        std::string value = fallback;
        if (take(name, value)) require_one_of(name, value, allowed);
        return value;
    }

    // --variant all, one, or one,two: the chosen names, in the order of `allowed`.
    std::vector<std::string> variants(const std::vector<std::string>& allowed) {
        declare("variant", "NAME,...", "which to run: " + joined(allowed, ", "), "all");
        std::string list;
        if (!take("variant", list) || list == "all") return allowed;
        std::vector<std::string> wanted;
        for (size_t at = 0, comma = 0; comma != std::string::npos; at = comma + 1) {
            comma = list.find(',', at);
            wanted.push_back(list.substr(at, comma - at));
            require_one_of("variant", wanted.back(), allowed);
        }
        std::vector<std::string> chosen;
        for (const std::string& name : allowed) {
            if (std::count(wanted.begin(), wanted.end(), name)) chosen.push_back(name);
        }
        return chosen;
    }

    // The sides of a block: at most 1024 threads in all, 1024 along x and y, 64 along z.
    dim3 block(const std::string& name, dim3 fallback, const std::string& help) {
        return shape(name, fallback, help, "a block", {1024, 1024, 64}, 1024);
    }

    // The sides of a grid: at most 2147483647 along x, 65535 along y and z. A fallback of
    // dim3(0) says that the program derives the grid when none is given.
    dim3 grid(const std::string& name, dim3 fallback, const std::string& help) {
        return shape(name, fallback, help, "a grid", {2147483647, 65535, 65535}, INT64_MAX);
    }

    // A file to read, which must be a file that can be read; "" when the option is absent. Where standard
    // input will do, "-" is the name of that.
    std::string input(const std::string& name, const std::string& help, bool or_standard = false) {
        declare(name, "FILE", help, "");
        std::string path;
        if (!take(name, path)) return "";
        if (or_standard && path == "-") return path;
        const std::string problem = reading_problem(path);
        if (!problem.empty()) {
            refuse("--%s: cannot read %s: %s", name.c_str(), quoted(path).c_str(), problem.c_str());
        }
        files_.push_back({name, path, plain_path(path), false});
        return path;
    }

    // A file to write: its folder must exist and be writable; "" when the option is absent.
    std::string output(const std::string& name, const std::string& help) {
        declare(name, "FILE", help, "");
        std::string path;
        if (!take(name, path)) return "";
        const std::string problem = writing_problem(path);
        if (!problem.empty()) {
            refuse("--%s: cannot write %s: %s", name.c_str(), quoted(path).c_str(),
                   problem.c_str());
        }
        files_.push_back({name, path, plain_path(path), true});
        return path;
    }

    // Whether an option was on the command line, as --name VALUE or --name=VALUE.
    bool given(const std::string& name) const {
        for (const std::string& word : words_) {
            if (word == "--" + name || word.rfind("--" + name + "=", 0) == 0) return true;
        }
        return false;
    }

    // Answers --help and exits, or refuses the first word that no option took.
    void finish() {
        if (help_) {
            print_help();
            std::exit(0);
        }
        finished_ = true;
        require_own_files();
        const auto left = std::find(used_.begin(), used_.end(), false);
        if (left == used_.end()) return;
        const std::string word = words_[left - used_.begin()];
        if (word[0] != '-') {
            refuse("%s is not an option, and no option takes it; --help lists them all",
                   quoted(word).c_str());
        }
        std::vector<std::string> known = {"--help"};
        for (const Option& option : options_) known.push_back("--" + option.name);
        const std::string name = word.substr(0, word.find('='));
        const std::string near = suggestion(name, known);
        refuse("unknown option %s%s", quoted(name).c_str(),
               near.empty() ? "; --help lists them all" : near.c_str());
    }

 private:
    struct Option {
        std::string name, value, help, fallback;
    };
    struct File {
        std::string option, given, path;
        bool written;
    };

    // What one option writes, no other option reads or writes: the original would be lost.
    void require_own_files() const {
        for (auto later = files_.begin(); later != files_.end(); ++later) {
            for (auto file = files_.begin(); file != later; ++file) {
                if (file->path != later->path || !(file->written || later->written)) continue;
                const char *first = file->option.c_str(), *second = later->option.c_str();
                const std::string path = quoted(later->given);
                if (file->written && later->written) {
                    refuse("--%s and --%s both write %s; give them two names", first, second,
                           path.c_str());
                }
                if (file->written) std::swap(first, second);
                refuse("--%s would replace %s, which --%s reads; choose another name", second,
                       path.c_str(), first);
            }
        }
    }

    void declare(const std::string& name, const std::string& value, const std::string& help,
                 const std::string& fallback) {
        if (finished_) fail("--%s is declared after finish()", name.c_str());
        for (const Option& option : options_) {
            if (option.name == name) fail("--%s is declared twice", name.c_str());
        }
        options_.push_back({name, value, help, fallback});
    }

    // The index of the word that gives the option, marked as used, or -1. Under --help no option
    // counts as given, so that nothing is refused before the help is printed.
    int find(const std::string& name) {
        int found = -1;
        for (size_t i = 0; i < words_.size() && !help_; ++i) {
            if (words_[i] != "--" + name && words_[i].rfind("--" + name + "=", 0) != 0) continue;
            if (found >= 0) refuse("--%s is given twice; give it once", name.c_str());
            found = int(i);
            used_[i] = true;
        }
        return found;
    }

    // Takes the option's value from the same word (--name=value) or the next one, which must not
    // be an option itself; a negative number is fine. False when the option was not given.
    bool take(const std::string& name, std::string& value) {
        const int word = find(name);
        if (word < 0) return false;
        const size_t equals = words_[word].find('=');
        const size_t next = word + 1;
        if (equals != std::string::npos) {
            value = words_[word].substr(equals + 1);
        } else if (next < words_.size() && words_[next].rfind("--", 0) != 0) {
            value = words_[next];
            used_[next] = true;
        } else {
            refuse("--%s needs a value; --help says which", name.c_str());
        }
        return true;
    }

    static void require_one_of(const std::string& name, const std::string& value,
                               const std::vector<std::string>& allowed) {
        if (std::count(allowed.begin(), allowed.end(), value)) return;
        const std::string near = suggestion(value, allowed);
        refuse("--%s: %s is not one of %s%s", name.c_str(), quoted(value).c_str(),
               joined(allowed, ", ").c_str(), near.c_str());
    }

    dim3 shape(const std::string& name, dim3 fallback, const std::string& help, const char* what,
               const std::vector<int64_t>& longest, int64_t most) {
        declare(name, "X[xY[xZ]]", help, fallback.x ? shape_text(fallback) : "from the size");
        std::string text;
        if (!take(name, text)) return fallback;
        const std::string start = "--" + name + ": " + quoted(text);
        int64_t sides[3] = {1, 1, 1};
        if (!parse_shape(text, sides)) {
            refuse("%s is not %s such as 256, 32x8 or 8x8x4", start.c_str(), what);
        }
        for (int side = 0; side < 3; ++side) {
            if (sides[side] >= 1 && sides[side] <= longest[side]) continue;
            refuse("%s is %lld along %c, and %s has 1 to %lld there", start.c_str(),
                   (long long)sides[side], "xyz"[side], what, (long long)longest[side]);
        }
        const int64_t product = sides[0] * sides[1] * sides[2];
        if (product > most) {
            refuse("%s has %lld threads, and %s has at most %lld", start.c_str(),
                   (long long)product, what, (long long)most);
        }
        return dim3(unsigned(sides[0]), unsigned(sides[1]), unsigned(sides[2]));
    }

    void print_help() const {
        std::printf("%s: %s\n\nusage: %s [options]\n\noptions:\n", program_invocation_short_name,
                    summary_.c_str(), program_invocation_short_name);
        size_t width = 6;
        for (const Option& option : options_) {
            width = std::max(width, 3 + option.name.size() + option.value.size());
        }
        for (const Option& option : options_) {
            const std::string left = "--" + option.name + " " + option.value;
            std::string text = option.help;
            if (!option.fallback.empty()) text += " (" + option.fallback + ")";
            std::printf("  %-*s  %s\n", int(width), left.c_str(), wrapped(text, width + 4).c_str());
        }
        std::printf("  %-*s  print this and stop\n", int(width), "--help");
        std::printf("\nIn brackets: the default, and the range that is allowed.\n");
        std::printf("A whole number may end in Ki, Mi or Gi: 16Mi is 16777216.\n");
        std::printf("Exit status: 0 right, 1 wrong or failed, 2 bad usage, 77 skipped.\n");
    }

    std::string summary_;
    std::vector<std::string> words_;
    std::vector<bool> used_;
    std::vector<Option> options_;
    std::vector<File> files_;
    bool help_ = false;
    bool finished_ = false;
};

// ---------------------------------------------------------------------------------------------
// Files that are whole, or not there
// ---------------------------------------------------------------------------------------------

// A file under a name of its own, beside the one that it shall become. It is removed when it is
// given up, and also when a signal (Ctrl+C) ends the program meanwhile. One at a time.
class UnfinishedFile {
 public:
    explicit UnfinishedFile(const std::string& folder) {
        sigset_t ending, before;  // no signal between the file's beginning and the handlers
        sigemptyset(&ending);
        for (int i = 0; i < ending_signals; ++i) sigaddset(&ending, signal_number(i));
        sigprocmask(SIG_BLOCK, &ending, &before);
        begin(folder);
        sigprocmask(SIG_SETMASK, &before, nullptr);
    }
    ~UnfinishedFile() {
        if (!file_) return;
        unlink(path_.c_str());  // finds nothing once the file has its name
        current() = nullptr;
        for (int i = 0; i < ending_signals; ++i) signal(signal_number(i), before_[i]);
    }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    std::FILE* file() const { return file_; }  // nullptr: errno says why
    const std::string& path() const { return path_; }

 private:
    void begin(const std::string& folder) {
        for (int attempt = 0; attempt < 100 && !file_; ++attempt) {
            path_ = folder + format("/.unfinished-%d-%d", int(getpid()), attempt);
            file_ = std::fopen(path_.c_str(), "wbx");  // x: fails when it exists
            if (!file_ && errno != EEXIST) return;
        }
        if (!file_) return;
        current() = path_.c_str();
        for (int i = 0; i < ending_signals; ++i) {
            before_[i] = signal(signal_number(i), end_by_signal);
            if (before_[i] == SIG_IGN) signal(signal_number(i), SIG_IGN);  // nohup
        }
    }

    static constexpr int ending_signals = 3;
    static int signal_number(int i) { return i == 0 ? SIGINT : i == 1 ? SIGTERM : SIGHUP; }
    static const char* volatile& current() {
        static const char* volatile path = nullptr;
        return path;
    }
    static void end_by_signal(int number) {
        if (current()) unlink(current());
        signal(number, SIG_DFL);
        raise(number);
    }

    std::string path_;
    std::FILE* file_ = nullptr;
    void (*before_[ending_signals])(int) = {};
};

struct Bytes {
    const void* start;
    size_t count;
};

// Writes the pieces, one behind the other, to a file that appears under its name only when it is
// complete; a link stays, and its target is replaced. Returns 0 or the system's number of the error.
inline int write_file(const std::string& path, std::initializer_list<Bytes> pieces) {
    const std::string target = link_target(path);
    const UnfinishedFile unfinished(folder_of(target));
    std::FILE* const file = unfinished.file();
    if (!file) return errno;
    size_t bytes = 0;
    bool written = true;
    for (const Bytes& piece : pieces) {
        bytes += piece.count;
        if (piece.count == 0) continue;
        written = written && std::fwrite(piece.start, 1, piece.count, file) == piece.count;
    }
    written = written && std::fflush(file) == 0;
    const int problem = written ? 0 : errno;  // closing may change errno
    if (std::fclose(file) != 0 && problem == 0) return errno;
    if (problem != 0) return problem;
    struct stat status;
    if (stat(unfinished.path().c_str(), &status) != 0) return errno;
    if (size_t(status.st_size) != bytes) return EIO;
    return std::rename(unfinished.path().c_str(), target.c_str()) == 0 ? 0 : errno;
}

// ---------------------------------------------------------------------------------------------
// What the machine must have
// ---------------------------------------------------------------------------------------------

// The bytes of memory that this process may use: the machine's, or less inside a container.
inline double host_memory() {
    double memory = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGE_SIZE));
    for (const char* path :
         {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        double limit;
        std::FILE* file = std::fopen(path, "r");
        if (!file) continue;
        if (std::fscanf(file, "%lf", &limit) == 1) memory = std::min(memory, limit);
        std::fclose(file);
    }
    return memory;
}

// Refuses (exit status 2) when `what` ("two matrices of 1000 x 1000") needs more memory than the
// machine has, or than this process can still get.
inline void require_host_memory(int64_t bytes, const char* what) {
    const double memory = host_memory();
    if (bytes < 0 || double(bytes) > memory) {
        refuse("not enough memory for %s: %s needed, this machine has %s", what,
               bytes < 0 ? "more than 8 EiB" : bytes_text(double(bytes)).c_str(),
               bytes_text(memory).c_str());
    }
    // costs nothing until it is written to; volatile, so that the compiler does not leave it out
    void* volatile trial = std::malloc(size_t(bytes));
    if (!trial && bytes > 0) {
        refuse("not enough memory for %s: the system does not give %s", what,
               bytes_text(double(bytes)).c_str());
    }
    std::free(trial);
}

// Ends the program as skipped (exit status 77) when there is no device. Called after
// Arguments::finish() and before any other CUDA call.
inline void require_device() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) skip("no CUDA device: %s", cudaGetErrorString(status));
    if (count == 0) skip("no CUDA device: none is visible to this program");
}

// Fails (exit status 1) when `what` needs more memory than the device has free.
inline void require_device_memory(int64_t bytes, const char* what) {
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    if (bytes < 0 || double(bytes) > double(available)) {
        fail("not enough device memory for %s: %s needed, %s free of %s", what,
             bytes < 0 ? "more than 8 EiB" : bytes_text(double(bytes)).c_str(),
             bytes_text(double(available)).c_str(), bytes_text(double(total)).c_str());
    }
}

// What a program will need, before it does any work: the host's memory is asked as above, and the
// device's where there is one. In CPU mode the device's memory is the host's. More than half of the
// machine's memory is worth a word: others may be using it.
inline void require_memory(int64_t host_bytes, int64_t device_bytes, const char* what) {
    int count = 0;
    const int64_t bytes = on_cpu ? host_bytes + device_bytes : host_bytes;
    require_host_memory(bytes, what);
    if (double(bytes) > host_memory() / 2) {
        std::fprintf(stderr, "%s: note: %s: %s of memory are needed, this machine has %s\n",
                     program_invocation_short_name, what, bytes_text(double(bytes)).c_str(),
                     bytes_text(host_memory()).c_str());
    }
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
        require_device_memory(device_bytes, what);
    }
}

// `count` elements in device memory, freed with the object.
template <class T>
class DeviceArray {
 public:
    explicit DeviceArray(int64_t count = 0) : count_(count) {
        if (count > 0) CHECK(cudaMalloc(&values_, size_t(count) * sizeof(T)));
    }
    ~DeviceArray() { cudaFree(values_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* get() const { return values_; }
    int64_t bytes() const { return count_ * int64_t(sizeof(T)); }

 private:
    T* values_ = nullptr;
    int64_t count_;
};

// The name of the device in use.
inline std::string device_name() {
    int device = 0;
    cudaDeviceProp properties;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&properties, device));
    return properties.name;
}

// One figure of the device in use.
inline int device_attribute(cudaDeviceAttr attribute) {
    int device = 0, value = 0;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&value, attribute, device));
    return value;
}

// ---------------------------------------------------------------------------------------------
// Input: the same numbers on every machine
// ---------------------------------------------------------------------------------------------

// The bits of the counter, well mixed (the finaliser of splitmix64).
inline uint64_t mixed_bits(uint64_t counter) {
    uint64_t bits = counter * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

// `count` values between `low` and `high`, both included. Value i depends on the seed and i only.
template <class T>
std::vector<T> random_values(int64_t count, T low, T high, uint64_t seed) {
    const NvtxRange range("input");
    std::vector<T> values(static_cast<size_t>(count));
    const uint64_t start = mixed_bits(seed + 1);
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t bits = mixed_bits(start + uint64_t(i));
        if constexpr (std::is_integral_v<T>) {
            const uint64_t choices = uint64_t(high) - uint64_t(low) + 1;  // 0: all 64-bit numbers
            values[i] = T(uint64_t(low) + (choices ? bits % choices : bits));
        } else {
            const double fraction = double(bits >> 11) * 0x1p-53;
            values[i] = T(double(low) + fraction * (double(high) - double(low)));
        }
    }
    return values;
}

// ---------------------------------------------------------------------------------------------
// Comparing what the device computed with what was expected
// ---------------------------------------------------------------------------------------------

// A value is right within absolute + relative * |expected|.
struct Tolerance {
    double absolute = 0;
    double relative = 0;
};

// What compare() found; `first`, `expected` and `got` tell of the first wrong value.
struct Comparison {
    int64_t count = 0;
    int64_t wrong = 0;
    int64_t first = -1;
    double expected = 0;
    double got = 0;
    bool later = false;   // found in a later launch, though the first one was right
    std::string instead;  // of the sentence below, where that does not say what is so

    bool right() const { return wrong == 0; }

    static std::string digits(double value, int count) {
        return std::isnan(value) ? "nan" : format("%.*g", count, value);  // never "-nan"
    }

    // "correct", or "5 of 1000 differ; first at 512: expected 1.5, got nan", and of a later launch
    // "right only once: in a later launch 5 of 1000 differ; ...".
    std::string sentence() const {
        if (!instead.empty()) return instead;
        if (right()) return count == 0 ? "correct (empty)" : "correct";
        const bool alike = digits(expected, 9) == digits(got, 9);
        const int enough = alike ? 17 : 9;
        return format("%s%lld of %lld differ; first at %lld: expected %s, got %s",
                      later ? "right only once: in a later launch " : "", (long long)wrong,
                      (long long)count, (long long)first, digits(expected, enough).c_str(),
                      digits(got, enough).c_str());
    }
};

// NaN is not within any bound, nor is an infinity unless the same one is expected. That is why the
// last line asks for what is within the bound, and not for what is beyond it.
template <class Number>
bool matches(Number got, Number expected, Tolerance tolerance) {
    if (got == expected) return true;
    if (!std::isfinite(got) || !std::isfinite(expected)) return false;
    return std::fabs(got - expected) <=
           tolerance.absolute + tolerance.relative * std::fabs(expected);
}

// No number is expected, because the input holds none or the result is too large for T: then NaN and
// infinity are right. The NaN that fills memory before a launch is not: nobody has written it.
template <class T, class R>
bool is_expected_nonfinite(T got, R expected) {
    if constexpr (std::is_floating_point_v<T>) {
        const T rounded = T(expected);
        unsigned char filling[sizeof(T)];
        std::memset(filling, 0xFF, sizeof filling);
        if (std::isnan(rounded))
            return std::isnan(got) && std::memcmp(&got, filling, sizeof got) != 0;
        return std::isinf(rounded) && got == rounded;
    }
    return false;
}

// Compares `count` values of the device's result (copied back) with the reference's.
template <class T, class R>
Comparison compare(const T* got, const R* expected, int64_t count, Tolerance tolerance = {}) {
    // long double holds any 64-bit integer exactly
    constexpr bool integers = std::is_integral_v<T> && std::is_integral_v<R>;
    using Number = std::conditional_t<integers, long double, double>;
    const NvtxRange range("comparison");
    Comparison comparison;
    comparison.count = count;
    for (int64_t i = 0; i < count; ++i) {
        if (matches(Number(got[i]), Number(expected[i]), tolerance)) continue;
        if (is_expected_nonfinite(got[i], expected[i])) continue;
        if (comparison.wrong++ > 0) continue;
        comparison.first = i;
        comparison.expected = double(expected[i]);
        comparison.got = double(got[i]);
    }
    return comparison;
}

// ---------------------------------------------------------------------------------------------
// Time
// ---------------------------------------------------------------------------------------------

// The time that passes on the host. A launch returns at once: synchronise before you read it.
class HostTimer {
 public:
    HostTimer() { restart(); }
    void restart() { start_ = std::chrono::steady_clock::now(); }
    double milliseconds() const {
        const auto passed = std::chrono::steady_clock::now() - start_;
        return std::chrono::duration<double, std::milli>(passed).count();
    }

 private:
    std::chrono::steady_clock::time_point start_;
};

// The time between two points of a stream, taken by the device itself.
class EventTimer {
 public:
    EventTimer() {
        CHECK(cudaEventCreate(&start_));
        CHECK(cudaEventCreate(&stop_));
    }
    ~EventTimer() {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }
    EventTimer(const EventTimer&) = delete;
    EventTimer& operator=(const EventTimer&) = delete;

    void start(cudaStream_t stream = 0) { CHECK(cudaEventRecord(start_, stream)); }
    void stop(cudaStream_t stream = 0) { CHECK(cudaEventRecord(stop_, stream)); }

    // Waits for the second point.
    double milliseconds() {
        float passed = 0;
        CHECK(cudaEventSynchronize(stop_));
        CHECK(cudaEventElapsedTime(&passed, start_, stop_));
        return passed;
    }

 private:
    cudaEvent_t start_ = nullptr;
    cudaEvent_t stop_ = nullptr;
};

// Writes over a buffer of twice the size of the L2 cache, so that a timed run finds there nothing
// that the run before it left. Does nothing on the CPU, nor where the device has no room for it.
class CacheFlush {
 public:
    CacheFlush() {
        int device = 0, cache_bytes = 0;
        if (on_cpu) return;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, device));
        bytes_ = 2 * size_t(cache_bytes);
        if (cudaMalloc(&buffer_, bytes_) != cudaSuccess) {
            cudaGetLastError();  // not to be taken for a failed launch
            buffer_ = nullptr;
        }
    }
    ~CacheFlush() { cudaFree(buffer_); }
    CacheFlush(const CacheFlush&) = delete;
    CacheFlush& operator=(const CacheFlush&) = delete;

    void run() {
        if (buffer_) CHECK(cudaMemset(buffer_, 0, bytes_));
    }

 private:
    void* buffer_ = nullptr;
    size_t bytes_ = 0;
};

// The median time of what `launch()` puts into the default stream, after one run that is not
// timed. `runs` 0: as many as make the median steady (3 on the CPU).
template <class F>
double median_milliseconds(F&& launch, int runs = 0) {
    const NvtxRange range("timing");
    const size_t fewest = runs > 0 ? runs : on_cpu ? 3 : 5;
    const size_t most = runs > 0 ? runs : on_cpu ? 3 : 50;
    CacheFlush flush;
    EventTimer timer;
    std::vector<double> times;
    double total = 0;
    launch();
    while (times.size() < fewest || (times.size() < most && total < 200)) {
        flush.run();  // while it runs, the host queues the rest: no gap is timed
        timer.start();
        launch();
        timer.stop();
        times.push_back(timer.milliseconds());
        total += times.back();
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// How a variant did.
struct Trial {
    Comparison comparison;
    double milliseconds = 0;  // 0: wrong, hence not timed
};

// Compares, times and compares again. `attempt()` fills the result with something wrong (0xFF),
// launches, copies back and returns a Comparison; `time()` returns milliseconds, and runs only when
// the first attempt was right. The second attempt shows what is right only once: a launch behind a
// static variable, a counter or a buffer that is never cleared.
//     const lab::Trial trial =
//         lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(work); });
//     results.add(name, grid, block, trial.milliseconds, bytes, operations, trial.comparison);
template <class Attempt, class Time>
Trial compare_and_time(Attempt&& attempt, Time&& time) {
    Trial trial;
    trial.comparison = attempt();
    if (!trial.comparison.right()) return trial;
    trial.milliseconds = time();
    trial.comparison = attempt();
    trial.comparison.later = true;
    if (!trial.comparison.right()) trial.milliseconds = 0;
    return trial;
}

// GB/s of a copy of `bytes` within the device, measured now; bytes read and bytes written both
// count. It is what a kernel that only moves data can hope for. Copies less where memory is short.
inline double copy_bandwidth(int64_t bytes) {
    const NvtxRange range("copy within the device");
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    bytes = std::min(bytes, int64_t(available / 4));
    if (bytes <= 0) return 0;
    void *from = nullptr, *to = nullptr;
    CHECK(cudaMalloc(&from, size_t(bytes)));
    CHECK(cudaMalloc(&to, size_t(bytes)));
    CHECK(cudaMemset(from, 0, size_t(bytes)));
    const double milliseconds = median_milliseconds(
        [&] { CHECK(cudaMemcpyAsync(to, from, size_t(bytes), cudaMemcpyDeviceToDevice)); });
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
    return 2e-6 * double(bytes) / milliseconds;
}

// ---------------------------------------------------------------------------------------------
// Results: one row a variant, one table at the end
// ---------------------------------------------------------------------------------------------

// Rows of words in columns: the first line is the heading; `right` marks right-aligned columns.
inline void print_table(const std::vector<std::vector<std::string>>& lines,
                        const std::vector<bool>& right) {
    std::vector<size_t> widths(right.size());
    for (const auto& line : lines) {
        for (size_t column = 0; column < line.size(); ++column) {
            widths[column] = std::max(widths[column], line[column].size());
        }
    }
    for (const auto& line : lines) {
        std::string text;
        for (size_t column = 0; column < line.size(); ++column) {
            const std::string gap(widths[column] - line[column].size(), ' ');
            if (column > 0) text += "  ";
            text += right[column] ? gap + line[column] : line[column] + gap;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        std::printf("%s\n", text.c_str());
        if (&line == &lines.front()) std::printf("%s\n", std::string(text.size(), '-').c_str());
    }
}

// Collects what each variant did; finish() prints the table and gives the exit status. Constructed
// before Arguments::finish(), as it declares --csv FILE.
class Results {
 public:
    explicit Results(Arguments& arguments)
        : csv_path_(arguments.output("csv", "append the times to this CSV file")) {
        if (!csv_path_.empty()) require_csv();
    }

    // The size of the problem in words ("1000 x 500 floats"): above the table, and in the CSV.
    void size(const std::string& words) { size_ = words; }

    // The GB/s of a plain copy, from copy_bandwidth(): adds the column "of copy" to the table, and a
    // row of that name to the CSV.
    void limit(double gigabytes_per_second) { limit_ = gigabytes_per_second; }

    // A line of text below the table.
    void note(const std::string& line) { notes_.push_back(line); }

    // A variant that ran. `bytes` (moved to and from memory) and `operations` give the columns
    // GB/s and GFLOP/s; 0 leaves them out. `milliseconds` 0: not timed. `doubt` says why nothing
    // follows from a comparison that found no difference: such a variant is not judged.
    void add(const std::string& variant, dim3 grid, dim3 block, double milliseconds, double bytes,
             double operations, const Comparison& comparison, const std::string& doubt = "") {
        Row row = {variant, shape_text(grid), shape_text(block), milliseconds, 0, 0, "", Right};
        if (milliseconds > 0) row.bandwidth = 1e-6 * bytes / milliseconds;
        if (milliseconds > 0) row.arithmetic = 1e-6 * operations / milliseconds;
        row.result = (comparison.right() ? "" : "WRONG: ") + comparison.sentence();
        if (!comparison.right()) row.state = Wrong;
        if (comparison.right() && !doubt.empty()) {
            row.result = "not judged: " + doubt;
            row.state = Skipped;
        }
        rows_.push_back(row);
    }

    // A variant that cannot run here.
    void skip(const std::string& variant, const std::string& reason) {
        rows_.push_back({variant, "-", "-", 0, 0, 0, "skipped: " + reason, Skipped});
    }

    // Prints the table, appends the CSV. Returns the exit status: 0 when all are right, 1 when one
    // is wrong, 77 when there was nothing but skipped variants.
    int finish() {
        const std::string device = device_name();
        std::printf("device: %s\n", device.c_str());
        if (!size_.empty()) std::printf("size: %s\n", size_.c_str());
        if (limit_ > 0) std::printf("copy within the device: %.1f GB/s\n", limit_);
        if (!rows_.empty()) print();
        if (!notes_.empty()) std::printf("\n%s\n", joined(notes_, "\n").c_str());
        if (on_cpu) std::printf("\nCPU mode: these are not GPU times.\n");
        if (!csv_path_.empty()) append_csv(device);
        require_printed();
        if (count(Wrong) > 0) return 1;
        return count(Skipped) > 0 && count(Right) == 0 ? 77 : 0;
    }

 private:
    enum State { Right, Wrong, Skipped };
    struct Row {
        std::string variant, grid, block;
        double milliseconds, bandwidth, arithmetic;
        std::string result;
        State state;
    };

    int64_t count(State state) const {
        return std::count_if(rows_.begin(), rows_.end(),
                             [=](const Row& row) { return row.state == state; });
    }

    // One column of numbers: as many decimals as the smallest needs (one for a share), "-" where
    // there is no number.
    std::vector<std::string> column(const std::string& heading, double Row::*member, double factor,
                                    const char* unit) const {
        double smallest = INFINITY;
        for (const Row& row : rows_) {
            const double value = row.*member * factor;
            if (value > 0) smallest = std::min(smallest, value);
        }
        int decimals = smallest < 1 ? 4 : smallest < 10 ? 3 : smallest < 100 ? 2 : 1;
        if (*unit) decimals = 1;
        std::vector<std::string> cells = {heading};
        for (const Row& row : rows_) {
            const double value = row.*member * factor;
            cells.push_back(value > 0 ? format("%.*f%s", decimals, value, unit) : "-");
        }
        const bool shown = smallest < INFINITY;
        return shown ? cells : std::vector<std::string>();
    }

    void print() const {
        std::vector<std::vector<std::string>> numbers = {
            column("ms", &Row::milliseconds, 1, ""),
            column("GB/s", &Row::bandwidth, 1, ""),
            column("GFLOP/s", &Row::arithmetic, 1, ""),
        };
        if (limit_ > 0) numbers.push_back(column("of copy", &Row::bandwidth, 100 / limit_, " %"));
        std::vector<std::vector<std::string>> lines = {{"variant", "grid", "block"}};
        for (const Row& row : rows_) lines.push_back({row.variant, row.grid, row.block});
        std::vector<bool> right(3, false);
        for (const auto& cells : numbers) {
            if (cells.empty()) continue;
            right.push_back(true);
            for (size_t i = 0; i < lines.size(); ++i) lines[i].push_back(cells[i]);
        }
        right.push_back(false);
        lines[0].push_back("result");
        for (size_t i = 0; i < rows_.size(); ++i) lines[i + 1].push_back(rows_[i].result);
        std::printf("\n");
        print_table(lines, right);
    }

    static const char* csv_heading() {
        return "card,date,lab,variant,size,grid,block,milliseconds,GB/s,GFLOP/s,result\n";
    }

    // Refuses a file that holds anything but an earlier table.
    void require_csv() const {
        char line[256] = "";
        std::FILE* file = std::fopen(csv_path_.c_str(), "r");
        if (!file) return;
        const bool empty = !std::fgets(line, sizeof line, file);
        std::fclose(file);
        if (!empty && std::strcmp(line, csv_heading()) != 0) {
            refuse("--csv: %s holds something else than such a table; choose another name",
                   quoted(csv_path_).c_str());
        }
    }

    static std::string csv_field(const std::string& text) {
        if (text.find_first_of(",\"\n") == std::string::npos) return text;
        std::string field;
        for (char letter : text) field += letter == '"' ? "\"\"" : std::string(1, letter);
        return '"' + field + '"';
    }

    void append_csv(const std::string& device) const {
        char date[32];
        const std::time_t now = std::time(nullptr);
        std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
        std::string text;
        const std::string origin =
            joined({csv_field(device), date, program_invocation_short_name}, ",");
        if (limit_ > 0) {
            text += format("%s,copy,%s,-,-,0,%.6g,0,right\n", origin.c_str(),
                           csv_field(size_).c_str(), limit_);
        }
        for (const Row& row : rows_) {
            if (row.state == Skipped) continue;
            const std::string words =
                joined({origin, csv_field(row.variant), csv_field(size_)}, ",");
            text += format("%s,%s,%s,%.6g,%.6g,%.6g,%s\n", words.c_str(), row.grid.c_str(),
                           row.block.c_str(), row.milliseconds, row.bandwidth, row.arithmetic,
                           row.state == Right ? "right" : "wrong");
        }
        append_to_csv(text);
    }

    // Appends all of the text, after the heading in a new file, or leaves the file as it was.
    void append_to_csv(const std::string& text) const {
        std::FILE* file = std::fopen(csv_path_.c_str(), "a");
        if (!file) fail("cannot write %s: %s", quoted(csv_path_).c_str(), std::strerror(errno));
        std::fseek(file, 0, SEEK_END);
        const long before = std::ftell(file);
        const std::string heading = before == 0 ? csv_heading() : "";
        const bool written = std::fputs((heading + text).c_str(), file) >= 0;
        if (std::fclose(file) == 0 && written) return;
        const std::string problem = std::strerror(errno);
        const bool undone = truncate(csv_path_.c_str(), before) == 0;
        fail("cannot write %s: %s%s", quoted(csv_path_).c_str(), problem.c_str(),
             undone ? "" : "; its last line may be cut short");
    }

    std::string csv_path_;
    std::string size_;
    double limit_ = 0;
    std::vector<Row> rows_;
    std::vector<std::string> notes_;
};

}  // namespace lab
