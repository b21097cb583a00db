"""Judges image_blur: every variant's mean over the window, byte for byte, against sums of NumPy."""

import re
import sys
from pathlib import Path

import numpy
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.failure import Failure
from checker.program import explain_ending, quoted_output

lab = checker.Lab(__file__)
EXACT = checker.Tolerance(why="sums of whole numbers, and a division that drops the fraction")
VARIANTS = ["naive", "tiled", "separable", "running", "fused", "shuffled"]
SMALL = 7  # the largest radius of shuffled
TILE_HEIGHT, TILE_WIDTH = 16, 32  # of the tiled kernel, in values


# What is right. A picture is an array (height, width) or (height, width, channels).


def window_sums(pixels, up, down, left, right):
    """Sum and size of each pixel's window, which reaches so far and is cut where the picture ends."""
    height, width = pixels.shape[:2]
    integral = numpy.zeros((height + 1, width + 1, *pixels.shape[2:]), numpy.int64)
    integral[1:, 1:] = pixels.cumsum(0, dtype=numpy.int64).cumsum(1)
    rows, columns = numpy.arange(height), numpy.arange(width)
    top, bottom = numpy.maximum(rows - up, 0), numpy.minimum(rows + down + 1, height)
    begin, end = numpy.maximum(columns - left, 0), numpy.minimum(columns + right + 1, width)
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


def nothing_arrived(expected, got, case):
    if got.size > 1 and (got == 255).all():
        return f"not one value was written: does {case.parameters['variant']} store its means?"
    return None


def copied(expected, got, case):
    if got.size > 1 and numpy.array_equal(got, case.inputs["picture"]):
        return "the picture has not changed: the window is one pixel only, or its sum is missing"
    return None


MISSING_SIDES = {
    "up": "the sums miss the top row of the window, which is counted: does a row leave before its time? The window of row "
          "`row` holds `row - radius` still, and `row - radius - 1` no more",
    "down": "the sums miss the bottom row of the window, which is counted: `row + radius` belongs to it",
    "left": "the sums miss the left column of the window, which is counted: of two prefix sums, the one to take away is that "
            "of the pixel before the window's first (in fused: `- Lane::channels`, TODO 6b)",
    "right": "the sums miss the right column of the window, which is counted: it ends at radius, included",
}


def wrong_windows(pixels, radius):
    """Sentence -> what a kernel with this mistake writes."""
    sums, sizes = window_sums(pixels, radius, radius, radius, radius)
    full = (2 * radius + 1) ** 2
    yield ("the sums are divided by the full window, (2 radius + 1)^2, also where a part of it lies outside",
           sums // full)
    yield "the mean is rounded to the nearest number; whole numbers drop the fraction", (2 * sums + sizes) // (2 * sizes)
    along, across = window_sums(pixels, 0, 0, radius, radius)
    yield "the mean is along the rows only: the rows above and below are missing", along // across
    yield "the sums along the row are divided by the whole window: those above and below are missing", along // sizes
    down, counts = window_sums(pixels, radius, radius, 0, 0)
    yield "the mean is down the columns only: the columns left and right are missing", down // counts
    rounded, again = window_sums((along // across).astype(numpy.uint8), radius, radius, 0, 0)
    yield "the result is divided twice, once after each pass: keep the sums whole until the end", rounded // again
    for side, where in (("up", "the top row"), ("down", "the bottom row"), ("left", "the left column"),
                        ("right", "the right column")):
        yield f"{where} of the window is missing: does it end at radius, both sides included?", \
            blurred(pixels, radius, **{side: radius - 1})
        yield f"the window reaches one too far: {where} has another behind it", blurred(pixels, radius, **{side: radius + 1})
        missing = window_sums(pixels, **{name: radius - (name == side) for name in ("up", "down", "left", "right")})[0]
        yield MISSING_SIDES[side], missing // sizes
    height, width = pixels.shape[:2]
    ends = [numpy.minimum(numpy.arange(size) + radius, size) - numpy.maximum(numpy.arange(size) - radius, 0) + 1
            for size in (height, width)]
    counted = (ends[0][:, None] * ends[1]).reshape(sizes.shape)
    yield ("windows at the bottom and at the right count a row or a column that is not there: the last place is size - 1, "
           "not size (TODO 1)", sums // counted)
    clamped = numpy.pad(pixels, [(radius, radius)] * 2 + [(0, 0)] * (pixels.ndim - 2), mode="edge")
    inner = window_sums(clamped, radius, radius, radius, radius)[0][radius:-radius, radius:-radius]
    yield "the pixels at the edge are repeated outside: what lies outside does not count", inner // full
    if pixels.ndim == 3:
        flat = pixels.reshape(pixels.shape[0], -1)
        yield ("the window goes on by one byte, not by one pixel, which is shape.channels bytes: it mixes the channels",
               blurred(flat, radius).reshape(pixels.shape))
        first = window_sums(pixels[:, :, :1], radius, radius, radius, radius)[0]
        yield "every channel holds the mean of the first: the channel is not added to the place", \
            numpy.broadcast_to(first // sizes, pixels.shape)


def wrong_window(expected, got, case):
    pixels, radius = case.inputs["picture"], case.parameters["radius"]
    if radius == 0 or radius > 200 or got.shape != pixels.shape:
        return None
    for sentence, wrong in wrong_windows(pixels, radius):
        if (wrong.astype(numpy.uint8) == got).all():
            return sentence
    return None


def wrong_pitch(expected, got, case):
    """Rows taken to lie shape.values() bytes apart, where they lie shape.pitch() apart."""
    pixels, radius = case.inputs["picture"], case.parameters["radius"]
    flat = pixels.reshape(len(pixels), -1)
    height, values = flat.shape
    pitch = -(-values // 16) * 16
    if pitch == values or height == 1 or got.shape != pixels.shape:
        return None
    stored = numpy.full(height * pitch, 255, numpy.uint8)
    stored[:flat.size] = expected.reshape(-1)
    if (stored.reshape(height, pitch)[:, :values].reshape(got.shape) == got).all():
        return "the means are stored shape.values() apart: a row of the output begins at row * shape.pitch()"
    padded = numpy.zeros((height, pitch), numpy.uint8)
    padded[:, :values] = flat
    if (blurred(padded.reshape(-1)[:flat.size].reshape(pixels.shape), radius) == got).all():
        return "rows of the input are read shape.values() apart: row y begins at y * shape.pitch()"
    return None


def sliding_wrong(expected, got, case):
    """The first rows are right, and what slides from there is not."""
    radius, variant = case.parameters["radius"], case.parameters["variant"]
    if variant not in ("running", "fused", "shuffled"):
        return None
    rows = case.wrong.reshape(len(got), -1).any(axis=1)
    first = int(rows.argmax())
    if first == radius + 1 and rows[first:].mean() > 0.9:
        return (f"wrong from row {first} = radius + 1 on, where the first row leaves the window: "
                f"is the row `row - radius - 1` taken away?")
    if first == 0 and rows.mean() > 0.9 and (got <= expected).all():
        return ("all means are too small: is the row `row + radius` added, and do two prefix sums bound all of the window's "
                "columns?")
    return None


def at_edges_of_tiles(expected, got, case):
    radius, values = case.parameters["radius"], case.wrong.reshape(len(case.wrong), -1)
    if case.parameters["variant"] != "tiled":
        return None
    rows, places = numpy.nonzero(values)
    reach = radius * (got.shape[2] if got.ndim == 3 else 1)
    near = (places % TILE_WIDTH < reach) | (places % TILE_WIDTH >= TILE_WIDTH - reach)
    near |= (rows % TILE_HEIGHT < radius) | (rows % TILE_HEIGHT >= TILE_HEIGHT - radius)
    if near.all() and not case.wrong.all() and 2 * radius < TILE_HEIGHT:
        return ("wrong only in values near the edge of their tile: is the halo loaded, all of it, from the right "
                "place?")
    return ("the tile holds something else than the picture when it is read: are its places right, and does "
            "everybody wait (__syncthreads) before the first read?")


DIAGNOSERS = [nothing_arrived, copied, wrong_window, wrong_pitch, sliding_wrong, at_edges_of_tiles]


# Cases


def save(case, pixels, name="picture.png"):
    """A picture for the program; Pillow chooses the format by the name."""
    case.inputs["picture"] = pixels
    Image.fromarray(pixels).save(case.folder / name)
    return name


def load(case, name):
    try:
        return numpy.asarray(Image.open(case.folder / name))
    except FileNotFoundError:
        raise Failure(f"the program ended well but wrote no {name}")
    except (OSError, ValueError, SyntaxError) as error:
        raise Failure(f"{name} is no picture that Pillow can read: {error}")


def judge(case, pixels, variant, radius, expected=None, kind="png"):
    case.parameters = {"variant": variant, "radius": min(radius, max(pixels.shape[:2]))}
    output = f"output.{kind}"
    (case.folder / output).unlink(missing_ok=True)
    run = case.run("--variant", variant, "--radius", radius, "--input", save(case, pixels, f"picture.{kind}"),
                   "--output", output, status=(0, 1))
    if run.status == 1 and not (case.folder / output).exists():
        case.fail(explain_ending(run) + quoted_output(run))
    expected = blurred(pixels, case.parameters["radius"]) if expected is None else expected
    case.compare(expected, load(case, output), EXACT, diagnosers=DIAGNOSERS)
    case.expect(run.status == 0, "the picture is right, yet the program calls it wrong" + quoted_output(run))


def random_picture(case, height, width, channels=1):
    shape = (height, width) if channels == 1 else (height, width, channels)
    return case.random.integers(0, 256, shape, dtype=numpy.uint8)


def random_case(case, variant, radius, height, width, channels=1, on_cpu=None):
    """`on_cpu`: height and width in CPU mode, where the variant would take too long."""
    if on_cpu and case.backend == "cpu":
        height, width = on_cpu
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


for variant in VARIANTS:
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
    small = variant in ("running", "fused", "shuffled")
    lab.case(f"{variant}: a column of 70000 pixels (fewer in CPU mode)", random_case, variant=variant, radius=2,
             height=70_000, width=1, on_cpu=(2000 if small else 70_000, 1), quick=False)
    lab.case(f"{variant}: a row of 1200000 pixels (fewer in CPU mode)", random_case, variant=variant, radius=5, height=1,
             width=1_200_000, on_cpu=(1, 20_000 if small else 300_000), quick=False)
    large = SMALL if variant == "shuffled" else 25
    lab.case(f"{variant}: 3001 x 2003, 3 channels, radius {large} (smaller in CPU mode)", random_case, variant=variant,
             radius=large, height=3001, width=2003, channels=3, on_cpu=(127, 149), quick=False)

for radius in (31, 32, 33, 50):
    lab.case(f"tiled: 40 x 75, 3 channels, radius {radius}", random_case, variant="tiled", radius=radius, height=40,
             width=75, channels=3)
for variant in ("naive", "separable", "running", "fused"):
    lab.case(f"{variant}: 43 x 260, radius 100", random_case, variant=variant, radius=100, height=43, width=260)
for channels in (2, 4):
    lab.case(f"fused: 90 x 310, {channels} channels, radius 9", random_case, variant="fused", radius=9, height=90, width=310,
             channels=channels)


def every_radius(case, height, width):
    """A kernel of its own for each radius and number of channels."""
    for channels in (1, 2, 3, 4):
        for radius in range(SMALL + 1):
            judge(case, random_picture(case, height, width, channels), "shuffled", radius)


def edges_of_lanes(case, channels, radius):
    """Widths where a lane (16 bytes) or a strip (up to 480) ends, and one value more or less."""
    for values in (15, 16, 17, 31, 33, 447, 449, 479, 480, 481, 511, 513, 961):
        judge(case, random_picture(case, 5, -(-values // channels), channels), "shuffled", radius)


lab.case("shuffled: 21 x 67, radius 0 to 7, 1 to 4 channels", every_radius, height=21, width=67)
lab.case("shuffled: one row, radius 0 to 7, 1 to 4 channels", every_radius, height=1, width=37)
lab.case("shuffled: one column, radius 0 to 7, 1 to 4 channels", every_radius, height=37, width=1)
for channels, radius in ((1, 1), (1, SMALL), (3, 2), (3, SMALL), (4, SMALL)):
    lab.case(f"shuffled: widths around the ends of lanes and strips, {channels} channels, radius {radius}", edges_of_lanes,
             channels=channels, radius=radius)


@lab.case("shuffled: every sum that a window can have (up to radius 3 in CPU mode)", quick=False)
def every_sum(case):
    """Pictures made of windows side by side, whose sums are 0, 1, 2, ..., 255 pixels."""
    for radius in range(1, 4 if case.backend == "cpu" else SMALL + 1):
        side = 2 * radius + 1
        count = side * side
        sums = numpy.arange(255 * count + 1)
        windows = sums[:, None] // count + (numpy.arange(count) < sums[:, None] % count)
        windows = windows.astype(numpy.uint8).reshape(-1, side, side)
        across = 4096 // side
        missing = -len(windows) % across
        windows = numpy.concatenate([windows, numpy.zeros((missing, side, side), numpy.uint8)])
        picture = windows.reshape(-1, across, side, side).swapaxes(1, 2).reshape(-1, across * side)
        judge(case, picture, "shuffled", radius, kind="pgm")


@lab.case("running: sums beyond 2^32, 4200 x 4200 white pixels, radius 5000 (smaller in CPU mode)", quick=False)
def large_sums(case):
    side = 150 if case.backend == "cpu" else 4200
    white = numpy.full((side, side), 255, numpy.uint8)
    white[0, 0] = 0  # so that the mean is 254
    judge(case, white, "running", 5000, kind="pgm")


@lab.case("a picture and a radius nobody knows before, all variants", fresh=True)
def fresh(case):
    height, width = (int(side) for side in case.random.integers(1, 120, 2))
    pixels = random_picture(case, height, width, int(case.random.choice([1, 3, 4])))
    radius = int(case.random.integers(1, 20))
    for variant in VARIANTS:
        judge(case, pixels, variant, min(radius, SMALL) if variant == "shuffled" else radius)


def verdicts(run, variant):
    return re.findall(rf"^{variant} .*?(correct|skipped)\b", run.stdout, re.M)


@lab.case("all variants in one run, random pixels")
def everything(case):
    run = case.run("--height", 50, "--width", 60, "--channels", 3, "--radius", 4)
    for variant in VARIANTS:
        case.expect(verdicts(run, variant) == ["correct"], f"the table has no row that calls {variant} correct")


@lab.case("a radius too large for tiled, fused and shuffled, the others are right")
def skipped(case):
    run = case.run("--height", 7, "--width", 400, "--radius", 250)
    for variant in VARIANTS:
        wanted = "skipped" if variant in ("tiled", "fused", "shuffled") else "correct"
        case.expect(verdicts(run, variant) == [wanted], f"with radius 250, {variant} should be {wanted}")
    for variant, radius, word in (("tiled", 250, "shared memory"), ("fused", 250, "running"), ("shuffled", 8, "fused")):
        case.refuses("--height", 7, "--width", 400, "--radius", radius, "--variant", variant, saying=word)


@lab.case("pictures as Pillow stores them: palette and JPEG")
def other_formats(case):
    pixels = random_picture(case, 20, 30, 3)
    Image.fromarray(pixels).quantize(64).save(case.folder / "palette.png")
    Image.fromarray(pixels).save(case.folder / "gray.jpg", quality=100)
    for name in ("palette.png", "gray.jpg"):
        case.run("--variant", "naive", "--radius", 1, "--input", name, "--output", "output.png")
        stored = numpy.asarray(Image.open(case.folder / name).convert("RGB"))
        difference = numpy.abs(blurred(stored, 1).astype(int) - load(case, "output.png"))
        case.expect(difference.max() <= 2, f"{name}: the blurred picture is off by {difference.max()}")


@lab.case("no rows, no columns")
def empty(case):
    for height, width in ((0, 5), (5, 0), (0, 0)):
        case.run("--height", height, "--width", width)
        case.refuses("--height", height, "--width", width, "--variant", "naive", "--output", "blurred.png",
                     saying="output")


@lab.case("bad arguments")
def bad_arguments(case):
    for value in ("-1", "many", "5x", "", "3000000000"):
        case.refuses("--radius", value, saying="radius")
    for option in ("--height", "--width"):
        for value in ("-1", "wide", "300000000"):
            case.refuses(option, value, saying=option)
    for value in ("0", "5", "rgb"):
        case.refuses("--channels", value, saying="channels")
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
    good = save(case, random_picture(case, 20, 30, 3))
    case.refuses("--input", good, "--height", "20", saying="--height")
    case.refuses("--input", "absent.png", saying="absent.png")
    case.refuses("--input", ".", saying="folder")
    contents = (case.folder / good).read_bytes()
    for name, content in (("empty.png", b""), ("text.png", b"no picture at all\n"), ("cut.png", contents[:60])):
        (case.folder / name).write_bytes(content)
        case.refuses("--input", name, saying=name)


lab.main()
