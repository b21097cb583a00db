// 11 occupancy: how many warps a multiprocessor holds, by hand and by the API, and when it matters.
//
//   walk_1           a warp follows one chain of links: it waits for memory in every step
//   walk_4           four chains a warp, so four loads are under way at a time
//   square_1         a thread iterates x = x * x + c: each multiply-add waits for the one before
//   square_4         four values a thread, so four multiply-adds do not wait for each other
//   square_64        sixty-four: no warp ever waits, but each thread takes 80 registers (sm_90)
//   square_64_half   the same, held to registers enough for half of the warp slots
//   square_64_full   the same, held to registers enough for all warp slots; the rest is spilled
//
// Without a device: --compute 8.6 --registers 48 --shared 16384 --block 192 works out an occupancy,
// and --latency 511 --bandwidth 144 what Little's law asks for.

#include <algorithm>
#include <climits>
#include <cmath>
#include <string>
#include <vector>

#include "../../common/lab.h"

// ---------------------------------------------------------------------------------------------
// Occupancy by hand. No runtime call tells how finely registers and shared memory are given out, nor
// that registers lie in partitions; the tables of the CUDA programming guide and Nsight Compute do.

constexpr int warp_size = 32;
constexpr int register_unit = 256;  // a warp gets its registers in pieces of so many
constexpr int partitions = 4;       // of a multiprocessor; a warp lives in one, with its registers
constexpr int no_limit = INT_MAX;

struct Multiprocessor {
    int warp_slots, block_slots, registers;
    int shared_bytes;           // in all
    int reserved_shared_bytes;  // of each block, for the system
    int shared_unit;            // a block gets its shared memory in pieces of so many bytes
    int most_shared_bytes;      // a block can ask for
};

struct Block {
    int threads, registers, shared_bytes;  // registers: of a thread
};

int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

// A warp that is not full takes the place of a full one.
int warps_of(Block block) {
    // TODO 1a (1 line): how many warps are the threads of a block?
    return block.threads / warp_size;  // replace this line
}

// How many blocks find room for their warps.
int blocks_by_warps(Multiprocessor whole, Block block) {
    if (warps_of(block) == 0) return no_limit;
    // TODO 1b (1 line): whole.warp_slots are there, and only whole blocks count.
    return 0;  // replace this line
}

struct Occupancy {
    int blocks, warps;    // at the same time on one multiprocessor
    double share;         // of the warp slots
    std::string limited;  // by what
};

// What so many blocks on a multiprocessor come to.
Occupancy occupancy_of_blocks(Multiprocessor whole, Block block, int blocks) {
    Occupancy occupancy = {blocks, 0, 0, ""};
    // TODO 2 (2 lines): the warps of these blocks, and their share of the warp slots.
    return occupancy;
}

int registers_of_warp(Block block) {
    // TODO 3a (1 line): those of its 32 threads, in whole units.
    return register_unit;  // replace this line
}

// A warp must find its registers in one partition. What is left over in two of them is of no use.
int blocks_by_registers(Multiprocessor whole, Block block) {
    if (block.registers == 0 || registers_of_warp(block) == 0) return no_limit;
    if (warps_of(block) == 0) return no_limit;
    // TODO 3b (2 lines): for how many warps has one partition registers? In all of them, for how
    // many blocks?
    return partitions;  // replace this line
}

int shared_bytes_of(Multiprocessor whole, Block block) {
    // TODO 4a (1 line): its own and what is reserved for the system, in whole units.
    return block.shared_bytes;  // replace this line
}

int blocks_by_shared(Multiprocessor whole, Block block) {
    if (block.shared_bytes > whole.most_shared_bytes) return 0;
    if (shared_bytes_of(whole, block) == 0) return no_limit;
    // TODO 4b (1 line): for how many blocks is there shared memory?
    return 0;  // replace this line
}

// The scarcest resource decides.
Occupancy occupancy_of(Multiprocessor whole, Block block) {
    struct Limit {
        const char* name;
        int blocks;
    };
    const Limit limits[] = {{"warp slots", blocks_by_warps(whole, block)},
                            {"block slots", whole.block_slots},
                            {"registers", blocks_by_registers(whole, block)},
                            {"shared memory", blocks_by_shared(whole, block)}};
    int blocks = no_limit;
    std::vector<std::string> names;
    for (const Limit& limit : limits) blocks = std::min(blocks, limit.blocks);
    for (const Limit& limit : limits) {
        if (limit.blocks == blocks) names.push_back(limit.name);
    }
    Occupancy occupancy = occupancy_of_blocks(whole, block, blocks);
    occupancy.limited = lab::joined(names, " and ");
    return occupancy;
}

// The whole grid in waves: as many blocks at a time as all multiprocessors hold.
struct Waves {
    int64_t capacity;     // blocks of a full wave
    int64_t waves, last;  // how many waves, and the blocks of the last one
    double utilisation;   // of the places that all these waves have
};

Waves waves_of(int64_t grid, int blocks_at_a_time, int multiprocessors) {
    Waves waves = {int64_t{multiprocessors} * blocks_at_a_time, 0, 0, 0};
    if (waves.capacity == 0 || grid == 0) return waves;
    // TODO 5 (3 lines): waves.waves, waves.last and waves.utilisation.
    return waves;
}

// Little's law: what is under way = latency x throughput.
struct Demand {
    double bytes;  // under way in the whole device, so that the memory is never idle
    double threads, warps, warps_of_multiprocessor;  // whole ones
};

Demand demand_of(double latency_nanoseconds, double gigabytes_per_second, int bytes_of_thread,
                 int multiprocessors) {
    Demand demand = {0, 0, 0, 0};
    // TODO 6 (4 lines): the bytes; threads that have bytes_of_thread under way each; their warps;
    // and how many that are on each multiprocessor. std::ceil rounds up.
    (void)latency_nanoseconds, (void)gigabytes_per_second, (void)bytes_of_thread;
    (void)multiprocessors;  // delete both lines
    return demand;
}

// ---------------------------------------------------------------------------------------------
// Kernels.

constexpr float constant =
    -1.9f;  // x * x + c is chaotic there: one wrong bit, and all is different

// x, y: (count). Each thread iterates `chains` neighbouring values that have nothing to do with each
// other. Access is not coalesced, but it is one load and one store against thousands of steps, and
// a single address serves all values: the registers are left for these.
template <int chains>
__device__ void square(const float* x, float* y, int64_t count, int steps) {
    const int64_t first = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * chains;
    const int present = first + chains <= count ? chains : int(count - first);
    float value[chains];
#pragma unroll
    for (int k = 0; k < chains; k++) value[k] = k < present ? x[first + k] : 0;
#pragma unroll(chains < 8 ? 8 : 1)
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int k = 0; k < chains; k++) value[k] = fmaf(value[k], value[k], constant);
    }
#pragma unroll
    for (int k = 0; k < chains; k++) {
        if (k < present) y[first + k] = value[k];
    }
}

// links: (rows, 32): all 32 numbers of a row are the row that comes next, so the lanes of a warp load
// 128 bytes side by side and go on together. ends: (walkers). A warp takes `chains` walkers. With
// `every_lane` the numbers of a row may differ, and ends: (walkers, 32); that is only for checking.
template <int chains, bool every_lane>
__device__ void walk(const int32_t* links, int64_t rows, int32_t* ends, int64_t walkers,
                     int steps) {
    const int64_t thread = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t first = thread / warp_size * chains;
    const unsigned lane = thread % warp_size;
    int32_t row[chains];
#pragma unroll
    for (int k = 0; k < chains; k++) row[k] = (first + k) % rows;
    // TODO 7 (about 3 lines): in each step every row[k] becomes the number in links that this lane
    // finds in that row. The loop over k goes inside, unrolled: its loads do not wait for each
    // other.
    (void)links, (void)lane, (void)steps;  // delete this line
#pragma unroll
    for (int k = 0; k < chains; k++) {
        if (!every_lane && lane == 0 && first + k < walkers) ends[first + k] = row[k];
        if (every_lane && first + k < walkers) ends[(first + k) * warp_size + lane] = row[k];
    }
}

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/launches.cuh makes kernels of `square` and `walk`, asks the API, launches, and has
// the table of variants.

#include "given/launches.cuh"
#include "given/run.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
