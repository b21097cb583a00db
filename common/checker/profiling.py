"""What `make profile-ncu` and `make profile-nsys` share: finding NVIDIA's profilers, running a lab's
program under one, saying what is missing, and the lab's own times when there is no profile."""

from __future__ import annotations

import argparse
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

from . import terminal
from .course import shown
from .job import interruptible
from .usage import Parser, backend_of

FAILED, SKIPPED = 1, 77
WIDTH = 110
KEPT_LINES = 6  # of what a tool that failed has said
ADMINISTRATOR = """\
An administrator allows it to everybody by the line
    options nvidia NVreg_RestrictProfilingToAdminUsers=0
in /etc/modprobe.d/nvidia-profiling.conf (then `sudo update-initramfs -u` and a restart), or runs make with \
sudo. In a container the host must allow it, and the container needs --cap-add=SYS_ADMIN."""


class NoProfile(Exception):
    """Why there is no profile, in sentences."""


# Where a toolkit lies, as common/backend.sh has it: by its link, or without one by its version.
TOOLKITS = ("/usr/local/cuda", "/opt/cuda", "/usr/local/cuda-*", "/opt/cuda-*")


def by_version(path: str) -> list[int]:
    """The numbers in a path: 12.10 comes after 12.9."""
    return [int(number) for number in re.findall(r"\d+", path)]


def find_command(command: str, places: tuple[str, ...]) -> str | None:
    """A tool of the toolkit's: beside the nvcc that was named, on the PATH, where toolkits lie, or in one of `places`. Both are
    patterns, of which the newest version is taken."""
    named = shutil.which(os.environ.get("NVCC", ""))
    beside = [os.path.join(os.path.dirname(os.path.realpath(named)), command)] if named else []
    beside += [os.path.join(os.environ[name], "bin", command)
               for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDATOOLKIT_HOME") if os.environ.get(name)]
    places = (*(f"{toolkit}/bin/{command}" for toolkit in TOOLKITS), *places)
    newest = [path for place in places for path in sorted(glob.glob(place), key=by_version, reverse=True)]
    return next(filter(None, map(shutil.which, [*beside, command, *newest])), None)


@dataclass(frozen=True)
class Tool:
    """One of the two profilers."""

    command: str  # what it is called in a shell
    product: str
    package: str  # what holds it, where the toolkit was installed without it
    places: tuple[str, ...]  # where it lies besides the PATH; the newest version comes last

    def find(self) -> str:
        """Its path: what NCU or NSYS names, on the PATH, beside nvcc, or in NVIDIA's own folder."""
        variable = self.command.upper()
        named = os.environ.get(variable)
        if named:
            found = shutil.which(named)
            if not found:
                raise NoProfile(f"{variable}={named} is no program; leave {variable} out to search for "
                                f"{self.command}.")
            return found
        found = find_command(self.command, self.places)
        if found:
            return found
        raise NoProfile(f"{self.product} is not here: {self.command} is neither on the PATH nor where "
                        f"NVIDIA installs it. It comes with the CUDA Toolkit, or as the package "
                        f"{self.package}; {variable}=/path/to/{self.command} names one that lies elsewhere.")


@dataclass
class Target:
    """The program to profile, and where the reports of its lab go."""

    program: Path
    arguments: list[str]
    folder: Path

    @property
    def words(self) -> list[str]:
        return [str(self.program), *self.arguments]

    def report(self, suffix: str) -> Path:
        return self.folder / f"{self.program.name}.{suffix}"


def read_command_line(name: str, tool: Tool) -> Target:
    parser = Parser(prog=name, allow_abbrev=False, description=f"Runs a lab's program under {tool.product}.")
    parser.add_argument("--program", type=Path, required=True, help="the program, below a folder build")
    parser.add_argument("--output", type=Path, help="where the report goes (build/profile/NN_name)")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="after --: the program's own options")
    options = parser.parse_args()
    if not os.access(options.program, os.X_OK) or options.program.is_dir():
        parser.error(f"--program: '{options.program}' is no program; make build LAB=NN makes it")
    root = Path(__file__).resolve().parents[2]
    folder = options.output or root / "build/profile" / options.program.resolve().parent.name
    return Target(options.program.resolve(), [word for word in options.arguments if word != "--"], folder)


def require_card(target: Target) -> None:
    if backend_of(target.program) == "cpu":
        raise NoProfile("This program was built for CPU mode, and the profilers see only what runs on an "
                        "NVIDIA card.")


def record(tool: Tool, words: list[str], target: Target) -> str:
    """Runs the tool with the program, and returns what both have said; it goes to a file as well."""
    target.folder.mkdir(parents=True, exist_ok=True)
    log = target.report(f"{tool.command}.log")
    print(f"{tool.command} runs {shlex.join([shown(target.program), *target.arguments])}", file=sys.stderr)
    # Decimal points and messages as they are known here, whatever the language of the machine.
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        with log.open("wb") as output:
            subprocess.run([*words, *target.words], stdin=subprocess.DEVNULL, stdout=output,
                           stderr=subprocess.STDOUT, env=environment, check=False)
    except OSError as error:
        raise NoProfile(f"{words[0]} does not start: {error.strerror}.")
    return log.read_text(encoding="utf-8", errors="replace")


def ask(words: list[str]) -> subprocess.CompletedProcess:
    """Reads a report by the tool that wrote it."""
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          env={**os.environ, "LC_ALL": "C"}, check=False)


def reason(tool: Tool, log: str, target: Target) -> NoProfile:
    """Why the tool has left no report, by what it said."""
    where = f"All that it said: {shown(target.report(f'{tool.command}.log'))}"
    if re.search(r"ERR_NVGPUCTRPERM|InsufficientPriv|permission to (access|profile)", log):
        return NoProfile("The driver lets only administrators read the card's performance counters "
                         f"(ERR_NVGPUCTRPERM), so {tool.product} has measured nothing.\n{ADMINISTRATOR}\n{where}")
    if "no CUDA device" in log:
        return NoProfile("The program has found no CUDA device.")
    if "driver resource was unavailable" in log:
        return NoProfile(f"Another tool holds the card's counters, and {tool.product} has measured nothing. "
                         f"Often it is DCGM: `dcgmi profile --pause` until you are done.\n{where}")
    if "No kernels were profiled" in log:
        return NoProfile(f"The program has launched no kernel, so there is nothing to profile.\n{where}")
    said = [line for line in log.splitlines() if line.startswith("==ERROR==")] or log.splitlines()
    quoted = "\n".join("    " + terminal.clean(line.strip()) for line in said[-KEPT_LINES:] if line.strip())
    return NoProfile(f"{tool.product} has made no report. It said last:\n{quoted}\n{where}")


def fall_back(command: str, problem: NoProfile, target: Target) -> int:
    """Says what is missing, and runs the program as it is: its table holds times taken by events."""
    print(wrapped(f"{command}: {problem}") + "\n")
    print("Without a profile there are the times that the program takes itself, by events:\n", flush=True)
    status = subprocess.run(target.words, check=False).returncode
    return status or SKIPPED


def main(name: str, tool: Tool, profile) -> None:
    """Profiles by `profile(path of the tool, target)`, or falls back. 0: there is a profile, 77: there is
    none, 1: the program has failed, 2: bad usage."""

    def command() -> int:
        target = read_command_line(name, tool)
        try:
            require_card(target)
            profile(tool.find(), target)
        except NoProfile as problem:
            return fall_back(name, problem, target)
        return 0

    sys.exit(interruptible(name, command))


# Words


def number(text: str | None) -> float | None:
    """A figure of a report: digits with commas between thousands; None for n/a and the like."""
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None


def digits(value: float | None, unit: str = "", places: int | None = None) -> str:
    """About three figures, or as many places as are asked for; "-" where there is no value."""
    if value is None:
        return "-"
    if places is None:
        places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 4
    return f"{value:.{places}f}{unit}"


def wrapped(text: str, first: str = "", rest: str = "") -> str:
    """Lines for a terminal; those that begin with a space stay as they are."""
    return "\n".join(line if line.startswith(" ") else
                     textwrap.fill(line, WIDTH, initial_indent=first, subsequent_indent=rest,
                                   break_long_words=False, break_on_hyphens=False)
                     for line in text.splitlines())


def short_name(kernel: str) -> str:
    """The kernel's own name: no return type, no namespaces, no parameters; tile<(int)16> is tile<16>."""
    name = re.sub(r"^void ", "", kernel.replace("(anonymous namespace)::", ""))
    name = re.sub(r"\([\w ]+\)(?=-?\d)", "", re.sub(r"^(?:\w+::)+", "", name))
    return name.split("(")[0]


def table(rows: list[list[str]], left: int = 1) -> str:
    """Rows in columns; the first row is the heading, the first `left` columns are text."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if column < left else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(len(line) for line in lines))
    return "\n".join(lines)
