"""Judges vector_add: every variant's sum of two vectors, bit for bit, against NumPy."""

import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import origins, poisoned
from checker.diagnose import Fact, launch_shape, tiles_of_vectors

LAYOUTS = [f"grid_{grid}d_block_{block}d" for grid in (1, 2, 3) for block in (1, 2, 3)]
VARIANTS = [*LAYOUTS, "grid_stride", "vectorised"]
TASKS = dict(zip(VARIANTS, ["TODO 2", "TODO 4", "TODO 4", *6 * ["TODO 5"], "TODO 6", "TODO 7"]))
lab = checker.Lab(__file__, TASKS)
lab.kernels({variant: variant for variant in VARIANTS})
EXACT = checker.Tolerance(why="the sum of two floats is rounded once, everywhere to the same bits")


# Likely causes


def never_copied_back(expected, got, case):
    """On the host the sum is filled with another NaN than on the device."""
    filling = got.view(numpy.uint32) == 0x7FC00000
    if got.size and filling.all():
        return "the sum on the host still holds what it was filled with: copy it back from the device (TODO 1d)"
    if got.size > 1 and filling[-(-got.size // 4):].all() and not case.wrong[:got.size // 4].any():
        return ("the file copies a quarter of the sum back (TODO 1d): it gives cudaMemcpy the number of elements; "
                "cudaMemcpy wants bytes, and a float has four")
    return None


def not_one_sum(expected, got, case):
    if got.size and poisoned(got).all():
        variant = case.parameters["variant"]
        return checker.Shared(
            f"not one sum arrived. Is b copied to the device (TODO 1b), is the kernel launched (1c), and does {variant} "
            f"store a sum ({TASKS[variant][5:]})?", own=f"{variant} stores no sum")
    return None


def b_missing(expected, got, case):
    a, quarter = case.inputs["a"], got.size // 4
    if got.size and (got == a).all():
        without_b = "" if case.backend == "cpu" else ". Or is b never copied to the device (TODO 1b)?"  # memory that may be zero there
        return checker.Shared(f"the sum equals a: copy d_sum back, and not d_a (TODO 1d){without_b}",
                              own="the sum equals a: b[i] is not added")
    if got.size and (got == case.inputs["b"]).all():
        return checker.Shared("the sum equals b: copy d_sum back, and not d_b (TODO 1d)", own="the sum equals b: a[i] is not added")
    if got.size and origins(got).get("device", numpy.zeros(1)).all():
        return checker.Shared("every sum is computed from device memory to which nothing was copied: copy b to the device "
                              "(TODO 1b)", own="the kernel reads device memory to which nothing was copied")
    if got.size and (got == a + a).all():
        return checker.Shared("the sum is a + a: the copy to d_b comes from a, it has to come from input.b (TODO 1b)",
                              own="the sum is a + a: the file adds a[i] twice, and b[i] never")
    shape = launch_shape(case)
    enough = shape is not None and numpy.prod(shape[0]) * numpy.prod(shape[1]) >= got.size
    if enough and quarter > 8 and not case.wrong[:quarter].any() and case.wrong[quarter + 1:].all():
        return checker.Shared("only the first quarter is right: the file copies the number of elements to d_b (TODO 1b); "
                              "cudaMemcpy wants bytes, and a float has four", own="only the first quarter is right")
    return None


def wrong_formulas(grid, block):
    """(what the file does; what is right) -> the elements that a thread of each kind gets so."""
    gx, gy, gz = grid
    x, y, z = block
    bz, by, bx, tz, ty, tx = (axis.ravel() for axis in numpy.indices((gz, gy, gx, z, y, x)))
    block_number, thread = (bz * gy + by) * gx + bx, (tz * y + ty) * x + tx
    threads = x * y * z
    yield "leaves out blockIdx: every block adds the elements of block 0", thread
    yield "leaves out threadIdx: every thread of a block adds the same element", block_number * threads
    yield "leaves out blockIdx.y", (bz * gy * gx + bx) * threads + thread
    yield "leaves out blockIdx.z", (by * gx + bx) * threads + thread
    yield "leaves out blockIdx.y and blockIdx.z", bx * threads + thread
    yield "leaves out threadIdx.y", block_number * threads + tz * y * x + tx
    yield "leaves out threadIdx.z", block_number * threads + ty * x + tx
    yield "leaves out threadIdx.y and threadIdx.z", block_number * threads + tx
    yield ("does not multiply the number of the block; a block has blockDim.x * blockDim.y * blockDim.z threads",
           block_number + thread)
    yield "does not multiply blockIdx.y; a row of the grid has gridDim.x blocks", (bz * gy * gx + by + bx) * threads + thread
    yield "does not multiply blockIdx.z; a layer of the grid has gridDim.y rows of gridDim.x blocks", (
        (bz + by) * gx + bx) * threads + thread
    yield "does not multiply threadIdx.y; a row of a block has blockDim.x threads", (
        block_number * threads + tz * y * x + ty + tx)
    yield "does not multiply threadIdx.z; a layer of a block has blockDim.y rows of blockDim.x threads", (
        block_number * threads + (tz + ty) * x + tx)
    for name, size in ("gridDim.x", gx), ("gridDim.y", gy), ("gridDim.z", gz):
        yield (f"multiplies the number of the block by {name}; a block has blockDim.x * blockDim.y * blockDim.z threads",
               block_number * size + thread)
        yield f"multiplies blockIdx.y by {name}; a row of the grid has gridDim.x blocks", (
            (bz * gy + by) * size + bx) * threads + thread
        yield f"multiplies blockIdx.z by {name}; a layer of the grid has gridDim.y rows of gridDim.x blocks", (
            (bz * size + by) * gx + bx) * threads + thread
    for name, size in ("blockDim.x", x), ("blockDim.y", y), ("blockDim.z", z):
        yield f"multiplies threadIdx.y by {name}; a row of a block has blockDim.x threads", (
            block_number * threads + (tz * y + ty) * size + tx)
        yield f"multiplies threadIdx.z by {name}; a layer of a block has blockDim.y rows of blockDim.x threads", (
            block_number * threads + (tz * size + ty) * x + tx)
    for name, size in (("blockDim.x", x), ("blockDim.y", y), ("blockDim.z", z), ("blockDim.x * blockDim.y", x * y),
                       ("blockDim.y * blockDim.z", y * z), ("blockDim.x * blockDim.z", x * z)):
        yield (f"multiplies the number of the block by {name}; a block has blockDim.x * blockDim.y * blockDim.z "
               f"threads, and one factor is missing", block_number * size + thread)
    yield ("lacks parentheses: it multiplies blockIdx.z by gridDim.y and blockIdx.y by gridDim.x; a layer has "
           "gridDim.y * gridDim.x blocks"), (bz * gy + by * gx + bx) * threads + thread
    yield ("lacks parentheses: it multiplies threadIdx.z by blockDim.y and threadIdx.y by blockDim.x; a layer has "
           "blockDim.y * blockDim.x threads"), block_number * threads + tz * y + ty * x + tx
    yield ("lacks parentheses: it multiplies blockIdx.x alone by the threads of a block; all the blocks before this one "
           "count, the rows of the grid too"), (bz * gy + by) * gx + bx * threads + thread
    yield "begins with element 1; the first thread's element is number 0", block_number * threads + thread + 1
    for bits in 8, 16:
        yield f"keeps the index in {bits} bits, which hold {1 << bits} numbers", (block_number * threads + thread) % (1 << bits)


def wrong_formula(expected, got, case):
    """Which wrong formulas leave out just the elements that were never written?"""
    variant, shape = case.parameters["variant"], launch_shape(case)
    if variant not in LAYOUTS or shape is None or numpy.prod(shape[0]) * numpy.prod(shape[1]) > 1 << 21:
        return None
    written = ~poisoned(got)
    if (case.wrong & written).any():
        return None
    fitting = []
    for sentence, elements in wrong_formulas(*shape):
        reached = numpy.zeros(got.size, bool)
        reached[elements[elements < got.size]] = True
        sentence = f"the file {in_dimensions(sentence, variant)}"
        if (reached == written).all() and sentence not in fitting:
            fitting.append(sentence)
    return fitting[0] if len(fitting) == 1 else Fact(", or ".join(fitting[:3])) if fitting else None


def in_dimensions(sentence, variant):
    """The sentence without the sides that the layout does not have."""
    for axis, least in (".z", 3), (".y", 2):
        for what, letter in ("gridDim", variant[5]), ("blockDim", variant[14]):
            if int(letter) < least:
                sentence = sentence.replace(f" * {what}{axis}", "").replace(f"{what}{axis} * ", "")
    return sentence


def grid_too_small(expected, got, case):
    shape = launch_shape(case)
    if case.parameters["variant"] not in LAYOUTS or shape is None:
        return None
    threads = int(numpy.prod(shape[0]) * numpy.prod(shape[1]))
    if threads < got.size:
        return (f"the launch has {checker.counted(threads, 'thread')} for {got.size} elements: round the number of "
                f"blocks up (TODO 3)")
    return None


def no_stride(expected, got, case):
    shape = launch_shape(case)
    if case.parameters["variant"] != "grid_stride" or shape is None:
        return None
    threads = shape[0][0] * shape[1][0]
    missing = poisoned(got)
    if threads < got.size and missing[threads:].all() and not missing[:threads].any():
        return (f"each of {checker.counted(threads, 'thread')} adds one element and stops: go on by "
                f"gridDim.x * blockDim.x while there are elements")
    return None


def vectors_missing(expected, got, case):
    shape, missing = launch_shape(case), poisoned(got)
    if case.parameters["variant"] != "vectorised" or shape is None or (case.wrong & ~missing).any():
        return None
    return tiles_of_vectors(missing, 8 * shape[1][0], "TODO 7")


DIAGNOSERS = [never_copied_back, not_one_sum, b_missing, grid_too_small, wrong_formula, no_stride,
              vectors_missing]


# Cases


def add(case, variant, count, block=None, options=()):
    a, b = case.floats(count), case.floats(count)
    words = ["--variant", variant, *(["--block", block] if block else []), *options]
    got = case.compute(*words, inputs={"a": a, "b": b})
    case.compare(a + b, got, EXACT, diagnosers=DIAGNOSERS)
    case.copied_back(2 * got.nbytes, "TODO 1d")  # the sum that is judged, before and after the timed runs


for variant in LAYOUTS:
    lab.case(f"{variant}: 1 element", add, variant=variant, count=1)
    lab.case(f"{variant}: 6400 in blocks of 7x5x3", add, variant=variant, count=6400, block="7x5x3")
    lab.case(f"{variant}: 100003 elements", add, variant=variant, count=100_003)

for count in (1, 1000, 1_000_003):
    lab.case(f"grid_stride: {checker.counted(count, 'element')}", add, variant="grid_stride", count=count)
lab.case("grid_stride: one block of 32 for 6400", add, variant="grid_stride", count=6400, block="32",
         options=("--blocks", "1"))
lab.case("grid_stride: 3 blocks of 7x5x3 for 6400", add, variant="grid_stride", count=6400, block="7x5x3",
         options=("--blocks", "3"))

for count in (1, 3, 5, 2047, 2048, 2049, 4097, 100_003):
    lab.case(f"vectorised: {checker.counted(count, 'element')}", add, variant="vectorised", count=count)
lab.case("vectorised: 6400 in blocks of 7x5x3", add, variant="vectorised", count=6400, block="7x5x3")
lab.case("vectorised: 6400 in blocks of one thread", add, variant="vectorised", count=6400, block="1")

for variant in ("grid_1d_block_1d", "grid_3d_block_3d", "grid_stride", "vectorised"):
    lab.case(f"{variant}: 4 Mi elements", add, variant=variant, count=1 << 22, on_cpu={"count": 1 << 19}, quick=False)


@lab.case("more than 2^31 threads for 1000 elements", quick=False)
def many_threads(case):
    if case.backend == "cpu":
        raise checker.Skipped("it needs a GPU: CPU mode would take minutes")
    a, b = case.floats(1000), case.floats(1000)
    for variant in LAYOUTS:
        run = case.run("--variant", variant, "--blocks", (2 << 20) + 9, "--block", "16x8x8", "--a", case.save("a", a),
                       "--b", case.save("b", b), "--output", "sum.npy", status=(0, 1))
        case.expect(run.status == 0, f"{variant}: the thread 2^31 and those after it have no element. It says: {run.stderr.strip()}"
                    f"\nlikely cause: an index of 32 bits, which is negative there, and less than count")
        case.compare(a + b, case.load("sum"), EXACT)


@lab.case("a size and a block nobody knows before, all variants", fresh=True)
def fresh(case):
    x, y, z = (int(case.random.integers(1, 9)) for _ in range(3))
    count = int(case.random.integers(1, 50_000))
    for variant in VARIANTS:
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
    case.calls_correct(run, VARIANTS)
    case.checked("TODO 1c")
    case.freed("TODO 1e")


@lab.case("no elements")
def empty(case):
    nothing = numpy.zeros(0, numpy.float32)
    for variant in ("grid_1d_block_1d", "grid_stride", "vectorised"):
        got = case.compute("--variant", variant, inputs={"a": nothing, "b": nothing})
        case.compare(nothing, got, EXACT)


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--elements", "-1", "many", "10x", "", "99999999999999999999")
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
    case.refuses("--a", good, "--b", short, saying="(99,)")
    case.refuses("--a", good, "--b", good, "--elements", "100", saying="elements")
    case.refuses("--a", good, "--b", case.save("double", a.astype(float)), saying="float32")
    case.refuses("--a", good, "--b", case.save("matrix", a.reshape(10, 10)), saying="matrix")
    case.refuses_broken("--b", good, "--a", good)


lab.main()
