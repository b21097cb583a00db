// 03 vector_add: sum = a + b, element by element, and with it the whole flow of a CUDA program:
// allocate on the device, copy the input there, launch, copy the result back, check it, free.
// Every kernel begins with one question: which element is mine? Nine layouts give nine answers.
//
//   grid_1d_block_1d .. grid_3d_block_3d   one thread an element; one index formula a layout
//   grid_stride                            as many threads as the card holds, many elements each
//   vectorised                             16 bytes a load, and many loads on their way at a time

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/lab.h"
#include "../../common/lab/two_arrays.h"

// ---------------------------------------------------------------------------------------------
// CPU reference. A sum of two floats is rounded once, here and on a GPU: results agree to the bit.

void add_on_cpu(const float* a, const float* b, float* sum, int64_t count) {
    const lab::NvtxRange range("reference");
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] + b[i];
}

// ---------------------------------------------------------------------------------------------
// Nine layouts. Blocks are numbered along x first, then y, then z; so are the threads of a block:
//     i = (blocks before mine) * (threads of a block) + (threads before me in my block)
// 32 neighbouring threads (a warp) get 32 neighbouring elements in every layout: coalesced access.
// The number of the block is 64 bits wide: 2^32 floats are 16 GiB, and fit into many a card.

__global__ void grid_1d_block_1d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 2 (2 lines): the element i of this thread, in 64 bits; if it exists, its sum.
}

__global__ void grid_1d_block_2d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 4 (2 lines): a block has rows of blockDim.x threads. How many stand before this one?
    // Replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

__global__ void grid_1d_block_3d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 4 (2 lines): a block has layers of blockDim.y rows of blockDim.x threads.
    // Replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

__global__ void grid_2d_block_1d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 5 (2 lines): the grid has rows of gridDim.x blocks. Number the block first.
    // Replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

__global__ void grid_2d_block_2d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 5 (3 lines): number the block, number the thread, put the two together.
    // Replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

__global__ void grid_2d_block_3d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 5 (3 lines): replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

__global__ void grid_3d_block_1d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 5 (2 lines): the grid has layers of gridDim.y rows of gridDim.x blocks.
    // Replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

__global__ void grid_3d_block_2d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 5 (3 lines): replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

__global__ void grid_3d_block_3d(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 5 (3 lines): replace the line below.
    const int64_t i = count;
    if (i < count) sum[i] = a[i] + b[i];
}

// ---------------------------------------------------------------------------------------------
// Two kernels more.

// A thread adds its element, then the one a whole grid further on, and so forth. The grid may have
// any size: it can be chosen to fill the card once, and one launch handles any count.
__global__ void grid_stride(const float* a, const float* b, float* sum, int64_t count) {
    // TODO 6 (about 4 lines): start as in grid_1d_block_1d, go on by the threads of the grid.
}

// Memory answers late, so ask for much before waiting: each thread requests 2 * vectors_per_thread
// pieces of 16 bytes before it uses the first. Vector k of all threads of a block lies together, so
// access stays coalesced. A block adds one tile; a tile that ends beyond the last element is added
// one by one, which also takes care of a count that is no multiple of 4.
// A float4 must lie at a multiple of 16 bytes: cudaMalloc aligns to 256, and a tile to 16.
constexpr int vectors_per_thread = 2;
constexpr int elements_per_thread = 4 * vectors_per_thread;

__global__ void vectorised(const float* a, const float* b, float* sum, int64_t count) {
    const int64_t tile = int64_t{blockDim.x} * elements_per_thread;
    const int64_t first = blockIdx.x * tile;
    if (first + tile <= count) {
        // TODO 7 (about 10 lines): vector k of this thread is number k * blockDim.x +
        // threadIdx.x of the tile. First load vectors_per_thread float4 of a and of b into
        // two small arrays, in one loop; then add and store, in a second one.
    } else {
        for (int64_t i = first + threadIdx.x; i < count; i += blockDim.x) sum[i] = a[i] + b[i];
    }
}

// ---------------------------------------------------------------------------------------------
// Grids, blocks and launches.

constexpr int64_t most_blocks_along_x = 2147483647;  // along y and z: 65535

struct Request {
    int64_t count;   // elements
    dim3 block;      // as given by --block
    int64_t blocks;  // at least; of grid_stride at most, and 0 is as many as the card holds at once
};

struct Shape {
    dim3 grid, block;
};

unsigned threads_of(dim3 block) { return block.x * block.y * block.z; }

// The number of blocks that together have a thread for every element.
int64_t blocks_for(int64_t count, int64_t elements_per_block) {
    // TODO 3 (1 line): right for up to one block so far. 1030 elements in blocks of 256 need 5.
    // Replace the line below.
    return 1;
}

// Folds blocks into a grid whose y and z stay far from their limit of 65535. Its sides differ, so
// that a formula that confuses them shows. Some blocks may be left over, with no element to add.
dim3 grid_of(int64_t blocks, int dimensions) {
    const int64_t z = dimensions < 3 ? 1 : std::llround(std::ceil(std::cbrt(blocks / 4.0)));
    const int64_t layer = lab::divide_up(blocks, z);
    const int64_t y = dimensions < 2 ? 1 : std::llround(std::ceil(std::sqrt(layer / 2.0)));
    return dim3(lab::divide_up(layer, y), y, z);
}

// Folds a block to at most the given dimensions, with as many threads.
dim3 block_of(dim3 block, int dimensions) {
    if (dimensions == 1) return dim3(threads_of(block));
    return dimensions == 2 ? dim3(block.x, block.y * block.z) : block;
}

template <int grid_dimensions, int block_dimensions>
Shape layout(const Request& request) {
    const int64_t needed = blocks_for(request.count, threads_of(request.block));
    const int64_t blocks = std::max(needed, request.blocks);
    return {grid_of(blocks, grid_dimensions), block_of(request.block, block_dimensions)};
}

Shape grid_stride_shape(const Request& request) {
    const dim3 block = block_of(request.block, 1);
    int64_t most_blocks = request.blocks;
    if (most_blocks == 0) {
        int device = 0, multiprocessors = 0, blocks_on_each = 0;
        CHECK(cudaGetDevice(&device));
        CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_on_each, grid_stride, block.x,
                                                            0));
        most_blocks = int64_t{multiprocessors} * blocks_on_each;
    }
    return {dim3(std::min(blocks_for(request.count, block.x), most_blocks)), block};
}

Shape vectorised_shape(const Request& request) {
    const dim3 block = block_of(request.block, 1);
    return {dim3(blocks_for(request.count, int64_t{block.x} * elements_per_thread)), block};
}

using Kernel = void (*)(const float* a, const float* b, float* sum, int64_t count);

template <Kernel add>
void launch(Shape shape, const float* d_a, const float* d_b, float* d_sum, int64_t count) {
    // TODO 1c (2 lines): launch the kernel `add` with this grid and block, and check it.
}

struct Variant {
    const char* name;
    Shape (*shape)(const Request&);
    void (*launch)(Shape, const float* d_a, const float* d_b, float* d_sum, int64_t count);
};

const Variant all_variants[] = {
    {"grid_1d_block_1d", layout<1, 1>, launch<grid_1d_block_1d>},
    {"grid_1d_block_2d", layout<1, 2>, launch<grid_1d_block_2d>},
    {"grid_1d_block_3d", layout<1, 3>, launch<grid_1d_block_3d>},
    {"grid_2d_block_1d", layout<2, 1>, launch<grid_2d_block_1d>},
    {"grid_2d_block_2d", layout<2, 2>, launch<grid_2d_block_2d>},
    {"grid_2d_block_3d", layout<2, 3>, launch<grid_2d_block_3d>},
    {"grid_3d_block_1d", layout<3, 1>, launch<grid_3d_block_1d>},
    {"grid_3d_block_2d", layout<3, 2>, launch<grid_3d_block_2d>},
    {"grid_3d_block_3d", layout<3, 3>, launch<grid_3d_block_3d>},
    {"grid_stride", grid_stride_shape, launch<grid_stride>},
    {"vectorised", vectorised_shape, launch<vectorised>},
};

// Times each phase of the flow once, by the host's clock and by events: lines below the table.
void note_where_the_time_goes(lab::Results& results, const Variant& variant, const Request& request,
                              const lab::TwoArrays& input, float* d_a, float* d_b, float* d_sum) {
    const Shape shape = variant.shape(request);
    const size_t bytes = request.count * sizeof(float);
    std::vector<float> h_sum = lab::zeros<float>(request.count);
    lab::HostTimer clock;
    add_on_cpu(input.a.data(), input.b.data(), h_sum.data(), request.count);
    const double cpu = clock.milliseconds();
    clock.restart();
    CHECK(cudaMemcpy(d_a, input.a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, input.b.data(), bytes, cudaMemcpyHostToDevice));
    const double upload = clock.milliseconds();
    lab::EventTimer events;
    events.start();
    variant.launch(shape, d_a, d_b, d_sum, request.count);
    events.stop();
    const double kernel = events.milliseconds();
    clock.restart();
    variant.launch(shape, d_a, d_b, d_sum, request.count);
    const double launched = clock.milliseconds();  // the kernel has hardly begun
    CHECK(cudaDeviceSynchronize());
    const double waited = clock.milliseconds();
    clock.restart();
    CHECK(cudaMemcpy(h_sum.data(), d_sum, bytes, cudaMemcpyDeviceToHost));
    const double download = clock.milliseconds();

    results.note(lab::format("where the time goes, %s, each phase once:", variant.name));
    results.note(lab::format("%12.4f ms  upload of a and b", upload));
    results.note(lab::format("%12.4f ms  kernel, by events", kernel));
    results.note(
        lab::format("%12.4f ms  kernel, by the host's clock with synchronisation", waited));
    results.note(lab::format("%12.4f ms  kernel, by the host's clock without it", launched));
    results.note(lab::format("%12.4f ms  download of the sum", download));
    results.note(lab::format("%12.4f ms  the same sum on the CPU, one loop", cpu));
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Adds two vectors, with every layout of grid and block.");
    Request request;
    request.count = arguments.integer("elements", 16 << 20, 0, int64_t{1} << 40, "of random input");
    request.block = arguments.block("block", dim3(32, 4, 2), "threads of a block");
    request.blocks = arguments.integer("blocks", 0, 0, most_blocks_along_x,
                                       "at least so many; of grid_stride at most; 0: as needed");
    const std::string a_path = arguments.input("a", "a vector, float32 .npy");
    const std::string b_path = arguments.input("b", "a vector of the same length");
    const std::string output_path = arguments.output("output", "the sum, for one variant");
    const std::vector<std::string> names = arguments.variants(lab::names_of(all_variants));
    lab::Results results(arguments);
    arguments.finish();
    arguments.excludes("a", {"elements"}, "random input");
    if (!output_path.empty() && names.size() != 1) {
        lab::refuse("--output takes the sum of one variant: choose it with --variant");
    }
    const lab::TwoArrays input = lab::read_two_arrays(a_path, b_path, {request.count});
    const int64_t count = request.count = input.a.size();
    const size_t bytes = count * sizeof(float);
    if (lab::divide_up(count, threads_of(request.block)) > most_blocks_along_x) {
        lab::refuse("--block has too few threads: a grid has at most 2147483647 blocks along x");
    }
    if (count == 0) {  // a grid without blocks cannot be launched, and need not be
        if (!output_path.empty()) lab::write_array<float>(output_path, nullptr, {0});
        std::printf("0 elements: the sum is empty, and nothing is launched\n");
        return 0;
    }
    lab::require_device();
    lab::require_device_memory(3 * bytes, "two vectors and their sum");
    results.size(lab::format("%lld elements", static_cast<long long>(count)));
    results.limit(lab::copy_bandwidth(3 * bytes / 2));  // as many bytes in all as the sum moves

    std::vector<float> reference = lab::zeros<float>(count), h_sum = lab::zeros<float>(count);
    add_on_cpu(input.a.data(), input.b.data(), reference.data(), count);

    float *d_a = nullptr, *d_b = nullptr, *d_sum = nullptr;
    CHECK(cudaMalloc(&d_a, bytes));
    // TODO 1a (2 lines): allocate d_b and d_sum in the same way.
    CHECK(cudaMemcpy(d_a, input.a.data(), bytes, cudaMemcpyHostToDevice));
    // TODO 1b (1 line): copy b to the device in the same way.

    for (const std::string& name : names) {
        const lab::NvtxRange range(name);
        const Variant& variant = lab::variant_of(all_variants, name);
        const Shape shape = variant.shape(request);
        const auto work = [&] { variant.launch(shape, d_a, d_b, d_sum, count); };
        const auto attempt = [&] {
            CHECK(cudaMemset(d_sum, 0xFF, bytes));  // NaN: what no thread writes will show
            lab::fill(h_sum, NAN);
            work();
            // TODO 1d (1 line): copy the sum back to h_sum. The copy waits for the kernel.
            return lab::compare(h_sum.data(), reference.data(), count);
        };
        const lab::Trial trial =
            lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(work); });
        results.add(name, shape.grid, shape.block, trial.milliseconds, 3.0 * bytes, count,
                    trial.comparison);
    }
    if (!output_path.empty()) lab::write_array(output_path, h_sum.data(), {count});
    note_where_the_time_goes(results, lab::variant_of(all_variants, names[0]), request, input, d_a,
                             d_b, d_sum);

    CHECK(cudaFree(d_a));
    // TODO 1e (2 lines): give back d_b and d_sum.
    return results.finish();
}
