"""Draws the figures of the handout from what the program writes.

    make build LAB=15 SOLUTION=1 BACKEND=cpu
    python3 labs/15_lagrange_interpolation/figures.py --program build/cpu/solutions/15_lagrange_interpolation/lagrange_interpolation
"""

import argparse
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


parser = argparse.ArgumentParser(description="Draws the figures of lab 15's handout.", allow_abbrev=False)
parser.add_argument("--program", type=Path, required=True, help="the built program, which writes the values")
program = parser.parse_args().program.resolve()
for draw in (draw_runge, draw_sign, draw_errors):
    draw(program)
