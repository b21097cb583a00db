"""Builds and checks a lab at each save: `make watch LAB=nn`.

The first failure is shown and no more. A build begins at once; a save that overtakes it ends it and starts another. On a
terminal single keys go to the next lab, give a hint, run the program, quit; nothing else moves on.
"""

from __future__ import annotations

import os
import selectors
import sys
import time
from contextlib import nullcontext

from . import excerpt, job, terminal, verdict
from .course import CourseLab, labs, one_lab, shown, task_of
from .exercises import SUFFIXES
from .hint import Hints
from .job import interruptible
from .usage import Parser
from .progress import add_timeout
from .terminal import Keys, paint
from .verdict import Judge, Verdict

TICK = 0.05    # seconds between two looks at the files
SETTLE = 0.15  # an editor may write in several steps: so long may a file be missing
QUICK = 0.5    # seconds after which it is shown what is being done
MOST_KEPT = 1 << 20  # bytes of what a check prints
HELP = "n next lab   h hint   c check   r run   q quit"


class Watch:
    """The loop: files, keys and the output of the one job that is under way."""

    def __init__(self, lab: CourseLab, seconds: float, keys: Keys | None, variant: str = "", todo: str = ""):
        self.lab, self.seconds, self.keys = lab, seconds, keys
        self.variant, self.todo = variant, todo  # if one rung alone is watched
        self.selector = selectors.DefaultSelector()
        if keys:
            self.selector.register(keys.descriptor, selectors.EVENT_READ, self.read_keys)
        self.job: job.Job | None = None
        self.checking = False  # the job is a check, not a run
        self.output = b""
        self.progress = ""  # what was said last of how far it has come
        self.begun = 0.0
        self.seen: list = []
        self.changed: float | None = None  # when a change was seen that cannot be checked yet
        self.over = False

    # The loop

    def loop(self) -> int:
        self.go_to(self.lab)
        while not self.over:
            for key, _ in self.selector.select(TICK):
                key.data()
            self.look_at_files()
            self.show_progress()
        self.stop()
        return 0

    def go_to(self, lab: CourseLab) -> None:
        self.lab = lab
        self.seen = self.snapshot()
        self.check()

    def snapshot(self) -> list:
        """What shows that a file was saved; an editor may have put another in its place, and with an old date."""
        found = []
        try:
            paths = sorted(self.lab.folder.iterdir())
        except OSError:
            return found
        for path in paths:
            if path.suffix in SUFFIXES and not path.name.startswith(".") or path.name in ("check.py", "Makefile"):
                try:
                    status = path.stat()
                except OSError:
                    continue  # being replaced at this moment
                found.append((path.name, status.st_ctime_ns, status.st_size, status.st_ino))
        return found

    def look_at_files(self) -> None:
        now, moment = self.snapshot(), time.monotonic()
        if now != self.seen:
            self.seen, self.changed = now, moment
            if self.lab.trouble():
                self.stop()
            else:
                self.check()
        elif self.changed is not None and moment - self.changed >= SETTLE:
            self.check()

    # The job

    def start(self, *words: str) -> None:
        self.output, self.progress, self.begun = b"", "", time.monotonic()
        self.job = job.make(self.lab.folder, *words)
        self.selector.register(self.job.process.stdout, selectors.EVENT_READ, self.read_output)

    def stop(self) -> None:
        """Ends what is under way."""
        if self.job:
            under_way = self.job
            self.detach()
            under_way.end()
            job.end_orphans()

    def detach(self) -> None:
        self.selector.unregister(self.job.process.stdout)
        self.job.process.stdout.close()
        self.job = None

    def check(self) -> None:
        self.stop()
        self.changed = None
        self.checking = True
        self.header()
        if trouble := self.lab.trouble():
            print(f"{trouble}\nwaiting for it", flush=True)
            self.footer()
            return
        self.start("build", "check", f"ARGS=--first --all --timeout {self.seconds:g} {self.of_variant()}")

    def run(self) -> None:
        self.stop()
        self.checking = False
        self.header()
        self.start("run", f"ARGS={self.of_variant()}")

    def of_variant(self) -> str:
        return f"--variant {self.variant}" if self.variant else ""

    def read_output(self) -> None:
        data = os.read(self.job.process.stdout.fileno(), 1 << 16)
        if not data:
            self.ended()
        elif self.checking:
            self.output = (self.output + data)[-MOST_KEPT:]
        else:
            sys.stdout.buffer.write(data)
            sys.stdout.flush()

    def ended(self) -> None:
        finished = self.job
        self.detach()
        status, _ = finished.finish(job.GRACE) or (1, "")
        self.clear_line()
        if self.checking:
            self.report(status, self.output.decode("utf-8", "replace"))
        self.footer()

    # What is shown

    def header(self) -> None:
        if self.keys:
            sys.stdout.write(terminal.CLEAR_SCREEN)
        what = "checking" if self.checking else "running"
        print(f"{paint(str(self.lab).capitalize(), 'bold')}  {time.strftime('%H:%M:%S')}  {what} "
              f"{shown(self.lab.source)}{f', {self.variant}' if self.variant else ''}", flush=True)

    def show_progress(self) -> None:
        """On a terminal, when it takes its time: that it compiles, or how many cases are right so far."""
        if not (self.keys and self.job and self.checking) or time.monotonic() - self.begun < QUICK:
            return
        text = excerpt.so_far(self.output.decode("utf-8", "replace"))
        if text != self.progress:
            print(f"\r{text[:terminal.width() - 1]}\033[K", end="", flush=True)
        self.progress = text

    def clear_line(self) -> None:
        if self.keys:
            print("\r\033[K", end="", flush=True)

    def footer(self) -> None:
        if self.keys:
            print(f"\n{paint(HELP, 'grey')}", flush=True)

    def report(self, status: int, output: str) -> None:
        """The first thing that is wrong, or that nothing is."""
        count = excerpt.count(output)
        failure = excerpt.first_failure(output)
        if failure:
            print(paint(failure[0], "red"), *failure[1:], count, sep="\n", flush=True)
        elif count and status == 0 and self.variant:
            print(paint(f"{str(self.lab).capitalize()}, {self.variant} is right: {count}", "green"), flush=True)
        elif count and status == 0:
            left = self.lab.left_standing()
            print(paint(f"{str(self.lab).capitalize()}, is done: {count}", "green") + (f", but {left}" if left else ""), flush=True)
            self.remember_done(count)
        elif excerpt.COMPILING_A_LAB.search(output) and not count:
            print(paint("It does not compile:", "yellow"), *excerpt.first_compile_error(output), sep="\n", flush=True)
        else:
            print(*(excerpt.without_make(output)[-excerpt.MOST_LINES:] or [excerpt.refusal(output)]),
                  sep="\n", flush=True)

    def remember_done(self, count: str) -> None:
        """So that `make progress` need not check it again; a skipped case is left to its judgement."""
        match = excerpt.COUNT.match(count)
        judge = Judge(self.seconds)
        key = judge.key(self.lab)
        if match[1] == match[2] and self.snapshot() == self.seen:
            judge.remember(self.lab, key, Verdict(verdict.DONE, int(match[1]), int(match[2])))

    # The keys

    def read_keys(self) -> None:
        pressed = self.keys.read()
        if not pressed:  # the terminal is gone
            self.over = True
        actions = {"n": self.next_lab, "h": self.hint, "c": self.check, "r": self.run, "q": self.quit}
        for letter in pressed:
            action = actions.get(letter.lower())
            if action and not self.over:
                action()

    def quit(self) -> None:
        self.over = True

    def next_lab(self) -> None:
        later = [lab for lab in labs() if lab.name > self.lab.name]
        if later:
            self.variant = self.todo = ""
            self.go_to(later[0])
        else:
            print("This is the last lab.", flush=True)

    def hint(self) -> None:
        try:
            print(f"\n{Hints(self.lab, self.todo).next()}", flush=True)
        except OSError as error:
            print(f"\nhints.md cannot be read: {error.strerror}", flush=True)
        self.footer()


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="watch", allow_abbrev=False, description="Builds and checks a lab at each save.")
    parser.add_argument("lab", nargs="+", metavar="NN_name")
    add_timeout(parser)
    parser.add_argument("--variant", metavar="NAME", default="", help="only the cases of this variant")
    options = parser.parse_args(arguments)
    if not options.timeout > 0:
        parser.error("--timeout takes a number above 0")
    lab = one_lab(parser, options.lab)
    todo = task_of(parser, lab, options.variant) if options.variant else ""
    keys = Keys() if Keys.possible() else None

    def loop() -> int:
        with keys or nullcontext():
            return Watch(lab, options.timeout, keys, options.variant, todo).loop()

    return interruptible("watch", loop)


if __name__ == "__main__":
    sys.exit(main())
