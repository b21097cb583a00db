"""make sanitize on a card: compute-sanitizer's four tools, worded like what the CPU finds.

The tools write a report as a block of lines that begin with "=========": the first says what was
found, those behind it, further indented, say where. There is a report for each thread, and racecheck
writes one for each byte: here those of one place are one finding.
"""

from __future__ import annotations

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from .failure import Failure
from .usage import BAD_USAGE, SKIPPED
from .profiling import find_command
from .program import Patience, Run, quoted_output, run_program
from .sanitize_words import Finding, index_advice, lines_of, merged, repair

# Hazards of racecheck are bytes, so the usual limit of 100 reports is soon reached.
TOOLS = {
    "memcheck": ["--leak-check", "full"],
    "racecheck": ["--racecheck-report", "all", "--print-limit", "1000"],
    "synccheck": [],
    "initcheck": [],
}
PLACE = re.compile(r"\bin (?:[^:]*/)?([^/\s:]+\.cu\w*):(\d+)")
FRAME = re.compile(r"^(?:at|Device Frame:) (.+?)\+0x[0-9a-f]+")
HOST_FRAME = re.compile(r"^Host Frame: ?(.+?) \[0x([0-9a-f]+)\] in (\S+)$")
NEAREST = re.compile(r"is (?P<distance>[\d,]+) bytes (?P<side>after|before) the nearest allocation at 0x\w+ of size "
                     r"(?P<whole>[\d,]+) bytes")
SIDE = re.compile(r"\b(?P<verb>Read|Write) (?:Thread (?P<thread>\([\d,]+\))|access) at (?P<kernel>.+?)\+0x[0-9a-f]+"
                  r"(?: in (?:[^:]*/)?(?P<file>[^/\s:]+\.cu\w*):(?P<line>\d+))?")
CUT = re.compile(r"were not printed|SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)")
CRASHED = "process didn't terminate successfully"
# An index is never that far wrong: such a pointer is no pointer to the device's memory at all.
FAR = 1 << 40
# A call that was refused for what it was given; other errors of calls follow from an earlier fault.
REFUSED = re.compile(r"Program hit cudaError(?:InvalidValue|InvalidDevicePointer|InvalidMemcpyDirection|"
                     r"InvalidPitchValue) .* on CUDA API call to cuda((Free|Memset|Memcpy)\w*)")
LAUNCH = re.compile(r"Program hit cudaError(\w+) .* on CUDA API call to cudaLaunchKernel")
FAILED = re.compile(r"Program hit cudaError(?:InvalidResourceHandle|MemoryAllocation) .* on CUDA API call to (cuda\w+)")
CALLS = {
    "Free": ("double-free", "is given memory that cudaMalloc has not given, or that is freed already. Each "
             "allocation is freed once, by the pointer that cudaMalloc gave."),
    "Memset": ("bounds", "is refused: it is longer than the allocation, or the pointer is none of the device's. "
               "The length is in bytes."),
    "Memcpy": ("copy-direction", "is refused. Does the direction fit the two pointers, are both allocations "
               "still there, and is the length, in bytes, within both?"),
}


# Reports


def blocks(text: str) -> list[list[str]]:
    """The reports in a tool's output."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        line = line[9:]
        if line.startswith("     "):
            if found:
                found[-1].append(line.strip())
        elif line.strip():
            found.append([re.sub(r"^(?:Error|Warning): ", "", line.strip())])
    return found


def finding_of(block: list[str], host: dict[int, tuple[str, int]] | None = None) -> Finding | None:
    """What one report says; None for headings, sums, and what only follows from an earlier fault.
    `host`: file and line of addresses in the host's code, where they are known."""
    head = block[0]
    if "hazard detected" in head or "Race reported" in head:
        return of_race(block)
    if access := re.match(r"Invalid __(\w+)__ (\w+) of size (\d+)", head):
        return of_access(block, *access.groups())
    if memory := re.match(r"Uninitialized __(\w+)__", head):
        return in_kernel(block, "uninitialised", f"reads {memory[1]} memory that nobody has written{{times}}. "
                         "cudaMalloc leaves anything in the memory: fill it with cudaMemset or cudaMemcpy, or let an "
                         "earlier kernel write it.")
    if head.startswith("Barrier error"):
        return of_barrier(block)
    if head.startswith("Host API memory access error") and any("Uninitialized" in line for line in block):
        return of_host(block, host, "uninitialised", f"{first_call(block)} copies memory of the device that nobody "
                       "has written{times}. Let a kernel, a copy or cudaMemset write all of it first.")
    if leaked := re.match(r"Leaked ([\d,]+) bytes", head):
        return of_host(block, host, "leak", f"{leaked[1]} bytes of device memory, which cudaMalloc gave, are never "
                       "given to cudaFree{times}.")
    if call := REFUSED.match(head):
        kind, said = CALLS[call[2]]
        return of_host(block, host, kind, f"cuda{call[1]} {said}")
    if (launch := LAUNCH.match(head)) and launch[1] in ("InvalidConfiguration", "InvalidValue", "InvalidResourceHandle"):
        return of_host(block, host, "launch", f"the launch fails (cudaError{launch[1]}), so the kernel does not run. Compare "
                       "grid, block and shared memory with what the device allows.")
    if call := FAILED.match(head):
        return of_host(block, host, "call", f"{call[1]} fails: there is no such stream or event, or not so much memory.")
    return None


def base_name(signature: str) -> str:
    """The name of a function alone: halves, of void course::halves<float>(const float *, int)."""
    name = re.match(r"(?:void )?(?:\(anonymous namespace\)::|\w+::)*(\w+)", signature)
    return name[1] if name else signature


def in_kernel(block: list[str], kind: str, said: str) -> Finding:
    """A fault of one thread, at the innermost place that is the learner's."""
    device = [line for line in block if not line.startswith("Host Frame:")]
    place = next(filter(None, map(PLACE.search, device)), None)
    frames = [found[1] for found in map(FRAME.match, device) if found]
    kernel = base_name(frames[-1]) if frames else None  # functions in it come before it
    thread = re.search(r"by thread (\([\d,]+\)) in block (\([\d,]+\))", " ".join(device))
    words = f"{place[1]}:{place[2]}: " if place else ""
    words += f"kernel {kernel}, " if kernel else ""
    words += f"thread {thread[1]} of block {thread[2]}, " if thread else ""
    return Finding(kind, [int(place[2])] if place else [], kernel, thread and thread[2], thread and thread[1],
                   None, 1, words + said)


def of_access(block: list[str], memory: str, access: str, size: str) -> Finding:
    """memcheck: an address that is not the thread's."""
    text = " ".join(block)
    if "misaligned" in text:
        return in_kernel(block, "undefined", f"uses {size} bytes at once of {memory} memory, at an address that is "
                         f"no multiple of {size}{{times}}. A GPU stops there: misaligned address.")
    verb = {"read": "reads from", "write": "writes to"}.get(access, "uses atomically")
    advice = index_advice("")
    near = NEAREST.search(text)
    if not near:
        owner = {"shared": "the block", "local": "the thread"}.get(memory, "the program")
        return in_kernel(block, "bounds", f"{verb} {memory} memory that {owner} does not have{{times}}. {advice}")
    distance, whole = (int(near[name].replace(",", "")) for name in ("distance", "whole"))
    if distance > FAR:
        return in_kernel(block, "host-pointer", f"{verb} memory that is not the device's{{times}}. A pointer that a "
                         "kernel uses, inside a structure too, must come from cudaMalloc.")
    if near["side"] == "before":
        what = f"{distance} bytes before the start"
        advice = index_advice(what)
    else:
        what = "the first byte past the end" if distance == 1 else f"{distance - 1} bytes past the end"
    if distance > whole:
        advice += " Or was the memory given to cudaFree before?"
    return in_kernel(block, "bounds", f"{verb} {what} of the nearest allocation, of {whole} bytes{{times}}. {advice}")


def of_barrier(block: list[str]) -> Finding:
    group = re.search(r"Divergent thread\(s\) in (block|warp)", block[0])
    if group:
        return in_kernel(block, "barrier", f"waits at a barrier that not all threads of the {group[1]} come to"
                         f"{{times}}. Every thread of the {group[1]} must reach the same barrier.")
    said = block[0].removeprefix("Barrier error detected. ").rstrip(".")
    return in_kernel(block, "warp", f"calls a warp primitive wrongly ({said}){{times}}. All lanes that its mask names "
                     "must call it, and no other.")


def of_race(block: list[str]) -> Finding:
    """racecheck: a hazard, which is a byte and two threads, or its own sum of those of two places."""
    sides = [side for side in map(SIDE.search, block) if side][:2]
    if len(sides) < 2:  # in words that are not known here
        return Finding("race", [], None, None, None, None, 1, " ".join(block))
    first, second = sides
    places = sorted({(int(side["line"]), side["file"]) for side in (first, second) if side["line"]})
    lines = sorted({line for line, _ in places})
    number = re.search(r"in block (\([\d,]+\))", block[0])
    if first["thread"]:
        who = (f"thread {first['thread']} of block {number[1] if number else '?'}",
               f"thread {second['thread']} of the same block")
    else:
        who = "a thread", "another of the same block"
    deeds = [f"{name} {side['verb'].lower()}s it" + (f" in line {side['line']}" if side["line"] else "")
             for name, side in zip(who, (first, second))]
    warps = (0, 0) if "Warp Level" in block[0] else (0, 1)
    advice = repair(*({"atomic": False, "number": 0, "warp": warp, "write": side["verb"] == "Write",
                       "line": int(side["line"] or 0) if first["file"] == second["file"] else 0}
                      for warp, side in zip(warps, (first, second))), lines)
    where = " and ".join(f"{file}:{line}" for line, file in places)
    kernel = base_name(first["kernel"])
    text = (f"{where + ': ' if where else ''}race in kernel {kernel} on shared memory{{times}}: {', '.join(deeds)}, "
            f"and nothing orders the two. {advice}")
    hazards = re.search(r"\[(\d+) hazards?\]", " ".join(block))
    return Finding("race", lines, kernel, number and number[1], second["thread"], None,
                   int(hazards[1]) if hazards else 1, text)


def first_call(block: list[str]) -> str:
    """The function of CUDA's that host code has called."""
    called = [found[1] for found in map(HOST_FRAME.match, block) if found]
    return called[0] if called and called[0].startswith("cuda") else "host code"


def host_addresses(block: list[str]) -> list[int]:
    """Where host code stood, the innermost call first. What is noted is the place to return to."""
    return [int(found[2], 16) - 1 for found in map(HOST_FRAME.match, block) if found]


def of_host(block: list[str], host: dict | None, kind: str, said: str) -> Finding:
    """A call by host code, at its line where the program was built with -g."""
    place = next((host[address] for address in host_addresses(block) if address in host), None) if host else None
    where = f"{place[0]}:{place[1]}: " if place else ""
    return Finding(kind, [place[1]] if place else [], None, None, None, None, 1, where + said)


def findings_of(text: str, program: Path | None = None) -> list[Finding]:
    """What a tool has found: one finding for a kind and its places, with the number of reports."""
    reports = blocks(text)
    addresses = sorted({address for block in reports for address in host_addresses(block)})
    host = lines_of(program, addresses)[0] if program else None
    single: dict[tuple, Finding] = {}
    for block in reports:
        finding = finding_of(block, host)
        if finding is None:
            continue
        key = finding.kind, tuple(finding.lines) or finding.sentence, finding.kernel
        if key not in single:
            single[key] = finding
        elif block[0].startswith("Race reported"):  # racecheck's own sum of what was counted before
            single[key].count = finding.count
        else:
            single[key].count += 1
    return [replace(finding, sentence=finding.sentence.replace("{times}", times(finding, is_cut(text))))
            for finding in single.values()]


def is_cut(text: str) -> bool:
    """Whether the tool has found more than it has printed."""
    return any(found[1] is None or int(found[1]) < int(found[2]) + int(found[3]) for found in CUT.finditer(text))


def times(finding: Finding, cut: bool) -> str:
    if finding.count == 1:
        return ""
    unit = "bytes" if finding.kind == "race" else "times"
    return f" ({'at least ' if cut else ''}{finding.count} {unit})"


# Running


def find_tool() -> str | None:
    """compute-sanitizer, which comes with the toolkit and may lie beside nvcc."""
    return find_command("compute-sanitizer", ())


def watched(tool: str, program: Path, arguments: list[str], timeout: float) -> tuple[list[Finding], Run | Failure]:
    """What one tool finds, and how the run ended: as a Failure if it did not."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        words = [find_tool() or "compute-sanitizer", "--tool", tool, *TOOLS[tool], "--log-file", str(log),
                 str(program.resolve()), *arguments]
        try:
            run = run_program(words, here, here, {}, timeout, Patience(timeout))
        except Failure as failure:
            run = Failure(f"under {tool} {failure}\nBACKEND=cpu names a barrier or a warp primitive at which threads wait "
                          "for ever")
        text = log.read_text(errors="replace") if log.exists() else ""
    found = findings_of(text, program.resolve())
    faults = [finding for finding in found if finding.kind != "leak"]
    if faults or isinstance(run, Failure) or run.status != 0:  # what such a program has not freed is no leak
        found = faults
    if isinstance(run, Failure):
        return found, run
    if run.status not in (BAD_USAGE, SKIPPED) and "SUMMARY" not in text:
        return found, Failure(f"compute-sanitizer --tool {tool} has not come to an end:\n{text.strip()}"
                              f"{quoted_output(run)}")
    if CRASHED in text:
        return found, Failure("the program crashed in host code, and compute-sanitizer does not say where: does it "
                              f"use a device pointer? BACKEND=cpu names the line{quoted_output(run)}")
    return found, run


def on_card(program: Path, arguments: list[str], timeout: float) -> tuple[list[Finding], list[Run]]:
    """What the four tools find, and their runs."""
    with ThreadPoolExecutor(len(TOOLS)) as pool:
        results = list(pool.map(lambda tool: watched(tool, program, arguments, timeout), TOOLS))
    found = merged([finding for findings, _ in results for finding in findings])
    for _, run in results:
        if isinstance(run, Failure) and not found:
            raise run
    return found, [run for _, run in results if isinstance(run, Run)]
