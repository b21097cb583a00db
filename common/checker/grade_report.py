"""Writes grades: for each student results.json (Gradescope) and results.xml (JUnit), for all of them
grades.csv, grades.html and grades.json.
"""

from __future__ import annotations

import csv
import html
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

from . import grade_feedback
from .grade_feedback import MESSAGE_LIMIT
from .grade_score import Grades
from .terminal import clean, one_line

SHOWN_FAILURES = 3  # in the table for the teacher; the student's own file has them all


def write_all(grades: Grades, folder: Path) -> None:
    shutil.rmtree(folder / "students", ignore_errors=True)
    for student in grades.students:
        own = folder / "students" / student
        own.mkdir(parents=True, exist_ok=True)
        (own / "results.json").write_text(json.dumps(gradescope(grades, student), indent=2) + "\n", encoding="utf-8")
        ElementTree.ElementTree(junit(grades, student)).write(own / "results.xml", "utf-8", xml_declaration=True)
        (own / "feedback.txt").write_text(grade_feedback.text(grades, student), encoding="utf-8")
        (own / "feedback.html").write_text(grade_feedback.page(grades, student), encoding="utf-8")
    for name in ("moodle.csv", "canvas.csv", "alike.csv"):
        (folder / name).unlink(missing_ok=True)  # of a grading before this one
    for name, rows in tables(grades).items():
        with open(folder / name, "w", newline="", encoding="utf-8-sig") as file:  # with the mark by which Excel knows UTF-8
            csv.writer(file, lineterminator="\n").writerows(rows)
    (folder / "grades.html").write_text(page(grades), encoding="utf-8")
    (folder / "grades.json").write_text(json.dumps(grades.as_json(), indent=1) + "\n", encoding="utf-8")


# For the student


def gradescope(grades: Grades, student: str) -> dict:
    """The form of results.json that Gradescope reads. Points are given to each case, not to the lab."""
    tests = []
    for lab in grades.labs:
        verdict = grades.students[student][lab]
        label = lab.replace("_", " ")
        if not verdict.cases:
            tests.append({"name": f"{label}: {clean(verdict.sentence)}", "score": 0, "max_score": grades.points[lab],
                          "status": "failed", "output": clean(verdict.detail or verdict.sentence)[:MESSAGE_LIMIT]})
            continue
        for case, share in zip(grades.cases(student, lab), grades.shares(student, lab)):
            tests.append({"name": f"{label}: {clean(case.name)}", "score": share if case.passed else 0,
                          "max_score": share, "status": "passed" if case.passed else "failed",
                          "output": clean(case.message)[:MESSAGE_LIMIT]})
        tests += [{"name": f"{label}: {clean(name)}", "score": 0, "max_score": 0, "output": clean(reason)[:MESSAGE_LIMIT]}
                  for name, reason in grades.dropped.get(lab, {}).items()]
    lines = [f"{lab}: {clean(grades.sentence(student, lab))}, {grades.score(student, lab):g} of "
             f"{grades.points[lab]:g} points" for lab in grades.labs]
    return {"score": grades.total(student), "output": "\n".join(lines), "visibility": "visible",
            "stdout_visibility": "hidden", "tests": tests}


def junit(grades: Grades, student: str) -> ElementTree.Element:
    top = ElementTree.Element("testsuites", name=clean(student))
    for lab in grades.labs:
        verdict, cases = grades.students[student][lab], grades.cases(student, lab)
        failures = sum(not case.passed for case in cases)
        suite = ElementTree.SubElement(top, "testsuite", name=lab, tests=str(len(cases)), failures=str(failures),
                                       errors="0", skipped="0")
        for case in cases:
            element = ElementTree.SubElement(suite, "testcase", classname=lab, name=clean(case.name))
            if not case.passed:
                text = clean(case.message or verdict.detail)[:MESSAGE_LIMIT]
                failure = ElementTree.SubElement(element, "failure", message=text.split("\n", 1)[0])
                failure.text = text
    return top


# For the teacher


def plain_cell(text: str) -> str:
    """A name that a spreadsheet will not take for a formula."""
    text = one_line(text)
    return "'" + text if text.startswith(("=", "+", "-", "@")) else text


def tables(grades: Grades) -> dict[str, list[list[str]]]:
    """File -> rows: the teacher's own, and those that Moodle and Canvas take in, where their names were there."""
    made = {"grades.csv": own_table(grades)}
    systems = {system for system, _ in grades.people.values()}
    if "moodle" in systems:
        made["moodle.csv"] = [["Identifier", "Full name", "Grade", "Feedback comments"]] + [
            [f"Participant {number}", plain_cell(student), f"{grades.total(student):g}", plain_cell(summary(grades, student))]
            for student, (system, number) in grades.people.items() if system == "moodle"]
    if "canvas" in systems:
        made["canvas.csv"] = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *grades.labs]] + [
            [plain_cell(student), number, "", "", "", *(f"{grades.score(student, lab):g}" for lab in grades.labs)]
            for student, (system, number) in grades.people.items() if system == "canvas"]
    if grades.alike:
        made["alike.csv"] = [["lab", "student", "other", "same"]] + [
            [lab, plain_cell(one), plain_cell(other), f"{same:g}"] for lab, one, other, same in grades.alike]
    return made


def summary(grades: Grades, student: str) -> str:
    return "; ".join(f"{lab}: {grades.score(student, lab):g} of {grades.points[lab]:g}, {grades.sentence(student, lab)}"
                     for lab in grades.labs)


def own_table(grades: Grades) -> list[list[str]]:
    """One line a student: the total, then for each lab the score, what was found, the days late, and what was launched."""
    rows = [["student", "total", "of", *(word for lab in grades.labs
                                         for word in (lab, f"{lab} verdict", f"{lab} days late", f"{lab} kernels"))]]
    for student in grades.students:
        cells = [[f"{grades.score(student, lab):g}", plain_cell(grades.sentence(student, lab)),
                  str(grades.late.get(student, {}).get(lab, 0)), plain_cell(grades.kernels(student, lab))] for lab in grades.labs]
        rows.append([plain_cell(student), f"{grades.total(student):g}", f"{grades.most:g}", *(word for cell in cells for word in cell)])
    return rows


STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em; color: #222 }
table { border-collapse: collapse } th, td { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: right }
th { position: sticky; top: 0; background: #fff } th:first-child, td:first-child { text-align: left }
td small { display: block; color: #555 } pre { background: #f6f6f6; padding: .5em 1em; overflow: auto }
.full { background: #e3f4e3 } .part { background: #fdf3d8 } .none { background: #fbe3e1 }"""


def shade(score: float, most: float) -> str:
    return "full" if score >= most > 0 else "part" if score > 0 else "none"


def cell(grades: Grades, student: str, lab: str) -> str:
    score, late = grades.score(student, lab), grades.late.get(student, {}).get(lab, 0)
    days = f", {late} day{'s' * (late != 1)} late" if late else ""
    return (f'<td class="{shade(score, grades.points[lab])}">{score:g}'
            f"<small>{html.escape(clean(grades.sentence(student, lab)))}{days}</small>"
            f"<small>{html.escape(clean(grades.kernels(student, lab)))}</small></td>")


def explanation(grades: Grades, student: str) -> str:
    """What went wrong, lab by lab, folded up."""
    parts = []
    for lab in grades.labs:
        verdict = grades.students[student][lab]
        failing = [case for case in grades.cases(student, lab) if not case.passed]
        if not failing:
            continue
        if verdict.cases:
            texts = [f"FAIL  {case.name}\n{case.message}" for case in failing[:SHOWN_FAILURES]]
            texts += [f"... and {len(failing) - SHOWN_FAILURES} more"] if len(failing) > SHOWN_FAILURES else []
        else:
            texts = [verdict.detail or verdict.sentence]
        text = html.escape(clean("\n".join(texts))[:MESSAGE_LIMIT])
        parts.append(f"<h4>{lab}: {html.escape(clean(grades.sentence(student, lab)))}</h4><pre>{text}</pre>")
    if not parts:
        return ""
    return f"<details><summary>{html.escape(clean(student))}</summary>{''.join(parts)}</details>\n"


def page(grades: Grades) -> str:
    heads = "".join(f"<th>{lab.replace('_', ' ', 1)}<small> of {grades.points[lab]:g}</small></th>" for lab in grades.labs)
    rows = "".join(f"<tr><td>{html.escape(clean(student))}</td>"
                   f'<td class="{shade(grades.total(student), grades.most)}">{grades.total(student):g}</td>'
                   f"{''.join(cell(grades, student, lab) for lab in grades.labs)}</tr>\n"
                   for student in grades.students)
    notes = "".join(f"<li>{html.escape(clean(note))}</li>" for note in grades.notes)
    pairs = "".join(f"<li>{lab}: {html.escape(clean(one))} and {html.escape(clean(other))}: {same:.0%}</li>"
                    for lab, one, other, same in grades.alike)
    alike = f"<h2>Sources that are alike</h2><p>Of what was added to the exercise:</p><ul>{pairs}</ul>\n" if pairs else ""
    details = "".join(explanation(grades, student) for student in grades.students)
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Grades</title><style>{STYLE}</style>\n'
            f"<h1>Grades</h1><p>{len(grades.students)} submissions, backend {grades.backend}, "
            f"fresh input from seed {grades.seed}.</p><ul>{notes}</ul>\n"
            f"<table><tr><th>student</th><th>total<small> of {grades.most:g}</small></th>{heads}</tr>\n{rows}</table>\n"
            f"{alike}<h2>What went wrong</h2>\n{details}</html>\n")
