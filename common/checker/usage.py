"""How every command of the course takes its options and ends, without NumPy, which takes longer to load than most of them to run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

RIGHT, WRONG, BAD_USAGE, SKIPPED = 0, 1, 2, 77


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence."""

    def error(self, message: str):
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(BAD_USAGE)


def backend_of(program: Path) -> str:
    """The backend by the folder that the program lies in: build/gpu/..., build/cpu-debug/..."""
    parts = program.parts[:-1]
    last_build = max((place for place, part in enumerate(parts) if part == "build"), default=0)
    return "gpu" if any(part.split("-")[0] == "gpu" for part in parts[last_build:]) else "cpu"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: "1 element", "2 elements"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
