// The automata that the options ask for, and how they are written.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "automaton_text.h"
#include "options.h"

inline std::vector<Automaton> make_automata(const Options& options) {
    std::vector<Automaton> automata;
    if (options.input == "decode") {
        automata = read_automata(options.file, options.completion);
    } else if (options.input == "best-case") {
        automata.push_back(best_case(options.n, options.m));
    } else if (options.input == "worst-case") {
        automata.push_back(worst_case(options.n, options.m));
    } else if (options.input == "random") {
        automata.push_back(random_automaton(options.n, options.m, options.seed));
    } else {
        automata.push_back(copies(options.n, options.m, options.count, options.seed));
    }
    return automata;
}

inline std::string size_text(const Options& options, const std::vector<Automaton>& automata) {
    int64_t states = 0;
    for (const Automaton& automaton : automata) states += automaton.states;
    if (automata.size() > 1) {
        return lab::format("%zu automata, %lld states", automata.size(), (long long)states);
    }
    const std::string size =
        lab::format("%lld states, %lld symbols", (long long)states, (long long)automata[0].symbols);
    const std::string family =
        options.input == "decode" ? lab::quoted(options.file) : options.input;
    const std::string copies =
        options.input == "copies" ? lab::format(", %lld copies", (long long)options.count) : "";
    return family + ": " + size + copies;
}

inline std::string formatted(const Automaton& automaton, const Options& options) {
    lab::require_host_memory(2 * encoded_bytes(automaton), "the text of that automaton");
    if (options.format == "dot") return drawn(automaton);
    if (options.format == "pretty-print") return pretty_printed(automaton);
    return encoded(automaton, options.without_sink);
}

// Several automata are separated as read_automata() wants them.
inline void write_text(const std::vector<Automaton>& automata, const Options& options) {
    std::string text;
    for (size_t i = 0; i < automata.size(); ++i) {
        if (i > 0 && options.format == "encode") text += "--\n";
        text += formatted(automata[i], options);
    }
    if (options.output.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        lab::require_printed();
        return;
    }
    const int problem = lab::write_file(options.output, {{text.data(), text.size()}});
    if (problem == 0) return;
    lab::fail("cannot write %s: %s", lab::quoted(options.output).c_str(), std::strerror(problem));
}
