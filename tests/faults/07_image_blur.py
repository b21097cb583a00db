"""What learners get wrong in lab 07."""

from faults import Fault

SUM = """            sum += input[y * shape.pitch() + x * shape.channels + channel];
        }
    }
"""
WINDOW = """return {centre - radius < 0 ? 0 : centre - radius,
            centre + radius > size - 1 ? size - 1 : centre + radius};"""
LOOPS = "    for (int y = rows.first; y <= rows.last; y++) {\n        for"
MEAN = "    output[row * shape.pitch() + value] = sum / (Sum(rows.count()) * columns.count());\n"
NAIVE = SUM + MEAN
BOUNDS = "    if (row >= shape.height || value >= shape.values()) return;\n"
BY_ONE = """    if (blockIdx.x + threadIdx.x + threadIdx.y > 0) return;
    for (int row = 0; row < shape.height; row++)
    for (int value = 0; value < shape.values(); value++) {
"""
BODY = BOUNDS + """    const int column = value / shape.channels, channel = value % shape.channels;
    // BEGIN SOLUTION
    const Range rows = window(row, radius, shape.height);
    const Range columns = window(column, radius, shape.width);
    Sum sum = 0;
""" + LOOPS + " (int x = columns.first; x <= columns.last; x++) {\n" + NAIVE
SUMMED = "sum += sums[int64_t{y} * shape.values() + value];\n"

FAULTS = [
    # The window
    Fault(name="divided by the full window", old=NAIVE, caught="divided by the full window",
          new=NAIVE.replace("Sum(rows.count()) * columns.count()", "Sum(2 * radius + 1) * (2 * radius + 1)")),
    Fault(name="window ends too early", old=LOOPS, new=LOOPS.replace("y <=", "y <"), caught="FAIL  naive(.*\n)+?.*miss the bottom row .*TODO 2"),
    Fault(name="mean rounded in floats", old=NAIVE, caught="rounded to the nearest",
          new=NAIVE.replace("sum / (Sum(rows.count()) * columns.count())",
                            "uint8_t(float(sum) / (rows.count() * columns.count()) + 0.5f)")),
    Fault(name="first channel for all", old=SUM, new=SUM.replace(" + channel", ""), caught="mean of the first"),
    Fault(name="place without channels", old=SUM, new=SUM.replace("x * shape.channels", "x"),
          caught="FAIL  naive: 37 x 41, 3 channels(.*\n)+?.*taken to begin at byte x: .*TODO 2"),
    Fault(name="count in 16 bits", old=NAIVE, new=NAIVE.replace("(Sum(rows.count()) * columns.count())",
          "uint16_t(rows.count() * columns.count())"),
          caught="FAIL  naive: 255 x 267(.*\n)+?.*number of pixels in a window is kept in 16 bits.*TODO 2"),
    Fault(name="sum in a float", old="Sum sum = 0;\n" + LOOPS, new="float sum = 0;\n" + LOOPS,
          caught="FAIL  naive: 255 x 267(.*\n)+?.*kept in a float"),
    Fault(name="window moves inwards", old=WINDOW, new="const int c = max(min(centre, size - 1 - radius), min(radius, size - 1));\n    "
          + WINDOW.replace("centre", "c"), caught="FAIL  naive(.*\n)+?.*moves inwards .*TODO 1"),
    # The tile
    Fault(name="missing barrier", old="    __syncthreads();\n", new="", caught="FAIL  tiled(.*\n)+?.*before the others .*TODO 3b", backends=("cpu",)),
    Fault(name="halo off by one", old="value = tile.value + x - halo;", new="value = tile.value + x - halo + 1;",
          caught="FAIL  tiled: 31 x 33(.*\n)+?.*one too early: .*TODO 3a", cases=("tiled: 31 x 33", "tiled: 37 x 41", "tiled: 101 x 103")),
    Fault(name="halo of pixels", old="value = tile.value + x - halo;", new="value = tile.value + x - radius;",
          caught="FAIL  tiled: 37 x 41, 3 channels(.*\n)+?.*a pixel has shape.channels values"),
    Fault(name="right half of the halo missing", old="x < tile_width; x += blockDim.x",
          caught="FAIL  tiled: 31 x 33, radius 1(.*\n)+?.*only values near the edge of their tile are wrong.*TODO 3a",
          on_card="FAIL  tiled: 31 x 33, radius 1(.*\n)+?.*halo .* stands as 0 in the tile.*TODO 3a",
          new="x < tile_width - halo; x += blockDim.x", cases=("tiled: 31 x 33", "naive: 31 x 33")),
    Fault(name="window ends at size", old="centre + radius > size - 1 ? size - 1 :", new="centre + radius > size ? size :",
          caught="FAIL  tiled(.*\n)+?.*the last place is size - 1.*TODO 1"),
    Fault(name="halo left out", old="row >= 0 && row < shape.height && value >= 0 && value < shape.values();",
          new="row >= 0 && row < shape.height && value >= 0 && value < shape.values() && y >= radius && "
              "y < radius + int(blockDim.y) && x >= halo && x < halo + int(blockDim.x);",
          caught="FAIL  tiled: 31 x 33, radius 1(.*\n)+?.*the halo stands as 0 in the tile.*TODO 3a"),
    Fault(name="halo below left out", old="row >= 0 && row < shape.height && value >= 0 && value < shape.values();",
          new="row >= 0 && row < shape.height && value >= 0 && value < shape.values() && y < radius + int(blockDim.y);",
          caught="FAIL  tiled: 31 x 33, radius 1(.*\n)+?.*part of the halo below the block's own values stands as 0.*TODO 3a"),
    # Two passes
    Fault(name="means stored without the pitch", old=SUMMED + MEAN, new=SUMMED + MEAN.replace("pitch", "values"),
          caught="FAIL  separable: (.*\n)+?.*a row of the output begins at row \\* shape.pitch"),
    # Sliding sums
    Fault(name="row leaves too early", old="if (row - radius - 1 >= 0) sum -= row_sum(row - radius - 1);",
          new="if (row - radius >= 0) sum -= row_sum(row - radius);",
          caught="FAIL  running: (.*\n)+?.*a row leaves one too early: .*TODO 5b"),
    Fault(name="row sums in 16 bits", old="if (row + radius < shape.height) sum += row_sum(row + radius);\n        if (row - radius - 1 >= 0) sum -= row_sum(row - radius - 1);",
          new="if (row + radius < shape.height) sum += uint16_t(row_sum(row + radius));\n        if (row - radius - 1 >= 0) sum -= uint16_t(row_sum(row - radius - 1));",
          caught="FAIL  running: 160 x 300 light pixels(.*\n)+?.*sum of a row is kept in 16 bits.*TODO 5b"),
    Fault(name="reach in 8 bits", file="fused.cuh", old="strips.left + reach + k);", new="strips.left + int8_t(reach) + k);",
          caught="FAIL  fused: 5 x 130, 4 channels, radius 65", cases=("fused: 5 x 130, 4 channels, radius 65",)),
    Fault(name="prefix of the window's first", old="? prefix[left] :", new="? prefix[left + channels] :",
          caught="FAIL  running: (.*\n)+?.*the sums miss the left column .*TODO 5a"),
    Fault(name="no prefix taken away", old="(left >= 0 ? prefix[left] : 0)", new="(left >= 0 ? 0 : 0)",
          caught="FAIL  running: (.*\n)+?.*nothing is taken away: .*TODO 5a"),
    Fault(name="a window of as many values", old="right - columns.count() * channels;", new="right - columns.count();",
          caught="FAIL  running: 37 x 41, 3 channels(.*\n)+?.*each has shape.channels values.*TODO 5a"),
    Fault(name="leaving row not taken away", old="sum -= row_sum(row - radius - 1);", new="sum -= 0;",
          caught="FAIL  running: (.*\n)+?.*no row leaves the sums: .*TODO 5b"),
    Fault(name="factor of the division rounded down", file="fused.cuh", old="+ divisor - 1) / divisor", new=") / divisor",
          caught="FAIL  fused: 21 x 1031, radius 3\n.*elements differ", cases=("fused: 21 x 1031, radius 3",)),
    Fault(name="halo words from the wrong lane", file="shuffled.cuh", old="const int lanes = h / words + 1,", new="const int lanes = 1,",
          caught="FAIL  shuffled: widths .*4 channels, radius 7",
          cases=("shuffled: widths around the ends of lanes and strips, 4 channels, radius 7",)),
    Fault(name="sums of 32 bits only", file="program.h", old="const bool large =", new="const bool large = false &&", backends=("gpu",),
          caught="FAIL  running: sums beyond"),
    # What a plain run does not see
    Fault(name="one thread blurs all", old=BODY, new=BODY.replace(BOUNDS, BY_ONE) + "    }\n", watched=True, backends=("cpu",),
          caught="FAIL  no race between threads\n.*of the .* threads of naive only 1 stored"),
    Fault(name="barrier of a warp", old="    __syncthreads();\n", new="    __syncwarp();\n", watched=True, backends=("cpu",),
          caught="FAIL  no race between threads\n.*race in kernel tiled on the shared variable tile_values.*Put __syncthreads"),
    Fault(name="no barrier of the warp", file="fused.cuh", old="        __syncwarp();\n        write_row", new="        write_row", watched=True,
          caught="FAIL  no race between threads of further/\n.*race in kernel fused.*Put __syncwarp", backends=("cpu",)),
]
