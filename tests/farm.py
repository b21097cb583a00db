"""Work shared by the tests: compiling and running, each thing once, ahead of the test that asks.

`call(function, *arguments)` gives the result of a function and remembers it. `ahead(...)` has the
same work done in the background, so that all cores are busy while the tests go through one by one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "tests"
TREE = BUILD / "tree"  # generated sources, two folders deep, so that ../../common is the common folder
SESSION = BUILD / f"session-{os.getpid()}"  # folders that one pytest has to itself
BACKEND = os.environ.get("BACKEND") or "cpu"
SOURCE_SUFFIXES = (".cu", ".cuh", ".h", ".cpp", ".py", ".sh")

sys.path.insert(0, str(ROOT / "common"))
import together  # noqa: E402
from checker import exercises  # noqa: E402
from checker.profiling import find_command  # noqa: E402


# Memory of what is done


class Entry:
    def __init__(self):
        self.lock = threading.Lock()
        self.done = False
        self.result = None
        self.error: Exception | None = None


entries: dict[tuple, Entry] = {}
entries_lock = threading.Lock()
running: set[subprocess.Popen] = set()
closed = threading.Event()
# One worker a core: a test that waits for one of them leaves its own core to the next. What the present test does
# itself goes before what later ones will ask for.
pool = ThreadPoolExecutor(os.cpu_count() or 2,
                          initializer=lambda: os.nice(5))
# More programs than this slow each other down when they all start a context on one card.
checks_at_once = threading.Semaphore(4)


def call(function, *arguments):
    """The result of function(*arguments), worked out at most once; its error is remembered too."""
    with entries_lock:
        entry = entries.setdefault((function, *arguments), Entry())
    with entry.lock:
        if not entry.done:
            try:
                entry.result = function(*arguments)
            except Exception as error:
                entry.error = error
            entry.done = True
    if entry.error:
        raise entry.error
    return entry.result


def ahead(function, *arguments) -> None:
    """Does the work in the background; errors show when a test calls."""

    def work():
        try:
            if not closed.is_set():
                call(function, *arguments)
        except Exception:
            pass

    pool.submit(work)


def close() -> None:
    """Stops what is still running or waiting."""
    closed.set()
    pool.shutdown(wait=False, cancel_futures=True)
    for process in list(running):
        end_group(process)


def end_group(process: subprocess.Popen) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def remove_old_sessions() -> None:
    """Removes what earlier sessions left; failing ones leave files to look at."""
    for path in BUILD.glob("session-*"):
        number = path.name.split("-")[1]
        if not Path("/proc", number).exists():
            shutil.rmtree(path, ignore_errors=True)


# Running

AT_START = dict(os.environ)


def own_environment() -> dict[str, str]:
    """A test may change os.environ for itself; what is done ahead of other tests has the one of the start."""
    return dict(os.environ) if threading.current_thread() is threading.main_thread() else AT_START


def run(program, *arguments, env: dict[str, str] | None = None, timeout: float = 120, cwd=None,
        input: str | None = None) -> subprocess.CompletedProcess:
    """Runs a program to its end and returns status, stdout and stderr; a hang is an AssertionError."""
    words = [str(program), *map(str, arguments)]
    environment = {**own_environment(), "PYTHONDONTWRITEBYTECODE": "1", **(env or {})}
    # A session of its own, so that a program that hangs goes with everything that it started.
    process = subprocess.Popen(words, cwd=cwd, env=environment, text=True, errors="replace",
                               stdin=subprocess.PIPE if input is not None else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    running.add(process)
    try:
        stdout, stderr = process.communicate(input=input, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"not finished after {timeout:g} s: {shlex.join(words)}")
    finally:
        running.discard(process)
        if process.poll() is None:
            end_group(process)
            process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


# Compiling


@dataclass(frozen=True)
class Build:
    """What a compiler made of one source."""

    program: Path
    status: int
    output: str  # everything that the compiler printed

    def __bool__(self) -> bool:
        return self.status == 0


def cxx() -> str:
    """The compiler for the CPU."""
    return os.environ.get("CXX") or "g++"


def find_nvcc() -> str | None:
    """nvcc from NVCC, CUDA_HOME, the PATH or the usual places."""
    named = os.environ.get("NVCC")
    return shutil.which(named) if named else find_command("nvcc", ())


def fingerprint(*paths: Path) -> str:
    """A digest of the source files given, and of those in the folders given and below."""
    digest = hashlib.sha256()
    for start in paths:
        for path in [start, *sorted(start.rglob("*"))]:
            if path.suffix in SOURCE_SUFFIXES and path.is_file():
                digest.update(f"{path.relative_to(start.parent)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def common_fingerprint() -> str:
    """A digest of all that every program depends on."""
    return fingerprint(ROOT / "common/cpu", ROOT / "common/lab", *sorted((ROOT / "common").glob("*.h")))


def compile_command(source: Path, program: Path, backend: str, debug: bool, flags: str) -> list[str]:
    if backend == "cpu":
        words = [str(ROOT / "common/cpu/compile.sh"), "--cxx", cxx(),
                 "--python", sys.executable, "--runtime-object", str(call(runtime, "cpu-debug" if debug else "cpu"))]
        words += ["--debug"] if debug else []
        words += ["--flags", flags] if flags else []
        return [*words, str(source), "-o", str(program)]
    nvcc = find_nvcc()
    assert nvcc, "BACKEND=gpu needs nvcc"
    ccbin = ["-ccbin", os.environ["CCBIN"]] if os.environ.get("CCBIN") else []
    level = ["-G", "-g", "-O0", "-DLAB_DEBUG"] if debug else ["-O3", "-lineinfo"]
    return [nvcc, "-std=c++17", *level, *architecture_flags(), *ccbin, "-Xcompiler", "-Wall",
            *shlex.split(flags), *exercises.include_paths(source), str(source), "-o", str(program)]


def architecture_flags() -> list[str]:
    """For the architectures of ARCH (sm_75 sm_90), otherwise for the card that is there."""
    numbers = re.findall(r"\d+[a-z]?", os.environ.get("ARCH", ""))
    return [f"-gencode=arch=compute_{number},code=sm_{number}" for number in numbers] or ["-arch=native"]


def runtime(place: str = "cpu") -> Path:
    """The CPU runtime of one of these folders below build/, which make uses, too: cpu, cpu-debug, sanitize/races, ..."""
    target = ROOT / "build" / place / "runtime.a"
    flavour = {"cpu": [], "cpu-debug": ["--debug"]}.get(place, ["--sanitize", Path(place).name])
    built = run(ROOT / "common/cpu/compile.sh", "--cxx", cxx(), *flavour, "--runtime", "-o", target, timeout=600)
    assert built.returncode == 0, f"the CPU runtime does not compile:\n{built.stderr}"
    return target


def precompile_headers(flags: str) -> None:
    """Those of labs, for programs with these flags, beside their runtime."""
    made = run(ROOT / "common/cpu/compile.sh", "--cxx", cxx(), "--headers", call(runtime, "cpu").parent, "--flags", flags, timeout=600)
    assert made.returncode == 0, made.stderr


def lend_runtimes(course: Path, *places: str) -> None:
    """Gives a copy of the course these runtimes: they are up to date there as they are here."""
    for place in places:
        lent = call(runtime, place)
        (course / "build" / place).mkdir(parents=True)
        for path in (lent, lent.with_name("runtime.a.made")):
            shutil.copy(path, course / "build" / place)


def compile_cached(command: list[str], target: Path, sources: str) -> Build:
    """Runs the compiler unless the same command has already made the target of the same sources."""
    environment = [os.environ.get(name, "") for name in ("CPU_CXXFLAGS", "CPU_LDFLAGS")]
    key = hashlib.sha256("\n".join([*command, *environment, sources,
                                    call(common_fingerprint)]).encode()).hexdigest()
    stamp, log = (target.with_name(target.name + suffix) for suffix in (".stamp", ".log"))
    if target.exists() and stamp.exists() and log.exists() and stamp.read_text() == key:
        return Build(target, 0, log.read_text())
    stamp.unlink(missing_ok=True)
    result = run(*command, timeout=600)
    output = result.stdout + result.stderr
    if result.returncode == 0:
        log.write_text(output)
        stamp.write_text(key)
    return Build(target, result.returncode, output)


def compile_source(source: Path, name: str = "", backend: str = "", debug: bool = False,
                   flags: str = "") -> Build:
    """Compiles one .cu file into build/tests/<backend>/<name>/ and says how it went."""
    source, backend = (ROOT / source), backend or BACKEND
    folder = BUILD / (backend + ("-debug" if debug else "")) / (name or source.stem)
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / source.stem
    command = compile_command(source, program, backend, debug, flags)
    # A folder of labs is small; tests/programs holds many programs that have nothing to share.
    alone = source.parent == ROOT / "tests/programs"
    given = [folder for name in exercises.GIVEN if (folder := ROOT / "labs" / source.parent.name / name).is_dir()]
    return compile_cached(command, program, fingerprint(source if alone else source.parent, *given))


def build(source, name: str = "", backend: str = "", debug: bool = False, flags: str = "") -> Path:
    """The program of a CUDA source (a path from the course's folder), which must compile."""
    built = call(compile_source, Path(source), name, backend, debug, flags)
    assert built, f"{source} does not compile:\n{built.output}"
    return built.program


# Labs


def labs() -> list[str]:
    """The labs that are there, by listing."""
    folders = [*(ROOT / "labs").glob("[0-9][0-9]_*"), *(ROOT / "solutions").glob("[0-9][0-9]_*")]
    return sorted({path.name for path in folders if path.is_dir()})


def source_name(lab: str) -> str:
    return lab.split("_", 1)[1] + ".cu"


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


def has_further(lab: str) -> bool:
    return (ROOT / "labs" / lab / "further").is_dir()


def lab_flags(lab: str, backend: str, further: bool = False) -> str:
    """What the lab's Makefile asks of nvcc, or of the compiler for the CPU; further: with the variants of further/."""
    flags = exercises.flags_of(ROOT / "labs" / lab)
    asked = ["-DLAB_FURTHER"] if further and has_further(lab) else []
    if backend == "cpu":
        return " ".join([flags["LAB_CXX_FLAGS"], *asked]).strip()
    return " ".join([flags["LAB_NVCC_FLAGS"], *asked, *(f"-Xcompiler {flag}" for flag in flags["LAB_CXX_FLAGS"].split())]).strip()


def load_faults(lab: str) -> list:
    """The planted faults of a lab."""
    path = ROOT / "tests" / "faults" / f"{lab}.py"
    if not path.is_file():
        return []
    specification = importlib.util.spec_from_file_location(f"faults_of_{lab}", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    if BACKEND == "gpu":
        return [replace(fault, caught=fault.on_card or fault.caught) for fault in module.FAULTS]
    return module.FAULTS


def plant(kind: str, folder: str, files: dict[str, str]) -> Path:
    """Writes sources (by name from the folder) to build/tests/tree/<kind>/<folder>; ../../common is the common folder there."""
    TREE.mkdir(parents=True, exist_ok=True)
    try:
        (TREE / "common").symlink_to(os.path.relpath(ROOT / "common", TREE))
    except FileExistsError:
        pass
    target = TREE / kind / folder
    target.mkdir(parents=True, exist_ok=True)
    for path in target.rglob("*"):
        if path.is_file() and str(path.relative_to(target)) not in files:
            path.unlink()
    for name, text in files.items():
        path = target / name
        path.parent.mkdir(exist_ok=True)
        # Another pytest may be compiling the same file at this moment.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return target


def solution_file(lab: str, name: str) -> Path:
    path = ROOT / "solutions" / lab / name
    return path if path.is_file() else ROOT / "labs" / lab / name


def solution_files(lab: str) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8")
            for path in sorted((ROOT / "solutions" / lab).iterdir()) if path.is_file()} | exercises.given_files(ROOT / "labs" / lab)


def broken_file(lab: str, fault, files: dict[str, str]) -> str:
    """The file that a fault is planted in, by its name from the lab's folder."""
    name = fault.file or source_name(lab)
    return next(path for path in files if Path(path).name == name)


def is_further(lab: str, fault) -> bool:
    """Is the fault in the variants of further/? Else it is planted in a program without them."""
    return fault.further or (ROOT / "labs" / lab / "further" / (fault.file or source_name(lab))).is_file()


def generated_exercise(lab: str) -> Path:
    """The folder of an exercise, fresh from its solution; the learner's own file is never looked at."""
    return plant("exercises", lab, exercises.exercise_files(ROOT / "solutions" / lab) | exercises.given_files(ROOT / "labs" / lab))


def compile_lab(lab: str, kind: str, fault=None) -> Build:
    """Compiles a lab's solution, exercise, or solution with a planted fault."""
    if kind == "faults":
        return compile_fault(lab, fault)
    if kind == "exercises" and BACKEND == "cpu":
        return compile_exercise(lab)
    folder = ROOT / "solutions" / lab if kind == "solutions" else call(generated_exercise, lab)
    return compile_source(folder / source_name(lab), f"{kind}/{lab}", BACKEND, False,
                          lab_flags(lab, BACKEND, kind == "solutions"))


# Faults are many. On the CPU those of a lab share a compilation, and the exercise is one of them.


def compile_exercise(lab: str) -> Build:
    """The joined program as the exercise; of the exercise's own source only what the compiler says is asked."""
    source = call(generated_exercise, lab) / source_name(lab)
    folder = BUILD / "cpu/exercises" / lab
    folder.mkdir(parents=True, exist_ok=True)
    words = compile_command(source, folder / "nothing", "cpu", False, lab_flags(lab, "cpu"))
    said = run(words[0], "--only-say", *words[1:])
    _, built = call(compile_together, lab)
    assert built, f"the joined faults of {lab} do not compile:\n{built.output}"
    return Build(linked(built.program, folder / source.stem), said.returncode, said.stdout + said.stderr)


def linked(program: Path, name: Path) -> Path:
    """The joined program under another name: it asks for the folder that it lies in."""
    name.parent.mkdir(parents=True, exist_ok=True)
    name.unlink(missing_ok=True)
    name.hardlink_to(program)
    return name


def fault_name(lab: str, fault) -> str:
    return f"{lab}-{slug(fault.name)}"


def planted_fault(lab: str, fault) -> Path:
    """The source of a solution with a fault."""
    files = solution_files(lab)
    broken = broken_file(lab, fault, files)
    files[broken] = fault.apply(files[broken])
    return plant("faults", fault_name(lab, fault), files) / source_name(lab)


def compile_fault(lab: str, fault) -> Build:
    """A solution with a fault, compiled with others of its lab where it can be, else alone."""
    name = f"faults/{fault_name(lab, fault)}"
    faults, built = call(compile_together, lab) if BACKEND == "cpu" else ([], None)
    if not built or fault not in faults:
        return compile_source(planted_fault(lab, fault), name, BACKEND, False, lab_flags(lab, BACKEND, is_further(lab, fault)))
    return Build(linked(built.program, BUILD / BACKEND / name / source_name(lab).removesuffix(".cu")), 0, built.output)


# In half the time of -O1 with its vectorised loops; the cases are small.
QUICK = "-Og -fno-tree-loop-vectorize -fno-tree-slp-vectorize -fno-tree-vrp" if "clang" not in cxx() else "-Og"


def compile_together(lab: str) -> tuple[list, Build]:
    """One program that is any of a lab's faults, or its exercise, as together.py says; and which these faults are."""
    faults, source = joined(lab, "together", [fault for fault in load_faults(lab) if "cpu" in fault.backends],
                            call(generated_exercise, lab))
    call(precompile_headers, QUICK)
    flags = f"{lab_flags(lab, 'cpu', True)} -Werror=return-type {QUICK}"
    return faults, compile_source(source, f"faults_together/{lab}", "cpu", False, flags)


def watched_together(lab: str, further: bool) -> tuple[list, Path]:
    """One source that is any of a lab's faults that watched cases tell; and which these are."""
    return joined(lab, "watched_further" if further else "watched",
                  [fault for fault in load_faults(lab) if fault.watched and is_further(lab, fault) == further])


def joined(lab: str, kind: str, wanted: list, exercise: Path | None = None) -> tuple[list, Path]:
    """Those of the faults that can be joined, and the source that is any of them; also the exercise, by the lab's name."""
    files = solution_files(lab)
    faults, broken = [], {}
    for fault in wanted:
        try:
            file = broken_file(lab, fault, files)
            own = {len(faults): planted_fault(lab, fault).parent / file}
            together.join(solution_file(lab, file), own)
        except ValueError:  # it cannot be planted, or breaks more than the body of a function
            continue
        broken.setdefault(file, {}).update(own)
        faults.append(fault)
    for file in files if exercise else ():
        if (exercise / file).read_text(encoding="utf-8") != files[file]:
            broken.setdefault(file, {})[len(faults)] = exercise / file
    texts = {file: together.join(solution_file(lab, file), own) for file, own in broken.items()}
    texts["planted.h"] = together.header([*(fault_name(lab, fault) for fault in faults), lab])
    return faults, plant(kind, lab, files | texts) / source_name(lab)


idle_judges: list[tuple[list, subprocess.Popen]] = []
judges_lock = threading.Lock()


def judge_of(checker: list) -> subprocess.Popen:
    """A checker (the file, and what it must know as it begins), loaded, or none in particular: an idle one, or a new one in
    place of another's."""
    with judges_lock:
        own = [judge for judge in idle_judges if judge[0] == checker]
        found = (own or idle_judges or [None])[0]
        if found:
            idle_judges.remove(found)
        if own:
            return found[1]
    if found:
        found[1].communicate()  # it ends with its input
        running.discard(found[1])
    judge = subprocess.Popen([sys.executable, ROOT / "tests/judge.py", *checker], text=True, bufsize=1, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, start_new_session=True,
                             env={**AT_START, "PYTHONDONTWRITEBYTECODE": "1", "OMP_WAIT_POLICY": "passive"})
    running.add(judge)
    return judge


def check(lab: str, program: Path, *options, planted: str = "") -> subprocess.CompletedProcess:
    """Runs the lab's checker on a program. planted: the name of a fault, for a watched program that is any of several."""
    kept = SESSION / "checks" / program.relative_to(BUILD).parent
    words = [str(word) for word in ("--program", program, "--keep", kept, "--workers", 1, "--all", *options)]
    checker = [ROOT / "labs" / lab / "check.py", *(word for word in words if word == "--further")]
    with checks_at_once:
        return ask_judge(checker, [planted, *words])


def ask_judge(checker: list, words: list) -> subprocess.CompletedProcess:
    """How a checker ends, see judge.py."""
    judge = judge_of(checker)
    patience = threading.Timer(600, end_group, [judge])
    patience.start()
    answer = judge.stdin.write(json.dumps(words) + "\n") and judge.stdout.readline()
    patience.cancel()
    assert answer, f"a checker does not load, or has not finished after 600 s: {words}"
    idle_judges.append((checker, judge))
    return subprocess.CompletedProcess(words, *json.loads(answer))


def run_checker(script: Path, *options) -> subprocess.CompletedProcess:
    """Runs a check.py in the present environment."""
    environment = {**own_environment(), "PYTHONDONTWRITEBYTECODE": "1"}
    return ask_judge([], [environment, *map(str, (script, *options))])


def watched_options(lab: str, source: Path, further: bool = False) -> list:
    """What makes the checker run its watched cases on a program of this source."""
    return ["--source", source, f"--flags={lab_flags(lab, 'cpu', further)}"]


def ways_to_tell(lab: str, fault):
    """The checker's options for a fault, the quickest first: a failing case that says what it should is enough."""
    cases = fault.cases or ("no race",) * fault.watched
    alone = [word for case in cases for word in ("--case", case)]
    further = is_further(lab, fault)
    own = watched_options(lab, planted_fault(lab, fault), further) if fault.watched else []
    if fault.watched:
        faults, source = call(watched_together, lab, further)
        if fault in faults:
            yield [*alone, *watched_options(lab, source, further)]
    if alone:
        yield [*alone, *own]
    # It has the name that is expected, or is one of the function.
    files = solution_files(lab)
    named = re.match(r"FAIL  ([\w,: ]*\w)", fault.caught)
    telling = named[1] if named else fault.function(files[broken_file(lab, fault, files)])
    first = [f"--first={fault.caught}", *own]
    yield from ([*first, "--quick", "--before", telling], first)


def verdict(lab: str, kind: str, fault=None) -> tuple[Build, subprocess.CompletedProcess | None]:
    """Builds one of a lab's programs and has it checked; no verdict when it does not compile."""
    built = call(compile_lab, lab, kind, fault)
    if not built:
        return built, None
    if kind == "faults":
        for options in ways_to_tell(lab, fault):
            result = check(lab, built.program, "--timeout", 20, *options, *(["--further"] if is_further(lab, fault) else []),
                           planted=fault_name(lab, fault))
            if result.returncode == 1 and re.search(fault.caught, result.stdout):
                break
        return built, result
    if kind == "solutions":
        return built, check(lab, built.program, "--timeout", 60, *(["--further"] if has_further(lab) else []))
    # What an exercise lacks, the smaller cases tell.
    return built, check(lab, built.program, "--timeout", 20, "--quick")
