// 14 gauss_jordan: A X = B for n unknowns and any number of right-hand sides, by elimination with
// partial pivoting. From a student report's kernels to a solver by blocks, one idea a variant:
//
//   report         the report's algorithm, kernel by kernel; the host drives each step
//   on_device      the pivot's row stays on the device, and elimination finds the next candidates
//   gauss_jordan   eliminates above the diagonal as well: no substitution at the end
//   tiled          tiles of 32 x 128, and one launch a step: the last block takes the next pivot
//   blocked        LU: panels of columns in the registers of one block, the rest by matrix products
//   refined        factors in float, and refinement to the accuracy of double (double only)
//
// The pages with tasks, each with its kernels, their launches and a sketch:
//   report.cuh      report                          tasks 1 to 5
//   on_device.cuh   on_device, gauss_jordan, tiled  tasks 6 to 9
//   blocked.cuh     blocked                         tasks 10 to 12
//   refined.cuh     refined                         task 13
// What is yours to write is marked by TODO in them.
// Nothing is to be written in the others: what a system is on the device (given/system.h) and on the host
// (given/input.h), the CPU's elimination (given/reference.h), how a solution is judged (given/errors.h),
// timed and reported (given/run.h). `cpu` is the same elimination on the host. FURTHER=1 builds the
// pages of further/, which are there to be read; make bench compares with cusolver and openblas.
#include <memory>

#include "blocked.cuh"
#include "given/notes.h"
#include "given/peers.h"
#include "given/run.h"
#include "on_device.cuh"
#include "refined.cuh"
#include "report.cuh"

// Factors by blocks, and the solution of what floats could not, in one.
template <class T>
lab::Launch launch_blocked(const Solver<T>& solver) {
    return Blocked<T>(solver.n(), solver.work().singular)
        .solve(solver.work().system, solver.work().x);
}

// Refinement with factors by Lu, made when it is needed. Where floats make no progress, in_doubles solves, and
// `rounds` is 0.
template <class Lu, class InDoubles>
Variant<double> refined_variant(const char* name, const Solver<double>& solver,
                                const InDoubles& in_doubles, const std::string& reason) {
    std::shared_ptr<Refinement<Lu>> refinement;
    const auto solve = [=, &solver](int& rounds) mutable {
        const Norms& norms = solver.norms();
        if (!refinement) refinement = std::make_shared<Refinement<Lu>>(solver.given());
        rounds = refinement->solve(solver.given(), norms.largest, norms.rows, solver.work().x);
        if (rounds == 0) return in_doubles(rounds);
        return lab::Launch{dim3(blocks_for(solver.n(), 256)), dim3(256)};
    };
    return {name, solve, reason};
}

template <class T>
std::vector<Variant<T>> path_variants(const Solver<T>& solver) {
    const bool fits = solver.n() <= most_panel_rows;
    const std::string too_many = lab::format(
        "one block has no more than %lld rows in its registers", (long long)most_panel_rows);
    std::vector<Variant<T>> variants = {
        {"report", [&](int&) { return launch_report(solver.work()); }, ""},
        {"on_device", [&](int&) { return launch_on_device<T, false>(solver.work()); }, ""},
        {"gauss_jordan", [&](int&) { return launch_on_device<T, true>(solver.work()); }, ""},
        {"tiled", [&](int&) { return launch_tiled(solver.work()); }, ""},
        {"blocked", [&](int&) { return launch_blocked(solver); }, fits ? "" : too_many},
        {"refined", {}, "its answers are doubles"}};
    if constexpr (is_double<T>) {
        const auto in_doubles = [&solver](int&) { return launch_blocked(solver); };
        variants.back() =
            refined_variant<Blocked<float>>("refined", solver, in_doubles, fits ? "" : too_many);
    }
    return variants;
}

#ifdef LAB_FURTHER
#include "further/variants.cuh"
#endif

std::vector<std::string> variant_names() {
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
std::vector<std::string> names_with_peers() {
    std::vector<std::string> names = variant_names();
    names.insert(names.end(), further_names.begin(), further_names.end());
    names.insert(names.end(), {"cusolver", "openblas"});
    return names;
}

// The factors on the host, for the condition of a matrix that the CPU would take too long for.
template <class T>
HostFactors<T> host_factors(Solver<T>& solver) {
    const int n = solver.n();
    const System<T>& system = solver.work().system;
    Blocked<T> blocked(n, solver.work().singular);
    solver.reset();
    blocked.factor(system);
    HostFactors<T> factors = {std::vector<T>(size_t(n) * n), order_of(blocked.pivots(), n), -1};
    CHECK(cudaMemcpy2D(factors.lu.data(), n * sizeof(T), system.values, system.stride * sizeof(T),
                       n * sizeof(T), n, cudaMemcpyDeviceToHost));
    factors.singular = solver.singular();
    return factors;
}

std::string system_text(int64_t n, int64_t sides) {
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
    if (!by_cpu && n <= most_panel_rows) {
        run.condition = estimate_condition(host_factors(solver), run.norms.columns, n);
    }
    if (std::isnan(run.condition)) {
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

int main(int argc, char** argv) {
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
