// Automata as text: the form that automaton_file.h reads, a table for people, and pictures in the language
// of Graphviz.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <string>
#include <vector>

#include "automaton.h"
#include "automaton_file.h"

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
