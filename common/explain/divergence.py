"""Which branches part the lanes of a warp, and what that costs: the lanes that are idle behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from .flow import condensed, decided
from .frames import frames_of
from .places import Places, shortest
from .record import MOST_PREDICATED, THREAD_END, Launch

if TYPE_CHECKING:
    from .summary import Kernel

WARP = 32


@dataclass
class Parting:
    """The branches of a line of the source, in one kernel."""

    file: str
    line: int
    kind: str     # branch; or loop, whose rounds end at different times; or exit, where lanes leave the kernel
    idle: float   # instructions of warps that it costs: those of 8 idle lanes are a quarter of one
    share: float  # of all the kernel's instructions that it costs
    lanes: float  # active in what follows

    which = ""  # as a Line has it

    @property
    def words(self) -> str:
        return self.kind

    @property
    def waste(self) -> float:
        """What makes one worse than another."""
        return self.idle

    @property
    def wasteful(self) -> bool:
        return self.share >= 0.1


def partings(kernel: Kernel) -> list[Parting]:
    """The lines of a kernel that part its lanes, the dearest first."""
    launch = kernel.joined()
    costs, behind = costs_of(launch)
    by_line: dict[tuple[str, int], list[int]] = {}
    for branch, line in lines_of({branch for branch, idle in costs.items() if idle}, launch.places).items():
        by_line.setdefault(line, []).append(branch)
    work = work_of(launch)
    total = sum(steps for steps, _ in work.values())
    found = []
    for line, branches in by_line.items():
        dearest, idle = max(branches, key=costs.get), sum(costs[branch] for branch in branches)
        follows = set().union(*(behind[branch] for branch in branches))
        found.append(Parting(*line, kind_of(dearest, behind[dearest], launch), idle, idle / total,
                             sum(work[place][1] for place in follows) / sum(work[place][0] for place in follows)))
    return sorted(found, key=lambda parting: -parting.idle)


def kind_of(branch: int, behind: set[int], launch: Launch) -> str:
    if branch in behind:
        return "loop"
    return "exit" if any(leaves(way, launch) for way in launch.pieces[branch].next) else "branch"


def leaves(place: int, launch: Launch) -> bool:
    """Whether there is next to nothing from here to the thread's end."""
    weight = 0
    while place in launch.pieces and len(launch.pieces[place].next) == 1 and weight <= MOST_PREDICATED:
        weight += launch.places[place].weight
        place, = launch.pieces[place].next
    return place == THREAD_END and weight <= MOST_PREDICATED


def work_of(launch: Launch) -> dict[int, tuple[float, float]]:
    """Of each piece the instructions that warps executed, and the active lanes of these; predicates let all work."""
    deciding = launch.predicated()
    work = {}
    for place in launch.pieces:
        piece, weight = launch.pieces[deciding.get(place, place)], launch.places[place].weight
        work[place] = (weight * piece.runs, weight * piece.lanes)
    return work


def costs_of(launch: Launch) -> tuple[dict[int, float], dict[int, set[int]]]:
    """What each branch costs, and the pieces that run or not as it decides.

    A piece may stand behind several branches. From the outermost inwards each has the lanes on its account that
    were active in front of it and no longer are in front of the next, or in the piece.
    """
    pieces, deciding = launch.pieces, launch.predicated()
    behind: dict[int, set[int]] = {}
    before: dict[int, float] = {}
    functions = list(graphs(launch))
    for edges in functions:
        for branch, ways in decided(edges).items():
            # Behind a barrier it is not known where a piece went on, so it may have parted its lanes.
            if pieces[branch].split or not pieces[branch].next:
                behind[branch] = ways
                entries = [piece for piece, after in edges.items() if piece in pieces and piece not in ways and after & ways]
                # The lanes in front of a loop's test are fewer in each round: what counts is how many came.
                before[branch] = lanes_of(launch, entries if branch in ways else [branch])
    for ways in behind.values():
        add_called(ways, functions, launch)
    costs = dict.fromkeys(behind, 0.0)
    work = work_of(launch)
    for place, (steps, lanes) in work.items():
        decider = deciding.get(place, place)
        chain = sorted((branch for branch in behind if decider in behind[branch]),
                       key=lambda branch: (-len(behind[branch]), pieces[branch].split))
        active = list(accumulate((*(max(before[branch], lanes / steps) for branch in chain), lanes / steps), min))
        for branch, here, later in zip(chain, active, active[1:]):
            costs[branch] += steps * (here - later) / WARP
    return costs, behind


def add_called(behind: set[int], functions: list[dict[int, set[int]]], launch: Launch) -> None:
    """Adds the functions that are called from these pieces and from nowhere else."""
    left = [edges for edges in functions if not behind & edges.keys()]
    count = None
    while count != len(left):
        count = len(left)
        for edges in list(left):
            entries = edges.keys() - set().union(*edges.values())
            callers = {place for place, piece in launch.pieces.items() if piece.next & entries} - edges.keys()
            if callers and callers <= behind:
                behind.update(edges)
                left.remove(edges)


def lanes_of(launch: Launch, places: list[int]) -> float:
    runs = sum(launch.pieces[place].runs for place in places)
    return sum(launch.pieces[place].lanes for place in places) / runs if runs else WARP


def graphs(launch: Launch) -> Iterator[dict[int, set[int]]]:
    """Of each function that ran the pieces that ran, and which may follow which."""
    place_of = {launch.places[place].piece: place for place in launch.pieces}
    for edges in launch.places.flows:
        starts = edges.keys() & place_of.keys()
        if starts:
            yield {place_of[start]: {place_of.get(way, 0) for way in ways}
                   for start, ways in condensed(edges, starts).items()}


def lines_of(branches: set[int], places: Places) -> dict[int, tuple[str, int]]:
    """The line of each branch: that of the last instruction in front of it, or at least of its piece."""
    starts = sorted(start for edges in places.flows for start in edges)
    following = dict(zip(starts, starts[1:]))
    ends = {following.get(places[branch].piece, branch) - 1: branch for branch in branches}
    found = {branch: (places[branch].file, places[branch].line) for branch in branches}
    for end, frames in frames_of(places.program, ends).items() if ends else ():
        own = [frame for frame in frames if not places.is_included(frame)]
        if own:
            found[ends[end]] = (shortest(own[0].file), own[0].line)
    return {branch: line for branch, line in found.items() if line[0]}
