// constant: product, with the nodes in constant memory.
//
// Known before: product (tasks 6 and 8 to 10) and constant memory (lab 08). In product all threads of a
// warp load the same node at the same time, from global memory by way of the caches. Constant memory is
// made for that: a cache of its own gives one word to a whole warp.
//
//     lane               0      1      2    ...   31
//     product         node j node j node j ... node j    32 addresses, which happen to be one
//     constant           <------ node j ------------>    one address for the warp, one answer to all
//
// 64 KiB are all there is, for a whole program; here 48 KiB hold 3072 nodes.
//
// What it brought, on an NVIDIA H200 with CUDA 13.0 (1 December 2026), against product in
// milliseconds: n = 319, 100 000 points 0.0251 against 0.0457; n = 31, a million points 0.0314 against
// 0.0333; but n = 319, a million points 0.288 against 0.187, and n = 1000 1.39 against 0.539. From
// 100 000 points on blocked, which reads a node once for several points, is faster. Why constant memory
// loses with many nodes and many points has not been measured; its cache has a few KiB, and 319 nodes
// are 5 KiB.
#pragma once

// All threads read the same node at the same time: constant memory hands one word to a whole warp.
constexpr int most_constant_nodes = 3072;  // 48 KiB of the 64
__constant__ Term constant_terms[most_constant_nodes];
__constant__ int constant_exponents[most_constant_nodes / group_size];

__global__ void constant(const double* abscissae, double* values, int64_t points, Nodes nodes) {
    const int64_t s = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= points) return;
    const double x = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
    const Part all = part_by_products(x, constant_terms, constant_exponents, nodes.count);
    values[s] = finished(all, abscissae[s], nodes);
}

lab::Launch launch_constant(const Work& work) {
    const lab::Launch launch = thread_a_point(work);
    constant<<<launch.grid, launch.block>>>(work.d_abscissae, work.d_values, work.points,
                                            work.nodes);
    CHECK_LAUNCH();
    return launch;
}

void fill_constant_memory(const Work& work) {
    const size_t nodes = work.nodes.count, groups = lab::divide_up(work.nodes.count, group_size);
    CHECK(cudaMemcpyToSymbol(constant_terms, work.nodes.terms, nodes * sizeof(Term), 0,
                             cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpyToSymbol(constant_exponents, work.nodes.exponents, groups * sizeof(int), 0,
                             cudaMemcpyDeviceToDevice));
}
