"""Judges rgb_to_gray: every variant's gray picture, value for value, against NumPy; files by Pillow."""

import functools
import itertools
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned
from checker.diagnose import rows_beyond_the_grid

lab = checker.Lab(__file__, tasks={"interleaved": "TODO 2", "planar": "TODO 3", "planar_vectorised": "TODO 4",
                                   "vectorised": "TODO 5b", "staged": "TODO 6"})
EXACT = checker.Tolerance(why="whole numbers, the same everywhere: (299 red + 587 green + 114 blue + 500) / 1000")
PIXEL_VARIANTS = ["interleaved", "planar"]
LINE_VARIANTS = ["planar_vectorised", "vectorised", "staged"]
VARIANTS = PIXEL_VARIANTS + LINE_VARIANTS


def thousandths(pixels):
    red, green, blue = (pixels[..., channel].astype(numpy.int32) for channel in range(3))
    return 299 * red + 587 * green + 114 * blue


def gray(pixels):
    """The oracle: rounded to nearest, upwards from the middle."""
    return ((thousandths(pixels) + 500) // 1000).astype(numpy.uint8)


# Likely causes


def explains(guess, got, case):
    """True when a mistake would give just this wherever the result is wrong. Elsewhere it may be
    right all the same: the last pixels of the vectorised kernels take another way."""
    guess = guess.reshape(got.shape)
    return case.wrong.sum() >= max(8, (got != guess).sum()) and (got[case.wrong] == guess[case.wrong]).all()


def one_value(got):
    """No guess gives this, and there are seconds to save in the largest pictures."""
    return (got == got.flat[0]).all()


def wrong_arithmetic(expected, got, case):
    """Another formula, on the right pixels."""
    if one_value(got):
        return None
    pixels = case.inputs["input"]
    red, green, blue = (pixels[..., channel].astype(numpy.int32) for channel in range(3))
    guesses = {
        "the sum is cut off, not rounded: add half of the divisor before the division": thousandths(pixels) // 1000,
        "every fraction is rounded up: add half of the divisor, not nearly all of it": (thousandths(pixels) + 999) // 1000,
        "each product is divided by itself: add all three and the 500 first, then divide once":
            299 * red // 1000 + 587 * green // 1000 + 114 * blue // 1000,
        "the sum is kept in 16 bits, and 255 * 1000 needs 18": (thousandths(pixels) + 500) % 65536 // 1000,
        "it is the mean of the three colours: the eye sees green brighter, which is what the weights say":
            (red + green + blue) // 3,
        "it is the red alone": red,
        "it is the green alone": green,
        "it is the blue alone": blue,
        "the weights are those of Pillow, in 1/65536, which round a few colours to the other side":
            (19595 * red + 38470 * green + 7471 * blue + 0x8000) >> 16,
    }
    task = " (TODO 1)" if case.parameters.get("variant") in PIXEL_VARIANTS else ""
    for sentence, guess in guesses.items():
        if explains(guess, got, case):
            return sentence + task * (not sentence.startswith("it is"))
    middle = thousandths(pixels).reshape(got.shape)[case.wrong] % 1000 == 500
    if got.size > 1000 and case.wrong.mean() < 0.02 and middle.all() and (expected[case.wrong] - got[case.wrong] == 1).all():
        return f"only sums in the middle between two values are wrong: floats round some of them down, whole numbers none{task}"
    return None


def wrong_storage(expected, got, case):
    """The right formula on bytes of other pixels."""
    flat, found = case.inputs["input"].reshape(-1), got.reshape(-1)
    count = found.size
    if count < 16 or case.wrong.reshape(-1)[0] and count < 64 or one_value(got):
        return None
    places = numpy.arange(count)
    planes = numpy.concatenate([numpy.pad(plane, (0, -count % 16)) for plane in flat.reshape(-1, 3).T])
    guesses = {
        "pixel i begins at byte 3 * i, not at byte i": flat[places[:, None] + [0, 1, 2]],
        "the bytes are taken as planes, but a pixel's three bytes lie side by side: 3 * i, 3 * i + 1, 3 * i + 2":
            flat.reshape(3, count).T,
        "the bytes are taken as pixels, but they lie in planes: red i is byte i, green i a whole plane further on":
            planes[3 * places[:, None] + [0, 1, 2]],
        "the planes are taken to begin height * width bytes apart, but plane_size is a multiple of 16":
            planes[places[:, None] + [0, count, 2 * count]],
    }
    inside = numpy.pad(flat, (0, 3 * 48))
    sixteen = places // 16 * 16  # the first pixel of a thread
    guesses["the three vectors begin at byte `first`: 16 pixels take 48 bytes, so they begin at 3 * first (TODO 5b)"] = \
        inside[(sixteen + 3 * (places - sixteen))[:, None] + [0, 1, 2]]
    for ahead in (1, 2):
        guesses[f"a pixel's bytes are taken {ahead} further on: its red is byte 3 * i, its green 3 * i + 1, its blue 3 * i + 2"] = \
            inside[3 * places[:, None] + numpy.array([0, 1, 2]) + ahead]
    for sentence, pixels in guesses.items():
        if explains(gray(pixels), got, case):
            return sentence
    for taken in itertools.product(range(3), repeat=3):  # from the planes, or from the three bytes of a pixel
        if taken != (0, 1, 2) and explains(gray(flat.reshape(-1, 3)[:, taken]), got, case):
            names = ["red", "green", "blue"]
            if sorted(taken) == [0, 1, 2]:  # a picture does not tell whether the bytes change places or the weights
                swapped = [names[place] for place in range(3) if taken[place] != place]
                what = f"{swapped[0]} and {swapped[1]} are swapped" if len(swapped) == 2 else "the three colours have changed places"
                return f"{what}: the order is red, green, blue, that of the bytes as that of the weights 299, 587, 114"
            return "; ".join(f"for {wanted} stands the {names[place]}" for wanted, place in zip(names, taken)
                             if wanted != names[place]) + ": the order is red, green, blue"
    return None


def own_vectors(expected, got, case):
    """staged: each thread goes on with the vectors that it has loaded itself."""
    if case.parameters.get("variant") != "staged" or got.size < 4096:
        return None
    flat = case.inputs["input"].reshape(-1)
    end = got.size // 4096 * 4096 * 3  # of the whole tiles
    tiles = flat[:end].reshape(-1, 3, 256, 16).swapaxes(1, 2)
    if explains(gray(numpy.concatenate([tiles.reshape(-1), flat[end:]]).reshape(-1, 3)), got, case):
        return ("a thread takes from the tile what it has put there, the vectors t, 256 + t and 512 + t: its own 16 pixels "
                "are the vectors 3 t, 3 t + 1 and 3 t + 2")
    return None


def groups_only(expected, got, case):
    """What is no whole group of 16 pixels was never written."""
    if case.parameters.get("variant") not in LINE_VARIANTS or not case.wrong.any():
        return None
    missing = poisoned(got).reshape(-1)
    first = int(case.wrong.reshape(-1).argmax())
    if first and first % 16 == 0 and missing[first:].all() and not case.wrong.reshape(-1)[:first].any():
        what = "tiles of 4096" if case.parameters["variant"] == "staged" else "groups of 16"
        return f"only whole {what} pixels are converted: the last ones, from pixel {first} on, need the plain loop"
    return None


def mixed_up(expected, got, case):
    """The right values, in the wrong order within four or sixteen."""
    wanted, found = expected.reshape(-1), got.reshape(-1)
    if case.parameters.get("variant") not in LINE_VARIANTS or len(set(wanted[:64].tolist())) < 16:
        return None
    for size, what in ((4, "a word of four"), (16, "sixteen")):
        whole = len(wanted) // 16 * 16
        if not case.wrong.reshape(-1)[:whole].any() or case.wrong.reshape(-1)[whole:].any():
            continue
        pairs = (numpy.sort(side[:whole].reshape(-1, size), axis=1) for side in (wanted, found))
        if numpy.array_equal(*pairs):
            return f"the values are right but stand in the wrong order within {what}: the first pixel is the lowest byte"
    return None


def some_of_four(expected, got, case):
    """Of each four pixels one or more are right, and the others are not."""
    variant = case.parameters.get("variant")
    if variant not in LINE_VARIANTS:
        return None
    step = 4096 if variant == "staged" else 16  # what is left beyond the last of these takes another way
    wrong = case.wrong.reshape(-1)[:case.wrong.size // step * step].reshape(-1, 4)
    columns = [place for place in range(4) if len(wrong) >= 16 and not wrong[:, place].any()]
    others = [place for place in range(4) if place not in columns]
    if columns and others and wrong[:, others].mean(axis=0).min() > 0.5:
        todo = "TODO 4" if variant == "planar_vectorised" else "TODO 5a"
        return (f"of each four pixels number {' and '.join(map(str, others))} is wrong (counted from 0): which byte of which word "
                f"is its red, its green, its blue ({todo})?")
    return None


def before_the_barrier(expected, got, case):
    """staged in CPU mode, where the threads of a block take turns: without the barrier only those find
    their vectors in the tile whose neighbours have had their turn."""
    if case.parameters.get("variant") != "staged" or case.backend != "cpu" or case.order or got.size < 4096:
        return None
    thread = numpy.arange(256)
    late = ((3 * thread[:, None] + numpy.arange(3)) % 256 > thread[:, None]).any(axis=1).repeat(16)
    wrong = case.wrong.reshape(-1)[:got.size // 4096 * 4096].reshape(-1, 4096)
    if wrong[:, late].mean() > 0.6 and not wrong[:, ~late].any() and not case.wrong.reshape(-1)[wrong.size:].any():
        return ("threads read the tile before the others have put their vectors there: all must wait between the stores and the "
                "loads, __syncthreads() (TODO 6)")
    return None


DIAGNOSERS = [groups_only, rows_beyond_the_grid, before_the_barrier, wrong_arithmetic, mixed_up,
              some_of_four, wrong_storage, own_vectors]


# Cases


def judge(case, pixels, variant, kind="ppm", options=()):
    """One variant on one picture of (height, width, 3) bytes."""
    got = case.compute("--variant", variant, *options, inputs={"input": pixels}, kind=kind)
    case.compare(gray(pixels), got, EXACT, diagnosers=DIAGNOSERS)


def random_pixels(case, height, width):
    return case.random.integers(0, 256, (height, width, 3), dtype=numpy.uint8)


def shape(case, variant, height, width, kind="png", options=(), rows_of_grid=0):
    judge(case, random_pixels(case, height, width), variant, kind, options)


def colours(numbers):
    """The colours whose numbers are given: red * 65536 + green * 256 + blue."""
    return numpy.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=-1).astype(numpy.uint8)


@functools.cache
def colours_near_the_middle():
    """Those with sums that end in 499, 500 or 501 thousandths, as a picture of one row."""
    red, green, blue = numpy.ix_(*[numpy.arange(256, dtype=numpy.int32)] * 3)
    ends = (299 * red + 587 * green + 114 * blue) % 1000
    return colours(numpy.flatnonzero((ends >= 499) & (ends <= 501)))[None, :]


def middle_between_two(case, variant):
    judge(case, colours_near_the_middle(), variant)


def neutral(case, variant):
    """Red, green and blue equal: the value stays."""
    pixels = numpy.repeat(numpy.arange(256, dtype=numpy.uint8), 3).reshape(16, 16, 3)
    judge(case, pixels, variant)


def every_colour(case, variant, step):
    numbers = numpy.arange(0, 1 << 24, step, dtype=numpy.int32)
    judge(case, colours(numbers[:numbers.size // 4096 * 4096].reshape(-1, 4096)), variant)


SHAPES = [(1, 1), (31, 33), (101, 103), (7, 1000), (1000, 7)]

for variant in VARIANTS:
    for height, width in SHAPES:
        lab.case(f"{variant}: {height} x {width}", shape, variant=variant, height=height, width=width)
    lab.case(f"{variant}: neutral colours", neutral, variant=variant)
    lab.case(f"{variant}: sums in the middle between two values", middle_between_two, variant=variant)
for variant in PIXEL_VARIANTS:
    lab.case(f"{variant}: 97 x 89 in blocks of 35x3, 7 of them along y", shape, variant=variant, height=97, width=89,
             rows_of_grid=21, options=("--block", "35x3", "--most-blocks", "7"))
    lab.case(f"{variant}: 70000 x 1 in blocks of 64x1", shape, variant=variant, height=70_000, width=1,
             rows_of_grid=65_535, kind="ppm", options=("--block", "64x1"))
for variant in VARIANTS:
    lab.case(f"{variant}: 1 x 1200000", shape, variant=variant, height=1, width=1_200_000, on_cpu={"width": 140_000}, kind="ppm",
             quick=False)
    lab.case(f"{variant}: 1200000 x 1", shape, variant=variant, height=1_200_000, width=1, on_cpu={"height": 540_000}, kind="ppm",
             quick=False)
    lab.case(f"{variant}: all 16777216 colours", every_colour, variant=variant, step=1, on_cpu={"step": 5}, quick=False)


lab.kernels({variant: variant for variant in VARIANTS})
# 5 x 1700 by two rows of threads; 16 pixels a thread; two whole tiles, and the rest by all threads of a block.
STORING = {"interleaved": 3400, "planar": 3400, "planar_vectorised": 532, "vectorised": 532, "staged": 768}
lab.watched("no race between threads", [["--height", 5, "--width", 1700, "--block", "32x2", "--most-blocks", 1]],
            storing=STORING)


@lab.case("a size nobody knows before, all variants", fresh=True)
def fresh(case):
    height, width = (int(side) for side in case.random.integers(1, 300, 2))
    pixels = random_pixels(case, height, width)
    for variant in VARIANTS:
        judge(case, pixels, variant)


@lab.case("files with 1, 2, 3 and 4 channels")
def channels(case):
    """A gray file stays as it is; alpha is dropped, whatever it holds, and that is said."""
    for count in (1, 2, 3, 4):
        pixels = case.random.integers(0, 256, (8, 8, count), dtype=numpy.uint8)
        name = case.save(f"channels_{count}.png", pixels[..., 0] if count == 1 else pixels)
        coloured = case.inputs["input"] = pixels[..., :3] if count > 2 else pixels[..., :1].repeat(3, axis=2)
        for variant in ("interleaved", "planar_vectorised", "staged"):
            got = case.compute("--variant", variant, "--input", name, output="output.png")
            case.compare(gray(coloured), got, EXACT, diagnosers=DIAGNOSERS)
            said = "alpha" in case.last_run.stderr
            case.expect(said == (count in (2, 4)), f"of a file with {count} channels it is "
                        + ("not said that alpha is dropped" if not said else "said that alpha is dropped"))


@lab.case("formats: PNG, BMP, TGA, PPM in, PNG, BMP, TGA, PGM out")
def formats(case):
    pixels = random_pixels(case, 13, 21)
    for kind, output in (("png", "png"), ("bmp", "tga"), ("tga", "pgm"), ("ppm", "png")):
        got = case.compute("--variant", "interleaved", inputs={"input": pixels}, kind=kind, output=f"output.{output}")
        case.compare(gray(pixels), got, EXACT, diagnosers=DIAGNOSERS)


@lab.case("all variants in one run, random pixels")
def everything(case):
    case.calls_correct(case.run("--height", 50, "--width", 61, "--seed", 7), VARIANTS)


@lab.case("no rows, no columns")
def empty(case):
    for height, width in ((0, 5), (5, 0), (0, 0)):
        case.run("--height", height, "--width", width)
        case.refuses("--height", height, "--width", width, "--variant", "planar", "--output", "gray.png",
                     saying="output")


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--height --width --seed", "-1", "many", "7x", "")
    case.refuses("--height", "2147483647", "--width", "2147483647", saying="memory")
    for block in ("64x32", "0x8", "8x8x2", "8,8"):
        case.refuses("--height", "9", "--width", "9", "--block", block, saying="block")
    case.refuses("--variant", "greyscale", saying="variant")
    case.refuses("--height", "9", "--width", "9", "--output", "gray.png", saying="variant")
    for name in ("gray.gif", "gray", "png", "no/such/folder/gray.png"):
        case.refuses("--variant", "planar", "--output", name, saying=name)
    case.refuses("--height", "1", "--width", "70000", "--variant", "planar", "--output", "gray.jpg", saying="65535")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good.png", random_pixels(case, 9, 9))
    case.refuses("--input", good, "--height", "9", saying="--height")
    case.refuses("--input", good, "--seed", "9", saying="--seed")
    case.refuses_broken("--input", good)


lab.main()
