"""Makes a page of a run:  python3 -m replay [OPTION]... FILE.cu [-- ARGUMENT...]

`make replay` calls this; its REPLAY="..." holds the options.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path

from checker.failure import Failure
from checker.job import interruptible
from checker.usage import Parser
from checker.sanitize import SETTINGS, built_for_cpu, most_memory, order_of_threads
from checker.sanitize_words import findings_of
from explain.frames import MissingTool
from explain.order import mistake_in_order

from . import page
from .dwarf import Information
from .reel import Reel

BUILD = Path(__file__).resolve().parents[2] / "build" / "replay"


@dataclass
class Film:
    """What a run has left, and what is known of its program."""

    source: Path
    arguments: list[str]
    information: Information
    reel: Reel
    faults: list[dict] = field(default_factory=list)
    unseen_faults: list[str] = field(default_factory=list)  # where nothing was recorded
    status: int = 0
    said: str = ""
    order: str = ""  # of warps and lanes; "" is that of their numbers
    flags: str = ""  # of the compiler


def parse(words: list[str] | None = None) -> argparse.Namespace:
    words = sys.argv[1:] if words is None else words
    split = words.index("--") if "--" in words else len(words)
    parser = Parser(prog="make replay", allow_abbrev=False, description="A run as a page: watch it step by step, forward and back.",
                    usage='make replay LAB=10 [SOLUTION=1] [ARGS="..."] [ORDER=...] [REPLAY="OPTION..."]')
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the page there (build/replay/NAME.html)")
    parser.add_argument("--kernel", default="", help="only kernels whose name contains this")
    parser.add_argument("--events", metavar="N", type=int, default=1_500_000, help="steps and accesses that are recorded (1500000)")
    parser.add_argument("--title", default="", help="what the page is called")
    parser.add_argument("--open", choices=("yes", "no"), default="yes", help="whether a browser is to show it, where there is one")
    parser.add_argument("--timeout", metavar="S", type=float, default=300, help="seconds that the run may take (300)")
    parser.add_argument("--flags", default="", help=argparse.SUPPRESS)
    parser.add_argument("--cxx", default="g++", help=argparse.SUPPRESS)
    parser.add_argument("--small", default="", help=argparse.SUPPRESS)  # of a lab: its arguments without ARGS
    parser.add_argument("source", metavar="FILE.cu", type=Path, help="the program's source")
    parser.add_argument("others", metavar="FILE", type=Path, nargs="*", help="its other sources")
    options = parser.parse_args(words[:split])
    options.arguments = words[split + 1:]
    if missing := next((one for one in (options.source, *options.others) if not one.is_file()), None):
        parser.error(f"there is no file {missing}")
    if all(one.suffix != ".cu" for one in (options.source, *options.others)):
        parser.error(f"{options.source} is no CUDA program: its name does not end in .cu")
    if options.events < 1 or not options.timeout > 0:
        parser.error("--events and --timeout take a number above zero")
    options.timeout = min(options.timeout, 1e6)  # more is too much for a clock
    options.output = options.output or BUILD / f"{options.source.stem}.html"
    if options.output.is_dir() or options.output.parent != BUILD and not options.output.absolute().parent.is_dir():
        parser.error(f"cannot write {options.output}: a file's name is needed, in a folder that is there")
    if mistake := mistake_in_order():
        parser.error(mistake)
    if os.uname().machine != "x86_64" or "clang" in options.cxx:
        parser.error("a replay is made by g++, on a machine with x86-64")
    if not options.arguments and options.small:
        options.arguments = shlex.split(options.small)
        print(f"a small case: {options.small} (ARGS says otherwise)", flush=True)
    return options


def filmed(options: argparse.Namespace) -> Film:
    """Builds the program and runs it once."""
    program = built_for_cpu("replay", options)
    information = Information(program)
    with tempfile.TemporaryDirectory() as folder:
        reel, places, findings = (Path(folder) / name for name in ("reel", "places", "findings"))
        information.write(places)
        order = {"CUDA_CPU_ORDER": os.environ.get("CUDA_CPU_ORDER", ""), **order_of_threads()}
        settings = {**os.environ, **SETTINGS, **order, "CUDA_CPU_LEAKS": "", "CUDA_CPU_FILM": str(reel), "CUDA_CPU_FILM_PLACES": str(places),
                    "CUDA_CPU_FINDINGS": str(findings), "CUDA_CPU_MEMORY": str(most_memory()),
                    "CUDA_CPU_FILM_EVENTS": str(options.events), "CUDA_CPU_FILM_KERNEL": options.kernel}
        with subprocess.Popen([program, *options.arguments], env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, errors="replace") as run:
            try:
                _, said = run.communicate(timeout=options.timeout)
            except subprocess.TimeoutExpired:
                said = ended(run) + f"the program has not ended within {options.timeout:g} s (--timeout), and was stopped"
        film = Film(options.source, options.arguments, information, Reel(reel), status=run.returncode, said=said,
                    order=order["CUDA_CPU_ORDER"], flags=options.flags)
        film.faults, film.unseen_faults = faults_of(findings, program, options.source)
    return film


def ended(run: subprocess.Popen) -> str:
    """Ends a program, which writes its film then, and gives what it has said."""
    run.terminate()
    try:
        return run.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        run.kill()
        return run.communicate()[1]


def faults_of(path: Path, program: Path, source: Path) -> tuple[list[dict], list[str]]:
    """What was found, each with the step at which it came first, whichever thread it was; and what came in launches that are not in the film."""
    facts = [json.loads(line) for line in path.read_text(errors="replace").splitlines() if line.endswith("}")] if path.exists() else []
    found: dict[str, dict] = {}
    unseen: dict[str, str] = {}
    for fact in facts:
        moment = fact.pop("moment", None)
        if fact.get("kernel") is None or "count" in fact:
            continue
        for finding in findings_of([fact], program, source):
            name = re.sub(r"\(\d+,\d+,\d+\)", "", finding.sentence)
            if moment is None:
                unseen.setdefault(name, finding.sentence)
                continue
            threads = [side.get("thread") for side in (fact.get("first"), fact.get("second")) if side] or [finding.thread]
            fault = {"step": moment, "kind": finding.kind, "lines": finding.lines, "threads": threads}
            # A store just past an allocation is found when it happens, and once more by what it has overwritten.
            if finding.kind == "bounds" and any({**one, **fault} == one for one in found.values()):
                continue
            found.setdefault(name, {**fault, "sentence": finding.sentence, "address": fact.get("address")})
    return list(found.values()), [sentence for name, sentence in unseen.items() if name not in found]


def replay(options: argparse.Namespace) -> int:
    try:
        film = filmed(options)
    except (Failure, MissingTool) as failure:
        print(f"make replay: {failure}", file=sys.stderr)
        return 2 if "does not compile" in str(failure) else 1
    if film.said:
        print(film.said.rstrip(), file=sys.stderr)
    how = f"was ended by {signal.Signals(-film.status).name}" if film.status < 0 else f"ended with status {film.status}"
    if not film.reel.data:
        print(f"make replay: the program {how} and has left no film, as after _exit()", file=sys.stderr)
        return 1
    if not film.reel.steps and film.said and film.status in (2, 77):
        return film.status
    if not film.reel.steps:
        others = film.reel.head.get("others", [])
        print("make replay: " + (f"no kernel's name contains {options.kernel}: those that ran are {', '.join(others)}" if others
                                 else "no kernel ran, so there is nothing to show"), file=sys.stderr)
        return 2 if others else 1
    if film.status:
        meaning = ", which in the labs is a wrong result or a failed run" if film.status == 1 else "; the page shows what ran until then"
        print(f"make replay: the program {how}{meaning}", file=sys.stderr)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    try:
        page.write(film, options.output, options.title)
    except Failure as failure:
        print(f"make replay: {failure}", file=sys.stderr)
        return 1
    for sentence in film.reel.left_out():
        print(sentence)
    for fault in film.faults:
        print(f"step {fault['step']}: {fault['sentence']}")
    for sentence in film.unseen_faults:
        print(f"found where nothing was recorded: {sentence}")
    print(f"page: {options.output}")
    if options.open == "yes" and sys.stdout.isatty() and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(options.output.absolute().as_uri())
    return 0


if __name__ == "__main__":
    sys.exit(interruptible("replay", lambda: replay(parse())))
