"""Judges hello_world by the lines that it prints: every thread once, with its right number.

The device's lines come in any order, as the threads run in any order. What is fixed is their text,
and that they stand between the host's launch and the host's goodbye.
"""

import re
import sys
from collections import Counter
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker

lab = checker.Lab(__file__)

DEVICE_LINE = re.compile(
    r"device: hello from block \((\d+), (\d+), (\d+)\), thread \((\d+), (\d+), (\d+)\), number (-?\d+)"
)
SHOWN = 5


def place(index, shape):
    """The number of a cell, counting along x first, then y, then z."""
    return index[0] + shape[0] * (index[1] + shape[1] * index[2])


def swapped(index):
    """x and y exchanged."""
    return index[1], index[0], index[2]


def without(index, side):
    """The index with 0 along one side."""
    return tuple(0 if i == side else value for i, value in enumerate(index))


def volume(shape):
    return shape[0] * shape[1] * shape[2]


def number(block, thread, grid, shape):
    """The number of a thread in the whole grid; `shape` is that of a block."""
    return place(block, grid) * volume(shape) + place(thread, shape)


def with_factors(index, y, z):
    """place() with other factors than the shape's sides."""
    return index[0] + y * (index[1] + z * index[2])


# What a slip in the formula gives, and what to say about it: what the file does, then what is right.
SLIPS = [
    (lambda b, t, grid, shape: 0,
     "every thread says 0: its number is still to be worked out (task 3)"),
    (lambda b, t, grid, shape: place(t, shape),
     "the number is the place in the block; the blocks before it count too"),
    (lambda b, t, grid, shape: place(b, grid),
     "the number is that of the block; the place in the block counts too"),
    (lambda b, t, grid, shape: place(t, grid) * volume(shape) + place(t, shape),
     "threadIdx stands where blockIdx should: which block is the thread in?"),
    (lambda b, t, grid, shape: place(b, grid) * volume(shape) + place(b, shape),
     "blockIdx stands where threadIdx should: which thread of the block is it?"),
    (lambda b, t, grid, shape: place(b, grid) * volume(grid) + place(t, shape),
     "the file multiplies by count(gridDim); a block holds count(blockDim) threads"),
    (lambda b, t, grid, shape: place(b, grid) + volume(grid) * place(t, shape),
     "the file spreads the threads of a block over the grid; they follow each other"),
    (lambda b, t, grid, shape: place(b, grid) * volume(shape) + place(swapped(t), swapped(shape)),
     "y runs fastest within the block, x should"),
    (lambda b, t, grid, shape: place(swapped(b), swapped(grid)) * volume(shape) + place(t, shape),
     "y runs fastest among the blocks, x should"),
    (lambda b, t, grid, shape: place(b, grid) * volume(shape) + place(t[::-1], shape[::-1]),
     "z runs fastest within the block, x should"),
    (lambda b, t, grid, shape: place(b[::-1], grid[::-1]) * volume(shape) + place(t, shape),
     "z runs fastest among the blocks, x should"),
    (lambda b, t, grid, shape: number(b, t, grid, shape) + 1,
     "every number is one too large: the first thread is number 0"),
]
for name, side in ("x", 0), ("y", 1), ("z", 2):
    SLIPS += [
        (lambda b, t, grid, shape, i=side: with_factors(b, grid[i], grid[1]) * volume(shape) + place(t, shape),
         f"the file multiplies blockIdx.y by gridDim.{name}; a row of the grid has gridDim.x blocks"),
        (lambda b, t, grid, shape, i=side: with_factors(b, grid[0], grid[i]) * volume(shape) + place(t, shape),
         f"the file multiplies blockIdx.z by gridDim.{name}; a layer of the grid has gridDim.y rows"),
        (lambda b, t, grid, shape, i=side: place(b, grid) * volume(shape) + with_factors(t, shape[i], shape[1]),
         f"the file multiplies threadIdx.y by blockDim.{name}; a row of the block has blockDim.x threads"),
        (lambda b, t, grid, shape, i=side: place(b, grid) * volume(shape) + with_factors(t, shape[0], shape[i]),
         f"the file multiplies threadIdx.z by blockDim.{name}; a layer of the block has blockDim.y rows"),
        (lambda b, t, grid, shape, i=side: place(without(b, i), grid) * volume(shape) + place(t, shape),
         f"the file leaves out blockIdx.{name}"),
        (lambda b, t, grid, shape, i=side: place(b, grid) * volume(shape) + place(without(t, i), shape),
         f"the file leaves out threadIdx.{name}"),
        (lambda b, t, grid, shape, i=side: place(b, grid) * shape[i] + place(t, shape),
         f"the file multiplies the number of the block by blockDim.{name}; a block holds count(blockDim) threads"),
    ]
SLIPS += [
    (lambda b, t, grid, shape: (b[0] + grid[0] * b[1] + grid[1] * b[2]) * volume(shape) + place(t, shape),
     "parentheses are missing: the file multiplies blockIdx.z by gridDim.y; a layer has gridDim.x * gridDim.y blocks"),
    (lambda b, t, grid, shape: place(b, grid) * volume(shape) + t[0] + shape[0] * t[1] + shape[1] * t[2],
     "parentheses are missing: the file multiplies threadIdx.z by blockDim.y; a layer has blockDim.x * blockDim.y threads"),
]


def text(shape):
    return "x".join(map(str, shape))


def cell(index):
    return "({}, {}, {})".format(*index)


def listed(sentences):
    """The first of many sentences, one a line."""
    more = [f"  ... and {len(sentences) - SHOWN} more"] if len(sentences) > SHOWN else []
    return "\n".join([f"  {sentence}" for sentence in sentences[:SHOWN]] + more)


def greetings(case, lines):
    """Reads the device's lines: [(block, thread, number)]."""
    found = []
    for line in lines:
        if not line.startswith("device:"):
            continue
        match = DEVICE_LINE.fullmatch(line.rstrip())
        case.expect(match, f"a line of the device is not in the form that the handout gives:\n  {line}")
        values = tuple(map(int, match.groups()))
        found.append((values[0:3], values[3:6], values[6]))
    return found


def position(case, lines, start):
    """Where the host's line that starts so stands; there is exactly one."""
    places = [i for i, line in enumerate(lines) if line.startswith(start)]
    case.expect(len(places) == 1, f"the host prints a line '{start}...' {len(places)} times, expected once")
    return places[0]


def judge_order(case, lines, waited):
    """The host's three lines in order, and the device's after the launch and before the goodbye."""
    hello = position(case, lines, "host: hello")
    launch = position(case, lines, "host: the launch")
    goodbye = position(case, lines, "host: goodbye")
    case.expect(hello < launch < goodbye, "the host does not say hello, launch and goodbye in this order")
    if any(line.startswith("host: in this debug build") for line in lines):
        return
    device = [i for i, line in enumerate(lines) if line.startswith("device:")]
    case.expect(not device or device[0] > launch,
                "a thread's line comes before the launch has returned: a launch does not wait")
    if waited:
        case.expect(not device or device[-1] < goodbye,
                    "the host says goodbye before all threads have: it must wait before, not after")
    else:
        case.expect(not device or device[0] > goodbye,
                    "the host has waited for the threads, although --no-wait tells it not to")


def silent_part(missing, wanted, grid, block):
    """Which part of the grid is silent: the whole blocks or threads beyond a smaller shape, say."""
    blocks, threads = ({key[part] for key in wanted} - {key[part] for key in set(wanted) - set(missing)} for part in (0, 1))
    if len(missing) == len({b for b, _ in missing}) * volume(block) and blocks:
        return f"{checker.counted(len(blocks), 'block')} of {volume(grid)} never run: the launch has fewer blocks than asked for"
    if len(missing) == len({t for _, t in missing}) * volume(grid) and threads:
        return (f"in every block {checker.counted(len(threads), 'thread')} of {volume(block)} never "
                f"{'runs' if len(threads) == 1 else 'run'}: the launch has fewer threads a block than asked for")
    return None


def judge_places(case, found, grid, block, complete):
    """Every thread of the grid greets once, and no other."""
    wanted = set(product(product(*map(range, grid)), product(*map(range, block))))
    counts = Counter((b, t) for b, t, _ in found)
    foreign = sorted(set(counts) - wanted)
    twice = sorted(key for key, count in counts.items() if count > 1)
    missing = sorted(wanted - set(counts)) if complete else []
    if foreign:
        swapped = all(all(t < g for t, g in zip(key[1], grid)) for key in foreign)
        cause = ("\nlikely cause: grid and block are swapped in the launch"
                 if swapped and grid != block else "")
        case.fail(f"{len(foreign)} greetings are from outside the grid {text(grid)} of blocks "
                  f"{text(block)}:\n" + listed([f"block {cell(b)}, thread {cell(t)}" for b, t in foreign])
                  + cause)
    if twice:
        case.fail(f"{len(twice)} threads greet more than once: the kernel is launched more than once\n"
                  + listed([f"block {cell(b)}, thread {cell(t)}: {counts[b, t]} times" for b, t in twice]))
    if missing:
        raise checker.Failure(f"{len(missing)} of {len(wanted)} threads do not greet:\n"
                              + listed([f"block {cell(b)}, thread {cell(t)}" for b, t in missing]),
                              silent_part(missing, wanted, grid, block), len(wanted))


def judge_numbers(case, found, grid, block):
    """Every greeting carries the number of its thread."""
    wrong = [(b, t, n) for b, t, n in sorted(found) if n != number(b, t, grid, block)]
    if not wrong:
        return
    lines = [f"block {cell(b)}, thread {cell(t)}: expected {number(b, t, grid, block)}, got {n}"
             for b, t, n in wrong]
    # A small grid fits several slips; the report then looks for a larger case.
    causes = [sentence for slip, sentence in SLIPS if all(n == slip(b, t, grid, block) for b, t, n in found)]
    raise checker.Failure(f"{len(wrong)} of {len(found)} threads have a wrong number:\n{listed(lines)}",
                          causes[0] if len(causes) == 1 else None, len(found))


def why_silent(record):
    """CPU mode has written down whether the kernel was launched; a card does not tell."""
    lost = "\nWhat nobody has waited for is lost when the program ends."
    if record is None:
        return f"is greet_kernel launched (task 1), and does the host wait (task 2)?{lost}"
    if not record["launches"]:
        return "greet_kernel is never launched (task 1)"
    return f"greet_kernel is launched, and the host does not wait for it (task 2){lost}"


def greet(case, grid=(2, 2, 1), block=(4, 2, 1), options=True):
    """A run that waits: every thread must have greeted before the host says goodbye."""
    shape = ["--grid", text(grid), "--block", text(block)] if options else []
    lines = case.run(*shape).lines
    found = greetings(case, lines)
    case.expect(found, f"no thread says hello: {why_silent(case.last_run.record)}")
    judge_order(case, lines, waited=True)
    judge_places(case, found, grid, block, complete=True)
    judge_numbers(case, found, grid, block)
    case.kernels("hello_world", ["greet_kernel"], elements=1)
    case.threads("greet_kernel", volume(grid) * volume(block))
    case.checked("task 1")


lab.case("the grid without options", greet, options=False)
lab.case("one thread", greet, grid=(1, 1, 1), block=(1, 1, 1))
lab.case("one block of two warps and a bit", greet, grid=(1, 1, 1), block=(67, 1, 1))
lab.case("1D grid, 1D block", greet, grid=(5, 1, 1), block=(32, 1, 1))
lab.case("2D grid, 2D block", greet, grid=(3, 2, 1), block=(5, 4, 1))
lab.case("3D grid, 3D block", greet, grid=(2, 3, 4), block=(4, 3, 2))
lab.case("3D grid, 1D block", greet, grid=(3, 4, 2), block=(6, 1, 1))
lab.case("1D grid, 3D block", greet, grid=(3, 1, 1), block=(2, 3, 5))
lab.case("the tallest block, z 64", greet, grid=(2, 1, 2), block=(1, 3, 64))
lab.case("more lines than 1 MiB holds", greet, grid=(64, 32, 1), block=(4, 2, 2))
lab.case("a quarter of a million threads", greet, quick=False, grid=(32, 16, 2), block=(32, 8, 1))


@lab.case("a grid nobody knows before", fresh=True)
def any_grid(case):
    grid = tuple(int(side) for side in case.random.integers(1, 6, 3))
    block = tuple(int(side) for side in case.random.integers(1, 9, 3))
    greet(case, grid, block)


@lab.case("--no-wait")
def no_wait(case):
    """Nobody waits: the lines are lost or come late, but the host's are there, and none is wrong."""
    grid, block = (4, 2, 1), (8, 2, 1)
    lines = case.run("--grid", text(grid), "--block", text(block), "--no-wait").lines
    found = greetings(case, lines)
    judge_order(case, lines, waited=False)
    judge_places(case, found, grid, block, complete=False)
    judge_numbers(case, found, grid, block)


@lab.case("bad arguments")
def bad_arguments(case):
    for shape in ("0", "2x", "33x32", "1x1x65", "8x8x8x8", "-1", "many"):
        case.refuses("--block", shape, saying="--block")
    case.refuses("--grid", "1x65536", saying="--grid")
    case.refuses("--grid", "1024", "--block", "1024", saying="threads in all")
    case.refuses("--no-such-option", saying="--no-such-option")


lab.main()
