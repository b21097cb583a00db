// For panel.cuh: what the warps of a panel tell each other: a candidate for the pivot, and a row.
#pragma once

#include "blocked.cuh"

constexpr int panel_columns = 32;        // at most
constexpr int panel_most_threads = 512;  // of a block
constexpr int panel_values = 32;         // of a lane
__host__ __device__ constexpr int panel_rows_of_warp(int columns) {
    return panel_values * 32 / columns;
}
constexpr int largest_cluster = 16;
#define OLDEST_FOR_CLUSTERS 12010  // CUDA 12.1 is the first with all instructions that they need

// What a warp announces: its best candidate, where that one's row stands (INT_MAX: there is none), and the
// number of the warp that has that row.
template <class T>
struct alignas(16) Offer {
    T value;
    int standing, warp;
};

// A row of the panel, a quarter for each of the four lanes that share a row; zeros where it has
// multipliers by now, and at the pivot. Between the quarters lie 16 bytes that nobody needs: so the four are in different banks.
template <class T>
struct alignas(16) PanelRow {
    static constexpr int values = 16 / sizeof(T);  // of 16 bytes
    static constexpr int of_quarter = panel_columns / 4 / values;
    static constexpr int parts = 4 * of_quarter;  // of 16 bytes each
    T quarter[4][panel_columns / 4 + values];     // column 4 i + q at [q][i]

    __device__ ulonglong2* part(int i) {
        return (ulonglong2*)this + i / of_quarter * (of_quarter + 1) + i % of_quarter;
    }
    __device__ const ulonglong2* part(int i) const { return const_cast<PanelRow*>(this)->part(i); }
};

template <class T>
__device__ inline Candidate candidate(const Offer<T>& offer) {
    return candidate(offer.value, offer.standing);
}

// Reads an offer by one instruction of 16 bytes.
template <class T>
__device__ __forceinline__ Offer<T> in_one_piece(const Offer<T>* offer) {
    const ulonglong2 bits = *(const ulonglong2*)offer;
    Offer<T> copy;
    memcpy(&copy, &bits, sizeof copy);
    return copy;
}

// The lane that has the best candidate of a warp. Cards of compute capability 8.0 and later have an
// instruction for the largest integer of a warp. Nearly always the upper 32 bits of the magnitudes decide (a float has no others); if
// not, the lower ones of those that have the largest upper one, and then the lowest of the rows that are left.
template <class T>
__device__ __forceinline__ int best_lane(Candidate mine) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const unsigned upper = unsigned(mine.magnitude >> 32);
    bool among = upper == __reduce_max_sync(~0u, upper);
    unsigned lanes = __ballot_sync(~0u, among);
    if ((lanes & (lanes - 1)) != 0) {
        if constexpr (sizeof(T) == 8) {
            const unsigned lower = among ? unsigned(mine.magnitude) : 0;
            among = __reduce_max_sync(~0u, lower) == lower && among;
        }
        const int row = __reduce_min_sync(~0u, among ? mine.row : INT_MAX);
        lanes = __ballot_sync(~0u, among && mine.row == row);
    }
    return 31 - __clz(lanes);
#else
    const Candidate best = best_of_warp(mine);
    return __ffs(__ballot_sync(~0u, mine.row == best.row)) - 1;
#endif
}

// The best of an array of offers, known to all lanes: each of them looks at some, and mostly at one.
template <class T>
__device__ __forceinline__ Offer<T> best_offer(const Offer<T>* offers, int count) {
    Offer<T> best = {0, INT_MAX, 0};
    const int lane = threadIdx.x % 32;
    if (lane < count) best = in_one_piece(&offers[lane]);
#pragma unroll 1
    for (int i = lane + 32; i < count; i += 32) {
        const Offer<T> other = in_one_piece(&offers[i]);
        const Candidate both = better(candidate(best), candidate(other));
        if (both.row == other.standing) best = other;
    }
    const int winner = best_lane<T>(candidate(best));
    return {__shfl_sync(~0u, best.value, winner), __shfl_sync(~0u, best.standing, winner),
            __shfl_sync(~0u, best.warp, winner)};
}
