"""Guesses, in the learner's words, why an array is wrong.

A diagnoser is a function (expected, got, case) -> sentence or None. `case.wrong` is true where an
element is wrong, `case.inputs` holds the arrays that the program was given. All of them are asked in
turn and the first sentence wins, so the particular ones stand before the general ones.

A sentence is the cause, or it is no cause: what fits many causes is a `Fact`, which the report calls
"what stands out". What lies in the part that all variants share (a copy to the device, say) is `Shared`: the
report does not say it once another variant passes. Sentences say what the file does, then what is right.
"""

from __future__ import annotations

import re

import numpy

from .comparison import ORIGINS, is_whole, origins, poisoned
from .usage import counted


class Fact(str):
    """What stands out, where many causes are possible."""


class Shared(str):
    """A cause in what the variants share. `own` is said in its place when another variant passes."""

    def __new__(cls, sentence: str, own: str = ""):
        made = super().__new__(cls, sentence)
        made.own = own
        return made


def likely_cause(expected, got, case, diagnosers=()) -> str | None:
    """The first sentence that a diagnoser of the lab, or a general one, has to say."""
    with numpy.errstate(all="ignore"):  # values may be NaN, infinite or huge
        for diagnoser in [*diagnosers, *GENERAL]:
            sentence = diagnoser(expected, got, case)
            if sentence:
                return sentence
    return None


def same(left, right) -> bool:
    """Equal up to rounding, and not by being all one value."""
    if left.shape != right.shape or left.size == 0:
        return False
    if left.size > 10_000 and not same(left.reshape(-1)[:1000], right.reshape(-1)[:1000]):
        return False  # most guesses are wrong, and this finds out in no time
    return bool(numpy.isclose(left, right, rtol=1e-5, atol=1e-6 * typical(right), equal_nan=False).all())


def typical(array) -> float:
    """A size to measure rounding against."""
    finite = numpy.abs(array[numpy.isfinite(array)].astype(numpy.float64))
    return float(finite.max()) if finite.size else 0.0


def distinct(array) -> bool:
    return array.size > 1 and bool((array.reshape(-1)[1:] != array.reshape(-1)[0]).any())


def launch_shape(case, sides: int = 3):
    """((x, y, z) of the grid, (x, y, z) of the block) of the case's variant, by the table that it printed."""
    run, variant = getattr(case, "last_run", None), case.parameters.get("variant")
    row = run and variant and re.search(rf"^{re.escape(variant)} +([\dx]+) +([\dx]+) ", run.stdout, re.MULTILINE)
    if not row:
        return None
    return tuple((*map(int, text.split("x")), 1, 1)[:sides] for text in row.groups())


def tiles_of_vectors(missing, tile: int, todo: str) -> str | None:
    """For kernels that add whole tiles by vectors, and what is no whole tile one by one: which of it is missing?"""
    missing = missing.reshape(-1)
    whole = missing.size // tile * tile
    tiles, rest = missing[:whole].reshape(-1, tile), missing[whole:]
    if not whole or not missing.any():
        return None
    if rest.size and rest.all() and not tiles.any():
        return "only whole tiles are added: the tile that ends beyond the last element needs the scalar loop"
    if tiles.all() and not rest.any():
        return f"no whole tile is added: the part with float4 stores nothing ({todo})"
    added = tile - int(tiles[0].sum())
    if 0 < added < tile and (tiles == tiles[0]).all() and not rest.any():
        return (f"of each whole tile {added} of {tile} elements are added: a thread has vectors_per_thread float4 to load, "
                f"to add and to store ({todo})")
    return None


def right_only_once(expected, got, case):
    """lab::compare_and_time() says so in the table."""
    run = getattr(case, "last_run", None)
    if run and "right only once: " in run.stdout:
        return ("the first launch is right, a later one on the same input is not: the file does something only "
                "once (a static variable?), or goes on from what the launch before left behind")
    return None


def unwritten(expected, got, case):
    """Where the wrong elements still hold the poison."""
    return poisoned(got) & case.wrong


# What each kind of comparison.ORIGINS says about the kernel.
READS = {
    "lane": "a shuffle reads a lane that has ended or does not call it, whose value is undefined. All lanes of the "
            "mask call the shuffle, outside of conditions; what a lane does with the value may depend on a condition",
    "shared": "a thread reads an element of shared memory before one has stored to it. Each element is stored first, "
              "then comes a __syncthreads(), then the reads",
    "past": "a thread reads beyond the end of an array, or before its start. An index is compared with the number of "
            "elements before the read",
    "device": "these elements are never stored, or the kernel reads an array that nothing was copied or stored to",
}


def read_too_early(expected, got, case):
    """In CPU mode: values that come from memory which nobody had written, or from outside an array."""
    found = {kind: int((here & case.wrong).sum()) for kind, here in origins(got).items()}
    for kind, meaning in READS.items():
        if kind == "lane" and found.get(kind) and absent_lanes(expected, got, case):
            meaning = absent_lanes(expected, got, case)
        if found.get(kind):
            return sentence_of_origin(kind, found[kind], meaning)
    return bytes_read_too_early(got, case)


def absent_lanes(expected, got, case):
    """In CPU mode: a shuffle has read a lane that had ended; whether the value was used is not known."""
    run = getattr(case, "last_run", None)
    told = run.record.get("absent_lanes") if run and run.record else None
    return Fact(told[0]) if told else None


def bytes_read_too_early(got, case):
    """The same for single bytes, of which only many together tell where they come from."""
    if got.dtype.kind not in "iu" or got.dtype.itemsize > 2:
        return None
    wrong = got[case.wrong]
    for kind, meaning in READS.items():
        parts = numpy.array([ORIGINS[kind][0]], "<u4").view(f"<{got.dtype.kind}{got.dtype.itemsize}")
        inside = wrong[numpy.isin(wrong, parts)]
        # Each part of the pattern, in about equal shares, and little else.
        if len(inside) >= max(8, 0.9 * len(wrong)) and all((inside == part).sum() * 8 >= len(inside) for part in parts):
            return sentence_of_origin(kind, len(inside), meaning)
    return None


def sentence_of_origin(kind, count, meaning):
    verb = "element is" if count == 1 else "elements are"
    said = f"{count} {verb} {ORIGINS[kind][1]}: {meaning}"
    return Fact(said) if kind == "device" else said


def nothing_written(expected, got, case):
    if got.size and (unwritten(expected, got, case) | (poisoned(got) & ~case.wrong)).all():
        variant = case.parameters.get("variant", "the kernel")
        return Shared("nothing was written: the output still holds what it was filled with before the launch. Does "
                      "the kernel store its result, is it launched, and did the launch succeed?",
                      own=f"{variant} has stored nothing, while other variants do: it is its kernel that does not "
                          f"store, or its own launch")
    return None


def tail_unwritten(expected, got, case):
    """The first elements are right, all later ones never written."""
    flat = poisoned(got).reshape(-1)
    first = int(case.wrong.reshape(-1).argmax())
    if first == 0 or not flat[first:].all():
        return None
    shape = launch_shape(case)
    threads = int(numpy.prod(shape[0]) * numpy.prod(shape[1])) if shape else first
    missing = flat.size - first
    if threads == first and missing < 1024 and first % 32 == 0:
        return (f"the last partial block is never written (the elements from {first} on): is the grid "
                f"rounded up?")
    if shape and threads == first:
        return f"the launch has {threads} threads, and each adds one of the {flat.size} elements"
    return Fact(f"only the first {first} of {flat.size} elements are written")


def edges_unwritten(expected, got, case):
    """In two dimensions: the last columns, the last rows, or both, never written."""
    if got.ndim < 2:
        return None
    mask = unwritten(expected, got, case)
    if (case.wrong & ~mask).any() or not mask.any():
        return None
    rows = mask.all(axis=tuple(range(1, mask.ndim)))
    columns = mask.all(axis=(0, *range(2, mask.ndim)))
    height, width = int((~rows).sum()), int((~columns).sum())
    outside = numpy.zeros(mask.shape, bool)
    outside[height:] = True
    outside[:, width:] = True
    if not (mask == outside).all() or 0 in (height, width):
        return None
    parts = []
    if width < mask.shape[1]:
        parts.append(f"the columns from {width} on")
    if height < mask.shape[0]:
        parts.append(f"the rows from {height} on")
    text = f"{' and '.join(parts)} are never written"
    shape = launch_shape(case, 2)
    threads = [grid * block for grid, block in zip(*shape)] if shape else [width, height]
    if all(threads[axis] == (width, height)[axis] for axis in (0, 1) if (width, height)[axis] < mask.shape[1 - axis]):
        axis = {1: "in that direction", 2: "in x and in y"}[len(parts)]
        return f"{text}: is the grid rounded up {axis}?" if shape else Fact(text)
    return Fact(text)


def rows_beyond_the_grid(expected, got, case):
    """For labs whose kernels go on by the rows of the grid: those beyond its first round, never written.
    `rows_of_grid` in the case's parameters says how many rows a round has."""
    rows = case.parameters.get("rows_of_grid", 0)
    missing = poisoned(got).reshape(len(got), -1).all(axis=1)
    if 0 < rows < len(got) and missing[rows:].all() and not case.wrong[:rows].any():
        return (f"the rows from {rows} on are never written: the grid has no more rows than that, so a thread goes on by the "
                f"rows of the grid, gridDim.y * blockDim.y, until the picture ends")
    return None


def row_times_height(expected, got, case):
    """row * height + column where it should be row * width + column."""
    if got.ndim != 2 or got.shape[0] == got.shape[1] or 1 in got.shape:
        return None
    height, width = got.shape
    rows, columns = numpy.divmod(numpy.arange(got.size), width)
    places = rows * height + columns
    inside = places < got.size
    sentence = ("the row is multiplied by the height: element (row, column) lies at "
                "row * width + column")
    found, wanted = got.reshape(-1), expected.reshape(-1)
    # All arrays share the wrong index: what is written is right, and the places never reached show.
    reached = numpy.zeros(got.size, bool)
    reached[places[inside]] = True
    mask = unwritten(expected, got, case).reshape(-1)
    if mask.any() and (mask == ~reached).all() and not case.wrong.reshape(-1)[reached].any():
        return sentence
    # Only the output has the wrong index: judge the places that exactly one thread writes.
    hits = numpy.bincount(places[inside], minlength=got.size)
    once = inside & (hits[numpy.minimum(places, got.size - 1)] == 1)
    if once.any() and same(found[places[once]], wanted[once]) and distinct(wanted[once]):
        return sentence
    # Only the input has the wrong index.
    if inside.any() and same(found[inside], wanted[places[inside]]) and distinct(wanted):
        return sentence
    return None


def transposed(expected, got, case):
    if got.ndim != 2 or 1 in got.shape or not distinct(expected):
        return None
    if same(got.reshape(-1), expected.T.reshape(-1)):
        return "the result is transposed: an index swaps x and y, or row and column"
    return None


def copy_of_input(expected, got, case):
    for name, array in case.inputs.items():
        if array.size == got.size and distinct(array) and same(got.reshape(-1), array.reshape(-1)):
            return Fact(f"the result equals the input '{name}'")
    return None


def one_constant(expected, got, case):
    if got.size < 2 or not distinct(expected):
        return None
    first = got.reshape(-1)[0]
    if (got == first).all():
        return Fact(f"every element is {first}")
    return None


def zero_tail(expected, got, case):
    """The first elements are right, all later ones zero."""
    wrong = case.wrong.reshape(-1)
    first = int(wrong.argmax())
    tail = got.reshape(-1)[first:]
    if first and tail.size > 1 and (tail == 0).all() and wrong[first:].any():
        if got.dtype.itemsize > 1 and first == -(-wrong.size // got.dtype.itemsize):
            return (f"everything from element {first} on is zero: a size is given in elements, where bytes are "
                    f"meant (an element has {got.dtype.itemsize})")
        return Fact(f"everything from element {first} on is zero")
    return None


def shifted(expected, got, case):
    """Off by one, along the whole array or along an axis."""
    views = [(expected.reshape(-1), got.reshape(-1), "")]
    if got.ndim == 2:
        views = [(expected.T, got.T, " column"), (expected, got, " row"), *views]
    for wanted, found, axis in views:
        if len(wanted) < 3 or not distinct(wanted):
            continue
        for ahead, word in ((1, "next"), (-1, "previous")):
            pair = (found[:-1], wanted[1:]) if ahead == 1 else (found[1:], wanted[:-1])
            if same(*pair) and distinct(pair[1]):
                place = f"the {word}{axis}" if axis else f"the {word} element"
                return f"each element holds what belongs to {place}: an index is off by one"
    return None


def not_clamped(expected, got, case):
    """Bytes: wrong exactly where the value should stop at 0 or 255."""
    if got.dtype != numpy.uint8:
        return None
    limits = expected[case.wrong]
    if case.wrong.all() or not distinct(got):
        return None
    if ((limits == 0) | (limits == 255)).all() and distinct(expected):
        return ("only elements that should stop at 0 or 255 are wrong: is the value clamped before it "
                "becomes a byte?")
    return None


def constant_factor(expected, got, case):
    """All elements too large by one factor, or with the wrong sign."""
    if is_whole(got) and got.dtype.kind == "u":
        return None
    wanted, found = expected.reshape(-1).astype(numpy.float64), got.reshape(-1).astype(numpy.float64)
    usable = numpy.abs(wanted) > 1e-3 * typical(wanted)
    if usable.sum() < 3 or not numpy.isfinite(found).all() or not distinct(wanted[usable]):
        return None
    ratios = found[usable] / wanted[usable]
    factor = float(numpy.median(ratios))
    if abs(factor) < 1e-6 or not numpy.allclose(ratios, factor, rtol=1e-4, atol=0):
        return None
    if abs(factor - 1) < 1e-3:
        return None  # that is rounding
    if abs(factor + 1) < 1e-4:
        return Fact("every element has the wrong sign")
    return Fact(f"every element is {factor:.4g} times what is expected")


def repeating_pattern(expected, got, case):
    """Wrong elements that come back at a fixed distance: odd and even, lanes of a warp, block edges."""
    wrong = case.wrong.reshape(-1)
    if wrong.all():
        return None
    period = smallest_period(wrong)
    if period is None:
        return None
    residues = numpy.flatnonzero(wrong[:period])
    verb = "never written" if (unwritten(expected, got, case).reshape(-1) == wrong).all() else "wrong"
    if period == 2:
        which = "odd" if residues[0] == 1 else "even"
        return Fact(f"only the elements with an {which} index are {verb}")
    unit = {32: " (one warp)"}.get(period, "")
    if len(residues) == 1:
        return Fact(f"one element in {period}{unit} is {verb}, the one with index % {period} == {residues[0]}")
    if len(residues) == period - 1:
        right = next(iter(set(range(period)) - set(residues.tolist())))
        return Fact(f"only one element in {period}{unit} is right, the one with index % {period} == {right}")
    if residues[-1] - residues[0] == len(residues) - 1:
        span = f"between {residues[0]} and {residues[-1]}"
        return Fact(f"the elements whose index % {period}{unit} lies {span} are {verb}, and no others")
    return Fact(f"the {verb} elements repeat every {period} elements{unit}")


def smallest_period(mask, longest: int = 1024) -> int | None:
    """The smallest distance at which the mask repeats exactly, at least three times over."""
    beginning = mask[:64 * longest]
    for period in range(2, min(longest, len(mask) // 3) + 1):
        if (beginning[period:] == beginning[:-period]).all():
            return period if (mask[period:] == mask[:-period]).all() else None
    return None


def beginning_right(expected, got, case):
    """Whole warps right at the beginning, all later elements wrong."""
    wrong = case.wrong.reshape(-1)
    first = int(wrong.argmax())
    if first and first % 32 == 0 and wrong[first:].mean() > 0.9 and wrong.size - first > 1:
        return Fact(f"only the first {first} elements are right")
    return None


def scattered_unwritten(expected, got, case):
    mask = unwritten(expected, got, case)
    if got.dtype.kind == "f" and mask.any():
        return Fact(f"{counted(int(mask.sum()), 'element is', 'elements are')} never written")
    return None


def not_a_number(expected, got, case):
    if got.dtype.kind != "f":
        return None
    surprising = numpy.isnan(got) & ~numpy.isnan(expected.astype(got.dtype))
    if surprising.any():
        return Fact(f"{counted(int(surprising.sum()), 'element is', 'elements are')} NaN (not a number)")
    endless = numpy.isinf(got) & ~numpy.isinf(expected.astype(got.dtype))
    if endless.any():
        return Fact(f"{counted(int(endless.sum()), 'element is', 'elements are')} infinite")
    return None


def rounding(expected, got, case):
    """Close, but not close enough."""
    if is_whole(got):
        return None
    error = numpy.abs(got.astype(numpy.float64) - expected.astype(numpy.float64))[case.wrong]
    scale = typical(expected)
    if scale and error.size and float(error.max()) < 1e-3 * scale:
        return Fact(f"the differences are small, at most {float(error.max()):.2g}")
    return None


GENERAL = [
    right_only_once, read_too_early, nothing_written, row_times_height, tail_unwritten, edges_unwritten, transposed, copy_of_input,
    one_constant, zero_tail, shifted, not_clamped, constant_factor, repeating_pattern,
    beginning_right, absent_lanes, scattered_unwritten, not_a_number, rounding,
]
