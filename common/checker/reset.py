"""Starts a lab over: `make reset LAB=nn`. The learner's files go to build/replaced, and the hints begin anew."""

from __future__ import annotations

import itertools
import os
import sys

from . import exercises
from .course import CourseLab, one_lab, shown
from .exercises import ROOT
from .hint import memory_of
from .job import interruptible
from .usage import Parser

REPLACED = ROOT / "build" / "replaced"


def agreed(lab: CourseLab) -> bool:
    """Asks; anything but yes is no."""
    names = ", ".join(path.name for path in lab.sources()) or "nothing"
    try:
        answer = input(f"Start {lab} over? What you have ({names}) goes to build/replaced. [y/N] ")
    except (EOFError, KeyboardInterrupt):
        print()
        return False
    return answer.strip().lower() in ("y", "yes")


def set_aside(lab: CourseLab) -> None:
    """Moves to build/replaced what stands in a source's place and is no file that can be read."""
    for name in lab.shipped():
        path = lab.folder / name
        if not path.exists() or path.is_file() and os.access(path, os.R_OK):
            continue
        kept = REPLACED / lab.name
        kept.mkdir(parents=True, exist_ok=True)
        names = (f"{path.stem}-unreadable-{number}{path.suffix}" for number in itertools.count(1))
        target = next(kept / free for free in names if not os.path.lexists(kept / free))
        path.rename(target)
        print(f"what stood in the place of {shown(path)} is now {shown(target)}")


def start_over(lab: CourseLab) -> int:
    try:
        set_aside(lab)
        exercises.write(ROOT / "solutions", ROOT / "labs", [lab.name], REPLACED)
        memory_of(lab).unlink(missing_ok=True)
    except exercises.MarkerError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="reset", allow_abbrev=False, description="Writes a lab's exercise anew.")
    parser.add_argument("lab", nargs="+", metavar="NN_name")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    options = parser.parse_args(arguments)
    lab = one_lab(parser, options.lab)
    if lab.untouched():
        print(f"{str(lab).capitalize()}, is as it was handed out: there is nothing to do.")
        return 0
    if not options.yes:
        if not sys.stdin.isatty():
            parser.error(f"there is no terminal to ask on: make reset LAB={lab.number} ARGS=--yes starts over")
        if not agreed(lab):
            print("Nothing was changed.")
            return 0
    return interruptible("reset", lambda: start_over(lab))


if __name__ == "__main__":
    sys.exit(main())
