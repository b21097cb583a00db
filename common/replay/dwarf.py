"""What the debugging information of a program says: lines, functions, and where variables lie in a function's frame.

The program was built with compile.sh --sanitize replay, so a variable keeps its place from its function's first line to
the last. What the program has to know of it goes to a file of numbers, what the page has to know into its data.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from explain.frames import frames_of, output
from explain.places import INCLUDED

CALL = re.compile(r"^ *[0-9a-f]+:\tcall\s+\S+ <(cuda_cpu_(?:line|load|store)|__tsan_(?:read|write|unaligned|volatile|atomic)\w*|cuda_cpu_mem\w+)>$")
ENTRY = re.compile(r"^ <(\w+)><(\w+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)|^    <\w+>   DW_AT_(\w+) *: (.*)$")
WANTED = frozenset("name type byte_size encoding data_member_location upper_bound count low_pc high_pc location decl_line "
                   "specification abstract_origin artificial declaration const_value bit_size bit_offset".split())
HIDDEN = re.compile(r"^(construction vtable|vtable|VTT|typeinfo|typeinfo name|guard variable) for |\bcuda_cpu::")  # of no concern to a learner
PIECE = 16  # bytes of a variable that are compared and told at once
MOST = 512  # bytes of a variable that is followed
ENCODINGS = {"2": "bool", "4": "float", "5": "int", "6": "char", "7": "uint", "8": "uchar", "10": "uchar"}


@dataclass
class Entry:
    """One entry of the debugging information, with those below it."""

    tag: str
    where: int
    parent: Entry | None = None
    children: list[Entry] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)

    def number(self, name: str, default: int = 0) -> int:
        text = self.attributes.get(name, "").split()
        return int(text[0], 0) if text and re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", text[0]) else default

    def reference(self, name: str) -> int | None:
        match = re.search(r"<(?:0x)?([0-9a-f]+)>", self.attributes.get(name, ""))
        return int(match[1], 16) if match else None

    @property
    def name(self) -> str:
        text = self.attributes.get("name", "")
        return text.split("): ", 1)[1].strip() if text.startswith("(indirect") else text.strip()


class Information:
    """The lines, functions and variables of one program."""

    def __init__(self, program: Path):
        self.program = program
        self.entries: dict[int, Entry] = {}
        self.types: list[dict] = []
        self.numbers: dict[int, int] = {}  # of types, by entry
        self.read()
        self.find_places()
        self.find_functions()

    def read(self) -> None:
        levels: list[Entry] = [Entry("", 0)]
        for line in output("objdump", "--dwarf=info", self.program).splitlines():
            match = ENTRY.match(line)
            if not match:
                continue
            if match[3]:
                depth = int(match[1], 16)
                entry = Entry(match[3], int(match[2], 16), levels[min(depth, len(levels) - 1)])
                entry.parent.children.append(entry)
                self.entries[entry.where] = entry
                levels[depth + 1:] = [entry]
            elif match[4] in WANTED:
                levels[-1].attributes[match[4]] = match[5]

    def find_places(self) -> None:
        """Where the calls return to, and the innermost of the learner's lines there."""
        found, before = [], False
        for line in output("objdump", "-d", "--no-show-raw-insn", self.program).splitlines():
            if before and ":\t" in line:
                found.append(int(line.split(":")[0], 16))
            before = bool(CALL.match(line))
        frames = frames_of(self.program, (address - 1 for address in found))
        self.places: list[tuple[int, str, int]] = []
        for address in found:
            own = next((one for one in frames[address - 1] if one.line and not INCLUDED.search(one.file)), None)
            if own:
                self.places.append((address, own.file, own.line))

    def find_functions(self) -> None:
        """The functions that hold places, and their variables."""
        bounds = sorted((entry.number("low_pc"), entry.number("low_pc") + entry.number("high_pc"), entry.where)
                        for entry in self.entries.values() if entry.tag == "subprogram" and "high_pc" in entry.attributes)
        starts = [low for low, _, _ in bounds]
        self.functions: list[dict] = [{"name": "", "file": "", "line": 0}]
        self.variables: list[dict] = []
        self.rows: list[tuple] = []
        numbers: dict[int, int] = {}
        self.function_of: list[int] = []
        for address, file, _ in self.places:
            index = bisect_right(starts, address) - 1
            inside = index >= 0 and address <= bounds[index][1]
            where = bounds[index][2] if inside else 0
            if inside and where not in numbers:
                numbers[where] = len(self.functions)
                entry = self.entries[where]
                self.functions.append({"name": self.name_of(entry), "file": file, "line": self.line_of(entry)})
                self.find_variables(entry, numbers[where], bounds[index][0], bounds[index][1])
            self.function_of.append(numbers.get(where, 0))

    def name_of(self, entry: Entry) -> str:
        for name in ("specification", "abstract_origin"):
            if not entry.name and (other := self.entries.get(entry.reference(name))):
                return self.name_of(other)
        return entry.name

    def line_of(self, entry: Entry) -> int:
        other = self.entries.get(entry.reference("specification") or entry.reference("abstract_origin"))
        return entry.number("decl_line") or (self.line_of(other) if other else 0)

    def find_variables(self, block: Entry, function: int, first: int, end: int) -> None:
        for entry in block.children:
            if entry.tag == "lexical_block" and "high_pc" in entry.attributes:
                low = entry.number("low_pc")
                self.find_variables(entry, function, low, low + entry.number("high_pc"))
            if entry.tag not in ("variable", "formal_parameter") or "artificial" in entry.attributes:
                continue
            place = re.search(r"\(DW_OP_fbreg: (-?\d+)(; DW_OP_deref)?\)", entry.attributes.get("location", ""))
            name, type_entry = self.name_of(entry), entry.reference("type")
            if not place or not name or type_entry is None or name.startswith(("cuda_cpu", "__")):
                continue
            number = self.type_of(type_entry)
            size = self.types[number]["size"]
            if 0 < size <= MOST:
                self.variables.append({"name": name, "type": number, "function": function, "rows": len(self.rows), "line":
                                       entry.number("decl_line"), "parameter": entry.tag == "formal_parameter"})
                for start in range(0, size, PIECE):
                    self.rows.append((function, int(place[1]), int(bool(place[2])), start, min(PIECE, size - start), first, end,
                                      entry.number("decl_line"), int(entry.tag == "formal_parameter")))

    def type_of(self, where: int | None) -> int:
        """The number of a type in the list that the page gets."""
        if where not in self.numbers:
            self.numbers[where] = len(self.types)
            self.types.append({"kind": "void", "name": "void", "size": 0})
            if where in self.entries:
                self.types[self.numbers[where]] = self.described(self.entries[where])
        return self.numbers[where]

    def described(self, entry: Entry) -> dict:
        size, name, inner = entry.number("byte_size"), entry.name, entry.reference("type")
        if entry.tag in ("const_type", "volatile_type", "typedef", "restrict_type", "atomic_type"):
            return self.types[self.type_of(inner)]
        if entry.tag in ("pointer_type", "reference_type", "rvalue_reference_type"):
            kind = "pointer" if entry.tag == "pointer_type" else "reference"
            of = self.type_of(inner)
            return {"kind": kind, "name": f"{self.types[of]['name']}{'*' if kind == 'pointer' else '&'}", "size": 8, "of": of}
        if entry.tag == "array_type":
            shape = [one.number("upper_bound", -1) + 1 or one.number("count") for one in entry.children if one.tag == "subrange_type"]
            of = self.type_of(inner)
            total = self.types[of]["size"]
            for length in shape:
                total *= length
            return {"kind": "array", "name": self.types[of]["name"], "size": total, "of": of, "shape": shape}
        if entry.tag in ("structure_type", "class_type", "union_type"):
            members = [member for one in entry.children for member in self.members_of(one, entry.tag == "union_type")]
            if "cuda_cpu_class_of_" in name:  # has none in the source
                name = {"structure_type": "struct", "class_type": "class", "union_type": "union"}[entry.tag]
            return {"kind": "structure", "name": name, "size": size, "members": members}
        if entry.tag == "base_type":
            return {"kind": ENCODINGS.get(entry.attributes.get("encoding", "").split()[0], "uint"), "name": name, "size": size}
        if entry.tag == "enumeration_type":
            values = {str(one.number("const_value") % 256 ** size): one.name for one in entry.children}
            of = self.types[self.type_of(inner)]["kind"] if inner else "int"
            return {"kind": "enumeration", "name": name, "size": size, "values": values, "of": of}
        return {"kind": "void", "name": name or entry.tag, "size": size}

    def members_of(self, one: Entry, in_union: bool) -> list[list]:
        """Of a member: name, offset, type, and of a bit-field its first bit and their number; of a base class its members."""
        offset, inner = one.number("data_member_location"), one.reference("type")
        if inner is None or "data_member_location" not in one.attributes and not in_union:
            return []
        if one.tag == "inheritance":
            return [[name, offset + at, *rest] for name, at, *rest in self.types[self.type_of(inner)].get("members", [])]
        if one.tag != "member":
            return []
        bits, number = one.number("bit_size"), self.type_of(inner)
        return [[one.name, offset, number, *([8 * one.number("byte_size", self.types[number]["size"]) - one.number("bit_offset") - bits, bits] if bits else [])]]

    @cached_property
    def symbols(self) -> list[list]:
        """The program's variables: where they begin, their bytes, their names and, if it is known, the type."""
        typed = {entry.name: self.type_of(entry.reference("type")) for entry in self.entries.values()
                 if entry.tag == "variable" and entry.parent and entry.parent.tag in ("compile_unit", "namespace")
                 and entry.reference("type")}
        found = []
        for line in output("nm", "-S", "-C", "--defined-only", self.program).splitlines():
            parts = line.split(maxsplit=3)
            if len(parts) == 4 and parts[2] in "bBdDrRuVv":
                found.append([int(parts[0], 16), int(parts[1], 16), parts[3].replace("(anonymous namespace)::", ""), typed.get(parts[3].split("::")[-1])])
        return found

    def write(self, path: Path) -> None:
        """Tells the program its places and variables (runtime/film_reel.h)."""
        lines = [f"{len(self.places)}"]
        lines += [f"{address:x} {line} {function}" for (address, _, line), function in zip(self.places, self.function_of)]
        lines += ["{} {} {} {} {} {:x} {:x} {} {}".format(*row) for row in self.rows]
        lines += [f"variable {start:x} {size} {int(bool(HIDDEN.search(name)))}" for start, size, name, _ in self.symbols]
        path.write_text("\n".join(lines) + "\n")
