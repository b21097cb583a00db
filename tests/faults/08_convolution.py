"""What learners get wrong in lab 08."""

from faults import Fault

PIXEL = "return T(fminf(fmaxf(sum, 0.0f), 255.0f) + 0.5f);"
WEIGHT = "sum += filter[i * s.filter_width + j]"
COLUMN = "const int64_t x = column * s.stride + j - s.left;"
LOAD = "for (int j = threadIdx.x; j < tile_width; j += blockDim.x) {"
BLOCKED = "constant_filter[(size - 1 - k) * size + j]"
CONSTANT = "if (int64_t(values.size()) <= constant_floats) load_constant_filter(values);"
COLUMN_PASS = "const int end = int(min(int64_t{s.filter_height}, s.height - start));"
CPU = ("cpu",)  # on a GPU this is a race, which may go well

FAULTS = [
    Fault(name="filter turned for the wrong orientation", file="filters.h", old="if (request.turned) turn(filter.values);",
          new="if (!request.turned) turn(filter.values);", caught="turned by 180 degrees", cases=("0 0 1 0 0 with 1 2 3, both orientations",)),
    Fault(name="rows and columns of the filter swapped", old=WEIGHT,
          new="sum += filter[j * s.filter_height + i]", caught="rows and columns of the filter are swapped"),
    Fault(name="padding forgotten along x", old=COLUMN, new=COLUMN.replace(" - s.left", ""), count=2,
          caught="not `left` before it", cases=("0 0 1 0 0 with 1 2 3, both orientations",)),
    Fault(name="no clamp", old=PIXEL, new="return T(int(sum + 0.5f));", caught="clamp them",
          cases=("naive: picture whose sums are halves and quarters",)),
    Fault(name="rounded down", old=PIXEL, new=PIXEL.replace(" + 0.5f", ""), caught="rounded down",
          cases=("naive: picture whose sums are halves and quarters",)),
    Fault(name="rounded half to even", old=PIXEL, new="return T(rintf(fminf(fmaxf(sum, 0.0f), 255.0f)));",
          caught="halves and quarters(.*\n)+?.*rounded to the even neighbour", cases=("naive: picture whose sums are halves and quarters",)),
    Fault(name="top and left swapped", file="program.h", old="filter.width,\n            top,\n            left,",
          new="filter.width,\n            left,\n            top,", caught="`top` and `left` are swapped",
          cases=("0 0 1 0 0 with 1 2 3, both orientations",)),
    Fault(name="sums not moved up", old="float sum = k + 1 < size ? sums[k + 1][c] : 0.0f;", new="float sum = sums[k][c];",
          caught="FAIL  rolling(.*\n)+?.*the sums do not move up.*TODO 7"),
    Fault(name="constant memory filled once", file="program.h", old=CONSTANT,
          new="static bool loaded = false;\n    if (!loaded) load_constant_filter(values);\n    loaded = true;",
          caught="FAIL  all variants in one run(.*\n)+?.*must be loaded before each .TODO 4a"),
    Fault(name="tile without its halo", old=LOAD, new=LOAD.replace("tile_width", "int(blockDim.x)"),
          caught="the loads go over all tile_height", on_card="it is in tiled itself .TODO 5"),  # where anything may stand that is not loaded
    Fault(name="no barrier before the sums", old="__syncthreads();  // the tile is complete", new="",
          caught="FAIL  tiled(.*\n)+?.*sums are made before .*TODO 5, number 2", backends=CPU),
    Fault(name="no barrier before the next tile", old="__syncthreads();  // nobody reads", new="// nobody reads",
          caught="FAIL  tiled: 41 x 53(.*\n)+?.*wrong in each round of the loop but the last.*TODO 5", backends=CPU),
    Fault(name="stride forgotten in the tile", old="inputs[threadIdx.x * stride + j]",
          new="inputs[threadIdx.x + j]", caught="the stride is ignored along x"),
    Fault(name="filter upside down in registers", old=BLOCKED, new="constant_filter[k * size + j]",
          caught="rows stand upside down"),
    Fault(name="quads one place further on", file="register_blocking.cuh", old="const int at = Own::surplus + k;",
          new="const int at = Own::surplus + k + (Own::surplus > 2);", caught="FAIL  register_blocking: 7 x 1000, filter 3 x 3\n.*elements differ"),
    Fault(name="weights of a wide row upside down", file="register_blocking.cuh", old="constant_filter[(size - 1 - k) * size + j]",
          new="constant_filter[k * size + j]", caught="FAIL  register_blocking: 90 x 604, filter 15 x 15",
          cases=("register_blocking: 90 x 604, filter 15 x 15",)),
    Fault(name="quads past the row", file="register_blocking.cuh", old="if (column + c < width) *", new="*",
          caught="FAIL  register_blocking: 90 x 604, filter 11 x 11", cases=("register_blocking: 90 x 604, filter 11 x 11",)),
    Fault(name="a pixel cut off, not rounded", file="register_blocking.cuh", old="pixels ? 0.5f : 0.0f", new="0.0f",
          caught="FAIL  register_blocking: picture whose sums are halves", cases=("register_blocking: picture whose sums are halves and quarters",)),
    Fault(name="four pixels in the wrong order", file="register_blocking.cuh", old="int k = 2; k >= 0; k -= 2", new="int k = 0; k <= 2; k += 2",
          caught="FAIL  separable_blocking: picture of 40 x 336, Gaussian, 9 x 9", cases=("separable_blocking: picture of 40 x 336, Gaussian, 9 x 9",)),
    Fault(name="a row asked for ahead twice", file="register_blocking.cuh", old="if (Own::ahead > 0) load_next(rows[i]);",
          new="if (Own::ahead > 0) load_next(rows[0]);", caught="FAIL  register_blocking: picture of 40 x 336, Gaussian, 7 x 7",
          cases=("register_blocking: picture of 40 x 336, Gaussian, 7 x 7",)),
    Fault(name="factors swapped in registers", old="before + constant_filter[size - 1 - k] * along_row",
          new="before + constant_filter[2 * size - 1 - k] * along_row",
          caught="FAIL  separable_rolling(.*\n)+?.*row factor stands for the column factor as well.*TODO 8",
          cases=("separable_rolling: 1 x 1, filter 3 x 3",)),
    Fault(name="rows of the output for those of the input", old=COLUMN_PASS,
          new=COLUMN_PASS.replace("s.height", "s.out_height"),
          caught="FAIL  separable: .* padding none(.*\n)+?.*row sums are left out, those from .*TODO 6"),
    Fault(name="a row too many in the tile", old="i < tile_height; i += blockDim.y", new="i <= tile_height; i += blockDim.y", backends=CPU,
          caught="FAIL  tiled: 1 x 1(.*\n)+?.*likely cause: .*go over just as many: while i < tile_height.*TODO 5"),
    Fault(name="a column too many in the tile", old="j < tile_width; j += blockDim.x", new="j <= tile_width; j += blockDim.x", backends=CPU,
          caught="only the first column of blocks is wrong.*while j < tile_width .TODO 5"),
    Fault(name="rows of the input's width", old="sum += constant_filter[i] * sums[i * s.out_width];", new="sum += constant_filter[i] * sums[i * s.width];",
          caught="FAIL  separable: .* padding none(.*\n)+?.*`between` are taken to lie s.width apart.*TODO 6"),
    Fault(name="rows of the input's width, from their start", old="between + start * s.out_width", new="between + start * s.width",
          caught="FAIL  separable: .* padding none(.*\n)+?.*likely cause: `between` has s.height rows of s.out_width .*TODO 6", backends=CPU),
    Fault(name="rows counted in 8 bits", old="for (int i = begin; i < end; i++)", new="for (uint8_t i = begin; i < end; i++)",
          caught="FAIL  separable: a filter of 301 x 1(.*\n)+?.*a counter of 8 bits ends at 255.*TODO 6"),
    # What a plain run does not see
    Fault(name="one thread adds all", old="""    if (column >= s.out_width) return;
    for (int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y; row < s.out_height;
         row += rows_of_grid) {
        // BEGIN SOLUTION
        const int64_t start""", new="""    if (column > 0 || blockIdx.y > 0 || threadIdx.y > 0) return;
    for (int64_t place = 0 * rows_of_grid; place < s.out_height * s.out_width; place++) {
        const int64_t row = place / s.out_width, column = place % s.out_width;
        const int64_t start""", watched=True, caught="FAIL  no race between threads\n.*of the .* threads of separable_columns only 1 stored", backends=CPU),
    Fault(name="barrier of a warp before the sums", old="__syncthreads();  // the tile is complete", new="__syncwarp();", watched=True,
          caught="FAIL  no race between threads\n.*race in kernel tiled.*between the write in line .* and the read in line",
          backends=CPU),
    Fault(name="barrier of a warp before the next tile", old="__syncthreads();  // nobody reads", new="__syncwarp();  // nobody reads",
          watched=True, caught="FAIL  no race between threads\n.*race in kernel tiled.*next round of a loop that comes too early",
          backends=CPU),
]
