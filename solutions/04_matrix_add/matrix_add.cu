// 04 matrix_add: sum = a + b for matrices. A matrix lies row after row in memory, so element
// (row, column) is number row * width + column; the question is which threads take which elements.
//
//   grid_2d_block_2d   a thread an element, the grid laid over the matrix like tiles
//   grid_1d_block_1d   a thread a column
//   grid_1d_block_2d   a block a column
//   grid_2d_block_1d   a thread an element, a row of blocks a row
//   row_stride         2D as the first, with a loop over rows: right for any height
//   flat_vectorised    the matrix as one long vector: right and fast for any shape

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/lab.h"
#include "../../common/lab/two_arrays.h"

// ---------------------------------------------------------------------------------------------
// CPU reference. A sum of two floats is rounded once, here and on a GPU: results agree to the bit.

// a, b, sum: (height, width), row-major
void add_on_cpu(const float* a, const float* b, float* sum, int64_t height, int64_t width) {
    const lab::NvtxRange range("reference");
    for (int64_t row = 0; row < height; row++) {
        for (int64_t column = 0; column < width; column++) {
            const int64_t i = row * width + column;
            sum[i] = a[i] + b[i];
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Kernels. a, b, sum: (height, width), row-major. x runs along a row: x is the column, y the row.
// Rows and columns fit into 31 bits; their product does not, so indices have 64.

// The matrix in tiles of blockDim.y rows and blockDim.x columns. Neighbours along x are neighbours
// in memory: where a warp lies along x, its access is coalesced.
__global__ void grid_2d_block_2d(const float* a, const float* b, float* sum, int64_t height,
                                 int64_t width) {
    // BEGIN SOLUTION
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
    if (row < height && column < width) {
        const int64_t i = row * width + column;
        sum[i] = a[i] + b[i];
    }
    //: // TODO 1 (about 6 lines): the column and the row of this thread; if there is such an
    //: // element, its place in memory, and the sum.
    // END SOLUTION
}

// A thread adds a whole column. Each step of the loop is coalesced, but only `width` threads work:
// the narrower the matrix, the less of the card is used.
__global__ void grid_1d_block_1d(const float* a, const float* b, float* sum, int64_t height,
                                 int64_t width) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (column >= width) return;
    // BEGIN SOLUTION
    for (int64_t row = 0; row < height; row++) {
        const int64_t i = row * width + column;
        sum[i] = a[i] + b[i];
    }
    //: // TODO 2 (about 4 lines): down the column, row by row.
    // END SOLUTION
}

// A block of (1, y) threads adds a column. 32 neighbouring threads are 32 rows, a whole width apart
// in memory: nothing is coalesced. The loop makes it right for more rows than a block has threads.
__global__ void grid_1d_block_2d(const float* a, const float* b, float* sum, int64_t height,
                                 int64_t width) {
    // BEGIN SOLUTION
    const int64_t column = blockIdx.x;
    for (int64_t row = threadIdx.y; row < height; row += blockDim.y) {
        const int64_t i = row * width + column;
        sum[i] = a[i] + b[i];
    }
    //: // TODO 3 (about 5 lines): the block is the column. The rows of this thread are threadIdx.y,
    //: // and then every blockDim.y-th one.
    // END SOLUTION
}

// blockIdx.y is the row, and blocks lie along it. Coalesced, with a thread for every element.
__global__ void grid_2d_block_1d(const float* a, const float* b, float* sum, int64_t height,
                                 int64_t width) {
    // BEGIN SOLUTION
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const int64_t row = blockIdx.y;
    if (row < height && column < width) {
        const int64_t i = row * width + column;
        sum[i] = a[i] + b[i];
    }
    //: // TODO 4 (about 6 lines): as in grid_2d_block_2d, but a block has one row only.
    // END SOLUTION
}

// A grid has at most 65535 blocks along y. A grid that ends too early is no loss when each thread
// goes on: to the row as far below as the whole grid is high. (A grid-stride loop along y.)
__global__ void row_stride(const float* a, const float* b, float* sum, int64_t height,
                           int64_t width) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (column >= width) return;
    // BEGIN SOLUTION
    const int64_t stride = int64_t{gridDim.y} * blockDim.y;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < height;
         row += stride) {
        const int64_t i = row * width + column;
        sum[i] = a[i] + b[i];
    }
    //: // TODO 5b (about 5 lines): start as in grid_2d_block_2d. How many rows has the grid?
    // END SOLUTION
}

// The sum does not care for rows, and without them no shape is awkward: height * width elements, as
// in the vectorised kernel of lab 03. Each thread wants 2 * vectors_per_thread pieces of 16 bytes
// before it uses the first; a block adds one tile, and what is no whole tile is added one by one.
constexpr int vectors_per_thread = 2;
constexpr int elements_per_thread = 4 * vectors_per_thread;

__global__ void flat_vectorised(const float* a, const float* b, float* sum, int64_t height,
                                int64_t width) {
    const int64_t count = height * width;
    const int64_t tile = int64_t{blockDim.x} * elements_per_thread;
    const int64_t first = blockIdx.x * tile;
    if (first + tile <= count) {
        // BEGIN SOLUTION
        const float4* a_vectors = reinterpret_cast<const float4*>(a + first) + threadIdx.x;
        const float4* b_vectors = reinterpret_cast<const float4*>(b + first) + threadIdx.x;
        float4* sum_vectors = reinterpret_cast<float4*>(sum + first) + threadIdx.x;
        float4 x[vectors_per_thread], y[vectors_per_thread];
#pragma unroll
        for (int k = 0; k < vectors_per_thread; k++) {
            x[k] = a_vectors[k * blockDim.x];
            y[k] = b_vectors[k * blockDim.x];
        }
#pragma unroll
        for (int k = 0; k < vectors_per_thread; k++) {
            const float4 z = {x[k].x + y[k].x, x[k].y + y[k].y, x[k].z + y[k].z, x[k].w + y[k].w};
            sum_vectors[k * blockDim.x] = z;
        }
        //: // TODO 6 (about 10 lines): as in lab 03. All loads of this thread first, then the sums.
        // END SOLUTION
    } else {
        for (int64_t i = first + threadIdx.x; i < count; i += blockDim.x) sum[i] = a[i] + b[i];
    }
}

// ---------------------------------------------------------------------------------------------
// Grids, blocks and launches.

constexpr int64_t longest_side = 2147483647;  // so that a grid fits along x
constexpr int64_t most_blocks_along_y = 65535;

struct Shape {
    dim3 grid, block;
};

unsigned threads_of(dim3 block) { return block.x * block.y; }

Shape grid_2d_block_2d_shape(int64_t height, int64_t width, dim3 block) {
    // BEGIN SOLUTION
    const int64_t grid_width = lab::divide_up(width, block.x);
    const int64_t grid_height = lab::divide_up(height, block.y);
    //: // TODO 1 (2 lines): how many blocks cover the width, how many the height? (lab::divide_up)
    //: // Replace the two lines below.
    //: const int64_t grid_width = 1;
    //: const int64_t grid_height = 1;
    // END SOLUTION
    return {dim3(grid_width, grid_height), block};
}

Shape grid_1d_block_1d_shape(int64_t, int64_t width, dim3 block) {
    const dim3 line(threads_of(block));
    return {dim3(lab::divide_up(width, line.x)), line};
}

Shape grid_1d_block_2d_shape(int64_t, int64_t width, dim3 block) {
    return {dim3(width), dim3(1, threads_of(block))};
}

Shape grid_2d_block_1d_shape(int64_t height, int64_t width, dim3 block) {
    const dim3 line(threads_of(block));
    return {dim3(lab::divide_up(width, line.x), height), line};
}

Shape row_stride_shape(int64_t height, int64_t width, dim3 block) {
    const int64_t grid_width = lab::divide_up(width, block.x);
    // BEGIN SOLUTION
    const int64_t grid_height = std::min(lab::divide_up(height, block.y), most_blocks_along_y);
    //: // TODO 5a (1 line): no more blocks along y than a grid may have. Replace the line below.
    //: const int64_t grid_height = lab::divide_up(height, block.y);
    // END SOLUTION
    return {dim3(grid_width, grid_height), block};
}

Shape flat_vectorised_shape(int64_t height, int64_t width, dim3 block) {
    const dim3 line(threads_of(block));
    return {dim3(lab::divide_up(height * width, int64_t{line.x} * elements_per_thread)), line};
}

using Kernel = void (*)(const float* a, const float* b, float* sum, int64_t height, int64_t width);

template <Kernel add>
void launch(Shape shape, const float* d_a, const float* d_b, float* d_sum, int64_t height,
            int64_t width) {
    add<<<shape.grid, shape.block>>>(d_a, d_b, d_sum, height, width);
    CHECK_LAUNCH();
}

struct Variant {
    const char* name;
    Shape (*shape)(int64_t height, int64_t width, dim3 block);
    void (*launch)(Shape, const float* d_a, const float* d_b, float* d_sum, int64_t height,
                   int64_t width);
};

const Variant all_variants[] = {
    {"grid_2d_block_2d", grid_2d_block_2d_shape, launch<grid_2d_block_2d>},
    {"grid_1d_block_1d", grid_1d_block_1d_shape, launch<grid_1d_block_1d>},
    {"grid_1d_block_2d", grid_1d_block_2d_shape, launch<grid_1d_block_2d>},
    {"grid_2d_block_1d", grid_2d_block_1d_shape, launch<grid_2d_block_1d>},
    {"row_stride", row_stride_shape, launch<row_stride>},
    {"flat_vectorised", flat_vectorised_shape, launch<flat_vectorised>},
};

const dim3 sweep_blocks[] = {{1, 1},  {4, 4},   {8, 8},  {16, 16}, {32, 32},
                             {32, 1}, {256, 1}, {32, 8}, {8, 32},  {1, 256}};

// Why a grid of this shape cannot be launched, or "".
std::string too_tall(Shape shape) {
    if (shape.grid.y <= most_blocks_along_y) return "";
    return lab::format("needs %u blocks along y, and a grid has at most 65535", shape.grid.y);
}

int main(int argc, char** argv) {
    constexpr int64_t side = lab::on_cpu ? 1024 : 4096;
    lab::Arguments arguments(argc, argv,
                             "Adds two matrices, with the elements shared out in six ways.");
    int64_t height = arguments.integer("height", side, 0, longest_side, "rows of random input");
    int64_t width = arguments.integer("width", side, 0, longest_side, "columns of random input");
    std::vector<dim3> blocks = {arguments.block("block", dim3(32, 8), "threads along x and y", 2)};
    const bool sweep =
        arguments.flag("sweep", "many blocks; of grid_2d_block_2d if none is chosen");
    const std::string a_path = arguments.input("a", "a matrix, float32 .npy");
    const std::string b_path = arguments.input("b", "a matrix of the same shape");
    const std::string output_path = arguments.output("output", "the sum, for one variant");
    std::vector<std::string> names = arguments.variants(lab::names_of(all_variants));
    lab::Results results(arguments);
    arguments.finish();
    if (sweep && arguments.given("block")) lab::refuse("--sweep tries many blocks: drop --block");
    if (sweep && !arguments.given("variant")) names = {all_variants[0].name};
    if (sweep) blocks.assign(std::begin(sweep_blocks), std::end(sweep_blocks));
    arguments.excludes("a", {"height", "width"}, "random input");
    if (!output_path.empty() && names.size() * blocks.size() != 1) {
        lab::refuse("--output takes the sum of one variant and block: choose with --variant");
    }

    const lab::TwoArrays input = lab::read_two_arrays(a_path, b_path, {height, width});
    height = input.shape[0];
    width = input.shape[1];
    if (std::max(height, width) > longest_side) {
        lab::refuse("--a and --b have more than 2147483647 rows or columns");
    }
    const int64_t count = height * width;
    const size_t bytes = count * sizeof(float);
    if (count == 0) {  // a grid without blocks cannot be launched, and need not be
        if (!output_path.empty()) lab::write_array<float>(output_path, nullptr, {height, width});
        std::printf("0 elements: the sum is empty, and nothing is launched\n");
        return 0;
    }
    if (names.size() * blocks.size() == 1) {
        const std::string reason =
            too_tall(lab::variant_of(all_variants, names[0]).shape(height, width, blocks[0]));
        if (!reason.empty()) lab::refuse("%s %s", names[0].c_str(), reason.c_str());
    }
    lab::require_device();
    lab::require_device_memory(3 * bytes, "two matrices and their sum");
    results.size(lab::format("%lld x %lld elements", static_cast<long long>(height),
                             static_cast<long long>(width)));
    results.limit(lab::copy_bandwidth(3 * bytes / 2));  // as many bytes in all as the sum moves

    std::vector<float> reference = lab::zeros<float>(count), h_sum = lab::zeros<float>(count);
    const lab::HostTimer clock;
    add_on_cpu(input.a.data(), input.b.data(), reference.data(), height, width);
    results.note(lab::format("the same sum on the CPU, one loop: %.3f ms", clock.milliseconds()));

    float *d_a = nullptr, *d_b = nullptr, *d_sum = nullptr;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_sum, bytes));
    CHECK(cudaMemcpy(d_a, input.a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, input.b.data(), bytes, cudaMemcpyHostToDevice));

    for (const std::string& name : names) {
        const lab::NvtxRange range(name);
        for (const dim3 block : blocks) {
            const Variant& variant = lab::variant_of(all_variants, name);
            const Shape shape = variant.shape(height, width, block);
            if (!too_tall(shape).empty()) {
                results.skip(name, too_tall(shape));
                continue;
            }
            const auto work = [&] { variant.launch(shape, d_a, d_b, d_sum, height, width); };
            const auto attempt = [&] {
                CHECK(cudaMemset(d_sum, 0xFF, bytes));  // NaN: what no thread writes will show
                work();
                CHECK(cudaMemcpy(h_sum.data(), d_sum, bytes, cudaMemcpyDeviceToHost));
                return lab::compare(h_sum.data(), reference.data(), count);
            };
            const lab::Trial trial =
                lab::compare_and_time(attempt, [&] { return lab::median_milliseconds(work); });
            results.add(name, shape.grid, shape.block, trial.milliseconds, 3.0 * bytes, count,
                        trial.comparison);
        }
    }
    if (!output_path.empty()) lab::write_array(output_path, h_sum.data(), {height, width});

    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_sum));
    return results.finish();
}
