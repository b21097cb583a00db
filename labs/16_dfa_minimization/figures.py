"""Draws the automata of the handout.

    make build LAB=16 SOLUTION=1 BACKEND=cpu
    python3 labs/16_dfa_minimization/figures.py --program build/cpu/solutions/16_dfa_minimization/dfa_minimization
"""

import argparse
import math
import subprocess
from pathlib import Path

import matplotlib
import numpy

matplotlib.use("agg")
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

import automata

PICTURES = Path(__file__).resolve().parent / "pictures"
COLOURS = ["#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5", "#d9d9d9"]
RADIUS = 0.28


def made_by(program, *words):
    return automata.read(subprocess.run([program, *words, "pass", "encode"], check=True, capture_output=True, text=True).stdout)


def arrow(axes, start, end, bend, label):
    """From rim to rim, bent to the right; the label stands beside its middle."""
    (x0, y0), (x1, y1) = start, end
    axes.add_patch(FancyArrowPatch(start, end, connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>", mutation_scale=9,
                                   shrinkA=RADIUS * 50, shrinkB=RADIUS * 50, linewidth=0.8, color="0.3"))
    length = math.hypot(x1 - x0, y1 - y0)
    off = bend * length / 2 + math.copysign(0.13, bend)
    axes.text((x0 + x1) / 2 + off * (y1 - y0) / length, (y0 + y1) / 2 - off * (x1 - x0) / length, label, fontsize=8,
              ha="center", va="center")


def loop(axes, place, label, up):
    """From a state to itself, above or below it."""
    x, y = place
    side = 1 if up else -1
    axes.add_patch(FancyArrowPatch((x - 0.12, y + side * RADIUS * 0.9), (x + 0.12, y + side * RADIUS * 0.9),
                                   connectionstyle=f"arc3,rad={-side * 2.2}", arrowstyle="-|>", mutation_scale=8,
                                   linewidth=0.8, color="0.3"))
    axes.text(x, y + side * 0.68, label, fontsize=8, ha="center", va="center")


def draw(axes, automaton, places, classes, title, below=(), bends=None):
    """States at their places, coloured by class. `below`: whose loops hang down. `bends`: of single arrows."""
    bends = bends or {}
    for state, place in enumerate(places):
        targets = {}
        for name, target in zip(automaton.names, automaton.next[:, state]):
            targets.setdefault(int(target), []).append(name)
        for target, names in targets.items():
            if target == state:
                loop(axes, place, ", ".join(names), state not in below)
            else:
                arrow(axes, place, places[target], bends.get((state, target), 0.18), ", ".join(names))
        axes.add_patch(Circle(place, RADIUS, facecolor=COLOURS[classes[state] % len(COLOURS)], edgecolor="0.2", zorder=3))
        if automaton.final[state]:
            axes.add_patch(Circle(place, RADIUS * 0.8, facecolor="none", edgecolor="0.2", zorder=4))
        axes.text(*place, str(state), fontsize=8, ha="center", va="center", zorder=5)
    x, y = places[automaton.start]
    axes.add_patch(FancyArrowPatch((x - 0.75, y), (x - RADIUS, y), arrowstyle="-|>", mutation_scale=9, linewidth=0.8))
    xs, ys = zip(*places)
    axes.set_xlim(min(xs) - 0.9, max(xs) + 0.6)
    axes.set_ylim(min(ys) - 0.9, max(ys) + 0.9)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, fontsize=9)


def save(figure, name):
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / name, bbox_inches="tight", dpi=110)
    print(PICTURES / name)


def cycle_places(n):
    """B_n: the cycle of 2n around, clockwise from the left, and the n sinks inside."""
    at = lambda radius, angle: (-radius * math.cos(angle), radius * math.sin(angle))
    around = [at(0.62 * n, math.pi * i / n) for i in range(2 * n)]
    return around + [at(0.22 * n, math.pi * (2 * i + 0.5) / n) for i in range(n)]


def draw_best_case(program):
    figure = Figure(figsize=(9, 2.6))
    three = made_by(program, "best-case", "3", "2")
    places = [(i // 3 * 3.2 + (i % 3) * 1.5 - (0.75 if i % 3 == 2 else 0), -1.5 if i % 3 == 2 else 0) for i in range(9)]
    bends = {(7, 0): 0.12}
    draw(figure.add_axes([0, 0, 0.68, 1]), three, places, automata.classes_of(three), "$A_3$: nine states", below={2, 5, 8}, bends=bends)
    one = automata.minimal(three)
    draw(figure.add_axes([0.72, 0, 0.26, 1]), one, places[:3], range(3), "minimal: three", below={2})
    save(figure, "best_case.png")


def keeping_colours(classes, finer):
    """The finer partition, in which the largest part of a class keeps its number."""
    kept, fresh = classes.copy(), classes.max() + 1
    for label in range(fresh):
        parts = sorted(numpy.unique(finer[classes == label]), key=lambda part: -(finer == part).sum())
        for part in parts[1:]:
            kept[finer == part] = fresh
            fresh += 1
    return kept


def draw_rounds(program):
    """B_3 before the first round, and after some: the classes as colours."""
    figure = Figure(figsize=(9.5, 5.6))
    automaton = made_by(program, "worst-case", "3", "2")
    classes = automata.by_lowest(automaton.final)
    for place in range(6):
        draw(figure.add_subplot(2, 3, place + 1), automaton, cycle_places(3), classes,
             f"after round {place}: {classes.max() + 1} classes" if place else "at the beginning: 2 classes",
             below={6, 7}, bends={(0, 6): -0.1, (2, 7): -0.1, (4, 8): -0.1, (1, 6): 0.1, (3, 7): 0.1, (5, 8): 0.1})
        key = classes
        for next in automaton.next:
            key = automata.by_lowest(key * 100 + classes[next])
        classes = keeping_colours(classes, key)
    figure.tight_layout()
    save(figure, "rounds.png")


def draw_two_words():
    words = automata.minimal(automata.read("0 1 a\n1 2 b\n2 3 c\n3 4 b\n2\n4\n"))
    places = {"": (0, 0), "a": (1.6, 0), "ab": (3.2, 0), "abc": (4.8, 0), "abcb": (6.4, 0), "b": (3.2, -2.3)}
    where = [None] * words.states
    for word, place in places.items():
        state = 0
        for letter in word:
            state = words.next[words.names.index(letter), state]
        where[state] = place
    figure = Figure(figsize=(7, 2.8))
    draw(figure.add_subplot(), words, where, range(6), "{ab, abcb} over a, b, c: six states, one of them a sink",
         below={words.next[1, 0]}, bends={(s, words.next[1, 0]): 0.05 for s in range(6)})
    save(figure, "two_words.png")


parser = argparse.ArgumentParser(description="Draws the figures of lab 16's handout.", allow_abbrev=False)
parser.add_argument("--program", type=Path, required=True, help="the built program, which makes the automata")
program = parser.parse_args().program.resolve()
draw_best_case(program)
draw_rounds(program)
draw_two_words()
