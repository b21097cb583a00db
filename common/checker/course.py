"""The labs as the learner's commands see them: folders, sources, TODOs, what nobody has touched."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from . import exercises
from .exercises import ROOT, SUFFIXES
from .usage import Parser

# `// TODO 5a (2 lines): ...` belongs to task 5; labs with few tasks do not number them. `// TODO 1 to 8` is no place.
TODO = re.compile(r"//\s*(TODO\b(?:\s+(\d+)([a-z]?)\s*\(|(?!\s+\d)).*)")
TASK = re.compile(r"^## +Task (\d+)\b", re.MULTILINE)  # a heading in hints.md


@dataclass(frozen=True)
class Todo:
    """A place that waits for the learner."""

    path: Path
    line: int
    text: str
    task: int  # 0: the lab does not number its tasks
    part: str

    @property
    def name(self) -> str:
        return f"TODO {self.task}{self.part}" if self.task else "a TODO"


class CourseLab:
    """One lab of the course, as the learner has it."""

    def __init__(self, name: str):
        self.name = name  # 03_vector_add
        self.number, self.title = name.split("_", 1)
        self.folder = ROOT / "labs" / name
        self.source = self.folder / f"{self.title}.cu"
        self.solution = ROOT / "solutions" / name / self.source.name
        self.memory = ROOT / "build" / "learner" / name  # what the commands remember of it

    def __str__(self) -> str:
        return f"lab {self.number}, {self.title}"

    def shipped(self) -> dict[str, str]:
        """File name -> text of the exercise as it was handed out; nothing if that cannot be known."""
        try:
            return exercises.exercise_files(self.solution.parent)
        except (OSError, exercises.MarkerError):
            return {}

    def sources(self) -> list[Path]:
        """The learner's files, the one with main first."""
        try:
            found = sorted(path for path in self.folder.iterdir()
                           if path.suffix in SUFFIXES and not path.name.startswith("."))
        except OSError:
            return []
        return sorted(found, key=lambda path: path != self.source)

    def trouble(self) -> str:
        """Why the lab cannot be judged at all: a file that is missing, unreadable or none."""
        advice = f": make reset LAB={self.number} writes it anew" if self.solution.exists() else ""
        for name in {self.source.name: "", **self.shipped()}:
            path = self.folder / name
            if not path.exists():
                return f"{name} is missing{advice}"
            if not path.is_file():
                return f"{name} is {'a folder' if path.is_dir() else 'something else'} and no file{advice}"
            if not os.access(path, os.R_OK):
                return f"{name} may not be read by you{advice}"
        return ""

    def untouched(self) -> bool:
        """Is every file as it was handed out?"""
        shipped = self.shipped()
        if self.trouble():
            return False
        try:
            return bool(shipped) and all((self.folder / name).read_bytes() == text.encode()
                                         for name, text in shipped.items())
        except OSError:
            return False

    def todos(self) -> list[Todo]:
        """What is left to do in the order of the hints, which is not always that of lines or numbers."""
        found = []
        for path in self.sources():
            if not path.is_file():
                continue
            try:
                lines = path.read_text("utf-8", "replace").splitlines()
            except OSError:
                continue
            found += [Todo(path, number, match[1].strip(), int(match[2] or 0), match[3] or "")
                      for number, line in enumerate(lines, 1)
                      if (match := TODO.search(line)) and not line.lstrip().startswith("//:")]  # a mark of the solution's
        order = self.task_order()
        place = {task: i for i, task in enumerate(order)}
        # What the learner has noted without a number comes after the numbered ones.
        return sorted(found, key=lambda todo: (todo.task == 0, place.get(todo.task, len(order)), todo.task, todo.part))

    def left_standing(self) -> str:
        """What is wrong with a lab whose cases all pass: a TODO that it was handed out with. Or nothing."""
        shipped = {match[1].strip() for text in self.shipped().values() for match in TODO.finditer(text)}
        left = [todo for todo in self.todos() if todo.text in shipped]
        if not left:
            return ""
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        return f"{left[0].name}{more} still {'stand' if more else 'stands'} in {left[0].path.name}"

    def task_order(self) -> list[int]:
        """The numbered tasks in the order in which hints.md has them."""
        try:
            return [int(number) for number in TASK.findall((self.folder / "hints.md").read_text("utf-8", "replace"))]
        except OSError:
            return []


def labs() -> list[CourseLab]:
    """Every lab of the course, in order."""
    found = (ROOT / "labs").glob("[0-9][0-9]_*/Makefile")
    return [CourseLab(path.parent.name) for path in sorted(found)]


def one_lab(parser: Parser, names: list[str]) -> CourseLab:
    """The lab that was named, for a command that takes exactly one. What stands in ARGS without a
    dash arrives here too."""
    known = {lab.name: lab for lab in labs()}
    for name in names[1:]:
        if name not in known:
            parser.error(f"{name} is no option; ARGS=--help lists them")
    if names[0] not in known:
        parser.error(f"there is no lab {names[0]}; the labs are {' '.join(known)}")
    if len(names) != 1:
        parser.error(f"takes one lab at a time, not {len(names)}")
    return known[names[0]]


def task_of(parser: Parser, lab: CourseLab, variant: str, *words: str) -> str:
    """The TODO of a variant as the lab's checker calls it, "TODO 3a or 3b"; "" if it has none."""
    asked = subprocess.run([sys.executable, "-B", str(lab.folder / "check.py"), "--task", "--variant", variant, *words],
                           check=False, capture_output=True, text=True)
    if asked.returncode:
        parser.error((asked.stderr.splitlines() or ["check.py says nothing"])[-1].partition(": ")[2])
    return asked.stdout.strip()


def shown(path: Path) -> str:
    """The path from where the command was typed."""
    return os.path.relpath(path)
