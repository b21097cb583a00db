// The program: the command line, the runs of all variants, and what is said below the table.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <string>
#include <vector>

#include "notes.h"
#include "peers.h"
#include "run.h"

inline std::vector<std::string> variant_names() {
    std::vector<std::string> names = {"cpu",   "report",  "on_device", "gauss_jordan",
                                      "tiled", "blocked", "refined"};
#ifdef WITH_CUSOLVER
    names.push_back("cusolver");
#endif
#ifdef WITH_OPENBLAS
    names.push_back("openblas");
#endif
    return names;
}

const std::vector<std::string> further_names = {"one_block", "team", "tensor", "refined_team"};

// What --without may name: a peer also where this build does not have it.
inline std::vector<std::string> names_with_peers() {
    std::vector<std::string> names = variant_names();
    names.insert(names.end(), further_names.begin(), further_names.end());
    names.insert(names.end(), {"cusolver", "openblas"});
    return names;
}

inline std::string system_text(int64_t n, int64_t sides) {
    return lab::format("%lld unknown%s, %lld right-hand side%s", (long long)n, n == 1 ? "" : "s",
                       (long long)sides, sides == 1 ? "" : "s");
}

template <class T>
int run(const Options& options, lab::Results& results) {
    const Problem<T> problem = read_problem<T>(options.input);
    const int64_t n = problem.n, sides = problem.sides;
    if (n * sides == 0) {
        write_solution<T>(options, problem, {});
        std::printf("nothing to solve for: %s\n", system_text(n, sides).c_str());
        return 0;
    }
    lab::require_device();
    const double cube = double(n) * double(n) * double(n), square = double(n) * double(n);
    Run<T> run = {options,
                  problem,
                  results,
                  norms_of(problem.a, n),
                  usual_backward_error,
                  usual_backward_error,
                  2.0 / 3 * cube + 2 * square * double(sides),
                  NAN,
                  0,
                  {},
                  ""};
    if (!std::isfinite(run.norms.rows)) {
        lab::refuse(
            "the coefficients are so large that a row's sum overflows: divide A and B by a number");
    }
    const int64_t square_bytes = n * n * int64_t(sizeof(T));
    lab::require_device_memory(Solver<T>::bytes(n, sides) +
                                   (run.chosen("refined") ? square_bytes / 2 : 0) +
                                   (run.chosen("cusolver") ? square_bytes : 0),
                               "two copies of the system");
    results.size(lab::format("%s, %s, %s", system_text(n, sides).c_str(),
                             is_double<T> ? "double" : "float", problem.words.c_str()));
    const bool by_cpu = options.cpu_asked_for || cube + 3 * square * double(sides) <= 9e9;
    if (by_cpu) {
        run_on_cpu(run);
    } else if (run.chosen("cpu")) {
        results.skip("cpu", "takes long: ask for it by --variant cpu");
    }
    Solver<T> solver(problem, run.norms);
    std::vector<Variant<T>> variants = path_variants(solver);
#ifdef LAB_FURTHER
    for (const Variant<T>& variant : further_variants(solver)) variants.push_back(variant);
#endif
    for (const Variant<T>& variant : variants) {
        if (run.chosen(variant.name)) run_variant(run, solver, variant);
    }
#ifdef WITH_CUSOLVER
    if (run.chosen("cusolver")) run_cusolver(run, solver);
#endif
#ifdef WITH_OPENBLAS
    if (run.chosen("openblas")) run_openblas(run);
#endif
    if (int64_t(judged_sides(n, sides).size()) < sides) {
        results.note("judged by some of the right-hand sides, which are spread evenly");
    }
    const bool blocked_fits =
        std::any_of(variants.begin(), variants.end(), [](const Variant<T>& variant) {
            return variant.name == "blocked" && variant.reason.empty();
        });
#ifndef LAB_BENCH  // no row needs it, and the host takes seconds
    if (!by_cpu && blocked_fits) {
        run.condition = estimate_condition(blocked_factors(solver), run.norms.columns, n);
    }
#endif
    if (std::isnan(run.condition) && blocked_fits) {
        results.note("the condition is not asked for in a benchmark of so many unknowns");
    } else if (std::isnan(run.condition)) {
        results.note("the condition is not known: so many unknowns are too many for `blocked`");
    } else {
        note_condition(run);
    }
    note_memory(run);
    const int status = results.finish();
    append_study(options.study_path, run.study);
    if (status != 77) write_solution(options, problem, run.x);
    return status;
}

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Solves A X = B by elimination with partial pivoting.");
    const std::string type = arguments.choice("type", {"float", "double"}, "double", "of elements");
    Options options;
    InputOptions& input = options.input;
    input.n =
        arguments.integer("n", lab::on_cpu ? 96 : 2048, 0, largest_n, "unknowns, for random A");
    input.sides = arguments.integer("sides", 1, 0, largest_n, "right-hand sides, without --b");
    input.range =
        arguments.real("range", 10, 1e-30, 1e30, "random coefficients lie between 0 and this");
    input.value = arguments.real("value", 1, -1e30, 1e30, "all of B, without --b");
    input.seed = arguments.integer("seed", 1, 0, int64_t{1} << 31, "of the random coefficients");
    input.a_path = arguments.input("a", "A: .npy of the type, or Matrix Market (.mtx)");
    input.b_path = arguments.input("b", "B: a vector, or a matrix with a column a right-hand side");
    input.inverse = arguments.flag("inverse", "B is the identity, so X is the inverse of A");
    options.output_path = arguments.output("output", "the solution of one variant, .npy");
    options.study_path = arguments.output("study", "append times and errors to this CSV file");
    options.names = arguments.variants(variant_names(), further_names);
    lab::leave_out(options.names, names_with_peers(),
                   arguments.text("without", "", "variants to leave out: report,on_device"));
    options.cpu_asked_for =
        arguments.given("variant") && std::count(options.names.begin(), options.names.end(), "cpu");
    lab::Results results(arguments);
    arguments.finish();
    arguments.excludes("a", {"n", "range", "seed"}, "a random A");
    for (const char* name : {"sides", "value"}) {
        if ((!input.b_path.empty() || input.inverse) && arguments.given(name)) {
            lab::refuse("--%s is for a B that is not given: drop it, or %s", name,
                        input.inverse ? "--inverse" : "--b");
        }
    }
    if (input.inverse && !input.b_path.empty()) {
        lab::refuse("--inverse takes the identity for B: drop it, or --b");
    }
    if (!options.output_path.empty() && options.names.size() != 1) {
        lab::refuse("--output takes the solution of one variant: choose with --variant");
    }
    return type == "float" ? run<float>(options, results) : run<double>(options, results);
}
