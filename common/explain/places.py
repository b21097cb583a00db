"""The places of a program that was built with compile.sh --sanitize accesses: which line each is."""

import os
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .flow import Instruction, loop_tests, loops, order, successors
from .frames import Frame, frames_of, output

INCLUDED = re.compile(r"/common/cpu/(include|runtime)/|^/usr/(include|lib)/|^/usr/local/include/")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\S+)\s*(.*)$")
# The last two read textures, in the runtime.
HOOK = re.compile(r"<(__tsan_(?:read|write|unaligned|atomic)\w*|__sanitizer_cov_trace_pc|cuda_cpu_mem(?:cpy|move|set)|"
                  r"_ZN8cuda_cpu(?:6sample|5fetch)\w+)>")
# On the way from one thread to the next it is open whose stack that is; and how often an atomic is tried again
# depends on the other cores.
NOBODY_S = re.compile(r"\bcuda_cpu::(go_on_with\(|atomic_change<)")
LINE_STATE = re.compile(r"\] +(?:Extended opcode 2: set Address to (?P<address>0x[0-9a-f]+)"
                        r"|Set column to (?P<column>\d+)|Copy(?P<copy>)(?:$| \(view)"
                        r"|Special opcode \d+: advance Address by \d+ to (?P<special>0x[0-9a-f]+)"
                        r"|Advance PC by (?:constant )?\d+ to (?P<advance>0x[0-9a-f]+)"
                        r"|Extended opcode 1: End of Sequence(?P<end>))")


@dataclass
class Place:
    """A call of the compiler's: the learner's line behind it, innermost first what was inlined."""

    hook: str
    weight: int = 0  # of a piece of code: about as many instructions
    piece: int = 0  # the address of the piece that it stands in
    in_loop: bool = False
    tests_loop: bool = False  # a piece that decides whether a loop goes on
    updates: bool = False  # a piece that holds an atomic
    end: int = 0  # of a piece: the address of its last instruction
    file: str = ""
    line: int = 0
    column: int = 0  # 0: not known
    functions: list[str] = field(default_factory=list)
    inside: bool = True  # not the learner's: a header of CPU mode or of the system

    @property
    def is_piece(self) -> bool:
        return self.hook == "__sanitizer_cov_trace_pc"


class Places(dict[int, Place]):
    """By return address, as the program records them; in the order in which lanes walk through them."""

    def __init__(self, program: Path):
        super().__init__()
        self.program = program
        self.flows: list[dict[int, list[int]]] = []
        self.disassemble()
        self.find_lines()
        self.leave_out_nobody_s()
        self.find_loops()
        self.find_columns()

    def disassemble(self) -> None:
        """Finds the calls, how much code follows each that begins a piece, and the order of all."""
        functions: dict[str, list[Instruction]] = {}
        code: list[Instruction] = []
        for line in output("objdump", "-d", "--no-show-raw-insn", self.program).splitlines():
            match = INSTRUCTION.match(line)
            if match:
                code.append(Instruction(int(match[1], 16), match[2], match[3]))
            elif match := FUNCTION.match(line):
                code = functions.setdefault(match[1].removesuffix(".cold"), [])
        for code in functions.values():
            self.find_calls(code)

    def find_calls(self, code: list[Instruction]) -> None:
        """The calls of one function."""
        found: dict[int, Place] = {}
        piece = None
        for instruction, following in zip(code, code[1:]):
            call = instruction.name in ("call", "jmp", "bl") and HOOK.search(instruction.operands)
            if call:
                found[following.address] = Place(call[1])
                if found[following.address].is_piece:
                    piece = found[following.address]
                elif piece and found[following.address].hook.startswith("__tsan_atomic"):
                    piece.updates = True
            if piece:
                piece.weight += -1 if call else 1  # the argument of the call is no work either
                if not call:
                    piece.end = instruction.address
        if not found:
            return
        self.flows.append(successors(code))
        where: dict[int, list[int]] = {start: [] for start in order(self.flows[-1])}
        starts = sorted(where)
        for address in sorted(found):
            found[address].weight = max(found[address].weight, 1)
            found[address].piece = starts[bisect_right(starts, address - 1) - 1]
            where[found[address].piece].append(address)
        for addresses in where.values():
            self.update((address, found[address]) for address in addresses)

    def find_lines(self) -> None:
        """Finds which line each place is, through all that was inlined."""
        for address, frames in frames_of(self.program, (address - 1 for address in self)).items():
            for frame in frames:
                self.add_frame(self[address + 1], frame)
        # What begins within a header's function, a product of two numbers say, may end in the learner's.
        ends = {place.end: place for place in self.values() if place.is_piece and place.inside and place.file}
        for address, (innermost, *_) in frames_of(self.program, ends).items():
            ends[address].inside = self.is_included(innermost)

    @staticmethod
    def add_frame(place: Place, frame: Frame) -> None:
        """Takes the innermost line of the learner's, and the functions around it."""
        included = Places.is_included(frame)
        if not place.functions and not included:
            place.inside = False
        place.functions.append(frame.function)
        if not included and not place.file:
            place.file, place.line = shortest(frame.file), frame.line

    @staticmethod
    def is_included(frame: Frame) -> bool:
        """Whether a line is in a header of CPU mode or of the system."""
        return bool(INCLUDED.search(frame.file)) or not frame.line or frame.is_of_runtime()

    def leave_out_nobody_s(self) -> None:
        """Drops what CPU mode itself accesses, and not in each run alike: a lane with one more falls behind."""
        for address, place in list(self.items()):
            own = any(NOBODY_S.search(function) for function in place.functions)
            if own and re.match("__tsan_(read|write|unaligned)", place.hook):
                del self[address]

    def find_loops(self) -> None:
        """Marks the pieces of loops, and those that test whether a loop goes on."""
        pieces = {place.piece: place for place in self.values() if place.is_piece}
        for edges in self.flows:
            for loop in loops(edges):
                for start in loop & set(pieces):
                    pieces[start].in_loop = True
                for start in loop_tests(loop, edges) & set(pieces):
                    pieces[start].tests_loop = True

    def find_columns(self) -> None:
        """The column in the line, for places that are the learner's own code."""
        text = output("readelf", "--debug-dump=rawline", self.program)
        rows: list[tuple[int, int]] = []
        address = column = 0
        for match in LINE_STATE.finditer(text):
            if match["column"]:
                column = int(match["column"])
            elif match["address"] or match["advance"]:
                address = int(match["address"] or match["advance"], 16)
            elif match["special"]:
                address = int(match["special"], 16)
                rows.append((address, column))
            elif match["end"] is not None:
                rows.append((address, 0))
                column = 0
            else:
                rows.append((address, column))
        rows.sort(key=lambda row: row[0])
        row = 0
        for address in sorted(self):
            while row + 1 < len(rows) and rows[row + 1][0] < address:
                row += 1
            if rows and rows[row][0] < address and not self[address].inside:
                self[address].column = rows[row][1]

    def leaders(self) -> dict[int, int]:
        """For accesses that are the parts of one vector, as in *p = {x, y, z, w}: the first of them."""
        groups: dict[tuple, list[int]] = {}
        for address, place in self.items():
            if place.column and not place.inside and re.fullmatch(r"__tsan_(read|write)[1248]", place.hook):
                groups.setdefault((place.piece, place.hook, place.file, place.line, place.column), []).append(address)
        return {address: group[0] for (_, hook, *_), group in groups.items()
                if len(group) * int(hook[-1]) in (2, 4, 8, 16) for address in sorted(group)[1:]}

    def write(self, path: Path) -> None:
        """Tells the program its places in their order, and what it has to know of each."""
        first, last, leaders = min(self, default=0), max(self, default=0), self.leaders()
        lines = (f"{address:x} {place.is_piece and not place.inside:d} {leaders.get(address, 0):x}\n"
                 for address, place in self.items())
        path.write_text(f"{first:x} {last:x}\n" + "".join(lines))


@cache
def shortest(file: str) -> str:
    """A path without .. and links, from the current folder if it lies there."""
    path = os.path.realpath(file)
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
