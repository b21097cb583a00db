"""Judges matrix_product: every variant's product of two matrices against NumPy, for any shape."""

import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned

lab = checker.Lab(__file__)
FOR_BOTH = ["naive", "coalesced", "tiled", "register_tile", "vectorised", "pipelined", "warp_tile"]
TENSOR = ["tensor_8x8x4", "tensor_16x8x8"]
BLOCK_TILES = {("tensor_16x8x8", "double"): ["64x64x3", "64x128x1", "64x128x2"],
               ("warp_tile", "double"): ["32x128x2", "64x128x2"],
               ("warp_tile", "float"): ["64x128x3", "64x128x2", "128x256x1"]}
TODO = {"naive": "1", "coalesced": "2", "tiled": "3", "register_tile": "4"}
TYPES = {"float": numpy.float32, "double": numpy.float64}
TILE = {"tiled": 16, "register_tile": 8}
# In CPU mode the pretend card must have the shared memory that the largest tiles need.
CARD = {"CUDA_CPU_DEVICE": "h100"}


def tolerance(a, b):
    """A sum of k products, in any order: (k + 1) u |a's row| |b's column|, and as much for the oracle."""
    u = 2.0 ** -24 if a.dtype == numpy.float32 else 2.0 ** -53
    rows = numpy.linalg.norm(a.astype(numpy.float64), axis=1).max(initial=0)
    columns = numpy.linalg.norm(b.astype(numpy.float64), axis=0).max(initial=0)
    return checker.Tolerance(absolute=2 * (a.shape[1] + 1) * u * rows * columns,
                             why="rounding of k products, (k + 1) u |row| |column|, here and in NumPy")


def product(a, b):
    """The oracle. Products of floats are exact in double; doubles get more digits where it is cheap."""
    wide = numpy.longdouble if a.dtype == numpy.float64 and a.size * b.shape[1] < 1 << 22 else numpy.float64
    return (a.astype(wide) @ b.astype(wide)).astype(numpy.float64)


# Likely causes


def todo(case):
    number = TODO.get(case.parameters.get("variant"))
    return f" (TODO {number})" if number else ""


def nothing_arrived(expected, got, case):
    if got.size and poisoned(got).all():
        return (f"not one element was written: does {case.parameters['variant']} find its row and column, and "
                f"store its sum{todo(case)}?")
    if got.size > 1 and (got == 0).all() and expected.any():
        return f"every element is 0: are the tiles loaded, and is anything added to the sums{todo(case)}?"
    return None


def shifted_place(a, b):
    """c where the row of a (or of b) is found with the wrong width."""
    (m, k), n = a.shape, b.shape[1]
    rows, places = numpy.arange(m)[:, None], numpy.arange(k)
    if ((m - 1) * n + k) <= a.size:
        yield "the row of a is multiplied by n, not by k", a.ravel()[rows * n + places] @ b
    if ((k - 1) * k + n) <= b.size:
        yield "the row of b is multiplied by k, not by n", a @ b.ravel()[places[:, None] * k + numpy.arange(n)]


def wrong_sums(a, b, depth):
    """Sentence -> what comes out if the sum is made of other terms than those that it should have."""
    k = a.shape[1]
    whole = k // depth * depth if depth else k
    last = (k - 1) // depth * depth if depth else 0
    if whole < k:
        yield (f"the last {k % depth} terms are missing: the loop over p must reach k, with zeros past the edge",
               a[:, :whole] @ b[:whole])
    if last > 0:
        yield "each sum has only the terms of the last tiles: is it set to 0 in the loop?", a[:, last:] @ b[last:]
        yield f"each sum has only the first {depth} terms: does the loop over p go on?", a[:, :depth] @ b[:depth]
    if k > 1:
        yield "each sum lacks its last term", a[:, :-1] @ b[:-1]
        yield "each sum lacks its first term", a[:, 1:] @ b[1:]
        yield "each element is one product, not a sum: += ?", a[:, -1:] @ b[-1:]
    yield from shifted_place(a, b)


def other_sum(expected, got, case):
    a, b = (case.inputs[name].astype(numpy.float64) for name in "ab")
    allowed = 10 * tolerance(case.inputs["a"], case.inputs["b"]).absolute
    for sentence, other in wrong_sums(a, b, TILE.get(case.parameters.get("variant"), 0)):
        if numpy.abs(got.astype(numpy.float64) - other).max(initial=0) <= allowed:
            return sentence
    return None


def unshared(expected, got, case):
    """NaN that no input had: shared memory that was read before anybody wrote to it."""
    fresh = numpy.isnan(got) & ~poisoned(got)
    if fresh.any() or (poisoned(got).any() and case.parameters["variant"] in ("tiled", "register_tile")):
        return "some sums are not a number: are the tiles complete before they are used? (__syncthreads)"
    return None


DIAGNOSERS = [nothing_arrived, other_sum, unshared]


# Cases


def multiply(case, variant, m, k, n, type, tile=None, block_tile=None):
    a, b = case.floats((m, k), dtype=TYPES[type]), case.floats((k, n), dtype=TYPES[type])
    words = ["--type", type, "--variant", variant, *(["--tile", tile] if tile else []),
             *(["--block-tile", block_tile] if block_tile else [])]
    got = case.compute(*words, inputs={"a": a, "b": b}, env=CARD)
    case.compare(product(a, b), got, tolerance(a, b), dtype=TYPES[type], diagnosers=DIAGNOSERS)


# (m, k, n): one element, one term, one sum, primes, tall, wide, whole tiles, just past them, no term
SHAPES = [(1, 1, 1), (31, 32, 33), (33, 1, 17), (1, 70, 1), (37, 41, 43), (1000, 7, 3), (130, 34, 132),
          (3, 7, 1000), (131, 19, 137), (128, 16, 128), (5, 0, 7)]

for variant in FOR_BOTH + TENSOR:
    for m, k, n in SHAPES[::2] if variant in TENSOR else SHAPES:
        lab.case(f"{variant}: {m} x {k} times {k} x {n}", multiply, variant=variant, m=m, k=k, n=n, type="double")
for variant in FOR_BOTH:
    for m, k, n in [(37, 41, 43), (130, 36, 132), (131, 19, 137)]:
        lab.case(f"{variant}, float: {m} x {k} times {k} x {n}", multiply, variant=variant, m=m, k=k, n=n,
                 type="float")
for tile in (2, 4, 8, 32):
    lab.case(f"tiled: 45 x 50 times 50 x 47 in tiles of {tile}", multiply, variant="tiled", m=45, k=50, n=47,
             type="double", tile=tile)
for (variant, type), names in BLOCK_TILES.items():
    for name in names:
        lab.case(f"{variant}, {type}: 260 x 36 times 36 x 132 in blocks of {name}", multiply, variant=variant, m=260,
                 k=36, n=132, type=type, block_tile=name)


def long_side(case, variant, tall):
    """More rows, or columns, than a grid has blocks along y; fewer where CPU mode plays a tensor core."""
    side = 3000 if case.backend == "cpu" and variant in TENSOR else 70_000
    multiply(case, variant, side if tall else 1, 2, 1 if tall else side, "double")


def large(case, variant, shape, type):
    """On a card as large as the name says; in CPU mode an eighth of it."""
    shrink = 8 if case.backend == "cpu" else 1
    multiply(case, variant, *(side // shrink for side in shape), type)


for variant in FOR_BOTH + TENSOR:
    quick = variant in ("naive", "coalesced", "tiled", "register_tile")
    for tall, word in ((True, "tall"), (False, "wide")):
        lab.case(f"{variant}: very {word}", long_side, variant=variant, tall=tall, quick=quick)
for variant in FOR_BOTH[3:] + TENSOR:
    for type in TYPES if variant in FOR_BOTH else ["double"]:
        for shape, word in [((1024, 512, 1280), "whole tiles"), ((2056, 512, 1040), "even"), ((997, 1009, 1013), "odd")]:
            lab.case(f"{variant}, {type}: large, {word}", large, variant=variant, shape=shape, type=type, quick=False)


@lab.case("a product done by hand, all variants")
def by_hand(case):
    a = numpy.arange(1.0, 7.0).reshape(2, 3)
    b = numpy.arange(1.0, 13.0).reshape(3, 4)
    expected = numpy.array([[38.0, 44, 50, 56], [83, 98, 113, 128]])
    exact = checker.Tolerance(why="small whole numbers: nothing is rounded")
    for variant in FOR_BOTH:
        case.parameters = {"variant": variant}
        got = case.compute("--variant", variant, inputs={"a": a, "b": b}, env=CARD)
        case.compare(expected, got, exact, diagnosers=DIAGNOSERS)


@lab.case("a shape nobody knows before, all variants", fresh=True)
def fresh(case):
    m, k, n = (int(side) for side in case.random.integers(1, 150, 3))
    for variant in FOR_BOTH:
        case.parameters = {"variant": variant}
        multiply(case, variant, m, k, n, "double")


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--m", 130, "--k", 20, "--n", 67, env=CARD)
    case.expect("130 x 20 by 20 x 67" in run.stdout, "the sizes of the table are not those of --m, --k and --n")
    grids = {"naive": 5 * 9, "coalesced": 17 * 3, "tiled": 9 * 5, "register_tile": 2 * 1}
    for variant in FOR_BOTH:
        row = re.search(rf"^{variant} +(\S+) +(\S+) .*?(correct|skipped)\b", run.stdout, re.M)
        case.expect(row, f"the table has no row that calls {variant} correct")
        case.expect(variant not in grids or row[1] == str(grids[variant]),
                    f"{variant} has {row[1]} blocks, expected {grids.get(variant)}: does it launch its own kernel?")


@lab.case("a sweep over tiles")
def sweep(case):
    run = case.run("--sweep", "--size", 70, "--type", "float", status=(0, 1))
    blocks = re.findall(r"^tiled +\S+ +(\S+) .*\bcorrect\b", run.stdout, re.M)
    case.expect(blocks == ["2x2", "4x4", "8x8", "16x16", "32x32"],
                f"--sweep should have a correct row for each tile; it has {', '.join(blocks) or 'none'}")


@lab.case("a product too large to be checked in full", quick=False)
def sampled(case):
    run = case.run("--m", 40_000, "--k", 200, "--n", 150, "--variant", "register_tile")
    case.expect("random signs" in run.stdout, "the program does not say how it judged the product")


@lab.case("no rows, no columns")
def empty(case):
    for m, k, n in ((0, 5, 5), (5, 5, 0), (0, 0, 0)):
        a, b = numpy.zeros((m, k)), numpy.zeros((k, n))
        for variant in ("naive", "tiled", "warp_tile"):
            got = case.compute("--variant", variant, inputs={"a": a, "b": b}, env=CARD)
            case.compare(a @ b, got, tolerance(a, b))


@lab.case("bad arguments")
def bad_arguments(case):
    for option in ("--m", "--n", "--k", "--size"):
        for value in ("-1", "many", "7x", "", "3000000000"):
            case.refuses(option, value, saying=option)
    case.refuses("--size", "1Gi", saying="memory")
    case.refuses("--tile", "7", saying="--tile")
    case.refuses("--block-tile", "7x7x7", saying="64x128x2")
    case.refuses("--type", "half", saying="--type")
    case.refuses("--variant", "tilde", saying="tiled")
    case.refuses("--without", "tilde", saying="--without")
    case.refuses("--size", "9", "--output", "c.npy", saying="variant")
    case.refuses("--sweep", "--tile", "8", saying="--tile")
    case.refuses("--sweep", "--output", "c.npy", saying="--output")


@lab.case("bad input files")
def bad_files(case):
    a = case.floats((20, 30), dtype=numpy.float64)
    good, turned = case.save("a", a), case.save("turned", numpy.ascontiguousarray(a.T))
    case.refuses("--a", good, saying="--b")
    case.refuses("--a", good, "--b", good, saying="columns")
    case.refuses("--a", good, "--b", turned, "--size", "20", saying="--size")
    case.refuses("--a", good, "--b", turned, "--k", "30", saying="--k")
    case.refuses("--a", good, "--b", turned, "--type", "float", saying="float32")
    case.refuses("--a", good, "--b", case.save("columns", numpy.asfortranarray(a[:, :7])), saying="Fortran")
    case.refuses("--a", good, "--b", case.save("vector", a.ravel()), saying="vector")
    case.refuses("--a", good, "--b", case.save("whole", a.T.astype(numpy.int32)), saying="float64")
    for value, word in ((numpy.nan, "NaN"), (numpy.inf, "infinite")):
        a[7, 11] = value
        case.refuses("--a", case.save("a", a), "--b", turned, saying=f"row 7, column 11 (counted from 0) is {word}")
    (case.folder / "cut.npy").write_bytes((case.folder / turned).read_bytes()[:-4])
    case.refuses("--a", good, "--b", "cut.npy", saying="cut")


lab.main()
