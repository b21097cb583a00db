"""Draws the figures of the handout from what the program writes, and the times from a benchmark's table.

    make build LAB=15 SOLUTION=1 BACKEND=cpu
    python3 labs/15_lagrange_interpolation/figures.py --program build/cpu/solutions/15_lagrange_interpolation/lagrange_interpolation
    make bench LAB=15 SOLUTION=1
    python3 labs/15_lagrange_interpolation/figures.py --times build/bench/15_lagrange_interpolation/results.csv
"""

import argparse
import csv
import re
import subprocess
import tempfile
from pathlib import Path

import matplotlib
import numpy

matplotlib.use("agg")
matplotlib.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3,
                            "axes.spines.top": False, "axes.spines.right": False})
from matplotlib.figure import Figure

PICTURES = Path(__file__).resolve().parent / "pictures"
POINTS = 401
AT = numpy.linspace(-1, 1, POINTS)
FUNCTIONS = {"runge": lambda x: 1 / (1 + 25 * x * x), "sign": numpy.sign}


def interpolated(program, nodes, function, degree, variant="phases"):
    """The program's values at AT."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "values.npy"
        subprocess.run([program, "--variant", variant, "--nodes", nodes, "--function", function, "--degree", str(degree),
                        "--points", str(POINTS), "--output", output], check=True, stdout=subprocess.DEVNULL)
        return numpy.load(output)


def node_places(nodes, degree):
    j = numpy.arange(degree + 1)
    return 2 * j / degree - 1 if nodes == "equispaced" else numpy.sin(numpy.pi * (2 * j - degree) / (2 * degree))


def serial(nodes, function, degree):
    """Lagrange's formula, one factor after the other, in double: what the report took MATLAB for."""
    x = node_places(nodes, degree)
    total = numpy.zeros(POINTS)
    for j, y in enumerate(FUNCTIONS[function](x)):
        others = numpy.delete(x, j)
        total += y * numpy.prod((AT[:, None] - others) / (x[j] - others), axis=1)
    return total


def draw_polynomial(axes, program, nodes, function, degree):
    axes.plot(AT, FUNCTIONS[function](AT), color="0.6", linewidth=2, label="the function")
    axes.plot(AT, interpolated(program, nodes, function, degree), color="C0", linewidth=1, label=f"n = {degree}")
    x = node_places(nodes, degree)
    axes.plot(x, FUNCTIONS[function](x), "o", color="C3", markersize=2.5, label="nodes")
    axes.set_title(f"{nodes}, n = {degree}", fontsize=9)
    axes.legend(frameon=False, fontsize=7)


def save(figure, name):
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / name, bbox_inches="tight", dpi=100)
    print(PICTURES / name)


def draw_runge(program):
    figure = Figure(figsize=(9, 5))
    for row, nodes in enumerate(("equispaced", "chebyshev")):
        for column, degree in enumerate((9, 15, 50)):
            axes = figure.add_subplot(2, 3, 3 * row + column + 1)
            draw_polynomial(axes, program, nodes, "runge", degree)
            if nodes == "equispaced" and degree == 50:
                axes.set_yscale("symlog")
    figure.tight_layout()
    save(figure, "runge.png")


def draw_sign(program):
    figure = Figure(figsize=(9, 2.6))
    for column, degree in enumerate((9, 15, 50)):
        draw_polynomial(figure.add_subplot(1, 3, column + 1), program, "chebyshev", "sign", degree)
    figure.tight_layout()
    save(figure, "sign.png")


def draw_errors(program):
    """The error of the parallel polynomial, and how far it is from the serial one's."""
    figure = Figure(figsize=(9, 2.8))
    for column, function in enumerate(("runge", "sign")):
        axes = figure.add_subplot(1, 2, column + 1)
        wanted = FUNCTIONS[function](AT)
        reference = numpy.abs(serial("chebyshev", function, 50) - wanted)
        axes.semilogy(AT, numpy.maximum(reference, 1e-18), color="0.6", linewidth=1.5, label="error, serial")
        for variant, colour in (("phases", "C0"), ("blocked", "C3")):
            error = numpy.abs(interpolated(program, "chebyshev", function, 50, variant) - wanted)
            axes.semilogy(AT, numpy.maximum(numpy.abs(error - reference), 1e-18), ".", color=colour, markersize=2,
                          label=f"difference of the errors, {variant}")
        axes.set_title(f"{function}, 51 Chebyshev points", fontsize=9)
        axes.legend(frameon=False, fontsize=7)
    figure.tight_layout()
    save(figure, "errors.png")


def draw_times(path):
    """Time against S and against n, of all variants; the report's two times beside them."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if float(row["milliseconds"]) > 0]
    figure = Figure(figsize=(9, 3.8))
    for place, (pattern, label, title) in enumerate([
            (r"^degree 31, (\d+) points", "points S", "n = 31"), (r"^degree (\d+), 100000 points", "degree n", "S = 100000")]):
        axes = figure.add_subplot(1, 2, place + 1)
        for variant in dict.fromkeys(row["variant"] for row in rows):
            found = [(re.match(pattern, row["size"]), float(row["milliseconds"])) for row in rows
                     if row["variant"] == variant]
            line = sorted((int(match[1]), time) for match, time in found if match)
            if line:
                axes.loglog(*zip(*line), marker="o", markersize=2.5, linewidth=1, label=variant)
        if place == 1:
            axes.loglog([31, 319], [132, 225], "s--", color="0.4", markersize=4, label="the report (GTX 960)")
        axes.set_xlabel(label)
        axes.set_ylabel("time in ms")
        axes.set_title(f"{title}: {rows[0]['card']}", fontsize=9)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.tight_layout()
    save(figure, "times.png")


parser = argparse.ArgumentParser(description="Draws the figures of lab 15's handout.", allow_abbrev=False)
parser.add_argument("--program", type=Path, help="the built program, which writes the values")
parser.add_argument("--times", type=Path, metavar="CSV", help="the table of make bench")
options = parser.parse_args()
if not options.program and not options.times:
    parser.error("give --program, --times or both")
if options.program:
    for draw in (draw_runge, draw_sign, draw_errors):
        draw(options.program.resolve())
if options.times:
    draw_times(options.times)
