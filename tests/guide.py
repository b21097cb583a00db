"""Lab 21 as docs/teaching.md makes it, out of the guide's own words.

    python3 tests/guide.py COURSE      writes its files into a copy of the course
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

GUIDE = Path(__file__).resolve().parents[1] / "docs/teaching.md"
LAB = "21_scale"
FILES = {f"solutions/{LAB}/scale.cu": "1. The solution", f"labs/{LAB}/Makefile": "2. The Makefile",
         f"labs/{LAB}/check.py": "3. The checker", f"tests/faults/{LAB}.py": "6. Planted faults", f"labs/{LAB}/bench.py": "8. Times"}


def block(text: str, after: str, number: int = 0) -> str:
    """The fenced block of that number behind these words."""
    blocks = re.findall(r"^(`{3,})\n(.*?)^\1$", text[text.index(f"**{after}"):], re.MULTILINE | re.DOTALL)
    return blocks[number][1]


def files() -> dict[str, str]:
    """Place in the course -> text."""
    text = GUIDE.read_text(encoding="utf-8")
    return {**{place: block(text, title) for place, title in FILES.items()},
            f"labs/{LAB}/README.md": block(text, "5. The handout"), f"labs/{LAB}/hints.md": block(text, "5. The handout", 1)}


def write(course: Path) -> None:
    for place, text in files().items():
        (course / place).parent.mkdir(parents=True, exist_ok=True)
        (course / place).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
