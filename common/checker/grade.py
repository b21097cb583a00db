"""Grades one's own labs, or a folder of submissions, one folder a student.

    python3 -m checker.grade [--submissions FOLDER] [--lab NN_name ...] [--points "03=20 13=40"]

Results go to build/grades: students/NAME/results.json (Gradescope) and results.xml (JUnit), and for
all grades.csv, grades.html and grades.json. Ends with 0 when grading worked, whatever the grades; 1
when it could not be done here; 2 for bad usage.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from . import (exercises, grade_alike, grade_build, grade_collect, grade_confine, grade_late, grade_reference, grade_report,
               grade_score, grade_unpack, terminal)
from .grade_collect import Work
from .grade_judge import Rules, Verdict, judge
from .job import end_orphans, interruptible

ROOT = Path(__file__).resolve().parents[2]
DONE, IMPOSSIBLE, BAD_USAGE = 0, 1, 2
RUNS_A_CHECK = 30  # times --timeout: after that a whole check is ended
ON_CARD_AT_ONCE = 2  # programs that share one card slow each other down
SHOWN_STUDENTS = 40


class Stop(Exception):
    """Grading ends here: a status and a sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(sentence)
        self.status = status


def say(sentence: str) -> None:
    print(f"grade: {terminal.clean(sentence)}", file=sys.stderr, flush=True)


def refuse(sentence: str) -> Stop:
    return Stop(BAD_USAGE, sentence)


# The command line


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="grade", allow_abbrev=False, formatter_class=argparse.RawTextHelpFormatter,
                                     description="Grades one's own labs, or a folder of submissions.")
    parser.add_argument("--submissions", type=Path, metavar="FOLDER", help="one folder a student in it")
    parser.add_argument("--student", type=Path, metavar="FOLDER", help="one submission; results call it so")
    parser.add_argument("--only", metavar="NAME", help="this student of --submissions anew; the others' grades stay")
    parser.add_argument("--name", metavar="NAME", default="submission", help="whose --student's submission is")
    parser.add_argument("--force", action="store_true", help="although the worked solution fails cases here")
    parser.add_argument("--prepare", action="store_true", help="judge the worked solutions only, and remember it")
    parser.add_argument("--lab", action="append", metavar="NN_name", default=[], help="this lab only (repeatable)")
    parser.add_argument("--points", default="", metavar="WORDS", help='such as "03=20 13=40"; 10 for each other lab')
    parser.add_argument("--workers", type=int, metavar="N", help="submissions at a time (one a core)")
    parser.add_argument("--seed", type=int, metavar="N", help="from which each student's seed of fresh input comes")
    parser.add_argument("--timeout", type=float, metavar="S", default=30, help="seconds that one run may take (30)")
    parser.add_argument("--whole", type=float, metavar="S", help="seconds that a whole check may take (30 times --timeout)")
    parser.add_argument("--memory", type=int, metavar="MIB", default=2048, help="memory of one run in MiB (2048)")
    parser.add_argument("--deadlines", type=Path, metavar="CSV", help="a table: lab,deadline[,student]")
    parser.add_argument("--part", metavar="K/N", default="1/1", help="every N-th student, from the K-th on")
    parser.add_argument("--merge", type=Path, nargs="+", metavar="FOLDER", help="put parts together that were graded before")
    parser.add_argument("--output", type=Path, metavar="FOLDER", default=ROOT / "build/grades",
                        help="where results go (build/grades)")
    parser.add_argument("--confine", choices=list(grade_confine.LEVELS), default="",
                        help="this level of confinement, not the strongest that holds here")
    options = parser.parse_args(arguments)
    complete(options)
    return options


def complete(options: argparse.Namespace) -> None:
    """Fills in what was not said, and refuses nonsense."""
    cores = len(os.sched_getaffinity(0))
    options.workers = cores if options.workers is None else options.workers
    options.seed = class_seed() if options.seed is None else options.seed
    options.output = options.output.absolute()
    options.whole = RUNS_A_CHECK * options.timeout if options.whole is None else options.whole
    if options.workers < 1 or not options.timeout > 0 or not options.whole > 0 or options.memory < 1:
        raise refuse("--workers, --timeout, --whole and --memory take a number above zero")
    if not 0 <= options.seed < 1 << 63:
        raise refuse("--seed takes a number from 0 to 2^63 - 1")
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", options.part)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise refuse(f"--part takes 3/8 for the third of eight parts, not {options.part}")
    options.part = int(match[1]), int(match[2])
    for folder in (options.submissions, options.student):
        if folder and not folder.is_dir():
            raise refuse(f"there is no folder {folder}")
    if options.submissions and options.student:
        raise refuse("--submissions takes a folder of students, --student one of them: give one of the two")
    if not re.fullmatch(r"[\w.@-]+", options.name) or options.name.startswith("."):
        raise refuse(f"--name takes letters, digits and . @ - _, not {options.name}")
    if options.only and not options.submissions:
        raise refuse("STUDENT names one of the folders in SUBMISSIONS, so both are wanted")
    known = grade_collect.gradable_labs(ROOT)
    for lab in options.lab:
        if lab not in known:
            raise refuse(f"{lab} cannot be graded, because it has no worked solution or no checker; "
                         f"these can: {', '.join(known)}")


def class_seed() -> int:
    """Of every grading with this build folder, so that a student meets the same input at each submission."""
    place = ROOT / "build/grade_seed"
    try:
        return int(place.read_text(encoding="ascii"))
    except (OSError, ValueError):
        seed = random.SystemRandom().randrange(1 << 31)
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"{seed}\n", encoding="ascii")
        return seed


# What is to be graded


Works = dict[str, dict[str, Work | Verdict]]  # student -> lab -> work, or the verdict where there is none to judge


def submissions(options: argparse.Namespace) -> tuple[list[grade_unpack.Submission], list[str]]:
    """Whose work there is, and notes on what is none."""
    place = options.output / "work/unpacked"
    if options.student:
        return [grade_unpack.one(options.name, options.student, place)], []
    if not options.submissions:
        return [grade_unpack.Submission("my_work", (ROOT,))], []
    found, notes = grade_unpack.students(options.submissions, place)
    if not found:
        raise refuse(f"{options.submissions} holds no folder: one folder a student is wanted")
    if options.only and all(one.student != options.only for one in found):
        raise refuse(f"{options.submissions} holds no folder or zip of {options.only}")
    notes += [f"{one.student}: {sentence}" for one in found for sentence in one.broken]
    return sorted(found, key=lambda one: one.student), notes


def gather(options: argparse.Namespace, everybody: list[grade_unpack.Submission]) -> tuple[Works, list[str]]:
    """What there is to be judged, and the labs."""
    found: Works = {one.student: {} for one in everybody}
    present = set()
    for lab in sorted(options.lab) or grade_collect.gradable_labs(ROOT):
        for submission in everybody:
            works = found[submission.student]
            try:
                works[lab] = grade_collect.collect(ROOT, submission.places, lab)
                present.add(lab)
            except FileNotFoundError as error:
                works[lab] = Verdict(lab, "; ".join([str(error), *submission.broken]))
            except grade_collect.Refused as refusal:
                works[lab] = Verdict(lab, str(refusal))
                present.add(lab)
            except Exception as error:  # folders without end, or shut ones: nobody else's grade may hang on it
                works[lab] = Verdict(lab, f"the submission cannot be read: {grade_unpack.in_words(error)}")
    labs = sorted(set(options.lab) or present)
    if not labs:
        raise refuse(f"{options.submissions or options.student or ROOT} holds no file of any lab, such as vector_add.cu or 03_vector_add/vector_add.cu")
    return {name: {lab: works[lab] for lab in labs} for name, works in found.items()}, labs


def chosen(options: argparse.Namespace, found: Works) -> Works:
    """Those that are graded this time."""
    names = [options.only] if options.only else sorted(found)[options.part[0] - 1::options.part[1]]
    return {name: found[name] for name in names}


def alike(found: Works, labs: list[str]) -> list[list]:
    """Whose sources are alike, in each lab."""
    pairs = []
    for lab in labs:
        works = {name: works[lab] for name, works in found.items() if isinstance(works[lab], Work)}
        works = {grade_alike.WORKED_SOLUTION: grade_reference.solution(ROOT, lab), **works} if len(works) > 1 else {}
        pairs += [[lab, *pair] for pair in grade_alike.alike(works, grade_reference.exercise(ROOT, lab))]
    return pairs


def late(options: argparse.Namespace, found: Works, labs: list[str]) -> dict[str, dict[str, int]]:
    """Student -> lab -> days after the deadline."""
    try:
        deadlines = grade_late.Deadlines(options.deadlines, labs)
    except (OSError, ValueError) as error:
        raise refuse(f"--deadlines: {error}") from None
    days = {name: {lab: deadlines.days_late(name, lab, work.newest) for lab, work in works.items() if isinstance(work, Work)}
            for name, works in found.items()}
    return {name: late for name, labs in days.items() if (late := {lab: count for lab, count in labs.items() if count})}


# Judging


class Progress:
    """How many are done, on a terminal."""

    def __init__(self, total: int):
        self.total, self.done = total, 0
        self.lock = threading.Lock()
        self.bar = terminal.ProgressBar()

    def step(self, name: str) -> None:
        with self.lock:
            self.done += 1
            self.bar.show(self.done, self.total, name)


def remove(folder: Path) -> None:
    """Whatever a submission left there, however deep and unreadable."""
    if folder.exists():
        subprocess.run(["chmod", "-R", "u+rwX", str(folder)], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", str(folder)], check=False)


Found = dict[tuple[str, int], Verdict]  # by digest of the sources and seed


def judge_all(options: argparse.Namespace, wanted: dict[str, tuple[Work, list[int]]], tools: dict, rules: Rules) -> Found:
    """Each source is compiled once, and its checks that a seed says nothing to run once."""
    gpu = any(tool.backend == "gpu" for tool in tools.values())
    card = threading.Semaphore(ON_CARD_AT_ONCE) if gpu else contextlib.nullcontext()
    place = options.output / "work"
    progress = Progress(len(wanted))
    stopping = threading.Event()

    def one(work: Work, seeds: list[int]) -> dict[int, Verdict]:
        if stopping.is_set():
            return {}
        folder = place / f"{work.lab}-{work.digest}"
        try:
            folder.mkdir(parents=True)
            return judge(rules, folder, work, seeds, tools[work.lab], card)
        except Exception as error:  # nobody else's grade may hang on it
            return dict.fromkeys(seeds, Verdict(work.lab, f"the grader failed at this one: {type(error).__name__}: {grade_unpack.in_words(error)}"))
        finally:
            remove(folder)
            progress.step(work.lab)

    with ThreadPoolExecutor(options.workers) as pool:
        futures = {digest: pool.submit(one, *unit) for digest, unit in wanted.items()}
        try:
            return {(digest, seed): verdict for digest, future in futures.items() for seed, verdict in future.result().items()}
        except BaseException:
            stopping.set()
            while wait(futures.values(), timeout=0.05).not_done:
                end_orphans()  # here: all that has been started
            raise
        finally:
            progress.bar.close()


def confine_here(options: argparse.Namespace, tools: grade_build.Tools) -> tuple[grade_confine.Confinement, list[str]]:
    """How submissions are confined, and notes on what is left open."""
    hidden = [ROOT, *(folder.resolve() for folder in (options.submissions, options.student) if folder)]
    confine = grade_confine.compile_confine(ROOT, tools.cxx)
    compilers = [Path(tool) for tool in (shutil.which(tools.cxx), tools.nvcc, os.environ.get("CCBIN", ""))
                 if tool and tool.startswith("/")]
    confinement = grade_confine.strongest(confine, tools.cxx, hidden, compilers, tools.backend == "gpu", options.memory,
                                          options.confine)
    say(f"confined by {confinement.level}")
    missing = confinement.missing()
    return confinement, [f"not confined on this machine: {missing}"] if missing else []


def judge_references(options: argparse.Namespace, labs: list[str], tools: dict, rules: Rules) -> dict[str, tuple]:
    """Lab -> the cases that count, those that do not, and the worked solution's verdict. What was found out before is
    remembered."""
    memory = grade_reference.Memory(rules)
    works = {work.digest: work for lab in labs for work in grade_reference.works(ROOT, lab)}
    found = {digest: memory.recall(work, tools[work.lab]) for digest, work in works.items()}
    new = {digest: (works[digest], [rules.seed]) for digest, verdict in found.items() if verdict is None}
    for (digest, _), verdict in judge_all(options, new, tools, rules).items():
        found[digest] = verdict
        memory.keep(works[digest], tools[verdict.lab], verdict)
    try:
        both = {lab: [found[work.digest] for work in grade_reference.works(ROOT, lab)] for lab in labs}
        return {lab: (*grade_reference.counted(*both[lab], options.force), both[lab][0]) for lab in labs}
    except grade_reference.Unfair as reason:
        raise Stop(IMPOSSIBLE, str(reason)) from None


def grade(options: argparse.Namespace) -> grade_score.Grades:
    everybody, notes = submissions(options)
    found, labs = gather(options, everybody)
    points, pairs, days = points_of(labs, options.points), alike(found, labs), late(options, found, labs)
    found = chosen(options, found)
    tools = {lab: grade_build.find_tools(ROOT, lab) for lab in labs}
    one = tools[labs[0]]
    say(f"backend: {one.backend} ({one.reason})")
    confinement, open_ends = confine_here(options, one)
    notes += open_ends
    watched = bool(options.submissions) and one.backend == "cpu"
    try:
        if watched:
            one.build_watched_runtime(ROOT)
    except grade_build.NoTools as error:  # clang++ makes none
        watched = False
        notes.append(f"it is not counted which threads store: {error}")
    rules = Rules(ROOT, confinement, options.seed, options.timeout, options.whole, watched)
    references = judge_references(options, labs, tools, rules)
    notes += [sentence for lab in labs for sentence in grade_reference.note(lab, references[lab][1])]
    notes += [f"{lab}: it is not counted which threads store, as the build that looks for races does not work for the worked solution here"
              for lab in labs if watched and references[lab][2].launched and not references[lab][2].storing]
    for note in notes:
        say(note)
    grades = grade_score.Grades(options.seed, one.backend, points, {lab: references[lab][0] for lab in labs}, {}, notes,
                                {lab: references[lab][1] for lab in labs}, {name: rules.seed_of(name) for name in found})
    grades.storing = {lab: references[lab][2].storing for lab in labs}
    grades.late, grades.alike = {name: days[name] for name in found if name in days}, pairs
    grades.people = {one.student: [one.system, one.number] for one in everybody if one.system and one.student in found}
    if options.prepare:
        return grades
    wanted: dict[str, tuple[Work, list[int]]] = {}
    for name, works in found.items():
        for work in works.values():
            if isinstance(work, Work):
                seeds = wanted.setdefault(work.digest, (work, []))[1]
                seeds += [grades.seeds[name]] if grades.seeds[name] not in seeds else []
    say(f"submissions: {len(found)}, sources of a lab: {sum(len(seeds) for _, seeds in wanted.values())}, different ones: "
        f"{len(wanted)}, fresh input from --seed {options.seed}")
    verdicts = judge_all(options, wanted, tools, rules)
    grades.students = {name: {lab: work if isinstance(work, Verdict) else verdicts[work.digest, grades.seeds[name]]
                              for lab, work in works.items()} for name, works in found.items()}
    for lab in labs:
        handed_out = grade_reference.exercise(ROOT, lab)
        for name, works in found.items():
            if isinstance(works[lab], Work):
                grades.students[name][lab].untouched = grade_reference.is_untouched(works[lab], handed_out)
    return grades


def points_of(labs: list[str], wish: str) -> dict[str, float]:
    try:
        return grade_score.points_of(labs, wish)
    except ValueError as error:
        raise refuse(str(error)) from None


def read_grades(folder: Path) -> grade_score.Grades:
    try:
        return grade_score.Grades.from_json(json.loads((folder / "grades.json").read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise refuse(f"{folder} holds no finished part: {error}") from None


def merge(parts: list[grade_score.Grades], again: bool = False) -> grade_score.Grades:
    try:
        return grade_score.merged(parts, again)
    except ValueError as error:
        raise Stop(IMPOSSIBLE, str(error)) from None


def grade_again(options: argparse.Namespace) -> grade_score.Grades:
    """One student of a class that has been graded; without a grading there is just this one in the table."""
    if not (options.output / "grades.json").is_file():
        return grade(options)
    before = read_grades(options.output)
    options.lab = options.lab or before.labs
    options.points = options.points or " ".join(f"{lab}={points:g}" for lab, points in before.points.items())
    return merge([before, grade(options)], again=True)


# Reporting


def print_table(grades: grade_score.Grades) -> None:
    for student in list(grades.students)[:SHOWN_STUDENTS]:
        print(f"{terminal.one_line(student)}: {grades.total(student):g} of {grades.most:g} points")
        for lab in grades.labs:
            print(f"    {lab:<28} {grades.score(student, lab):>6g} of {grades.points[lab]:<4g} "
                  f"{terminal.one_line(grades.sentence(student, lab))}")
    if len(grades.students) > SHOWN_STUDENTS:
        print(f"... and {len(grades.students) - SHOWN_STUDENTS} more")


@contextlib.contextmanager
def alone(folder: Path):
    """Only one grading at a time writes to a folder; what an earlier one left is removed."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()) and not (folder / ".lock").is_file():
        raise refuse(f"{folder} holds something that is no grading: --output wants a new folder, or one of grades")
    with open(folder / ".lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Stop(IMPOSSIBLE, f"another grading writes to {folder}") from None
        remove(folder / "work")
        try:
            yield
        finally:
            remove(folder / "work")


def main(arguments: list[str] | None = None) -> int:
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "LAB", "ARGS", "SOLUTION", "DEBUG"):
        os.environ.pop(name, None)  # the settings of the make that started this one
    os.umask(0o022)  # confined programs run as another user where root grades
    return interruptible("grade", lambda: run(arguments))


def run(arguments: list[str] | None) -> int:
    started = time.monotonic()
    try:
        options = parse(arguments)
        with alone(options.output):
            if options.merge:
                grades = merge([read_grades(folder) for folder in options.merge])
            else:
                grades = (grade_again if options.only else grade)(options)
            if options.prepare:
                say(f"the worked solutions of {', '.join(grades.labs)} are judged and remembered")
                return DONE
            grade_report.write_all(grades, options.output)
    except Stop as stop:
        say(str(stop))
        return stop.status
    except (grade_build.NoTools, grade_confine.CannotConfine, exercises.MarkerError) as error:
        say(str(error))
        return IMPOSSIBLE
    except KeyboardInterrupt:
        say("interrupted: nothing was written")
        return 130
    print_table(grades)
    place = os.path.relpath(options.output)
    say(f"done in {time.monotonic() - started:.0f} s: {place}/grades.html, {place}/grades.csv, {place}/students/")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
