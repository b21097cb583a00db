"""Pictures as SVG: which warp touches which element, and the banks of shared memory."""

import colorsys
from collections.abc import Container, Iterator
from html import escape
from itertools import chain, count
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from .places import Place
from .record import SPACE, WHAT
from .summary import Kernel, expression, source_lines

CELL = 20
TOP = 50  # above the first row
MOST_CELLS = 4096
MOST_ROWS = 64


class Picture(NamedTuple):
    kernel: str  # its full name
    svg: str


def write(pictures: dict[str, Picture], folder: Path | None) -> Iterator[Path]:
    """Writes each picture to a file of its own, whose name says what it shows."""
    for name, picture in pictures.items():
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name.replace(' ', '_')}.svg"
        path.write_text(picture.svg)
        yield path


def all_of(kernels: list[Kernel], width: int) -> dict[str, Picture]:
    """Pictures by their names: `kernel store global`, and with a number if there are more."""
    pictures: dict[str, Picture] = {}
    for kernel, launch in ((kernel, launch) for kernel in kernels for launch in kernel.launches):
        by_access: dict[tuple, list] = {}
        in_order = sorted(launch.touches, key=lambda touch: touch[6:9])  # block, step, warp: blocks run side by side
        for place, what, space, name, bytes_of_array, *request in in_order:
            if SPACE[space] != "constant":
                by_access.setdefault((place, what, space, name, bytes_of_array), []).append(request)
        for (place, what, space, name, bytes_of_array), requests in by_access.items():
            words = f"{WHAT[what]} {SPACE[space]}"
            title = f"{kernel.short_name}, {words}: {what_stands(launch.places[place])}"
            drawn = (banks(title, requests) if SPACE[space] == "shared" else
                     elements(title, requests, bytes_of_array, width))
            pictures[unused(f"{launch.kernel} {words}", pictures)] = Picture(kernel.name, drawn)
    return pictures


def unused(name: str, names: Container[str]) -> str:
    """The name, or with the first number from 2 on that is not taken."""
    return next(free for free in chain([name], (f"{name} {n}" for n in count(2))) if free not in names)


def what_stands(place: Place) -> str:
    """The access as the source has it, or its line; as much as goes into a title."""
    line = "".join(source_lines(place.file)[place.line - 1:place.line])
    return shorten(expression(place) or line, 64, placeholder=" ...")


def colour(number: int) -> str:
    """A colour of its own for each of many warps."""
    red, green, blue = colorsys.hls_to_rgb(number * 0.381966 % 1, 0.78, 0.65)
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def elements(title: str, requests: list, bytes_of_array: int, width: int) -> str:
    """An array, row by row; each element has the colour of the warp that touches it first and its lane's number."""
    size = requests[0][0]
    whole = bytes_of_array // size
    length = min(whole, MOST_CELLS)
    owner: dict[int, tuple[int, int, int]] = {}  # block, warp, lane
    times: dict[int, int] = {}
    for _, block, _, first, lanes in requests:
        for lane, offset in lanes:
            element = offset // size
            owner.setdefault(element, (block, first // 32, lane))
            times[element] = times.get(element, 0) + 1
    columns = max(1, min(width, length))
    numbers: dict[tuple[int, int], int] = {}  # of warps, as they come
    cells, edges = [], []
    for element in range(length):
        x, y = element % columns * CELL, element // columns * CELL + TOP
        if element not in owner:
            continue
        block, warp, lane = owner[element]
        note = f"element {element}: block {block}, warp {warp}, lane {lane}" + (
            f"; {times[element]} accesses" if times[element] > 1 else "")
        fill = colour(numbers.setdefault((block, warp), len(numbers)))
        cells.append(f'<g><title>{note}</title>{square(x, y, fill)}{number(lane, x, y)}</g>')
        if x and owner.get(element - 1, (block,))[0] != block:
            edges.append(f"M{x} {y}v{CELL}")
        if element >= columns and owner.get(element - columns, (block,))[0] != block:
            edges.append(f"M{x} {y}h{CELL}")
    rows = -(-length // columns)
    cells.append(lines(columns, rows))
    if edges:
        cells.append(f'<path d="{"".join(edges)}" stroke="#222" stroke-width="2"/>')
    legend = (f"A colour is a warp, a number a lane{', a dark line parts blocks' if edges else ''}"
              f"{', white is not touched' if len(owner) < length else ''}; {size}-byte elements, {columns} a row"
              f"{f'; cut: the first {length} of {whole} elements' if length < whole else ''}")
    return svg(columns * CELL, rows * CELL, title, legend, cells)


def banks(title: str, requests: list) -> str:
    """The worst request of a warp: 32 banks side by side, a row for each 128 bytes, lanes where they read."""
    request = max(requests, key=lambda request: max(ways_of(request)))
    size, block, _, first, _ = request
    words, ways = words_of(request), ways_of(request)
    top = min(words) // 32
    all_rows = max(words) // 32 - top + 1
    rows = min(all_rows, MOST_ROWS)
    cells = [f'<text x="{bank * CELL + CELL // 2}" y="{TOP - 4}" fill="{"#b00" if ways[bank] > 1 else "#777"}">'
             f"{bank}</text>" for bank in range(32)]
    for word, lanes in sorted(words.items()):
        if word // 32 - top < rows:
            x, y = word % 32 * CELL, (word // 32 - top) * CELL + TOP
            fill = "#f4a698" if ways[word % 32] > 1 else "#a8d5a2"
            cells.append(square(x, y, fill) + number(f"{lanes[0]}{'+' if len(lanes) > 1 else ''}", x, y))
    cells.append(lines(32, rows))
    legend = (f"One request, block {block}, warp {first // 32}; columns are banks, numbers are lanes"
              f"{f', of which {lanes_at_once(size)} are served at a time' if size > 4 else ''}; " + (
                  f"up to {max(ways)} words of one bank" if max(ways) > 1 else "no conflict")
              + (f"; cut: the first {rows} of {all_rows} rows" if rows < all_rows else ""))
    return svg(32 * CELL, rows * CELL, title, legend, cells)


def words_of(request: list) -> dict[int, list[int]]:
    """The words of shared memory that a request wants, each with the lanes that want it."""
    size, _, _, _, lanes = request
    words: dict[int, list[int]] = {}
    for lane, offset in lanes:
        for word in range(offset // 4, (offset + size - 1) // 4 + 1):
            words.setdefault(word, []).append(lane)
    return words


def lanes_at_once(size: int) -> int:
    """Wide accesses are served by half and quarter warps."""
    return 32 if size <= 4 else max(128 // size, 1)


def ways_of(request: list) -> list[int]:
    """How many words each bank is asked for at once, at most."""
    size, block, step, first, lanes = request
    groups: dict[int, list] = {}
    for lane, offset in lanes:
        groups.setdefault(lane // lanes_at_once(size), []).append((lane, offset))
    asked = [words_of([size, block, step, first, group]) for group in groups.values()]
    return [max(sum(word % 32 == bank for word in words) for words in asked) for bank in range(32)]


def square(x: int, y: int, fill: str) -> str:
    return f'<path d="M{x} {y}h{CELL}v{CELL}h-{CELL}z" fill="{fill}"/>'


def lines(columns: int, rows: int) -> str:
    """What parts the squares."""
    upright = [f"M{x * CELL} {TOP}v{rows * CELL}" for x in range(columns + 1)]
    level = [f"M0 {TOP + y * CELL}h{columns * CELL}" for y in range(rows + 1)]
    return f'<path d="{"".join(upright + level)}" stroke="#ddd"/>'


def number(text: object, x: int, y: int) -> str:
    return f'<text x="{x + CELL // 2}" y="{y + 14}">{text}</text>'


def svg(width: int, height: int, title: str, legend: str, cells: list[str]) -> str:
    """A title and a legend above what is drawn, whose first row begins at TOP."""
    width, height = round(max(width, 6 * len(legend), 7.5 * len(title))) + 8, height + TOP + 4
    inside = "\n".join(cells)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 0 {width} {height}" width="{width}" height="{height}">\n'
            f'<rect x="-4" width="100%" height="100%" fill="#fff"/>\n'
            f'<g font-family="sans-serif"><text y="16" font-size="13">{escape(title)}</text>'
            f'<text y="33" font-size="11" fill="#555">{escape(legend)}</text></g>\n<g font-family="sans-serif" font-size="11" text-anchor="middle" fill="#000">\n{inside}\n</g></svg>\n')
