"""Runs the learner's program: private folder, time limit, bounded output, endings put into words."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from . import record as records
from .failure import Failure

OUTPUT_LIMIT = 32 << 20  # bytes of text after which a program is taken for an endless loop
MOST_LINES = 1_000_000  # that a checker takes apart
SHOWN_LINES = 8

SIGNALS = {
    signal.SIGSEGV: "an address that is not its own: is an index out of range, or a device pointer "
    "used on the host?",
    signal.SIGBUS: "an address that does not exist",
    signal.SIGFPE: "an integer division by zero?",
    signal.SIGABRT: "it gave up on a broken heap or a failed assertion",
    signal.SIGILL: "an instruction that this machine does not know",
    signal.SIGKILL: "it was killed, most likely because memory ran out",
}


running: set[subprocess.Popen] = set()  # so that an interrupted checker leaves no program behind


@dataclass(frozen=True)
class Run:
    """One finished run of the program."""

    command: str  # the shell line that repeats it
    status: int  # negative: the signal that ended it
    stdout: str
    stderr: str
    seconds: float
    words: tuple[str, ...] = ()  # the program and its arguments
    record: dict | None = None  # what it asked of CUDA (checker.record); None on a card or if it crashed

    @property
    def lines(self) -> list[str]:
        """The lines of stdout."""
        if self.stdout.count("\n") > MOST_LINES:
            raise Failure(f"the program printed more than {MOST_LINES} lines\nrepeat: {self.command}")
        return self.stdout.splitlines()


class Patience:
    """How long a run may take. A program that hangs once mostly hangs again, so each wait is shorter;
    of a variant that has hung three times nothing more is run, other variants go on."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.timeouts: dict[str, int] = {}
        self.lock = threading.Lock()

    def of(self, variant: str) -> "PatienceWith":
        return PatienceWith(self, variant)

    def limit(self, wished: float | None, variant: str = "") -> float:
        """Seconds that the next run may take."""
        if self.timeouts.get(variant, 0) >= (3 if len(self.timeouts) < 2 else 1):
            raise Failure("not run: earlier runs like this one did not end in time")
        seconds = wished if wished is not None else self.seconds
        total = sum(self.timeouts.values())
        return min(seconds, max(1.0, self.seconds / (6 if total < 3 else 12))) if total else seconds

    def timed_out(self, variant: str = "") -> None:
        with self.lock:
            self.timeouts[variant] = self.timeouts.get(variant, 0) + 1


@dataclass(frozen=True)
class PatienceWith:
    """The patience with one variant."""

    patience: Patience
    variant: str

    def limit(self, wished: float | None) -> float:
        return self.patience.limit(wished, self.variant)

    def timed_out(self) -> None:
        self.patience.timed_out(self.variant)


def shell_line(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    """A line that repeats the run from wherever the learner stands."""
    program = Path(words[0])
    here = os.path.relpath(program, folder)
    # Inside one tree the relative path is the short one.
    first = here if here.count("..") <= 6 and len(here) < len(str(program)) else str(program)
    settings = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
    line = " ".join([*settings, *(shlex.quote(word) for word in [first, *words[1:]])])
    return f"(cd {shlex.quote(str(folder))} && {line})"


def read_text(stream) -> str:
    stream.seek(0)
    return stream.read(OUTPUT_LIMIT).decode("utf-8", errors="replace")


def run_program(words: list[str], folder: Path, shown_folder: Path, environment: dict[str, str],
                seconds: float, patience: Patience, recorded: bool = False) -> Run:
    """Runs `words` inside `folder`. Fails when it cannot start, does not end or prints without end.

    With `recorded` a program in CPU mode writes down what it asks of CUDA."""
    command = shell_line(words, shown_folder, environment)
    if recorded:
        environment = {**environment, "CUDA_CPU_RECORD": records.FILE}
    started = time.monotonic()
    # Files, not pipes: a program that prints much never blocks, and what it printed stays bounded.
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout,
                                       stderr=stderr, env={**os.environ, "LAB_JUDGED": "1", **environment},
                                       start_new_session=True)
        except OSError as error:
            raise Failure(f"the program cannot be started: {error.strerror}\nrepeat: {command}")
        running.add(process)
        try:
            complaint = watch(process, started + seconds, (stdout, stderr))
        finally:
            end_group(process)
            process.wait()
            running.discard(process)
        run = Run(command, process.returncode, read_text(stdout), read_text(stderr),
                  time.monotonic() - started, tuple(words), None)
    if complaint == "time":
        patience.timed_out()
        raise Failure(f"the program did not end within {seconds:g} second{'' if seconds == 1 else 's'}: a loop "
                      f"never stops, a thread waits for what never comes, or the same work is done many times over"
                      f"{quoted_output(run)}\nrepeat: {command}")
    if complaint == "output":
        raise Failure(f"the program printed more than {OUTPUT_LIMIT >> 20} MiB and was stopped: "
                      f"a loop does not stop\nrepeat: {command}")
    try:
        return replace(run, record=records.read(folder / records.FILE, run.status == 0)) if recorded else run
    except Failure as failure:
        raise Failure(f"{failure}\nrepeat: {command}") from None


def end_group(process: subprocess.Popen) -> None:
    """Ends the program and whatever it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kill_all() -> None:
    """Ends every program that is still running."""
    for process in list(running):
        end_group(process)


def watch(process, deadline: float, streams) -> str | None:
    """Waits for the end of the program; says which limit it broke, if any."""
    def too_much() -> bool:
        return any(os.fstat(stream.fileno()).st_size > OUTPUT_LIMIT for stream in streams)

    while True:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return "time"
        try:
            process.wait(timeout=min(0.5, remaining))
            return "output" if too_much() else None
        except subprocess.TimeoutExpired:
            if too_much():
                return "output"


def quoted_output(run: Run) -> str:
    """The first lines that the program wrote to stderr, or of stdout those that are WRONG or the last, indented."""
    lines = run.stderr.strip().splitlines()
    if lines:
        title, shown = "it says on stderr:", lines[:SHOWN_LINES]
        more = len(lines) - len(shown)
        shown += [f"... ({more} more lines)"] if more > 0 else []
    else:
        printed = run.stdout.strip().splitlines()
        wrong = [line for line in printed if "WRONG" in line]
        title, shown = ("it printed:", wrong[:SHOWN_LINES]) if wrong else ("it printed, at the end:", printed[-SHOWN_LINES:])
        if len(wrong) > SHOWN_LINES:
            shown.append(f"... and {len(wrong) - SHOWN_LINES} more that are WRONG")
    return "".join(f"\n{line}" for line in [title, *("  " + line for line in shown)]) if shown else ""


def explain_ending(run: Run) -> str:
    """In words: how the program ended."""
    if run.status < 0:
        try:
            number = signal.Signals(-run.status)
        except ValueError:
            return f"the program was ended by signal {-run.status}"
        reason = SIGNALS.get(number)
        return f"the program crashed ({number.name})" + (f": {reason}" if reason else "")
    meaning = {
        0: "the program ended well (status 0)",
        1: "the program ended with status 1: a wrong result or a failed CUDA call",
        2: "the program refused its arguments (status 2)",
        77: "the program skipped the work (status 77)",
    }
    return meaning.get(run.status, f"the program ended with status {run.status}")
