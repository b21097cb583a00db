"""The generator of exercises: markers, errors, the command."""

import sys

import pytest

import farm
from checker.course import TODO, labs
from farm import ROOT, exercises

SOLUTION = """\
// BEGIN SOLUTION
// The worked solution of lab 99.
//: // The exercise of lab 99.
// END SOLUTION
__global__ void add(const float* a, float* b, int count) {
    int i = threadIdx.x;
    // BEGIN SOLUTION
    if (i < count) b[i] += a[i];

    //: // TODO (about 1 line): add a[i] to b[i]
    //:
    //:     (void)i;
    // END SOLUTION
}
"""
EXERCISE = """\
// The exercise of lab 99.
__global__ void add(const float* a, float* b, int count) {
    int i = threadIdx.x;
    // TODO (about 1 line): add a[i] to b[i]

        (void)i;
}
"""


def test_makes_the_exercise():
    assert exercises.exercise_text(SOLUTION, "add.cu") == EXERCISE


def test_a_file_without_markers_stays_as_it_is():
    text = "// solution of nothing\nint x;  // no newline at the end"
    assert exercises.exercise_text(text, "x.cu") == text


@pytest.mark.parametrize("text, error", [
    ("int a;\n// END SOLUTION\n", "x.cu:2: END SOLUTION without BEGIN SOLUTION"),
    ("// BEGIN SOLUTION\n//: int a;\n", "x.cu:1: BEGIN SOLUTION without END SOLUTION"),
    ("// BEGIN SOLUTION\n// BEGIN SOLUTION\n//: a\n// END SOLUTION\n",
     "x.cu:2: BEGIN SOLUTION inside the region of line 1"),
    ("\n// BEGIN SOLUTION\nint a;\n// END SOLUTION\n", "x.cu:2: the region has no line for the learner"),
    ("int a;\n//: int b;\n", "x.cu:2: a learner's line (//:) outside a region"),
    ("int a;  // BEGIN SOLUTION\n", "x.cu:1: write the marker alone on its line"),
    ("//BEGIN SOLUTION\n", "x.cu:1: write the marker alone on its line"),
    ("// Begin solution\n", "x.cu:1: write the marker alone on its line"),
])
def test_wrong_markers_are_named_with_their_line(text, error):
    with pytest.raises(exercises.MarkerError) as caught:
        exercises.exercise_text(text, "x.cu")
    assert error in str(caught.value)


def test_all_errors_of_a_file_are_said_at_once():
    with pytest.raises(exercises.MarkerError) as caught:
        exercises.exercise_text("//: a\n// END SOLUTION\n", "x.cu")
    assert len(str(caught.value).splitlines()) == 2


def command(*arguments):
    return farm.run(sys.executable, "-m", "checker.exercises", *arguments,
                    env={"PYTHONPATH": str(ROOT / "common")})


@pytest.fixture
def course(folder):
    """A solutions folder with one lab of two files, and where its exercises go."""
    solution = folder / "solutions" / "99_add"
    solution.mkdir(parents=True)
    (solution / "add.cu").write_text(SOLUTION)
    (solution / "helper.h").write_text("int helper();\n")
    return folder / "solutions", folder / "labs"


def test_command_writes_every_source_file(course):
    solutions, labs = course
    result = command("--solutions", solutions, "--output", labs)
    assert result.returncode == 0, result.stderr
    assert (labs / "99_add" / "add.cu").read_text() == EXERCISE
    assert (labs / "99_add" / "helper.h").read_text() == "int helper();\n"
    assert sorted(path.name for path in (labs / "99_add").iterdir()) == ["add.cu", "helper.h"]


def test_the_learner_is_sent_to_what_is_to_be_written():
    """What `make next` takes for an open TODO is what the marks of the solution leave, and nothing else that names one."""
    for lab in labs():
        found = [match[1].strip() for text in lab.shipped().values() for match in TODO.finditer(text)]
        left = [line.strip()[len("//: // "):] for path in sorted(lab.solution.parent.iterdir()) if path.suffix in exercises.SUFFIXES
                for line in path.read_text(encoding="utf-8").splitlines() if line.strip().startswith("//: // TODO")]
        assert left and sorted(found) == sorted(left), lab.name


def test_command_leaves_what_is_right_untouched(course):
    solutions, labs = course
    command("--solutions", solutions, "--output", labs)
    before = (labs / "99_add" / "add.cu").stat().st_mtime_ns
    result = command("--solutions", solutions, "--output", labs, "99_add")
    assert result.returncode == 0 and not result.stdout
    assert (labs / "99_add" / "add.cu").stat().st_mtime_ns == before


def test_what_is_replaced_is_kept(course, folder):
    solutions, labs = course
    exercises.write(solutions, labs, ["99_add"], None)
    (labs / "99_add" / "add.cu").write_text("a learner's work\n")
    exercises.write(solutions, labs, ["99_add"], folder / "kept")
    assert (labs / "99_add" / "add.cu").read_text() == EXERCISE
    assert (folder / "kept" / "99_add" / "add.cu").read_text() == "a learner's work\n"
    (labs / "99_add" / "add.cu").write_text("later work\n")
    exercises.write(solutions, labs, ["99_add"], folder / "kept")
    assert {path.read_text() for path in (folder / "kept" / "99_add").iterdir()} == {
        "a learner's work\n", "later work\n"}


def test_check_names_what_differs(course):
    solutions, labs = course
    command("--solutions", solutions, "--output", labs)
    assert command("--check", "--solutions", solutions, "--output", labs).returncode == 0
    (labs / "99_add" / "add.cu").write_text("edited\n")
    (labs / "99_add" / "helper.h").unlink()
    (labs / "99_add" / "stray.h").write_text("\n")
    result = command("--check", "--solutions", solutions, "--output", labs)
    assert result.returncode == 1
    said = result.stdout.splitlines()
    assert len(said) == 3
    assert said[0].endswith("add.cu differs from what its solution gives")
    assert said[1].endswith("helper.h is missing")
    assert said[2].endswith("stray.h has no solution")


def test_wrong_markers_write_nothing(course):
    solutions, labs = course
    (solutions / "99_add" / "helper.h").write_text("// END SOLUTION\n")
    result = command("--solutions", solutions, "--output", labs)
    assert result.returncode == 1 and "helper.h:1: END SOLUTION" in result.stderr
    assert not labs.exists()


def test_other_encodings(course, folder):
    solutions, labs = course
    command("--solutions", solutions, "--output", labs)
    (labs / "99_add" / "add.cu").write_bytes(b"// gr\xfc\xdfe\n")
    exercises.write(solutions, labs, ["99_add"], folder / "kept")
    assert (folder / "kept" / "99_add" / "add.cu").read_bytes() == b"// gr\xfc\xdfe\n"
    (solutions / "99_add" / "helper.h").write_bytes(b"// gr\xfc\xdfe\n")
    result = command("--solutions", solutions, "--output", labs)
    assert result.returncode == 1 and "helper.h: byte 5 is not UTF-8" in result.stderr


def test_a_place_that_takes_no_file(course):
    solutions, labs = course
    labs.write_text("no folder")
    result = command("--solutions", solutions, "--output", labs)
    assert result.returncode == 1 and len(result.stderr.splitlines()) == 1


def test_unknown_lab_is_bad_usage(course):
    result = command("--solutions", course[0], "98_none")
    assert result.returncode == 2 and "no solution 98_none" in result.stderr


@pytest.mark.parametrize("lab", farm.labs())
def test_every_exercise_can_be_made(lab):
    files = exercises.exercise_files(ROOT / "solutions" / lab)
    assert farm.source_name(lab) in files
    for text in files.values():
        assert "SOLUTION" not in text and "//:" not in text
