"""How the grader confines what it compiles and runs: builds common/grading/confine.cpp, finds out
what this machine can do, and puts the words together that stand before a command.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LEVELS = {
    "namespaces": None,
    "landlock": "processes that a submission leaves running are looked for, not shut in; each writes its "
                "temporary files where it runs",
    "limits": "a submission may read whatever the grader's user may, worked solutions among it, and write "
              "wherever that user may: grade in a container, or on Linux 5.13 or later",
}
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc/ld.so.cache", "/etc/ld.so.conf",
          "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime")

# Where root grades, submissions run as users whom nobody else is: one a worker, and others in another
# grading at the same time, because the kernel counts the processes of each user.
FIRST_USER, USERS_A_GRADING, GRADINGS = 64000, 32, 40


class CannotConfine(Exception):
    """confine does not compile, or holds on no level."""


def without(path: Path, hidden: list[Path]) -> list[Path]:
    """The path, or if something hidden lies inside it, all in it that does not lead there."""
    if any(path == place or place in path.parents for place in hidden):
        return []
    if not any(path in place.parents for place in hidden):
        return [path]
    return [part for inner in sorted(path.iterdir()) for part in without(inner, hidden)]


def outermost(paths: list[Path]) -> list[Path]:
    """Without those that lie in another one."""
    chosen: list[Path] = []
    for path in sorted(set(paths), key=lambda path: (len(path.parts), path)):
        if not any(other in path.parents for other in chosen):
            chosen.append(path)
    return chosen


@dataclass
class Confinement:
    """`words(...)` in front of a command confines it."""

    program: Path
    level: str
    readable: list[Path]  # what every program may see: the system, compilers and their libraries
    gpu: bool

    def words(self, slot: int, readable: list[Path] = (), options: list[str] = ()) -> list[str]:
        """`slot`: the number of the worker; options are those of confine.cpp."""
        place = os.getpid() % GRADINGS * USERS_A_GRADING + slot % USERS_A_GRADING
        user = ["--user", str(FIRST_USER + place)] if os.geteuid() == 0 else []
        shown = outermost([*self.readable, *readable])
        return [str(self.program), "--level", self.level, *user, *(["--gpu"] if self.gpu else []), *options,
                *(word for path in shown for word in ("--read", str(path))), "--"]

    def missing(self) -> str | None:
        """What this machine does not confine, as one sentence."""
        if self.level == "limits" and os.geteuid() == 0:
            return ("a submission may read whatever every user may: keep worked solutions and other submissions "
                    "from others' eyes, as `chmod -R go-rwx solutions tests` does")
        return LEVELS[self.level]


def visible(hidden: list[Path], tools: list[Path]) -> list[Path]:
    """What confined programs may read: the system and the folders of the tools, less what is hidden."""
    listed = [word for name in ("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "GRADE_READ")
              for word in os.environ.get(name, "").split(":") if word.startswith("/")]
    prefixes = [Path(tool).resolve().parent.parent for tool in [*tools, sys.executable]]
    wanted = [*map(Path, SYSTEM), *map(Path, listed), *prefixes, Path(sys.prefix), Path(sys.base_prefix)]
    # A tool in /bin has / as its prefix, which would show everything.
    wanted = [path for path in wanted if len(path.parts) > 1 and path.exists()]
    return outermost([part for path in wanted for part in without(path, hidden)])


def compile_confine(root: Path, compiler: str) -> Path:
    """The program, compiled once for each state of its source; gradings at the same time may meet."""
    source = root / "common/grading/confine.cpp"
    digest = hashlib.sha256(source.read_bytes() + compiler.encode()).hexdigest()[:16]
    target = root / "build/confine" / digest
    if os.access(target, os.X_OK):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{digest}.{os.getpid()}")
    result = subprocess.run([compiler, "-std=c++17", "-O2", str(source), "-o", str(temporary)], text=True,
                            capture_output=True, check=False)
    if result.returncode != 0:
        temporary.unlink(missing_ok=True)
        raise CannotConfine(f"{source.name} does not compile with {compiler}:\n{result.stderr}")
    return temporary.replace(target)


def strongest(program: Path, readable: list[Path], gpu: bool, wanted: str = "") -> Confinement:
    """The first level that holds on this machine, or the one that is wanted."""
    said = ""
    for level in [wanted] if wanted else LEVELS:
        confinement = Confinement(program, level, readable, gpu)
        words = confinement.words(0)
        result = subprocess.run([*words[:-1], "--probe"], text=True, capture_output=True, cwd="/", check=False)
        if result.returncode == 0:
            return confinement
        said = result.stderr.strip()
    raise CannotConfine(said or "no level of confinement holds here")
