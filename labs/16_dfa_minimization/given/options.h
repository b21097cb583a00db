// What the command line says.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "automaton_file.h"
#include "variants.h"

struct Options {
    std::string input, file, action, format, output, classes, reference;
    int64_t n = 0, m = 0, count = 0, seed = 0;
    Completion completion = Completion::Sink;
    bool without_sink = false, verbose = false, verify = false;
    std::vector<std::string> variants;
    HostOptions host;
    RefineOptions device;

    // The automaton goes to standard output, and nothing else does.
    bool prints_automaton() const { return format != "pass" && output.empty(); }
};

// The variants of further/, which a program has that FURTHER=1 built.
inline std::vector<std::string> further_names() { return {"persistent", "worklist", "adaptive"}; }

// All that this program has, the host's first.
inline std::vector<std::string> variant_names() {
    std::vector<std::string> names = lab::names_of(host_variants());
    for (const std::string& name : lab::names_of(device_variants())) names.push_back(name);
    return names;
}

inline void read_input_options(lab::Arguments& arguments, Options& options) {
    options.input = arguments.choice(
        "input", {"decode", "best-case", "worst-case", "random", "copies"}, "random",
        "where the automaton comes from: a file, A_n,m, B_n,m, C_n,m, or copies of C_n,m");
    options.file = arguments.input("file", "what decode reads; - is standard input", true);
    options.n = arguments.integer("n", lab::on_cpu ? 300 : 1000000, 1, most_states,
                                  "size: best-case and worst-case have 3n states, the others n");
    options.m = arguments.integer("m", 2, 1, most_symbols, "symbols");
    options.count = arguments.integer("count", 2, 1, most_states, "copies");
    options.seed = arguments.integer("seed", 1, 0, INT64_MAX, "of what is random");
    const std::string completion = arguments.choice(
        "completion", {"sink", "loops"}, "sink",
        "where missing transitions of a file lead: to a new state that rejects, or back");
    options.completion = completion == "sink" ? Completion::Sink : Completion::Loops;
}

inline void read_work_options(lab::Arguments& arguments, Options& options) {
    options.action = arguments.choice("action", {"pass", "minimize"}, "minimize", "what to do");
    options.format = arguments.choice("format", {"encode", "pretty-print", "dot", "pass"}, "pass",
                                      "how the automaton is written; pass: not at all");
    options.output = arguments.output("output", "where to; without it, standard output");
    options.without_sink = arguments.flag("without-sink", "encode leaves out what leads to a sink");
    options.classes =
        arguments.output("classes", "the classes of all states, int32 .npy, a row a variant");
    options.reference = arguments.choice(
        "reference", {"auto", "hopcroft", "moore_hash", "openmp_sort"}, "auto",
        "what is compared with; auto: hopcroft up to 4Mi transitions, then moore_hash");
    options.host.threads = int(arguments.integer(
        "threads", std::max(1u, std::thread::hardware_concurrency()), 1, 1024, "of OpenMP"));
    options.device.threads_per_block =
        int(arguments.integer("block", 0, 0, 1024, "threads a block; 0: the variant chooses"));
    options.device.elements_per_thread = int(arguments.integer(
        "elements", 0, 0, 1024, "states a thread, in a counting sort; 0: the variant chooses"));
    options.device.bits_per_step = int(arguments.integer(
        "bits", 0, 0, 31, "bits a step, in a counting sort; 0: the variant chooses"));
    options.verbose = arguments.flag("verbose", "rounds and classes, on standard error");
    options.verify = arguments.flag(
        "verify", "repeats each step of the tasks on the host, and says what goes wrong first");
    options.host.pause = int(arguments.integer(
        "pause", 0, 0, 1000, "milliseconds before each phase of openmp_tasks, to see who waits"));
    options.variants = arguments.variants(variant_names(), further_names());
}

inline void refuse_contradictions(const lab::Arguments& arguments, const Options& options) {
    const auto only_for = [&](const char* name, bool fits, const char* what) {
        if (arguments.given(name) && !fits) lab::refuse("--%s is for %s; drop it", name, what);
    };
    const std::string& input = options.input;
    const bool decodes = input == "decode", minimizes = options.action == "minimize";
    only_for("file", decodes, "--input decode");
    only_for("completion", decodes, "--input decode");
    only_for("n", !decodes, "generated automata");
    only_for("m", !decodes, "generated automata");
    only_for("count", input == "copies", "--input copies");
    only_for("seed", input == "random" || input == "copies", "--input random and copies");
    for (const char* name : {"classes", "variant", "block", "elements", "bits", "threads",
                             "reference", "verbose", "verify", "pause"}) {
        only_for(name, minimizes, "--action minimize");
    }
    only_for("csv", minimizes && !options.prints_automaton(), "the table of --action minimize");
    only_for("output", options.format != "pass", "--format encode, pretty-print or dot");
    only_for("without-sink", options.format == "encode", "--format encode");
    if (decodes && options.file.empty()) lab::refuse("--input decode needs --file");
    if (options.m == 1 && (input == "best-case" || input == "worst-case")) {
        lab::refuse("--m 1: %s needs two symbols, a and b", input.c_str());
    }
    const int block = options.device.threads_per_block;
    if (block != 0 && (block < 64 || (block & (block - 1)) != 0)) {
        lab::refuse("--block %d is not a power of two from 64 to 1024", block);
    }
    const int bits = options.device.bits_per_step;
    if (block != 0 && bits != 0 && (1 << std::min(bits, 30)) > block) {
        lab::refuse("--bits %d: a step has at most as many values as a block has threads, %d", bits,
                    block);
    }
    if (minimizes && options.format != "pass" && options.variants.size() > 1 &&
        arguments.given("variant")) {
        lab::refuse("--format %s writes the automaton of one variant: choose with --variant",
                    options.format.c_str());
    }
}
