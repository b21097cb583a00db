"""make sanitize: runs a CUDA program under watch, and says in CUDA's terms what is wrong with it.

    [BACKEND=gpu] python3 -m checker.sanitize FILE.cu [--json OUT] [-- ARGUMENTS [-- ARGUMENTS]...]

It runs once for each list of arguments. On the CPU the program is built and run twice. One build has AddressSanitizer and
UndefinedBehaviorSanitizer: what lies out of bounds. The other has a call in front of every access:
races, and elements that nobody wrote. Each run writes what it finds into a file
(common/cpu/runtime/report.h); checker.sanitize_words makes sentences of it. With BACKEND=gpu the
program is built by nvcc and runs under compute-sanitizer (checker.sanitize_card).

Ends with 0 (nothing was found, in one sentence), 1 (something was), 2 (bad usage, or the program
does not compile) or 77 (skipped, for the reason given).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from explain.order import mistake_in_order

from . import excerpt, sanitize_card
from .exercises import include_paths
from .failure import Failure, Skipped
from .job import interruptible
from .usage import BAD_USAGE, RIGHT, SKIPPED, WRONG, Parser
from . import record as records
from .program import Patience, Run, explain_ending, quoted_output, run_program
from .sanitize_words import Finding, findings_of, merged

ROOT = Path(__file__).resolve().parents[2]
CPU = ROOT / "common" / "cpu"
FLAVOURS = ("bounds", "races")
MOST_MEMORY = 4 << 30  # of the device, for each of the two runs at once; less where the machine has not four times as much
# A run is to answer the same everywhere, and no wish of the shell is to hide what it finds.
SETTINGS = {"CUDA_CPU_LEAKS": "1", "CUDA_CPU_THREADS": "1", "ASAN_OPTIONS": "", "UBSAN_OPTIONS": ""}


@dataclass
class Watched:
    """A program that has run under watch."""

    program: Path
    run: Run | Failure  # which it is if the program did not end
    facts: list[dict] = field(default_factory=list)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line. What stands behind `--` belongs to the program, behind another one to its next run."""
    words = sys.argv[1:] if arguments is None else arguments
    split = words.index("--") if "--" in words else len(words)
    parser = Parser(prog="sanitize", allow_abbrev=False,
                    description="Runs a CUDA program under watch: races, bounds, barriers, pointers.",
                    epilog="What stands behind -- are the arguments of the program; another -- begins those of "
                    "another run.")
    parser.add_argument("source", metavar="FILE.cu", type=Path, help="the program's source")
    parser.add_argument("others", metavar="FILE", type=Path, nargs="*", help="its other sources")
    parser.add_argument("--json", metavar="OUT", type=Path, help="write the findings there as well")
    parser.add_argument("--timeout", metavar="S", type=float, default=300,
                        help="seconds that one run may take (300)")
    parser.add_argument("--flags", metavar="FLAGS", default="", help="further flags for the compiler")
    parser.add_argument("--cxx", metavar="COMPILER", default="g++", help="the C++ compiler (g++)")
    parser.add_argument("--backend", choices=("cpu", "gpu"), default=os.environ.get("BACKEND") or "cpu",
                        help="cpu, or gpu with compute-sanitizer (BACKEND, otherwise cpu)")
    parser.add_argument("--build", choices=("races", "accesses"),
                        help="only build what looks for races, or what counts accesses, and print where it is")
    parser.add_argument("--program", metavar="FILE", type=Path,
                        help="for the gpu: what nvcc has built of it, with -g; otherwise it is built here")
    own = words[:split]
    for number, word in enumerate(own[:-1]):
        if word == "--flags":  # what follows may begin with a dash
            own[number:number + 2] = [f"--flags={own[number + 1]}"]
    options = parser.parse_args(own)
    options.runs = argument_lists(words[split + 1:])
    refuse_nonsense(parser, options)
    return options


def argument_lists(words: list[str]) -> list[list[str]]:
    """The arguments of each run: `--` stands between two runs."""
    runs: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            runs.append([])
        else:
            runs[-1].append(word)
    return runs


def refuse_nonsense(parser: Parser, options: argparse.Namespace) -> None:
    for source in (options.source, *options.others):
        if not source.is_file():
            parser.error(f"there is no file {source}")
    if all(source.suffix != ".cu" for source in (options.source, *options.others)):
        parser.error(f"{options.source} is no CUDA program: its name does not end in .cu")
    if not options.timeout > 0:
        parser.error("--timeout takes a number above zero")
    if options.json and not options.json.absolute().parent.is_dir():
        parser.error(f"--json {options.json}: there is no such folder")
    if options.backend not in ("cpu", "gpu"):
        parser.error(f"BACKEND={options.backend} is neither gpu nor cpu")
    if options.program and not options.program.is_file():
        parser.error(f"--program: there is no file {options.program}")
    if options.backend == "cpu" and (mistake := mistake_in_order()):
        parser.error(mistake)


# Building


def built(options: argparse.Namespace, compilers: list[str], first: str, output: Path, words: list[str]) -> Path:
    """The output that the words make, compiled unless that was done before; build.sh says what that means.
    Failure with the compiler's own messages."""
    named = [word for name in compilers for word in ("--compiler", name)]
    run = subprocess.run(["bash", str(ROOT / "common/build.sh"), *named, "--first", first, "-o", str(output), *words],
                         capture_output=True, text=True)
    if run.returncode != 0:
        raise Failure(f"{options.source} does not compile:\n"
                      + "\n".join(excerpt.without_make(run.stderr.strip() or run.stdout.strip())))
    return output


def place_of(flavour: str, source: Path, flags: str = "") -> Path:
    """Where the program of a source lies: a folder for each source, and for each set of flags and other sources."""
    folder = ROOT / "build" / "sanitize" / flavour / hashlib.sha256(os.fsencode(source) + flags.encode()).hexdigest()[:20]
    folder.mkdir(parents=True, exist_ok=True)
    return folder / source.stem


def built_for_cpu(flavour: str, options: argparse.Namespace) -> Path:
    """The program of one flavour."""
    program = place_of(flavour, options.source.resolve(), with_others(options))
    runtime = program.parent.parent / "runtime.a"
    compiler = ["bash", str(CPU / "compile.sh"), "--sanitize", flavour, "--cxx", options.cxx, "--python", sys.executable]
    return built(options, [options.cxx], shlex.join([*compiler, "--runtime", "-o", str(runtime)]), program,
                 [*compiler, "--runtime-object", str(runtime), "--flags", options.flags, *names_of(options)])


def with_others(options: argparse.Namespace) -> str:
    """The flags, and the names of the sources besides the first."""
    return " ".join([options.flags, *(str(other.resolve()) for other in getattr(options, "others", []))]).rstrip()


def names_of(options: argparse.Namespace) -> list[str]:
    """The sources for a compiler, which would take one that begins with a dash for an option."""
    names = [str(source) for source in (options.source, *getattr(options, "others", []))]
    return [f"./{name}" if name.startswith("-") else name for name in names]


def card() -> dict[str, str]:
    """What common/backend.sh says of the card and of nvcc; Skipped if it cannot be."""
    run = subprocess.run(["bash", str(ROOT / "common" / "backend.sh"), "run"], capture_output=True, text=True,
                         env={**os.environ, "BACKEND": "gpu"})
    said = dict(part.split(" := ", 1) for part in run.stdout.split("@@") if " := " in part)
    if "nvcc" not in said:
        raise Skipped(said.get("refusal", f"common/backend.sh failed: {run.stderr.strip()}"))
    return said


def built_by_nvcc(options: argparse.Namespace) -> Path:
    """The program for the card that is here. -g is for the host's code: its lines, the same instructions."""
    said = card()
    program = place_of("gpu", options.source.resolve(), with_others(options))
    ccbin = ["-ccbin", os.environ["CCBIN"]] if os.environ.get("CCBIN") else []
    words = [said["nvcc"], "-std=c++17", "-O3", "-lineinfo", "-g", *said["gencode"].split(), *ccbin,
             *shlex.split(options.flags), *include_paths(options.source), *names_of(options)]
    return built(options, [said["nvcc"], os.environ.get("CCBIN") or "g++"], "", program, words)


# Running


def order_of_threads() -> dict[str, str]:
    """A random order is said, so that it can be had again, and both programs run in the same."""
    if os.environ.get("CUDA_CPU_ORDER") != "random":
        return {}
    order = f"random:{secrets.randbits(32)}"
    print(f"threads and blocks run in random order: CUDA_CPU_ORDER={order}", file=sys.stderr)
    return {"CUDA_CPU_ORDER": order}


def most_memory() -> int:
    """How many bytes of device memory a watched program has."""
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    return min(MOST_MEMORY, max(available // 4, 64 << 20))


def watched(program: Path, arguments: list[str], here: Path, timeout: float, order: dict[str, str]) -> Watched:
    """Runs a program of one flavour in a folder, and reads what it found."""
    with tempfile.TemporaryDirectory() as folder:
        file, record = Path(folder) / "findings", Path(folder) / "record"
        settings = {**SETTINGS, **order, "CUDA_CPU_FINDINGS": str(file), "CUDA_CPU_RECORD": str(record),
                    "CUDA_CPU_MEMORY": str(most_memory())}
        try:
            run = run_program([str(program), *arguments], here, here, settings, timeout, Patience(timeout))
            run = replace(run, record=records.read(record))
        except Failure as failure:  # what it found until then counts; its files are about to go
            text = str(failure)
            for name, path in (("FINDINGS", file), ("RECORD", record)):
                text = text.replace(f"CUDA_CPU_{name}={shlex.quote(str(path))} ", "")
            run = Failure(text)
        lines = file.read_text(errors="replace").splitlines() if file.exists() else []
        facts = [json.loads(line) for line in lines if line.endswith("}")]
        return Watched(program, run, facts)


def all_watched(flavour: str, options: argparse.Namespace, order: dict[str, str]) -> list[Watched]:
    """Builds one flavour and runs it where the command was typed, once for each list of arguments."""
    program = built_for_cpu(flavour, options)
    return [watched(program, arguments, Path.cwd(), options.timeout, order) for arguments in options.runs]


def on_cpu(options: argparse.Namespace) -> tuple[list[Finding], list[Run | Failure], dict[str, int]]:
    """What both flavours find, how their runs ended, and which kernels ran, with the most blocks of each."""
    order = order_of_threads()
    with ThreadPoolExecutor(2) as pool:
        both = [one for runs in pool.map(lambda flavour: all_watched(flavour, options, order), FLAVOURS) for one in runs]
    refused = next((fact for one in both for fact in one.facts if "refused" in fact), None)
    if refused:
        print(f"an allocation of {refused['refused']:,} bytes failed: under watch a program has {refused['of']:,} bytes of device "
              "memory; a smaller input does as well", file=sys.stderr)
    found = [finding for one in both
             for finding in findings_of([fact for fact in one.facts if "refused" not in fact], one.program, options.source)]
    kernels: dict[str, int] = {}
    for one in both[len(options.runs):]:  # those of one flavour
        for launch in one.run.record["launches"] if isinstance(one.run, Run) and one.run.record else ():
            name = launch["kernel"].partition("<")[0]
            kernels[name] = max(kernels.get(name, 0), math.prod(launch["grid"]))
    return merged(found), [one.run for one in both], kernels


def on_gpu(options: argparse.Namespace) -> tuple[list[Finding], list[Run], dict[str, int]]:
    """What compute-sanitizer finds, and its runs; which kernels ran it does not say."""
    if not sanitize_card.find_tool():
        raise Skipped("compute-sanitizer is not found: it comes with the CUDA Toolkit; put its folder into PATH, or "
                      "say BACKEND=cpu, which needs no tool")
    program = options.program or built_by_nvcc(options)
    both = [sanitize_card.on_card(program, arguments, options.timeout) for arguments in options.runs]
    return merged([one for found, _ in both for one in found]), [run for _, runs in both for run in runs], {}


def judge_endings(found: list[Finding], runs: list[Run | Failure], source: Path) -> int:
    """The status of the command; and a sentence, if the program did not get as far as it should. A crash
    that nothing explains yet becomes a finding."""
    for run in runs:
        if isinstance(run, Failure):
            print(run, file=sys.stderr)
            return WRONG
        if run.status < 0 and not any(finding.kind == "crash" for finding in found):
            if said := quoted_output(run):
                print(said.strip(), file=sys.stderr)
            found.append(Finding("crash", [], None, None, None, None, 1, f"{source.name}: {explain_ending(run)}."))
    if found:
        return WRONG
    for run in runs:
        if run.status in (BAD_USAGE, SKIPPED):
            print((run.stderr or run.stdout).strip() or f"{explain_ending(run)}, and says nothing", file=sys.stderr)
            return run.status
        if run.status != 0:
            print(f"the program ended with status {run.status}, but not for a reason that is looked "
                  f"for here{quoted_output(run)}", file=sys.stderr)
            break
    return RIGHT


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


def all_clear(kernels: dict[str, int], on_the_card: bool) -> str:
    """What was looked for, and where, and what this says nothing about."""
    text = "no race, nothing out of bounds or uninitialised, no wrong pointer or barrier, no leak"
    if on_the_card:
        return text
    if not kernels:
        return f"{text}; no kernel ran"
    names = ", ".join(f"{name} ({blocks} block{'s' * (blocks > 1)})" for name, blocks in sorted(kernels.items()))
    text = textwrap.fill(f"{text} in: {names}", 120, subsequent_indent="    ", break_on_hyphens=False)
    return text + ("\nThis holds for these kernels with this input. Not looked at: branches that did not run, local variables that "
                   "nobody\nset, inline PTX, races of host code with itself, whether the result is right.")


def sanitize(options: argparse.Namespace) -> int:
    """The whole command."""
    try:
        if options.build:
            print(built_for_cpu(options.build, options))
            return RIGHT
        found, runs, kernels = on_gpu(options) if options.backend == "gpu" else on_cpu(options)
        status = judge_endings(found, runs, options.source)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return BAD_USAGE if "does not compile" in str(failure).partition("\n")[0] else WRONG
    except Skipped as reason:
        print(reason, file=sys.stderr)
        return SKIPPED
    report(found, options)
    if status == RIGHT:
        print(all_clear(kernels, options.backend == "gpu"))
    return status


if __name__ == "__main__":
    sys.exit(interruptible("sanitize", lambda: sanitize(parse(None))))
