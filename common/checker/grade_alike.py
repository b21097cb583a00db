"""Which submissions have the same sources, or nearly: what a student has added to the exercise is compared, line by line."""

from __future__ import annotations

import difflib
from itertools import combinations

from .grade_collect import Work

ENOUGH_LINES = 8  # of one's own; fewer are alike by themselves
NEARLY = 0.9
MOST_LINES = 3000  # different ones that are compared; no lab has as many
WORKED_SOLUTION = "the worked solution"


def own_lines(work: Work, handed_out: Work) -> tuple[str, ...]:
    """The lines that are not in the exercise, without the white space around them."""
    before = {line.strip() for _, text in handed_out.files for line in text.decode("utf-8", "replace").splitlines()}
    lines = [line.strip() for _, text in work.files for line in text.decode("utf-8", "replace").splitlines()]
    return tuple(line for line in lines if line.strip("{}();") and line not in before)


def alike(works: dict[str, Work], handed_out: Work) -> list[tuple[str, str, float]]:
    """Pairs of names and how much of their own lines is the same, 1 for all. Of those with the same lines each is
    named beside the first."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, work in works.items():
        lines = own_lines(work, handed_out)
        if len(lines) >= ENOUGH_LINES:
            groups.setdefault(lines, []).append(name)
    pairs = [(names[0], other, 1.0) for names in groups.values() for other in names[1:]]
    # Each line once: a thousand times the same one would take a thousand times as long.
    distinct = [(list(dict.fromkeys(lines))[:MOST_LINES], names) for lines, names in groups.items()]
    for (first, one), (second, two) in combinations(distinct, 2):
        matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) >= NEARLY and matcher.ratio() >= NEARLY:
            pairs.append((one[0], two[0], round(matcher.ratio(), 3)))
    return pairs
