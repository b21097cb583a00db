"""The commands: make, the choice of the backend, set-up, and the script of the continuous checks.

Each test works in a small course of its own: the real Makefile, lab.mk and scripts, with two tiny
labs, and with a PATH on which nvcc, nvidia-smi, apt-get and so on are there only as scripts that
the test has written. So no test needs a card, and none depends on what the machine has.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = """ar as awk b2sum basename bash cat chmod cksum cmp cp cut dirname echo env expr find flock g++ gcc git grep head id ld ln ls make
    mkdir mktemp mv nice nproc printf readlink rm rmdir sed seq sh sleep sort tail tar test timeout touch tr true uname
    xargs""".split()

# Stands for the real compile.sh, which has tests of its own; this one takes any C++ program.
COMPILE = """#!/bin/sh
echo "compile.sh $*" >>"$LOG"
while [ $# -gt 0 ]; do
    case $1 in
        --debug) macro=-DLAB_DEBUG ;;
        --runtime) runtime=yes ;;
        --anew) anew=yes ;;
        *.cu) source=$1 ;;
        *) case $1 in --cxx) cxx=$2 ;; -o) output=$2 ;; --list) list=$2 ;; esac; shift ;;
    esac
    shift
done
here=$(dirname "$0")
if [ "$list" ]; then
    [ -z "$source" ] || "$cxx" $CPU_CXXFLAGS -v -E -x c++ -M -MF "$list" "$source"
    printf '\nx: %s ' "$0" "$here"/runtime.cpp "$here"/include/* >>"$list"
elif [ "$runtime$anew" = yes ]; then
    CPU_LDFLAGS= bash "$here/../build.sh" --compiler "$cxx" --say 'compiling common/cpu, which runs CUDA on the CPU (once)' \
        -o "$output" bash "$0" --cxx "$cxx" --runtime --anew
elif [ "$anew" ]; then
    "$cxx" -x c++ -c "$here/runtime.cpp" -o "$output"
else
    "$cxx" $CPU_CXXFLAGS $macro -x c++ "$source" -o "$output"
fi
"""
PROGRAM = """#include "../../common/lab.h"
extern "C" int printf(const char*, ...), atoi(const char*);  // no header: these tests build a lot
int main(int count, char** words) {
    printf("%s %s", WHO, GREETING);
    for (int i = 1; i < count; i++) printf(" [%s]", words[i]);
    printf("\\n");
    return count > 1 ? atoi(words[1]) : 0;
}
"""
CHECK = """import os, sys, subprocess
import helper
print("checked with", helper.NAME, *sys.argv[1:], flush=True)
own = [word for word in sys.argv[3:] if word.isdigit()]
sys.exit(subprocess.call([os.path.abspath(sys.argv[2])] + own))
"""


def write(path, text, executable=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if executable:
        path.chmod(0o755)
    return path


def add_lab(course, number, name, title=None):
    """A lab is a folder, and nothing outside it: what test_a_new_lab_is_one_folder relies on."""
    folder = course / "labs" / f"{number}_{name}"
    write(folder / "Makefile", "# A lab.\n\ninclude ../../common/lab.mk\n")
    write(folder / f"{name}.cu", PROGRAM.replace("WHO", f'"{name}"'))
    write(folder / "check.py", CHECK)
    if title:
        write(folder / "README.md", f"# {title}\n\n# Another heading\n")


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A folder with the tools that every machine has, one that stands for /usr/local/cuda and the
    like, and one that each test fills; and a course that is set up there."""
    base = tmp_path_factory.mktemp("machine")
    for tool in TOOLS:
        found = shutil.which(tool)
        if found:
            (base / "tools").mkdir(exist_ok=True)
            (base / "tools" / tool).symlink_to(found)
    (base / "extra").mkdir()
    course = base / "course"
    for file in ("Makefile", "common/lab.mk", "common/functions.mk", "common/backend.sh", "common/build.sh", "common/own_sources.sh",
                 "common/setup.sh", ".ci/run"):
        (course / file).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / file).read_text()
        for folder in ("/usr/local/cuda", "/opt/cuda", "/usr/lib/wsl/lib", "/usr/bin/python3",
                       "/var/lib/apt/lists"):
            text = text.replace(folder, f"{base}/system{folder}")
        write(course / file, text, file != "Makefile")
    write(course / "common/lab.h", '#include "greeting.h"\n')
    write(course / "common/greeting.h", '#define GREETING "says hello"\n')
    write(course / "common/helper.py", 'NAME = "the helper"\n')
    write(course / "common/cpu/compile.sh", COMPILE)
    write(course / "common/cpu/include/cuda_runtime.h", "")
    write(course / "common/cpu/runtime.cpp", "int runtime;\n")
    add_lab(course, "01", "alpha", "Lab 01: first steps")
    add_lab(course, "02", "beta")
    write(course / "solutions/01_alpha/alpha.cu", PROGRAM.replace("WHO", '"the solution"'))
    subprocess.run(["make", "setup"], cwd=course, env=environment(base), check=True)
    return base


def environment(base, **variables):
    return {"PATH": f"{base}/extra:{base}/tools", "HOME": str(base), "LC_ALL": "C",
            "PYTHON": sys.executable, "LOG": str(base / "log"), **variables}


class Course:
    def __init__(self, machine, path):
        self.machine, self.path = machine, path
        for name in ("extra", "system"):
            shutil.rmtree(machine / name, ignore_errors=True)
            (machine / name).mkdir()
        (machine / "log").write_text("")
        shutil.copytree(machine / "course", path, symlinks=True)

    def run(self, *words, at=".", **variables):
        return subprocess.run([str(word) for word in words], cwd=self.path / at, text=True,
                              env=environment(self.machine, **variables), timeout=120,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def make(self, *words, **variables):
        """make, which has to succeed."""
        result = self.run("make", *words, **variables)
        assert result.returncode == 0, result.stdout + result.stderr
        return result

    def refused(self, *words, **variables):
        """make, which has to fail; what it said."""
        result = self.run("make", *words, **variables)
        assert result.returncode == 2, result.stdout + result.stderr
        return result.stderr

    def extra(self, name, text):
        """A program on the PATH."""
        write(self.machine / "extra" / name, "#!/bin/sh\n" + text, True)

    def log(self):
        text = (self.machine / "log").read_text()
        (self.machine / "log").write_text("")
        return text

    def card(self, *cards):
        """nvidia-smi, for cards such as "9.0, NVIDIA H100"."""
        lines = "\n".join(f"echo '{card}'" for card in cards)
        self.extra("nvidia-smi", lines)

    def nvcc(self, path=None, version="12.4", architectures="75 80 90", finds=":"):
        """An nvcc that writes down how it is called; its programs say that they were built by it. `finds` is how it looks for
        headers."""
        path = path or self.machine / "extra/nvcc"
        listed = "; ".join(f"echo sm_{number}" for number in architectures.split())
        return write(path, f"""#!/bin/sh
case $1 in
    --version) echo 'Cuda compilation tools, release {version}, V{version}.99'; exit ;;
    --list-gpu-code) {listed}; exit ;;
    --dryrun) echo "#$ TOP=$(dirname "$0")/.." >&2; exit ;;
    -E) {finds}; exit ;;
esac
words="$*"
while [ $# -gt 0 ]; do
    case $1 in -MF) list=$2 ;; -o) output=$2 ;; *.cu) source=$1 ;; esac
    shift
done
[ -z "$list" ] || exec g++ -v -M -MF "$list" -x c++ "$source"
printf '%s ' nvcc $words >>"$LOG"
printf '#!/bin/sh\\necho on the card "$@"\\n' >"$output"
chmod +x "$output"
""", True)


@pytest.fixture
def course(machine, tmp_path):
    return Course(machine, tmp_path / "a b [c] (d)" / "the course")


# What make alone says


def test_the_list(course):
    text = course.make().stdout
    for command in ("run", "check", "build", "bench", "test", "setup", "clean", "exercises", "book"):
        assert re.search(rf"^make {command}\b", text, re.MULTILINE), command
    for variable in ("SOLUTION", "ARGS", "BACKEND", "NVCC", "CCBIN", "ARCH", "DEBUG"):
        assert variable in text
    assert re.search(r"^01_alpha +first steps$", text, re.MULTILINE)
    assert re.search(r"^02_beta *$", text, re.MULTILINE)
    assert "01_alpha" in course.make("-C", "labs/02_beta").stdout


def test_the_list_and_clean_set_nothing_up(course):
    shutil.rmtree(course.path / "build")
    course.make()
    course.make("clean")
    assert not (course.path / "build").exists()


def test_a_new_lab_is_one_folder(course):
    add_lab(course.path, "17", "new_one", "Lab 17: the newest")
    assert re.search(r"^17_new_one +the newest$", course.make().stdout, re.MULTILINE)
    assert course.make("run", "LAB=17").stdout == "new_one says hello\n"
    assert "checked with the helper" in course.make("check", "LAB=new_one").stdout


# Which lab


@pytest.mark.parametrize("lab", ["1", "01", "alpha", "01_alpha", "labs/01_alpha/"])
def test_a_lab_by_number_and_by_name(course, lab):
    result = course.make("run", f"LAB={lab}")
    assert result.stdout == "alpha says hello\n"


@pytest.mark.parametrize("lab", ["3", "001", "alph", "%", "0", "$$x", "a'b", "02 x"])
def test_an_unknown_lab_is_refused_with_the_list(course, lab):
    said = course.refused("check", f"LAB={lab}")
    assert "there is no lab" in said and "01_alpha 02_beta" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("command", ["run", "check", "build", "bench"])
def test_a_command_without_a_lab_says_so(course, command):
    said = course.refused(command)
    assert f"make {command} LAB=01" in said and "01_alpha 02_beta" in said


def test_several_labs_and_all(course):
    assert course.make("run", "LAB=all").stdout == "alpha says hello\nbeta says hello\n"
    result = course.run("make", "run", "LAB=2 1", "ARGS=3")  # the first fails, the next still runs
    assert result.returncode != 0
    assert result.stdout == "beta says hello [3]\nalpha says hello [3]\n"


def test_inside_a_folder(course):
    assert course.make("run", at="labs/02_beta").stdout == "beta says hello\n"
    assert course.make("run", "LAB=2", at="labs/02_beta").stdout == "beta says hello\n"
    assert "this folder is lab 02_beta" in course.refused("run", "LAB=1", at="labs/02_beta")


# A file of one's own


def test_sanitize_a_file(course):
    write(course.path / "my file.cu", "")
    write(course.path / "common/checker/sanitize.py", """import os, sys
print(*sys.argv[1:], os.environ.get("CUDA_CPU_ORDER"), os.environ.get("BACKEND"), sep="|")
sys.exit(int(sys.argv[-1]))
""")
    assert course.make("sanitize", "FILE=my file.cu", "ARGS=--elements 0").stdout.endswith(
        "|my file.cu|--|--elements|0|None|None\n")
    said = course.make("sanitize", "FILE=my file.cu", "ARGS=77", "ORDER=random:7", "BACKEND=gpu")
    assert said.stdout.endswith("|my file.cu|--|77|random:7|gpu\n") and "skipped, for the reason above" in said.stderr
    assert "Error 1" in course.refused("sanitize", "FILE=my file.cu", "ARGS=1")


@pytest.mark.parametrize("command", ["explain", "sanitize", "replay"])
def test_a_file_that_is_not_there_or_asked_for_in_a_lab(course, command):
    assert f"make {command}: there is no file my.cu; FILE= names" in course.refused(command, "FILE=my.cu")
    said = course.refused(command, "FILE=../../my.cu", at="labs/02_beta")
    assert "this folder is lab 02_beta, FILE names a file of your own" in said and len(said.splitlines()) == 1


def test_help_of_explain_needs_no_lab(course):
    write(course.path / "common/explain/__main__.py", "import sys; print(*sys.argv[1:])\n")
    assert course.make("explain", "EXPLAIN=--help").stdout == "--help\n"
    assert course.make("explain", "EXPLAIN=--help", "LAB=1").stdout == "--help\n"


# Building, running, checking


def test_what_is_said(course):
    result = course.make("run", "LAB=1", "ARGS=0 'b c' $$HOME")
    assert result.stdout == f"alpha says hello [0] [b c] [{course.machine}]\n"
    assert result.stderr.splitlines() == [
        "backend: cpu (no NVIDIA driver: nvidia-smi not found)",
        "compiling common/cpu, which runs CUDA on the CPU (once)",
        "compiling labs/01_alpha/alpha.cu for the CPU"]
    again = course.make("run", "LAB=1")
    assert again.stderr.splitlines() == ["backend: cpu (no NVIDIA driver: nvidia-smi not found)"]
    assert "compile.sh" in course.make("build", "LAB=2", "V=1").stdout


def test_solution_and_debug_lie_beside(course):
    assert course.make("run", "LAB=1", "SOLUTION=1").stdout == "the solution says hello\n"
    assert course.make("run", "LAB=1", "SOLUTION=0", "DEBUG=1").stdout == "alpha says hello\n"
    build = course.path / "build"
    assert (build / "cpu/solutions/01_alpha/alpha").is_file()
    assert (build / "cpu-debug/labs/01_alpha/alpha").is_file()
    assert "--debug" in course.log()
    assert "solutions/02_beta/beta.cu is missing" in course.refused("run", "LAB=2", "SOLUTION=1")
    (course.path / "labs/02_beta/beta.cu").unlink()
    assert "make exercises LAB=02" in course.refused("run", "LAB=2")


def test_programs_start_where_the_command_was_typed(course):
    program = course.path / "labs/01_alpha/alpha.cu"
    program.write_text("#include <unistd.h>\n#include <cstdio>\n"
                       "int main() { char name[999]; std::puts(getcwd(name, 999)); }\n")
    assert course.make("run", "LAB=1").stdout.strip() == str(course.path)
    assert course.make("run", at="labs/01_alpha").stdout.strip() == str(program.parent)


def test_status(course):
    failed = course.run("make", "run", "LAB=1", "ARGS=3")
    assert failed.returncode != 0 and "Error 3" in failed.stderr
    skipped = course.make("run", "LAB=1", "ARGS=77")
    assert "skipped" in skipped.stderr
    assert course.run("make", "check", "LAB=1", "ARGS=1").returncode != 0
    course.make("check", "LAB=1", "ARGS=77")


def test_a_variant_is_named_on_the_command_line(course):
    assert course.make("run", "LAB=1", VARIANT="Workstation").stdout == "alpha says hello\n"
    assert "VARIANT is for make run, check, hint and watch" in course.refused("build", "LAB=1", "VARIANT=tiled")


def test_the_variants_of_further_are_built_when_asked_for(course):
    write(course.path / "labs/01_alpha/further/fast.cuh", "")
    write(course.path / "labs/01_alpha/bench.py", "")
    for words in (["build"], ["check"], ["build", "SOLUTION=1"]):
        course.make(*words, "LAB=1")
        assert "LAB_FURTHER" not in course.log(), words
    for words in (["build", "FURTHER=1"], ["build", "SOLUTION=1", "FURTHER=1"], ["bench"]):
        course.make(*words, "LAB=1")
        assert "-DLAB_FURTHER" in course.log(), words
    result = course.make("check", "LAB=1", "FURTHER=1")
    assert "--program build/cpu-further/labs/01_alpha/alpha" in result.stdout and "--flags=-DLAB_FURTHER --further" in result.stdout
    result = course.make("run", "LAB=2", "FURTHER=1")
    assert result.stdout == "beta says hello\n" and "lab 02_beta has no folder further/" in result.stderr


def test_check(course):
    result = course.make("check", "LAB=1", "ARGS=0")
    program = "build/cpu/labs/01_alpha/alpha"
    source = "--source labs/01_alpha/alpha.cu --flags="
    assert result.stdout.splitlines() == [f"checked with the helper --program {program} {source} 0",
                                          "alpha says hello [0]"]
    inside = course.make("check", at="labs/01_alpha")
    assert f"--program ../../{program}" in inside.stdout
    assert not list(course.path.rglob("__pycache__"))


def test_compile_errors_fail_and_leave_nothing(course):
    (course.path / "labs/01_alpha/alpha.cu").write_text("int main() { return zero; }\n")
    said = course.refused("run", "LAB=1")
    assert "alpha.cu:1:" in said and "zero" in said
    files = {path.name for path in (course.path / "build/cpu/labs/01_alpha").iterdir()}
    assert files <= {"alpha.lock"}


# Benchmarks


BENCH = """import sys
print("measured", *sys.argv[1:])
"""


def bench(course, *words, **variables):
    write(course.path / "labs/01_alpha/bench.py", BENCH)
    return course.make("bench", "LAB=1", *words, **variables)


def exercise_is_untouched(course, answer):
    """Stands for checker.exercises --check."""
    write(course.path / "common/checker/__init__.py", "")
    write(course.path / "common/checker/exercises.py", f"import sys; sys.exit({0 if answer else 1})\n")


def test_bench_measures_my_exercise_or_the_solution(course):
    exercise_is_untouched(course, False)
    result = bench(course, "ARGS=--data x")
    assert result.stdout == "measured --program build/cpu-bench/labs/01_alpha/alpha --data x\n"
    assert "as it was shipped" not in result.stderr
    asked = bench(course, "SOLUTION=1")
    assert asked.stdout == "measured --program build/cpu-bench/solutions/01_alpha/alpha\n"
    exercise_is_untouched(course, True)
    result = bench(course)
    assert result.stdout == "measured --program build/cpu-bench/solutions/01_alpha/alpha\n"
    assert "as it was shipped: the worked solution is measured" in result.stderr
    assert bench(course, "SOLUTION=0").stdout == "measured --program build/cpu-bench/labs/01_alpha/alpha\n"
    assert course.make("bench", at="labs/01_alpha").stdout.startswith("measured --program ../../build/cpu-bench/")


def test_bench_of_several_labs_draws_when_all_are_measured(course):
    exercise_is_untouched(course, False)
    for lab in ("01_alpha", "02_beta"):
        write(course.path / f"labs/{lab}/bench.py", f"""import pathlib, sys
(folder := pathlib.Path("build/bench/{lab}")).mkdir(parents=True, exist_ok=True)
(folder / "results.csv").touch()
with open("asked", "a") as file:
    print("{lab}", *[word for word in sys.argv[1:] if word.startswith("--")], file=file)
""")
    course.make("bench", "LAB=1 2")
    asked = (course.path / "asked").read_text().splitlines()
    assert asked[:2] == ["01_alpha --program --no-plots", "02_beta --program --no-plots"]
    assert sorted(asked[2:]) == ["01_alpha --data", "02_beta --data"]


def test_bench_measures_a_lab_while_the_next_one_is_built(course):
    exercise_is_untouched(course, False)
    measured, alone = course.path / "measured", course.path / "alone"
    write(course.path / "labs/01_alpha/bench.py", f"open({str(measured)!r}, 'w')")
    write(course.path / "labs/02_beta/bench.py", "print('beta was measured')")
    compile = course.path / "common/cpu/compile.sh"
    waiting = f"""case "$*" in *--list*) ;; *beta.cu*)  # goes on when the first lab has been measured
    for second in 1 2 3 4 5 6 7 8 9 10; do [ -e '{measured}' ] || sleep 1; done
    [ -e '{measured}' ] || touch '{alone}' ;;
esac
"""
    compile.write_text(compile.read_text().replace("#!/bin/sh\n", "#!/bin/sh\n" + waiting, 1))
    assert "beta was measured" in course.make("bench", "LAB=1 2").stdout
    assert measured.exists() and not alone.exists()


def test_bench_without_anything_to_measure(course):
    exercise_is_untouched(course, False)
    assert "has nothing to measure" in course.make("bench", "LAB=2").stderr


def test_bench_links_the_peers_that_are_there(course):
    exercise_is_untouched(course, True)
    course.card("9.0, NVIDIA H100")
    toolkit = course.machine / "system/my toolkit"
    nvcc = course.nvcc(toolkit / "bin/nvcc")
    write(toolkit / "lib64/libcudart_static.a", "")
    course.extra("nvcc", f'exec "{nvcc}" "$@"')
    makefile = course.path / "labs/01_alpha/Makefile"
    makefile.write_text("# A lab.\nLAB_PEERS := nppif nppc\n" + makefile.read_text())
    result = bench(course)
    assert result.stdout == "measured --program build/gpu-bench/solutions/01_alpha/alpha\n"
    assert f"-DLAB_BENCH -lnppif -lnppc -DLAB_PEERS -Xlinker \"-rpath={toolkit}/bin/../lib64\"" in course.log()
    # Elsewhere there is no macro and no library.
    course.make("build", "LAB=1")
    assert "LAB_BENCH" not in course.log()
    text = nvcc.read_text()
    nvcc.write_text(text.replace("printf '%s ' nvcc", 'case $words in *-lnppif*) exit 1 ;; esac\nprintf \'%s \' nvcc'))
    course.make("clean")
    result = bench(course)
    assert "libnppif is not found: measured without it" in result.stderr
    built = course.log()
    assert "-DLAB_BENCH" in built and "LAB_PEERS" not in built and "-lnppif" not in built


def test_bench_on_the_cpu_links_the_peers_of_the_host(course):
    exercise_is_untouched(course, True)
    makefile = course.path / "labs/01_alpha/Makefile"
    makefile.write_text("# A lab.\nLAB_PEERS := nppif\nLAB_HOST_PEERS := m\n" + makefile.read_text())
    result = bench(course, "V=1")
    assert "--flags '-O3 -DLAB_BENCH -DLAB_HOST_PEERS'" in result.stdout and "is not found" not in result.stderr
    makefile.write_text(makefile.read_text().replace(":= m", ":= no_such_library"))
    result = bench(course, "V=1")
    assert "libno_such_library is not found: measured without it" in result.stderr
    assert "LAB_HOST_PEERS" not in result.stdout


def test_flags_for_the_compiler_of_the_host(course):
    makefile = course.path / "labs/01_alpha/Makefile"
    makefile.write_text("# A lab.\nLAB_CXX_FLAGS := -fopenmp\n" + makefile.read_text())
    assert "--flags '-fopenmp'" in course.make("build", "LAB=1", "V=1").stdout
    course.card("9.0, NVIDIA H100")
    course.nvcc()
    course.make("build", "LAB=1")
    assert "-Xcompiler -Wall -Xcompiler -fopenmp" in course.log()


# Rebuilding


def compiled(course, *words, **variables):
    """What a make compiles: the names of the files."""
    said = course.make(*words, **variables).stderr
    return re.findall(r"^compiling (?:labs/|solutions/)?(\S+?),? ", said, re.MULTILINE)


BOTH = ["01_alpha/alpha.cu", "02_beta/beta.cu"]


def date(path, seconds):
    """A date is nothing to go by: a file may come from an archive, or from a server with a clock of its own."""
    os.utime(path, (seconds, seconds))


def change(path, text, seconds=1e9):
    """Another content, with a date long ago."""
    date(write(path, text), seconds)


def test_changed_files_rebuild_what_uses_them(course):
    both = ["build", "LAB=all"]
    assert compiled(course, *both) == ["common/cpu", *BOTH]
    assert compiled(course, *both) == []
    source, header = course.path / "labs/02_beta/beta.cu", course.path / "common/greeting.h"
    for seconds in (1e9, 4e9):
        date(source, seconds)
        assert compiled(course, *both) == []
        change(source, PROGRAM.replace("WHO", f'"dated {seconds:g}"'), seconds)
        assert compiled(course, *both) == ["02_beta/beta.cu"]
        assert course.make("run", "LAB=2").stdout == f"dated {seconds:g} says hello\n"
    # of the same size and the same date
    change(source, PROGRAM.replace("WHO", '"dated 4E+09"'), 4e9)
    assert compiled(course, *both) == ["02_beta/beta.cu"]
    shutil.rmtree(course.path / "build/cpu/labs")
    assert compiled(course, *both) == BOTH
    # a header that is included by another, and then is there no more
    change(header, '#define GREETING "says goodbye"\n')
    assert compiled(course, *both) == BOTH
    change(course.path / "common/lab.h", '#define GREETING "says nothing"\n')
    header.unlink()
    assert compiled(course, *both) == BOTH
    assert course.make("run", "LAB=1").stdout == "alpha says nothing\n"


@pytest.mark.parametrize("line", ["#include <name.h>", "#include/**/<name.h>", "#define WHICH <name.h>\n#include WHICH"])
def test_a_header_that_comes_or_goes_rebuilds(course, line):
    folder = course.path / "labs/01_alpha"
    change(folder / "alpha.cu", PROGRAM.replace("WHO", "NAME").replace("\n", f"""
{line}
#if __has_include("extra.h")
#undef GREETING
#define GREETING "says more"
#endif
""", 1))
    flags = {"CPU_CXXFLAGS": "-Ifirst -Isecond"}
    for number, (file, said) in enumerate((
            ("second/name.h", "2 says hello"), ("first/name.h", "1 says hello"), ("extra.h", "1 says more"),
            ("greeting.h", None), ("first/name.h", "2 says more"), ("extra.h", "2 says hello"))):
        path = folder / file
        if path.exists():
            path.unlink()
        else:
            change(path, f'#define NAME "{file.find("first") and 2 or 1}"\n')
        if said:
            assert course.make("run", "LAB=1", **flags).stdout == f"{said}\n", number
        assert compiled(course, "build", "LAB=1", **flags) == [], number  # lab.h finds greeting.h beside itself


def test_a_header_of_the_system_may_come_to_stand_behind_one_of_somebody(course):
    change(course.path / "labs/01_alpha/alpha.cu", "#include <stddef.h>\n" + PROGRAM.replace("WHO", '"alpha"'))
    flags = {"CPU_CXXFLAGS": "-Iearlier"}
    assert course.make("run", "LAB=1", **flags).stdout == "alpha says hello\n"
    assert compiled(course, "build", "LAB=1", **flags) == []
    change(course.path / "labs/01_alpha/earlier/stddef.h", "#include_next <stddef.h>\n")
    assert compiled(course, "run", "LAB=1", **flags) == ["01_alpha/alpha.cu"]
    assert compiled(course, "build", "LAB=1", **flags) == []


def test_what_is_edited_during_a_build_is_built_again(course):
    source = course.path / "labs/01_alpha/alpha.cu"
    course.extra("editing++", f"""g++ "$@"; status=$?
case "$*" in *'alpha.cu -o '*) sed -i 's/"alpha"/"edited"/' '{source}'; touch -d 2001-01-01 '{source}' ;; esac
exit $status
""")
    assert course.make("run", "LAB=1", "CXX=editing++").stdout == "alpha says hello\n"
    assert course.make("run", "LAB=1", "CXX=editing++").stdout == "edited says hello\n"
    assert compiled(course, "build", "LAB=1", "CXX=editing++") == []


def test_another_program_in_its_place_is_not_run(course):
    """Nor one that an interrupted build, or a full disk, has left."""
    program = course.path / "build/cpu/labs/01_alpha/alpha"
    course.make("build", "LAB=1")
    change(program, "#!/bin/sh\necho wrong\n", 4e9)
    assert course.make("run", "LAB=1").stdout == "alpha says hello\n"
    program.with_suffix(".made").write_text("# asked: nothing\n")
    assert compiled(course, "build", "LAB=1") == ["01_alpha/alpha.cu"]


@pytest.mark.parametrize("file", ["include/cuda_runtime.h", "runtime.cpp", "compile.sh"])
def test_a_changed_runtime_rebuilds_all(course, file):
    course.make("build", "LAB=1")
    path = course.path / "common/cpu" / file
    change(path, path.read_text() + "\n")
    assert compiled(course, "build", "LAB=1") == ["common/cpu", "01_alpha/alpha.cu"]


def test_changed_flags_rebuild(course):
    course.extra("other++", 'exec g++ "$@"')
    all_of_it = ["common/cpu", "01_alpha/alpha.cu"]
    assert compiled(course, "build", "LAB=1") == all_of_it
    assert compiled(course, "build", "LAB=1", "CXX=other++") == all_of_it
    assert "--cxx other++" in course.log()
    assert compiled(course, "build", "LAB=1", CXX="other++") == []
    course.extra("other++", 'exec g++ -DOTHER "$@"')  # a compiler of the same name
    assert compiled(course, "build", "LAB=1", CXX="other++") == all_of_it
    assert compiled(course, "build", "LAB=1") == all_of_it
    assert compiled(course, "build", "LAB=1", CPU_CXXFLAGS="-Wextra") == all_of_it
    assert compiled(course, "build", "LAB=1", CPU_CXXFLAGS="-Wextra") == []


def test_a_card_rebuilds_by_content_as_well(course):
    course.card("9.0, NVIDIA H100")
    course.nvcc()
    lab = ["build", "LAB=1"]
    assert compiled(course, *lab) == ["01_alpha/alpha.cu"]
    assert compiled(course, *lab) == []
    change(course.path / "common/greeting.h", '#define GREETING "says goodbye"\n')
    assert compiled(course, *lab) == ["01_alpha/alpha.cu"]
    date(course.path / "labs/01_alpha/alpha.cu", 4e9)
    assert compiled(course, *lab) == []
    assert compiled(course, *lab, NVCC_APPEND_FLAGS="-Xptxas -v") == ["01_alpha/alpha.cu"]
    course.nvcc(version="12.5")
    assert compiled(course, *lab) == ["01_alpha/alpha.cu"]


def test_many_jobs_at_once(course):
    add_lab(course.path, "03", "gamma")
    course.make("-j64", "build", "run", "check", "LAB=all")
    shutil.rmtree(course.path / "build/cpu")
    variables = environment(course.machine)
    makes = [subprocess.Popen(["make", "-j64", "run"], cwd=course.path / "labs" / lab, env=variables,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
             for lab in ("01_alpha", "02_beta", "01_alpha", "03_gamma", "01_alpha")]
    for make in makes:
        output, _ = make.communicate(timeout=120)
        assert make.returncode == 0 and "says hello" in output, output


def test_any_order_of_prerequisites(course):
    if course.run("make", "--shuffle", "help").returncode != 0:
        pytest.skip("this make has no --shuffle (it came with 4.4)")
    for order in ("reverse", "1", "2"):
        shutil.rmtree(course.path / "build/cpu", ignore_errors=True)
        course.make(f"--shuffle={order}", "-j4", "run", "check", "LAB=all")


# clean


def test_clean_removes_the_build_folder_only(course):
    course.make("build", "LAB=1")
    before = set(course.path.rglob("*"))
    course.make("clean")
    after = set(course.path.rglob("*"))
    assert {path for path in before - after if path.relative_to(course.path).parts[0] != "build"} == set()
    assert not (course.path / "build").exists()


def test_clean_keeps_what_the_learner_wrote(course):
    course.make("build", "LAB=1")
    kept = write(course.path / "build/replaced/01_alpha/alpha.cu", "my work\n")
    course.make("clean", at="labs/01_alpha")
    assert not (course.path / "build/cpu/labs/01_alpha").exists()
    assert "build/replaced stays" in course.make("clean").stdout
    assert kept.exists() and list((course.path / "build").iterdir()) == [kept.parents[1]]


@pytest.mark.parametrize("words, at", [(("clean", "LAB=1"), "."), (("clean",), "labs/01_alpha")])
def test_clean_of_a_lab_takes_what_that_lab_has_built(course, words, at):
    course.make("build", "LAB=all")
    object_of_given = write(course.path / "build/cpu/given/01_alpha/1.o", "")
    course.make(*words, at=at)
    assert not object_of_given.exists() and not list((course.path / "build").rglob("alpha"))
    assert list((course.path / "build").rglob("beta"))


def test_clean_follows_no_link(course, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    kept = [write(elsewhere / "precious", ""), write(elsewhere / "labs/01_alpha/precious", "")]
    course.make("build", "LAB=1")
    (course.path / "build/gpu").symlink_to(elsewhere)
    course.make("clean", at="labs/01_alpha")
    assert not (course.path / "build/cpu/labs/01_alpha").exists()
    course.make("clean")
    (course.path / "build").symlink_to(elsewhere)
    course.make("clean", at="labs/01_alpha")
    course.make("clean")
    assert not (course.path / "build").is_symlink()
    assert all(path.exists() for path in kept)


# The backend


def backend(course, *words, **variables):
    """What a build says on its backend."""
    said = course.make("build", "LAB=1", *words, **variables).stderr
    return next(line for line in said.splitlines() if line.startswith("backend: "))[9:]


def test_a_card_and_nvcc_are_used(course):
    course.card("9.0, NVIDIA H100 80GB HBM3")
    course.nvcc()
    result = course.make("run", "LAB=1", "ARGS=x")
    assert result.stdout == "on the card x\n"
    assert result.stderr.splitlines() == [
        "backend: gpu (NVIDIA H100 80GB HBM3, nvcc 12.4, sm_90)",
        "compiling labs/01_alpha/alpha.cu for sm_90"]
    assert course.make("run", "LAB=1", "BACKEND=cpu").stdout == "alpha says hello\n"


def test_a_card_without_nvcc(course):
    course.card("9.0, NVIDIA H100")
    said = backend(course)
    assert said.startswith("cpu (NVIDIA H100 is here, but nvcc is not in CUDA_HOME, PATH")
    assert "nvcc is not in" in course.refused("run", "LAB=1", "BACKEND=gpu")
    course.extra("nvcc", "exit 1")
    assert "does not run" in backend(course)


@pytest.mark.parametrize("script, reason", [
    (None, "nvidia-smi not found"),
    ("echo 'Failed to initialize NVML: Driver/library version mismatch'; echo more; exit 18",
     "nvidia-smi finds no card: Failed to initialize NVML: Driver/library version mismatch)"),
    ("echo 'No devices were found'; exit 6", "nvidia-smi finds no card: No devices were found"),
    ("echo 'No devices were found'", "nvidia-smi finds no card"),
    ("", "nvidia-smi finds no card"),
])
def test_no_card(course, script, reason):
    course.nvcc()
    if script is not None:
        course.extra("nvidia-smi", script)
    assert reason in backend(course) + ")"
    said = course.refused("run", "LAB=1", "BACKEND=gpu")
    assert "BACKEND=gpu is not possible here: " in said and reason.rstrip(")") in said
    assert course.refused("check", "BACKEND=gpu", at="labs/01_alpha")
    assert backend(course, "BACKEND=gpu").startswith("gpu (no card needed to build, nvcc 12.4")


@pytest.mark.parametrize("status", [14, 15])
def test_a_warning_of_nvidia_smi_hides_no_card(course, status):
    """14: the infoROM is corrupted, which it says behind the card."""
    course.nvcc()
    course.extra("nvidia-smi", f"echo '9.0, NVIDIA H100'; echo 'WARNING: infoROM is corrupted at gpu 0000:0A:00.0'; exit {status}")
    assert backend(course) == "gpu (NVIDIA H100, nvcc 12.4, sm_90)"


@pytest.mark.parametrize("value, hidden", [("", True), ("-1", True), ("-1,0", True), ("2", True), ("x", True),
                                           ("0", False), ("1,0", False), ("GPU-12ab", False)])
def test_hidden_cards(course, value, hidden):
    course.card("9.0, NVIDIA H100", "9.0, NVIDIA H100")
    course.nvcc()
    for given in ({"CUDA_VISIBLE_DEVICES": value}, {}):
        words = [] if given else [f"CUDA_VISIBLE_DEVICES={value}"]
        said = backend(course, *words, **given)
        assert said.startswith("cpu (CUDA_VISIBLE_DEVICES" if hidden else "gpu (NVIDIA H100, ")
    if hidden:
        assert "CUDA_VISIBLE_DEVICES" in course.refused("run", "LAB=1", "BACKEND=gpu",
                                                        CUDA_VISIBLE_DEVICES=value)


def test_windows_keeps_nvidia_smi_elsewhere(course):
    course.card("8.9, NVIDIA GeForce RTX 4060")
    folder = course.machine / "system/usr/lib/wsl/lib"
    folder.mkdir(parents=True)
    (course.machine / "extra/nvidia-smi").rename(folder / "nvidia-smi")
    course.nvcc()
    assert backend(course).startswith("gpu (NVIDIA GeForce RTX 4060")


def test_macos_is_refused(course):
    course.extra("uname", "echo Darwin")
    for folder in (".", "labs/01_alpha"):
        assert "macOS is not supported: the course needs Linux." in course.refused("run", "LAB=1", at=folder)


def test_other_backends_are_refused(course):
    assert "BACKEND=tpu is neither gpu nor cpu" in course.refused("run", "LAB=1", "BACKEND=tpu")


def test_where_nvcc_is_looked_for(course):
    course.card("9.0, NVIDIA H100")
    folder = course.machine / "system"
    places = [  # each next one goes before all the former ones
        (folder / "opt/cuda-13.1/bin/nvcc", {}),
        (folder / "usr/local/cuda-12.9/bin/nvcc", {}),
        (folder / "usr/local/cuda-12.10/bin/nvcc", {}),
        (folder / "usr/local/cuda/bin/nvcc", {}),
        (folder / "venv/lib/python3.11/site-packages/nvidia/cu13/bin/nvcc", {"VIRTUAL_ENV": str(folder / "venv")}),
        (folder / "conda/bin/nvcc", {"CONDA_PREFIX": str(folder / "conda")}),
        (course.machine / "extra/nvcc", {}),
        (folder / "cray/bin/nvcc", {"CUDATOOLKIT_HOME": str(folder / "cray")}),
        (folder / "root/bin/nvcc", {"CUDA_ROOT": str(folder / "root")}),
        (folder / "path/bin/nvcc", {"CUDA_PATH": str(folder / "path")}),
        (folder / "home/bin/nvcc", {"CUDA_HOME": str(folder / "home")}),
        (folder / "given/nvcc", {"NVCC": str(folder / "given/nvcc")}),
    ]
    given = {}
    for number, (path, variables) in enumerate(places):
        course.nvcc(path, version=f"12.{number}")
        given.update(variables)
        assert f"nvcc 12.{number}," in backend(course, **given)
        assert f"nvcc 12.{number}," in backend(course, *(f"{name}={value}" for name, value in given.items()))
    assert "NVCC=/none/nvcc is no program" in course.refused("run", "LAB=1", "NVCC=/none/nvcc")
    (course.machine / "extra/nvidia-smi").unlink()
    assert "NVCC=/none/nvcc is no program" in course.refused("build", "LAB=1", "NVCC=/none/nvcc")
    assert backend(course, "NVCC=/none/nvcc", "BACKEND=cpu") == "cpu (BACKEND=cpu)"


UNUSABLE = {"exit 1": "does not run: it does not tell its version", None: None,
            "11.5": "is of CUDA 11.5, and the course needs 11.8 or later", "9.2": "is of CUDA 9.2",
            "echo 'cc1plus: fatal error: cuda_runtime.h: No such file or directory' >&2; exit 1": "has no headers: it finds no cuda_runtime.h",
            "echo '#define CUDART_VERSION 11080'": "is of CUDA 12.4 and finds headers of CUDA 11"}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_an_nvcc_that_cannot_be_used_is_passed_over(course, fault):
    """A module that was removed, an environment with the compiler alone, the package of Ubuntu 22.04."""
    course.card("9.0, NVIDIA H100")
    home = course.machine / "system/my env"
    variables = {"CUDA_HOME": f"{home}"}
    nvcc = home / "bin/nvcc"
    if fault == "exit 1":
        write(nvcc, "#!/bin/sh\nexit 1\n", True)
    elif fault:
        course.nvcc(nvcc, **{"version" if fault[-2] == "." else "finds": fault})
    usable = course.nvcc(course.machine / "system/usr/local/cuda-12.9/bin/nvcc", version="12.9")
    assert backend(course, **variables) == "gpu (NVIDIA H100, nvcc 12.9, sm_90)"
    usable.unlink()
    expected = f"{nvcc} {UNUSABLE[fault]}" if fault else "nvcc is not in CUDA_HOME, PATH or /"
    assert backend(course, **variables).startswith(f"cpu (NVIDIA H100 is here, but {expected}")
    if fault:
        assert f"NVCC={nvcc}: {expected}" in course.refused("run", "LAB=1", f"NVCC={nvcc}")
        write(home / "include/cuda_runtime.h", "")  # then it is not asked for them
        assert ("gpu" in backend(course, **variables)) == fault.startswith("echo")


@pytest.mark.parametrize("libraries", ["lib64", "targets/x86_64-linux/lib", "lib", None])
@pytest.mark.parametrize("way", ["link", "script"])
def test_where_the_libraries_of_a_toolkit_lie(course, libraries, way):
    """NVIDIA's own packages have them in lib64, conda's in targets, PyPI's in lib; Debian's where every compiler looks.
    nvcc may be a link, as in /usr/bin or /etc/alternatives, or a script that starts it."""
    toolkit = course.machine / "system/my toolkit (12)"
    nvcc = course.nvcc(toolkit / "bin/nvcc")
    if libraries:
        write(toolkit / libraries / "libcudart_static.a", "")
    expected = [f"{toolkit / libraries}"] if libraries else []
    if way == "link":
        (course.machine / "extra/nvcc").symlink_to(nvcc)
    else:
        course.extra("nvcc", f'exec "{nvcc}" "$@"')
    course.make("build", "LAB=1", "BACKEND=gpu")
    found = re.findall(r"-L(.*?) alpha\.cu", course.log())
    assert [os.path.normpath(path) for path in found] == expected


def test_what_clang_cannot_is_said(course):
    """What watches every access is compiled by g++ alone."""
    course.extra("clang++", 'case $* in *-dM*) echo "#define __clang__ 1" ;; *) exec g++ "$@" ;; esac')
    assert course.make("run", "LAB=1", "CXX=clang++").stdout == "alpha says hello\n"
    for goal in ("sanitize", "explain", "replay"):
        said = course.refused(goal, "LAB=1", "BACKEND=cpu", "CXX=clang++")
        assert f"make {goal} needs g++" in said and "leave CXX=clang++ out" in said


# The architectures and the flags of nvcc


def architectures(course, *words, **variables):
    """The architectures of a build, and that machine code and PTX of each are asked for."""
    shutil.rmtree(course.path / "build/gpu", ignore_errors=True)
    course.log()
    course.make("build", "LAB=1", *words, **variables)
    pairs = re.findall(r"-gencode arch=compute_(\w+),code=(\w+)_(\w+)", course.log())
    numbers = [number for number, kind, _ in pairs if kind == "sm"]
    assert pairs == [(n, kind, n) for n in numbers for kind in ("sm", "compute")]
    return " ".join(numbers)


@pytest.mark.parametrize("cards, expected", [
    (["9.0, NVIDIA H100"], "90"),
    (["9.0, NVIDIA H100", "7.5, Tesla T4", "9.0, NVIDIA H100"], "75 90"),
    (["12.0, NVIDIA GeForce RTX 5090"], "90"),  # newer than this nvcc knows: PTX of the newest
    (["8.6, NVIDIA GeForce RTX 3060"], "80"),
    (["Tesla T4"], "75"),                       # an old driver does not tell
    (["[N/A], GRID vGPU"], "75"),
])
def test_the_architecture_of_the_card(course, cards, expected):
    course.card(*cards)
    course.nvcc()
    assert architectures(course) == expected
    assert architectures(course, "ARCH=native") == expected


def test_a_driver_that_does_not_know_the_question(course):
    course.extra("nvidia-smi", "case $* in *compute_cap*) echo 'Field \"compute_cap\" is not a valid field';"
                 " exit 2;; esac; echo 'Tesla T4'")
    course.nvcc()
    assert backend(course) == "gpu (Tesla T4, nvcc 12.4, sm_75)"


def test_a_card_that_nvcc_no_longer_knows(course):
    course.card("6.1, NVIDIA GeForce GTX 1080")
    course.nvcc()
    assert "no longer compiles for its compute capability, 6.1" in backend(course)
    assert "no longer compiles" in course.refused("run", "LAB=1", "BACKEND=gpu")


@pytest.mark.parametrize("given, expected", [
    ("sm_90", "90"), ("90", "90"), ("9.0", "90"), ("compute_90", "90"), ("90a", "90a"),
    ("sm_75 sm_90", "75 90"), ("90,75;90", "90 75"), ("", "75"),
])
def test_given_architectures(course, given, expected):
    course.nvcc()
    assert architectures(course, "BACKEND=gpu", f"ARCH={given}") == expected
    assert architectures(course, "BACKEND=gpu", ARCH=given) == expected


def test_wrong_architectures(course):
    course.nvcc()
    build = ["build", "LAB=1", "BACKEND=gpu"]
    for wrong in ("hopper", "sm_", "9", "90 *", "native90"):
        assert f"ARCH={wrong} is no architecture" in course.refused(*build, f"ARCH={wrong}")
    assert "cannot compile for sm_120; it knows sm_75 sm_80 sm_90" in course.refused(*build, "ARCH=120")
    assert "ARCH=native needs a card: no NVIDIA driver" in course.refused(*build, "ARCH=native")


def test_flags_of_nvcc(course):
    course.nvcc()
    build = ["build", "LAB=1", "BACKEND=gpu"]

    def flags(*words):
        course.log()
        assert compiled(course, *build, *words) == ["01_alpha/alpha.cu"]
        assert compiled(course, *build, *words) == []
        return course.log()

    plain = flags()
    assert "-std=c++17 -O3 -lineinfo" in plain and "-Xcompiler -Wall" in plain and "-ccbin" not in plain
    assert "-ccbin g++-12" in flags("CCBIN=g++-12")
    assert "-ccbin /a b/g++ " in flags("CCBIN=/a b/g++")
    debug = flags("DEBUG=1")
    assert "-G -g -O0 -DLAB_DEBUG" in debug and "-lineinfo" not in debug
    makefile = course.path / "labs/01_alpha/Makefile"
    makefile.write_text("LAB_NVCC_FLAGS := -rdc=true\n" + makefile.read_text())
    assert "-rdc=true" in flags()
    flags("ARCH=90")
    course.nvcc(version="12.9")
    flags("ARCH=90")  # another release of the compiler


# Set-up

FAKE_COMPILER = """
[ "$(cat "$STATE/compiler" 2>/dev/null)" ] || exit 1
have() { [ -e "$STATE/$1" ] || [ -e build/packages/usr/$1 ]; }
case $* in
    *-print-multiarch*) echo some-linux-gnu ;;
    *-print-file-name*) have boost && echo "$STATE/boost" || echo libboost_context.a ;;
    *-H*) read -r line
        case $line in *stb/*) name=stb file=stb/stb_image.h ;; *) name=boost file=boost/context/detail/fcontext.hpp ;; esac
        have $name || exit 1
        mkdir -p "$STATE/include/${file%/*}"; : >"$STATE/include/$file"
        echo ". $STATE/include/$file" >&2 ;;
esac
"""
FAKE_PYTHON = """
[ "$(cat "$STATE/python" 2>/dev/null)" ] || exit 1
case $2 in *%d.%d*) echo 3.11; exit ;; esac
echo "python $0"
for name in numpy scipy pillow pytest matplotlib; do
    if [ -e "$STATE/$name" ]; then echo "found $STATE/$name"
    elif [ -e "build/packages/usr/$name" ] && [ "${0%/venv/bin/python3}" != "$0" ]; then echo "found build/packages/usr/$name"
    else echo "missing $name"; fi
done
"""
FAKE_APT = """
echo "apt-get $*" >>"$LOG"
names() { sed 's/g++/compiler/; s/lib\\(stb\\|boost\\).*/\\1/; s/python3-pil$/pillow/; s/python3-//; s/python3$/python/'; }
case " $* " in
    *" update "*) touch "$STATE/lists" ;;
    *" -s "*) [ -e "$STATE/lists" ] || exit 100
        echo "Reading package lists..."
        for word; do case $word in lib*|python*) echo "Inst $word [1.0] (2.0-1 Debian:12 [amd64])" ;; esac; done ;;
    *" download "*) for word; do case $word in *=2.0-1) : >"${word%=*}.deb" ;; esac; done ;;
    *" install "*) [ -e "$STATE/lists" ] && [ "$AS_ROOT" ] || exit 100
        for word; do case $word in -*|install|DPkg*) ;; *) echo yes >"$STATE/$(echo "$word" | names)" ;; esac; done ;;
esac
"""
FAKE_UNPACK = """
echo "dpkg-deb $1 ${2##*/} $3" >>"$LOG"
name=$(basename "$2" .deb | sed 's/lib\\(stb\\|boost\\).*/\\1/; s/python3-pil$/pillow/; s/python3-//')
mkdir -p "$3/usr"; : >"$3/usr/$name"
"""


@pytest.fixture
def bare(course):
    """A course on a machine where nothing is installed, except what `has` adds."""
    course.state = course.machine / "state"
    shutil.rmtree(course.state, ignore_errors=True)
    course.state.mkdir()
    shutil.rmtree(course.path / "build")
    course.extra("g++", FAKE_COMPILER)
    write(course.machine / "system/usr/bin/python3", "#!/bin/sh\n" + FAKE_PYTHON, True)
    return course


def has(course, *names):
    for name in names:
        (course.state / name).write_text("yes")


def apt(course, user=1000, sudo=None):
    course.extra("apt-get", FAKE_APT)
    course.extra("dpkg-deb", FAKE_UNPACK)
    course.extra("id", f"echo {user}")
    if sudo is not None:
        course.extra("sudo", f'echo "sudo $*" >>"$LOG"\n[ "$1" = -n ] && shift\n{sudo}\nAS_ROOT=yes exec "$@"')


def set_up(course, *need, **variables):
    words = ["--need", " ".join(need)] if need else []
    variables = {"STATE": str(course.state), "PYTHON": "", **variables}
    return course.run("bash", "common/setup.sh", *words, **variables)


EVERYTHING = ["compiler", "python", "numpy", "scipy", "pillow", "pytest", "matplotlib", "stb", "boost"]


def test_set_up_with_everything_there(bare):
    has(bare, *EVERYTHING)
    result = set_up(bare)
    assert result.returncode == 0 and "all is there" in result.stderr
    record = bare.path / "build/setup.mk"
    assert f"PYTHON ?= {bare.machine}/system/usr/bin/python3\n" in record.read_text()
    before = record.stat().st_mtime_ns
    started = time.monotonic()
    assert set_up(bare, *EVERYTHING).stderr == ""
    assert time.monotonic() - started < 0.5
    assert record.stat().st_mtime_ns == before
    (bare.state / "scipy").unlink()
    assert "missing: scipy" in set_up(bare, *EVERYTHING).stderr


@pytest.mark.parametrize("lists", ["fresh", "stale", "absent"])
def test_set_up_as_root_installs_what_is_missing(bare, lists):
    has(bare, "compiler", "python", "numpy", *(["lists"] if lists == "fresh" else []))
    if lists != "absent":
        write(bare.machine / "system/var/lib/apt/lists/somewhere_Packages", "")
    apt(bare, user=0)
    result = set_up(bare, AS_ROOT="yes")
    assert result.returncode == 0, result.stderr
    log = [line for line in bare.log().splitlines() if line.startswith("apt-get")]
    assert [line.split()[-1] == "update" for line in log] == {
        "fresh": [False], "stale": [False, True, False], "absent": [True, False]}[lists]
    assert log[-1].endswith(" python3-scipy python3-pil python3-pytest python3-matplotlib libstb-dev"
                               " libboost-context-dev")
    assert set_up(bare, *EVERYTHING).stderr == "" and bare.log() == ""


def test_set_up_by_sudo(bare):
    has(bare, "lists", "python")
    apt(bare, sudo="")
    result = set_up(bare)
    assert result.returncode == 0, result.stderr
    assert "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get -y" in bare.log()


@pytest.mark.parametrize("sudo", [None, "exit 1"])
def test_set_up_without_root_unpacks(bare, sudo):
    has(bare, "compiler", "python", "numpy", "stb")
    apt(bare, sudo=sudo)
    result = set_up(bare)
    assert result.returncode == 0, result.stderr
    log = bare.log()
    assert "python3-scipy=2.0-1" in log and "python3-numpy" not in log
    assert "Dir::State::Lists=" in log, "the lists were empty: own ones are fetched"
    assert "dpkg-deb -x libboost-context-dev.deb build/packages" in log
    assert " install -y" not in log
    record = (bare.path / "build/setup.mk").read_text()
    assert "PYTHON ?= $(CURDIR)/$(top)/build/packages/python3\n" in record
    assert "export CPLUS_INCLUDE_PATH := $(CURDIR)/$(top)/build/packages/usr/include" in record
    assert "export LIBRARY_PATH := $(CURDIR)/$(top)/build/packages/usr/lib/some-linux-gnu" in record
    assert set_up(bare, *EVERYTHING).stderr == "" and bare.log() == ""


def test_what_is_installed_where_the_compiler_does_not_look(bare):
    """As that of conda, which CXX names in its environments."""
    has(bare, *EVERYTHING, "lists")
    (bare.state / "boost").unlink()
    apt(bare, user=0)
    bare.extra("conda++", 'case $* in *-H*) exit 1 ;; *-file-name*) echo libboost_context.a ;; *) exec g++ "$@" ;; esac')
    result = set_up(bare, AS_ROOT="yes", CXX="conda++")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("set-up: installed, but not found: stb boost (a compiler of conda")


def test_a_compiler_without_openmp(bare):
    """As clang++ is in Debian, with libomp-dev beside it."""
    has(bare, *EVERYTHING)
    assert "OpenMP" not in set_up(bare).stderr
    bare.extra("clang++", 'case $* in *-fopenmp*) exit 1 ;; *) exec g++ "$@" ;; esac')
    result = set_up(bare, CXX="clang++")
    assert result.returncode == 0 and "CXX=clang++ has no OpenMP, which labs 13 and 16 need; clang++ has it in" in result.stderr


def test_an_unpacked_python_needs_an_unpacked_library(bare):
    """As Debian's does where nothing else has brought libexpat."""
    has(bare, "compiler", "stb", "boost", "lists")
    (bare.machine / "system/usr/bin/python3").unlink()
    apt(bare)
    python = '#!/bin/sh\ncase $LD_LIBRARY_PATH in */usr/lib/some-linux-gnu*) ;; *) exit 127 ;; esac\n' + FAKE_PYTHON.partition("\n[")[2].partition("\n")[2]
    write(bare.machine / "python3", python, True)
    folder = f"$3{bare.machine}/system/usr/bin"  # what setup.sh's /usr/bin is here
    bare.extra("dpkg-deb", FAKE_UNPACK + f"""[ "$name" != python3 ] || {{
        mkdir -p "{folder}" "$3/usr/lib/some-linux-gnu" && cp "{bare.machine}/python3" "{folder}" &&
            : >"$3/usr/lib/some-linux-gnu/libexpat.so.1"; }}\n""")
    result = set_up(bare)
    assert result.returncode == 0, result.stderr
    assert "PYTHON ?= $(CURDIR)/$(top)/build/packages/python3\n" in (bare.path / "build/setup.mk").read_text()


def test_a_compiler_is_not_unpacked(bare):
    has(bare, "lists", "python")
    apt(bare)
    result = set_up(bare)
    assert result.returncode == 1
    assert "type: sudo apt-get install g++ python3-numpy" in result.stderr
    assert "download" not in bare.log()


@pytest.mark.parametrize("manager, command", [
    ("dnf", "sudo dnf install python3-numpy python3-pillow boost-devel boost-static"),
    ("pacman", "sudo pacman -S python-numpy python-pillow boost"),
    ("zypper", "sudo zypper install python3-numpy python3-Pillow libboost_context-devel"),
    ("brew", "brew install numpy pillow boost"),
    (None, "python3-numpy python3-pil libboost-context-dev"),
])
def test_set_up_without_apt_says_what_to_type(bare, manager, command):
    has(bare, "compiler", "python", "scipy", "pytest", "matplotlib", "stb")
    if manager:
        bare.extra(manager, "exit 1")
    result = set_up(bare)
    assert result.returncode == 1
    assert command in result.stderr.splitlines()[-1]


def test_what_a_command_does_not_need_does_not_stop_it(bare):
    has(bare, "compiler", "python", "boost")
    result = set_up(bare, "compiler", "python", "boost")
    assert result.returncode == 0 and "going on without stb numpy" in result.stderr
    assert set_up(bare, "compiler", "boost").stderr == ""
    assert set_up(bare, "compiler", "numpy").returncode == 1
    assert set_up(bare, "compilers").returncode == 2
    assert bare.run("bash", "common/setup.sh", "--help").returncode == 2


def test_bubblewrap_is_wished_for_and_not_missed(bare):
    has(bare, *EVERYTHING)
    result = set_up(bare, "python", "bubblewrap")
    assert result.returncode == 0 and "not installed: bubblewrap" in result.stderr
    assert set_up(bare, "python").stderr == ""


def test_what_makes_the_book_is_needed_by_the_book_alone(bare):
    has(bare, *EVERYTHING)
    result = set_up(bare, "python", "book", KATEX="/none")
    assert result.returncode == 1 and "not installed: book" in result.stderr
    assert set_up(bare, "python", KATEX="/none").stderr == ""
    (bare.path / "build/packages/usr/share/javascript/katex").mkdir(parents=True)
    (bare.path / "build/packages/usr/share/javascript/katex/katex.min.js").touch()
    assert set_up(bare, "python", "book", KATEX="/none").returncode == 0


def test_the_first_python_with_the_packages(bare, tmp_path):
    has(bare, *EVERYTHING)
    first, second = tmp_path / "1", tmp_path / "2"
    write(first / "python3", "#!/bin/sh\necho python $0; echo missing numpy\n", True)
    write(second / "python3", "#!/bin/sh\nexit 1\n", True)
    path = f"{first}:{second}:{bare.machine}/extra:{bare.machine}/tools"
    assert set_up(bare, PATH=path).returncode == 0
    record = bare.path / "build/setup.mk"
    assert f"PYTHON ?= {bare.machine}/system/usr/bin/python3\n" in record.read_text()
    write(second / "python3", f"#!/bin/sh\necho python $0; echo found {second}/python3\n", True)
    assert set_up(bare, PATH=path).returncode == 0
    assert f"PYTHON ?= {second}/python3\n" in record.read_text()
    asked = set_up(bare, PATH=path, PYTHON=str(first / "python3"))
    assert asked.returncode == 1 and "lacks numpy; install that there, or leave PYTHON out" in asked.stderr
    asked = set_up(bare, PATH=path, CXX="/none/g++")
    assert asked.returncode == 1 and "CXX=/none/g++ does not compile C++17" in asked.stderr
    asked = set_up(bare, PATH=path, PYTHON="/none/python3")
    assert asked.returncode == 1 and "is no Python 3.10 or later" in asked.stderr


def test_make_sets_up_what_it_needs(bare):
    apt(bare, user=0)
    has(bare, "lists")
    result = bare.run("make", "run", "LAB=1", STATE=bare.state, AS_ROOT="yes", PYTHON="")
    assert "set-up: apt-get install g++ python3 python3-numpy" in result.stderr
    dry = bare.run("make", "-n", "run", "LAB=1", STATE=bare.state, AS_ROOT="yes", PYTHON="")
    assert dry.returncode == 0, dry.stderr


def test_a_dry_run_installs_nothing(bare):
    apt(bare, user=0)
    has(bare, "lists", "python")
    bare.run("make", "-n", "run", "LAB=1", STATE=bare.state, AS_ROOT="yes", PYTHON="")
    assert bare.log() == ""


# The tests and the continuous checks


def test_make_test_and_exercises(course):
    write(course.path / "tests/test_it.py", "import os, helper\ndef test_it(): assert 'LAB' not in os.environ\n")
    assert "1 passed" in course.make("test", "LAB=1", "ARGS=-q -p no:cacheprovider").stdout
    assert "1 deselected" in course.run("make", "test", "ARGS=-q -k nothing").stdout
    assert "1 passed" in course.make("test", at="labs/01_alpha").stdout
    write(course.path / "common/checker/exercises.py", "import sys, helper\nprint('made', *sys.argv[1:])\n")
    assert course.make("exercises").stdout == "made\n"
    assert course.make("exercises", "LAB=2").stdout == "made 02_beta\n"
    assert course.make("exercises", at="labs/01_alpha").stdout == "made 01_alpha\n"
    assert "there is no lab" in course.refused("exercises", "LAB=9")


@pytest.fixture
def scripts(course):
    """A course with the scripts that try it elsewhere, which copy what git knows of."""
    for name in ("toolkits.sh", "hosts.sh", "arm.sh", "debian.sh"):
        write(course.path / "tests" / name, (ROOT / "tests" / name).read_text())
    course.run("git", "init", "-q")
    return course


def test_toolkits(scripts):
    nvcc = scripts.nvcc()
    good = scripts.run("bash", "tests/toolkits.sh", nvcc)
    assert good.returncode == 0, good.stdout + good.stderr
    assert re.search(r"^12\.4\.99 +g\+\+ \S+ +sm_75 sm_90 +3 +0 +0$", good.stdout, re.MULTILINE)
    built = scripts.log()
    assert built.count("code=sm_75") == built.count("code=compute_90") == built.count("-ccbin g++ ") == 3
    for fault, said, row in [("echo 'x.cu(1): warning: odd' >&2", "the exercise of 02_beta: x.cu(1): warning: odd", "1 +1 +0"),
                             ("echo 'x.cu(1): error: odd'; exit 1", "the exercise of 02_beta does not compile: x.cu(1): error: odd", "0 +0 +1")]:
        nvcc.write_text(scripts.nvcc().read_text().replace("printf '%s ' nvcc", f"{fault}\nprintf '%s ' nvcc"))
        bad = scripts.run("bash", "tests/toolkits.sh", nvcc, "02")
        assert bad.returncode == 1 and said in bad.stdout and re.search(rf"sm_75 sm_90 +{row}$", bad.stdout, re.MULTILINE), bad.stdout
    scripts.extra("apt-get", "echo 'E: no network' >&2; exit 100")
    none = scripts.run("bash", "tests/toolkits.sh", "12.4", "01")
    assert none.returncode == 1 and "12.4 could not be fetched: the lines above say why" in none.stdout


@pytest.mark.parametrize("script, words, said", [
    ("toolkits", ["13"], "13 is no toolkit and no lab"), ("arm", ["99"], "99 is no lab, and not runtime"),
    ("hosts", ["-x"], "a suite comes first"), ("hosts", ["trixie", "g+"], "there is no step g+")])
def test_bad_usage_of_the_scripts(scripts, script, words, said):
    result = scripts.run("bash", f"tests/{script}.sh", *words)
    assert result.returncode == 2 and said in result.stderr and result.stdout == ""
    helped = scripts.run("bash", f"tests/{script}.sh", "--help")
    assert helped.returncode == 0 and helped.stdout.startswith(f"Usage: {script}.sh ")


def test_continuous_checks(course):
    test = write(course.path / "tests/test_it.py",
                 "import os\ndef test_it(): assert os.environ['CI'] == 'true' and os.environ['BACKEND'] == 'cpu'\n")
    source = write(course.path / "common/tidy.h", "int tidy;\n")
    shutil.copy(ROOT / ".clang-format", course.path)
    course.extra("clang-format", 'echo "clang-format $*" >>"$LOG"; for file; do grep -s "  int" "$file" && exit 1; done; :')
    course.extra("shellcheck", 'echo "shellcheck $*" >>"$LOG"')
    course.run("git", "init", "-q")
    good = course.run("bash", ".ci/run")
    assert good.returncode == 0, good.stdout + good.stderr
    assert "1 passed" in good.stdout.splitlines()[-1]
    log = course.log()
    assert re.search(r"clang-format --dry-run --Werror .*common/tidy.h .*labs/01_alpha/alpha.cu", log)
    assert re.search(r"shellcheck .*\.ci/run .*common/setup.sh", log)
    source.write_text("  int untidy;\n")
    untidy = course.run("bash", "../.ci/run", at="common")
    assert untidy.returncode == 1 and "failed: clang-format" in untidy.stdout.splitlines()[-1]
    assert "1 passed" in untidy.stdout
    source.write_text("int tidy;\n")
    test.unlink()
    assert course.run("bash", ".ci/run").returncode == 1, "no test at all is no success"
