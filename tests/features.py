"""What CPU mode has of CUDA, by the programs of tests/programs/features: the table of docs/cpu-mode.md.

    python3 tests/features.py          writes the table
Each program begins with `// Feature: NAME | what of it`, checks itself and prints "ok".
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cpu-mode.md"
BEGIN, END = "<!-- features:begin -->\n", "<!-- features:end -->\n"


def programs() -> list[Path]:
    return sorted((ROOT / "tests" / "programs" / "features").glob("*.cu"))


def flags(program: Path, backend: str = "cpu") -> str:
    """What a program asks of nvcc, in its second line: `// Flags: -lcurand`. CPU mode needs no library."""
    found = re.match(r"// Feature: .*\n// Flags: (.*)\n", program.read_text(encoding="utf-8"))
    words = found[1].split() if found else []
    return " ".join(word for word in words if backend == "gpu" or not word.startswith("-l"))


def feature(program: Path) -> tuple[str, str]:
    """The name of what a program shows, and what of it."""
    found = re.match(r"// Feature: (.*?) \| (.*)\n", program.read_text(encoding="utf-8"))
    assert found, f"{program} does not begin with // Feature: NAME | what of it"
    return found[1], found[2]


def table() -> str:
    rows = sorted((*feature(program), program.name) for program in programs())
    lines = [f"| {name} | {what} | [{file}](../tests/programs/features/{file}) |" for name, what, file in rows]
    return "\n".join(["| | what is there | a program with it |", "|---|---|---|", *lines, ""])


def page_with_table() -> str:
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page_with_table(), encoding="utf-8")
