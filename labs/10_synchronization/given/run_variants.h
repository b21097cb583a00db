// The variants of one problem, and how each is run.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "request.h"

template <class Variants>
std::vector<std::string> names_of(const Variants& variants) {
    std::vector<std::string> names;
    for (const auto& variant : variants) names.push_back(variant.name);
    return names;
}

// The first of `names` that is not among `known`, or "".
inline std::string first_unknown(const std::vector<std::string>& names,
                                 const std::vector<std::string>& known) {
    for (const std::string& name : names) {
        if (!std::count(known.begin(), known.end(), name)) return name;
    }
    return "";
}

// The names of both problems; those that both have stand there once.
inline std::vector<std::string> all_names(std::vector<std::string> sums,
                                          const std::vector<std::string>& histograms) {
    for (const std::string& name : histograms) {
        if (!std::count(sums.begin(), sums.end(), name)) sums.push_back(name);
    }
    return sums;
}

// The problem that is solved: that of --problem, or else the one whose variants were chosen.
inline std::string chosen_problem(const lab::Arguments& arguments, const Request& request,
                                  const std::vector<std::string>& names,
                                  const std::vector<std::string>& sums,
                                  const std::vector<std::string>& histograms) {
    if (names == all_names(sums, histograms)) return request.problem;
    const std::string not_summed = first_unknown(names, sums);
    const std::string not_counted = first_unknown(names, histograms);
    std::string problem = request.problem;
    if (!arguments.given("problem") && not_counted.empty() && !not_summed.empty()) {
        problem = "histogram";
    }
    const std::string name = problem == "sum" ? not_summed : not_counted;
    if (!name.empty()) {
        lab::refuse("--variant: %s is not a variant of --problem %s", name.c_str(),
                    problem.c_str());
    }
    return problem;
}

// Launches each chosen variant for every size and every repeat, and gives the results of the last
// one: they lie one behind the other, each of `width` numbers.
template <class Input, class Result, class Variants, class Judge>
std::vector<Result> run_variants(const std::vector<Input>& input, int width, const Request& request,
                                 const Variants& variants, const Judge& judge, lab::Study& study) {
    const int64_t count = input.size();
    const std::vector<int64_t> sizes = request.sizes(count);
    std::vector<Result> found(request.repeats * sizes.size() * width);
    if (count == 0) return found;  // zeros: a grid without blocks cannot be launched
    lab::require_device();
    lab::require_device_memory(count * sizeof(Input) + found.size() * sizeof(Result),
                               "the array and the results of all sizes in all repeats");
    study.limit(lab::copy_bandwidth(count * sizeof(Input) / 2));  // as many bytes as are read
    study.moves(count * sizeof(Input));
    const lab::DeviceArray<Input> d_input(input);
    lab::DeviceArray<Result> d_found(found.size());
    const lab::DeviceArray<char> workspace(lab::on_cpu ? most_parts * sizeof(float) : 32 << 20);
    const int64_t most_blocks = request.blocks > 0 ? request.blocks : INT64_MAX;
    std::vector<lab::Launch> launches(sizes.size());
    for (const auto& variant : variants) {
        const auto launch = [&] {
            Result* d_result = d_found.get();
            for (int64_t repeat = 0; repeat < request.repeats; repeat++) {
                for (size_t k = 0; k < sizes.size(); k++, d_result += width) {
                    launches[k] = variant.launch({d_input.get(), sizes[k], d_result, most_blocks,
                                                  workspace.get(), size_t(workspace.bytes())});
                }
            }
            return launches.back();
        };
        const auto judged = [&] {
            d_found.download(found);
            return judge(variant, found, launches);
        };
        study.run(
            variant.name, [&] { d_found.poison(); }, launch, judged, found.size() == size_t(width));
    }
    return found;
}
