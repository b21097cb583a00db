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
// Nothing to edit below: given/program.h has the variants and the command line.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
