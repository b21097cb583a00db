"""How far the learner is in every lab: `make progress`.

Labs that have changed since the last time are built and checked, several at a time; for all others
the verdict is remembered.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from . import job, terminal, verdict
from .course import CourseLab, labs, one_lab
from .job import interruptible
from .usage import Parser
from .verdict import Judge, Verdict

TIMEOUT = 20.0  # seconds that one run of a program may take
MOST_AT_ONCE = 4  # more programs than this slow each other down when they all start a context on one card
COLOURS = {verdict.DONE: "green", verdict.FAILING: "red", verdict.BROKEN: "yellow",
           verdict.UNTOUCHED: "grey", verdict.SKIPPED: "grey", verdict.UNKNOWN: "yellow"}


def add_timeout(parser: Parser) -> None:
    parser.add_argument("--timeout", metavar="S", type=float, default=TIMEOUT,
                        help=f"seconds that one run of a program may take ({TIMEOUT:g})")


def judge_all(judge: Judge, wanted: list[CourseLab], at_once: int) -> list[Verdict]:
    """Every lab's verdict; the work is spread over the cores."""
    found = {lab.name: judge.known(lab) for lab in wanted}
    todo = [lab for lab in wanted if found[lab.name] is None]
    progress = terminal.ProgressBar()
    with ThreadPoolExecutor(at_once) as pool:
        waiting = {pool.submit(judge.judge, lab): lab for lab in todo}
        try:
            while waiting:
                ended, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in ended:
                    found[waiting.pop(future).name] = future.result()
                under_way = [lab.number for future, lab in waiting.items() if future.running()]
                progress.show(len(todo) - len(waiting), len(todo), f"checking lab {', '.join(under_way)}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            job.end_all()
            raise
        finally:
            progress.close()
    return [found[lab.name] for lab in wanted]


def said(lab: CourseLab, found: Verdict) -> str:
    """The verdict, and what is left to do where it is "done"."""
    left = lab.left_standing() if found.state == verdict.DONE else ""
    return f"{found}, but {left}" if left else str(found)


def line(lab: CourseLab, found: Verdict, name_width: int) -> str:
    text = terminal.clean(said(lab, found))
    if terminal.is_terminal(sys.stdout):
        text = text[:max(20, terminal.width() - name_width - 7)]
    return f"{lab.number}  {lab.title:<{name_width}}  {terminal.paint(text, COLOURS[found.state])}"


def rungs(found: Verdict, name_width: int) -> str:
    """The ladder of a lab that is in work: what is to be done, and what passes."""
    text = "; ".join(f"{word}: {', '.join(names)}" for word, passes in (("to do", False), ("right", True))
                     if (names := [name for name, right in found.variants.items() if right == passes]))
    indent = " " * (name_width + 6)
    return indent + (text[:max(20, terminal.width() - len(indent) - 1)] if terminal.is_terminal(sys.stdout) else text)


def report(judge: Judge, wanted: list[CourseLab], at_once: int) -> int:
    begun = time.monotonic()
    found = judge_all(judge, wanted, at_once)
    name_width = max(len(lab.title) for lab in wanted)
    for lab, of_lab in zip(wanted, found):
        print(line(lab, of_lab, name_width))
        if of_lab.state == verdict.FAILING and of_lab.variants:
            print(rungs(of_lab, name_width))
    done = sum(said(lab, of_lab) == verdict.DONE for lab, of_lab in zip(wanted, found))
    print(f"\n{terminal.paint(terminal.bar(done, len(found)), 'green')} {done} of {len(found)} labs done")
    if done < len(found):
        print("make next says where to go on")
    if time.monotonic() - begun > terminal.BAR_DELAY and terminal.is_terminal(sys.stderr):
        print(f"({time.monotonic() - begun:.0f} s; what has not changed is not checked again)", file=sys.stderr)
    return 0


def main(arguments: list[str] | None = None) -> int:
    cores = len(os.sched_getaffinity(0))
    parser = Parser(prog="progress", allow_abbrev=False, description="Says how far you are in every lab.")
    parser.add_argument("lab", nargs="*", metavar="NN_name", help="this lab only")
    add_timeout(parser)
    parser.add_argument("--jobs", metavar="N", type=int, default=min(cores, MOST_AT_ONCE),
                        help=f"labs to check at a time (one a core, at most {MOST_AT_ONCE})")
    parser.add_argument("--again", action="store_true", help="check everything, also what has not changed")
    options = parser.parse_args(arguments)
    if not options.timeout > 0 or options.jobs < 1:
        parser.error("--timeout and --jobs take numbers above 0")
    wanted = [one_lab(parser, [name]) for name in options.lab] or labs()
    if not wanted:
        parser.error("there is no lab in the folder labs")
    if options.again:
        for lab in wanted:
            (lab.memory / "verdict.json").unlink(missing_ok=True)
    return interruptible("progress", lambda: report(Judge(options.timeout), wanted, options.jobs))


if __name__ == "__main__":
    sys.exit(main())
