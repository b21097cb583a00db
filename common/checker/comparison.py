"""Compares an array with what was expected and puts the difference into words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

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


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: "1 element", "2 elements"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


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


def shape_text(shape: tuple[int, ...]) -> str:
    return " x ".join(str(side) for side in shape) if shape else "a single number"


def number_text(value, never_written: bool = False) -> str:
    if numpy.asarray(value).dtype.kind != "f":
        return f"{value}"
    text = f"{value:.17g}" if numpy.asarray(value).dtype.itemsize == 8 else f"{value:.9g}"
    return f"{text} (never written)" if never_written else text


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
    never_written = poisoned(got) & (got.dtype.kind == "f")
    rows = []
    for place in places[:SHOWN_ELEMENTS]:
        index = numpy.unravel_index(place, expected.shape)
        coordinates = name(index) if name else "[" + ", ".join(str(part) for part in index) + "]"
        wanted = expected[index]
        if got.dtype.kind == "f" and expected.dtype.kind == "f":
            wanted = wanted.astype(got.dtype) if tolerance.relative or tolerance.absolute else wanted
        rows.append((coordinates, number_text(wanted),
                     number_text(got[index], bool(never_written[index]))))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for coordinates, wanted, found in rows:
        lines.append(f"  {coordinates:<{widths[0]}}  expected {wanted:<{widths[1]}}  got {found}")
    if len(places) > SHOWN_ELEMENTS:
        lines.append(f"  ... and {len(places) - SHOWN_ELEMENTS} more")
    return "\n".join(lines)
