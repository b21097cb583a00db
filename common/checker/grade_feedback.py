"""What a student gets to read: feedback.txt and feedback.html, about nobody else."""

from __future__ import annotations

import html
from dataclasses import dataclass

from .grade_score import Grades
from .terminal import clean

MESSAGE_LIMIT = 4000
STYLE = ("body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; color: #222 } "
         "pre { background: #f6f6f6; padding: .5em 1em; overflow: auto; white-space: pre-wrap }")


@dataclass(frozen=True)
class Part:
    """What is said of one lab."""

    title: str
    notes: list[str]
    failures: list[tuple[str, str]]  # case and explanation


def part(grades: Grades, student: str, lab: str) -> Part:
    verdict = grades.students[student][lab]
    number = lab.split("_")[0]
    title = f"{lab}: {grades.score(student, lab):g} of {grades.points[lab]:g} points, {grades.sentence(student, lab)}"
    late = grades.late.get(student, {}).get(lab, 0)
    notes = [f"handed in {late} day{'s' * (late != 1)} late"] if late else []
    notes += [f"'{name}' {reason}" for name, reason in grades.dropped.get(lab, {}).items()]
    if not verdict.cases:
        return Part(title, notes, [("", verdict.detail or verdict.sentence)])
    if any(case.fresh and not case.passed for case in verdict.cases) and student in grades.seeds:
        notes.append(f"cases with fresh input: make check LAB={number} ARGS=\"--seed {grades.seeds[student]}\" has the same")
    return Part(title, notes, [(case.name, case.message) for case in grades.cases(student, lab) if not case.passed])


def text(grades: Grades, student: str) -> str:
    lines = [f"{student}: {grades.total(student):g} of {grades.most:g} points"]
    for one in (part(grades, student, lab) for lab in grades.labs):
        lines += ["", one.title, *(f"  {note}" for note in one.notes)]
        for name, message in one.failures:
            lines += [f"FAIL  {name}"] if name else []
            lines += [f"      {line}" for line in message[:MESSAGE_LIMIT].splitlines()]
    return "\n".join(clean(line) for line in lines) + "\n"


def page(grades: Grades, student: str) -> str:
    def escaped(words: str) -> str:
        return html.escape(clean(words))

    parts = []
    for one in (part(grades, student, lab) for lab in grades.labs):
        parts += [f"<h2>{escaped(one.title)}</h2>", *(f"<p>{escaped(note)}</p>" for note in one.notes)]
        parts += [f"<h3>{escaped(name)}</h3>" * bool(name) + f"<pre>{escaped(message[:MESSAGE_LIMIT])}</pre>"
                  for name, message in one.failures]
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escaped(student)}</title><style>{STYLE}</style>\n'
            f"<h1>{escaped(student)}: {grades.total(student):g} of {grades.most:g} points</h1>\n" + "\n".join(parts) + "</html>\n")
