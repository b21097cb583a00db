"""Takes from a student's folder the expected files of a lab, and nothing else.

A submission is a folder of any of these forms; the first that holds the lab's main file counts:

    student/labs/NN_name/name.cu      the whole course as the student has it
    student/NN_name/name.cu           a folder a lab
    student/name.cu                   the files alone

or one folder in the student's that is of such a form.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from . import exercises

SIZE_LIMIT = 1 << 20  # bytes of one source file; the longest of the course has 60,000

KINDS = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device",
         stat.S_IFCHR: "a device", stat.S_IFDIR: "a folder"}


class Refused(Exception):
    """What was submitted is not looked at; the text says why."""


@dataclass(frozen=True)
class Work:
    """The sources of one lab as one student, or several with the same ones, submitted them."""

    lab: str
    files: tuple[tuple[str, bytes], ...]
    notes: tuple[str, ...] = ()
    newest: float = 0.0  # when the latest of the student's files was changed

    @property
    def digest(self) -> str:
        digest = hashlib.sha256(self.lab.encode())
        for name, text in self.files:
            digest.update(f"\n{name} {len(text)}\n".encode() + text)
        return digest.hexdigest()[:16]


def main_file(lab: str) -> str:
    return lab.split("_", 1)[1] + ".cu"


def gradable_labs(root: Path) -> list[str]:
    """The labs that have a worked solution and a checker."""
    return sorted(path.parent.name for path in (root / "labs").glob("[0-9][0-9]_*/check.py")
                  if (root / "solutions" / path.parent.name / main_file(path.parent.name)).is_file())


def given(root: Path, lab: str) -> list[tuple[str, bytes]]:
    """What a submission compiles with, and never brings along."""
    return [(name, text.encode()) for name, text in exercises.given_files(root / "labs" / lab).items()]


def collect(root: Path, places: tuple[Path, ...], lab: str) -> Work:
    """The lab's files out of a student's folders. FileNotFoundError: there is none; or Refused."""
    expected = exercises.exercise_files(root / "solutions" / lab)
    main = main_file(lab)
    student, place, text = find_main(places, lab)
    files, notes = {main: text}, []
    for name, text in expected.items():
        if name == main:
            continue
        try:
            files[name] = read_plainly(student, (*place, name))
        except FileNotFoundError:
            files[name] = text.encode()
            notes.append(f"{name} is not in the submission: taken as it was handed out")
    newest = max(student.joinpath(*place, name).stat().st_mtime for name in files if student.joinpath(*place, name).exists())
    return Work(lab, (*sorted(files.items()), *given(root, lab)), tuple(notes), newest)


def find_main(places: tuple[Path, ...], lab: str) -> tuple[Path, tuple[str, ...], bytes]:
    """In which of the folders, where in it, and what the lab's main file is."""
    main = main_file(lab)
    for student in places:
        for around in ([()], [(name,) for name in folders_in(student)]):
            found = []
            for forms in ([(*outer, *form) for form in (("labs", lab), (lab,), ())] for outer in around):
                for place in forms:
                    try:
                        found.append((student, place, read_plainly(student, (*place, main))))
                        break
                    except FileNotFoundError:
                        continue
            if len(found) > 1:
                first, second = ("/".join((*place, main)) for _, place, _ in found[:2])
                raise Refused(f"{first} and {second} are both there: one of them is wanted")
            if found:
                return found[0]
    raise FileNotFoundError(f"there is no {main} in the submission{elsewhere(places, main)}")


def folders_in(student: Path) -> list[str]:
    """Plain folders that may hold a course, and not more than anybody has."""
    return sorted(path.name for path in student.iterdir() if path.is_dir() and not path.is_symlink()
                  and not path.name.startswith((".", "__MACOSX")) and path.name not in OF_THE_COURSE)[:50]


OF_THE_COURSE = ("labs", "solutions", "common", "tests", "docs", "data", "build")
ARCHIVES = (".tar", ".gz", ".tgz", ".xz", ".bz2", ".7z", ".rar")
MOST_LOOKED_AT = 2000  # files of a submission


def elsewhere(places: tuple[Path, ...], main: str) -> str:
    """What the student may have meant instead of the main file, in any of the folders."""
    return next((said for said in (elsewhere_in(student, main) for student in places) if said), "")


def elsewhere_in(student: Path, main: str) -> str:
    """What the student may have meant instead of the main file, for the teacher to move or unpack."""
    def letters(name: str) -> str:
        return re.sub(r"[^a-z]", "", name.lower())

    moved, packed, alike = [], [], []
    looked_at = 0
    for place, folders, files in os.walk(student):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")) and name != "build")
        for name in sorted(files):
            shown = os.path.relpath(os.path.join(place, name), student)
            if name == main:
                moved.append(f"; {shown} is not where it is looked for")
            elif name.lower().endswith(ARCHIVES):
                packed.append(f"; {shown} has to be unpacked")
            elif letters(name).startswith(letters(Path(main).stem)):
                alike.append(f"; {shown} has another name")
        looked_at += len(files) + len(folders)
        if looked_at > MOST_LOOKED_AT:
            break
    return next(iter([*moved, *packed, *alike]), "")


def read_plainly(folder: Path, parts: tuple[str, ...]) -> bytes:
    """The bytes of folder/parts, which must be a plain file of a sensible size, reached by no link."""
    shown = "/".join(parts)
    try:
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            for part in parts[:-1]:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=place)
                os.close(place)
                place = inner
            # A pipe would keep a blocking open waiting for ever, a device might do worse.
            kind = os.lstat(parts[-1], dir_fd=place).st_mode
            if stat.S_ISLNK(kind):
                raise Refused(f"{shown} is a symbolic link: the file itself is wanted")
            if not stat.S_ISREG(kind):
                raise Refused(f"{shown} is {KINDS.get(stat.S_IFMT(kind), 'no file')}: a plain file is wanted")
            handle = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
        finally:
            os.close(place)
        with open(handle, "rb") as file:
            text = file.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno == errno.ENOTDIR and not reached_by_link(folder, parts):
            raise FileNotFoundError(shown) from None
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Refused(f"{shown} is reached by a symbolic link: the file itself is wanted") from None
        raise Refused(f"{shown} cannot be read: {error.strerror}") from None
    if len(text) > SIZE_LIMIT:
        raise Refused(f"{shown} is larger than {SIZE_LIMIT >> 20} MiB, which no source of a lab is")
    return text


def reached_by_link(folder: Path, parts: tuple[str, ...]) -> bool:
    return any((folder.joinpath(*parts[:count])).is_symlink() for count in range(len(parts)))
