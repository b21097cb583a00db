"""Makes of what a course system hands out one folder a student: Moodle's and Canvas's names, and zips.

    Ada Lovelace_4711_assignsubmission_file_/...    Moodle: a folder a student
    lovelaceada_LATE_815_99_vector_add-1.cu         Canvas: a file a student, or a zip
    ada/..., ada.zip                                a folder or a zip, named as it is to stand in the table
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_[a-z]+_?")
CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_(?P<file>.+)")
AGAIN = re.compile(r"-\d+(?=\.\w+$)")  # Canvas numbers a file that was handed in again
SOURCES = (".cu", ".cuh", ".h", ".cpp", ".txt", ".md")
MOST_FILES, MOST_BYTES, MOST_OF_A_FILE = 2000, 64 << 20, (1 << 20) + 1


@dataclass(frozen=True)
class Submission:
    """A student's files: folders in which they are looked for."""

    student: str
    places: tuple[Path, ...]
    system: str = ""  # "moodle" or "canvas", whose names these are
    number: str = ""  # of the student there
    broken: tuple[str, ...] = ()  # a sentence for each zip that is not unpacked


class Broken(Exception):
    """A zip that is not unpacked; the text says why."""


def unpack(archive: Path, folder: Path) -> None:
    """The sources in a zip: plain files, inside the folder, no larger than any source is. What was unpacked there before
    counts, too."""
    try:
        there = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        with zipfile.ZipFile(archive) as content:
            entries = [entry for entry in content.infolist() if not entry.is_dir()]
            if len(there) + len(entries) > MOST_FILES:
                raise Broken(f"with {archive.name} there are more than {MOST_FILES} files, so it is not unpacked")
            total, texts = sum(there), []
            for entry in entries:
                if wanted(entry):
                    with content.open(entry) as file:
                        text = file.read(MOST_OF_A_FILE)  # whatever size it claims to have
                    total += len(text)
                    if total > MOST_BYTES:
                        raise Broken(f"with {archive.name} there are more than {MOST_BYTES >> 20} MiB of sources, so it is not unpacked")
                    texts.append((folder.joinpath(*PurePosixPath(entry.filename).parts), text,
                                  time.mktime((*entry.date_time, 0, 0, -1))))
        for target, text, changed in texts:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text)
            os.utime(target, (changed, changed))
    except Broken:
        raise
    except Exception as error:  # what a damaged archive makes of a reader is without end
        raise Broken(f"{archive.name} cannot be unpacked: {in_words(error)}") from None


def in_words(error: Exception) -> str:
    """What has gone wrong, without the place at which the grader works."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(said.split())[:200] or type(error).__name__


def wanted(entry: zipfile.ZipInfo) -> bool:
    """Whether it is a source at a place inside; links, and what lies outside or in hidden folders, stay packed."""
    path = PurePosixPath(entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    inside = not path.is_absolute() and not any(part == ".." or part.startswith((".", "__MACOSX")) for part in path.parts)
    return inside and "\\" not in entry.filename and kind in (0, stat.S_IFREG) and path.suffix.lower() in SOURCES


def names_of(path: Path) -> tuple[str, str, str, str]:
    """Student, system, number there, and the file's own name."""
    if path.is_dir():
        match = MOODLE.fullmatch(path.name)
        return (match["name"], "moodle", match["number"], "") if match else (path.name, "", "", "")
    match = CANVAS.fullmatch(path.name)
    if match:
        return match["name"], "canvas", match["number"], AGAIN.sub("", match["file"])
    return path.stem, "", "", path.name


def students(folder: Path, place: Path) -> tuple[list[Submission], list[str]]:
    """The submissions by student, and a sentence for each thing that is none. `place` is for what is unpacked."""
    found: dict[str, Submission] = {}
    notes: list[str] = []
    for path in sorted(folder.iterdir()):
        if path.name == "__MACOSX" or path.name.startswith(".") and not path.is_dir():
            continue  # what systems leave in folders
        student, system, number, file = names_of(path)
        reason = why_not(path, system)
        if reason:
            notes.append(f"{path.name} {reason}, so nothing in it is graded: one folder a student is wanted")
            continue
        if number and student in found and found[student].number not in ("", number):
            student = f"{student} ({number})"  # another one of that name
        before = found.get(student, Submission(student, ()))
        places, broken = before.places, before.broken
        try:
            more = one(student, path, place) if path.is_dir() else Submission(student, taken(path, file, place / student))
            places, broken = places + more.places, broken + more.broken
        except Broken as error:
            broken += (str(error),)
        except OSError as error:
            broken += (f"{path.name} cannot be read: {in_words(error)}",)
        if student in found and not (number and found[student].number == number):
            notes.append(f"there are several submissions of {student}: the first that holds a lab counts for it")
        found[student] = Submission(student, tuple(dict.fromkeys(places)), system, number, broken)
    return list(found.values()), notes


def one(student: str, folder: Path, place: Path) -> Submission:
    """The submission of one student."""
    inner, broken = unpacked(folder, place / student)
    return Submission(student, (folder, *inner), broken=broken)


def why_not(path: Path, system: str) -> str:
    if path.is_symlink():
        return "is a link"
    if path.name.startswith("."):
        return "begins with a dot, as hidden folders do"
    if path.is_dir() or path.is_file() and (path.suffix.lower() == ".zip" or system == "canvas"):
        return ""
    return "is no folder and no zip"


def taken(path: Path, name: str, folder: Path) -> tuple[Path, ...]:
    """The folder in which a file of its own, or what a zip holds, now lies."""
    folder.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".zip":
        unpack(path, folder)
    elif path.stat().st_size < MOST_OF_A_FILE:
        shutil.copy2(path, folder / name)
    return (folder,)


def unpacked(folder: Path, place: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """What the zips in a student's folder hold, and which are broken."""
    broken = []
    archives = [path for path in sorted(folder.glob("*")) if path.suffix.lower() == ".zip" and path.is_file() and not path.is_symlink()]
    for archive in archives:
        (place / "zips").mkdir(parents=True, exist_ok=True)
        try:
            unpack(archive, place / "zips")
        except Broken as error:
            broken.append(str(error))
    return (place / "zips",) if archives else (), tuple(broken)
