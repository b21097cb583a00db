"""The module behind every labs/NN_name/bench.py: runs, one CSV, one table, plots made from the CSV.

    '''Times of the blur: every variant, and NPP beside them.'''

    benchmark = Benchmark(__file__, peers=["npp"])
    for radius in (1, 5, 25):
        benchmark.run("--height", 8192, "--width", 8192, "--radius", radius,
                      cpu=["--height", 256, "--width", 256, "--radius", radius])
    benchmark.bars("GB/s")
    benchmark.lines("milliseconds", x=r"radius (\\d+)", label="radius", logarithmic=True)
    benchmark.headline("radius 25$")
    benchmark.main()

The program appends its rows with --csv. A size is known by the words that the program gives it, so
these must name everything in which two runs differ. A row called "copy" holds the speed of a plain
copy in the same run; a peer is the variant of a vendor's library. A headline is a line of
docs/results.md, which `make results` writes (checker.results).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from .usage import backend_of

MOST_TABLES = 9  # sizes; with more there is one table for all
UNITS = {"milliseconds": "time in ms", "GB/s": "GB/s", "GFLOP/s": "GFLOP/s"}
SKIPPED = 77
SEVERAL = 100  # more is the status where several runs have all ended (common/lab/several_runs.h)
CPU_NOTE = "CPU mode: these are not GPU times."


class Benchmark:
    """What one lab measures, and what is drawn of it."""

    def __init__(self, file: str, peers: list[str] | tuple[str, ...] = (), one_process: bool = False):
        """`one_process`: for all runs; it is half a second a run on a card. Not where a run leaves its mark on the device."""
        folder = Path(file).resolve().parent
        self.name = folder.name
        self.results = Path(os.path.relpath(folder.parents[1] / "build/bench" / folder.name))
        self.peers = tuple(peers)
        self.one_process = one_process
        self.runs: list[list[tuple[list[str], list[str]]]] = []  # those of a list may be made at the same time
        self.cores: list[int] = []  # of each list
        self.plots: list[dict] = []
        self.headlines: list[dict] = []

    def run(self, *arguments, cpu: list | tuple | None = None, beside: bool = False, cores: int = 1) -> None:
        """One run of the program; `cpu` are the arguments where it runs on the CPU (the same). `beside`: on a
        card's machine at the same time as the run before it, where neither is in the other's way; but one after
        the other if there are fewer cores than all of them take."""
        words = [str(word) for word in arguments]
        if not beside:
            self.runs.append([])
            self.cores.append(0)
        self.runs[-1].append((words, words if cpu is None else [str(word) for word in cpu]))
        self.cores[-1] += cores

    def bars(self, y: str, title: str = "", only: str = "", logarithmic: bool = False) -> None:
        """A group of bars a size, a bar a variant. `only`: a pattern that the size's words match."""
        self.plots.append({"kind": "bars", "y": y, "title": title, "only": only, "logarithmic": logarithmic})

    def lines(self, y: str, x: str, label: str, title: str = "", only: str = "",
              logarithmic: bool = False) -> None:
        """A line a variant; `x` is a pattern whose group finds the number in the size's words, or in
        the variant's name if it is not there: then the text before it names the line."""
        re.compile(x)
        self.plots.append({"kind": "lines", "y": y, "x": x, "label": label, "title": title,
                           "only": only, "logarithmic": logarithmic})

    def headline(self, size: str, words: str = "", *, limit: str = "copy", variant: str = "",
                 against: list[str] | tuple[str, ...] | None = None) -> None:
        """A line of docs/results.md: the fastest variant at the last size that the pattern `size`
        matches. `words` say what was measured (the size's words); `limit` is what bounds it: "copy",
        or an arithmetic of checker.results.CARDS; a pattern `variant` narrows the choice; `against`
        are the variants whose times stand beside it (the peers)."""
        self.headlines.append({"size": size, "words": words, "limit": limit, "variant": variant,
                               "against": self.peers if against is None else tuple(against)})

    def main(self) -> None:
        options = self.parse()
        if options.headlines:
            rows = latest(row for path in options.data for row in read_rows(path))
            json.dump(self.chosen(rows), sys.stdout)
            return
        options.output.mkdir(parents=True, exist_ok=True)
        path = options.output / "results.csv"
        status, began = 0, time.monotonic()
        if options.data:
            [path] = options.data
        else:
            status = self.measure(options.program.resolve(), path)
            if status == SKIPPED:
                sys.exit(status)
        rows = read_rows(path)
        report = self.report(rows)
        print(f"\n{report}")
        drawn = [] if options.no_plots else self.draw(rows, options.output)
        text = report + "".join(f"\n![{caption}]({file})\n" for caption, file in drawn)
        (options.output / "results.md").write_text(text, encoding="utf-8")
        print(f"written: {shown(path)}, {', '.join(shown(options.output / name) for name in self.files(drawn))}")
        if options.program:
            print(f"{self.name}: {time.monotonic() - began:.0f} s")
        sys.exit(status)

    @staticmethod
    def files(drawn: list[tuple[str, str]]) -> list[str]:
        return ["results.md", *(file for _, file in drawn)]

    def parse(self) -> argparse.Namespace:
        parser = argparse.ArgumentParser(prog=f"{self.name}/bench.py", allow_abbrev=False,
                                         description=f"Measures lab {self.name}.")
        parser.add_argument("--program", metavar="FILE", type=Path, help="the program to measure")
        parser.add_argument("--data", metavar="FILE", type=Path, nargs="+",
                            help="table and plots of this CSV file; nothing is measured")
        parser.add_argument("--output", metavar="FOLDER", type=Path,
                            default=self.results,
                            help="where CSV, table and plots go (build/bench/NN_name)")
        parser.add_argument("--no-plots", action="store_true", help="which --data can draw later, while nothing is measured")
        parser.add_argument("--headlines", action="store_true",
                            help="with --data: prints the headlines as JSON, and writes nothing")
        options = parser.parse_args()
        if bool(options.program) == bool(options.data):
            parser.error("give either --program or --data")
        if options.headlines and not options.data:
            parser.error("--headlines needs --data")
        if options.data and len(options.data) > 1 and not options.headlines:
            parser.error("--data takes several files with --headlines only")
        for path in [options.program] if options.program else options.data:
            if not path.is_file():
                parser.error(f"there is no file {path}")
        return options

    # Measuring

    def measure(self, program: Path, path: Path) -> int:
        """Every run into a new CSV file. 1 when a result was wrong."""
        fresh = path.with_suffix(".part")
        fresh.unlink(missing_ok=True)
        worst = 0
        for status in self.statuses(program, fresh):
            if status not in (0, 1, SKIPPED):
                # A benchmark with a hole in it would be taken for a whole one.
                sys.exit(f"{self.name}/bench.py: the run ended with status {status}; nothing was written")
            if status == 1:
                worst = 1
        if not fresh.exists():
            print(f"{self.name}/bench.py: no run gave a time", file=sys.stderr)
            return max(worst, SKIPPED if worst == 0 else 1)
        fresh.replace(path)
        return worst

    def statuses(self, program: Path, path: Path) -> Iterator[int]:
        """Measures one group of runs after the other, and says how they ended."""
        on_cpu = backend_of(program) == "cpu"
        runs = [[run[on_cpu] for run in group] for group in self.runs]
        if self.one_process and len(runs) > 1:
            [status] = self.measure_group(program, [[run for group in runs for run in group]], path)
            if status not in (1, SKIPPED):
                yield status - SEVERAL if status in (SEVERAL + 1, SEVERAL + SKIPPED) else status
                return
            path.unlink(missing_ok=True)  # one run has ended the process of all: now each has its own
        cores = 0 if on_cpu else os.cpu_count() or 1  # in CPU mode every run takes all cores
        for group, taken in zip(runs, self.cores):
            for part in [group] if taken <= cores else [[run] for run in group]:
                yield from self.measure_group(program, [[run] for run in part], path)

    def measure_group(self, program: Path, group: list[list[list[str]]], path: Path) -> list[int]:
        """Processes at the same time, all but the last with what they say kept for the end; their rows in order."""
        parts = [path.with_suffix(f".{number}.part") for number in range(len(group))]
        for part in parts:
            part.unlink(missing_ok=True)
        commands = [[program, *runs[0], "--csv", part] + [word for run in runs[1:] for word in ("--and", *run, "--csv", part)]
                    for runs, part in zip(group, parts)]
        titles = [f"\n{self.name}: {shlex.join(runs[0])}" if len(runs) == 1 else "" for runs in group]  # several say it themselves
        started = [subprocess.Popen(command, text=True, stdout=subprocess.PIPE) for command in commands[:-1]]
        print(titles[-1], flush=True)
        last = subprocess.run(commands[-1], check=False).returncode
        for title, job in zip(titles, started):
            print(f"{title}\n{job.communicate()[0]}", end="", flush=True)
        for part in parts:
            if part.exists():
                heading, *rows = part.read_text(encoding="utf-8").splitlines(keepends=True)
                with path.open("a", encoding="utf-8") as file:
                    file.writelines(rows if file.tell() else [heading, *rows])
                part.unlink()
        return [*(job.returncode for job in started), last]

    # The table

    def report(self, rows: list[dict]) -> str:
        """A Markdown table a size: time, speed, share of the copy, ratio to each peer."""
        parts = []
        for card in unique(row["card"] for row in rows):
            mine = [row for row in rows if row["card"] == card]
            days = unique(row["date"][:10] for row in mine)
            parts.append(f"{card}, {' and '.join(days)}, `make bench LAB={self.name[:2]}`\n")
            sizes = unique(row["size"] for row in mine)
            if len(sizes) > MOST_TABLES:
                parts.append(self.one_table(sizes, mine))
                sizes = []
            for size in sizes:
                parts.append(self.size_table(size, [row for row in mine if row["size"] == size]))
            if "CPU mode" in card:
                parts.append(CPU_NOTE + "\n")
        return "\n".join(parts)

    def one_table(self, sizes: list[str], rows: list[dict]) -> str:
        """Milliseconds: a line a size, a column a variant. What all sizes have in common stands above."""
        variants = unique(row["variant"] for row in rows if row["variant"] != "copy")
        time = {(row["size"], row["variant"]): row["milliseconds"] for row in rows}
        wrong = {(row["size"], row["variant"]) for row in rows if row["result"] != "right"}
        words = [size.split(", ") for size in sizes]
        shared = [word for word in words[0] if all(word in others for others in words)]
        lines = [["ms", *variants], ["---", *["---:"] * len(variants)]]
        for size, parts in zip(sizes, words):
            cells = ["wrong" if (size, variant) in wrong else number(time.get((size, variant), 0))
                     for variant in variants]
            lines.append([", ".join(part for part in parts if part not in shared), *cells])
        above = ", ".join(shared)
        return (f"{above}\n\n" if above else "") + markdown(lines)

    def size_table(self, size: str, rows: list[dict]) -> str:
        copy = next((row["GB/s"] for row in rows if row["variant"] == "copy"), 0)
        rows = [row for row in rows if row["variant"] != "copy"]
        peers = [row for row in rows if row["variant"] in self.peers and row["milliseconds"] > 0]
        columns = [("variant", lambda row: row["variant"]),
                   ("ms", lambda row: number(row["milliseconds"]))]
        columns += [(unit, lambda row, unit=unit: number(row[unit])) for unit in ("GB/s", "GFLOP/s")
                    if any(row[unit] for row in rows)]
        if copy:
            columns.append(("of copy", lambda row: percent(row["GB/s"], copy)))
        for peer in peers:
            columns.append((f"{peer['variant']} takes", lambda row, peer=peer: times(peer, row)))
        if any(row["result"] != "right" for row in rows):
            columns.append(("result", lambda row: row["result"]))
        lines = [[heading for heading, _ in columns],
                 ["---", *["---:"] * (len(columns) - 1)],
                 *[[cell(row) for _, cell in columns] for row in rows]]
        note = f"; copy within the device {copy:.0f} GB/s" if copy else ""
        return f"{size}{note}\n\n{markdown(lines)}"

    # The headlines

    def chosen(self, rows: list[dict]) -> list[dict]:
        """What docs/results.md says of this lab, card by card. Without a headline: the last size."""
        found = []
        for card in unique(row["card"] for row in rows):
            mine = [row for row in rows if row["card"] == card]
            last = {"size": f"^{re.escape(mine[-1]['size'])}$", "words": "", "limit": "copy", "variant": "",
                    "against": self.peers}
            for wanted in self.headlines or [last]:
                line = headline(wanted, mine, self.peers)
                if line:
                    found.append(line)
                else:
                    print(f"{self.name}/bench.py: no right result for the headline {wanted['size']!r} on {card}",
                          file=sys.stderr)
        return found

    # Plots

    def draw(self, rows: list[dict], folder: Path) -> list[tuple[str, str]]:
        """(caption, file) of every plot."""
        try:
            import matplotlib
        except ImportError:
            print("no plots: python3-matplotlib is not installed", file=sys.stderr)
            return []
        matplotlib.use("svg")
        # The same data give the same file, so that a change is seen to be one.
        matplotlib.rcParams.update({"svg.hashsalt": self.name, "font.size": 9, "axes.grid": True,
                                    "axes.axisbelow": True, "grid.alpha": 0.3,
                                    "axes.spines.top": False, "axes.spines.right": False})
        drawn = []
        for plot in self.plots:
            chosen = [row for row in rows if row["milliseconds"] > 0 or row["variant"] == "copy"]
            chosen = [row for row in chosen if re.search(plot["only"], row["size"])]
            figure = (draw_bars if plot["kind"] == "bars" else draw_lines)(plot, chosen, self.peers)
            if figure is None:
                continue
            cards = " and ".join(unique(row["card"] for row in chosen))
            what = f", {plot['only']}" if plot["only"] else ""
            title = plot["title"] or f"{self.name}: {UNITS[plot['y']]}{what}"
            figure.axes[0].set_title(f"{title}\n{cards}, {chosen[-1]['date'][:10]}", fontsize=9)
            file = re.sub(r"[^A-Za-z0-9]+", "_", f"{plot['kind']} {plot['y']} {plot['title'] or plot['only']}").strip("_").lower() + ".svg"
            figure.savefig(folder / file, bbox_inches="tight", metadata={"Date": None})
            drawn.append((title, file))
        return drawn


def headline(wanted: dict, rows: list[dict], peers: tuple[str, ...]) -> dict | None:
    """One line: the fastest of ours, the ladder that leads there, and what it is compared with."""
    sizes = [row["size"] for row in rows if re.search(wanted["size"], row["size"])]
    at_size = [row for row in rows if sizes and row["size"] == sizes[-1] and row["result"] == "right"]
    others = {*peers, *wanted["against"], "copy"}
    timed = [row for row in at_size if row["milliseconds"] > 0]
    ours = [row for row in timed if row["variant"] not in others and re.search(wanted["variant"], row["variant"])]
    if not ours:
        return None
    ours.sort(key=lambda row: row["milliseconds"])
    best, fastest = ours[0], {row["variant"]: row["milliseconds"] for row in reversed(ours)}
    return {"what": wanted["words"] or best["size"], "limit": wanted["limit"],
            "copy": next((row["GB/s"] for row in at_size if row["variant"] == "copy"), 0),
            **{key: best[key] for key in ("card", "date", "variant", "file", *UNITS)},
            "ladder": [[name, fastest[name]] for name in unique(row["variant"] for row in timed) if name in fastest],
            "against": [[row["variant"], row["milliseconds"]] for row in timed if row["variant"] in wanted["against"]],
            "peers": [name for name in wanted["against"] if name in peers]}


def draw_bars(plot: dict, rows: list[dict], peers: tuple[str, ...]):
    from matplotlib.figure import Figure

    sizes = unique(row["size"] for row in rows)
    variants = unique(row["variant"] for row in rows if row["variant"] != "copy")
    value = {(row["size"], row["variant"]): row[plot["y"]] for row in rows}
    if not any(value.values()):
        return None
    width = 0.8 / max(1, len(variants))
    figure = Figure(figsize=(max(6.0, 0.22 * len(sizes) * len(variants) + 2), 3.6))
    axes = figure.subplots()
    for number_, variant in enumerate(variants):
        places = [group + (number_ - (len(variants) - 1) / 2) * width for group in range(len(sizes))]
        heights = [value.get((size, variant), 0) for size in sizes]
        axes.bar(places, heights, width * 0.95, label=variant, **style(variant, variants, peers))
    if plot["y"] == "GB/s":
        for group, size in enumerate(sizes):
            if value.get((size, "copy")):
                axes.hlines(value[size, "copy"], group - 0.45, group + 0.45, colors="black",
                            linestyles="dashed", linewidth=1, label="copy" if group == 0 else None)
    axes.set_xticks(range(len(sizes)), [size.replace(", ", ",\n") for size in sizes])
    axes.set_ylabel(UNITS[plot["y"]])
    if plot["logarithmic"]:
        axes.set_yscale("log")
    axes.grid(axis="x", visible=False)
    figure.legend(*axes.get_legend_handles_labels(), loc="center left", bbox_to_anchor=(0.91, 0.5),
                  frameon=False)
    return figure


def draw_lines(plot: dict, rows: list[dict], peers: tuple[str, ...]):
    from matplotlib.figure import Figure

    curves: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        in_size = re.search(plot["x"], row["size"])
        found = in_size or re.search(plot["x"], row["variant"])
        if not found or not row[plot["y"]]:
            continue
        name = row["variant"] if in_size else row["variant"][:found.start()].strip("_ ")
        curves.setdefault(name or row["variant"], []).append((float(found[1]), row[plot["y"]]))
    if not curves:
        return None
    figure = Figure(figsize=(6.5, 3.8))
    axes = figure.subplots()
    for name, points in curves.items():
        points.sort()
        axes.plot(*zip(*points), marker="o", markersize=3, linewidth=1.2, label=name,
                  **style(name, list(curves), peers))
    if plot["logarithmic"]:
        from matplotlib.ticker import LogLocator, NullFormatter

        axes.set(xscale="log", yscale="log")
        for axis in (axes.xaxis, axes.yaxis):
            low, high = axis.get_view_interval()
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low or axis is axes.yaxis else (1,)))
            axis.set_major_formatter(lambda value, place: f"{value:,.10g}".replace(",", " "))
            axis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(plot["label"])
    axes.set_ylabel(UNITS[plot["y"]])
    figure.legend(*axes.get_legend_handles_labels(), loc="center left", bbox_to_anchor=(0.91, 0.5),
                  frameon=False)
    return figure


def style(variant: str, variants: list[str], peers: tuple[str, ...]) -> dict:
    """Ours from dark to light as the ladder climbs; the vendor's libraries and the copy in gray."""
    if variant in peers or variant == "copy":
        return {"color": "0.6" if variant in peers else "black"}
    import matplotlib

    ours = [name for name in variants if name not in peers and name != "copy"]
    place = 0.1 + 0.75 * ours.index(variant) / max(1, len(ours) - 1)
    return {"color": matplotlib.colormaps["viridis"](place)}


# Rows


def read_rows(path: Path) -> list[dict]:
    """The rows of a CSV file that the labs write; numbers are floats."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wanted = {"card", "date", "lab", "variant", "size", "result", *UNITS}
    if not rows or not wanted <= set(rows[0]):
        sys.exit(f"{path} is no table that a lab has written with --csv")
    for row in rows:
        row.update({unit: float(row[unit]) for unit in UNITS}, file=path.name)
    return rows


def latest(rows) -> list[dict]:
    """The rows without those that were measured again later, on such a card."""
    kept: dict[tuple, dict] = {}
    for row in rows:
        key = tuple(row[name] for name in ("card", "variant", "size", "block"))
        if key not in kept or kept[key]["date"] <= row["date"]:
            kept[key] = row
    return list(kept.values())


def markdown(lines: list[list[str]]) -> str:
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def unique(words) -> list[str]:
    return list(dict.fromkeys(words))


def number(value: float) -> str:
    if not value:
        return "-"
    decimals = 4 if value < 1 else 3 if value < 10 else 2 if value < 100 else 0
    return f"{value:.{decimals}f}"


def percent(value: float, whole: float) -> str:
    return f"{100 * value / whole:.1f} %" if value else "-"


def times(peer: dict, row: dict) -> str:
    """How many times as long as this row the peer takes."""
    return f"{peer['milliseconds'] / row['milliseconds']:.2f} x" if row["milliseconds"] else "-"


def shown(path: Path) -> str:
    return os.path.relpath(path)
