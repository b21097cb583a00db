"""Compares an array with what was expected and puts the difference into words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

from .usage import counted

SHOWN_ELEMENTS = 5


@dataclass(frozen=True)
class Tolerance:
    """An element is right when |got - expected| <= absolute + relative * |expected|.

    `why` justifies the two numbers in one line; the learner reads it when a case fails.
    """

    absolute: float = 0.0
    relative: float = 0.0
    why: str = ""

    def __post_init__(self):
        if not self.why:
            raise ValueError("a tolerance needs its reason: Tolerance(..., why=\"one line\")")
        if not (self.absolute >= 0 and self.relative >= 0):
            raise ValueError("a tolerance is not negative")

    def __str__(self) -> str:
        if self.absolute == 0 and self.relative == 0:
            return f"no difference is allowed: {self.why}"
        return f"allowed: {self.absolute:g} + {self.relative:g} x |expected|: {self.why}"


def is_whole(array: numpy.ndarray) -> bool:
    return array.dtype.kind in "biu"


def wrong_elements(expected: numpy.ndarray, got: numpy.ndarray, tolerance: Tolerance) -> numpy.ndarray:
    """True where an element is wrong. NaN and infinity are right only where they are expected."""
    if is_whole(expected) and is_whole(got) and tolerance.absolute == 0 and tolerance.relative == 0:
        return expected != got
    if expected.dtype == got.dtype and tolerance.absolute == 0 and tolerance.relative == 0:
        return ~((expected == got) | (numpy.isnan(expected) & numpy.isnan(got)))
    wanted, found = expected.astype(numpy.float64), got.astype(numpy.float64)
    with numpy.errstate(all="ignore"):
        bound = tolerance.absolute + tolerance.relative * numpy.abs(wanted)
        right = numpy.abs(found - wanted) <= bound
    unbounded = ~numpy.isfinite(wanted)
    if unbounded.any():
        same = (wanted == found) | (numpy.isnan(wanted) & numpy.isnan(found))
        right = numpy.where(unbounded, same, right)
    return ~right


def poisoned(array: numpy.ndarray) -> numpy.ndarray:
    """True where every byte is still 0xFF, the value that the program gives its output before the run."""
    flat = numpy.ascontiguousarray(array)
    if flat.size == 0:
        return numpy.zeros(flat.shape, bool)
    parts = flat.reshape(-1).view(numpy.uint8).reshape(*flat.shape, flat.dtype.itemsize)
    return (parts == 0xFF).all(axis=-1)


# What CPU mode fills memory with (common/cpu/runtime/patterns.h), and what it means in a result. The bits behind
# the exponent survive arithmetic, a sign and a conversion.
ORIGINS = {
    "past": (0xfffcafe5, "computed from memory outside an array"),
    "shared": (0xfffd5a5d, "computed from shared memory that no thread had written"),
    "device": (0xfffbe1f1, "computed from device memory that nobody has written"),
    "lane": (0xfffe3c6d, "computed from a lane that takes no part in a shuffle"),
}


def marks_of(word: int, dtype: numpy.dtype) -> tuple[int, list[int]]:
    """Which bits of an element of this type count, and what they can be if it comes from a fill of this word."""
    double = word << 32 | word
    if dtype == numpy.float32:
        return 0x7fffff, [word & 0x7fffff, double >> 29 & 0x7fffff]
    if dtype == numpy.float64:
        return (1 << 52) - 1, [double & ((1 << 52) - 1), (word & 0x7fffff) << 29]
    if dtype.itemsize == 4:
        return 0xffffffff, [word]
    return (1 << 64) - 1, [double, word, word | 0xffffffff << 32]


def origins(array: numpy.ndarray) -> dict[str, numpy.ndarray]:
    """For each kind of ORIGINS that occurs: where an element comes from such memory, in CPU mode."""
    if array.dtype.kind not in "iuf" or array.dtype.itemsize not in (4, 8) or not array.size:
        return {}
    bits = numpy.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    looked_at = numpy.isnan(array) if array.dtype.kind == "f" else None
    if looked_at is not None and not looked_at.any():
        return {}
    found = {}
    for kind, (word, _) in ORIGINS.items():
        mask, marks = marks_of(word, array.dtype)
        here = numpy.isin(bits & bits.dtype.type(mask), numpy.array(marks, bits.dtype))
        if looked_at is not None:
            here &= looked_at
        if here.any():
            found[kind] = here
    return found


def shape_text(shape: tuple[int, ...]) -> str:
    return " x ".join(str(side) for side in shape) if shape else "a single number"


def number_text(value, origin: str = "") -> str:
    if numpy.asarray(value).dtype.kind != "f":
        text = f"{value}"
    else:
        text = f"{value:.17g}" if numpy.asarray(value).dtype.itemsize == 8 else f"{value:.9g}"
    return f"{text} ({origin})" if origin else text


def shape_complaint(expected: numpy.ndarray, got: numpy.ndarray, dtype) -> str | None:
    """A sentence when the output cannot be compared element by element."""
    if got.shape != expected.shape:
        text = (f"the output has the shape {shape_text(got.shape)}, "
                f"expected {shape_text(expected.shape)}")
        if len(got.shape) > 1 and got.shape == expected.shape[::-1]:
            text += "\nlikely cause: height and width are swapped"
        return text
    wanted = numpy.dtype(dtype if dtype is not None else expected.dtype)
    if got.dtype != wanted:
        return f"the output has elements of type {got.dtype}, expected {wanted}"
    return None


def difference_text(expected: numpy.ndarray, got: numpy.ndarray, wrong: numpy.ndarray,
                    tolerance: Tolerance, name=None) -> str:
    """How many elements differ, by how much at most, and the first of them with their coordinates."""
    places = numpy.flatnonzero(wrong)
    noun = "element differs" if expected.size == 1 else "elements differ"
    lines = [f"{len(places)} of {expected.size} {noun} ({tolerance})"]
    comes_from = [(poisoned(got) & (got.dtype.kind == "f"), "never written"),
                  *((here, ORIGINS[kind][1]) for kind, here in origins(got).items())]
    rows = []
    for place in places[:SHOWN_ELEMENTS]:
        index = numpy.unravel_index(place, expected.shape)
        coordinates = name(index) if name else "[" + ", ".join(str(part) for part in index) + "]"
        wanted = expected[index]
        if got.dtype.kind == "f" and expected.dtype.kind == "f":
            wanted = wanted.astype(got.dtype) if tolerance.relative or tolerance.absolute else wanted
        rows.append((coordinates, number_text(wanted),
                     number_text(got[index], next((words for here, words in comes_from if here[index]), ""))))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for coordinates, wanted, found in rows:
        lines.append(f"  {coordinates:<{widths[0]}}  expected {wanted:<{widths[1]}}  got {found}")
    if len(places) > SHOWN_ELEMENTS:
        lines.append(f"  ... and {len(places) - SHOWN_ELEMENTS} more")
    return "\n".join(lines)
