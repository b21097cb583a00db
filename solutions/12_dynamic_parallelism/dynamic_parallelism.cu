// 12 dynamic parallelism: a kernel launches kernels, because only it knows what is left to do.
//
// --part hello     a grid greets, and its first thread launches half as many, down to one
// --part streams   when a child runs, and what parent, child and tail see of each other's memory
// --part picture   the Mandelbrot set, where one pixel costs 10000 times as much as its neighbour
//   direct           one thread a pixel
//   device_launches  a block settles a rectangle, or cuts it into four and launches a grid for them
//   device_levels    all rectangles of a size in one grid, which the device launches level by level
//   host_levels      the same grids, launched by the host, which has to ask how many there are
//
// Build it with -rdc=true: a launch in a kernel needs the device's own runtime to be linked in.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "../../common/array_file.h"
#include "../../common/image.h"
#include "../../common/lab.h"

// The named streams of kernels came with CUDA 12. Before, their work goes into the stream of the
// block: it comes behind what the block has launched before, but it does not wait for the parent.
#if CUDART_VERSION >= 12000
constexpr bool has_tail_launch = true;
#define TAIL_STREAM cudaStreamTailLaunch
#define FREE_STREAM cudaStreamFireAndForget
#else
constexpr bool has_tail_launch = false;
#define TAIL_STREAM 0
#define FREE_STREAM 0
#endif

// ---------------------------------------------------------------------------------------------
// Errors. A launch that fails in a kernel says so to that kernel only; the host has to be told.

struct Tally {
    unsigned long long pixels;    // whose dwell was computed, not filled in
    unsigned long long launches;  // from the device
    int error;                    // the first of a launch from the device; 0: none
};

__device__ void note_launch(Tally* tally) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) atomicCAS(&tally->error, 0, static_cast<int>(error));
    atomicAdd(&tally->launches, 1ull);
}

// ---------------------------------------------------------------------------------------------
// Part 1: hello. Every grid below the first has one block, so its number is 0.

__global__ void nested_hello(int threads, int depth, Tally* tally) {
    printf("Recursion=%d: Hello World from thread %d block %d\n", depth, threadIdx.x, blockIdx.x);
    if (threads == 1 || threadIdx.x > 0) return;
    // BEGIN SOLUTION
    nested_hello<<<1, threads / 2>>>(threads / 2, depth + 1, tally);
    note_launch(tally);
    //: // TODO 1 (2 lines): launch one block of half as many threads, one level deeper. Then
    //: // note_launch(tally), which tells the host of a launch that failed.
    // END SOLUTION
    printf("-----> nested execution depth: %d\n", depth + 1);
}

// ---------------------------------------------------------------------------------------------
// Part 2: streams and memory. The parent never waits for a child: it cannot.

struct Notes {  // in global memory; pointers to local or shared memory must not go to a child
    int before_launch, of_child, after_launch;
};

__global__ void child_kernel(const char name, Notes* notes) {
    if (name == '1') notes->of_child = 42;
    printf("child %c: what the parent wrote before the launch is %d\n", name, notes->before_launch);
}

__global__ void free_kernel() { printf("free: nobody waits for me, and I for nobody\n"); }

// Runs when the parent and all its children have ended, and sees what all of them wrote.
__global__ void tail_kernel(const Notes* notes) {
    printf("tail: before the launch %d, of the child %d, after the launch %d\n",
           notes->before_launch, notes->of_child, notes->after_launch);
}

__global__ void parent_kernel(Notes* notes, Tally* tally) {
    printf("parent: begins\n");
    notes->before_launch = 1;
    // BEGIN SOLUTION
#if CUDART_VERSION >= 12000
    tail_kernel<<<1, 1, 0, TAIL_STREAM>>>(notes);  // launched first, and runs last
    note_launch(tally);
#endif
    free_kernel<<<1, 1, 0, FREE_STREAM>>>();
    note_launch(tally);
    //: // TODO 2 (about 4 lines): launch tail_kernel into TAIL_STREAM (it runs last, although it is
    //: // launched first) and free_kernel into FREE_STREAM; note both. The stream is the fourth value
    //: // in <<< >>>, after 0 bytes.
    // END SOLUTION
    child_kernel<<<1, 1>>>('1', notes);  // both in the stream of this block: one after the other
    note_launch(tally);
    child_kernel<<<1, 1>>>('2', notes);
    note_launch(tally);
    notes->after_launch = 2;  // a child may see it, or not
    const int seen = *static_cast<volatile int*>(&notes->of_child);
    printf("parent: ends; what the child wrote is %d (0 or 42: undefined)\n", seen);
}

// ---------------------------------------------------------------------------------------------
// Part 3: the Mandelbrot set. The dwell of a pixel c is how many steps z = z * z + c, from z = 0, it
// takes to leave the circle of radius 2; those that take `limit` steps are taken to stay for ever.

struct View {
    int height, width, limit;
    double left, top, step;  // the centre of pixel (0, 0), and the distance of two
    int smallest;            // a rectangle with a shorter side is computed, not cut
};

struct Rectangle {
    int row, column, height, width;
};

// Each operation is rounded by itself, here as on the CPU; a compiler that joins a product and a sum
// into one instruction (fma) would get other dwells along the edges of the set.
__device__ double product(double a, double b) { return __dmul_rn(a, b); }
__device__ double sum(double a, double b) { return __dadd_rn(a, b); }

__device__ int dwell_of(const View& view, int row, int column) {
    const double x = sum(view.left, product(column, view.step));
    const double y = sum(view.top, product(row, view.step));
    double real = 0, imaginary = 0;
    int dwell = 0;
    while (dwell < view.limit) {
        const double real_squared = product(real, real);
        const double imaginary_squared = product(imaginary, imaginary);
        if (sum(real_squared, imaginary_squared) > 4) break;
        imaginary = sum(product(sum(real, real), imaginary), y);
        real = sum(sum(real_squared, -imaginary_squared), x);
        dwell++;
    }
    return dwell;
}

// CPU reference, of the same operations. Nobody may join them here either.
#if defined(__GNUC__) && !defined(__clang__)
#define EACH_ROUNDED __attribute__((optimize("fp-contract=off")))
#else
#define EACH_ROUNDED
#endif

// The two largest parts of the set have formulas: their points never leave, and need no steps.
EACH_ROUNDED bool surely_inside(double x, double y) {
    const double q = (x - 0.25) * (x - 0.25) + y * y;
    const bool heart = q * (q + (x - 0.25)) < 0.2499999 * y * y;
    return heart || (x + 1) * (x + 1) + y * y < 0.0624999;
}

EACH_ROUNDED void dwells_on_cpu(const View& view, int32_t* dwells) {
    for (int64_t i = 0; i < int64_t{view.height} * view.width; i++) {
        const double x = view.left + double(i % view.width) * view.step;
        const double y = view.top + double(i / view.width) * view.step;
        double real = 0, imaginary = 0;
        int dwell = surely_inside(x, y) ? view.limit : 0;
        for (; dwell < view.limit; dwell++) {
            const double real_squared = real * real, imaginary_squared = imaginary * imaginary;
            if (real_squared + imaginary_squared > 4) break;
            imaginary = (real + real) * imaginary + y;
            real = (real_squared - imaginary_squared) + x;
        }
        dwells[i] = dwell;
    }
}

EACH_ROUNDED View make_view(int height, int width, int limit, double x, double y, double span) {
    const double step = span / std::max({height, width, 1});
    const double left = x - step * ((width - 1) / 2.0), top = y - step * ((height - 1) / 2.0);
    return {height, width, limit, left, top, step, 0};
}

// dwells: (height, width), row-major, in all kernels
__global__ void direct(View view, int32_t* dwells, Tally* tally) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < int64_t{view.height} * view.width) {
        dwells[i] = dwell_of(view, int(i / view.width), int(i % view.width));
    }
    if (i == 0) tally->pixels = int64_t{view.height} * view.width;
}

// The set has no holes and hangs together, and so do the regions of one dwell around it. So, when
// all pixels on the border of a rectangle have one dwell, those inside have it too (Mariani, Silver).
// It holds for the plane; of pixels it may fail: see the handout.

struct Pixel {
    int row, column;
};

__host__ __device__ int64_t pixels_of(Rectangle r) { return int64_t{r.height} * r.width; }

__host__ __device__ Rectangle inside_of(Rectangle r) {
    const int height = r.height > 2 ? r.height - 2 : 0, width = r.width > 2 ? r.width - 2 : 0;
    return {r.row + 1, r.column + 1, height, width};
}

__host__ __device__ Pixel pixel_of(Rectangle r, int64_t i) {
    return {r.row + int(i / r.width), r.column + int(i % r.width)};
}

// Pixel i of the border: the first row, the last row, then what is left of the two columns.
__host__ __device__ Pixel pixel_of_border(Rectangle r, int64_t i) {
    if (r.height <= 2 || r.width <= 2 || i < r.width) return pixel_of(r, i);
    if (i < 2 * int64_t{r.width}) return {r.row + r.height - 1, r.column + int(i - r.width)};
    const int64_t side = i - 2 * int64_t{r.width};
    return {r.row + 1 + int(side / 2), side % 2 == 0 ? r.column : r.column + r.width - 1};
}

// Part `number` of a rectangle that is cut into rows * columns parts of nearly one size.
__host__ __device__ Rectangle part_of(Rectangle r, int rows, int columns, int number) {
    const int64_t i = number / columns, j = number % columns;
    const int top = int(r.height * i / rows), bottom = int(r.height * (i + 1) / rows);
    const int left = int(r.width * j / columns), right = int(r.width * (j + 1) / columns);
    return {r.row + top, r.column + left, bottom - top, right - left};
}

// CPU reference of the filling: writes to `filled` what differs from `dwells`, those of all pixels.
void fill_on_cpu(const View& view, Rectangle whole, int rows, int columns,
                 const std::vector<int32_t>& dwells, std::vector<int32_t>& filled) {
    const auto place = [&](Pixel p) { return int64_t{p.row} * view.width + p.column; };
    for (int part = 0; part < rows * columns; part++) {
        const Rectangle mine = part_of(whole, rows, columns, part), inside = inside_of(mine);
        const int32_t corner = dwells[place({mine.row, mine.column})];
        bool alike = true;
        for (int64_t i = 0; i < pixels_of(mine) - pixels_of(inside); i++) {
            alike = alike && dwells[place(pixel_of_border(mine, i))] == corner;
        }
        if (alike) {
            for (int64_t i = 0; i < pixels_of(inside); i++) {
                filled[place(pixel_of(inside, i))] = corner;
            }
        } else if (std::min(mine.height, mine.width) > view.smallest) {
            fill_on_cpu(view, inside, 2, 2, dwells, filled);
        }
    }
}

__device__ void compute_inside(const View& view, Rectangle inside, int32_t* dwells) {
    for (int64_t i = threadIdx.x; i < pixels_of(inside); i += blockDim.x) {
        const Pixel pixel = pixel_of(inside, i);
        dwells[int64_t{pixel.row} * view.width + pixel.column] =
            dwell_of(view, pixel.row, pixel.column);
    }
}

__device__ void fill_inside(const View& view, Rectangle inside, int32_t* dwells, int dwell) {
    // BEGIN SOLUTION
    for (int64_t i = threadIdx.x; i < pixels_of(inside); i += blockDim.x) {
        const Pixel pixel = pixel_of(inside, i);
        dwells[int64_t{pixel.row} * view.width + pixel.column] = dwell;
    }
    //: // TODO 3 (about 4 lines): as in compute_inside, without computing.
    // END SOLUTION
}

// The threads of a block compute the border of a rectangle. Then they fill it, or compute it when it
// is small; or they leave it, and the answer, the same for all of them, is that it must be cut.
__device__ bool must_be_cut(const View& view, Rectangle r, int32_t* dwells, Tally* tally) {
    const Rectangle inside = inside_of(r);
    const int64_t border = pixels_of(r) - pixels_of(inside);
    int lowest = view.limit, highest = 0;
    for (int64_t i = threadIdx.x; i < border; i += blockDim.x) {
        const Pixel pixel = pixel_of_border(r, i);
        const int dwell = dwell_of(view, pixel.row, pixel.column);
        dwells[int64_t{pixel.row} * view.width + pixel.column] = dwell;
        lowest = min(lowest, dwell);
        highest = max(highest, dwell);
    }
    __syncthreads();  // thread 0 has written the corner
    const int corner = dwells[int64_t{r.row} * view.width + r.column];
    const bool mine_alike = threadIdx.x >= border || (lowest == corner && highest == corner);
    const bool alike = __syncthreads_and(mine_alike);  // a barrier and a vote
    const bool small = min(r.height, r.width) <= view.smallest;
    if (alike) {
        fill_inside(view, inside, dwells, corner);
    } else if (small) {
        compute_inside(view, inside, dwells);
    }
    if (threadIdx.x == 0) {
        atomicAdd(&tally->pixels, border + (small && !alike ? pixels_of(inside) : 0));
    }
    return !alike && !small;
}

// The work is not known before: a block that has to cut its rectangle launches a grid for the four
// parts, at once, and ends. Nobody collects anything; the parent is complete when its children are.
__global__ void subdivide(View view, Rectangle whole, int rows, int columns, int32_t* dwells,
                          Tally* tally) {
    const Rectangle mine = part_of(whole, rows, columns, blockIdx.x);
    const bool cut = must_be_cut(view, mine, dwells, tally);
    // BEGIN SOLUTION
    if (cut && threadIdx.x == 0) {
        subdivide<<<4, blockDim.x, 0, FREE_STREAM>>>(view, inside_of(mine), 2, 2, dwells, tally);
        note_launch(tally);
    }
    //: // TODO 4 (about 4 lines): if it must be cut, one thread of the block launches `subdivide` into
    //: // FREE_STREAM, four blocks for the 2 x 2 parts of inside_of(mine). Note the launch.
    //: (void)cut;  // delete this line
    // END SOLUTION
}

// The same work in levels: one grid for all rectangles of a level, in a list that the level before
// has written. Far fewer launches, but each level ends with its slowest block.
struct Levels {
    Rectangle* lists[2];  // of the even levels, of the odd ones
    unsigned* counts;     // of the rectangles of each level, zero at first
    int most;             // levels
};

__global__ void list_first_level(View view, Levels levels, int rows, int columns) {
    const Rectangle whole = {0, 0, view.height, view.width};
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) levels.lists[0][i] = part_of(whole, rows, columns, i);
    if (i == 0) levels.counts[0] = rows * columns;
}

__global__ void settle_level(View view, Levels levels, int level, int32_t* dwells, Tally* tally) {
    const Rectangle mine = levels.lists[level % 2][blockIdx.x];
    const bool cut = must_be_cut(view, mine, dwells, tally);
    // BEGIN SOLUTION
    if (cut && threadIdx.x == 0) {
        const unsigned place = atomicAdd(&levels.counts[level + 1], 4u);
        for (int part = 0; part < 4; part++) {
            levels.lists[(level + 1) % 2][place + part] = part_of(inside_of(mine), 2, 2, part);
        }
    }
    //: // TODO 5 (about 6 lines): if it must be cut, one thread takes four places in the next level's
    //: // list by one atomicAdd to its count, and writes the four parts there.
    //: (void)cut;  // delete this line
    // END SOLUTION
}

// One thread that launches the grid of a level, and itself again, as a tail: for the next level,
// behind that grid. This is how a kernel comes to use what its children have found.
constexpr int rectangle_threads = 128;

__global__ void launch_levels(View view, Levels levels, int level, int32_t* dwells, Tally* tally) {
    const unsigned count = levels.counts[level];
    if (count == 0) return;
    // BEGIN SOLUTION
    settle_level<<<count, rectangle_threads>>>(view, levels, level, dwells, tally);
    note_launch(tally);
    if (level + 1 == levels.most) return;
    launch_levels<<<1, 1, 0, TAIL_STREAM>>>(view, levels, level + 1, dwells, tally);
    note_launch(tally);
    //: // TODO 6 (5 lines): launch settle_level for the `count` rectangles of this level; then, if
    //: // level + 1 is not levels.most, launch_levels for the next one as a tail. Note both.
    // END SOLUTION
}

// ---------------------------------------------------------------------------------------------
// Launches.

struct Job {
    View view;
    int rows, columns;  // of the rectangles that the picture is cut into first
    int64_t most_launches;
    Levels levels;
    int32_t* dwells;
    Tally* tally;

    Rectangle whole() const { return {0, 0, view.height, view.width}; }
    int tiles() const { return rows * columns; }
};

struct Shape {
    dim3 grid, block;
};

constexpr int direct_threads = 256;

Shape shape_of_pixels(const Job& job) {
    const int64_t pixels = int64_t{job.view.height} * job.view.width;
    return {dim3(lab::divide_up(pixels, direct_threads)), dim3(direct_threads)};
}

Shape shape_of_tiles(const Job& job) { return {dim3(job.tiles()), dim3(rectangle_threads)}; }

Shape shape_of_loop(const Job&) { return {dim3(1), dim3(1)}; }

void launch_direct(Shape shape, const Job& job) {
    direct<<<shape.grid, shape.block>>>(job.view, job.dwells, job.tally);
    CHECK_LAUNCH();
}

void launch_device_launches(Shape shape, const Job& job) {
    subdivide<<<shape.grid, shape.block>>>(job.view, job.whole(), job.rows, job.columns, job.dwells,
                                           job.tally);
    CHECK_LAUNCH();
}

void begin_levels(const Job& job) {
    CHECK(cudaMemsetAsync(job.levels.counts, 0, (job.levels.most + 1) * sizeof(unsigned)));
    list_first_level<<<lab::divide_up(job.tiles(), 256), 256>>>(job.view, job.levels, job.rows,
                                                                job.columns);
    CHECK_LAUNCH();
}

void launch_device_levels(Shape shape, const Job& job) {
    begin_levels(job);
    launch_levels<<<shape.grid, shape.block>>>(job.view, job.levels, 0, job.dwells, job.tally);
    CHECK_LAUNCH();
}

void launch_host_levels(Shape shape, const Job& job) {
    begin_levels(job);
    unsigned count = job.tiles();
    for (int level = 0; count > 0; level++) {
        settle_level<<<count, shape.block>>>(job.view, job.levels, level, job.dwells, job.tally);
        CHECK_LAUNCH();
        if (level + 1 == job.levels.most) break;
        CHECK(cudaMemcpy(&count, job.levels.counts + level + 1, sizeof count,
                         cudaMemcpyDeviceToHost));  // waits for the level
    }
}

struct Variant {
    const char* name;
    Shape (*shape)(const Job&);
    void (*launch)(Shape, const Job&);
    bool fills;  // rectangles, so that a pixel may differ from the direct one
};

const Variant all_variants[] = {
    {"direct", shape_of_pixels, launch_direct, false},
    {"device_launches", shape_of_tiles, launch_device_launches, true},
    {"device_levels", shape_of_loop, launch_device_levels, true},
    {"host_levels", shape_of_tiles, launch_host_levels, true},
};

const Variant& find(const std::string& name) {
    return *std::find_if(std::begin(all_variants), std::end(all_variants),
                         [&](const Variant& variant) { return name == variant.name; });
}

// ---------------------------------------------------------------------------------------------
// The three parts of the program.

Tally* make_tally() {
    Tally* d_tally = nullptr;
    CHECK(cudaMalloc(&d_tally, sizeof(Tally)));
    CHECK(cudaMemset(d_tally, 0, sizeof(Tally)));
    return d_tally;
}

// What may have led to an error of a launch from the device.
const char* advice_for(cudaError_t error) {
    if (error == cudaErrorLaunchPendingCountExceeded) {
        return "; does only one thread of a block launch? If so, a larger --smallest needs fewer";
    }
    if (error != cudaErrorInvalidConfiguration) return "";
    return "; is there a grid without blocks, or a block of more than 1024 threads?";
}

Tally read_tally(const Tally* d_tally) {
    Tally tally;
    CHECK(cudaMemcpy(&tally, d_tally, sizeof tally, cudaMemcpyDeviceToHost));
    const cudaError_t error = static_cast<cudaError_t>(tally.error);
    if (error != cudaSuccess) {
        lab::fail("a launch from the device failed: %s: %s%s", cudaGetErrorName(error),
                  cudaGetErrorString(error), advice_for(error));
    }
    return tally;
}

void run_hello(int blocks, int threads) {
    lab::require_device();
    size_t room = 0;  // for every line that the device prints before the host reads them
    CHECK(cudaDeviceGetLimit(&room, cudaLimitPrintfFifoSize));
    room = std::max<size_t>(room, size_t{200} * blocks * (2 * threads + 32));
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, room));
    Tally* const d_tally = make_tally();
    std::printf("host: launches %d block%s of %d\n", blocks, blocks == 1 ? "" : "s", threads);
    std::fflush(stdout);  // the host's line stays before those of the device
    nested_hello<<<blocks, threads>>>(threads, 0, d_tally);
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    const Tally tally = read_tally(d_tally);
    std::printf("host: all have ended; %llu %s launched from the device\n", tally.launches,
                tally.launches == 1 ? "grid was" : "grids were");
    CHECK(cudaFree(d_tally));
}

void run_streams() {
    lab::require_device();
    Notes* d_notes = nullptr;
    Tally* const d_tally = make_tally();
    CHECK(cudaMalloc(&d_notes, sizeof(Notes)));
    CHECK(cudaMemset(d_notes, 0, sizeof(Notes)));
    std::printf("host: launches the parent\n");
    std::fflush(stdout);
    parent_kernel<<<1, 1>>>(d_notes, d_tally);
    CHECK_LAUNCH();
    if (!has_tail_launch) {  // the next launch of the host runs behind the whole family as well
        tail_kernel<<<1, 1>>>(d_notes);
        CHECK_LAUNCH();
    }
    CHECK(cudaDeviceSynchronize());
    read_tally(d_tally);
    std::printf("host: the parent and all that it launched have ended\n");
    CHECK(cudaFree(d_notes));
    CHECK(cudaFree(d_tally));
}

// Black inside; outside the dwell's root goes round the colours, so that near the set they differ.
std::vector<uint8_t> colours_of(const std::vector<int32_t>& dwells, int limit) {
    std::vector<uint8_t> pixels(3 * dwells.size(), 0);
    for (size_t i = 0; i < dwells.size(); i++) {
        if (dwells[i] >= limit) continue;
        for (int channel = 0; channel < 3; channel++) {
            const double angle = 0.8 * std::sqrt(double(dwells[i])) + 3.6 - 0.9 * channel;
            pixels[3 * i + channel] = uint8_t(127.5 + 127.4 * std::sin(angle));
        }
    }
    return pixels;
}

struct Request {
    View view;
    int64_t tile;  // the longest side of the first rectangles
    std::string output_path, picture_path;
    std::vector<std::string> variants;
};

// How far the cutting can go: levels, launches of device_launches, rectangles of the last level.
struct Reach {
    int levels;
    int64_t launches, rectangles;
};

// A rectangle is cut as long as its sides are longer than `smallest`; a part's are at most half of the
// inside's, rounded up. The parts of a level do not overlap: there are no more than pixels.
Reach reach_of(const Request& request) {
    const View& view = request.view;
    Reach reach = {
        1, 0, lab::divide_up(view.height, request.tile) * lab::divide_up(view.width, request.tile)};
    for (int64_t side = request.tile; side > view.smallest; side = (side - 1) / 2) {
        reach.launches += reach.rectangles;
        reach.rectangles *= 4;
        reach.levels++;
    }
    reach.rectangles = std::min(reach.rectangles, int64_t{view.height} * view.width);
    return reach;
}

Job make_job(const Request& request) {
    Job job = {};
    job.view = request.view;
    job.rows = int(lab::divide_up(job.view.height, request.tile));
    job.columns = int(lab::divide_up(job.view.width, request.tile));
    const Reach reach = reach_of(request);
    job.levels.most = reach.levels;
    job.most_launches = reach.launches;
    const int64_t pixels = int64_t{job.view.height} * job.view.width;
    CHECK(cudaMalloc(&job.dwells, pixels * sizeof(int32_t)));
    for (Rectangle*& list : job.levels.lists) {
        CHECK(cudaMalloc(&list, reach.rectangles * sizeof(Rectangle)));
    }
    // one more, always 0: who goes a level too far finds nothing there
    CHECK(cudaMalloc(&job.levels.counts, (job.levels.most + 1) * sizeof(unsigned)));
    job.tally = make_tally();
    return job;
}

void free_job(const Job& job) {
    CHECK(cudaFree(job.dwells));
    CHECK(cudaFree(job.levels.lists[0]));
    CHECK(cudaFree(job.levels.lists[1]));
    CHECK(cudaFree(job.levels.counts));
    CHECK(cudaFree(job.tally));
}

// A grid launched from the device waits in a buffer of fixed length until it can run. It holds 2048
// by default; one launch more fails, and the rest of the picture would stay empty.
void make_room_for_launches(const Job& job) {
    constexpr int64_t usual = 2048, most = 1 << 18;
    const int64_t wanted = std::min(std::max(job.most_launches, usual), most);
    CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, size_t(wanted)));
}

std::vector<int32_t> run_variant(const Variant& variant, const Job& job,
                                 const std::vector<int32_t>& expected, lab::Results& results) {
    const lab::NvtxRange range(variant.name);
    std::vector<int32_t> dwells(expected.size());
    const size_t bytes = dwells.size() * sizeof(int32_t);
    const Shape shape = variant.shape(job);
    Tally tally = {};
    const auto run = [&] { variant.launch(shape, job); };
    const auto attempt = [&] {
        CHECK(cudaMemset(job.dwells, 0xFF, bytes));  // -1: what no thread writes will show
        CHECK(cudaMemset(job.tally, 0, sizeof(Tally)));
        run();
        CHECK(cudaDeviceSynchronize());
        tally = read_tally(job.tally);
        CHECK(cudaMemcpy(dwells.data(), job.dwells, bytes, cudaMemcpyDeviceToHost));
        return lab::compare(dwells.data(), expected.data(), int64_t(dwells.size()));
    };
    const lab::Trial trial = lab::compare_and_time(attempt, [&] {
        const double milliseconds = lab::median_milliseconds(run);
        read_tally(job.tally);  // a launch from the device may have failed
        return milliseconds;
    });
    results.add(variant.name, shape.grid, shape.block, trial.milliseconds, 0, 0, trial.comparison);
    results.note(lab::format("%-16s %5.1f %% of the pixels computed, %llu launches from the device",
                             variant.name, 100.0 * double(tally.pixels) / double(dwells.size()),
                             tally.launches));
    return dwells;
}

void run_picture(const Request& request, lab::Results& results) {
    const View& view = request.view;
    lab::require_device();
    std::vector<int32_t> expected(int64_t{view.height} * view.width), dwells;  // of all pixels
    lab::HostTimer clock;
    {
        const lab::NvtxRange range("reference");
        dwells_on_cpu(view, expected.data());
    }
    results.note(
        lab::format("direct, on one core of the CPU: %.1f ms; the largest parts of the set "
                    "by a formula",
                    clock.milliseconds()));
    const Job job = make_job(request);
    make_room_for_launches(job);
    std::vector<int32_t> filled = expected;
    fill_on_cpu(view, job.whole(), job.rows, job.columns, expected, filled);
    int64_t differ = 0;
    for (size_t i = 0; i < filled.size(); i++) differ += filled[i] != expected[i];
    results.note(lab::format("filling rectangles changes %lld of %zu pixels",
                             static_cast<long long>(differ), filled.size()));
    for (const std::string& name : request.variants) {
        const Variant& variant = find(name);
        dwells = run_variant(variant, job, variant.fills ? filled : expected, results);
    }
    free_job(job);
    if (!request.output_path.empty()) {
        lab::write_array(request.output_path, dwells.data(), {view.height, view.width});
    }
    if (!request.picture_path.empty()) {
        lab::write_image(request.picture_path, colours_of(dwells, view.limit).data(), view.height,
                         view.width, 3);
    }
    results.size(lab::format("%d x %d pixels, limit %d, rectangles of %lld down to %d", view.height,
                             view.width, view.limit, static_cast<long long>(request.tile),
                             view.smallest));
}

// Refuses options that the chosen work would ignore.
void refuse_ignored(const lab::Arguments& arguments, std::initializer_list<const char*> names,
                    const char* reason) {
    for (const char* name : names) {
        if (arguments.given(name)) lab::refuse("--%s %s", name, reason);
    }
}

void refuse_other_parts(const lab::Arguments& arguments, const std::string& part) {
    if (part != "hello") refuse_ignored(arguments, {"blocks", "threads"}, "is for --part hello");
    if (part == "picture") return;
    refuse_ignored(arguments,
                   {"height", "width", "limit", "x", "y", "span", "tile", "smallest", "variant",
                    "output", "picture", "csv"},
                   "is for --part picture");
}

int main(int argc, char** argv) {
    constexpr int side = lab::on_cpu ? 256 : 1024, most_side = 1 << 24;
    std::vector<std::string> names;
    for (const Variant& variant : all_variants) names.push_back(variant.name);
    lab::Arguments arguments(argc, argv, "Kernels that launch kernels.");
    const std::string part =
        arguments.choice("part", {"picture", "hello", "streams"}, "picture", "what to run");
    const int64_t blocks = arguments.integer("blocks", 1, 1, 64, "of hello's first grid");
    const int64_t threads = arguments.integer("threads", 8, 1, 1024, "of a block of it");
    const int64_t height = arguments.integer("height", side, 0, most_side, "rows of the picture");
    const int64_t width = arguments.integer("width", side, 0, most_side, "columns of it");
    const int64_t limit = arguments.integer("limit", lab::on_cpu ? 500 : 5000, 1, 10000000,
                                            "steps after which a point counts as inside");
    const double x = arguments.real("x", -0.7, -4, 4, "the middle of the picture");
    const double y = arguments.real("y", 0, -4, 4, "the middle of the picture");
    const double span = arguments.real("span", 2.8, 1e-12, 16, "the length of its longer side");
    Request request;
    request.tile = arguments.integer("tile", 64, 8, 1024, "side of the first rectangles");
    const int64_t smallest =
        arguments.integer("smallest", 16, 4, 1024, "a rectangle with such a side is computed");
    request.output_path = arguments.output("output", "the dwells of one variant, int32 .npy");
    request.picture_path = lab::image_output(arguments, "picture", "the same in colours");
    request.variants = arguments.variants(names);
    lab::Results results(arguments);
    arguments.finish();
    const bool writes = !request.output_path.empty() || !request.picture_path.empty();
    refuse_other_parts(arguments, part);
    if (writes && request.variants.size() != 1) {
        lab::refuse("--output and --picture are for one variant: choose it with --variant");
    }
    if (part == "hello") run_hello(int(blocks), int(threads));
    if (part == "streams") run_streams();
    if (part != "picture") return 0;
    if (!request.picture_path.empty()) {
        const std::string problem =
            lab::image_writing_problem(request.picture_path, height, width, 3);
        if (!problem.empty()) {
            lab::refuse("--picture: cannot write %s: %s", lab::quoted(request.picture_path).c_str(),
                        problem.c_str());
        }
    }
    if (height * width == 0) {  // a grid without blocks cannot be launched
        refuse_ignored(arguments, {"csv"}, "takes times, and an empty picture takes none");
        if (!request.output_path.empty()) {
            lab::write_array<int32_t>(request.output_path, nullptr, {height, width});
        }
        std::printf("0 pixels: the picture is empty, and nothing is launched\n");
        return 0;
    }
    if (height * width > int64_t{1} << 34) lab::refuse("--height and --width: too many pixels");
    request.view = make_view(int(height), int(width), int(limit), x, y, span);
    request.view.smallest = int(smallest);
    const int64_t lists = 2 * sizeof(Rectangle) * reach_of(request).rectangles;
    lab::require_memory(16 * height * width, 4 * height * width + lists, "a picture of this size");
    run_picture(request, results);
    return results.finish();
}
