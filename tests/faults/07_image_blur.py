"""What learners get wrong in lab 07."""

from faults import Fault

SUM = """            sum += input[y * shape.pitch() + x * shape.channels + channel];
        }
    }
"""
MEAN = "    output[row * shape.pitch() + value] = sum / (Sum(rows.count()) * columns.count());\n"
NAIVE = SUM + MEAN
SUMMED = "sum += sums[int64_t{y} * shape.values() + value];\n"
STORED = "    sums[int64_t{row} * shape.values() + value] = sum;\n"

FAULTS = [
    # The window
    Fault(name="divided by the full window", old=NAIVE, caught="divided by the full window",
          new=NAIVE.replace("Sum(rows.count()) * columns.count()", "Sum(2 * radius + 1) * (2 * radius + 1)")),
    Fault(name="window ends too early", old="for (int y = rows.first; y <= rows.last; y++) {\n        for",
          new="for (int y = rows.first; y < rows.last; y++) {\n        for", caught="FAIL  naive: 31 x 33"),
    Fault(name="mean rounded in floats", old=NAIVE, caught="rounded to the nearest",
          new=NAIVE.replace("sum / (Sum(rows.count()) * columns.count())",
                            "uint8_t(float(sum) / (rows.count() * columns.count()) + 0.5f)")),
    Fault(name="first channel for all", old=SUM, new=SUM.replace(" + channel", ""), caught="mean of the first"),
    # The tile
    Fault(name="missing barrier", old="    __syncthreads();\n", new="", caught="__syncthreads", backends=("cpu",)),
    Fault(name="halo off by one", old="value = tile.value + x - halo;", new="value = tile.value + x - halo + 1;",
          caught="FAIL  tiled: 31 x 33"),
    Fault(name="right half of the halo missing", old="x < tile_width; x += blockDim.x", caught="FAIL  tiled: 101 x 103",
          new="x < tile_width - halo; x += blockDim.x"),
    Fault(name="window of bytes", old="x <= 2 * halo; x += shape.channels", new="x <= 2 * radius; x++",
          caught="FAIL  tiled: 37 x 41, 3 channels"),
    Fault(name="window ends at size", old="centre + radius > size - 1 ? size - 1 :", new="centre + radius > size ? size :",
          caught="FAIL  tiled: 31 x 33(.*\n)+?.*the last place is size - 1"),
    # Two passes
    Fault(name="means stored without the pitch", old=SUMMED + MEAN, new=SUMMED + MEAN.replace("pitch", "values"),
          caught="FAIL  separable: (.*\n)+?.*a row of the output begins at row \\* shape.pitch"),
    Fault(name="divided after each pass", old=STORED, new=STORED.replace("= sum;", "= sum / columns.count() * columns.count();"),
          caught="FAIL  separable: 31 x 33"),
    # Sliding sums
    Fault(name="row leaves too early", old="if (row - radius - 1 >= 0) sum -= row_sum(row - radius - 1);",
          new="if (row - radius >= 0) sum -= row_sum(row - radius);",
          caught="FAIL  running: (.*\n)+?.*does a row leave before its time"),
    Fault(name="prefix of the window's first", old="strips.left - reach - Lane::channels + k", new="strips.left - reach + k",
          caught="FAIL  fused: (.*\n)+?.*the sums miss the left column"),
    Fault(name="leaving row not taken away", old="sum -= row_sum(row - radius - 1);", new="sum -= 0;",
          caught="FAIL  running: (.*\n)+.*is the row `row - radius - 1` taken away"),
    Fault(name="leaving bytes not taken away", old="byte_of(entering, k) - byte_of(leaving, k);",
          new="byte_of(entering, k);", caught="FAIL  fused: (.*\n)+.*is the row `row - radius - 1` taken away"),
    Fault(name="factor of the division rounded down", old="+ divisor - 1) / divisor", new=") / divisor",
          caught="FAIL  fused"),
    Fault(name="halo words from the wrong lane", old="const int lanes = h / words + 1,", new="const int lanes = 1,",
          caught="FAIL  shuffled: widths .*4 channels, radius 7"),
    Fault(name="sums of 32 bits only", old="const bool large =", new="const bool large = false &&", backends=("gpu",),
          caught="FAIL  running: sums beyond"),
]
