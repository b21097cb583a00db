"""Judges matrix_add: every variant's sum of two matrices, bit for bit, against NumPy."""

import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned
from checker.diagnose import launch_shape, tiles_of_vectors

TILED = ["grid_2d_block_2d", "grid_2d_block_1d", "row_stride"]  # a thread has a row and a column
VARIANTS = ["grid_2d_block_2d", "grid_1d_block_1d", "grid_1d_block_2d", "grid_2d_block_1d", "row_stride",
            "flat_vectorised"]
TASKS = {variant: f"TODO {number}" for number, variant in enumerate(VARIANTS, 1)}
lab = checker.Lab(__file__, TASKS)
lab.kernels({variant: variant for variant in VARIANTS})
EXACT = checker.Tolerance(why="the sum of two floats is rounded once, everywhere to the same bits")


# Likely causes


def nothing_arrived(expected, got, case):
    variant = case.parameters["variant"]
    if got.size and poisoned(got).all():
        return f"not one sum was written: {variant} has to find its row and column, and to store a sum ({TASKS[variant]})"
    return None


def wrong_formulas(grid, block, height, width):
    """What the file does; what is right -> row, column and place in memory of each thread."""
    (gx, gy), (x, y) = grid, block
    by, bx, ty, tx = (axis.ravel() for axis in numpy.indices((gy, gx, y, x)))
    column, row = bx * x + tx, by * y + ty
    swapped_row, swapped_column, crossed_row = bx * x + tx, by * y + ty, bx * y + ty
    wrong_column, wrong_row = bx * y + tx, by * x + ty
    yield ("takes x for the row and y for the column; x is the column, y is the row", swapped_row, swapped_column,
           swapped_row * width + swapped_column)
    yield "multiplies the row by the height; the row is multiplied by the width", row, column, row * height + column
    yield "multiplies the column by the width; it is the row that is multiplied", row, column, column * width + row
    yield ("multiplies the column by the height; it is the row that is multiplied, by the width", row, column,
           column * height + row)
    yield ("takes the row from blockIdx.x; the row comes from blockIdx.y", crossed_row, column,
           crossed_row * width + column)
    yield ("multiplies blockIdx.x by blockDim.y; a block has blockDim.x columns", row, wrong_column,
           row * width + wrong_column)
    yield ("multiplies blockIdx.y by blockDim.x; a block has blockDim.y rows", wrong_row, column,
           wrong_row * width + column)
    yield "leaves blockIdx.x out of the column", row, tx, row * width + tx
    yield "leaves blockIdx.y out of the row", ty, column, ty * width + column
    yield "leaves threadIdx.x out of the column", row, bx * x, row * width + bx * x
    yield "leaves threadIdx.y out of the row", by * y, column, by * y * width + column
    for bits in 8, 16:
        yield (f"keeps the place in {bits} bits, which hold {1 << bits} numbers", row, column,
               (row * width + column) % (1 << bits))


def wrong_formula(expected, got, case):
    """Which wrong formula leaves out just the elements that were never written?"""
    shape = launch_shape(case, 2) if case.parameters["variant"] in TILED else None
    if shape is None or numpy.prod(shape[0]) * numpy.prod(shape[1]) > 1 << 21:
        return None
    written = ~poisoned(got).ravel()
    if (case.wrong.ravel() & written).any():
        return None
    height, width = got.shape
    rows, columns = numpy.divmod(numpy.arange(got.size), width)
    if height != width and (written == ((rows < width) & (columns < height))).all():
        return "the bounds test compares the row with the width and the column with the height; it is the other way round"
    for sentence, row, column, place in wrong_formulas(*shape, height, width):
        reached = numpy.zeros(got.size, bool)
        reached[place[(row < height) & (column < width) & (place < got.size)]] = True
        if (reached == written).all():
            return f"the file {sentence}"
    return None


def rows_written(got):
    """R, if the first R rows are written in full and no other; otherwise None."""
    missing = poisoned(got)
    rows = int((~missing.any(axis=1)).sum())
    return rows if missing[rows:].all() and not missing[:rows].any() else None


def loop_ends_early(expected, got, case):
    rows, shape, variant = rows_written(got), launch_shape(case, 2), case.parameters["variant"]
    if not rows or rows == got.shape[0] or shape is None or case.wrong[:rows].any():
        return None
    height, width = got.shape
    if variant == "grid_1d_block_1d":
        if rows == 1:
            return "only the first row is added: each thread has to go down its whole column"
        if rows == width:
            return "the loop over the rows ends at the width; it has to end at the height"
    if variant == "grid_1d_block_2d" and rows == shape[1][1]:
        return f"each thread adds one row only, {checker.counted(rows, 'row')} in all: go on by blockDim.y while there are rows"
    if variant == "row_stride" and rows == shape[0][1] * shape[1][1]:
        return (f"each thread adds one row only, {checker.counted(rows, 'row')} in all: go on by gridDim.y * blockDim.y while there "
                f"are rows")
    return None


def grid_too_small(expected, got, case):
    shape = launch_shape(case, 2)
    if case.parameters["variant"] != "grid_2d_block_2d" or shape is None:
        return None
    parts = [f"{checker.counted(grid * block, 'thread')} along {axis} for {checker.counted(size, what)}"
             for grid, block, axis, size, what in zip(*shape, "xy", got.shape[::-1], ("column", "row"))
             if grid * block < size]
    return f"the launch has {' and '.join(parts)}: round the sides of the grid up (TODO 1)" if parts else None


def vectors_missing(expected, got, case):
    shape, missing = launch_shape(case, 2), poisoned(got)
    if case.parameters["variant"] != "flat_vectorised" or shape is None or (case.wrong & ~missing).any():
        return None
    return tiles_of_vectors(missing, 8 * shape[1][0], TASKS["flat_vectorised"])


DIAGNOSERS = [vectors_missing, nothing_arrived, grid_too_small, loop_ends_early, wrong_formula]


# Cases


def add(case, variant, height, width, block=None):
    a, b = case.floats((height, width)), case.floats((height, width))
    words = ["--variant", variant, *(["--block", block] if block else [])]
    got = case.compute(*words, inputs={"a": a, "b": b})
    case.compare(a + b, got, EXACT, diagnosers=DIAGNOSERS)


def too_tall(case, variant, height, width, block):
    """A grid that would need more than 65535 blocks along y: bad usage, when it is all that is asked."""
    run = case.refuses("--variant", variant, "--height", height, "--width", width, "--block", block,
                       "--output", "output.npy", saying="65535")
    case.expect(variant in run.stderr, f"the sentence on stderr does not name {variant}")


SHAPES = [(1, 1), (31, 33), (101, 103), (7, 1000), (1000, 7), (1, 70_000), (70_000, 1)]

for variant in VARIANTS:
    for height, width in SHAPES:
        if variant == "grid_2d_block_1d" and height > 65535:
            continue
        lab.case(f"{variant}: {height} x {width}", add, variant=variant, height=height, width=width)
    lab.case(f"{variant}: 97 x 89 in blocks of 5x3", add, variant=variant, height=97, width=89, block="5x3")

for variant in ("grid_1d_block_1d", "grid_1d_block_2d", "row_stride", "flat_vectorised"):
    lab.case(f"{variant}: 1048577 x 1 in blocks of 1x16", add, variant=variant, height=1_048_577, width=1,
             block="1x16")
for variant in ("grid_2d_block_2d", "grid_2d_block_1d"):
    lab.case(f"{variant}: 1048577 x 1 in blocks of 1x16 is refused", too_tall, variant=variant,
             height=1_048_577, width=1, block="1x16")
lab.case("row_stride: 65537 x 3 in blocks of 4x1", add, variant="row_stride", height=65_537, width=3,
         block="4x1")
for variant in ("grid_2d_block_2d", "row_stride", "flat_vectorised"):
    lab.case(f"{variant}: 2048 x 1500", add, variant=variant, height=2048, width=1500, quick=False)


@lab.case("a shape and a block nobody knows before, all variants", fresh=True)
def fresh(case):
    height, width = (int(side) for side in case.random.integers(1, 300, 2))
    x, y = (int(side) for side in case.random.integers(1, 17, 2))
    for variant in VARIANTS:
        add(case, variant, height, width, f"{x}x{y}")


def rows_of_table(run, variant):
    return re.findall(rf"^{variant} +(\S+) +(\S+) .*?(correct|skipped)\b", run.stdout, re.M)


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--height", 50, "--width", 60)
    case.calls_correct(run, VARIANTS)


@lab.case("too many rows for two variants, the others are right")
def skipped(case):
    run = case.run("--height", 65_536, "--width", 3, "--block", "1x1")
    for variant in VARIANTS:
        wanted = "skipped" if variant in ("grid_2d_block_2d", "grid_2d_block_1d") else "correct"
        verdicts = [row[2] for row in rows_of_table(run, variant)]
        case.expect(verdicts == [wanted], f"with 65536 rows, {variant} should be {wanted}")


@lab.case("a sweep over blocks")
def sweep(case):
    rows = rows_of_table(case.run("--sweep", "--height", 70, "--width", 90, status=(0, 1)),
                         "grid_2d_block_2d")
    blocks = {block for _, block, verdict in rows if verdict == "correct"}
    missing = {"1", "4x4", "8x8", "16x16", "32x8", "32x32"} - blocks
    case.expect(not missing, f"--sweep has no correct row for blocks of {', '.join(sorted(missing))}")


@lab.case("no rows, no columns")
def empty(case):
    for shape in ((0, 5), (5, 0), (0, 0)):
        nothing = numpy.zeros(shape, numpy.float32)
        for variant in ("grid_2d_block_2d", "row_stride", "flat_vectorised"):
            got = case.compute("--variant", variant, inputs={"a": nothing, "b": nothing})
            case.compare(nothing, got, EXACT)


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--height --width", "-1", "many", "7x", "", "3000000000")
    case.refuses("--height", "2147483647", "--width", "2147483647", saying="memory")
    for block in ("64x32", "0x8", "8x8x2", "1x1x128", "8,8"):
        case.refuses("--height", "9", "--width", "9", "--block", block, saying="block")
    case.refuses("--variant", "grid_3d_block_2d", saying="variant")
    case.refuses("--height", "9", "--width", "9", "--output", "sum.npy", saying="variant")
    case.refuses("--sweep", "--block", "8x8", saying="--block")
    case.refuses("--sweep", "--variant", "row_stride", "--output", "sum.npy", saying="--output")


@lab.case("bad input files")
def bad_files(case):
    a = case.floats((20, 30))
    good, turned = case.save("a", a), case.save("turned", numpy.ascontiguousarray(a.T))
    case.refuses("--a", good, saying="--b")
    case.refuses("--a", good, "--b", turned, saying="(30, 20)")
    case.refuses("--a", good, "--b", good, "--height", "20", saying="--height")
    case.refuses("--a", good, "--b", case.save("columns", numpy.asfortranarray(a)), saying="Fortran")
    case.refuses("--a", good, "--b", case.save("vector", a.ravel()), saying="vector")
    case.refuses("--a", good, "--b", case.save("whole", a.astype(numpy.int32)), saying="float32")
    case.refuses_broken("--b", good, "--a", good)


lab.main()
