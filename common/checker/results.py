"""Writes docs/results.md between its markers, and the plots beside it: `make results`.

Each folder docs/results/NN_name holds what a card has said of a lab, as the lab's program writes it:
    results.csv   what `make bench` has measured
    handout.csv   figures that so far stand in the lab's handout only; of rows that were measured twice
                  the later counts
    notes.csv     what was measured for the comparison with the lecture notes alone, maybe on another card;
                  the two files above count more
Which of them are the page's lines is said by the lab's own bench.py (Benchmark.headline). So a new
lab appears here when its folder does. docs/results/notes.csv holds the lecture notes' figures.
    exit status: 0 written, or as it should be; 1 it is not, or a file is unfit; 2 bad usage
"""

from __future__ import annotations

import csv
import datetime
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .benchmark import latest, markdown, number, percent, read_rows, unique
from .exercises import ROOT
from .usage import Parser

BEGIN, END = "<!-- figures:begin -->\n", "<!-- figures:end -->\n"
# What a card's arithmetic can reach in all, in 1e12 a second, at the nominal clock of its data sheet:
# operations, of which a fused multiply-add is two, or instructions.
HOPPER = {"float": 66.9, "double": 33.5, "double, tensor cores": 66.9, "instructions on doubles": 16.7}
CARDS = {
    "NVIDIA H100 80GB HBM3": HOPPER,
    "NVIDIA H200": HOPPER,
    "NVIDIA A100-SXM4-80GB": {"float": 19.5, "double": 9.7, "double, tensor cores": 19.5, "instructions on doubles": 4.9},
    "Tesla T4": {"float": 8.1, "double": 0.25, "instructions on doubles": 0.13},
}


@dataclass(frozen=True)
class Measured:
    """A lab with figures."""

    name: str  # 05_rgb_to_gray
    folder: Path
    lines: list[dict]  # as Benchmark.chosen gives them

    @property
    def page(self) -> str:
        return f"results/{self.name}/results.md"

    @property
    def handout(self) -> str:
        return f"../labs/{self.name}/README.md#figures"

    def plots(self) -> list[tuple[str, str]]:
        """(caption, file) of what the lab's page shows."""
        page = self.folder / "results.md"
        return re.findall(r"^!\[(.*)\]\((.*)\)$", page.read_text(encoding="utf-8"), re.MULTILINE) if page.exists() else []


# --- what there is ------------------------------------------------------------------------------


def files_of(folder: Path) -> list[Path]:
    return [path for path in (folder / "results.csv", folder / "handout.csv") if path.exists()]


def bench(course: Path, name: str, *words) -> str:
    """What a lab's bench.py prints; it has to end well."""
    program = course / "labs" / name / "bench.py"
    if not program.is_file():
        sys.exit(f"docs/results/{name} has figures, but there is no labs/{name}/bench.py to say which count")
    result = subprocess.run([sys.executable, "-B", program, *words], text=True, capture_output=True, check=False,
                            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])})
    sys.stderr.write(result.stderr)
    if result.returncode != 0:
        sys.exit(f"labs/{name}/bench.py failed with status {result.returncode} on the figures in docs/results/{name}")
    return result.stdout


def measured_lab(course: Path, folder: Path) -> Measured:
    lines = json.loads(bench(course, folder.name, "--headlines", "--data", *files_of(folder)))
    for line in lines:
        if "CPU mode" in line["card"]:
            sys.exit(f"docs/results/{folder.name} was measured in CPU mode, and this page is about cards: measure it on one")
    return Measured(folder.name, folder, lines)


def measured_labs(course: Path) -> list[Measured]:
    folders = [folder for folder in sorted((course / "docs/results").iterdir()) if folder.is_dir() and files_of(folder)]
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda folder: measured_lab(course, folder), folders))


# --- the table ----------------------------------------------------------------------------------


def short(card: str) -> str:
    return card.removeprefix("NVIDIA ")


def day(date: str) -> str:
    moment = datetime.date.fromisoformat(date[:10])
    return f"{moment.day} {moment:%b %Y}"


def speed(line: dict) -> str:
    if line["limit"] == "copy":
        return f", {line['GB/s']:.0f} GB/s" if line["GB/s"] else ""
    unit = "T instructions/s" if "instructions" in line["limit"] else "TFLOP/s"
    return f", {line['GFLOP/s'] / 1000:.1f} {unit}" if line["GFLOP/s"] and line["limit"] else ""


def share(line: dict) -> float:
    """Of its limit, 1 for all of it; 0 where there is none, or where it is not known."""
    if line["limit"] == "copy":
        return line["GB/s"] / line["copy"] if line["copy"] else 0
    peak = CARDS.get(line["card"], {}).get(line["limit"], 0)
    return line["GFLOP/s"] / 1000 / peak if peak else 0


def limit(line: dict) -> str:
    if not share(line):
        return "-"
    what = {"copy": "a copy", "float": "the arithmetic"}.get(line["limit"], f"the arithmetic ({line['limit']})")
    return f"{percent(share(line), 1)} of {what}"


def others(line: dict) -> str:
    return "; ".join(f"{name} {time / line['milliseconds']:.3g} x" for name, time in line["against"]) or "-"


def table(labs: list[Measured]) -> str:
    lines = [["lab", "what", "fastest", "time", "of the limit", "others take", "card", "measured"], ["---"] * 8]
    for lab in labs:
        for line in lab.lines:
            target = lab.handout if line["file"] == "handout.csv" else lab.page
            lines.append([f"[{lab.name.replace('_', ' ', 1)}]({target})", line["what"], line["variant"],
                          f"{number(line['milliseconds'])} ms{speed(line)}", limit(line), others(line),
                          short(line["card"]), day(line["date"])])
    return markdown(lines)


# --- the lecture notes beside ours ----------------------------------------------------------------


def notes_beside_ours(course: Path) -> list[dict]:
    """The notes' figures; each with our row of the same lab, size, variant and block, if there is one."""
    path = course / "docs/results/notes.csv"
    if not path.exists():
        return []
    ours: dict[tuple, dict] = {}
    with open(path, newline="", encoding="utf-8") as file:
        notes = list(csv.DictReader(file))
    for name in unique(row["lab"] for row in notes):
        folder = course / "docs/results" / name
        for part in ([folder / "notes.csv"], files_of(folder)):
            for row in latest(row for file in part if file.exists() for row in read_rows(file)):
                ours[name, row["size"], row["variant"], row["card"] if row["variant"] == "cpu" else row["block"]] = row
    for row in notes:
        row["milliseconds"] = float(row["milliseconds"])
        row["speed-up"] = float(row["processor_milliseconds"]) / row["milliseconds"]
        row["ours"] = ours.get((row["lab"], row["size"], row["variant"], row["block"]))
        row["our processor"] = row["ours"] and ours.get((row["lab"], row["size"], "cpu", row["ours"]["card"]))
    return notes


def notes_table(notes: list[dict]) -> str:
    cards = unique(row["ours"]["card"] for row in notes if row["ours"])
    lines = [["lab", "size", "variant, block", "the notes", "speed-up", "ours", "speed-up", "the notes / ours"],
             ["---", "---", "---", *["---:"] * 5]]
    for row in notes:
        mine, processor = row["ours"], row["our processor"]
        gain = f"{processor['milliseconds'] / mine['milliseconds']:.0f} x" if mine and processor else "-"
        card = f" ({short(mine['card'])})" if mine and len(cards) > 1 else ""
        lines.append([row["lab"][:2], row["size"].removesuffix(" elements"), f"{row['variant']}, {row['block']}",
                      f"{row['milliseconds']:g} ms ({row['card']})", f"{row['speed-up']:.3g} x",
                      f"{number(mine['milliseconds'])} ms{card}" if mine else "-", gain,
                      f"{row['milliseconds'] / mine['milliseconds']:.1f}" if mine else "-"])
    return markdown(lines)


# --- the page -----------------------------------------------------------------------------------


def figure(caption: str, file: str) -> str:
    return f"![{caption}](results/{file})\n"


def roofline_file(card: str) -> str:
    return f"roofline_{re.sub(r'[^a-z0-9]+', '_', short(card).lower())}.svg"


def body(labs: list[Measured], notes: list[dict]) -> str:
    """What stands between the markers."""
    lines = [line for lab in labs for line in lab.lines]
    parts = [table(labs)]
    if any(line["limit"] == "copy" and share(line) for line in lines):
        parts += ["### Memory\n", figure("The share of a copy's speed, over all labs", "bandwidth.svg")]
    cards = unique(line["card"] for line in lines if line["GFLOP/s"])
    parts += ["### Rooflines\n"] * bool(cards)
    parts += [figure(f"The roofline of {short(card)}", roofline_file(card)) for card in cards]
    if any(line["peers"] for line in lines):
        parts += ["### Ladders beside the vendor's library\n",
                  figure("Time of the library by time of each variant", "ladders.svg")]
    if notes:
        mine = [row["ours"] for row in notes if row["ours"]]
        when = " and ".join(unique(f"{short(row['card'])}, {day(row['date'])}" for row in mine)) or "not measured yet"
        parts += ["### The lecture notes' speed-ups beside ours\n",
                  "Speed-up is the time of the processor's loop by the time of the kernel, each on its own machine; the "
                  f"transfers are in neither. Ours: {when}, by the commands beside the labs' figures. A dash: not measured.\n",
                  notes_table(notes), figure("The notes' times and ours", "notes.svg")]
    parts.append("### Each lab's page and plots\n")
    pages = []
    for lab in labs:
        files = "".join(f", [{caption}](results/{lab.name}/{file})" for caption, file in lab.plots())
        page = f"[table]({lab.page}){files}; " if (lab.folder / "results.md").exists() else ""
        page += f"[what they tell](results/{lab.name}/README.md); " if (lab.folder / "README.md").exists() else ""
        pages.append(f"- {lab.name.replace('_', ' ', 1)}: {page}[handout]({lab.handout})\n")
    return "\n".join([*parts, "".join(pages)])


def with_body(page: Path, text: str, begin: str = BEGIN, end: str = END) -> str:
    """The page with this text between its markers."""
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        sys.exit(f"{page} needs the lines {begin.strip()} and {end.strip()}, once each and in this order")
    return old[:old.index(begin)] + begin + text + old[old.index(end):]


def main() -> None:
    parser = Parser(prog="checker.results", description="Writes docs/results.md and its plots from docs/results/*/*.csv.")
    parser.add_argument("--check", action="store_true", help="writes nothing; 1 if the page is not what it should be")
    parser.add_argument("--course", type=Path, default=ROOT, metavar="FOLDER", help="another copy of the course")
    options = parser.parse_args()
    page = options.course / "docs/results.md"
    labs, notes = measured_labs(options.course), notes_beside_ours(options.course)
    if not options.check:
        from . import results_plots  # needs Matplotlib

        for lab in labs:
            if (lab.folder / "results.csv").exists():
                bench(options.course, lab.name, "--data", lab.folder / "results.csv", "--output", lab.folder)
        results_plots.draw(page.parent / "results", [(lab.name, line) for lab in labs for line in lab.lines], notes)
    text = with_body(page, body(labs, notes))
    if text == page.read_text(encoding="utf-8"):
        print("docs/results.md is what the figures say")
    elif options.check:
        sys.exit("docs/results.md is not what docs/results/*/*.csv say: make results writes it anew")
    else:
        page.write_text(text, encoding="utf-8")
        print(f"written: docs/results.md, {sum(len(lab.lines) for lab in labs)} lines of {len(labs)} labs")


if __name__ == "__main__":
    main()
