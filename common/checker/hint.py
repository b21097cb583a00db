"""One more hint each time: `make hint LAB=nn`, from labs/NN_name/hints.md.

A list of hints stands under each task's heading, from a nudge to nearly the answer. Without --task
the task is the first whose TODO still stands in the learner's file. A hint that begins with "1e: " or
"1a and 1b" belongs to these parts of the task: it is shown as long as one of their TODOs stands.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path

from . import terminal
from .course import CourseLab, one_lab, shown, task_of
from .job import interruptible, refused
from .usage import Parser
from .verdict import write_json

HEADING = re.compile(r"^## +(.*?)\s*$")
NUMBERED = re.compile(r"^Task (\d+)\b")
HINT = re.compile(r"^\d+\. +(.*)$")
PARTS = re.compile(r"\d+[a-z](?:(?:, | and )\d+[a-z])*\b")
TEXT_WIDTH = 98


@dataclass
class Task:
    """A task and its hints."""

    title: str
    hints: list[str] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)  # numbers of hints, from 0
    open_parts: set[str] = field(default_factory=set)  # "1e": those whose TODO stands; none: the task has no parts

    @property
    def number(self) -> int:
        match = NUMBERED.match(self.title)
        return int(match[1]) if match else 0

    def left(self, part: str = "") -> int | None:
        """The first hint that the learner has not seen and that is still of use."""
        wanted = {part} if part else self.open_parts
        for number, hint in enumerate(self.hints):
            parts = PARTS.match(hint)
            if number not in self.seen and not (parts and wanted and wanted.isdisjoint(re.findall(r"\d+[a-z]", parts[0]))):
                return number
        return None


def read_tasks(text: str) -> list[Task]:
    """The tasks of a hints.md. A hint goes on over indented and empty lines."""
    tasks: list[Task] = []
    inside = False
    for line in text.splitlines():
        if heading := HEADING.match(line):
            tasks.append(Task(heading[1]))
            inside = False
        elif tasks and (hint := HINT.match(line)):
            tasks[-1].hints.append(hint[1])
            inside = True
        elif inside and (line.startswith("  ") or not line.strip()):
            tasks[-1].hints[-1] += "\n" + line[3:].rstrip()
        else:
            inside = False
    for task in tasks:
        task.hints = [hint.strip() for hint in task.hints]
    return [task for task in tasks if task.hints]


def indented(line: str) -> str:
    """Prose is broken between words; code keeps its lines."""
    if len(line) <= TEXT_WIDTH or line.startswith("    "):
        return f"  {line}".rstrip()
    return textwrap.fill(line, TEXT_WIDTH, initial_indent="  ", subsequent_indent="  ",
                         break_long_words=False, break_on_hyphens=False)


def memory_of(lab: CourseLab) -> Path:
    """Where it is kept which hints the learner has seen."""
    return lab.memory / "hints.json"


class Hints:
    """The hints of one lab, and how many of them the learner has seen."""

    def __init__(self, lab: CourseLab, todo: str = ""):
        """`todo`: for these tasks alone, "TODO 7, and 1 to 5"."""
        self.lab = lab
        self.file = lab.folder / "hints.md"
        self.memory = memory_of(lab)
        self.tasks = read_tasks(self.file.read_text("utf-8", "replace"))
        numbers = {number for first, last in re.findall(r"(\d+)(?: to (\d+))?", todo)
                   for number in range(int(first), int(last or first) + 1)}
        self.chosen = [task for task in self.tasks if not todo or task.number in numbers]
        self.asked = ""  # the title of the task that was asked for last
        for todo in lab.todos():
            for task in self.tasks:
                if todo.part and todo.task == task.number:
                    task.open_parts.add(f"{todo.task}{todo.part}")
        try:
            stored = json.loads(self.memory.read_text(encoding="utf-8"))
            self.asked = str(stored["asked"])
            for task in self.tasks:
                task.seen = {number for number in stored["seen"].get(task.title, []) if number < len(task.hints)}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # nothing seen yet

    def remember(self) -> None:
        write_json(self.memory, {"asked": self.asked, "seen": {task.title: sorted(task.seen) for task in self.tasks}})

    def named(self, wish: str) -> Task | None:
        """The task by its number, with a part or without, or by the beginning of its title."""
        if match := re.fullmatch(r"(\d+)([a-z]?)", wish):
            return next((task for task in self.tasks if task.number == int(match[1])), None)
        return next((task for task in self.tasks
                     if task.title.split(": ")[-1].lower().startswith(wish.lower())), None)

    def current(self) -> Task | None:
        """The task to give the next hint for: the one of last time, unless it is solved or has none
        left; then the first whose TODO still stands; then any."""
        left = [task for task in self.chosen if task.left() is not None]
        waiting = {todo.task for todo in self.lab.todos()}
        open_tasks = [task for task in left if not waiting - {0} or task.number in waiting]
        for task in open_tasks:
            if task.title == self.asked:
                return task
        return next(iter(open_tasks or left or self.chosen), None)

    def next(self, wish: str = "") -> str:
        """One more hint, ready to print, or the sentence that there is none."""
        task = self.named(wish) if wish else self.current()
        number = task.left(wish if PARTS.fullmatch(wish) else "") if task else None
        if number is None:
            return self.exhausted(task)
        task.seen.add(number)
        self.asked = task.title
        try:
            self.remember()
            trouble = []
        except OSError as error:
            trouble = [f"This hint will come again, as it cannot be noted that you have seen it ({refused(error)})."]
        return "\n".join(filter(None, [self.when_done(wish), self.text(task, number + 1), self.advice(task), *trouble]))

    def text(self, task: Task, number: int) -> str:
        head = terminal.paint(f"Lab {self.lab.number}. {task.title}", "bold")
        body = "\n".join(indented(line) for line in task.hints[number - 1].splitlines())
        return f"{head} (hint {number} of {len(task.hints)})\n\n{body}\n"

    def advice(self, task: Task) -> str:
        again = f"make hint LAB={self.lab.number}"
        place = self.tasks.index(task)
        others = [other for other in self.tasks[place + 1:] + self.tasks[:place] if other.left() is not None]
        sentences = []
        if task.left() is None:
            sentences.append("This was the last hint for this task.")
        if others:
            wish = next((str(other.number) for other in others if other.number), "") or \
                f"'{others[0].title}'"
            sentences.append(f'For another task: {again} ARGS="--task {wish}".')
        return " ".join(sentences)

    def when_done(self, wish: str) -> str:
        if wish or any(todo.task or len(self.tasks) == 1 for todo in self.lab.todos()):
            return ""
        return f"No TODO is left in your files: make check LAB={self.lab.number} says what is still wrong.\n"

    def exhausted(self, task: Task | None) -> str:
        if task is not None and any(other.left() is not None for other in self.tasks):
            return (f"There are no more hints for this task ({task.title}). "
                    f'ARGS=--again shows them once more.')
        return (f"There are no more hints for lab {self.lab.number}; ARGS=--again shows the last ones once more.\n"
                f"The worked solution is {shown(self.lab.solution)}, and make run LAB={self.lab.number} "
                f"SOLUTION=1 runs it.")

    def shown_before(self, wish: str) -> str:
        """The hints seen so far: of one task, or of the one that was asked for last."""
        task = self.named(wish) if wish else min(self.chosen, key=lambda task: (task.title != self.asked, not task.seen), default=None)
        if task is None or not task.seen:
            return f"You have not seen a hint of this yet: make hint LAB={self.lab.number} shows the first."
        return "\n".join(self.text(task, number + 1) for number in sorted(task.seen)).rstrip("\n")

    def everything(self, wish: str) -> str:
        tasks = [self.named(wish)] if wish else self.chosen
        return "\n".join(self.text(task, number + 1)
                         for task in tasks for number in range(len(task.hints))).rstrip("\n")

    def forget(self) -> str:
        self.memory.unlink(missing_ok=True)
        return f"The hints for lab {self.lab.number} begin anew."


def show(hints: Hints, options: Namespace) -> int:
    if options.reset:
        print(hints.forget())
    elif options.all:
        print(hints.everything(options.task))
    elif options.again:
        print(hints.shown_before(options.task))
    else:
        print(hints.next(options.task))
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="hint", allow_abbrev=False, description="Shows one more hint each time.")
    parser.add_argument("lab", nargs="+", metavar="NN_name")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--task", metavar="N", default="", help="for this task (its number or its name)")
    what.add_argument("--variant", metavar="NAME", help="for the TODO of this variant")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--again", action="store_true", help="show those once more that you have seen")
    how.add_argument("--all", action="store_true", help="show all of them")
    how.add_argument("--reset", action="store_true", help="begin anew")
    options = parser.parse_args(arguments)
    lab = one_lab(parser, options.lab)
    todo = task_of(parser, lab, options.variant, "--further") if options.variant else ""
    if options.variant and not todo:
        parser.error(f"{options.variant} has no TODO, and so no hints: make hint LAB={lab.number} gives one for the first that stands")
    try:
        hints = Hints(lab, todo)
    except OSError as error:
        print(f"hint: {shown(error.filename)} cannot be read: {error.strerror}", file=sys.stderr)
        return 1
    if options.task and hints.named(options.task) is None:
        titles = "; ".join(task.title for task in hints.tasks)
        parser.error(f"lab {lab.number} has no task {options.task}; there are: {titles}")
    return interruptible("hint", lambda: show(hints, options))


if __name__ == "__main__":
    sys.exit(main())
