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
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/array_file.h"
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
    // BEGIN SOLUTION
    return (block.threads + warp_size - 1) / warp_size;
    //: // TODO 1a (1 line): how many warps are the threads of a block?
    //: return block.threads / warp_size;  // replace this line
    // END SOLUTION
}

// How many blocks find room for their warps.
int blocks_by_warps(Multiprocessor whole, Block block) {
    if (warps_of(block) == 0) return no_limit;
    // BEGIN SOLUTION
    return whole.warp_slots / warps_of(block);
    //: // TODO 1b (1 line): whole.warp_slots are there, and only whole blocks count.
    //: return 0;  // replace this line
    // END SOLUTION
}

struct Occupancy {
    int blocks, warps;    // at the same time on one multiprocessor
    double share;         // of the warp slots
    std::string limited;  // by what
};

// What so many blocks on a multiprocessor come to.
Occupancy occupancy_of_blocks(Multiprocessor whole, Block block, int blocks) {
    Occupancy occupancy = {blocks, 0, 0, ""};
    // BEGIN SOLUTION
    occupancy.warps = occupancy.blocks * warps_of(block);
    occupancy.share = double(occupancy.warps) / whole.warp_slots;
    //: // TODO 2 (2 lines): the warps of these blocks, and their share of the warp slots.
    // END SOLUTION
    return occupancy;
}

int registers_of_warp(Block block) {
    // BEGIN SOLUTION
    return round_up(warp_size * block.registers, register_unit);
    //: // TODO 3a (1 line): those of its 32 threads, in whole units.
    //: return register_unit;  // replace this line
    // END SOLUTION
}

// A warp must find its registers in one partition. What is left over in two of them is of no use.
int blocks_by_registers(Multiprocessor whole, Block block) {
    if (block.registers == 0 || registers_of_warp(block) == 0) return no_limit;
    if (warps_of(block) == 0) return no_limit;
    // BEGIN SOLUTION
    const int warps_of_partition = whole.registers / partitions / registers_of_warp(block);
    return partitions * warps_of_partition / warps_of(block);
    //: // TODO 3b (2 lines): for how many warps has one partition registers? In all of them, for how
    //: // many blocks?
    //: return partitions;  // replace this line
    // END SOLUTION
}

int shared_bytes_of(Multiprocessor whole, Block block) {
    // BEGIN SOLUTION
    return round_up(block.shared_bytes + whole.reserved_shared_bytes, whole.shared_unit);
    //: // TODO 4a (1 line): its own and what is reserved for the system, in whole units.
    //: return block.shared_bytes;  // replace this line
    // END SOLUTION
}

int blocks_by_shared(Multiprocessor whole, Block block) {
    if (block.shared_bytes > whole.most_shared_bytes) return 0;
    if (shared_bytes_of(whole, block) == 0) return no_limit;
    // BEGIN SOLUTION
    return whole.shared_bytes / shared_bytes_of(whole, block);
    //: // TODO 4b (1 line): for how many blocks is there shared memory?
    //: return 0;  // replace this line
    // END SOLUTION
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
    // BEGIN SOLUTION
    waves.waves = lab::divide_up(grid, waves.capacity);
    waves.last = grid - (waves.waves - 1) * waves.capacity;
    waves.utilisation = double(grid) / double(waves.waves * waves.capacity);
    //: // TODO 5 (3 lines): waves.waves, waves.last and waves.utilisation.
    // END SOLUTION
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
    // BEGIN SOLUTION
    demand.bytes = latency_nanoseconds * gigabytes_per_second;  // 1e-9 s * 1e9 bytes/s
    demand.threads = std::ceil(demand.bytes / bytes_of_thread);
    demand.warps = std::ceil(demand.threads / warp_size);
    demand.warps_of_multiprocessor = std::ceil(demand.warps / multiprocessors);
    //: // TODO 6 (4 lines): the bytes; threads that have bytes_of_thread under way each; their warps;
    //: // and how many that are on each multiprocessor. std::ceil rounds up.
    //: (void)latency_nanoseconds, (void)gigabytes_per_second, (void)bytes_of_thread;
    //: (void)multiprocessors;  // delete both lines
    // END SOLUTION
    return demand;
}

// ---------------------------------------------------------------------------------------------
// CPU reference.

constexpr float constant =
    -1.9f;  // x * x + c is chaotic there: one wrong bit, and all is different

void square_on_cpu(const float* x, float* y, int64_t count, int steps) {
    const lab::NvtxRange range("reference");
    for (int64_t i = 0; i < count; i++) {
        y[i] = x[i];
        for (int step = 0; step < steps; step++) y[i] = std::fma(y[i], y[i], constant);
    }
}

// next: (rows, width), ends: (walkers, width); width is 1, or 32 where every lane has links of its
// own. Walker w starts at row w % rows.
void walk_on_cpu(const int32_t* next, int64_t rows, int width, int32_t* ends, int64_t walkers,
                 int steps) {
    const lab::NvtxRange range("reference");
    for (int64_t i = 0; i < walkers * width; i++) {
        ends[i] = i / width % rows;
        for (int step = 0; step < steps; step++) {
            ends[i] = next[int64_t{ends[i]} * width + i % width];
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Kernels.

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
        // BEGIN SOLUTION
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
#pragma unroll
        for (int k = 0; k < chains; k++) row[k] = links[int64_t{row[k]} * warp_size + lane];
    }
    //: // TODO 7 (about 3 lines): in each step every row[k] becomes the number in links that this lane
    //: // finds in that row. The loop over k goes inside, unrolled: its loads do not wait for each
    //: // other.
    //: (void)links, (void)lane, (void)steps;  // delete this line
    // END SOLUTION
#pragma unroll
    for (int k = 0; k < chains; k++) {
        if (!every_lane && lane == 0 && first + k < walkers) ends[first + k] = row[k];
        if (every_lane && first + k < walkers) ends[(first + k) * warp_size + lane] = row[k];
    }
}

// Warp slots of the architecture that is compiled for, in blocks of 256 threads. With
// __launch_bounds__(threads, blocks) the compiler gives a thread no more registers than let so many
// blocks live on a multiprocessor.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || \
    __CUDA_ARCH__ / 100 == 10 || __CUDA_ARCH__ < 750
constexpr int blocks_of_256 = 8;
#elif __CUDA_ARCH__ == 750
constexpr int blocks_of_256 = 4;
#else
constexpr int blocks_of_256 = 6;
#endif

template <int chains>
__global__ void square_kernel(const float* x, float* y, int64_t count, int steps) {
    square<chains>(x, y, count, steps);
}
__global__ void __launch_bounds__(256)
    square_64(const float* x, float* y, int64_t count, int steps) {
    square<64>(x, y, count, steps);
}
__global__ void __launch_bounds__(256, blocks_of_256 / 2)
    square_64_half(const float* x, float* y, int64_t count, int steps) {
    square<64>(x, y, count, steps);
}
__global__ void __launch_bounds__(256, blocks_of_256)
    square_64_full(const float* x, float* y, int64_t count, int steps) {
    square<64>(x, y, count, steps);
}
template <int chains, bool every_lane>
__global__ void walk_kernel(const int32_t* links, int64_t rows, int32_t* ends, int64_t walkers,
                            int steps) {
    walk<chains, every_lane>(links, rows, ends, walkers, steps);
}

// next: (rows), links: (rows, 32).
__global__ void spread_kernel(const int32_t* next, int32_t* links, int64_t rows) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < rows * warp_size) links[i] = next[i / warp_size];
}

// ---------------------------------------------------------------------------------------------
// What the API says of a kernel, and launches.

// How many items (walkers, or values) there are, what they are, and where results go.
struct Work {
    int64_t items = 0, rows = 0;
    int steps = 0;
    const float* d_values = nullptr;
    const int32_t* d_links = nullptr;
    bool every_lane = false;
    float* d_results = nullptr;
    int32_t* d_ends = nullptr;
};

struct Shape {
    int grid, threads, shared_bytes;
};

template <auto kernel>
cudaFuncAttributes attributes() {
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    return attributes;
}

// Allows all the shared memory that a block can have, and prefers it to the L1 cache.
template <auto... kernels>
void prepare(Multiprocessor whole) {
    const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    const auto carveout = cudaFuncAttributePreferredSharedMemoryCarveout;
    (CHECK(cudaFuncSetAttribute(kernels, most, whole.most_shared_bytes)), ...);
    (CHECK(cudaFuncSetAttribute(kernels, carveout, 100)), ...);
}

template <auto kernel>
int blocks_by_api(int threads, int shared_bytes) {
    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes));
    return blocks;
}

// The block size that keeps most threads on the device, and the grid that fills it once.
template <auto kernel>
Shape best_by_api(int most_threads) {
    Shape shape = {0, 0, 0};
    CHECK(cudaOccupancyMaxPotentialBlockSize(&shape.grid, &shape.threads, kernel, 0, most_threads));
    return shape;
}

using SquareKernel = void (*)(const float*, float*, int64_t, int);
using WalkKernel = void (*)(const int32_t*, int64_t, int32_t*, int64_t, int);

template <SquareKernel kernel>
void launch_square(Shape shape, const Work& work) {
    kernel<<<shape.grid, shape.threads, shape.shared_bytes>>>(work.d_values, work.d_results,
                                                              work.items, work.steps);
    CHECK_LAUNCH();
}

template <WalkKernel kernel, WalkKernel every_lane>
void launch_walk(Shape shape, const Work& work) {
    const WalkKernel chosen = work.every_lane ? every_lane : kernel;
    chosen<<<shape.grid, shape.threads, shape.shared_bytes>>>(work.d_links, work.rows, work.d_ends,
                                                              work.items, work.steps);
    CHECK_LAUNCH();
}

struct Variant {
    const char* name;
    bool walks;  // one item a warp, else one a thread
    int chains;  // as many times that
    int bound;   // of a block's threads, by __launch_bounds__: CPU mode does not know it
    cudaFuncAttributes (*attributes)();
    void (*prepare)(Multiprocessor);
    int (*blocks_by_api)(int threads, int shared_bytes);
    Shape (*best_by_api)(int most_threads);
    void (*launch)(Shape, const Work&);

    int most_threads() const { return std::min(bound, attributes().maxThreadsPerBlock); }
    int64_t items_of_block(int threads) const {
        return int64_t{walks ? threads / warp_size : threads} * chains;
    }
};

template <SquareKernel kernel>
constexpr Variant square_variant(const char* name, int chains, int bound) {
    return {name,
            false,
            chains,
            bound,
            attributes<kernel>,
            prepare<kernel>,
            blocks_by_api<kernel>,
            best_by_api<kernel>,
            launch_square<kernel>};
}
template <WalkKernel kernel, WalkKernel every_lane>
constexpr Variant walk_variant(const char* name, int chains) {
    return {name,
            true,
            chains,
            1024,
            attributes<kernel>,
            prepare<kernel, every_lane>,
            blocks_by_api<kernel>,
            best_by_api<kernel>,
            launch_walk<kernel, every_lane>};
}

const Variant all_variants[] = {
    walk_variant<walk_kernel<1, false>, walk_kernel<1, true>>("walk_1", 1),
    walk_variant<walk_kernel<4, false>, walk_kernel<4, true>>("walk_4", 4),
    square_variant<square_kernel<1>>("square_1", 1, 1024),
    square_variant<square_kernel<4>>("square_4", 4, 1024),
    square_variant<square_64>("square_64", 64, 256),
    square_variant<square_64_half>("square_64_half", 64, 256),
    square_variant<square_64_full>("square_64_full", 64, 256),
};

const Variant& find(const std::string& name) {
    return *std::find_if(std::begin(all_variants), std::end(all_variants),
                         [&](const Variant& variant) { return name == variant.name; });
}

// ---------------------------------------------------------------------------------------------
// Multiprocessors, by the table and by the device.

struct Capability {
    int major, minor;
    Multiprocessor whole;
};

// Of the CUDA programming guide, "Technical Specifications per Compute Capability".
const Capability capabilities[] = {
    {7, 0, {64, 32, 65536, 96 * 1024, 0, 256, 96 * 1024}},
    {7, 5, {32, 16, 65536, 64 * 1024, 0, 256, 64 * 1024}},
    {8, 0, {64, 32, 65536, 164 * 1024, 1024, 128, 163 * 1024}},
    {8, 6, {48, 16, 65536, 100 * 1024, 1024, 128, 99 * 1024}},
    {8, 7, {48, 16, 65536, 164 * 1024, 1024, 128, 163 * 1024}},
    {8, 9, {48, 24, 65536, 100 * 1024, 1024, 128, 99 * 1024}},
    {9, 0, {64, 32, 65536, 228 * 1024, 1024, 128, 227 * 1024}},
    {10, 0, {64, 32, 65536, 228 * 1024, 1024, 128, 227 * 1024}},
    {12, 0, {48, 24, 65536, 100 * 1024, 1024, 128, 99 * 1024}},
};

std::string capability_text(const Capability& capability) {
    return lab::format("%d.%d", capability.major, capability.minor);
}

std::string known_text() {
    std::vector<std::string> names;
    for (const Capability& capability : capabilities) names.push_back(capability_text(capability));
    return lab::joined(names, ", ");
}

// The one that is written like this, or the end.
const Capability* find_capability(const std::string& text) {
    return std::find_if(std::begin(capabilities), std::end(capabilities),
                        [&](const Capability& known) { return capability_text(known) == text; });
}

Multiprocessor multiprocessor_of_device() {
    const bool before_ampere = lab::device_attribute(cudaDevAttrComputeCapabilityMajor) < 8;
    return {lab::device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor) / warp_size,
            lab::device_attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
            lab::device_attribute(cudaDevAttrMaxRegistersPerMultiprocessor),
            lab::device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            lab::device_attribute(cudaDevAttrReservedSharedMemoryPerBlock),
            before_ampere ? 256 : 128,
            lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}

Block block_of(const Variant& variant, int threads, int shared_bytes) {
    const cudaFuncAttributes attributes = variant.attributes();
    return {threads, attributes.numRegs, shared_bytes + int(attributes.sharedSizeBytes)};
}

// ---------------------------------------------------------------------------------------------
// What is printed.

std::string limit_text(int blocks) {
    return blocks == no_limit ? "no limit" : lab::format("%d", blocks);
}

void print_occupancy(Multiprocessor whole, Block block) {
    const int warps = warps_of(block);
    const auto number = [](int value) { return lab::format("%d", value); };
    std::printf("a block of %d threads, %d registers a thread, %d bytes of shared memory\n\n",
                block.threads, block.registers, block.shared_bytes);
    lab::print_table({{"resource", "a block takes", "there are", "blocks"},
                      {"warp slots", number(warps), number(whole.warp_slots),
                       limit_text(blocks_by_warps(whole, block))},
                      {"block slots", "1", number(whole.block_slots), number(whole.block_slots)},
                      {"registers", number(warps * registers_of_warp(block)),
                       number(whole.registers), limit_text(blocks_by_registers(whole, block))},
                      {"shared memory", number(shared_bytes_of(whole, block)),
                       number(whole.shared_bytes), limit_text(blocks_by_shared(whole, block))}},
                     {false, true, true, true});
    const Occupancy occupancy = occupancy_of(whole, block);
    std::printf("\nblocks a multiprocessor: %d, limited by %s\n", occupancy.blocks,
                occupancy.limited.c_str());
    std::printf("warps a multiprocessor: %d of %d\n", occupancy.warps, whole.warp_slots);
    std::printf("occupancy: %.1f %%\n", 100 * occupancy.share);
    if (occupancy.blocks == 0) std::printf("such a block fits on no multiprocessor\n");
}

void print_waves(int64_t grid, int blocks_at_a_time, int multiprocessors) {
    const Waves waves = waves_of(grid, blocks_at_a_time, multiprocessors);
    const auto number = [](int64_t value) { return static_cast<long long>(value); };
    std::printf("\nfull wave: %lld blocks, %d on each of %d multiprocessors\n",
                number(waves.capacity), blocks_at_a_time, multiprocessors);
    std::printf("waves for %lld blocks: %lld\n", number(grid), number(waves.waves));
    std::printf("last wave: %lld blocks\n", number(waves.last));
    std::printf("utilisation: %.1f %%\n", 100 * waves.utilisation);
}

void print_demand(double latency, double bandwidth, int bytes_of_thread, int multiprocessors) {
    const Demand demand = demand_of(latency, bandwidth, bytes_of_thread, multiprocessors);
    std::printf("latency: %.1f ns\n", latency);
    std::printf("bandwidth: %.1f GB/s\n", bandwidth);
    std::printf("bytes under way: %.0f\n", demand.bytes);
    std::printf("threads with %d %s each: %.0f\n", bytes_of_thread,
                bytes_of_thread == 1 ? "byte" : "bytes", demand.threads);
    std::printf("warps: %.0f\n", demand.warps);
    std::printf("warps on each of %d multiprocessors: %.0f\n", multiprocessors,
                demand.warps_of_multiprocessor);
}

// By hand and by the API, for the kernels that are about to run. False when they disagree.
bool print_kernels(Multiprocessor whole, const std::vector<std::string>& names, int threads,
                   int shared_bytes) {
    bool agree = true;
    std::vector<std::vector<std::string>> lines = {
        {"kernel", "registers", "by hand", "by the API", "warps", "occupancy", "limited by"}};
    for (const std::string& name : names) {
        const Variant& variant = find(name);
        const Block block = block_of(variant, threads, shared_bytes);
        const Occupancy occupancy = occupancy_of(whole, block);
        std::string api = "-";  // of a block that the kernel was not compiled for
        if (threads <= variant.most_threads()) {
            const int blocks = variant.blocks_by_api(threads, shared_bytes);
            agree = agree && blocks == occupancy.blocks;
            api = lab::format("%d", blocks);
        }
        lines.push_back({name, lab::format("%d", block.registers),
                         lab::format("%d", occupancy.blocks), api,
                         lab::format("%d", occupancy.warps),
                         lab::format("%.1f %%", 100 * occupancy.share), occupancy.limited});
    }
    std::printf("blocks of %d threads and %d bytes of shared memory, on one multiprocessor:\n",
                threads, shared_bytes);
    lab::print_table(lines, {false, true, true, true, true, true, false});
    return agree;
}

// Asks both about every kernel in many shapes. False when they disagree.
bool print_agreement(Multiprocessor whole) {
    int asked = 0, alike = 0;
    for (const Variant& variant : all_variants) {
        const int most = variant.most_threads();
        for (int threads = 1; threads <= most; threads += threads % 32 == 1 ? 31 : 1) {
            for (const int shared : {0, 1, 127, 1000, 2048, 4097, 8192, 16384, 33000, 49152, 65536,
                                     whole.most_shared_bytes}) {
                if (shared > whole.most_shared_bytes) continue;
                const int by_hand = occupancy_of(whole, block_of(variant, threads, shared)).blocks;
                const int by_api = variant.blocks_by_api(threads, shared);
                asked++;
                if (by_hand == by_api) alike++;
                if (by_hand == by_api || asked - alike > 3) continue;
                std::printf("%s, %d threads, %d bytes: %d by hand, %d by the API\n", variant.name,
                            threads, shared, by_hand, by_api);
            }
        }
    }
    std::printf("by hand as by the API: %d of %d shapes\n", alike, asked);
    return alike == asked;
}

void print_best(Multiprocessor whole, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        const Shape shape = find(name).best_by_api(find(name).most_threads());
        if (shape.threads == 0) continue;
        const Occupancy occupancy = occupancy_of(whole, block_of(find(name), shape.threads, 0));
        std::printf("the API suggests for %s: %d blocks of %d threads, %.1f %% occupancy\n",
                    name.c_str(), shape.grid, shape.threads, 100 * occupancy.share);
    }
}

// ---------------------------------------------------------------------------------------------
// Input.

// Random values repeat after so many, and so does the reference, which would take minutes.
constexpr int64_t period = 4096;

std::vector<float> random_starts(int64_t count) {
    const std::vector<float> once = lab::random_values<float>(period, -1, 1, 1);
    std::vector<float> values(count);
    for (int64_t i = 0; i < count; i++) values[i] = once[i % period];
    return values;
}

// A permutation that is one single cycle, so that no walker comes back before it has been everywhere.
std::vector<int32_t> random_cycle(int64_t rows) {
    const std::vector<uint64_t> random = lab::random_values<uint64_t>(rows, 0, UINT64_MAX, 2);
    std::vector<int32_t> next(rows);
    for (int64_t i = 0; i < rows; i++) next[i] = i;
    for (int64_t i = rows - 1; i > 0; i--) std::swap(next[i], next[random[i] % uint64_t(i)]);
    return next;
}

// (rows) or (rows, 32); the second is for checking that each lane reads its own number.
lab::Array<int32_t> read_links(const std::string& path) {
    const lab::Array<int32_t> file = lab::read_array<int32_t>(path);
    const bool fits =
        file.shape.size() == 1 || (file.shape.size() == 2 && file.shape[1] == warp_size);
    if (!fits) lab::refuse("--links wants the shape (rows) or (rows, 32)");
    if (file.shape[0] == 0) lab::refuse("--links has no rows: a walk needs one at least");
    for (const int32_t next : file.values) {
        if (next < 0 || next >= file.shape[0]) {
            lab::refuse("--links leads to row %d, and has the rows 0 to %lld", next,
                        static_cast<long long>(file.shape[0] - 1));
        }
    }
    return file;
}

struct Options {
    // on paper
    std::string compute;
    bool calculates, law;
    int registers, multiprocessors, bytes_of_thread;
    int64_t grid;
    double latency, bandwidth;
    // on the device
    bool little;
    std::vector<std::string> names;
    std::string values_path, links_path, output_path;
    int threads, shared_bytes, steps;
    int64_t walkers, values, rows;
    double waves;  // 0: as many items as were asked for
};

// What both the reference and the kernels take. The values are uploaded by each variant anew.
struct Input {
    std::vector<float> values;
    std::vector<int32_t> next;  // (rows, width)
    int64_t rows = 0;
    int width = 1;
    int32_t* d_links = nullptr;
};

template <class T>
T* upload(const std::vector<T>& values) {
    T* d_values = nullptr;
    CHECK(cudaMalloc(&d_values, std::max<size_t>(1, values.size()) * sizeof(T)));
    CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d_values;
}

// links: every number of `next` 32 times, unless there are 32 for a row already.
int32_t* spread(const Input& input) {
    const int64_t numbers = input.rows * warp_size;
    int32_t* d_next = upload(input.next);
    if (input.width == warp_size) return d_next;
    int32_t* d_links = nullptr;
    CHECK(cudaMalloc(&d_links, numbers * sizeof(int32_t)));
    spread_kernel<<<unsigned(lab::divide_up(numbers, 256)), 256>>>(d_next, d_links, input.rows);
    CHECK_LAUNCH();
    CHECK(cudaFree(d_next));
    return d_links;
}

int steps_of(const Variant& variant, const Options& options) {
    if (options.steps >= 0) return options.steps;
    if (lab::on_cpu) return 64;
    return variant.walks ? 64 : 2048;
}

// As many as were asked for, or as make so many waves.
int64_t items_of(const Variant& variant, const Options& options) {
    if (options.waves == 0) return variant.walks ? options.walkers : options.values;
    const int blocks = variant.blocks_by_api(options.threads, options.shared_bytes);
    const int64_t full = int64_t{lab::device_attribute(cudaDevAttrMultiProcessorCount)} * blocks;
    const int64_t grid = std::max<int64_t>(1, std::llround(options.waves * double(full)));
    return grid * variant.items_of_block(options.threads);
}

// ---------------------------------------------------------------------------------------------
// One row of the table.

// Runs, compares, times; `reference` and `d_output` are of the variant's kind.
template <class T>
void measure(const Variant& variant, Shape shape, const Work& work, T* d_output,
             const std::vector<T>& reference, const Options& options, lab::Results& results) {
    const lab::NvtxRange range(variant.name);
    std::vector<T> h_output(reference.size());
    const size_t bytes = h_output.size() * sizeof(T);
    const auto run = [&] { variant.launch(shape, work); };
    const auto attempt = [&] {
        CHECK(cudaMemset(d_output, 0xFF, bytes));  // what nobody writes will show
        run();
        CHECK(cudaMemcpy(h_output.data(), d_output, bytes, cudaMemcpyDeviceToHost));
        return lab::compare(h_output.data(), reference.data(), h_output.size());
    };
    const lab::Trial trial =
        lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(run); });
    const double steps = double(work.items) * work.steps;
    results.add(variant.name, dim3(shape.grid), dim3(shape.threads), trial.milliseconds,
                variant.walks ? steps * warp_size * sizeof(int32_t) : 0,
                variant.walks ? 0 : 2 * steps, trial.comparison);
    if (options.output_path.empty()) return;
    std::vector<int64_t> written = {work.items};
    if (work.every_lane) written.push_back(warp_size);
    lab::write_array(options.output_path, h_output.data(), written);
}

void run_walk(const Variant& variant, Shape shape, Work work, const Input& input,
              const Options& options, lab::Results& results) {
    work.every_lane = input.width == warp_size;
    std::vector<int32_t> reference(work.items * input.width);
    walk_on_cpu(input.next.data(), work.rows, input.width, reference.data(), work.items,
                work.steps);
    CHECK(cudaMalloc(&work.d_ends, reference.size() * sizeof(int32_t)));
    measure(variant, shape, work, work.d_ends, reference, options, results);
    CHECK(cudaFree(work.d_ends));
}

void run_square(const Variant& variant, Shape shape, Work work, const Input& input,
                const Options& options, lab::Results& results) {
    const bool from_file = !options.values_path.empty();
    const std::vector<float> values = from_file ? input.values : random_starts(work.items);
    std::vector<float> reference(work.items);
    const int64_t once = from_file ? work.items : std::min(work.items, period);
    square_on_cpu(values.data(), reference.data(), once, work.steps);
    for (int64_t i = once; i < work.items; i++) reference[i] = reference[i - period];
    float* d_values = upload(values);
    work.d_values = d_values;
    CHECK(cudaMalloc(&work.d_results, work.items * sizeof(float)));
    measure(variant, shape, work, work.d_results, reference, options, results);
    CHECK(cudaFree(work.d_results));
    CHECK(cudaFree(d_values));
}

void run_variant(const Variant& variant, const Input& input, const Options& options,
                 lab::Results& results) {
    if (options.threads > variant.most_threads()) {
        results.skip(variant.name, "its __launch_bounds__ allow blocks of 256 threads at most");
        return;
    }
    if (variant.blocks_by_api(options.threads, options.shared_bytes) == 0) {
        results.skip(variant.name, "not one such block fits on a multiprocessor");
        return;
    }
    Work work;
    work.items = items_of(variant, options);
    if (work.items == 0) {
        results.skip(variant.name, "there is nothing to do");
        return;
    }
    work.rows = input.rows;
    work.steps = steps_of(variant, options);
    work.d_links = input.d_links;
    const int64_t grid = lab::divide_up(work.items, variant.items_of_block(options.threads));
    const Shape shape = {int(grid), options.threads, options.shared_bytes};
    (variant.walks ? run_walk : run_square)(variant, shape, work, input, options, results);
}

// What one warp alone waits for one row that is in no cache, and what the device copies.
void measure_demand(const Input& input, const Options& options) {
    Work work;
    work.items = 1;
    work.rows = input.rows;
    work.steps = lab::on_cpu ? 1000 : 20000;
    work.d_links = input.d_links;
    CHECK(cudaMalloc(&work.d_ends, sizeof(int32_t)));
    const double milliseconds = lab::median_milliseconds([&] {
        find("walk_1").launch({1, warp_size, options.shared_bytes}, work);
    });
    CHECK(cudaFree(work.d_ends));
    std::printf("device: %s\n", lab::device_name().c_str());
    print_demand(1e6 * milliseconds / work.steps,
                 lab::copy_bandwidth(lab::on_cpu ? int64_t{1} << 22 : int64_t{1} << 30),
                 options.bytes_of_thread, lab::device_attribute(cudaDevAttrMultiProcessorCount));
    std::printf("warp slots of a multiprocessor: %d\n", multiprocessor_of_device().warp_slots);
    if (lab::on_cpu) std::printf("\nCPU mode: these are not the figures of a GPU.\n");
}

bool any_walks(const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return find(name).walks; });
}

bool any_squares(const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return !find(name).walks; });
}

// Warps on a multiprocessor, by the API, where they are the same for all kernels; or -1.
int common_warps(const Options& options) {
    int warps = -1;
    for (const std::string& name : options.names) {
        if (options.threads > find(name).most_threads()) continue;  // it will be skipped
        const int blocks = find(name).blocks_by_api(options.threads, options.shared_bytes);
        const int mine = blocks * int(lab::divide_up(options.threads, warp_size));
        if (warps >= 0 && warps != mine) return -1;
        warps = mine;
    }
    return warps;
}

// What tells this run from others: above the table, and in the CSV.
std::string size_text(const Options& options, Multiprocessor whole) {
    std::string text = lab::format("blocks of %d, %d bytes of shared memory", options.threads,
                                   options.shared_bytes);
    const int warps = common_warps(options);
    if (warps >= 0) text += lab::format(", %d of %d warps", warps, whole.warp_slots);
    for (const bool walks : {true, false}) {
        const auto chosen =
            std::find_if(options.names.begin(), options.names.end(),
                         [&](const std::string& name) { return find(name).walks == walks; });
        if (chosen == options.names.end()) continue;
        const int64_t items = walks ? options.walkers : options.values;
        const char* const noun = walks ? "walkers" : "values";
        text += options.waves > 0 ? lab::format(", %s", noun)
                                  : lab::format(", %lld %s", static_cast<long long>(items), noun);
        text += lab::format(" of %d steps", steps_of(find(*chosen), options));
    }
    if (options.waves > 0) text += lab::format(", %g waves", options.waves);
    return text;
}

// The tables of what is known beforehand, then the kernels. Returns the exit status.
int run_kernels(const Input& input, const Options& options, Multiprocessor whole,
                lab::Results& results) {
    bool agree = print_kernels(whole, options.names, options.threads, options.shared_bytes);
    if (options.output_path.empty()) agree = print_agreement(whole) && agree;
    print_best(whole, options.names);
    std::printf("\n");
    results.size(size_text(options, whole));
    if (input.d_links) results.limit(lab::copy_bandwidth(lab::on_cpu ? 1 << 20 : 1 << 28));
    for (const std::string& name : options.names) {
        run_variant(find(name), input, options, results);
    }
    const int status = results.finish();
    const bool judged_alone = !options.output_path.empty();  // then only the result counts
    return status == 0 && !agree && !judged_alone ? 1 : status;
}

void write_nothing(const Options& options) {
    if (options.output_path.empty()) {
    } else if (find(options.names[0]).walks) {
        lab::write_array<int32_t>(options.output_path, nullptr, {0});
    } else {
        lab::write_array<float>(options.output_path, nullptr, {0});
    }
    std::printf("no items: the result is empty, and nothing is launched\n");
}

void prepare_links(Input& input, const Options& options) {
    input.rows = options.rows;
    if (options.links_path.empty()) {
        input.next = random_cycle(options.rows);
        return;
    }
    const lab::Array<int32_t> file = read_links(options.links_path);
    input.next = file.values;
    input.rows = file.shape[0];
    input.width = file.shape.size() == 2 ? warp_size : 1;
}

int run_on_device(Options options, lab::Results& results) {
    Input input;
    const bool walks = options.little || any_walks(options.names);
    if (!options.values_path.empty()) {
        input.values = lab::read_array<float>(options.values_path, 1).values;
        options.values = input.values.size();
    }
    if (walks) {
        prepare_links(input, options);
    }
    const bool one = options.names.size() == 1;
    if (one && (find(options.names[0]).walks ? options.walkers : options.values) == 0) {
        write_nothing(options);
        return 0;
    }
    lab::require_device();
    const Multiprocessor whole = multiprocessor_of_device();
    if (options.shared_bytes > whole.most_shared_bytes) {
        lab::skip("a block of this device has at most %d bytes of shared memory, not %d",
                  whole.most_shared_bytes, options.shared_bytes);
    }
    lab::require_device_memory(input.rows * 4 * (warp_size + 1) +
                                   8 * std::max(options.values, options.walkers * input.width),
                               "the links and the values");
    if (walks) input.d_links = spread(input);
    for (const Variant& variant : all_variants) variant.prepare(whole);
    int status = 0;
    if (options.little) measure_demand(input, options);
    if (!options.little) status = run_kernels(input, options, whole, results);
    if (input.d_links) CHECK(cudaFree(input.d_links));
    return status;
}

int run_on_paper(const Options& options) {
    if (options.law) {
        print_demand(options.latency, options.bandwidth, options.bytes_of_thread,
                     options.multiprocessors);
        return 0;
    }
    const Capability& capability = *find_capability(options.compute);
    const Block block = {options.threads, options.registers, options.shared_bytes};
    std::printf("compute capability %s\n", options.compute.c_str());
    print_occupancy(capability.whole, block);
    if (options.grid > 0) {
        const int blocks = occupancy_of(capability.whole, block).blocks;
        print_waves(options.grid, blocks, options.multiprocessors);
    }
    return 0;
}

// ---------------------------------------------------------------------------------------------
// Arguments.

void declare_paper(lab::Arguments& arguments, Options& options) {
    options.compute =
        arguments.text("compute", "", "work out this compute capability: " + known_text());
    options.calculates = arguments.given("compute");
    options.registers = arguments.integer("registers", 32, 0, 255, "of a thread, with --compute");
    options.grid = arguments.integer("grid", 0, 0, 2147483647, "blocks, with --compute");
    options.multiprocessors =
        arguments.integer("multiprocessors", 1, 1, 1024, "with --compute or --latency");
    options.latency =
        arguments.real("latency", 500, 0, 1e6, "of memory in ns: work out Little's law");
    options.law = arguments.given("latency");
    options.bandwidth =
        arguments.real("bandwidth", 1000, 0, 1e6, "of memory in GB/s, with --latency");
    options.bytes_of_thread =
        arguments.integer("bytes", 4, 1, 65536, "that a thread has under way, for Little's law");
}

void declare_kernels(lab::Arguments& arguments, Options& options) {
    constexpr int64_t most = int64_t{1} << 30;
    const dim3 block = arguments.block("block", dim3(256), "threads of a block");
    options.threads = block.x * block.y * block.z;
    options.shared_bytes =
        arguments.integer("shared", 0, 0, 228 * 1024, "bytes of shared memory of a block");
    options.little = arguments.flag("little", "measure latency and bandwidth: Little's law");
    options.walkers = arguments.integer("walkers", lab::on_cpu ? 256 : 64 * 1024, 0, most / 64,
                                        "of the walks, one a warp and chain");
    options.rows = arguments.integer("rows", lab::on_cpu ? 4096 : 2 * 1024 * 1024, 1, most / 32,
                                     "of 128 bytes that the walks go through");
    options.values = arguments.integer("values", lab::on_cpu ? 4096 : 4 * 1024 * 1024, 0, most,
                                       "of the squares, one a thread and chain");
    options.steps = arguments.integer("steps", lab::on_cpu ? 64 : 2048, 0, 1000000,
                                      "of each square; a walk takes 64 without it");
    if (!arguments.given("steps")) options.steps = -1;
    options.waves = arguments.real("waves", 0, 0, 64, "as many items as make so many waves");
    options.values_path = arguments.input("values-file", "values of the squares, float32 .npy");
    options.links_path = arguments.input("links", "the next row of each row, int32 .npy");
    options.output_path = arguments.output("output", "the results of one variant");
}

// What a run is about; an option that says nothing to it is refused rather than ignored.
enum Question { on_occupancy = 1, on_the_law = 2, on_the_device = 4, on_kernels = 8 };

struct Rule {
    const char* option;
    int questions;  // that take the option
    const char* others;
};

const char* const kernels_only = "the kernels: drop --compute, --latency or --little";
const Rule rules[] = {
    {"registers", on_occupancy, "--compute: a kernel has its own"},
    {"grid", on_occupancy, "--compute: a kernel's grid follows from its work"},
    {"bandwidth", on_the_law, "--latency"},
    {"bytes", on_the_law | on_the_device, "--latency or --little"},
    {"multiprocessors", on_occupancy | on_the_law, "--compute or --latency: a device has its own"},
    {"block", on_occupancy | on_kernels, "--compute or the kernels"},
    {"shared", on_occupancy | on_the_device | on_kernels, "--compute, --little or the kernels"},
    {"rows", on_the_device | on_kernels, "--little or the walks"},
    {"links", on_the_device | on_kernels, "--little or the walks"},
    {"walkers", on_kernels, kernels_only},
    {"values", on_kernels, kernels_only},
    {"values-file", on_kernels, kernels_only},
    {"steps", on_kernels, kernels_only},
    {"waves", on_kernels, kernels_only},
    {"variant", on_kernels, kernels_only},
    {"output", on_kernels, kernels_only},
    {"csv", on_kernels, kernels_only},
};

void refuse_strangers(const lab::Arguments& arguments, const Options& options) {
    const int question = options.calculates ? on_occupancy
                         : options.law      ? on_the_law
                         : options.little   ? on_the_device
                                            : on_kernels;
    for (const Rule& rule : rules) {
        if ((rule.questions & question) || !arguments.given(rule.option)) continue;
        lab::refuse("--%s goes with %s", rule.option, rule.others);
    }
    if (question != on_kernels) return;
    for (const char* option : {"walkers", "rows", "links"}) {
        if (any_walks(options.names) || !arguments.given(option)) continue;
        lab::refuse("--%s is for the walks, and none was chosen", option);
    }
    for (const char* option : {"values", "values-file"}) {
        if (any_squares(options.names) || !arguments.given(option)) continue;
        lab::refuse("--%s is for the squares, and none was chosen", option);
    }
    for (const char* option : {"walkers", "values", "values-file"}) {
        if (options.waves == 0 || !arguments.given(option)) continue;
        lab::refuse("--waves says how many items there are: drop it, or --%s", option);
    }
}

void refuse_contradictions(const lab::Arguments& arguments, const Options& options) {
    if (options.calculates + options.law + options.little > 1) {
        lab::refuse("--compute, --latency and --little are three questions: ask one at a time");
    }
    if (options.calculates && find_capability(options.compute) == std::end(capabilities)) {
        lab::refuse("--compute: %s is not one of %s", lab::quoted(options.compute).c_str(),
                    known_text().c_str());
    }
    refuse_strangers(arguments, options);
    if (options.calculates || options.law) return;
    if (options.threads % warp_size != 0 && any_walks(options.names)) {
        lab::refuse("--block: the walks want whole warps, a multiple of 32");
    }
    if (!options.output_path.empty() && options.names.size() != 1) {
        lab::refuse("--output takes one result: choose with --variant");
    }
    if (!options.values_path.empty() && arguments.given("values")) {
        lab::refuse("--values-file says how many values there are: drop --values");
    }
    if (!options.links_path.empty() && arguments.given("rows")) {
        lab::refuse("--links says how many rows there are: drop --rows");
    }
}

int main(int argc, char** argv) {
    std::vector<std::string> names;
    for (const Variant& variant : all_variants) names.push_back(variant.name);
    lab::Arguments arguments(argc, argv,
                             "Works out the occupancy of kernels and shows when it matters.");
    Options options;
    declare_paper(arguments, options);
    declare_kernels(arguments, options);
    options.names = arguments.variants(names);
    lab::Results results(arguments);
    arguments.finish();
    refuse_contradictions(arguments, options);
    const bool on_paper = options.calculates || options.law;
    return on_paper ? run_on_paper(options) : run_on_device(options, results);
}
