"""A command that can be ended with everything that it has started, whatever that is."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

GRACE = 3.0  # seconds from the request to end until the kill
ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
# What belongs to the make that started us, and would change what the inner make does.
NOT_HANDED_ON = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "LAB", "ARGS", "SOLUTION", "V")

running: set[Job] = set()
lock = threading.Lock()
closed = False


class Job:
    """A running command in a session of its own; both streams go to one pipe."""

    def __init__(self, words: list[str], folder: Path):
        environment = {name: value for name, value in os.environ.items() if name not in NOT_HANDED_ON}
        with lock:  # so that end_all either sees the job or prevents it
            if closed:
                raise InterruptedError
            self.process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                            start_new_session=True)
            running.add(self)

    def finish(self, seconds: float) -> tuple[int, str] | None:
        """Waits for the end: status and output. None if that took too long; then the job is ended.
        InterruptedError: end_all has ended it, so what it said counts for nothing."""
        try:
            output, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.end()
            return None
        running.discard(self)
        if closed:
            raise InterruptedError
        return self.process.returncode, output.decode("utf-8", "replace")

    def signal(self, number: int) -> None:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def end(self) -> None:
        """First a request, at which a checker ends the programs that it runs; then by force."""
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        self.signal(signal.SIGKILL)
        self.process.wait()
        running.discard(self)


def make(folder: Path, *words: str) -> Job:
    """make in a lab's folder."""
    return Job(["make", "--no-print-directory", *words], folder)


def adopt_orphans() -> None:
    """Programs whose parent dies become children of this process, so that none gets lost."""
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)


def end_all() -> None:
    """Ends every job and every orphan; no new job can start."""
    global closed
    with lock:
        closed = True
    jobs = list(running)
    for job in jobs:
        job.signal(signal.SIGTERM)
    for job in jobs:
        job.end()
    end_orphans()


def end_orphans() -> None:
    """Kills the children that no job knows, until there are none; killing one may orphan others."""
    while strays := [pid for pid in children() if all(job.process.pid != pid for job in running)]:
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


def children() -> list[int]:
    """The processes whose parent this one is."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text(errors="replace").rpartition(")")[2].split()[1]
        except OSError:
            continue  # it has just ended
        if int(parent) == os.getpid():
            found.append(int(path.parent.name))
    return found


def interruptible(name: str, command) -> int:
    """Runs a command that starts others, and returns its status; Ctrl+C and kill end them too.
    What the system refuses, a file say, is told in a sentence that begins with the command's name."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def ignore_signals() -> None:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)

    def interrupt(*_) -> None:
        ignore_signals()  # a second one, from make say, must not interrupt the tidying
        raise KeyboardInterrupt

    adopt_orphans()
    for number in signals:
        signal.signal(number, interrupt)
    try:
        status = command()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # nobody reads any longer
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        print(f"{name}: {refused(error)}", file=sys.stderr)
        return 1
    finally:
        ignore_signals()
        end_all()


def refused(error: OSError) -> str:
    """What the system has refused, as a sentence: which file, seen from here, and why."""
    place = f"{os.path.relpath(os.fsdecode(error.filename))}: " if error.filename else ""
    return f"{place}{error.strerror or error}"
