// What the program says besides its table, and what it writes.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include "run.h"

// How many digits of the solution can be trusted: the condition magnifies the backward error, which
// is one rounding at least.
template <class T>
void note_condition(const Run<T>& run) {
    const double roundings = std::max(1.0, run.backward * double(run.problem.n));
    const double digits = -std::log10(run.condition * roundings * epsilon<T>);
    const std::string certain =
        digits >= 1 ? std::to_string(int(digits)) + " digits" : "not one digit";
    run.results.note(lab::format("condition about %.2g (1-norm): %s of the solution can be trusted",
                                 run.condition, certain.c_str()));
    if (run.backward > usual_backward_error) {
        run.results.note(
            lab::format("warning: elements of A grow while it is eliminated, as much on the CPU; "
                        "that is why the backward error is %.2g, where it is rarely above 1",
                        run.backward));
    }
    if (run.is_regular()) return;
    run.results.note(
        "warning: A is nearly singular: other coefficients that round to the same numbers have "
        "other solutions");
}

template <class T>
void note_memory(Run<T>& run) {
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    const int64_t n = run.problem.n, sides = run.problem.sides;
    const double bytes = double(Solver<T>::bytes(n, sides));
    int64_t largest = n;
    while (largest < largest_n &&
           double(Solver<T>::bytes(largest * 65 / 64 + 1, 1)) < double(total)) {
        largest = largest * 65 / 64 + 1;
    }
    while (largest > 1 && double(Solver<T>::bytes(largest, 1)) > double(total)) largest--;
    run.results.note(
        lab::format("memory: two copies of the system and x take %s, %.3g %% of the device's; in "
                    "use are %.3g %%; about n = %lld fits",
                    lab::bytes_text(bytes).c_str(), 100 * bytes / double(total),
                    100 * double(total - available) / double(total), (long long)largest));
}

// Appends what the studies of the handout are drawn from.
void append_study(const std::string& path, const std::string& lines) {
    if (path.empty()) return;
    const std::string card = lab::device_name();
    std::string text;
    for (size_t at = 0; at < lines.size(); at = lines.find('\n', at) + 1) {
        text += '"' + card + "\"," + lines.substr(at, lines.find('\n', at) + 1 - at);
    }
    lab::append_to_file(path, "card,variant,type,n,range,value,milliseconds,residual,backward\n",
                        text);
}

template <class T>
void write_solution(const Options& options, const Problem<T>& problem, const std::vector<T>& x) {
    if (options.output_path.empty() || int64_t(x.size()) != problem.n * problem.sides) return;
    std::vector<int64_t> shape = {problem.n};
    if (!problem.b_is_vector) shape.push_back(problem.sides);
    lab::write_array(options.output_path, x.data(), shape);
}
