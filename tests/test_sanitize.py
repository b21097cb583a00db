"""The command `make sanitize` itself; that it finds each kind of fault is tests/test_teaching.py's affair."""

import json
import os
import re
import sys
from types import SimpleNamespace

import pytest

import farm
from checker import sanitize_card, sanitize_words
from checker.sanitize_words import Finding, merged
from explain import frames

FAULTS = farm.ROOT / "tests" / "programs" / "sanitize_faults.cu"
only_cpu = pytest.mark.skipif(farm.BACKEND != "cpu", reason="on a card: bash tests/on_card.sh teaching")


def sanitize(*arguments, env=None):
    return farm.run(sys.executable, "-B", "-m", "checker.sanitize", *arguments,
                    env={"PYTHONPATH": str(farm.ROOT / "common"), "CUDA_CPU_DEVICE": "", **(env or {})},
                    timeout=300)


@only_cpu
def test_silent(folder):
    """A right program: one sentence, status 0, an empty list."""
    result = sanitize(FAULTS, "--json", folder / "found.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"no race, nothing out of bounds .*\n", result.stdout)
    assert json.loads((folder / "found.json").read_text()) == []


@only_cpu
@pytest.mark.parametrize("number, kind, lines, variable, words", [
    (1, "race", [17, 18], "tile", "Put __syncthreads() between"),
    (2, "bounds", [22], "values", "the first byte past the end of the allocation of 192 bytes"),
    (3, "race", [27], "hits", "thread (0,0,0) of block (1,0,0)"),
    (4, "uninitialised", [10], "values", "which nobody has written (48 times)"),
    (5, "leak", [33], None, "never given to cudaFree"),
])
def test_fault(folder, number, kind, lines, variable, words):
    """One finding, worded in CUDA's terms, and status 1."""
    result = sanitize(FAULTS, "--json", folder / "found.json", "--", str(number))
    assert result.returncode == 1, result.stdout + result.stderr
    found, = json.loads((folder / "found.json").read_text())
    assert (found["kind"], found["lines"], found["variable"]) == (kind, lines, variable)
    assert words in found["sentence"] and f"sanitize_faults.cu:{lines[0]}" in found["sentence"]
    assert result.stdout == f"{found['sentence']}\n1 fault found\n"


@only_cpu
@pytest.mark.parametrize("number, status", [(6, 2), (9, 77)])
def test_program_that_does_not_get_far(number, status):
    assert sanitize(FAULTS, "--", str(number)).returncode == status


@pytest.mark.parametrize("arguments, sentence", [
    ([], "the following arguments are required: FILE.cu"),
    (["no_such_file.cu"], "there is no file no_such_file.cu"),
    ([FAULTS, "--timeout", "0"], "--timeout takes a number above zero"),
    ([FAULTS, "--json", "no_such_folder/found.json"], "there is no such folder"),
    ([FAULTS, "--backend", "gpu"], "--backend gpu needs --program FILE"),
])
def test_bad_usage(arguments, sentence):
    result = sanitize(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in result.stderr and result.stderr.count("\n") == 1


def test_without_the_tool(folder):
    """On a card without compute-sanitizer: skipped, with the reason."""
    result = sanitize(FAULTS, "--backend", "gpu", "--program", FAULTS,
                      env={"PATH": str(folder), "CUDA_HOME": str(folder), "CUDA_PATH": ""})
    if os.path.exists("/usr/local/cuda/bin/compute-sanitizer"):
        pytest.skip("the tool is there")
    assert result.returncode == 77 and "compute-sanitizer is not found" in result.stderr


REPORT = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at clear_one_too_many(int *)+0x70 in faults.cu:22
=========     by thread (64,0,0) in block (0,0,0)
=========     Address 0x7f0000000100 is out of bounds
=========     Host Frame: main [0x1234] in faults.cu:38
========= Error: Race reported between Write access at turn(int *)+0x90 in /course/faults.cu:17
=========     and Read access at turn(int *)+0xb0 in /course/faults.cu:18 [124 hazards]
========= Barrier error detected. Divergent thread(s) in block.
=========     at 0x60 in faults.cu:12:turn(int *)
=========     by thread (16,0,0) in block (1,0,0)
========= ERROR SUMMARY: 3 errors
"""


def test_reports_of_the_tool():
    """The same objects as on the CPU."""
    found = [f for f in map(sanitize_card.finding_of, sanitize_card.blocks(REPORT)) if f]
    assert [(f.kind, f.lines, f.kernel, f.thread, f.count) for f in found] == [
        ("bounds", [22], "clear_one_too_many", "(64,0,0)", 1), ("race", [17, 18], "turn", None, 124),
        ("barrier", [12], "turn", "(16,0,0)", 1)]


def test_a_race_explains_what_nobody_wrote():
    def finding(kind, lines, variable):
        return Finding(kind, lines, "k", None, None, variable, 1, "")

    race, unwritten = finding("race", [3, 4], "tile"), finding("uninitialised", [4], "tile")
    other = finding("uninitialised", [4], "values")
    assert merged([race, unwritten, other, race]) == [race, other]


def test_lines_in_a_path_with_a_space(monkeypatch):
    text = "0x10\nscale\n/home/a b/my c.cu:12 (discriminator 3)\n0x20\nf\n/home/a b/lab.h:7\n0x30\n??\n??:?\n"
    monkeypatch.setattr(frames.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=text))
    assert sanitize_words.lines_of("a.out", [16, 32, 48]) == ({16: ("my c.cu", 12)}, {32, 48})
    assert sanitize_words.PLACE.match("/home/a b/scale.cu:9: a sentence")["line"] == "9"
    assert sanitize_card.PLACE.search("at scale(float *)+0x70 in /home/a b/scale.cu:9").groups() == ("scale.cu", "9")
