"""make sanitize on a card: compute-sanitizer's four tools, worded like what the CPU finds.

The tools write a report as a block of lines that begin with "=========": the first says what was
found, those behind it, further indented, say where. Only the program's own lines are kept.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from .failure import Failure
from .lab import BAD_USAGE, RIGHT, SKIPPED, WRONG
from .profiling import find_command
from .program import Patience, quoted_output, run_program
from .sanitize_words import Finding, merged

TOOLS = {
    "memcheck": ["--leak-check", "full"],
    "racecheck": ["--racecheck-report", "all"],
    "synccheck": [],
    "initcheck": [],
}
# What a report begins with, the kind of the fault, and what usually repairs it.
KINDS = [
    (r"Error: Race reported", "race", "Put a barrier between the two, or use an atomic operation."),
    (r"Uninitialized .* read", "uninitialised", "Let a thread, a copy or cudaMemset write it first."),
    (r"Barrier error|Divergent thread", "barrier", "Every thread of the block must reach the same barrier."),
    (r"Invalid arguments|Invalid (?:warp )?mask", "warp", "All lanes named in the mask must call it."),
    (r"Leaked \d+ bytes", "leak", "Give it to cudaFree."),
    (r"Invalid .*(?:read|write)|Program hit .*IllegalAddress", "bounds",
     "Compare the index with the number of elements before the access."),
    (r"on CUDA API call to cudaFree", "double-free", "Each allocation is freed once."),
    (r"on CUDA API call to cudaMemcpy", "copy-direction", "Do the direction and the sizes fit the pointers?"),
]
PLACE = re.compile(r"\bin (?:[^:]*/)?([^/\s:]+\.cu\w*):(\d+)")
HAZARDS = re.compile(r"\[(\d+) hazards?\]")


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
            found.append([line.strip()])
    return found


def finding_of(block: list[str]) -> Finding | None:
    """What one report says; None for headings, sums and warnings."""
    rule = next((rule for rule in KINDS if re.search(rule[0], block[0])), None)
    if rule is None:
        return None
    _, kind, advice = rule
    text = " ".join(block)
    if kind == "bounds" and "freed" in text:
        kind, advice = "freed", "It was given to cudaFree before this."
    places = PLACE.findall(text)
    shown = places if kind == "race" else places[:1]
    who = re.search(r"by thread (\([\d,]+\)) in block (\([\d,]+\))", text)
    kernel = re.search(r"\bat (?:0x[0-9a-f]+ in )?(?:\S+\.cu\w*:\d+:)?(?:void )?(\w+)[(<]", text)
    count = sum(int(number) for number in HAZARDS.findall(text)) or 1
    where = " and ".join(dict.fromkeys(f"{file}:{line}" for file, line in shown))
    by = f", thread {who[1]} of block {who[2]}" if who else ""
    times = f" ({count} times)" if count > 1 else ""
    said = block[0].removeprefix("Error: ").rstrip(".")
    sentence = f"{where + ': ' if where else ''}{said}{times}{by}. {advice}"
    return Finding(kind, sorted({int(line) for _, line in shown}), kernel and kernel[1],
                   who and who[2], who and who[1], None, count, sentence)


def find_tool() -> str | None:
    """compute-sanitizer, which comes with the toolkit and may lie beside nvcc."""
    return find_command("compute-sanitizer", ("/usr/local/cuda/bin/compute-sanitizer",))


def on_gpu(options: argparse.Namespace) -> tuple[list[Finding], int]:
    """Runs the program under each tool; the findings and the status of the command."""
    tool = find_tool()
    if tool is None:
        print("compute-sanitizer is not found: it comes with the CUDA Toolkit; put its folder into PATH, or "
              "say BACKEND=cpu, which needs no tool", file=sys.stderr)
        return [], SKIPPED
    found: list[Finding] = []
    here = Path.cwd()
    for name, further in TOOLS.items():
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            words = [tool, "--tool", name, *further, "--log-file", str(log), str(options.program.resolve()),
                     *options.arguments]
            run = run_program(words, here, here, {}, options.timeout, Patience(options.timeout))
            text = log.read_text(errors="replace") if log.exists() else ""
        if run.status in (BAD_USAGE, SKIPPED):
            print((run.stderr or run.stdout).strip(), file=sys.stderr)
            return [], run.status
        if not text:
            raise Failure(f"compute-sanitizer --tool {name} has written nothing{quoted_output(run)}")
        found += [finding for finding in map(finding_of, blocks(text)) if finding]
    found = merged(found)
    return found, WRONG if found else RIGHT
