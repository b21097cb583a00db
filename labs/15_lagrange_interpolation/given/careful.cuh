// The way for few points, when finished() of formula.cuh finds no product: the point is a node, or a product
// came near the limits of double. Included there, behind combined().
#pragma once

// The number of the node that lies at x, or -1. Halves what is left, ten times for a thousand nodes:
// a look at each of them would take as long as everything else.
__device__ int node_at(double given_x, const Nodes& nodes) {
    int first = 0, last = nodes.count - 1;  // counted from the left
    while (first < last) {
        const int middle = (first + last) / 2;
        if (nodes.given_x[dealt_place(middle, nodes.count)] < given_x) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    const int place = dealt_place(first, nodes.count);
    return nodes.given_x[place] == given_x ? place : -1;
}

// Whether the product of a group comes near the limits of double on its way, or is 0.
__device__ bool near_limits(double x, const Nodes& nodes) {
    Scaled product = {1.0, 0};
    for (int j = 0; j < nodes.count; j++) {
        if (j % group_size == 0) product = {1.0, 0};
        product = normalised({product.value * (x - nodes.x[j]), product.exponent});
        const int field = product.exponent + 1023;
        if (field <= lowest_field || field >= highest_field) return true;
    }
    return false;
}

// The way for few points: at a node its own y, and elsewhere exponents at every step. Each point is
// counted, so that a kernel that asks without a reason is found out.
__device__ __noinline__ double careful_value(double given_x, const Nodes& nodes) {
    const int node = node_at(given_x, nodes);
    const double x = in_unit(given_x, nodes.unit, nodes.unit_again);
    const int reason = node >= 0 ? AtNode : near_limits(x, nodes) ? NearLimits : NoReason;
    atomicAdd(&nodes.careful[reason], 1);
    if (node >= 0) return nodes.given_y[node];
    Part part = no_nodes();
    for (int j = 0; j < nodes.count; j++) {
        const Scaled coefficient = {nodes.terms[j].coefficient, nodes.exponents[j / group_size]};
        part = combined(part, {coefficient, {x - nodes.terms[j].x, 0}});
    }
    return as_double(part.numerator);
}
