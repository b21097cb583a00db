"""What compute-sanitizer says of the corpus, beside what the corpus expects: a table.

    BACKEND=gpu PYTHONPATH=common:tests python3 -B tests/teaching/on_card.py

Each faulty program runs under each of the four tools, alone: after an error nothing else can be trusted. The
right ones run one after the other in one process a tool. The verdict is

    agree        a tool names a fault of this kind, at a line that is expected where it knows the line
    not seen     no tool says anything, and it is known why
    disagree     anything else, and the exit status is 1

`make sanitize` itself is compared with the corpus by tests/test_teaching.py.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor

import farm
from checker.sanitize_card import TOOLS, blocks, find_tool
from teaching import corpus

AT_ONCE = 4
SECONDS = 20  # for one program; most of a run is the start of the tool

# What the tools call a fault of each kind.
WORDS = {
    "race": r"race reported|hazard",
    "bounds": r"invalid __\w+__ (read|write)|memory access error|to cuda(memcpy|memset)",
    "freed": r"invalid __\w+__ (read|write)|memory access error|to cudamemcpy",
    "barrier": r"barrier error|divergent thread",
    "uninitialised": r"uninitialized",
    "host-pointer": r"invalid __\w+__ (read|write)",
    "device-pointer": r"$^",
    "double-free": r"to cudafree",
    "copy-direction": r"to cudamemcpy",
    "leak": r"leaked \d+ bytes",
    "warp": r"barrier error|divergent thread|invalid arguments",
}
# Where silence of all four is no surprise, and why.
NOT_SEEN = {
    "racecheck looks at shared memory only": [
        "counter_plain", "histogram_between_blocks", "slices_overlap", "stencil_in_place", "lock_left_early",
        "last_block_unwaited", "vector_stores_overlap"],
    "initcheck looks at global memory only": ["tile_element_unset"],
    "memcheck knows where shared and local memory end, not where one array ends": [
        "halo_too_small", "neighbour_before_tile", "transposed_tile_off_edge", "window_one_too_far",
        "window_before_start"],
    "memcheck does not know the size of a __device__ or __constant__ variable": [
        "device_array_past_end", "constant_past_end"],
    "no tool looks at what host code does": [
        "device_read_by_host", "device_written_by_host", "device_sorted_by_host", "memcpy_from_device"],
    "the driver may let the kernel use the host's memory": ["host_argument", "structure_with_host_pointer"],
}
REASONS = {name: reason for reason, names in NOT_SEEN.items() for name in names}

# What is no error, or only follows from one.
ASIDE = re.compile(r"COMPUTE-SANITIZER|\w+ SUMMARY|Target application|process didn't terminate|Program hit .* to "
                   r"cuda(DeviceSynchronize|GetLastError|LaunchKernel)")


def run(tool: str, names: list[str], timeout: float) -> list[tuple[str, str]]:
    """The errors that a tool reports of some programs: the first line of each, and all of it."""
    program = farm.build(farm.call(corpus.source)[0], "teaching", "gpu")
    try:
        result = farm.run(find_tool(), "--tool", tool, *TOOLS[tool], "--print-limit", 8, program, *names,
                          timeout=timeout)
    except AssertionError:
        return [(f"no end within {timeout:g} s", "")]
    text = result.stdout + result.stderr
    found = [(block[0].removeprefix("Error: "), "\n".join(block)) for block in blocks(text)
             if not ASIDE.search(block[0])]
    wrong = [(line, "") for line in text.splitlines() if re.fullmatch(r"\w+: status \d+", line)]
    return found + (wrong if set(names) <= corpus.RIGHT.keys() else [])  # a faulty one may end as it likes


def places(report: str) -> list[str]:
    """The places in the corpus that a report names, as in the programs' own files."""
    before = farm.call(corpus.source)[1]
    names = sorted(before, key=before.get)
    found = []
    for number in map(int, re.findall(r"corpus\.cu:(\d+)", report)):
        name = max((name for name in names if before[name] < number), key=before.get, default=names[0])
        found.append(f"{name}.cu:{number - before[name]}")
    return list(dict.fromkeys(found))


def says(example: corpus.Example, head: str, report: str) -> bool:
    """Whether this is the fault that is expected, at one of its lines if any line of the program is named."""
    named = [place for place in places(report) if place.startswith(f"{example.name}.cu:")]
    expected = {f"{example.name}.cu:{line}" for line in example.lines}
    return bool(re.search(WORDS[example.kind], head, re.I)) and (not named or bool(expected & set(named)))


def in_short(tool: str, head: str, report: str) -> str:
    """The first line of an error, without the kernel's whole signature, and its places."""
    return " ".join([f"{tool}: {re.sub(r' at program_.*| in block .*', '', head)[:100]}", *places(report)[:3]])


def judge(example: corpus.Example, found: list[tuple[str, str]]) -> str:
    if not found:
        return "not seen" if example.name in REASONS else "disagree"
    return "agree" if any(says(example, *error) for error in found) else "disagree"


def print_row(name: str, expected: str, verdict: str, words: list[str]) -> None:
    print(f"{name:30} {expected:22} {verdict:9} {words[0] if words else ''}".rstrip())
    for line in words[1:]:
        print(f"{'':63} {line}")


def main() -> int:
    if not find_tool():
        print("on_card.py: compute-sanitizer is not found; it comes with the CUDA Toolkit", file=sys.stderr)
        return 77
    farm.build(farm.call(corpus.source)[0], "teaching", "gpu")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = {(name, tool): pool.submit(run, tool, [name], SECONDS) for name in corpus.FAULTY for tool in TOOLS}
        right = {tool: pool.submit(run, tool, list(corpus.RIGHT), 10 * SECONDS) for tool in TOOLS}
        print_row("program", "expected", "verdict", ["the first error of each tool"])
        counts: dict[str, int] = {}
        for name, example in corpus.FAULTY.items():
            found = {tool: jobs[name, tool].result() for tool in TOOLS}
            verdict = judge(example, [error for errors in found.values() for error in errors])
            counts[verdict] = counts.get(verdict, 0) + 1
            words = [in_short(tool, *errors[0]) for tool, errors in found.items() if errors]
            print_row(name, f"{example.kind} {' '.join(map(str, example.lines))}", verdict,
                      words or [REASONS.get(name, "silent")])
        alarms = [in_short(tool, *error) for tool in TOOLS for error in right[tool].result()]
    print_row(f"{len(corpus.RIGHT)} right ones", "silent", "disagree" if alarms else "agree", alarms)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())), "of the faulty ones")
    return 1 if alarms or counts.get("disagree") else 0


if __name__ == "__main__":
    sys.exit(main())
