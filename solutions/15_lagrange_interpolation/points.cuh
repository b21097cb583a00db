// barycentric, product, warp_a_point, blocked: n a point, TODO 11 and 12. abscissae, values: (points)
#pragma once

#include "formula.cuh"

// A thread a point, a division a node. The quotients are most of the work.
__global__ void barycentric(const double* abscissae, double* values, int64_t points, Nodes nodes) {
    const int64_t s = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= points) return;
    const double x = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
    Part part = no_nodes();
    for (int first = 0; first < nodes.count; first += group_size) {
        const int size = min(group_size, nodes.count - first);
        const Pair group = group_by_division(x, nodes.terms + first, size);
        add_group(part, first == 0, group, nodes.exponents[first / group_size]);
    }
    values[s] = finished(part, abscissae[s], nodes);
}

lab::Launch launch_barycentric(const Work& work) {
    const lab::Launch launch = thread_a_point(work);
    barycentric<<<launch.grid, launch.block>>>(work.d_abscissae, work.d_values, work.points,
                                               work.nodes);
    CHECK_LAUNCH();
    return launch;
}

// The groups of terms, one node after the other, without a division.
__device__ Part part_by_products(double x, const Term* terms, const int* exponents, int count) {
    Part part = no_nodes();
    for (int first = 0; first < count; first += group_size) {
        Pair group = {0.0, 1.0};
        const int end = min(first + group_size, count);
#pragma unroll 4
        for (int j = first; j < end; j++) add_node(x, terms[j], group);
        add_group(part, first == 0, group, exponents[first / group_size]);
    }
    return part;
}

// A thread a point.
__global__ void product(const double* abscissae, double* values, int64_t points, Nodes nodes) {
    const int64_t s = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= points) return;
    const double x = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
    const Part all = part_by_products(x, nodes.terms, nodes.exponents, nodes.count);
    values[s] = finished(all, abscissae[s], nodes);
}

lab::Launch launch_product(const Work& work) {
    const lab::Launch launch = thread_a_point(work);
    product<<<launch.grid, launch.block>>>(work.d_abscissae, work.d_values, work.points,
                                           work.nodes);
    CHECK_LAUNCH();
    return launch;
}

__device__ Part from_lane_above(const Part& part, int distance) {
    const unsigned everyone = 0xFFFFFFFF;
    return {{__shfl_down_sync(everyone, part.numerator.value, distance),
             __shfl_down_sync(everyone, part.numerator.exponent, distance)},
            {__shfl_down_sync(everyone, part.product.value, distance),
             __shfl_down_sync(everyone, part.product.exponent, distance)}};
}

// A warp a point: where there are fewer points than the card has threads. Each lane takes one node
// of every group, and then the lanes' parts become one in five steps.
__global__ void warp_a_point(const double* abscissae, double* values, int64_t points, Nodes nodes) {
    const int64_t s = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (s >= points) return;
    const double x = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
    Part part = no_nodes();
    // BEGIN SOLUTION
    for (int j = lane; j < nodes.count; j += 32) {
        const Scaled coefficient = {nodes.terms[j].coefficient, nodes.exponents[j / group_size]};
        part = combined(part, {coefficient, {x - nodes.terms[j].x, 0}});
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        part = combined(part, from_lane_above(part, distance));
    }
    //: // TODO 11 (about 7 lines): combine every 32nd node with the part, as careful_value does with
    //: // all of them; then combine the part with that of the lane 16 above, 8 above, ... 1 above.
    //: (void)x;  // delete this line
    // END SOLUTION
    if (lane == 0) values[s] = finished(part, abscissae[s], nodes);
}

lab::Launch launch_warp_a_point(const Work& work) {
    const lab::Launch launch = {dim3(lab::divide_up(work.points, threads / 32)), dim3(threads)};
    warp_a_point<<<launch.grid, launch.block>>>(work.d_abscissae, work.d_values, work.points,
                                                work.nodes);
    CHECK_LAUNCH();
    return launch;
}

// Several points a thread. A node is read from shared memory once, and its 16 bytes serve 4 points
// times 4 instructions; and the points' chains of products, each waiting for its own last step only,
// fill each other's gaps.
constexpr int blocked_points = lab::on_cpu ? 8 : 4;
constexpr int blocked_threads = 128;

__global__ void __launch_bounds__(blocked_threads)
    blocked(const double* abscissae, double* values, int64_t points, Nodes nodes) {
    __shared__ Term tile[group_size];
    const int64_t start = int64_t{blockIdx.x} * blocked_threads * blocked_points + threadIdx.x;
    double x[blocked_points];
    Part parts[blocked_points];
#pragma unroll
    for (int k = 0; k < blocked_points; k++) {
        const int64_t s = min(start + k * blocked_threads, points - 1);
        x[k] = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
        parts[k] = no_nodes();
    }
    for (int first = 0; first < nodes.count; first += group_size) {
        const int size = min(group_size, nodes.count - first);
        __syncthreads();
        for (int j = threadIdx.x; j < size; j += blocked_threads) tile[j] = nodes.terms[first + j];
        __syncthreads();
        Pair groups[blocked_points];
#pragma unroll
        for (int k = 0; k < blocked_points; k++) {  // the first node needs one instruction
            groups[k] = {tile[0].coefficient, x[k] - tile[0].x};
        }
        // BEGIN SOLUTION
#pragma unroll 4
        for (int j = 1; j < size; j++) {
            const Term node = tile[j];
#pragma unroll
            for (int k = 0; k < blocked_points; k++) add_node(x[k], node, groups[k]);
        }
        //: // TODO 12 (about 4 lines): the other nodes of the group. Read a node once, and add it to
        //: // the groups of all points (and let both loops be unrolled).
        // END SOLUTION
#pragma unroll
        for (int k = 0; k < blocked_points; k++) {
            add_group(parts[k], first == 0, groups[k], nodes.exponents[first / group_size]);
        }
    }
#pragma unroll
    for (int k = 0; k < blocked_points; k++) {
        const int64_t s = start + k * blocked_threads;
        if (s < points) values[s] = finished(parts[k], abscissae[s], nodes);
    }
}

lab::Launch blocked_shape(int64_t points) {
    return {dim3(lab::divide_up(points, blocked_threads * blocked_points)), dim3(blocked_threads)};
}

lab::Launch launch_blocked(const Work& work) {
    const lab::Launch launch = blocked_shape(work.points);
    blocked<<<launch.grid, launch.block>>>(work.d_abscissae, work.d_values, work.points,
                                           work.nodes);
    CHECK_LAUNCH();
    return launch;
}
