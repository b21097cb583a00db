"""Judges vector_add: every variant's sum of two vectors, bit for bit, against NumPy."""

import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned

lab = checker.Lab(__file__)
EXACT = checker.Tolerance(why="the sum of two floats is rounded once, everywhere to the same bits")
LAYOUTS = [f"grid_{grid}d_block_{block}d" for grid in (1, 2, 3) for block in (1, 2, 3)]
VARIANTS = [*LAYOUTS, "grid_stride", "vectorised"]


# Likely causes


def shape_of_launch(case):
    """((x, y, z) of the grid, (x, y, z) of the block), from the table that the program printed."""
    row = re.search(rf"^{case.parameters['variant']} +([\dx]+) +([\dx]+) ", case.last_run.stdout, re.M)
    if row is None:
        return None
    sides = [[int(side) for side in text.split("x")] for text in row.groups()]
    return tuple((*side, 1, 1)[:3] for side in sides)


def never_copied_back(expected, got, case):
    """On the host the sum is filled with another NaN than on the device."""
    filling = got.view(numpy.uint32) == 0x7FC00000
    if got.size and filling.all():
        return ("the sum on the host still holds what it was filled with: is it copied back from the device "
                "(TODO 1d)?")
    if got.size > 1 and filling[-(-got.size // 4):].all() and not case.wrong[:got.size // 4].any():
        return "a quarter of the sum was copied back: cudaMemcpy wants bytes, and a float has four"
    return None


def not_one_sum(expected, got, case):
    if got.size and poisoned(got).all():
        return ("not one sum arrived. Is b copied to the device (TODO 1b), is the kernel launched (1c), and "
                f"does {case.parameters['variant']} store a sum?")
    return None


def b_missing(expected, got, case):
    a = case.inputs["a"]
    if got.size and (got == a).all():
        return "the sum equals a: is b copied to the device (TODO 1b)?"
    if got.size and (got == a + a).all():
        return "the sum is a + a: where does the copy to d_b come from (TODO 1b)?"
    return None


def wrong_formulas(grid, block):
    """Sentence -> the elements that a thread of each kind gets under a wrong index formula."""
    gx, gy, gz = grid
    x, y, z = block
    bz, by, bx, tz, ty, tx = (axis.ravel() for axis in numpy.indices((gz, gy, gx, z, y, x)))
    block_number, thread = (bz * gy + by) * gx + bx, (tz * y + ty) * x + tx
    threads = x * y * z
    yield "blockIdx is missing: every block adds the elements of block 0", thread
    yield "blockIdx.y and blockIdx.z are missing", bx * threads + thread
    yield "blockIdx.y is missing", (bz * gy * gx + bx) * threads + thread
    yield "blockIdx.z is missing", (by * gx + bx) * threads + thread
    yield "threadIdx is missing: every thread of a block adds the same element", block_number * threads
    yield "threadIdx.y and threadIdx.z are missing", block_number * threads + tx
    yield "threadIdx.y is missing", block_number * threads + tz * y * x + tx
    yield "threadIdx.z is missing", block_number * threads + ty * x + tx
    yield ("the blocks before this one have blockDim.x * blockDim.y * blockDim.z threads each, not "
           "blockDim.x"), block_number * x + thread
    yield ("the blocks before this one have blockDim.x * blockDim.y * blockDim.z threads each; one factor "
           "is missing"), block_number * x * y + thread
    yield ("a row of a block has blockDim.x threads, not blockDim.y",
           block_number * threads + (tz * y + ty) * y + tx)
    yield ("a layer of a block has blockDim.y rows, not blockDim.x",
           block_number * threads + (tz * x + ty) * x + tx)
    yield ("a row of the grid has gridDim.x blocks, not gridDim.y",
           ((bz * gy + by) * gy + bx) * threads + thread)
    yield ("a layer of the grid has gridDim.y rows, not gridDim.x",
           ((bz * gx + by) * gx + bx) * threads + thread)


def wrong_formula(expected, got, case):
    """Which wrong formula leaves out just the elements that were never written?"""
    shape = shape_of_launch(case) if case.parameters["variant"] in LAYOUTS else None
    if shape is None or numpy.prod(shape[0]) * numpy.prod(shape[1]) > 1 << 21:
        return None
    written = ~poisoned(got)
    if (case.wrong & written).any():
        return None
    for sentence, elements in wrong_formulas(*shape):
        reached = numpy.zeros(got.size, bool)
        reached[elements[elements < got.size]] = True
        if (reached == written).all():
            return f"the elements written are those of a formula in which {sentence}"
    return None


def grid_too_small(expected, got, case):
    shape = shape_of_launch(case)
    if case.parameters["variant"] not in LAYOUTS or shape is None:
        return None
    threads = int(numpy.prod(shape[0]) * numpy.prod(shape[1]))
    if threads < got.size:
        return (f"the launch has {threads} threads for {got.size} elements: is the number of blocks rounded "
                f"up (TODO 3)?")
    return None


def no_stride(expected, got, case):
    shape = shape_of_launch(case)
    if case.parameters["variant"] != "grid_stride" or shape is None:
        return None
    threads = shape[0][0] * shape[1][0]
    missing = poisoned(got)
    if threads < got.size and missing[threads:].all() and not missing[:threads].any():
        return (f"each of the {threads} threads adds one element and stops: go on by gridDim.x * blockDim.x "
                f"while there are elements")
    return None


def whole_tiles_only(expected, got, case):
    shape = shape_of_launch(case)
    if case.parameters["variant"] != "vectorised" or shape is None:
        return None
    missing = poisoned(got)
    first = int(missing.argmax())
    if missing[first:].all() and first % (4 * shape[1][0]) == 0 and shape[0][0] > 1:
        return "only whole tiles are added: the tile that ends beyond the last element needs the scalar loop"
    return None


DIAGNOSERS = [never_copied_back, not_one_sum, b_missing, grid_too_small, wrong_formula, no_stride,
              whole_tiles_only]


# Cases


def add(case, variant, count, block=None, options=()):
    a, b = case.floats(count), case.floats(count)
    words = ["--variant", variant, *(["--block", block] if block else []), *options]
    got = case.compute(*words, inputs={"a": a, "b": b})
    case.compare(a + b, got, EXACT, diagnosers=DIAGNOSERS)


def elements(count):
    return "1 element" if count == 1 else f"{count} elements"


for variant in LAYOUTS:
    lab.case(f"{variant}: 1 element", add, variant=variant, count=1)
    lab.case(f"{variant}: 6400 in blocks of 7x5x3", add, variant=variant, count=6400, block="7x5x3")
    lab.case(f"{variant}: 100003 elements", add, variant=variant, count=100_003)

for count in (1, 1000, 1_000_003):
    lab.case(f"grid_stride: {elements(count)}", add, variant="grid_stride", count=count)
lab.case("grid_stride: one block of 32 for 6400", add, variant="grid_stride", count=6400, block="32",
         options=("--blocks", "1"))
lab.case("grid_stride: 3 blocks of 7x5x3 for 6400", add, variant="grid_stride", count=6400, block="7x5x3",
         options=("--blocks", "3"))

for count in (1, 3, 5, 2047, 2048, 2049, 4097, 100_003):
    lab.case(f"vectorised: {elements(count)}", add, variant="vectorised", count=count)
lab.case("vectorised: 6400 in blocks of 7x5x3", add, variant="vectorised", count=6400, block="7x5x3")
lab.case("vectorised: 6400 in blocks of one thread", add, variant="vectorised", count=6400, block="1")

for variant in ("grid_1d_block_1d", "grid_3d_block_3d", "grid_stride", "vectorised"):
    lab.case(f"{variant}: 4 Mi elements", add, variant=variant, count=1 << 22, quick=False)


@lab.case("a size and a block nobody knows before, all variants", fresh=True)
def fresh(case):
    x, y, z = (int(case.random.integers(1, 9)) for _ in range(3))
    count = int(case.random.integers(1, 50_000))
    for variant in VARIANTS:
        case.parameters = {"variant": variant}
        add(case, variant, count, f"{x}x{y}x{z}")


@lab.case("infinities, huge and tiny numbers", variant="grid_1d_block_1d")
def extremes(case, variant):
    values = numpy.array([numpy.inf, -numpy.inf, 3e38, -3e38, 1e-45, 1e-38, 0, 1, 1e-8], numpy.float32)
    a, b = (grid.ravel() for grid in numpy.meshgrid(values, values))
    defined = ~(numpy.isinf(a) & (a == -b))  # infinity minus infinity is no number
    a, b = a[defined], b[defined]
    got = case.compute("--variant", variant, inputs={"a": a, "b": b})
    with numpy.errstate(over="ignore"):
        case.compare(a + b, got, EXACT, diagnosers=DIAGNOSERS)


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--elements", 3000)
    for variant in VARIANTS:
        case.expect(re.search(rf"^{variant} .*\bcorrect$", run.stdout, re.M),
                    f"the table has no row that calls {variant} correct")


@lab.case("no elements")
def empty(case):
    nothing = numpy.zeros(0, numpy.float32)
    for variant in ("grid_1d_block_1d", "grid_stride", "vectorised"):
        got = case.compute("--variant", variant, inputs={"a": nothing, "b": nothing})
        case.compare(nothing, got, EXACT)


@lab.case("bad arguments")
def bad_arguments(case):
    for value in ("-1", "many", "10x", "", "99999999999999999999"):
        case.refuses("--elements", value, saying="elements")
    case.refuses("--elements", "1000Gi", saying="memory")
    for block in ("32x32x2", "1x1x128", "0", "2048", "8x", "8x8x8x8"):
        case.refuses("--elements", "9", "--block", block, saying="block")
    case.refuses("--variant", "grid_4d_block_1d", saying="variant")
    case.refuses("--elements", "9", "--output", "sum.npy", saying="variant")
    case.refuses("--elements", "9", "--variant", "vectorised", "--output", "no/such/sum.npy", saying="output")


@lab.case("bad input files")
def bad_files(case):
    a = case.floats(100)
    good = case.save("a", a)
    short = case.save("short", a[:99])
    case.refuses("--a", good, saying="--b")
    case.refuses("--a", good, "--b", short, saying="length")
    case.refuses("--a", good, "--b", good, "--elements", "100", saying="elements")
    case.refuses("--a", good, "--b", case.save("double", a.astype(float)), saying="float32")
    case.refuses("--a", good, "--b", case.save("matrix", a.reshape(10, 10)), saying="matrix")
    case.refuses("--a", good, "--b", "absent.npy", saying="absent")
    (case.folder / "cut.npy").write_bytes((case.folder / good).read_bytes()[:-40])
    case.refuses("--a", good, "--b", "cut.npy", saying="cut")


lab.main()
