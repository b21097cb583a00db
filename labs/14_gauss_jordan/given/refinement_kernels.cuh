// What refinement needs beside the factors: the residual, in double; its size; and the way between doubles and
// floats.
#pragma once

#include "system.h"

// r = b - A x, a block a row. With one right-hand side all threads share the sum; with many, a group of
// threads has a column each, so that neighbours read neighbours, and several groups share its sum.
// x, r: (n, right-hand sides), row-major
template <class T>
__global__ void __launch_bounds__(256) find_residual(System<T> system, const T* x, T* r) {
    __shared__ T sums[256];
    const int sides = system.sides(), thread = threadIdx.x;
    int group = 1;
    while (group < 32 && group < sides) group *= 2;
    const T* const row = system.row(blockIdx.x);
    for (int first = 0; first < sides; first += group) {
        const int side = first + thread % group;
        T sum = 0;
        if (side < sides) {
            for (int j = thread / group; j < system.n; j += 256 / group) {
                sum += row[j] * x[int64_t{j} * sides + side];
            }
        }
        sums[thread] = sum;
        for (int half = 128; half >= group; half /= 2) {
            __syncthreads();
            if (thread < half) sums[thread] += sums[thread + half];
        }
        if (thread < group && side < sides) {
            r[int64_t{blockIdx.x} * sides + side] = row[system.first_side + side] - sums[thread];
        }
        __syncthreads();
    }
}

// The coefficients as floats, multiplied by a power of two that brings the largest of them near 1. Zeros behind them, up
// to the end of each row: who reads two elements at a time reads one of these, too.
__global__ void round_to_float(System<double> from, System<float> to, double factor) {
    const int64_t row = blockIdx.x, column = int64_t{blockIdx.y} * 256 + threadIdx.x;
    if (column >= to.stride) return;
    to.row(row)[column] = column < from.n ? float(from.row(row)[column] * factor) : 0.0f;
}

// What the host must know of a right-hand side to go on or to stop.
struct Sizes {
    double residual, solution;  // the largest magnitudes; NaN if there is one
};

__device__ inline double larger(double a, double b) { return a > b || isnan(a) ? a : b; }

// A block a right-hand side. r, x: (n, sides), row-major
__global__ void __launch_bounds__(256)
    find_sizes(const double* r, const double* x, int n, int sides, Sizes* sizes) {
    __shared__ double residuals[256], solutions[256];
    const int thread = threadIdx.x;
    double residual = 0, solution = 0;
    for (int64_t i = thread; i < n; i += 256) {
        residual = larger(fabs(r[i * sides + blockIdx.x]), residual);
        solution = larger(fabs(x[i * sides + blockIdx.x]), solution);
    }
    residuals[thread] = residual;
    solutions[thread] = solution;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (thread < half) {
            residuals[thread] = larger(residuals[thread + half], residuals[thread]);
            solutions[thread] = larger(solutions[thread + half], solutions[thread]);
        }
    }
    if (thread == 0) sizes[blockIdx.x] = {residuals[0], solutions[0]};
}

// A residual in the order of the pivots, as floats near 1: its own size would be lost in their range.
__global__ void permute_residual(const double* r, const int* order, const Sizes* sizes, int n,
                                 int sides, float* permuted) {
    const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
    if (i >= int64_t{n} * sides) return;
    const double size = sizes[i % sides].residual;
    permuted[i] = size == 0 ? 0 : float(r[int64_t{order[i / sides]} * sides + i % sides] / size);
}

// x += what the floats have found, at its size.
__global__ void add_correction(const float* correction, const Sizes* sizes, double factor, int n,
                               int sides, double* x) {
    const int64_t i = int64_t{blockIdx.x} * 256 + threadIdx.x;
    if (i < int64_t{n} * sides) x[i] += correction[i] * sizes[i % sides].residual * factor;
}
