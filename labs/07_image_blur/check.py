"""Judges image_blur: every variant's mean over the window, byte for byte, against sums of NumPy."""

import re
import sys
from pathlib import Path

import numpy
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.diagnose import Fact

TODO = {"naive": "TODO 2", "tiled": "TODO 3a", "separable": "TODO 4", "running": "TODO 5b"}
FURTHER = ["fused", "shuffled"]
lab = checker.Lab(__file__, tasks={**TODO, "tiled": "TODO 3a or 3b", "running": "TODO 5a or 5b"}, further=FURTHER)
EXACT = checker.Tolerance(why="sums of whole numbers, and a division that drops the fraction")
VARIANTS = ["naive", "tiled", "separable", "running"]
SMALL = 7  # the largest radius of shuffled
TILE_HEIGHT, TILE_WIDTH = 16, 32  # of the tiled kernel, in values


# What is right. A picture is an array (height, width) or (height, width, channels).


def window_sums(pixels, up, down, left, right, less=(0, 0, 0, 0)):
    """Sum and size of each pixel's window, which reaches so far and is cut where the picture ends. Then it loses
    `less` rows and columns more: above, below, on the left, on the right."""
    height, width = pixels.shape[:2]
    integral = numpy.zeros((height + 1, width + 1, *pixels.shape[2:]), numpy.int64)
    integral[1:, 1:] = pixels.cumsum(0, dtype=numpy.int64).cumsum(1)
    rows, columns = numpy.arange(height), numpy.arange(width)
    top, bottom = numpy.maximum(rows - up, 0) + less[0], numpy.minimum(rows + down + 1, height) - less[1]
    begin, end = numpy.maximum(columns - left, 0) + less[2], numpy.minimum(columns + right + 1, width) - less[3]
    bottom, end = numpy.maximum(top, bottom), numpy.maximum(begin, end)
    below, above = integral[bottom], integral[top]
    sums = below[:, end] - below[:, begin] - above[:, end] + above[:, begin]
    sizes = (bottom - top)[:, None] * (end - begin)
    return sums, sizes.reshape(sizes.shape + (1,) * (pixels.ndim - 2))


def blurred(pixels, radius, **reach):
    sums, sizes = window_sums(pixels, **{side: reach.get(side, radius)
                                         for side in ("up", "down", "left", "right")})
    return (sums // numpy.maximum(sizes, 1)).astype(numpy.uint8)


def blurred_by_loops(pixels, radius):
    """The same in the plainest way, for tiny pictures."""
    result = numpy.empty_like(pixels)
    for row in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            part = pixels[max(row - radius, 0):row + radius + 1, max(column - radius, 0):column + radius + 1]
            result[row, column] = part.astype(int).sum((0, 1)) // (part.shape[0] * part.shape[1])
    return result


# Likely causes


def copied(expected, got, case):
    if got.size > 1 and numpy.array_equal(got, case.inputs["input"]):
        return "the picture has not changed: the window is one pixel only (TODO 1), or its sum is missing (TODO 2)"
    return None


def too_plain(case):
    """A picture of a few pixels, or of one colour, fits too many explanations."""
    pixels = case.inputs["input"]
    return min(pixels.shape[:2]) < 3 or (pixels == pixels[:1, :1]).all()


def cube(pixels):
    """(height, width, channels), also of a gray picture."""
    return pixels if pixels.ndim == 3 else pixels[..., None]


MISSING_SIDES = [
    "the sums miss the top row of the window, which is counted: the rows begin at rows.first",
    "the sums miss the bottom row of the window, which is counted: rows.last belongs to it, so a loop goes on while "
    "y <= rows.last",
    "the sums miss the left column of the window, which is counted: the columns begin at columns.first",
    "the sums miss the right column of the window, which is counted: columns.last belongs to it, so a loop goes on while "
    "x <= columns.last",
]


def of_window(pixels, radius):
    """Mistakes in `window`: sentence -> what a kernel gives with it."""
    sums, sizes = window_sums(pixels, radius, radius, radius, radius)
    yield "`window` still gives one pixel, the first of the picture", numpy.broadcast_to(pixels[:1, :1], pixels.shape)
    for sides, begins_early, begins_late in ((("up", "left"), "begins one too early", "begins one too late"),
                                             (("down", "right"), "ends one too late", "ends one too early")):
        for reach, what in ((radius + 1, begins_early), (radius - 1, begins_late)):
            yield f"`window` {what}: it goes from centre - radius to centre + radius, both included", \
                blurred(pixels, radius, **dict.fromkeys(sides, reach))
    height, width = pixels.shape[:2]
    ends = [numpy.minimum(numpy.arange(size) + radius, size) - numpy.maximum(numpy.arange(size) - radius, 0) + 1
            for size in (height, width)]
    yield ("windows at the bottom and at the right count a row or a column that is not there: the last place is size - 1, "
           "not size", sums // (ends[0][:, None] * ends[1]).reshape(sizes.shape))
    moved = [numpy.clip(numpy.arange(size), min(radius, size - 1), max(size - 1 - radius, 0)) for size in (height, width)]
    yield ("`window` moves inwards where the picture ends, and keeps its size; it must be cut there, and become smaller",
           (sums // sizes)[moved[0]][:, moved[1]])


def of_moved_count(pixels, radius):
    """`tiled` takes the sum from its tile, and from `window` only the number of pixels."""
    sums = window_sums(pixels, radius, radius, radius, radius)[0]
    sides = [min(2 * radius + 1, size) for size in pixels.shape[:2]]
    yield ("the sums are divided by the full window, also where a part of it lies outside: `window` is cut where the picture "
           "ends, and becomes smaller", sums // (sides[0] * sides[1]))


def of_mean(pixels, radius):
    """Mistakes in the division, and in what is added up: sentence -> what a kernel gives with it."""
    sums, sizes = window_sums(pixels, radius, radius, radius, radius)
    along, across = window_sums(pixels, 0, 0, radius, radius)
    down, counts = window_sums(pixels, radius, radius, 0, 0)
    full = (2 * radius + 1) ** 2
    yield ("the sums are divided by the full window, (2 radius + 1)^2, also where a part of it lies outside: divide by "
           "rows.count() * columns.count()", sums // full)
    yield "the mean is rounded to the nearest number; whole numbers drop the fraction", (2 * sums + sizes) // (2 * sizes)
    yield "the sums are divided by rows.count() alone: a window has rows.count() * columns.count() pixels", sums // counts
    yield "the sums are divided by columns.count() alone: a window has rows.count() * columns.count() pixels", sums // across
    yield ("the sums are divided by a count that is one short in each direction: first and last both belong to the window, "
           "which is why count() adds 1", sums // numpy.maximum((counts - 1) * (across - 1), 1))
    yield "the mean is along the rows only: the rows above and below are missing", along // across
    yield "the sums along the row are divided by the whole window: those above and below are missing", along // sizes
    yield "the mean is down the columns only: the columns left and right are missing", down // counts
    rounded, again = window_sums((along // across).astype(numpy.uint8), radius, radius, 0, 0)
    yield "the result is divided twice, once after each pass: keep the sums whole until the end", rounded // again
    for bits in (8, 16):
        yield f"the sum of a window is kept in {bits} bits, which are too few: its type is Sum", (sums % 2**bits) // sizes
    yield ("the number of pixels in a window is kept in 16 bits, and here it passes 65535: count in Sum",
           sums // numpy.maximum(sizes % 65536, 1))
    for side, sentence in enumerate(MISSING_SIDES):
        less = tuple(int(number == side) for number in range(4))
        yield sentence, window_sums(pixels, radius, radius, radius, radius, less)[0] // sizes


def of_places(pixels, radius):
    """Mistakes in where a pixel lies: sentence -> what a kernel gives with it."""
    sizes = window_sums(pixels, radius, radius, radius, radius)[1]
    height, width, channels = cube(pixels).shape
    values, pitch = width * channels, -(-width * channels // 16) * 16
    padded = numpy.zeros((height, pitch), numpy.uint8)
    padded[:, :values] = pixels.reshape(height, -1)
    rows, columns, channel = numpy.ogrid[:height, :width, :channels]

    def read(row_step, step, channel):
        there = padded.reshape(-1)[rows * row_step + columns * step + channel].reshape(pixels.shape)
        return window_sums(there, radius, radius, radius, radius)[0] // sizes

    if values < pitch:
        yield "rows of the input are read shape.values() apart: row y begins at y * shape.pitch()", read(values, channels, channel)
    yield "rows of the input are read shape.width apart: row y begins at y * shape.pitch()", read(width, channels, channel)
    if channels > 1:
        yield ("pixel x of a row is taken to begin at byte x: it begins at x * shape.channels", read(pitch, 1, channel))
        yield "every channel holds the mean of the first: the channel is not added to the place", \
            read(pitch, channels, numpy.zeros_like(channel))
        flat = pixels.reshape(height, -1)
        yield ("the window goes on by one byte, not by one pixel, which is shape.channels bytes: it mixes the channels",
               blurred(flat, radius).reshape(pixels.shape))


def shifted_sums(flat, radius, channels, down, right):
    """Sums of windows that lie so many rows and values away; outside of the picture is nought."""
    height, values = flat.shape
    above, before = 2 * radius + 2, 2 * channels * (radius + 1)
    sums = numpy.pad(flat, ((above, above), (before, before))).cumsum(0, dtype=numpy.int64)
    rows = above + down + numpy.arange(height)
    sums = sums[rows + radius] - sums[rows - radius - 1]
    sums = sums.reshape(height, -1, channels).cumsum(1).reshape(height, -1)
    places = before + right + numpy.arange(values)
    return sums[:, places + radius * channels] - sums[:, places - (radius + 1) * channels]


def of_tile(pixels, radius):
    """Mistakes in what is loaded into the tile of `tiled`: sentence -> what the kernel gives with it."""
    sizes = window_sums(pixels, radius, radius, radius, radius)[1]
    height, _, channels = cube(pixels).shape
    flat, halo = pixels.reshape(height, -1), radius * channels
    for down, right, sentence in (
            (radius, 0, "the rows of the tile begin at tile.row; they begin at tile.row - radius"),
            (0, halo, "the values of the tile begin at tile.value; they begin at tile.value - halo"),
            (radius, halo, "the tile begins at (tile.row, tile.value); the halo lies before it: - radius, and - halo"),
            (0, halo - radius, "the values of the tile begin at tile.value - radius; a pixel has shape.channels values, and the "
                               "halo `halo` of them"),
            (1, 0, "the tile holds each row one too early"), (-1, 0, "the tile holds each row one too late"),
            (0, 1, "the tile holds each value one too early: its first is number tile.value - halo"),
            (0, -1, "the tile holds each value one too late: its first is number tile.value - halo")):
        yield sentence, shifted_sums(flat, radius, channels, down, right).reshape(pixels.shape) // sizes
    clamped = numpy.pad(pixels, [(radius, radius)] * 2 + [(0, 0)] * (pixels.ndim - 2), mode="edge")
    inner = window_sums(clamped, radius, radius, radius, radius)[0][radius:-radius, radius:-radius]
    yield "the pixels at the edge are repeated outside: what lies outside is 0 in the tile", inner // sizes
    yield "the pixels at the edge are repeated outside: what lies outside does not count", inner // (2 * radius + 1) ** 2


def of_halo(pixels, radius):
    """Parts of the halo that stand as 0 in the tile of `tiled`: sentence -> what the kernel gives with it."""
    if not 0 < radius <= 8:
        return
    sums, sizes = window_sums(pixels, radius, radius, radius, radius)
    height, _, channels = cube(pixels).shape
    flat, halo = pixels.reshape(height, -1).astype(numpy.int64), radius * channels
    padded = numpy.pad(flat, ((radius, radius), (halo, halo)))
    rows, values = (numpy.arange(size) % side for size, side in zip(flat.shape, (TILE_HEIGHT, TILE_WIDTH)))
    missing = {side: numpy.zeros_like(flat) for side in ("above", "below", "before", "behind", "around")}
    for down in range(-radius, radius + 1):
        above, below = (rows + down < 0)[:, None], (rows + down >= TILE_HEIGHT)[:, None]
        for right in range(-halo, halo + 1, channels):
            before, behind = values + right < 0, values + right >= TILE_WIDTH
            there = padded[radius + down:, halo + right:][:height, :flat.shape[1]]
            for side, outside in zip(missing, (above, below, before, behind, above | below | before | behind)):
                missing[side] += numpy.where(outside, there, 0)
    for side, lost in missing.items():
        which = "the halo stands" if side == "around" else f"the part of the halo {side} the block's own values stands"
        yield (f"{which} as 0 in the tile: 0 belongs only where the picture has no such row or value", (sums - lost.reshape(sums.shape)) // sizes)


def of_row_sums(pixels, radius):
    """Mistakes in the difference of two prefix sums: sentence -> what `running` gives with it."""
    sizes = window_sums(pixels, radius, radius, radius, radius)[1]
    height, _, channels = cube(pixels).shape
    flat = pixels.reshape(height, -1)
    prefixes = numpy.zeros((height, flat.shape[1] + channels), numpy.int64)  # behind a pixel of zeros
    prefixes[:, channels:] = cube(pixels).cumsum(1, dtype=numpy.int64).reshape(height, -1)
    column, channel = divmod(numpy.arange(flat.shape[1]), channels)
    first, last = numpy.maximum(column - radius, 0), numpy.minimum(column + radius, flat.shape[1] // channels - 1)
    counts = (last - first + 1)[None]
    right = (last + 1) * channels + channel
    left = first * channels + channel
    before = "the prefix sum to take away is that of the last value before the window"
    for begin, end, sentence in (
            (right, right, "every row sum is 0"),
            (numpy.where(first > 0, left + channels, left), right, f"the sums miss the left column of the window, which is counted: {before}"),
            (left + channels, right, f"the sums miss the left column of the window, which is counted: {before}"),
            (numpy.maximum(left - channels, channel), right, f"the sums reach one pixel too far to the left: {before}"),
            (left, right - channels, "the sums miss the right column of the window, which is counted: the prefix sum that stays is "
                                     "that of the window's last value"),
            (channel, right, f"the row sums begin where the row does, and nothing is taken away: {before}"),
            (numpy.where(right - counts[0] >= channels, right - counts[0], channel), right,
             "the window is taken to have columns.count() values: it has so many pixels, and each has shape.channels values")):
        along = (prefixes[:, end] - prefixes[:, begin]).reshape(pixels.shape)
        yield sentence, window_sums(along, radius, radius, 0, 0)[0] % 2**32 // sizes


def of_sliding(pixels, radius):
    """Mistakes in what enters and leaves from row to row: sentence -> what a strip gives with it."""
    along = window_sums(pixels, 0, 0, radius, radius)[0]
    sizes = window_sums(pixels, radius, radius, radius, radius)[1]
    height = len(pixels)
    enters, leaves = radius, -radius - 1
    outside = ": the row that enters is `row + radius`", ": the row that leaves is `row - radius - 1`"
    for enter, leave, moving, sentence in (
            (enters, None, along, "no row leaves the sums" + outside[1]), (None, leaves, along, "no row enters the sums" + outside[0]),
            (enters, leaves + 1, along, "a row leaves one too early" + outside[1]),
            (enters, leaves - 1, along, "a row leaves one too late" + outside[1]),
            (enters - 1, leaves, along, "a row enters one too late" + outside[0]),
            (enters + 1, leaves, along, "a row enters one too early" + outside[0]),
            (enters, leaves, -along, "the row that leaves is added, and the one that enters is taken away"),
            (enters, leaves, along % 2**16, "the sum of a row is kept in 16 bits, which are too few: its type is Sum"),
            (None, None, along, "the sums stay as they are from row to row: nothing enters, and nothing leaves")):
        total = along[:min(radius, height)].sum(axis=0)
        result = numpy.empty_like(along)
        for row in range(height):
            if enter is not None and 0 <= row + enter < height:
                total = total + moving[row + enter]
            if leave is not None and 0 <= row + leave < height:
                total = total - moving[row + leave]
            result[row] = total
        yield sentence, (result % 2**32) // sizes


def explained(expected, got, case):
    """The mistake whose simulation gives just what was written."""
    pixels, radius, variant = case.inputs["input"], case.parameters["radius"], case.parameters["variant"]
    if variant not in TODO or not 0 < radius < 300 or got.shape != pixels.shape or too_plain(case):
        return None
    kinds = {"naive": [of_mean, of_places], "tiled": [of_places, of_tile, of_halo], "separable": [of_mean], "running": [of_row_sums]}
    shared = [of_window, of_moved_count] if variant == "tiled" else [of_window]
    own = "TODO 5a" if variant == "running" else TODO[variant]
    for kind, todo in [(kind, own) for kind in kinds[variant]] + [(kind, "TODO 1") for kind in shared]:
        for sentence, wrong in kind(pixels, radius):
            if (wrong.astype(numpy.uint8) == got).all():
                return f"{sentence} ({todo})"
    if variant == "running":
        part = slice(2 * radius + 2)  # a strip has more rows; further down sums would need more than a byte
        for sentence, wrong in of_sliding(pixels, radius):
            fits = wrong[part] < 256
            as_simulated, differs = (wrong[part] == got[part])[fits], case.wrong[part][fits]
            if differs.any() and as_simulated.mean() > 0.9 and as_simulated[differs].mean() > 0.9:
                return f"{sentence} (TODO 5b)"
    return None


def at_the_border(expected, got, case):
    """Only windows that are cut."""
    pixels, radius, variant = case.inputs["input"], case.parameters["radius"], case.parameters["variant"]
    sizes = window_sums(pixels, radius, radius, radius, radius)[1]
    whole = numpy.broadcast_to(sizes == (2 * radius + 1) ** 2, pixels.shape)
    if too_plain(case) or not whole.any() or case.wrong[whole].any() or case.wrong[~whole].mean() < 0.2 or variant not in ("naive", "tiled"):
        return None
    if variant == "tiled" and (len(pixels) <= TILE_HEIGHT or pixels[0].size <= TILE_WIDTH):  # one tile: its halo is outside
        return None
    if variant == "naive":
        return ("only pixels whose window reaches beyond the picture are wrong: it is cut there, and goes from "
                "max(centre - radius, 0) to min(centre + radius, size - 1) (TODO 1)")
    return ("only pixels whose window reaches beyond the picture are wrong: rows and values that do not exist are 0 in the tile, "
            "those before the first and those behind the last (TODO 3a)")


def rounded_sum(expected, got, case):
    """Only just wrong, and only where a window's sum has more digits than a float."""
    pixels, radius = case.inputs["input"], case.parameters["radius"]
    sums = window_sums(pixels, radius, radius, radius, radius)[0]
    if (expected.astype(int) - got)[case.wrong].tolist() == [1] * case.wrong.sum() and sums[case.wrong].min() > 2**24 - 2**12:
        # In two passes a mean of means gives the same here.
        kind = Fact if case.parameters["variant"] == "separable" else str
        return kind("only windows whose sum comes near 2^24 are wrong, and by 1: is the sum kept in a float? It holds whole "
                    "numbers up to 2^24 only; Sum holds them all")
    return None


def wrong_pitch(expected, got, case):
    """Rows of the output taken to lie elsewhere than shape.pitch() apart."""
    pixels, variant = case.inputs["input"], case.parameters["variant"]
    height, width, channels = cube(pixels).shape
    values, pitch = width * channels, -(-width * channels // 16) * 16
    if height == 1 or got.shape != pixels.shape or variant not in ("naive", "separable"):
        return None
    if channels > 1 and (got.reshape(height, -1)[:, width:] == 255).all():
        return (f"only the first {width} of {values} values of a row are written: value number `value` of the row lies at "
                f"row * shape.pitch() + value, not + column ({TODO[variant]})")
    for step, name in ((values, "shape.values()"), (width, "shape.width")):
        stored = numpy.full(height * pitch, 255, numpy.uint8)
        for row, line in enumerate(expected.reshape(height, -1)):
            stored[row * step:row * step + values] = line
        if step < pitch and (stored.reshape(height, pitch)[:, :values].reshape(got.shape) == got).all():
            return f"the means are stored {name} apart: a row of the output begins at row * shape.pitch() ({TODO[variant]})"
    return None


def before_the_barrier(expected, got, case):
    """In CPU mode the threads of a block take turns: without the barrier only the last find the tile complete."""
    radius, channels = case.parameters["radius"], cube(got).shape[2]
    reach = radius * channels
    if case.parameters["variant"] != "tiled" or case.backend != "cpu" or case.order or not 0 < reach < TILE_WIDTH:
        return None
    wrong = case.wrong.reshape(len(got), -1)
    rows, places = numpy.ogrid[:wrong.shape[0], :wrong.shape[1]]
    last = (rows % TILE_HEIGHT == TILE_HEIGHT - 1) & (places % TILE_WIDTH >= TILE_WIDTH - channels)
    if last.any() and not wrong[last].any() and wrong[~last].mean() > 0.9 and 2 * radius < TILE_HEIGHT:
        return ("threads read the tile before the others have loaded their part of it: all must wait between the loads and "
                "the sums, __syncthreads() (TODO 3b)")
    return None


def at_edges_of_tiles(expected, got, case):
    radius, values = case.parameters["radius"], case.wrong.reshape(len(case.wrong), -1)
    if case.parameters["variant"] != "tiled":
        return None
    rows, places = numpy.ogrid[:values.shape[0], :values.shape[1]]
    reach = radius * cube(got).shape[2]
    near = (places % TILE_WIDTH < reach) | (places % TILE_WIDTH >= TILE_WIDTH - reach)
    near = near | (rows % TILE_HEIGHT < radius) | (rows % TILE_HEIGHT >= TILE_HEIGHT - radius)
    if near.mean() < 0.8 and near[values].all():
        return Fact("only values near the edge of their tile are wrong: those whose window reaches into the halo")
    return None


DIAGNOSERS = [copied, rounded_sum, explained, at_the_border, wrong_pitch, before_the_barrier, at_edges_of_tiles]


# Cases


def judge(case, pixels, variant, radius, expected=None, kind="png"):
    case.parameters = {"variant": variant, "radius": min(radius, max(pixels.shape[:2]))}
    got = case.compute("--variant", variant, "--radius", radius, inputs={"input": pixels}, kind=kind)
    expected = blurred(pixels, case.parameters["radius"]) if expected is None else expected
    case.compare(expected, got, EXACT, diagnosers=DIAGNOSERS)


def random_picture(case, height, width, channels=1):
    shape = (height, width) if channels == 1 else (height, width, channels)
    return case.random.integers(0, 256, shape, dtype=numpy.uint8)


def random_case(case, variant, radius, height, width, channels=1):
    kind = "png" if height * width < 1_000_000 else "pgm" if channels == 1 else "ppm"
    judge(case, random_picture(case, height, width, channels), variant, radius, kind=kind)


def three_in_a_row(case, variant, radius):
    row = numpy.array([[10, 20, 30]], numpy.uint8)
    right = numpy.array([[15, 20, 25]], numpy.uint8)
    judge(case, row, variant, radius, right)
    judge(case, row.T.copy(), variant, radius, right.T)


def tiny_pictures(case, variant):
    for height, width, channels, radius in ((1, 1, 1, 0), (1, 1, 3, 1), (1, 1, 4, 5000), (2, 3, 1, 1), (5, 4, 3, 2),
                                            (8, 8, 2, 1), (8, 8, 4, 3), (3, 7, 1, 5000)):
        pixels = random_picture(case, height, width, channels)
        judge(case, pixels, variant, radius, blurred_by_loops(pixels, radius))


def uniform(case, variant, radius):
    picture = numpy.empty((97, 89, 3), numpy.uint8)
    picture[:] = (255, 254, 1)
    judge(case, picture, variant, radius, picture)


def light(case, variant, radius):
    """Windows of more than 65535 pixels, whose sums have more digits than a float. The mean is just above 254, and a sum
    in a float just below: odd numbers come last, by rows as well as by columns, and each loses 1 there."""
    pixels = numpy.full((255, 267), 254, numpy.uint8)
    pixels[-7:], pixels[:, -7:] = 253, 253
    pixels[:7, :-7], pixels[7:-7, :7] = 255, 255
    pixels[7:14, 7:21] = 255
    pixels[100, 100] += 1
    judge(case, pixels, variant, radius)


for variant in VARIANTS + FURTHER:
    lab.case(f"{variant}: 10 20 30 become 15 20 25", three_in_a_row, variant=variant, radius=1)
    lab.case(f"{variant}: 31 x 33, radius 1", random_case, variant=variant, radius=1, height=31, width=33)
    lab.case(f"{variant}: 37 x 41, 3 channels, radius 2", random_case, variant=variant, radius=2, height=37, width=41,
             channels=3)
    lab.case(f"{variant}: tiny pictures of 1 to 4 channels", tiny_pictures, variant=variant)
    lab.case(f"{variant}: one colour stays as it is", uniform, variant=variant, radius=7)
    lab.case(f"{variant}: 33 x 70, radius 0, stays as it is", random_case, variant=variant, radius=0, height=33,
             width=70)
    if variant != "shuffled":
        lab.case(f"{variant}: 13 x 17, radius 5000", random_case, variant=variant, radius=5000, height=13, width=17)
        lab.case(f"{variant}: 101 x 103, radius 17", random_case, variant=variant, radius=17, height=101, width=103)
    lab.case(f"{variant}: 21 x 1031, radius 3", random_case, variant=variant, radius=3, height=21, width=1031)
    large = SMALL if variant == "shuffled" else 12
    lab.case(f"{variant}: 19 x 523, 3 channels, radius {large}", random_case, variant=variant, radius=large, height=19,
             width=523, channels=3)
    small = variant in ("tiled", "running", "fused", "shuffled")
    lab.case(f"{variant}: a column of 70000 pixels", random_case, variant=variant, radius=2,
             height=70_000, width=1, on_cpu={"height": 2000 if small else 70_000}, quick=False)
    lab.case(f"{variant}: a row of 1200000 pixels", random_case, variant=variant, radius=5, height=1,
             width=1_200_000, on_cpu={"width": 20_000 if small else 70_000}, quick=False)
    large = SMALL if variant == "shuffled" else 25
    lab.case(f"{variant}: 3001 x 2003, 3 channels, radius {large}", random_case, variant=variant,
             radius=large, height=3001, width=2003, channels=3, on_cpu={"height": 95, "width": 101}, quick=False)

for radius in (31, 32, 33, 50):
    lab.case(f"tiled: 40 x 75, 3 channels, radius {radius}", random_case, variant="tiled", radius=radius, height=40,
             width=75, channels=3)
for variant in ("naive", "separable", "running", "fused"):
    lab.case(f"{variant}: 43 x 260, radius 100", random_case, variant=variant, radius=100, height=43, width=260)
lab.case("fused: 5 x 130, 4 channels, radius 65", random_case, variant="fused", radius=65, height=5, width=130, channels=4)
for variant, radius in (("naive", 133), ("separable", 5000), ("running", 5000)):  # of naive the pixels in the middle are enough
    lab.case(f"{variant}: 255 x 267 light pixels, sums beyond 2^24", light, variant=variant, radius=radius)
for channels in (2, 4):
    lab.case(f"fused: 90 x 310, {channels} channels, radius 9", random_case, variant="fused", radius=9, height=90, width=310,
             channels=channels)


@lab.case("running: 160 x 300 light pixels, radius 140, sums of a row beyond 2^16", radius=140)
def wide_rows(case, radius):
    judge(case, random_picture(case, 160, 300) // 8 + 224, "running", radius)


def every_radius(case, variant, height, width):
    """A kernel of its own for each radius and number of channels."""
    for channels in (1, 2, 3, 4):
        for radius in range(SMALL + 1):
            judge(case, random_picture(case, height, width, channels), variant, radius)


def edges_of_lanes(case, variant, channels, radius):
    """Widths where a lane (16 bytes) or a strip (up to 480) ends, and one value more or less."""
    for values in (15, 16, 17, 31, 33, 447, 449, 479, 480, 481, 511, 513, 961):
        judge(case, random_picture(case, 5, -(-values // channels), channels), variant, radius)


lab.case("shuffled: 21 x 67, radius 0 to 7, 1 to 4 channels", every_radius, variant="shuffled", height=21, width=67)
lab.case("shuffled: one row, radius 0 to 7, 1 to 4 channels", every_radius, variant="shuffled", height=1, width=37)
lab.case("shuffled: one column, radius 0 to 7, 1 to 4 channels", every_radius, variant="shuffled", height=37, width=1)
for channels, radius in ((1, 1), (1, SMALL), (3, 2), (3, SMALL), (4, SMALL)):
    lab.case(f"shuffled: widths around the ends of lanes and strips, {channels} channels, radius {radius}", edges_of_lanes,
             variant="shuffled", channels=channels, radius=radius)


@lab.case("shuffled: every sum that a window can have", variant="shuffled", most=SMALL, on_cpu={"most": 3}, quick=False)
def every_sum(case, variant, most):
    """Pictures made of windows side by side, whose sums are 0, 1, 2, ..., 255 pixels."""
    for radius in range(1, most + 1):
        side = 2 * radius + 1
        count = side * side
        sums = numpy.arange(255 * count + 1)
        windows = sums[:, None] // count + (numpy.arange(count) < sums[:, None] % count)
        windows = windows.astype(numpy.uint8).reshape(-1, side, side)
        across = 4096 // side
        missing = -len(windows) % across
        windows = numpy.concatenate([windows, numpy.zeros((missing, side, side), numpy.uint8)])
        picture = windows.reshape(-1, across, side, side).swapaxes(1, 2).reshape(-1, across * side)
        judge(case, picture, variant, radius, kind="pgm")


@lab.case("running: sums beyond 2^32, 4200 x 4200 white pixels, radius 5000", side=4200, on_cpu={"side": 150}, quick=False)
def large_sums(case, side):
    white = numpy.full((side, side), 255, numpy.uint8)
    white[0, 0] = 0  # so that the mean is 254
    judge(case, white, "running", 5000, kind="pgm")


lab.kernels({"naive": "naive", "tiled": "tiled", "separable": ("sum_along_rows", "mean_down_columns"),
             "running": ("prefix_along_rows", "slide_down"), "fused": "fused", "shuffled": "shuffled"})
# So many threads at least have something to store in the watched run: each value, each lane that has one, or each column.
STORING = {"naive": 3000, "tiled": 3000, "sum_along_rows": 3000, "mean_down_columns": 3000, "prefix_along_rows": 640,
           "slide_down": 150}
SMALL_PICTURE = ["--height", 20, "--width", 50, "--channels", 3, "--radius", 2, "--variant"]
lab.watched("no race between threads", [[*SMALL_PICTURE, ",".join(VARIANTS)]], storing=STORING)
lab.watched("no race between threads of further/", [[*SMALL_PICTURE, ",".join(FURTHER)]], storing={"fused": 32, "shuffled": 30},
            further=True)


@lab.case("a picture and a radius nobody knows before, all variants", fresh=True)
def fresh(case):
    height, width = (int(side) for side in case.random.integers(1, 120, 2))
    pixels = random_picture(case, height, width, int(case.random.choice([1, 3, 4])))
    radius = int(case.random.integers(1, 20))
    for variant in VARIANTS + lab.further:
        judge(case, pixels, variant, min(radius, SMALL) if variant == "shuffled" else radius)


def verdicts(run, variant):
    return re.findall(rf"^{variant} .*?(correct|skipped)\b", run.stdout, re.M)


@lab.case("all variants in one run, random pixels")
def everything(case):
    run = case.run("--height", 50, "--width", 60, "--channels", 3, "--radius", 4)
    case.calls_correct(run, VARIANTS + lab.further)


@lab.case("a radius too large for tiled (and what lies in further/), the others are right")
def skipped(case):
    run = case.run("--height", 7, "--width", 400, "--radius", 250)
    for variant in VARIANTS + lab.further:
        wanted = "skipped" if variant in ("tiled", *FURTHER) else "correct"
        case.expect(verdicts(run, variant) == [wanted], f"with radius 250, {variant} should be {wanted}")
    for variant, radius, word in (("tiled", 250, "shared memory"), ("fused", 250, "running"), ("shuffled", 8, "fused")):
        if variant in VARIANTS + lab.further:
            case.refuses("--height", 7, "--width", 400, "--radius", radius, "--variant", variant, saying=word)


@lab.case("pictures as Pillow stores them: palette and JPEG")
def other_formats(case):
    pixels = random_picture(case, 20, 30, 3)
    Image.fromarray(pixels).quantize(64).save(case.folder / "palette.png")
    Image.fromarray(pixels).save(case.folder / "gray.jpg", quality=100)
    for name in ("palette.png", "gray.jpg"):
        stored = numpy.asarray(Image.open(case.folder / name).convert("RGB"))
        case.run("--variant", "naive", "--radius", 1, "--input", name, "--output", "output.png")
        difference = numpy.abs(blurred(stored, 1).astype(int) - case.load("output.png"))
        case.expect(difference.max() <= 2, f"{name}: the blurred picture is off by {difference.max()}")


@lab.case("no rows, no columns")
def empty(case):
    for height, width in ((0, 5), (5, 0), (0, 0)):
        case.run("--height", height, "--width", width)
        case.refuses("--height", height, "--width", width, "--variant", "naive", "--output", "blurred.png",
                     saying="output")


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--radius", "-1", "many", "5x", "", "3000000000")
    case.refuses_values("--height --width", "-1", "wide", "300000000")
    case.refuses_values("--channels", "0", "5", "rgb")
    case.refuses("--height", "268435456", "--width", "268435456", saying="memory")
    case.refuses("--variant", "gaussian", saying="variant")
    case.refuses("--height", "9", "--output", "blurred.png", saying="variant")
    for name in ("blurred.gif", "blurred", "no/such/blurred.png"):
        case.refuses("--height", "9", "--variant", "naive", "--output", name, saying=name)
    one = ("--height", "1", "--variant", "naive", "--output")
    case.refuses(*one, "blurred.jpg", "--width", "70000", saying="65535")
    case.refuses(*one, "blurred.pgm", "--channels", "3", saying="gray")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good.png", random_picture(case, 20, 30, 3))
    case.refuses("--input", good, "--height", "20", saying="--height")
    case.refuses_broken("--input", good)


lab.main()
