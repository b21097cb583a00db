// The program: the variants of both problems, the command line, and what it asks for.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cub.cuh"
#include "demo.h"
#include "judging.h"
#include "request.h"
#include "run_variants.h"
#ifdef LAB_FURTHER  // make run LAB=10 FURTHER=1: variants that nobody is asked to write
#include "../further/two_stages.cuh"
#include "../further/warp_copies.cuh"
#endif

template <class Job>
struct Variant {
    const char* name;
    lab::Launch (*launch)(const Job&);
    bool chain = false;       // an element may go through as many additions as there are elements
    bool goes_round = false;  // --blocks is for it
};

const Variant<SumJob> sum_variants[] = {
    {"global_atomics", launch_sum_global_atomics, true},
    {"shared_tree", launch_sum_shared_tree},
    {"warp_shuffles", launch_sum_warp_shuffles},
    {"vectorised", launch_sum_vectorised, false, true},
#ifdef LAB_FURTHER
    {"two_stages", launch_two_stages, false, true},
#endif
#ifdef LAB_CUB
    {"cub", launch_cub_sum, true},
#endif
};

const Variant<HistogramJob> histogram_variants[] = {
    {"global_atomics", launch_histogram<histogram_global_atomics, block_size, 1>},
    {"shared_copy", launch_histogram<histogram_shared_copy, block_size, 1>},
#ifdef LAB_FURTHER
    {"warp_copies", launch_histogram<histogram_warp_copies, block_size, 16>},
#endif
    {"lane_copies", launch_histogram<histogram_lane_copies, lane_block_size, 16>},
#ifdef LAB_CUB
    {"cub", launch_cub_histogram},
#endif
};

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Sums an array, or counts its bytes, with many threads.");
    Request request(arguments);
    std::vector<std::string> demo_names;
    for (const Demo& demo : demos) demo_names.push_back(demo.name);
    demo_names.push_back("none");
    const std::string demo_name =
        arguments.choice("demo", demo_names, "none", "a kernel that is wrong on purpose");
    const bool only_repaired = arguments.flag("repaired", "only the repair of the --demo");
    const std::vector<std::string> sums = names_of(sum_variants);
    const std::vector<std::string> histograms = names_of(histogram_variants);
    std::vector<std::string> further;  // which this program does not have
    if (!lab::with_further) further = {"two_stages", "warp_copies"};
    lab::Study study(arguments, all_names(sums, histograms), further, false);
    arguments.finish();
    for (const Demo& demo : demos) {
        if (demo_name == demo.name) return run_demo(demo, request, only_repaired);
    }
    if (only_repaired) lab::refuse("--repaired is for --demo");
    request.problem = chosen_problem(arguments, request, study.names(), sums, histograms);
    study.require_one_for(arguments, "output", "the results");
    const auto goes_round = [&](const Variant<SumJob>& variant) {
        return variant.goes_round && study.chosen(variant.name);
    };
    refuse_contradictions(arguments, request,
                          !request.is_sum() || std::any_of(std::begin(sum_variants),
                                                           std::end(sum_variants), goes_round));
    if (request.is_sum()) {
        return solve<SumJudge>(arguments, request, study, read_values(request), 1, sum_variants);
    }
    return solve<CountJudge>(arguments, request, study, read_bytes(request), bins,
                             histogram_variants);
}
