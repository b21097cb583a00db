"""Starts a lab over: `make reset LAB=nn`. The learner's files go to build/replaced."""

from __future__ import annotations

import sys

from . import exercises
from .course import CourseLab, one_lab
from .exercises import ROOT
from .lab import Parser


def agreed(lab: CourseLab) -> bool:
    """Asks; anything but yes is no."""
    names = ", ".join(path.name for path in lab.sources()) or "nothing"
    try:
        answer = input(f"Start {lab} over? What you have ({names}) goes to build/replaced. [y/N] ")
    except (EOFError, KeyboardInterrupt):
        print()
        return False
    return answer.strip().lower() in ("y", "yes")


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
    try:
        exercises.write(ROOT / "solutions", ROOT / "labs", [lab.name], ROOT / "build" / "replaced")
    except exercises.MarkerError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"reset: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
