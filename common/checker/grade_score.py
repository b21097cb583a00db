"""From verdicts to points: a lab's points are shared equally by the cases that count, the same for everybody."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from . import grade_storing
from .grade_judge import Case, Verdict

DEFAULT_POINTS = 10.0


@dataclass
class Grades:
    """Everything that one grading found out; reports are made from it alone."""

    seed: int
    backend: str
    points: dict[str, float]  # of each lab that was graded
    counted: dict[str, list[str]]  # the names of the cases that count
    students: dict[str, dict[str, Verdict]]
    notes: list[str] = field(default_factory=list)
    dropped: dict[str, dict[str, str]] = field(default_factory=dict)  # lab -> the other cases, and why they do not count
    seeds: dict[str, int] = field(default_factory=dict)  # of each student's fresh input
    late: dict[str, dict[str, int]] = field(default_factory=dict)  # student -> lab -> days
    people: dict[str, list[str]] = field(default_factory=dict)  # student -> "moodle" or "canvas", and the number there
    storing: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # lab -> that of the worked solution
    alike: list[list] = field(default_factory=list)  # lab, two students, how much of their own lines is the same

    @property
    def labs(self) -> list[str]:
        return list(self.points)

    def cases(self, student: str, lab: str) -> list[Case]:
        """The cases that count, in the checker's order, as they went for the student."""
        judged = {case.name: case for case in self.students[student][lab].cases}
        reason = self.students[student][lab].sentence
        return [judged.get(name) or Case(name, False, reason) for name in self.counted[lab]]

    def passed(self, student: str, lab: str) -> int:
        return sum(case.passed for case in self.cases(student, lab))

    def score(self, student: str, lab: str) -> float:
        total = len(self.counted[lab])
        return round(self.points[lab] * self.passed(student, lab) / total, 2) if total else 0.0

    def shares(self, student: str, lab: str) -> list[float]:
        """The points of each case, rounded so that those of the passed ones add up to the score, and all to the
        points of the lab."""
        cases, passed = self.cases(student, lab), self.passed(student, lab)
        sums = [round(self.points[lab] * count / len(cases), 4) for count in range(len(cases) + 1)] if cases else []
        sums[passed:passed + 1] = [self.score(student, lab)] if cases else []
        steps = [round(after - before, 4) for before, after in zip(sums, sums[1:])]
        right, wrong = iter(steps[:passed]), iter(steps[passed:])
        return [next(right if case.passed else wrong) for case in cases]

    def total(self, student: str) -> float:
        return round(sum(self.score(student, lab) for lab in self.labs), 2)

    def sentence(self, student: str, lab: str) -> str:
        """The verdict in a line; where no case passes, with the reason that the first of them gives."""
        verdict = self.students[student][lab]
        if verdict.sentence:
            return verdict.sentence
        cases, passed = self.cases(student, lab), self.passed(student, lab)
        reason = main_reason(cases[0].message) if cases and not passed and not verdict.untouched else ""
        return f"{'as handed out, ' * verdict.untouched}{passed} of {len(cases)} cases{': ' * bool(reason)}{reason}"

    def kernels(self, student: str, lab: str) -> str:
        """How many threads store, where that is known, and what was launched."""
        verdict = self.students[student][lab]
        return "; ".join(filter(None, [grade_storing.in_words(verdict.storing, self.storing.get(lab, {})), verdict.launched]))

    @property
    def most(self) -> float:
        return round(sum(self.points.values()), 2)

    def as_json(self) -> dict:
        students = {name: {lab: verdict.as_json() for lab, verdict in verdicts.items()}
                    for name, verdicts in self.students.items()}
        return {"seed": self.seed, "backend": self.backend, "points": self.points, "counted": self.counted,
                "notes": self.notes, "students": students, "dropped": self.dropped, "seeds": self.seeds, "late": self.late,
                "people": self.people, "alike": self.alike, "storing": self.storing}

    @staticmethod
    def from_json(value: dict) -> Grades:
        students = {name: {lab: Verdict.from_json(verdict) for lab, verdict in verdicts.items()}
                    for name, verdicts in value["students"].items()}
        return Grades(**{**value, "students": students})


def main_reason(message: str) -> str:
    """The line of a failure that says most: which limit was broken, if any."""
    lines = [line.strip() for line in message.splitlines()]
    return next((line for line in lines if line.startswith("confine: ")), lines[0] if lines else "")


def named_lab(labs: list[str], word: str) -> str:
    """The lab that is called 03_x, 03, 3 or x; "" if none is."""
    return next((lab for lab in labs if word in (lab, lab.split("_")[0], lab.split("_", 1)[1], lab.split("_")[0].lstrip("0"))), "")


def points_of(labs: list[str], wish: str) -> dict[str, float]:
    """The points of each lab. `wish`: "03=20 13_matrix_product=40"; ValueError says what is wrong with it."""
    points = dict.fromkeys(labs, DEFAULT_POINTS)
    for word in wish.replace(",", " ").split():
        match = re.fullmatch(r"(\w+)=(\d+(?:\.\d+)?)", word)
        if not match:
            raise ValueError(f"points are given as 03=20, not as {word}")
        lab = named_lab(labs, match[1])
        if not lab:
            raise ValueError(f"points for {match[1]}, which is none of the labs that are graded: {', '.join(labs)}")
        points[lab] = float(match[2])
    return points


SAME = ("seed", "backend", "points", "counted", "dropped")  # of all parts of one grading


def check_same(first: Grades, other: Grades) -> None:
    """ValueError: they do not belong together."""
    for what in SAME:
        if getattr(first, what) != getattr(other, what):
            raise ValueError(f"the parts were graded with another {what}: {getattr(first, what)}, and {getattr(other, what)}")


def merged(parts: list[Grades], again: bool = False) -> Grades:
    """The grades of several gradings of one class; `again`: a later part may grade a student anew. ValueError: they do
    not belong together."""
    first = parts[0]
    whole = Grades(first.seed, first.backend, first.points, first.counted, {}, [], first.dropped)
    for part in parts:
        check_same(first, part)
        twice = whole.students.keys() & part.students.keys()
        if twice and not again:
            raise ValueError(f"{min(twice)} is in two of the parts")
        whole.students.update(part.students)
        for name in ("seeds", "late", "people", "storing"):
            getattr(whole, name).update(getattr(part, name))
        whole.alike = part.alike  # of the whole class in each part
        whole.notes += [note for note in part.notes if note not in whole.notes]
    whole.students = dict(sorted(whole.students.items()))
    return whole
