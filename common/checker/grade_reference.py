"""What a lab's cases are worth here: the worked solution and the exercise as it is handed out are judged first.

A case counts if the worked solution passes it on this machine, under the same limits. If it fails one, the machine is
too weak for a fair grading; if the untouched exercise passes all that count, points would say nothing.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from . import exercises, grade_collect
from .grade_build import Tools
from .grade_collect import Work
from .grade_judge import Rules, Verdict
from .verdict import add_files, identity, write_json


class Unfair(Exception):
    """Nothing can be graded by this; the text says why."""


def solution(root: Path, lab: str) -> Work:
    """The worked solution in the form of a submission."""
    paths = [path for path in sorted((root / "solutions" / lab).iterdir()) if path.suffix in exercises.SUFFIXES]
    return Work(lab, (*((path.name, path.read_bytes()) for path in paths), *grade_collect.given(root, lab)))


def exercise(root: Path, lab: str) -> Work:
    """The exercise as it is handed out, in the same form."""
    files = exercises.exercise_files(root / "solutions" / lab)
    return Work(lab, (*sorted((name, text.encode()) for name, text in files.items()), *grade_collect.given(root, lab)))


def is_untouched(work: Work, handed_out: Work) -> bool:
    """Whether its lines are those of the exercise, but for white space."""
    def lines(one: Work) -> list[list[bytes]]:
        return [[line.strip() for line in text.splitlines() if line.strip()] for _, text in one.files]

    return lines(work) == lines(handed_out)


def works(root: Path, lab: str) -> list[Work]:
    return [solution(root, lab), exercise(root, lab)]


class Memory:
    """Verdicts of solutions and exercises, for as long as nothing changes that they depend on."""

    def __init__(self, rules: Rules):
        self.rules = rules
        digest = hashlib.sha256(repr((rules.timeout, rules.confinement.memory_mib, rules.watched)).encode())
        add_files(digest, rules.root / "common", lambda path: "__pycache__" not in path.parts)
        self.shared = digest.digest()

    def place(self, work: Work, tools: Tools) -> Path:
        digest = hashlib.sha256(self.shared + repr((work.digest, tools.backend, tools.flags)).encode())
        digest.update(identity(tools.nvcc if tools.backend == "gpu" else tools.cxx))
        add_files(digest, self.rules.root / "labs" / work.lab, lambda path: path.suffix == ".py")
        return self.rules.root / "build/grade_reference" / f"{work.lab}-{digest.hexdigest()[:16]}.json"

    def recall(self, work: Work, tools: Tools) -> Verdict | None:
        try:
            return Verdict.from_json(json.loads(self.place(work, tools).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, work: Work, tools: Tools, verdict: Verdict) -> None:
        if verdict.cases:
            write_json(self.place(work, tools), verdict.as_json())


def counted(solution: Verdict, exercise: Verdict, force: bool) -> tuple[list[str], dict[str, str]]:
    """The names of the cases that count, and why each other one does not. Unfair: then nothing is to be graded."""
    lab = solution.lab
    if not solution.cases:
        raise Unfair(f"the worked solution of {lab} cannot be judged here ({solution.sentence}), so nothing can be "
                     f"graded by it:\n{solution.detail}")
    names = [case.name for case in solution.cases if case.passed]
    left = {case.name: case.message for case in solution.cases if not case.passed}
    failed = [name for name, message in left.items() if not message.startswith("skipped: ")]
    if not names:
        raise Unfair(f"the worked solution of {lab} passes no case here, so nothing can be graded by it: "
                     f"{solution.cases[0].message}")
    if failed and not force:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        raise Unfair(f"the worked solution of {lab} fails '{failed[0]}'{more} here, so this machine is no measure (more "
                     f"--timeout or --memory, perhaps, or less other work?); FORCE=1 grades by the cases that it passes:\n"
                     f"{left[failed[0]]}")
    passed = {case.name for case in exercise.cases if case.passed}
    if passed.issuperset(names):
        raise Unfair(f"the exercise of {lab} as it is handed out passes all of the {len(names)} cases that count here: "
                     f"points would say nothing")
    return names, {name: f"does not count here: {message.removeprefix('skipped: ')}" if message.startswith("skipped: ")
                   else f"does not count, as the worked solution does not pass here: {message}" for name, message in left.items()}


def note(lab: str, dropped: dict[str, str]) -> list[str]:
    """A sentence on the cases that do not count, for the teacher."""
    if not dropped:
        return []
    first, reason = next(iter(dropped.items()))
    more = f", as {len(dropped) - 1} more" if len(dropped) > 1 else ""
    return [f"{lab}: '{first}' {' '.join(reason.split())}{more}"]
