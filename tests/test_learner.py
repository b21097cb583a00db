"""The learner's commands: make progress, next, hint, watch and reset.

Each test has a small course in a folder with spaces and brackets: the real Makefile, scripts and
checker package, and tiny labs whose "CUDA" is shell script, so that compiling costs nothing.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

import farm
from farm import ROOT
from checker import excerpt, hint
from checker import next as next_lab

COMPILE = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in --runtime) runtime=1 ;; -o) output=$2; shift ;; --list) list=$2; shift ;; *.cu) source=$1 ;; esac
    shift
done
[ -z "$list" ] || exec echo "x: $source" >"$list"
[ -n "$runtime" ] && exec touch "$output"
echo "$source" >>../../compiled
grep -q SLOW "$source" && touch ../../running && sleep 1000
grep -n ERROR "$source" | sed "s|^\\([0-9]*\\):.*|$source:\\1:5: error: this is no CUDA\\n    1 \\| ERROR|" >&2
grep -q ERROR "$source" && exit 1
{ echo '#!/bin/sh'; sed 's|^ *//.*||' "$source"; } >"$output" && chmod +x "$output"
"""
SOLUTION = """\
word=$1
// BEGIN SOLUTION
[ "$word" = one ] && echo one
//: // TODO 2 (1 line): answer to one
// END SOLUTION
// BEGIN SOLUTION
[ "$word" = two ] && echo two
//: // TODO 1 (1 line): answer to two
// END SOLUTION
[ -n "$word" ] || echo "hello from the program"
exit 0
"""
CHECK = """import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
lab = checker.Lab(__file__)

def answers(case, word):
    case.expect(case.run(word).lines == [word], f"the program does not answer {word}")

lab.case("quiet", lambda case: case.run("nothing"))
for word in ("one", "two"):
    lab.case(word, answers, word=word)
lab.main()
"""
HINTS = """# Hints

Read one.

## Task 1: answer to two

1. A nudge
   on two lines.
2. `[ "$word" = two ]`

## Task 2: answer to one

1. The same as in task 1.

       echo one
"""
HANGING = "[ -n \"$1\" ] || exit 0\ntouch ../../../running\nsleep 1000\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class Course:
    """A course with the labs 01_alpha, 02_beta and 03_gamma, as they are handed out."""

    def __init__(self, path):
        self.path = path
        self.environment = {**os.environ, "PYTHON": sys.executable, "BACKEND": "cpu", "TERM": "xterm",
                            "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
        for name in ("NO_COLOR", "VISUAL", "EDITOR", "MAKEFLAGS", "MAKELEVEL", "LAB", "ARGS", "CI"):
            self.environment.pop(name, None)

    def lab(self, name):
        return self.path / "labs" / name / f"{name[3:]}.cu"

    def solve(self, *names):
        """Puts the solution there in one go, as an editor saves."""
        for name in names:
            saved = self.lab(name).with_suffix(".saved")
            shutil.copy(self.path / "solutions" / name / f"{name[3:]}.cu", saved)
            saved.replace(self.lab(name))

    def make(self, *words, status=0, at=".", **environment):
        result = farm.run("make", *words, cwd=self.path / at, env={**self.environment, **environment})
        assert result.returncode == status, result.stdout + result.stderr
        return result

    def compiled(self):
        """The labs that were compiled since the last question."""
        path = self.path / "compiled"
        names = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return sorted(name.removesuffix(".cu") for name in names)

    def processes(self):
        """The processes that are at work in this course; a program may take a moment to be gone."""
        for _ in range(20):
            found = []
            for entry in Path("/proc").glob("[0-9]*"):
                try:
                    if Path(os.readlink(entry / "cwd")).is_relative_to(self.path):
                        found.append((entry / "cmdline").read_text().replace("\0", " "))
                except OSError:
                    pass
            if not found:
                break
            time.sleep(0.05)
        return found

    def wait_until_running(self):
        """Until the hanging program of a check runs."""
        deadline = time.monotonic() + 20
        while not list(self.path.rglob("running")) and time.monotonic() < deadline:
            time.sleep(0.02)
        found = list(self.path.rglob("running"))
        assert found, "the program was never started"
        for path in found:
            path.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "course"
    for file in ("Makefile", "common/lab.mk", "common/functions.mk", "common/backend.sh", "common/build.sh", "common/setup.sh"):
        write(path / file, (ROOT / file).read_text())
    shutil.copytree(ROOT / "common/checker", path / "common/checker", ignore=shutil.ignore_patterns("__pycache__"))
    write(path / "common/cpu/compile.sh", COMPILE)
    for name in ("01_alpha", "02_beta", "03_gamma"):
        write(path / "solutions" / name / f"{name[3:]}.cu", SOLUTION)
        for file, text in (("Makefile", "include ../../common/lab.mk\n"), ("check.py", CHECK),
                           ("hints.md", HINTS), ("README.md", f"# Lab {name[:2]}\n")):
            write(path / "labs" / name / file, text)
    course = Course(path)
    course.make("exercises")
    course.make("build", "LAB=1")  # sets up, and compiles what all labs share
    course.compiled()
    return path


@pytest.fixture
def course(template, tmp_path):
    path = tmp_path / "a b [c] (d)" / "course"
    shutil.copytree(template, path)
    course = Course(path)
    yield course
    assert not course.processes()


class Terminal:
    """make on a pseudo-terminal: what it prints, and the keys that are pressed."""

    def __init__(self, course, *words, at=".", **environment):
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.text = ""
        self.process = subprocess.Popen(
            ["make", *words], cwd=course.path / at, env={**course.environment, **environment},
            stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.text += os.read(self.master, 1 << 16).decode("utf-8", "replace").replace("\r\n", "\n")

    def expect(self, pattern, seconds=20):
        """Waits for the text and returns everything up to its end."""
        deadline = time.monotonic() + seconds
        while not (match := re.search(pattern, self.text)):
            assert time.monotonic() < deadline, f"not printed: {pattern}\n{self.text}"
            self.read(0.1)
        found, self.text = self.text[:match.end()], self.text[match.end():]
        return found

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self, seconds=20):
        """Waits for the end, and returns the status and what was printed until then."""
        deadline = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"does not end\n{self.text}"
            self.read(0.05)
        self.read(0.05)
        return self.process.returncode, self.text

    def is_put_back(self):
        return termios.tcgetattr(self.slave) == self.before


# make progress


def states(result):
    return dict(re.findall(r"^\d\d  (\w+) +(.*)$", result.stdout, re.MULTILINE))


def test_progress_tells_every_state(course):
    for number, name in enumerate(("delta", "epsilon", "zeta"), 4):
        for kind in ("labs", "solutions"):
            shutil.copytree(course.path / kind / "01_alpha", course.path / kind / f"0{number}_{name}")
            (course.path / kind / f"0{number}_{name}/alpha.cu").rename(course.path / kind / f"0{number}_{name}/{name}.cu")
    course.solve("01_alpha")
    course.lab("02_beta").write_text(SOLUTION.replace("echo two", "echo 2"))
    course.lab("04_delta").write_text("exit 0\nERROR\nERROR\n")
    course.lab("05_epsilon").unlink()
    course.lab("06_zeta").unlink()
    course.lab("06_zeta").mkdir()
    result = course.make("progress", at="labs/03_gamma")
    assert states(result) == {
        "alpha": "done",
        "beta": "failing: 2 of 3 cases pass",
        "gamma": "not started",
        "delta": "does not compile: delta.cu:2: this is no CUDA",
        "epsilon": "cannot be judged: epsilon.cu is missing: make reset LAB=05 writes it anew",
        "zeta": "cannot be judged: zeta.cu is a folder and no file: make reset LAB=06 writes it anew"}
    assert "[####....................] 1 of 6 labs done\n" in result.stdout and not result.stderr
    assert "\033" not in result.stdout
    assert course.compiled() == ["alpha", "beta", "delta"]

    seconds = []
    for _ in range(3):  # the machine may have other work
        begun = time.monotonic()
        assert course.make("progress").stdout == result.stdout
        seconds.append(time.monotonic() - begun)
    assert min(seconds) < 2
    assert not course.compiled()


def test_progress_checks_again_what_has_changed(course):
    course.solve("01_alpha", "02_beta")
    course.make("progress")
    assert course.compiled() == ["alpha", "beta"]
    with course.lab("02_beta").open("a") as file:
        file.write("// a comment\n")
    assert states(course.make("progress"))["beta"] == "done"
    assert course.compiled() == ["beta"]
    check = course.path / "labs/01_alpha/check.py"
    check.write_text(CHECK.replace('"two")', '"two", "three")'))
    assert states(course.make("progress"))["alpha"] == "failing: 3 of 4 cases pass"
    write(course.path / "labs/01_alpha/README.md", "# Another handout\n")
    (course.path / "build/learner/02_beta/verdict.json").write_text("nonsense")
    assert states(course.make("progress")) == {"alpha": "failing: 3 of 4 cases pass", "beta": "done",
                                               "gamma": "not started"}
    course.compiled()
    write(course.path / "common/lab.h", "// new\n")
    course.make("progress", CXX="c++")
    # By make's own rules: another compiler. That of one lab may make what another one is linked with anew.
    assert set(course.compiled()) == {"alpha", "beta"}


def test_a_lab_that_hangs_costs_its_time_only(course):
    course.solve("02_beta", "03_gamma")
    course.lab("01_alpha").write_text(HANGING)
    begun = time.monotonic()
    result = course.make("progress", "ARGS=--timeout 1")
    assert time.monotonic() - begun < 15
    assert states(result) == {"alpha": "failing: 0 of 3 cases pass; a run did not end in time",
                              "beta": "done", "gamma": "done"}


def test_progress_on_a_terminal(course):
    course.solve("01_alpha")
    with Terminal(course, "progress") as terminal:
        status, text = terminal.end()
        assert status == 0 and "\033[32mdone\033[0m" in text and "0 of 1" not in text
    course.lab("02_beta").write_text('[ "$1" = one ] && sleep 3\n')  # more than two seconds: a bar that vanishes
    with Terminal(course, "progress", NO_COLOR="1") as terminal:
        bar = terminal.expect(r"0 of 1  checking lab 02\033\[K")
        assert "[....." in bar and "\033[3" not in bar
        status, text = terminal.end()
        assert status == 0 and "\r\033[K01  alpha" in text and "\033[3" not in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_progress_leaves_nothing_behind(course, number):
    course.lab("01_alpha").write_text(HANGING if number == signal.SIGINT else "SLOW\n")
    course.lab("02_beta").write_text(f"setsid -f sleep 1000\n{HANGING}")
    with Terminal(course, "progress") as terminal:
        course.wait_until_running()
        os.killpg(terminal.process.pid, number)
        status, text = terminal.end()
        assert status != 0 and "interrupted" in text and "Traceback" not in text
    assert not course.processes()
    assert not list(course.path.rglob("verdict.json"))  # what was cut off is no verdict


def test_what_cannot_be_written_is_said(course):
    """Other users' files and a full disk give such errors too; root is not stopped by permissions."""
    course.solve("01_alpha")
    shutil.rmtree(course.path / "build/learner", ignore_errors=True)
    write(course.path / "build/learner", "in the way")
    assert states(course.make("progress"))["alpha"] == "cannot be judged: build/learner/01_alpha: Not a directory"
    text = course.make("hint", "LAB=1").stdout
    assert "A nudge" in text and "will come again, as it cannot be noted that you have seen it (build/learner" in text
    write(course.path / "build/replaced", "in the way")
    assert "reset: build/replaced/01_alpha: Not a directory" in course.make("reset", "LAB=1", "ARGS=--yes", status=2).stderr
    shutil.rmtree(course.path / "build/cpu/labs")
    write(course.path / "build/cpu/labs", "in the way")
    assert re.match("cannot be judged: mkdir: .*build/cpu/labs.*: Not a directory", states(course.make("progress"))["alpha"])


def test_nobody_reads_any_longer(course):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as closed:
        result = subprocess.run(["make", "hint", "LAB=1"], cwd=course.path, env=course.environment, stdout=closed,
                                stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode and "Traceback" not in result.stderr and "Exception" not in result.stderr


@pytest.mark.parametrize("words, sentence", [
    (["progress", "ARGS=--timeout 0"], "progress: --timeout and --jobs take numbers above 0"),
    (["progress", "ARGS=--no-such"], "progress: unrecognized arguments: --no-such"),
    (["next", "LAB=all"], "next: takes one lab at a time, not 3"),
    (["next", "ARGS=--timeout x"], "next: argument --timeout: invalid float value: 'x'"),
    (["hint"], "LAB is needed, as in: make hint LAB=01"),
    (["watch", "LAB=7"], "there is no lab 7"),
    (["hint", "LAB=1", "ARGS=nonsense"], "hint: nonsense is no option; ARGS=--help lists them"),
    (["watch", "LAB=all"], "watch: takes one lab at a time, not 3"),
    (["hint", "LAB=1", "ARGS=--task 9"], "hint: lab 01 has no task 9; there are: Task 1: answer to two; Task 2"),
    (["hint", "LAB=1", "ARGS=--again --all"], "hint: argument --all: not allowed with argument --again"),
])
def test_bad_usage_is_one_sentence(course, words, sentence):
    result = course.make(*words, status=2)
    said = [line for line in result.stderr.splitlines() if not re.match(r"make: \*\*\* \[.*Error 2$", line)]
    assert len(said) == 1 and sentence in said[0] and not result.stdout


# make next


def test_next_names_the_first_lab_that_is_not_done(course):
    assert course.make("next").stdout.splitlines() == [
        "Lab 01, alpha: not started",
        "  read   labs/01_alpha/README.md",
        "  edit   labs/01_alpha/alpha.cu:3: TODO 1 (1 line): answer to two",
        "  check  make check LAB=01, or at each save: make watch LAB=01",
        "  stuck  make hint LAB=01"]
    write(course.path / "labs/01_alpha/hints.md", HINTS.replace("Task 1", "Task 3"))
    assert "TODO 2" in course.make("next").stdout  # the order is that of the hints
    course.solve("01_alpha")
    course.lab("02_beta").write_text("exit 0\n")
    text = course.make("next", at="labs/01_alpha").stdout
    assert text.startswith("Lab 02, beta: failing: 1 of 3 cases pass\n")
    assert "  edit   ../02_beta/beta.cu (no TODO is left in it)\n" in text
    course.solve("02_beta", "03_gamma")
    assert course.make("next").stdout == "All 3 labs are done.\n"
    # The lab that was named, done or not.
    assert course.make("next", "LAB=2").stdout.startswith("Lab 02, beta: done\n")
    assert course.make("progress", "LAB=3").stdout.startswith("03  gamma  done\n")
    # All cases pass, but one of the places that wait for the learner is still there.
    path = course.lab("02_beta")
    path.write_text("// TODO make it faster, one day\n// TODO 2 (1 line): answer to one\n" + path.read_text())
    left = "done, but TODO 2 still stands in beta.cu"
    assert f"02  beta   {left}\n" in course.make("progress").stdout
    assert course.make("next").stdout.startswith(f"Lab 02, beta: {left}\n")


def test_next_goes_on_with_a_lab_in_work(course):
    course.lab("02_beta").write_text("exit 0\n// TODO 2 (1 line): answer to one\n")
    assert "  edit   labs/02_beta/beta.cu:2: TODO 2" in course.make("next").stdout
    course.solve("02_beta")
    assert course.make("next").stdout.startswith("Lab 01, alpha: not started")


def test_next_opens_the_editor_on_a_terminal(course):
    editor = write(course.path / "vim", '#!/bin/sh\nprintf "%s|" opened "$@"\nexit $STATUS\n')
    editor.chmod(0o755)
    choice = {"EDITOR": f"'{editor}' -n", "STATUS": "0"}
    assert "opened" not in course.make("next", **choice).stdout
    with Terminal(course, "next", **choice) as terminal:
        status, text = terminal.end()
        assert status == 0 and "opened|-n|+3|labs/01_alpha/alpha.cu|" in text
    with Terminal(course, "next", "ARGS=--no-editor", **choice) as terminal:
        assert "opened" not in terminal.end()[1]
    with Terminal(course, "next", VISUAL="no-such-editor", **choice) as terminal:
        status, text = terminal.end()
        assert status == 2 and "next: the editor no-such-editor cannot be started: No such file" in text


@pytest.mark.parametrize("editor, words", [
    ("nano", ["nano", "+7", "x.cu"]), ("/usr/bin/code -w", ["/usr/bin/code", "-w", "--goto", "x.cu:7"]),
    ("hx", ["hx", "x.cu:7"]), ("unheard-of", ["unheard-of", "x.cu"])])
def test_how_editors_are_told_the_line(editor, words):
    assert next_lab.editor_command(editor, Path("x.cu"), 7) == words


# make hint


def test_one_more_hint_each_time(course):
    one = course.make("hint", "LAB=1").stdout
    assert one.startswith("Lab 01. Task 1: answer to two (hint 1 of 2)\n\n  A nudge\n  on two lines.\n\n")
    two = course.make("hint", "LAB=alpha").stdout
    assert '(hint 2 of 2)\n\n  `[ "$word" = two ]`\n' in two and "This was the last hint for this task." in two
    three = course.make("hint", at="labs/01_alpha").stdout
    assert "Task 2: answer to one (hint 1 of 1)\n\n  The same as in task 1.\n\n      echo one\n" in three
    for _ in range(2):
        none = course.make("hint", "LAB=1").stdout
        assert none.startswith("There are no more hints for lab 01")
        assert "The worked solution is solutions/01_alpha/alpha.cu" in none and "echo" not in none
    assert course.make("hint", "LAB=1", "ARGS=--again").stdout.count("(hint 1 of 1)") == 1
    assert "begin anew" in course.make("hint", "LAB=1", "ARGS=--reset").stdout
    assert course.make("hint", "LAB=1").stdout == one
    assert course.make("hint", "LAB=2", "ARGS=--all").stdout.count("(hint ") == 3


def test_hints_follow_the_task(course):
    course.lab("01_alpha").write_text("// TODO 2 (1 line): answer to one\n")
    two = course.make("hint", "LAB=1").stdout
    assert "Task 2" in two and "No TODO is left" not in two  # that of task 1 is gone
    course.lab("01_alpha").write_text("done\n")
    done = course.make("hint", "LAB=1").stdout
    assert 0 <= done.find("No TODO is left in your files: make check LAB=01") < done.find("Task")
    assert "Task 1: answer to two (hint 1 of 2)" in course.make("hint", "LAB=2").stdout
    assert "Task 2" in course.make("hint", "LAB=2", "ARGS=--task 'answer to one'").stdout
    assert "no more hints for this task" in course.make("hint", "LAB=2", "ARGS=--task 2").stdout
    assert "(hint 2 of 2)" in course.make("hint", "LAB=2").stdout
    write(course.path / "build/learner/02_beta/hints.json", "[]")
    assert "(hint 1 of 2)" in course.make("hint", "LAB=2").stdout
    (course.path / "labs/02_beta/hints.md").unlink()
    assert "hint: labs/02_beta/hints.md cannot be read: No such file" in course.make("hint", "LAB=2", status=2).stderr


def test_hints_of_a_part_come_while_its_todo_stands(course):
    write(course.path / "labs/01_alpha/hints.md", """# Hints

## Task 1: answer

1. A nudge.
2. 1a and 1b are alike.
3. 1c is another.
4. 1b: nearly the answer.
""")
    def hint(*words):
        return course.make("hint", "LAB=1", *words).stdout.splitlines()[2].strip()

    source = course.lab("01_alpha")
    source.write_text("// TODO 1a (1 line): one\n// TODO 1b (1 line): two\n// TODO 1c (1 line): three\n")
    assert hint("ARGS=--task 1c") == "A nudge." and hint("ARGS=--task 1c") == "1c is another."
    assert "no more hints for this task" in course.make("hint", "LAB=1", "ARGS=--task 1c").stdout \
        or "no more hints for lab" in course.make("hint", "LAB=1", "ARGS=--task 1c").stdout
    course.make("hint", "LAB=1", "ARGS=--reset")
    source.write_text("// TODO 1c (1 line): three\n")
    assert hint() == "A nudge." and hint() == "1c is another."
    assert "There are no more hints" in course.make("hint", "LAB=1").stdout
    source.write_text("// TODO 1b (1 line): two\n")
    assert hint() == "1a and 1b are alike." and hint() == "1b: nearly the answer."


@pytest.mark.parametrize("lab", [lab for lab in farm.labs() if (ROOT / "labs" / lab / "hints.md").exists()])
def test_every_lab_has_hints_that_are_understood(lab):
    text = (ROOT / "labs" / lab / "hints.md").read_text(encoding="utf-8")
    tasks = hint.read_tasks(text)
    assert tasks and len(tasks) == len(re.findall("^## ", text, re.MULTILINE))
    assert all(len(task.hints) >= 2 and all(task.hints) for task in tasks)
    for section in re.split("^## .*$", text, flags=re.MULTILINE)[1:]:
        numbers = [int(number) for number in re.findall(r"^(\d+)\. ", section, re.MULTILINE)]
        assert numbers == list(range(1, len(numbers) + 1))
    numbered = [task.number for task in tasks if task.number]
    assert sorted(numbered) == list(range(1, len(numbered) + 1))


# make reset


def test_reset_asks_and_keeps_what_was_there(course):
    shipped = course.lab("01_alpha").read_text()
    assert "as it was handed out" in course.make("reset", "LAB=1").stdout
    course.make("hint", "LAB=1")
    course.lab("01_alpha").write_text("my work\n")
    assert "ARGS=--yes starts over" in course.make("reset", "LAB=1", status=2).stderr
    for answer, kept in (("n", True), ("\x04", True), ("y", False)):
        with Terminal(course, "reset", at="labs/01_alpha") as terminal:
            terminal.expect(re.escape("Start lab 01, alpha over? What you have (alpha.cu) goes to build/replaced. [y/N]"))
            terminal.press(answer + "\n" if answer != "\x04" else answer)
            status, text = terminal.end()
        assert status == 0 and ("Nothing was changed" in text) == kept
        assert (course.lab("01_alpha").read_text() == "my work\n") == kept
    assert course.lab("01_alpha").read_text() == shipped
    assert "(hint 1 of 2)" in course.make("hint", "LAB=1").stdout
    assert (course.path / "build/replaced/01_alpha/alpha.cu").read_text() == "my work\n"
    course.lab("01_alpha").unlink()
    course.make("reset", "LAB=1", "ARGS=--yes")
    assert course.lab("01_alpha").read_text() == shipped
    for number, kind in ((1, "mkdir"), (2, "mkfifo")):  # what is no file at all
        course.lab("01_alpha").unlink()
        subprocess.run([kind, course.lab("01_alpha")], check=True)
        assert "(no TODO" not in course.make("next").stdout
        text = course.make("reset", "LAB=1", "ARGS=--yes").stdout
        assert f"is now build/replaced/01_alpha/alpha-unreadable-{number}.cu" in text
        assert course.lab("01_alpha").read_text() == shipped


# make watch


def replace(path, text):
    """Saves as editors do: a new file takes the place of the old one."""
    write(path.with_name("4913.tmp"), text).replace(path)


ONLY_ONE = SOLUTION.replace("echo two", "echo 2")


def test_watch_checks_at_each_save(course):
    with Terminal(course, "watch", "LAB=1", NO_COLOR="1") as terminal:
        text = terminal.expect(r"q quit")
        assert "\033[H\033[2JLab 01, alpha" in text and "checking labs/01_alpha/alpha.cu" in text
        assert "FAIL  one\n      the program does not answer one\n" in text and "FAIL  two" not in text
        assert "ok  " not in text and "1 of 3 cases pass" in text and "\033[3" not in text
        replace(course.lab("01_alpha"), ONLY_ONE)
        assert "FAIL  two" in terminal.expect(r"q quit")
        course.lab("01_alpha").write_text("exit 0\nERROR\nERROR\n")
        text = terminal.expect(r"q quit")
        assert "It does not compile:\nalpha.cu:2:5: error:" in text and "alpha.cu:3" not in text
        course.lab("01_alpha").unlink()
        assert "alpha.cu is missing: make reset" in terminal.expect(r"q quit")
        course.solve("01_alpha")
        assert "Lab 01, alpha, is done: 3 of 3 cases pass" in terminal.expect(r"q quit")
        terminal.read(0.6)
        assert not terminal.text.strip()  # it does not move on by itself
        terminal.press("q")
        assert terminal.end()[0] == 0 and terminal.is_put_back()
    course.compiled()
    assert states(course.make("progress"))["alpha"] == "done"
    assert not course.compiled()  # the verdict was remembered


def test_the_keys_of_watch(course):
    with Terminal(course, "watch", at="labs/02_beta") as terminal:
        assert "\033[31mFAIL  one" in terminal.expect(r"q quit")
        terminal.press("hx")
        assert "Task 1: answer to two" in terminal.expect(r"hint 1 of 2\)(.|\n)*q quit")
        terminal.press("h")
        terminal.expect(r"hint 2 of 2\)(.|\n)*q quit")
        terminal.press("r")
        assert "hello from the program" in terminal.expect(r"q quit")
        terminal.press("c")
        assert "FAIL  one" in terminal.expect(r"q quit")
        terminal.press("n")
        text = terminal.expect(r"q quit")
        assert "Lab 03, gamma" in text and "FAIL  one" in text
        terminal.press("n")
        terminal.expect("This is the last lab")
        terminal.press("q")
        assert terminal.end()[0] == 0 and terminal.is_put_back()


def test_a_save_during_a_check_starts_another(course):
    course.lab("01_alpha").write_text(f"setsid -f sleep 1000\n{HANGING}")
    with Terminal(course, "watch", "LAB=1", NO_COLOR="1") as terminal:
        course.wait_until_running()
        course.solve("01_alpha")
        text = terminal.expect(r"is done: 3 of 3 cases pass")
        assert text.count("checking labs") == 2 and "FAIL" not in text
        # Watching on: what the first check had started is gone, and only watch itself is there.
        assert not [words for words in course.processes() if "sleep" in words or "alpha/alpha" in words]
        terminal.press("q")
        assert terminal.end()[0] == 0


@pytest.mark.parametrize("how", ["Ctrl+C", "SIGTERM", "q", "n", "Ctrl+Z"])
def test_watch_leaves_nothing_behind(course, how):
    course.lab("01_alpha").write_text(f"setsid -f sleep 1000\n{HANGING}")
    with Terminal(course, "watch", "LAB=1") as terminal:
        course.wait_until_running()
        assert not terminal.is_put_back()
        if how == "SIGTERM":
            os.killpg(terminal.process.pid, signal.SIGTERM)
        elif how == "n":
            terminal.press("n")
            terminal.expect("Lab 02, beta(.|\n)*q quit")
            assert not [words for words in course.processes() if "sleep" in words]
            terminal.press("q")
        elif how == "Ctrl+Z":
            # Orphaned groups are not stopped, but the terminal is put back and taken again.
            terminal.press("\x1a")
            time.sleep(0.3)
            os.killpg(terminal.process.pid, signal.SIGCONT)
            terminal.press("q")
        else:
            terminal.press({"Ctrl+C": "\x03", "q": "q"}[how])
        status, text = terminal.end()
        assert terminal.is_put_back() and "Traceback" not in text
        assert (status == 0) == (how in ("q", "n", "Ctrl+Z"))
    assert not course.processes()


def test_watch_without_a_terminal(course):
    log = course.path / "log"
    with log.open("w") as file:
        process = subprocess.Popen(["make", "watch", "LAB=alpha"], cwd=course.path, env=course.environment,
                                   stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True)

    def expect(text):
        deadline = time.monotonic() + 20
        while text not in log.read_text():
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)

    try:
        expect("1 of 3 cases pass, 1 not run\n")
        replace(course.lab("01_alpha"), SOLUTION)
        expect("Lab 01, alpha, is done: 3 of 3 cases pass\n")
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)
    assert "\033" not in log.read_text() and "Traceback" not in log.read_text() and "q quit" not in log.read_text()


# One variant


@pytest.fixture
def ladder(course):
    """Lab 02 with the variants one and two; the TODO of one stands."""
    check = CHECK.replace("Lab(__file__)", "Lab(__file__, tasks={'one': 'TODO 2'})").replace("def answers(case, word)", "def answers(case, variant)")
    check = check.replace("case.run(word).lines == [word]", "case.run('--variant', variant).lines == [variant]").replace("{word}", "{variant}")
    write(course.path / "labs/02_beta/check.py", check.replace("word=word", "variant=word"))
    course.lab("02_beta").write_text('[ "$1" = --variant ] && shift\n' + ONLY_TWO)
    return course


ONLY_TWO = SOLUTION.replace("[ \"$word\" = one ] && echo one\n", "// TODO 2 (1 line): answer to one\n")


def test_one_variant_is_checked_and_run(ladder):
    assert ladder.make("check", "LAB=2", "VARIANT=two").stdout == "1 of 1 cases of two pass\n"
    assert ladder.make("check", "VARIANT=one", at="labs/02_beta", status=2).stdout.endswith("\n0 of 1 cases of one pass\n")
    assert ladder.make("run", "LAB=2", "VARIANT=two").stdout.endswith("two\n")
    assert states(ladder.make("progress"))["beta"] == "failing: 2 of 3 cases pass"
    assert "\n           to do: one; right: two\n03" in ladder.make("progress").stdout


def test_a_hint_for_one_variant(ladder):
    ladder.make("hint", "LAB=2", "ARGS=--task 1")
    check = ladder.path / "labs/02_beta/check.py"
    check.write_text(check.read_text().replace("tasks={", "shared={'one': 'TODO 1'}, tasks={"))
    assert "Task 2: answer to one (hint 1 of 1)" in ladder.make("hint", "LAB=2", "VARIANT=one").stdout
    assert "no more hints for this task (Task 2" in ladder.make("hint", "LAB=2", "VARIANT=one").stdout
    assert "hint: two has no TODO, and so no hints: make hint LAB=02" in ladder.make("hint", "LAB=2", "VARIANT=two", status=2).stderr


def test_a_hint_for_a_variant_of_further(ladder):
    check = ladder.path / "labs/02_beta/check.py"
    check.write_text(check.read_text().replace("tasks={", "further=['one', 'two'], tasks={"))
    for words in ([], ["FURTHER=1"]):
        assert "Task 2: answer to one" in ladder.make("hint", "LAB=2", "VARIANT=one", *words).stdout
        assert "two has no TODO, and so no hints" in ladder.make("hint", "LAB=2", "VARIANT=two", *words, status=2).stderr


def test_one_variant_is_watched(ladder):
    with Terminal(ladder, "watch", "LAB=2", "VARIANT=one", NO_COLOR="1") as terminal:
        text = terminal.expect(r"q quit")
        assert "checking labs/02_beta/beta.cu, one" in text and "FAIL  one" in text and "0 of 1 cases of one pass" in text
        terminal.press("h")
        assert "Task 2: answer to one" in terminal.expect(r"q quit")
        replace(ladder.lab("02_beta"), '[ "$2" != one ] || echo one\n')
        assert "Lab 02, beta, one is right: 1 of 1 cases of one pass" in terminal.expect(r"q quit")
        terminal.press("r")
        assert "\none\n" in terminal.expect(r"q quit")
        terminal.press("q")
        assert terminal.end()[0] == 0
    assert states(ladder.make("progress"))["beta"].startswith("failing")  # one variant is not the lab


@pytest.mark.parametrize("words, sentence", [
    (["check", "LAB=2", "VARIANT=twos"], "lab 02 has no variant 'twos' (do you mean two?); there are one, two"),
    (["run", "LAB=2", "VARIANT=x'y"], "lab 02 has no variant 'x'y'; there are one, two"),
    (["watch", "LAB=2", "VARIANT=tow"], "watch: lab 02 has no variant 'tow' (do you mean two?); there are one, two"),
    (["hint", "LAB=1", "VARIANT=one"], "hint: lab 01 has no variants: leave VARIANT out"),
    (["run", "LAB=1", "VARIANT=one"], "lab 01 has no variants: leave VARIANT out"),
    (["check", "LAB=2", "VARIANT=one", "ARGS=--all --variant two"], "VARIANT and ARGS both name a variant: give one of them"),
    (["hint", "LAB=2", "VARIANT=one", "ARGS=--task 1"], "hint: argument --task: not allowed with argument --variant"),
    (["next", "VARIANT=one"], "VARIANT is for make run, check, hint and watch"),
])
def test_a_variant_that_is_refused(ladder, words, sentence):
    result = ladder.make(*words, status=2)
    said = [line for line in result.stderr.splitlines() if not re.match(r"make(\[1\])?: \*\*\* \[.*Error 2$", line)]
    assert len(said) == 1 and sentence in said[0] and not result.stdout


# What is cut out of long output


NVCC = """backend: gpu (a card)
compiling labs/01_x/x.cu for sm_90
x.cu(2): error: identifier "b" is undefined
  a[0]=b

x.cu(5): error: expected a ";"
1 error detected
make: *** [x] Error 1
"""
GCC = """x.cu: In function 'void k(int*)':
x.cu:2:32: error: 'b' was not declared
    2 | a[0]=b
x.cu:3:13: error: static assertion failed
"""


def test_the_first_compile_error():
    assert excerpt.compile_error(NVCC) == 'x.cu:2: identifier "b" is undefined'
    assert excerpt.first_compile_error(NVCC) == ['x.cu(2): error: identifier "b" is undefined', "  a[0]=b", ""]
    assert excerpt.compile_error(GCC) == "x.cu:2: 'b' was not declared"
    assert excerpt.first_compile_error(GCC) == GCC.splitlines()[:3]
    assert excerpt.compile_error("compiling labs/x\nld: crt1.o: in `_start':\n(.text): undefined reference to `main'\n"
                                 "make: *** [x] Error 1") == "undefined reference to `main'"
    assert excerpt.compile_error("make: *** the set-up is not complete, see above.  Stop.") == \
        "the set-up is not complete, see above"
    assert excerpt.refusal("backend: cpu\nmkdir: no\nMakefile:9: *** the set-up is not complete, see above.  Stop.") == \
        excerpt.refusal("mkdir: no\nmake: *** [lab.mk:9: x] Error 1") == "mkdir: no"
    assert excerpt.was_ended("compiling x\nmake: *** [lab.mk:9: x] Terminated\n")
    assert excerpt.was_ended("g++: fatal error: Killed signal terminated program cc1plus\n") and not excerpt.was_ended(GCC)


def test_the_first_failure():
    text = "ok    a\nFAIL  b\n      why\nFAIL  c\n      why\n1 of 3 cases pass\n"
    assert excerpt.first_failure(text) == ["FAIL  b", "      why"]
    assert excerpt.count(text) == "1 of 3 cases pass"
    assert excerpt.first_failure("ok    a\n") == [] and excerpt.count("") == ""


def test_how_far_a_check_has_come():
    text = "backend: cpu\ncompiling labs/x.cu for the CPU\n"
    assert excerpt.so_far(text) == "compiling labs/x.cu for the CPU"
    assert excerpt.so_far(text + "fresh input from --seed 1\n") == excerpt.so_far("") == "the first case runs"
    assert excerpt.so_far(text + "ok    a\nFAIL  b\n") == "1 case is right so far"
