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
from checker.comparison import origins
from checker.diagnose import Fact

lab = checker.Lab(__file__, tasks={"global_atomics": "TODO 3", "shared_tree": "TODO 4", "warp_shuffles": "TODO 5 and 6",
                                   "vectorised": "TODO 7", "shared_copy": "TODO 8", "lane_copies": "TODO 9"},
                  shared={"two_stages": "TODO 5 to 7"}, further=["two_stages", "warp_copies"])
SUMS = ["global_atomics", "shared_tree", "warp_shuffles", "vectorised"]
ONE_EACH = SUMS[:3]  # a thread has one element
HISTOGRAMS = ["global_atomics", "shared_copy", "lane_copies"]
ALL_SUMS, ALL_HISTOGRAMS = [*SUMS, "two_stages"], [*HISTOGRAMS, "warp_copies"]  # with those of further/
# Those that the program has, for cases over all variants.
SUMS_THERE, HISTOGRAMS_THERE = (ALL_SUMS, ALL_HISTOGRAMS) if lab.further else (SUMS, HISTOGRAMS)
# The tasks in which a variant waits at barriers, and adds by atomics.
TASKS_OF_BARRIERS = {"shared_tree": "TODO 4", "warp_shuffles": "TODO 6", "vectorised": "TODO 6", "two_stages": "TODO 6",
                     "shared_copy": "TODO 8"}
TASKS_OF_ATOMICS = {"global_atomics": "TODO 3", "shared_copy": "TODO 8", "lane_copies": "TODO 9"}
BLOCK, WARP, DEMO_BLOCK = 256, 32, 512
lab.kernels({"global_atomics": "sum_global_atomics|histogram_global_atomics",
             "two_stages": ("sum_into_parts", "sum_of_parts"), "vectorised": "sum_vectorised",
             **{variant: f"sum_{variant}" for variant in SUMS[1:3]},
             **{variant: f"histogram_{variant}" for variant in ALL_HISTOGRAMS[1:]}})
TILE = 4096  # elements of a tile of `vectorised`
MOST_PARTS = 1024  # of `two_stages`
EXACT_SUM = checker.Tolerance(why="whole numbers of at most 2^24 in all: float adds them exactly, in any order")
EXACT_COUNT = checker.Tolerance(why="counts are whole numbers")


# Likely causes: sums


def whole_numbers(case, count):
    """Random whole numbers above zero, whose exact sum float can hold in any order: each lost one shows."""
    most = max(1, min(1000, (1 << 24) // max(count, 1)))
    return case.random.integers(1, most + 1, count).astype(numpy.float32)


def padded(values, to):
    return numpy.concatenate([values, numpy.zeros(-len(values) % to, values.dtype)]).reshape(-1, to)


def tree(part, steps, ahead=(), keep=True, of_stride=False):
    """The sum in part 0 of each block (blocks, threads) after these steps; where `ahead` has the stride, thread
    `stride` adds as well, and before thread 0."""
    part = numpy.concatenate([part, numpy.zeros((len(part), 1))], axis=1)
    for stride in steps:
        if stride in ahead:
            part[:, stride:stride + 1] += part[:, 2 * stride:2 * stride + 1]
        other = part[:, stride:stride + 1] if of_stride else part[:, stride:2 * stride]
        part[:, :stride] = (part[:, :stride] if keep else 0) + other
    return part[:, 0]


def wrong_trees(part):
    """Sentence -> the sum of all blocks (blocks, threads), by a slip in the tree."""
    halves = [128, 64, 32, 16, 8, 4, 2, 1]
    yield "the threads of a block do not add up what they have: the sum holds thread 0's element only", part[:, 0]
    yield "the last step of the tree, stride 1, is missing", tree(part, halves[:-1])
    yield "the first step of the tree, stride blockDim.x / 2, is missing", tree(part, halves[1:])
    yield "the strides go up: with the first `stride` threads at work they go down, from blockDim.x / 2 to 1", tree(part, halves[::-1])
    yield ("each step replaces part[threadIdx.x] by the other part: it is to be added (+=)",
           tree(part, halves, keep=False))
    yield ("the other part is that of thread `stride` for all: it is to be that of threadIdx.x + stride",
           tree(part, halves, of_stride=True))
    for ahead in ((128, 32, 8, 2), (64, 16, 4, 1), halves):
        yield ("one thread too many adds in each step of the tree: the first `stride` threads are those with "
               "threadIdx.x < stride", tree(part, halves, ahead))


def shuffled(value, steps, keep=True, up=False, own=1):
    """The values of the warps (..., 32) after these steps; own=0: all lanes read lane `offset`."""
    lanes = numpy.arange(WARP)
    for offset in steps:
        lane = own * lanes - offset if up else own * lanes + offset
        value = (value if keep else 0) + value[..., numpy.where((lane < 0) | (lane >= WARP), lanes, lane)]
    return value


def block_sums(part, steps, lane=0, **options):
    """The sums of the blocks (blocks, threads), as block_sum adds them up; `lane` of each warp stores its sum."""
    of_warp = shuffled(part.reshape(len(part), -1, WARP), steps, **options)[..., lane]
    return shuffled(numpy.pad(of_warp, ((0, 0), (0, WARP - of_warp.shape[1]))), steps, **options)[..., 0]


# Sentence, and what `shuffled` is given for such a slip.
HALVES = [16, 8, 4, 2, 1]
WARP_SLIPS = [
    ("the lanes hand nothing over: only lane 0 has an effect", [], {}),
    ("the last step of the shuffles, offset 1, is missing", HALVES[:-1], {}),
    ("the first step of the shuffles, offset 16, is missing", HALVES[1:], {}),
    ("each shuffle replaces the lane's value: what it brings is to be added (+=)", HALVES, {"keep": False}),
    ("the values go to the lanes above: __shfl_down_sync brings that of the lane `offset` further up", HALVES,
     {"up": True}),
    *((f"all steps have the offset {offset}: they are to have 16, 8, 4, 2, 1", [offset] * 5, {}) for offset in HALVES),
    ("the offset goes down by 1 in each step: it is to be halved, 16, 8, 4, 2, 1", list(range(16, 0, -1)), {}),
    ("all lanes get the value of lane `offset`: __shfl_down_sync brings that of the lane `offset` further up", HALVES, {"own": 0}),
    ("a step with offset 32 adds each lane's own value once more: the first offset is 16", [32, *HALVES], {}),
]


def wrong_warps():
    """Sentence -> a function from (blocks, threads) to the sums of the blocks, by a slip in warp_sum or block_sum."""
    for sentence, steps, options in WARP_SLIPS:
        yield f"{sentence} (TODO 5)", lambda p, steps=steps, options=options: block_sums(p, steps, **options)
    yield ("only the first warp of each block is in the sum: its lanes are to add up the sums of all warps (TODO 6)",
           lambda p: shuffled(p.reshape(len(p), -1, WARP), HALVES)[:, 0, 0])
    yield ("the last warp of each block is not in the sum: a lane takes part with a sum where lane < blockDim.x / warp_size (TODO 6)",
           lambda p: shuffled(p.reshape(len(p), -1, WARP), HALVES)[:, :-1, 0].sum(axis=1))
    yield ("sum_of_warp[warp] is that of lane 31: only lane 0 has the whole sum, so it alone is to store (TODO 6)",
           lambda p: block_sums(p, HALVES, lane=31))


def tiles_of_threads(x, grid):
    """(blocks, threads) as vectorised adds: what each thread has before block_sum."""
    tiles = len(x) // TILE * TILE
    threads = numpy.zeros((grid, BLOCK))
    of_tile = x[:tiles].reshape(-1, 4, BLOCK, 4).sum(axis=(1, 3))
    numpy.add.at(threads, numpy.arange(len(of_tile)) % grid, of_tile)
    rest = numpy.arange(len(x) - tiles) % (grid * BLOCK)
    numpy.add.at(threads, (rest // BLOCK, rest % BLOCK), x[tiles:])
    return threads


def wrong_tiles(x, grid):
    """Sentence -> the sum that a slip in sum_of_thread gives."""
    tiles = len(x) // TILE * TILE
    if not tiles:
        yield "the elements behind the last whole tile are missing", 0
        return
    vectors = x[:tiles].reshape(-1, 4, BLOCK, 4)
    rest, number = x[tiles:].sum(), numpy.arange(len(vectors))
    yield "only the elements behind the last whole tile are in the sum: the tiles are missing", rest
    yield "the elements behind the last whole tile are missing", vectors.sum()
    yield ("only the first tile of each block is in the sum: the next one is tile + gridDim.x",
           vectors[:grid].sum() + rest)
    yield ("only the last tile of each block is in the sum: each vector is to be added to `part` (+=)",
           vectors[-grid:].sum() + rest)
    yield ("only the last vector of each thread is in the sum: each is to be added to `part` (+=)",
           vectors[-grid:, 3].sum() + rest)
    yield "every block adds every tile: it is to begin at blockIdx.x, in steps of gridDim.x", grid * vectors.sum() + rest
    yield "every block begins at tile 0: it is to begin at blockIdx.x", grid * vectors[::grid].sum() + rest
    yield "every thread adds the vectors of thread 0: vector k is number k * block_size + threadIdx.x", BLOCK * vectors[:, :, 0].sum() + rest
    yield "every block adds the tiles from its own to the last one: the step is gridDim.x", (
        vectors.sum(axis=(1, 2, 3)) * numpy.minimum(number + 1, grid)).sum() + rest
    per_thread = sum(vectors[t::grid, :, t].sum() for t in range(min(BLOCK, len(vectors))))
    yield "each thread begins at a tile of its own: all threads of a block begin at blockIdx.x", grid * per_thread + rest
    for k in range(4):
        yield f"only vector {k} of each thread is in the sum: all {4} are to be added", vectors[:, k].sum() + rest
        yield (f"each thread adds vector {k} four times: vector k is number k * block_size + threadIdx.x",
               4 * vectors[:, k].sum() + rest)
    for k, member in enumerate("xyzw"):
        yield f"member {member} of the vectors is missing", vectors.sum() - vectors[..., k].sum() + rest
        yield (f"member {member} of `part` is that of the last vector alone: each is to be added (+=)",
               vectors.sum() - vectors[..., k].sum() + vectors[-grid:, 3, :, k].sum() + rest)
        for other in set(range(4)) - {k}:
            yield (f"member {member} of the vectors is missing, and {'xyzw'[other]} is added twice",
                   vectors.sum() - vectors[..., k].sum() + vectors[..., other].sum() + rest)
    yield "only member x of the vectors is in the sum", vectors[..., 0].sum() + rest
    yield "each tile is the first one: tile `tile` begins at vector tile * tile_vectors", len(vectors) * vectors[0].sum() + rest
    begins = number * TILE // 4
    if begins[-1] + TILE <= tiles:
        yield ("tile `tile` begins at element tile * tile_vectors: it is to begin at vector tile * tile_vectors, so the "
               "cast to float4 comes first", sum(x[begin:begin + TILE].sum() for begin in begins) + rest)
    flat = x[:tiles].reshape(-1, TILE // 4, 4).sum(axis=2)
    places = numpy.arange(4)[:, None] * WARP + numpy.arange(BLOCK)
    yield ("vector k is taken from k * warp_size + threadIdx.x: neighbouring threads share vectors, and the rest of the "
           "tile is missing; it is k * block_size + threadIdx.x", flat[:, places].sum() + rest)


def wrong_sums(variant, values, count, most_blocks):
    """Sentence -> the sum of the first `count` values that a slip gives."""
    x = values[:count].astype(float)
    yield "the last element is missing: the bounds test is i < count", x[:-1].sum()
    yield "the first element is missing", x[1:].sum()
    if variant in ONE_EACH:
        part = padded(x, BLOCK)
        yield "the last partial block is missing: the grid is to be rounded up", x[:count // BLOCK * BLOCK].sum()
    else:
        tiles = -(-count // TILE)
        grid = min(tiles, most_blocks)
        part = tiles_of_threads(x, grid)
        if grid > BLOCK and variant == "two_stages":
            yield ("the parts behind the first 256 are missing: the block that adds the parts has more warps than "
                   "block_size / warp_size; blockDim.x says how many (TODO 6)", part[:BLOCK].sum())
        yield from ((f"{sentence} (TODO 7)", total) for sentence, total in wrong_tiles(x, grid))
    if variant == "global_atomics":
        if -(-count // BLOCK) * BLOCK <= len(values):
            yield ("threads beyond the end add as well: the bounds test i < count is missing (TODO 3)",
                   values[:-(-count // BLOCK) * BLOCK].astype(float).sum())
        yield "each thread adds 1: it is to add its element, values[i] (TODO 3)", count
        yield "only thread 0 of each block adds its element (TODO 3)", part[:, 0].sum()
        yield "every block adds the elements of the first one: thread i adds values[i] (TODO 3)", x[numpy.arange(count) % BLOCK].sum()
    elif variant == "shared_tree":
        yield from ((f"{sentence} (TODO 4)", blocks.sum()) for sentence, blocks in wrong_trees(part))
    else:
        for sentence, sums in wrong_warps():
            blocks = sums(part)
            if variant == "two_stages":  # whose second kernel adds the parts in the same way
                blocks = sums(padded(blocks, MOST_PARTS))
            yield sentence, blocks.sum()
    yield "every element is in the sum twice", 2 * x.sum()


def nothing_added(expected, got, case):
    variant = case.parameters["variant"]
    if got.size and (got == 0).all() and (expected != 0).any():
        return f"every sum is 0: nothing is added to *sum{' (TODO 3)' if variant == 'global_atomics' else ''}"
    return None


def explained_sum(expected, got, case):
    """Which slip gives just the sums that were found?"""
    values, sizes, variant = case.inputs["input"], case.sizes, case.parameters["variant"]
    places = numpy.argwhere(case.wrong)
    places = places[numpy.linspace(0, len(places) - 1, min(len(places), 7)).astype(int)]
    row = re.search(rf"^{variant} +(\d+)", case.last_run.stdout, re.M)
    most = int(row[1]) if row else 1
    fitting = None
    for row, column in places:
        fits = [sentence for sentence, total in wrong_sums(variant, values, sizes[column], most)
                if total == got[row, column] or total > 1 << 24 and abs(total - got[row, column]) < 1e-4 * total]  # rounded
        fitting = fits if fitting is None else [sentence for sentence in fitting if sentence in fits]
    found = list(dict.fromkeys(fitting))
    return ", or ".join(found) if len(found) < 3 else None


def hangs_on_the_order(expected, got, case):
    """In CPU mode blocks and threads run in the order, and on the number of cores, that is asked for."""
    orders = [case.in_order("forward"), case.in_order("reversed")]
    variant = case.parameters["variant"]
    if any(found is None or found.shape != got.shape for found in orders):
        return None
    exact = ~((orders[0] >= 1 << 24) | (orders[1] >= 1 << 24))  # a larger sum is rounded, in each order to other digits
    if orders[0][exact].tobytes() != orders[1][exact].tobytes() and variant in TASKS_OF_BARRIERS:
        return ("the result hangs on the order in which the threads run, so there is a race: a barrier is missing or stands "
                f"in the wrong place, or too many threads store ({TASKS_OF_BARRIERS[variant]}). `make sanitize LAB=10` names "
                "the lines")
    if (orders[0] == expected).all():
        task = f" ({TASKS_OF_ATOMICS[variant]})" if variant in TASKS_OF_ATOMICS else ""
        return ("on one core the result is right: blocks that run at the same time lose each other's updates, since to "
                f"read, add and write are three steps. They are to be one atomic{task}")
    return None


def unwritten_memory_added(expected, got, case):
    """NaN that is the same in every order comes from places that nobody ever writes."""
    variant = case.parameters["variant"]
    if case.backend != "cpu" or not numpy.isnan(got[case.wrong]).all():
        return None
    if variant == "global_atomics":
        return "threads beyond the end of the array add what lies there: the bounds test i < count is missing (TODO 3)"
    if variant == "shared_tree":
        return "a part that no thread has written is added: thread t adds part[t + stride], and only where t < stride (TODO 4)"
    if "lane" in origins(got):
        return shuffle_in_a_condition(case)
    return ("lanes of the first warp add places of sum_of_warp that no warp has written: lane 0 of each warp stores in "
            "sum_of_warp[warp], a block of 256 has 8 warps, and the lanes beyond them are to take part with 0 (TODO 6)")


def shuffle_in_a_condition(case):
    """A shuffle has read a lane that does not call it: is the condition around the shuffle, or around warp_sum?"""
    for told in (case.last_run.record or {}).get("absent_lanes", []):
        found = re.search(r"^(\S+): lane (\d+) .* reads lane (\d+) .* lanes 0x([0-9a-f]+)", told)
        if found and int(found[4], 16) == (1 << int(found[3]) - int(found[2])) - 1:  # those below the offset
            return (f"the shuffle in {found[1]} stands inside a condition: all 32 lanes call it, those as well whose sum "
                    "nobody needs (TODO 5)")
    return ("only some lanes call warp_sum, and its shuffles read the others, whose values are undefined: a block of 256 has 8 "
            "warps, and the lanes beyond them are to take part with 0 (TODO 6)")


def lost_updates(expected, got, case):
    """All elements are above zero: what is missing in the sum was lost."""
    if case.parameters["variant"] != "global_atomics" or not (got <= expected).all():
        return None
    worst = numpy.unravel_index((expected - got).argmax(), got.shape)
    return (f"updates are lost: the sum is {got[worst]:.0f}, not {expected[worst]:.0f}. To read *sum, add and write it are "
            "three steps, between which other threads write: it is to be one atomic (TODO 3)")


def differs_from_run_to_run(expected, got, case):
    if got.shape[0] > 1 and (got != got[0]).any():
        return Fact("the same sum comes out differently from run to run: two threads use a place in memory, one of "
                "them writes, and neither an atomic nor a barrier is between them")
    return None


SUM_DIAGNOSERS = [explained_sum, nothing_added, hangs_on_the_order, lost_updates, unwritten_memory_added,
                  differs_from_run_to_run]


# Likely causes: histograms


def bins_of(bytes_, weights=None):
    return numpy.bincount(bytes_, weights, minlength=256)


def counts_of_blocks(x, grid):
    """(blocks, bins): what the copy of each block holds in the end."""
    of_block = numpy.zeros((grid, 256))
    numpy.add.at(of_block, (numpy.arange(len(x)) % (grid * BLOCK) // BLOCK, x), 1)
    return of_block


def wrong_copies(x, grid):
    """Sentence -> the counts of a slip in histogram_shared_copy."""
    thread = numpy.arange(len(x)) % (grid * BLOCK)
    of_block = counts_of_blocks(x, grid)
    yield "each thread counts one byte: it is to go on to first + stride, first + 2 * stride, ...", bins_of(x[:grid * BLOCK])
    yield ("several blocks count the same bytes: the step is `stride`, the threads of the whole grid",
           bins_of(x, numpy.minimum(numpy.arange(len(x)) // BLOCK + 1, grid)))
    yield ("counted is the number of the thread, not the byte: the counter is copy[bytes[i]]",
           bins_of((thread % BLOCK).astype(numpy.uint8)))
    yield "each thread counts all bytes from its first one on: the step is `stride`", bins_of(
        x, numpy.minimum(numpy.arange(len(x)) + 1, grid * BLOCK))
    yield "each thread counts its first byte again in every round: the counter is copy[bytes[i]]", bins_of(x[thread])
    yield "each block adds 1 to the bins that it has seen: it is to add copy[bin]", (of_block > 0).sum(axis=0)
    yield "each block adds 1 to all bins: it is to add copy[bin]", numpy.full(256, grid)
    yield "every thread adds all bins: thread t is to add the bins t, t + blockDim.x, ... alone", BLOCK * bins_of(x)


def wrong_lanes(x, _):
    """Sentence -> the counts of a slip in count_in_lane."""
    whole = len(x) // 16 * 16
    vectors, rest = x[:whole], bins_of(x[whole:])
    byte = numpy.arange(whole) % 4
    word = vectors.reshape(-1, 4).astype(numpy.uint64) @ (1 << numpy.arange(0, 32, 8)).astype(numpy.uint64)
    lane = numpy.arange(whole) // 16 % WARP
    yield "the bytes of whole vectors are not counted", rest
    yield "only the whole vectors of 16 bytes are counted", bins_of(vectors)
    yield "the lowest byte of each word is counted four times: byte b of a word is word >> 8 * b & 0xff", bins_of(
        numpy.repeat(vectors[::4], 4)) + rest
    yield "only one byte of each word is counted", bins_of(vectors[::4]) + rest
    yield "only every second byte is counted", bins_of(vectors[::2]) + rest
    yield "only the first half of each vector is counted", bins_of(vectors[numpy.arange(whole) % 16 < 8]) + rest
    yield "a byte is 8 bits further than the one before: the shift is 8 * (byte % 4)", bins_of(
        (numpy.repeat(word, 4) >> byte.astype(numpy.uint64) & numpy.uint64(255)).astype(numpy.uint8)) + rest
    yield "the counter of bin b is taken to be copy[b]: this lane's is copy[b * warp_size]", bins_of(
        (vectors.astype(int) + lane) // WARP) + rest


SLIPS_OF_HISTOGRAMS = {"shared_copy": (wrong_copies, "TODO 8"), "lane_copies": (wrong_lanes, "TODO 9")}


def wrong_counts(variant, x, grid):
    """Sentence -> the counts of a slip in this variant's kernel."""
    slips, task = SLIPS_OF_HISTOGRAMS.get(variant, (None, ""))
    if slips:
        yield from ((f"{sentence} ({task})", counts) for sentence, counts in slips(x, grid))
    if variant == "lane_copies":  # warp_sum adds up the copies
        copies = numpy.zeros((256, WARP))
        numpy.add.at(copies, (x, numpy.where(numpy.arange(len(x)) < len(x) // 16 * 16, numpy.arange(len(x)) // 16,
                                             numpy.arange(len(x)) - len(x) // 16 * 16) % WARP), 1)
        for sentence, steps, options in WARP_SLIPS:
            yield f"{sentence} (TODO 5)", shuffled(copies, steps, **options)[:, 0]
    yield "the last byte is missing", bins_of(x[:-1])


def explained_counts(expected, got, case):
    data, sizes, variant = case.inputs["input"], case.sizes, case.parameters["variant"]
    row, column, _ = numpy.argwhere(case.wrong)[-1]
    found, task = got[row, column], SLIPS_OF_HISTOGRAMS.get(variant, (None, ""))[1]
    shown = re.search(rf"^{variant} +(\d+)", case.last_run.stdout, re.M)
    grid = min(int(shown[1]), -(-sizes[column] // BLOCK)) if shown else 1
    for sentence, counts in wrong_counts(variant, data[:sizes[column]], grid):
        if (found == counts).all():
            return sentence
    if (found == 0).all():
        return f"nothing is counted: {variant} adds nothing to counts{f' ({task})' if task else ''}"
    if variant == "shared_copy" and grid > 1 and (found == counts_of_blocks(data[:sizes[column]], grid)).any(axis=0).all():
        return "in each bin is the count of one block alone: the blocks are to add theirs, by atomicAdd, and not to replace the others' (TODO 8)"
    if variant == "shared_copy" and found.max() > 1 << 30:
        return ("a counter in shared memory begins with what was there before: all threads together are to set the "
                "copy to zero, with a barrier behind it (TODO 8)")
    if variant == "shared_copy" and (expected[row, column] > 65535).any():
        over = expected[row, column] - found
        if (over >= 0).all() and (over % 65536 == 0).all():
            return "a counter in shared memory has 16 bits, and starts again at 0 after 65535: `unsigned` has 32 (TODO 8)"
    return None


COUNT_DIAGNOSERS = [explained_counts, hangs_on_the_order]


# Cases


def place(case):
    """How a report names an element of the output: the run, the number of elements, the byte."""
    def name(index):
        run = f"run {index[0] + 1}, " if index[0] else ""
        return run + (f"byte {index[2]} in {case.sizes[index[1]]}" if len(index) > 2 else f"sum of {case.sizes[index[1]]}")
    return name


PAST_THE_END = {"global_atomics": "a thread without an element reads: the bounds test is i < count (TODO 3)",
                "vectorised": "a tile is read that is not whole or not there: tiles go up to whole_tiles - 1, and tile `tile` begins at "
                              "vector tile * tile_vectors (TODO 7)"}


def sums_of(case, variant, values, *words):
    """What the program writes; a program that is stopped is told which task that is."""
    try:
        return case.compute("--variant", variant, *words, inputs={"input": values})
    except checker.Failure as failure:
        if "warp primitive" in str(failure):
            raise checker.Failure(f"{failure}\nlikely cause: the shuffle, or the call of warp_sum, stands inside a condition "
                                  "(TODO 5, TODO 6)")
        if variant in PAST_THE_END and re.search("past the end|before the start", str(failure)):
            raise checker.Failure(f"{failure}\nlikely cause: {PAST_THE_END[variant]}")
        raise


def add(case, variant, values, repeat=1, step=0):
    """All sums of one run of the program, judged exactly."""
    case.sizes = list(range(step, len(values) + 1, step)) if step else [len(values)]
    got = sums_of(case, variant, values, "--repeat", repeat, "--step", step)
    prefixes = numpy.concatenate([[0], numpy.cumsum(values, dtype=numpy.float64)])[case.sizes]
    expected = numpy.tile(prefixes.astype(numpy.float32), (repeat, 1))
    case.compare(expected, got, EXACT_SUM, diagnosers=SUM_DIAGNOSERS, place=place(case))


def count_bytes(case, variant, data, repeat=1, step=0, blocks=0):
    case.sizes = list(range(step, len(data) + 1, step)) if step else [len(data)]
    got = case.compute("--problem", "histogram", "--variant", variant, "--repeat", repeat, "--step", step, "--blocks",
                       blocks, inputs={"input": data})
    rows, begin, so_far = [], 0, numpy.zeros(256)
    for size in case.sizes:
        so_far = so_far + numpy.bincount(data[begin:size], minlength=256)
        begin = size
        rows.append(so_far)
    expected = numpy.tile(numpy.array(rows), (repeat, 1, 1))
    case.compare(expected, got, EXACT_COUNT, diagnosers=COUNT_DIAGNOSERS, place=place(case))


def sum_case(case, variant, count, step=0):
    add(case, variant, whole_numbers(case, count), step=step)


def one_to_4096(case, variant, repeat):
    """1 + 2 + ... + 4096 = 8390656, every time."""
    add(case, variant, numpy.arange(1, 4097, dtype=numpy.float32), repeat=repeat)


def float_sum(case, variant, count):
    values = case.floats(count, 0, 100)
    magnitude = float(numpy.abs(values.astype(float)).sum())
    depth = count if variant == "global_atomics" else -(-count // BLOCK) + 64
    assert depth * 2.0**-24 < 1 / count, "a lost element of mean size would not show"
    tolerance = checker.Tolerance(absolute=depth * 2.0**-24 * magnitude, why=(
        f"an element goes through at most {depth} additions, and each rounds by no more than 2^-24 of sum |x|"))
    case.sizes = [count]
    got = case.compute("--variant", variant, inputs={"input": values})
    expected = values.astype(float).sum().astype(numpy.float32).reshape(1, 1)
    case.compare(expected, got, tolerance, diagnosers=[nothing_added], place=place(case))


def histogram_case(case, variant, count, step=0, repeat=1):
    count_bytes(case, variant, case.random.integers(0, 256, count, dtype=numpy.uint8), repeat, step)


for variant in ALL_SUMS:
    lab.case(f"{variant}: all sizes from 1 to 700", sum_case, variant=variant, count=700, step=1)
    lab.case(f"{variant}: sizes to 13000, every 97th", sum_case, variant=variant, count=13_000, step=97)
    lab.case(f"{variant}: all sizes from 1 to 5000", sum_case, variant=variant,
             count=5000, step=1, on_cpu={"step": 31}, quick=False)
    lab.case(f"{variant}: 1 to 4096, again and again", one_to_4096, variant=variant, repeat=1000, on_cpu={"repeat": 20})
    floats = 1003 if variant == "global_atomics" else 50_021  # with more of them a lost one would not show
    lab.case(f"{variant}: {floats} random floats", float_sum, variant=variant, count=floats)
    lab.case(f"{variant}: 4 Mi elements and one", sum_case, variant=variant,
             count=(1 << 22) + 1, on_cpu={"count": (1 << 17) + 1}, quick=False)

MORE_TILES = (1 << 20) + 40 * TILE + 1  # than a Tesla T4 runs blocks at once, and more than 256 parts
for variant in ("vectorised", "two_stages"):
    lab.case(f"{variant}: more tiles than blocks, more parts than threads", sum_case, variant=variant,
             count=(1 << 23) + TILE + 1, on_cpu={"count": MORE_TILES})


@lab.case("global_atomics: no update is lost between blocks", variant="global_atomics")
def no_lost_update(case, variant):
    """On the CPU two cores have to run two blocks at once, so there are many blocks, many times."""
    if case.backend == "cpu" and (len(os.sched_getaffinity(0)) < 2 or os.environ.get("CUDA_CPU_THREADS") == "1"):
        raise checker.Skipped("on one core the blocks run in turn and lose no update: whether TODO 3 is an atomic "
                              "is not judged here")
    add(case, variant, numpy.ones(1 << 18, numpy.float32), repeat=40)


for variant in ALL_HISTOGRAMS:
    lab.case(f"histogram, {variant}: all sizes from 1 to 70", histogram_case, variant=variant, count=70, step=1)
    lab.case(f"histogram, {variant}: sizes to 70000, every 9973rd", histogram_case, variant=variant,
             count=70_000, step=9973, repeat=2)
    lab.case(f"histogram, {variant}: all sizes from 1 to 5000", histogram_case,
             variant=variant, count=5000, step=1, on_cpu={"step": 97}, quick=False)
    lab.case(f"histogram, {variant}: 16 Mi bytes and one", histogram_case, variant=variant,
             count=(1 << 24) + 1, on_cpu={"count": (1 << 18) + 1}, quick=False)


@lab.case("histogram: equal bytes, every byte once, two bytes in turn")
def particular_bytes(case):
    for variant in HISTOGRAMS_THERE:
        case.parameters = {"variant": variant}
        for data in (numpy.full(10_007, 255, numpy.uint8), numpy.arange(256, dtype=numpy.uint8),
                     numpy.tile(numpy.array([0, 32], numpy.uint8), 5003)):
            count_bytes(case, variant, data)


@lab.case("histogram: more than 65535 in one counter of a block")
def large_counters(case):
    for variant, counters in (("shared_copy", 1), ("warp_copies", 8), ("lane_copies", WARP)):
        if variant not in HISTOGRAMS_THERE:
            continue
        case.parameters = {"variant": variant}
        count_bytes(case, variant, numpy.full((counters << 16) + 5, 200, numpy.uint8), blocks=1)


@lab.case("histogram, shared_copy: on a card 4 Gi bytes and five", variant="shared_copy", quick=False)
def more_than_32_bits(case, variant):
    if case.backend == "cpu":
        raise checker.Skipped("it needs a GPU: CPU mode would take minutes")
    case.sizes = [(1 << 32) + 5]
    try:
        got = case.compute("--problem", "histogram", "--variant", variant, "--data", "equal", "--elements", case.sizes[0])
    except checker.Skipped as reason:
        raise checker.Skipped(str(reason))  # for want of memory
    expected = numpy.zeros((1, 1, 256))
    expected[..., 77] = case.sizes[0]
    case.compare(expected, got, EXACT_COUNT, place=place(case))


@lab.case("two_stages: the same bits in every run, on every card", variant="two_stages")
def reproducible(case, variant):
    values = case.floats(50_021, -1, 1)
    sums = []
    for card in ("t4", "h100"):
        sums.append(case.compute("--variant", variant, "--repeat", 5, inputs={"input": values},
                                 env={"CUDA_CPU_DEVICE": card}).ravel())
    sums = numpy.concatenate(sums)
    case.expect(len(set(sums.tolist())) == 1, f"the sums of the same floats differ: {sorted(set(sums.tolist()))}")
    exact = values.astype(float)
    case.expect(abs(float(sums[0]) - exact.sum()) <= 80 * 2.0**-24 * numpy.abs(exact).sum(),
                f"the sum is {sums[0]}, expected {exact.sum():.9g}: 80 additions do not round by so much")


@lab.case("an infinite element")
def infinite(case):
    for variant in SUMS_THERE:
        case.parameters, case.sizes = {"variant": variant}, [5000]
        values = numpy.ones(5000, numpy.float32)
        values[4321] = numpy.inf
        got = case.compute("--variant", variant, inputs={"input": values})
        case.compare(numpy.full((1, 1), numpy.inf, numpy.float32), got, EXACT_SUM, diagnosers=SUM_DIAGNOSERS)


@lab.case("a size nobody knows before, all variants", fresh=True)
def fresh(case):
    count = int(case.random.integers(1, 30_000))
    for variant in SUMS_THERE:
        case.parameters = {"variant": variant}
        add(case, variant, whole_numbers(case, count), repeat=3)
    for variant in HISTOGRAMS_THERE:
        case.parameters = {"variant": variant}
        count_bytes(case, variant, case.random.integers(0, 256, count, dtype=numpy.uint8), repeat=3)


@lab.case("a sum that rounding may spoil by more than an element is not judged")
def without_force(case):
    values = numpy.ones(5001, numpy.float32)
    values[0] = 1 << 24  # a float of this size holds no ones
    for words in (["--input", case.save("values", values)], ["--data", "fractions"]):
        run = case.run("--variant", "global_atomics", *words, status=(0, 1, 77))
        case.expect(not re.search(r"^global_atomics .*\bcorrect$", run.stdout, re.M),
                    f"`{' '.join(words)}` is called correct, although within the bound a lost element would not show")


@lab.case("all variants in one run, random input")
def everything(case):
    for problem, variants in (("sum", SUMS_THERE), ("histogram", HISTOGRAMS_THERE)):
        run = case.run("--problem", problem, "--elements", 3000)
        for variant in variants:
            case.expect(re.search(rf"^{variant} .*\bcorrect$", run.stdout, re.M),
                        f"the table of the {problem} has no row that calls {variant} correct")
    run = case.run("--variant", "shared_copy,lane_copies", "--elements", 3000)
    case.expect("3000 random bytes" in run.stdout, "variants of the histogram do not choose --problem histogram")


@lab.case("no elements")
def empty(case):
    for variant in SUMS_THERE:
        got = case.compute("--variant", variant, inputs={"input": numpy.zeros(0, numpy.float32)})
        case.expect(got.shape == (1, 1) and got[0, 0] == 0, f"{variant}: the sum of no elements is {got}")
    for variant in HISTOGRAMS_THERE:
        got = case.compute("--problem", "histogram", "--variant", variant,
                           inputs={"input": numpy.zeros(0, numpy.uint8)})
        case.expect(got.shape == (1, 1, 256) and not got.any(), f"{variant}: of no bytes {got.sum()} are counted")


def demo(case, demonstration, counts, count):
    """The repaired kernel's number; the racy one may print what it likes, and has to say so."""
    run = case.run("--demo", demonstration, "--elements", count)
    expected = count if counts else int((numpy.arange(count) % 1000).sum())
    found = re.search(r"^repaired: +(\d+)$", run.stdout, re.M)
    case.expect(found, "the demo prints no line `repaired: NUMBER`")
    case.expect(re.search(r"^racy: may be wrong: +\d+$", run.stdout, re.M), "the demo does not say that it is racy")
    missing = "TODO 1: one atomic a thread" if counts else "TODO 2: a barrier in every step, for all threads"
    if counts and int(found[1]) == -(-count // DEMO_BLOCK) * DEMO_BLOCK:
        missing = "TODO 1: the threads beyond the end count as well: only where i < count is there one to count"
    case.expect(int(found[1]) == expected, f"the repaired kernel gives {found[1]}, expected {expected} ({missing})")


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


# So many threads at least have something to store in these runs: each, one a block, or one a bin.
STORING = {"sum_global_atomics": 9001, "sum_shared_tree": 36, "sum_warp_shuffles": 36, "sum_vectorised": 2, "sum_into_parts": 2,
           "histogram_global_atomics": 512, "histogram_shared_copy": 256, "histogram_warp_copies": 256,
           "lost_update_repaired": 1100}


def shared_out(case):
    """Judges a watched run: how many threads have stored anything."""
    for launch in case.last_run.record["launches"]:
        case.threads(launch["kernel"], storing=STORING.get(launch["kernel"], 1))


# A plain increment where an atomic belongs counts right in CPU mode: only the order of the accesses shows it.
lab.watched("no race between threads", [
    ["--elements", 9001, "--blocks", 2], ["--problem", "histogram", "--elements", 9001, "--blocks", 2],
    *(["--demo", word, "--repaired", "--elements", 1100] for word in ("lost_update", "lost_update_in_shared", "missing_barrier"))],
    shared_out)


@lab.case("bad arguments")
def bad_arguments(case):
    for value in ("-1", "many", "", "99999999999999999999", "300Gi"):
        case.refuses("--elements", value, saying="elements")
    case.refuses("--elements", "200Gi", saying="memory")
    case.refuses("--variant", "no_copies", saying="variant")
    case.refuses("--problem", "sum", "--variant", "lane_copies", saying="variant")
    case.refuses("--variant", "shared_tree,lane_copies", saying="variant")
    case.refuses("--problem", "histogram", "--variant", "shared_tree", saying="variant")
    case.refuses("--problem", "product", saying="problem")
    case.refuses("--demo", "lost", saying="demo")
    case.refuses("--repaired", saying="demo")
    case.refuses("--repeat", "0", saying="repeat")
    case.refuses("--data", "equal", saying="data")
    case.refuses("--problem", "histogram", "--data", "fractions", saying="data")
    case.refuses("--variant", "shared_tree", "--blocks", "2", saying="blocks")
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
    case.refuses("--repeat", "1Mi", "--step", "1", "--elements", "1Mi", "--variant", "vectorised", saying="memory")
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
