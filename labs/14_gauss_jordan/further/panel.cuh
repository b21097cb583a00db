// one_block, team: the panel, a few columns from the diagonal down, factored by one launch. This is the part of an LU
// factorisation that cannot be hidden behind arithmetic: each column must be searched for its pivot
// before the next one can be computed. So what counts is the time from one pivot to the next, and that is
// the time of messages: between the warps of a block, and between blocks.
//
// The panel stays in registers. A block has room for 512 rows of 32 columns, of which four lanes share each (that
// is drawn here); higher panels have 16 columns and two lanes, and so on. Four lanes share a row, and a lane has a quarter of several rows: lane l of
// a warp has columns q, q + 4, q + 8, ... of rows g, g + 8, g + 16, ..., where q = l % 4 and g = l / 4. So
// what a lane reads of the pivot's row serves several rows; and each load and store of a warp touches
// whole sectors of 32 bytes (in double). A step is then
//
//   - the next column is computed and searched, and each warp announces its best candidate to all others;
//   - while that is on its way, the other columns are computed;
//   - each warp finds the best of all candidates by itself, and the warp that has it sends its row (in one
//     block each warp has laid its candidate's row into shared memory before: nothing need be sent);
//   - while that is on its way, the multipliers are computed.
//
// No row is moved meanwhile: a lane remembers at which place its rows stand by now, and writes them
// there at the end.
//
// Know before: `blocked` (task 10), shuffles (lab 10). New here: __ballot_sync gives all lanes of a warp a word
// with a bit for each lane whose condition holds, __reduce_max_sync the largest of their numbers, __reduce_min_sync
// the smallest; __ffs and __clz find the lowest and the highest bit of a word. What `asm` is, panel_cluster.cuh
// says, and wait_for_last_kernel() given/system.h.
//
//        lanes 4 g to 4 g + 3 have row g:    lane 0: columns 0 4 8 ..   lane 1: 1 5 9 ..   2: 2 6 10 ..   3: 3 7 11 ..
//
//        step k      | column k + 1, its candidate | the other columns        |
//        messages    |            announce  ------>| all offers ---> decide   | row of the pivot ---> all
//        step k + 1  |                             |                          | multipliers, column k + 2, ...
//
// What it brought, with solve_tile.cuh and update.cuh: `one_block` takes 1.82 ms for 1024 unknowns in double, where
// `blocked` takes 4.49
// (NVIDIA H200, CUDA 13.0, 1 December 2026, make bench LAB=14 SOLUTION=1).
#pragma once

#include "offers.cuh"
#include "panel_alone.cuh"
#include "panel_cluster.cuh"
#include "panel_grid.cuh"

// 1 / pivot, right but for the last bits.
__device__ inline double near_reciprocal(double pivot) {
#ifdef __CUDA_ARCH__
    double first;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(first) : "d"(pivot));  // 20 bits
    const double error = fma(-pivot, first, 1.0);
    return fma(first, fma(error, error, error), first);
#else
    return 1 / pivot;
#endif
}
__device__ inline float near_reciprocal(float pivot) { return 1 / pivot; }

// Whether the reciprocal, or what is computed with it, may overflow or underflow; true for 0 and NaN as well.
__device__ inline bool is_extreme(double pivot) {
    return !(fabs(pivot) > 0x1p-900 && fabs(pivot) < 0x1p900);
}
__device__ inline bool is_extreme(float pivot) {
    return !(fabsf(pivot) > 0x1p-100f && fabsf(pivot) < 0x1p100f);
}

template <class T>
__device__ __noinline__ T divide(T value, T pivot) {
    return elimination_factor(value, pivot);
}

// value / pivot by way of the reciprocal, with fewer instructions than a division. What the product lacks is
// computed without an error and divided in turn: so quotients that are numbers of the type are met exactly.
// (P. Markstein, IBM Journal of Research and Development 34, 1990.)
template <class T>
__device__ __forceinline__ T quotient(T value, T pivot, T reciprocal) {
    if (is_extreme(pivot)) return divide(value, pivot);
    const T near = value * reciprocal;
    return fma(fma(-near, pivot, value), reciprocal, near);
}

// Factors `count` columns from `first` on, of all rows from `first` on: multipliers below the diagonal,
// U on it and above. pivots[k]: the row that was exchanged with row k in step k. *singular is set to the
// first column without a pivot, unless an earlier panel has set it.
//
// A row of 32 columns is shared by four lanes, one of 16 by two; a narrower row belongs to one lane. Each of the
// lanes that share rows looks for candidates in a part of these rows: they are called its own. (With four lanes and four rows each owns one.)
//
// The loop over the columns is not unrolled, and yet all indices of registers are known when it is
// compiled: after each fourth step (if four share a row) all rows move on by one place, so the current
// column is always the first of one of the four lanes, a[r][0]. What leaves at the front enters at the
// end:
//
//        lane 0:  c0 c4 c8 .. c28   --after step 3-->   c4 c8 .. c28 c0
//
// Finished columns stay as they are, since the pivot's row has zeros there. If the number of columns
// is no multiple of four, some of the first four are taken for finished.
template <class T, int columns, class Team>
__device__ __forceinline__ void factor_columns(const System<T>& system, int first, int count,
                                               int* pivots, int* singular,
                                               const typename Team::Place& place) {
    constexpr int lanes = columns < 16 ? 1 : columns / 8;                // that share a row
    constexpr int width = columns / lanes, rows = panel_values / width;  // of a lane's part
    constexpr int own_rows = rows / lanes;  // row r is own row r / lanes of lane r % lanes
    __shared__ typename Team::Shared shared;
    const int lane = threadIdx.x % 32, q = lane % lanes, quad = lane - q;
    const int groups = (count + lanes - 1) / lanes, missing = lanes * groups - count;
    const auto row_at = [&](int r) {
        const int64_t warp = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
        return first + (warp * rows + r) * (32 / lanes) + lane / lanes;
    };
    Team team(place, shared);
    wait_for_last_kernel();
    T a[rows][width];
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int64_t row = row_at(r);
        const T* const from = system.row(row) + first - missing + q;
#pragma unroll
        for (int i = 0; i < width; i++) {
            const bool exists = row < system.n && i < groups && lanes * i + q >= missing;
            a[r][i] = exists ? from[lanes * i] : 0;
        }
    }
    int standing[own_rows];  // the place of the row by now
#pragma unroll
    for (int m = 0; m < own_rows; m++) {
        const int64_t row = row_at(m * lanes + q);
        standing[m] = row < system.n ? int(row) : INT_MAX;
    }

    // The column of step k is searched as soon as it is known. Its elements of all rows, and of own rows:
    T column[rows], own[own_rows];
    int current = missing,
        live = groups;  // the lane that has it, of those that share a row; columns to come
    int best_row = 0, winner = 0;  // r and the lane of the warp's best candidate
    const auto search = [&](int k) {
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const T value = __shfl_sync(~0u, column[r], quad + current);
            if (r % lanes == q) own[r / lanes] = value;
        }
        Candidate mine = nobody();
        T value = 0;
        int best_own = 0;
#pragma unroll
        for (int m = 0; m < own_rows; m++) {
            if (standing[m] < first + k || standing[m] >= system.n) continue;
            mine = better(mine, candidate(own[m], standing[m]));
            if (mine.row == standing[m]) value = own[m], best_own = m;
        }
        winner = best_lane<T>(mine);
        team.announce(k, {__shfl_sync(~0u, value, winner), __shfl_sync(~0u, mine.row, winner),
                          warp_of_team()});
        best_row = __shfl_sync(~0u, best_own, winner) * lanes + winner % lanes;
    };
    // That candidate's row goes into shared memory when all its columns are computed.
    const auto stage = [&](int k) {
        PanelRow<T>& row = team.staged(k);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (r != best_row || lane / lanes != winner / lanes) continue;
#pragma unroll
            for (int i = 0; i < width; i++) row.quarter[q][i] = a[r][i];
        }
        __syncwarp();
        const int i = lane / lanes;
        if (i < width && (i >= live || (i == 0 && q <= current))) row.quarter[q][i] = 0;
        __syncwarp();
    };
    // By which multiple of the pivot's row each row is reduced. A lane divides for its own rows, and tells the others.
    T factors[rows];
    unsigned below[own_rows];  // bit r % lanes: whether row r gets a multiplier
    const auto find_factors = [&](int k, const Offer<T>& pivot) {
        T own_factors[own_rows];
        const T reciprocal = near_reciprocal(pivot.value);
#pragma unroll
        for (int m = 0; m < own_rows; m++) {
            if (standing[m] == first + k) {
                standing[m] = pivot.standing;
            } else if (standing[m] == pivot.standing) {
                standing[m] = first + k;
            }
            const bool is_below = standing[m] > first + k;
            below[m] = __ballot_sync(~0u, is_below) >> quad;
            own_factors[m] = is_below ? quotient(own[m], pivot.value, reciprocal) : 0;
        }
#pragma unroll
        for (int r = 0; r < rows; r++) {
            factors[r] = __shfl_sync(~0u, own_factors[r / lanes], quad + r % lanes);
        }
    };

    Candidate pivot_of_lane = nobody();  // lane k remembers step k
#pragma unroll
    for (int r = 0; r < rows; r++) column[r] = a[r][0];
    search(0);
    stage(0);
    for (int k = 0; k < count; k++) {
        const Offer<T> pivot = team.decide(k);
        team.send_row(k, pivot);
        if (lane == k) pivot_of_lane = candidate(pivot);
        find_factors(k, pivot);
        const PanelRow<T>& row = team.row(k, pivot);
        T p[width];
#pragma unroll
        for (int i = 0; i < width; i++) p[i] = row.quarter[q][i];

        // The next column comes first: others wait for what is found in it.
        const bool has_column = q == current, moves = current == lanes - 1;
#pragma unroll
        for (int r = 0; r < rows; r++) {
            column[r] =
                moves ? a[r][1 % width] - factors[r] * p[1 % width] : a[r][0] - factors[r] * p[0];
        }
        current = moves ? 0 : current + 1;
        if (k + 1 < count) search(k + 1);
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const bool is_factor = has_column && (below[r / lanes] >> r % lanes & 1) != 0;
            if (moves) {
                const T entering = is_factor ? factors[r] : a[r][0];
#pragma unroll
                for (int i = 1; i < width; i++) a[r][i - 1] = a[r][i] - factors[r] * p[i];
                a[r][width - 1] = entering;
            } else {
                a[r][0] = is_factor ? factors[r] : a[r][0] - factors[r] * p[0];
#pragma unroll
                for (int i = 1; i < width; i++) a[r][i] -= factors[r] * p[i];
            }
        }
        live -= moves;
        if (k + 1 < count) stage(k + 1);
    }
    if (blockIdx.x == 0 && threadIdx.x < 32) {
        if (lane < count) pivots[first + lane] = pivot_of_lane.row;
        const unsigned without = __ballot_sync(~0u, lane < count && pivot_of_lane.magnitude == 0);
        if (lane == 0 && without != 0 && *singular < 0) *singular = first + __ffs(without) - 1;
    }
    team.end();
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int place_of_row = __shfl_sync(~0u, standing[r / lanes], quad + r % lanes);
        if (place_of_row >= system.n) continue;
        T* const to = system.row(place_of_row) + first - missing + q;
#pragma unroll
        for (int i = 0; i < width; i++) {
            const int group = (i + groups) % width;
            if (group < groups && lanes * group + q >= missing) to[lanes * group] = a[r][i];
        }
    }
}

// A kernel of its own.
template <class T, int columns, class Team>
__global__ void __launch_bounds__(panel_most_threads)
    factor_panel(System<T> system, int first, int count, int* pivots, int* singular,
                 typename Team::Place place) {
    factor_columns<T, columns, Team>(system, first, count, pivots, singular, place);
}
