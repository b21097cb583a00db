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

#include "../../common/lab.h"
#include "given/mandelbrot.h"  // pixels and rectangles, and dwell_of

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

// The rectangles of each level, for device_levels and host_levels.
struct Levels {
    Rectangle* lists[2];  // of the even levels, of the odd ones
    unsigned* counts;     // of the rectangles of each level, zero at first
    int most;             // levels
};

// What a launcher needs.
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

// dwells: (height, width), row-major, in all kernels
__global__ void direct(View view, int32_t* dwells, Tally* tally) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < int64_t{view.height} * view.width) {
        dwells[i] = dwell_of(view, int(i / view.width), int(i % view.width));
    }
    if (i == 0) tally->pixels = int64_t{view.height} * view.width;
}

lab::Launch launch_direct(const Job& job) {
    const int64_t pixels = int64_t{job.view.height} * job.view.width;
    const lab::Launch launch = {dim3(lab::divide_up(pixels, 256)), dim3(256)};
    direct<<<launch.grid, launch.block>>>(job.view, job.dwells, job.tally);
    CHECK_LAUNCH();
    return launch;
}

// The set has no holes and hangs together, and so do the regions of one dwell around it. So, when
// all pixels on the border of a rectangle have one dwell, those inside have it too (Mariani, Silver).
// It holds for the plane; of pixels it may fail: see the handout.

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

constexpr int rectangle_threads = 128;

lab::Launch launch_device_launches(const Job& job) {
    subdivide<<<job.tiles(), rectangle_threads>>>(job.view, job.whole(), job.rows, job.columns,
                                                  job.dwells, job.tally);
    CHECK_LAUNCH();
    return {dim3(job.tiles()), dim3(rectangle_threads)};
}

// The same work in levels: one grid for all rectangles of a level, in a list that the level before
// has written. Far fewer launches, but each level ends with its slowest block.
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

void begin_levels(const Job& job) {
    CHECK(cudaMemsetAsync(job.levels.counts, 0, (job.levels.most + 1) * sizeof(unsigned)));
    list_first_level<<<lab::divide_up(job.tiles(), 256), 256>>>(job.view, job.levels, job.rows,
                                                                job.columns);
    CHECK_LAUNCH();
}

lab::Launch launch_device_levels(const Job& job) {
    begin_levels(job);
    launch_levels<<<1, 1>>>(job.view, job.levels, 0, job.dwells, job.tally);
    CHECK_LAUNCH();
    return {dim3(1), dim3(1)};
}

// The same by the host, which has to ask after each level how many rectangles there are.
lab::Launch launch_host_levels(const Job& job) {
    begin_levels(job);
    unsigned count = job.tiles();
    for (int level = 0; count > 0; level++) {
        settle_level<<<count, rectangle_threads>>>(job.view, job.levels, level, job.dwells,
                                                   job.tally);
        CHECK_LAUNCH();
        if (level + 1 == job.levels.most) break;
        CHECK(cudaMemcpy(&count, job.levels.counts + level + 1, sizeof count,
                         cudaMemcpyDeviceToHost));  // waits for the level
    }
    return {dim3(job.tiles()), dim3(rectangle_threads)};
}

// ---------------------------------------------------------------------------------------------
// Nothing to edit below: given/program.h has the variants of the picture and the command line.

#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
