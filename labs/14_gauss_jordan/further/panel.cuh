// The panel: a few columns, as high as the matrix, factored by one launch. This is the part of an LU
// factorisation that cannot be hidden behind arithmetic: each column must be searched for its pivot
// before the next one can be computed. So what counts is the time from one pivot to the next, and that is
// the time of messages: between the warps of a block, and between blocks.
//
// The panel stays in registers. Four lanes share a row, and a lane has a quarter of several rows: lane l of
// a warp has columns q, q + 4, q + 8, ... of rows g, g + 8, g + 16, ..., where q = l % 4 and g = l / 4. So
// what a lane reads of the pivot's row serves several rows; and each load and store of a warp touches
// whole sectors of 32 bytes. A step is then
//
//   - the next column is computed and searched, and each warp announces its best candidate to all others;
//   - while that is on its way, the other columns are computed;
//   - each warp finds the best of all candidates by itself, and the warp that has it sends its row;
//   - while that is on its way, the multipliers are computed.
//
// No row is moved meanwhile: a lane remembers at which place its rows stand by now, and writes them
// there at the end.
#pragma once

#include "elimination.cuh"

constexpr int panel_columns = 32;        // at most
constexpr int panel_most_threads = 512;  // of a block
constexpr int panel_values = 32;         // of a lane
__host__ __device__ constexpr int panel_rows_of_warp(int columns) {
    return panel_values * 32 / columns;
}
constexpr int largest_cluster = 16;
#define OLDEST_FOR_CLUSTERS 12010  // CUDA 12.1 is the first with all instructions that they need

// What a warp announces: its best candidate, where that one's row stands (INT_MAX: there is none), and which
// warp of the team it is, which has that row.
template <class T>
struct alignas(16) Offer {
    T value;
    int standing, warp;
};

// A row of the panel, a quarter for each of the four lanes that share a row; zeros where it has
// multipliers by now. Between the quarters lie 16 bytes that nobody needs: so the four are in different banks.
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

// By one instruction, which is 16 bytes wide.
template <class T>
__device__ __forceinline__ Offer<T> in_one_piece(const Offer<T>* offer) {
    const ulonglong2 bits = *(const ulonglong2*)offer;
    Offer<T> copy;
    memcpy(&copy, &bits, sizeof copy);
    return copy;
}

// The lane that has the best candidate of a warp. Cards of compute capability 8.0 and later have an
// instruction for the largest integer of a warp. Nearly always the upper halves decide; if not, the lower
// halves of those that have the largest upper one, and then the lowest of the rows that are left.
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
    Candidate best = mine;
    for (int distance = 16; distance > 0; distance /= 2) {
        const Candidate other = {__shfl_xor_sync(~0u, best.magnitude, distance),
                                 __shfl_xor_sync(~0u, best.row, distance)};
        best = better(best, other);
    }
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

// ---------------------------------------------------------------------------------------------
// Teams: how warps agree on a pivot, of one block or of several. For each step k, and each with all lanes
// of a warp, all warps call
//
//   announce(k, offer)   what this warp has to offer; all lanes know it
//   decide(k)            the best of all offers, the pivot; this warp's row is in staged(k) by then
//   send_row(k, pivot)   so that the others get the row, if this warp has it
//   row(k, pivot)        the pivot's row, in this block's shared memory
//
// What they leave in shared memory may be used until the same call for step k + 2.

constexpr int panel_most_warps = panel_most_threads / 32;

__device__ inline int warps_of_team() { return gridDim.x * (blockDim.x / 32); }
__device__ inline int warp_of_team() { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }

// Warps of one block: a barrier of those, and everything is there.
template <class T>
class Alone {
 public:
    struct Shared {
        Offer<T> offers[2][panel_most_warps];
        PanelRow<T> staged[2][panel_most_warps];
    };
    struct Place {
        int warps;  // the first ones of the block
    };

    // Of `rows` rows of 32 columns. CPU mode has no barrier for some of the warps: there it takes all.
    __device__ static int warps_for(int rows) {
#ifdef __CUDA_ARCH__
        constexpr int of_warp = panel_rows_of_warp(32);
        return (rows + of_warp - 1) / of_warp;
#else
        return blockDim.x / 32;
#endif
    }

    __device__ Alone(const Place& place, Shared& shared) : shared_(shared), warps_(place.warps) {}
    __device__ PanelRow<T>& staged(int k) { return shared_.staged[k % 2][threadIdx.x / 32]; }
    __device__ void announce(int k, const Offer<T>& offer) {
        if (threadIdx.x % 32 == 0) shared_.offers[k % 2][threadIdx.x / 32] = offer;
    }
    __device__ Offer<T> decide(int k) {
        wait_for_warps();
        return best_offer(shared_.offers[k % 2], warps_);
    }
    __device__ void send_row(int, const Offer<T>&) {}
    __device__ const PanelRow<T>& row(int k, const Offer<T>& pivot) {
        return shared_.staged[k % 2][pivot.warp];
    }
    __device__ void end() {}

 private:
    Shared& shared_;
    const int warps_;

    __device__ void wait_for_warps() const {
#ifdef __CUDA_ARCH__
        asm volatile("bar.sync 1, %0;" ::"r"(32 * warps_) : "memory");
#else
        __syncthreads();
#endif
    }
};

// A barrier that counts bytes counts each message by itself. Of more warps than this, only one a block
// announces something, when it has heard the others (`by_block`).
constexpr int most_offers = 128;

// A cluster of up to 16 blocks, as of compute capability 9.0: they run at the same time and reach each
// other's shared memory. Each warp stores its offer in the shared memory of all blocks, a lane for each
// of them; the winner does the same with its row, 16 bytes a lane. The stores are asynchronous: they report to
// a barrier there, which lets its block go on when all bytes of a step have come; nobody waits for a
// barrier of the cluster, or of the block. Two sets of everything in turn: a fast warp may begin the next step
// while a slow one is still in this one, but not the one after, for which it needs the slow one's offer.
template <class T, bool by_block>
class Cluster {
 public:
    struct Shared {
        Offer<T> offers[2][most_offers], of_block[2][panel_most_warps];
        PanelRow<T> rows[2], staged[panel_most_warps];
        uint64_t offered[2], sent[2];  // barriers in shared memory
    };
    struct Place {};

    __device__ Cluster(const Place&, Shared& shared) : shared_(shared) {
        if (threadIdx.x == 0) {
            for (int i = 0; i < 2; i++) {
                make_barrier(&shared_.offered[i]);
                make_barrier(&shared_.sent[i]);
            }
        }
        wait_for_cluster();
    }

    // All that was sent to this block has come, so the others may still send to each other.
    __device__ void end() {
        __syncthreads();
        if (threadIdx.x > 0) return;
        for (int i = 0; i < 2; i++) {
            give_up_barrier(&shared_.offered[i]);
            give_up_barrier(&shared_.sent[i]);
        }
    }

    __device__ PanelRow<T>& staged(int) { return shared_.staged[threadIdx.x / 32]; }

    __device__ void announce(int k, const Offer<T>& offer) {
        if constexpr (by_block) {
            Offer<T>* const of_block = shared_.of_block[k % 2];
            if (threadIdx.x % 32 == 0) of_block[threadIdx.x / 32] = offer;
            if (threadIdx.x >= 32) return arrive_for_first_warp();
            wait_as_first_warp();
            send_offer(k, best_offer(of_block, blockDim.x / 32));
        } else {
            send_offer(k, offer);
        }
    }

    __device__ Offer<T> decide(int k) {
        wait_for_phase(&shared_.offered[k % 2], k / 2 % 2);
        return best_offer(shared_.offers[k % 2], offers_of_team());
    }

    __device__ void send_row(int k, const Offer<T>& pivot) {
        if (pivot.warp != warp_of_team()) return;
        constexpr int parts = PanelRow<T>::parts;
        const int lane = threadIdx.x % 32;
        const ulonglong2 part = *staged(k).part(lane % parts);
        for (int block = lane / parts; block < int(gridDim.x); block += 32 / parts) {
            send(shared_.rows[k % 2].part(lane % parts), part, &shared_.sent[k % 2], block);
        }
    }

    __device__ const PanelRow<T>& row(int k, const Offer<T>&) {
        wait_for_phase(&shared_.sent[k % 2], k / 2 % 2);
        return shared_.rows[k % 2];
    }

 private:
    Shared& shared_;

    __device__ static int offers_of_team() { return by_block ? gridDim.x : warps_of_team(); }

    __device__ void send_offer(int k, const Offer<T>& offer) {
        const int block = threadIdx.x % 32, place = by_block ? blockIdx.x : warp_of_team();
        if (block < int(gridDim.x)) {
            send(&shared_.offers[k % 2][place], offer, &shared_.offered[k % 2], block);
        }
        if (threadIdx.x == 0) {
            expect_bytes(&shared_.offered[k % 2], offers_of_team() * int(sizeof(Offer<T>)));
            expect_bytes(&shared_.sent[k % 2], PanelRow<T>::parts * 16);
        }
    }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && CUDART_VERSION >= OLDEST_FOR_CLUSTERS
    __device__ static unsigned address(const void* shared) {
        return unsigned(__cvta_generic_to_shared(shared));
    }

    // The same place in the shared memory of another block of the cluster.
    __device__ static unsigned address_in(const void* shared, int block) {
        unsigned there;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(there)
            : "r"(address(shared)), "r"(block));
        return there;
    }

    // 16 bytes
    template <class Value>
    __device__ static void send(Value* to, const Value& value, uint64_t* arrived, int block) {
        static_assert(sizeof(Value) == sizeof(ulonglong2));
        ulonglong2 bits;
        memcpy(&bits, &value, sizeof bits);
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, "
            "[%3];" ::"r"(address_in(to, block)),
            "l"(bits.x), "l"(bits.y), "r"(address_in(arrived, block))
            : "memory");
    }

    __device__ static void make_barrier(uint64_t* barrier) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    __device__ static void give_up_barrier(uint64_t* barrier) {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(barrier)) : "memory");
    }

    // The warps beside the first do not wait when they have arrived, only the first one does.
    __device__ static void arrive_for_first_warp() {
        asm volatile("barrier.cta.arrive.aligned 1, %0;" ::"r"(blockDim.x) : "memory");
    }

    __device__ static void wait_as_first_warp() {
        asm volatile("barrier.cta.sync.aligned 1, %0;" ::"r"(blockDim.x) : "memory");
    }

    __device__ static void expect_bytes(uint64_t* barrier, int bytes) {
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)),
            "r"(bytes)
            : "memory");
    }

    __device__ static void wait_for_phase(uint64_t* barrier, int parity) {
        int done = 0;
        while (!done) {
            asm volatile(
                "{ .reg .pred p;\n"
                "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                "selp.s32 %0, 1, 0, p; }"
                : "=r"(done)
                : "r"(address(barrier)), "r"(parity)
                : "memory");
        }
    }

    __device__ static void wait_for_cluster() {
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
#else  // never launched
    template <class Value>
    __device__ static void send(Value*, const Value&, uint64_t*, int) {}
    __device__ static void arrive_for_first_warp() {}
    __device__ static void wait_as_first_warp() {}
    __device__ static void make_barrier(uint64_t*) {}
    __device__ static void give_up_barrier(uint64_t*) {}
    __device__ static void expect_bytes(uint64_t*, int) {}
    __device__ static void wait_for_phase(uint64_t*, int) {}
    __device__ static void wait_for_cluster() {}
#endif
};

// Any number of blocks that run at the same time, on any card: what a block has to offer lies in global
// memory, with a number that says for which step it is. Nobody waits at a barrier: one warp of each block
// looks at all numbers until they are there. That takes a way to the L2 cache and back, twice.
template <class T>
class Grid {
 public:
    struct Shared {
        Offer<T> offers[2][panel_most_warps];
        PanelRow<T> staged[2][panel_most_warps], row;
        Offer<T> pivot;
    };
    struct OfferWithRow {
        Offer<T> offer;
        PanelRow<T> row;
    };
    struct Place {
        OfferWithRow* offers;  // (2, blocks)
        int* steps;            // (2, blocks), at first 0
        int first;             // the steps before this launch
    };

    __device__ Grid(const Place& place, Shared& shared) : place_(place), shared_(shared) {}
    __device__ PanelRow<T>& staged(int k) { return shared_.staged[k % 2][threadIdx.x / 32]; }
    __device__ void announce(int k, const Offer<T>& offer) {
        if (threadIdx.x % 32 == 0) shared_.offers[k % 2][threadIdx.x / 32] = offer;
    }
    __device__ Offer<T> decide(int k) {
        __syncthreads();
        if (threadIdx.x < 32) decide_for_block(k);
        __syncthreads();
        return shared_.pivot;
    }
    __device__ void send_row(int, const Offer<T>&) {}
    __device__ const PanelRow<T>& row(int, const Offer<T>&) { return shared_.row; }
    __device__ void end() {}

 private:
    const Place place_;
    Shared& shared_;

    __device__ void decide_for_block(int k) {
        constexpr int parts = PanelRow<T>::parts;
        const int lane = threadIdx.x, team = gridDim.x, now = place_.first + k + 1;
        OfferWithRow* const received = place_.offers + now % 2 * team;
        int* const steps = place_.steps + now % 2 * team;
        const Offer<T> ours = best_offer(shared_.offers[k % 2], blockDim.x / 32);
        const PanelRow<T>& row = shared_.staged[k % 2][ours.warp % (blockDim.x / 32)];
        if (lane < parts) *received[blockIdx.x].row.part(lane) = *row.part(lane);
        if (lane == 0) received[blockIdx.x].offer = ours;
        __syncwarp();
        if (lane == 0) set_flag(&steps[blockIdx.x], now);
        Candidate mine = nobody();
        int from = 0;
        for (int block = lane; block < team; block += 32) {
            wait_for_flag(&steps[block], now);
            const Offer<T>& offer = received[block].offer;
            const Candidate theirs = candidate(__ldcg(&offer.value), __ldcg(&offer.standing));
            mine = better(mine, theirs);
            if (mine.row == theirs.row) from = block;
        }
        __syncwarp();
        from = __shfl_sync(~0u, from, best_lane<T>(mine));
        if (lane < parts) *shared_.row.part(lane) = __ldcg(received[from].row.part(lane));
        if (lane == 0) {
            const Offer<T>& offer = received[from].offer;
            shared_.pivot = {__ldcg(&offer.value), __ldcg(&offer.standing), __ldcg(&offer.warp)};
        }
    }
};

// ---------------------------------------------------------------------------------------------
// The kernel

// 1 / pivot, up to the last bits.
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

// Whether the reciprocal, or what is computed with it, may overflow or underflow; also of 0 and NaN.
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
// U on it and above. pivots[k]: the row that was exchanged with row k in step k. *singular: the first column
// without a pivot, if it was negative.
//
// A row of 32 columns is shared by four lanes, one of 16 by two; a narrower row belongs to one lane. Each of the
// lanes that share rows looks for candidates in a part of these rows: they are called its own.
//
// The loop over the columns is not unrolled, and yet all indices of registers are known when it is
// compiled: after each fourth step (if four share a row) all rows move on by one place, so the current
// column is always the first of one of the four lanes, a[r][0]. What leaves at the front enters at the
// end. Finished columns stay as they are, since the pivot's row has zeros there. If the number of columns
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
        live = groups;             // whose of four lanes it is; their columns that are to come
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
    // What a row of the panel is multiplied with. A lane divides for its own rows, and tells the others.
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
