"""The figures on a terminal: a table by kernel and line, the kernels' own figures, the worst lines."""

import math
from collections.abc import Iterator
from pathlib import Path

from . import advice
from .cards import Card, roofline
from .divergence import Parting
from .summary import Kernel, Line, source_lines, worst


def size(number: float) -> str:
    """1536 as 1.5 Ki; 0.2, an average, as it is."""
    if 0 < number < 0.01:
        return "<0.01"
    if number < 10 and number != int(number):
        return f"{number:.1g}" if number < 1 else advice.plain(number)
    for unit in ("", " Ki", " Mi", " Gi"):
        if abs(number) < 1024 or unit == " Gi":
            return f"{number:.0f}" if unit == "" else f"{number:.4g}{unit}"
        number /= 1024
    return ""


def shape(sides: list[int]) -> str:
    while len(sides) > 1 and sides[-1] == 1:
        sides = sides[:-1]
    return "x".join(map(str, sides))


def heading(kernel: Kernel) -> str:
    """The kernel, its launches, and what of them was looked at."""
    first, count = kernel.first, len(kernel.launches)
    shapes = {(tuple(launch.grid), tuple(launch.block)) for launch in kernel.launches}
    words = f"{kernel.name}: grid {shape(first.grid)}, block {shape(first.block)}"
    if len(shapes) > 1:
        words += f", and {len(shapes) - 1} other shape{'s' if len(shapes) > 2 else ''}"
    words += f"; {count} launch{'es' if count > 1 else ''}"
    if len(kernel.recorded) < count:
        words += f", {len(kernel.recorded)} of them looked at"
    if kernel.recorded_blocks < kernel.blocks:
        words += (f"; a sample of {kernel.recorded_blocks} of {kernel.blocks} blocks, evenly over the grid, stands for all")
    if kernel.truncated:
        words += "; of a thread only its first accesses are counted, there are too many"
    return words


def remark(line: Line, share: float) -> str:
    """What the last column says; of the share see Kernel."""
    access = line.access
    if access.space == "local":
        return "an array indexed at run time: local memory"
    words = [f"{32 - line.lanes:.0f} lanes idle"] if line.lanes < 24 else []
    if access.what == "atomic":
        words.append(f"up to {access.most} lanes on one address" if access.most > 1 else "each lane its own address")
    elif access.space == "shared":
        words.append(f"{access.most}-way conflict, {size(access.conflicts * share)} extra wavefronts" if access.conflicts else "no conflict")
    return ", ".join(words)


def cells(kernel: Kernel, line: Line) -> list[str]:
    access, share = line.access, kernel.share
    moved = f"{size(32 * access.units * share)} / {size(access.bytes * share)}" if access.space != "shared" else ""
    number = f"{Path(line.file).name}:{line.line}" if len(kernel.files) > 1 else str(line.line)
    return [number, line.words, line.which, size(access.requests * share), f"{line.lanes:.1f}",
            f"{line.per_request:.2f}", f"{line.least_per_request:.2f}", "wavefronts" if access.space == "shared" else "sectors",
            moved, remark(line, share)]


HEADINGS = ["line", "access", "", "requests", "lanes of 32", "each takes", "least", "unit", "bytes moved / used", ""]
RIGHT = [True, False, False, True, True, True, True, False, True, False]


def table(kernel: Kernel) -> Iterator[str]:
    lines = kernel.lines()
    if not lines:
        yield "  no line of it touches memory"
        return
    rows = [HEADINGS, *(cells(kernel, line) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for row in rows:
        padded = [cell.rjust(width) if right else cell.ljust(width)
                  for cell, width, right in zip(row, widths, RIGHT)]
        yield "  " + "  ".join(cell for cell, width in zip(padded, widths) if width).rstrip()


FEW_LANES = 24


def idle(kernel: Kernel) -> str:
    """Why so few lanes of a kernel are active."""
    threads = math.prod(kernel.first.block)
    if kernel.partings and kernel.partings[0].wasteful:
        dearest = kernel.partings[0]
        return (f"idle lanes: the {dearest.kind} of {Path(dearest.file).name}:{dearest.line} costs most, "
                f"with {dearest.lanes:.1f} of 32 active in what follows")
    if threads % 32:
        return f"idle lanes: a block of {threads} thread{'s' if threads > 1 else ''} does not fill its warps of 32"
    return "idle lanes: no single branch costs most of them"


def kernel_figures(kernel: Kernel, card: Card | None, operations: float) -> Iterator[str]:
    """Branches, lanes, barriers, unique bytes; the roofline's time on a card."""
    joined = kernel.joined()
    efficiency, lanes = joined.branch_efficiency(), joined.active_lanes()
    words = ["no branch (a GPU gives short ones a predicate)" if efficiency is None else f"{efficiency:.1f} % of branches uniform"]
    if lanes is not None:
        words.append(f"{lanes:.1f} of 32 lanes active")
    words.append(f"{size(kernel.barriers)} barrier{'' if kernel.barriers == 1 else 's'} a thread")
    yield "  " + ", ".join(words)
    if lanes is not None and lanes < FEW_LANES:
        yield f"  {idle(kernel)}"
    read, written = kernel.unique()
    count = len(kernel.recorded)
    asked = (kernel.total("load", "global").bytes + kernel.total("atomic", "global").bytes) / count
    sampled = " in the blocks of the sample" if kernel.recorded_blocks < kernel.blocks else ""
    again = f", each byte asked for {asked / read:.1f} times" if read else ""
    yield f"  {size(read)} different bytes read{again}, {size(written)} written{sampled}"
    registers = kernel.registers()
    if registers:
        yield f"  local arrays in {registers} line{'s' if registers > 1 else ''} left out: registers, if loops are unrolled"
    scale = kernel.blocks / kernel.recorded_blocks
    moved = (read + written) * scale
    if card is None or not (moved or operations):
        return
    rate = kernel.arithmetic()
    microseconds, limit = roofline(card, moved, operations, rate == "double")
    if limit == "arithmetic" and rate:
        limit += f" of {rate}"
    elif not rate and roofline(card, moved, operations, double=True)[1] == "arithmetic":
        limit += " at the rate of float; that of double if it computes with these, which its parameters do not say"
    intensity = f", {operations / moved:.2f} operations a byte" if operations and moved else ""
    if not operations:
        limit += "; its operations are not known"
    # What a launch takes is some microseconds: of less the figure would say nothing.
    bound = f"not under {microseconds:.3g} us" if microseconds >= 1 else "its bound is less than the launch itself takes"
    yield f"  on the card {card.name}: {bound} ({limit}{intensity})"


NOTHING_WORSE = "No line takes a tenth more than it has to, and no branch leaves a tenth of a kernel's lanes idle."


def title(kernel: Kernel, line: Line | Parting) -> str:
    """Which of a kernel's lines, and which access of it."""
    return f"{line.file}:{line.line}, {line.words}{f' {line.which}' if line.which else ''}, in {kernel.name}"


def worst_lines(kernels: list[Kernel]) -> Iterator[str]:
    found = worst(kernels)
    if not found:
        yield NOTHING_WORSE
    for number, (kernel, line) in enumerate(found, 1):
        lines = source_lines(line.file)
        text = lines[line.line - 1].strip() if line.line <= len(lines) else ""
        yield f"{number}. {title(kernel, line)}"
        yield f"     {text}"
        yield f"   {advice.problem(line)}"


def margin(kernels: list[Kernel], context: int = 2) -> Iterator[str]:
    """The source around the accesses, with sectors or wavefronts a request in front."""
    by_file: dict[str, dict[int, list[str]]] = {}
    for kernel in kernels:
        for line in kernel.lines():
            note = f"{line.words[:line.words.index(' ')]} {line.access.space[:1]} {line.per_request:.1f}/{line.least_per_request:.1f}"
            notes = by_file.setdefault(line.file, {}).setdefault(line.line, [])
            if note not in notes:
                notes.append(note)
    for file, notes in by_file.items():
        lines = source_lines(file)
        shown = sorted({n for line in notes for n in range(line - context, line + context + 1) if 1 <= n <= len(lines)})
        width = min(max(len(", ".join(words)) for words in notes.values()), 44)
        yield f"{file} (g global, s shared: sectors or wavefronts a request / the least)"
        for previous, number in zip([0, *shown], shown):
            if previous and number > previous + 1:
                yield f"{'':{width}}   ..."
            text = ", ".join(notes.get(number, []))
            text = text if len(text) <= width else text[:width - 3] + "..."
            yield f"{text:>{width}} | {number:4} {lines[number - 1]}".rstrip()
