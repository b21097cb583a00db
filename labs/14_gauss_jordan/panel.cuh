// The panel: a few columns, as high as the matrix, factored by one launch. This is the part of an LU
// factorisation that cannot be hidden behind arithmetic: each column must be searched for its pivot
// before the next one can be computed. So what counts is the time from one pivot to the next.
//
// A thread keeps whole rows of the panel in registers: one or two rows of 32 columns, or up to eight of
// fewer. A step is then
//
//   - each warp finds its best candidate, and puts that one's row into shared memory;
//   - the best of the block, and of the team of blocks, is agreed upon: its row is there already;
//   - every thread subtracts a multiple of it from its own rows.
//
// No row is moved meanwhile: a thread remembers at which place its row stands by now, and writes it
// there at the end.
#pragma once

#include "elimination.cuh"

constexpr int panel_columns = 32;        // at most
constexpr int panel_most_threads = 512;  // of a block
constexpr int largest_cluster = 16;
#define OLDEST_FOR_CLUSTERS 12010  // CUDA 12.1 is the first with all instructions that they need

// What a warp offers to its block, and a block to its team: a row of the panel, with zeros where it has
// multipliers by now, and where the row stands (INT_MAX: there is none). Its first element is the candidate.
template <class T>
struct alignas(16) Offer {
    T row[panel_columns];
    int standing;
};

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
    return __ffs(lanes) - 1;
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

// The best of an array of offers, known to all lanes: each of them looks at one.
template <class T>
__device__ __forceinline__ int best_offer(const Offer<T>* offers, int count) {
    const int lane = threadIdx.x % 32;
    return best_lane<T>(lane < count ? candidate(offers[lane].row[0], offers[lane].standing)
                                     : nobody());
}

// ---------------------------------------------------------------------------------------------
// Teams: how several blocks agree on a pivot. agree() gets what the warps of this block offer, after a
// barrier, and returns the best offer of all blocks. Each step needs all threads of a team. Whoever asks
// for the next step's barrier has used what agree() has returned.

// One block: what its owner has written is there after a barrier.
template <class T>
struct Alone {
    struct Shared {};
    struct Place {};
    __device__ static int blocks() { return 1; }
    __device__ static void begin(Shared&) {}
    __device__ static void end(Shared&) {}
    __device__ static const Offer<T>& agree(const Place&, Shared&, const Offer<T>* offers, int) {
        return offers[best_offer(offers, blockDim.x / 32)];
    }
};

// A cluster of up to 16 blocks, as of compute capability 9.0: they run at the same time and reach each
// other's shared memory. Each block stores its offer in the shared memory of all, a warp for one or
// two of them, 16 bytes a lane. The stores are asynchronous: they report to a barrier there, which lets
// its block go on when all bytes of a step have come; nobody waits for a barrier of the cluster. Two
// sets of offers in turn: a fast block may begin the next step while a slow one still reads this one's,
// but not the one after, for which it needs an offer from the slow one.
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

    __device__ static const Offer<T>& agree(const Place&, Shared& shared, const Offer<T>* offers,
                                            int step) {
        const int lane = threadIdx.x % 32, warps = blockDim.x / 32, team = gridDim.x;
        Offer<T>(&received)[largest_cluster] = shared.offers[step % 2];
        uint64_t* const arrived = &shared.arrived[step % 2];
        if (threadIdx.x == 0) expect_bytes(arrived, team * int(sizeof(Offer<T>)));
        const Offer<T>& best = offers[best_offer(offers, warps)];
        if (lane < int(sizeof(Offer<T>)) / 16) {
            const ulonglong2 bits = reinterpret_cast<const ulonglong2*>(&best)[lane];
            ulonglong2* const to = reinterpret_cast<ulonglong2*>(&received[blockIdx.x]) + lane;
            for (int block = threadIdx.x / 32; block < team; block += warps) {
                send(to, bits, arrived, block);
            }
        }
        wait_for_phase(arrived, step / 2 % 2);
        return received[best_offer(received, team)];
    }

 private:
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

    __device__ static void send(ulonglong2* to, ulonglong2 bits, uint64_t* arrived, int block) {
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
    __device__ static void send(ulonglong2*, ulonglong2, uint64_t*, int) {}
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
    using Shared = Offer<T>;
    struct Place {
        Offer<T>* offers;  // (2, blocks)
        int* steps;        // (2, blocks), at first 0
        int first;         // the steps before this launch
    };
    __device__ static int blocks() { return gridDim.x; }
    __device__ static void begin(Shared&) {}
    __device__ static void end(Shared&) {}
    __device__ static const Offer<T>& agree(const Place& place, Shared& shared,
                                            const Offer<T>* offers, int step) {
        const int lane = threadIdx.x % 32, team = gridDim.x;
        const int now = place.first + step + 1;
        Offer<T>* const received = place.offers + now % 2 * team;
        int* const steps = place.steps + now % 2 * team;
        if (threadIdx.x < 32) {
            const Offer<T>& best = offers[best_offer(offers, blockDim.x / 32)];
            received[blockIdx.x].row[lane] = best.row[lane];
            if (lane == 0) received[blockIdx.x].standing = best.standing;
            __syncwarp();
            if (lane == 0) set_flag(&steps[blockIdx.x], now);
            Candidate mine = nobody();
            int from = 0;
            for (int block = lane; block < team; block += 32) {
                wait_for_flag(&steps[block], now);
                const Offer<T>& offer = received[block];
                const Candidate theirs = candidate(__ldcg(&offer.row[0]), __ldcg(&offer.standing));
                mine = better(mine, theirs);
                if (mine.row == theirs.row) from = block;
            }
            __syncwarp();
            const int winner = best_lane<T>(mine);
            from = __shfl_sync(~0u, from, winner);
            shared.row[lane] = __ldcg(&received[from].row[lane]);
            if (lane == winner) shared.standing = mine.row;
        }
        __syncthreads();
        return shared;
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
        const int64_t first = first_row + lane / width, step = rows * system.stride;
        const int64_t missing = x < exists ? system.n - first : 0;  // from this row on
        const T* const from = system.row(first) + first_column + x;
#pragma unroll
        for (int i = 0; i < width; i++) piece[i] = i * rows < missing ? from[i * step] : 0;
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

    // Each row goes to the place where it has come to stand. missing: so many of the first columns are none.
    __device__ void write(const System<T>& system, int place, int first_column, int missing,
                          const T* row) {
        const int lane = threadIdx.x % 32, x = lane % width;
#pragma unroll
        for (int j = 0; j < width; j++) values[lane][j] = row[j];
        __syncwarp();
#pragma unroll 2
        for (int i = 0; i < width; i++) {
            const int y = lane / width + i * rows, to = __shfl_sync(~0u, place, y);
            if (to < system.n && x >= missing) system.row(to)[first_column + x] = values[y][x];
        }
        __syncwarp();
    }
};

// Shared memory serves for loading and storing, and for what warps offer in between: in turn in one of two
// sets, as a fast warp may already offer for the next step while a slow one still uses this one's.
template <class T, int columns, class Team>
struct PanelShared {
    union {
        PanelStage<T, columns> stage[panel_most_threads / 32];
        Offer<T> offers[2][panel_most_threads / 32];
    };
    typename Team::Shared team;
};

// Two rows of 32 columns need twice as many registers as the others.
constexpr int threads_for(int columns) { return columns == 32 ? 256 : panel_most_threads; }

// Factors `count` columns from `first` on, of all rows from `first` on: multipliers below the diagonal,
// U on it and above. pivots[k]: the row that was exchanged with row k in step k.
//
// The loop over the columns is not unrolled, and yet all indices of registers are known when it is
// compiled: in each step the row moves on by one place, so the current column is always a[0], and the
// multiplier that has just been found comes in at the other end. What has come in stays as it is, since
// the published row has zeros there. The end moves as well: a piece of eight multipliers is left behind when
// it is complete, and the first columns lie in the last piece at the end. Of a panel that is narrower,
// the first columns are taken for done.
template <class T, int rows, int columns, class Team>
__global__ void __launch_bounds__(threads_for(columns))
    factor_panel(System<T> system, int first, int count, int* pivots, int* singular,
                 typename Team::Place place) {
    using Stage = PanelStage<T, columns>;
    constexpr int width = Stage::width, pieces = columns / width;
    __shared__ PanelShared<T, columns, Team> shared;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, done = columns - count;
    Team::begin(shared.team);
    wait_for_last_kernel();
    T a[rows][columns];
    int standing[rows];  // the place of the row by now
#pragma unroll
    for (int r = 0; r < rows; r++) {
        const int64_t first_row =
            first + (int64_t{r} * Team::blocks() + blockIdx.x) * blockDim.x + 32 * warp;
        standing[r] = first_row + lane < system.n ? int(first_row + lane) : INT_MAX;
#pragma unroll
        for (int c = 0; c < columns; c += width) {
            Stage::read(system, first_row, first + c, count - c, &a[r][c]);
        }
    }
#pragma unroll
    for (int r = 0; r < rows; r++) {  // now that all of it is on the way
#pragma unroll
        for (int c = 0; c < columns; c += width) shared.stage[warp].piece_to_row(&a[r][c]);
    }
    __syncthreads();

    // The best of the warp's rows that are no pivot's yet, known already while their other columns are
    // computed; and what is offered of it then.
    Candidate mine, pivot_of_lane = nobody();  // lane k remembers step k
    int winner;
    const auto find_best = [&](int k) {
        mine = nobody();
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (standing[r] >= first + k) mine = better(mine, candidate(a[r][0], standing[r]));
        }
        winner = best_lane<T>(mine);
    };
    const auto live_pieces = [&](int k) {  // those that have a column yet to come
        return pieces - int(unsigned(done + k) / width);
    };
    const auto offer_best = [&](int k) {
        Offer<T>& offer = shared.offers[k % 2][warp];
        const int live = live_pieces(k);
        if (lane == winner) {
            offer.standing = mine.row;
            if (mine.row == INT_MAX) offer.row[0] = 0;
#pragma unroll
            for (int r = 0; r < rows; r++) {
                if (standing[r] != mine.row) continue;
#pragma unroll
                for (int c = 0; c < columns; c += width) {
                    if (c >= live * width) continue;
#pragma unroll
                    for (int j = c; j < c + width; j++) offer.row[j] = a[r][j];
                }
            }
        }
        __syncwarp();
        if (lane >= count - k) offer.row[lane] = 0;
    };
    find_best(0);
    offer_best(0);
    for (int k = 0; k < count; k++) {
        const int live = live_pieces(k);
        __syncthreads();
        const Offer<T>& pivot = Team::agree(place, shared.team, shared.offers[k % 2], k);
        T p[2][width];  // of its row, a piece ahead
#pragma unroll
        for (int j = 0; j < width; j++) p[0][j] = pivot.row[j];
        if (lane == k) pivot_of_lane = candidate(p[0][0], pivot.standing);
        T factors[rows], entering[rows];
#pragma unroll
        for (int r = 0; r < rows; r++) {
            if (standing[r] == first + k) {
                standing[r] = pivot.standing;
            } else if (standing[r] == pivot.standing) {
                standing[r] = first + k;
            }
            const bool below = standing[r] > first + k;
            factors[r] = below ? elimination_factor(a[r][0], p[0][0]) : 0;
            entering[r] = below ? factors[r] : a[r][0];
            // The next column comes first: its search can begin while the others are computed.
            a[r][0] = a[r][1] - factors[r] * p[0][1];
        }
        find_best(k + 1);
#pragma unroll
        for (int piece = 0; piece < pieces; piece++) {
            if (piece > 0 && piece >= live) continue;
            const int c = piece * width;
#pragma unroll
            for (int j = 0; j < width; j++) {
                p[(piece + 1) % 2][j] = piece + 1 < live ? pivot.row[(c + width + j) % columns] : 0;
            }
#pragma unroll
            for (int r = 0; r < rows; r++) {
#pragma unroll
                for (int j = piece == 0 ? 2 : 0; j < width; j++) {
                    a[r][c + j - 1] = a[r][c + j] - factors[r] * p[piece % 2][j];
                }
                if (piece + 1 == live) a[r][c + width - 1] = entering[r];
            }
        }
        if (k + 1 < count) offer_best(k + 1);
    }
    if (blockIdx.x == 0 && warp == 0) {
        if (lane < count) pivots[first + lane] = pivot_of_lane.row;
        const unsigned without = __ballot_sync(~0u, lane < count && pivot_of_lane.magnitude == 0);
        if (lane == 0 && without != 0 && *singular < 0) *singular = first + __ffs(without) - 1;
    }
    Team::end(shared.team);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < rows; r++) {
#pragma unroll
        for (int c = 0; c < columns; c += width) {
            shared.stage[warp].write(system, standing[r], first - done + c, done - c,
                                     &a[r][columns - width - c]);
        }
    }
}
