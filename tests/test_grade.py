"""make grade: what is taken from a submission, how it is confined, what is reported.

The whole grader is tried in a small course: the real Makefile, scripts and checker package, with one
tiny lab whose "CUDA" is plain C++, so that compiling costs little.
"""

import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

import pytest

import checker.case
import submissions
from checker import grade_alike, grade_collect, grade_confine, grade_late, grade_report, grade_score, grade_unpack, record
from checker.grade_judge import Case, Verdict
from farm import ROOT

COMPILE = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in --runtime) runtime=1 ;; -o) output=$2; shift ;; *.cu) source=$1 ;; esac
    shift
done
[ -z "$runtime" ] || { mkdir -p "$(dirname "$output")" && exec touch "$output"; }
exec g++ -pthread -x c++ "$source" -o "$output"
"""
SOLUTION = """#include <cstdio>
#include <cstdlib>
#include "helper.h"
int main(int count, char** words) {
    // BEGIN SOLUTION
    printf("%d\\n", twice(atoi(words[1])));
    //: (void)twice, (void)count, (void)words;
    // END SOLUTION
}
"""
HELPER = """// BEGIN SOLUTION
inline int twice(int number) { return 2 * number; }
//: inline int twice(int number) { return number; }
// END SOLUTION
"""
CHECK = """import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
lab = checker.Lab(__file__)

def doubles(case, number):
    case.expect(case.run(number).lines == [str(2 * number)], f"{number} is not doubled")

for number in (0, 21):
    lab.case(str(number), doubles, number=number)
@lab.case("fresh", fresh=True)
def fresh(case):
    doubles(case, int(case.random.integers(1, 1000)))
@lab.case("of a card")
def card(case):
    raise checker.Skipped("this machine has no card")
lab.main()
"""
LAB = "01_double"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course in a folder whose name wants quoting, set up."""
    path = tmp_path_factory.mktemp("grade") / "a course [1]"
    path.parent.chmod(0o755)
    path.mkdir()
    shutil.copy(ROOT / "Makefile", path)
    shutil.copytree(ROOT / "common", path / "common", ignore=shutil.ignore_patterns("__pycache__"))
    (path / "common/cpu/compile.sh").write_text(COMPILE)
    for file, text in {f"labs/{LAB}/Makefile": "include ../../common/lab.mk\n", f"labs/{LAB}/check.py": CHECK,
                       f"solutions/{LAB}/double.cu": SOLUTION, f"solutions/{LAB}/helper.h": HELPER,
                       "data/nothing": ""}.items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_text(text)
    # Tests may run under a Python that lacks nothing; make has to take the same one.
    make(path, "exercises")
    return path


def make(course, *words, status=0, **variables):
    environment = {**os.environ, "BACKEND": "cpu", "PYTHON": sys.executable, **variables}
    result = subprocess.run(["make", *map(str, words)], cwd=course, env=environment, text=True, capture_output=True,
                            check=False, timeout=600)
    assert result.returncode == status, result.stdout + result.stderr
    return result


def verdicts(folder):
    """Student -> what the table says of the first lab."""
    with open(folder / "grades.csv", newline="", encoding="utf-8-sig") as file:
        return {row["student"]: row[f"{LAB} verdict"] for row in csv.DictReader(file)}


# The whole

HEAVY = ("fills_the_compiler", "is_a_huge_program", "never_ends", "shares_all_memory")  # tried with real labs only


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    """A class of submissions, the verdicts that are expected, and what make said."""
    folder = tmp_path_factory.mktemp("class") / "all of them"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(submissions, "ROOT", course)
        kinds = [kind for kind in submissions.BAD if kind.name not in HEAVY]
        expected = submissions.make(folder, [LAB], len(kinds) + 6 + 4, kinds)
    (folder / "ada.tar").write_text("")
    (folder / "joe.zip").write_text("no zip")
    (folder / ".hidden").mkdir()
    (folder / "=1+1 <b>").mkdir()
    shutil.copytree(folder / "student_000", folder / "-ä 'b' \"c\"\n\x1b[2J")
    result = make(course, "grade", f"SUBMISSIONS={folder}", "ARGS=--seed 1 --workers 2 --timeout 10 --memory 256")
    return folder, expected, result


def test_every_kind_of_bad_submission_costs_that_one_only(course, graded):
    _, expected, _ = graded
    found = verdicts(course / "build/grades")
    wrong = {name: found[name] for name, pattern in expected.items()
             if not re.search(pattern.replace("2048", "256"), found[name])}
    assert not wrong
    assert found["student_000"] == found["student_002"] == "3 of 3 cases"
    assert found["student_001"] == "0 of 3 cases: 0 is not doubled"


def test_what_is_said(course, graded):
    result = graded[2]
    assert (course / "build/cpu/runtime.a").exists()  # grading is the first thing that this course is used for
    assert "grade: confined by " in result.stderr
    assert "ada.tar is no folder and no zip" in result.stderr and "joe.zip cannot be unpacked: File is not a zip" in result.stderr
    assert ".hidden begins with a dot" in result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    assert "'of a card' does not count" in result.stderr and "no card" in result.stderr
    assert "student_000: 10 of 10 points" in result.stdout


def test_nothing_stays_behind(course, graded):
    assert sorted(path.name for path in (course / "build/grades").iterdir()) == [
        ".lock", "alike.csv", "grades.csv", "grades.html", "grades.json", "students"]
    assert not running_with(str(course))


def read(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


@pytest.mark.parametrize("count, right", [(3, 1), (3, 3), (7, 6), (74, 37), (1, 0)])
def test_the_points_of_cases_add_up(count, right):
    cases = [Case(str(number), number * right // count < (number + 1) * right // count, "") for number in range(count)]
    grades = grade_score.Grades(1, "cpu", {"03_x": 10.0}, {"03_x": [case.name for case in cases]},
                                {"eve": {"03_x": Verdict("03_x", "", cases=cases)}})
    result = grade_report.gradescope(grades, "eve")
    for key, total in (("score", result["score"]), ("max_score", 10)):
        assert round(sum(test[key] for test in result["tests"]), 9) == total
    assert all(abs(test["max_score"] - 10 / count) < 0.01 for test in result["tests"])
    assert result["score"] == round(10 * right / count, 2)


def test_the_files_for_students(course, graded):
    own = course / "build/grades/students"
    right = json.loads((own / "student_000/results.json").read_text())
    assert right["score"] == 10 and [test.get("status") for test in right["tests"]] == ["passed"] * 3 + [None]
    assert right["tests"][3]["max_score"] == 0 and "no card" in right["tests"][3]["output"]
    assert round(sum(test["max_score"] for test in right["tests"]), 9) == 10
    broken = json.loads((own / "bad_does_not_compile/results.json").read_text())
    assert broken["score"] == 0 and len(broken["tests"]) == 1
    assert "error" in broken["tests"][0]["output"] and str(course) not in broken["tests"][0]["output"]
    claims = json.loads((own / "bad_claims_success/results.json").read_text())
    assert claims["tests"][0]["output"].endswith(
        f"(cd 'build/checks/{LAB}/0' && ../../../cpu/labs/{LAB}/double 0)")
    suite = ElementTree.parse(own / "bad_crashes/results.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "3")
    assert "SIGSEGV" in suite[0][0].get("message")


def test_nothing_secret_is_shown(course, graded):
    for path in (course / "build/grades").rglob("*.*"):
        text = path.read_text()
        assert "root:x:" not in text and "return 2 * number" not in text, path


def test_names_are_only_names(course, graded):
    assert "'=1+1 <b>" in verdicts(course / "build/grades")
    page = (course / "build/grades/grades.html").read_text()
    assert "=1+1 &lt;b&gt;" in page and "<b>" not in page
    assert verdicts(course / "build/grades")["'-ä 'b' \"c\" \ufffd[2J"] == "3 of 3 cases"
    assert (course / "build/grades/students/-ä 'b' \"c\"\n\x1b[2J/results.json").is_file()
    assert not any(odd in page for odd in "\x1b\x9b\u202e")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_grading_leaves_nothing_behind(course, tmp_path, number):
    (tmp_path / "class/eve").mkdir(parents=True)
    (tmp_path / "class/eve/double.cu").write_text("#include <unistd.h>\nint main() { for (;;) pause(); }\n")
    process = subprocess.Popen(
        ["make", "grade", f"SUBMISSIONS={tmp_path}/class", f"ARGS=--output {tmp_path}/grades --timeout 100"],
        cwd=course, env={**os.environ, "BACKEND": "cpu", "PYTHON": sys.executable}, text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not running_with(f"{tmp_path / 'grades' / 'work' / LAB}-") and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, number)
    said = process.communicate(timeout=20)[1]
    assert "interrupted: nothing was written" in said and "Traceback" not in said
    assert [path.name for path in (tmp_path / "grades").iterdir()] == [".lock"]
    assert not running_with(str(tmp_path))


def test_order_and_workers_change_nothing(course, graded, tmp_path):
    """One by one, in parts that are graded at the same time, and put together again."""
    slow = ("sleeps", "memory", "nests", "many", "prints")
    found = verdicts(course / "build/grades")
    for path in graded[0].iterdir():
        # Of those that do not compile one is enough: no program of theirs meets another.
        runs = found.get(path.name) != "does not compile" or path.name == "bad_does_not_compile"
        if path.is_dir() and runs and not any(word in path.name for word in slow):
            shutil.copytree(path, tmp_path / "some" / path.name, symlinks=True, copy_function=copy_special)
    with ThreadPoolExecutor() as parts:
        list(parts.map(lambda part: make(
            course, "grade", f"SUBMISSIONS={tmp_path}/some",
            f"ARGS=--seed 1 --workers 1 --timeout 10 --memory 256 --part {part}/2 --output build/parts/{part}"), (2, 1)))
    make(course, "grade", "ARGS=--merge build/parts/* --output build/merged")
    before, after = verdicts(course / "build/grades"), verdicts(course / "build/merged")
    assert after == {name: before[name] for name in after} and len(after) > 20


def copy_special(source, target):
    if Path(source).is_fifo():
        os.mkfifo(target)
    else:
        shutil.copy2(source, target)


def test_my_own_work(course):
    result = make(course, "grade", "POINTS=1=30", "LAB=double")
    assert re.search(rf"{LAB} +0 of 30 +as handed out, 0 of 3 cases", result.stdout), result.stdout


@pytest.mark.parametrize("words, said", [
    (["SUBMISSIONS=/no/such"], "there is no folder /no/such"), (["ARGS=--workers 0"], "above zero"),
    (["POINTS=7=1"], "points for 7"), (["POINTS=much"], "points are given as 03=20"), (["ARGS=--part 3/2"], "3/8"),
    (["ARGS=--merge build/none"], "no finished part"), (["ARGS=--output ."], "no grading"), (["LAB=7"], "no lab 7")])
def test_bad_usage(course, words, said):
    result = make(course, "grade", *words, status=2)
    assert said in result.stderr and "Traceback" not in result.stderr


def test_a_solution_that_fails_here_is_said(course):
    path = course / "solutions" / LAB / "double.cu"
    text = path.read_text()
    try:
        path.write_text(text.replace("twice(atoi", "atoi((char*)") + "broken")
        assert "worked solution of 01_double cannot be judged" in make(course, "grade", status=2).stderr
    finally:
        path.write_text(text)


@pytest.fixture
def checker_of(course):
    """Replaces a part of the lab's checker for one test."""
    path = course / "labs" / LAB / "check.py"
    yield lambda old, new: path.write_text(CHECK.replace(old, new))
    path.write_text(CHECK)


def test_a_machine_on_which_the_solution_fails_is_no_measure(course, checker_of):
    checker_of('raise checker.Skipped("this machine has no card")', 'case.fail("it took too long")')
    refused = make(course, "grade", status=2)
    assert f"the worked solution of {LAB} fails 'of a card' here" in refused.stderr and "too long" in refused.stderr
    wanted = make(course, "grade", "FORCE=1", "ARGS=--output build/forced")
    assert "0 of 3 cases" in wanted.stdout
    tests = json.loads((course / "build/forced/students/my_work/results.json").read_text())["tests"]
    assert [test["max_score"] > 0 for test in tests] == [True] * 3 + [False]
    assert "does not count, as the worked solution does not pass here: it took too long" in tests[3]["output"]


def test_an_exercise_that_would_have_full_marks_is_refused(course, checker_of):
    checker_of("case.expect(case.run(number).lines == [str(2 * number)]", "case.expect(True")
    assert "as it is handed out passes all of the 3 cases" in make(course, "grade", status=2).stderr


def test_one_student_again(course, tmp_path):
    for name, file in (("ada", "solutions"), ("eve", "labs"), ("bob", "labs")):
        shutil.copytree(course / file / LAB, tmp_path / "class" / name, ignore=shutil.ignore_patterns("*.py"))
    words = ["grade", f"SUBMISSIONS={tmp_path}/class", "ARGS=--output build/again"]
    make(course, *words)
    before = verdicts(course / "build/again")
    shutil.copy(course / "solutions" / LAB / "helper.h", tmp_path / "class/eve")
    shutil.copy(course / "solutions" / LAB / "double.cu", tmp_path / "class/eve")
    said = make(course, *words, "STUDENT=eve").stderr
    assert "submissions: 1," in said
    assert verdicts(course / "build/again") == {**before, "eve": "3 of 3 cases"}
    assert "no folder or zip of joe" in make(course, *words, "STUDENT=joe", status=2).stderr


def test_a_compiler_that_cannot_watch_grades_all_the_same(course, tmp_path):
    shutil.copytree(course / "solutions" / LAB, tmp_path / "class/ada")
    script = course / "common/cpu/compile.sh"
    script.write_text(COMPILE.replace("while", 'case "$*" in *--sanitize*) echo "g++ only" >&2; exit 1 ;; esac\nwhile', 1))
    try:
        said = make(course, "grade", f"SUBMISSIONS={tmp_path}/class", "ARGS=--output build/unwatched").stderr
    finally:
        script.write_text(COMPILE)
    assert "it is not counted which threads store: g++ only" in said
    assert verdicts(course / "build/unwatched") == {"ada": "3 of 3 cases"}


def test_a_control_group_where_systemd_makes_one(course, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/systemd-run").write_text(f"""#!/bin/sh
echo "$*" >>{tmp_path}/log
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
""")
    (tmp_path / "bin/systemd-run").chmod(0o755)
    said = make(course, "grade", "ARGS=--memory 300 --output build/grouped", PATH=f"{tmp_path}/bin:{os.environ['PATH']}").stdout
    assert "0 of 3 cases" in said
    log = (tmp_path / "log").read_text()
    for compiler_or_checker in ("build/confine/", sys.executable):
        assert re.search(rf"MemoryMax=600M .* TasksMax=400 -- env .* \S*{re.escape(compiler_or_checker)}", log.replace("a course", ""))


def test_a_seed_is_a_students_own(course, tmp_path):
    """The same at each submission, whoever else has the same sources."""
    source = "#include <cstdio>\nint main(int, char** words) { if (words[1][0]) puts(words[1]); }\n"
    for name in ("ada", "eve"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "double.cu").write_text(source)
    said = []
    for output in ("first", "second"):
        make(course, "grade", f"SUBMISSIONS={tmp_path}/class", f"ARGS=--output build/{output}")
        cases = json.loads((course / "build" / output / "grades.json").read_text())["students"]
        said.append([cases[name][LAB]["cases"][2]["message"].splitlines()[0] for name in ("ada", "eve")])
    assert said[0] == said[1] and said[0][0] != said[0][1]


def test_gradescope(course, tmp_path):
    """The autograder as Gradescope lays it out."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/course").symlink_to(course)
    (tmp_path / "source/assignment").write_text("01\n")
    (tmp_path / "submission").mkdir()
    for name in ("double.cu", "helper.h"):
        shutil.copy(course / "solutions" / LAB / name, tmp_path / "submission")
    script = ROOT / "common/grading/gradescope/run_autograder"
    environment = {**os.environ, "AUTOGRADER": str(tmp_path), "PYTHON": sys.executable}
    (tmp_path / "submission_metadata.json").write_text('{"users": [{"id": 7, "email": "ada@example.org"}]}')
    for expected, change in ((10, ""), (0, "no C++")):
        with open(tmp_path / "submission/double.cu", "a") as file:
            file.write(change)
        subprocess.run([script], env=environment, check=True)
        assert json.loads((tmp_path / "results/results.json").read_text())["score"] == expected


# What is taken


def collected(tmp_path, course, *places):
    for place, text in places:
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text)
    return grade_collect.collect(course, (tmp_path,), LAB)


@pytest.mark.parametrize("place, said", [
    (f"my/course/labs/{LAB}/double.cu", f"; my/course/labs/{LAB}/double.cu is not where it is looked for"),
    ("mine.TGZ", "; mine.TGZ has to be unpacked"), ("Double (1).cpp", r"; Double \(1\).cpp has another name"), ("a.txt", "")])
def test_what_lies_elsewhere_is_named(course, tmp_path, place, said):
    with pytest.raises(FileNotFoundError, match=f"^there is no double.cu in the submission{said}$"):
        collected(tmp_path, course, (place, "mine"))


@pytest.mark.parametrize("place", ["double.cu", f"{LAB}/double.cu", f"labs/{LAB}/double.cu", "mine/double.cu",
                                   f"course/labs/{LAB}/double.cu", f"course-main/{LAB}/double.cu"])
def test_the_forms_of_a_submission(course, tmp_path, place):
    work = collected(tmp_path, course, (place, "mine"), (str(Path(place).parent / "check.py"), "exit(0)"))
    assert dict(work.files)["double.cu"] == b"mine" and len(work.files) == 2
    assert b"return number" in dict(work.files)["helper.h"] and "as it was handed out" in work.notes[0]


def test_two_folders_with_the_file_are_refused(course, tmp_path):
    with pytest.raises(grade_collect.Refused, match="new/double.cu and old/double.cu are both there"):
        collected(tmp_path, course, ("old/double.cu", "1"), ("new/double.cu", "2"))


def zipped(path, entries, link=None):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
        if link:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = (0o120777) << 16
            archive.writestr(entry, "/etc/passwd")


def test_what_course_systems_hand_out(course, tmp_path):
    folder, place = tmp_path / "class", tmp_path / "unpacked"
    moodle = folder / "Ada Lovelace_4711_assignsubmission_file_"
    moodle.mkdir(parents=True)
    zipped(moodle / "my course.zip", {f"course/labs/{LAB}/double.cu": "ada"})
    (folder / "noetheremmy_LATE_815_99_double-1.cu").write_text("emmy")
    zipped(folder / "turingalan_816_98_work.zip", {"double.cu": "alan"})
    zipped(folder / "bob.zip", {f"{LAB}/double.cu": "bob"})
    found, notes = grade_unpack.students(folder, place)
    assert not notes
    assert {one.student: (dict(grade_collect.collect(course, one.places, LAB).files)["double.cu"].decode(), one.number)
            for one in found} == {"Ada Lovelace": ("ada", "4711"), "noetheremmy": ("emmy", "815"),
                                  "turingalan": ("alan", "816"), "bob": ("bob", "")}


@pytest.mark.parametrize("entries, link", [({"../double.cu": "x"}, None), ({"/tmp/double.cu": "x"}, None),
                                           ({"a/../../double.cu": "x"}, None), ({}, "double.cu"), ({"check.py": "x"}, None)])
def test_what_is_no_source_inside_stays_packed(tmp_path, entries, link):
    zipped(tmp_path / "eve.zip", entries, link)
    grade_unpack.unpack(tmp_path / "eve.zip", tmp_path / "inner/inner")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["eve.zip"]


def test_a_zip_that_grows_is_not_unpacked(tmp_path):
    zipped(tmp_path / "many.zip", {f"{i}.cu": "" for i in range(2001)})
    zipped(tmp_path / "large.zip", {f"{i}.cu": bytes(1 << 20) for i in range(70)})
    for name, said in (("many.zip", "more than 2000 files"), ("large.zip", "more than 64 MiB of sources")):
        with pytest.raises(grade_unpack.Broken, match=said):
            grade_unpack.unpack(tmp_path / name, tmp_path / "inner")


def test_a_damaged_zip_costs_nothing_but_itself(course, tmp_path):
    """Wherever a byte is wrong; what lies beside it counts."""
    folder = tmp_path / "class/eve"
    folder.mkdir(parents=True)
    (folder / "double.cu").write_text("eve")
    zipped(folder / "a.zip", {f"{LAB}/x.cu": "".join(f"int x{i};" for i in range(200))})
    whole = (folder / "a.zip").read_bytes()
    for place in range(30, len(whole), 7):
        (folder / "a.zip").write_bytes(whole[:place] + bytes([whole[place] ^ 0x5a]) + whole[place + 1:])
        found, notes = grade_unpack.students(tmp_path / "class", tmp_path / str(place))
        assert dict(grade_collect.collect(course, found[0].places, LAB).files)["double.cu"] == b"eve"
        assert not notes and all("a.zip cannot be unpacked" in sentence for sentence in found[0].broken)


def test_what_a_student_reads_names_no_place_of_the_grader(course, tmp_path):
    """A zip with names that no disk takes, a file that cannot be read, a program that says where it runs."""
    for name in ("ada", "bob", "eve"):
        (tmp_path / "class" / name).mkdir(parents=True)
    zipped(tmp_path / "class/ada/work.zip", {f"{'x' * 300}.cu": "int x;"})
    (tmp_path / "class/bob/double.cu").symlink_to(tmp_path / "nowhere")
    (tmp_path / "class/eve/double.cu").write_text("""#include <cstdio>
#include <unistd.h>
int main(int, char** words) { char place[4096]; puts(getcwd(place, 4096)); fputs(place, stderr), fputs(words[0], stderr); return 1; }
""")
    zipped(tmp_path / "class/joe.zip", {f"{'y' * 300}/double.cu": "int y;"})
    make(course, "grade", f"SUBMISSIONS={tmp_path}/class", f"ARGS=--output {tmp_path}/grades")
    found = verdicts(tmp_path / "grades")
    for name, archive in (("ada", "work"), ("joe", "joe")):
        assert found[name] == f"there is no double.cu in the submission; {archive}.zip cannot be unpacked: File name too long"
    for path in (tmp_path / "grades/students").rglob("*.*"):
        assert not any(str(place) in path.read_text() for place in (tmp_path, course, Path.home())), path


def test_two_students_of_one_name(course, tmp_path):
    for number in (7, 8):
        for kind, file in (("file", "double.cu"), ("onlinetext", "text.html")):
            place = tmp_path / f"class/Ada_{number}_assignsubmission_{kind}_/{file}"
            place.parent.mkdir(parents=True)
            place.write_text(str(number))
    found, notes = grade_unpack.students(tmp_path / "class", tmp_path / "place")
    assert not notes and {one.student: (one.number, dict(grade_collect.collect(course, one.places, LAB).files)["double.cu"])
                          for one in found} == {"Ada": ("7", b"7"), "Ada (8)": ("8", b"8")}


def test_folders_without_end_are_nobody_elses_matter(course, tmp_path):
    shutil.copytree(course / "labs" / LAB, tmp_path / "class/ada")
    (tmp_path / "class/eve").mkdir()
    inner = os.open(tmp_path / "class/eve", os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("x", dir_fd=inner)
        outer, inner = inner, os.open("x", os.O_RDONLY, dir_fd=inner)
        os.close(outer)
    os.close(inner)
    try:
        make(course, "grade", f"SUBMISSIONS={tmp_path}/class", "ARGS=--output build/deep")
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "class/eve"], check=True)  # which Python could not
    found = verdicts(course / "build/deep")
    assert found["ada"] == "as handed out, 0 of 3 cases"
    assert re.match("the submission cannot be read|there is no double.cu", found["eve"])


def test_many_zips_grow_no_further_than_one(tmp_path):
    (tmp_path / "eve").mkdir()
    for name in ("a", "b", "c"):
        zipped(tmp_path / f"eve/{name}.zip", {f"{name}{i}.cu": bytes(1 << 20) for i in range(30)})
    broken = grade_unpack.one("eve", tmp_path / "eve", tmp_path / "place").broken
    assert broken == ("with c.zip there are more than 64 MiB of sources, so it is not unpacked",)
    assert len([path for path in tmp_path.rglob("*.cu")]) == 60


def test_a_link_on_the_way_is_refused(course, tmp_path):
    (tmp_path / "labs").symlink_to(course / "solutions")
    with pytest.raises(grade_collect.Refused, match="symbolic link"):
        grade_collect.collect(course, (tmp_path,), LAB)


def test_hidden_folders_are_not_shown(tmp_path):
    for place in ("opt/tool/bin", "opt/course/solutions"):
        (tmp_path / place).mkdir(parents=True)
    shown = grade_confine.without(tmp_path / "opt", [tmp_path / "opt/course"])
    assert shown == [tmp_path / "opt/tool"]


# Points and reports


def grades(**verdict):
    value = {"lab": "03_x", "sentence": "", "cases": [Case("a", True), Case("b", False, "wrong \x00 \ud800 <&")], **verdict}
    return grade_score.Grades(1, "cpu", {"03_x": 30.0}, {"03_x": ["a", "b"]}, {"eve \x1b": {"03_x": Verdict(**value)}})


def test_partial_credit():
    assert grades().score("eve \x1b", "03_x") == 15
    assert grades(cases=[], sentence="does not compile").score("eve \x1b", "03_x") == 0


def test_odd_characters_break_no_report(tmp_path):
    grade_report.write_all(grades(), tmp_path)
    ElementTree.parse(next(tmp_path.rglob("results.xml")))
    assert "wrong \ufffd \ufffd &lt;&amp;" in (tmp_path / "grades.html").read_text()


def test_grades_survive_json():
    before = grades()
    assert grade_score.Grades.from_json(json.loads(json.dumps(before.as_json()))).as_json() == before.as_json()


def two(**more):
    """The grades of two students of whom a course system has numbers."""
    cases = [Case("a", True), Case("b", False, "wrong <b>", fresh=True)]
    students = {name: {"03_x": Verdict("03_x", "", cases=cases, launched="x_kernel 2 times, up to 1 blocks, 1 threads")}
                for name in ("Ada Ö", "=eve")}
    return grade_score.Grades(1, "cpu", {"03_x": 10.0}, {"03_x": ["a", "b"]}, students, **{
        "people": {"Ada Ö": ["moodle", "7"], "=eve": ["canvas", "8"]}, "late": {"Ada Ö": {"03_x": 2}},
        "seeds": {"Ada Ö": 42, "=eve": 43}, "dropped": {"03_x": {"c": "does not count, as there is no card"}}, **more})


def test_tables_for_spreadsheets_and_course_systems(tmp_path):
    grade_report.write_all(two(alike=[["03_x", "Ada Ö", "=eve", 1.0]]), tmp_path)
    rows = {}
    for name in ("grades", "moodle", "canvas", "alike"):
        assert (tmp_path / f"{name}.csv").read_bytes().startswith(b"\xef\xbb\xbf")
        with open(tmp_path / f"{name}.csv", newline="", encoding="utf-8-sig") as file:
            rows[name] = list(csv.DictReader(file))
    assert rows["moodle"] == [{"Identifier": "Participant 7", "Full name": "Ada Ö", "Grade": "5",
                               "Feedback comments": "03_x: 5 of 10, 1 of 2 cases"}]
    assert [(row["Student"], row["ID"], row["03_x"]) for row in rows["canvas"]] == [("'=eve", "8", "5")]
    assert rows["grades"][0]["03_x days late"] == "2" and "1 threads" in rows["grades"][0]["03_x kernels"]
    assert rows["alike"] == [{"lab": "03_x", "student": "Ada Ö", "other": "'=eve", "same": "1"}]
    page = (tmp_path / "grades.html").read_text()
    assert "2 days late" in page and "x_kernel 2 times" in page and "Ada Ö and =eve: 100%" in page
    grade_report.write_all(two(people={}), tmp_path)
    assert not list(tmp_path.glob("[mca][oal]*.csv"))


def test_feedback_is_of_one_student(tmp_path):
    grade_report.write_all(two(), tmp_path)
    text = (tmp_path / "students/Ada Ö/feedback.txt").read_text()
    page = (tmp_path / "students/Ada Ö/feedback.html").read_text()
    for said in ("Ada Ö: 5 of 10 points", "handed in 2 days late", "'c' does not count", "--seed 42", "FAIL  b", "wrong <b>"):
        assert said in text
    assert "wrong &lt;b&gt;" in page and "<b>" not in page
    assert "eve" not in text + page and "x_kernel" not in text + page


def test_days_late(tmp_path):
    table = tmp_path / "deadlines.csv"
    table.write_text("lab,deadline,student\n3,2026-11-20 12:00,\n03,2026-11-22 12:00,ada\n7,2026-01-01,\n")
    deadlines = grade_late.Deadlines(table, ["03_x", "13_y"])
    noon = time.mktime((2026, 11, 20, 12, 0, 0, 0, 0, -1))
    assert [deadlines.days_late("eve", "03_x", noon + late) for late in (-9, 0, 1, 86400, 86401)] == [0, 0, 1, 1, 2]
    assert deadlines.days_late("ada", "03_x", noon + 86400) == deadlines.days_late("eve", "13_y", noon) == 0
    for text, said in (("lab\n3\n", "needs the columns"), ("lab,deadline\n3,soon\n", "deadlines.csv:2: a deadline is written")):
        table.write_text(text)
        with pytest.raises(ValueError, match=said):
            grade_late.Deadlines(table, ["03_x"])


def test_sources_that_are_alike():
    def work(lines):
        return grade_collect.Work("03_x", (("x.cu", "\n".join(lines).encode()),))

    handed_out = [f"int given{i};" for i in range(50)]
    own = [f"    own = {i};" for i in range(20)]
    works = {"ada": work(handed_out + own), "eve": work([line.strip() for line in own]), "bob": work(handed_out + own[:-1] + ["mine;"]),
             "joe": work(handed_out + [f"another({i});" for i in range(20)]), "new": work(handed_out), "few": work(own[:3])}
    assert grade_alike.alike(works, work(handed_out)) == [("ada", "eve", 1.0), ("ada", "bob", 0.95)]


def test_long_sources_are_compared_soon():
    def work(end):
        return grade_collect.Work("03_x", (("x.cu", b"//\n" * 200_000 + b"".join(b"x%d\n" % i for i in range(20_000)) + end),))

    started = time.monotonic()
    assert grade_alike.alike({"ada": work(b"a"), "eve": work(b"b")}, work(b"")) == []
    assert grade_alike.alike({"ada": work(b"a"), "eve": work(b"b")}, grade_collect.Work("03_x", ())) == [("ada", "eve", 1.0)]
    assert time.monotonic() - started < 20


def test_no_picture_starts_a_program(tmp_path, monkeypatch):
    """Pillow would hand an EPS file to Ghostscript, outside of all confinement."""
    (tmp_path / "gs").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    (tmp_path / "gs").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "output.png").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4 4\n%%EndComments\n0 0 moveto\n%%EOF\n")
    case = checker.case.Case("x", {}, tmp_path, tmp_path, tmp_path, 1, "cpu", None)
    with pytest.raises(checker.Failure, match="no picture that Pillow can read"):
        case.load("output.png")
    assert not (tmp_path / "started").exists()


def test_a_forged_record_says_nothing():
    assert record.launches({"launches": [{"kernel": "x", "times": "many", "grid": [[]], "block": 1}]}) == []
    found = record.launches({"launches": [{"kernel": "a::x", "times": 2, "grid": [4, 2, 1], "block": [32, 1, 1]}]})
    assert record.counted_launches(found * 2) == {"x": {"times": 4, "blocks": 8, "threads": 256}}


def test_a_case_that_cannot_be_judged_is_skipped():
    """One that just returns would be right whatever the program does, and a present to everybody."""
    for path in ROOT.glob("labs/*/check.py"):
        assert not re.search(r'\n    if case\.backend == "\w+":\n +return *(#.*)?\n', path.read_text()), path


def test_points():
    labs = ["03_x", "13_y"]
    assert grade_score.points_of(labs, "3=20, y=2.5") == {"03_x": 20, "13_y": 2.5}
    assert grade_score.points_of(labs, "") == {"03_x": 10, "13_y": 10}


# Confining: the table of docs/teaching.md, a test for each of its cells

# What no level lets a program do, and the further ones that a level leaves open.
REFUSED = ["write", "network", "connect", "fork", "kill", "owner of signals", "trace", "memory of others", "priority", "affinity",
           "limits of others", "mode", "dates", "attributes", "folder", "link", "pipe", "shared memory", "semaphores",
           "keyring", "memory file", "namespace", "outlive", "read", "python", "shell", "see processes", "memory files",
           "look up", "memory that is shared"]
LEFT_OPEN = {"bubblewrap": [], "landlock": ["look up"],
             "limits": ["look up", "see processes", "read", "python", "shell", "memory files"]}
LIMITS = {"deleted files": "512 MiB of files", "many files": "1000 files", "huge file": "SIGXFSZ",
          "overwritten file": "512 MiB of files",
          "memory": "200 MiB of memory|SIGKILL", "tables of pages": "200 MiB of memory|SIGKILL",
          "threads": "100 processes and threads|SIGABRT", "never ends": "not finished after 1 seconds"}


@pytest.fixture(scope="module")
def attacks(tmp_path_factory):
    """The program that attacks."""
    program = tmp_path_factory.mktemp("attacks") / "attacks"
    for folder in (program.parent, *program.parent.parents[:2]):
        folder.chmod(0o755)
    subprocess.run(["g++", "-std=c++17", "-pthread", ROOT / "tests/programs/attacks.cpp", "-o", program], check=True)
    return program


def test_what_a_program_on_a_card_may_read_in_wsl(monkeypatch, tmp_path):
    library = tmp_path / "wsl/lib/libcuda.so.1"
    library.parent.mkdir(parents=True)
    library.touch()
    monkeypatch.setattr(grade_confine, "WSL", str(tmp_path / "wsl"))
    monkeypatch.setattr(grade_confine, "output_of", lambda *words: f"\tlibcuda.so.1 (libc6,x86-64) => {library}\n" * ("-p" in words))
    for gpu in (True, False):
        seen = grade_confine.for_programs(tmp_path, "g++", gpu)
        assert [path for path in seen if tmp_path in path.parents] == [tmp_path / "wsl"] * gpu
        assert ("/dev/dxg" in grade_confine.devices(gpu)) == gpu


@pytest.fixture(params=grade_confine.LEVELS)
def confined(request, attacks, course, tmp_path):
    """Starts an attack on one level of confinement, in an empty folder; `memory_mib` is 200."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    try:
        level = grade_confine.strongest(grade_confine.compile_confine(course, "g++"), "g++", [tmp_path], [], False, 200,
                                        request.param)
    except grade_confine.CannotConfine as error:
        pytest.skip(f"{request.param}: {error}")
    here = tmp_path / "here"
    here.mkdir()

    def words(name, *arguments, seconds=None):
        line = grade_confine.here(level.of_program([attacks], tmp_path, 100), here)
        line[2:2] = ["--seconds", str(seconds)] if seconds else []
        return [*line, str(attacks), name, *map(str, arguments)]

    def run(name, *arguments, **options):
        return subprocess.run(words(name, *arguments, **options), cwd=here, text=True, capture_output=True, timeout=60,
                              check=False)

    run.level, run.here, run.words = request.param, here, words
    return run


@pytest.fixture
def victim(tmp_path):
    """A process, a file and a socket of whoever grades."""
    (tmp_path / "secret").write_text("42")
    process = subprocess.Popen(["sleep", "300"])
    end = socket.socket(socket.AF_UNIX)
    end.bind(str(tmp_path / "end"))
    end.listen()
    (tmp_path / "end").chmod(0o777)
    yield {"read": tmp_path / "secret", "look up": tmp_path / "secret", "write": tmp_path / "beside",
           "connect": tmp_path / "end", **dict.fromkeys(("mode", "dates", "attributes"), tmp_path / "secret")}, process
    end.close()
    process.kill()
    process.wait()


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_program_may_not_do(confined, victim, name):
    paths, process = victim
    result = confined(name, paths.get(name, process.pid))
    users_own = confined.level == "limits" and os.geteuid() != 0 and name in ("write", "memory of others")
    if name in LEFT_OPEN[confined.level] or users_own:
        return  # whoever reads the table knows
    assert (result.stdout, result.returncode) == ("no\n", 0), result
    assert process.poll() is None
    # What judges the folder afterwards meets plain files, and may read them.
    assert all(path.is_file() and not path.is_symlink() and os.access(path, os.R_OK) for path in confined.here.iterdir())


def test_what_a_program_may_do(confined):
    assert confined("write here").stdout == "yes\n"
    assert (confined.here / "written").read_text() == ""


@pytest.mark.parametrize("name", LIMITS)
def test_limits(confined, name):
    result = confined(name, seconds=1 if name == "never ends" else None)
    ended = signal.Signals(-result.returncode).name if result.returncode < 0 else result.returncode
    assert re.search(LIMITS[name], f"{result.stderr} {ended}") and "yes" not in result.stdout, result


def test_root_of_a_container_sees_what_is_written(confined):
    """There root may not look into the processes of others."""
    if os.geteuid() != 0 or confined.level == "bubblewrap":
        pytest.skip("for root without bubblewrap")
    result = subprocess.run(["setpriv", "--bounding-set=-sys_ptrace,-sys_admin", *confined.words("deleted files")],
                            cwd=confined.here, text=True, capture_output=True, timeout=60, check=False)
    assert "512 MiB of files" in result.stderr


def test_settings_of_the_machine_stay(confined):
    """Whatever makes a sandbox, the machine's own limit of namespaces is as it was."""
    setting = Path("/proc/sys/user/max_user_namespaces")
    before = read(setting)
    assert confined("write here").returncode == 0
    assert read(setting) == before


@pytest.mark.parametrize("words, status", [(("end", 7), 7), (("abort",), -6), (("kill itself",), -9)])
def test_the_end_is_passed_on(confined, words, status):
    assert confined(*words).returncode == status


def test_who_is_ended_takes_all_with_it(confined, attacks):
    """When what runs a program is killed without a chance to clean up."""
    def running():
        return [path for path in Path("/proc").glob("[0-9]*/cmdline") if read(path).startswith(f"{attacks}\0never ends")]

    process = subprocess.Popen(confined.words("never ends"), cwd=confined.here)
    deadline = time.monotonic() + 10
    while not running() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait(30)
    while running() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not running()


def test_each_run_is_another_user(confined):
    """So nothing that one run leaves is another's."""
    if os.geteuid() != 0:
        pytest.skip("only root becomes another user")
    owners = set()
    for _ in range(2):
        assert confined("write here").returncode == 0
        owners.add((confined.here / "written").stat().st_uid)
    assert len(owners) == 2 and 0 not in owners


def test_a_home_with_a_compiler_stays_hidden(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for place in ("bin/g++", "lib/gcc/cc1plus", "thesis.txt", "tools/bin/g++"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("")
    shown = grade_confine.for_compilers([], [tmp_path / "bin/g++", tmp_path / "tools/bin/g++"])
    assert {tmp_path / "bin/g++", tmp_path / "lib", tmp_path / "tools"} <= set(shown)
    assert not any(path in (tmp_path / "thesis.txt").parents for path in shown)


def running_with(mark):
    return [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark in read(path)]
