"""What a watched run has written down (common/cpu/runtime), as findings in CUDA's terms.

A fact is an object of JSON. Some are sentences already; a race, an access out of bounds or an
element that nobody wrote names places in the program, which addr2line turns into lines.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from explain.frames import MissingTool, frames_of

from .failure import Failure

COURSE = Path(__file__).resolve().parents[1]
PLACE = re.compile(r"^(?P<file>[^:\n]+\.\w+):(?P<line>\d+): ")
OTHER_LINE = re.compile(r"in line (\d+)")
# The bytes of an element whose type is one of the language's own, or a vector of those.
SIZES = {"char": 1, "bool": 1, "short": 2, "int": 4, "unsigned": 4, "float": 4, "long": 8, "double": 8, "size_t": 8,
         "longlong": 8, "uchar": 1, "ushort": 2, "uint": 4, "ulong": 8, "ulonglong": 8, "ptrdiff_t": 8, "clock_t": 8,
         "half": 2, "__half": 2, "__nv_bfloat16": 2, "half2": 4, "__half2": 4}
TYPE = re.compile(r"u?int(?P<bits>8|16|32|64)_t|"
                  r"(?P<vector>u?(?:char|short|int|long|longlong|float|double))(?P<lanes>[1-4])|(?P<plain>\w+)")
QUALIFIER = re.compile(r"\b(?:extern|static|const|volatile|signed|std|__shared__|__device__|__constant__|__managed__|"
                       r"(?:alignas|__align__)\s*\([^)]*\))|\bunsigned\s+(?=char|short|int|long)|:")
COMMENT = re.compile(r"//[^\n]*|/\*[\s\S]*?\*/")
FREES = 2  # what a kernel does to an element beside reading (0) and writing (1) it
# Facts that are findings only by what the source says besides.
DOUBTFUL = ("partly-uninitialised", "passed", "device-variable")
# What orders two threads of a warp, and those of two warps.
BARRIERS = {True: re.compile(r"\b__sync\w+\s*\(|\b__\w+_sync\s*\("), False: re.compile(r"\b__syncthreads\w*\s*\(")}


def is_learners(file: str) -> bool:
    """Whether a file is a .cu or .cuh, or a header that neither the system nor the course brings."""
    if Path(file).suffix.startswith(".cu"):
        return True
    path = Path(file).resolve()
    return bool(path.suffix) and path.is_file() and not any(path.is_relative_to(folder) for folder in ("/usr", "/opt", COURSE))


@dataclass
class Finding:
    """One fault of the program."""

    kind: str
    lines: list[int]
    kernel: str | None
    block: str | None
    thread: str | None
    variable: str | None
    count: int
    sentence: str
    parts: dict = field(default_factory=dict)  # what merged() asks for; no part of the report

    def as_dict(self) -> dict:
        return {name: value for name, value in asdict(self).items() if name != "parts"}


def merged(found: list[Finding]) -> list[Finding]:
    """One finding for a kind and its lines; none that another explains."""
    single: dict[tuple, Finding] = {}
    for finding in found:
        key = (finding.kind, tuple(finding.lines) or finding.sentence,
               finding.variable if finding.kind == "uninitialised" else None)
        single.setdefault(key, finding)
    single = {key: finding for key, finding in single.items() if not absent_twice(finding, single)}
    racing = {(line, finding.variable) for finding in single.values() if finding.kind == "race"
              for line in finding.lines}
    undefined = {tuple(finding.lines) for finding in single.values() if finding.kind == "undefined"}
    misaligned = {tuple(finding.lines) for finding in single.values() if "misaligned" in finding.parts}
    freed = {line for finding in single.values() if finding.parts.get("frees") for line in finding.lines}
    for_block = [finding for finding in single.values() if finding.parts.get("barrier") == "__syncthreads()"]
    for finding in single.values():
        # One barrier serves both: where one race needs it for the whole block, __syncwarp would not do.
        if finding.kind == "race" and any(overlap(finding, other) for other in for_block):
            finding.sentence = finding.sentence.replace("Put __syncwarp()", "Put __syncthreads()")
    return grouped([finding for finding in single.values()
                    if not (finding.kind == "uninitialised"
                            and (any((line, finding.variable) in racing for line in finding.lines)
                                 or (racing and finding.kernel is None)))
                    and not (finding.kind == "bounds" and tuple(finding.lines) in misaligned)
                    and not (finding.kind == "freed" and freed.issuperset(finding.lines))
                    # Where the processor stopped at what has been named.
                    and not (finding.kind == "other" and tuple(finding.lines) in undefined)])


def grouped(found: list[Finding]) -> list[Finding]:
    """Many races of one kernel on one variable have one cause, and become one finding."""
    groups: dict[tuple, list[Finding]] = {}
    for finding in found:
        if finding.kind == "race" and finding.variable and finding.parts:
            groups.setdefault((finding.kernel, finding.variable), []).append(finding)
    for (kernel, _), races in groups.items():
        if len(races) < 3:
            continue
        first, one = races[0], races[0].parts
        first.lines, first.count = sorted({line for race in races for line in race.lines}), sum(race.count for race in races)
        in_warps = all(race.parts["in_one_warp"] for race in races)
        barrier, whose = ("__syncwarp()", "a warp") if in_warps else ("__syncthreads()", "the block")
        first.sentence = (
            f"{one['file']}:{first.lines[0]}: race in kernel {kernel} on {one['what']} ({first.count} times): the lines "
            f"{', '.join(map(str, first.lines[:-1]))} and {first.lines[-1]} use it, and nothing orders what the threads of {whose} "
            f"do there; {one['deeds']}, for one. Put {barrier} between one step and the next; where one line reads and writes, read "
            f"into a variable first, then {barrier}, then write, and {barrier} again.")
        found = [finding for finding in found if finding not in races[1:]]
    return found


def absent_twice(finding: Finding, single: dict[tuple, Finding]) -> bool:
    """Whether a lane that does not take part is told by what another reads from it."""
    return "passed" in finding.parts and any(
        other is not finding and other.kind == "warp" and other.lines == finding.lines for other in single.values())


def overlap(one: Finding, other: Finding) -> bool:
    """Whether two races of a kernel lie between the same lines, at least in part."""
    return (one.kernel == other.kernel and bool(one.lines) and bool(other.lines)
            and max(one.lines[0], other.lines[0]) < min(one.lines[-1], other.lines[-1]))


def findings_of(facts: list[dict], program: Path, source: Path) -> list[Finding]:
    """The findings of one run."""
    counts = {fact["id"]: fact["count"] for fact in facts if "count" in fact}
    # Who asks for the last error has looked at the calls before.
    looked = max((number for number, fact in enumerate(facts) if "looked" in fact), default=-1)
    facts = [fact for number, fact in enumerate(facts)
             if "looked" not in fact and (number > looked or fact.get("kind") != "call")]
    # The last that is said of a race counts.
    facts = list({fact.get("id", -number): fact for number, fact in enumerate(facts, 1)
                  if "count" not in fact}.values())
    places, inlined = lines_of(program, sorted({place for fact in facts for place in places_in(fact)}))
    for side in (side for fact in facts for side in sides_of(fact) if "frames" in side):  # of a copy
        side["place"] = next((frame for frame in side["frames"] if frame in places), 0)
    # The runtime's own part of a barrier or a launch may stand within a kernel; that is the host's.
    facts = [fact for fact in facts if fact["kind"] != "host-pointer" or "second" not in fact
             or fact["second"]["place"] not in inlined]
    words = Words(places, program, source)
    facts = [fact for fact in facts if fact["kind"] not in DOUBTFUL or words.is_certain(fact)]
    totals: dict[tuple, Counter] = {}  # the compiler may make several places of one line
    found = []
    for fact in facts:
        finding = words.finding(fact)
        key = (finding.kind, tuple(finding.lines), finding.variable)
        verb = "writes" if fact.get("second", fact).get("write") else "reads"
        totals.setdefault(key, Counter())[verb] += counts.get(fact.get("id"), 1)
        found.append(finding)
    for finding in found:
        verbs = totals[(finding.kind, tuple(finding.lines), finding.variable)]
        finding.count = verbs.total()
        times = f" ({finding.count} times)" if finding.count > 1 else ""
        deed = "writes to" if verbs["writes"] else "reads from"
        if verbs["reads"] and verbs["writes"] and "{deed}" in finding.sentence:
            deed, times = "reads from and writes to", f" ({verbs['reads']} and {verbs['writes']} times)"
        finding.sentence = finding.sentence.replace("{times}", times).replace("{deed}", deed)
    return found


def sides_of(fact: dict) -> list[dict]:
    return [fact[side] for side in ("first", "second") if side in fact]


def places_in(fact: dict) -> list[int]:
    """The addresses of the program that a fact names."""
    return [place for side in [fact, *sides_of(fact)] for place in side.get("frames") or [side.get("place", 0)] if place]


def lines_of(program: Path, places: list[int]) -> tuple[dict[int, tuple[str, int]], set[int]]:
    """File and line of the learner for each place, the innermost that there is; and the places that
    belong to a function of another file, which the compiler has put there."""
    if not places:
        return {}, set()
    try:
        frames = frames_of(program, places)
    except MissingTool as missing:
        raise Failure(str(missing)) from None
    found: dict[int, tuple[str, int]] = {}
    inlined: set[int] = set()
    for place, stack in frames.items():
        for frame in stack:
            if frame.line and is_learners(frame.file) and not frame.is_of_runtime():
                found.setdefault(place, (Path(frame.file).name, frame.line))
            elif place not in found:
                inlined.add(place)
    return found, inlined


def split_arguments(text: str) -> list[str]:
    """The parts of a list between its outermost commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def index_advice(side: str) -> str:
    """What helps against an access out of bounds, by the words that say on which side it lies."""
    if "before the start" in side:
        return "The index is below 0: compare it with 0 before the access."
    return "Compare the index with the number of elements before the access."


def size_of_element(declaration: str, source: str = "", depth: int = 0) -> int | None:
    """The bytes of an element, by a declaration up to the name; None if neither that nor the source says it."""
    if declaration.count("*") > 1:
        return 8
    words = QUALIFIER.sub(" ", declaration).split()
    said = TYPE.fullmatch(words[0].rstrip("*&")) if words else None
    if not said:
        return None
    name = re.escape(said[0])
    other = re.search(rf"\b(?:typedef\s+([\w\s]+?)\s+{name}\s*;|using\s+{name}\s*=\s*([\w\s:]+);|"
                      rf"#\s*define\s+{name}\s+([\w ]+)$)", source, re.M)
    if other and depth < 8:
        return size_of_element(next(filter(None, other.groups())), source, depth + 1)
    if said["bits"]:
        return int(said["bits"]) // 8
    if said["vector"]:
        return SIZES[said["vector"].removeprefix("u")] * int(said["lanes"])
    return SIZES.get(said["plain"])


def barrier_between(text: str, lines: list[int], same_warp: bool) -> bool | None:
    """Whether a barrier that would do stands between two lines; None if they are of two functions."""
    between = text.splitlines()[lines[0] - 1:lines[1] - 1]
    if any(line.startswith("}") for line in between):
        return None
    return bool(BARRIERS[same_warp].search(COMMENT.sub("", "\n".join(between))))


def without_comments(text: str) -> str:
    """With blanks in their place."""
    return COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)


def braces_around(text: str, line: int) -> dict[int, bool]:
    """The braces that a line stands in, by where they open; True for those of a loop."""
    text = without_comments(text)
    open_braces: list[tuple[int, bool]] = []
    lines = text.splitlines(keepends=True)
    before, start_of_line = "".join(lines[:line]), len("".join(lines[:line - 1]))
    for brace in re.finditer(r"[{}]", before):
        if brace[0] == "{":
            head = before[:brace.start()].rstrip()
            depth = start = 0
            for start in range(len(head) - 1, -1, -1) if head.endswith(")") else ():
                depth += (head[start] == ")") - (head[start] == "(")
                if depth == 0:
                    break
            open_braces.append((brace.start(), bool(re.search(r"\b(for|while)\s*$", head[:start]) or re.search(r"\bdo$", head))))
        elif open_braces and brace.start() < start_of_line:  # what the line itself closes, it still stands in
            open_braces.pop()
    return dict(open_braces)


def loops_in_common(text: str, lines: list[int]) -> set[int]:
    """The loops that both lines stand in."""
    loops = [{place for place, is_loop in braces_around(text, line).items() if is_loop} for line in lines]
    return loops[0] & loops[1]


def is_passed_again(text: str, lines: list[int]) -> bool:
    """Whether the two lines may meet in spite of a barrier between them that all pass: in the next round of a loop, or in
    the next call of a function."""
    if loops_in_common(text, lines):
        return True
    inside, rows = braces_around(text, lines[1]).keys(), without_comments(text).splitlines()
    return any(re.match(r"\s*__sync", rows[line - 1]) and not rows[line - 2].rstrip().endswith((")", "else"))
               and braces_around(text, line).keys() <= inside for line in range(lines[0] + 1, lines[1]))


def barrier_for(first: dict, second: dict) -> str:
    """What orders two threads of a block. Of a block of one warp nobody knows whether those of a larger one would meet."""
    return "__syncwarp()" if first["warp"] == second["warp"] and first.get("warps") != 1 else "__syncthreads()"


def repair(first: dict, second: dict, lines: list[int], text: str | None = None, shared: bool = False) -> str:
    """What usually helps against a race; the same, whichever of the two came first. Each side has its
    line, and `text` is that of the file where both stand, if it is known."""
    if first["atomic"] != second["atomic"]:
        return ("An atomic operation orders nothing for an ordinary access: make both atomic, or put a "
                "barrier between them.")
    if first["number"] != second["number"] and shared:
        return "The two blocks are of one cluster: put cluster.sync() between the two, for all its blocks."
    if first["number"] != second["number"]:
        return ("Blocks run in any order and at the same time: give each block elements of its own, use "
                "an atomic operation, or make two launches of it.")
    if len(lines) == 1:
        return ("If the threads are to work on one element together, use an atomic function, atomicAdd for a sum; "
                "otherwise give each thread an element of its own, or put a barrier between one use and the next: in a loop at the end of "
                "each round, in one line between the read, into a variable, and the write.")
    barrier = barrier_for(first, second)
    if second["write"] == FREES:
        return f"Put {barrier} before it is freed."
    if first["write"] and second["write"]:
        return f"Put {barrier} between the two, or let one thread write it."
    if len(lines) < 2 or not first["line"] or not second["line"]:
        return f"Put {barrier} between the two."
    early, late = sorted((first, second), key=lambda side: side["line"])
    stands = barrier_between(text, lines, first["warp"] == second["warp"]) if text else None
    if stands and not is_passed_again(text, lines):
        return (f"A barrier stands between these lines, and not between what these threads do there: is it inside a loop or "
                f"a condition? Put {barrier} behind that, before line {late['line']}.")
    if stands:
        again = "next round of a loop" if loops_in_common(text, lines) else "next call of this function"
        return (f"A barrier stands between these lines, so it is the {again} that comes too early: put "
                f"another {barrier} behind line {late['line']}.")
    if text and stands is None and not early["write"]:
        return (f"Put {barrier} between the write in line {late['line']} and the read in line {early['line']}, which stands "
                "in another function.")
    if not early["write"]:  # the write may be that of an earlier round as well
        return (f"Put {barrier} between the reads in line {early['line']} and the next write in line {late['line']}, "
                "or, if they belong to two rounds of a loop, at the end of each round.")
    also = "" if stands is False else f"; if one stands there, put another behind line {late['line']}"
    return f"Put {barrier} between the write in line {early['line']} and the read in line {late['line']}{also}."


class Words:
    """Makes findings of the facts of one program."""

    def __init__(self, places: dict[int, tuple[str, int]], program: Path, source: Path):
        self.places = places
        self.program = program
        self.path = source
        self.source = source.read_text(errors="replace")
        self.file = source.name
        self.symbols: list[tuple[int, int, str]] | None = None

    def finding(self, fact: dict) -> Finding:
        if "sentence" in fact:
            return self.of_sentence(fact)
        if fact["kind"] == "race":
            return self.of_race(fact)
        if fact["kind"].endswith("uninitialised"):
            return self.of_uninitialised(fact)
        if fact["kind"] == "passed":
            return self.of_passed(fact)
        if fact["kind"] == "device-variable":
            return self.of_device_variable(fact)
        if fact["kind"] == "constant":
            return self.of_constant(fact)
        if fact["kind"] == "ended":
            return self.of_ended(fact)
        if fact["kind"] == "host-pointer":
            return self.of_host_memory(fact)
        return self.of_undefined(fact) if fact.get("by") == "ubsan" else self.of_bounds(fact)

    def of_sentence(self, fact: dict) -> Finding:
        """The runtime has said it already; with the path that the compiler was given, others without."""
        sentence = fact["sentence"].replace(f"{self.path}:", f"{self.file}:")
        place = PLACE.match(sentence)
        if place:
            sentence = Path(place["file"]).name + sentence[place.end("file"):]
        lines = [int(place["line"])] if place else []
        other = OTHER_LINE.search(sentence)
        if fact["kind"] in ("barrier", "warp") and other:
            lines.append(int(other[1]))
        named = re.search(r"kernel (\w+)", sentence)
        kernel = fact["kernel"] or (named and named[1])
        argument = re.search(r"argument (\d+) of kernel .*? \((.*)\) is a", sentence)
        variable = split_arguments(argument[2])[int(argument[1]) - 1] if argument else None
        return Finding(fact["kind"], sorted(set(lines)), kernel, fact.get("block"), fact.get("thread"),
                       variable, 1, sentence)

    # Races

    def of_race(self, fact: dict) -> Finding:
        first, second = fact["first"], fact["second"]
        where, lines = self.where(first, second)
        name, what, part = self.memory(fact)
        apart = first["work"] != second["work"]
        parties = [self.party(side) for side in (first, second)]
        kernel = next((side["by"] for side in (second, first) if "thread" in side), None)
        whose = "in " + parties[0] if not apart else "between " + (
            " and ".join(parties) if parties[0] != parties[1] else f"two launches of {parties[0]}" if kernel else "two copies")
        deeds = [self.actor(side, apart) + " " + self.deed(side) for side in (first, second)]
        in_one_block = not apart and first["number"] == second["number"]
        if in_one_block:
            deeds[1] = deeds[1].replace(f"block {second['block']}", "the same block", 1)
        advice = self.order_of_works(first, second) if apart else self.advice(fact, lines)
        text = f"{where}: race {whose} on {what}{part}{{times}}: {', '.join(deeds)}, and nothing orders the two. {advice}"
        thread = next((side for side in (second, first) if "thread" in side), {})
        parts = {"file": self.places.get(first["place"], (self.file, 0))[0], "what": what, "deeds": ", ".join(deeds),
                 "in_one_warp": first["warp"] == second["warp"], "barrier": barrier_for(first, second)} if in_one_block else {}
        if second["write"] == FREES:
            parts = {"frees": True}
        return Finding("race", lines, kernel, thread.get("block"), thread.get("thread"), name, 1, text, parts)

    def party(self, side: dict) -> str:
        return f"kernel {side['by']}" if "thread" in side else "a copy" if "frames" in side else "host code"

    def actor(self, side: dict, apart: bool) -> str:
        """Who does it: a thread, of which kernel where there are two, the host, or a copy."""
        if "thread" in side:
            return f"thread {side['thread']} of block {side['block']}" + (f" of {side['by']}" if apart else "")
        return "the copy or cudaMemset" if "frames" in side else "host code"

    def order_of_works(self, first: dict, second: dict) -> str:
        """How to order two launches or copies, or one of them and the host."""
        host = next((side for side in (first, second) if self.actor(side, True) == "host code"), None)
        if host:
            _, line = self.places.get(host["place"], ("", 0))
            if host.get("in_stream"):
                return ("A function of the host runs in its turn in its stream: put it behind that work, into the same stream "
                        "(cudaLaunchHostFunc), or let its stream wait for an event that is recorded there.")
            return ("Work is only handed out in such a call: before host code uses the memory, wait, by "
                    f"cudaStreamSynchronize or cudaDeviceSynchronize before line {line}, or let the stream call that code behind "
                    "the work, by cudaLaunchHostFunc.")
        if first.get("graph") and first.get("graph") == second.get("graph"):
            return ("They are two nodes of a graph, and neither waits for the other: name one in the other's list of the nodes "
                    "that it waits for.")
        return ("They are in two streams: put both into one, or let the second stream wait for an event that the first "
                "records behind its work (cudaEventRecord, cudaStreamWaitEvent).")

    def advice(self, fact: dict, lines: list[int]) -> str:
        """How to order the two sides of a race."""
        first, second = fact["first"], fact["second"]
        places = [self.places.get(side["place"], ("", 0)) for side in (first, second)]
        files = {file for file, _ in places}
        if len(files) > 1:  # a line of one file stands neither before nor behind that of another
            places = [("", 0)] * 2
        file = self.path.with_name(places[0][0]) if places[0][0] else None
        text = file.read_text(errors="replace") if file and file.is_file() else None
        first, second = ({**side, "line": line} for side, (_, line) in zip((first, second), places))
        said = repair(first, second, lines, text, "variable" in fact)
        reader, writer = sorted((first, second), key=lambda side: side["write"])
        if said.startswith("Put") and fact.get("bytes", 0) <= fact["size"] and reader["line"] < writer["line"]:
            return f"If the threads are to add to it, use atomicAdd; otherwise p{said[1:]}"
        return said

    def where(self, *sides: dict) -> tuple[str, list[int]]:
        """The places of a finding, in words and as line numbers."""
        known = [self.places[side["place"]] for side in sides if side["place"] in self.places]
        unique = sorted(set(known), key=lambda place: place[1])
        words = " and ".join(f"{file}:{line}" for file, line in unique) or self.file
        return words, sorted({line for _, line in known})

    def deed(self, side: dict) -> str:
        verb = ("reads", "writes", "frees")[side["write"]]
        atomic = " atomically" if side["atomic"] else ""
        _, line = self.places.get(side["place"], ("", 0))
        asked = ", asked for" if "frames" in side else ""
        return f"{verb} it{atomic}{asked}" + (f" in line {line}" if line else "")

    def of_uninitialised(self, fact: dict) -> Finding:
        side = fact["second"]
        where, lines = self.where(side)
        if "thread" not in side:
            return Finding("uninitialised", lines, None, None, None, None, 1,
                           f"{where}: host code reads an element that a copy brought from the device, where nobody had "
                           "written it{times}. Let a kernel, a copy or cudaMemset write all of it first.")
        name, what, part = self.memory(fact)
        shared = "variable" in fact
        advice = ("Shared memory starts with anything: let a thread write each element first, then "
                  "__syncthreads()." if shared else
                  "malloc leaves anything in the memory: let a thread write each element first." if "heap" in fact else
                  "cudaMalloc leaves anything in the memory: fill it with cudaMemset or cudaMemcpy, or let "
                  "an earlier kernel write it.")
        partly = "of which a part" if fact["kind"].startswith("partly") else "which"
        text = (f"{where}: kernel {fact['kernel']}, thread {side['thread']} of block {side['block']}, reads "
                f"{what}{part}, {partly} nobody has written{{times}}. {advice}")
        return Finding("uninitialised", lines, fact["kernel"], side["block"], side["thread"], name, 1, text)

    def of_constant(self, fact: dict) -> Finding:
        side = fact["second"]
        where, lines = self.where(side)
        name, what, part = self.memory(fact)
        text = (f"{where}: kernel {fact['kernel']}, thread {side['thread']} of block {side['block']}, writes to "
                f"{what.replace('the array', 'the __constant__ array')}{part}{{times}}. Kernels only read constant memory: the "
                "host writes it, with cudaMemcpyToSymbol, before the launch.")
        return Finding("undefined", lines, fact["kernel"], side["block"], side["thread"], name, 1, text)

    def of_ended(self, fact: dict) -> Finding:
        side = fact["second"]
        where, lines = self.where(side)
        name, what, part = self.memory(fact)
        text = (f"{where}: kernel {fact['kernel']}, thread {side['thread']} of block {side['block']}, {{deed}} {what}{part}, of another "
                "block of its cluster{times}. That block may have ended by then, and its shared memory with it: put cluster.sync() between "
                "the last such access and the end of the kernel, for all blocks.")
        return Finding("freed", lines, fact["kernel"], side["block"], side["thread"], name, 1, text)

    def of_device_variable(self, fact: dict) -> Finding:
        side = fact["second"]
        where, lines = self.where(side)
        name = self.symbol(fact).rpartition("::")[2]
        verb, call = ("writes to", "cudaMemcpyToSymbol") if side["write"] else ("reads", "cudaMemcpyFromSymbol")
        text = (f"{where}: host code {verb} the variable {name} of the device. What it gets is another one of that name, which no "
                f"kernel sees: copy it with {call}.")
        return Finding("device-pointer", lines, None, None, None, name, 1, text)

    def of_host_memory(self, fact: dict) -> Finding:
        side = fact["second"]
        where, lines = self.where(side)
        text = (f"{where}: kernel {fact['kernel']}, thread {side['thread']} of block {side['block']}, "
                f"{{deed}} memory of the host{{times}}. A pointer "
                f"inside a structure, too, must come from cudaMalloc.")
        return Finding("host-pointer", lines, fact["kernel"], side["block"], side["thread"], None, 1, text)

    # Memory

    def memory(self, fact: dict) -> tuple[str | None, str, str]:
        """The name of the variable that an address belongs to, that variable in words, and the element."""
        shared = "variable" in fact
        name = fact.get("variable") or self.parameter(fact) or self.symbol(fact)
        if name is None:
            of = f" of an allocation of {fact['bytes']} bytes" if "bytes" in fact else ""
            memory = "memory that a kernel has allocated" if "heap" in fact else "pinned memory" if fact.get("pinned") else "global memory"
            return None, memory, f" (byte {fact.get('offset', 0)}{of})"
        if fact.get("bytes", 0) <= fact["size"]:
            return name, f"the {'shared ' * shared}variable {name}", ""
        size = self.element_size(fact, name)
        place = f", element {fact.get('offset', 0) // size}" if size else f", byte {fact.get('offset', 0)}"
        return name, f"the {'shared variable' if shared else 'array'} {name}", place

    def is_certain(self, fact: dict) -> bool:
        """Of what was written in part: whether the element is of the language's own types, so that all its bytes count.
        Of a lane that does not take part: whether its last access stands behind, in the same function. Of a variable that
        host code touches: whether it is the device's alone."""
        if fact["kind"] == "device-variable":
            name = (self.symbol(fact) or "").rpartition("::")[2]
            declared = name and fact["second"]["place"] in self.places and re.search(
                rf"^[^;(){{}}]*__(?:device|constant)__[^;(){{}}]*\b{name}\b\s*[\[;={{]", COMMENT.sub("", self.source), re.M)
            return bool(declared) and "__managed__" not in declared[0]
        if fact["kind"] != "passed":
            return bool((name := self.memory(fact)[0]) and self.element_size(fact, name))
        file, line = self.places.get(fact["place"], ("", 0))
        path = Path(fact["file"])
        if file != path.name or line <= fact["line"] or not path.is_file():
            return False
        between = path.read_text(errors="replace").splitlines()[fact["line"] - 1:line - 1]
        return not any(text.startswith("}") for text in between)

    def of_passed(self, fact: dict) -> Finding:
        _, line = self.places[fact["place"]]
        text = (f"{Path(fact['file']).name}:{fact['line']}: kernel {fact['kernel']}, block {fact['block']}: the mask {fact['mask']} "
                f"of this warp primitive names lane {fact['lane']}, which does not call it, and goes on to line {line}. All lanes of "
                "the mask call it together: take it out of the condition, or name only the lanes for which the condition holds.")
        return Finding("warp", [fact["line"]], fact["kernel"], fact["block"], None, None, 1, text, {"passed": line})

    def element_size(self, fact: dict, name: str) -> int | None:
        """The size of an array's elements, where its declarations agree on one that is known."""
        if "variable" not in fact and fact.get("position"):
            declared = self.parameters(fact)[fact["position"] - 1:fact["position"]]
        else:
            space = r"__(?:shared|device|constant|managed)__"
            source = COMMENT.sub("", self.source)
            declared = re.findall(rf"({space}[^;(){{}}]*?\b{re.escape(name)})\s*[\[,;={{]", source)
        sizes = {size_of_element(re.sub(r"\w+\s*(?:\[\w*\]\s*)?$", "", words), self.source) for words in declared}
        return sizes.pop() if len(sizes) == 1 else None

    def parameters(self, fact: dict) -> list[str]:
        """How the kernel declares its parameters; nothing if that is not found."""
        *spaces, kernel = (fact["kernel"] or "").partition("<")[0].split("::")
        start = max(0, self.source.find(f"namespace {'::'.join(spaces)} {{")) if spaces else 0
        declared = re.search(rf"\b{re.escape(kernel)}\s*\(([^;{{}}]*?)\)\s*\{{", self.source[start:])
        return split_arguments(declared[1]) if declared else []

    def parameter(self, fact: dict) -> str | None:
        """The parameter of the kernel that points there, by the kernel's declaration."""
        position = fact.get("position", 0)
        if not position:
            return None
        names = [re.search(r"(\w+)\s*(?:\[\w*\]\s*)?$", part) for part in self.parameters(fact)]
        if position <= len(names) and names[position - 1]:
            return names[position - 1][1]
        return split_arguments(fact["arguments"])[position - 1]

    def symbol(self, fact: dict) -> str | None:
        """The __device__ variable at an address."""
        if "address" not in fact:
            return None
        if self.symbols is None:
            text = subprocess.run(["nm", "-CS", str(self.program)], capture_output=True, text=True).stdout
            rows = (line.split(maxsplit=3) for line in text.splitlines())
            self.symbols = [(int(row[0], 16), int(row[1], 16), row[3]) for row in rows
                            if len(row) == 4 and row[2] in "BbDdRr"]
        for start, size, name in self.symbols:
            if start <= fact["address"] < start + size:
                fact["offset"], fact["bytes"] = fact["address"] - start, size
                return name
        return None

    # Bounds

    def of_bounds(self, fact: dict) -> Finding:
        file, line = next((self.places[frame] for frame in fact["frames"] if frame in self.places),
                          (self.file, 0))
        who = (f"kernel {fact['kernel']}, thread {fact['thread']} of block {fact['block']}, "
               if fact["kernel"] else "host code ")
        verb = "writes to" if fact["write"] else "reads from"
        name, what = self.outside(fact)
        freed = any(f"use-after-{end}" in fact["description"] for end in ("free", "scope", "return"))
        dynamic = name and re.search(rf"\bextern\s[^;]*__shared__[^;]*\b{re.escape(name)}\b", COMMENT.sub("", self.source))
        advice = ("That memory is no longer there." if freed else
                  "Does the launch ask for enough, in its third place?"
                  if dynamic and "past the end" in what else index_advice(what))
        text = f"{file}:{line}: {who}{verb} {what}. {advice}"
        return Finding("freed" if freed else "bounds", [line] if line else [], fact["kernel"],
                       fact.get("block"), fact.get("thread"), name, 1, text)

    def outside(self, fact: dict) -> tuple[str | None, str]:
        """The variable that was missed, and by how much."""
        if "variable" in fact:
            past = fact["offset"] - fact["bytes"]
            by = (f"{past} bytes past the end" if past > 0 else "the first byte past the end" if past == 0
                  else f"{-fact['offset']} bytes before the start")
            return fact["variable"], f"{by} of the shared variable {fact['variable']} of {fact['bytes']} bytes"
        if "what" in fact:
            name = self.parameter(fact)
            return name, fact["what"] + (f", {name}" if name else "")
        local = re.search(r"'(\w+)'(?: \(line \d+\))? <== Memory access at offset \d+ (\w+)", fact["text"])
        if local:
            side = {"overflows": "past the end of", "underflows": "before the start of", "is": "inside"}
            return local[1], f"memory {side.get(local[2], 'partly outside')} the local array {local[1]}"
        variable = re.search(r"is located (\d+) bytes (inside|before|after|to the \w+)(?: of)? global variable '(\w+)'.*? "
                             r"of size (\d+)", fact["text"])
        if variable:
            side = {"inside": "partly outside", "before": "before the start of", "to the left": "before the start of"}
            place = side.get(variable[2], "past the end of")
            by = "memory" if variable[1] == "0" or variable[2] == "inside" else f"{variable[1]} bytes"
            return variable[3], f"{by} {place} the variable {variable[3]} of {variable[4]} bytes"
        region = re.search(r"is located (\d+ bytes) (?:to the )?(\w+) (?:of )?(\d+)-byte region", fact["text"])
        if region:
            side = {"right": "past the end", "after": "past the end", "left": "before the start",
                    "before": "before the start"}.get(region[2], "inside")
            by = {"inside": "memory"}.get(side, "the first byte" if region[1] == "0 bytes" and side == "past the end" else region[1])
            return None, f"{by} {side} of a piece of {region[3]} bytes from malloc or new"
        return None, "memory that is not its own"

    def of_undefined(self, fact: dict) -> Finding:
        """What C++ leaves undefined; an index out of a declared array is out of bounds."""
        out = "out-of-bounds" in fact["description"] or "out of bounds" in fact["text"]
        who = (f"kernel {fact['kernel']}, thread {fact['thread']} of block {fact['block']}" if fact["kernel"] else "host code")
        said = f": {fact['text'][:1].lower()}{fact['text'][1:]}"
        index = re.match(r"[Ii]ndex (-?\d+) out of bounds for type '(.*)'", fact["text"])
        if index:
            said = f": index {index[1]} is out of bounds of an array of type {index[2].replace(' [', '[')}"
        misaligned = re.match(r"(\w+).* misaligned address 0x\w+ for type '(?:const |volatile |struct )*(.*)', which requires (\d+) ",
                              fact["text"])
        if misaligned:
            verb = {"load": "reads", "store": "writes"}.get(misaligned[1], "uses")
            said = (f"{',' * bool(fact['kernel'])} {verb} a value of type {misaligned[2]} at an address that is no multiple of "
                    f"{misaligned[3]}. A GPU stops there: misaligned address")
        text = f"{Path(fact['file']).name}:{fact['line']}: {who}{said}."
        return Finding("bounds" if out else "undefined", [fact["line"]], fact["kernel"],
                       fact.get("block"), fact.get("thread"), None, 1, text, {"misaligned": True} if misaligned else {})
