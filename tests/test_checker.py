"""The package behind every check.py: verdicts, messages, diagnosers, command line."""

import json
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest

import farm
from farm import ROOT

import checker
from checker import comparison, diagnose, report
from checker import record as records
from checker.usage import backend_of
from checker.program import Patience

# A lab that doubles its input, and a program for it in Python. The check.py is the whole file.

CHECK = f"""\
import sys

sys.path.insert(0, {str(ROOT / "common")!r})
import checker

lab = checker.Lab(__file__)
TOLERANCE = checker.Tolerance(why="doubling is exact")


def double(case, count):
    a = case.floats(count)
    case.compare(2 * a, case.compute(inputs={{"a": a}}), TOLERANCE)


for count in (1, 32, 33):
    lab.case(f"{{count}} elements", double, count=count)
lab.case("fresh", double, fresh=True, count=5)
lab.case("large", double, quick=False, count=1000)


@lab.case("negative size")
def negative(case):
    case.refuses("--elements", "-1", saying="elements")


lab.main()
"""

# Without NumPy, whose import takes ten times as long as all else.
PROGRAM = """\
#!{python} -ISB
import math, os, signal, struct, sys, time
from types import SimpleNamespace
options = SimpleNamespace(**{{word[2:]: value for word, value in zip(sys.argv[1::2], sys.argv[2::2])}})
if int(getattr(options, "elements", 1)) < 0:
    print("--elements: -1 is below 0", file=sys.stderr)
    sys.exit(2)
class Floats(list):
    def __rmul__(self, factor):
        return Floats(factor * number for number in self)
def read(path):
    data = open(path, "rb").read()
    return Floats(number for number, in struct.iter_unpack("f", data[10 + int.from_bytes(data[8:10], "little"):]))
def pack(numbers, letter="f"):
    return struct.pack(f"{{len(numbers)}}{{letter}}", *numbers)
def write(numbers, letter="f", file=options.output):
    data = numbers if isinstance(numbers, bytes) else pack(numbers, letter)
    size = struct.calcsize(letter)
    header = f"{{{{'descr': '<f{{size}}', 'fortran_order': False, 'shape': ({{len(data) // size}},)}}}}".ljust(117) + "\\n"
    open(file, "wb").write(b"\\x93NUMPY\\x01\\x00" + bytes([len(header), 0]) + header.encode() + data)
a = read(options.a)
{body}
"""
RIGHT = "write(2 * a)"


class FakeLab:
    """labs/99_double in a folder of its own."""

    def __init__(self, folder, check=CHECK):
        self.folder = folder
        lab = folder / "labs" / "99_double"
        lab.mkdir(parents=True)
        self.script = lab / "check.py"
        self.script.write_text(check)
        self.program = folder / "build" / "cpu" / "double"
        self.program.parent.mkdir(parents=True)

    def write_program(self, body):
        self.program.write_text(PROGRAM.format(python=sys.executable, body=textwrap.dedent(body)))
        self.program.chmod(0o755)

    def check(self, body, *options):
        self.write_program(body)
        return self.run("--program", self.program, *options)

    def run(self, *options):
        result = farm.run_checker(self.script, *options)
        assert "Traceback" not in result.stderr, result.stderr
        return result


@pytest.fixture
def lab(folder):
    return FakeLab(folder / "a course [1]")


def failures(result):
    return re.findall(r"^FAIL  (.*)$", result.stdout, re.MULTILINE)


def kept_cases(lab):
    """The cases whose files were kept, and nothing else may lie there."""
    names = {path.name for path in (lab.folder / "build/checks/99_double").iterdir()}
    return sorted(names - {".files_of_failing_cases"})


# Verdicts


def test_right_program_passes(lab):
    brief = lab.check(RIGHT)
    assert brief.returncode == 0 and brief.stdout.splitlines()[1:] == ["6 of 6 cases pass"]
    result = lab.check(RIGHT, "--all")
    assert result.returncode == 0, result.stdout
    lines = result.stdout.splitlines()
    assert re.fullmatch(r"fresh input from --seed \d+", lines[0])
    assert lines[1:] == ["ok    1 elements", "ok    32 elements", "ok    33 elements", "ok    fresh",
                         "ok    large", "ok    negative size", "6 of 6 cases pass"]
    assert kept_cases(lab) == []


def test_unwritten_tail(lab):
    result = lab.check("""
        whole = len(a) // 32 * 32
        write(pack((2 * a)[:whole]) + b"\\xff" * 4 * (len(a) - whole))
    """, "--all")
    assert result.returncode == 1
    assert failures(result) == ["1 elements", "33 elements", "fresh", "large"]
    assert "1 of 33 elements differ (no difference is allowed: doubling is exact)" in result.stdout
    assert re.search(r"\[32\]  expected -?\d\.\d+  got nan \(never written\)", result.stdout)
    assert "the last partial block is never written" in result.stdout
    assert result.stdout.endswith("2 of 6 cases pass\n")


def test_the_printed_command_repeats_the_failure(lab):
    result = lab.check("write(a)", "--case", "33 elements")
    assert "what stands out: the result equals the input 'a'\n" in result.stdout
    command = re.search(r"repeat: (.*)", result.stdout).group(1)
    output = lab.folder / "build/checks/99_double/33_elements/output.npy"
    wrong = output.read_bytes()
    output.unlink()
    # From anywhere, and with the awkward folder name.
    subprocess.run(command, shell=True, check=True, cwd="/")
    assert output.read_bytes() == wrong


def test_files_of_cases_that_pass_again_are_removed(lab):
    lab.check("write(a)")
    assert kept_cases(lab) == ["1_elements", "32_elements", "33_elements", "fresh", "large"]
    lab.check("write(a if len(a) == 5 else 2 * a)", "--case", "33 elements")
    assert kept_cases(lab) == ["1_elements", "32_elements", "fresh", "large"]
    lab.check(RIGHT)
    assert kept_cases(lab) == []


def test_a_folder_with_something_else_is_not_cleared(lab):
    lab.write_program(RIGHT)
    (lab.folder / "mine").mkdir()
    (lab.folder / "mine" / "large").touch()
    result = lab.run("--program", lab.program, "--keep", lab.folder / "mine")
    assert result.returncode == 2 and "there is something else" in result.stderr
    assert (lab.folder / "mine" / "large").exists()


def test_an_ended_checker_leaves_no_program_behind(lab):
    lab.write_program("open('pid', 'w').write(str(os.getpid())); time.sleep(60)")
    process = subprocess.Popen([sys.executable, lab.script, "--program", lab.program, "--case",
                                "33 elements"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = []
    while not found or not found[0].read_text():
        time.sleep(0.05)
        found = list((lab.folder / "build/checks/99_double").glob(".running_*/pid"))
    program = int(found[0].read_text())
    process.terminate()
    assert process.wait(10) == 130
    deadline = time.monotonic() + 10
    while Path(f"/proc/{program}/cwd").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{program}/cwd").exists()


@pytest.mark.parametrize("body, said", [
    ("pass", "the program ended well but wrote no output.npy"),
    ("open(options.output, 'w').write('text')", "output.npy is no NumPy array"),
    ("print('bad launch', file=sys.stderr); sys.exit(1)", "bad launch"),
    ("print('result: wrong'); sys.exit(1)", "result: wrong"),
    ("sys.exit('--a: what?') if 0 else (print('--a: what?', file=sys.stderr), sys.exit(2))",
     "the program refused its arguments (status 2)"),
    ("os.kill(os.getpid(), signal.SIGSEGV)", "the program crashed (SIGSEGV)"),
    ("sys.exit(3)", "the program ended with status 3"),
    ("write(2 * a, 'd')", "elements of type float64, expected float32"),
    ("write((2 * a)[1:])", "the output has the shape 32, expected 33"),
    ("write(2 * a); sys.exit(1)", "the output is right, yet the program ended with status 1"),
    ("write(math.nan * a); sys.exit(1)", "33 of 33 elements differ"),
    ("write([math.inf] * len(a))", "33 of 33 elements differ"),
    ("while True: time.sleep(1)", "the program did not end within 1 second:"),
    ("os.mkfifo(options.output)", "output.npy is not a regular file"),
    ("open(options.output, 'wb').write(b'\\x93NUMPY\\x01\\x00\\xff\\x00' + b'(' * 255)", "output.npy is no NumPy array"),
    ("write(2 * a); open('.record_of_cpu_mode.json', 'w').write('[' * 3000)", "is broken: a program ends by returning from main"),
    ("import zipfile; write(2 * a, file='arr_0.npy'); zipfile.ZipFile(options.output, 'w').write('arr_0.npy')", "output.npy is no NumPy array"),
    ("write(2 * a); os.remove(options.a)", "changed or removed its input a.npy"),
    ("write(2 * a); write((2 * a)[:9], file=options.a)", "changed or removed its input a.npy"),
    ("import shutil; shutil.rmtree(os.getcwd())", "removed the folder that it was started in"),
    ("os.write(1, bytes(33 << 20)); write(2 * a)", "printed more than 32 MiB"),
])
def test_what_is_wrong_is_said(lab, body, said):
    result = lab.check(body, "--case", "33 elements", "--timeout", 1 if "while True" in body else 60)
    assert result.returncode == 1
    assert failures(result) == ["33 elements"]
    assert said in result.stdout, result.stdout
    assert "repeat: (cd '" in result.stdout


def test_files_of_failing_cases_are_discarded_when_asked(lab):
    assert lab.check("pass", "--discard").returncode == 1
    assert kept_cases(lab) == []


def test_endless_output_is_stopped(lab):
    result = lab.check("while True: print('x' * 100000)", "--case", "33 elements")
    assert "printed more than 32 MiB" in result.stdout


def test_two_checkers_of_one_lab_leave_each_other_alone(lab):
    lab.write_program("time.sleep(0.5); write(2 * a)")
    command = [sys.executable, lab.script, "--program", lab.program]
    checkers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True)]
    for _ in range(3):
        time.sleep(0.4)
        checkers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    outputs = [process.communicate()[0] for process in checkers]
    assert [process.returncode for process in checkers] == [0, 0, 0, 0], outputs
    assert kept_cases(lab) == []


def test_what_the_program_has_started_ends_with_it(lab):
    file = lab.folder / "child"
    result = lab.check(f"""
        if child := os.fork():
            open({str(file)!r}, "w").write(str(child))
            write(2 * a)
        else:
            time.sleep(1000)
    """, "--case", "33 elements")
    assert result.returncode == 0, result.stdout
    state = Path("/proc", file.read_text(), "stat")
    for _ in range(100):  # killed, but it may take a moment to be gone
        if not state.exists() or state.read_text().rsplit(")")[-1].split()[0] == "Z":
            return
        time.sleep(0.1)
    raise AssertionError("the child of the program still runs")


def test_long_error_text_is_cut(lab):
    result = lab.check("[print('line', i, file=sys.stderr) for i in range(50)]; sys.exit(1)",
                       "--case", "33 elements")
    assert "line 7" in result.stdout and "line 8" not in result.stdout
    assert "(42 more lines)" in result.stdout


def test_after_three_hangs_the_rest_is_not_run(lab):
    result = lab.check("while True: time.sleep(1)", "--timeout", 1, "--workers", 1, "--all")
    assert failures(result) == ["1 elements", "32 elements", "33 elements", "fresh", "large"]
    assert result.stdout.count("did not end within 1 second:") == 1
    assert result.stdout.count("the same as in: 1 elements") == 2, result.stdout
    assert result.stdout.count("not run: earlier runs like this one did not end in time") == 1


def test_skipping_everything_is_skipped(lab):
    result = lab.check("print('there is no GPU', file=sys.stderr); sys.exit(77)")
    assert result.returncode == 77
    assert "skip  1 elements and 4 more cases: there is no GPU" in result.stdout and "there is no GPU" in result.stderr


def test_skipping_only_some_work_fails(lab):
    result = lab.check("sys.exit(77) if len(a) > 100 else write(2 * a)")
    assert result.returncode == 1
    assert "they count as failed" in result.stdout


def test_refusal_is_judged(lab):
    lab.write_program(RIGHT)
    text = lab.program.read_text()
    for old, new, said in (
            ("sys.exit(2)", "sys.exit(0)", "the program ended well (status 0); expected status 2"),
            ("--elements: -1 is below 0", "no", "does not mention 'elements'"),
            ("sys.exit(2)", "open('half', 'w'), sys.exit(2)", "yet left half behind"),
            ("sys.exit(2)", "sys.exit(77)", "before it looks for a device"),
            ('print("--elements: -1 is below 0", file=sys.stderr)', "pass", "said nothing on stderr")):
        lab.program.write_text(text.replace(old, new, 1))
        result = lab.run("--program", lab.program, "--case", "negative size")
        assert result.returncode == 1 and said in result.stdout, result.stdout


def test_a_fault_of_the_checker_is_told_from_one_of_the_program(folder):
    lab = FakeLab(folder, CHECK.replace("a = case.floats(count)", "a = [][count]"))
    result = lab.check(RIGHT)
    assert result.returncode == 1
    assert "the checker itself failed at check.py:11: IndexError" in result.stdout


# The report


def failed(name, text="# elements differ", cause=None, elements=None):
    outcome = report.Outcome(name, "FAIL", 0.1, name.partition(": ")[0], "double")
    outcome.fail(f"{text}\nrepeat: ...", cause, elements)
    return outcome


def right(name):
    return report.Outcome(name, "ok", 0.1, name.partition(": ")[0], "double")


def settled(*outcomes, tasks={"tiled": "TODO 4"}):
    report.settle(list(outcomes), tasks)
    return [line for outcome in outcomes for line in outcome.cause_line()]


def test_the_first_failure_waits_for_larger_cases_and_for_no_build():
    """A tiny case that fails asks the larger ones of its variant for the cause; what is watched waits for its build."""
    def case(name, watched=""):
        return SimpleNamespace(name=name, variant="tiled", quick=True, watched=watched)

    def asked():
        raise AssertionError("a build was waited for")

    outcomes = [failed("tiled: 1", elements=1)]
    larger = failed("tiled: 100", cause="columns are swapped", elements=100)
    cases = [case("tiled: 1"), case("tiled: 100"), case("tiled: no race", watched="races")]
    waiting = [None, SimpleNamespace(result=lambda: larger), SimpleNamespace(result=asked)]
    assert checker.Lab.is_the_first(SimpleNamespace(tasks={}), outcomes, cases, waiting, SimpleNamespace(first=re.compile("")))
    assert outcomes[0].told_by == "tiled: 100"


def test_addresses_and_bytes_make_no_other_cause(capsys):
    """Where a crash has happened differs from case to case."""
    says = "it crashed\nit says on stderr:\n  a.cu:3: "
    report.print_failures([failed("v: 1", says + "0x7f3a is in nothing: the first byte past the end of 8 bytes"),
                           failed("v: 2", says + "0x9c40 is in nothing: 16 bytes past the end of 80 bytes")])
    assert "the same cause in 1 more case: v: 2" in capsys.readouterr().out


def test_a_report_is_a_screen(capsys):
    outcomes = [failed(f"v{variant}: {count}", f"{count} elements differ\n  [0] got 1", f"cause {chr(65 + variant)}")
                for variant in range(20) for count in (1, 2, 3)]
    assert report.print_failures(outcomes)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 38 and lines[0] == "FAIL  v0: 1" and "      likely cause: cause A" in lines
    assert "      the same cause in 2 more cases: v0 (2)" in lines
    assert "FAIL  v12: 1 (and 2 more): cause M" in lines
    report.print_all(outcomes)
    everything = capsys.readouterr().out
    assert everything.count("FAIL  ") == 60 and everything.count("cause: cause T") == 1


def test_what_the_program_says_is_one_cause_for_all_variants(capsys):
    crash = "the program ended with status 1\nit says on stderr:\n  a.cu:3: index 7 is too large"
    assert report.print_failures([failed("tiled: 1", crash), failed("naive: 3", crash.replace("7", "9"))])
    assert "the same cause in 1 more case: naive: 3" in capsys.readouterr().out


def test_a_larger_case_of_the_variant_tells_the_cause():
    copied = diagnose.Fact("the result equals the input 'a'")
    cases = failed("tiled: 1", cause=copied, elements=1), failed("tiled: 9", cause="x for y", elements=900)
    assert settled(*cases) == ["likely cause: x for y (as tiled: 9 shows)", "likely cause: x for y"]
    assert settled(*cases) == ["likely cause: x for y (as tiled: 9 shows)", "likely cause: x for y"], "and again"
    assert settled(cases[0], failed("tiled: 9", elements=900)) == [], "the larger one refutes it"
    assert settled(cases[0], failed("naive: 9", cause="x for y", elements=900))[0] == f"what stands out: {copied}"
    assert settled(cases[0], failed("tiled: 9", "it crashed")) == [f"what stands out: {copied}"]


def test_finished_steps_are_not_blamed():
    cause = diagnose.Shared("is it copied (TODO 1b)?", own="tiled stores nothing")
    case = failed("tiled: 9", cause=cause, elements=900)
    assert settled(case) == ["likely cause: is it copied (TODO 1b)?"]
    assert settled(case, failed("naive: 9")) == ["likely cause: is it copied (TODO 1b)?"]
    assert settled(case, right("naive: 9")) == ["likely cause: tiled stores nothing (TODO 4)"]
    assert settled(case, right("naive: 9"), failed("naive: 8")) == ["likely cause: is it copied (TODO 1b)?"]
    assert settled(case, right("tiled: 8")) == ["likely cause: is it copied (TODO 1b)?"]


def test_what_takes_too_long_only_where_there_is_much_to_do():
    case = failed("tiled: 9", "the program did not end within 60 seconds", elements=900)
    said, = settled(case, right("tiled: 8"), right("naive: 9"))
    assert "steps that are too small" in said and said.endswith("(TODO 4)")
    assert "too small" not in settled(case, right("naive: 9"))[0]


def test_a_task_is_named_once_another_variant_passes():
    said = "what stands out: other variants pass: it is in tiled itself (TODO 4)"
    assert settled(failed("tiled: 9", elements=900), right("naive: 9")) == [said]
    more = said + ", or in what it shares with wide, which fails as well"
    assert settled(failed("tiled: 9", elements=900), right("naive: 9"), failed("wide: 9")) == [more]
    assert settled(failed("tiled: 9", elements=900), right("naive: 9"), tasks={}) == []
    assert settled(failed("tiled: 9", cause="x (task 2)", elements=900), right("naive: 9")) == ["likely cause: x (task 2)"]
    assert settled(failed("tiled: 9", "it crashed\nit says on stderr:\n  a.cu:3: why"), right("naive: 9")) == []


def test_a_wrong_result_of_a_watched_run_counts_only_alone():
    watched = failed("no race", "the program calls its result wrong")
    watched.unjudged = True
    report.settle([watched, right("tiled: 9")], {})
    assert watched.verdict == "FAIL"
    report.settle([watched, failed("tiled: 9")], {})
    assert watched.verdict == "skip" and "the other cases judge it" in watched.message


def test_a_cause_in_the_text_is_one_too():
    outcome = failed("tiled: 9", "lines are missing\nlikely cause: x for y")
    assert (outcome.cause, outcome.message, outcome.repeat) == ("x for y", "lines are missing", "repeat: ...")
    assert outcome.full_message() == "lines are missing\nlikely cause: x for y\nrepeat: ..."


def test_a_variant_that_hangs_costs_no_other_its_cases():
    patience = Patience(60)
    assert patience.of("tiled").limit(None) == 60
    for _ in range(3):
        patience.of("tiled").timed_out()
    with pytest.raises(checker.Failure, match="not run"):
        patience.of("tiled").limit(None)
    assert patience.of("naive").limit(None) == 5 and patience.of("naive").limit(2) == 2


def test_first_looks_at_a_larger_case_for_the_cause(lab):
    result = lab.check("write([2 * number if place < len(a) // 4 else 0 for place, number in enumerate(a)])", "--first", "--workers", 1)
    assert failures(result) == ["1 elements"] and "0 of 6 cases pass, 5 not run" in result.stdout
    assert "a size is given in elements, where bytes are meant" not in result.stdout, "33 elements are few"


def test_the_rows_that_are_wrong_are_quoted(lab):
    body = "[print(f'v{i:02}', 'WRONG: all' if i in (2, 3) else 'correct') for i in range(30)]; sys.exit(1)"
    said = lab.check(body, "--case", "33 elements").stdout
    assert "it printed:\n        v02 WRONG: all\n        v03 WRONG: all\n" in said and "v29" not in said


def test_what_is_right_only_once_is_said(lab):
    body = "print('v1  WRONG: right only once: in a later launch 1 of 2 differ'); write(0 * a); sys.exit(1)"
    assert "likely cause: the first launch is right, a later one" in lab.check(body, "--case", "33 elements").stdout


# Command line


def record_of(**changes):
    """The record of a program that launches a kernel once, in 2 blocks of 32 threads."""
    launch = {"kernel": "work::tiled_kernel<16>", "grid": [2, 1, 1], "block": [32, 1, 1], "shared": 0, "from": "host",
              "times": 1}
    copies = {way: {"calls": 1, "bytes": 400} for way in ("to_device", "to_host", "on_device")}
    return {"launches": [launch], "copies": copies, "leaks": [], "unchecked": [], "absent_lanes": [], **changes}


def test_records_are_put_into_words():
    right = record_of()
    assert records.wrong_kernels(right, "variant tiled", ["tiled_kernel"], ["naive_kernel"], True) is None
    assert records.wrong_kernels(right, "variant tiled", ["x|tiled_kernel<16>"], ["tiled_kernel<8>"], True) is None
    assert records.wrong_kernels(right, "variant naive", ["naive_kernel"], ["tiled_kernel"], True).startswith(
        "variant naive launches tiled_kernel<16>, and not naive_kernel:")
    assert records.wrong_kernels(right, "variant naive", ["tiled_kernel", "second"], [], True).startswith(
        "variant naive launches tiled_kernel<16>, but never second:")
    nothing = record_of(launches=[])
    assert records.wrong_kernels(nothing, "variant naive", ["naive_kernel"], [], False) is None
    assert records.wrong_kernels(nothing, "variant naive", ["a", "b|c"], [], True) == (
        "variant naive launches no kernel: its result was computed by the host, and a and b or c are to compute it")
    assert records.too_few_threads(right, "tiled_kernel", 64, 2, 64) is None
    assert "is launched with 2 blocks, and" in records.too_few_threads(right, "tiled_kernel", 64, 3, 0)
    assert "is launched with 64 threads, and" in records.too_few_threads(right, "tiled_kernel", 65, 2, 0)
    assert records.too_few_threads(right, "naive", 1, 1, 0) == "naive is never launched"
    idle = record_of(launches=[{**right["launches"][0], "storing": 1}])
    assert records.too_few_threads(idle, "tiled_kernel", 64, 2, 64).startswith("of the 64 threads of tiled_kernel only 1 ")
    assert records.not_copied_back(right, 400) is None
    assert "only 400 bytes were copied from there" in records.not_copied_back(right, 401)
    assert records.leaks(right) is None and records.unchecked(right) is None
    leaks = [{"bytes": 10 + i, "times": 1, "place": f"a.cu:{i}"} for i in range(6)]
    assert ("never freed: 10 bytes allocated in a.cu:0, 11 bytes allocated in a.cu:1, 12 bytes allocated in a.cu:2 "
            "and 3 more.") in records.leaks(record_of(leaks=leaks))
    assert "the launch of add in a.cu:3 succeeded" in records.unchecked(
        record_of(unchecked=[{"kernel": "add", "place": "a.cu:3", "times": 4}]))


def test_a_variant_is_judged_by_its_kernels(folder):
    """In CPU mode every run says what it launched; on a card nothing is known, and nothing said."""
    lab = FakeLab(folder, CHECK.replace("lab.main()", "lab.kernels({'5': 'five'}, '--elements')\nlab.main()").replace(
        "case.compute(", "case.compute('--elements', 5, "))
    writes = f"import json; open(os.environ['CUDA_CPU_RECORD'], 'w').write(json.dumps({record_of()}))"
    result = lab.check(f"{RIGHT}\n{writes}")
    assert result.returncode == 1
    assert "FAIL  1 elements\n      variant 5 launches tiled_kernel<16>, but never five: its result is to come" in result.stdout
    assert lab.check(f"{RIGHT}\n{writes.replace('tiled_kernel', 'five')}").returncode == 0
    assert lab.check(RIGHT).returncode == 0


def test_list(lab):
    result = lab.run("--list")
    assert result.stdout.splitlines() == ["1 elements", "32 elements", "33 elements", "fresh", "large",
                                          "negative size"]
    assert "large" not in lab.run("--list", "--quick").stdout


def test_seed_repeats_the_fresh_input(lab):
    first = lab.check("write(3 * a)", "--case", "fresh")
    seed = re.search(r"--seed (\d+)", first.stdout).group(1)
    again = lab.check("write(3 * a)", "--case", "fresh", "--seed", seed)
    other = lab.check("write(3 * a)", "--case", "fresh", "--seed", int(seed) + 1)
    assert first.stdout == again.stdout != other.stdout
    assert "every element is 1.5 times what is expected" in first.stdout


def test_the_beginning_of_a_name_chooses_cases(lab):
    result = lab.check("sys.exit(1)", "--case", "3", "--all")
    assert failures(result) == ["32 elements", "33 elements"]


def test_a_reader_that_has_enough(lab):
    lab.write_program("sys.exit(1)")
    command = f"'{sys.executable}' '{lab.script}' --program '{lab.program}' | head -1"
    result = farm.run("bash", "-c", command)
    assert result.returncode == 0 and not result.stderr, result


def test_a_cause_is_explained_once(lab):
    result = lab.check("sys.exit('the same sentence')")
    assert result.stdout.count("the same sentence") == 1 and failures(result) == ["1 elements"]
    assert "the same cause in 4 more cases: 32 elements, 33 elements, fresh, large" in result.stdout
    result = lab.check("sys.exit('the same sentence')", "--all")
    assert result.stdout.count("the same sentence") == 1
    assert result.stdout.count(f"the same as in: {failures(result)[0]}") == 4


def test_first_stops_after_a_failure(lab):
    result = lab.check("write(2 * a if len(a) < 33 else a)", "--first", "--workers", 1)
    assert result.returncode == 1 and failures(result) == ["33 elements"]
    assert "3 of 6 cases pass" not in result.stdout
    assert result.stdout.endswith("2 of 6 cases pass, 3 not run\n")


def test_before_says_which_cases_come_first(lab):
    result = lab.check("write(a)", "--first", "--workers", 1, "--before", "fresh")
    assert failures(result) == ["fresh"] and "5 not run" in result.stdout
    assert failures(lab.check("write(a)", "--first", "--workers", 1, "--before", "unknown")) == ["1 elements"]


def test_first_may_say_which_failure(lab):
    body = "write([1] * 32 if len(a) == 32 else a)"
    result = lab.check(body, "--first=every element is 1", "--workers", 1)
    assert failures(result) == ["1 elements", "32 elements"]
    assert lab.check(body, "--first=never said").stdout.endswith("\n1 of 6 cases pass\n")


def test_json(lab):
    path = lab.folder / "results.json"
    lab.check("write(2 * a if len(a) < 33 else a)", "--json", path, "--quick")
    results = json.loads(path.read_text())
    assert results["lab"] == "99_double" and results["passed"] == 4
    verdicts = {case["name"]: case["passed"] for case in results["cases"]}
    assert verdicts == {"1 elements": True, "32 elements": True, "33 elements": False, "fresh": True,
                        "negative size": True}
    assert "equals the input" in results["cases"][2]["message"] and results["cases"][0]["seconds"] > 0


def test_the_cases_of_one_variant(folder):
    check = CHECK.replace('lab.case("fresh"', '''
lab.case("small: 7", lambda case, variant: double(case, 7), variant="small")
lab.case("small: 8, all", double, count=8)
lab.watched("small: no races", [[]])
lab.watched("all: no races", [[]])
lab.case("fresh"''')
    lab = FakeLab(folder / "ladder", check)
    assert lab.run("--list", "--variant", "small").stdout == "small: 7\nsmall: no races\n"
    path = lab.folder / "results.json"
    assert "1 of 1 cases of small pass; races were not looked for" in lab.check(RIGHT, "--variant", "small").stdout
    lab.check("write(a if len(a) == 8 else 2 * a)", "--json", path)
    assert json.loads(path.read_text())["variants"] == {"small": False}
    assert "there is no case 'fresh'" in lab.run("--variant", "small", "--case", "fresh").stderr


def test_the_cases_of_further_are_for_programs_that_have_them(folder):
    check = CHECK.replace("checker.Lab(__file__)", "checker.Lab(__file__, further=['quick'])").replace('lab.case("fresh"', '''
for variant in ["small", *lab.further]:
    lab.case(f"{variant}: 7", lambda case, variant: double(case, 7), variant=variant)
lab.case("quick: 8", lambda case, variant: double(case, 8), variant="quick")
lab.watched("quick: no races", [[]], further=True)
lab.case("fresh"''')
    lab = FakeLab(folder / "further", check)
    assert "quick" not in lab.run("--list").stdout
    listed = lab.run("--list", "--further").stdout
    assert "quick: 7\nquick: 8\n" in listed and listed.endswith("quick: no races\n")
    said = lab.run("--list", "--variant", "quick").stderr
    assert "only FURTHER=1 builds: make check LAB=99 VARIANT=quick FURTHER=1" in said
    assert "2 of 2 cases of quick pass" in lab.check(RIGHT, "--further", "--variant", "quick").stdout


@pytest.mark.parametrize("options, said", [
    (("--variant", "tiled"), "lab 99 has no variants: leave VARIANT out"),
    ((), "--program is missing"),
    (("--program", sys.executable, "--first=["), "'[' is no regular expression"),
    (("--program", "nothing"), "there is no program nothing: `make build LAB=99` makes it"),
    (("--program", __file__), "may not be executed"),
    (("--program", sys.executable, "--case", "34 elements"), "do you mean '33 elements'?"),
    (("--program", sys.executable, "--case", "q"), "--list prints the names"),
    (("--program", sys.executable, "--seed", "-1"), "--seed takes a number"),
    (("--program", sys.executable, "--seed", "x"), "invalid int value: 'x'"),
    (("--program", sys.executable, "--timeout", "0"), "take a number above zero"),
    (("--program", sys.executable, "--json", "no/such/x.json"), "there is no such folder"),
    (("--unknown",), "unrecognized arguments: --unknown"),
])
def test_bad_usage(lab, options, said):
    result = lab.run(*options)
    assert result.returncode == 2 and not result.stdout
    assert said in result.stderr and len(result.stderr.splitlines()) == 1


def test_two_cases_of_one_name_are_refused(folder):
    lab = checker.Lab(str(folder / "labs" / "99_double" / "check.py"))
    lab.case("same", print)
    with pytest.raises(ValueError):
        lab.case("same", print)


# Comparing

EXACT = checker.Tolerance(why="a test")
CLOSE = checker.Tolerance(absolute=1e-3, relative=1e-2, why="a test")


def test_a_tolerance_needs_a_reason():
    with pytest.raises(ValueError):
        checker.Tolerance(absolute=1)
    with pytest.raises(ValueError):
        checker.Tolerance(absolute=float("nan"), why="a test")


@pytest.mark.parametrize("expected, got, tolerance, wrong", [
    (1.0, 1.0, EXACT, False),
    (1.0, numpy.nextafter(1.0, 2.0), EXACT, True),
    (100.0, 101.0, CLOSE, False),
    (100.0, 101.1, CLOSE, True),
    (0.0, 0.001, CLOSE, False),
    (0.0, 0.0011, CLOSE, True),
    (0.0, -0.0, EXACT, False),
    (1.0, numpy.nan, CLOSE, True),
    (1.0, numpy.inf, CLOSE, True),
    (numpy.nan, numpy.nan, EXACT, False),
    (numpy.nan, 1.0, CLOSE, True),
    (numpy.inf, numpy.inf, CLOSE, False),
    (numpy.inf, -numpy.inf, CLOSE, True),
    (numpy.inf, 1e30, CLOSE, True),
])
def test_floats(expected, got, tolerance, wrong):
    assert comparison.wrong_elements(numpy.array([expected]), numpy.array([got]), tolerance) == [wrong]


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "bool"])
def test_whole_numbers(dtype):
    expected = numpy.array([0, 1, 1], dtype)
    assert comparison.wrong_elements(expected, numpy.array([0, 1, 0], dtype), EXACT).tolist() == [
        False, False, True]


def test_bytes_do_not_wrap_around():
    one = checker.Tolerance(absolute=1, why="a test")
    expected, got = numpy.array([0, 255, 10], "u1"), numpy.array([255, 0, 11], "u1")
    assert comparison.wrong_elements(expected, got, one).tolist() == [True, True, False]


def test_int64_is_exact():
    big = numpy.array([2**62])
    assert comparison.wrong_elements(big, big + 1, EXACT) == [True]


def test_difference_shows_coordinates_and_count():
    expected = numpy.arange(20.0).reshape(4, 5)
    got = expected.copy()
    got[1:3] = -1
    text = comparison.difference_text(expected, got, expected != got, EXACT)
    lines = text.splitlines()
    assert lines[0] == "10 of 20 elements differ (no difference is allowed: a test)"
    assert lines[1] == "  [1, 0]  expected 5  got -1"
    assert len(lines) == 7 and lines[-1] == "  ... and 5 more"


def same_lines(expected, got, **options):
    case = object.__new__(checker.Case)
    with pytest.raises(checker.Failure) as caught:
        case.same_lines(expected, got, **options)
    return str(caught.value)


def test_lines():
    case = object.__new__(checker.Case)
    case.same_lines(["a", "b "], ["a ", "b"])
    case.same_lines(["a", "b"], ["b", "a"], any_order=True)
    assert same_lines(["a", "b"], ["b"]) == "1 of 2 lines are missing:\n  a"
    assert same_lines(["a", "b"], ["a", "b", "b"]) == "1 line is too many:\n  b"
    assert "line 1 is\n  b\nexpected\n  a" in same_lines(["a", "b"], ["b", "a"])


# Diagnosers, on synthetic arrays


def cause(expected, got, inputs=None, diagnosers=()):
    expected, got = numpy.asarray(expected), numpy.asarray(got)
    tolerance = checker.Tolerance(absolute=1e-5, relative=1e-5, why="a test")
    case = SimpleNamespace(wrong=comparison.wrong_elements(expected, got, tolerance),
                           inputs=inputs or {}, parameters={})
    assert case.wrong.any()
    return diagnose.likely_cause(expected, got, case, diagnosers)


def poison(shape, dtype="f4"):
    array = numpy.empty(shape, dtype)
    array.view(numpy.uint8)[...] = 0xFF
    return array


@pytest.fixture
def values():
    return lambda *shape: numpy.random.default_rng(7).uniform(-1, 1, shape).astype("f4")


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
def test_nothing_written(dtype):
    expected = numpy.arange(100).astype(dtype)
    assert "nothing was written" in cause(expected, poison(100, dtype))


@pytest.mark.parametrize("kind", comparison.ORIGINS)
def test_where_a_value_comes_from(kind):
    """CPU mode's patterns are named for each element, and in the cause."""
    word, words = comparison.ORIGINS[kind]
    expected = numpy.arange(40, dtype="f4")
    got = expected.copy()
    got[:3] = numpy.array([word], "u4").view("f4")
    wrong = comparison.wrong_elements(expected, got, EXACT)
    text = comparison.difference_text(expected, got, wrong, EXACT)
    assert text.count(f"got nan ({words})") == 3
    assert cause(expected, got).startswith(f"3 elements are {words}: ")
    # A picture: each byte of the pattern.
    picture = numpy.full(256, 7, "u1")
    shown = picture.copy()
    shown[100:200] = numpy.array([word] * 25, "<u4").view("u1")
    assert cause(picture, shown).startswith(f"100 elements are {words}: ")
    shown[100:200] = 255
    assert words not in (cause(picture, shown) or "")
    assert comparison.origins(poison(5)) == {} == comparison.origins(numpy.arange(5, dtype="i8"))


@pytest.mark.parametrize("count, written, said", [
    (1000, 768, "the last partial block is never written (the elements from 768 on): is the grid rounded"),
    (5000, 1024, "only the first 1024 of 5000 elements are written"),
    (1000, 999, "only the first 999 of 1000 elements are written"),
])
def test_unwritten_tails(values, count, written, said):
    expected, got = values(count), poison(count)
    got[:written] = expected[:written]
    assert said in cause(expected, got)


@pytest.mark.parametrize("height, width, said", [
    (50, 96, "the columns from 96 on are never written"),
    (32, 100, "only the first 3200 of 5000"),
    (32, 96, "the columns from 96 on and the rows from 32 on are never written"),
])
def test_unwritten_edges(values, height, width, said):
    expected, got = values(50, 100), poison((50, 100))
    got[:height, :width] = expected[:height, :width]
    assert said in cause(expected, got)


@pytest.mark.parametrize("shape", [(7, 30), (30, 7), (31, 33), (101, 103)])
@pytest.mark.parametrize("side", ["output", "input", "both"])
def test_row_times_height(values, shape, side):
    expected = values(*shape)
    flat, wanted = poison(expected.size), expected.reshape(-1)
    for row in range(shape[0]):
        for column in range(shape[1]):
            right, swapped = row * shape[1] + column, row * shape[0] + column
            target = right if side == "input" else swapped
            source = right if side == "output" else swapped
            if target < expected.size and source < expected.size:
                flat[target] = wanted[source]
    got = flat.reshape(shape)
    assert "the row is multiplied by the height" in cause(expected, got)


def test_transposed(values):
    square, oblong = values(20, 20), values(20, 30)
    assert "transposed" in cause(square, square.T)
    assert "transposed" in cause(oblong, oblong.T.reshape(20, 30))


def test_copied_input(values):
    a, b = values(10), values(10) + 3
    assert "the result equals the input 'b'" in cause(a + b, b, {"a": a, "b": b})


@pytest.mark.parametrize("constant", [0, 1.5])
def test_constant(values, constant):
    assert f"every element is {float(constant)}" in cause(values(100), numpy.full(100, constant, "f4"))


def test_zero_tail(values):
    got = values(100)
    got[25:] = 0
    assert "everything from element 25 on is zero" in cause(values(100), got)


@pytest.mark.parametrize("shift, axis, said", [
    (-1, None, "the next element"), (1, None, "the previous element"),
    (-1, 1, "the next column"), (1, 1, "the previous column"), (-1, 0, "the next row"),
])
def test_shifted(values, shift, axis, said):
    expected = values(40) if axis is None else values(20, 30)
    assert said in cause(expected, numpy.roll(expected, shift, axis))


def test_not_clamped():
    exact = numpy.arange(-50, 300, 5)
    assert "clamped" in cause(exact.clip(0, 255).astype("u1"), (exact % 256).astype("u1"))


@pytest.mark.parametrize("factor, said", [(2, "every element is 2 times"), (-1, "wrong sign"),
                                          (1 / 3, "every element is 0.3333 times")])
def test_factor(values, factor, said):
    expected = values(100)
    assert said in cause(expected, (factor * expected).astype("f4"))


@pytest.mark.parametrize("wrong, said", [
    (lambda i: i % 2 == 1, "only the elements with an odd index are wrong"),
    (lambda i: i % 2 == 0, "only the elements with an even index are wrong"),
    (lambda i: i % 32 == 31, "one element in 32 (one warp) is wrong, the one with index % 32 == 31"),
    (lambda i: i % 32 != 0, "only one element in 32 (one warp) is right, the one with index % 32 == 0"),
    (lambda i: i % 64 >= 32, "the elements whose index % 64 lies between 32 and 63 are wrong"),
    (lambda i: (i % 64 == 0) | (i % 64 == 63), "the wrong elements repeat every 64 elements"),
])
def test_patterns(values, wrong, said):
    expected = values(1024)
    got = expected.copy()
    got[wrong(numpy.arange(1024))] += 5
    assert said in cause(expected, got)


def test_stride_never_written(values):
    expected, got = values(1001), poison(1001)
    got[::2] = expected[::2]
    assert "only the elements with an odd index are never written" in cause(expected, got)


def test_only_the_first_block_is_right(values):
    expected = values(1000)
    got = expected + values(1000) * 3
    got[:256] = expected[:256]
    assert "only the first 256 elements are right" in cause(expected, got)


def test_holes(values):
    expected, got = values(100), values(100)
    got[[3, 14, 15, 92]] = poison(4)
    assert "4 elements are never written" in cause(expected, got)


def test_not_a_number(values):
    expected, got = values(100), values(100)
    got[[3, 14, 15, 92]] = numpy.array([0x7FC00000], "u4").view("f4")
    assert "4 elements are NaN" in cause(expected, got)
    got[[3, 14, 15, 92]] = numpy.inf
    assert "4 elements are infinite" in cause(expected, got)


def test_rounding(values):
    expected = values(100)
    assert "the differences are small" in cause(expected, expected + 1e-4 * numpy.sin(numpy.arange(100)))


def test_no_guess_when_nothing_fits(values):
    assert cause(values(100), values(200)[100:] * 7) is None


def test_the_labs_own_diagnosers_come_first(values):
    a = values(10)
    said = cause(a * a, a, {"a": a}, [lambda *_: None, lambda *_: "not squared", lambda *_: "later"])
    assert said == "not squared"


@pytest.mark.parametrize("shape", [(1,), (2,), (3,), (1, 1), (1, 2), (2, 1), (2, 2), (3, 3, 3), ()])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
def test_no_diagnoser_stumbles_over_small_arrays(shape, dtype):
    random = numpy.random.default_rng(1)
    expected = random.integers(0, 9, shape).astype(dtype)
    for got in (expected + 1, expected * 0 + 77, poison(shape, dtype) if shape else expected + 2):
        got = numpy.asarray(got, dtype)
        for diagnoser in diagnose.GENERAL:
            tolerance = checker.Tolerance(why="a test")
            case = SimpleNamespace(wrong=comparison.wrong_elements(expected, got, tolerance),
                                   inputs={"a": expected}, parameters={})
            assert isinstance(diagnoser(expected, got, case), (str, type(None)))


@pytest.mark.parametrize("program, backend", [
    ("/home/ada/course/build/cpu/labs/03_vector_add/vector_add", "cpu"),
    ("/home/ada/course/build/gpu-debug/labs/03_vector_add/vector_add", "gpu"),
    ("/home/ada/gpu/build/tests/cpu/solutions/03_vector_add/vector_add", "cpu"),
    ("/home/ada/build/gpu/build/tests/gpu/solutions/03_vector_add/vector_add", "gpu"),
    ("/tmp/program", "cpu"),
])
def test_backend_is_known_by_the_folder(program, backend):
    assert backend_of(Path(program)) == backend
