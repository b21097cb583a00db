"""Where to go on: `make next` names the first lab in work, or else not begun; its handout and its first TODO."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

from . import terminal, verdict
from .course import CourseLab, labs, one_lab, shown
from .job import interruptible
from .usage import Parser
from .progress import add_timeout, said
from .verdict import Judge, Verdict

# How editors are told the line; those that are not listed get the file alone.
PLUS_LINE = ("vi", "vim", "nvim", "gvim", "nano", "emacs", "emacsclient", "joe", "jed", "mcedit", "micro",
             "kak", "ne", "gedit")
COLON_LINE = ("hx", "helix", "subl", "zed")
GOTO_LINE = ("code", "codium", "code-insiders", "cursor")


def first_open(judge: Judge, course: list[CourseLab], only: bool) -> tuple[CourseLab, Verdict] | None:
    """The first lab that is not done, one in work before one that nobody has touched; what this machine cannot run is
    passed over. Or the only one, as it is."""
    for lab in sorted(course, key=lambda lab: lab.untouched()):
        found = judge.known(lab)
        if found is None:
            if terminal.is_terminal(sys.stderr):
                print(f"checking {lab} ...", file=sys.stderr)
            found = judge.judge(lab)
        if found.state != verdict.SKIPPED and said(lab, found) != verdict.DONE or only:
            return lab, found
    return None


def describe(lab: CourseLab, found: Verdict) -> tuple[Path, int]:
    """Prints what there is to do, and returns where to start."""
    path, number = lab.source, 1
    todo = next(iter(lab.todos()), None)
    print(f"{terminal.paint(f'{lab}'.capitalize(), 'bold')}: {terminal.clean(said(lab, found))}")
    print(f"  read   {shown(lab.folder / 'README.md')}")
    if todo:
        path, number = todo.path, todo.line
        print(f"  edit   {shown(path)}:{number}: {textwrap.shorten(todo.text, 64, placeholder=' ...')}")
    elif not lab.trouble():
        print(f"  edit   {shown(path)} (no TODO is left in it)")
    print(f"  check  make check LAB={lab.number}, or at each save: make watch LAB={lab.number}")
    print(f"  stuck  make hint LAB={lab.number}")
    return path, number


def editor_command(editor: str, path: Path, line: int) -> list[str]:
    """The words that open a file at a line; EDITOR may hold options."""
    words = shlex.split(editor)
    name = Path(words[0]).name
    if name in PLUS_LINE:
        return [*words, f"+{line}", shown(path)]
    if name in COLON_LINE:
        return [*words, f"{shown(path)}:{line}"]
    if name in GOTO_LINE:
        return [*words, "--goto", f"{shown(path)}:{line}"]
    return [*words, shown(path)]


def open_editor(editor: str, path: Path, line: int) -> int:
    try:
        words = editor_command(editor, path, line)
        status = subprocess.run(words, check=False).returncode
    except (ValueError, IndexError):
        print(f"next: VISUAL or EDITOR is no command: {editor}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"next: the editor {words[0]} cannot be started: {error.strerror}", file=sys.stderr)
        return 1
    if status:
        print(f"next: the editor {words[0]} ended with status {status}", file=sys.stderr)
    return 1 if status else 0


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="next", allow_abbrev=False,
                    description="Says where to go on, and opens it in $VISUAL or $EDITOR on a terminal.")
    parser.add_argument("lab", nargs="*", metavar="NN_name", help="in this lab, not in the first that is not done")
    add_timeout(parser)
    parser.add_argument("--no-editor", action="store_true", help="only say it")
    options = parser.parse_args(arguments)
    if not options.timeout > 0:
        parser.error("--timeout takes a number above 0")
    course = [one_lab(parser, options.lab)] if options.lab else labs()
    place: list[tuple[Path, int]] = []

    def look() -> int:
        found = first_open(Judge(options.timeout, one_at_a_time=False), course, bool(options.lab))
        if found:
            place.append(describe(*found))
        else:
            print(f"All {len(course)} labs are done.")
        return 0

    status = interruptible("next", look)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    on_terminal = sys.stdin.isatty() and terminal.is_terminal(sys.stdout)
    if place and place[0][0].is_file() and editor and on_terminal and not options.no_editor:
        return open_editor(editor, *place[0])
    return status


if __name__ == "__main__":
    sys.exit(main())
