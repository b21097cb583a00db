// 15 lagrange_interpolation: the values of the polynomial through n + 1 nodes (x_j, y_j) at many
// abscissae, all in double. The sum over Lagrange's basis polynomials costs n^2 a point; a report
// shared it out in five phases. Then the same polynomial in n steps a point, and those in fewer
// instructions. You write the kernels: TODO 1 here, the others in the pages that are named.
//
//   basis            n^2 a point: a thread a point, both loops
// phases.cuh, TODO 2 to 5
//   phases           n^2 a point: the report's phases 1 to 4, the constants of phase 0 made before
//   phases_one_call  the same with phase 0, all in one call
// formula.cuh, TODO 6 to 10, and points.cuh, TODO 11 and 12
//   barycentric      n a point: weights made once, a division for every node
//   product          no division: numerator and node polynomial are carried along together
//   constant         in further/: the same, the nodes in constant memory
//   warp_a_point     a warp a point: for few points; pieces of the sum combine
//   blocked          several points a thread: each node, once in a register, serves them all
// overlapped.cuh, TODO 13
//   copied           blocked, with the copies to the device and back, one after the other
//   overlapped       blocked in pieces, copies and computation at the same time

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/lab.h"
#include "given/nodes.h"
#include "given/reference.h"

// A thread a point. At a node one product is exactly 1 and all others are exactly 0.
__global__ void basis(const double* abscissae, double* values, int64_t points, Nodes nodes) {
    const int64_t s = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= points) return;
    const double x = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
    // TODO 1 (about 9 lines): basis_on_cpu (given/reference.h) for this thread's point, with nodes.x
    // (in the unit, as x is) for the abscissae and nodes.given_y for the ordinates of the nodes.
    (void)x;  // delete this line
}

lab::Launch launch_basis(const Work& work) {
    const lab::Launch launch = thread_a_point(work);
    basis<<<launch.grid, launch.block>>>(work.d_abscissae, work.d_values, work.points, work.nodes);
    CHECK_LAUNCH();
    return launch;
}

// ---------------------------------------------------------------------------------------------
// The other kernels, page by page.

// TODO 2 to 5: the report's five phases
#include "phases.cuh"
// TODO 6 to 10: weights, and what a list of nodes is at a point
#include "formula.cuh"
// TODO 11 and 12: barycentric, product, warp_a_point, blocked
#include "points.cuh"
// TODO 13: copied, overlapped
#include "overlapped.cuh"

#ifdef LAB_FURTHER  // make run LAB=15 FURTHER=1: a variant that nobody is asked to write
#include "further/constant.cuh"
#endif

// ---------------------------------------------------------------------------------------------
// The program: nothing to edit below.

#include "given/runner.h"

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

int main(int argc, char** argv) {
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
