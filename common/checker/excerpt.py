"""The first thing that went wrong, out of all that make, a compiler or a checker prints."""

from __future__ import annotations

import re

# g++: file.cu:31:5: error: text      nvcc: file.cu(31): error: text
COMPILE_ERROR = re.compile(r"^(?P<file>\S[^:(]*)[:(](?P<line>\d+)\)?(?::\d+)?: (?:fatal )?error: (?P<text>.*)")
LINK_ERROR = re.compile(r"(undefined reference to|multiple definition of) .*")
VERDICT = re.compile(r"^(ok|FAIL|skip)  ")
COUNT = re.compile(r"^(\d+) of (\d+) cases (?:of \S+ )?pass")
OF_MAKE = re.compile(r"^(make(\[\d+\])?: |backend: |compiling |fresh input from )")
COMPILING_A_LAB = re.compile(r"^compiling labs/", re.MULTILINE)
MOST_LINES = 24


def without_make(output: str) -> list[str]:
    """The lines that are not make's own."""
    return [line for line in output.splitlines() if not OF_MAKE.match(line)]


def compile_error(output: str) -> str:
    """The first error in one line, `file:line: text`."""
    for line in output.splitlines():
        if match := COMPILE_ERROR.match(line):
            return f"{match['file'].rsplit('/', 1)[-1]}:{match['line']}: {match['text']}"
    if match := LINK_ERROR.search(output):
        return match[0]
    lines = [line.strip() for line in without_make(output) if line.strip()]
    return lines[0] if lines else refusal(output)


def refusal(output: str) -> str:
    """What make itself says before it stops, or what it points to: the first line before that."""
    sentences = re.findall(r"\*\*\* (.*?)\.?(?:  Stop\.)?$", output, re.MULTILINE)
    said = [line.strip() for line in without_make(output) if line.strip() and " *** " not in line]
    if said and (not sentences or sentences[0].startswith("[") or sentences[0].endswith("see above")):
        return said[0]
    return sentences[0] if sentences else "make fails and says nothing"


def was_ended(output: str) -> bool:
    """Did somebody, or a machine without memory, end the compiler? That says nothing about the source."""
    return re.search(r"\] (Terminated|Killed|Interrupt|Hangup)$|(Killed|Terminated) signal terminated program",
                     output, re.MULTILINE) is not None


def first_compile_error(output: str) -> list[str]:
    """The lines of the first error, up to where the next one begins."""
    lines = without_make(output)
    errors = [i for i, line in enumerate(lines) if COMPILE_ERROR.match(line)]
    if len(errors) > 1:
        lines = lines[:errors[1]]
    return lines[:MOST_LINES] if lines else [refusal(output)]


def first_failure(output: str) -> list[str]:
    """The lines of the first case that fails."""
    lines = output.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith("FAIL  ")), None)
    if start is None:
        return []
    length = next((i for i, line in enumerate(lines[start + 1:], 1) if not line.startswith("      ")),
                  len(lines) - start)
    return lines[start:start + length]


def count(output: str) -> str:
    """The checker's last line, or nothing if it did not come so far."""
    return next((line for line in reversed(output.splitlines()) if COUNT.match(line)), "")


def so_far(output: str) -> str:
    """How far a build and a check have come: what is compiled, or how many cases are right."""
    lines = output.splitlines()
    if any(VERDICT.match(line) for line in lines):
        right = sum(line.startswith("ok  ") for line in lines)
        return f"{right} {'case is' if right == 1 else 'cases are'} right so far"
    last = next((line for line in reversed(lines) if line.startswith(("compiling ", "fresh input "))), "")
    return last if last.startswith("compiling ") else "the first case runs"
