// The report's way to call the program.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <string>
#include <vector>

#include "../../../common/lab.h"

// The report's short form, words without dashes at the beginning of the command line, becomes
// options: INPUT [ACTION] [OUTPUT], as in "best-case 2000000 30 minimize pass".
class ShortForm {
 public:
    ShortForm(int argc, char** argv) : words_(argv, argv + argc) {
        options_.push_back(words_[0]);
        if (at_ < words_.size() && is_word()) read_input();
        if (is_one_of({"pass", "minimize"})) read_action();
        if (is_one_of({"encode", "pretty-print", "dot", "pass"})) take("--format");
        if (is_word()) {
            lab::refuse(
                "%s: unexpected; the short form is INPUT [ACTION] [OUTPUT] and then options",
                lab::quoted(words_[at_]).c_str());
        }
        options_.insert(options_.end(), words_.begin() + at_, words_.end());
        for (std::string& option : options_) pointers_.push_back(&option[0]);
    }

    int argc() const { return int(pointers_.size()); }
    char** argv() { return pointers_.data(); }

 private:
    bool is_word() const { return at_ < words_.size() && words_[at_].rfind("--", 0) != 0; }

    bool is_one_of(const std::vector<std::string>& known) const {
        return is_word() && std::count(known.begin(), known.end(), words_[at_]) > 0;
    }

    void take(const char* option) {
        options_.push_back(option);
        options_.push_back(words_[at_++]);
    }

    void read_input() {
        struct Form {
            const char* input;
            std::vector<const char*> operands;
            const char* example;
        };
        const Form forms[] = {
            {"decode", {"--file"}, "decode FILE, where - is standard input"},
            {"best-case", {"--n", "--m"}, "best-case n m"},
            {"worst-case", {"--n", "--m"}, "worst-case n m"},
            {"random", {"--n", "--m"}, "random n m"},
            {"copies", {"--n", "--m", "--count"}, "copies n m count"},
        };
        const std::string word = words_[at_];
        for (const Form& form : forms) {
            if (word != form.input) continue;
            take("--input");
            for (const char* operand : form.operands) {
                if (!is_word()) lab::refuse("%s: write %s", form.input, form.example);
                take(operand);
            }
            return;
        }
        std::vector<std::string> known;
        for (const Form& form : forms) known.push_back(form.input);
        lab::refuse("%s is not one of %s%s", lab::quoted(word).c_str(),
                    lab::joined(known, ", ").c_str(), lab::suggestion(word, known).c_str());
    }

    // "minimize VARIANT THREADS ELEMENTS"; all three may be missing.
    void read_action() {
        const bool minimizes = words_[at_] == "minimize";
        take("--action");
        if (!minimizes) return;
        for (const char* option : {"--variant", "--block", "--elements"}) {
            if (!is_word() || is_one_of({"encode", "pretty-print", "dot", "pass"})) return;
            take(option);
        }
    }

    std::vector<std::string> words_, options_;
    std::vector<char*> pointers_;
    size_t at_ = 1;
};
