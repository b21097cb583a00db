// The other formula, TODO 6 to 10: weights that are made once, and what a list of nodes is at a point.
#pragma once

#include "given/nodes.h"

// Weights, made once for all points: w_j = 1 / product of (x_j - x_i). With l(x) = product of all
// (x - x_i), the polynomial is l(x) * sum of w_j y_j / (x - x_j).

// A thread a node. weights: (nodes), w_j * y_j
__global__ void find_weights(Nodes nodes, Scaled* weights) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= nodes.count) return;
    Scaled product = {1.0, 0};
    // TODO 6 (about 4 lines): the product of all x_j - x_i but i = j, with nodes.x. After each
    // factor, normalised({value, exponent}) moves what has grown or shrunk into the exponent.
    const Scaled y = normalised({nodes.given_y[j], 0});
    weights[j] = normalised({y.value / product.value, y.exponent - product.exponent});
    if (y.value == 0.0) weights[j].exponent = lowest_exponent;
}

// A thread a node: the largest exponent of its group becomes the group's, and its own coefficient
// is what is left: at most 2, and 0 if it could not count beside the largest.
__global__ void find_terms(Nodes nodes, const Scaled* weights, Term* terms, int* exponents) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= nodes.count) return;
    const int first = j / group_size * group_size;
    int exponent = lowest_exponent;
    for (int i = first; i < min(first + group_size, nodes.count); i++) {
        exponent = max(exponent, weights[i].exponent);
    }
    terms[j].x = nodes.x[j];
    terms[j].coefficient = weights[j].value * power_of_two(weights[j].exponent - exponent);
    if (j == first) exponents[j / group_size] = exponent;
}

void launch_find_weights(const Nodes& nodes, Scaled* weights, Term* terms, int* exponents) {
    const unsigned blocks = lab::divide_up(nodes.count, 32);
    find_weights<<<blocks, 32>>>(nodes, weights);
    CHECK_LAUNCH();
    find_terms<<<blocks, 32>>>(nodes, weights, terms, exponents);
    CHECK_LAUNCH();
}

// ---------------------------------------------------------------------------------------------
// Some nodes of the list, evaluated at x: their numerator P = sum of w_j y_j times the product of
// all (x - x_i) but i = j, and their product L of all (x - x_i). P of all nodes is the value.

struct Pair {
    double numerator, product;
};

// Both of a group, with a division a node: P is L times the sum of w_j y_j / (x - x_j).
__device__ Pair group_by_division(double x, const Term* terms, int size) {
    double product = 1.0, sum = 0.0;
    // TODO 7 (about 5 lines): multiply the differences, add up the quotients.
    return {product * sum, product};
}

// Without a division, one more node: P becomes P d + w y L, and L becomes L d. Four instructions:
// the difference, and two products, and one product with a sum.
__device__ void add_node(double x, Term node, Pair& pair) {
    // TODO 8 (3 lines): the difference, the numerator, and after it the product.
}

// Numerator and product of any part of the nodes; the exponents beside them.
struct Part {
    Scaled numerator, product;
};

__device__ Part no_nodes() { return {{0.0, lowest_exponent}, {1.0, 0}}; }

// Two parts in one: P = P1 L2 + L1 P2 and L = L1 L2. Associative: parts may be made by different
// threads and combined in any grouping.
__device__ Part combined(const Part& a, const Part& b) {
    const Scaled p1 = normalised(a.numerator), l1 = normalised(a.product);
    const Scaled p2 = normalised(b.numerator), l2 = normalised(b.product);
    const int first = p1.exponent + l2.exponent, second = l1.exponent + p2.exponent;
    const int exponent = max(first, second);
    // TODO 9 (about 3 lines): the two products of the sum have the exponents first and second;
    // power_of_two(first - exponent) brings the one to the common exponent, and so on.
    (void)exponent;     // delete this line
    return no_nodes();  // replace this line
}

// Fields of exponents that are well within the limits of double.
constexpr int lowest_field = 101, highest_field = 1899;

// A group joins the nodes before it, if there are any. Where its product comes near the limits of
// double, digits may be lost: NaN marks that, and finished() takes the careful way.
__device__ void add_group(Part& all, bool first, Pair group, int exponent) {
    const int field = exponent_field(group.product);
    const double product = field >= lowest_field && field <= highest_field ? group.product : NAN;
    const Part part = {{group.numerator, exponent}, {product, 0}};
    all = first ? part : combined(all, part);
}

#include "given/careful.cuh"  // careful_value

// The value, from the part that holds all nodes. A product of 0 says that x is a node, or nearly.
__device__ double finished(const Part& all, double given_x, const Nodes& nodes) {
    // TODO 10 (about 2 lines): as_double of the numerator; but where the value of the product is
    // 0 (a node) or NaN (doubtful), careful_value. NaN > 0 is false.
    return as_double(all.numerator);  // replace this line
}
