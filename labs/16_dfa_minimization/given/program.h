// The program: from the command line to the table.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "in_and_out.h"
#include "runner.h"
#include "short_form.h"

// Large automata take their time to be made: what there is no room for is refused before.
inline void require_room_for_reference(const Options& options) {
    const int64_t copies = options.input == "copies" ? options.count : 1;
    const int64_t factor = options.input == "random" || options.input == "copies" ? 1 : 3;
    const int64_t states = options.n * factor * copies;
    require_memory(states, options.m);
    const int64_t transitions = states * options.m;
    const int64_t bytes = reference_for(options, transitions)->bytes(states, options.m);
    lab::require_host_memory(bytes + 4 * transitions + 9 * states,
                             "the automaton and the reference that finds its classes");
}

inline void write_minimal(const std::vector<Automaton>& automata,
                          const std::vector<Partition>& found, const Options& options) {
    std::vector<Automaton> minimal;
    for (size_t i = 0; i < automata.size(); ++i) {
        minimal.push_back(numbered_by_breadth(quotient(automata[i], found[i])));
    }
    write_text(minimal, options);
}

inline int minimize(const Options& options, const std::vector<Automaton>& automata,
                    lab::Results& results) {
    std::vector<std::string> names = options.variants;
    if (options.format != "pass" && names.size() > 1) names = {"moore_hash"};
    const bool needs_device = std::any_of(names.begin(), names.end(), find_device_variant);
    if (needs_device || !options.prints_automaton()) lab::require_device();
    results.size(size_text(options, automata));
    Runner runner(options, automata, results);
    int64_t runs = 0;
    for (const std::string& name : names) {
        const std::string obstacle = runner.obstacle(name);
        if (!obstacle.empty() && names.size() == 1)
            lab::fail("%s %s", name.c_str(), obstacle.c_str());
        if (!obstacle.empty()) {
            results.skip(name, obstacle);
            continue;
        }
        runner.run(name);
        ++runs;
    }
    if (!options.classes.empty()) runner.write_classes(options.classes, runs);
    if (options.prints_automaton() && !runner.right()) {
        lab::fail("%s is wrong: %s", names[0].c_str(), runner.sentence().c_str());
    }
    if (options.format != "pass" && runner.right())
        write_minimal(automata, runner.found(), options);
    return options.prints_automaton() ? 0 : results.finish();
}

inline int run_program(int argc, char** argv) {
    ShortForm words(argc, argv);
    lab::Arguments arguments(words.argc(), words.argv(),
                             "Minimises automata. The first words may also be INPUT [ACTION] "
                             "[OUTPUT], as in: best-case 20000 30 minimize pass");
    Options options;
    read_input_options(arguments, options);
    read_work_options(arguments, options);
    lab::Results results(arguments);
    arguments.finish();
    refuse_contradictions(arguments, options);
    if (options.input != "decode" && options.action == "minimize") {
        require_room_for_reference(options);
    }
    const std::vector<Automaton> automata = make_automata(options);
    if (options.action == "minimize") return minimize(options, automata, results);
    if (options.format != "pass") write_text(automata, options);
    if (!options.prints_automaton()) std::printf("%s\n", size_text(options, automata).c_str());
    return 0;
}
