"""Makes every exercise from its solution.

    python3 -m checker.exercises [--check] [--output folder] [NN_name ...]

A solution carries marked regions:

        // BEGIN SOLUTION
        result[i] = a[i] + b[i];
        //: // TODO (about 1 line): store the sum of a[i] and b[i] in result[i].
        // END SOLUTION

The exercise is the same file without the markers and without the real code; what follows `//: ` is
what the learner sees instead, at the place where the `//:` stood.

A source without a marked region is given: it lies in given/ or further/ of the lab's own folder, once for both.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END, LEARNER = "// BEGIN SOLUTION", "// END SOLUTION", "//:"
SUFFIXES = (".cu", ".cuh", ".h")
GIVEN = ("given", "further")  # the folders in a lab's own for sources that nobody edits
# What looks like a marker and is none: the learner would get the solution.
NEAR_MISS = re.compile(r"//.*\b(begin|end)[ _-]*solution\b", re.IGNORECASE)


class MarkerError(Exception):
    """A solution whose markers are wrong; the text has one `file:line: sentence` a line."""


def exercise_text(text: str, name: str) -> str:
    """The exercise of a solution's text. `name` is the file as errors call it."""
    output: list[str] = []
    errors: list[str] = []
    begun = 0  # the line of the open BEGIN, 0 outside a region
    learner_lines = 0
    number = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        bare = line.strip()
        if bare == BEGIN:
            if begun:
                errors.append(f"{name}:{number}: BEGIN SOLUTION inside the region of line {begun}")
            begun, learner_lines = number, 0
        elif bare == END:
            if not begun:
                errors.append(f"{name}:{number}: END SOLUTION without BEGIN SOLUTION")
            elif not learner_lines:
                errors.append(f"{name}:{begun}: the region has no line for the learner (//: ...)")
            begun = 0
        elif NEAR_MISS.search(line):
            errors.append(f"{name}:{number}: write the marker alone on its line, as `{BEGIN}` or `{END}`")
        elif bare.startswith(LEARNER):
            if not begun:
                errors.append(f"{name}:{number}: a learner's line (//:) outside a region")
            learner_lines += 1
            output.append(learner_line(line))
        elif not begun:
            output.append(line)
    if begun:
        errors.append(f"{name}:{begun}: BEGIN SOLUTION without END SOLUTION")
    if errors:
        raise MarkerError("\n".join(errors))
    return "".join(output)


def learner_line(line: str) -> str:
    """`    //: code` becomes `    code`; a bare `//:` becomes an empty line."""
    indentation, rest = line.split(LEARNER, 1)
    if not rest.strip():
        return rest.lstrip(" \t")
    return indentation + (rest[1:] if rest.startswith(" ") else rest)


def exercise_files(solution: Path) -> dict[str, str]:
    """File name -> text of every source file of one solution folder."""
    files, errors = {}, []
    for path in sorted(solution.iterdir()):
        if path.suffix in SUFFIXES:
            try:
                files[path.name] = exercise_text(path.read_text(encoding="utf-8"), shown(path))
            except MarkerError as error:
                errors.append(str(error))
            except UnicodeDecodeError as error:
                errors.append(f"{shown(path)}: byte {error.start} is not UTF-8: save the file as UTF-8")
    if errors:
        raise MarkerError("\n".join(errors))
    return files


def given_files(lab: Path) -> dict[str, str]:
    """Name from the lab's folder -> text of every source that is given: those of the solution, too."""
    return {f"{folder}/{path.name}": path.read_text(encoding="utf-8") for folder in GIVEN if (lab / folder).is_dir()
            for path in sorted((lab / folder).iterdir()) if path.suffix in SUFFIXES}


def include_paths(source: Path) -> list[str]:
    """Where nvcc finds what a source of the course includes: beside it first, then in the lab's own folder."""
    return [f"-I{source.parent}", f"-I{source.parent}/../../labs/{source.parent.name}"]


def flags_of(lab: Path) -> dict[str, str]:
    """What the Makefile of a lab asks of nvcc, and of the host's compiler."""
    makefile = lab / "Makefile"
    text = makefile.read_text(encoding="utf-8") if makefile.is_file() else ""
    return {name: " ".join(re.findall(rf"^{name}\s*[:+?]?=[ \t]*(.*)$", text, re.MULTILINE))
            for name in ("LAB_NVCC_FLAGS", "LAB_CXX_FLAGS")}


def shown(path: Path) -> str:
    """The path as messages show it: from the course's folder where it lies inside."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def differences(solutions: Path, labs: Path, names: list[str]) -> list[str]:
    """One sentence for each file in `labs` that is not what its solution gives."""
    sentences = []
    for name in names:
        files = exercise_files(solutions / name)
        folder = labs / name
        for file, text in files.items():
            path = folder / file
            if not path.is_file():
                sentences.append(f"{shown(path)} is missing")
            elif path.read_text(encoding="utf-8") != text:
                sentences.append(f"{shown(path)} differs from what its solution gives")
        if folder.is_dir():
            surplus = {p.name for p in folder.iterdir() if p.suffix in SUFFIXES} - set(files)
            sentences += [f"{shown(folder / file)} has no solution" for file in sorted(surplus)]
    return sentences


def write(solutions: Path, labs: Path, names: list[str], kept: Path | None) -> None:
    """Writes the exercises that differ. What they replace is moved to `kept`, if given."""
    made = {name: exercise_files(solutions / name) for name in names}  # all errors before any file
    for name, files in made.items():
        (labs / name).mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            path = labs / name / file
            # A learner's file may be in any encoding; what it holds must come back as it was.
            former = path.read_text("utf-8", "surrogateescape") if path.is_file() else None
            if former == text:
                continue
            note = ""
            if former is not None and kept:
                note = f" (what was there is now {shown(keep(former, kept / name / file))})"
            temporary = path.with_name(f".{file}.{os.getpid()}")
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
            print(f"{shown(path)}{note}")


def keep(text: str, path: Path) -> Path:
    """Writes the text under the path, numbered when that is taken; returns where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = 1
    target = path
    while target.exists():
        number += 1
        target = path.with_name(f"{path.stem}-{number}{path.suffix}")
    target.write_text(text, "utf-8", "surrogateescape")
    return target


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="exercises", allow_abbrev=False,
                                     description="Makes every exercise from its solution.")
    parser.add_argument("names", nargs="*", metavar="NN_name", help="these labs only")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="write there, not to labs/")
    parser.add_argument("--check", action="store_true", help="write nothing: say which ones differ")
    parser.add_argument("--solutions", type=Path, metavar="FOLDER", default=ROOT / "solutions",
                        help="read from there, not from solutions/")
    options = parser.parse_args(arguments)
    labs = (options.output or ROOT / "labs").absolute()
    solutions = options.solutions.absolute()
    present = sorted(p.name for p in solutions.iterdir() if p.is_dir()) if solutions.is_dir() else []
    for name in options.names:
        if name not in present:
            print(f"exercises: there is no solution {name} in {shown(solutions)}", file=sys.stderr)
            return 2
    names = options.names or present
    try:
        if options.check:
            sentences = differences(solutions, labs, names)
            print("\n".join(sentences) if sentences else f"{len(names)} labs equal their solutions")
            return 1 if sentences else 0
        write(solutions, labs, names, None if options.output else ROOT / "build" / "replaced")
    except MarkerError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"exercises: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
