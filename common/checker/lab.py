"""A lab's checker: its cases, its command line, its report."""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from . import record as records
from . import report
from .case import Case
from .failure import Failure, Skipped, Unjudged
from .program import Patience, kill_all
from .report import Outcome
from .usage import BAD_USAGE, RIGHT, SKIPPED, WRONG, Parser, backend_of, counted

FIXED_SEED = 1
# In CPU mode the threads of a block take turns, which hides a missing barrier as long as the turns
# come in a good order. Two cases of seven have another one.
ORDERS = ("", "", "", "", "", "reversed", "random")
FIGURES = {"load_sectors": "sectors a load", "store_sectors": "sectors a store", "load_requests": "load requests",
           "store_requests": "store requests", "load_conflicts": "bank conflicts of loads", "store_conflicts": "bank conflicts of stores"}
KEPT_MARK = ".files_of_failing_cases"


@dataclass(frozen=True)
class Registered:
    """A case as the lab declares it."""

    name: str
    function: Callable
    parameters: dict
    quick: bool
    fresh: bool
    order: str  # of blocks and threads in CPU mode: "", "reversed" or "random"
    watched: str = ""  # needs another build: to look for "races", or to count "accesses"
    further: bool = False  # of a variant that only FURTHER=1 builds
    on_cpu: dict = field(default_factory=dict)  # parameters that are others in CPU mode

    @property
    def variant(self) -> str:
        """Whose program text the case judges: its parameter `variant`, or the name before the colon."""
        return self.parameters.get("variant") or self.name.partition(": ")[0] * (": " in self.name)

    @property
    def rung(self) -> str:
        """The one variant that the case is of."""
        return self.parameters.get("variant") or self.name.partition(": ")[0] * bool(self.watched)

    def order_for(self, backend: str, seed: int) -> str:
        """CUDA_CPU_ORDER for this case, unless the learner has chosen one."""
        if backend != "cpu" or "CUDA_CPU_ORDER" in os.environ:
            return ""
        return f"random:{seed}" if self.order == "random" else self.order


def pattern(text: str) -> re.Pattern:
    """A regular expression from the command line."""
    try:
        return re.compile(text)
    except re.error as problem:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {problem}")


class Lab:
    """The checker of one lab; `Lab(__file__)` in labs/NN_name/check.py.

    `tasks` names the TODO of each variant that has one of its own: {"tiled": "TODO 3"}. A cause that names
    no task then names it, once another variant passes. `shared` names the TODOs of variants that share theirs: it
    is for `make hint VARIANT=...` alone. `further` names the variants of further/, which a program has that was built
    with FURTHER=1: their cases run with --further only, and then `lab.further` has their names.
    """

    def __init__(self, file: str, tasks: dict[str, str] | None = None, shared: dict[str, str] | None = None,
                 further: list[str] | None = None):
        self.folder = Path(file).resolve().parent
        self.name = self.folder.name
        self.root = self.folder.parent.parent
        self.cases: list[Registered] = []
        self.tasks = tasks or {}
        self.shared = shared or {}
        self.beyond = further or []
        self.further = self.beyond if "--further" in sys.argv else []  # cases over all variants ask before main() does
        self.kernel_names: dict[str, list[str]] = {}  # the kernels of each variant
        self.variant_option = "--variant"
        self.watched_programs: dict = {}  # what it is built for -> checker.watched.WatchedProgram
        self.watched_seconds = 0.0

    def case(self, name: str, function: Callable | None = None, *, quick: bool = True,
             fresh: bool = False, further: bool = False, on_cpu: dict | None = None, **parameters):
        """Registers `function(case, **parameters)` under a name; without a function: a decorator.

        quick=False leaves the case out of --quick; fresh=True gives it the seed that is printed; further=True, and a
        parameter `variant` that is one of further/, are for programs that FURTHER=1 built. `on_cpu`: parameters that are
        smaller in CPU mode, where a thread costs more than on a card; the name then says so.
        """
        if function is None:
            return lambda decorated: self.case(name, decorated, quick=quick, fresh=fresh, further=further, on_cpu=on_cpu, **parameters)
        name += " (smaller in CPU mode)" * bool(on_cpu)
        if any(other.name == name for other in self.cases):
            raise ValueError(f"two cases are called '{name}'")
        order = ORDERS[len(self.cases) % len(ORDERS)] if quick else ""
        self.cases.append(Registered(name, function, parameters, quick, fresh, order,
                                     further=further or parameters.get("variant") in self.beyond, on_cpu=on_cpu or {}))
        return function

    def watched(self, name: str, runs: list[list], judge: Callable | None = None, storing: dict[str, int] | None = None,
                further: bool = False) -> None:
        """Registers a case that runs the learner's own file under watch, as `make sanitize` does, once for each list
        of arguments: small ones, since it is a hundred times slower. What it finds fails the case; whether the result
        is right is for others to judge.

        `storing`: kernel -> how many of its threads must have stored anything, in each run. `judge(case)` is called
        after each run and may ask for more. Where there is no source, on a card, the case is not counted, and the
        last line says so. further=True: it runs variants of further/.
        """
        self.cases.append(Registered(name, self.run_watched, {"runs": runs, "judge": judge, "storing": storing or {}},
                                     True, False, "", "races", further))

    def shown(self, name: str, arguments: list, kernel: str, figure: str, most: float, cause: str) -> None:
        """Registers a case that looks at what a kernel asks of memory, as `make explain` shows it: a lesson that a right
        result does not prove. `figure` is one of explain.record.Launch.figures(), "load_sectors" (a request), say; more
        than `most` fails, and `cause` says what that means. Like a watched case it needs the source."""
        self.cases.append(Registered(name, self.run_shown, {"arguments": arguments, "kernel": kernel, "figure": figure,
                                                            "most": most, "cause": cause}, True, False, "", "accesses"))

    def run_shown(self, case: Case, arguments: list, kernel: str, figure: str, most: float, cause: str) -> None:
        """One such case. What computes a wrong result is for others to judge."""
        words = [str(word) for word in arguments]
        found = self.watched_programs["accesses"].figures(words, kernel)[figure]
        again = f"make explain LAB={self.name.split('_')[0]} ARGS=\"{' '.join(words)}\""
        if found is None:
            raise Unjudged(f"{kernel} does nothing that could be counted\nrepeat: {again}")
        if found > most:
            raise Failure(f"{kernel}: {FIGURES[figure]} {found:.4g}, and {most:g} at most are expected\nrepeat: {again}", cause)

    def run_watched(self, case: Case, runs: list[list], judge: Callable | None, storing: dict[str, int]) -> None:
        """One watched case."""
        wrong = ""  # the command that gives a wrong result
        for arguments in runs:
            words = [str(word) for word in arguments]
            again = f"make sanitize LAB={self.name.split('_')[0]}" + (f' ARGS="{" ".join(words)}"' if words else "")
            case.last_run = self.watched_programs["races"].run(words, case.folder, self.watched_seconds, again)
            wrong = wrong or again.replace("sanitize", "run") * (case.last_run.status != 0)
            if wrong:
                continue
            for kernel, threads in storing.items():
                case.threads(kernel, storing=threads)
            if judge:
                judge(case)
        if wrong:
            raise Unjudged(f"no race was found, but the program calls its result wrong\nrepeat: {wrong}")

    @property
    def variants(self) -> list[str]:
        """The rungs of the lab's ladder: variants that have cases of their own."""
        return list(dict.fromkeys(case.parameters["variant"] for case in self.there() if case.parameters.get("variant")))

    def there(self) -> list[Registered]:
        """The cases of the variants that the program has."""
        return [case for case in self.cases if self.further or not case.further]

    def kernels(self, names: dict, option: str = "--variant") -> None:
        """Each variant must launch its own kernels, and no other variant's: {"tiled": "tiled_kernel", ...}.

        The value is a kernel's name, or a tuple of kernels which all have to be launched; "a|b" is a or b.
        Kernels that stand nowhere here are anybody's. `option` is that in which a run names its variant. All
        cases are judged by it, in CPU mode, after what they judge themselves.
        """
        self.kernel_names = {variant: [own] if isinstance(own, str) else list(own) for variant, own in names.items()}
        self.variant_option = option

    def judge_kernels(self, case: Case) -> None:
        """Whether the runs of a case launched the kernels of their variants."""
        for run, elements in case.runs:
            places = [place for place, word in enumerate(run.words[:-1]) if word == self.variant_option]
            variant = run.words[places[0] + 1] if places else ""
            if variant in self.kernel_names:
                case.parameters = {**case.parameters, "variant": variant}
                others = [name for other, names in self.kernel_names.items() if other != variant for name in names]
                case.kernels(f"variant {variant}", self.kernel_names[variant], others, run, elements)

    def main(self, arguments: list[str] | None = None):
        """Runs what the command line asks for and leaves Python with the status."""
        options = self.parse(arguments)
        if options.list:
            print("\n".join(case.name for case in self.selected(options)))
            raise SystemExit(RIGHT)
        if options.task:
            print({**self.shared, **self.tasks}.get(options.variant, ""))
            raise SystemExit(RIGHT)
        raise SystemExit(self.check(options))

    # The command line

    def parse(self, arguments: list[str] | None) -> argparse.Namespace:
        parser = Parser(prog=f"{self.name}/check.py", allow_abbrev=False,
                        description=f"Judges the program of lab {self.name}.")
        parser.add_argument("--program", metavar="FILE", type=Path, help="the program to judge")
        parser.add_argument("--case", metavar="NAME", action="append", help="only the cases whose names begin so (repeatable)")
        parser.add_argument("--variant", metavar="NAME", help="only the cases of this variant alone")
        parser.add_argument("--task", action="store_true", help="print the TODO of this variant")
        parser.add_argument("--further", action="store_true", help="the program has the variants of further/ (FURTHER=1)")
        parser.add_argument("--seed", metavar="N", type=int, help="the seed of the cases with fresh input")
        parser.add_argument("--list", action="store_true", help="print the names of the cases")
        parser.add_argument("--all", action="store_true", help="print every case, and all that is wrong with it")
        parser.add_argument("--json", metavar="FILE", type=Path, help="write the results there as well")
        parser.add_argument("--quick", action="store_true", help="leave out the cases that take long")
        parser.add_argument("--first", metavar="PATTERN", nargs="?", const="", type=pattern,
                            help="stop after the first case that fails (and whose report matches)")
        parser.add_argument("--before", metavar="NAME", default="", help="begin with the cases of this variant or kernel, or with those that are watched: watched")
        parser.add_argument("--timeout", metavar="S", type=float, default=60,
                            help="seconds that one run may take (60)")
        parser.add_argument("--workers", metavar="N", type=int, help="cases at a time (2 on a card, 4 on the CPU)")
        parser.add_argument("--source", metavar="FILE", type=Path,
                            help="what the program was built of in CPU mode, by g++: to look for races")
        parser.add_argument("--flags", metavar="FLAGS", default="", help="the compiler's further flags for --source")
        parser.add_argument("--keep", metavar="FOLDER", type=Path,
                            help="where the files of failing cases stay (build/checks/NN_name)")
        parser.add_argument("--discard", action="store_true", help="they do not stay")
        options = parser.parse_args(arguments)
        self.refuse_nonsense(parser, options)
        return options

    def refuse_nonsense(self, parser: Parser, options: argparse.Namespace) -> None:
        if options.variant is not None and options.variant not in self.variants:
            parser.error(self.no_variant(options.variant))
        names = [case.name for case in self.there() if options.variant in (None, case.rung)]
        for name in options.case or []:
            if not any(known.startswith(name) for known in names):
                near = difflib.get_close_matches(name, names, n=1)
                advice = f"do you mean '{near[0]}'?" if near else "--list prints the names."
                parser.error(f"there is no case '{name}': {advice}")
        if options.seed is not None and not 0 <= options.seed < 1 << 63:
            parser.error("--seed takes a number from 0 to 2^63 - 1")
        if options.source and not options.source.is_file():
            parser.error(f"--source {options.source}: there is no such file")
        if not options.timeout > 0 or options.workers is not None and options.workers < 1:
            parser.error("--timeout and --workers take a number above zero")
        if options.json and not options.json.absolute().parent.is_dir():
            parser.error(f"--json {options.json}: there is no such folder")
        kept = options.keep
        if kept and kept.exists() and not (kept / KEPT_MARK).exists() and (
                kept.is_file() or any(kept.iterdir())):
            parser.error(f"--keep {kept}: there is something else, which would be removed")
        if options.list or options.task:
            return
        if options.program is None:
            parser.error("--program is missing: which program shall be judged?")
        if not options.program.is_file():
            number = self.name.split("_")[0]
            parser.error(f"there is no program {options.program}: `make build LAB={number}` makes it")
        if not os.access(options.program, os.X_OK):
            parser.error(f"{options.program} is not a program: it may not be executed")

    def no_variant(self, name: str) -> str:
        """Why there is no such rung, in one sentence."""
        number = self.name.split("_")[0]
        if not self.variants:
            return f"lab {number} has no variants: leave VARIANT out"
        if name in self.beyond:
            return f"variant {name} is in labs/{self.name}/further, which only FURTHER=1 builds: make check LAB={number} VARIANT={name} FURTHER=1"
        near = difflib.get_close_matches(name, self.variants, n=1)
        advice = f" (do you mean {near[0]}?)" if near else ""
        return f"lab {number} has no variant '{name}'{advice}; there are {', '.join(self.variants)}"

    def selected(self, options: argparse.Namespace) -> list[Registered]:
        chosen = [case for case in self.there()
                  if options.variant in (None, case.rung) and (not options.case or case.name.startswith(tuple(options.case)))
                  and (case.quick or not options.quick or options.case)
                  and (not case.watched or options.source or options.list)]
        # Watched ones wait for a build.
        return sorted(chosen, key=lambda case: (bool(case.watched) and options.before != "watched", not self.judges(case, options.before)))

    def judges(self, case: Registered, name: str) -> bool:
        """Is this the name of the case's variant, of one of its kernels, or the beginning of its own?"""
        return bool(name) and (bool(case.watched) and name == "watched" or case.name.startswith(name) or name == case.variant or any(
            name in kernel.split("|") for kernel in self.kernel_names.get(case.variant, [])))

    # Running

    def check(self, options: argparse.Namespace) -> int:
        """Runs the selected cases, prints the report, returns the status."""
        cases = self.selected(options)
        seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 31)
        kept = self.prepare_kept(options)
        if any(case.fresh for case in cases):
            print(f"fresh input from --seed {seed}", flush=True)
        patience = Patience(options.timeout)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl+C does
        program = options.program.resolve()
        for flavour in dict.fromkeys(case.watched for case in cases if case.watched):
            from .watched import WatchedProgram  # which needs this module
            self.watched_programs[flavour] = WatchedProgram(options.source, options.flags, flavour)
            self.watched_seconds = options.timeout
        outcomes: list[Outcome] = []
        # Programs of small cases wait more than they work; but a card may be small, and has the memory of all.
        workers = options.workers or (4 if backend_of(program) == "cpu" else 2)
        with ThreadPoolExecutor(workers) as pool:
            # A watched case takes longest. It begins first, also where it waits for its build: that has the worker's core.
            begun = {case.name: pool.submit(self.run_case, case, program, kept, seed, patience, options.discard)
                     for case in sorted(cases, key=lambda case: case.watched != "races" or options.first is not None)}
            waiting = [begun[case.name] for case in cases]
            try:
                self.collect(cases, waiting, outcomes, options)
                self.print_report(outcomes, options)
                pool.shutdown(wait=False, cancel_futures=True)
                kill_all()  # behind the first failure nobody waits for what still runs, nor for a build
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                kill_all()
                print("\ninterrupted", file=sys.stderr)
                os._exit(130)
            except BrokenPipeError:  # `check.py | head` has seen enough
                pool.shutdown(wait=False, cancel_futures=True)
                kill_all()
                os._exit(141)
        for built in self.watched_programs.values():
            built.close()
        status = self.conclude(outcomes, len(cases), self.not_looked_for(cases), options.variant)
        if options.json:
            self.write_json(options.json, outcomes, seed)
        return status

    def collect(self, cases: list[Registered], waiting: list, outcomes: list[Outcome], options) -> None:
        """Waits for the cases, in order, whichever ends first. With --first only as far as is needed."""
        terminal = sys.stdout.isatty()
        for number, future in enumerate(waiting, 1):
            outcomes.append(future.result())
            if options.all and outcomes[-1].verdict != "FAIL":
                print(outcomes[-1].text(), flush=True)
            elif terminal:
                print(f"\r{number} of {counted(len(cases), 'case')}", end="", flush=True)
            if outcomes[-1].verdict == "FAIL" and self.is_the_first(outcomes, cases, waiting, options):
                break
        else:
            report.settle(outcomes, self.tasks)
        if terminal:
            print("\r\033[K", end="")

    def is_the_first(self, outcomes: list[Outcome], cases: list[Registered], waiting: list, options) -> bool:
        """Is the last outcome the one that --first asks for? Unless it asks for a text, larger cases of its variant may
        tell its cause."""
        last = outcomes[-1]
        if options.first is None or not options.first.search(last.text()):
            return False
        more = [future.result() for case, future in list(zip(cases, waiting))[len(outcomes):]
                if not options.first.pattern and report.unclear(last) and case.variant == last.variant and case.quick and not case.watched]
        report.settle(outcomes + more, self.tasks)
        return bool(options.first.search(last.text()))

    def print_report(self, outcomes: list[Outcome], options) -> None:
        """Prints what fails, or with --all every case that fails."""
        failing = [outcome for outcome in outcomes if outcome.verdict == "FAIL"]
        report.print_skipped([outcome for outcome in outcomes if outcome.verdict == "skip" and (outcome.unjudged or not options.all)])
        if options.all:
            report.print_all(failing)
            return
        if report.print_failures(failing):
            print("all of it: ARGS=--all")

    def prepare_kept(self, options: argparse.Namespace) -> Path:
        """The folder for files of failing cases, without those of an earlier run."""
        kept = (options.keep or self.root / "build" / "checks" / self.name).absolute()
        kept.mkdir(parents=True, exist_ok=True)
        (kept / KEPT_MARK).touch()
        for path in kept.iterdir():
            owner = re.match(r"\.running_(\d+)_", path.name)
            at_work = owner is not None and Path("/proc", owner.group(1)).exists()  # another checker
            if path.is_dir() and not at_work and (owner or not options.case and not options.variant):
                shutil.rmtree(path, ignore_errors=True)
        return kept

    def run_case(self, registered: Registered, program: Path, kept: Path, seed: int,
                 patience: Patience, discard: bool = False) -> Outcome:
        """Runs one case in a private folder, which stays only when the case fails, and not if it is to be discarded."""
        final = kept / re.sub(r"[^A-Za-z0-9.]+", "_", registered.name)
        folder = Path(tempfile.mkdtemp(prefix=f".running_{os.getpid()}_", dir=kept))
        backend, seed = backend_of(program), seed if registered.fresh else FIXED_SEED
        parameters = registered.parameters | (registered.on_cpu if backend == "cpu" else {})
        case = Case(registered.name, parameters, program, folder, final, seed, backend,
                    patience.of(registered.variant or registered.function.__name__), registered.order_for(backend, seed))
        outcome = Outcome(registered.name, "ok", 0.0, registered.variant, registered.function.__name__,
                          statuses=case.statuses, fresh=registered.fresh)
        started = time.monotonic()
        try:
            registered.function(case, **parameters)
            case.finish()
            self.judge_kernels(case)
        except Failure as failure:
            outcome.variant = outcome.variant or case.parameters.get("variant", "")
            outcome.repeat = f"repeat: {case.last_run.command}" if case.last_run else ""
            outcome.unjudged = isinstance(failure, Unjudged)
            outcome.fail(str(failure), failure.cause, failure.elements)
        except Skipped as skipped:
            outcome.verdict, outcome.message = "skip", str(skipped)
            outcome.by_program = skipped.by_program
        except Exception as error:
            outcome.fail(self.explain_own_fault(error))
        outcome.seconds = time.monotonic() - started
        outcome.launches = [launch for run, _ in case.runs for launch in records.launches(run.record)]
        shutil.rmtree(final, ignore_errors=True)
        try:
            if outcome.verdict == "FAIL" and not discard:
                folder.replace(final)
        except OSError:
            pass  # the program has removed it, or another checker of this lab was quicker
        shutil.rmtree(folder, ignore_errors=True)
        return outcome

    def explain_own_fault(self, error: Exception) -> str:
        """An exception that is nobody's verdict: say where, without a traceback."""
        frames = traceback.extract_tb(error.__traceback__)
        frame = next((f for f in reversed(frames) if Path(f.filename).parent == self.folder), frames[-1])
        return (f"the checker itself failed at {Path(frame.filename).name}:{frame.lineno}: "
                f"{type(error).__name__}: {error}")

    # Reporting

    def not_looked_for(self, cases: list[Registered]) -> str:
        """What the last line says when races are this lab's matter and nobody has looked for them."""
        if not any(case.watched == "races" for case in self.cases) or any(case.watched == "races" for case in cases):
            return ""
        return f"; races were not looked for: make sanitize LAB={self.name.split('_')[0]} does"

    @staticmethod
    def conclude(outcomes: list[Outcome], chosen_cases: int, not_looked_for: str = "",
                 variant: str | None = None) -> int:
        """Prints the count and decides the status. With --first there are fewer outcomes than cases."""
        passed = sum(outcome.verdict == "ok" for outcome in outcomes)
        skipped = [outcome for outcome in outcomes if outcome.verdict == "skip"]
        failed = len(outcomes) - passed - len(skipped)
        worked = any(status not in (2, 77) for outcome in outcomes for status in outcome.statuses)
        line = f"{passed} of {chosen_cases} cases{f' of {variant}' if variant else ''} pass"
        if skipped:
            line += f", {len(skipped)} skipped"
        if len(outcomes) < chosen_cases:
            line += f", {chosen_cases - len(outcomes)} not run"
        print(line + not_looked_for)
        # A program may skip for want of a GPU, but then it skips all its work.
        chosen = [outcome for outcome in skipped if outcome.by_program]
        if chosen and worked:
            print("the program skipped some cases (status 77) although it ran others: they count as failed")
            return WRONG
        if failed:
            return WRONG
        if chosen or (skipped and not passed):
            print(f"skipped: {skipped[0].message}", file=sys.stderr)
            return SKIPPED
        return RIGHT

    def write_json(self, path: Path, outcomes: list[Outcome], seed: int) -> None:
        """Writes the results for other tools: one object a case, and whether each variant passes."""
        right, wrong = report.passing_variants(outcomes), {outcome.variant for outcome in outcomes if outcome.verdict == "FAIL"}
        results = {
            "lab": self.name,
            "seed": seed,
            "passed": sum(outcome.verdict == "ok" for outcome in outcomes),
            "variants": {variant: variant in right for variant in self.variants if variant in right | wrong},
            "launches": records.counted_launches(launch for outcome in outcomes for launch in outcome.launches),
            "cases": [{
                "name": outcome.name,
                "passed": outcome.verdict == "ok",
                "skipped": outcome.verdict == "skip",
                "fresh": outcome.fresh,
                "seconds": round(outcome.seconds, 3),
                "message": outcome.full_message(),
            } for outcome in outcomes],
        }
        temporary = path.with_name(path.name + ".part")
        temporary.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
        temporary.replace(path)
