"""The launches of a run put together by kernel and by line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from .divergence import Parting, partings
from .places import Place
from .record import Access, Launch, Piece, Record


@dataclass
class Line:
    """One access of the source: a line, what it does to which memory."""

    file: str
    line: int
    column: int
    access: Access
    which: str = ""  # of the line's accesses: the expression, or a number where several are alike

    @property
    def words(self) -> str:
        return f"{self.access.what} {self.access.space}"

    @property
    def per_request(self) -> float:
        return self.access.units / self.access.requests

    @property
    def least_per_request(self) -> float:
        return self.access.least / self.access.requests

    @property
    def lanes(self) -> float:
        return self.access.lanes / self.access.requests

    @property
    def waste(self) -> float:
        """How much more than necessary, in steps of the memory's pipe; what makes a line a bad one."""
        access = self.access
        if access.what == "atomic":
            return access.same - access.requests
        if access.space == "shared":
            return access.conflicts
        return access.units - access.least if access.space in ("global", "distributed") else 0

    @property
    def wasteful(self) -> bool:
        """Whether that is more than a few percent of all it takes."""
        taken = self.access.same if self.access.what == "atomic" else self.access.units
        return self.waste > 0 and self.waste >= 0.1 * taken


@dataclass
class Kernel:
    """All launches of a kernel; sums are over those that were recorded, figures an average launch's."""

    name: str
    launches: list[Launch] = field(default_factory=list)

    @property
    def short_name(self) -> str:
        """With its namespace alone, for titles that show a line of it as well."""
        found = signature(self.first)
        return (found.scope if found else "") + self.first.kernel

    @property
    def recorded(self) -> list[Launch]:
        return [launch for launch in self.launches if launch.recorded]

    @property
    def first(self) -> Launch:
        return (self.recorded or self.launches)[0]

    @property
    def blocks(self) -> int:
        return sum(launch.blocks for launch in self.recorded)

    @property
    def recorded_blocks(self) -> int:
        return sum(launch.recorded for launch in self.recorded)

    @property
    def share(self) -> float:
        """From what was recorded to an average launch."""
        return self.blocks / self.recorded_blocks / len(self.recorded)

    def lines(self) -> list[Line]:
        """Accesses in the order of the source; those that a GPU has in registers are left out."""
        found: dict[tuple, Line] = {}
        for launch in self.recorded:
            for key, access in launch.accesses.items():
                place = launch.places[abs(key)]
                if access.space in ("constant", "none") or access.space == "local" and not access.apart:
                    continue
                where = (place.file, place.line, place.column, access.what, access.space)
                if where not in found:
                    found[where] = Line(*where[:3], Access(access.what, access.space))
                found[where].access.add(access)
        lines = [found[where] for where in sorted(found, key=in_order)]
        name(lines)
        return lines

    @cached_property
    def partings(self) -> list[Parting]:
        """The lines that part the lanes of its warps, the dearest first."""
        return partings(self)

    @cached_property
    def files(self) -> set[str]:
        """That its accesses stand in."""
        return {line.file for line in self.lines()}

    def arithmetic(self) -> str:
        """The type whose rate counts, double or float, as the kernel's parameters say; nothing if they do not."""
        _, template, parameters = signature(self.first) or ("", "", "")
        declared = set(re.findall(r"\b(?:double|float)(?=\d?\b)", template + parameters))
        return declared.pop() if len(declared) == 1 else ""

    def registers(self) -> int:
        """How many places touch local arrays that a GPU most likely keeps in registers."""
        return len({launch.places[abs(key)].line for launch in self.recorded
                    for key, access in launch.accesses.items()
                    if access.space == "local" and not access.apart and not launch.places[abs(key)].inside})

    def total(self, what: str, space: str) -> Access:
        total = Access(what, space)
        for launch in self.recorded:
            total.add(launch.total(what, space))
        return total

    def joined(self) -> Launch:
        """One launch with the pieces of all, for branches and active lanes."""
        pieces: dict[int, Piece] = {}
        for launch in self.recorded:
            for place, piece in launch.pieces.items():
                pieces.setdefault(place, Piece()).add(piece)
        return Launch(**{**vars(self.first), "pieces": pieces})

    @property
    def barriers(self) -> float:
        return sum(launch.barriers for launch in self.recorded) / self.recorded_blocks

    @property
    def truncated(self) -> bool:
        return any(launch.truncated for launch in self.recorded)

    def unique(self) -> tuple[float, float]:
        """Bytes that an average launch reads and writes at least once, in the blocks that were recorded."""
        count = len(self.recorded)
        return (sum(launch.unique_read for launch in self.recorded) / count,
                sum(launch.unique_written for launch in self.recorded) / count)


def in_order(where: tuple) -> tuple:
    """What is stored stands behind what is loaded for it."""
    file, line, column, what, space = where
    return file, line, what == "store", column, space


def name(lines: list[Line]) -> None:
    """Gives each access of a line its expression, and equal ones a number."""
    alike: dict[tuple, list[Line]] = {}
    for line in lines:
        line.which = expression(line)
        alike.setdefault((line.file, line.line, line.words, line.which), []).append(line)
    for group in alike.values():
        for number, line in enumerate(group, 1):
            if len(group) > 1:
                line.which = f"{line.which} ({number} of {len(group)})".strip()


class Signature(NamedTuple):
    """What tells kernels of one name apart."""

    scope: str  # A::
    template: str  # <32>
    parameters: str  # (float const*, int)


def kernels_of(record: Record) -> list[Kernel]:
    """In the order of their first launches; a kernel is its name with namespace, template arguments and parameters."""
    known: dict[str, set[Signature]] = {}  # by the name alone
    signatures = [signature(launch) for launch in record.launches]
    for launch, found in zip(record.launches, signatures):
        known.setdefault(launch.kernel, set()).update([found] if found else [])
    kernels: dict[tuple, Kernel] = {}
    for launch, found in zip(record.launches, signatures):
        alike = known[launch.kernel]
        if not found and len(alike) == 1:  # a launch in which nothing of the kernel's own ran
            found = min(alike)
        kernels.setdefault((launch.kernel, found), Kernel(name_of(launch, found, alike))).launches.append(launch)
    return [kernel for kernel in kernels.values() if kernel.recorded]


def name_of(launch: Launch, found: Signature | None, alike: set[Signature]) -> str:
    """With namespace and template arguments; with parameters where only these tell it from another."""
    if not found:
        return launch.kernel
    overloaded = sum(other[:2] == found[:2] for other in alike) > 1
    return found.scope + launch.kernel + found.template + (found.parameters if overloaded else "")


def signature(launch: Launch) -> Signature | None:
    """As the functions tell that stand around what the kernel did; None if it did nothing that is seen."""
    nested = r"(?:[^()]|\([^()]*\))*"  # parentheses within parentheses: a pointer to a function, <(Kind)1>
    unnamed = r"(?:\(anonymous namespace\)::)?"
    pattern = re.compile(rf"(?:^| ){unnamed}((?:\w+::)*){unnamed}{re.escape(launch.kernel)}"
                         rf"((?:<{nested}?>)?)(\({nested}\)|$)")  # static: the bare name
    for key in chain(launch.accesses, launch.pieces):
        for function in reversed(launch.places[abs(key)].functions):  # a device function may have the kernel's name
            if match := pattern.search(function):
                return Signature(*match.groups())
    return None


def source_lines(file: str) -> list[str]:
    try:
        return Path(file).read_text(errors="replace").splitlines()
    except OSError:
        return []


def expression(line: Line | Place) -> str:
    """What stands at an access's column: values[i], or nothing that can be told."""
    lines = source_lines(line.file)
    if not line.column or line.line > len(lines):
        return ""
    text, at = lines[line.line - 1], line.column - 1
    if at < len(text) and text[at] == "]":
        depth, start = 0, at
        while start >= 0:
            depth += (text[start] == "]") - (text[start] == "[")
            if depth == 0 and not (start and text[start - 1] == "]"):
                break
            start -= 1
        name = re.search(r"(?:\w+(?:\.|->))*\w+(?:\[[^]]*\])*$", text[:max(start, 0)])
        return name[0] + text[start:at + 1] if name else ""
    return ""


def worst(kernels: Iterable[Kernel], count: int = 3) -> list[tuple[Kernel, Line | Parting]]:
    """The accesses that waste most, over all kernels, and then the branches: steps of two kinds cannot be compared."""
    return [*worst_of(((kernel, line) for kernel in kernels for line in kernel.lines()), count),
            *worst_of(((kernel, line) for kernel in kernels for line in kernel.partings), count)]


def worst_of(lines: Iterable[tuple[Kernel, Line | Parting]], count: int) -> list[tuple[Kernel, Line | Parting]]:
    """The worst, each line of the source once; a kernel counts with all its launches."""
    found = [(kernel, line) for kernel, line in lines if line.wasteful]
    found.sort(key=lambda entry: -entry[1].waste * entry[0].share * len(entry[0].launches))
    by_line: dict[tuple, tuple[Kernel, Line | Parting]] = {}
    for kernel, line in found:
        by_line.setdefault((line.file, line.line), (kernel, line))
    return list(by_line.values())[:count]
