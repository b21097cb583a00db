// The options of a program: declared one after the other, then finish().
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cuda_runtime.h>
#include <errno.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "checks.h"
#include "files.h"

namespace lab {

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

    // --variant all, one, or one,two: the chosen names, in the order of `allowed`. `further` are the
    // variants of the lab's folder further/, which are allowed too where the program has them.
    std::vector<std::string> variants(std::vector<std::string> allowed,
                                      const std::vector<std::string>& further = {},
                                      bool has_further = with_further) {
        for (const std::string& name : further) {
            if (has_further && !std::count(allowed.begin(), allowed.end(), name))
                allowed.push_back(name);
        }
        declare("variant", "NAME,...", "which to run: " + joined(allowed, ", "), "all");
        std::string list;
        if (!take("variant", list) || list == "all") return allowed;
        std::vector<std::string> wanted;
        for (size_t at = 0, comma = 0; comma != std::string::npos; at = comma + 1) {
            comma = list.find(',', at);
            wanted.push_back(list.substr(at, comma - at));
            if (!has_further && std::count(further.begin(), further.end(), wanted.back())) {
                refuse(
                    "--variant: %s is in the lab's folder further, which only FURTHER=1 builds, as "
                    "in make run FURTHER=1",
                    wanted.back().c_str());
            }
            require_one_of("variant", wanted.back(), allowed);
        }
        std::vector<std::string> chosen;
        for (const std::string& name : allowed) {
            if (std::count(wanted.begin(), wanted.end(), name)) chosen.push_back(name);
        }
        return chosen;
    }

    // The sides of a block: at most 1024 threads in all, 1024 along x and y, 64 along z. A lab whose
    // blocks have one side or two says so.
    dim3 block(const std::string& name, dim3 fallback, const std::string& help, int sides = 3) {
        const dim3 found = shape(name, fallback, help, "a block", {1024, 1024, 64}, 1024);
        if ((sides < 3 && found.z != 1) || (sides < 2 && found.y != 1)) {
            refuse("--%s has %s here: %s, say", name.c_str(),
                   sides == 1 ? "one side" : "two sides, along x and y,",
                   shape_text(fallback).c_str());
        }
        return found;
    }

    // --most-blocks: how many blocks a grid has along y at most.
    int most_blocks() {
        return int(integer("most-blocks", 65535, 1, 65535,
                           "along y; fewer than the rows need: a block takes several parts"));
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

    // Refuses options that go with random input alone ("random pixels") where a file was given.
    void excludes(const std::string& file, const std::vector<std::string>& options,
                  const char* what) const {
        for (const std::string& option : options) {
            if (help_ || !given(file) || !given(option)) continue;
            refuse("--%s is for %s: drop it, or --%s", option.c_str(), what, file.c_str());
        }
    }

    // Answers --help and exits, or refuses the first word that no option took.
    void finish() {
        if (help_) {
            print_help();
            std::exit(0);
        }
        finished_ = true;
        require_own_files(files_);
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
    std::vector<NamedFile> files_;
    bool help_ = false;
    bool finished_ = false;
};

}  // namespace lab
