"""The corpus of tests/teaching: small programs, each right or with one fault that is to be named at its line.

`make sanitize` must find the fault of each faulty program, as its first line says, and nothing in a right
one. Plain CPU mode must name the faults that it always looks for, and let the right ones end well.

The programs share one build (teaching/corpus.py). One is built alone as well.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import farm
from teaching import corpus
from teaching.corpus import EXAMPLES, FAULTY, RIGHT

# What stops any program in CPU mode.
ALWAYS_NAMED = {"barrier", "warp", "host-pointer", "device-pointer"}
# Plain CPU mode looks at the arguments of a launch, not inside them, nor at host code; lanes that are not there keep none waiting.
UNSEEN = ("structure_with_host_pointer", "shuffle_in_condition", "shuffle_beyond_block", "vote_in_condition",
          "device_variable_read_by_host")
ALONE = ["stencil_in_place"]
only_cpu = pytest.mark.skipif(farm.BACKEND != "cpu", reason="on a card: bash tests/on_card.sh teaching")


# --------------------------------------------------------------------------- make sanitize


def sanitize(source: Path, *arguments) -> tuple[int, list[dict], str]:
    """Status, findings and output of one call of the command."""
    report = farm.SESSION / "teaching" / ("-".join([source.stem, *arguments[:1]]) + ".json")
    report.parent.mkdir(parents=True, exist_ok=True)
    result = farm.run(sys.executable, "-B", "-m", "checker.sanitize", source, "--json", report,
                      *(["--", *arguments] if arguments else []),
                      env={"PYTHONPATH": str(farm.ROOT / "common"), "CUDA_CPU_DEVICE": ""}, timeout=300)
    output = result.stdout + result.stderr
    assert report.is_file(), f"no report was written; status {result.returncode}:\n{output}"
    found = json.loads(report.read_text(encoding="utf-8"))
    return result.returncode, found, output


def right_ones() -> tuple[int, list[dict], str]:
    """The right programs, one after the other in one run. It comes first, and builds."""
    return sanitize(farm.call(corpus.source)[0], *(name for name in RIGHT if name not in ALONE))


def sanitized(name: str) -> tuple[int, list[dict], str]:
    """What the command says of one program, its lines counted as in the program's own file."""
    if name in ALONE:
        return sanitize(EXAMPLES[name].source)
    try:
        together = farm.call(right_ones)
    except AssertionError:
        raise AssertionError("the corpus cannot be run: see test_right_ones_together") from None
    if name in RIGHT and together[:2] == (0, []):
        return together
    source, before = farm.call(corpus.source)
    status, findings, output = sanitize(source, name)
    for finding in findings:
        finding["lines"] = [line - before[name] for line in finding["lines"]]
    return status, findings, output


@only_cpu
def test_right_ones_together():
    status, findings, output = farm.call(right_ones)
    assert (status, findings) == (0, []), output


@only_cpu
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.ahead(sanitized, name)) for name in EXAMPLES])
def test_sanitize(name):
    """The fault at its line and nothing else; of a right program nothing."""
    status, findings, output = farm.call(sanitized, name)
    said = sorted({(finding["kind"], tuple(sorted(set(finding["lines"])))) for finding in findings})
    expected = [(EXAMPLES[name].kind, EXAMPLES[name].lines)] if EXAMPLES[name].faulty else []
    assert said == expected, output
    assert status == (1 if expected else 0), output


@only_cpu
@pytest.mark.parametrize("name", sorted(FAULTY.keys() & set(ALONE)))
def test_sentence_names_the_line(name):
    """What the learner reads is the place in the file, as an editor takes it."""
    _, findings, output = farm.call(sanitized, name)
    assert any(f"{name}.cu:{line}" in findings[0]["sentence"] for line in EXAMPLES[name].lines), findings
    assert findings[0]["sentence"] in output


# --------------------------------------------------------------------------- plain CPU mode


def plain_program() -> Path:
    """The corpus as any program is built, in less time: what is judged here does not hang on -O3."""
    source, _ = farm.call(corpus.source)
    return farm.build(source, "teaching", "cpu", False, "-O1")


def plain(name: str):
    return farm.run(farm.call(plain_program), name, env={"CUDA_CPU_DEVICE": ""}, timeout=20)


@only_cpu
@pytest.mark.parametrize("name", RIGHT)
def test_right_one_ends_well(name):
    result = plain(name)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@only_cpu
@pytest.mark.parametrize("name", [name for name in FAULTY if FAULTY[name].kind in ALWAYS_NAMED and name not in UNSEEN])
def test_always_named(name):
    """One sentence with a line that is expected, and status 1, without make sanitize."""
    _, before = farm.call(corpus.source)
    result = plain(name)
    found = re.match(r"(?:.*/)?corpus\.cu:(\d+): ", result.stderr)
    assert found and int(found[1]) - before[name] in EXAMPLES[name].lines, result.stderr
    assert result.returncode == 1


# --------------------------------------------------------------------------- the corpus itself


def test_corpus():
    """About half of the programs are right, and every kind of fault is among the others."""
    assert len(FAULTY) >= 24 and len(RIGHT) >= 24
    assert {example.kind for example in FAULTY.values()} == corpus.KINDS


@pytest.mark.parametrize("name", EXAMPLES)
def test_first_lines(name):
    """One or two lines say what the program shows, and the lines of its fault are there."""
    lines = EXAMPLES[name].text.splitlines()
    words = next(i for i, line in enumerate(lines[1:]) if not line.startswith("// "))
    assert words in (1, 2) and lines[words + 1] == ""
    assert bool(EXAMPLES[name].lines) == EXAMPLES[name].faulty
    assert all(lines[line - 1].strip() for line in EXAMPLES[name].lines)
