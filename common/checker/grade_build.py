"""Compiles what was submitted, by the commands that `make build` uses, but confined."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .exercises import include_paths
from .grade_collect import Work, main_file
from .grade_confine import COMPILER_MIB, Confinement, bus, here, scope
from .sanitize import argument_lists

SECONDS = 300
SHOWN_LINES = 30

# make itself says what it would use: a goal that prints the variables of common/lab.mk, and on the CPU
# makes the runtime that all programs are linked with.
QUESTION = """show-tools: ; @$(if $(filter cpu,$(backend)),$(build_runtime) &&) printf '%s\\n' \
$(foreach name,backend reason flags nvcc architectures CXX PYTHON LAB_SMALL,$(call quote,$(name)=$($(name)))) \
"CPLUS_INCLUDE_PATH=$$CPLUS_INCLUDE_PATH" "LIBRARY_PATH=$$LIBRARY_PATH" "CPU_LDFLAGS=$$CPU_LDFLAGS"
"""
# What the submissions' programs get to see of the environment; the rest may hold secrets.
KEPT = ("PATH", "LD_LIBRARY_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "CPU_CXXFLAGS", "CPU_LDFLAGS",
        "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_CPU_DEVICE", "NVCC_APPEND_FLAGS",
        "NVCC_PREPEND_FLAGS", "HOME")


class NoTools(Exception):
    """make refuses to build for this backend; the text is what it said."""


@dataclass(frozen=True)
class Tools:
    """What compiles one lab."""

    backend: str
    reason: str
    flags: str
    nvcc: str
    cxx: str
    python: str
    environment: dict[str, str]

    small: list[list[str]]  # the arguments of the lab's small runs

    def command(self, root: Path, source: Path, program: Path, watched: bool = False) -> list[str]:
        """What compiles a source; `watched`: on the CPU, to look for races and count who stores."""
        if self.backend == "gpu":
            return [self.nvcc, *shlex.split(self.flags), *include_paths(source), "-o", str(program), str(source)]
        flags = ["--flags", self.flags] if self.flags else []
        runtime = watched_runtime(root) if watched else root / "build/cpu/runtime.a"
        return [*self.compile_script(root), *["--sanitize", "races"] * watched, *flags,
                "--runtime-object", str(runtime), str(source), "-o", str(program)]

    def compile_script(self, root: Path) -> list[str]:
        return ["bash", str(root / "common/cpu/compile.sh"), "--cxx", self.cxx, "--python", self.python]

    def build_watched_runtime(self, root: Path) -> None:
        """What programs that are watched are linked with, if it is not up to date. NoTools: it does not compile."""
        watched_runtime(root).parent.mkdir(parents=True, exist_ok=True)
        result = subprocess.run([*self.compile_script(root), "--sanitize", "races", "--runtime", "-o", str(watched_runtime(root))],
                                text=True, capture_output=True, check=False, env={**os.environ, **self.environment})
        if result.returncode != 0:
            raise NoTools(result.stderr.strip())


def base_environment() -> dict[str, str]:
    """The part of this process's environment that confined programs may see, and fixed settings.

    Two threads for the CPU's blocks, whatever the machine: more workers must not change a verdict,
    and one thread alone would hide races between blocks.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
            "CUDA_CPU_THREADS": "2", "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1"}


def find_tools(root: Path, lab: str) -> Tools:
    """Asks make what `make build LAB=...` would use here."""
    result = subprocess.run(["make", "-s", "--no-print-directory", "-C", str(root / "labs" / lab),
                             "MAKECMDGOALS=build", f"--eval={QUESTION}", "show-tools"],
                            text=True, capture_output=True, check=False)
    if result.returncode != 0:
        raise NoTools(result.stderr.strip())
    answer = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    environment = {name: answer[name] for name in ("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "CPU_LDFLAGS")
                   if answer[name].strip()}
    return Tools(answer["backend"], answer["reason"], answer["flags"].strip(), answer["nvcc"], answer["CXX"],
                 answer["PYTHON"], environment, argument_lists(shlex.split(answer["LAB_SMALL"])))


def lay_out(root: Path, folder: Path, work: Work) -> Path:
    """A folder like the course with this one lab in it; returns the main source's place in it."""
    sources = folder / "labs" / work.lab
    sources.mkdir(parents=True)
    for name, text in work.files:
        (sources / name).parent.mkdir(exist_ok=True)
        (sources / name).write_bytes(text)
    (folder / "common").mkdir()
    for path in common_sources(root):
        (folder / "common" / path.name).symlink_to(path)
    (folder / "program").mkdir()
    return Path("labs") / work.lab / main_file(work.lab)


def shorten(text: str, folder: Path, root: Path) -> str:
    """Paths as the student knows them, from the course's folder; none of the grader's own."""
    for place in (folder, root):
        text = text.replace(f"{place}/", "").replace(str(place), ".")
    return text


def common_sources(root: Path) -> list[Path]:
    """What a lab may include, and what compiles it: the checkers are no part of that."""
    return [*sorted((root / "common").glob("*.h")), root / "common/lab", root / "common/cpu"]


def run_tool(root: Path, folder: Path, confinement: Confinement, tools: Tools, command: list[str], seconds: int = SECONDS,
             typed: str = "") -> tuple[int, str]:
    """How a compiler or another tool ends that reads a work's sources or programs, and what it says, a MiB at most."""
    runtimes = [path for runtime in (root / "build/cpu/runtime.a", watched_runtime(root)) if runtime.is_file()
                for path in (runtime, *runtime.parent.glob("*.gch"))]
    packages = root / "build/packages"  # what set-up has unpacked for lack of root
    readable = [folder / "labs", folder / "common", *common_sources(root), *runtimes, *([packages] if packages.is_dir() else [])]
    words = here(confinement.of_compiler(readable, folder / "program", seconds), folder)
    with open(folder / "said.txt", "w+b") as output, open(folder / "typed.txt", "w+", encoding="ascii") as given:
        given.write(typed)
        given.seek(0)
        status = subprocess.run([*scope(max(confinement.memory_mib, COMPILER_MIB)), *words, *command], cwd=folder, stdin=given,
                                stdout=output, stderr=subprocess.STDOUT, check=False,
                                env={**base_environment(), **bus(), **tools.environment, "TMPDIR": str(folder / "program")}).returncode
        output.seek(0)
        return status, output.read(1 << 20).decode("utf-8", "replace")


def watched_runtime(root: Path) -> Path:
    """Where checker.sanitize, too, has the runtime of programs that look for races."""
    return root / "build/sanitize/races/runtime.a"


def compile_work(root: Path, folder: Path, work: Work, tools: Tools, confinement: Confinement) -> str | None:
    """Compiles into folder/program/; returns None, or what the compiler had to say against it."""
    source = lay_out(root, folder, work)
    target = folder / "program" / main_file(work.lab).removesuffix(".cu")
    status, text = run_tool(root, folder, confinement, tools, tools.command(root, source, target))
    if status == 0 and target.is_file():
        return None
    lines = shorten(text, folder, root).splitlines()
    errors = [line for line in lines if "error:" in line or line.startswith("confine: ")]
    first = errors[:1] if errors and errors[0] not in lines[:SHOWN_LINES] else []
    more = [f"... and {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else []
    return "\n".join([*first, *(line[:400] for line in lines[:SHOWN_LINES]), *more]) or f"the compiler ended with {status}"
