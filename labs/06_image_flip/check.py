"""Judges image_flip: every variant's picture, byte for byte, against NumPy; files by Pillow."""

import sys
from pathlib import Path

import numpy
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned
from checker.diagnose import rows_beyond_the_grid

lab = checker.Lab(__file__, tasks={"naive": "TODO 1", "in_place": "TODO 2", "words": "TODO 3", "staged": "TODO 4"})
EXACT = checker.Tolerance(why="pixels move, and no value changes")
DECODED = checker.Tolerance(absolute=6, why="two decoders of JPEG round differently")
VARIANTS = ["naive", "in_place", "words", "staged"]
DIRECTIONS = ["horizontal", "vertical", "both"]


def flipped(pixels, direction):
    """The oracle."""
    return {"horizontal": pixels[:, ::-1], "vertical": pixels[::-1], "both": pixels[::-1, ::-1]}[direction]


def cube(pixels):
    """(height, width, channels), also of a gray picture."""
    return pixels if pixels.ndim == 3 else pixels[..., None]


# Likely causes


AS_THEY_WERE = ("pairs of pixels are as they were: is each swapped by two threads, once by each, and so twice? Only the "
                "thread whose pixel comes first swaps. Or by no thread?")


def unmoved(expected, got, case):
    if (got == case.inputs["input"]).all():
        if case.parameters["variant"] == "in_place":
            return AS_THEY_WERE
        return "the picture is as it was: each pixel is copied to its own place"
    return None


def other_flip(expected, got, case):
    picture, wanted = case.inputs["input"], case.parameters["direction"]
    for direction in DIRECTIONS:
        if direction != wanted and (got == flipped(picture, direction)).all():
            return f"this is the flip '{direction}', where '{wanted}' was asked for: rows or columns, which run backwards?"
    if (got == cube(expected)[..., ::-1].reshape(got.shape)).all():
        return "the bytes of each pixel are turned round as well: pixels change places, and their channels stay in order"
    return None


def one_channel(expected, got, case):
    """Of the kernels that have a loop over the channels."""
    if case.parameters["variant"] not in ("naive", "in_place"):
        return None
    wrong = cube(case.wrong)
    right = [channel for channel in range(wrong.shape[2]) if not wrong[..., channel].any()]
    if right and len(right) < wrong.shape[2]:
        which = " and ".join(map(str, right))
        return f"only channel {which} of each pixel is right: does the loop go over all {wrong.shape[2]} channels?"
    return None


def off_by_one(expected, got, case):
    wanted, found = cube(expected), cube(got)
    height, width = wanted.shape[:2]
    if width > 2 and (found[:, 1:] == wanted[:, :-1]).all() or width > 2 and (found[:, :-1] == wanted[:, 1:]).all():
        return "each pixel comes from the next column: column 0 and column width - 1 change places, so it is width - 1 - column"
    if height > 2 and (found[1:] == wanted[:-1]).all() or height > 2 and (found[:-1] == wanted[1:]).all():
        return "each pixel comes from the next row: row 0 and row height - 1 change places, so it is height - 1 - row"
    return None


def other_picture(expected, got, case):
    """In place: the other picture holds the byte 0x5A everywhere."""
    if case.parameters["variant"] == "in_place" and case.wrong.sum() > 8 and (got[case.wrong] == 0x5A).all():
        return ("pixels come from the other picture, which holds nothing in this variant: both of a pair are read from "
                "`pixels`, before either is written (TODO 2)")
    return None


def half_done(expected, got, case):
    """In place: what was overwritten before somebody read it, or swapped back."""
    if case.parameters["variant"] != "in_place":
        return None
    stayed = (got == case.inputs["input"]) & (got != expected)
    if not (stayed | ~case.wrong).all() or not case.wrong.any():
        return None
    if cube(case.wrong).all(axis=2).any(axis=1).sum() == 1 and got.shape[0] > 1:
        return "only the middle row is wrong: its pixels are each other's partners, and each pair must be swapped once"
    if (case.wrong == flipped(case.wrong, case.parameters["direction"])).all():
        return AS_THEY_WERE  # both of a pair
    return ("a part of the picture is flipped and the rest is as it was: is a pixel overwritten before it is read, or "
            "has a pair no thread?")


def ends_of_rows(expected, got, case):
    """Wrong only where a row of the output begins or ends within a word."""
    if case.parameters["variant"] not in ("words", "staged"):
        return None
    wrong = case.wrong.reshape(case.wrong.shape[0], -1)
    if wrong.shape[1] > 64 and wrong.any() and not wrong[:, 16:-16].any():
        return ("only the first or the last bytes of rows are wrong: a row that begins within a word has bytes there "
                "that are not its own, and its last word may end in the next row")
    return None


def first_vectors(expected, got, case):
    """staged: the vectors of the picture's beginning are loaded for every row."""
    picture, direction = case.inputs["input"], case.parameters["direction"]
    height, width, channels = cube(expected).shape
    if case.parameters["variant"] != "staged" or direction == "both" or width * channels + 15 > 512 * 16:
        return None
    begins = width * channels * numpy.arange(height)
    rows = picture.reshape(-1)[(begins % 16)[:, None] + numpy.arange(width * channels)] if height > 1 else begins
    if height > 1 and (flipped(rows.reshape(cube(expected).shape), direction) == cube(got))[cube(case.wrong)].all():
        return ("every row holds what lies at the beginning of the picture: of the input's vectors, the block's part begins "
                "at number first_vector (TODO 4)")
    return None


def word_order(expected, got, case):
    """The bytes of a word are right, in another order; or words that begin with one channel are wrong."""
    if case.parameters["variant"] not in ("words", "staged") or poisoned(got).all():
        return None
    whole = got.size // 4 * 4
    wanted, found = (side.reshape(-1)[:whole].reshape(-1, 4) for side in (expected, got))
    if whole <= 64:
        return None
    channels = cube(got).shape[2]
    wrong = (wanted != found).any(axis=1)
    firsts = [channel for channel in range(3) if channels == 3 and wrong[channel::3].mean() > 0.8]
    words = f"each word that begins with channel {firsts[0]}" if len(firsts) == 1 and len(set(
        numpy.flatnonzero(wrong) % 3)) == 1 else "each word"
    todo = "TODO 3a" if channels < 3 else "TODO 3b"
    if wrong.any() and (numpy.sort(wanted[wrong]) == numpy.sort(found[wrong])).all(axis=1).mean() > 0.9:
        return (f"{words} has the right four bytes in another order: a digit of __byte_perm's third argument names a "
                f"byte, the last digit that of the lowest ({todo})")
    if words != "each word":
        return f"{words} is wrong, and no other: which bytes of the window are its own, in which order ({todo})?"
    return None


def before_the_barrier(expected, got, case):
    """staged in CPU mode, where the threads of a block take turns: without the barrier only the last finds all vectors."""
    height, width, channels = cube(got).shape
    if case.parameters["direction"] == "both":
        height, width = 1, height * width
    row_bytes = width * channels
    vectors = -(-(row_bytes if row_bytes % 16 == 0 or height == 1 else row_bytes + 15) // 16)
    if case.parameters["variant"] != "staged" or case.backend != "cpu" or case.order or vectors > 512:
        return None
    threads = 32 * -(-vectors // 128)
    begins = row_bytes * numpy.arange(height)[:, None]
    last = (begins % 16 + numpy.arange(row_bytes)) // 4 % threads == threads - 1
    wrong = case.wrong.reshape(height, row_bytes)
    if last.any() and not wrong[last].any() and wrong[~last].mean() > 0.4:
        return ("threads take words from the tile before the others have put their vectors there: all must wait behind the "
                "stores, __syncthreads() (TODO 4)")
    return None


def ends_of_parts(expected, got, case):
    """staged: the vectors beyond four a thread."""
    row_bytes = cube(got).shape[1] * cube(got).shape[2]
    if case.parameters["variant"] == "staged" and row_bytes > 4096 and 0 < case.wrong.mean() < 0.05:
        return ("only a few bytes at the end of each part are wrong: `count` may pass vectors_per_thread * blockDim.x, and then a "
                "thread loads one vector more, k <= vectors_per_thread (TODO 4)")
    return None


DIAGNOSERS = [rows_beyond_the_grid, before_the_barrier, ends_of_parts, other_picture, unmoved, other_flip, one_channel, off_by_one, half_done, ends_of_rows, word_order, first_vectors]


# Cases


def random_pixels(case, height, width, channels):
    pixels = case.random.integers(0, 256, (height, width, channels), dtype=numpy.uint8)
    return pixels[..., 0] if channels == 1 else pixels


def flip(case, variant, direction, pixels=None, kind="png", words=()):
    """The picture that one variant makes of `pixels`, or of the file that `words` name."""
    case.parameters = {**case.parameters, "direction": direction}
    return case.compute("--variant", variant, "--direction", direction, *words, inputs={} if pixels is None else {"input": pixels},
                        kind=kind)


def judge(case, pixels, variant, direction, kind="png", words=()):
    got = flip(case, variant, direction, pixels, kind, words)
    case.compare(flipped(pixels, direction), got, EXACT, diagnosers=DIAGNOSERS)


def shape(case, variant, height, width, channels=(1, 2, 3, 4), directions=DIRECTIONS, kind="png", options=(),
          rows_of_grid=0):
    for direction in directions:
        for count in channels:
            judge(case, random_pixels(case, height, width, count), variant, direction, kind, options)


def five(case, variant):
    """The row 1 2 3 4 5."""
    row = numpy.arange(1, 6, dtype=numpy.uint8)[None, :]
    for direction, wanted in (("horizontal", [[5, 4, 3, 2, 1]]), ("vertical", row), ("both", [[5, 4, 3, 2, 1]])):
        got = flip(case, variant, direction, row)
        case.compare(numpy.array(wanted, numpy.uint8), got, EXACT, diagnosers=DIAGNOSERS)


def twice(case, variant):
    """A flip of a flip is the original."""
    pixels = random_pixels(case, 113, 113, 3)
    for direction in DIRECTIONS:
        once = flip(case, variant, direction, pixels)
        case.compare(flipped(pixels, direction), once, EXACT, diagnosers=DIAGNOSERS)
        case.compare(pixels, flip(case, variant, direction, once), EXACT)


for variant in VARIANTS:
    lab.case(f"{variant}: 1 x 1", shape, variant=variant, height=1, width=1, channels=(3,))
    lab.case(f"{variant}: the row 1 2 3 4 5", five, variant=variant)
    lab.case(f"{variant}: 31 x 33, 1 to 4 channels", shape, variant=variant, height=31, width=33)
    lab.case(f"{variant}: 113 x 113, twice", twice, variant=variant)
    lab.case(f"{variant}: 7 x 1000", shape, variant=variant, height=7, width=1000, channels=(3,))
    lab.case(f"{variant}: 1000 x 7", shape, variant=variant, height=1000, width=7, channels=(1, 3))
    lab.case(f"{variant}: 3 x 9001, 1 to 4 channels", shape, variant=variant, height=3, width=9001, quick=False)
    lab.case(f"{variant}: 1 x 1200000", shape, variant=variant, height=1, width=1_200_000, on_cpu={"width": 141_900},
             channels=(3,), kind="ppm", directions=("horizontal",), quick=False)
for variant in ("naive", "in_place", "words"):
    lab.case(f"{variant}: 97 x 89 in blocks of 35x3, 7 of them along y", shape, variant=variant, height=97, width=89,
             channels=(3,), rows_of_grid=21, options=("--block", "35x3", "--most-blocks", "7"))
    lab.case(f"{variant}: 140000 x 1 in blocks of 64x1", shape, variant=variant, height=140_000, width=1,
             on_cpu={"height": 70_000}, channels=(3,), rows_of_grid=65_535, directions=("vertical",), kind="ppm", options=("--block", "64x1"))
lab.case("staged: 70000 x 1", shape, variant="staged", height=70_000, width=1, channels=(3,), directions=DIRECTIONS[1:],
         kind="ppm", quick=False)


lab.kernels({variant: variant for variant in VARIANTS})
lab.watched("no race between threads", [["--height", 5, "--width", 2100, "--block", "32x2", "--most-blocks", 1],
                                        ["--height", 5, "--width", 251, "--direction", "both", "--block", "32x2",
                                         "--most-blocks", 1]],
            storing={"naive": 202, "in_place": 202, "words": 154, "staged": 64})  # those of the smaller run


@lab.case("in_place: one picture only", variant="in_place")
def one_picture(case, variant):
    """As many copies on the device as the variant that has two pictures."""
    records = []
    for name in ("naive", variant):
        judge(case, random_pixels(case, 31, 33, 3), name, "both")
        records.append(case.last_run.record)
    case.expect(not all(records) or records[0]["copies"] == records[1]["copies"],
                "the picture is copied, and the copy read: one picture is enough, if one thread reads both pixels of a pair "
                "before it writes them (TODO 2)")


@lab.case("a size nobody knows before, all variants", fresh=True)
def fresh(case):
    height, width = (int(side) for side in case.random.integers(1, 300, 2))
    for variant in VARIANTS:
        for direction in DIRECTIONS:
            pixels = random_pixels(case, height, width, int(case.random.integers(1, 5)))
            judge(case, pixels, variant, direction)


@lab.case("a JPEG that a camera has marked as lying on its side")
def orientation(case):
    """The mark (orientation 6) is ignored: 4 x 2 stays 4 x 2, and the pixels flip as they are stored."""
    ramp = numpy.linspace(20, 230, 16 * 32).reshape(16, 32, 1).astype(numpy.uint8).repeat(3, axis=2)
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(ramp).save(case.folder / "camera.jpg", quality=95, exif=exif)
    with Image.open(case.folder / "camera.jpg") as stored:
        pixels = numpy.asarray(stored)
    for variant in VARIANTS:
        got = flip(case, variant, "horizontal", words=("--input", "camera.jpg"))
        case.compare(flipped(pixels, "horizontal"), got, DECODED)


@lab.case("all variants in one run, random pixels")
def everything(case):
    for direction in DIRECTIONS:
        run = case.run("--height", 50, "--width", 61, "--channels", 3, "--seed", 7, "--direction", direction)
        case.calls_correct(run, VARIANTS)


@lab.case("no rows, no columns")
def empty(case):
    for height, width in ((0, 5), (5, 0), (0, 0)):
        case.run("--height", height, "--width", width)
        case.refuses("--height", height, "--width", width, "--variant", "naive", "--output", "flipped.png",
                     saying="output")


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--height --width --seed", "-1", "many", "")
    case.refuses_values("--channels", "0", "5")
    case.refuses("--height", "2147483647", "--width", "2147483647", saying="memory")
    for block in ("64x32", "0x8", "8x8x2"):
        case.refuses("--height", "9", "--width", "9", "--block", block, saying="block")
    case.refuses("--variant", "mirror", saying="variant")
    case.refuses("--direction", "diagonal", saying="direction")
    case.refuses("--height", "9", "--width", "9", "--output", "flipped.png", saying="variant")
    for name in ("flipped.gif", "flipped", "no/such/folder/flipped.png"):
        case.refuses("--variant", "naive", "--output", name, saying=name)
    one = ("--height", "1", "--variant", "naive", "--output")
    case.refuses(*one, "flipped.tga", "--width", "70000", saying="65535")
    case.refuses(*one, "flipped.pgm", "--width", "9", saying="gray")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good.png", random_pixels(case, 9, 9, 3))
    for option in ("--height", "--width", "--channels", "--seed"):
        case.refuses("--input", good, option, "3", saying=option)
    case.refuses_broken("--input", good)


lab.main()
