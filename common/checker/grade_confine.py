"""How the grader confines what it compiles and runs: bubblewrap where it works, else what
common/grading/confine.cpp can do alone. Finds out what holds here, and puts the words together that
stand before a command.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

LEVELS = {
    "bubblewrap": None,
    "landlock": "a submission can find out whether a file exists, and how large it is, by its name",
    "limits": "a submission may read whatever the grader's user may, worked solutions among it, and write "
              "wherever that user may: install bubblewrap, grade in a container, or on Linux 5.13 or later",
}
COMPILER_MIB = 600  # that a compiler has in any case: lab 14 takes 440
HERE = "@HERE@"  # in words: the folder in which a launcher's script is started
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc/ld.so.cache", "/etc/ld.so.conf",
          "/etc/ld.so.conf.d", "/etc/alternatives")
PARTS_OF_A_TOOL = ("lib", "lib64", "libexec", "include")  # all that is shown of a prefix that is somebody's home
# All that a program sees of the system, besides the loader: no other program, no compiler, no Python.
LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2",
             "librt.so.1", "libgomp.so.1", "libatomic.so.1", "libc++.so.1", "libc++abi.so.1", "libunwind.so.1")
DRIVER = re.compile(r"=> (/\S*/lib(?:cuda|nvidia|cudadebugger)\S*)$", re.MULTILINE)
WSL = "/usr/lib/wsl"  # lib has what a program loads, which loads the driver of Windows out of drivers
OF_A_CARD = ("/sys", "/proc/driver", "/proc/devices")  # what a card's driver reads
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def devices(gpu: bool) -> list[str]:
    """Those that harm nobody, and the cards."""
    return [*DEVICES, *(sorted(map(str, Path("/dev").glob("nvidia*"))) + ["/dev/dxg"] if gpu else [])]


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


def parts_of(tool: Path) -> list[Path]:
    """What a tool consists of: the folder that its bin lies in, unless that is a home or leads to one."""
    prefix = tool.resolve().parent.parent
    homes = {Path.home(), Path(os.path.expanduser("~")), *Path("/home").glob("*"), Path("/root")}
    if not any(prefix == home or prefix in home.parents for home in homes):
        return [prefix]
    return [tool, tool.resolve(), *(prefix / part for part in PARTS_OF_A_TOOL if (prefix / part).is_dir())]


def for_compilers(hidden: list[Path], tools: list[Path]) -> list[Path]:
    """What compilers may read: the system and the folders of the tools, less what is hidden."""
    listed = [word for name in ("CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "GRADE_READ")
              for word in os.environ.get(name, "").split(":") if word.startswith("/")]
    bases = [part for prefix in (sys.prefix, sys.base_prefix) for part in parts_of(Path(prefix, "bin/python3"))]
    wanted = [*map(Path, SYSTEM), *map(Path, listed), *bases,
              *(part for tool in [*tools, sys.executable] for part in parts_of(Path(tool)))]
    # A tool in /bin has / as its prefix, which would show everything.
    wanted = [path for path in wanted if len(path.parts) > 1 and path.exists()]
    return outermost([part for path in wanted for part in without(path, hidden)])


def output_of(*words: str) -> str:
    try:
        return subprocess.run(words, text=True, capture_output=True, check=False).stdout
    except OSError:
        return ""


def for_programs(confine: Path, compiler: str, gpu: bool) -> list[Path]:
    """What a compiled program may read: the libraries of its language, and a card's driver."""
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found = [output_of(compiler, f"-print-file-name={name}").strip() for name in LIBRARIES]
    found += [f"{folder}/{name}" for folder in folders for name in LIBRARIES]
    found += re.findall(r"/\S+", output_of("ldd", str(confine)))  # the loader is among them
    if gpu:
        found += DRIVER.findall(output_of("/sbin/ldconfig", "-p"))
        found += [str(path) for folder in folders if folder for kind in ("cuda", "nvidia") for path in Path(folder).glob(f"lib{kind}*")]
    found += ["/etc/ld.so.cache", WSL if gpu else ""]
    places = [Path(os.path.normpath(name)) for name in found if name.startswith("/")]
    # The loader looks a library up in a folder's true place, or by links that bubblewrap makes, too.
    return outermost([path.parent.resolve() / path.name for path in places if path.exists()])


@dataclass
class Confinement:
    """`of_program(...)` or `of_compiler(...)` in front of a command confines it."""

    confine: Path
    level: str
    compilers: list[Path]
    libraries: list[Path]
    gpu: bool
    bubblewrap: tuple[str, ...] = ()  # and how it makes its namespaces
    memory_mib: int = 2048

    def of_program(self, readable: list[Path], around: Path, seconds: int) -> list[str]:
        """In front of a program that works in the folder where it is started, one in `around`, for so many seconds of
        a processor."""
        return self.words([*self.libraries, *readable], around / HERE, [], ["--processor-seconds", str(seconds)], self.gpu,
                          self.memory_mib)

    def of_compiler(self, readable: list[Path], folder: Path, seconds: int) -> list[str]:
        """In front of a compiler that writes to the folder."""
        return self.words([*self.compilers, *readable], folder, ["--seconds", str(seconds)], ["--tools"], False,
                          max(self.memory_mib, COMPILER_MIB))

    def words(self, readable: list[Path], folder: Path, watched: list[str], inside: list[str], gpu: bool,
              memory_mib: int) -> list[str]:
        shown = outermost([*readable, self.confine])
        writable = HERE if folder.name == HERE else str(folder)
        place = ["--write", writable, "--memory", str(memory_mib)]
        if gpu:
            shown = outermost([*shown, *map(Path, OF_A_CARD)])
        landlock = [word for path in shown for word in ("--read", str(path))]
        return [str(self.confine), "watch", *place, *watched, "--",
                *(self.view(shown, folder, gpu) if self.level == "bubblewrap" else []),
                str(self.confine), "inside", "--at", HERE, *place, *inside, *(["--gpu"] if gpu else []),
                *(["--landlock", *landlock] if self.level == "landlock" else []), "--"]

    def view(self, shown: list[Path], folder: Path, gpu: bool) -> list[str]:
        """bubblewrap: namespaces of its own, and of the files only those that are shown."""
        # Process 1 is bubblewrap's own and has no filter of calls: nobody gets at its memory.
        words = [*self.bubblewrap, "--die-with-parent", "--proc", "/proc", "--size", "4096", "--tmpfs", "/proc/1",
                 "--remount-ro", "/proc/1", "--size", "65536", "--tmpfs", "/dev"]
        words += [word for name in devices(gpu) for word in ("--dev-bind-try", name, name)]
        # bubblewrap would make the folders on the way for their owner alone, and root becomes another user.
        parents = {parent for path in [*shown, folder] for parent in path.parents} - {Path("/"), Path(".")}
        words += [word for parent in sorted(parents) for word in ("--perms", "0755", "--dir", str(parent))]
        for path in shown:
            if path.parts[1] == "proc":
                continue  # is there, with its own processes
            words += (["--symlink", os.readlink(path), str(path)] if path.is_symlink() and path.parent == Path("/")
                      else ["--ro-bind", str(path), str(path)])
        for name in ("/lib", "/lib64"):
            if Path(name) not in shown and os.path.islink(name):
                words += ["--symlink", os.readlink(name), name]
        here = HERE if folder.name == HERE else str(folder)
        return [*words, "--bind", here, here, "--remount-ro", "/dev", "--remount-ro", "/", "--"]

    def missing(self) -> str | None:
        """What this machine does not confine, as one sentence."""
        if self.level == "limits" and os.geteuid() == 0:
            return ("a submission may read whatever every user may: keep worked solutions and other submissions "
                    "from others' eyes, as `chmod -R go-rwx solutions tests` does")
        return LEVELS[self.level]


def here(words: list[str], folder: Path) -> list[str]:
    """The words of a command that is started in this folder."""
    return [str(folder) if word == HERE else word for word in words]


BUS = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")  # where a user's systemd is asked


def bus() -> dict[str, str]:
    return {name: os.environ[name] for name in BUS if name in os.environ}


def scope(memory_mib: int) -> list[str]:
    """In front of a command: a control group (cgroups v2) of its own for all that it starts, made by systemd. What no
    watcher sees counts there, too: pages of files, and memory that is gone in a moment. Nothing where there is none."""
    words = ["systemd-run", *([] if os.geteuid() == 0 else ["--user"]), "--scope", "--quiet", "--collect",
             "-p", f"MemoryMax={memory_mib}M", "-p", "MemorySwapMax=0", "-p", "TasksMax=400", "--"]
    return [*words, "env", *(word for name in BUS for word in ("-u", name))] if has_systemd() else []


@lru_cache
def has_systemd() -> bool:
    words = ["systemd-run", *([] if os.geteuid() == 0 else ["--user"]), "--scope", "--quiet", "--collect", "-p", "MemoryMax=64M", "--"]
    try:
        return subprocess.run([*words, "true"], capture_output=True, check=False, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


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


def strongest(confine: Path, compiler: str, hidden: list[Path], tools: list[Path], gpu: bool, memory_mib: int = 2048,
              wanted: str = "") -> Confinement:
    """The first level that holds on this machine, or the one that is wanted."""
    said = ""
    libraries = for_programs(confine, compiler, gpu)
    if gpu and wanted == "landlock":
        raise CannotConfine("a card's driver does not work under landlock: bubblewrap or limits")
    for level in [wanted] if wanted else [level for level in LEVELS if not gpu or level != "landlock"]:
        for way in ways_of_bubblewrap() if level == "bubblewrap" else [()]:
            found = Confinement(confine, level, for_compilers(hidden, tools), libraries, gpu, way, memory_mib)
            said = trial(found)
            if not said:
                return found
    if os.geteuid() == 0 and "Permission denied" in said:
        said += " (where root grades without bubblewrap, everybody must be able to reach the course's folder)"
    raise CannotConfine(said or "no level of confinement holds here")


def ways_of_bubblewrap() -> list[tuple[str, ...]]:
    """Root makes the namespaces itself, and becomes another user inside; whoever is not root needs one of users. None
    may be made within, where this bubblewrap can say so; the filter of calls says it, too."""
    unpacked = Path(__file__).resolve().parents[2] / "build/packages/usr/bin"  # where set-up had no root
    program = shutil.which("bwrap", path=f"{os.environ.get('PATH', '')}:{unpacked}") or "bwrap"
    if os.geteuid() == 0:
        kinds = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
        return [(program, *kinds, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")]
    return [(program, "--unshare-all", "--unshare-user", "--disable-userns"), (program, "--unshare-all")]


def trial(confinement: Confinement) -> str:
    """What does not hold here, or nothing."""
    secret = "/etc/passwd" if confinement.level != "limits" else "/nowhere"
    folder = confinement.confine.parent / f"trial-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    try:
        words = here(confinement.of_program([], folder.parent, 10), folder)
        result = subprocess.run([*words, str(confinement.confine), "try", secret], text=True, capture_output=True,
                                cwd=folder, check=False)
        return result.stderr.strip() or f"it ended with {result.returncode}" if result.returncode else ""
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
