// The panel: a few columns, as high as the matrix, factored by one launch. This is the part of an LU
// factorisation that cannot be hidden behind arithmetic: each column must be searched for its pivot
// before the next one can be computed. So what counts is the time from one pivot to the next.
//
// A thread keeps whole rows of the panel in registers, 32 values in all: one row of 32 columns, or two
// rows of 16, and so on. A step is then
//
//   - the best candidate of each warp, of the block, and of the team of blocks;
//   - its owner publishes its row;
//   - every thread subtracts a multiple of it from its own rows.
//
// No row is moved meanwhile: a thread remembers at which place its row stands by now, and writes it
// there at the end.
#pragma once

#include "elimination.cuh"

constexpr int panel_values = 32;         // in the registers of a thread
constexpr int panel_most_threads = 512;  // of a block
constexpr int largest_cluster = 16;
#define OLDEST_FOR_CLUSTERS 12010  // CUDA 12.1 is the first with all instructions that they need

// What a block offers to its team: its best candidate, and that row of the panel.
template <class T>
struct Offer {
    Candidate candidate;
    T row[panel_values];
};

// The best candidate of a warp, known to all its lanes. Cards of compute capability 8.0 and later have
// an instruction for the largest integer of a warp: the upper halves, then the lower halves of those
// that have the largest upper one, then the lowest of the rows that are left.
template <class T>
__device__ __forceinline__ Candidate best_of_warp(Candidate mine) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    const unsigned upper = unsigned(mine.magnitude >> 32);
    const unsigned largest_upper = __reduce_max_sync(~0u, upper);
    bool among = upper == largest_upper;
    unsigned largest_lower = 0;
    if constexpr (sizeof(T) == 8) {
        const unsigned lower = among ? unsigned(mine.magnitude) : 0;
        largest_lower = __reduce_max_sync(~0u, lower);
        among = among && lower == largest_lower;
    }
    const int row = __reduce_min_sync(~0u, among ? mine.row : INT_MAX);
    return {(unsigned long long)largest_upper << 32 | largest_lower, row};
#else
    for (int distance = 16; distance > 0; distance /= 2) {
        const Candidate other = {__shfl_xor_sync(~0u, mine.magnitude, distance),
                                 __shfl_xor_sync(~0u, mine.row, distance)};
        mine = better(mine, other);
    }
    return mine;
#endif
}

// ---------------------------------------------------------------------------------------------
// Teams: how several blocks agree on a pivot. agree() gets the best candidate of this block, and in
// `offered.row` the row that goes with it; its owner's warp is the `publisher`. It returns the best of
// all blocks, and by then `offered.row` holds that one's row. Each step needs all threads of a team.

// One block: what its owner has written is there after a barrier.
template <class T>
struct Alone {
    struct Shared {};
    struct Place {};
    __device__ static int blocks() { return 1; }
    __device__ static void begin(Shared&) {}
    __device__ static void end(Shared&) {}
    __device__ static const T* agree(const Place&, Shared&, T* offered, Candidate&, bool, int) {
        __syncthreads();
        return offered;
    }
};

// A cluster of up to 16 blocks, as of compute capability 9.0: they run at the same time and reach each
// other's shared memory. Each block stores its offer in the shared memory of all. The stores are
// asynchronous: they report to a barrier there, which lets its block go on when all bytes of a step have
// come; nobody waits for a barrier of the cluster. Two sets of offers in turn: a fast block may begin the
// next step while a slow one still reads this one's, but not the one after, for which it needs an offer
// from the slow one.
template <class T>
struct Cluster {
    struct Shared {
        Offer<T> offers[2][largest_cluster];
        uint64_t arrived[2];  // barriers in shared memory
    };
    struct Place {};
    __device__ static int blocks() { return gridDim.x; }

    __device__ static void begin(Shared& shared) {
        if (threadIdx.x == 0) {
            make_barrier(&shared.arrived[0]);
            make_barrier(&shared.arrived[1]);
        }
        wait_for_cluster();
    }

    // All that was sent to this block has come, so the others may still send to each other.
    __device__ static void end(Shared& shared) {
        __syncthreads();
        if (threadIdx.x == 0) {
            give_up_barrier(&shared.arrived[0]);
            give_up_barrier(&shared.arrived[1]);
        }
    }

    __device__ static const T* agree(const Place&, Shared& shared, T* offered, Candidate& best,
                                     bool publisher, int step) {
        const int lane = threadIdx.x % 32, team = gridDim.x;
        Offer<T>(&offers)[largest_cluster] = shared.offers[step % 2];
        uint64_t* const arrived = &shared.arrived[step % 2];
        if (threadIdx.x == 0) {
            expect_bytes(arrived, team * int(panel_values * sizeof(T) + sizeof(Candidate)));
        }
        if (publisher) {
            __syncwarp();
            const T value = offered[lane];
            Offer<T>& mine = offers[blockIdx.x];
            for (int block = 0; block < team; block++) {
                send(&mine.row[lane], bits_of(value), arrived, block);
            }
            if (lane < team) {
                send(&mine.candidate.magnitude, best.magnitude, arrived, lane);
                send(&mine.candidate.row, (unsigned long long)best.row, arrived, lane);
            }
        }
        wait_for_phase(arrived, step / 2 % 2);
        const Candidate theirs = lane < team ? offers[lane].candidate : nobody();
        best = best_of_warp<T>(theirs);
        const unsigned winners = __ballot_sync(~0u, theirs.row == best.row);
        return offers[__ffs(winners) - 1].row;
    }

 private:
    __device__ static unsigned long long bits_of(double value) {
        return (unsigned long long)__double_as_longlong(value);
    }
    __device__ static unsigned bits_of(float value) { return __float_as_uint(value); }

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

    __device__ static void send(void* to, unsigned long long bits, uint64_t* arrived, int block) {
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                address_in(to, block)),
            "l"(bits), "r"(address_in(arrived, block))
            : "memory");
    }

    __device__ static void send(void* to, unsigned bits, uint64_t* arrived, int block) {
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                address_in(to, block)),
            "r"(bits), "r"(address_in(arrived, block))
            : "memory");
    }

    __device__ static void make_barrier(uint64_t* barrier) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    __device__ static void give_up_barrier(uint64_t* barrier) {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(barrier)) : "memory");
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
                "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
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
    template <class Bits>
    __device__ static void send(void*, Bits, uint64_t*, int) {}
    __device__ static void make_barrier(uint64_t*) {}
    __device__ static void give_up_barrier(uint64_t*) {}
    __device__ static void expect_bytes(uint64_t*, int) {}
    __device__ static void wait_for_phase(uint64_t*, int) {}
    __device__ static void wait_for_cluster() {}
#endif
};

// Any number of blocks that run at the same time, on any card: offers lie in global memory, each with
// a number that says for which step it is. Nobody waits at a barrier: one warp of each block looks at
// all numbers until they are there. That takes a way to the L2 cache and back, twice.
template <class T>
struct Grid {
    struct Shared {
        T row[panel_values];
        Candidate candidate;
    };
    struct Place {
        Offer<T>* offers;  // (2, blocks)
        int* steps;        // (2, blocks), at first 0
        int first;         // the steps before this launch
    };
    __device__ static int blocks() { return gridDim.x; }
    __device__ static void begin(Shared&) {}
    __device__ static void end(Shared&) {}
    __device__ static const T* agree(const Place& place, Shared& shared, T* offered,
                                     Candidate& best, bool publisher, int step) {
        const int lane = threadIdx.x % 32, team = gridDim.x;
        const int now = place.first + step + 1;
        Offer<T>* const offers = place.offers + now % 2 * team;
        int* const steps = place.steps + now % 2 * team;
        if (publisher) {
            __syncwarp();
            offers[blockIdx.x].row[lane] = offered[lane];
            if (lane == 0) offers[blockIdx.x].candidate = best;
            __syncwarp();
            if (lane == 0) set_flag(&steps[blockIdx.x], now);
        }
        if (threadIdx.x < 32) {
            Candidate mine = nobody();
            int from = 0;
            for (int block = lane; block < team; block += 32) {
                wait_for_flag(&steps[block], now);
                const Candidate theirs = {__ldcg(&offers[block].candidate.magnitude),
                                          __ldcg(&offers[block].candidate.row)};
                mine = better(mine, theirs);
                if (mine.row == theirs.row) from = block;
            }
            __syncwarp();
            const Candidate winner = best_of_warp<T>(mine);
            const unsigned winners = __ballot_sync(~0u, mine.row == winner.row);
            from = __shfl_sync(~0u, from, __ffs(winners) - 1);
            shared.row[lane] = __ldcg(&offers[from].row[lane]);
            if (lane == 0) shared.candidate = winner;
        }
        __syncthreads();
        best = shared.candidate;
        return shared.row;
    }
};

// ---------------------------------------------------------------------------------------------
// The kernel

// Rows of the panel lie far apart in memory, and a warp that read 32 of them at once, a value each,
// would fetch 32 bytes for each 8. So the lanes of a warp read and write pieces of rows together, up to
// 8 columns wide, and exchange them by way of shared memory: lane l has, in its i-th register, the value
// at row l / width + i rows and column l % width of a piece, or else the i-th value of row l. One column
// more in memory keeps both free of bank conflicts.
template <class T, int columns>
struct PanelStage {
    static constexpr int width = columns < 8 ? columns : 8, rows = 32 / width;
    T values[32][9];

    __device__ static void read(const System<T>& system, int64_t first_row, int first_column,
                                int exists, T* piece) {
        const int lane = threadIdx.x % 32, x = lane % width;
#pragma unroll
        for (int i = 0; i < width; i++) {
            const int64_t y = first_row + lane / width + i * rows;
            piece[i] = y < system.n && x < exists ? system.row(y)[first_column + x] : 0;
        }
    }

    __device__ void piece_to_row(T* value) {
        const int lane = threadIdx.x % 32;
#pragma unroll
        for (int i = 0; i < width; i++) values[lane / width + i * rows][lane % width] = value[i];
        __syncwarp();
#pragma unroll
        for (int j = 0; j < width; j++) value[j] = values[lane][j];
        __syncwarp();
    }

    // Each row goes to the place where it has come to stand.
    __device__ void write(const System<T>& system, int place, int first_column, int exists,
                          const T* row) {
        const int lane = threadIdx.x % 32, x = lane % width;
#pragma unroll
        for (int j = 0; j < width; j++) values[lane][j] = row[j];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < width; i++) {
            const int y = lane / width + i * rows, to = __shfl_sync(~0u, place, y);
            if (to < system.n && x < exists) system.row(to)[first_column + x] = values[y][x];
        }
        __syncwarp();
    }
};

// Shared memory serves for loading and storing, and for the exchange in between.
template <class T, int columns, class Team>
union PanelShared {
    PanelStage<T, columns> stage[panel_most_threads / 32];
    struct {
        typename Team::Shared team;
        Candidate warps[32];  // the best of each
        T offered[panel_values];
    } step;
};

// Factors `count` columns from `first` on, of all rows from `first` on: multipliers below the diagonal,
// U on it and above. pivots[k]: the row that was exchanged with row k in step k.
//
// The loop over the columns is not unrolled, and yet all indices of registers are known when it is
// compiled: in each step the row moves on by one place, so the current column is always a[0], and the
// multiplier that has just been found comes in at the other end. What has come in stays as it is, since
// the published row has zeros there.
template <class T, int rows, class Team>
__global__ void __launch_bounds__(panel_most_threads)
    factor_panel(System<T> system, int first, int count, int* pivots, int* singular,
                 typename Team::Place place) {
    constexpr int columns = panel_values / rows;
    __shared__ PanelShared<T, columns, Team> shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T a[rows][columns];
    int standing[rows];  // the place of the row by now
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int64_t first_row =
            first + (int64_t{r} * Team::blocks() + blockIdx.x) * blockDim.x + 32 * warp;
        standing[r] = first_row + lane < system.n ? int(first_row + lane) : INT_MAX;
#pragma unroll
        for (int c = 0; c < columns; c += PanelStage<T, columns>::width) {
            PanelStage<T, columns>::read(system, first_row, first + c, count - c, &a[r][c]);
        }
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {  // now that all of it is on the way
#pragma unroll
        for (int c = 0; c < columns; c += PanelStage<T, columns>::width) {
            shared.stage[warp].piece_to_row(&a[r][c]);
        }
    }
    __syncthreads();
    if (threadIdx.x < 32) shared.step.warps[lane] = nobody();
    if (threadIdx.x < panel_values) shared.step.offered[lane] = 0;
    Team::begin(shared.step.team);
    __syncthreads();

    const auto offer_best = [&](int k) {  // the warp's best row of those that are no pivot's yet
        Candidate mine = nobody();
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (standing[r] >= k) mine = better(mine, candidate(a[r][0], standing[r]));
        }
        mine = best_of_warp<T>(mine);
        if (lane == 0) shared.step.warps[warp] = mine;
    };
    offer_best(first);
    for (int k = 0; k < count; k++) {
        __syncthreads();
        Candidate best = best_of_warp<T>(shared.step.warps[lane]);
        bool own = false;
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (standing[r] == best.row && best.row < INT_MAX) {
                own = true;
#pragma unroll
                for (int j = 0; j < columns; j++) {
                    shared.step.offered[j] = j < columns - k ? a[r][j] : 0;
                }
            }
        }
        const bool publisher = best.row == INT_MAX ? warp == 0 : __any_sync(~0u, own);
        const T* const pivot_row =
            Team::agree(place, shared.step.team, shared.step.offered, best, publisher, k);
        const T pivot = pivot_row[0];
        if (threadIdx.x == 0 && blockIdx.x == 0) {
            pivots[first + k] = best.row;
            note_pivot(best, first + k, singular);
        }
        T factors[rows], entering[rows];
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (standing[r] == first + k) {
                standing[r] = best.row;
            } else if (standing[r] == best.row) {
                standing[r] = first + k;
            }
            const bool below = standing[r] > first + k;
            factors[r] = below ? elimination_factor(a[r][0], pivot) : 0;
            entering[r] = below ? factors[r] : a[r][0];
            // The next column comes first: its search can begin while the others are computed.
            a[r][0] = columns > 1 ? a[r][1 % columns] - factors[r] * pivot_row[1] : entering[r];
        }
        offer_best(first + k + 1);
#pragma unroll
        for (int r = 0; r < rows; r++) {
#pragma unroll
            for (int j = 1; j < columns - 1; j++) {
                a[r][j] = a[r][j + 1] - factors[r] * pivot_row[j + 1];
            }
            if (columns > 1) a[r][columns - 1] = entering[r];
        }
    }
    for (int k = count; k < columns; k++) {  // a last panel that is narrower: only move on
#pragma unroll
        for (int r = 0; r < rows; r++) {
            const T entering = a[r][0];
#pragma unroll
            for (int j = 0; j < columns - 1; j++) a[r][j] = a[r][j + 1];
            a[r][columns - 1] = entering;
        }
    }
    Team::end(shared.step.team);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int c = 0; c < columns; c += PanelStage<T, columns>::width) {
            shared.stage[warp].write(system, standing[r], first + c, count - c, &a[r][c]);
        }
    }
}
