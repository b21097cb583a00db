// 15 lagrange_interpolation: the values of the polynomial through n + 1 nodes (x_j, y_j) at many
// abscissae, all in double. The sum over Lagrange's basis polynomials costs n^2 a point; a report
// shared it out in five phases. Then the same polynomial in n steps a point, and those in fewer
// instructions.
//
//   basis            n^2 a point: a thread a point, both loops
//   phases           n^2 a point: the report's phases 1 to 4, the constants of phase 0 made before
//   phases_one_call  the same with phase 0, all in one call
//   barycentric      n a point: weights made once, a division for every node
//   product          no division: numerator and node polynomial are carried along together
//   constant         the same, the nodes in constant memory
//   warp_a_point     a warp a point: for few points; pieces of the sum combine
//   blocked          several points a thread: each node, once in a register, serves them all
//   copied           blocked, with the copies to the device and back, one after the other
//   overlapped       blocked in pieces, copies and computation at the same time

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/lab.h"

// ---------------------------------------------------------------------------------------------
// CPU reference.

// The report's serial algorithm: for every point the sum over j of y_j times the product over i.
void basis_on_cpu(const std::vector<double>& node_x, const std::vector<double>& node_y,
                  const double* abscissae, double* values, int64_t points) {
    const size_t nodes = node_x.size();
    for (int64_t s = 0; s < points; s++) {
        double sum = 0.0;
        for (size_t j = 0; j < nodes; j++) {
            double product = 1.0;
            for (size_t i = 0; i < nodes; i++) {
                if (i != j) product *= (abscissae[s] - node_x[i]) / (node_x[j] - node_x[i]);
            }
            sum += node_y[j] * product;
        }
        values[s] = sum;
    }
}

// What a value should be, and how far rounding alone may carry a right program from it.
struct Expected {
    double value;
    double terms;  // sum of |y_j L_j(x)|: by so much a relative error of the y_j is magnified
    double bound;  // for products of differences: a few n roundings of `terms`
    double phases_bound;  // for the report's x / t - z, which cancels when x is far from 0
};

// The same polynomial in long double and by another road: products of the differences before and
// behind each node, with no division and no weight times a whole product.
class Reference {
 public:
    Reference(const std::vector<double>& x, const std::vector<double>& y) : x_(x), y_(y) {
        const auto ends = std::minmax_element(x.begin(), x.end());
        const long double width = static_cast<long double>(*ends.second) - *ends.first;
        factor_ = width > 0 ? 4 / width : 1;  // so that long products stay near 1
        denominators_.assign(x.size(), 1.0L);
        for (size_t j = 0; j < x.size(); j++) {
            for (size_t i = 0; i < x.size(); i++) {
                if (i != j) denominators_[j] *= difference(x[j], i);
            }
        }
        behind_.resize(x.size() + 1);
    }

    Expected at(double x) {
        const size_t nodes = x_.size();
        behind_[nodes] = 1;
        for (size_t i = nodes; i-- > 0;) behind_[i] = behind_[i + 1] * difference(x, i);
        long double all_shares = 0;
        for (size_t i = 0; i < nodes; i++) all_shares += share(x, i);
        long double before = 1, sum = 0, magnitude = 0, cancelled = 0;
        for (size_t j = 0; j < nodes; j++) {
            const long double term = y_[j] * (before * behind_[j + 1] / denominators_[j]);
            sum += term;
            magnitude += std::fabs(term);
            cancelled += std::fabs(term) * (all_shares - share(x, j));
            before *= difference(x, j);
        }
        const double unit = 0x1p-53;
        const double basis = magnitude * unit * (5.0 * nodes + 10) + 1e-320;
        const double phases = basis + 4 * unit * static_cast<double>(cancelled);
        return {static_cast<double>(sum), static_cast<double>(magnitude), basis, phases};
    }

 private:
    long double difference(double x, size_t i) const {
        return (static_cast<long double>(x) - x_[i]) * factor_;
    }

    // How much larger than the difference the quotients x / t and x_i / t are together.
    long double share(double x, size_t i) const {
        const long double distance = std::fabs(difference(x, i)) / factor_;
        return distance > 0 ? (std::fabs(x) + std::fabs(x_[i])) / distance : 0;
    }

    std::vector<double> x_, y_;
    std::vector<long double> denominators_, behind_;
    long double factor_;
};

// ---------------------------------------------------------------------------------------------
// Numbers beyond the range of double: value * 2^exponent.

constexpr int lowest_exponent = -(1 << 28);  // that of zero: below any other, and far from overflow

struct Scaled {
    double value;
    int exponent;
};

__device__ int exponent_field(double value) { return (__double2hiint(value) >> 20) & 0x7FF; }

// 2^exponent for an exponent up to 1023; 0 for one below -1022.
__device__ double power_of_two(int exponent) {
    return exponent < -1022 ? 0.0 : __hiloint2double((exponent + 1023) << 20, 0);
}

// The same number with 1 <= |value| < 2. Zero stays zero; infinity becomes NaN, which stays.
__device__ Scaled normalised(Scaled number) {
    const int shift = 1023 - exponent_field(number.value);
    return {number.value * power_of_two(shift), number.exponent - shift};
}

// As a double, rounded once; infinite or 0 where it has to be.
__device__ double as_double(Scaled number) {
    const int exponent = max(-2044, min(number.exponent, 2046));
    const int half = exponent / 2;
    return number.value * power_of_two(half) * power_of_two(exponent - half);
}

// ---------------------------------------------------------------------------------------------
// The nodes on the device. 512 of them are a group. Distances are measured in a unit, a power of
// two, in which all nodes lie about 4 apart, and groups come dealt out like cards (see deal): so
// the differences of a group can be multiplied without a look at their exponents.

constexpr int group_size = 512;

// Where the node that is number i from the left lies once the nodes are dealt out.
__host__ __device__ int dealt_place(int i, int count) {
    const int hands = (count + group_size - 1) / group_size, hand = i % hands;
    const int more = count % hands;  // so many hands have one more
    const int longer = hand < more ? hand : more;
    return hand * (count / hands) + longer + i / hands;
}

struct alignas(16) Term {
    double x;            // of the node, in the unit
    double coefficient;  // weight * y, divided by 2^(exponent of the group)
};

struct Nodes {
    int count;
    const double *given_x, *given_y;  // (count)
    const double* x;                  // (count), in the unit
    const Term* terms;                // (count)
    const int* exponents;             // (groups)
    double unit, unit_again;          // two factors, as their product may be no double
    unsigned long long* careful;      // (reasons): how many points took the careful way, and why
};

// Why a point takes the careful way: it is a node; a product comes near the limits of double; or
// neither, and then the kernel had no reason to ask.
enum Reason { AtNode, NearLimits, NoReason, reasons };

__host__ __device__ double in_unit(double x, double unit, double unit_again) {
    return x * unit * unit_again;  // exact: powers of two
}

// ---------------------------------------------------------------------------------------------
// Kernels, n^2 a point. abscissae, values: (points)

// A thread a point. At a node one product is exactly 1 and all others are exactly 0.
__global__ void basis(const double* abscissae, double* values, int64_t points, Nodes nodes) {
    const int64_t s = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (s >= points) return;
    const double x = in_unit(abscissae[s], nodes.unit, nodes.unit_again);
    // TODO 1 (about 9 lines): basis_on_cpu for this thread's point, with nodes.x (in the unit, as
    // x is) for the abscissae and nodes.given_y for the ordinates of the nodes.
    (void)x;  // delete this line
}

struct Shape {
    dim3 grid, block;
};

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

// The grid of phases 1 to 3: a block for each point and each group of `side` columns.
Shape phases_shape(int64_t points, int nodes) {
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

// ---------------------------------------------------------------------------------------------
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

// The value, from the part that holds all nodes. A product of 0 says that x is a node, or nearly.
__device__ double finished(const Part& all, double given_x, const Nodes& nodes) {
    // TODO 10 (about 2 lines): as_double of the numerator; but where the value of the product is
    // 0 (a node) or NaN (doubtful), careful_value. NaN > 0 is false.
    return as_double(all.numerator);  // replace this line
}

// ---------------------------------------------------------------------------------------------
// Kernels, n a point. abscissae, values: (points)

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
    // TODO 11 (about 7 lines): combine every 32nd node with the part, as careful_value does with
    // all of them; then combine the part with that of the lane 16 above, 8 above, ... 1 above.
    (void)x;  // delete this line
    if (lane == 0) values[s] = finished(part, abscissae[s], nodes);
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
        // TODO 12 (about 4 lines): the other nodes of the group. Read a node once, and add it to
        // the groups of all points (and let both loops be unrolled).
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

// ---------------------------------------------------------------------------------------------
// Memory on the device, grids and launches.

using lab::DeviceArray;

// What a variant works with.
struct Work {
    Nodes nodes;
    int64_t points;
    const double* d_abscissae;  // (points), as d_values; both null for `overlapped`
    double* d_values;
    double *t, *z, *partial_sums;  // of the phases only
    const double* h_abscissae;     // of copied and overlapped
    double* h_values;
    int64_t piece;  // of overlapped: points at a time
};

constexpr int threads = 128;

Shape thread_a_point_shape(int64_t points, int) {
    return {dim3(lab::divide_up(points, threads)), dim3(threads)};
}

Shape warp_a_point_shape(int64_t points, int) {
    return {dim3(lab::divide_up(points, threads / 32)), dim3(threads)};
}

Shape blocked_shape(int64_t points, int) {
    return {dim3(lab::divide_up(points, blocked_threads * blocked_points)), dim3(blocked_threads)};
}

using Kernel = void (*)(const double* abscissae, double* values, int64_t points, Nodes nodes);

template <Kernel kernel, Shape (*shape)(int64_t, int)>
void launch(const Work& work) {
    const Shape launched = shape(work.points, work.nodes.count);
    kernel<<<launched.grid, launched.block>>>(work.d_abscissae, work.d_values, work.points,
                                              work.nodes);
    CHECK_LAUNCH();
}

// The first of the two calls: once for a set of nodes.
void launch_find_constants(const Work& work) {
    const unsigned blocks = lab::divide_up(work.nodes.count, side);
    find_constants<<<dim3(blocks, blocks), dim3(side, side)>>>(work.nodes, work.t, work.z);
    CHECK_LAUNCH();
}

// The second, for every set of points.
void launch_phases(const Work& work) {
    const Shape shape = phases_shape(work.points, work.nodes.count);
    intra_block<<<shape.grid, shape.block>>>(work.d_abscissae, work.nodes, work.t, work.z,
                                             work.partial_sums);
    CHECK_LAUNCH();
    const unsigned blocks = lab::divide_up(work.points, threads);
    inter_block<<<blocks, threads>>>(work.partial_sums, shape.grid.y, work.d_values, work.points);
    CHECK_LAUNCH();
}

void launch_phases_one_call(const Work& work) {
    launch_find_constants(work);
    launch_phases(work);
}

// As the report did it: all points there, all values computed, all values back.
void launch_copied(const Work& work) {
    const size_t bytes = work.points * sizeof(double);
    CHECK(cudaMemcpy(const_cast<double*>(work.d_abscissae), work.h_abscissae, bytes,
                     cudaMemcpyHostToDevice));
    launch<blocked, blocked_shape>(work);
    CHECK(cudaMemcpy(work.h_values, work.d_values, bytes, cudaMemcpyDeviceToHost));
}

// Pieces over three streams: while one is computed, the next comes and the last goes. The device
// holds three pieces, however many points there are.
constexpr int stream_count = 3;

struct PieceBuffers {
    explicit PieceBuffers(int64_t piece)
        : abscissae(stream_count * piece), values(stream_count * piece) {
        for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
    }
    ~PieceBuffers() {
        for (cudaStream_t& stream : streams) cudaStreamDestroy(stream);
    }
    DeviceArray<double> abscissae, values;
    cudaStream_t streams[stream_count];
};

void launch_overlapped(const Work& work, const PieceBuffers& buffers) {
    int turn = 0;
    for (int64_t first = 0; first < work.points; first += work.piece) {
        const int64_t size = std::min(work.piece, work.points - first);
        const Shape shape = blocked_shape(size, work.nodes.count);
        const cudaStream_t stream = buffers.streams[turn];
        double* const d_abscissae = buffers.abscissae.get() + turn * work.piece;
        double* const d_values = buffers.values.get() + turn * work.piece;
        // TODO 13 (about 5 lines): copy the piece's abscissae to the device, launch blocked, copy
        // its values back; all three in this piece's stream, so that they keep their order.
        (void)shape, (void)stream, (void)d_abscissae, (void)d_values;  // delete this line
        turn = (turn + 1) % stream_count;
    }
}

enum Kind { Linear, Quadratic, Transferring, InPieces };

struct Variant {
    const char* name;
    Kind kind;
    Shape (*shape)(int64_t points, int nodes);
    void (*launch)(const Work& work);  // not for InPieces
};

const Variant all_variants[] = {
    {"basis", Quadratic, thread_a_point_shape, launch<basis, thread_a_point_shape>},
    {"phases", Quadratic, phases_shape, launch_phases},
    {"phases_one_call", Quadratic, phases_shape, launch_phases_one_call},
    {"barycentric", Linear, thread_a_point_shape, launch<barycentric, thread_a_point_shape>},
    {"product", Linear, thread_a_point_shape, launch<product, thread_a_point_shape>},
    {"constant", Linear, thread_a_point_shape, launch<constant, thread_a_point_shape>},
    {"warp_a_point", Linear, warp_a_point_shape, launch<warp_a_point, warp_a_point_shape>},
    {"blocked", Linear, blocked_shape, launch<blocked, blocked_shape>},
    {"copied", Transferring, blocked_shape, launch_copied},
    {"overlapped", InPieces, blocked_shape, nullptr},
};

const Variant& find(const std::string& name) {
    return *std::find_if(std::begin(all_variants), std::end(all_variants),
                         [&](const Variant& variant) { return name == variant.name; });
}

bool has_phases(const std::string& name) { return name.rfind("phases", 0) == 0; }

// ---------------------------------------------------------------------------------------------
// Nodes and points: generated, or from files.

constexpr int64_t most_nodes = 1 << 20;
constexpr int64_t most_points = INT32_MAX;  // as many blocks as the phases' grid has along x

struct Function {
    const char* name;
    double (*value)(double x);
};

const Function all_functions[] = {
    {"runge", [](double x) { return 1 / (1 + 25 * x * x); }},
    {"sign", [](double x) { return double((x > 0) - (x < 0)); }},
    {"exp_cos", [](double x) { return std::exp(x) / std::cos(x); }},
    {"abs_line", [](double x) { return std::fabs(x) + x / 2 - x * x; }},
    {"sine", [](double x) { return std::sin(x); }},
};

struct Problem {
    std::vector<double> x, y;  // the nodes
    std::vector<double> abscissae;
    const Function* function = nullptr;  // what the nodes were taken from, if they were generated
};

// Both ends included; a single one is the lower end.
std::vector<double> equispaced(double from, double to, int64_t count) {
    std::vector<double> values(count, from);
    for (int64_t i = 1; i < count; i++) {
        const double share = static_cast<double>(i) / static_cast<double>(count - 1);
        values[i] = from * (1 - share) + to * share;
    }
    if (count > 1) values.back() = to;
    return values;
}

// Of the second kind: the extrema of Chebyshev's polynomial of degree n, the ends among them; from
// left to right cos(pi (n - j) / n), here as a sine, which is exact in the middle.
std::vector<double> chebyshev(double from, double to, int64_t count) {
    std::vector<double> values(count, from / 2 + to / 2);
    const double n = static_cast<double>(count - 1), pi = std::acos(-1.0);
    for (int64_t j = 0; j < count && count > 1; j++) {
        values[j] +=
            (to / 2 - from / 2) * std::sin(pi * (2 * static_cast<double>(j) - n) / (2 * n));
    }
    if (count > 1) values.front() = from, values.back() = to;
    return values;
}

// Refuses NaN and infinity, with their place.
void require_finite(const std::vector<double>& values, const std::string& what) {
    const auto bad = std::find_if(values.begin(), values.end(),
                                  [](double value) { return !std::isfinite(value); });
    if (bad == values.end()) return;
    lab::refuse("%s is %s at index %lld: every value must be a finite number", what.c_str(),
                std::isnan(*bad) ? "NaN" : "infinite",
                static_cast<long long>(bad - values.begin()));
}

// The power of two by which abscissae are multiplied so that the nodes lie 3 to 6 apart: over 4 the
// products of evenly placed differences stay near 1.
int unit_exponent(const std::vector<double>& x) {
    const auto ends = std::minmax_element(x.begin(), x.end());
    const long double width = static_cast<long double>(*ends.second) - *ends.first;
    if (width == 0) return -2;  // a single node: small enough for a difference to be finite
    int exponent;
    const long double share = std::frexp(width, &exponent);
    return (share < 0.7L ? 3 : 2) - exponent;
}

// The two factors of that power: the power itself may be out of range.
double unit_factor(int exponent, bool again) {
    return std::ldexp(1.0, again ? exponent - exponent / 2 : exponent / 2);
}

// The indices of the nodes from left to right. Refuses two in one place.
std::vector<int64_t> sorted_nodes(const std::vector<double>& x) {
    std::vector<int64_t> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return x[a] < x[b]; });
    const int exponent = unit_exponent(x);
    const double unit = unit_factor(exponent, false), again = unit_factor(exponent, true);
    for (size_t i = 1; i < order.size(); i++) {
        const long long a = std::min(order[i - 1], order[i]), b = std::max(order[i - 1], order[i]);
        if (x[a] == x[b]) {
            lab::refuse(
                "nodes %lld and %lld have the same abscissa, %.17g: no polynomial is defined", a, b,
                x[a]);
        }
        if (in_unit(x[a], unit, again) == in_unit(x[b], unit, again)) {
            lab::refuse(
                "nodes %lld and %lld lie too close together for nodes so far apart: between "
                "the closest and the farthest no double has room",
                a, b);
        }
    }
    return order;
}

// Deals the nodes out like cards, from left to right to as many hands as there are groups. Each
// group then is spread over the whole interval, and its products are neither huge nor tiny.
void deal(Problem& problem) {
    const std::vector<int64_t> order = sorted_nodes(problem.x);
    const int count = order.size();
    std::vector<double> x(count), y(count);
    for (int i = 0; i < count; i++) {
        x[dealt_place(i, count)] = problem.x[order[i]];
        y[dealt_place(i, count)] = problem.y[order[i]];
    }
    problem.x = x;
    problem.y = y;
}

struct Options {
    std::string nodes, function, x_path, y_path, at_path;
    int64_t degree, points;
    double from, to;
};

void generate_nodes(Problem& problem, const Options& options) {
    const int64_t count = options.degree + 1;
    problem.x = options.nodes == "equispaced" ? equispaced(options.from, options.to, count)
                                              : chebyshev(options.from, options.to, count);
    for (const Function& function : all_functions) {
        if (options.function == function.name) problem.function = &function;
    }
    for (const double x : problem.x) problem.y.push_back(problem.function->value(x));
    require_finite(problem.y, "the function " + options.function + " at the nodes");
}

void read_nodes(Problem& problem, const Options& options) {
    problem.x = lab::read_array<double>(options.x_path, 1).values;
    problem.y = lab::read_array<double>(options.y_path, 1).values;
    if (problem.x.size() != problem.y.size()) {
        lab::refuse("--x has %zu values and --y has %zu: a node needs one of each",
                    problem.x.size(), problem.y.size());
    }
    if (problem.x.empty()) lab::refuse("--x and --y are empty: at least one node is needed");
    if (problem.x.size() > most_nodes) {
        lab::refuse("--x has %zu nodes, and at most %lld are allowed", problem.x.size(),
                    static_cast<long long>(most_nodes));
    }
    require_finite(problem.x, "--x");
    require_finite(problem.y, "--y");
}

Problem read_problem(const Options& options) {
    Problem problem;
    options.x_path.empty() ? generate_nodes(problem, options) : read_nodes(problem, options);
    if (options.at_path.empty()) {
        const auto ends = std::minmax_element(problem.x.begin(), problem.x.end());
        const bool generated = options.x_path.empty();
        lab::require_host_memory(2 * sizeof(double) * options.points, "that many points");
        problem.abscissae = equispaced(generated ? options.from : *ends.first,
                                       generated ? options.to : *ends.second, options.points);
    } else {
        problem.abscissae = lab::read_array<double>(options.at_path, 1).values;
        if (problem.abscissae.size() > most_points)
            lab::refuse("--at has more than 2147483647 values");
        require_finite(problem.abscissae, "--at");
    }
    deal(problem);
    return problem;
}

// ---------------------------------------------------------------------------------------------
// Judging and timing.

// The nodes on the device, with their terms; made once.
class NodesOnDevice {
 public:
    explicit NodesOnDevice(const Problem& problem)
        : count_(problem.x.size()),
          arrays_(3 * count_),
          terms_(count_),
          weights_(count_),
          exponents_(lab::divide_up(count_, group_size)),
          careful_(reasons) {
        const int exponent = unit_exponent(problem.x);
        nodes_ = {static_cast<int>(count_),
                  arrays_.get(),
                  arrays_.get() + count_,
                  arrays_.get() + 2 * count_,
                  terms_.get(),
                  exponents_.get(),
                  unit_factor(exponent, false),
                  unit_factor(exponent, true),
                  careful_.get()};
        std::vector<double> x;
        for (const double given : problem.x) {
            x.push_back(in_unit(given, nodes_.unit, nodes_.unit_again));
        }
        const size_t bytes = count_ * sizeof(double);
        CHECK(cudaMemcpy(arrays_.get(), problem.x.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(arrays_.get() + count_, problem.y.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(arrays_.get() + 2 * count_, x.data(), bytes, cudaMemcpyHostToDevice));
        make_terms();
        if (count_ <= most_constant_nodes) fill_constant_memory();
    }

    void make_terms() {
        const unsigned blocks = lab::divide_up(count_, 32);
        find_weights<<<blocks, 32>>>(nodes_, weights_.get());
        CHECK_LAUNCH();
        find_terms<<<blocks, 32>>>(nodes_, weights_.get(), terms_.get(), exponents_.get());
        CHECK_LAUNCH();
    }

    const Nodes& nodes() const { return nodes_; }

    void forget_careful() { CHECK(cudaMemset(careful_.get(), 0, careful_.bytes())); }

    // How many points took the careful way since they were forgotten, a number for each reason.
    std::vector<unsigned long long> careful() const {
        std::vector<unsigned long long> counts(reasons);
        CHECK(cudaMemcpy(counts.data(), careful_.get(), careful_.bytes(), cudaMemcpyDeviceToHost));
        return counts;
    }

 private:
    void fill_constant_memory() {
        CHECK(cudaMemcpyToSymbol(constant_terms, terms_.get(), count_ * sizeof(Term), 0,
                                 cudaMemcpyDeviceToDevice));
        CHECK(cudaMemcpyToSymbol(constant_exponents, exponents_.get(),
                                 lab::divide_up(count_, group_size) * sizeof(int), 0,
                                 cudaMemcpyDeviceToDevice));
    }

    int64_t count_;
    DeviceArray<double> arrays_;
    DeviceArray<Term> terms_;
    DeviceArray<Scaled> weights_;
    DeviceArray<int> exponents_;
    DeviceArray<unsigned long long> careful_;
    Nodes nodes_;
};

// The reference at some of the points, spread evenly over all.
struct Sample {
    std::vector<int64_t> places;
    std::vector<Expected> expected;
    double largest_y = DBL_MIN;

    // What an error is measured against: the value, or the largest y where the value is near 0.
    double scale(const Expected& point) const {
        return std::max(std::fabs(point.value), largest_y);
    }
    // Whether rounding leaves a digit of this value. Where it does not, nearly any number is right.
    bool is_judged(const Expected& point, double bound) const {
        return std::isfinite(point.value) && 10 * bound <= scale(point);
    }
};

constexpr size_t most_judged_nodes = 1
                                     << 14;  // the reference needs n^2 steps before the first point

Sample take_sample(const Problem& problem) {
    const lab::NvtxRange range("reference");
    Sample sample;
    const int64_t points = problem.abscissae.size(), nodes = problem.x.size();
    const int64_t budget = std::max<int64_t>(50, (lab::on_cpu ? 1 << 19 : 1 << 22) / nodes);
    if (problem.x.size() > most_judged_nodes) return sample;
    Reference reference(problem.x, problem.y);
    for (const double y : problem.y) sample.largest_y = std::max(sample.largest_y, std::fabs(y));
    const int64_t count = std::min(points, budget);
    for (int64_t i = 0; i < count; i++) {
        const int64_t place =
            count == points ? i : i * ((points - 1) / std::max<int64_t>(1, count - 1));
        sample.places.push_back(place);
        sample.expected.push_back(reference.at(problem.abscissae[place]));
    }
    return sample;
}

// Values in the sample are compared where rounding leaves a digit; all others must have been written.
lab::Comparison judge(const std::vector<double>& values, const Sample& sample, bool phases) {
    lab::Comparison comparison;
    comparison.count = values.size();
    const auto wrong = [&](int64_t place, double expected) {
        if (comparison.wrong++ > 0) return;
        comparison.first = place;
        comparison.expected = expected;
        comparison.got = values[place];
    };
    size_t judged = 0;
    for (size_t i = 0; i < sample.places.size(); i++) {
        const Expected& expected = sample.expected[i];
        const double bound = phases ? expected.phases_bound : expected.bound;
        if (!sample.is_judged(expected, bound)) continue;
        judged++;
        const double difference = std::fabs(values[sample.places[i]] - expected.value);
        if (!(difference <= bound)) wrong(sample.places[i], expected.value);
    }
    const unsigned char unwritten[sizeof(double)] = {255, 255, 255, 255, 255, 255, 255, 255};
    for (size_t i = 0; i < values.size() && comparison.right(); i++) {
        if (std::memcmp(&values[i], unwritten, sizeof unwritten) == 0) wrong(i, 0);
    }
    if (judged == 0 && comparison.right()) {
        comparison.instead = "not judged, see the accuracy";
    } else if (judged < sample.places.size() && comparison.right()) {
        comparison.instead = lab::format("correct at the %zu of %zu points that can be judged",
                                         judged, sample.places.size());
    }
    return comparison;
}

// How many digits of the values can be trusted, whatever the variant, and a warning where that is none.
void note_accuracy(const Sample& sample, lab::Results& results) {
    if (sample.places.empty()) {
        results.note(lab::format("accuracy: not judged, as there are more than %zu nodes",
                                 most_judged_nodes));
        return;
    }
    size_t hopeless = 0;
    double terms = 0, bound = 0, digits = INFINITY;
    for (const Expected& point : sample.expected) {
        if (!std::isfinite(point.value)) continue;
        hopeless += !sample.is_judged(point, point.bound);
        terms = std::max(terms, point.terms);
        bound = std::max(bound, point.bound);
        digits = std::min(digits, -std::log10(point.bound / sample.scale(point)));
    }
    const std::string certain =
        hopeless == 0 ? std::to_string(int(digits)) + " digits" : "not one digit";
    results.note(
        lab::format("accuracy: the |y_j L_j(x)| add up to as much as %.2g, so rounding may "
                    "change a value by %.2g: %s can be trusted",
                    terms, bound, certain.c_str()));
    if (hopeless == 0 && 0x1p-53 * terms < sample.largest_y / 10) return;
    results.note(
        lab::format("warning: beside y of at most %.2g that leaves nothing. Through y that "
                    "differ in their last digits goes quite another polynomial, and not one "
                    "digit can be trusted as a value of what the y were taken from. Fewer "
                    "nodes or Chebyshev points help",
                    sample.largest_y));
}

// What this device can do: fused multiply-adds in double, in independent chains. In instructions
// (of one thread each) a second.
__global__ void multiply_add(double* sums, double factor) {
    double sum[8];
    for (int k = 0; k < 8; k++) sum[k] = threadIdx.x + k;
    for (int i = 0; i < 4096; i++) {
        for (int k = 0; k < 8; k++) sum[k] = sum[k] * factor + 1.0;
    }
    double all = 0;
    for (int k = 0; k < 8; k++) all += sum[k];
    sums[int64_t{blockIdx.x} * blockDim.x + threadIdx.x] = all;
}

double measured_instruction_rate() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    const int blocks = lab::on_cpu ? 2 : 8 * properties.multiProcessorCount;
    const DeviceArray<double> sums(blocks * 256);
    const double milliseconds = lab::median_milliseconds([&] {
        multiply_add<<<blocks, 256>>>(sums.get(), 0.5);
        CHECK_LAUNCH();
    });
    return 8.0 * 4096 * 256 * blocks / (milliseconds * 1e-3);
}

// Memory that only the phases need.
struct PhasesMemory {
    PhasesMemory(int64_t points, int64_t nodes)
        : t(nodes * nodes), z(nodes * nodes), sums(points * lab::divide_up(nodes, side)) {}
    DeviceArray<double> t, z, sums;

    static double bytes(double points, double nodes) {
        return 8 * (2 * nodes * nodes + points * std::ceil(nodes / side));
    }
};

// Runs one variant, and keeps its values in `values`.
class Runner {
 public:
    Runner(const Problem& problem, int64_t piece, lab::Results& results)
        : problem_(problem),
          on_device_(problem),
          sample_(take_sample(problem)),
          values_(problem.abscissae.size()),
          results_(results) {
        work_ = {on_device_.nodes(),
                 static_cast<int64_t>(values_.size()),
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr,
                 problem.abscissae.data(),
                 values_.data(),
                 piece};
        results.note("GFLOP/s: instructions in double, 4 a term (a point and a node) or a factor");
        if (lab::on_cpu) return;
        limit_ = measured_instruction_rate() / 4;
        results.note(lab::format("limit, measured: %.4g terms a second", limit_));
    }

    // Why the variant cannot run here, or "".
    std::string obstacle(const Variant& variant) const {
        const double points = work_.points, nodes = work_.nodes.count;
        if (variant.name == std::string("constant") && nodes > most_constant_nodes) {
            return lab::format("constant memory holds %d nodes", most_constant_nodes);
        }
        size_t available = 0, total = 0;
        CHECK(cudaMemGetInfo(&available, &total));
        double bytes = 16 * points;
        if (has_phases(variant.name)) bytes += PhasesMemory::bytes(points, nodes);
        if (variant.kind == InPieces) bytes = 16.0 * stream_count * work_.piece;
        if (bytes <= available) return "";
        return lab::format("needs %s of device memory, and %s are free",
                           lab::bytes_text(bytes).c_str(), lab::bytes_text(available).c_str());
    }

    void run(const Variant& variant) {
        const std::string reason = obstacle(variant);
        if (!reason.empty()) return results_.skip(variant.name, reason);
        const lab::NvtxRange range(variant.name);
        variant.kind == InPieces ? run_in_pieces(variant) : run_at_once(variant);
    }

    const std::vector<double>& values() const { return values_; }

    // The largest difference between the last variant's values and the function itself.
    double largest_error() const {
        double largest = 0;
        for (size_t i = 0; i < values_.size(); i++) {
            const double error =
                std::fabs(values_[i] - problem_.function->value(problem_.abscissae[i]));
            largest = std::isnan(error) ? NAN : std::max(largest, error);
        }
        return largest;
    }

    // What the program says below its table, about all variants.
    void note_all() {
        note_accuracy(sample_, results_);
        if (careful_.empty()) return;
        results_.note(
            "careful way taken by points at a node + near the limits of double + without a "
            "reason: " +
            lab::joined(careful_, ", "));
    }

    double weights_milliseconds() {
        return lab::median_milliseconds([&] { on_device_.make_terms(); });
    }

 private:
    void run_at_once(const Variant& variant) {
        const int64_t points = work_.points;
        const bool phases = has_phases(variant.name);
        const DeviceArray<double> abscissae(points), values(points);
        const PhasesMemory memory(phases ? points : 0, phases ? work_.nodes.count : 0);
        Work work = work_;
        work.d_abscissae = abscissae.get();
        work.d_values = values.get();
        work.t = memory.t.get();
        work.z = memory.z.get();
        work.partial_sums = memory.sums.get();
        const size_t bytes = points * sizeof(double);
        const bool transfers = variant.kind == Transferring;
        if (!transfers) {
            CHECK(cudaMemcpy(abscissae.get(), work.h_abscissae, bytes, cudaMemcpyHostToDevice));
        }
        if (variant.launch == launch_phases) launch_find_constants(work);
        const auto attempt = [&] {
            forget();
            CHECK(cudaMemset(values.get(), 0xFF, bytes));  // NaN: what no thread writes will show
            if (phases) CHECK(cudaMemset(memory.sums.get(), 0xFF, memory.sums.bytes()));
            variant.launch(work);
            if (!transfers) {
                CHECK(cudaMemcpy(values_.data(), values.get(), bytes, cudaMemcpyDeviceToHost));
            }
            return judged(variant);
        };
        add(variant, attempt, [&] { variant.launch(work); });
    }

    void run_in_pieces(const Variant& variant) {
        const PieceBuffers buffers(work_.piece);
        const size_t bytes = work_.points * sizeof(double);
        void* const h_abscissae = const_cast<double*>(work_.h_abscissae);
        // Pinned: the system must not move it while the device copies on its own.
        CHECK(cudaHostRegister(h_abscissae, bytes, cudaHostRegisterDefault));
        CHECK(cudaHostRegister(work_.h_values, bytes, cudaHostRegisterDefault));
        const auto attempt = [&] {
            forget();
            CHECK(cudaMemset(buffers.abscissae.get(), 0xFF, buffers.abscissae.bytes()));
            CHECK(cudaMemset(buffers.values.get(), 0xFF, buffers.values.bytes()));
            CHECK(cudaDeviceSynchronize());
            launch_overlapped(work_, buffers);
            CHECK(cudaDeviceSynchronize());
            return judged(variant);
        };
        add(variant, attempt, [&] { launch_overlapped(work_, buffers); });
        CHECK(cudaHostUnregister(h_abscissae));
        CHECK(cudaHostUnregister(work_.h_values));
    }

    // Nothing is left of an earlier launch.
    void forget() {
        on_device_.forget_careful();
        std::memset(values_.data(), 0xFF, values_.size() * sizeof(double));  // NaN
    }

    // Right are values within the bounds that are not owed to the careful way.
    lab::Comparison judged(const Variant& variant) {
        lab::Comparison comparison = judge(values_, sample_, has_phases(variant.name));
        counts_ = on_device_.careful();
        if (!comparison.right() || counts_[NoReason] == 0) return comparison;
        comparison.wrong = counts_[NoReason];
        comparison.instead =
            lab::format("%llu of %lld points take the careful way without a reason",
                        counts_[NoReason], (long long)work_.points);
        return comparison;
    }

    template <class Attempt, class Launch>
    void add(const Variant& variant, Attempt&& attempt, Launch&& launch) {
        const double nodes = work_.nodes.count;
        const double terms = work_.points * nodes * (variant.kind == Quadratic ? nodes : 1);
        const lab::Trial trial =
            lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(launch); });
        const Shape shape = variant.shape(
            variant.kind == InPieces ? std::min(work_.piece, work_.points) : work_.points,
            work_.nodes.count);
        results_.add(variant.name, shape.grid, shape.block, trial.milliseconds, 16.0 * work_.points,
                     4 * terms, trial.comparison);
        if (variant.kind != Quadratic) {
            careful_.push_back(lab::format("%s %llu + %llu + %llu", variant.name, counts_[AtNode],
                                           counts_[NearLimits], counts_[NoReason]));
        }
        if (trial.milliseconds == 0) return;
        const double rate = terms / (trial.milliseconds * 1e-3);
        const bool limited = limit_ > 0 && variant.kind != Quadratic;
        const std::string share =
            limited ? lab::format(", %.1f %% of the limit", 100 * rate / limit_) : "";
        results_.note(lab::format("%s: %.3g %s a second%s", variant.name, rate,
                                  variant.kind == Quadratic ? "factors" : "terms", share.c_str()));
    }

    const Problem& problem_;
    NodesOnDevice on_device_;
    Sample sample_;
    std::vector<double> values_;
    lab::Results& results_;
    Work work_;
    std::vector<unsigned long long> counts_;  // of the last attempt's careful points, by reason
    std::vector<std::string> careful_;        // the same in words, for every variant
    double limit_ = 0;                        // terms a second, at 4 instructions a term
};

// What the report's serial algorithm takes for a few points.
std::string serial_note(const Problem& problem) {
    const int64_t nodes = problem.x.size(), points = problem.abscissae.size();
    const int64_t few = std::min(points, std::max<int64_t>(1, 1000000 / (nodes * nodes)));
    std::vector<double> values(few);
    const lab::HostTimer clock;
    basis_on_cpu(problem.x, problem.y, problem.abscissae.data(), values.data(), few);
    const double milliseconds = clock.milliseconds();
    return lab::format("basis on the CPU, one loop: %.3g ms for %lld points, %.3g factors a second",
                       milliseconds, static_cast<long long>(few),
                       double(few) * nodes * nodes / (milliseconds * 1e-3));
}

void refuse_contradictions(const lab::Arguments& arguments, const Options& options,
                           const std::vector<std::string>& names, const std::string& output_path) {
    if (options.x_path.empty() != options.y_path.empty()) {
        lab::refuse("--x and --y go together: give both or none");
    }
    for (const char* name : {"nodes", "function", "degree", "from", "to"}) {
        if (options.x_path.empty() || !arguments.given(name)) continue;
        lab::refuse("--%s is for generated nodes: drop it, or --x and --y", name);
    }
    if (!options.at_path.empty() && arguments.given("points")) {
        lab::refuse("--points is for generated points: drop it, or --at");
    }
    if (!(options.from < options.to)) {
        lab::refuse("--from must be less than --to, and %g is not less than %g", options.from,
                    options.to);
    }
    if (!output_path.empty() && names.size() != 1) {
        lab::refuse("--output takes the values of one variant: choose with --variant");
    }
}

int main(int argc, char** argv) {
    std::vector<std::string> names;
    for (const Variant& variant : all_variants) names.push_back(variant.name);
    std::vector<std::string> functions;
    for (const Function& function : all_functions) functions.push_back(function.name);
    lab::Arguments arguments(argc, argv, "Evaluates an interpolating polynomial at many points.");
    Options options;
    options.nodes =
        arguments.choice("nodes", {"equispaced", "chebyshev"}, "chebyshev",
                         "generated nodes; chebyshev: of the second kind, cos(j pi / n)");
    options.function =
        arguments.choice("function", functions, "runge", "where they are taken from");
    options.degree = arguments.integer("degree", 31, 0, most_nodes - 1, "n, for n + 1 nodes");
    options.from = arguments.real("from", -1, -DBL_MAX, DBL_MAX, "left end of nodes and points");
    options.to = arguments.real("to", 1, -DBL_MAX, DBL_MAX, "right end of nodes and points");
    options.points = arguments.integer("points", lab::on_cpu ? 100 : 1000000, 0, most_points,
                                       "S, how many points, equispaced");
    options.x_path = arguments.input("x", "abscissae of the nodes, float64 .npy, in any order");
    options.y_path = arguments.input("y", "ordinates of the nodes, as many");
    options.at_path = arguments.input("at", "abscissae of the points, float64 .npy");
    int64_t piece = arguments.integer("piece", 0, 0, most_points,
                                      "points at a time in overlapped; 0: a sixteenth of all");
    const std::string output_path = arguments.output("output", "the values, for one variant");
    names = arguments.variants(names);
    lab::Results results(arguments);
    arguments.finish();
    refuse_contradictions(arguments, options, names, output_path);

    const Problem problem = read_problem(options);
    const int64_t points = problem.abscissae.size();
    if (points == 0) {  // a grid without blocks cannot be launched, and need not be
        if (!output_path.empty()) lab::write_array<double>(output_path, nullptr, {0});
        std::printf("0 points: there is no value, and nothing is launched\n");
        return 0;
    }
    if (piece == 0)
        piece = std::min<int64_t>(std::max<int64_t>(lab::divide_up(points, 16), 65536), 1 << 22);
    if (names == std::vector<std::string>{"constant"} && problem.x.size() > most_constant_nodes) {
        lab::refuse("constant memory holds %d nodes, and there are %zu: choose another variant",
                    most_constant_nodes, problem.x.size());
    }
    lab::require_device();
    results.size(lab::format("degree %zu, %lld points", problem.x.size() - 1,
                             static_cast<long long>(points)));
    Runner runner(problem, piece, results);
    if (names.size() == 1 && !runner.obstacle(find(names[0])).empty()) {
        lab::fail("%s: %s", names[0].c_str(), runner.obstacle(find(names[0])).c_str());
    }
    for (const std::string& name : names) runner.run(find(name));
    runner.note_all();
    results.note(lab::format("weights, once: %.4f ms", runner.weights_milliseconds()));
    if (problem.x.size() <= 4096) results.note(serial_note(problem));
    if (problem.function && points <= 1000000) {
        results.note(lab::format("largest error against %s at these points: %.8g",
                                 problem.function->name, runner.largest_error()));
    }
    if (!output_path.empty()) lab::write_array(output_path, runner.values().data(), {points});
    return results.finish();
}
