"""How far a lab is: worked out by building and checking it, and remembered until something changes.

A verdict holds for a digest of everything that it depends on: the lab's files, all of common/, the
backend and the settings of the compilers. So an unchanged course is judged without running anything.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass, field
from pathlib import Path

from . import excerpt, job
from .course import CourseLab
from .exercises import ROOT, SUFFIXES

DONE, FAILING, BROKEN, UNTOUCHED = "done", "failing", "does not compile", "not started"
SKIPPED, UNKNOWN = "skipped", "cannot be judged"
SETTINGS = ("CXX", "CCBIN", "NVCC", "DEBUG", "CPU_CXXFLAGS", "CPU_LDFLAGS", "NVCC_APPEND_FLAGS",
            "NVCC_PREPEND_FLAGS", "CUDA_CPU_DEVICE", "CUDA_CPU_MISSING", "CUDA_CPU_THREADS")
BUILD_SECONDS = 600
CHECK_SECONDS = 900  # for a whole check; --timeout limits each run within it


@dataclass(frozen=True)
class Verdict:
    """How far a lab is."""

    state: str
    passed: int = 0
    cases: int = 0
    note: str = ""
    variants: dict[str, bool] = field(default_factory=dict)  # whether all of its cases pass

    def __str__(self) -> str:
        counted = f"{self.passed} of {self.cases} cases pass" if self.cases else ""
        details = "; ".join(part for part in (counted, self.note) if part)
        return f"{self.state}: {details}" if details and self.state != DONE else self.state


class Judge:
    """Gives verdicts. One for a whole command: what all labs share is read only once."""

    def __init__(self, seconds: float, one_at_a_time: bool = True):
        self.seconds, self.one_at_a_time = seconds, one_at_a_time
        self.flavour = ""
        self.shared = self.digest_of_what_is_shared()

    def digest_of_what_is_shared(self) -> bytes:
        digest = hashlib.sha256()
        backend = subprocess.run(["bash", str(ROOT / "common/backend.sh"), "run"], check=False,
                                 stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
        debug = "-debug" if os.environ.get("DEBUG", "0") not in ("", "0", "no") else ""
        self.flavour = f"{'gpu' if b'backend := gpu' in backend else 'cpu'}{debug}"  # as in lab.mk
        digest.update(backend + repr([os.environ.get(name) for name in SETTINGS]).encode())
        for name in ("CXX", "CCBIN"):
            digest.update(identity(os.environ.get(name) or "g++"))
        add_files(digest, ROOT / "common", lambda path: "__pycache__" not in path.parts)
        return digest.digest()

    def key(self, lab: CourseLab) -> str:
        digest = hashlib.sha256(self.shared)
        add_files(digest, lab.folder, lambda path: path.suffix in (*SUFFIXES, ".py") or path.name == "Makefile")
        return digest.hexdigest()

    def holds(self, lab: CourseLab) -> bool:
        """Are the files that the lab's program was built from as they were? They may lie anywhere."""
        program = ROOT / "build" / self.flavour / "labs" / lab.name / lab.title
        return not program.with_suffix(".made").exists() or subprocess.run(
            ["bash", str(ROOT / "common/build.sh"), "-o", str(program)], cwd=lab.folder, check=False).returncode == 0

    # Without running anything

    def known(self, lab: CourseLab) -> Verdict | None:
        """The verdict, if it needs no work."""
        if trouble := lab.trouble():
            return Verdict(UNKNOWN, note=trouble)
        if lab.untouched():
            return Verdict(UNTOUCHED)
        try:
            stored = json.loads((lab.memory / "verdict.json").read_text(encoding="utf-8"))
            verdict = Verdict(**stored["verdict"])
            impatient = verdict.state != DONE and stored["seconds"] < self.seconds
            same = stored["key"] == self.key(lab) and (verdict.state == BROKEN or self.holds(lab))
            return verdict if same and not impatient else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # not there yet, or from another version of the course

    def remember(self, lab: CourseLab, key: str, verdict: Verdict) -> None:
        if self.key(lab) != key:  # the learner has saved meanwhile
            return
        try:
            write_json(lab.memory / "verdict.json",
                       {"key": key, "seconds": self.seconds, "verdict": asdict(verdict)})
        except OSError:
            pass  # then it is worked out again the next time

    # By building and checking

    def judge(self, lab: CourseLab) -> Verdict:
        """The verdict, whatever it takes."""
        if verdict := self.known(lab):
            return verdict
        key = self.key(lab)
        try:
            verdict = self.build(lab) or self.check(lab)
        except InterruptedError:
            raise
        except OSError as error:
            verdict = Verdict(UNKNOWN, note=job.refused(error))
        if verdict.state != UNKNOWN:  # what is wrong there may be repaired outside of the lab
            self.remember(lab, key, verdict)
        return verdict

    @staticmethod
    def build(lab: CourseLab) -> Verdict | None:
        """Nothing if it compiles."""
        ended = job.make(lab.folder, "build").finish(BUILD_SECONDS)
        if ended is None:
            return Verdict(BROKEN, note=f"the compiler did not end within {BUILD_SECONDS} seconds")
        status, output = ended
        if status == 0:
            return None
        if excerpt.was_ended(output):
            return Verdict(UNKNOWN, note="the compiler was ended from outside; is there enough memory?")
        if excerpt.COMPILING_A_LAB.search(output):
            return Verdict(BROKEN, note=excerpt.compile_error(output))
        return Verdict(UNKNOWN, note=excerpt.refusal(output))

    def check(self, lab: CourseLab) -> Verdict:
        results = lab.memory / "results.json"
        results.parent.mkdir(parents=True, exist_ok=True)
        results.unlink(missing_ok=True)
        # Relative to the lab's folder, where make runs: the course's path may hold spaces.
        options = (f"--json {os.path.relpath(results, lab.folder)} --timeout {self.seconds:g}"
                   f"{' --workers 1' if self.one_at_a_time else ''}")
        ended = job.make(lab.folder, "check", f"ARGS={options}").finish(CHECK_SECONDS)
        if ended is None:
            return Verdict(FAILING, note=f"its check did not end within {CHECK_SECONDS} seconds")
        return self.read(results, *ended)

    @staticmethod
    def read(results: Path, status: int, output: str) -> Verdict:
        """The verdict from what the checker has written."""
        try:
            found = json.loads(results.read_text(encoding="utf-8"))
            cases, variants = found["cases"], found["variants"]
        except (OSError, ValueError, KeyError):
            lines = [line for line in excerpt.without_make(output) if line.strip()]
            return Verdict(UNKNOWN, note=f"its check has failed: {lines[-1] if lines else excerpt.refusal(output)}")
        passed = sum(case["passed"] for case in cases)
        if status == 0 and passed == 0:
            return Verdict(SKIPPED, note=next((case["message"] for case in cases), ""))
        hangs = any("did not end within" in case["message"] for case in cases)
        return Verdict(DONE if status == 0 else FAILING, passed, len(cases),
                       "a run did not end in time" if hangs else "", variants)


def identity(compiler: str) -> bytes:
    """What tells one compiler of this name from another."""
    try:
        with open(shutil.which(compiler) or "", "rb") as file:
            start = file.read(1 << 16)
        return start + subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    except OSError:
        return b""


def add_files(digest, folder: Path, wanted) -> None:
    """Adds names and contents of the files below a folder to a digest."""
    for path in sorted(folder.rglob("*")):
        if wanted(path) and not path.name.startswith(".") and path.is_file():
            try:
                content = path.read_bytes()
            except OSError:
                content = b"unreadable"
            digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode("utf-8", "surrogateescape"))
            digest.update(content)


def write_json(path: Path, content: dict) -> None:
    """Writes a whole file or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)
