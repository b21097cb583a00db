// phases, phases_one_call: the report's five phases, TODO 2 to 5. n^2 a point, and a thread for each factor.
#pragma once

#include "given/nodes.h"

constexpr int side = 32;  // of a block: 32 x 32 threads, so that a row of it is a warp

// Phase 0. Thread (j, i): what the factor of nodes i and j needs at every point.
// t, z: (nodes, nodes), row i, column j
__global__ void find_constants(Nodes nodes, double* t, double* z) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j >= nodes.count || i >= nodes.count) return;
    const int64_t index_2d = j + int64_t{i} * nodes.count;
    // TODO 2 (2 lines): t = x_j - x_i and z = x_i / t, with nodes.x for both. (i = j gives nonsense,
    // and nobody reads it.)
    (void)index_2d;  // delete this line
}

// The first of the two calls: once for a set of nodes.
void launch_find_constants(const Work& work) {
    const unsigned blocks = lab::divide_up(work.nodes.count, side);
    find_constants<<<dim3(blocks, blocks), dim3(side, side)>>>(work.nodes, work.t, work.z);
    CHECK_LAUNCH();
}

// The grid of phases 1 to 3: a block for each point and each group of `side` columns.
lab::Launch phases_shape(int64_t points, int nodes) {
    // TODO 3a (1 line): S blocks along x, and as many along y as hold all columns.
    return {dim3(points, 1 + 0 * nodes), dim3(side, side)};  // replace this line
}

// Phases 1 to 3. Block (s, k): point s, and the 32 columns j that begin at 32 k.
// partial_sums: (groups of columns, points)
__global__ void intra_block(const double* abscissae, Nodes nodes, const double* t, const double* z,
                            double* partial_sums) {
    __shared__ double x;
    __shared__ double products[side][side];
    const int64_t s = blockIdx.x;
    const int j = threadIdx.x + blockIdx.y * blockDim.x;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        x = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
    }
    __syncthreads();

    // Phase 1: the window of 32 rows slides down the column; a thread multiplies what it meets.
    double product = 1.0;
    // TODO 3b (about 4 lines): the rows of this thread are threadIdx.y, and then every
    // blockDim.y-th one; the factor is x / t - z, and 1 where i = j. No column j, no rows.
    products[threadIdx.y][threadIdx.x] = product;

    // Phase 2: the lower half of the rows is multiplied onto the upper, until one row is left.
    for (int rows = side / 2; rows > 0; rows /= 2) {
        // TODO 4 (about 4 lines): whom must a thread wait for before it reads another's product?
    }
    if (threadIdx.y > 0) return;

    // Phase 3: the first row is one warp. It sums y_j times the product; at a node that is y_j.
    const double basis_value = j < nodes.count && x == nodes.x[j] ? 1.0 : products[0][threadIdx.x];
    products[0][threadIdx.x] = j < nodes.count ? nodes.given_y[j] * basis_value : 0.0;
    for (int columns = side / 2; columns > 0; columns /= 2) {
        __syncwarp();
        if (threadIdx.x < columns) products[0][threadIdx.x] += products[0][threadIdx.x + columns];
    }
    // TODO 5a (1 line): thread 0 stores products[0][0]; the sums of one blockIdx.y lie together,
    // in the order of the points, and there are gridDim.x points.
}

// Phase 4. A thread a point: the sum of its blocks' sums. Neighbours read neighbours.
__global__ void inter_block(const double* partial_sums, int sums, double* values, int64_t points) {
    const int64_t s = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= points) return;
    double sum = 0.0;
    // TODO 5b (1 line): as they were stored.
    values[s] = sum;
}

// The second call, for every set of points.
lab::Launch launch_phases(const Work& work) {
    const lab::Launch launch = phases_shape(work.points, work.nodes.count);
    intra_block<<<launch.grid, launch.block>>>(work.d_abscissae, work.nodes, work.t, work.z,
                                               work.partial_sums);
    CHECK_LAUNCH();
    const unsigned blocks = lab::divide_up(work.points, threads);
    inter_block<<<blocks, threads>>>(work.partial_sums, launch.grid.y, work.d_values, work.points);
    CHECK_LAUNCH();
    return launch;
}

lab::Launch launch_phases_one_call(const Work& work) {
    launch_find_constants(work);
    return launch_phases(work);
}
