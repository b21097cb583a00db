"""How many operations a lab's variants make: the labs say it with --csv, as a rate and a time."""

import csv
import subprocess
from pathlib import Path

from .summary import Kernel


def with_times(program: Path, arguments: list[str], times: Path) -> list[str]:
    """The arguments, with --csv where the program knows it."""
    if "--csv" in arguments or not {"solutions", "labs"} & set(program.parts):
        return arguments
    answer = subprocess.run([program, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [*arguments, "--csv", str(times)] if "--csv FILE" in answer.stdout else arguments


def operations_of(times: Path) -> dict[str, float]:
    """Operations of each variant, from its time and its rate; none if the table has no such columns."""
    if not times.exists():
        return {}
    with open(times, newline="") as file:
        return {row["variant"]: float(row["GFLOP/s"]) * float(row["milliseconds"]) * 1e6
                for row in csv.DictReader(file) if {"variant", "GFLOP/s", "milliseconds"} <= row.keys()}


def operations_for(kernel: Kernel, operations: dict[str, float]) -> float:
    """Those of the variant that has the kernel's name; 0 when they are not known."""
    names = [name for name in operations if kernel.first.kernel in (name, f"{name}_kernel")]
    return operations[names[0]] if names else 0
