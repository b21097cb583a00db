// The program: the variants, the command line, and what it asks for.
#pragma once

#include <cstdio>
#include <string>

#include "../../../common/array_file.h"
#include "runner.h"

const Variant all_variants[] = {
    {"basis", Quadratic, launch_basis},
    {"phases", Phases, launch_phases, launch_find_constants},
    {"phases_one_call", Phases, launch_phases_one_call},
    {"barycentric", Linear, launch_barycentric},
    {"product", Linear, launch_product},
#ifdef LAB_FURTHER
    {"constant", Linear, launch_constant, fill_constant_memory, most_constant_nodes},
#endif
    {"warp_a_point", Linear, launch_warp_a_point},
    {"blocked", Linear, launch_blocked},
    {"copied", Transferring, launch_copied},
    {"overlapped", InPieces, launch_overlapped},
};

inline int run_program(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Evaluates an interpolating polynomial at many points.");
    const Options options(arguments);
    lab::Study study(arguments, lab::names_of(all_variants), {"constant"});
    arguments.finish();
    options.refuse_contradictions();
    study.require_one_for(arguments, "output", "the values");

    const Problem problem = read_problem(options);
    const int64_t points = problem.abscissae.size();
    const size_t nodes = problem.x.size();
    if (points == 0) {  // a grid without blocks cannot be launched, and need not be
        if (!options.output_path.empty())
            lab::write_array<double>(options.output_path, nullptr, {0});
        std::printf("0 points: there is no value, and nothing is launched\n");
        return 0;
    }
    for (const Variant& variant : all_variants) {
        if (study.only_one() != variant.name || nodes <= variant.most_nodes) continue;
        lab::refuse("constant memory holds %zu nodes, and there are %zu: choose another variant",
                    variant.most_nodes, nodes);
    }
    lab::require_device();
    study.size(lab::format("degree %zu, %lld points", nodes - 1, static_cast<long long>(points)));
    Runner runner(problem, options.piece_of(points), study);
    for (const Variant& variant : all_variants) {
        if (study.only_one() == variant.name && !runner.obstacle(variant).empty()) {
            lab::fail("%s: %s", variant.name, runner.obstacle(variant).c_str());
        }
        runner.run(variant);
    }
    runner.note_all();
    if (!options.output_path.empty()) {
        lab::write_array(options.output_path, runner.values().data(), {points});
    }
    return study.finish();
}
