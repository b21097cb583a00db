"""Judges occupancy: the occupancy by hand, waves, Little's law, and the kernels, against Python's own."""

import math
import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import counted

lab = checker.Lab(__file__, tasks={"walk_1": "TODO 7", "walk_4": "TODO 7"})
EXACT = checker.Tolerance(why="a multiply-add is rounded once and a row's number is whole: equal to the last bit")
WALKS = {"walk_1": 1, "walk_4": 4}
SQUARES = {"square_1": 1, "square_4": 4, "square_64": 64, "square_64_half": 64, "square_64_full": 64}
lab.kernels({"walk_1": "walk_kernel<1, false>|walk_kernel<1, true>", "walk_4": "walk_kernel<4, false>|walk_kernel<4, true>",
             "square_1": "square_kernel<1>", "square_4": "square_kernel<4>",
             **{variant: variant for variant in SQUARES if variant.startswith("square_64")}})
DEVICES = ("t4", "rtx3090", "a100", "h100", "rtx4060laptop")

# warps, blocks, KiB of shared memory, KiB reserved of each block, bytes of a piece, KiB a block may have
CAPABILITIES = {
    "7.0": (64, 32, 96, 0, 256, 96), "7.5": (32, 16, 64, 0, 256, 64), "8.0": (64, 32, 164, 1, 128, 163),
    "8.6": (48, 16, 100, 1, 128, 99), "8.7": (48, 16, 164, 1, 128, 163), "8.9": (48, 24, 100, 1, 128, 99),
    "9.0": (64, 32, 228, 1, 128, 227), "10.0": (64, 32, 228, 1, 128, 227), "12.0": (48, 24, 100, 1, 128, 99),
}


# The oracle: blocks are put on a multiprocessor one by one, until one does not fit


def blocks_that_fit(compute, threads, registers, shared):
    """(blocks, which resources the next block lacks)."""
    warps, slots, shared_kib, reserved_kib, piece, most_kib = CAPABILITIES[compute]
    free = {"warp slots": warps, "block slots": slots, "shared memory": shared_kib << 10}
    partitions = [64 << 8] * 4  # registers
    need_warps = sum(1 for _ in range(0, threads, 32))
    need_shared = math.ceil((shared + (reserved_kib << 10)) / piece) * piece
    need_registers = math.ceil(registers * 32 / 256) * 256  # of a warp
    blocks = 0
    while True:
        lacking = [name for name, need in
                   (("warp slots", need_warps), ("block slots", 1), ("shared memory", need_shared))
                   if free[name] < need]
        if shared > most_kib << 10 and "shared memory" not in lacking:
            lacking.append("shared memory")
        left = list(partitions)
        for _ in range(need_warps):  # a warp goes where most registers are free
            roomiest = left.index(max(left))
            left[roomiest] -= need_registers
        if min(left) < 0:
            lacking.append("registers")
        if lacking:
            return blocks, set(lacking)
        partitions = left
        for name, need in (("warp slots", need_warps), ("block slots", 1), ("shared memory", need_shared)):
            free[name] -= need
        blocks += 1


def fma(x, y, z):
    """x * y + z of float32, rounded once: the sum in double is rounded to odd before it is halved."""
    product = x.astype(numpy.float64) * y.astype(numpy.float64)  # exact
    addend = numpy.float64(z)
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(numpy.int64)
    even = (error != 0) & (bits % 2 == 0)
    away = numpy.signbit(error) == numpy.signbit(total)
    return numpy.where(even, numpy.where(away, bits + 1, bits - 1), bits).view(numpy.float64).astype(numpy.float32)


def squared(values, steps):
    for _ in range(steps):
        values = fma(values, values, numpy.float32(-1.9))
    return values


def walked(links, walkers, steps):
    """(walkers), or (walkers, 32) where each lane has links of its own."""
    row = numpy.arange(walkers) % len(links)
    if links.ndim == 2:
        row = numpy.repeat(row[:, None], 32, axis=1)
    for _ in range(steps):
        row = links[row] if links.ndim == 1 else links[row, numpy.arange(32)]
    return row.astype(numpy.int32)


# What the program says


def said(case, pattern, text):
    """The groups of the line that has this form."""
    found = re.search(f"^{pattern}$", text, re.M)
    case.expect(found, f"no line of the form: {pattern}")
    return found.groups()


def calculate(case, compute, threads, registers, shared):
    run = case.run("--compute", compute, "--block", threads, "--registers", registers, "--shared", shared)
    blocks, limits = said(case, r"blocks a multiprocessor: (\d+), limited by ([a-z ]+)", run.stdout)
    warps, slots = said(case, r"warps a multiprocessor: (\d+) of (\d+)", run.stdout)
    share, = said(case, r"occupancy: ([\d.]+|nan|-nan) %", run.stdout)
    expected, lacking = blocks_that_fit(compute, threads, registers, shared)
    words = (f"compute capability {compute}, {threads} threads, {registers} registers, {shared} bytes of shared "
             f"memory: ")
    complaint = wrong_row(compute, threads, registers, shared, run.stdout)
    if int(blocks) != expected:
        case.fail(f"{words}the program counts {blocks} blocks a multiprocessor, expected {expected}" +
                  (f"\nlikely cause: {complaint}" if complaint else ""))
    case.expect(complaint is None, f"{words}the program counts {blocks} blocks a multiprocessor, which is right, and yet a "
                f"row of its table is wrong\nlikely cause: {complaint}")
    case.expect(set(limits.split(" and ")) == lacking,
                f"{words}limited by {limits}, expected {' and '.join(sorted(lacking))}")
    full, active = CAPABILITIES[compute][0], expected * -(-threads // 32)
    case.expect(int(slots) == full and int(warps) == active,
                f"{words}{warps} of {slots} warps, expected {active} of {full} (TODO 2)")
    case.expect(share == f"{100 * active / full:.1f}",
                f"{words}occupancy {share} %, expected {100 * active / full:.1f} %, that is {active} of {full} warps (TODO 2)")


def wrong_row(compute, threads, registers, shared, text):
    """The first row of the table that is wrong: what it says and what is right; None when all are right."""
    slots, _, shared_kib, reserved_kib, piece, most_kib = CAPABILITIES[compute]
    warps, of_warp = -(-threads // 32), -(-registers * 32 // 256) * 256
    of_block = -(-(shared + (reserved_kib << 10)) // piece) * piece
    of_partition = 16384 // of_warp if of_warp else 0
    last = ", the last of which is not full and counts as well" if threads % 32 else ""
    rows = [
        ("warp slots", warps, slots // warps,
         f"{{}} warps for {counted(threads, 'thread')}: they are {counted(warps, 'warp')}{last} (TODO 1a)",
         f"room for {{}} blocks in {slots} warp slots: {slots // warps} whole blocks of {counted(warps, 'warp')} fit "
         f"(TODO 1b)"),
        ("registers", warps * of_warp, 4 * of_partition // warps if of_warp else "no limit",
         f"{{}} registers for a block: a warp takes {32 * registers} in pieces of 256, that is {of_warp}, and "
         f"{counted(warps, 'warp')} {warps * of_warp} (TODO 3a)",
         f"room for {{}} blocks: one of the 4 partitions has registers for {of_partition} warps of {of_warp}, and what is "
         f"left over in it is no use to the others; the {counted(4 * of_partition, 'warp')} of all are "
         f"{4 * of_partition // warps} whole blocks of {warps} (TODO 3b)"),
        ("shared memory", of_block,
         0 if shared > most_kib << 10 else (shared_kib << 10) // of_block if of_block else "no limit",
         f"{{}} bytes of shared memory for a block: it takes {shared} and {reserved_kib << 10} reserved for the system, in "
         f"pieces of {piece}, that is {of_block} (TODO 4a)",
         f"room for {{}} blocks: {shared_kib << 10} bytes of shared memory hold whole blocks of {of_block} (TODO 4b)"),
    ]
    for name, takes, blocks, wrong_takes, wrong_blocks in rows:
        found = re.search(rf"^{name} +(-?\d+) +\d+ +(-?\d+|no limit)$", text, re.M)
        if found is None:
            return f"the table has no row of {name}"
        for said, right, sentence in ((found[1], takes, wrong_takes), (found[2], blocks, wrong_blocks)):
            if said != str(right):
                return "the program counts " + re.sub(r"\b1 (warp|block)s\b", r"1 \1", sentence.format(said))
    return None


# Cases without a device


SHAPES = [
    ("half warps", 48, 32, 0), ("one thread", 1, 32, 0), ("33 threads", 33, 32, 0), ("threads only", 256, 16, 0),
    ("no registers, no shared memory", 128, 0, 0), ("registers at the border", 256, 40, 0),
    ("one register more", 256, 41, 0), ("leftovers in the partitions", 96, 72, 0), ("255 registers", 64, 255, 0),
    ("registers for no block", 1024, 96, 0), ("shared memory", 192, 48, 16384), ("one byte of it", 64, 24, 1),
    ("the reserved KiB counts", 128, 32, 15360), ("one byte past it", 128, 32, 15361),
    ("all of 48 KiB", 512, 32, 49152), ("more than a block may have", 64, 32, 233472),
    ("the largest block", 1024, 32, 0),
]


def capability(case, compute):
    for _, threads, registers, shared in SHAPES:
        calculate(case, compute, threads, registers, shared)


for name, threads, registers, shared in SHAPES:
    lab.case(f"by hand, 8.6: {name}", calculate, compute="8.6", threads=threads, registers=registers, shared=shared)
for name in CAPABILITIES:
    lab.case(f"by hand, compute capability {name}", capability, compute=name)


@lab.case("by hand, 40 blocks nobody knows before", fresh=True)
def fresh_shapes(case):
    for _ in range(40):
        compute = str(case.random.choice(list(CAPABILITIES)))
        calculate(case, compute, int(case.random.integers(1, 1025)), int(case.random.integers(1, 256)),
                  int(case.random.choice([0, case.random.integers(0, 100 << 10)])))


def waves(case, multiprocessors, blocks_at_a_time, grid):
    """A block of 7.0 with so many threads that `blocks_at_a_time` fit."""
    threads = 2048 // blocks_at_a_time if blocks_at_a_time > 1 else 1024
    registers = 32 if blocks_at_a_time > 1 else 64
    run = case.run("--compute", "7.0", "--block", threads, "--registers", registers, "--multiprocessors",
                   multiprocessors, "--grid", grid)
    full, = said(case, r"full wave: (\d+) blocks, .*", run.stdout)
    count, = said(case, rf"waves for {grid} blocks: (\d+)", run.stdout)
    last, = said(case, r"last wave: (-?\d+) blocks", run.stdout)
    share, = said(case, r"utilisation: ([\d.]+|nan|-nan) %", run.stdout)
    capacity = multiprocessors * blocks_at_a_time
    case.expect(int(full) == capacity, f"a full wave has {full} blocks, expected {capacity} (TODO 1, 3 and 4)")
    sizes = [min(capacity, grid - start) for start in range(0, grid, capacity)]
    words = f"{grid} blocks, {capacity} at a time: "
    case.expect(int(count) == len(sizes), f"{words}{count} waves, expected {len(sizes)}. Rounded up? (TODO 5)")
    case.expect(int(last) == sizes[-1], f"{words}{last} blocks in the last wave, expected {sizes[-1]}: a full last "
                f"wave has as many as every other (TODO 5)")
    expected = 100 * sum(sizes) / (len(sizes) * capacity)
    case.expect(share == f"{expected:.1f}", f"{words}utilisation {share} %, expected {expected:.1f} % (TODO 5)")


GRIDS = [(80, 4, 320), (80, 4, 100), (80, 4, 500), (80, 4, 640), (8, 1, 12), (80, 2, 250), (80, 2, 524_287),
         (132, 8, 1), (132, 8, 1057), (1, 1, 1), (1, 1, 1000)]
for multiprocessors, at_a_time, grid in GRIDS:
    lab.case(f"waves: {grid} blocks on {multiprocessors} x {at_a_time}", waves, multiprocessors=multiprocessors,
             blocks_at_a_time=at_a_time, grid=grid)


def little(case, latency, bandwidth, size, multiprocessors):
    run = case.run("--latency", latency, "--bandwidth", bandwidth, "--bytes", size, "--multiprocessors",
                   multiprocessors)
    values = [said(case, rf"{line}: ([\d.]+|nan|-nan)", run.stdout)[0] for line in
              ("bytes under way", f"threads with {size} byte{'' if size == 1 else 's'} each", "warps",
               f"warps on each of {multiprocessors} multiprocessors")]
    under_way = latency * bandwidth
    threads = math.ceil(under_way / size)
    warps = math.ceil(threads / 32)
    expected = [f"{under_way:.0f}", str(threads), str(warps), str(math.ceil(warps / multiprocessors))]
    names = {"bytes under way": "the latency times the bandwidth, where 1e-9 and 1e9 cancel",
             "threads": "the bytes by those of a thread, rounded up", "warps": "the threads by 32, rounded up",
             "warps on each multiprocessor": "the warps by the multiprocessors, rounded up"}
    for name, got, wanted in zip(names, values, expected):
        case.expect(got == wanted, f"{latency} ns at {bandwidth} GB/s, {size} bytes a thread, {multiprocessors} "
                    f"multiprocessors: {got} {name}, expected {wanted}: they are {names[name]} (TODO 6)")


MEMORIES = [(511, 144, 4, 16), (700, 3000, 4, 132), (640, 936, 16, 82), (1, 1, 4, 1), (500, 320, 8, 40),
            (0, 1000, 4, 40), (513, 1, 1, 3)]
for latency, bandwidth, size, multiprocessors in MEMORIES:
    lab.case(f"Little: {latency} ns, {bandwidth} GB/s, {size} bytes, {multiprocessors} multiprocessors", little,
             latency=latency, bandwidth=bandwidth, size=size, multiprocessors=multiprocessors)


# Cases of the kernels


def cycle(case, rows):
    """A permutation that is one cycle."""
    order = case.random.permutation(rows)
    links = numpy.empty(rows, numpy.int32)
    links[order] = numpy.roll(order, -1)
    return links


# The number in links that lane l of thread t (of its block) takes, by what a learner may write; r: its rows, n: how many
# rows there are. The first is right.
NUMBERS = [
    ("row[k] * 32 + lane", lambda r, l, t, n: r * 32 + l),
    ("row[k] * 32", lambda r, l, t, n: r * 32),
    ("row[k] + lane", lambda r, l, t, n: r + l),
    ("row[k] * 32 + threadIdx.x", lambda r, l, t, n: r * 32 + t),
    ("row[k] * rows + lane", lambda r, l, t, n: r * n + l),
    ("row[k] + lane * rows", lambda r, l, t, n: r + l * n),
    ("row[k] + lane * 32", lambda r, l, t, n: r + l * 32),
    ("row[0] * 32 + lane", lambda r, l, t, n: numpy.broadcast_to(r[:, :1], r.shape) * 32 + l),
]


def walks_of(case, walkers, steps, number):
    """(walkers, 32): where each lane of each walker ends; -1 where this number was outside of links."""
    links, chains = case.inputs["links"], WALKS[case.parameters["variant"]]
    flat = (numpy.repeat(links, 32) if links.ndim == 1 else links.ravel()).astype(numpy.int64)
    rows, warps = flat.size // 32, -(-walkers // chains)
    row = (numpy.arange(warps * chains) % rows).reshape(warps, chains, 1).repeat(32, axis=2)
    lane = numpy.arange(32)
    thread = (numpy.arange(warps) % (case.parameters["block"] // 32))[:, None, None] * 32 + lane
    for _ in range(steps):
        place = numpy.broadcast_to(number(row, lane, thread, rows), row.shape)
        row = numpy.where((row < 0) | (place >= flat.size), -1, flat[numpy.minimum(place, flat.size - 1)])
    return row.reshape(-1, 32)[:walkers]


def walk_does_nothing(expected, got, case):
    start = walked(case.inputs["links"], len(got), 0)
    if got.size and (got == start).all() and case.parameters["steps"]:
        return "every walker is still where it started: no loop over the steps follows the links (TODO 7)"
    return None


def wrong_number(expected, got, case):
    """Which number in links, or how many steps, give just these ends?"""
    links, steps = case.inputs["links"], case.parameters["steps"]
    if steps == 0 or len(got) < 5:
        return None
    guesses = [(f"the number that a lane takes from links is {text}: it is to be {NUMBERS[0][0]}", number, steps)
               for text, number in NUMBERS[1:]]
    guesses += [(f"the walkers take {other} step{'s' * (other != 1)}, not {steps}", NUMBERS[0][1], other)
                for other in (steps - 1, steps + 1, 1, 2 * steps) if 0 < other != steps]
    for sentence, number, taken in guesses:
        ends = walks_of(case, len(got), taken, number)
        ends = ends[:, 0] if links.ndim == 1 else ends
        known = ends >= 0
        if (got == ends)[known].all() and case.wrong[known].any() and known.mean() > 0.3:
            return f"{sentence} (TODO 7)"
    return None


def only_the_first_chain(expected, got, case):
    chains = WALKS.get(case.parameters["variant"], 1)
    if chains > 1 and len(got) >= chains and not case.wrong[::chains].any():
        return "only the first chain of each warp is right: the inner loop is to go over all k (TODO 7)"
    return None


def rounded_twice(expected, got, case):
    values = case.inputs["values-file"]
    for _ in range(case.parameters["steps"]):
        values = values * values - numpy.float32(1.9)
    if (values == got).all():
        return "the product is rounded before the constant is added to it: fmaf rounds once"
    return None


def walk(case, variant, walkers, rows, steps=9, block=64, shared=0, lanes=False):
    case.parameters = {"variant": variant, "steps": steps, "block": block}
    links = numpy.stack([cycle(case, rows) for _ in range(32)], axis=1) if lanes else cycle(case, rows)
    got = case.compute("--variant", variant, "--walkers", walkers, "--steps", steps, "--block", block, "--shared",
                       shared, inputs={"links": links})
    case.compare(walked(links, walkers, steps), got, EXACT,
                 diagnosers=[walk_does_nothing, wrong_number, only_the_first_chain])


def square(case, variant, count, steps=9, block=64):
    case.parameters = {"variant": variant, "steps": steps}
    values = case.floats(count)
    got = case.compute("--variant", variant, "--steps", steps, "--block", block, inputs={"values-file": values})
    case.compare(squared(values, steps), got, EXACT, diagnosers=[rounded_twice])


for variant in WALKS:
    for walkers, rows in ((1, 1), (1, 1000), (31, 7), (33, 1009), (1009, 33), (5, 5)):
        lab.case(f"{variant}: {walkers} of {rows} rows", walk, variant=variant, walkers=walkers, rows=rows)
    lab.case(f"{variant}: 33 of 1009 rows, each lane on a way of its own", walk, variant=variant, walkers=33, rows=1009,
             lanes=True)
    lab.case(f"{variant}: no steps", walk, variant=variant, walkers=100, rows=50, steps=0)
    lab.case(f"{variant}: blocks of 256 with 20000 bytes", walk, variant=variant, walkers=333, rows=77, block=256,
             shared=20000)
for variant in SQUARES:
    for count in (1, 33, 1009):
        lab.case(f"{variant}: {counted(count, 'value')}", square, variant=variant, count=count)
lab.case("square_1: a block of 33 threads, 500 steps", square, variant="square_1", count=2003, steps=500, block=33)
lab.case("square_4: 1 Mi values", square, variant="square_4", count=1 << 20, steps=3, block=256, quick=False)


@lab.case("sizes nobody knows before", fresh=True)
def fresh_kernels(case):
    for variant in WALKS:
        walk(case, variant, int(case.random.integers(1, 500)), int(case.random.integers(1, 5000)),
             int(case.random.integers(0, 50)), 32 * int(case.random.integers(1, 9)), lanes=True)
    for variant in SQUARES:
        square(case, variant, int(case.random.integers(1, 5000)), int(case.random.integers(0, 50)),
               int(case.random.integers(1, 257)))


def agrees(case, text):
    found = re.search(r"by hand as by the API: (\d+) of (\d+) shapes", text)
    case.expect(found, "the program does not say whether hand and API agree")
    case.expect(found[1] == found[2] and int(found[2]) > 1000,
                f"by hand and by the API agree in {found[1]} of {found[2]} shapes only. It says:\n" +
                "\n".join(line for line in text.splitlines() if "by hand," in line)[:500])


def on_device(case, device):
    if case.backend == "gpu":
        raise checker.Skipped("pretend devices are those of CPU mode")
    run = case.run("--variant", "square_1", "--values", 1000, "--steps", 2, env={"CUDA_CPU_DEVICE": device},
                   status=(0, 1))
    agrees(case, run.stdout)
    case.expect(run.status == 0, "by hand and by the API agree, yet the program ends with status 1")


@lab.case("by hand as by the API, on this device; all kernels in one run")
def everything(case):
    run = case.run("--walkers", 100, "--values", 5000, "--steps", 5, status=(0, 1))
    agrees(case, run.stdout)
    case.calls_correct(run, (*WALKS, *SQUARES))


for name in DEVICES:
    lab.case(f"by hand as by the API, pretend device {name}", on_device, device=name)


@lab.case("blocks larger than __launch_bounds__ allow")
def beyond_the_bounds(case):
    run = case.run("--variant", "square_1,square_64", "--block", 512, "--values", 1000, "--steps", 2, status=(0, 1))
    case.expect(re.search(r"^square_64 .*256 threads", run.stdout, re.M),
                "square_64 with blocks of 512 threads is not skipped, though it is compiled for 256")


@lab.case("waves, and Little's law by measurement")
def measured(case):
    run = case.run("--variant", "walk_1", "--waves", "0.5", "--steps", 2)
    case.calls_correct(run, ["walk_1"])
    run = case.run("--little")
    latency, = said(case, r"latency: ([\d.]+) ns", run.stdout)
    bandwidth, = said(case, r"bandwidth: ([\d.]+) GB/s", run.stdout)
    under_way, = said(case, r"bytes under way: (\d+)", run.stdout)
    wanted = float(latency) * float(bandwidth)
    slack = 1 + 0.05 * (float(latency) + float(bandwidth))  # both are printed with one decimal
    case.expect(abs(float(under_way) - wanted) <= slack, f"{under_way} bytes under way, expected {wanted:.0f} (TODO 6)")


@lab.case("nothing to do")
def empty(case):
    got = case.compute("--variant", "walk_4", "--walkers", 0, inputs={"links": numpy.zeros(3, numpy.int32)})
    case.compare(numpy.zeros(0, numpy.int32), got, EXACT)
    nothing = numpy.zeros(0, numpy.float32)
    got = case.compute("--variant", "square_4", inputs={"values-file": nothing})
    case.compare(nothing, got, EXACT)


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses("--compute", "6.5", saying="compute")
    case.refuses("--compute", "8.6", "--registers", "256", saying="registers")
    case.refuses("--compute", "8.6", "--block", "1025", saying="block")
    case.refuses("--compute", "8.6", "--shared", "-1", saying="shared")
    case.refuses("--compute", "8.6", "--shared", "1Mi", saying="shared")
    case.refuses("--compute", "8.6", "--grid", "many", saying="grid")
    case.refuses("--compute", "8.6", "--latency", "500", saying="one at a time")
    case.refuses("--registers", "32", saying="--compute")
    case.refuses("--grid", "32", saying="--compute")
    case.refuses("--bandwidth", "100", saying="--latency")
    case.refuses("--bytes", "16", saying="--little")
    case.refuses("--latency", "-1", saying="latency")
    case.refuses("--multiprocessors", "3", saying="--multiprocessors")
    case.refuses("--compute", "8.60", saying="8.6")
    for words in (["--output", "y.npy"], ["--csv", "y.csv"], ["--waves", 2], ["--walkers", 5]):
        case.refuses("--compute", "8.6", *words, saying=words[0])
        case.refuses("--latency", "500", *words, saying=words[0])
        case.refuses("--little", *words, saying=words[0])
    case.refuses("--waves", 2, "--walkers", 5, saying="--walkers")
    case.refuses("--variant", "square_1", "--rows", 5, saying="--rows")
    case.refuses("--variant", "walk_1", "--values", 5, saying="--values")
    case.refuses("--variant", "walk_1", "--block", "48", saying="32")
    case.refuses("--variant", "walk_2", saying="variant")
    case.refuses("--waves", "1000", saying="waves")
    case.refuses("--steps", "-1", saying="steps")
    case.refuses("--output", "y.npy", saying="output")
    case.refuses("--variant", "walk_1", "--output", "no/such/y.npy", saying="output")


@lab.case("bad input files")
def bad_files(case):
    links = case.save("links", cycle(case, 100))
    case.refuses("--variant", "walk_1", "--links", links, "--rows", 100, saying="rows")
    for name, array, saying in (("far", numpy.array([1, 2, 3], numpy.int32), "row 3"),
                                ("below", numpy.array([0, -1], numpy.int32), "row -1"),
                                ("none", numpy.zeros(0, numpy.int32), "rows"),
                                ("narrow", numpy.zeros((4, 31), numpy.int32), "(rows, 32)"),
                                ("wide", numpy.zeros(3, numpy.int64), "int32")):
        case.refuses("--variant", "walk_1", "--links", case.save(name, array), saying=saying)
    values = case.save("values", case.floats(10))
    case.refuses("--variant", "square_1", "--values-file", values, "--values", 10, saying="--values")
    case.refuses("--variant", "walk_1", "--values-file", values, saying="--values-file")
    case.refuses("--variant", "square_1", "--links", links, saying="--links")
    case.refuses("--variant", "square_1", "--values-file", links, saying="float32")
    case.refuses_broken("--values-file", values, "--variant", "square_1")


lab.main()
