"""make sanitize: runs a CUDA program under watch, and says in CUDA's terms what is wrong with it.

    python3 -m checker.sanitize FILE.cu [--json OUT] [-- ARGUMENTS OF THE PROGRAM]

On the CPU the program is built and run twice. One build has AddressSanitizer and
UndefinedBehaviorSanitizer: what lies out of bounds. The other has a call in front of every access:
races, and elements that nobody wrote. Each run writes what it finds into a file
(common/cpu/runtime/report.h); checker.sanitize_words makes sentences of it. With --backend gpu the
program is there already and runs under compute-sanitizer (checker.sanitize_card).

Ends with 0 (nothing was found, in one sentence), 1 (something was), 2 (bad usage, or the program
does not compile) or 77 (skipped, for the reason given).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from . import sanitize_card
from .failure import Failure
from .job import interruptible
from .lab import BAD_USAGE, RIGHT, SKIPPED, WRONG, Parser
from .program import Patience, Run, quoted_output, run_program
from .sanitize_words import Finding, findings_of, merged

ROOT = Path(__file__).resolve().parents[2]
CPU = ROOT / "common" / "cpu"
FLAVOURS = ("bounds", "races")
# A run is to answer the same everywhere, and no wish of the shell is to hide what it finds.
SETTINGS = {"CUDA_CPU_LEAKS": "1", "CUDA_CPU_THREADS": "1", "ASAN_OPTIONS": "", "UBSAN_OPTIONS": ""}


@dataclass
class Watched:
    """A program that has run under watch."""

    program: Path
    run: Run
    facts: list[dict] = field(default_factory=list)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line. What stands behind `--` belongs to the program."""
    words = sys.argv[1:] if arguments is None else arguments
    split = words.index("--") if "--" in words else len(words)
    parser = Parser(prog="sanitize", allow_abbrev=False,
                    description="Runs a CUDA program under watch: races, bounds, barriers, pointers.",
                    epilog="What stands behind -- are the arguments of the program.")
    parser.add_argument("source", metavar="FILE.cu", type=Path, help="the program's source")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write the findings there as well")
    parser.add_argument("--timeout", metavar="S", type=float, default=300,
                        help="seconds that one run may take (300)")
    parser.add_argument("--flags", metavar="FLAGS", default="", help="further flags for the compiler")
    parser.add_argument("--cxx", metavar="COMPILER", default="g++", help="the C++ compiler (g++)")
    parser.add_argument("--backend", choices=("cpu", "gpu"), default="cpu",
                        help="cpu, or gpu with compute-sanitizer")
    parser.add_argument("--program", metavar="FILE", type=Path, help="for the gpu: the program, built")
    options = parser.parse_args(words[:split])
    options.arguments = words[split + 1:]
    refuse_nonsense(parser, options)
    return options


def refuse_nonsense(parser: Parser, options: argparse.Namespace) -> None:
    if not options.source.is_file():
        parser.error(f"there is no file {options.source}")
    if not options.timeout > 0:
        parser.error("--timeout takes a number above zero")
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"--json {options.json}: there is no such folder")
    if options.backend == "gpu" and not (options.program and options.program.is_file()):
        parser.error("--backend gpu needs --program FILE, the program as nvcc has built it")


# Building


def is_fresh(output: Path, sources: list[Path]) -> bool:
    """Whether an output is newer than everything that it is made from."""
    try:
        return output.exists() and all(path.stat().st_mtime < output.stat().st_mtime for path in sources)
    except FileNotFoundError:  # a source has gone
        return False


def listed(dependencies: Path) -> list[Path]:
    """The files in a list that the compiler has written for make."""
    if not dependencies.exists():
        return [dependencies]
    first = dependencies.read_text().replace("\\\n", " ").splitlines()[0]
    words = re.split(r"(?<!\\)\s+", first.partition(": ")[2].strip())
    return [Path(word.replace("\\ ", " ")) for word in words]


def compiled(words: list[str], options: argparse.Namespace) -> None:
    """Runs compile.sh; Failure with the compiler's own messages."""
    run = subprocess.run(["bash", str(CPU / "compile.sh"), "--cxx", options.cxx, "--python",
                          sys.executable, *words], capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{options.source} does not compile:\n{run.stderr.strip()}")


def built(flavour: str, options: argparse.Namespace) -> Path:
    """The program of one flavour, compiled unless that was done before."""
    folder = ROOT / "build" / "sanitize" / flavour
    folder.mkdir(parents=True, exist_ok=True)
    runtime, needs = folder / "runtime.o", folder / "runtime.d"
    tools = [CPU / "compile.sh", CPU / "translate.py"]
    if not is_fresh(runtime, [*tools, *listed(needs)]):
        compiled(["--runtime", "--sanitize", flavour, "--dependencies", str(needs), "-o", str(runtime)],
                 options)
    source = options.source.resolve()
    place = folder / str(source.parent.relative_to(ROOT) if source.is_relative_to(ROOT)
                         else "elsewhere" + str(source.parent).replace("/", "_"))
    place.mkdir(parents=True, exist_ok=True)
    program = place / source.stem
    dependencies, flags = place / f"{source.stem}.d", place / f"{source.stem}.flags"
    same = flags.exists() and flags.read_text() == f"{options.cxx} {options.flags}"
    if not same or not is_fresh(program, [runtime, source, *listed(dependencies)]):
        compiled(["--sanitize", flavour, "--runtime-object", str(runtime), "--flags", options.flags,
                  "--dependencies", str(dependencies), str(options.source), "-o", str(program)], options)
        flags.write_text(f"{options.cxx} {options.flags}")
    return program


# Running


def watched(flavour: str, options: argparse.Namespace) -> Watched:
    """Builds one flavour and runs it where the command was typed."""
    program = built(flavour, options)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "findings"
        settings = {**SETTINGS, "CUDA_CPU_FINDINGS": str(file)}
        here = Path.cwd()
        run = run_program([str(program), *options.arguments], here, here, settings, options.timeout,
                          Patience(options.timeout))
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    return Watched(program, run, [json.loads(line) for line in lines])


def on_cpu(options: argparse.Namespace) -> tuple[list[Finding], int]:
    """What both flavours find, and the status of a program that did not get that far."""
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda flavour: watched(flavour, options), FLAVOURS))
    found = merged([finding for one in both
                    for finding in findings_of(one.facts, one.program, options.source)])
    if found:
        return found, WRONG
    for one in both:
        if one.run.status in (BAD_USAGE, SKIPPED):
            print((one.run.stderr or one.run.stdout).strip(), file=sys.stderr)
            return [], one.run.status
        if one.run.status < 0:
            raise Failure(f"the program crashed, and nothing says why{quoted_output(one.run)}")
        if one.run.status != 0:
            print(f"the program ended with status {one.run.status}, but not for a reason that is looked "
                  f"for here{quoted_output(one.run)}", file=sys.stderr)
            break
    return [], RIGHT


def report(found: list[Finding], options: argparse.Namespace) -> None:
    """Prints the findings, and writes them for other tools."""
    if options.json:
        temporary = options.json.with_name(options.json.name + ".part")
        temporary.write_text(json.dumps([finding.as_dict() for finding in found], indent=2) + "\n",
                             encoding="utf-8")
        temporary.replace(options.json)
    for finding in found:
        print(finding.sentence)
    if found:
        noun = "fault" if len(found) == 1 else "faults"
        print(f"{len(found)} {noun} found")


def sanitize(options: argparse.Namespace) -> int:
    """The whole command."""
    try:
        found, status = sanitize_card.on_gpu(options) if options.backend == "gpu" else on_cpu(options)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return BAD_USAGE if "does not compile" in str(failure).partition("\n")[0] else WRONG
    report(found, options)
    if status == RIGHT:
        print("no race, nothing out of bounds or uninitialised, no wrong pointer or barrier, no leak")
    return status


if __name__ == "__main__":
    sys.exit(interruptible("sanitize", lambda: sanitize(parse(None))))
