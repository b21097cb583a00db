"""What compute-sanitizer says of the corpus, beside what the corpus expects: a table.

    BACKEND=gpu PYTHONPATH=common:tests python3 -B tests/teaching/on_card.py

Each faulty program runs under each of the four tools, alone: after an error nothing else can be trusted. The
right ones run one after the other in one process a tool. What the tools say is taken as `make sanitize` takes
it on a card. The verdict is

    agree        a tool names a fault of this kind, at a line that is expected where it knows the line
    hangs        on a card the program does not end, without a tool either
    not seen     no tool says anything, and it is known why
    disagree     anything else, and the exit status is 1

`make sanitize` in CPU mode is compared with the corpus by tests/test_teaching.py.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import farm
from checker.failure import Failure
from checker.sanitize_card import TOOLS, find_tool, watched
from checker.sanitize_words import Finding
from teaching import corpus

AT_ONCE = 4
SECONDS = 20  # for one program; most of a run is the start of the tool

# What the tools may take a fault for. They do not know why memory is not there, nor which argument a copy got wrong.
TAKEN_FOR = {
    "bounds": {"bounds", "copy-direction"},
    "freed": {"bounds", "copy-direction"},
    "host-pointer": {"host-pointer", "bounds"},
    "warp": {"warp", "barrier"},
}
# The launch has the wrong pointer among its arguments, which CPU mode sees; a tool sees the access with it. Of a
# launch that fails a tool knows the kernel.
ACCESS_IN_KERNEL = {"freed_before_launch": 6, "host_argument": 9, "block_too_large": 6, "grid_of_nothing": 6,
                    "shared_too_large": 6}
# Where silence of all four is no surprise, and why.
NOT_SEEN = {
    "racecheck looks at shared memory only": [
        "counter_plain", "histogram_between_blocks", "slices_overlap", "stencil_in_place", "lock_left_early",
        "last_block_unwaited", "last_block_fenced_by_one", "first_block_resets", "vector_stores_overlap",
        "copied_in_kernel", "count_in_loop", "flag_read_before_store", "increment_beside_store", "store_in_two_branches"],
    "no tool looks at streams, nor at what host code does meanwhile": [
        "copy_beside_kernel", "copy_overtaken", "copy_read_early", "managed_read_early", "streams_event_too_early",
        "streams_event_unwaited", "streams_without_event"],
    "the compiler drops a read that nobody uses": ["read_for_nothing"],
    "no tool looks at writes to constant memory": ["constant_assigned"],
    "racecheck passes over an atomic operation": ["counter_read_plain"],
    "initcheck looks at global memory only": ["tile_element_unset"],
    "memcheck knows where shared and local memory end, not where one array ends": [
        "halo_too_small", "neighbour_before_tile", "window_one_too_far", "tile_of_file_too_small"],
    "memcheck does not know the size of a __constant__ variable": ["constant_past_end"],
    "the program crashes, and no tool says where": [
        "device_read_by_host", "device_written_by_host", "device_sorted_by_host", "memcpy_from_device"],
    "since Volta a barrier does not wait for threads that have ended": [
        "barrier_in_condition", "return_before_barrier"],
    "nor does a warp primitive": ["shuffle_in_condition", "vote_in_condition"],
    "the compiler drops the mask where it knows which lanes are together": ["shuffle_outside_mask"],
}
REASONS = {name: reason for reason, names in NOT_SEEN.items() for name in names}


def build() -> Path:
    return farm.build(farm.call(corpus.source)[0], "teaching", "gpu", False, "-g")


def run(tool: str, names: list[str], timeout: float) -> tuple[list[Finding], str]:
    """What a tool finds in some programs, and what is wrong with the end of right ones."""
    found, end = watched(tool, build(), names, timeout)
    if isinstance(end, Failure):
        return found, str(end).splitlines()[0]
    return found, f"status {end.status}: {end.stdout.strip()}" if end.status else ""


def ends(name: str) -> bool:
    """Whether a program ends without a tool."""
    try:
        farm.run(build(), name, timeout=SECONDS)
    except AssertionError:
        return False
    return True


def places(finding: Finding) -> list[tuple[str, int]]:
    """The places in the corpus that a finding names, as in the programs' own files."""
    before = farm.call(corpus.source)[1]
    names = sorted(before, key=before.get)
    owners = [max((name for name in names if before[name] < line), key=before.get, default=names[0])
              for line in finding.lines]
    return [(name, line - before[name]) for name, line in zip(owners, finding.lines)]


def is_said(example: corpus.Example, finding: Finding) -> bool:
    """Whether this is the fault that is expected, at one of its lines if any line of the program is named."""
    expected = {*example.lines, ACCESS_IN_KERNEL.get(example.name)}
    named = {line for name, line in places(finding) if name == example.name}
    return finding.kind in TAKEN_FOR.get(example.kind, {example.kind}) and (not named or bool(expected & named))


def judge(example: corpus.Example, found: list[Finding], endings: list[str]) -> str:
    if any(is_said(example, finding) for finding in found):
        return "agree"
    if not found and all("did not end" in ending for ending in endings):
        return "disagree" if ends(example.name) else "hangs"
    return "not seen" if not found and example.name in REASONS else "disagree"


def in_short(tool: str, finding: Finding) -> str:
    lines = " and ".join(f"{name}.cu:{line}" for name, line in places(finding))
    return f"{tool}: {finding.kind} {lines}".strip() + (f" ({finding.count})" if finding.count > 1 else "")


def print_row(name: str, expected: str, verdict: str, words: list[str]) -> None:
    print(f"{name:30} {expected:22} {verdict:9} {words[0] if words else ''}".rstrip())
    for line in words[1:]:
        print(f"{'':63} {line}")


def main() -> int:
    if not find_tool():
        print("on_card.py: compute-sanitizer is not found; it comes with the CUDA Toolkit", file=sys.stderr)
        return 77
    build()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        jobs = {(name, tool): pool.submit(run, tool, [name], SECONDS) for name in corpus.FAULTY for tool in TOOLS}
        right = {tool: pool.submit(run, tool, list(corpus.RIGHT), 10 * SECONDS) for tool in TOOLS}
        print_row("program", "expected", "verdict", ["what the tools find, and how often"])
        counts: dict[str, int] = {}
        for name, example in corpus.FAULTY.items():
            results = {tool: jobs[name, tool].result() for tool in TOOLS}
            said = [(tool, finding) for tool, (found, _) in results.items() for finding in found]
            verdict = judge(example, [finding for _, finding in said], [ending for _, ending in results.values()])
            counts[verdict] = counts.get(verdict, 0) + 1
            silence = "not even without a tool does it end" if verdict == "hangs" else REASONS.get(name, "silent")
            words = [in_short(*one) for one in said] or [silence]
            print_row(name, f"{example.kind} {' '.join(map(str, example.lines))}", verdict, words)
        alarms = []
        for tool in TOOLS:
            found, ending = right[tool].result()
            alarms += [in_short(tool, finding) for finding in found] + ([f"{tool}: {ending}"] if ending else [])
    print_row(f"{len(corpus.RIGHT)} right ones", "silent", "disagree" if alarms else "agree", alarms)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())), "of the faulty ones")
    return 1 if alarms or counts.get("disagree") else 0


if __name__ == "__main__":
    sys.exit(main())
