// Automata as text. A line of the form "source target symbol" is a transition, and a number alone
// is a final state; the first state of the file is the start. OpenFst reads and writes the same
// form (fstcompile --acceptor). A line "--" separates several automata in one file.
//
// Also a table for people, and pictures in the language of Graphviz.
#pragma once

#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

#include "automaton.h"

// How an automaton becomes complete: what is missing leads to a new state that rejects everything
// (the language stays), or back to where it starts.
enum class Completion { Sink, Loops };

// Shorter names first, then in the order of their bytes: 2 before 10, and z before aa.
inline bool is_before(const std::string& name, const std::string& other) {
    return name.size() != other.size() ? name.size() < other.size() : name < other;
}

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

// A listing becomes an automaton: symbols in order, no transition twice, only states that can be
// reached (in the order of their numbers), and all transitions there.
class Completed {
 public:
    Completed(const Reader& reader, Listing listing, Completion completion)
        : reader_(reader), listing_(std::move(listing)), completion_(completion) {
        sort_symbols();
        sort_transitions();
        require_known_finals();
        find_reachable();
        fill();
    }

    Automaton automaton;

 private:
    using Transition = Listing::Transition;

    void sort_symbols() {
        const int64_t symbols = listing_.names.size();
        std::vector<int32_t> order(symbols), number_of(symbols);
        for (int64_t i = 0; i < symbols; ++i) order[i] = int32_t(i);
        std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
            return is_before(listing_.names[a], listing_.names[b]);
        });
        for (int64_t i = 0; i < symbols; ++i) number_of[order[i]] = int32_t(i);
        std::vector<std::string> sorted;
        for (const int32_t symbol : order) sorted.push_back(listing_.names[symbol]);
        listing_.names = sorted;
        for (Transition& transition : listing_.transitions) {
            transition.symbol = number_of[transition.symbol];
        }
    }

    void sort_transitions() {
        const auto place = [](const Transition& t) { return std::pair(t.source, t.symbol); };
        std::sort(listing_.transitions.begin(), listing_.transitions.end(),
                  [&](const Transition& a, const Transition& b) {
                      return place(a) != place(b) ? place(a) < place(b) : a.line < b.line;
                  });
        first_.resize(listing_.states + 1);
        for (const Transition& transition : listing_.transitions) ++first_[transition.source + 1];
        for (int64_t i = 0; i < listing_.states; ++i) first_[i + 1] += first_[i];
        for (size_t i = 1; i < listing_.transitions.size(); ++i) {
            const Transition &before = listing_.transitions[i - 1], &now = listing_.transitions[i];
            if (place(before) == place(now)) refuse_pair(before, now);
        }
    }

    [[noreturn]] void refuse_pair(const Transition& first, const Transition& second) const {
        const std::string name = shown_word(listing_.names[first.symbol]);
        if (first.target == second.target) {
            reader_.refuse_line(second.line,
                                lab::format("the transition of state %d with %s is "
                                            "already in line %lld",
                                            first.source, name.c_str(), (long long)first.line));
        }
        reader_.refuse_line(
            second.line,
            lab::format(
                "state %d with %s leads to %d here and to %d in line %lld: the automaton is "
                "not deterministic",
                first.source, name.c_str(), second.target, first.target, (long long)first.line));
    }

    void require_known_finals() const {
        std::vector<bool> is_known(listing_.states);
        is_known[listing_.start] = true;
        for (const Transition& transition : listing_.transitions) {
            is_known[transition.source] = is_known[transition.target] = true;
        }
        for (const Listing::Final& final : listing_.finals) {
            if (is_known[final.state]) continue;
            reader_.refuse_line(final.line,
                                lab::format("state %d is final, but no transition leads "
                                            "to it or away from it",
                                            final.state));
        }
    }

    void find_reachable() {
        number_of_.assign(listing_.states, -1);
        std::vector<int32_t> waiting = {int32_t(listing_.start)};
        number_of_[listing_.start] = 0;
        while (!waiting.empty()) {
            const int32_t state = waiting.back();
            waiting.pop_back();
            for (int64_t i = first_[state]; i < first_[state + 1]; ++i) {
                const int32_t target = listing_.transitions[i].target;
                if (number_of_[target] < 0) waiting.push_back(target);
                number_of_[target] = 0;
            }
        }
        for (int64_t state = 0; state < listing_.states; ++state) {
            if (number_of_[state] < 0) continue;
            number_of_[state] = int32_t(reachable_++);
            transitions_ += first_[state + 1] - first_[state];
        }
    }

    void fill() {
        const int64_t symbols = listing_.names.size();
        const bool is_complete = transitions_ == reachable_ * symbols;
        const int64_t sinks = !is_complete && completion_ == Completion::Sink;
        automaton = make_automaton(reachable_ + sinks, symbols);
        automaton.names = listing_.names;
        automaton.start = number_of_[listing_.start];
        const int64_t states = automaton.states;
        for (int64_t symbol = 0; symbol < symbols && !is_complete; ++symbol) {
            for (int64_t state = 0; state < states; ++state) {
                automaton.next[symbol * states + state] = int32_t(sinks ? states - 1 : state);
            }
        }
        for (const Transition& transition : listing_.transitions) {
            const int64_t source = number_of_[transition.source];
            if (source < 0) continue;
            automaton.next[transition.symbol * states + source] = number_of_[transition.target];
        }
        for (const Listing::Final& final : listing_.finals) {
            if (number_of_[final.state] >= 0) automaton.is_final[number_of_[final.state]] = 1;
        }
    }

    const Reader& reader_;
    Listing listing_;
    Completion completion_;
    std::vector<int64_t> first_;      // (states + 1), where a state's transitions begin
    std::vector<int32_t> number_of_;  // (states), -1 where the start does not lead
    int64_t reachable_ = 0, transitions_ = 0;
};

// All of a file, or of standard input for the path "-".
inline std::string read_text(const std::string& path) {
    const bool is_standard = path == "-";
    struct stat status;
    if (!is_standard && stat(path.c_str(), &status) == 0) {
        lab::require_host_memory(9 * int64_t(status.st_size), "the automata of that file");
    }
    std::FILE* const file = is_standard ? stdin : std::fopen(path.c_str(), "rb");
    if (!file) lab::refuse("cannot read %s: %s", lab::quoted(path).c_str(), std::strerror(errno));
    std::string text;
    std::vector<char> piece(1 << 20);
    size_t count;
    while ((count = std::fread(piece.data(), 1, piece.size(), file)) > 0) {
        text.append(piece.data(), count);
    }
    const bool failed = std::ferror(file);
    if (!is_standard) std::fclose(file);
    if (failed) lab::fail("cannot read %s: %s", lab::quoted(path).c_str(), std::strerror(errno));
    return text;
}

inline std::vector<Automaton> read_automata(const std::string& path, Completion completion) {
    const std::string text = read_text(path);
    Reader reader(path == "-" ? "standard input" : lab::quoted(path), text);
    std::vector<Automaton> automata;
    Listing listing;
    while (reader.read(listing)) {
        automata.push_back(std::move(Completed(reader, std::move(listing), completion).automaton));
    }
    return automata;
}

// ---------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------

// The state that nothing accepting follows, if it is to be left out: it rejects, and never leads
// anywhere else. The start always stays.
inline std::vector<bool> find_sinks(const Automaton& automaton) {
    std::vector<bool> is_sink(automaton.states);
    for (int64_t state = 0; state < automaton.states; ++state) {
        is_sink[state] = !automaton.is_final[state] && state != automaton.start;
        for (int64_t symbol = 0; symbol < automaton.symbols && is_sink[state]; ++symbol) {
            is_sink[state] = automaton.next[symbol * automaton.states + state] == state;
        }
    }
    return is_sink;
}

// The form that read_automata() reads. The start comes first, then the states in their order;
// `without_sink` leaves out what leads to a sink, and numbers the others without a gap.
inline std::string encoded(const Automaton& automaton, bool without_sink) {
    std::string text;
    std::vector<bool> is_left_out(automaton.states);
    if (without_sink) is_left_out = find_sinks(automaton);
    std::vector<std::string> number_of;
    for (int64_t state = 0, number = 0; state < automaton.states; ++state) {
        number_of.push_back(std::to_string(number));
        number += !is_left_out[state];
    }
    for (int64_t i = -1; i < automaton.states; ++i) {
        const int64_t state = i < 0 ? automaton.start : i;
        if (i == automaton.start || is_left_out[state]) continue;
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            const int32_t target = automaton.next[symbol * automaton.states + state];
            if (is_left_out[target]) continue;
            text +=
                number_of[state] + '\t' + number_of[target] + '\t' + automaton.names[symbol] + '\n';
        }
        if (automaton.is_final[state]) text += number_of[state] + '\n';
    }
    // nothing is left of a start that leads to sinks alone, and a file needs a line for it
    return text.empty() && without_sink ? encoded(automaton, false) : text;
}

// Bytes that encoded() may need, roughly and from above.
inline int64_t encoded_bytes(const Automaton& automaton) {
    int64_t longest = 1;
    for (const std::string& name : automaton.names) {
        longest = std::max<int64_t>(longest, name.size());
    }
    const int64_t digits = std::to_string(automaton.states).size();
    return automaton.states * (automaton.symbols * (2 * digits + 3 + longest) + digits + 33);
}

// How many letters a name has: in UTF-8 all bytes of a letter but the first begin with the bits 10.
inline size_t letters_in(const std::string& name) {
    return std::count_if(name.begin(), name.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
}

// A table: a row for each state, marked by > at the start and by * where it is final.
inline std::string pretty_printed(const Automaton& automaton) {
    std::vector<std::vector<std::string>> rows = {{"state"}};
    rows[0].insert(rows[0].end(), automaton.names.begin(), automaton.names.end());
    for (int64_t state = 0; state < automaton.states; ++state) {
        const std::string start = state == automaton.start ? "> " : "";
        rows.push_back({start + std::to_string(state) + (automaton.is_final[state] ? " *" : "  ")});
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            const int32_t target = automaton.next[symbol * automaton.states + state];
            rows.back().push_back(std::to_string(target));
        }
    }
    std::vector<size_t> widths(rows[0].size());
    for (const auto& row : rows) {
        for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], letters_in(row[i]));
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (size_t i = 0; i < row.size(); ++i) {
            line += std::string(widths[i] - letters_in(row[i]) + (i ? 2 : 0), ' ') + row[i];
        }
        text += line.erase(line.find_last_not_of(' ') + 1) + '\n';
    }
    return text;
}

// Graphviz: `dot -Tsvg` draws it. Transitions between the same two states become one arrow.
inline std::string drawn(const Automaton& automaton) {
    std::string text =
        "digraph automaton {\n    rankdir=LR;\n    node [shape=circle];\n"
        "    start [shape=point];\n";
    for (int64_t state = 0; state < automaton.states; ++state) {
        const char* const shape = automaton.is_final[state] ? " [shape=doublecircle]" : "";
        text += "    " + std::to_string(state) + shape + ";\n";
    }
    text += "    start -> " + std::to_string(automaton.start) + ";\n";
    for (int64_t state = 0; state < automaton.states; ++state) {
        std::vector<std::pair<int32_t, std::string>> arrows;  // target, label
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            const int32_t target = automaton.next[symbol * automaton.states + state];
            const auto arrow = std::find_if(arrows.begin(), arrows.end(),
                                            [=](const auto& a) { return a.first == target; });
            std::string name;
            for (const char letter : automaton.names[symbol]) {
                if (letter == '"' || letter == '\\') name += '\\';
                name += letter;
            }
            if (arrow == arrows.end()) {
                arrows.emplace_back(target, name);
            } else {
                arrow->second += ", " + name;
            }
        }
        for (const auto& [target, label] : arrows) {
            text += lab::format("    %lld -> %d [label=\"%s\"];\n", (long long)state, target,
                                label.c_str());
        }
    }
    return text + "}\n";
}
