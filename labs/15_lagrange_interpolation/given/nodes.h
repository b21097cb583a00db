// Numbers beyond the range of double, the nodes as the kernels see them, and what a launcher works with.
#pragma once

#include <cstdint>

#include "../../../common/lab.h"

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
// What a launcher works with.

constexpr int stream_count = 3;

struct Work {
    Nodes nodes;
    int64_t points;
    double* d_abscissae;  // (points); of overlapped (stream_count, piece), as d_values
    double* d_values;
    double *t, *z, *partial_sums;  // of the phases only
    const double* h_abscissae;     // of copied and overlapped
    double* h_values;
    int64_t piece;  // of overlapped: points at a time
    cudaStream_t streams[stream_count];
};

constexpr int threads = 128;

inline lab::Launch thread_a_point(const Work& work) {
    return {dim3(lab::divide_up(work.points, threads)), dim3(threads)};
}
