"""Repeats the studies of the report, and draws the figures of the handout from their CSV file.

    make build LAB=14 SOLUTION=1
    python3 labs/14_gauss_jordan/figures.py --program build/gpu/solutions/14_gauss_jordan/gauss_jordan
    python3 labs/14_gauss_jordan/figures.py --data build/bench/14_gauss_jordan/study.csv

The first command measures and draws, the second one only draws.
"""

import argparse
import csv
import itertools
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import numpy

matplotlib.use("agg")
matplotlib.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3,
                            "axes.spines.top": False, "axes.spines.right": False})
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
PICTURES = Path(__file__).resolve().parent / "pictures"
RANGES, VALUES = (10, 1000, 1_000_000), (1, 1000, 1_000_000)
MARKS = {10: "o", 1000: "s", 1_000_000: "^"}
STYLES = {"float": "--", "double": "-"}


def measure(program, path):
    """The report's combinations: ranges, right-hand sides, types. Times are taken of the plain ones, each alone on
    the machine; of the others only errors are drawn, so that they may share it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    on_cpu = "gpu" not in program.parts
    sizes = (32, 64, 96, 128) if on_cpu else (128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144)

    def run(type, n, range_, value, variants):
        done = subprocess.run([program, "--type", type, "--n", str(n), "--range", str(range_), "--value", str(value),
                               "--variant", variants, "--study", path], capture_output=True, text=True, check=False)
        print(f"{type}, n = {n}, range {range_}, value {value}: {'right' if done.returncode == 0 else done.stdout + done.stderr}",
              flush=True)

    for type, n in itertools.product(("float", "double"), sizes):
        run(type, n, RANGES[0], VALUES[0], "report,tiled,team" + (",cpu" if n <= 2048 else ""))
    others = itertools.product(("float", "double"), sizes if on_cpu else (128, 256, 512, 1024), RANGES, VALUES)
    with ThreadPoolExecutor(1 if on_cpu else 8) as pool:
        for words in others:
            if words[2:] != (RANGES[0], VALUES[0]):
                pool.submit(run, *words, "report,cpu")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row.update({name: float(row[name]) for name in ("n", "range", "value", "milliseconds", "residual", "backward")})
    return rows


def line(rows, y, **wanted):
    """The points (n, y) of the rows that have these values."""
    chosen = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    points = sorted((row["n"], row[y]) for row in chosen if row[y] > 0)
    return numpy.array(points).reshape(-1, 2).T


def save(figure, name):
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / name, bbox_inches="tight", dpi=100)
    print(PICTURES / name)


def name_powers_of_two(axes):
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:.0f}")
    axes.tick_params(axis="x", labelrotation=45)
    axes.set_xlabel("n")


def draw_errors(rows):
    """The largest |b - A x| against n: the report's figures 3.1 and 4.4."""
    figure = Figure(figsize=(9, 3.8))
    for place, variant in enumerate(("cpu", "report")):
        axes = figure.add_subplot(1, 2, place + 1)
        for type, style in STYLES.items():
            for number, value in enumerate(VALUES):
                for range_ in RANGES:
                    x, y = line(rows, "residual", variant=variant, type=type, range=range_, value=value)
                    if len(x):
                        axes.loglog(x, y, style, marker=MARKS[range_], markersize=3, linewidth=0.8, color=f"C{number}",
                                    label=f"{type}, b = {value:g}" if range_ == RANGES[0] else None)
        axes.set_title(variant, fontsize=8)
        name_powers_of_two(axes)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.suptitle(f"{rows[0]['card']}: largest |b - A x|; A from 0 to 10 (circles), to 1e3 (squares), to 1e6 (triangles)", fontsize=9)
    figure.tight_layout()
    save(figure, "errors.png")


def fits(x, y):
    """Polynomials of degree 2 and 3 in least squares, each point weighted by its size."""
    return {degree: numpy.polyfit(x, y, degree, w=1 / y) for degree in (2, 3) if len(x) > degree + 1}


def draw_times(rows):
    """Time against n with the fits, and CPU against GPU: the report's figures 3.2, 3.3, 4.7 and 5.1."""
    figure = Figure(figsize=(9, 3.8))
    for place, type in enumerate(("float", "double")):
        axes = figure.add_subplot(1, 2, place + 1)
        for number, variant in enumerate(("cpu", "report", "tiled", "team")):
            x, y = line(rows, "milliseconds", variant=variant, type=type, range=RANGES[0], value=VALUES[0])
            if not len(x):
                continue
            axes.loglog(x, y, "o", markersize=3, color=f"C{number}", label=variant)
            for degree, polynomial in fits(x, y).items():
                fine = numpy.geomspace(x[0], x[-1], 100)
                axes.loglog(fine, numpy.maximum(numpy.polyval(polynomial, fine), y.min() / 10), ("--", "-")[degree == 3],
                            linewidth=0.8, color=f"C{number}")
                error = numpy.sqrt(numpy.mean((numpy.polyval(polynomial, x) / y - 1) ** 2))
                terms = ", ".join(f"{coefficient:.3g}" for coefficient in polynomial)
                print(f"{type}, {variant}: degree {degree}: {terms} (highest power first, ms), off by {100 * error:.1f} %")
        axes.set_title(f"{type}: time in ms; dashed: degree 2, solid: degree 3", fontsize=8)
        name_powers_of_two(axes)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.suptitle(rows[0]["card"], fontsize=9)
    figure.tight_layout()
    save(figure, "times.png")


def draw_memory(rows):
    """What two copies of the system take of a card's memory: the report's figure 4.8."""
    figure = Figure(figsize=(4.5, 3.2))
    axes = figure.add_subplot()
    n = numpy.geomspace(256, 131072, 200)
    for card, gigabytes in (("GTX 480, 1.5 GB", 1.5), ("H100, 80 GB", 80), ("H200, 141 GB", 141)):
        for type, size in (("float", 4), ("double", 8)):
            axes.loglog(n, numpy.minimum(100, 2 * n * n * size / gigabytes / 1e7), STYLES[type], linewidth=1,
                        label=f"{card}, {type}")
    name_powers_of_two(axes)
    axes.set_ylabel("% of the card's memory")
    axes.legend(frameon=False, fontsize=7)
    save(figure, "memory.png")


parser = argparse.ArgumentParser(description="The studies of lab 14's handout.", allow_abbrev=False)
parser.add_argument("--program", type=Path, help="the built program, which is measured")
parser.add_argument("--data", type=Path, metavar="CSV", default=ROOT / "build/bench/14_gauss_jordan/study.csv",
                    help="where the measurements go, and are drawn from")
options = parser.parse_args()
if options.program:
    measure(options.program.resolve(), options.data)
table = read(options.data)
for draw in (draw_errors, draw_times, draw_memory):
    draw(table)
