"""Judges warp_divergence: every element after the work of its path, bit for bit, against NumPy."""

import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import counted, poisoned

TASKS = {"thread_parity": "TODO 1", "warp_parity": "TODO 2", "by_thread": "TODO 3", "by_warp": "TODO 4"}
lab = checker.Lab(__file__, tasks={**TASKS, "exchange": "TODO 5"})
EXACT = checker.Tolerance(why="whole numbers of 32 bits without a sign are exact everywhere")
PARITIES = ["thread_parity", "warp_parity"]
SWITCHES = ["by_thread", "by_warp"]
MOST_PATHS, HALF = 32, 16
lab.kernels({variant: variant for variant in ("short_branch", *PARITIES, *SWITCHES, "exchange")})


# The oracle


def worked(values, paths, rounds):
    """Each value after the rounds of its own path."""
    paths = numpy.broadcast_to(paths, values.shape).astype(numpy.uint64)
    shift = (3 + paths % 16).astype(numpy.uint32)
    factor = ((0x9E3779B1 + 0x01000192 * paths) & 0xFFFFFFFF).astype(numpy.uint32)
    values = values.view(numpy.uint32).copy()
    for _ in range(rounds):
        values = (values ^ (values >> shift)) * factor + paths.astype(numpy.uint32)
    return values.view(numpy.int32)


def by_path(x, paths, rounds):
    return worked(x, numpy.arange(x.size) % paths, rounds)


def short_branch(x):
    return numpy.where(numpy.arange(x.size) % 2, x ^ 100, x + numpy.int32(100))


def exchanged(x, rounds):
    """The array in warps, (warps, 2 halves, 16), filled up with zeros."""
    filled = numpy.zeros(-(-x.size // 32) * 32, numpy.int32)
    filled[:x.size] = x
    halves = filled.reshape(-1, 2, HALF)
    own = numpy.stack([worked(halves[:, half].copy(), half, rounds) for half in (0, 1)], axis=1)
    pair = own - numpy.roll(own, -1, axis=2)
    return (pair - pair[:, ::-1]).reshape(-1)[:x.size]


def expected_of(x, variant, paths, rounds):
    if variant == "short_branch":
        return short_branch(x)
    if variant == "exchange":
        return exchanged(x, rounds)
    return by_path(x, paths, rounds)


# Likely causes


# What a learner may write for the element of a thread, and for its path: (variant, text, function). The first of
# each variant is right. t: the thread in the grid, w: its warp, l: its lane, p: paths, i: its element.
ELEMENTS = [
    ("thread_parity", "i", lambda t, w, l, p: t),
    ("by_thread", "i", lambda t, w, l, p: t),
    ("warp_parity", "warp / 2 * 64 + 2 * lane + warp % 2", lambda t, w, l, p: w // 2 * 64 + 2 * l + w % 2),
    ("warp_parity", "thread", lambda t, w, l, p: t),
    ("warp_parity", "warp / 2 * 64 + 2 * lane", lambda t, w, l, p: w // 2 * 64 + 2 * l),
    ("warp_parity", "warp / 2 * 64 + lane + warp % 2", lambda t, w, l, p: w // 2 * 64 + l + w % 2),
    ("warp_parity", "warp * 64 + 2 * lane", lambda t, w, l, p: w * 64 + 2 * l),
    ("warp_parity", "warp * 64 + 2 * lane + warp % 2", lambda t, w, l, p: w * 64 + 2 * l + w % 2),
    ("warp_parity", "warp * 32 + 2 * lane + warp % 2", lambda t, w, l, p: w * 32 + 2 * l + w % 2),
    ("warp_parity", "warp * 32 + 2 * lane", lambda t, w, l, p: w * 32 + 2 * l),
    ("warp_parity", "2 * thread + warp % 2", lambda t, w, l, p: 2 * t + w % 2),
    ("by_warp", "(warp / paths * 32 + lane) * paths + path", lambda t, w, l, p: (w // p * 32 + l) * p + w % p),
    ("by_warp", "thread", lambda t, w, l, p: t),
    ("by_warp", "(warp / paths * paths + path) * 32 + lane", lambda t, w, l, p: (w // p * p + w % p) * 32 + l),
    ("by_warp", "(warp * 32 + lane) * paths + path", lambda t, w, l, p: (w * 32 + l) * p + w % p),
    ("by_warp", "warp / paths * 32 * paths + lane + path", lambda t, w, l, p: w // p * 32 * p + l + w % p),
    ("by_warp", "(warp / paths * 32 + lane) * paths", lambda t, w, l, p: (w // p * 32 + l) * p),
    ("by_warp", "(warp / paths + lane) * paths + path", lambda t, w, l, p: (w // p + l) * p + w % p),
    ("by_warp", "(warp / paths * 32 + lane) * paths + lane % paths",
     lambda t, w, l, p: (w // p * 32 + l) * p + l % p),
]
OF_ELEMENT, OF_WARP = {"thread_parity", "by_thread"}, {"warp_parity", "by_warp"}
PATHS = [
    (OF_ELEMENT, "i % paths", lambda t, w, l, p, i: i % p),
    (OF_WARP, "warp % paths", lambda t, w, l, p, i: w % p),
    (OF_ELEMENT, "(i + 1) % paths", lambda t, w, l, p, i: (i + 1) % p),
    (OF_WARP, "(warp + 1) % paths", lambda t, w, l, p, i: (w + 1) % p),
    (OF_ELEMENT | OF_WARP, "0 for all", lambda t, w, l, p, i: 0 * t),
    (OF_ELEMENT, "1 for all", lambda t, w, l, p, i: 0 * t + 1),
    (OF_ELEMENT, "that of its warp, i / 32 % paths", lambda t, w, l, p, i: i // 32 % p),
    (OF_ELEMENT, "i / paths", lambda t, w, l, p, i: i // p),
    (OF_ELEMENT, "i & (paths - 1)", lambda t, w, l, p, i: i & (p - 1)),
    (OF_ELEMENT, "i % 32", lambda t, w, l, p, i: i % 32),
    (OF_WARP, "lane % paths", lambda t, w, l, p, i: l % p),
    (OF_WARP, "i % 32", lambda t, w, l, p, i: i % 32),
    (OF_WARP, "warp / paths", lambda t, w, l, p, i: w // p),
    (OF_WARP, "warp", lambda t, w, l, p, i: w),
]


def shown(text, variant):
    """With the 2 that stands in the kernels of two paths."""
    return text.replace("paths", "2") if variant in PARITIES else text


def explained(expected, got, case):
    """Which element and which path give just these values, and leave just these places unwritten?"""
    variant, paths, rounds, block = (case.parameters[key] for key in ("variant", "paths", "rounds", "block"))
    if variant not in TASKS or rounds == 0 or got.size < 129:  # in fewer warps one slip looks like another
        return None
    x = case.inputs["input"]
    threads = -(-got.size // (32 * paths)) * 32 * paths
    t = numpy.arange(-(-threads // block) * block)
    w, l = t // 32, t % 32
    written, found = ~poisoned(got), []
    elements = [(text, i(t, w, l, paths)) for name, text, i in ELEMENTS if name == variant]
    ways = [(text, path) for names, text, path in PATHS if variant in names]
    for element, i in elements:
        here = i < got.size
        reached = numpy.zeros(got.size, bool)
        reached[i[here]] = True
        if (reached != written).any():
            continue
        for way, path in ways:
            values = worked(x[i[here]], path(t, w, l, paths, i)[here], rounds)
            fits = numpy.zeros(got.size, bool)
            numpy.logical_or.at(fits, i[here], got[i[here]] == values)  # where two threads store, either may be last
            if fits[reached].all():
                found.append((element, way))
    if not found:
        return both_or_none(x, expected, got, case)

    def parts(element, way):
        return [f"the {what} of a thread is {shown(wrong, variant)}, and it is to be {shown(right, variant)}"
                for what, wrong, right in (("element", element, elements[0][0]), ("path", way, ways[0][0]))
                if wrong != right]

    by_element = [pair for pair in found if pair[1] == ways[0][0]]
    by_path = [pair for pair in found if pair[0] == elements[0][0]]
    sentences = [parts(*pairs[0])[0] for pairs in (by_element, by_path) if pairs] or ["; ".join(parts(*found[0]))]
    return f"{', or '.join(sentences)} ({TASKS[variant]})"


def both_or_none(x, expected, got, case):
    """Elements that took no path, or one path after the other."""
    rounds, paths = case.parameters["rounds"], case.parameters["paths"]
    task, wrong = TASKS[case.parameters["variant"]], case.wrong
    if (got[wrong] == x[wrong]).all():
        return f"{int(wrong.sum())} elements are as they were: on one side of the branch no path is taken ({task})"
    if paths == 2 and any((got[wrong] == worked(worked(x, first, rounds), 1 - first, rounds)[wrong]).all()
                          for first in (0, 1)):
        return f"{int(wrong.sum())} elements took one path and then the other: the second belongs into an else ({task})"
    return None


def some_elements_missing(expected, got, case):
    """What is written is right, but whole classes of elements have no thread."""
    missing, variant = poisoned(got), case.parameters["variant"]
    if variant in TASKS and got.size > 1 and missing[-1] and case.wrong.sum() == 1:
        return f"the last element is not written: the bounds test is i < count ({TASKS[variant]})"
    if variant not in OF_WARP or (case.wrong & ~missing).any() or not missing.any() or missing.all():
        return None
    first = numpy.flatnonzero(missing)[:4].tolist()
    return (f"{int(missing.sum())} elements have no thread (the first: {first}). Of 32 * paths elements "
            f"warp w takes w, w + paths, w + 2 * paths and so on: one for each lane ({TASKS[variant]})")


def shares_too_early(expected, got, case):
    """Which lanes read what their neighbour had not stored yet? What they read then is the same everywhere."""
    if case.parameters["variant"] != "exchange":
        return None
    x, rounds = case.inputs["input"], case.parameters["rounds"]
    filled = numpy.concatenate([x, numpy.zeros(-x.size % 32, numpy.int32)]).reshape(-1, 2, HALF)
    own = numpy.stack([worked(filled[:, half].copy(), half, rounds) for half in (0, 1)], axis=1)
    if ((own - own[:, ::-1]).reshape(-1)[:x.size] == got).all():
        return "no value is passed round in the half warps: own[next] is not read (TODO 5)"
    wrong = numpy.concatenate([case.wrong, numpy.zeros(-x.size % 32, bool)]).reshape(-1, 2, HALF)
    if x.size % 32 and len(wrong) > 1 and not wrong[:-1].any():
        return ("only the last warp is wrong, which is not full: the threads beyond the end of the array leave before "
                "their neighbours have read from them. They are to stay, work on a zero and store nothing")
    if wrong.sum() < HALF:
        return None
    y = numpy.concatenate([got, numpy.zeros(-x.size % 32, numpy.int32)]).reshape(-1, 2, HALF)
    pair = own - numpy.roll(own, -1, axis=2)
    reasons = []
    for half, lanes, mask in ((0, "0-15", "0x0000FFFF"), (1, "16-31", "0xFFFF0000")):
        read = own[:, half] - (y[:, 0] + pair[:, 1] if half == 0 else pair[:, 0] - y[:, 0])
        if one_value(read, wrong[:, 0]):
            reasons.append(f"lanes {lanes} read own[next] before the neighbour has stored it: between the two lines of path "
                           f"{half} these lanes, and no others, are to wait, with the mask {mask} (TODO 5)")
    if one_value(numpy.where(wrong, pair - y, 0)[wrong], True):
        reasons.append("a lane reads the pair of the other half before that one has stored it: behind both paths the "
                       "whole warp is to wait, and before that each half for its own lanes only (TODO 5)")
    if len(reasons) == 1:
        return reasons[0]
    lanes = numpy.unique(numpy.flatnonzero(case.wrong) % 32)
    return (f"{len(lanes)} of the 32 lanes have wrong elements, the first is lane {lanes[0]}: somebody reads shared "
            f"memory before the other lane has written there. Waits are missing, or name the wrong lanes (TODO 5): "
            f"the own half waits before own[next] is read, the whole warp before the other half's pair is")


def one_value(values, where):
    """Is it one and the same, in several places?"""
    chosen = values[where].reshape(-1) if where is not True else values
    return chosen.size >= 8 and bool((chosen == chosen[0]).all())


DIAGNOSERS = [shares_too_early, explained, some_elements_missing]


# Which paths the threads took: one bit for each path


def bits_set(masks):
    return numpy.unpackbits(masks.view(numpy.uint8).reshape(-1, 4), axis=1).sum(axis=1)


def judge_paths(case, variant, paths):
    """One path a warp where that is the point of the kernel; else all that 32 neighbours ask for."""
    taken = case.load("taken")
    case.expect(taken.dtype == numpy.int32 and taken.ndim == 1 and taken.size % 32 == 0,
                "the recorded paths are not int32 numbers of whole warps")
    of_thread = bits_set(taken)
    if (of_thread > 1).any():
        thread = int((of_thread > 1).argmax())
        case.fail(f"the result is right, but thread {thread} took {of_thread[thread]} paths, where one would do")
    warps = taken.reshape(-1, 32)
    of_warp = bits_set(numpy.bitwise_or.reduce(warps, axis=1))
    if variant in ("warp_parity", "by_warp"):
        divergent = numpy.flatnonzero(of_warp > 1)
        if divergent.size:
            case.fail(f"the result is right, but {divergent.size} of {len(warps)} warps diverge: warp {divergent[0]} "
                      f"takes {of_warp[divergent[0]]} paths\nlikely cause: the thread takes the element of its own "
                      f"number, as in {'by_thread' if variant == 'by_warp' else 'thread_parity'}. All 32 lanes of a "
                      f"warp shall take elements of one path ({TASKS[variant]})")
    else:
        full = (warps != 0).all(axis=1)
        few = numpy.flatnonzero(full & (of_warp != min(paths, 32)))
        case.expect(few.size == 0, f"the result is right, but a warp takes {of_warp[few[:1]].sum()} paths in place of {paths}: "
                    f"here thread i takes element i, and neighbours take different paths")


# Cases


def elements(case, count):
    bounds = numpy.iinfo(numpy.int32)
    return case.random.integers(bounds.min, bounds.max, count, numpy.int32, endpoint=True)


def run(case, variant, count, paths=2, rounds=5, block=None):
    case.parameters = {"variant": variant, "paths": paths, "rounds": rounds, "block": block or 256}
    x = elements(case, count)
    words = ["--variant", variant, "--rounds", rounds, *(["--block", block] if block else [])]
    words += ["--paths", paths] if variant in SWITCHES else []
    words += ["--paths-output", "taken.npy"] if variant in PARITIES + SWITCHES else []
    got = case.compute(*words, inputs={"input": x})
    case.compare(expected_of(x, variant, paths, rounds), got, EXACT, diagnosers=DIAGNOSERS)
    if variant in PARITIES + SWITCHES:
        judge_paths(case, variant, paths)


for count in (1, 32, 1009):
    lab.case(f"short_branch: {counted(count, 'element')}", run, variant="short_branch", count=count)
for variant in PARITIES:
    for count in (1, 2, 31, 32, 33, 64, 65, 1009, 100_003):
        lab.case(f"{variant}: {counted(count, 'element')}", run, variant=variant, count=count)
    lab.case(f"{variant}: blocks of one warp", run, variant=variant, count=1009, block=32)
    lab.case(f"{variant}: blocks of 96", run, variant=variant, count=1009, block=96)
for variant in SWITCHES:
    for count in (1, 33, 1023, 1024, 1025, 100_003):
        lab.case(f"{variant}: 32 paths, {counted(count, 'element')}", run, variant=variant, count=count, paths=32)
    lab.case(f"{variant}: 5 paths, blocks of 96", run, variant=variant, count=1009, paths=5, block=96)


@lab.case("by_thread: 1 to 32 paths", variant="by_thread")
@lab.case("by_warp: 1 to 32 paths", variant="by_warp")
def every_number_of_paths(case, variant):
    for paths in range(1, MOST_PATHS + 1):
        run(case, variant, 2003, paths=paths, rounds=3)


for count in (1, 15, 16, 17, 31, 32, 33, 1009, 100_003):
    lab.case(f"exchange: {counted(count, 'element')}", run, variant="exchange", count=count)
lab.case("exchange: blocks of one warp", run, variant="exchange", count=1009, block=32)
lab.case("exchange: blocks of 1024", run, variant="exchange", count=5000, block=1024)
lab.case("no rounds: the values as they are", run, variant="by_warp", count=1009, paths=32, rounds=0)
lab.case("a thousand rounds", run, variant="warp_parity", count=257, rounds=1000)

for variant in (*PARITIES, *SWITCHES, "exchange"):
    lab.case(f"{variant}: 4 Mi elements", run, variant=variant, count=1 << 22, on_cpu={"count": 1 << 19},
             paths=32 if variant in SWITCHES else 2, rounds=3, quick=False)


@lab.case("a size, a block and a number of paths nobody knows before, all variants", fresh=True)
def fresh(case):
    count, block = int(case.random.integers(1, 20_000)), 32 * int(case.random.integers(1, 33))
    paths, rounds = int(case.random.integers(3, 33)), int(case.random.integers(1, 12))
    for variant in ("short_branch", *PARITIES, *SWITCHES, "exchange"):
        run(case, variant, count, paths if variant in SWITCHES else 2, rounds, block)


@lab.case("exchange: the same twenty times over")
def repeated(case):
    for _ in range(20):
        run(case, "exchange", 4096, rounds=9)


lab.watched("no race between lanes", [["--elements", 1009, "--rounds", 2, "--variant", "exchange"]])


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--elements", 3000, "--rounds", 4)
    names = ["short_branch", *PARITIES, "exchange"]
    names += [f"{variant} {1 << k} paths" for variant in SWITCHES for k in range(6)]
    case.calls_correct(run, names)


@lab.case("no elements")
def empty(case):
    nothing = numpy.zeros(0, numpy.int32)
    for words in (["thread_parity"], ["by_warp", "--paths", 7, "--paths-output", "taken.npy"], ["exchange"]):
        got = case.compute("--variant", *words, inputs={"input": nothing})
        case.compare(nothing, got, EXACT)
    case.compare(nothing, case.load("taken"), EXACT)


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--elements", "-1", "many", "", "2Gi", "99999999999999999999")
    case.refuses_values("--rounds", "-1", "1.5", "10000000")
    case.refuses_values("--paths", "0", "33", "-2", "two")
    for block in ("16", "48", "32x2", "2048", "0", "32x1x2"):
        case.refuses("--elements", "9", "--block", block, saying="block")
    case.refuses("--variant", "by_block", saying="variant")
    case.refuses("--elements", "9", "--output", "y.npy", saying="output")
    case.refuses("--elements", "9", "--variant", "by_warp", "--output", "y.npy", saying="paths")
    case.refuses("--elements", "9", "--variant", "exchange", "--output", "no/such/y.npy", saying="output")
    case.refuses("--elements", "9", "--variant", "exchange", "--paths-output", "p.npy", saying="paths-output")
    case.refuses("--elements", "9", "--variant", "by_warp", "--paths-output", "p.npy", saying="--paths")


@lab.case("bad input files")
def bad_files(case):
    x = elements(case, 100)
    good = case.save("x", x)
    case.refuses("--input", good, "--elements", "100", saying="elements")
    case.refuses("--input", case.save("long", x.astype(numpy.int64)), saying="int32")
    case.refuses("--input", case.save("matrix", x.reshape(10, 10)), saying="matrix")
    case.refuses_broken("--input", good)


lab.main()
