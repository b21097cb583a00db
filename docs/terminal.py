#!/usr/bin/env python3
"""Draws docs/terminal.svg: a lab being done, from what the commands print on a terminal.

    python3 docs/terminal.py        some minutes: it works in a copy of the course, in CPU mode

The learner of the picture has labs 01 and 03 behind, and does lab 04 by taking over the worked solution.
"""

import html
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
COLUMNS = 98
LINE, LETTER, MARGIN = 17, 7.8, 16  # pixels
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "90": "#8b949e", "1": "#ffffff"}
PLAIN, PROMPT, GROUND = "#c9d1d9", "#79c0ff", "#0d1117"
CODE = re.compile(r"\033\[([\d;]*)m")


def on_terminal(command: str, folder: Path) -> list[str]:
    """The lines that a command prints on a terminal, colours included; a line that was overwritten is gone."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200", "BACKEND": "cpu", "PYTHON": sys.executable}
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=slave,
                               stderr=slave)
    os.close(slave)
    printed = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # Linux's way to say that nobody writes any more
            break
        if not piece:
            break
        printed += piece
    process.wait()
    lines = printed.decode().replace("\r\n", "\n").rstrip("\n").split("\n")
    return [re.sub(r".*(\r|\033\[K)", "", line) for line in lines]


def session(folder: Path) -> list[str]:
    """The lines of the picture; a command's begins with $."""
    shown = []

    def run(command: str, first: int = 0, last: int = 0, without: str = "^make") -> None:
        """Runs it and shows its first and last lines (all, if neither is given)."""
        lines = [line for line in on_terminal(command, folder) if not re.search(without, CODE.sub("", line))]
        cut = (first or last) and len(lines) > first + last
        # Where nothing but lines without news are left out, three dots say so.
        shown.extend(["$ " + command, *(lines[:first] + ["..."] + lines[len(lines) - last:] if cut else lines), ""])

    def take_over(lab: str) -> None:
        shutil.copy(folder / "solutions" / lab / f"{lab[3:]}.cu", folder / "labs" / lab)

    take_over("01_hello_world")
    take_over("03_vector_add")
    run("make check LAB=04 ARGS=--first", without=r"^make|^fresh|^backend|^compiling common|case[s]? pass|repeat:")
    shown.insert(len(shown) - 1, "# ... fill in the marked places of labs/04_matrix_add/matrix_add.cu ...")
    take_over("04_matrix_add")
    run("make check LAB=04", first=4, last=3, without=r"^make|^fresh|^backend")
    run("make progress", first=6, last=1, without=r"^make|^backend|^$|^\(\d+ s;")
    return shown[:-1]


def wrapped(line: str) -> list[str]:
    """The line as a terminal of so many columns shows it; codes of colours have no width."""
    rows, row, width = [], "", 0
    for part in re.split(r"(\033\[[\d;]*m)", line):
        if CODE.fullmatch(part):
            row += part
            continue
        for letter in part:
            if width == COLUMNS:
                rows.append(row)
                row, width = "", 0
            row += letter
            width += 1
    return [*rows, row]


def spans(row: str, colour: str) -> tuple[str, str]:
    """SVG for a row, and the colour in which the next one goes on."""
    out = ""
    for place, part in enumerate(CODE.split(row)):
        if place % 2:
            colour = COLOURS.get(part, PLAIN)
        elif part:
            out += f'<tspan fill="{colour}">{html.escape(part)}</tspan>'
    return out, colour


def drawing(lines: list[str]) -> str:
    rows, colour = [], PLAIN
    for line in lines:
        for row in wrapped(line):
            if line.startswith(("$ ", "# ")):
                rows.append(f'<tspan fill="{PROMPT if line[0] == "$" else COLOURS["90"]}">{html.escape(row)}</tspan>')
            else:
                text, colour = spans(row, colour)
                rows.append(text)
    width, height = COLUMNS * LETTER + 2 * MARGIN, len(rows) * LINE + 2 * MARGIN
    body = "\n".join(f'<text x="{MARGIN}" y="{MARGIN + LINE * (number + 0.75):g}">{row}</text>'
                     for number, row in enumerate(rows) if row)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">\n'
            f'<title>A lab being done in a terminal</title>\n'
            f'<rect width="100%" height="100%" rx="8" fill="{GROUND}"/>\n'
            f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">\n{body}\n</g>\n</svg>\n')


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "course"
        shutil.copytree(COURSE, folder, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        (COURSE / "docs/terminal.svg").write_text(drawing(session(folder)), encoding="utf-8")
    print("written: docs/terminal.svg")


if __name__ == "__main__":
    main()
