"""Judges synchronization: sums and histograms of every variant against NumPy, and the repaired demos.

Whole numbers whose magnitudes add up to no more than 2^24 have an exact sum in float, in whatever order
they are added. So most sums are judged without any tolerance, and not one lost number goes unseen.
"""

import os
import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned

lab = checker.Lab(__file__)
SUMS = ["global_atomics", "shared_tree", "warp_shuffles", "vectorised", "two_stages"]
HISTOGRAMS = ["global_atomics", "shared_copy", "warp_copies", "lane_copies"]
BLOCK, WARP = 256, 32
TILE = 4096  # elements of a tile of `vectorised`
MOST_PARTS = 1024  # of `two_stages`
EXACT_SUM = checker.Tolerance(why="whole numbers of at most 2^24 in all: float adds them exactly, in any order")
EXACT_COUNT = checker.Tolerance(why="counts are whole numbers")


# Likely causes: sums


def whole_numbers(case, count):
    """Random whole numbers, of any sign, whose exact sum float can hold in any order."""
    most = max(1, min(1000, (1 << 24) // max(count, 1)))
    return case.random.integers(-most, most + 1, count).astype(numpy.float32)


def padded(values, to):
    return numpy.concatenate([values, numpy.zeros(-len(values) % to, values.dtype)]).reshape(-1, to)


def one_too_many(x, ahead):
    """The tree of each block with `threadIdx.x <= stride`; where `ahead`, thread `stride` adds before thread 0."""
    part = numpy.concatenate([padded(x, BLOCK), numpy.zeros((-(-len(x) // BLOCK), 1))], axis=1)
    stride = BLOCK // 2
    while stride:
        threads = [(0, stride), (stride, stride + 1)]
        for first, last in reversed(threads) if stride in ahead else threads:
            part[:, first:last] += part[:, first + stride:last + stride]
        stride //= 2
    return part[:, 0].sum()


def wrong_sums(values, count, blocks_of_grid):
    """Sentence -> the sum of the first `count` values that a slip gives."""
    x = values[:count].astype(float)
    blocks, warps = padded(x, BLOCK), padded(x, WARP)
    if not len(x):
        return
    yield "the last partial block is missing: is the grid rounded up?", x[:count // BLOCK * BLOCK].sum()
    yield "only block 0 is in the sum", blocks[0].sum()
    yield ("only the first element of each block is in the sum: do its threads add up what they have (TODO 2, or "
           "TODO 3 and 4)?", blocks[:, 0].sum())
    yield ("only lane 0 of each warp is in the sum: do the lanes hand over their values (TODO 3)?",
           warps[:, 0].sum())
    yield ("only the first warp of each block is in the sum: do the sums of the other warps arrive (TODO 4)?",
           blocks[:, :WARP].sum())
    yield "the last step of the tree, stride 1, is missing (TODO 2)", blocks[:, ::2].sum()
    yield "the first step of the tree, stride blockDim.x / 2, is missing (TODO 2)", blocks[:, :BLOCK // 2].sum()
    for ahead in ((128, 32, 8, 2), (64, 16, 4, 1), (128, 64, 32, 16, 8, 4, 2, 1)):
        yield ("one thread too many adds in each step of the tree: the first `stride` threads are those with "
               "threadIdx.x < stride (TODO 2)", one_too_many(x, ahead))
    yield ("the last step of the shuffles, offset 1, is missing (TODO 3)",
           blocks.reshape(-1, BLOCK // WARP, WARP)[:, ::2, ::2].sum())
    yield ("the first step of the shuffles, offset 16, is missing (TODO 3)", warps[:, :WARP // 2].sum())
    tiles = count // TILE * TILE
    if count > BLOCK * TILE:
        of_tile = x[:tiles].reshape(-1, TILE).sum(axis=1)
        part = numpy.arange(len(of_tile)) % min(-(-count // TILE), MOST_PARTS)
        yield ("the parts behind the first 256 are missing: how many warps has the block that adds the parts? Not "
               "always block_size / warp_size (TODO 4)", x.sum() - of_tile[part >= BLOCK].sum())
    if blocks_of_grid * TILE < tiles:
        yield ("only the first tile of each block is in the sum: does it go on to tile + gridDim.x (TODO 5)?",
               x.sum() - x[blocks_of_grid * TILE:tiles].sum())
    if tiles:
        yield "only what no whole tile holds is in the sum: are the tiles added (TODO 5)?", x[tiles:].sum()
        yield "only whole tiles are in the sum: the elements behind the last one are missing", x[:tiles].sum()
        vectors = padded(x[:tiles], 4)
        for k, member in enumerate("xyzw"):
            yield f"member {member} of the vectors is missing (TODO 5)", x.sum() - vectors[:, k].sum()
        yield ("only member x of the vectors is in the sum (TODO 5)", vectors[:, 0].sum() + x[tiles:].sum())
    yield "the last element is missing", x[:-1].sum()
    yield "the first element is missing", x[1:].sum()
    yield "every element is in the sum twice", 2 * x.sum()


def nothing_added(expected, got, case):
    if got.size and (got == 0).all() and (expected != 0).any():
        return f"every sum is 0: does {case.parameters['variant']} add anything to *sum?"
    return None


def explained_sum(expected, got, case):
    """Which slip gives just the sums that were found?"""
    values, sizes = case.inputs["input"], case.sizes
    places = numpy.argwhere(case.wrong)
    places = places[numpy.linspace(0, len(places) - 1, min(len(places), 5)).astype(int)]
    row = re.search(rf"^{case.parameters['variant']} +(\d+)", case.last_run.stdout, re.M)
    grid = int(row[1]) if row and len(sizes) == 1 else 1 << 40
    slips = [list(wrong_sums(values, sizes[column], grid)) for _, column in places]
    for sentence in dict(slips[0]):
        if all((sentence, got[row, column]) in slip for slip, (row, column) in zip(slips, places)):
            return sentence
    return None


def from_a_size_on(expected, got, case):
    """Small arrays are right and larger ones are not."""
    wrong = case.wrong.any(axis=0)
    first = case.sizes[int(wrong.argmax())]
    if first > 1 and len(case.sizes) > 2:
        unit = {WARP + 1: "a warp", BLOCK + 1: "a block", TILE: "a tile"}.get(first, "")
        if unit:
            return f"the sums are wrong from {first} elements on: what happens when there is more than {unit}?"
    return None


def lost_updates(expected, got, case):
    """Where every element is 1, the sum tells how many arrived."""
    if case.parameters["variant"] != "global_atomics" or not numpy.isfinite(got).all():
        return None
    if not (case.inputs["input"] == 1).all() or not (got <= expected).all():
        return "some elements have not arrived in the sum: were updates lost? Is it an atomic (TODO 1)?"
    worst = numpy.unravel_index((expected - got).argmax(), got.shape)
    return (f"only {got[worst]:.0f} of {expected[worst]:.0f} elements have arrived: an update was lost. Is it an "
            "atomic (TODO 1)?")


def differs_from_run_to_run(expected, got, case):
    if got.shape[0] > 1 and (got != got[0]).any():
        return ("the same sum comes out differently from run to run: two threads use a place in memory, one of "
                "them writes, and neither an atomic nor a barrier is between them")
    return None


def not_a_sum(expected, got, case):
    if poisoned(got)[case.wrong].all():
        return (f"{case.parameters['variant']} stored no sum, or added shared memory that nobody had written: "
                "does a barrier stand between writing and reading it (TODO 2, TODO 4)?")
    if numpy.isnan(got[case.wrong]).all():
        return "the sum is not a number: shared memory is read before it is written. Is there a barrier between?"
    return None


SUM_DIAGNOSERS = [not_a_sum, nothing_added, explained_sum, lost_updates, differs_from_run_to_run, from_a_size_on]


# Likely causes: histograms


def wrong_counts(data, count):
    x = data[:count]
    whole = count // 16 * 16
    yield "only the whole vectors of 16 bytes are counted; the last bytes are missing", x[:whole]
    yield "only the bytes behind the last whole vector are counted (TODO 7)", x[whole:]
    yield "only one byte of each four is counted (TODO 7)", numpy.concatenate([x[:whole:4], x[whole:]])
    yield "the last byte is missing", x[:-1]


def explained_counts(expected, got, case):
    data, sizes = case.inputs["input"], case.sizes
    row, column, _ = numpy.argwhere(case.wrong)[-1]
    found = got[row, column]
    for sentence, counted in wrong_counts(data, sizes[column]):
        if (found == numpy.bincount(counted, minlength=256)).all():
            return sentence
    if (found == 0).all():
        return f"nothing is counted: does {case.parameters['variant']} add to counts?"
    if (found[1:] == expected[row, column][:-1]).all():
        return "each bin holds the count of the byte before it: an index is off by one"
    if found.sum() < expected[row, column].sum():
        return (f"{found.sum():.0f} of {expected[row, column].sum():.0f} bytes are counted: is a count an atomic, "
                "is the copy set to zero before the first (a barrier!), and is it complete when it is added up?")
    if found.sum() > expected[row, column].sum():
        return (f"{found.sum():.0f} counts for {expected[row, column].sum():.0f} bytes: is the copy set to zero by "
                "all threads, with a barrier behind it, and is each byte counted by one thread?")
    return "the counts are those of other bytes: how does a byte become the index of its bin?"


COUNT_DIAGNOSERS = [explained_counts]


# Cases


def add(case, variant, values, repeat=1, step=0):
    """All sums of one run of the program, judged exactly."""
    case.sizes = list(range(step, len(values) + 1, step)) if step else [len(values)]
    got = case.compute("--variant", variant, "--repeat", repeat, "--step", step, inputs={"input": values})
    prefixes = numpy.concatenate([[0], numpy.cumsum(values, dtype=numpy.float64)])[case.sizes]
    expected = numpy.tile(prefixes.astype(numpy.float32), (repeat, 1))
    case.compare(expected, got, EXACT_SUM, diagnosers=SUM_DIAGNOSERS)


def count_bytes(case, variant, data, repeat=1, step=0):
    case.sizes = list(range(step, len(data) + 1, step)) if step else [len(data)]
    got = case.compute("--problem", "histogram", "--variant", variant, "--repeat", repeat, "--step", step,
                       inputs={"input": data})
    rows, begin, so_far = [], 0, numpy.zeros(256)
    for size in case.sizes:
        so_far = so_far + numpy.bincount(data[begin:size], minlength=256)
        begin = size
        rows.append(so_far)
    expected = numpy.tile(numpy.array(rows), (repeat, 1, 1))
    case.compare(expected, got, EXACT_COUNT, diagnosers=COUNT_DIAGNOSERS)


def sum_case(case, variant, count, step=0, on_cpu=None):
    """`on_cpu`: another count, or another step, where threads cost more than on a card."""
    if case.backend == "cpu" and on_cpu:
        count, step = on_cpu
    add(case, variant, whole_numbers(case, count), step=step)


def one_to_4096(case, variant, repeats_on_cpu):
    """1 + 2 + ... + 4096 = 8390656, every time."""
    repeat = 1000 if case.backend == "gpu" else repeats_on_cpu
    add(case, variant, numpy.arange(1, 4097, dtype=numpy.float32), repeat=repeat)


def float_sum(case, variant, count):
    values = case.floats(count, 0, 100)
    magnitude = float(numpy.abs(values.astype(float)).sum())
    depth = count if variant == "global_atomics" else -(-count // BLOCK) + 64
    tolerance = checker.Tolerance(absolute=depth * 2.0**-24 * magnitude, why=(
        f"an element goes through at most {depth} additions, and each rounds by no more than 2^-24 of sum |x|"))
    case.sizes = [count]
    got = case.compute("--variant", variant, inputs={"input": values})
    expected = values.astype(float).sum().astype(numpy.float32).reshape(1, 1)
    case.compare(expected, got, tolerance, diagnosers=SUM_DIAGNOSERS)


def histogram_case(case, variant, count, step=0, repeat=1, on_cpu=None):
    if case.backend == "cpu" and on_cpu:
        count, step = on_cpu
    count_bytes(case, variant, case.random.integers(0, 256, count, dtype=numpy.uint8), repeat, step)


for variant in SUMS:
    lab.case(f"{variant}: 1 element", sum_case, variant=variant, count=1)
    lab.case(f"{variant}: all sizes from 1 to 700", sum_case, variant=variant, count=700, step=1)
    lab.case(f"{variant}: sizes to 13000, every 97th", sum_case, variant=variant, count=13_000, step=97)
    lab.case(f"{variant}: sizes from 1 to 5000, all on a card, every 7th on the CPU", sum_case, variant=variant,
             count=5000, step=1, on_cpu=(5000, 7), quick=False)
    lab.case(f"{variant}: 1 to 4096, again and again", one_to_4096, variant=variant, repeats_on_cpu=20)
    floats = 1003 if variant == "global_atomics" else 100_003  # one long chain: its bound is soon worth nothing
    lab.case(f"{variant}: {floats} random floats", float_sum, variant=variant, count=floats)
    lab.case(f"{variant}: 16 Mi elements and one (on the CPU 1 Mi)", sum_case, variant=variant,
             count=(1 << 24) + 1, on_cpu=((1 << 20) + 1, 0), quick=False)

MORE_TILES = (1 << 20) + 40 * TILE + 1  # than a Tesla T4 runs blocks at once, and more than 256 parts
for variant in ("vectorised", "two_stages"):
    lab.case(f"{variant}: more tiles than blocks, more parts than threads", sum_case, variant=variant,
             count=(1 << 23) + TILE + 1, on_cpu=(MORE_TILES, 0))


@lab.case("global_atomics: no update is lost between blocks", variant="global_atomics")
def no_lost_update(case, variant):
    """On the CPU two cores have to run two blocks at once, so there are many blocks, many times."""
    if case.backend == "cpu" and (len(os.sched_getaffinity(0)) < 2 or os.environ.get("CUDA_CPU_THREADS") == "1"):
        raise checker.Skipped("on one core the blocks run in turn and lose no update: whether TODO 1 is an atomic "
                              "is not judged here")
    add(case, variant, numpy.ones(1 << 18, numpy.float32), repeat=40)


for variant in HISTOGRAMS:
    lab.case(f"histogram, {variant}: all sizes from 1 to 70", histogram_case, variant=variant, count=70, step=1)
    lab.case(f"histogram, {variant}: sizes to 70000, every 9973rd", histogram_case, variant=variant,
             count=70_000, step=9973, repeat=2)
    lab.case(f"histogram, {variant}: sizes from 1 to 5000, all on a card, every 97th on the CPU", histogram_case,
             variant=variant, count=5000, step=1, on_cpu=(5000, 97), quick=False)
    lab.case(f"histogram, {variant}: 16 Mi bytes and one (on the CPU 1 Mi)", histogram_case, variant=variant,
             count=(1 << 24) + 1, on_cpu=((1 << 20) + 1, 0), quick=False)


@lab.case("histogram: equal bytes, every byte once, two bytes in turn")
def particular_bytes(case):
    for variant in HISTOGRAMS:
        case.parameters = {"variant": variant}
        for data in (numpy.full(10_007, 255, numpy.uint8), numpy.arange(256, dtype=numpy.uint8),
                     numpy.tile(numpy.array([0, 32], numpy.uint8), 5003)):
            count_bytes(case, variant, data)


@lab.case("two_stages: the same bits in every run, on every card")
def reproducible(case):
    values = case.floats(50_021, -1, 1)
    sums = []
    for card in ("t4", "h100"):
        sums.append(case.compute("--variant", "two_stages", "--repeat", 5, inputs={"input": values},
                                 env={"CUDA_CPU_DEVICE": card}).ravel())
    sums = numpy.concatenate(sums)
    case.expect(len(set(sums.tolist())) == 1, f"the sums of the same floats differ: {sorted(set(sums.tolist()))}")
    case.expect(abs(float(sums[0]) - float(values.astype(float).sum())) <= 0.05, "the sum is wrong")


@lab.case("an infinite element")
def infinite(case):
    for variant in SUMS:
        case.parameters, case.sizes = {"variant": variant}, [5000]
        values = numpy.ones(5000, numpy.float32)
        values[4321] = numpy.inf
        got = case.compute("--variant", variant, inputs={"input": values})
        case.compare(numpy.full((1, 1), numpy.inf, numpy.float32), got, EXACT_SUM)


@lab.case("a size nobody knows before, all variants", fresh=True)
def fresh(case):
    count = int(case.random.integers(1, 30_000))
    for variant in SUMS:
        case.parameters = {"variant": variant}
        add(case, variant, whole_numbers(case, count), repeat=3)
    for variant in HISTOGRAMS:
        case.parameters = {"variant": variant}
        count_bytes(case, variant, case.random.integers(0, 256, count, dtype=numpy.uint8), repeat=3)


@lab.case("all variants in one run, random input")
def everything(case):
    for problem, variants in (("sum", SUMS), ("histogram", HISTOGRAMS)):
        run = case.run("--problem", problem, "--elements", 3000)
        for variant in variants:
            case.expect(re.search(rf"^{variant} .*\bcorrect$", run.stdout, re.M),
                        f"the table of the {problem} has no row that calls {variant} correct")


@lab.case("no elements")
def empty(case):
    for variant in SUMS:
        got = case.compute("--variant", variant, inputs={"input": numpy.zeros(0, numpy.float32)})
        case.compare(numpy.zeros((1, 1), numpy.float32), got, EXACT_SUM)
    for variant in HISTOGRAMS:
        got = case.compute("--problem", "histogram", "--variant", variant,
                           inputs={"input": numpy.zeros(0, numpy.uint8)})
        case.compare(numpy.zeros((1, 1, 256)), got, EXACT_COUNT)


def demo(case, demonstration, counts, count):
    """The repaired kernel's number; the racy one may print what it likes, and has to say so."""
    run = case.run("--demo", demonstration, "--elements", count)
    expected = count if counts else int((numpy.arange(count) % 1000).sum())
    found = re.search(r"^repaired: +(\d+)$", run.stdout, re.M)
    case.expect(found, "the demo prints no line `repaired: NUMBER`")
    case.expect(re.search(r"^racy: may be wrong: +\d+$", run.stdout, re.M), "the demo does not say that it is racy")
    case.expect(int(found[1]) == expected,
                f"the repaired kernel gives {found[1]}, expected {expected} "
                f"({'TODO 1: one atomic a thread' if counts else 'TODO 2: a barrier in every step, for all threads'})")


for word, counts in (("lost_update", True), ("lost_update_in_shared", True), ("missing_barrier", False)):
    lab.case(f"demo {word}, repaired", demo, demonstration=word, counts=counts, count=10_007)


@lab.case("demos of no elements, and of one")
def small_demos(case):
    for word, counts in (("lost_update", True), ("lost_update_in_shared", True), ("missing_barrier", False)):
        for count in (0, 1):
            demo(case, word, counts, count)


@lab.case("demo conditional_barrier: CPU mode names the line")
def conditional_barrier(case):
    if case.backend != "cpu":
        return  # what a card does there is not defined: it may hang
    run = case.run("--demo", "conditional_barrier", "--elements", 512, status=1)
    case.expect("reach this barrier" in run.stderr, "CPU mode does not name the barrier that some threads never reach")


@lab.case("bad arguments")
def bad_arguments(case):
    for value in ("-1", "many", "", "99999999999999999999", "300Gi"):
        case.refuses("--elements", value, saying="elements")
    case.refuses("--elements", "200Gi", saying="memory")
    case.refuses("--variant", "lane_copies", saying="variant")
    case.refuses("--problem", "histogram", "--variant", "shared_tree", saying="variant")
    case.refuses("--problem", "product", saying="problem")
    case.refuses("--demo", "lost", saying="demo")
    case.refuses("--repeat", "0", saying="repeat")
    case.refuses("--data", "equal", saying="data")
    case.refuses("--elements", "9", "--output", "sum.npy", saying="variant")
    case.refuses("--elements", "9", "--step", "10", saying="step")
    case.refuses("--elements", "9", "--variant", "vectorised", "--output", "no/such/sum.npy", saying="output")
    case.refuses("--demo", "lost_update", "--variant", "vectorised", "--output", "sum.npy", saying="demo")
    for option, value in (("csv", "times.csv"), ("input", "values.npy"), ("repeat", 2), ("step", 1),
                          ("variant", "vectorised"), ("problem", "histogram"), ("data", "equal")):
        case.save("values", numpy.ones(9, numpy.float32))
        case.refuses("--demo", "lost_update", f"--{option}", value, saying=option)
    case.refuses("--demo", "missing_barrier", "--elements", "200Gi", saying="elements")
    case.refuses("--elements", "9", "--repeat", "2", "--csv", "times.csv", saying="csv")
    case.refuses("--elements", "9", "--step", "3", "--csv", "times.csv", saying="csv")
    case.refuses("--elements", "0", "--csv", "times.csv", saying="csv")


@lab.case("more results than there is memory")
def many_results(case):
    """Repeats times sizes times the length of a result, refused before anything is computed."""
    case.refuses("--repeat", "1Mi", "--step", "1", "--elements", "1Mi", "--variant", "two_stages", saying="memory")
    case.refuses("--repeat", "1Mi", "--step", "1", "--elements", "1Mi", "--problem", "histogram", saying="memory")


@lab.case("bad input files")
def bad_files(case):
    values = case.floats(100)
    good = case.save("values", values)
    case.refuses("--input", good, "--elements", "100", saying="elements")
    case.refuses("--input", good, "--problem", "histogram", saying="uint8")
    case.refuses("--input", case.save("bytes", numpy.zeros(9, numpy.uint8)), saying="float32")
    case.refuses("--input", case.save("double", values.astype(float)), saying="float32")
    case.refuses("--input", case.save("matrix", values.reshape(10, 10)), saying="matrix")
    case.refuses("--input", good, "--step", "101", saying="step")
    case.refuses("--input", "absent.npy", saying="absent")
    (case.folder / "cut.npy").write_bytes((case.folder / good).read_bytes()[:-40])
    case.refuses("--input", "cut.npy", saying="cut")


lab.main()
