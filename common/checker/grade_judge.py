"""One verdict: what was submitted for one lab is compiled, its checker run, the result read.

The checker runs as the grader itself does; the program that it starts is a small script, which
starts the real one confined. So a submission meets neither checker, nor oracle, nor results.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import resource
import shlex
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .grade_build import Tools, base_environment, compile_work, run_tool, shorten
from .grade_collect import Work, main_file
from .grade_confine import HERE, Confinement, bus, scope
from .grade_lines import with_lines
from .grade_storing import storing
from .job import children

LAUNCHED_LIMIT = 2000
LINES_SECONDS = 20


@dataclass
class Case:
    name: str
    passed: bool
    message: str = ""
    fresh: bool = False  # made from a student's own seed


@dataclass
class Verdict:
    """What became of a submission for one lab. Without cases: `sentence` says why there are none."""

    lab: str
    sentence: str
    detail: str = ""
    cases: list[Case] = field(default_factory=list)
    launched: str = ""  # which kernels, how often, with how many blocks and threads: for the teacher
    untouched: bool = False  # nothing in it but what was handed out
    storing: dict[str, list[int]] = field(default_factory=dict)  # kernel -> of how many threads how many store, in a small case

    def with_cases(self, cases: list[Case]) -> Verdict:
        """The same, but for the cases with fresh input of another seed."""
        others = {case.name: case for case in cases if case.fresh}
        return Verdict(self.lab, self.sentence, self.detail, [others.get(case.name, case) for case in self.cases],
                       self.launched, storing=self.storing)

    def as_json(self) -> dict:
        return asdict(self)

    @staticmethod
    def from_json(value: dict) -> Verdict:
        return Verdict(**{**value, "cases": [Case(**case) for case in value["cases"]]})


@dataclass(frozen=True)
class Rules:
    """What holds for every submission of one grading."""

    root: Path
    confinement: Confinement
    seed: int  # of the class
    timeout: float  # of one run
    whole: float  # of a whole check
    watched: bool = False  # whether it is counted how many threads store, which takes as long as compiling

    def seed_of(self, student: str) -> int:
        """A student's own, the same at every submission."""
        return int.from_bytes(hashlib.sha256(f"{self.seed} {student}".encode("utf-8", "replace")).digest()[:4], "big")


def judge(rules: Rules, folder: Path, work: Work, seeds: list[int], tools: Tools, card) -> dict[int, Verdict]:
    """The verdict for each seed. `folder` is the work's own, and new; `card` is held while programs run."""
    complaint = compile_work(rules.root, folder, work, tools, rules.confinement)
    notes = "".join(f"{note}\n" for note in work.notes)
    if complaint:
        return dict.fromkeys(seeds, Verdict(work.lab, "does not compile", notes + complaint))
    launcher = write_launcher(rules, folder, work.lab, tools)
    found: dict[int, Verdict] = {}
    with card:
        for seed in seeds:
            first = next(iter(found.values()), None)
            fresh = [case.name for case in first.cases if case.fresh] if first else []
            if first and not fresh:
                found[seed] = first
                continue
            found[seed] = check(rules, folder, work.lab, launcher, seed, fresh)
            name_lines(rules, folder, work, tools, found[seed])
            if first and found[seed].cases:
                found[seed] = first.with_cases(found[seed].cases)
    if rules.watched and any(verdict.launched and any(case.passed for case in verdict.cases) for verdict in found.values()):
        stored = storing(rules.root, folder, work, tools, rules.confinement, math.ceil(rules.timeout))
        for verdict in found.values():
            verdict.storing = stored
    for verdict in found.values():
        verdict.detail = notes + verdict.detail.removeprefix(notes)
    return found


def name_lines(rules: Rules, folder: Path, work: Work, tools: Tools, verdict: Verdict) -> None:
    """In the messages of CPU mode."""
    texts = with_lines([case.message for case in verdict.cases], folder / "program" / main_file(work.lab).removesuffix(".cu"),
                       {Path(name).name for name, _ in work.files},
                       lambda words, typed: run_tool(rules.root, folder, rules.confinement, tools, words, LINES_SECONDS, typed))
    for case, text in zip(verdict.cases, texts):
        case.message = text


def write_launcher(rules: Rules, folder: Path, lab: str, tools: Tools) -> Path:
    """The script that the checker takes for the program, where `make` would have put the program."""
    name = main_file(lab).removesuffix(".cu")
    # One process may work for all of its threads' time; the checker itself ends what waits for ever.
    words = rules.confinement.of_program([folder / "program", rules.root / "data"], kept_of(folder, lab),
                                        int(4 * rules.timeout) + 1)
    line = shlex.join([*words, str(folder / "program" / name)]).replace(HERE, '"$PWD"')
    launcher = folder / "build" / tools.backend / "labs" / lab / name
    launcher.parent.mkdir(parents=True)
    launcher.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
    launcher.chmod(0o755)
    return launcher


def kept_of(folder: Path, lab: str) -> Path:
    """Where the checker has the folders of its cases."""
    return folder / "build/checks" / lab


def check(rules: Rules, folder: Path, lab: str, launcher: Path, seed: int, only: list[str]) -> Verdict:
    """`only`: these cases, if any are named."""
    results = folder / "results.json"
    results.unlink(missing_ok=True)
    (folder / "tmp").mkdir(exist_ok=True)
    # For the checker and for a run, as much as each may have.
    words = [*scope(2 * rules.confinement.memory_mib), sys.executable, "-B", str(rules.root / "labs" / lab / "check.py"), "--program", str(launcher),
             "--json", str(results), "--keep", str(kept_of(folder, lab)), "--discard", "--seed", str(seed),
             "--timeout", f"{rules.timeout:g}", "--workers", "1", *(word for name in only for word in ("--case", name))]
    environment = {**base_environment(), **bus(), "TMPDIR": str(folder / "tmp"), "CUDA_CPU_ADDRESSES": "1",
                   "PYTHONPATH": f"{rules.root / 'common'}:{os.environ.get('PYTHONPATH', '')}"}
    with open(folder / "check.txt", "w+b") as output:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        limit_memory(process, rules.confinement.memory_mib)
        try:
            process.wait(rules.whole)
        except subprocess.TimeoutExpired:
            return Verdict(lab, f"the check did not end within {rules.whole:g} seconds")
        finally:
            end(process)
            bury_orphans()
        output.seek(0)
        text = output.read(1 << 20).decode("utf-8", "replace")
    try:
        found = json.loads(results.read_text(encoding="utf-8"))
        cases, launches = found["cases"], found["launches"]
    except (OSError, ValueError):
        return Verdict(lab, "the checker gave no result", shorten(text, folder, rules.root)[-4000:])
    return Verdict(lab, "", "", [Case(case["name"], case["passed"],
                                      ("skipped: " if case["skipped"] else "")
                                      + shorten(case["message"], folder, rules.root), case["fresh"]) for case in cases], in_words(launches))


def in_words(launches: dict[str, dict]) -> str:
    """What CPU mode has counted, a kernel at a time."""
    return "; ".join(f"{kernel} {of['times']} times, up to {of['blocks']} blocks, {of['threads']} threads"
                     for kernel, of in launches.items())[:LAUNCHED_LIMIT]


def bury_orphans() -> None:
    """Sandboxes whose watcher a checker has killed are left to the grader. Most have ended with it; one that was just
    being made waits for ever."""
    for pid in children():
        try:
            if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip() == "bwrap":
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        except OSError:
            continue  # another worker was quicker


def limit_memory(process: subprocess.Popen, mebibytes: int) -> None:
    """Of the checker, which reads what a submission writes; the programs that it starts have a limit of their own."""
    try:
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (mebibytes << 20, resource.RLIM_INFINITY))
    except (ProcessLookupError, ValueError, PermissionError):
        pass  # it has ended, or is under a stricter limit already


def end(process: subprocess.Popen) -> None:
    """Ends a checker that still runs. It ends its programs on SIGTERM, and they with it in any case."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
