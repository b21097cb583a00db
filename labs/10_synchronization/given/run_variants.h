// The variants of one problem, and how each is run.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "request.h"

template <class Variants>
std::vector<std::string> names_of(const Variants& variants) {
    std::vector<std::string> names;
    for (const auto& variant : variants) names.push_back(variant.name);
    return names;
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
    const auto unknown = [&](const std::vector<std::string>& known) {  // the first such name, or ""
        for (const std::string& name : names) {
            if (!std::count(known.begin(), known.end(), name)) return name;
        }
        return std::string();
    };
    const bool counted = unknown(histograms).empty() && !unknown(sums).empty();
    const std::string problem =
        counted && !arguments.given("problem") ? "histogram" : request.problem;
    const std::string name = unknown(problem == "sum" ? sums : histograms);
    if (!name.empty()) {
        lab::refuse("--variant: %s is not a variant of --problem %s", name.c_str(),
                    problem.c_str());
    }
    return problem;
}

// Launches each chosen variant for every size and every repeat, and gives the results of the last
// one: they lie one behind the other, each of `width` numbers.
template <class Result, class Input, class Variants, class Judge>
std::vector<Result> run_variants(const std::vector<Input>& input, int width,
                                 const std::vector<int64_t>& sizes, const Request& request,
                                 const Variants& variants, const Judge& judge, lab::Study& study) {
    const int64_t count = input.size();
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

// Solves a problem: results of `width` numbers each, judged by a Judge, and written to --output.
template <class Judge, class Input, class Variants>
int solve(const lab::Arguments& arguments, const Request& request, lab::Study& study,
          const std::vector<Input>& input, int width, const Variants& variants) {
    using Result = typename Judge::Result;
    const int64_t count = input.size();
    require_results(arguments, request, count, sizeof(Input), width * sizeof(Result));
    const std::vector<int64_t> sizes = request.sizes(count);
    const std::vector<Result> found =
        run_variants<Result>(input, width, sizes, request, variants, Judge(input, sizes), study);
    if (!request.output_path.empty()) {
        std::vector<int64_t> shape = {request.repeats, int64_t(sizes.size())};
        if (width > 1) shape.push_back(width);
        const std::vector<typename Judge::Written> written(found.begin(), found.end());
        lab::write_array(request.output_path, written.data(), shape);
    }
    const bool random_bytes = !request.is_sum() && request.input_path.empty();
    study.size(lab::format("%lld %s%s", static_cast<long long>(count),
                           random_bytes ? (request.data + " ").c_str() : "",
                           request.is_sum() ? "floats" : "bytes"));
    if (count > 0) return study.finish();
    std::printf("0 elements: the result is zero, and nothing is launched\n");
    return 0;
}
