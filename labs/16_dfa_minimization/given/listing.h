// The words of a file with automata: what stands there of each, refused where it is not as it should be.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "automaton.h"

// How messages show a word of a file: its beginning is enough.
inline std::string shown_word(const std::string& word) {
    return word.size() <= 40 ? lab::quoted(word) : lab::quoted(word.substr(0, 37) + "...");
}

// What a file holds of one automaton, as it stands there.
struct Listing {
    struct Transition {
        int32_t source, target, symbol;
        int64_t line;
    };
    struct Final {
        int32_t state;
        int64_t line;
    };
    std::vector<Transition> transitions;
    std::vector<Final> finals;
    std::vector<std::string> names;
    int64_t states = 0, start = -1;  // states: one more than the largest number
};

// Splits the text into lines and words, and refuses what is not as it should be.
class Reader {
 public:
    // `name` is what errors call the file. The text must outlive the reader.
    Reader(const std::string& name, const std::string& text) : name_(name), text_(text) {
        refuse_what_is_no_text();
        if (begins_with("\xEF\xBB\xBF"))
            at_ = 3;  // a byte order mark, as Windows' editors write it
        if (at_ == text.size()) {
            lab::refuse("%s is empty: an automaton needs a line for its start state", shown());
        }
        // a transition names two states, so more numbers than these can only be gaps or mistakes
        most_ = std::min(most_states - 1, 2 * std::count(text.begin(), text.end(), '\n'));
    }

    // The next automaton of the file; false at its end.
    bool read(Listing& listing) {
        listing = {};
        symbols_.clear();
        if (at_ == text_.size() && line_ > 0 && !separated_) return false;
        separated_ = false;
        const int64_t first_line = line_ + 1;
        while (at_ < text_.size() && !separated_) read_line(listing);
        if (listing.start < 0) {
            lab::refuse(
                "%s: the automaton that begins in line %lld has no start state: only empty "
                "lines follow",
                shown(), (long long)first_line);
        }
        return true;
    }

    [[noreturn]] void refuse_line(int64_t line, const std::string& sentence) const {
        lab::refuse("%s, line %lld: %s", shown(), (long long)line, sentence.c_str());
    }

 private:
    const char* shown() const { return name_.c_str(); }

    bool begins_with(const std::string& bytes) const {
        return text_.compare(0, bytes.size(), bytes) == 0;
    }

    void refuse_what_is_no_text() const {
        std::string problem = lab::foreign_file(text_);
        if (begins_with("\xD6\xFD\xB2\x7E")) {
            problem = "it is OpenFst's binary form; make text of it with fstprint --acceptor";
        }
        if (!problem.empty()) lab::refuse("cannot read %s: %s", shown(), problem.c_str());
    }

    void read_line(Listing& listing) {
        ++line_;
        const size_t end = text_.find('\n', at_);
        if (end == std::string::npos) {
            refuse_line(line_,
                        "the line has no end, so the file may be cut short: if it is not, put "
                        "a newline there");
        }
        const std::vector<std::string> words = words_until(end);
        at_ = end + 1;
        if (words.empty()) return;
        if (words.size() == 1 && words[0] == "--") {
            separated_ = true;
        } else if (words.size() == 1) {
            read_final(listing, words[0]);
        } else if (words.size() == 3) {
            read_transition(listing, words);
        } else {
            refuse_line(line_, lab::format("%zu words; a transition has three (source, target, "
                                           "symbol), and a final state stands alone",
                                           words.size()));
        }
    }

    std::vector<std::string> words_until(size_t end) const {
        std::vector<std::string> words;
        bool is_inside = false;
        for (size_t i = at_; i < end; ++i) {
            const unsigned char letter = text_[i];
            if (letter == '\r' && i + 1 == end) {
                refuse_line(line_,
                            "it ends as lines do in Windows, with a carriage return: convert "
                            "the file (dos2unix does it)");
            }
            const bool is_space = letter == ' ' || letter == '\t';
            if (!is_space && (letter < ' ' || letter == 127)) {
                refuse_line(line_, lab::format("byte %zu is a control character", i - at_ + 1));
            }
            if (!is_space && !is_inside) words.emplace_back();
            if (!is_space) words.back() += char(letter);
            is_inside = !is_space;
        }
        return words;
    }

    int32_t state(Listing& listing, const std::string& word, const char* what) const {
        int64_t number;
        const bool digits = word.find_first_not_of("0123456789") == std::string::npos;
        if (!digits) {
            refuse_line(line_, lab::format("%s %s is not a number: states are 0, 1, 2, ...", what,
                                           shown_word(word).c_str()));
        }
        if (!lab::parse_integer(word, number) || number > most_) {
            refuse_line(line_,
                        lab::format("%s %.40s is out of range: this file has lines for the states "
                                    "0 to %lld at most",
                                    what, word.c_str(), (long long)most_));
        }
        if (listing.start < 0) listing.start = number;
        listing.states = std::max(listing.states, number + 1);
        return int32_t(number);
    }

    void read_final(Listing& listing, const std::string& word) {
        const int32_t number = state(listing, word, "the final state");
        listing.finals.push_back({number, line_});
    }

    void read_transition(Listing& listing, const std::vector<std::string>& words) {
        const int32_t source = state(listing, words[0], "the source");
        const int32_t target = state(listing, words[1], "the target");
        if (words[2] == "<eps>") {
            refuse_line(line_,
                        "<eps> is the empty word of OpenFst, and no letter: make the automaton "
                        "deterministic (fstrmepsilon and fstdeterminize do it)");
        }
        const int32_t fresh = int32_t(listing.names.size());
        const int32_t symbol = symbols_.emplace(words[2], fresh).first->second;
        if (symbol == fresh) listing.names.push_back(words[2]);
        if (int64_t(listing.names.size()) > most_symbols) {
            refuse_line(line_, lab::format("%s is one symbol too many: at most %lld are possible",
                                           shown_word(words[2]).c_str(), (long long)most_symbols));
        }
        listing.transitions.push_back({source, target, symbol, line_});
    }

    std::string name_;
    const std::string& text_;
    std::unordered_map<std::string, int32_t> symbols_;
    size_t at_ = 0;
    int64_t line_ = 0, most_ = 0;
    bool separated_ = false;
};
