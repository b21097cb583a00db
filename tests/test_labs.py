"""Every lab: its solution passes, its exercise fails clearly, its planted faults are caught."""

import os
import re

import pytest

import farm
from farm import ROOT, exercises

LABS = farm.labs()


def each_lab(kind=None):
    """One test a lab; with a kind, the verdict on that program is prepared ahead."""
    marks = [pytest.mark.ahead(farm.verdict, lab, kind) for lab in LABS]
    return pytest.mark.parametrize(
        "lab", [pytest.param(lab, marks=[mark] if kind else []) for lab, mark in zip(LABS, marks)])


def each_fault():
    """One test a planted fault. A fault file that does not load is a failing test of its lab."""
    cases = []
    # While one worker compiles the faults of a lab, the other judges those of the lab before.
    together = [pytest.mark.ahead(farm.compile_together, lab) for lab in LABS]
    for place, lab in enumerate(LABS):
        try:
            faults = farm.load_faults(lab)
        except Exception as error:
            cases.append(pytest.param(lab, error, id=f"{lab}-does_not_load"))
            continue
        first = together[place:place + 2] if farm.BACKEND == "cpu" else []
        for fault in faults:
            if farm.BACKEND in fault.backends:
                marks = [*first, pytest.mark.ahead(farm.verdict, lab, "faults", fault)]
                first = []
            else:
                marks = [pytest.mark.skip(reason=f"this fault does not show on the {farm.BACKEND}")]
            cases.append(pytest.param(lab, fault, marks=marks, id=f"{lab}-{farm.slug(fault.name)}"))
    return pytest.mark.parametrize("lab, fault", cases)


def require(condition, text):
    """Fails with the text alone: what a checker says needs no traceback of the test."""
    if not condition:
        pytest.fail(text, pytrace=False)


def judged(lab, kind, fault=None):
    """The verdict of the checker on one of the lab's programs, which must have compiled."""
    arguments = (lab, kind) if fault is None else (lab, kind, fault)
    built, result = farm.call(farm.verdict, *arguments)
    require(result is not None, f"does not compile:\n{built.output}")
    text = f"the checker ends with status {result.returncode}\n{result.stdout}{result.stderr}"
    require("Traceback" not in text and "the checker itself failed" not in text, text)
    return built, result, text


@pytest.mark.parametrize("lab", LABS)
def test_folder_is_complete(lab):
    source = farm.source_name(lab)
    wanted = [f"labs/{lab}/{name}" for name in ("README.md", "check.py", "hints.md", "Makefile")]
    wanted += [f"labs/{lab}/{source}"] if os.environ.get("CI") == "true" else []
    wanted += [f"solutions/{lab}/{source}", f"tests/faults/{lab}.py"]
    missing = [name for name in wanted if not (ROOT / name).is_file()]
    assert not missing, f"missing: {', '.join(missing)}"
    assert farm.load_faults(lab), f"tests/faults/{lab}.py plants no fault"


@each_lab("solutions")
def test_solution_passes(lab):
    built, result, text = judged(lab, "solutions")
    require(not built.output.strip(), f"the compiler warns:\n{built.output}")
    require(result.returncode == 0, text)


@each_lab("exercises")
def test_exercise_fails_clearly(lab):
    built, result, text = judged(lab, "exercises")
    require(not built.output.strip(), f"the compiler warns:\n{built.output}")
    require(result.returncode == 1, text)
    require(re.search(r"^FAIL  ", result.stdout, re.MULTILINE), text)
    source = farm.call(farm.generated_exercise, lab)
    assert "TODO" in (source / farm.source_name(lab)).read_text(), "nothing is left for the learner"


@pytest.mark.parametrize("lab", LABS)
def test_handout_shows_the_failing_output(lab):
    """A fenced block of the handout shows FAIL lines, and the exercise really prints them."""
    text = (ROOT / "labs" / lab / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    shown = {line.strip() for block in blocks for line in block.splitlines()
             if line.strip().startswith("FAIL")}
    require(shown, "no fenced block of the handout contains FAIL")
    _, result, text = judged(lab, "exercises")
    unreal = shown - {line.strip() for line in result.stdout.splitlines()}
    require(not unreal, f"the handout shows what the exercise does not print: {sorted(unreal)}\n{text}")


@each_fault()
def test_fault_is_caught(lab, fault):
    if isinstance(fault, Exception):
        raise fault
    _, result, text = judged(lab, "faults", fault)
    require(result.returncode == 1, text)
    require(re.search(fault.caught, result.stdout), f"not said: {fault.caught}\n{text}")


@pytest.mark.parametrize("lab", LABS)
def test_help(lab):
    result = farm.run(solution(lab), "--help")
    assert result.returncode == 0 and result.stdout.strip() and not result.stderr, result


@pytest.mark.parametrize("arguments", [("--no-such-option",), ("--no-such-option", "1"), ("surplus",)],
                         ids=" ".join)
@pytest.mark.parametrize("lab", LABS)
def test_bad_arguments(lab, arguments):
    result = farm.run(solution(lab), *arguments)
    assert result.returncode == 2, result
    assert len(result.stderr.strip().splitlines()) == 1, result
    assert arguments[0].lstrip("-") in result.stderr and not result.stdout, result


def solution(lab):
    built = farm.call(farm.compile_lab, lab, "solutions", None)
    assert built, built.output
    return built.program


@pytest.mark.parametrize("lab", LABS)
def test_checker_says_how_it_is_used(lab):
    check = ROOT / "labs" / lab / "check.py"
    listed = farm.run_checker(check, "--list")
    assert listed.returncode == 0 and listed.stdout.strip(), listed
    missing = farm.run_checker(check, "--program", "no/such/program")
    assert missing.returncode == 2 and len(missing.stderr.splitlines()) == 1, missing


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="only where CI=true: a learner may edit labs/")
def test_labs_equal_what_the_solutions_give():
    assert not exercises.differences(ROOT / "solutions", ROOT / "labs", LABS)


def test_a_source_without_a_task_is_there_once():
    """In given/ or further/ of the lab's folder; the solutions have those with a task."""
    for lab in LABS:
        solutions = {path for path in (ROOT / "solutions" / lab).iterdir() if path.suffix in exercises.SUFFIXES}
        assert all(exercises.BEGIN in path.read_text(encoding="utf-8") for path in solutions), lab
        assert not any(exercises.BEGIN in text for text in exercises.given_files(ROOT / "labs" / lab).values()), lab
