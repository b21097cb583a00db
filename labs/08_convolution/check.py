"""Judges convolution: every variant's sums of signals, matrices and pictures, against NumPy's in double."""

import re
import sys
from itertools import chain
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.diagnose import Fact, rows_beyond_the_grid
from checker.program import quoted_output

FURTHER = ["register_blocking", "separable_blocking"]  # of further/, with the learner's add_row and add_row_of_product
TODO = {"naive": "TODO 2", "constant": "TODO 4b", "tiled": "TODO 5", "separable": "TODO 6", "rolling": "TODO 7",
        "separable_rolling": "TODO 8", "register_blocking": "TODO 7", "separable_blocking": "TODO 8"}
lab = checker.Lab(__file__, tasks=TODO, further=FURTHER)
EXACT = checker.Tolerance(why="all products and sums are whole numbers below 2^24, which a float holds exactly")
PIXELS = checker.Tolerance(why="rounded to nearest within 0..255; where float rounding decides, both neighbours pass")
HALVES = checker.Tolerance(why="with weights of 1/2 and 1/4 floats hold every sum exactly; x.5 is rounded up")
VARIANTS = ["naive", "constant", "tiled", "separable", "rolling", "separable_rolling"]
# For square filters, without a stride: up to 7 x 7, and in further/ up to 15 x 15.
BLOCKED = {"rolling": 7, "separable_rolling": 7, "register_blocking": 15, "separable_blocking": 15}
FACTORED = ["separable", "separable_rolling", "separable_blocking"]  # for a column times a row


# The oracle


def turned(weights):
    return weights[::-1, ::-1]


def exact_sums(values, weights, padding="zero", stride=1, orientation="correlation"):
    """The sums in double; signals and filters are matrices of one row here."""
    values, weights = values.astype(numpy.float64), weights.astype(numpy.float64)
    top, left = (side // 2 if padding == "zero" else 0 for side in weights.shape)
    padded = numpy.pad(values, ((top, top), (left, left)))
    if 0 in values.shape:
        return numpy.zeros(values.shape)
    windows = numpy.lib.stride_tricks.sliding_window_view(padded, weights.shape)
    with numpy.errstate(all="ignore"):
        sums = numpy.einsum("yxrc,rc->yx", windows, weights if orientation == "correlation" else turned(weights))
    return sums[::stride, ::stride]


def rounding_bound(values, weights):
    """How far a float sum can be off: n roundings (20 more for two factors) of sum |weight| * |value|."""
    largest = numpy.abs(values[numpy.isfinite(values)]).max(initial=0)
    return (weights.size + 20) * 2.0**-24 * float(numpy.abs(weights).sum()) * float(largest)


def near(values, weights):
    return checker.Tolerance(absolute=rounding_bound(values, weights),
                             why="each of n float roundings is off by 2^-24 of sum |filter| * |input|")


def as_pixels(sums):
    return numpy.floor(numpy.clip(sums, 0, 255) + 0.5).astype(numpy.uint8)


# Likely causes


def block_of(case):
    """Threads along x and y."""
    return tuple(int(side) for side in case.parameters.get("block", "32x8").split("x"))


def all_zero(expected, got, case):
    variant = case.parameters["variant"]
    # In a block of one column the only column of a tile that is loaded may be the border of zeros.
    if got.size and (got == 0).all() and variant != "naive" and block_of(case)[0] > 1:
        own = f", or {TODO[variant]} is not done yet" if variant in BLOCKED else ""
        return f"every output is 0: the filter is not copied to constant memory (TODO 4a){own}"
    return None


def wrong_formulas(values, weights, padding, stride, orientation):
    """Sentence -> the sums that a program with this mistake would give."""
    def sums(values, weights, padding=padding, stride=stride):
        return exact_sums(values, weights, padding, stride, orientation)

    height, width = values.shape
    yield "the filter is turned by 180 degrees: that is the other orientation", sums(values, turned(weights))
    yield "the filter's rows stand upside down: which filter row belongs to which input row?", sums(
        values, weights[::-1])
    yield "the filter's columns are mirrored", sums(values, weights[:, ::-1])
    yield "rows and columns of the filter are swapped", sums(values, weights.T.reshape(weights.shape))
    if stride > 1:
        plain = sums(values, weights, stride=1)
        rows, columns = sums(values, weights).shape
        yield "the stride is ignored", plain[:rows, :columns]
        yield "the stride is ignored along x", plain[::stride, :columns]
        yield "the stride is ignored along y", plain[:rows, ::stride]
    if padding == "zero":
        top, left = (side // 2 for side in weights.shape)
        for right, sentence in ((left, "the window begins at the output's own column, not `left` before it"),
                                (0, "the window begins at the output's own row, not `top` before it")):
            down = 0 if right else top
            yield sentence, sums(numpy.pad(values, ((0, down), (0, right))), weights, stride=1)[
                down:, right:][::stride, ::stride]
        if top != left:
            rows, columns = sums(values, weights).shape
            shifted = numpy.pad(values, ((left, weights.shape[0] + top), (top, weights.shape[1] + left)))
            yield "`top` and `left` are swapped: `top` rows lie above the first row, `left` columns before the first", sums(
                shifted, weights, padding="none")[:rows, :columns]
        edges = numpy.pad(values, ((top, top), (left, left)), mode="edge")
        yield "inputs beyond the edge are repeated; they count as zeros", sums(edges, weights, padding="none")
    for name, down, right in (("one row too high", 1, 0), ("one row too low", -1, 0),
                              ("one column too far left", 0, 1), ("one column too far right", 0, -1)):
        moved = numpy.zeros_like(values)
        moved[max(0, down):height + min(0, down), max(0, right):width + min(0, right)] = values[
            max(0, -down):height - max(0, down), max(0, -right):width - max(0, right)]
        yield f"the window lies {name}", sums(moved, weights)


def wrong_factors(rows, values, weights, **rest):
    """The same of the kernels that take a column and a row for the filter."""
    largest = numpy.unravel_index(numpy.abs(weights).argmax(), weights.shape)
    column, row = weights[:, largest[1]], weights[largest[0]] / weights[largest]
    if len(column) == len(row):
        yield "the row factor stands for the column factor as well, which begins at constant_filter[0]", \
            exact_sums(values, numpy.outer(row, row), **rest)
        yield "the column factor stands for the row factor as well, which lies behind it", \
            exact_sums(values, numpy.outer(column, column), **rest)
    present = numpy.arange(len(values))[:, None] < rows
    yield f"row sums are left out, those from {rows} on: `between` has s.height rows, and the output fewer", \
        exact_sums(numpy.where(present, values, 0), weights, **rest)


def wrong_formula(expected, got, case):
    problem = case.problem
    if got.size > 200_000 or problem["weights"].size > 10_000 or not numpy.isfinite(got.astype(float)).all():
        return None
    allowed = rounding_bound(problem["values"], problem["weights"]) + 1e-6
    part = (slice(None), slice(None))
    if case.parameters["variant"] == "tiled":  # a mistake within the tile starts anew in each block
        width, height = block_of(case)
        part = (slice(height), slice(width))
    if not case.wrong[part].any():
        return None
    factored = case.parameters["variant"] in FACTORED and got.dtype != numpy.uint8 and problem["weights"].any()
    for sentence, sums in chain(wrong_formulas(**problem), wrong_factors(len(got), **problem) if factored else ()):
        if sums.shape != got.shape:
            continue
        if got.dtype == numpy.uint8:
            same = as_pixels(sums) == got
        else:
            same = numpy.abs(sums - got) <= allowed
        if same[part].all():
            turned_only = "180 degrees" in sentence and problem["orientation"] == "convolution"
            return f"{sentence} ({'TODO 3b' if turned_only else TODO[case.parameters['variant']]})"
    return None


def sums_stay(expected, got, case):
    """Register blocking whose sums do not move up: the oldest takes all rows, times the filter's last."""
    problem = case.problem
    values, weights = problem["values"], problem["weights"]
    if case.parameters["variant"] not in BLOCKED or got.shape[0] < 2 or problem["stride"] != 1:
        return None
    if problem["orientation"] == "convolution":
        weights = turned(weights)
    top = weights.shape[0] // 2 if problem["padding"] == "zero" else 0
    rows = exact_sums(numpy.pad(values, ((top, top), (0, 0))), weights[-1:], problem["padding"])
    part = slice(2 * weights.shape[0])  # each strip begins anew, and has so many rows at least
    wrong = numpy.cumsum(rows, axis=0)[weights.shape[0] - 1:][part]
    wrong = as_pixels(wrong) if got.dtype == numpy.uint8 else wrong
    allowed = rounding_bound(values, weights) * 2 * len(weights) + 1e-6
    if case.wrong[part].any() and (numpy.abs(wrong - got[part]) <= allowed).all():
        return ("the sums do not move up: the new sums[k][c] begins with the old sums[k + 1][c], and the last with 0 "
                f"({TODO[case.parameters['variant']]})")
    return None


def wrong_pixels(expected, got, case):
    if got.dtype != numpy.uint8:
        return None
    sums = exact_sums(**case.problem)
    if case.wrong.any() and (got == numpy.rint(numpy.clip(sums, 0, 255)).astype(numpy.uint8)).all():
        return "sums in the middle, as 2.5, are rounded to the even neighbour: add 0.5 and drop the rest (TODO 1)"
    if (got == numpy.clip(sums, 0, 255).astype(numpy.uint8)).all():
        return "the sums are rounded down, not to nearest: add 0.5 before the rest is dropped (TODO 1)"
    inside = (sums >= 0) & (sums <= 255)
    if not case.wrong[inside].any() or (got[inside] == sums[inside].astype(numpy.uint8)).all():
        return "only sums below 0 or above 255 are wrong: clamp them before they become bytes (TODO 1)"
    return None


def only_at_the_edge(expected, got, case):
    problem = case.problem
    if problem["padding"] != "zero":
        return None
    inside = exact_sums(numpy.ones_like(problem["values"]), numpy.ones_like(problem["weights"]),
                        stride=problem["stride"]) == problem["weights"].size
    if inside.any() and not case.wrong[inside].any():
        return Fact("only outputs whose window reaches beyond the edge differ: there the input counts as 0")
    return None


def unloaded_tile(expected, got, case):
    """NaN out of shared memory. In CPU mode the threads of a block take turns: where only a barrier is missing, the last
    of them finds the whole tile."""
    if case.parameters["variant"] != "tiled" or got.dtype.kind != "f" or not (numpy.isnan(got) & case.wrong).any():
        return None
    width, height = block_of(case)
    rows, columns = numpy.ogrid[:got.shape[0], :got.shape[1]]
    last = (rows % height == height - 1) & (columns % width == width - 1)
    if case.backend == "cpu" and not case.order and last.any() and not case.wrong[last].any() and case.wrong[~last].mean() > 0.5:
        return ("sums are made before the others have loaded their part of the tile: all must wait between the loads and the "
                "sums, __syncthreads() (TODO 5, number 2)")
    if last.any() and case.wrong[last].all() and not case.order or case.backend != "cpu":
        return ("sums hold NaN, which stands in shared memory where nothing is loaded: the loads go over all tile_height x "
                "tile_width elements, halo included (TODO 5, number 1)")
    return Fact("sums hold NaN, which stands in shared memory where nothing is loaded yet")


def tile_overwritten(expected, got, case):
    """tiled: wrong in every round of the loop but the last, when nobody loads another tile."""
    rows = case.parameters.get("rows_of_grid", 0)
    if case.parameters["variant"] != "tiled" or not 0 < rows < len(got):
        return None
    height = block_of(case)[1]
    last = numpy.arange(len(got)) // height * height + rows >= len(got)  # the rows of a block's last round
    if case.wrong[~last].any() and not case.wrong[last].any():
        return ("wrong in each round of the loop but the last: the next tile is loaded while others still read this one. All "
                "must wait at the end of a round as well, __syncthreads() (TODO 5, number 4)")
    return None


def too_long_rows(expected, got, case):
    """tiled: an element behind the end of a row of the tile is the first of the next."""
    if case.parameters["variant"] != "tiled" or not numpy.isfinite(got.astype(float)).all() or got.shape[1] < 2:
        return None
    first = numpy.arange(got.shape[1]) % block_of(case)[0] == 0
    if first.all() or case.wrong[:, ~first].any():
        return None
    return ("only the first column of blocks is wrong, whose inputs begin the rows of the tile: element (i, tile_width) lies where "
            "(i + 1, 0) does, so the loads go on while j < tile_width (TODO 5, number 1)")


def rows_of_between(expected, got, case):
    """separable: `between` taken to have rows of s.width sums."""
    problem = case.problem
    values, weights, stride = problem["values"].astype(float), problem["weights"].astype(float), problem["stride"]
    (height, width), out_width = values.shape, got.shape[1]
    if case.parameters["variant"] != "separable" or width == out_width or got.dtype == numpy.uint8 or not weights.any():
        return None
    if problem["orientation"] == "convolution":
        weights = turned(weights)
    top, left = (side // 2 if problem["padding"] == "zero" else 0 for side in weights.shape)
    largest = numpy.unravel_index(numpy.abs(weights).argmax(), weights.shape)
    column, row = weights[:, largest[1]], weights[largest[0]] / weights[largest]
    between = exact_sums(numpy.pad(values, ((0, 0), (left, left))), row[None], "none")[:, ::stride].ravel()
    starts, columns = numpy.arange(len(got))[:, None] * stride - top, numpy.arange(out_width)
    for first, step in ((out_width, width), (width, out_width), (width, width)):
        sums, known = numpy.zeros(got.shape), numpy.ones(got.shape, bool)
        for i, weight in enumerate(column):
            inside = (starts + i >= 0) & (starts + i < height)
            places = starts * first + i * step + columns
            known &= ~inside | (places >= 0) & (places < between.size)
            sums += numpy.where(inside, weight * between[numpy.clip(places, 0, between.size - 1)], 0)
        same = numpy.abs(sums - got) <= rounding_bound(values, weights) + 1e-6
        if (case.wrong & known).any() and same[known].all():
            return "the rows of `between` are taken to lie s.width apart: they have s.out_width sums each (TODO 6)"
    return None


DIAGNOSERS = [all_zero, too_long_rows, rows_of_between, rows_beyond_the_grid, tile_overwritten, wrong_pixels, sums_stay, wrong_formula, unloaded_tile,
              only_at_the_edge]


# Cases


def options(padding, stride, orientation):
    words = ["--padding", padding] if padding != "zero" else []
    words += ["--stride", stride] if stride != 1 else []
    return words + (["--orientation", orientation] if orientation != "correlation" else [])


def whole(case, *shape, most=8):
    """Whole numbers as floats."""
    return case.random.integers(-most, most + 1, shape).astype(numpy.float32)


def product(case, height, width):
    """A filter of rank 1."""
    column, row = case.floats((height, 1), 0.5, 1.5), case.floats((1, width), 0.5, 1.5)
    return column * row


def shape_of_sums(case, got, values, weights, padding, stride):
    """Fails, and names the task, where the output has more or fewer rows or columns than the filter has places."""
    reach = [side // 2 if padding == "zero" else 0 for side in weights.shape]
    wanted = [max(0, (side + 2 * more - own) // stride + 1) for side, more, own in zip(values.shape, reach, weights.shape)]
    found = list(got.shape) if got.ndim > 1 else [1, *got.shape]
    if found != wanted and 0 not in values.shape:
        case.fail(f"the output has {found[0]} x {found[1]} elements, expected {wanted[0]} x {wanted[1]}\n"
                  f"likely cause: out_side counts the filter's places wrongly: the first, and one more for each stride that is "
                  f"left, (padded - filter_side) / stride + 1 (TODO 3a)")


PAST_THE_END = {
    "tiled": "the launch asks for tile_height x tile_width floats, and the loads go over just as many: while i < tile_height, and while "
             "j < tile_width, element (i, j) at tile[i * tile_width + j]; an input is read where 0 <= y < height and 0 <= x < width",
    "separable": "`between` has s.height rows of s.out_width sums each, and the output s.out_height rows of s.out_width: both are "
                 "s.out_width apart, and a window ends at row s.height of `between`"}


def computed(case, variant, *words, inputs):
    """The output. CPU mode stops at an access past the end of an array; what that array is to the kernel is said beside it."""
    try:
        return case.compute("--variant", variant, *words, inputs=inputs)
    except checker.Failure as failure:
        kernel = case.last_run and re.search(r"kernel (?:\w+::)*(tiled|separable)(?:_columns)?<.{0,400}(?:past the end|before the start)", case.last_run.stderr)
        if not kernel:
            raise
        raise checker.Failure(str(failure), f"{PAST_THE_END[kernel[1]]} ({TODO[variant]})")


def judge(case, variant, values, weights, padding="zero", stride=1, orientation="correlation", words=(),
          exact=True):
    """Runs one variant on arrays, of one or two dimensions, and compares with SciPy."""
    inputs = {"input": values, "filter-file": weights}
    if words:  # the filter has a name
        inputs.pop("filter-file")
    got = computed(case, variant, *words, *options(padding, stride, orientation), inputs=inputs)
    signal = values.ndim == 1
    shape_of_sums(case, got, numpy.atleast_2d(values), numpy.atleast_2d(weights), padding, stride)
    values, weights = numpy.atleast_2d(values), numpy.atleast_2d(weights)
    case.problem = {"values": values, "weights": weights, "padding": padding, "stride": stride,
                    "orientation": orientation}
    expected = exact_sums(**case.problem)
    if signal:
        expected = expected[0]
        case.expect(got.ndim == 1, f"a signal's result has {got.ndim} dimensions, expected 1")
        expected, got = expected[None], got[None]
    tolerance = EXACT if exact and variant not in FACTORED else near(values, weights)
    case.compare(expected.astype(numpy.float32), got, tolerance, diagnosers=DIAGNOSERS)


def matrix(case, variant, height, width, sides, padding="zero", stride=1, orientation="correlation", words=()):
    weights = product(case, *sides) if variant in FACTORED else whole(case, *sides)
    judge(case, variant, whole(case, height, width), weights, padding, stride, orientation, words=words)


def with_block(case, variant, height, width, sides, block, blocks, rows_of_grid, stride=1):
    weights = product(case, *sides) if variant in FACTORED else whole(case, *sides)
    values = whole(case, height, width)
    got = computed(case, variant, "--block", block, "--most-blocks", blocks, *options("zero", stride, "correlation"),
                   inputs={"input": values, "filter-file": weights})
    case.problem = {"values": values, "weights": weights, "padding": "zero", "stride": stride,
                    "orientation": "correlation"}
    tolerance = near(values, weights) if variant in FACTORED else EXACT
    case.compare(exact_sums(**case.problem).astype(numpy.float32), got, tolerance, diagnosers=DIAGNOSERS)


@lab.case("0 0 1 0 0 with 1 2 3, both orientations", variant="naive")
def example(case, variant):
    values, weights = numpy.float32([0, 0, 1, 0, 0]), numpy.float32([1, 2, 3])
    for orientation, expected in (("correlation", [0, 3, 2, 1, 0]), ("convolution", [0, 1, 2, 3, 0])):
        got = case.compute("--variant", variant, "--orientation", orientation,
                           inputs={"input": values, "filter-file": weights})
        case.problem = {"values": values[None], "weights": weights[None], "padding": "zero", "stride": 1,
                        "orientation": orientation}
        case.compare(numpy.float32([expected]), got[None], EXACT, diagnosers=DIAGNOSERS)


SHAPES = [(1, 1), (31, 33), (101, 103), (7, 1000), (1000, 7)]

for name in VARIANTS + FURTHER:
    for rows, columns in SHAPES:
        lab.case(f"{name}: {rows} x {columns}, filter 3 x 3", matrix, variant=name, height=rows, width=columns,
                 sides=(3, 3))
    lab.case(f"{name}: 40 x 61, filter 5 x 5, convolution", matrix, variant=name, height=40, width=61,
             sides=(5, 5), orientation="convolution")
    lab.case(f"{name}: 40 x 64, filter 7 x 7, padding none", matrix, variant=name, height=40, width=64,
             sides=(7, 7), padding="none")
    if name not in BLOCKED:
        lab.case(f"{name}: 37 x 41, filter 3 x 5", matrix, variant=name, height=37, width=41, sides=(3, 5))
        lab.case(f"{name}: 50 x 73, filter 5 x 3, stride 2", matrix, variant=name, height=50, width=73,
                 sides=(5, 3), stride=2)
        lab.case(f"{name}: 50 x 73, filter 3 x 7, stride 3, padding none", matrix, variant=name, height=50,
                 width=73, sides=(3, 7), stride=3, padding="none")
        lab.case(f"{name}: 8 x 5, filter 21 x 17, larger than the input", matrix, variant=name, height=8,
                 width=5, sides=(21, 17))
        lab.case(f"{name}: 20 x 30, filter 1 x 1", matrix, variant=name, height=20, width=30, sides=(1, 1))
        lab.case(f"{name}: 41 x 53, filter 3 x 3, blocks of 19x5, 2 of them along y", with_block, variant=name, height=41,
                 width=53, sides=(3, 3), block="19x5", blocks=2, rows_of_grid=10)
for name in ("naive", "constant", "tiled", "separable"):
    lab.case(f"{name}: 1200000 x 1 in blocks of 1x2", with_block, variant=name, height=1_200_000, on_cpu={"height": 140_000}, width=1,
             sides=(3, 3), block="1x2", blocks=65_535, rows_of_grid=131_070)
for name in BLOCKED:
    lab.case(f"{name}: 1200000 x 1", matrix, variant=name, height=1_200_000, on_cpu={"height": 33_000}, width=1, sides=(3, 3))
for name in VARIANTS + FURTHER:
    lab.case(f"{name}: 1 x 70000", matrix, variant=name, height=1, width=70_000, sides=(3, 3))
for name, largest in BLOCKED.items():
    for size in range(3, largest + 1, 2):
        for rows, columns in ((90, 604), (61, 83)):
            lab.case(f"{name}: {rows} x {columns}, filter {size} x {size}", matrix, variant=name, height=rows,
                     width=columns, sides=(size, size))
for name, size in (("tiled", 33), ("tiled", 65), ("tiled", 67), ("constant", 127), ("naive", 151)):
    lab.case(f"{name}: 50 x 60, filter {size} x {size}", matrix, variant=name, height=50, width=60,
             sides=(size, size), quick=size < 100)
for name in VARIANTS + FURTHER:
    lab.case(f"{name}: 1024 x 1500, filter 5 x 5", matrix, variant=name, height=1024, width=1500, on_cpu={"height": 300},
             sides=(5, 5), quick=False)


def long_filter(case, variant, sides):
    """More rows, or columns, than 8 bits can count. A loop that counts in them never ends, or reads elsewhere."""
    try:
        matrix(case, variant, *(320 if side > 1 else 5 for side in sides), sides)
    except checker.Failure as failure:
        if not re.search("did not end|past the end|before the start", str(failure)):
            raise
        shorter = "" if "did not end" in str(failure) else "if shorter filters are right: "
        raise checker.Failure(str(failure), f"{shorter}a counter of 8 bits ends at 255, and the filter has {sides[0]} x {sides[1]} elements: "
                              f"count its rows and columns in int ({TODO[variant]})")


for name in ("naive", "constant", "tiled", "separable"):
    for sides in ((1, 301), (301, 1)):
        lab.case(f"{name}: a filter of {sides[0]} x {sides[1]}", long_filter, variant=name, sides=sides)


def signal(case, variant, count, size, stride=1, padding="zero"):
    judge(case, variant, whole(case, count), whole(case, size), padding, stride)


for name in ("naive", "constant", "tiled", "separable"):
    for count in (1, 32, 100_003):
        lab.case(f"{name}: signal of {count}, filter of 7", signal, variant=name, count=count, size=7)
    lab.case(f"{name}: signal of 1000, filter of 9, stride 4, padding none", signal, variant=name, count=1000,
             size=9, stride=4, padding="none")


@lab.case("naive: signal of 100, filter of 20001")
def beyond_constant(case):
    judge(case, "naive", whole(case, 100), whole(case, 20_001))
    weights = case.save("weights", whole(case, 20_001))
    values = case.save("values", whole(case, 100))
    for variant in ("constant", "tiled"):
        case.refuses("--input", values, "--filter-file", weights, "--variant", variant, "--output", "o.npy",
                     saying="64 KiB")


@lab.case("real numbers, all variants")
def real_numbers(case):
    for variant in VARIANTS + lab.further:
        judge(case, variant, case.floats((70, 90), -100, 100), product(case, 7, 7), exact=False)


@lab.case("an input with NaN and infinity: only windows that hold them are touched")
def not_numbers(case):
    for variant in VARIANTS + lab.further:
        values = case.floats((60, 80))
        values[20, 30], values[45, 10], values[45, 12] = numpy.nan, numpy.inf, -numpy.inf
        judge(case, variant, values, product(case, 5, 5), exact=False)


lab.kernels({"naive": "naive", "constant": "constant", "tiled": "tiled", "separable": ("separable_rows", "separable_columns"),
             "rolling": "rolling", "separable_rolling": "rolling", **dict.fromkeys(FURTHER, "register_blocking")})


# Three blocks along y have 6 rows, of 70 columns; the last two have 4 columns a thread, all rows in turn.
SMALL = ["--height", 21, "--width", 70, "--size", 3, "--block", "32x2", "--most-blocks", 3, "--variant"]
lab.watched("no race between threads", [[*SMALL, ",".join(VARIANTS)]], storing={
    **dict.fromkeys(["naive", "constant", "tiled", "separable_rows", "separable_columns"], 420), "rolling": 18})
lab.watched("no race between threads of further/", [[*SMALL, ",".join(FURTHER)]], storing={"register_blocking": 18}, further=True)


@lab.case("a shape and a filter nobody knows before, all variants", fresh=True)
def fresh(case):
    height, width = (int(side) for side in case.random.integers(1, 200, 2))
    sides = tuple(int(2 * half + 1) for half in case.random.integers(0, 8, 2))
    stride = int(case.random.integers(1, 4))
    orientation = str(case.random.choice(["correlation", "convolution"]))
    for variant in VARIANTS + lab.further:
        if variant in BLOCKED:
            matrix(case, variant, height, width, (min(sides[0] | 3, BLOCKED[variant]),) * 2, orientation=orientation)
        else:
            matrix(case, variant, height, width, sides, stride=stride, orientation=orientation)


# Named filters: the weights written down here once more


def gaussian(size, sigma):
    line = numpy.exp(-0.5 * ((numpy.arange(size) - size // 2) / sigma) ** 2)
    return numpy.outer(line, line) / line.sum() ** 2


def named_weights(name, size):
    identity = numpy.zeros((size, size))
    identity[size // 2, size // 2] = 1
    if name == "identity":
        return identity
    if name == "box":
        return numpy.full((size, size), 1 / size**2)
    if name == "gaussian":
        return gaussian(size, 0.15 * size + 0.35)
    if name == "sharpen":
        if size == 3:
            return numpy.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
        return 2 * identity - gaussian(size, 0.15 * size + 0.35)
    smooth = {3: [1, 2, 1], 5: [1, 4, 6, 4, 1]}[size]
    difference = {3: [-1, 0, 1], 5: [-1, -2, 0, 2, 1]}[size]
    return numpy.outer(smooth, difference) if name == "sobel_x" else numpy.outer(difference, smooth)


def named(case, filter_name, size):
    weights = named_weights(filter_name, size)
    judge(case, "naive", case.floats((30, 40)), weights, words=("--filter", filter_name, "--size", size),
          exact=False)


for filter_name in ("box", "gaussian", "sobel_x", "sobel_y", "sharpen", "identity"):
    for size in (3, 5):
        lab.case(f"--filter {filter_name} --size {size}", named, filter_name=filter_name, size=size)


@lab.case("--filter box on the signal 10 20 30: zeros beyond the edge")
def box_of_signal(case):
    judge(case, "naive", numpy.float32([10, 20, 30]), numpy.full(3, 1 / 3), words=("--filter", "box", "--size", 3),
          exact=False)


# Pictures


def filter_picture(case, variant, pixels, weights, words, stride=1, padding="zero", suffix="png", exact=False):
    """Runs on a picture and compares plane by plane. `exact`: every float sum is, so none may be off."""
    got = case.compute("--variant", variant, *words, *options(padding, stride, "correlation"), inputs={"input": pixels}, kind=suffix)
    planes = [(pixels, got)] if pixels.ndim == 2 else [(pixels[..., c], got[..., c]) for c in range(3)]
    bound = 0 if exact else rounding_bound(pixels.astype(float), weights)
    for values, outputs in planes:
        case.problem = {"values": values.astype(float), "weights": weights, "padding": padding,
                        "stride": stride, "orientation": "correlation"}
        sums = exact_sums(**case.problem)
        expected = as_pixels(sums)
        if expected.shape == outputs.shape:
            either = (as_pixels(sums - bound) <= outputs) & (outputs <= as_pixels(sums + bound))
            expected = numpy.where(either, outputs, expected)
        case.compare(expected, outputs, HALVES if exact else PIXELS, diagnosers=DIAGNOSERS)


def pixels_of(case, *shape):
    return case.random.integers(0, 256, shape, dtype=numpy.uint8)


def picture(case, variant, shape, filter_name, size, stride=1, padding="zero"):
    filter_picture(case, variant, pixels_of(case, *shape), named_weights(filter_name, size),
                   ("--filter", filter_name, "--size", size), stride, padding)


def halves(case, variant):
    """Sums of 0.5, 1.5, 2.5 to 254.5, where rounding is a matter of definition; quarters; and below 0."""
    ramp = numpy.arange(256)
    pixels = numpy.stack([ramp, ramp[::-1], numpy.roll(ramp, 77), ramp, case.random.permutation(256)]).astype(numpy.uint8)
    for column, row in (((0, 1, 0), (0.5, 0.5, 0)), ((0.5, 0.5, 0), (0.5, 0.5, 0)), ((0, 1, 0), (1, -0.5, 0))):
        weights = numpy.outer(column, row).astype(numpy.float32)
        filter_picture(case, variant, pixels, weights, ("--filter-file", case.save("weights", weights)), exact=True)


for name in VARIANTS + FURTHER:
    lab.case(f"{name}: picture whose sums are halves and quarters", halves, variant=name)
    if name not in FACTORED:
        lab.case(f"{name}: picture of 61 x 83, sharpen", picture, variant=name, shape=(61, 83),
                 filter_name="sharpen", size=5)
    lab.case(f"{name}: RGB picture of 45 x 64, Gaussian", picture, variant=name, shape=(45, 64, 3),
             filter_name="gaussian", size=5)
    lab.case(f"{name}: picture of 1 x 1, box", picture, variant=name, shape=(1, 1), filter_name="box", size=3)
for name in FURTHER:
    for size in range(3, 16, 2):
        lab.case(f"{name}: picture of 40 x 336, Gaussian, {size} x {size}", picture, variant=name, shape=(40, 336),
                 filter_name="gaussian", size=size)
lab.case("naive: RGB picture of 50 x 40, sobel_x, stride 2, padding none", picture, variant="naive",
         shape=(50, 40, 3), filter_name="sobel_x", size=3, stride=2, padding="none")


@lab.case("blur is a box filter: the mean of lab 07 away from the edges", variant="naive")
def blur(case, variant):
    pixels = pixels_of(case, 40, 50)
    filter_picture(case, variant, pixels, numpy.full((5, 5), 1 / 25), ("--filter", "box", "--size", 5))
    got = case.load("output.png").astype(int)[2:-2, 2:-2]
    windows = numpy.lib.stride_tricks.sliding_window_view(pixels, (5, 5)).sum(axis=(2, 3), dtype=int)
    nearest, down = (2 * windows + 25) // 50, windows // 25
    case.expect((got == nearest).all(), "the box filter is not the mean, rounded to nearest")
    case.expect(((got - down >= 0) & (got - down <= 1)).all(), "it is further than 1 from the mean rounded down")


@lab.case("alpha is dropped, --channels 1 gives gray")
def channels(case):
    case.save("rgba.png", pixels_of(case, 20, 30, 4))
    run = case.run("--variant", "naive", "--input", "rgba.png", "--output", "rgb.png")
    case.expect("alpha" in run.stderr, "the program does not say that it drops the alpha channel")
    case.expect(case.load("rgb.png").shape == (20, 30, 3), "the result of an RGBA picture is not RGB")
    case.run("--variant", "naive", "--input", "rgba.png", "--output", "gray.png", "--channels", "1")
    case.expect(case.load("gray.png").shape == (20, 30), "--channels 1 gives no gray picture")


# The rest


@lab.case("all variants in one run, random input")
def everything(case):
    for words in ((), ("--type", "uint8", "--channels", "3"), ("--filter", "sobel_y", "--size", "3")):
        words = ("--height", 50, "--width", 60, *words)
        run = case.run(*words, status=(0, 1))
        for variant in VARIANTS + lab.further:
            if re.search(rf"^{variant} .*\bcorrect$", run.stdout, re.M):
                continue
            alone = (variant != "naive" and re.search(rf"^{variant} .*WRONG", run.stdout, re.M)
                     and case.run(*words, "--variant", variant, status=(0, 1)).status == 0)
            case.fail(f"the table has no row that calls {variant} correct" + quoted_output(run) + (
                f"\nlikely cause: alone {variant} is right, and behind other variants it is not: constant memory holds what was "
                f"loaded for the last one, and must be loaded before each (TODO 4a)" if alone else ""))
        case.expect(run.status == 0, "the program ended with status 1" + quoted_output(run))


@lab.case("what a variant cannot do is skipped, with the reason")
def skipped(case):
    for words, variant, reason in ((("--filter", "random"), "separable", "rank"),
                                   (("--filter", "sharpen"), "separable_rolling", "rank"),
                                   (("--stride", "2"), "rolling", "stride"),
                                   (("--size", "9"), "rolling", "7 x 7"),
                                   (("--stride", "2"), "register_blocking", "stride"),
                                   (("--size", "17"), "separable_blocking", "15 x 15"),
                                   (("--size", "129"), "constant", "64 KiB"),
                                   (("--size", "111"), "tiled", "48 KiB")):
        if variant not in VARIANTS + lab.further:
            continue
        run = case.run("--height", 20, "--width", 30, *words)
        case.expect(re.search(rf"^{variant} .*skipped: .*{reason}", run.stdout, re.M),
                    f"with {' '.join(words)}, {variant} is not skipped with a reason that says '{reason}'")
        case.refuses("--height", 20, "--width", 30, *words, "--variant", variant, saying=reason)


@lab.case("no rows, no columns")
def empty(case):
    for shape in ((0, 5), (5, 0), (0,)):
        nothing = numpy.zeros(shape, numpy.float32)
        got = case.compute("--variant", "naive", inputs={"input": nothing})
        case.compare(nothing, got, EXACT)


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--height --width", "-1", "many", "7x", "", "3000000000")
    case.refuses("--height", "2147483647", "--width", "2147483647", saying="memory")
    case.refuses_values("--size", "2", "4", "0", "-3", "5000", "x")
    case.refuses("--size", "4", saying="odd")
    case.refuses_values("--stride", "0", "-1", "1.5")
    case.refuses("--filter", "sobel", saying="sobel_x")
    case.refuses("--filter", "sobel_x", "--size", "1", saying="3")
    case.refuses("--padding", "same", saying="padding")
    case.refuses("--orientation", "flipped", saying="orientation")
    case.refuses("--height", "3", "--width", "9", "--padding", "none", "--size", "5", saying="5 x 5")
    case.refuses("--block", "8x8x2", saying="block")
    case.refuses("--channels", "3", saying="pictures")
    for channels in ("0", "2", "4"):
        case.refuses("--type", "uint8", "--channels", channels, saying="channels")
    for words in (("box",), ("sharpen", "--size", "3")):
        case.refuses("--filter", *words, "--sigma", "2", saying="--sigma")
    picture = ("--type", "uint8", "--variant", "naive", "--output")
    case.refuses("--height", "0", *picture, "sums.png", saying="0 x")
    case.refuses("--height", "1", "--width", "70000", *picture, "sums.jpg", saying="65535")
    case.refuses("--height", "9", "--width", "9", "--channels", "3", *picture, "sums.pgm", saying="gray")
    case.refuses("--height", "9", "--output", "sums.npy", saying="variant")
    case.refuses("--height", "9", "--variant", "naive", "--output", "sums.png", saying=".npy")
    case.refuses("--type", "uint8", "--variant", "naive", "--output", "sums.xyz", saying="sums.xyz")
    case.refuses("--variant", "naive", "--output", "no/such/sums.npy", saying="output")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good", case.floats((20, 30)))
    line = case.save("line", case.floats(20))
    case.refuses("--input", good, "--height", "20", saying="--height")
    case.refuses("--input", case.save("cube", case.floats((2, 3, 4))), saying="(2, 3, 4)")
    case.refuses("--input", case.save("double", case.floats((3, 3)).astype(float)), saying="float32")
    case.refuses("--input", good, "--filter-file", case.save("even", case.floats((3, 4))), saying="odd")
    case.refuses("--input", good, "--filter-file", line, saying="dimension")
    case.refuses("--input", line, "--filter-file", case.save("square", case.floats((3, 3))), saying="dimension")
    case.refuses("--input", line, "--filter", "sobel_y", "--size", "3", saying="signal")
    case.refuses("--input", good, "--filter-file", case.save("none", case.floats((0, 3))), saying="odd")
    case.refuses("--input", good, "--filter-file", case.save("nan", numpy.full((3, 3), numpy.nan, "f4")),
                 saying="nan")
    case.refuses("--input", good, "--filter-file", "square.npy", "--size", "3", saying="--size")
    case.refuses_broken("--input", good)
    case.refuses_broken("--input", case.save("picture.png", pixels_of(case, 9, 9)))


lab.main()
