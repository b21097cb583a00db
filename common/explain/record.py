"""What a run of a program recorded: launches, with the figures of every line that touches memory."""

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .places import Places

WHAT = ("load", "store", "atomic", "piece")
SPACE = ("global", "shared", "local", "constant", "none", "distributed")  # shared memory of another block of the cluster


@dataclass
class Access:
    """Sums over the requests of one place; the names are those of Figures in runtime/accesses.h."""

    what: str
    space: str
    requests: int = 0
    lanes: int = 0
    units: int = 0      # sectors, or wavefronts of shared memory
    least: int = 0
    conflicts: int = 0  # wavefronts more than the width of the access asks for
    bytes: int = 0      # distinct ones
    asked: int = 0      # all lanes' together
    same: int = 0       # the most lanes on one address, over the requests
    most: int = 0       # the largest of these; in shared memory the most ways
    apart: int = 0      # requests whose lanes have different addresses

    def add(self, other: "Access") -> None:
        for name in ("requests", "lanes", "units", "least", "conflicts", "bytes", "asked", "same", "apart"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.most = max(self.most, other.most)


@dataclass
class Piece:
    """The runs of a piece of code by warps."""

    runs: int = 0
    lanes: int = 0
    split: int = 0
    next: set[int] = field(default_factory=set)

    def add(self, other: "Piece") -> None:
        self.runs, self.lanes, self.split = self.runs + other.runs, self.lanes + other.lanes, self.split + other.split
        self.next |= other.next


# A GPU's compiler makes no branch of so few instructions: it gives each a predicate.
MOST_PREDICATED = 16
THREAD_END = 1  # as the place that follows


@dataclass
class Launch:
    kernel: str
    file: str
    line: int
    grid: list[int]
    block: list[int]
    dynamic_shared: int
    recorded: int  # blocks
    barriers: int
    truncated: int
    unique_read: int
    unique_written: int
    places: Places
    accesses: dict[int, Access]  # by place; a place is one access of the source
    pieces: dict[int, Piece]
    touches: list = field(default_factory=list)

    @property
    def blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    def total(self, what: str, space: str) -> Access:
        """The sum of all accesses of a kind."""
        total = Access(what, space)
        for access in self.accesses.values():
            if (access.what, access.space) == (what, space):
                total.add(access)
        return total

    def predicated(self) -> dict[int, int]:
        """Pieces of code short enough for predicates, with the piece in front that decides."""
        found: dict[int, int] = {}
        for place, piece in self.pieces.items():
            ways = [way for way in piece.next if way in self.pieces and self.places[way].weight <= MOST_PREDICATED
                    and not self.places[way].updates]
            for way in ways:
                # One way leads past the piece, or both meet behind two such pieces.
                others, joins = piece.next - {way}, self.pieces[way].next
                past = joins == others
                both = others <= set(ways) and bool(others) and joins == self.pieces[min(others)].next
                if len(others) == len(joins) == 1 and (past or both) and not (past and self.ends(min(others))):
                    found[way] = place
        return found

    def ends(self, place: int) -> bool:
        """Whether there is next to nothing from a place to the thread's end: a GPU's lanes leave in front of it."""
        return place == THREAD_END or place in self.pieces and self.pieces[place].next == {THREAD_END} and (
            self.places[place].weight <= MOST_PREDICATED)

    def branches(self) -> list[Piece]:
        """The pieces that end with a branch as a GPU has it: not with predicates, nor where lanes just end."""
        deciding, found = set(self.predicated().values()), []
        for place, piece in self.pieces.items():
            goes_on = [way for way in piece.next if not self.ends(way)]
            ends = len(goes_on) < len(piece.next) and not self.places[place].in_loop
            if self.places[place].tests_loop or len(piece.next) > 1 and place not in deciding and not ends:
                found.append(piece)
        return found

    def branch_efficiency(self) -> float | None:
        """Of the branches that warps executed, how many percent all lanes left the same way."""
        branches = self.branches()
        runs = sum(piece.runs for piece in branches)
        return 100 * (1 - sum(piece.split for piece in branches) / runs) if runs else None

    def active_lanes(self) -> float | None:
        """Lanes that were active, on the average over the instructions; under a predicate all are."""
        deciding = self.predicated()
        weights = [(self.places[place].weight, self.pieces[deciding.get(place, place)]) for place in self.pieces]
        steps = sum(weight * piece.runs for weight, piece in weights)
        lanes = sum(weight * piece.lanes for weight, piece in weights)
        if not steps:
            accesses = [access for access in self.accesses.values() if access.space in ("global", "shared")]
            steps = sum(access.requests for access in accesses)
            lanes = sum(access.lanes for access in accesses)
        return lanes / steps if steps else None

    def figures(self) -> dict[str, float | None]:
        """What can be compared with ncu's counters."""
        loads, stores = self.total("load", "global"), self.total("store", "global")
        shared_loads, shared_stores = self.total("load", "shared"), self.total("store", "shared")
        return {
            "load_requests": loads.requests,
            "load_sectors": loads.units / loads.requests if loads.requests else None,
            "store_requests": stores.requests,
            "store_sectors": stores.units / stores.requests if stores.requests else None,
            "load_conflicts": shared_loads.conflicts,
            "store_conflicts": shared_stores.conflicts,
            "branch_efficiency": self.branch_efficiency(),
            "active_lanes": self.active_lanes(),
        }


@dataclass
class Record:
    """The launches of a run, in their order."""

    launches: list[Launch]
    places: Places
    status: int
    said: str = ""  # on standard error

    @classmethod
    def of_run(cls, program: Path, arguments: list[str], environment: dict[str, str] | None = None,
               places: Places | None = None) -> "Record":
        """Runs a program that was built with compile.sh --sanitize accesses.

        On one core, unless CUDA_CPU_THREADS says otherwise: then it is the same in every run which of two blocks is
        first, and which blocks a sample has.
        """
        places = places or Places(program)
        with tempfile.TemporaryDirectory() as folder:
            figures, lines = Path(folder) / "figures", Path(folder) / "places"
            places.write(lines)
            settings = {"CUDA_CPU_THREADS": "1", **os.environ, **(environment or {}),
                        "CUDA_CPU_ACCESSES": str(figures), "CUDA_CPU_PLACES": str(lines)}
            result = subprocess.run([program, *arguments], env=settings, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True, errors="replace")
            text = figures.read_text(errors="replace") if figures.exists() else ""
        launches = [cls.launch(json.loads(line), places) for line in text.splitlines() if line.endswith("}")]
        return cls(launches, places, result.returncode, result.stderr)

    @staticmethod
    def launch(found: dict, places: Places) -> Launch:
        accesses: dict[int, Access] = {}
        for place, kind, *sums in found.pop("accesses"):
            access = Access(WHAT[kind & 3], SPACE[kind >> 2], *sums)
            # One line may meet two kinds of memory, through a pointer that is now this, now that.
            accesses[place if place not in accesses else -place] = access
        numbered = [0, THREAD_END, *places]  # what follows is told by its number in this order
        pieces = {place: Piece(runs, lanes, split, {numbered[number] for number in following if number})
                  for place, runs, lanes, split, *following in found.pop("pieces")}
        return Launch(**found, places=places, accesses=accesses, pieces=pieces)
