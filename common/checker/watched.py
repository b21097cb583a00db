"""Cases that run a lab's program in another build of CPU mode: one that looks for races (checker.sanitize), or one that
counts what each line asks of memory (explain).

The build takes seconds, so it starts when the checker starts and goes on beside the other cases.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from explain.places import Places
from explain.record import Record

from .failure import Failure
from .program import Run, end_group, explain_ending, quoted_output, running
from .record import is_called
from .sanitize import watched
from .sanitize_words import Finding, findings_of, merged

BUILD_SECONDS = 300
SHOWN = 3
COMMON = Path(__file__).resolve().parents[1]


class WatchedProgram:
    """The program of a source, being built: to look for "races", or to count "accesses"."""

    def __init__(self, source: Path, flags: str, flavour: str = "races"):
        self.source = source
        self.flavour = flavour
        self.built: Path | None = None
        self.failed = ""
        self.places: Places | None = None  # of the accesses in it
        self.lock = threading.Lock()  # cases run at the same time
        words = [sys.executable, "-B", "-m", "checker.sanitize", "--build", flavour, f"--flags={flags}", str(source)]
        paths = f"{COMMON}:{os.environ.get('PYTHONPATH', '')}"
        self.process = subprocess.Popen(words, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True,
                                        env={**os.environ, "BACKEND": "cpu", "PYTHONPATH": paths})
        running.add(self.process)

    def program(self) -> Path:
        """The program, when it is built; Failure if it cannot be."""
        with self.lock:
            if not self.built and not self.failed:
                self.wait()
        if self.failed:
            raise Failure(self.failed)
        return self.built

    def wait(self) -> None:
        """Waits for the end of the build."""
        try:
            said, error = self.process.communicate(timeout=BUILD_SECONDS)
        except subprocess.TimeoutExpired:
            self.close()
            self.failed = f"the build for {self.flavour} did not end within {BUILD_SECONDS} seconds"
            return
        if self.process.returncode != 0:
            self.failed = f"the build for {self.flavour} failed:\n{error.strip()[:2000]}"
        self.built = Path(said.strip())

    def run(self, arguments: list[str], folder: Path, timeout: float, again: str) -> Run:
        """The run with its record; Failure with what it finds, or when it does not get as far as it should. A run whose
        result is wrong has got there. `again` is the command that repeats it."""
        program = self.program()
        one = watched(program, arguments, folder, timeout, {})
        found = merged(findings_of(one.facts, program, self.source))
        run = replace(one.run, command=again) if isinstance(one.run, Run) else None
        if found:
            raise Failure(f"{sentences(found)}\nrepeat: {again}")
        if run is None:
            raise Failure(f"{str(one.run).partition(chr(10) + 'repeat: ')[0]}\nrepeat: {again}")
        if run.status != 0 and not calls_its_result_wrong(run):
            raise Failure(f"{explain_ending(run)}{quoted_output(run)}\nrepeat: {again}")
        return run

    def figures(self, arguments: list[str], kernel: str) -> dict[str, float | None]:
        """What the kernel's first launch asked of memory, by explain.record; Failure if it is not launched."""
        program = self.program()
        with self.lock:
            self.places = self.places or Places(program)
        record = Record.of_run(program, arguments, places=self.places)
        launches = [launch for launch in record.launches if is_called(launch.kernel, kernel)]
        if not launches:
            raise Failure(f"the kernel {kernel} is not launched" + (f": {record.said.strip()}" if record.status else ""))
        return launches[0].figures()

    def close(self) -> None:
        """Ends the build, if nobody needs it any more."""
        if self.process.poll() is None:
            end_group(self.process)
            self.process.wait()
        running.discard(self.process)


def calls_its_result_wrong(run: Run) -> bool:
    """The table of lab::Results does; an error of CUDA ends the program before the table."""
    return run.status == 1 and "  WRONG: " in run.stdout


def sentences(found: list[Finding]) -> str:
    """The findings in words, those of `make sanitize`."""
    shown = [finding.sentence for finding in found[:SHOWN]]
    if len(found) > SHOWN:
        shown.append(f"... and {len(found) - SHOWN} more")
    return "\n".join(shown)
