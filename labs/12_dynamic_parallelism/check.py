"""Judges dynamic_parallelism: the lines of nested grids, and the Mandelbrot set pixel by pixel.

The dwells are computed here by NumPy, with the same roundings. The adaptive variants fill a rectangle
whose border has one dwell. Between the pixels of a border something thinner may enter, so in a few
pictures their result differs from the direct one, and rightly. So the rectangles are cut and filled here
as well; that tells every pixel, and how many are computed and how many grids are launched for them.
"""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned
from checker.diagnose import Fact
from checker.record import is_called

lab = checker.Lab(__file__, tasks={"device_launches": "TODO 4", "host_levels": "TODO 5", "device_levels": "TODO 5 and 6"})
ADAPTIVE = ["device_launches", "device_levels", "host_levels"]
VARIANTS = ["direct", *ADAPTIVE]
THREADS = 128  # of a block that settles a rectangle
lab.kernels({"direct": "direct", "device_launches": "subdivide", "host_levels": ("list_first_level", "settle_level"),
             "device_levels": ("list_first_level", "launch_levels", "settle_level")})
EXACT = checker.Tolerance(why="a dwell is a whole number, and every operation is rounded as in NumPy")
TILE, SMALLEST = 64, 16  # the program's defaults
WHOLE_SET = (-0.7, 0.0, 2.8)  # the middle, x and y, and the longer side
VALLEY = (-0.7463, 0.1102, 0.006)
THIN = (-1.074, 0.25, 2.8)  # here two pixels lie in rectangles that something thinner than a pixel enters


# The oracle


def dwells_of(height, width, limit, x, y, span):
    """How many steps each pixel's point takes to leave the circle of radius 2."""
    step = span / max(height, width, 1)
    left, top = x - step * ((width - 1) / 2), y - step * ((height - 1) / 2)
    c_real = numpy.broadcast_to(left + numpy.arange(width) * step, (height, width)).ravel()
    c_imaginary = numpy.repeat(top + numpy.arange(height) * step, width)
    dwells = numpy.zeros(height * width, numpy.int32)
    active = numpy.arange(height * width)
    real, imaginary = numpy.zeros(active.size), numpy.zeros(active.size)
    for _ in range(limit):
        real_squared, imaginary_squared = real * real, imaginary * imaginary
        stays = real_squared + imaginary_squared <= 4
        active, c_real, c_imaginary = active[stays], c_real[stays], c_imaginary[stays]
        if not active.size:
            break
        real, imaginary = real[stays], imaginary[stays]
        imaginary = (real + real) * imaginary + c_imaginary
        real = (real_squared[stays] - imaginary_squared[stays]) + c_real
        dwells[active] += 1
    return dwells.reshape(height, width)


def parts(row, column, height, width, rows, columns):
    for i in range(rows):
        for j in range(columns):
            top, bottom = height * i // rows, height * (i + 1) // rows
            left, right = width * j // columns, width * (j + 1) // columns
            yield row + top, column + left, bottom - top, right - left


@dataclass
class Work:
    """What the adaptive variants give, from the dwells of all pixels, and what they do for it."""

    dwells: numpy.ndarray
    pixels: int = 0  # that are computed
    cuts: int = 0
    levels: int = 0  # that have a rectangle
    filled: list = field(default_factory=list)  # the insides that are filled: row, column, height, width
    small: list = field(default_factory=list)  # those that are computed


def adaptive_work(dwells, tile, smallest, again=False):
    """Cuts and fills as the variants do; `again`: the parts are those of the whole rectangle, border and all."""
    work = Work(dwells.copy())
    margin = 0 if again else 1
    waiting = [(1, *part) for part in first_rectangles(dwells, tile)]
    while waiting:
        level, row, column, height, width = waiting.pop()
        block = dwells[row:row + height, column:column + width]
        border = numpy.concatenate([block[0], block[-1], block[:, 0], block[:, -1]])
        inside = max(height - 2, 0) * max(width - 2, 0)
        work.levels = max(work.levels, level)
        work.pixels += height * width - inside
        if (border == border[0]).all():
            work.dwells[row:row + height, column:column + width] = border[0]
            work.filled.append(inner((row, column, height, width)))
        elif min(height, width) > smallest:
            work.cuts += 1
            waiting += [(level + 1, *part) for part in parts(row + margin, column + margin, height - 2 * margin,
                                                             width - 2 * margin, 2, 2)]
        else:
            work.pixels += inside
            work.small.append(inner((row, column, height, width)))
    return work


def most_levels(tile, smallest):
    levels = 1
    while tile > smallest:
        tile, levels = (tile - 1) // 2, levels + 1
    return levels


# Likely causes


def first_rectangles(got, tile):
    return list(parts(0, 0, *got.shape, -(-got.shape[0] // tile), -(-got.shape[1] // tile)))


def insides_of(rectangles, shape):
    """True in these rectangles."""
    inside = numpy.zeros(shape, bool)
    for row, column, height, width in rectangles:
        inside[row:row + height, column:column + width] = True
    return inside


def unfilled(expected, got, case):
    """Borders are there, insides are not."""
    variant, missing = case.parameters["variant"], poisoned(got)
    if variant == "direct" or got.shape != expected.shape or (case.wrong & ~missing).any():
        return None
    work = adaptive_work(case.direct, case.tile, case.smallest)
    filled, alike = work.filled, insides_of(work.filled, got.shape)
    if (missing == insides_of(work.small, got.shape)).all():
        return "rectangles too small to be cut stay empty inside: must_be_cut computes them, by compute_inside (it is no task)"
    if not (missing & ~alike).any():
        if (missing == alike).all():
            return "rectangles whose border has one dwell are not filled (TODO 3)"
        return Fact("rectangles whose border has one dwell are filled in part: a thread takes the pixels threadIdx.x, "
                    "threadIdx.x + blockDim.x and so on of the inside, and stores to those places (TODO 3)")
    first = list(first_rectangles(got, case.tile))
    if any(missing[row, column:column + width].any() for row, column, height, width in first):
        return Fact("whole rectangles are missing, border and all")
    at_once = [inner(part) for part in first if inner(part) in filled]
    if not (missing & insides_of(at_once, got.shape)).any():
        cut = [inner(part) for part in first if inner(part) not in filled and min(part[2:]) > case.smallest]
        if cut and all(missing[row:row + height, column + width - 1].all() and missing[row + height - 1, column:column + width].all()
                       and not missing[row, column] for row, column, height, width in cut):
            return ("rectangles that are cut stay empty along their sides: the four parts are to be those of inside_of(mine), "
                    f"which begins one row and one column further in ({'TODO 4' if variant == 'device_launches' else 'TODO 5'})")
        if not any(missing[row, column] for part in cut for row, column, _, _ in parts(*part, 2, 2)):
            return Fact("the parts of the rectangles that are cut have borders, and some of their insides are empty")
        words = {"device_launches": "the four parts are not all launched (TODO 4)",
                 "host_levels": "the four parts do not get into the list of the next level (TODO 5)",
                 "device_levels": "the four parts do not get into the list of the next level (TODO 5), or that level is "
                                  "not launched (TODO 6)"}
        return f"rectangles that are cut stay empty inside: {words[variant]}"
    return "borders are computed, and no inside is filled (TODO 3) or cut further (TODO 4 to 6)"


def inner(rectangle):
    row, column, height, width = rectangle
    return row + 1, column + 1, max(height - 2, 0), max(width - 2, 0)


def nothing_launched(expected, got, case):
    if got.size and poisoned(got).all() and case.parameters["variant"] == "device_levels":
        return "not one pixel was written: launch_levels launches no settle_level (TODO 6)"
    return None


# Where a learner may store the dwell of an inside: r and c are a pixel's row and column, i its number in the inside.
PLACES = [
    ("pixel.row * inside.width + pixel.column", lambda r, c, i, whole, inside: r * inside[1] + c),
    ("pixel.row * view.height + pixel.column", lambda r, c, i, whole, inside: r * whole[0] + c),
    ("pixel.column * view.width + pixel.row", lambda r, c, i, whole, inside: c * whole[1] + r),
    ("i, its number in the rectangle", lambda r, c, i, whole, inside: i),
]


def filled_elsewhere(expected, got, case):
    """The insides are empty, and what lies where it should not lies just where another index puts it."""
    if case.parameters["variant"] == "direct" or got.shape != expected.shape:
        return None
    filled = adaptive_work(case.direct, case.tile, case.smallest).filled
    insides, wrong, missing = insides_of(filled, got.shape).ravel(), case.wrong.ravel(), poisoned(got).ravel()
    if (missing & ~insides).any() or not (wrong & ~missing).any():
        return None
    for text, place in PLACES:
        hit = numpy.zeros(got.size, bool)
        for row, column, height, width in filled:
            r, c = numpy.mgrid[row:row + height, column:column + width].reshape(2, -1)
            places = place(r, c, numpy.arange(r.size), got.shape, (height, width))
            hit[places[places < got.size]] = True
        if not (wrong & ~missing & ~hit).any() and not (insides & ~hit & ~missing).any():
            return f"the dwell of an inside is stored at {text}: it is to be pixel.row * view.width + pixel.column (TODO 3)"
    return None


def computed_not_filled(expected, got, case):
    if case.parameters["variant"] != "direct" and numpy.array_equal(got, case.direct):
        return ("these are the pixels' own dwells, so they were computed, although the border around them has one "
                "dwell: fill_inside stores the dwell that it is given (TODO 3)")
    return None


def filled_wrongly(expected, got, case):
    """Only insides that are filled are wrong, and what lies there is not what their borders have."""
    if case.parameters["variant"] == "direct" or got.shape != expected.shape:
        return None
    wrong = case.wrong
    filled = insides_of(adaptive_work(case.direct, case.tile, case.smallest).filled, got.shape)
    if (wrong & ~filled).any() or poisoned(got)[wrong].any():
        return None
    values = numpy.unique(got[wrong])
    stored = f"{values[0]}{' (view.limit)' if values[0] == case.limit else ''}" if values.size == 1 else "other values"
    return f"fill_inside stores {stored} in place of the dwell that it is given (TODO 3)"


def filled_too_soon(expected, got, case):
    """Insides that have one dwell, that of their corner, although the border has several."""
    if case.parameters["variant"] == "direct" or got.shape != expected.shape or not case.wrong.any():
        return None
    for part in first_rectangles(got, case.tile):
        row, column, height, width = part
        block, (top, left, rows, columns) = got[row:row + height, column:column + width], inner(part)
        inside = (slice(top, top + rows), slice(left, left + columns))
        if case.wrong[inside].any() and not case.wrong[row, column] and (got[inside] == block[0, 0]).all():
            return ("a rectangle whose border has several dwells is filled with that of its corner: in must_be_cut each thread has a "
                    "part of the border to compare, and all threads must find it alike (it is no task)")
    return None


def hangs_on_the_order(expected, got, case):
    """In CPU mode: what a level lists is right in one order, and not in another, or with several cores."""
    variant = case.parameters["variant"]
    if variant not in ("device_levels", "host_levels"):
        return None
    forward = case.in_order("forward")
    if forward is None or not numpy.array_equal(forward, expected):
        return None
    reversed_too = numpy.array_equal(case.in_order("reversed"), expected)
    if variant == "device_levels" and not reversed_too:
        return ("the next level begins before this one has ended: launch_levels goes into TAIL_STREAM, behind settle_level "
                "(TODO 6)")
    return "blocks take the same places of the next level's list: one atomicAdd gives each its own four (TODO 5)"


DIAGNOSERS = [hangs_on_the_order, nothing_launched, computed_not_filled, unfilled, filled_elsewhere, filled_wrongly, filled_too_soon]


# Cases: the picture


def picture(case, variant, height, width, limit=100, view=WHOLE_SET, tile=TILE, smallest=SMALLEST):
    """One picture, with its rectangles from `tile` down to `smallest`."""
    x, y, span = view
    case.tile, case.smallest, case.limit = tile, smallest, limit
    case.direct = dwells_of(height, width, limit, x, y, span)
    try:
        got = case.compute("--variant", variant, "--height", height, "--width", width, "--limit", limit, "--x", x,
                           "--y", y, "--span", span, "--tile", tile, "--smallest", smallest)
    except checker.Failure as failure:
        raise with_question(failure, variant)
    work = adaptive_work(case.direct, tile, smallest)
    expected = case.direct if variant == "direct" else work.dwells
    case.compare(expected, got, EXACT, diagnosers=DIAGNOSERS)
    if variant != "direct":
        judge_blocks(case)
        judge_work(case, variant, work, adaptive_work(case.direct, tile, smallest, again=True))


def with_question(failure, variant):
    """A time-out of the variant that launches most: one likely reason more."""
    text, repeat, command = str(failure).partition("\nrepeat: ")
    if variant == "device_launches" and "did not end within" in text:
        text += ("\nlikely cause: too many grids are launched: a block that cuts is to launch one, by one of its threads, for "
                 "the parts of inside_of(mine) (TODO 4)")
    return checker.Failure(text + repeat + command)


def judge_blocks(case):
    """In CPU mode: have the grids that the device launches all the threads of a block?"""
    for launch in case.last_run.record["launches"] if case.last_run.record else ():
        for name, task, right in (("subdivide", "TODO 4", "blockDim.x"), ("settle_level", "TODO 6", "rectangle_threads")):
            case.expect(not is_called(launch["kernel"], name) or launch["block"][0] == THREADS,
                        f"the picture is right, but {name} is launched with blocks of {launch['block'][0]}\nlikely cause: "
                        f"between <<< and >>> the threads of a block are to be {right}, {THREADS} here ({task})")


def judge_work(case, variant, work, again):
    """The right picture, by as many pixels and launches as it takes? The program prints both."""
    found = re.search(rf"^{variant} +([\d.]+) % of the pixels computed, (\d+) launches", case.last_run.stdout, re.M)
    case.expect(found, f"{variant} does not say how many pixels it computed")
    size, share, launches = work.dwells.size, float(found[1]), int(found[2])

    def is_share_of(pixels):
        return abs(share - 100 * pixels / size) < 0.0501

    where = "TODO 4" if variant == "device_launches" else "TODO 5"
    if not is_share_of(work.pixels):
        cause = "is a rectangle settled twice, or not at all?"
        if is_share_of(again.pixels):
            cause = f"the borders are computed again: the parts are those of inside_of(mine) ({where})"
        elif share > 100:
            cause = (f"is a grid launched more than once, or by more than one thread ({where})?"
                     if variant != "device_levels" else
                     "is a grid launched more than once (TODO 6), or listed by more than one thread (TODO 5)?")
        case.fail(f"the picture is right, but {share} % of the pixels were computed, and {work.pixels} of {size}, "
                  f"{100 * work.pixels / size:.1f} %, are enough\nlikely cause: {cause}")
    wanted, cause = 0, "the host launches"
    if variant == "device_launches":
        wanted, cause = work.cuts, "one for each rectangle that is cut, each noted (TODO 4)"
    elif variant == "device_levels":
        most = most_levels(case.tile, case.smallest)
        wanted = 2 * work.levels - (work.levels == most)
        cause = "two a level, each noted, and on the last level, where level + 1 is levels.most, only one (TODO 6)"
    case.expect(launches == wanted,
                f"the picture is right, but {launches} launches from the device were noted, expected {wanted}: {cause}")


SHAPES = ((1, 1), (1, 5000), (5000, 1), (31, 33), (64, 64), (127, 97), (150, 201))
for variant in VARIANTS:
    for height, width in SHAPES:
        lab.case(f"{variant}: {height} x {width}", picture, variant=variant, height=height, width=width)
    lab.case(f"{variant}: rectangles of 200 down to 4", picture, variant=variant, height=190, width=257, tile=200,
             smallest=4)
    lab.case(f"{variant}: what is thinner than a pixel", picture, variant=variant, height=89, width=121,
             view=THIN, limit=60, tile=8, smallest=4)
    lab.case(f"{variant}: all inside", picture, variant=variant, height=70, width=131, view=(-0.1, 0.0, 0.2))
    lab.case(f"{variant}: all outside, one step", picture, variant=variant, height=70, width=67, limit=1,
             view=(3.0, 3.0, 0.5))
    lab.case(f"{variant}: 1200000 x 1", picture, variant=variant, height=1_200_000, on_cpu={"height": 140_000}, width=1, limit=9,
             quick=False)
    lab.case(f"{variant}: 600 x 401, limit 1000", picture, variant=variant, height=600, width=401, on_cpu={"height": 200, "width": 133},
             limit=1000, view=VALLEY, quick=False)


@lab.case("a view nobody knows before, all variants", fresh=True)
def fresh(case):
    height, width = (int(case.random.integers(1, 160)) for _ in range(2))
    view = (float(case.random.uniform(-1.5, 0.3)), float(case.random.uniform(-1, 1)),
            float(case.random.uniform(0.05, 3)))
    for variant in VARIANTS:
        picture(case, variant, height, width, limit=int(case.random.integers(2, 200)), view=view,
                tile=int(case.random.integers(8, 100)), smallest=int(case.random.integers(4, 20)))


@lab.case("fewer pixels computed than there are")
def adaptive(case):
    """What is filled in need not be computed: that is the point."""
    for variant in ADAPTIVE:
        run = case.run("--variant", variant, "--height", 256, "--width", 256, "--limit", 50)
        found = re.search(rf"^{variant} +([\d.]+) % of the pixels computed, (\d+) launches", run.stdout, re.M)
        case.expect(found, f"{variant} does not say how many pixels it computed")
        more = ": is a grid launched more than once (TODO 4, TODO 6)?" if float(found[1]) > 100 else ""
        case.expect(20 < float(found[1]) < 95, f"{variant} computed {found[1]} % of the pixels{more}")
        if variant != "host_levels":
            case.expect(int(found[2]) > 0, f"{variant} launched nothing from the device (TODO 4, TODO 6)")


@lab.case("the picture in colours")
def coloured(case):
    case.run("--variant", "direct", "--height", 40, "--width", 60, "--limit", 50, "--picture", "set.png")
    pixels = case.load("set.png")
    dwells = dwells_of(40, 60, 50, *WHOLE_SET)
    case.expect(pixels.shape == (40, 60, 3), f"the picture has the shape {pixels.shape}")
    black = (pixels == 0).all(axis=2)
    case.expect((black == (dwells == 50)).all(), "the points inside, and no others, are black")


@lab.case("all variants in one run")
def everything(case):
    run = case.run("--height", 150, "--width", 130, "--limit", 100)
    case.calls_correct(run, VARIANTS)


@lab.case("no pixels")
def empty(case):
    for height, width in ((0, 0), (0, 7), (7, 0)):
        for variant in VARIANTS:
            got = case.compute("--variant", variant, "--height", height, "--width", width)
            case.compare(numpy.zeros((height, width), numpy.int32), got, EXACT)


# Cases: hello, and streams


def hello_lines(blocks, threads):
    lines, depth, grids = [], 0, blocks
    while True:
        for block in range(blocks):
            for thread in range(threads):
                lines += [(depth, thread, block if depth == 0 else 0)]
        if threads == 1:
            return lines, depth, grids
        threads //= 2
        depth += 1


def hello_cause(found, blocks, threads):
    """What is wrong with the grids below the first; "" where nobody knows."""
    below = [(depth, thread, block) for depth, thread, block in found if depth == 1]
    if threads > 1 and len(found) == blocks * threads:
        return "the first grid launches no other"
    if not below:
        return "the depth does not grow: it is to be depth + 1 in the grid below" if threads > 1 else ""
    if max(block for _, _, block in below) > 0:
        return "the grid below has several blocks: it is to have one"
    if max(thread for _, thread, _ in below) + 1 != threads // 2:
        return (f"the grid below has {max(thread for _, thread, _ in below) + 1} threads: it is to have half as many as the "
                f"one above, {threads // 2} of {threads}")
    if len(below) != blocks * (threads // 2):
        return f"{len(below) // (threads // 2)} grids are launched below, where each block is to launch one, by its thread 0"
    return ""


def hello(case, blocks, threads):
    run = case.run("--part", "hello", "--blocks", blocks, "--threads", threads)
    lines = run.stdout.splitlines()
    expected, deepest, _ = hello_lines(blocks, threads)
    case.expect(lines and lines[0].startswith("host: launches") and lines[-1].startswith("host: all have ended"),
                "the host's two lines are not the first and the last: does the host wait for the device?")
    device = lines[1:-1]
    found = [tuple(map(int, numbers)) for numbers in re.findall(
        r"^Recursion=(\d+): Hello World from thread (\d+) block (\d+)$", run.stdout, re.M)]
    cause = hello_cause(found, blocks, threads) if sorted(found) != sorted(expected) else ""
    case.expect(not cause, f"{len(found)} threads say hello, and {len(expected)} are to\nlikely cause: {cause} (TODO 1)")
    wanted = [f"Recursion={depth}: Hello World from thread {thread} block {block}"
              for depth, thread, block in expected]
    wanted += [f"-----> nested execution depth: {depth}" for depth in range(1, deepest + 1)] * blocks
    case.same_lines(wanted, device, any_order=True)
    for depth in range(1, deepest + 1):  # a child does not run before it is launched
        parent = next(i for i, line in enumerate(device)
                      if line.startswith(f"Recursion={depth - 1}: Hello World from thread 0 "))
        child = next(i for i, line in enumerate(device) if line.startswith(f"Recursion={depth}:"))
        case.expect(parent < child, f"a grid of depth {depth} speaks before the thread that launches it")
    launched = re.search(r"(\d+) grids? w", lines[-1])
    case.expect(launched and int(launched[1]) == blocks * deepest,
                f"{blocks * deepest} grids are to be launched from the device and each noted (TODO 1), the host says: {lines[-1]}")


for blocks, threads in ((1, 8), (2, 8), (1, 1), (3, 7), (5, 33), (2, 1024)):
    lab.case(f"hello: {blocks} x {threads} threads", hello, blocks=blocks, threads=threads)


@lab.case("streams: who runs when, and sees what")
def streams(case):
    lines = case.run("--part", "streams").stdout.splitlines()

    def place(start):
        found = [i for i, line in enumerate(lines) if line.startswith(start)]
        case.expect(len(found) == 1, f"{len(found)} lines begin with '{start}', expected 1 (TODO 2)")
        return found[0]

    begins, ends, tail = place("parent: begins"), place("parent: ends"), place("tail:")
    first, second, free = place("child 1"), place("child 2"), place("free:")
    case.expect(begins < min(first, second, free), "a child speaks before its parent has begun")
    case.expect(first < second, "child 2 speaks before child 1, although both are in one stream")
    case.expect(tail > max(ends, first, second, free),
                "the tail does not come last: is it launched into TAIL_STREAM (TODO 2)?")
    case.expect(tail < len(lines) - 1 and lines[-1].startswith("host:"), "the host does not wait for the tail")
    for line in (lines[first], lines[second]):
        case.expect(line.endswith("before the launch is 1"), f"a child has to see what was written before: {line}")
    case.expect(lines[tail] == "tail: before the launch 1, of the child 42, after the launch 2",
                f"the tail has to see what parent and child wrote, and says: {lines[tail]}")


# Two rounds of the loops over a border and an inside, and two levels. A list that two blocks write to, or a grid
# that does not wait for the one before, may still be right in a run.
for variant, kernel in (("device_launches", "subdivide"), ("host_levels", "settle_level"), ("device_levels", "settle_level")):
    lab.watched(f"{variant}: no race", [["--variant", variant, "--height", 36, "--width", 74, "--limit", 20, "--tile", 38,
                                         "--smallest", 17]], storing={kernel: THREADS})


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--height --width", "-1", "many", "", "20000000")
    case.refuses("--height", "1Mi", "--width", "1Mi", saying="pixels")
    if os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") < 1 << 38:
        case.refuses("--height", "128Ki", "--width", "128Ki", saying="memory")
    case.refuses("--limit", "0", saying="limit")
    case.refuses("--span", "0", saying="span")
    case.refuses("--span", "wide", saying="span")
    case.refuses("--tile", "4", saying="tile")
    case.refuses("--smallest", "3", saying="smallest")
    case.refuses("--variant", "host", saying="variant")
    case.refuses("--part", "goodbye", saying="part")
    case.refuses("--part", "hello", "--threads", "1025", saying="threads")
    case.refuses("--part", "hello", "--blocks", "0", saying="blocks")
    case.refuses("--output", "dwells.npy", saying="variant")
    case.refuses("--variant", "direct", "--picture", "set.xyz", saying="picture")
    case.refuses("--variant", "direct", "--output", "no/such/dwells.npy", saying="output")
    case.refuses("--part", "hello", "--variant", "direct", "--picture", "set.png", saying="picture")
    for option, value in (("csv", "times.csv"), ("height", 5), ("variant", "direct"), ("limit", 9)):
        case.refuses("--part", "hello", f"--{option}", value, saying=option)
        case.refuses("--part", "streams", f"--{option}", value, saying=option)
    case.refuses("--part", "streams", "--blocks", "2", saying="blocks")
    case.refuses("--threads", "2", saying="threads")
    case.refuses("--variant", "direct", "--height", 0, "--width", 5, "--picture", "set.png", saying="picture")
    case.refuses("--height", 0, "--csv", "times.csv", saying="csv")
    # before anything is computed: all of this would take minutes
    case.refuses("--variant", "direct", "--height", 70_000, "--width", 99, "--limit", 1_000_000, "--picture",
                 "tall.jpg", saying="65535")


lab.main()
