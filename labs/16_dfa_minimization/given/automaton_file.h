// Automata from a file. A line of the form "source target symbol" is a transition, and a number alone
// is a final state; the first state of the file is the start. OpenFst reads and writes the same
// form (fstcompile --acceptor). A line "--" separates several automata in one file.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <vector>

#include "automaton.h"
#include "listing.h"

// How an automaton becomes complete: what is missing leads to a new state that rejects everything
// (the language stays), or back to where it starts.
enum class Completion { Sink, Loops };

// Shorter names first, then in the order of their bytes: 2 before 10, and z before aa.
inline bool is_before(const std::string& name, const std::string& other) {
    return name.size() != other.size() ? name.size() < other.size() : name < other;
}

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
